//! Taking a document apart, key by key, with errors that say where and what to do.

use super::key::{Absent, Key, Kind, Range, TableSchema};
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
    kind: Kind,
    origin: &'a str,
}

impl<'a> Item<'a> {
    /// The whole document, which is a table with these keys.
    pub fn root(node: &'a Node, origin: &'a str, schema: &'static TableSchema) -> Self {
        Self { node, place: Place::Unknown, path: String::new(), kind: Kind::Table(schema), origin }
    }

    /// The file it came from.
    pub fn origin(&self) -> &'a str {
        self.origin
    }

    /// An error about this value.
    pub fn error(&self, message: impl Into<String>) -> SceneError {
        SceneError::at(self.origin, self.place, &self.path, message)
    }

    /// The error where a key is given for a body or mesh that it is not for.
    pub fn misplaced(&self, key: &Key) -> SceneError {
        self.error(format!("is for {}; leave it out", key.only))
    }

    fn wrong_kind(&self, wanted: &str) -> SceneError {
        self.error(format!("expected {wanted}, found {}", describe(&self.node.value)))
    }

    /// A finite number in the range of its key.
    pub fn number(&self) -> Result<f64, SceneError> {
        let number = self.finite()?;
        match self.kind.number() {
            Some((range, unit)) if !range.contains(number) => Err(self.outside(number, range, unit)),
            _ => Ok(number),
        }
    }

    /// A finite number, whatever the range of its key.
    pub fn finite(&self) -> Result<f64, SceneError> {
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

    /// Range and unit of a number that may stand here.
    pub fn limits(&self) -> Option<(Range, &'static str)> {
        self.kind.number()
    }

    fn outside(&self, number: f64, range: Range, unit: &str) -> SceneError {
        let complaint = match range {
            Range::NOT_NEGATIVE => format!("must not be negative, but is {number}"),
            range => format!("must be {}, not {number}", range.words()),
        };
        match unit {
            "" => self.error(format!("{complaint}; correct the value")),
            unit => self.error(format!("{complaint}; give it in {unit}")),
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

    /// A whole number in the range of its key.
    pub fn count(&self) -> Result<u32, SceneError> {
        let (least, most) = self.kind.whole().unwrap_or((0, i64::from(u32::MAX)));
        self.count_within(least, most)
    }

    /// The number of one of the things that are numbered from 0 to `most`.
    pub fn index(&self, most: u32) -> Result<u32, SceneError> {
        self.count_within(0, i64::from(most))
    }

    fn count_within(&self, least: i64, most: i64) -> Result<u32, SceneError> {
        let integer = self.integer()?;
        match u32::try_from(integer) {
            Ok(count) if (least..=most).contains(&integer) => Ok(count),
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
        let (outer, origin, path, kind) = (self.place, self.origin, self.path.clone(), self.kind.member());
        Ok(items.iter().enumerate().map(move |(i, node)| {
            let place = match node.place {
                Place::Unknown => outer,
                known => known,
            };
            Item { node, place, path: format!("{path}[{i}]"), kind, origin }
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

    /// The variables of a formula that may stand here.
    pub fn variables(&self) -> &'static [&'static str] {
        self.kind.variables()
    }

    /// A formula of the variables of its key.
    pub fn formula(&self) -> Result<Expression, SceneError> {
        let source = self.text()?;
        Expression::parse(source, self.variables())
            .map_err(|error| self.error(format!("formula {}, {error}", suggest::quoted(source))))
    }

    /// The keys of a table.
    pub fn reader(&self) -> Result<Reader<'a>, SceneError> {
        match (&self.node.value, self.kind.table()) {
            (Value::Table(table), Some(schema)) => Ok(Reader {
                table,
                schema,
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
    schema: &'static TableSchema,
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
    pub fn optional(&mut self, key: &Key) -> Option<Item<'a>> {
        debug_assert!(self.schema.declares(key.name), "{} does not declare {}", self.schema.name, key.name);
        if !self.known.contains(&key.name) {
            self.known.push(key.name);
        }
        self.table.get(key.name).map(|entry| self.item(entry, key.kind))
    }

    /// The value of a key that must be present.
    pub fn required(&mut self, key: &Key) -> Result<Item<'a>, SceneError> {
        self.required_as(key, &key.line())
    }

    /// The value of a key that must be present; `example` shows the missing line.
    pub fn required_as(&mut self, key: &Key, example: &str) -> Result<Item<'a>, SceneError> {
        if let Some(item) = self.optional(key) {
            return Ok(item);
        }
        // A misspelt key is the likely reason: say that instead.
        let name = key.name;
        let mut unread = self.table.entries().iter().filter(|e| !self.known.contains(&e.key.as_str()));
        match unread.by_ref().take(1000).find(|entry| suggest::nearest(&entry.key, [name]).is_some()) {
            Some(entry) => {
                // Keys that would have been asked for later are known as well.
                let later = self.schema.keys.iter().map(|k| k.name).filter(|k| !self.known.contains(k));
                let known: Vec<&str> = self.known.iter().copied().chain(later).collect();
                Err(self.unknown_among(entry, &known))
            }
            None => Err(self.error(format!("the key {name:?} is missing; write for example {example}"))),
        }
    }

    /// Whether a key is present, without making it known.
    pub fn peek(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// A number that must be present.
    pub fn number(&mut self, key: &Key) -> Result<f64, SceneError> {
        self.required(key)?.number()
    }

    /// A number, if present.
    pub fn optional_number(&mut self, key: &Key) -> Result<Option<f64>, SceneError> {
        self.optional(key).map(|item| item.number()).transpose()
    }

    /// A number, or what its absence means.
    pub fn number_or_default(&mut self, key: &Key) -> Result<f64, SceneError> {
        match (self.optional(key), key.absent) {
            (Some(item), _) => item.number(),
            (None, Absent::Number(number)) => Ok(number),
            (None, _) => self.number(key),
        }
    }

    /// A whole number, or what its absence means.
    pub fn count_or_default(&mut self, key: &Key) -> Result<u32, SceneError> {
        match (self.optional(key), key.absent) {
            (Some(item), _) => item.count(),
            (None, Absent::Number(number)) => Ok(number as u32),
            (None, _) => self.required(key)?.count(),
        }
    }

    /// True or false, or what its absence means.
    pub fn flag(&mut self, key: &Key) -> Result<bool, SceneError> {
        match (self.optional(key), key.absent) {
            (Some(item), _) => item.bool(),
            (None, Absent::Flag(flag)) => Ok(flag),
            (None, _) => self.required(key)?.bool(),
        }
    }

    /// One of a fixed set of words, or the word that its absence means.
    pub fn choice<T: Copy>(&mut self, key: &Key, choices: &[(&'static str, T)]) -> Result<T, SceneError> {
        let default = match key.absent {
            Absent::Word(word) => choices.iter().find(|(name, _)| *name == word),
            _ => None,
        };
        match (self.optional(key), default) {
            (None, Some((_, value))) => Ok(*value),
            _ => self.required(key)?.choice(choices),
        }
    }

    /// Three numbers, if present.
    pub fn optional_vector3(&mut self, key: &Key) -> Result<Option<[f64; 3]>, SceneError> {
        self.optional(key).map(|item| item.vector3()).transpose()
    }

    /// The tables of a `[[key]]` list; none if absent.
    pub fn tables(&mut self, key: &Key) -> Result<Vec<Item<'a>>, SceneError> {
        let Some(item) = self.optional(key) else {
            return Ok(Vec::new());
        };
        if let Value::Table(_) = item.node.value {
            return Err(item.error(format!(
                "is a list, of which there may be several; write [[{0}]] instead of [{0}]",
                key.name
            )));
        }
        item.list()
    }

    /// What has not been asked for, in the order of the file; it is of this kind.
    pub fn rest(&self, kind: Kind) -> Vec<(&'a Entry, Item<'a>)> {
        let unread = self.table.entries().iter().filter(|e| !self.known.contains(&e.key.as_str()));
        unread.map(|entry| (entry, self.item(entry, kind))).collect()
    }

    /// Refuses keys that have not been asked for.
    pub fn finish(&self) -> Result<(), SceneError> {
        let unread = self.table.entries().iter().find(|e| !self.known.contains(&e.key.as_str()));
        unread.map_or(Ok(()), |entry| Err(self.unknown(entry)))
    }

    /// The error for a key that has no meaning here.
    pub fn unknown(&self, entry: &Entry) -> SceneError {
        self.unknown_among(entry, &self.known)
    }

    fn unknown_among(&self, entry: &Entry, known: &[&str]) -> SceneError {
        let place = if self.path.is_empty() { "the scene" } else { self.path.as_str() };
        let message = format!(
            "unknown key {} in {place}{}known keys: {}",
            suggest::quoted(&entry.key),
            suggest::did_you_mean(&entry.key, known.iter().copied()),
            if known.is_empty() { "none".to_owned() } else { known.join(", ") }
        );
        SceneError::at(self.origin, entry.place, "", message)
    }

    fn item(&self, entry: &'a Entry, kind: Kind) -> Item<'a> {
        Item {
            node: &entry.node,
            place: entry.place,
            path: join(&self.path, &entry.key),
            kind,
            origin: self.origin,
        }
    }
}
