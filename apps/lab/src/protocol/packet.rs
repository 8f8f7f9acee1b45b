//! Binary messages: JSON followed by arrays of 32-bit numbers.

use axum::body::Bytes;
use serde_json::{Value, json};

/// First word of a geometry message.
pub const GEOMETRY: u32 = 1;
/// First word of a frame.
pub const FRAME: u32 = 2;

/// A binary message under construction. Arrays are listed in the order in which they are added.
#[derive(Default)]
pub struct Packet {
    arrays: Vec<Value>,
    bytes: Vec<u8>,
}

impl Packet {
    /// Adds an array of `f32`.
    pub fn numbers(&mut self, pane: usize, name: &str, values: impl Iterator<Item = f32>) {
        let before = self.bytes.len();
        self.bytes.extend(values.flat_map(f32::to_le_bytes));
        self.list(pane, name, "f32", before);
    }

    /// Adds an array of `u32`.
    pub fn indices(&mut self, pane: usize, name: &str, values: &[u32]) {
        let before = self.bytes.len();
        self.bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        self.list(pane, name, "u32", before);
    }

    fn list(&mut self, pane: usize, name: &str, kind: &str, before: usize) {
        let length = (self.bytes.len() - before) / 4;
        self.arrays.push(json!({ "pane": pane, "name": name, "type": kind, "length": length }));
    }

    /// The bytes of the message. The list of arrays is added to `header`.
    pub fn finish(self, kind: u32, mut header: Value) -> Bytes {
        if let Some(header) = header.as_object_mut() {
            header.insert("arrays".into(), self.arrays.into());
        }
        let mut text = header.to_string();
        while !text.len().is_multiple_of(4) {
            text.push(' ');
        }
        let mut out = Vec::with_capacity(8 + text.len() + self.bytes.len());
        out.extend(kind.to_le_bytes());
        out.extend((text.len() as u32).to_le_bytes());
        out.extend(text.as_bytes());
        out.extend(self.bytes);
        out.into()
    }
}
