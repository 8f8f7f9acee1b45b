//! Symmetric sparse matrices of 3×3 blocks, one per pair of coupled nodes.

use crate::matrix::pattern::BlockPattern;
use lilyan_parallel::threads;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The transpose of a row-major 3×3 block.
pub(crate) fn transposed(b: &[f64; 9]) -> [f64; 9] {
    [b[0], b[3], b[6], b[1], b[4], b[7], b[2], b[5], b[8]]
}

fn add(to: &mut [f64; 9], b: &[f64; 9]) {
    for k in 0..9 {
        to[k] += b[k];
    }
}

/// Blocks per task: about 10 µs of work.
const CHUNK: usize = 1 << 12;

/// A symmetric matrix: its lower triangle as row-major 3×3 blocks.
///
/// The pattern comes from the mesh and is shared. Temporary couplings (contact) are stored separately in an ordered map, so
/// that the pattern and its symbolic factorisation stay valid. Diagonal blocks are stored in full and must be symmetric.
#[derive(Debug, Clone)]
pub struct BlockMatrix {
    pattern: Arc<BlockPattern>,
    values: Vec<[f64; 9]>,
    /// Blocks outside the pattern.
    extra: BTreeMap<(u32, u32), [f64; 9]>,
}

/// The lower triangle of a scalar matrix in compressed sparse column format, with sorted rows.
#[derive(Debug, Clone)]
pub struct ScalarLowerCsc {
    /// Where each column begins; one more entry than columns.
    pub col_ptr: Vec<usize>,
    /// The row of every entry.
    pub rows: Vec<usize>,
    /// The value of every entry.
    pub values: Vec<f64>,
}

impl BlockMatrix {
    /// The zero matrix of a pattern.
    pub fn zeros(pattern: Arc<BlockPattern>) -> BlockMatrix {
        let values = vec![[0.0; 9]; pattern.len()];
        BlockMatrix { pattern, values, extra: BTreeMap::new() }
    }

    /// Sets all values to zero and removes the couplings outside the pattern.
    pub fn clear(&mut self) {
        threads::par_chunks_mut(&mut self.values, CHUNK, |_, blocks| blocks.fill([0.0; 9]));
        self.extra.clear();
    }

    /// The pattern, without the extra couplings.
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// The blocks of the pattern, in its order.
    pub fn values(&self) -> &[[f64; 9]] {
        &self.values
    }

    /// The blocks of the pattern, to be filled in place.
    pub fn values_mut(&mut self) -> &mut [[f64; 9]] {
        &mut self.values
    }

    /// The blocks (i, j), i > j, outside the pattern.
    pub fn extra(&self) -> &BTreeMap<(u32, u32), [f64; 9]> {
        &self.extra
    }

