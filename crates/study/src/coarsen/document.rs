//! Changes of a scene as a document.

use lilyan_scene::document::{Node, Place, Table, Value};

/// A text.
pub(super) fn text(text: &str) -> Node {
    Node { value: Value::Text(text.to_owned()), place: Place::Unknown }
}

/// A table of these entries.
pub(super) fn table_of(entries: &[(&str, Node)]) -> Node {
    let mut table = Table::default();
    for (key, node) in entries {
        table.set(key, Place::Unknown, node.clone());
    }
    Node { value: Value::Table(table), place: Place::Unknown }
}

/// A list of whole numbers.
pub(super) fn numbers(list: &[u32]) -> Node {
    let numbers = list.iter().map(|v| Node { value: Value::Integer(i64::from(*v)), place: Place::Unknown });
    Node { value: Value::Array(numbers.collect()), place: Place::Unknown }
}

/// Sets a key of a table.
pub(super) fn set(node: &mut Node, key: &str, value: Node) {
    if let Value::Table(table) = &mut node.value {
        table.set(key, Place::Unknown, value);
    }
}

/// Number `i` of a list of the document, which the schema has read.
pub(super) fn item<'d>(document: &'d mut Node, key: &str, i: usize) -> &'d mut Node {
    &mut list(document, key)[i]
}

/// A list of the document, which the schema has read.
pub(super) fn list<'d>(document: &'d mut Node, key: &str) -> &'d mut Vec<Node> {
    let Value::Table(table) = &mut document.value else { unreachable!("a scene is a table") };
    let Some(Value::Array(list)) = table.value_mut(key) else { unreachable!("the schema read a list") };
    list
}
