//! Kernels over blocks of eight tets: gather, deformation gradient, material, nodal forces.
//!
//! F = Dₛ Dₘ⁻¹ with Dₛ the current and Dₘ the rest edges from vertex 0. The gradient of vol ψ(F) at
//! vertices 1, 2, 3 is the columns of vol P Dₘ⁻ᵀ, and minus their sum at vertex 0.

use crate::materials::Density;
use crate::math::{LANES, Lanes, Mat3, Real};

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
        |_, block, constants| D::energy(constants, &block.gradient_of(q)) * block.volume,
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
        |_, block, constants| block.corner_forces(&D::stress(constants, &block.gradient_of(q))),
    );
}

/// Discrete gradient of vol ψ at the corners, between positions q₀ and q₁ \[gonzalez2000\].
///
/// P = ½(F₀+F₁) S with S = S(C̄) + 2 (ψ₁ − ψ₀ − ½S(C̄):ΔC)/‖ΔC‖² ΔC, C̄ = ½(C₀+C₁). S(C̄) = F⁻¹P(F) for any F with
/// FᵀF = C̄: the Cholesky factor is the cheapest. Where the end is inverted the result is NaN, also for
/// materials that survive inversion: ψ as a function of C does not see it. The linear material, which is no
/// function of C, takes the midpoint stress, which does the same for a quadratic energy.
pub fn discrete_forces<D: Density>(
    first: usize,
    blocks: &[Block],
    c: &Constants,
    q0: &[f64],
    q1: &[f64],
    out: &mut [[Lanes; 12]],
) {
    // ψ at both ends by the kernel that exists anyway: inlining every material twice more here would double
    // the time to compile this crate.
    let mut gained = vec![[Lanes([0.0; LANES]); 2]; blocks.len()];
    if D::CARD.frame_indifferent {
        let mut energy = vec![Lanes([0.0; LANES]); blocks.len()];
        for (end, q) in [q0, q1].into_iter().enumerate() {
            energies::<D>(first, blocks, c, q, &mut energy);
            gained.iter_mut().zip(&energy).for_each(|(g, e)| g[end] = *e);
        }
    }
    each_block(
        first,
        blocks,
        c,
        out,
        #[inline(always)]
        |k, block, constants| {
            let (F0, F1) = (block.gradient_of(q0), block.gradient_of(q1));
            let middle = (F0 + F1).scale(Lanes::new(0.5));
            if !D::CARD.frame_indifferent {
                return block.corner_forces(&D::stress(constants, &middle));
            }
            let (C0, C1) = (F0.transpose_mul(&F0), F1.transpose_mul(&F1));
            let change = C1 - C0;
            let root = cholesky_transposed(&(C0 + C1).scale(Lanes::new(0.5)));
            let S = (root.inverse() * D::stress(constants, &root)).symmetric_part();
            let square = change.dot(&change);
            // `gained` is vol ψ; a block that is not full has lanes of volume 0.
            let per_volume =
                Lanes::select_positive(block.volume, Lanes::new(1.0) / block.volume, Lanes::new(0.0));
            let missing = (gained[k][1] - gained[k][0]) * per_volume - S.dot(&change).scale(0.5);
            // Below ‖ΔC‖ = 1e-6 the correction (third order in ΔC) is smaller than its own round-off.
            let counts = square - C1.dot(&C1).scale(1e-12);
            let factor = Lanes::select_positive(counts, missing.scale(2.0) / square, Lanes::new(0.0));
            let feasible = Lanes::select_positive(F1.det(), Lanes::new(1.0), Lanes::new(f64::NAN));
            block.corner_forces(&(middle * (S + change.scale(factor))).scale(feasible))
        },
    );
}

/// The upper triangular F with FᵀF = C.
#[inline(always)]
fn cholesky_transposed<T: Real>(C: &Mat3<T>) -> Mat3<T> {
    let mut F = Mat3::zero();
    F[(0, 0)] = C[(0, 0)].sqrt();
    F[(0, 1)] = C[(0, 1)] / F[(0, 0)];
    F[(0, 2)] = C[(0, 2)] / F[(0, 0)];
    F[(1, 1)] = (C[(1, 1)] - F[(0, 1)].squared()).sqrt();
    F[(1, 2)] = (C[(1, 2)] - F[(0, 1)] * F[(0, 2)]) / F[(1, 1)];
    F[(2, 2)] = (C[(2, 2)] - F[(0, 2)].squared() - F[(1, 2)].squared()).sqrt();
    F
}

/// Applies `f` to every block (its number in `blocks`, itself, its constants). Compiled once per processor level; the widest that
/// this machine has is taken.
#[inline(always)]
pub(crate) fn each_block<T>(
    first: usize,
    blocks: &[Block],
    c: &Constants,
    out: &mut [T],
    f: impl Fn(usize, &Block, &[Lanes]) -> T,
) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            let mut constants = [Lanes([0.0; LANES]); MAX_CONSTANTS];
            for (k, (block, out)) in blocks.iter().zip(out).enumerate() {
                if k == 0 || !c.uniform {
                    c.lanes(first + k, &mut constants);
                }
                *out = f(k, block, &constants[..c.count]);
            }
        },
    );
}
