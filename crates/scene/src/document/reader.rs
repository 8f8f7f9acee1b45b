//! Taking a document apart, key by key, with errors that say where and what to do.

use super::parse::join;
use super::{Entry, Node, Place, SceneError, Table, Value};
use crate::expression::Expression;
use crate::suggest;

/// One value with its path, to be read as what it should be.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// The value.
    pub node: &'a Node,
    /// Where its key was written.
    pub place: Place,
    /// Dotted path from the top of the scene.
    pub path: String,
    origin: &'a str,
}

impl<'a> Item<'a> {
    /// The whole document.
    pub fn root(node: &'a Node, origin: &'a str) -> Self {
        Self { node, place: Place::Unknown, path: String::new(), origin }
    }

    /// The file it came from.
    pub fn origin(&self) -> &'a str {
        self.origin
    }

    /// An error about this value.
    pub fn error(&self, message: impl Into<String>) -> SceneError {
        SceneError::at(self.origin, self.place, &self.path, message)
    }

    fn wrong_kind(&self, wanted: &str) -> SceneError {
        self.error(format!("expected {wanted}, found {}", describe(&self.node.value)))
    }

    /// A finite number.
    pub fn number(&self) -> Result<f64, SceneError> {
        let number = match self.node.value {
            Value::Number(number) => number,
            Value::Integer(integer) => integer as f64,
            _ => return Err(self.wrong_kind("a number")),
        };
        if number.is_finite() {
            Ok(number)
        } else {
            Err(self.error(format!("{number} is not finite; give an ordinary number")))
        }
    }

    /// A finite number above zero; `unit` says what it is, for the message.
    pub fn positive(&self, unit: &str) -> Result<f64, SceneError> {
        let number = self.number()?;
        if number > 0.0 {
            Ok(number)
        } else {
            Err(self.error(format!("must be positive, not {number}; give it in {unit}")))
        }
    }

    /// A finite number that is not negative.
    pub fn not_negative(&self, unit: &str) -> Result<f64, SceneError> {
        let number = self.number()?;
        if number >= 0.0 {
            Ok(number)
        } else {
            Err(self.error(format!("must not be negative, but is {number}; give it in {unit}")))
        }
    }

    /// A whole number.
    pub fn integer(&self) -> Result<i64, SceneError> {
        match self.node.value {
            Value::Integer(integer) => Ok(integer),
            // 1e3 is whole too; beyond 2⁵³ a float does not say which whole number was meant.
            Value::Number(number) if number.fract() == 0.0 && number.abs() <= 9e15 => Ok(number as i64),
            _ => Err(self.wrong_kind("a whole number")),
        }
    }

    /// A whole number from `least` up to `most`.
    pub fn count(&self, least: u32, most: u32) -> Result<u32, SceneError> {
        let integer = self.integer()?;
        match u32::try_from(integer) {
            Ok(count) if (least..=most).contains(&count) => Ok(count),
            _ => Err(self.error(format!("must be a whole number from {least} to {most}, not {integer}"))),
        }
    }

    /// True or false.
    pub fn bool(&self) -> Result<bool, SceneError> {
        match self.node.value {
            Value::Bool(flag) => Ok(flag),
            _ => Err(self.wrong_kind("true or false")),
        }
    }

    /// Text.
    pub fn text(&self) -> Result<&'a str, SceneError> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.wrong_kind("text in quotes")),
        }
    }

    /// A name of something: text that is not empty, at most 100 characters, printable, without `,` and `"`
    /// (names become columns of CSV files).
    pub fn name(&self) -> Result<&'a str, SceneError> {
        let name = self.text()?;
        let fits = !name.trim().is_empty() && name.chars().count() <= 100;
        if fits && !name.chars().any(|c| c.is_control() || c == ',' || c == '"') {
            Ok(name)
        } else {
            Err(self.error(format!(
                "{} is no name; use 1 to 100 printable characters without comma and quotes",
                suggest::quoted(name)
            )))
        }
    }

    /// One of a fixed set of words.
    pub fn choice<T: Copy>(&self, choices: &[(&'static str, T)]) -> Result<T, SceneError> {
        let word = self.text()?;
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == word) {
            return Ok(*value);
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        Err(self.error(format!(
            "{} is not known here{}choose one of: {}",
            suggest::quoted(word),
            suggest::did_you_mean(word, names.iter().copied()),
            names.join(", ")
        )))
    }

    /// The members of a list, one by one.
    pub fn members(&self) -> Result<impl Iterator<Item = Item<'a>>, SceneError> {
        let Value::Array(items) = &self.node.value else {
            return Err(self.wrong_kind("a list in [ ]"));
        };
        let (outer, origin, path) = (self.place, self.origin, self.path.clone());
        Ok(items.iter().enumerate().map(move |(i, node)| {
            let place = match node.place {
                Place::Unknown => outer,
                known => known,
            };
            Item { node, place, path: format!("{path}[{i}]"), origin }
        }))
    }

    /// The members of a list.
    pub fn list(&self) -> Result<Vec<Item<'a>>, SceneError> {
        Ok(self.members()?.collect())
    }

    /// A list of exactly N members.
    pub fn exactly<const N: usize>(&self, what: &str) -> Result<[Item<'a>; N], SceneError> {
        let length = match &self.node.value {
            Value::Array(items) => items.len(),
            _ => return Err(self.wrong_kind(&format!("a list of {N} {what}"))),
        };
        // Checked before the members are built: the list may be huge.
        let wrong = || self.error(format!("expected {N} {what}, found {length}; write {N} between [ and ]"));
        if length != N {
            return Err(wrong());
        }
        <[Item<'a>; N]>::try_from(self.list()?).map_err(|_| wrong())
    }

    /// Three finite numbers.
    pub fn vector3(&self) -> Result<[f64; 3], SceneError> {
        let [x, y, z] = self.exactly("numbers")?;
        Ok([x.number()?, y.number()?, z.number()?])
    }

    /// A direction: three finite numbers, not all zero, scaled to length 1.
    pub fn direction(&self) -> Result<[f64; 3], SceneError> {
        let vector = self.vector3()?;
        // Scale first, so that neither tiny nor huge components are lost in their squares.
        let largest = vector.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
        if largest == 0.0 {
            return Err(self.error("is zero and has no direction; give for example [0, 1, 0]"));
        }
        let vector = vector.map(|c| c / largest);
        let length = vector.iter().map(|c| c * c).sum::<f64>().sqrt();
        Ok(vector.map(|c| c / length))
    }

    /// A formula of the given variables.
    pub fn formula(&self, variables: &[&str]) -> Result<Expression, SceneError> {
        let source = self.text()?;
        Expression::parse(source, variables)
            .map_err(|error| self.error(format!("formula {}, {error}", suggest::quoted(source))))
    }

    /// The keys of a table.
    pub fn reader(&self) -> Result<Reader<'a>, SceneError> {
        match &self.node.value {
            Value::Table(table) => Ok(Reader {
                table,
                place: self.place,
                path: self.path.clone(),
                origin: self.origin,
                known: Vec::new(),
            }),
            _ => Err(self.wrong_kind("a table of keys in { } or under a [header]")),
        }
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Table(_) | Value::Array(_) => value.kind().to_owned(),
        Value::Number(number) => format!("the number {number}"),
        Value::Integer(number) => format!("the number {number}"),
        Value::Text(text) => format!("the text {}", suggest::quoted(text)),
        Value::Bool(flag) => format!("{flag}"),
    }
}

