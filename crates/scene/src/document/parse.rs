//! TOML and JSON to [`Node`].

use toml::de::{DeTable, DeValue};

use super::{Entry, MAX_DEPTH, Node, Place, SceneError, Table, Value};
use crate::suggest;

/// Scenes larger than this are refused, bytes: large data belongs into mesh files.
///
/// The parser takes about 75 bytes of memory per byte in the worst case (`[1,1,1,…`); this keeps it below 64 MiB.
pub const MAX_BYTES: usize = 3 << 18;

impl Node {
    /// Reads a scene: JSON if `origin` ends in `.json` or the text starts with `{`, otherwise TOML.
    ///
    /// `origin` is the name that messages give to the text, usually the path of the file.
    pub fn parse(text: &str, origin: &str) -> Result<Self, SceneError> {
        if text.len() > MAX_BYTES {
            return Err(SceneError::file(
                origin,
                format!(
                    "{} bytes is too large for a scene (at most {MAX_BYTES}); put large data into a mesh file",
                    text.len()
                ),
            ));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let json = origin.to_ascii_lowercase().ends_with(".json");
        if json || text.trim_start().starts_with('{') {
            from_json(text, origin)
        } else {
            from_toml(text, origin)
        }
    }

    /// From data that came as JSON; `origin` names it in messages.
    pub fn from_json(value: &serde_json::Value, origin: &str) -> Result<Self, SceneError> {
        convert_json(value, origin, 0)
    }

    /// Reads one TOML value, as on the right of `=`; `None` if the text is not one.
    pub(super) fn parse_toml_value(text: &str) -> Option<Self> {
        let lines = Lines::none(Place::Override);
        let value = DeValue::parse(text).ok()?;
        if deeper_than(value.get_ref(), MAX_DEPTH) {
            return None;
        }
        lines.convert(value.get_ref(), Place::Override, "--set").ok()
    }
}

/// Where lines start, to turn bytes into line numbers.
struct Lines {
    starts: Vec<usize>,
    fixed: Option<Place>,
}

impl Lines {
    fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(i, _)| i + 1)).collect();
        Self { starts, fixed: None }
    }

    fn none(place: Place) -> Self {
        Self { starts: Vec::new(), fixed: Some(place) }
    }

    fn at(&self, byte: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= byte);
        self.fixed.unwrap_or(Place::Line(line.max(1)))
    }

    /// Converts a value whose depth has been checked.
    fn convert(&self, value: &DeValue<'_>, place: Place, origin: &str) -> Result<Node, SceneError> {
        let refuse = |message: String| SceneError::at(origin, place, "", message);
        let value = match value {
            DeValue::String(text) => Value::Text(text.clone().into_owned()),
            DeValue::Boolean(flag) => Value::Bool(*flag),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(integer) => Value::Integer(integer),
                Err(_) => {
                    return Err(refuse(format!(
                        "{} has too many digits; write it with a point or an exponent, as 1e20",
                        suggest::quoted(number.as_str())
                    )));
                }
            },
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(float) => Value::Number(float),
                Err(_) => return Err(refuse(format!("{number} is not a number"))),
            },
            DeValue::Datetime(date) => {
                return Err(refuse(format!(
                    "{date} is a date, which no key takes; times are numbers, in seconds"
                )));
            }
            DeValue::Array(items) => Value::Array(
                items
                    .iter()
                    .enumerate()
                    .map(|(i, item)| {
                        self.convert(item.get_ref(), self.at(item.span().start), origin)
                            .map_err(|error| error.inside(&format!("[{i}]")))
                    })
                    .collect::<Result<_, _>>()?,
            ),
            DeValue::Table(table) => Value::Table(self.convert_table(table, origin)?),
        };
        Ok(Node { value, place })
    }

    fn convert_table(&self, table: &DeTable<'_>, origin: &str) -> Result<Table, SceneError> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, item) in table.iter() {
            let place = self.at(key.span().start);
            // The parser places a table at its header or brace, but an implied one nowhere useful.
            let at_value = self.at(item.span().start.max(key.span().start));
            let node = self
                .convert(item.get_ref(), at_value, origin)
                .map_err(|error| error.inside(&join("", key.get_ref())))?;
            let entry = Entry { key: key.get_ref().clone().into_owned(), place, node };
            entries.push((key.span().start, entry));
        }
        entries.sort_by_key(|(start, _)| *start);
        Ok(Table { entries: entries.into_iter().map(|(_, entry)| entry).collect() })
    }
}

