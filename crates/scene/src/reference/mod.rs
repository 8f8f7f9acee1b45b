//! The scene language for editors and readers, made from the keys that the reader itself takes.
//!
//! [`json_schema`] is what `lilyan schema` prints and [`markdown`] is `docs/scene-reference.md`. Both walk the tables
//! from [`crate::schema::SCENE`] on; catalogues give the words and the options, so that a new integrator or material
//! is there by itself.

pub(crate) mod json_schema;
pub(crate) mod markdown;

pub use json_schema::json_schema;
pub use markdown::markdown;

use crate::document::key::{Kind, TableSchema};
use crate::schema::SCENE;

/// Every table of a scene, each once; a table comes before those inside it.
pub fn tables() -> Vec<&'static TableSchema> {
    let mut found = vec![&SCENE];
    let mut next = 0;
    while let Some(table) = found.get(next).copied() {
        let cases = (table.cases)();
        let keys = table.keys.iter().chain(cases.iter().flat_map(|case| &case.keys));
        keys.for_each(|key| collect(&key.kind, &mut found));
        next += 1;
    }
    found
}

/// Adds the tables that a value may be or hold.
fn collect(kind: &Kind, found: &mut Vec<&'static TableSchema>) {
    match kind {
        Kind::Table(table) if found.iter().all(|known| known.name != table.name) => found.push(table),
        Kind::Either(kinds) => kinds.iter().for_each(|kind| collect(kind, found)),
        // A `where` may be a list of `where`s: its tables are found beside the list.
        Kind::List { of: Kind::Either(kinds), .. } => {
            let flat = kinds.iter().filter(|kind| !matches!(kind, Kind::List { .. }));
            flat.for_each(|kind| collect(kind, found));
        }
        Kind::List { of, .. } => collect(of, found),
        _ => {}
    }
}
