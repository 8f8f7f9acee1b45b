//! A scene file as plain data: a tree of values that remember their lines.
//!
//! [`Node::parse`] reads TOML or JSON, [`apply_override`] changes a value by its dotted path, [`Reader`] takes
//! a table apart key by key and complains about what is left, [`Node::to_toml`] prints it.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod error;
pub mod key;
mod overrides;
mod parse;
mod print;
mod reader;

pub use error::SceneError;
pub use overrides::{apply_override, set_value};
pub use parse::MAX_BYTES;
pub use reader::{Item, Reader};

/// Tables and arrays may nest this deep.
pub const MAX_DEPTH: usize = 48;

/// Where a value was written. Two places always compare equal: a scene is what it says, not where.
#[derive(Clone, Copy, Debug, Default)]
pub enum Place {
    /// Not known (JSON, defaults).
    #[default]
    Unknown,
    /// Line of the file, from 1.
    Line(usize),
    /// Set by `--set`.
    Override,
}

impl Place {
    /// The line, where there is one.
    pub fn line(self) -> Option<usize> {
        match self {
            Self::Line(line) => Some(line),
            Self::Unknown | Self::Override => None,
        }
    }
}

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it starts.
    pub place: Place,
}

/// What a scene file is made of.
#[derive(Clone, Debug)]
pub enum Value {
    /// Keys and values.
    Table(Table),
    /// A list.
    Array(Vec<Node>),
    /// A number with a fraction or an exponent; may be infinite or NaN, which [`Reader`] refuses.
    Number(f64),
    /// A whole number.
    Integer(i64),
    /// A string.
    Text(String),
    /// True or false.
    Bool(bool),
}

/// Values are equal when they mean the same: `8` and `8.0` are equal.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Table(a), Self::Table(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a == b,
            (Self::Number(a), Self::Integer(b)) | (Self::Integer(b), Self::Number(a)) => *a == *b as f64,
            _ => false,
        }
    }
}

impl Value {
    /// The kind of value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Table(_) => "a table",
            Self::Array(_) => "a list",
            Self::Number(_) | Self::Integer(_) => "a number",
            Self::Text(_) => "text",
            Self::Bool(_) => "true or false",
        }
    }
}

/// One key of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key was written.
    pub place: Place,
    /// Its value.
    pub node: Node,
}

/// Keys and values in the order of the file; each key once.
#[derive(Clone, Debug, Default)]
pub struct Table {
    entries: Vec<Entry>,
}

/// Tables are equal when they hold the same keys and values, in whatever order.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        let (mut a, mut b): (Vec<_>, Vec<_>) =
            (self.entries.iter().collect(), other.entries.iter().collect());
        a.sort_by(|x, y| x.key.cmp(&y.key));
        b.sort_by(|x, y| x.key.cmp(&y.key));
        a == b
    }
}

impl Table {
    /// The entry of a key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// All entries, in the order of the file.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Sets a key, replacing an earlier value.
    pub fn set(&mut self, key: &str, place: Place, node: Node) {
        match self.entries.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => (entry.place, entry.node) = (place, node),
            None => self.entries.push(Entry { key: key.to_owned(), place, node }),
        }
    }

    /// Takes a key away.
    pub fn remove(&mut self, key: &str) {
        self.entries.retain(|entry| entry.key != key);
    }

    /// The value of a key, to be changed.
    pub fn value_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.get_mut(key).map(|node| &mut node.value)
    }

    fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        let entry = self.entries.iter_mut().find(|entry| entry.key == key)?;
        Some(&mut entry.node)
    }
}

impl Node {
    /// An empty table.
    pub fn empty(place: Place) -> Self {
        Self { value: Value::Table(Table::default()), place }
    }

    /// Its table, if it is one.
    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }
}