/// The keys of one table, being read. Asking for a key makes it known; [`Reader::finish`] refuses the others.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    table: &'a Table,
    place: Place,
    path: String,
    origin: &'a str,
    known: Vec<&'static str>,
}

impl<'a> Reader<'a> {
    /// Dotted path of the table.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Renames the table in messages, once its name is known: `body[0]` becomes `body.bar`.
    pub fn rename(&mut self, path: String) {
        self.path = path;
    }

    /// An error about the table as a whole.
    pub fn error(&self, message: impl Into<String>) -> SceneError {
        SceneError::at(self.origin, self.place, &self.path, message)
    }

    /// The value of a key, if present.
    pub fn optional(&mut self, key: &'static str) -> Option<Item<'a>> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.table.get(key).map(|entry| self.item(entry))
    }

    /// The value of a key that must be present; `example` shows the missing line.
    pub fn required(&mut self, key: &'static str, example: &str) -> Result<Item<'a>, SceneError> {
        if let Some(item) = self.optional(key) {
            return Ok(item);
        }
        // A misspelt key is the likely reason: say that instead.
        let mut unread = self.table.entries().iter().filter(|e| !self.known.contains(&e.key.as_str()));
        match unread.by_ref().take(1000).find(|entry| suggest::nearest(&entry.key, [key]).is_some()) {
            Some(entry) => Err(self.unknown(entry)),
            None => Err(self.error(format!("the key {key:?} is missing; write for example {example}"))),
        }
    }

    /// Whether a key is present, without making it known.
    pub fn peek(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// Whether a key is present.
    pub fn has(&mut self, key: &'static str) -> bool {
        self.optional(key).is_some()
    }

    /// A finite number that must be present.
    pub fn number(&mut self, key: &'static str, example: &str) -> Result<f64, SceneError> {
        self.required(key, example)?.number()
    }

    /// A finite number, or its default.
    pub fn number_or(&mut self, key: &'static str, default: f64) -> Result<f64, SceneError> {
        self.optional(key).map_or(Ok(default), |item| item.number())
    }

    /// True or false, or its default.
    pub fn bool_or(&mut self, key: &'static str, default: bool) -> Result<bool, SceneError> {
        self.optional(key).map_or(Ok(default), |item| item.bool())
    }

    /// A positive number, if present.
    pub fn optional_positive(&mut self, key: &'static str, unit: &str) -> Result<Option<f64>, SceneError> {
        self.optional(key).map(|item| item.positive(unit)).transpose()
    }

    /// Three finite numbers, if present.
    pub fn optional_vector3(&mut self, key: &'static str) -> Result<Option<[f64; 3]>, SceneError> {
        self.optional(key).map(|item| item.vector3()).transpose()
    }

    /// The tables of a `[[key]]` list; none if absent.
    pub fn tables(&mut self, key: &'static str) -> Result<Vec<Item<'a>>, SceneError> {
        let Some(item) = self.optional(key) else {
            return Ok(Vec::new());
        };
        if let Value::Table(_) = item.node.value {
            return Err(item.error(format!(
                "is a list, of which there may be several; write [[{key}]] instead of [{key}]"
            )));
        }
        item.list()
    }

    /// What has not been asked for, in the order of the file.
    pub fn rest(&self) -> Vec<(&'a Entry, Item<'a>)> {
        let unread = self.table.entries().iter().filter(|e| !self.known.contains(&e.key.as_str()));
        unread.map(|entry| (entry, self.item(entry))).collect()
    }

    /// Refuses keys that have not been asked for.
    pub fn finish(&self) -> Result<(), SceneError> {
        let unread = self.table.entries().iter().find(|e| !self.known.contains(&e.key.as_str()));
        unread.map_or(Ok(()), |entry| Err(self.unknown(entry)))
    }

    /// The error for a key that has no meaning here.
    pub fn unknown(&self, entry: &Entry) -> SceneError {
        let place = if self.path.is_empty() { "the scene" } else { self.path.as_str() };
        let message = format!(
            "unknown key {} in {place}{}known keys: {}",
            suggest::quoted(&entry.key),
            suggest::did_you_mean(&entry.key, self.known.iter().copied()),
            if self.known.is_empty() { "none".to_owned() } else { self.known.join(", ") }
        );
        SceneError::at(self.origin, entry.place, "", message)
    }

    /// Keeps the table for later, when more is known.
    pub fn raw(&self) -> Raw {
        Raw {
            node: Node { value: Value::Table(self.table.clone()), place: self.place },
            path: self.path.clone(),
            origin: self.origin.to_owned(),
        }
    }

    fn item(&self, entry: &'a Entry) -> Item<'a> {
        Item {
            node: &entry.node,
            place: entry.place,
            path: join(&self.path, &entry.key),
            origin: self.origin,
        }
    }
}

/// A table kept as written, to be read later by the part that understands it.
#[derive(Clone, Debug)]
pub struct Raw {
    node: Node,
    path: String,
    origin: String,
}

/// Equal when the content is; path and file do not matter.
impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node
    }
}

impl Raw {
    /// Reads it.
    pub fn reader(&self) -> Result<Reader<'_>, SceneError> {
        self.item().reader()
    }

    /// The table as a value.
    pub fn item(&self) -> Item<'_> {
        Item { node: &self.node, place: self.node.place, path: self.path.clone(), origin: &self.origin }
    }
}
