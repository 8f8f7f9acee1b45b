//! Sums over quadratic tets: energy, forces, discrete gradients, products with the stiffness.

use super::kernel::{EnergySum10, Fields10, Forces10, POINTS};
use super::{QuadraticTets, RUN};
use crate::elements::runs::RunVectors;
use crate::materials::Places;
use crate::math::{LANES, Lanes, Mat3};
use lilyan_parallel::simd;

/// P at the points of some blocks from the gradients of fields there: number of the first block, gradients, P.
pub(super) trait Law10<const N: usize>:
    Fn(usize, &[[Mat3<Lanes>; N]], &mut [Mat3<Lanes>]) + Sync
{
}

impl<const N: usize, L: Fn(usize, &[[Mat3<Lanes>; N]], &mut [Mat3<Lanes>]) + Sync> Law10<N> for L {}

impl QuadraticTets {
    /// Σ w ψ, J; +∞ where a point is infeasible.
    pub fn energy(&self, q: &[f64]) -> f64 {
        self.members.sum(q, |r, q| {
            simd::run(EnergySum10 {
                fields: Fields10 { blocks: self.blocks_of(r), fields: [q] },
                law: |first, F: &[Mat3<Lanes>], out: &mut [Lanes]| match self.mean_dilatation {
                    true => self.even_energies(first, F, out),
                    false => self.material.energies(self.entries(first), F, out),
                },
            })
        })
    }

    /// Adds the gradient of Σ w ψ, N.
    pub fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        let stresses = |at: Places<'_>, F: &[Mat3<Lanes>], P: &mut [Mat3<Lanes>]| {
            self.material.stresses(at, F, P);
        };
        self.add_forces([q], g, &|first, F, P| match self.mean_dilatation {
            true => self.even_stresses(first, F.as_flattened(), P, stresses),
            false => stresses(self.entries(first), F.as_flattened(), P),
        });
    }

    /// Adds the discrete gradient of Σ w ψ between q₀ and q₁, N; `false` where a point ends in a state that its material
    /// does not survive. F is linear in the positions, so that a discrete gradient at each point makes one of the whole.
    pub fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        self.add_forces([q0, q1], g, &|first, ends, P| match self.mean_dilatation {
            true => self.even_discrete_stresses(first, ends, P),
            false => self.material.discrete_stresses(self.entries(first), ends, P),
        });
        let own = self.members.nodes();
        g[3 * own.start..3 * own.end].iter().all(|x| x.is_finite())
    }

    /// Constants of the points of the blocks from number `first` on.
    pub(super) fn entries(&self, first: usize) -> Places<'_> {
        Places { constants: &self.constants, first: POINTS * first }
    }

    /// Moduli of these points.
    pub(super) fn moduli_of_entries(&self, first: usize) -> Places<'_> {
        Places { constants: &self.moduli, first: POINTS * first }
    }

    /// Adds the nodal forces of the stress that `law` makes of the gradients of the fields.
    pub(super) fn add_forces<const N: usize>(&self, fields: [&[f64]; N], g: &mut [f64], law: &impl Law10<N>) {
        self.members.add_forces(fields, g, &|r: usize, fields: [&RunVectors; N], out: &mut RunVectors| {
            simd::run(Forces10 { fields: Fields10 { blocks: self.blocks_of(r), fields }, law, out });
        });
    }

    /// Adds c K v with K the projected stiffness at q, without forming it.
    pub fn add_hessian_product(&self, q: &[f64], v: &[f64], c: f64, out: &mut [f64]) {
        let products = |block: usize, gradients: &[[Mat3<Lanes>; 2]], P: &mut [Mat3<Lanes>]| {
            for (k, ([F, rate], P)) in gradients.iter().zip(P).enumerate() {
                for lane in 0..LANES {
                    let constants = self.constants.of((POINTS * block + k) * LANES + lane);
                    let tangent = self.material.hessian_projected(constants, &F.lane(lane));
                    let rate = rate.lane(lane);
                    let product = Mat3::from_fn(|i, j| {
                        let row = &tangent[3 * i + j];
                        c * (0..9).map(|k| row[k] * rate[(k / 3, k % 3)]).sum::<f64>()
                    });
                    P.set_lane(lane, &product);
                }
            }
        };
        self.add_forces([q, v], out, &|block, gradients, P| match self.mean_dilatation {
            true => self.even_pairs(block, gradients, true, P, |block, pair, P| products(block, pair, P)),
            false => products(block, gradients, P),
        });
    }

    /// The mean over the points of tet e of what `value` makes of the number of a point, by volume.
    pub(super) fn mean<const K: usize>(&self, e: usize, value: impl Fn(usize) -> [f64; K]) -> [f64; K] {
        let mut sum = [0.0; K];
        let volume = self.volume(e);
        for point in 0..POINTS {
            let own = value(point);
            let part = self.weight(e, point) / volume;
            sum.iter_mut().zip(own).for_each(|(sum, x)| *sum += part * x);
        }
        sum
    }
}

const _: () = assert!(RUN * LANES * super::NODES < 1 << 16, "places of nodes are u16");
