//! Kernels over blocks of eight tets: gather, deformation gradient, material, nodal forces.
//!
//! F = Dₛ Dₘ⁻¹ with Dₛ the current and Dₘ the rest edges from vertex 0. The gradient of vol ψ(F) at
//! vertices 1, 2, 3 is the columns of vol P Dₘ⁻ᵀ, and minus their sum at vertex 0.

use crate::materials::Density;
use crate::math::{LANES, Lanes, Mat3};

/// Eight tets: vertex numbers, Dₘ⁻¹, volumes. A last block that is not full repeats its first tet with
/// volume 0.
#[derive(Clone, Debug)]
pub struct Block {
    /// Vertex numbers, `nodes[corner][lane]`.
    pub nodes: [[u32; LANES]; 4],
    /// Dₘ⁻¹, 1/m.
    pub inverse: Mat3<Lanes>,
    /// Rest volumes, m³.
    pub volume: Lanes,
}

impl Block {
    /// Dₛ Dₘ⁻¹ of any nodal vector field: F of positions, Ḟ of velocities.
    #[inline(always)]
    pub fn gradient_of(&self, x: &[f64]) -> Mat3<Lanes> {
        let mut edges = [[Lanes([0.0; LANES]); 3]; 3];
        for lane in 0..LANES {
            let o = 3 * self.nodes[0][lane] as usize;
            let origin = [x[o], x[o + 1], x[o + 2]];
            for corner in 0..3 {
                let c = 3 * self.nodes[corner + 1][lane] as usize;
                for i in 0..3 {
                    edges[i][corner].0[lane] = x[c + i] - origin[i];
                }
            }
        }
        Mat3(edges) * self.inverse
    }

    /// vol P Dₘ⁻ᵀ as the twelve components `[corner][axis]`.
    #[inline(always)]
    pub fn corner_forces(&self, P: &Mat3<Lanes>) -> [Lanes; 12] {
        let g = P.mul_transpose(&self.inverse).scale(self.volume);
        let mut out = [Lanes([0.0; LANES]); 12];
        for i in 0..3 {
            out[i] = -(g[(i, 0)] + g[(i, 1)] + g[(i, 2)]);
            for corner in 0..3 {
                out[3 * (corner + 1) + i] = g[(i, corner)];
            }
        }
        out
    }
}

/// Most constants that a model may have.
pub const MAX_CONSTANTS: usize = 24;

/// Constants of the tets: one set for all, or one for each.
#[derive(Clone, Debug)]
pub struct Constants {
    count: usize,
    uniform: bool,
    values: Vec<f64>,
}

impl Constants {
    /// One set for all.
    pub fn uniform(values: Vec<f64>) -> Self {
        assert!(values.len() <= MAX_CONSTANTS);
        Self { count: values.len(), uniform: true, values }
    }

    /// One set for each tet, all of the same length.
    pub fn per_tet(sets: &[Vec<f64>]) -> Self {
        let count = sets.first().map_or(0, Vec::len);
        assert!(count <= MAX_CONSTANTS && sets.iter().all(|s| s.len() == count));
        if sets.iter().all(|s| s == &sets[0]) {
            return Self::uniform(sets.first().cloned().unwrap_or_default());
        }
        Self { count, uniform: false, values: sets.concat() }
    }

    /// The set of one tet.
    pub fn of(&self, tet: usize) -> &[f64] {
        if self.uniform {
            &self.values
        } else {
            let last = self.values.len() / self.count - 1;
            let tet = tet.min(last);
            &self.values[tet * self.count..(tet + 1) * self.count]
        }
    }

    /// The sets of the eight tets of a block.
    #[inline(always)]
    fn lanes(&self, block: usize, out: &mut [Lanes; MAX_CONSTANTS]) {
        for lane in 0..LANES {
            let set = self.of(block * LANES + lane);
            for k in 0..self.count {
                out[k].0[lane] = set[k];
            }
        }
    }
}

/// vol ψ of the tets of `blocks`, the first of which is block number `first`.
pub fn energies<D: Density>(first: usize, blocks: &[Block], c: &Constants, q: &[f64], out: &mut [Lanes]) {
    each_block(
        first,
        blocks,
        c,
        out,
        #[inline(always)]
        |block, constants| D::energy(constants, &block.gradient_of(q)) * block.volume,
    );
}

/// Gradient of vol ψ at the corners of the tets of `blocks`.
pub fn forces<D: Density>(first: usize, blocks: &[Block], c: &Constants, q: &[f64], out: &mut [[Lanes; 12]]) {
    each_block(
        first,
        blocks,
        c,
        out,
        #[inline(always)]
        |block, constants| block.corner_forces(&D::stress(constants, &block.gradient_of(q))),
    );
}

/// Applies `f` to every block with its constants. Compiled once per processor level; the widest that
/// this machine has is taken.
#[inline(always)]
pub(crate) fn each_block<T>(
    first: usize,
    blocks: &[Block],
    c: &Constants,
    out: &mut [T],
    f: impl Fn(&Block, &[Lanes]) -> T,
) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            let mut constants = [Lanes([0.0; LANES]); MAX_CONSTANTS];
            for (k, (block, out)) in blocks.iter().zip(out).enumerate() {
                if k == 0 || !c.uniform {
                    c.lanes(first + k, &mut constants);
                }
                *out = f(block, &constants[..c.count]);
            }
        },
    );
}
