//! The keys of a scene as a page to read: `docs/scene-reference.md`.

use super::tables;
use crate::document::key::{Absent, Bound, Case, Key, Kind, Range, TableSchema, When};
use std::fmt::Write;

const HEAD: &str = "# Scene reference

Every key of a scene file, in TOML or JSON. Units are SI; a unit stands behind the kind of the value. An unknown key is
an error that names the nearest known one. `lilyan schema` prints the same as JSON Schema for editors.

This page is made by `lilyan schema --markdown > docs/scene-reference.md`; do not edit it.
";

/// The reference page, in Markdown.
pub fn markdown() -> String {
    let mut page = HEAD.to_owned();
    tables().into_iter().for_each(|table| section(table, &mut page));
    page
}

/// The section of one table.
pub(crate) fn section(table: &TableSchema, page: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(page, "\n## {}\n\n{}\n", table.name, table.doc);
    let (always, cases): (Vec<Case>, Vec<Case>) =
        (table.cases)().into_iter().partition(|case| case.when == When::Always);
    rows(table.keys.iter().chain(always.iter().flat_map(|case| &case.keys)), page);
    for [a, b] in table.exclusive_pairs() {
        let _ = write!(page, "\nAt most one of `{a}` and `{b}`.\n");
    }
    if cases.iter().any(|case| matches!(case.when, When::Has(_))) {
        page.push_str("\nExactly one of these:\n");
        rows(cases.iter().flat_map(|case| &case.keys), page);
        return;
    }
    for case in &cases {
        let within: Vec<&Case> =
            cases.iter().filter(|inner| inner.when != case.when && inner.when.implies(&case.when)).collect();
        match (case.when, within.as_slice()) {
            // Where there is no choice, the keys need no heading of their own.
            (When::Is { .. }, [only]) => heading(case, case.keys.iter().chain(&only.keys), page),
            (When::Both(_), _) if is_only_choice(case, &cases) => {}
            _ => heading(case, case.keys.iter(), page),
        }
    }
}

/// Whether a case is the only one that divides another case further.
fn is_only_choice(case: &Case, all: &[Case]) -> bool {
    let outer = |other: &&Case| other.when != case.when && case.when.implies(&other.when);
    let inner = |of: &Case| all.iter().filter(|c| c.when != of.when && c.when.implies(&of.when)).count();
    all.iter().filter(outer).any(|outer| inner(outer) == 1)
}

/// A case: when it applies, what it is, and its keys.
fn heading<'k>(case: &Case, keys: impl Iterator<Item = &'k Key>, page: &mut String) {
    let values = case.when.values();
    let conditions: Vec<String> = values.iter().map(|v| format!("`{} = \"{}\"`", v.key, v.value)).collect();
    let default = if values.last().is_some_and(|value| value.default) { " (default)" } else { "" };
    let _ = write!(page, "\n**{}**{default}: {}\n", conditions.join(", "), sentence(case.doc));
    rows(keys, page);
}

fn sentence(doc: &str) -> String {
    let mut letters = doc.trim_end_matches('.').chars();
    letters.next().map_or_else(String::new, |first| format!("{first}{}.", letters.as_str()))
}

fn rows<'k>(keys: impl Iterator<Item = &'k Key>, page: &mut String) {
    // Keys in a row that mean the same (C11, C12, …) share a line; a key of several cases stands once.
    let mut lines: Vec<(Vec<&str>, String)> = Vec::new();
    for key in keys {
        let rest = format!("{} | {} | {}", described(&key.kind), absent(key), meaning(key));
        match lines.iter_mut().find(|(_, known)| *known == rest) {
            Some((names, _)) if names.contains(&key.name) => {}
            Some((names, _)) => names.push(key.name),
            None => lines.push((vec![key.name], rest)),
        }
    }
    if lines.is_empty() {
        return;
    }
    page.push_str("\n| key | value | if absent | |\n|---|---|---|---|\n");
    for (names, rest) in lines {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(page, "| {} | {rest} |", names.join(", "));
    }
}

fn meaning(key: &Key) -> String {
    let only = if key.only.is_empty() { String::new() } else { format!(" For {} alone.", key.only) };
    let example = if key.example.is_empty() { String::new() } else { format!(" Example: `{}`", key.example) };
    format!("{}{only}{example}", cell(key.doc))
}

fn absent(key: &Key) -> String {
    match key.absent {
        Absent::Required => "**required**".to_owned(),
        Absent::Number(number) => format!("{number:?}"),
        Absent::Flag(flag) => flag.to_string(),
        Absent::Word(word) => format!("`\"{word}\"`"),
        Absent::Unless(other) => format!("`{other}` is given instead"),
        Absent::Means(meaning) => meaning.to_owned(),
    }
}

fn described(kind: &Kind) -> String {
    match kind {
        Kind::Flag => "true or false".to_owned(),
        Kind::Number { range, unit } => format!("{}{}", number(range), in_unit(unit)),
        Kind::Whole { least: 0, .. } => "whole number".to_owned(),
        Kind::Whole { least: i64::MIN, .. } => "whole number, may be negative".to_owned(),
        Kind::Whole { least, most } if *most >= i64::from(u32::MAX) => format!("whole number from {least}"),
        Kind::Whole { least, most } => format!("whole number from {least} to {most}"),
        Kind::Text => "text".to_owned(),
        Kind::Name => "name".to_owned(),
        Kind::Body => "name of a body".to_owned(),
        Kind::Path => "path of a file".to_owned(),
        Kind::Word(choices) => quoted(choices().iter().map(|choice| choice.name)),
        Kind::OneOf(words) => quoted(words.iter().copied()),
        Kind::NumberOrWord { range, word } => format!("{} or `\"{word}\"`", number(range)),
        Kind::Formula(variables) => format!("formula of {}", variables.join(", ")),
        Kind::Table(table) => format!("[{}](#{})", table.name, anchor(table.name)),
        Kind::Either(kinds) => kinds.iter().map(alternative).collect::<Vec<_>>().join(", or "),
        Kind::List { of, least, most } if least == most => format!("list of {least}: {}", described(of)),
        Kind::List { of, .. } => format!("list of: {}", described(of)),
    }
}

/// One of several kinds; a list of the others is not written out again.
fn alternative(kind: &Kind) -> String {
    match kind {
        Kind::List { of: Kind::Either(_), least, most } if least != most => "a list of these".to_owned(),
        other => described(other),
    }
}

fn number(range: &Range) -> String {
    match (range.lower, range.upper) {
        (Bound::None, Bound::None) => "number".to_owned(),
        (Bound::Included(least), Bound::Included(most)) => format!("number from {least:?} to {most:?}"),
        _ => format!("number, {}", range.words()),
    }
}

fn in_unit(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" ({unit})") }
}

fn quoted<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ")
}

/// Text inside a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The name of a heading in a link.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || *c == '_' || *c == '-');
    kept.flat_map(char::to_lowercase).collect()
}
