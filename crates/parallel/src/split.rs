//! Work that can be divided among threads. Pieces are split off mutable slices one after the other, without a list of them.

use std::ops::Range;

/// Work that consists of pieces and can be divided between two pieces.
pub trait Divisible: Sized + Send {
    type Piece;
    fn pieces(&self) -> usize;
    /// The first `pieces` pieces, and the others.
    fn split(self, pieces: usize) -> (Self, Self);
    /// Takes the first piece.
    fn next(&mut self) -> Option<Self::Piece>;
}

/// Each index is a piece.
impl Divisible for Range<usize> {
    type Piece = usize;

    fn pieces(&self) -> usize {
        self.len()
    }
    fn split(self, pieces: usize) -> (Self, Self) {
        let middle = self.start + pieces;
        (self.start..middle, middle..self.end)
    }
    fn next(&mut self) -> Option<usize> {
        Iterator::next(self)
    }
}

/// Several slices of equal length, divided into chunks of `chunk` items; the last chunk may be shorter.
pub struct Chunks<'a, T, const N: usize> {
    pub slices: [&'a mut [T]; N],
    pub chunk: usize,
}

impl<T: Send, const N: usize> Divisible for Chunks<'_, T, N> {
    type Piece = Self;

    fn pieces(&self) -> usize {
        self.slices.first().map_or(0, |s| s.len().div_ceil(self.chunk))
    }

    fn split(self, pieces: usize) -> (Self, Self) {
        let chunk = self.chunk;
        let mut others = [const { None }; N];
        let mut k = 0;
        let first = self.slices.map(|s| {
            let (first, behind) = s.split_at_mut(s.len().min(pieces * chunk));
            others[k] = Some(behind);
            k += 1;
            first
        });
        let others = others.map(Option::unwrap_or_default);
        (Self { slices: first, chunk }, Self { slices: others, chunk })
    }

    fn next(&mut self) -> Option<Self> {
        if self.pieces() == 0 {
            return None;
        }
        let slices = self.slices.each_mut().map(std::mem::take);
        let (first, others) = Self { slices, chunk: self.chunk }.split(1);
        *self = others;
        Some(first)
    }
}

/// A slice, divided into consecutive parts that begin at `starts`.
pub struct Ranges<'a, T> {
    pub data: &'a mut [T],
    pub starts: &'a [u32],
}

impl<'a, T: Send> Divisible for Ranges<'a, T> {
    type Piece = &'a mut [T];

    fn pieces(&self) -> usize {
        self.starts.len() - 1
    }

    fn split(self, pieces: usize) -> (Self, Self) {
        let (first, others) = self.data.split_at_mut((self.starts[pieces] - self.starts[0]) as usize);
        let parts = |data, starts| Ranges { data, starts };
        (parts(first, &self.starts[..=pieces]), parts(others, &self.starts[pieces..]))
    }

    fn next(&mut self) -> Option<&'a mut [T]> {
        if self.pieces() == 0 {
            return None;
        }
        let (first, others) = Ranges { data: std::mem::take(&mut self.data), starts: self.starts }.split(1);
        *self = others;
        Some(first.data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the pieces hold, taken one by one from both halves.
    fn pieces<W: Divisible, R>(work: W, at: usize, read: impl Fn(W::Piece) -> R) -> Vec<R> {
        let (mut first, mut others) = work.split(at);
        assert_eq!(first.pieces(), at);
        std::iter::from_fn(|| first.next().or_else(|| others.next())).map(read).collect()
    }

    #[test]
    fn every_piece_comes_once_and_in_order() {
        for at in 0..=4 {
            let mut a: Vec<usize> = (0..10).collect();
            let mut b = a.clone();
            let chunks = Chunks { slices: [&mut a[..], &mut b], chunk: 3 };
            let seen = pieces(chunks, at, |piece| piece.slices.map(|s| s.to_vec()));
            let expected: Vec<_> = b.chunks(3).map(|c| [c.to_vec(), c.to_vec()]).collect();
            assert_eq!(seen, expected);
            let parts = Ranges { data: &mut a, starts: &[0, 2, 2, 9, 10] };
            let seen = pieces(parts, at, |part| part.to_vec());
            assert_eq!(seen, [&b[..2], &[], &b[2..9], &b[9..]]);
            assert_eq!(pieces(5..9, at, |i| i), [5, 6, 7, 8]);
        }
    }
}
