//! As much of XML as VTK files use: tags with attributes, and the text between them.

use super::error::ReadError;
use super::text::{TextCursor, show};

/// A start or end tag.
pub(super) struct Tag<'a> {
    pub name: &'a [u8],
    pub end: bool,
    /// `<name/>`: no end tag follows.
    pub empty: bool,
    attributes: &'a [u8],
    /// Text before this tag, since the one before it.
    pub text: &'a [u8],
}

impl<'a> Tag<'a> {
    pub fn attribute(&self, name: &str) -> Option<&'a [u8]> {
        let mut rest = self.attributes.trim_ascii_start();
        loop {
            let equals = rest.iter().position(|&b| b == b'=')?;
            let key = rest.get(..equals)?.trim_ascii();
            let value = rest.get(equals + 1..)?.trim_ascii_start();
            let &quote = value.first().filter(|q| matches!(q, b'"' | b'\''))?;
            let value = value.get(1..)?;
            let end = value.iter().position(|&b| b == quote)?;
            if key == name.as_bytes() {
                return value.get(..end);
            }
            rest = value.get(end + 1..)?.trim_ascii_start();
        }
    }
}

/// The next tag; comments and declarations are passed over.
pub(super) fn next<'a>(scan: &mut TextCursor<'a>) -> Result<Option<Tag<'a>>, ReadError> {
    loop {
        let rest = scan.rest();
        let Some(open) = rest.iter().position(|&b| b == b'<') else {
            return Ok(None);
        };
        let text = rest.get(..open).unwrap_or_default();
        let body = rest.get(open + 1..).unwrap_or_default();
        if body.starts_with(b"!--") {
            match body.windows(3).position(|w| w == b"-->") {
                Some(end) => scan.pos += open + 1 + end + 3,
                None => return scan.fail("a comment has no end", CUT),
            }
            continue;
        }
        let Some(close) = closing(body) else {
            scan.pos += open;
            return scan.fail("a tag has no end", CUT);
        };
        let inner = body.get(..close).unwrap_or_default();
        scan.pos += open + 1 + close + 1;
        if inner.starts_with(b"?") || inner.starts_with(b"!") {
            continue;
        }
        let (inner, end) = match inner.strip_prefix(b"/") {
            Some(rest) => (rest, true),
            None => (inner, false),
        };
        let (inner, empty) = match inner.strip_suffix(b"/") {
            Some(rest) => (rest, true),
            None => (inner, false),
        };
        let name_end = inner.iter().position(u8::is_ascii_whitespace).unwrap_or(inner.len());
        let (name, attributes) = inner.split_at_checked(name_end).unwrap_or_default();
        if name.is_empty() {
            return scan.fail(
                format!("`<{}>` is not a tag", show(inner)),
                "the file may be damaged: write it again",
            );
        }
        return Ok(Some(Tag { name, end, empty, attributes, text }));
    }
}

const CUT: &str = "the file may be cut short: write it again";

/// Position of the `>` that is not inside quotes.
fn closing(body: &[u8]) -> Option<usize> {
    let mut quote = None;
    body.iter().position(|&b| match quote {
        Some(q) => {
            if b == q {
                quote = None;
            }
            false
        }
        None => {
            if matches!(b, b'"' | b'\'') {
                quote = Some(b);
            }
            b == b'>'
        }
    })
}
