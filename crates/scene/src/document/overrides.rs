//! `--set time.step=0.002`: a value of the scene by its dotted path.

use super::{MAX_DEPTH, Node, Place, SceneError, Value};
use crate::suggest;

const ORIGIN: &str = "--set";

/// Sets one value, as in `time.step=0.002`.
///
/// Members of a list are named by number (`body.0.mass` or `body[0].mass`) or by their `name`
/// (`body.bar.mass`); a list with one member needs neither (`body.mass`). The value is TOML; what is not
/// TOML is text. A key that does not exist is created: the schema then says whether it knows it.
///
/// ```
/// use lilyan_scene::document::{Node, apply_override};
/// let mut scene = Node::parse("[time]\nstep = 0.1", "scene.toml")?;
/// apply_override(&mut scene, "time.step=0.002")?;
/// assert_eq!(scene.to_toml(), "[time]\nstep = 0.002\n");
/// # Ok::<(), lilyan_scene::document::SceneError>(())
/// ```
pub fn apply_override(scene: &mut Node, assignment: &str) -> Result<(), SceneError> {
    let refuse = |message: String| SceneError::file(ORIGIN, message);
    let Some((path, value)) = split(assignment) else {
        return Err(refuse(format!(
            "{} has no \"=\"; write key=value, for example time.step=0.002",
            suggest::quoted(assignment)
        )));
    };
    let value = parse_value(value.trim()).map_err(|why| SceneError::at(ORIGIN, Place::Unknown, path, why))?;
    set_value(scene, path, Some(value))
}

/// Sets the value at a path as of [`apply_override`], or takes it out.
pub fn set_value(scene: &mut Node, path: &str, value: Option<Node>) -> Result<(), SceneError> {
    let segments = segments(path).map_err(|why| {
        let message = format!("{}: {why}; write for example body.bar.material.E=1e6", suggest::quoted(path));
        SceneError::file(ORIGIN, message)
    })?;
    match value {
        Some(value) => place(scene, &segments, value),
        None => take_out(scene, &segments),
    }
    .map_err(|why| SceneError::at(ORIGIN, Place::Unknown, path, why))
}

/// Splits at the first `=` that is not inside quotes.
fn split(assignment: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (i, c) in assignment.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '=') => return Some((assignment.get(..i)?, assignment.get(i + 1..)?)),
            _ => {}
        }
    }
    None
}

/// `body[0]."my part".E` as `body`, `0`, `my part`, `E`.
fn segments(path: &str) -> Result<Vec<String>, String> {
    let mut segments: Vec<String> = Vec::new();
    let mut rest = path.trim();
    loop {
        let first = rest.chars().next().ok_or("a key is missing")?;
        let (segment, after) = if first == '"' || first == '\'' {
            let inner = rest.get(1..).unwrap_or_default();
            inner.split_once(first).ok_or("a quote is not closed")?
        } else if first == '[' {
            let inner = rest.get(1..).unwrap_or_default();
            let (number, after) = inner.split_once(']').ok_or("\"[\" is not closed")?;
            if number.parse::<usize>().is_err() {
                return Err(format!("[{number}] is not a number from 0"));
            }
            (number, after)
        } else {
            rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()))
        };
        let segment = segment.trim();
        if segment.is_empty() {
            return Err("a key is missing".to_owned());
        }
        segments.push(segment.to_owned());
        if segments.len() > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} keys"));
        }
        rest = match after.strip_prefix('.') {
            Some(after) => after,
            None if after.is_empty() => return Ok(segments),
            None if after.starts_with('[') => after,
            None => return Err(format!("expected \".\" before {}", suggest::quoted(after))),
        };
    }
}

fn parse_value(text: &str) -> Result<Node, String> {
    if let Some(node) = Node::parse_toml_value(text) {
        return Ok(node);
    }
    // Text may stand without quotes; a list or table that does not parse is a mistake.
    if text.starts_with(['[', '{', '"', '\'']) {
        return Err(format!(
            "{} is not a valid TOML value; check quotes, commas and brackets",
            suggest::quoted(text)
        ));
    }
    Ok(Node { value: Value::Text(text.to_owned()), place: Place::Override })
}