/// `path.key`
pub(super) fn join(path: &str, key: &str) -> String {
    let plain = key.len() <= 60 && key.chars().all(|c| c.is_alphanumeric() || "_- ".contains(c));
    let key = if plain { key.to_owned() } else { suggest::quoted(key) };
    if path.is_empty() { key } else { format!("{path}.{key}") }
}

fn too_deep(origin: &str, place: Place) -> SceneError {
    SceneError::at(
        origin,
        place,
        "",
        format!("tables or lists nest more than {MAX_DEPTH} deep; a scene needs about 6"),
    )
}

/// Whether a value nests deeper than allowed; without recursion.
fn deeper_than(value: &DeValue<'_>, limit: usize) -> bool {
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        if depth > limit {
            return true;
        }
        match value {
            DeValue::Array(items) => open.extend(items.iter().map(|i| (i.get_ref(), depth + 1))),
            DeValue::Table(table) => {
                open.extend(table.values().map(|i| (i.get_ref(), depth + 1)));
            }
            _ => {}
        }
    }
    false
}

fn from_toml(text: &str, origin: &str) -> Result<Node, SceneError> {
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|error| {
        let place = error.span().map_or(Place::Unknown, |span| lines.at(span.start));
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        SceneError::at(
            origin,
            place,
            "",
            format!("not valid TOML: {message}; correct this line (strings need quotes, lists commas)"),
        )
    })?;
    // The parser bounds brackets and dotted keys to 80 each, so at most 80² levels reach this point; freeing
    // them recursively takes less than 512 KiB of stack.
    let value = DeValue::Table(table.into_inner());
    if deeper_than(&value, MAX_DEPTH) {
        return Err(too_deep(origin, Place::Unknown));
    }
    lines.convert(&value, Place::Line(1), origin)
}

fn from_json(text: &str, origin: &str) -> Result<Node, SceneError> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| {
        let place = if error.line() > 0 { Place::Line(error.line()) } else { Place::Unknown };
        SceneError::at(origin, place, "", format!("not valid JSON: {error}; correct it there"))
    })?;
    convert_json(&value, origin, 0)
}

fn convert_json(value: &serde_json::Value, origin: &str, depth: usize) -> Result<Node, SceneError> {
    if depth > MAX_DEPTH {
        return Err(too_deep(origin, Place::Unknown));
    }
    let value = match value {
        serde_json::Value::Null => {
            return Err(SceneError::at(
                origin,
                Place::Unknown,
                "",
                "null is no value; leave the key out to get its default",
            ));
        }
        serde_json::Value::Bool(flag) => Value::Bool(*flag),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Value::Integer(integer),
            (None, float) => Value::Number(float.unwrap_or(f64::NAN)),
        },
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Array(items) => Value::Array(
            items
                .iter()
                .enumerate()
                .map(|(i, item)| {
                    convert_json(item, origin, depth + 1).map_err(|error| error.inside(&format!("[{i}]")))
                })
                .collect::<Result<_, _>>()?,
        ),
        serde_json::Value::Object(map) => {
            let mut entries = Vec::with_capacity(map.len());
            for (key, item) in map {
                let node =
                    convert_json(item, origin, depth + 1).map_err(|error| error.inside(&join("", key)))?;
                entries.push(Entry { key: key.clone(), place: Place::Unknown, node });
            }
            Value::Table(Table { entries })
        }
    };
    Ok(Node { value, place: Place::Unknown })
}
