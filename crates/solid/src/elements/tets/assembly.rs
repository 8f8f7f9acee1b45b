//! Sums over the tets, in parallel and yet the same to the bit for any number of threads: each run by
//! itself, then the runs in their order.

use super::kernel::{Block, Blocks, EnergySum, Forces};
use super::{RUN, Tets};
use crate::elements::runs::RunVectors;
use crate::materials::Places;
use crate::math::{Lanes, Mat3, Scalar};
use lilyan_parallel::simd;

/// P of some blocks from the gradients of fields there: number of the first block, gradients, P.
pub(super) trait Law<const N: usize>:
    Fn(usize, &[[Mat3<Lanes>; N]], &mut [Mat3<Lanes>]) + Sync
{
}

impl<const N: usize, L: Fn(usize, &[[Mat3<Lanes>; N]], &mut [Mat3<Lanes>]) + Sync> Law<N> for L {}

impl Tets {
    /// Σ vol ψ, J; +∞ where an element is infeasible.
    pub fn energy(&self, q: &[f64]) -> f64 {
        self.members.sum(q, |r, q| {
            let blocks = Blocks { first: r * RUN, blocks: self.blocks_of(r), fields: [q] };
            simd::run(EnergySum {
                blocks,
                law: |first, F: &[Mat3<Lanes>], out: &mut [Lanes]| {
                    self.material.energies(self.places(first), F, out);
                },
            })
        })
    }

    /// Adds the gradient of Σ vol ψ, N.
    pub fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        self.add_forces([q], g, &|first, F, P| {
            self.material.stresses(self.places(first), F.as_flattened(), P);
        });
    }

    /// Adds the discrete gradient of Σ vol ψ between q₀ and q₁, N; `false` where an element ends in a
    /// state that its material does not survive.
    pub fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        self.add_forces([q0, q1], g, &|first, ends, P| {
            self.material.discrete_stresses(self.places(first), ends, P);
        });
        g[3 * self.nodes().start..3 * self.nodes().end].iter().all(|x| x.is_finite())
    }

    /// Constants of the blocks from number `first` on.
    pub(super) fn places(&self, first: usize) -> Places<'_> {
        Places { constants: &self.constants, first }
    }

    fn blocks_of(&self, r: usize) -> &[Block] {
        &self.blocks[r * RUN..((r + 1) * RUN).min(self.blocks.len())]
    }

    /// Adds the nodal forces of the stress that `law` makes of the gradients of the fields.
    pub(super) fn add_forces<const N: usize>(&self, fields: [&[f64]; N], g: &mut [f64], law: &impl Law<N>) {
        self.members.add_forces(fields, g, &|r: usize, fields: [&RunVectors; N], out: &mut RunVectors| {
            let blocks = Blocks { first: r * RUN, blocks: self.blocks_of(r), fields };
            simd::run(Forces { blocks, law, out });
        });
    }

    /// Adds c K v with K the projected stiffness at q, without forming it.
    pub fn add_hessian_product(&self, q: &[f64], v: &[f64], c: f64, out: &mut [f64]) {
        self.add_forces([q, v], out, &|first, gradients, P| {
            self.material.projected_products(self.places(first), gradients, P);
            P.iter_mut().for_each(|P| *P = P.scale(Lanes::new(c)));
        });
    }
}
