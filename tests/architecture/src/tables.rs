//! The tables of ARCHITECTURE.md.
//!
//! A table whose head names a folder, as in ``| `crates/solve/src` | |``, lists files and folders of it in the first
//! cell of every row. A table whose head is ``| only | in |`` grants permissions.

use crate::repository::Repository;

/// A row: the folder that the head of the table names, what stands in backticks in the first cell, and in the others.
struct Row<'a> {
    head: &'a str,
    first: Vec<&'a str>,
    rest: Vec<&'a str>,
    line: usize,
}

fn rows(text: &str) -> Vec<Row<'_>> {
    let mut head = None;
    let mut rows = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some(cells) = line.trim().strip_prefix('|') else {
            head = None;
            continue;
        };
        let mut cells = cells.split('|');
        let first = cells.next().unwrap_or_default().trim();
        match head {
            None => head = Some(quoted(first).first().copied().unwrap_or(first)),
            Some(_) if first.starts_with("---") => {}
            Some(head) => {
                let rest = cells.flat_map(quoted).collect();
                rows.push(Row { head, first: quoted(first), rest, line: number + 1 });
            }
        }
    }
    rows
}

/// What stands in backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Files and folders that the table of permissions allows to do `what`.
pub fn allowed<'a>(repository: &'a Repository, what: &str) -> Vec<&'a str> {
    let all = rows(&repository.architecture).into_iter();
    all.filter(|row| row.head == "only" && row.first.contains(&what)).flat_map(|row| row.rest).collect()
}

/// Whether an entry, a file or a folder with its `/`, covers the path.
pub fn covers(entry: &str, path: &str) -> bool {
    path == entry || (entry.ends_with('/') && path.starts_with(entry))
}

/// Source files in no table, and entries that do not exist.
pub fn unlisted(repository: &Repository) -> Vec<String> {
    let mut entries = Vec::new();
    for row in rows(&repository.architecture).iter().filter(|row| row.head.ends_with("/src")) {
        entries.extend(row.first.iter().map(|name| (format!("{}/{name}", row.head), row.line)));
    }
    let mut found = Vec::new();
    for file in repository.sources() {
        let root = matches!(file.below_src(), "lib.rs" | "main.rs");
        if !root && !entries.iter().any(|(entry, _)| covers(entry, &file.path)) {
            found.push(format!("{}: in no table", file.path));
        }
    }
    for (entry, line) in &entries {
        if !repository.sources().any(|file| covers(entry, &file.path)) {
            found.push(format!("ARCHITECTURE.md:{line}: {entry} is not there"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_tables_are_compared() {
        let table = "| `crates/a/src` | |\n|---|---|\n| `x.rs`, `gone.rs` | text, `not/an/entry.rs` |\n| `deep/` | |\n";
        let files = ["lib.rs", "x.rs", "new.rs", "deep/y.rs"];
        let files = files.map(|name| (format!("crates/a/src/{name}"), String::new()));
        let found = unlisted(&Repository::from_sources(files.into(), table.into()));
        assert_eq!(
            found,
            ["crates/a/src/new.rs: in no table", "ARCHITECTURE.md:3: crates/a/src/gone.rs is not there"]
        );
    }
}
