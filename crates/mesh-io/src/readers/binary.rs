//! Binary numbers out of bytes.

use super::error::{Place, ReadError};

/// A cursor over binary data of either byte order.
pub(super) struct BinaryCursor<'a> {
    pub data: &'a [u8],
    pub pos: usize,
    pub big_endian: bool,
}

impl<'a> BinaryCursor<'a> {
    pub fn new(data: &'a [u8], pos: usize, big_endian: bool) -> Self {
        BinaryCursor { data, pos, big_endian }
    }

    pub fn here(&self) -> Place {
        Place::Byte(self.pos as u64)
    }

    pub fn fail<T>(&self, what: impl Into<String>, remedy: impl Into<String>) -> Result<T, ReadError> {
        Err(ReadError::new(self.here(), what, remedy))
    }

    pub fn left(&self) -> usize {
        self.data.len().saturating_sub(self.pos)
    }

    /// `n` items of `bytes_each` bytes.
    pub fn take(&mut self, n: u64, bytes_each: u64) -> Result<&'a [u8], ReadError> {
        let end = n
            .checked_mul(bytes_each)
            .and_then(|bytes| usize::try_from(bytes).ok())
            .and_then(|bytes| self.pos.checked_add(bytes));
        match end.and_then(|end| self.data.get(self.pos..end).map(|s| (s, end))) {
            Some((slice, end)) => {
                self.pos = end;
                Ok(slice)
            }
            None => self.fail(
                format!(
                    "{n} items of {bytes_each} bytes should follow, but only {} bytes are left",
                    self.left()
                ),
                "the file may be damaged or cut short: write it again",
            ),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        let slice = self.take(1, N as u64)?;
        let mut out = [0; N];
        for (o, s) in out.iter_mut().zip(slice) {
            *o = *s;
        }
        if self.big_endian {
            out.reverse();
        }
        Ok(out)
    }

    pub fn i32(&mut self) -> Result<i32, ReadError> {
        Ok(i32::from_le_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Result<u64, ReadError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub fn f64(&mut self) -> Result<f64, ReadError> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    pub fn point(&mut self) -> Result<[f64; 3], ReadError> {
        Ok([self.f64()?, self.f64()?, self.f64()?])
    }

    /// One number of the given kind.
    pub fn number(&mut self, kind: NumberKind) -> Result<Number, ReadError> {
        Ok(match kind {
            NumberKind::I8 => Number::Int(i64::from(i8::from_le_bytes(self.array()?))),
            NumberKind::U8 => Number::Int(i64::from(u8::from_le_bytes(self.array()?))),
            NumberKind::I16 => Number::Int(i64::from(i16::from_le_bytes(self.array()?))),
            NumberKind::U16 => Number::Int(i64::from(u16::from_le_bytes(self.array()?))),
            NumberKind::I32 => Number::Int(i64::from(i32::from_le_bytes(self.array()?))),
            NumberKind::U32 => Number::Int(i64::from(u32::from_le_bytes(self.array()?))),
            NumberKind::I64 => Number::Int(i64::from_le_bytes(self.array()?)),
            // No valid index or tag reaches 2^63. A larger number is reported as out of range.
            NumberKind::U64 => {
                Number::Int(i64::try_from(u64::from_le_bytes(self.array()?)).unwrap_or(i64::MAX))
            }
            NumberKind::F32 => Number::Float(f64::from(f32::from_le_bytes(self.array()?))),
            NumberKind::F64 => Number::Float(f64::from_le_bytes(self.array()?)),
        })
    }
}

/// The kinds of numbers that files declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberKind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl NumberKind {
    pub fn bytes(self) -> usize {
        match self {
            NumberKind::I8 | NumberKind::U8 => 1,
            NumberKind::I16 | NumberKind::U16 => 2,
            NumberKind::I32 | NumberKind::U32 | NumberKind::F32 => 4,
            NumberKind::I64 | NumberKind::U64 | NumberKind::F64 => 8,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, NumberKind::F32 | NumberKind::F64)
    }
}

/// A number as declared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    pub fn float(self) -> f64 {
        match self {
            Number::Int(i) => i as f64,
            Number::Float(x) => x,
        }
    }

    /// As an integer; a float must be whole.
    pub fn int(self) -> Option<i64> {
        match self {
            Number::Int(i) => Some(i),
            // Beyond 2^53 a float cannot represent every integer.
            Number::Float(x) if x.fract() == 0.0 && x.abs() <= 9_007_199_254_740_992.0 => Some(x as i64),
            Number::Float(_) => None,
        }
    }
}