    /// Whether both matrices have the same entries, couplings and pattern.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.pattern, &other.pattern) && self.values == other.values && self.extra == other.extra
    }

    /// The number of scalar rows.
    pub fn dofs(&self) -> usize {
        3 * self.pattern.n()
    }

    /// Adds `block` to entry (i, j); for i ≠ j its mirror image at (j, i) is implied, and must not be added too.
    ///
    /// # Panics
    /// If i or j is not a node.
    pub fn add_block(&mut self, i: usize, j: usize, block: &[f64; 9]) {
        let n = self.pattern.n();
        assert!(i < n && j < n, "block ({i}, {j}) is outside a matrix of {n} nodes");
        let (i, j, block) = if i < j { (j, i, &transposed(block)) } else { (i, j, block) };
        match self.pattern.position(i, j) {
            Some(p) => add(&mut self.values[p], block),
            None => add(self.extra.entry((i as u32, j as u32)).or_insert([0.0; 9]), block),
        }
    }

    /// Adds `block` at a position of the pattern (see [`BlockPattern::position`]).
    pub fn add_at(&mut self, position: usize, block: &[f64; 9]) {
        add(&mut self.values[position], block);
    }

    /// Adds one number per dof to the diagonal.
    pub fn add_diagonal(&mut self, diagonal: &[f64]) {
        assert_eq!(diagonal.len(), self.dofs());
        for (j, d) in diagonal.chunks_exact(3).enumerate() {
            let block = &mut self.values[self.pattern.diagonal_position(j)];
            block[0] += d[0];
            block[4] += d[1];
            block[8] += d[2];
        }
    }

    /// A ← a A.
    pub fn scale(&mut self, a: f64) {
        let scale = |block: &mut [f64; 9]| block.iter_mut().for_each(|value| *value *= a);
        threads::par_chunks_mut(&mut self.values, CHUNK, |_, blocks| blocks.iter_mut().for_each(scale));
        self.extra.values_mut().for_each(scale);
    }

    /// Turns every block B into R B Rᵀ, with R by rows.
    pub fn turn(&mut self, rotation: &[[f64; 3]; 3]) {
        let turned = |block: &mut [f64; 9]| {
            let left: [f64; 9] =
                std::array::from_fn(|k| (0..3).map(|m| rotation[k / 3][m] * block[3 * m + k % 3]).sum());
            *block =
                std::array::from_fn(|k| (0..3).map(|m| left[3 * (k / 3) + m] * rotation[k % 3][m]).sum());
        };
        threads::par_chunks_mut(&mut self.values, CHUNK, |_, blocks| blocks.iter_mut().for_each(turned));
        self.extra.values_mut().for_each(turned);
    }

    /// A ← A + a B.
    pub fn add_scaled(&mut self, a: f64, other: &BlockMatrix) {
        let scaled = |b: &[f64; 9]| b.map(|v| a * v);
        if Arc::ptr_eq(&self.pattern, &other.pattern) || self.pattern == other.pattern {
            for (to, from) in self.values.iter_mut().zip(&other.values) {
                add(to, &scaled(from));
            }
        } else {
            for j in 0..other.pattern.n() {
                let first = other.pattern.diagonal_position(j);
                for (k, &i) in other.pattern.column(j).iter().enumerate() {
                    self.add_block(i as usize, j, &scaled(&other.values[first + k]));
                }
            }
        }
        for (&(i, j), block) in &other.extra {
            self.add_block(i as usize, j as usize, &scaled(block));
        }
    }

    /// Applies Dirichlet conditions: the row and the column of every held dof become those of the identity, so that a solve
    /// returns its right-hand side.
    pub fn hold(&mut self, held: &[bool]) {
        assert_eq!(held.len(), self.dofs());
        if !held.contains(&true) {
            return;
        }
        let mask = |block: &mut [f64; 9], i: usize, j: usize| {
            for r in 0..3 {
                for c in 0..3 {
                    if held[3 * i + r] || held[3 * j + c] {
                        block[3 * r + c] = if i == j && r == c { 1.0 } else { 0.0 };
                    }
                }
            }
        };
        for j in 0..self.pattern.n() {
            let first = self.pattern.diagonal_position(j);
            for (k, &i) in self.pattern.column(j).iter().enumerate() {
                mask(&mut self.values[first + k], i as usize, j);
            }
        }
        for (&(i, j), block) in &mut self.extra {
            mask(block, i as usize, j as usize);
        }
    }

    /// The diagonal, one number per dof.
    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.pattern.n())
            .flat_map(|j| {
                let block = &self.values[self.pattern.diagonal_position(j)];
                [block[0], block[4], block[8]]
            })
            .collect()
    }

    /// Whether `other` has the same pattern and the same values.
    pub fn same_values(&self, other: &BlockMatrix) -> bool {
        Arc::ptr_eq(&self.pattern, &other.pattern) && self.values == other.values && self.extra == other.extra
    }

    /// Whether every stored number is finite.
    pub fn is_finite(&self) -> bool {
        self.values.iter().chain(self.extra.values()).all(|b| b.iter().all(|v| v.is_finite()))
    }

    /// The lower triangle in scalar form, with the blocks outside the pattern.
    pub fn to_scalar_lower_csc(&self) -> ScalarLowerCsc {
        let mut columns: Vec<Vec<(u32, &[f64; 9])>> = vec![Vec::new(); self.pattern.n()];
        for (j, column) in columns.iter_mut().enumerate() {
            let first = self.pattern.diagonal_position(j);
            column.extend(
                self.pattern.column(j).iter().enumerate().map(|(k, &i)| (i, &self.values[first + k])),
            );
        }
        for (&(i, j), block) in &self.extra {
            columns[j as usize].push((i, block));
        }
        let mut out = ScalarLowerCsc { col_ptr: vec![0], rows: Vec::new(), values: Vec::new() };
        for (j, column) in columns.iter_mut().enumerate() {
            column.sort_unstable_by_key(|entry| entry.0);
            for c in 0..3 {
                for &(i, block) in column.iter() {
                    for r in if i as usize == j { c..3 } else { 0..3 } {
                        out.rows.push(3 * i as usize + r);
                        out.values.push(block[3 * r + c]);
                    }
                }
                out.col_ptr.push(out.rows.len());
            }
        }
        out
    }

    /// The full matrix, row by row, for tests and very small problems.
    pub fn to_dense(&self) -> Vec<Vec<f64>> {
        let lower = self.to_scalar_lower_csc();
        let mut dense = vec![vec![0.0; self.dofs()]; self.dofs()];
        for j in 0..self.dofs() {
            for k in lower.col_ptr[j]..lower.col_ptr[j + 1] {
                dense[lower.rows[k]][j] = lower.values[k];
                dense[j][lower.rows[k]] = lower.values[k];
            }
        }
        dense
    }
}
