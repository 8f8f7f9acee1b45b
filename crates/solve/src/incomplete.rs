//! Incomplete Cholesky factorisation A ≈ L D Lᵀ in 3×3 blocks, without fill: the preconditioner for matrices of mild
//! stiffness, M + h²K with steps that resolve the motion.
//!
//! One pass over the blocks, in the order of the nodes; couplings outside the pattern (contact) are left to the iteration.
//! A pivot block that is lost on the way (A is no M-matrix) is replaced by that of A itself: L D Lᵀ is
//! positive definite whatever happens.

use crate::block::BlockMatrix;
use crate::packed::{Packed, Padded, pad, unpad};
use crate::pattern::BlockPattern;
use std::sync::Arc;

/// Blocks (i, j) and (k, j), and the place of (i, k) that their product changes.
type Update = [u32; 3];

/// See the module.
#[derive(Default)]
pub struct Incomplete {
    pattern: Option<Arc<BlockPattern>>,
    /// Those of each column, one after the other.
    updates: Vec<Update>,
    update_ptr: Vec<usize>,
    /// What L is made in; D⁻¹ on the diagonal.
    values: Vec<[f64; 9]>,
    /// L, in single precision: it need not be exact, and is read twice in every iteration.
    lower: Packed<f32>,
    /// D⁻¹.
    inverse: Vec<[f64; 9]>,
}

impl Incomplete {
    /// Factorises A.
    pub fn factor(&mut self, a: &BlockMatrix) {
        self.analyse(a.pattern());
        self.values.clear();
        self.values.extend_from_slice(a.values());
        let (pattern, values) = (a.pattern(), &mut self.values);
        for j in 0..pattern.n() {
            let first = pattern.diagonal_position(j);
            let pivot = inverse(&values[first])
                .or_else(|| inverse(&a.values()[first]))
                .unwrap_or([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
            values[first] = pivot;
            // (i, k) −= (i, j) D⁻¹ (k, j)ᵀ, while the column is still L D.
            let mut scaled = (u32::MAX, [0.0; 9]);
            for &[ij, kj, ik] in &self.updates[self.update_ptr[j]..self.update_ptr[j + 1]] {
                if scaled.0 != kj {
                    scaled = (kj, product(&values[kj as usize], &pivot));
                }
                let left = values[ij as usize];
                subtract_product_transposed(&mut values[ik as usize], &left, &scaled.1);
            }
            for block in &mut values[first + 1..first + pattern.column(j).len()] {
                *block = product(block, &pivot);
            }
        }
        self.lower.set(&self.values);
        self.inverse.clear();
        self.inverse.extend((0..pattern.n()).map(|j| self.values[pattern.diagonal_position(j)]));
    }

    fn analyse(&mut self, pattern: &Arc<BlockPattern>) {
        if self.pattern.as_ref().is_some_and(|p| Arc::ptr_eq(p, pattern)) {
            return;
        }
        self.updates.clear();
        self.update_ptr = vec![0];
        for j in 0..pattern.n() {
            let first = pattern.diagonal_position(j);
            let below = &pattern.column(j)[1..];
            for (b, &k) in below.iter().enumerate() {
                // Both lists ascend; (k, k) is the first of its column.
                let target = pattern.column(k as usize);
                let start = pattern.diagonal_position(k as usize);
                let mut t = 0;
                for (a, &i) in below.iter().enumerate().skip(b) {
                    while t < target.len() && target[t] < i {
                        t += 1;
                    }
                    if t < target.len() && target[t] == i {
                        self.updates.push([first + 1 + a, first + 1 + b, start + t].map(|p| p as u32));
                    }
                }
            }
            self.update_ptr.push(self.updates.len());
        }
        self.pattern = Some(pattern.clone());
    }

    /// x ← (L D Lᵀ)⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        let mut padded = Vec::new();
        pad(x, &mut padded);
        self.solve_padded(&mut padded);
        unpad(&padded, x);
    }

    /// The same.
    pub(crate) fn solve_padded(&self, x: &mut [Padded]) {
        if let Some(pattern) = &self.pattern {
            self.lower.substitute(pattern, &self.inverse, x);
        }
    }
}

/// The inverse of a symmetric positive definite block, if it is one.
fn inverse(a: &[f64; 9]) -> Option<[f64; 9]> {
    let [c00, c01, c02] = [a[4] * a[8] - a[5] * a[7], a[5] * a[6] - a[3] * a[8], a[3] * a[7] - a[4] * a[6]];
    let minor = a[0] * a[4] - a[1] * a[3];
    let det = a[0] * c00 + a[1] * c01 + a[2] * c02;
    // Far from singular: a pivot that has lost ten digits tells nothing.
    let size = a[0] * a[4] * a[8];
    if !(a[0] > 0.0 && minor > 1e-10 * a[0] * a[4] && det > 1e-10 * size) {
        return None;
    }
    let s = 1.0 / det;
    let (b01, b02) = (s * (a[2] * a[7] - a[1] * a[8]), s * (a[1] * a[5] - a[2] * a[4]));
    let b12 = s * (a[2] * a[3] - a[0] * a[5]);
    Some([s * c00, b01, b02, b01, s * (a[0] * a[8] - a[2] * a[6]), b12, b02, b12, s * minor])
}

#[inline(always)]
fn product(a: &[f64; 9], b: &[f64; 9]) -> [f64; 9] {
    std::array::from_fn(|e| {
        let (r, c) = (e / 3, e % 3);
        a[3 * r] * b[c] + a[3 * r + 1] * b[3 + c] + a[3 * r + 2] * b[6 + c]
    })
}

/// t ← t − a bᵀ.
#[inline(always)]
fn subtract_product_transposed(t: &mut [f64; 9], a: &[f64; 9], b: &[f64; 9]) {
    for r in 0..3 {
        for c in 0..3 {
            t[3 * r + c] -= a[3 * r] * b[3 * c] + a[3 * r + 1] * b[3 * c + 1] + a[3 * r + 2] * b[3 * c + 2];
        }
    }
}
