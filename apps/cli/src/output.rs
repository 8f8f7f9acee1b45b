//! Standard output: text for people, or one JSON object.

use lilyan_files::printable::printable;
use std::io::Write;

/// Prints a line; a closed pipe is not an error.
pub fn line(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stdout().lock(), "{}", printable(&text.to_string()));
}

/// Prints one JSON object.
pub fn json(value: &impl serde::Serialize) {
    let mut out = std::io::stdout().lock();
    let _ = serde_json::to_writer_pretty(&mut out, value);
    let _ = writeln!(out);
}

/// Columns of text, aligned; the first row is the header.
pub fn table(rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |k: usize| rows.iter().filter_map(|r| r.get(k)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(k, cell)| format!("{cell}{}", " ".repeat(widths[k] - cell.chars().count())))
            .collect();
        line(cells.join("  ").trim_end());
    }
}