/// Walks down the path, creating what is missing, and sets the last key.
fn place(scene: &mut Node, segments: &[String], value: Node) -> Result<(), String> {
    let mut node = scene;
    let mut rest = segments;
    while let Some((segment, after)) = rest.split_first() {
        rest = after;
        let fresh = || match after.first() {
            // `pin.0.body=…` on a scene without pins makes the list.
            Some(next) if next.parse::<usize>().is_ok() => {
                Node { value: Value::Array(Vec::new()), place: Place::Override }
            }
            _ => Node::empty(Place::Override),
        };
        node = match &mut node.value {
            Value::Table(table) => {
                if table.get(segment).is_none() {
                    table.set(segment, Place::Override, fresh());
                }
                if after.is_empty() {
                    table.set(segment, Place::Override, value);
                    return Ok(());
                }
                table.get_mut(segment).ok_or("the key vanished")?
            }
            Value::Array(items) => {
                let index = match member(items, segment)? {
                    Member::Index(index) => index,
                    Member::Only => {
                        rest = std::slice::from_ref(segment);
                        return place(
                            items.first_mut().ok_or("the list is empty")?,
                            &[rest, after].concat(),
                            value,
                        );
                    }
                };
                if index == items.len() {
                    items.push(fresh());
                }
                items.get_mut(index).ok_or("the list is empty")?
            }
            other => {
                return Err(format!(
                    "{} cannot be set inside {}; set the whole value instead",
                    suggest::quoted(segment),
                    other.kind()
                ));
            }
        };
    }
    *node = value;
    Ok(())
}

/// Removes what a path names; what is not there need not be removed.
fn take_out(node: &mut Node, segments: &[String]) -> Result<(), String> {
    let Some((segment, after)) = segments.split_first() else { return Ok(()) };
    match &mut node.value {
        Value::Table(table) if after.is_empty() => table.entries.retain(|entry| entry.key != *segment),
        Value::Table(table) => {
            if let Some(inner) = table.get_mut(segment) {
                take_out(inner, after)?;
            }
        }
        Value::Array(items) => match member(items, segment)? {
            Member::Index(index) if index >= items.len() => {}
            Member::Index(index) if after.is_empty() => drop(items.remove(index)),
            Member::Index(index) => {
                if let Some(inner) = items.get_mut(index) {
                    take_out(inner, after)?;
                }
            }
            Member::Only => {
                if let Some(inner) = items.first_mut() {
                    take_out(inner, segments)?;
                }
            }
        },
        _ => {}
    }
    Ok(())
}

enum Member {
    /// This one; the length of the list means a new one.
    Index(usize),
    /// The segment is a key of the only member.
    Only,
}

fn member(items: &[Node], segment: &str) -> Result<Member, String> {
    let length = items.len();
    if let Ok(index) = segment.parse::<usize>() {
        if index <= length {
            return Ok(Member::Index(index));
        }
        return Err(format!("there is no member {index}; the list has {length}, counted from 0"));
    }
    let name = |node: &Node| match node.table()?.get("name")?.node.value {
        Value::Text(ref name) => Some(name.clone()),
        _ => None,
    };
    let names: Vec<Option<String>> = items.iter().map(name).collect();
    if let Some(index) = names.iter().position(|n| n.as_deref() == Some(segment)) {
        return Ok(Member::Index(index));
    }
    let names: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
    // A key that is not there yet may be set too, unless it looks like a misspelt name of the member.
    if let [only] = items
        && let Some(table) = only.table()
        && (table.get(segment).is_some() || suggest::nearest(segment, names.iter().copied()).is_none())
    {
        return Ok(Member::Only);
    }
    Err(format!(
        "no member is named {}{}name one of [{}], or count from 0 to {}",
        suggest::quoted(segment),
        suggest::did_you_mean(segment, names.iter().copied()),
        suggest::list(names.iter().copied()),
        length.saturating_sub(1)
    ))
}
