//! A document as TOML, and its fingerprint.

use super::{Entry, Node, Table, Value};

/// Keys that come first where they occur; the others follow by name.
const ORDER: &[&str] = &[
    "title",
    "name",
    "kind",
    "model",
    "end",
    "step",
    "time",
    "integrator",
    "environment",
    "body",
    "where",
    "mesh",
    "material",
    "mass",
    "damping",
    "initial",
    "pin",
    "load",
    "constraint",
    "contact",
    "output",
    "probe",
];

impl Node {
    /// The document as TOML, always in the same order and layout; reading it again gives an equal document.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        if let Value::Table(table) = &self.value {
            let entries = sorted(table);
            for entry in entries.iter().filter(|entry| !is_section(&entry.node)) {
                line(&mut out, entry);
            }
            for entry in entries.iter().filter(|entry| is_section(&entry.node)) {
                section(&mut out, entry);
            }
        } else {
            inline(&mut out, &self.value);
        }
        out
    }

    /// The document as JSON; numbers that are not finite, which no scene takes, become `null`.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Table(table) => {
                table.entries().iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect()
            }
            Value::Array(items) => items.iter().map(Self::to_json).collect(),
            Value::Number(x) => (*x).into(),
            Value::Integer(x) => (*x).into(),
            Value::Text(text) => text.as_str().into(),
            Value::Bool(flag) => (*flag).into(),
        }
    }

    /// FNV-1a, 128 bits, of the document's content: the same for TOML and JSON, for any order of keys,
    /// and for `8` and `8.0`; different for anything else.
    pub fn fingerprint(&self) -> u128 {
        let mut text = String::new();
        canonical(&mut text, &self.value);
        text.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, byte| {
            (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
        })
    }
}

fn sorted(table: &Table) -> Vec<&Entry> {
    let rank = |key: &str| ORDER.iter().position(|k| *k == key).unwrap_or(ORDER.len());
    let mut entries: Vec<&Entry> = table.entries().iter().collect();
    entries.sort_by(|a, b| rank(&a.key).cmp(&rank(&b.key)).then_with(|| a.key.cmp(&b.key)));
    entries
}

/// Whether a value of the top level is printed under a header of its own.
fn is_section(node: &Node) -> bool {
    match &node.value {
        Value::Table(_) => true,
        Value::Array(items) => !items.is_empty() && items.iter().all(|item| item.table().is_some()),
        _ => false,
    }
}

fn section(out: &mut String, entry: &Entry) {
    let mut header = |open: &str, close: &str, table: &Table| {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(open);
        key(out, &entry.key);
        out.push_str(close);
        for entry in sorted(table) {
            line(out, entry);
        }
    };
    match &entry.node.value {
        Value::Table(table) => header("[", "]\n", table),
        Value::Array(items) => {
            for table in items.iter().filter_map(Node::table) {
                header("[[", "]]\n", table);
            }
        }
        _ => {}
    }
}

fn line(out: &mut String, entry: &Entry) {
    key(out, &entry.key);
    out.push_str(" = ");
    inline(out, &entry.node.value);
    out.push('\n');
}

fn key(out: &mut String, key: &str) {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(bare) {
        out.push_str(key);
    } else {
        text(out, key);
    }
}

fn text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn inline(out: &mut String, value: &Value) {
    match value {
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Integer(number) => out.push_str(&number.to_string()),
        Value::Number(number) if number.is_nan() => out.push_str("nan"),
        Value::Number(number) => out.push_str(&format!("{number:?}")),
        Value::Text(string) => text(out, string),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                inline(out, &item.value);
            }
            out.push(']');
        }
        Value::Table(table) => {
            out.push('{');
            for (i, entry) in sorted(table).into_iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { " " });
                key(out, &entry.key);
                out.push_str(" = ");
                inline(out, &entry.node.value);
            }
            out.push_str(" }");
        }
    }
}

/// Text that depends on the content only: keys sorted, every number in its shortest form.
fn canonical(out: &mut String, value: &Value) {
    match value {
        Value::Integer(number) => {
            let float = *number as f64;
            // Beyond 2⁵³ two whole numbers may share a float; keep them apart.
            if number.unsigned_abs() <= 1 << 53 {
                out.push_str(&format!("{float:?}"));
            } else {
                out.push_str(&number.to_string());
            }
        }
        Value::Number(number) if *number == 0.0 => out.push_str("0.0"),
        Value::Array(items) => {
            out.push('[');
            for item in items {
                canonical(out, &item.value);
                out.push(',');
            }
            out.push(']');
        }
        Value::Table(table) => {
            let mut entries: Vec<&Entry> = table.entries().iter().collect();
            entries.sort_by(|a, b| a.key.cmp(&b.key));
            out.push('{');
            for entry in entries {
                text(out, &entry.key);
                out.push(':');
                canonical(out, &entry.node.value);
                out.push(',');
            }
            out.push('}');
        }
        other => inline(out, other),
    }
}
