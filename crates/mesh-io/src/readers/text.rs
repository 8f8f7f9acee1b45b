//! Words and numbers out of bytes, without copying and without trusting any count.

use super::error::{Place, ReadError};

/// No number or keyword of any format is longer; a longer word is not text.
const LONGEST_WORD: usize = 4096;

/// A cursor over a text file.
///
/// It only knows its byte position; the line number is counted when an error needs it.
#[derive(Clone)]
pub(super) struct TextCursor<'a> {
    pub data: &'a [u8],
    pub pos: usize,
    /// Starts a comment that runs to the end of the line.
    comment: Option<u8>,
    /// A comma separates words like a blank.
    comma: bool,
}

impl<'a> TextCursor<'a> {
    pub fn new(data: &'a [u8], comment: Option<u8>) -> Self {
        TextCursor { data, pos: 0, comment, comma: false }
    }

    pub fn with_commas(mut self) -> Self {
        self.comma = true;
        self
    }

    pub fn rest(&self) -> &'a [u8] {
        self.data.get(self.pos..).unwrap_or_default()
    }

    /// The line of the byte at `pos`, from 1.
    pub fn line_at(&self, pos: usize) -> Place {
        let before = self.data.get(..pos.min(self.data.len())).unwrap_or_default();
        Place::Line(before.iter().filter(|&&b| b == b'\n').count() as u64 + 1)
    }

    pub fn here(&self) -> Place {
        self.line_at(self.pos)
    }

    pub fn fail<T>(&self, what: impl Into<String>, remedy: impl Into<String>) -> Result<T, ReadError> {
        Err(ReadError::new(self.here(), what, remedy))
    }

    fn skip_blank(&mut self, over_lines: bool) {
        while let Some(&b) = self.data.get(self.pos) {
            if Some(b) == self.comment {
                let rest = self.rest();
                self.pos += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
            } else if (b == b'\n' && !over_lines) || !(b.is_ascii_whitespace() || b == b',' && self.comma) {
                return;
            } else {
                self.pos += 1;
            }
        }
    }

    fn take_word(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest();
        let len = rest
            .iter()
            .take(LONGEST_WORD)
            .position(|&b| b.is_ascii_whitespace() || b == b',' && self.comma || Some(b) == self.comment)
            .unwrap_or(rest.len().min(LONGEST_WORD));
        self.pos += len;
        rest.get(..len).filter(|w| !w.is_empty())
    }

    /// The next word, on this line or a later one.
    pub fn word(&mut self) -> Option<&'a [u8]> {
        self.skip_blank(true);
        self.take_word()
    }

    /// The next word of this line.
    pub fn word_in_line(&mut self) -> Option<&'a [u8]> {
        self.skip_blank(false);
        self.take_word()
    }

    /// The next word without moving past it.
    pub fn peek(&mut self) -> Option<&'a [u8]> {
        self.skip_blank(true);
        let start = self.pos;
        let word = self.take_word();
        self.pos = start;
        word
    }

    /// The rest of this line, trimmed, moving to the next one; `None` at the end of the file.
    pub fn line(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest();
        if rest.is_empty() {
            return None;
        }
        let len = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        self.pos += (len + 1).min(rest.len());
        rest.get(..len).map(<[u8]>::trim_ascii)
    }

    pub fn at_line_end(&mut self) -> bool {
        self.skip_blank(false);
        matches!(self.data.get(self.pos), None | Some(b'\n'))
    }

    fn number<T>(&mut self, wanted: &str, parse: impl Fn(&[u8]) -> Option<T>) -> Result<T, ReadError> {
        self.skip_blank(true);
        let start = self.pos;
        let word = self.take_word();
        match word.and_then(parse) {
            Some(value) => Ok(value),
            None => Err(ReadError::new(
                self.line_at(start),
                match word {
                    Some(w) => format!("expected {wanted}, found `{}`", show(w)),
                    None => format!("the file ends where {wanted} should be"),
                },
                "the file may be damaged or cut short: write it again",
            )),
        }
    }

    pub fn float(&mut self, wanted: &str) -> Result<f64, ReadError> {
        self.number(wanted, parse_float)
    }

    pub fn int(&mut self, wanted: &str) -> Result<i64, ReadError> {
        self.number(wanted, parse_int)
    }

    /// A count or an index from 0 up.
    pub fn uint(&mut self, wanted: &str) -> Result<u64, ReadError> {
        self.number(wanted, |w| parse_int(w).and_then(|i| u64::try_from(i).ok()))
    }

    pub fn point(&mut self) -> Result<[f64; 3], ReadError> {
        Ok([self.float("x")?, self.float("y")?, self.float("z")?])
    }

    /// A count of items of at least `bytes_each` bytes; refused when the file cannot hold them,
    /// so that no claim in a header is ever allocated.
    pub fn count(&mut self, wanted: &str, bytes_each: u64) -> Result<usize, ReadError> {
        let n = self.uint(wanted)?;
        self.fits(n, bytes_each)
    }

    /// `n` as a size, if that many items of `bytes_each` bytes can be in the rest of the file.
    pub fn fits(&self, n: u64, bytes_each: u64) -> Result<usize, ReadError> {
        let left = self.rest().len() as u64;
        // The last line may lack its line end.
        match n.checked_mul(bytes_each) {
            Some(bytes) if bytes <= left.saturating_add(1) => Ok(n as usize),
            _ => self.fail(
                format!("the file announces {n} items, but only {left} bytes follow"),
                "the file may be damaged or cut short: write it again",
            ),
        }
    }
}

/// A word for an error message: printable and short.
pub(super) fn show(word: &[u8]) -> String {
    let head: String = word
        .iter()
        .take(40)
        .map(|&b| if b.is_ascii_graphic() || b == b' ' { char::from(b) } else { '?' })
        .collect();
    if word.len() > 40 { format!("{head}…") } else { head }
}

/// A name out of the file, with anything that is not UTF-8 replaced.
pub(super) fn text(word: &[u8]) -> String {
    String::from_utf8_lossy(word).into_owned()
}

pub(super) fn parse_float(word: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(word).ok()?;
    match text.parse() {
        Ok(x) => Some(x),
        // Fortran writes 1.0D+00.
        Err(_) if text.contains(['d', 'D']) => text.replace(['d', 'D'], "e").parse().ok(),
        Err(_) => None,
    }
}

pub(super) fn parse_int(word: &[u8]) -> Option<i64> {
    let (negative, digits) = match word {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, word),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut value = 0i64;
    for &b in digits {
        if !b.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(b - b'0');
    }
    Some(if negative { -value } else { value })
}
