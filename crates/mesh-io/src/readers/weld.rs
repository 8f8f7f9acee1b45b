//! Joins vertices that are equal to the bit, for formats that repeat them per triangle.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// A hash table of vertex numbers; the vertices themselves are kept once, in order.
///
/// Four to eight bytes per vertex beside the vertex, which a `HashMap` would triple.
pub(super) struct VertexWelder {
    pub vertices: Vec<[f64; 3]>,
    /// Vertex number + 1, 0 for a free place; a power of two long.
    table: Vec<u32>,
    state: RandomState,
}

impl VertexWelder {
    pub fn new() -> Self {
        VertexWelder { vertices: Vec::new(), table: vec![0; 64], state: RandomState::new() }
    }

    /// The number of this vertex, new or known.
    pub fn number(&mut self, p: [f64; 3]) -> u32 {
        // Adding 0 makes −0 the same corner as 0.
        let p = p.map(|x| x + 0.0);
        if 2 * self.vertices.len() >= self.table.len() {
            self.table = vec![0; 2 * self.table.len()];
            for v in 0..self.vertices.len() {
                let place = self.vertices.get(v).map_or(0, |q| self.place(q));
                if let Some(slot) = self.table.get_mut(place) {
                    *slot = v as u32 + 1;
                }
            }
        }
        let place = self.place(&p);
        match self.table.get_mut(place) {
            Some(slot) if *slot > 0 => *slot - 1,
            Some(slot) => {
                self.vertices.push(p);
                *slot = self.vertices.len() as u32;
                *slot - 1
            }
            None => 0,
        }
    }

    /// Where this vertex is in the table, or the free place for it.
    fn place(&self, p: &[f64; 3]) -> usize {
        let mask = self.table.len() - 1;
        let bits = p.map(f64::to_bits);
        let mut at = self.state.hash_one(bits) as usize & mask;
        while let Some(&slot) = self.table.get(at)
            && slot > 0
            && self.vertices.get(slot as usize - 1).is_some_and(|q| q.map(f64::to_bits) != bits)
        {
            at = (at + 1) & mask;
        }
        at
    }
}
