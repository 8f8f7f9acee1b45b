//! Sums over the tets, in parallel and yet the same to the bit for any number of threads: each run by
//! itself, then the runs in their order.

use super::kernel::{Block, Blocks, EnergySum, Forces, Padded, RunVectors};
use super::{Incidence, RUN, Tets};
use crate::materials::{BasisTangent, Places};
use crate::math::{Lanes, Mat3, Scalar};
use lilyan_parallel::simd::{self, Kernel, Quads};
use lilyan_parallel::threads;
use std::cell::Cell;

/// Below this many runs, of some 20 µs each, one thread does it all.
const SERIAL: usize = 4;

/// Blocks whose second derivative is multiplied at a time: it stays in the first-level cache.
const BATCH: usize = 8;

/// P of some blocks from the gradients of fields there: number of the first block, gradients, P.
pub(super) trait Law<const N: usize>:
    Fn(usize, &[[Mat3<Lanes>; N]], &mut [Mat3<Lanes>]) + Sync
{
}

impl<const N: usize, L: Fn(usize, &[[Mat3<Lanes>; N]], &mut [Mat3<Lanes>]) + Sync> Law<N> for L {}

/// Memory for [`RunVectors`], from the beginning of a line of the cache on. A vector that lies across two lines takes two
/// accesses, and with the heap's own alignment every second would.
#[derive(Default)]
pub(super) struct Scratch(Vec<f64>);

impl Scratch {
    /// Vectors that hold anything.
    pub fn vectors(&mut self) -> &mut RunVectors {
        const LINE: usize = 8;
        const SIZE: usize = size_of::<RunVectors>() / size_of::<f64>();
        if self.0.is_empty() {
            self.0 = vec![0.0; SIZE + LINE];
        }
        let before = self.0.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
        self.0[before..].as_chunks_mut().0.first_chunk_mut().expect("room was made")
    }
}

thread_local! {
    /// Two fields and the forces of a run, kept from one run to the next.
    static SCRATCH: Cell<[Scratch; 3]> = const { Cell::new([const { Scratch(Vec::new()) }; 3]) };
}

/// Calls `f` with three lists that hold anything.
pub(super) fn with_scratch<R>(f: impl FnOnce(&mut [Scratch; 3]) -> R) -> R {
    let mut scratch = SCRATCH.take();
    let out = f(&mut scratch);
    SCRATCH.set(scratch);
    out
}

/// Calls `f` with fields on some nodes, and with a list for forces that hold anything.
fn with_fields<const N: usize, R>(
    members: &[u32],
    fields: [&[f64]; N],
    f: impl FnOnce([&RunVectors; N], &mut RunVectors) -> R,
) -> R {
    const { assert!(N <= 2) };
    with_scratch(|[forces, local @ ..]| {
        let mut local = local.iter_mut();
        let local = fields.map(|field| {
            let local = local.next().expect("at most two fields").vectors();
            gather(members, field, local);
            &*local
        });
        f(local, forces.vectors())
    })
}

/// The vectors of a field on some nodes.
pub(super) fn gather(members: &[u32], x: &[f64], out: &mut RunVectors) {
    for (to, &n) in out.iter_mut().zip(members) {
        let n = 3 * n as usize;
        *to = [x[n], x[n + 1], x[n + 2], 0.0];
    }
}

impl Tets {
    /// Σ vol ψ, J; +∞ where an element is infeasible.
    pub fn energy(&self, q: &[f64]) -> f64 {
        let all = || threads::sum_chunks(self.runs(), 1, |runs| runs.map(|r| self.energy_of_run(r, q)).sum());
        let total = if self.runs() < SERIAL { threads::alone(all) } else { all() };
        if total.is_nan() { f64::INFINITY } else { total }
    }

    fn energy_of_run(&self, r: usize, q: &[f64]) -> f64 {
        let members = self.members_of(r);
        with_fields(members, [q], |fields, _| {
            let blocks = Blocks { first: r * RUN, blocks: self.blocks_of(r), fields };
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
        g[3 * self.nodes.start..3 * self.nodes.end].iter().all(|x| x.is_finite())
    }

    /// Constants of the blocks from number `first` on.
    pub(super) fn places(&self, first: usize) -> Places<'_> {
        Places { constants: &self.constants, first }
    }

    pub(super) fn runs(&self) -> usize {
        self.starts.len() - 1
    }

    fn blocks_of(&self, r: usize) -> &[Block] {
        &self.blocks[r * RUN..((r + 1) * RUN).min(self.blocks.len())]
    }

    pub(super) fn members_of(&self, r: usize) -> &[u32] {
        &self.members[self.starts[r] as usize..self.starts[r + 1] as usize]
    }

    /// Hands the forces of one run on its nodes to `take`.
    fn forces_of_run<const N: usize>(
        &self,
        r: usize,
        fields: [&[f64]; N],
        law: &impl Law<N>,
        take: impl FnOnce(&[u32], &[Padded]),
    ) {
        let members = self.members_of(r);
        with_fields(members, fields, |fields, out| {
            out[..members.len()].fill([0.0; 4]);
            let blocks = Blocks { first: r * RUN, blocks: self.blocks_of(r), fields };
            simd::run(Forces { blocks, law, out });
            take(members, &out[..members.len()]);
        });
    }

    /// Adds the nodal forces of the stress that `law` makes of the gradients of the fields.
    pub(super) fn add_forces<const N: usize>(&self, fields: [&[f64]; N], g: &mut [f64], law: &impl Law<N>) {
        if self.runs() < SERIAL || threads::threads() == 1 {
            for r in 0..self.runs() {
                self.forces_of_run(r, fields, law, |members, forces| {
                    for (&n, f) in members.iter().zip(forces) {
                        let n = 3 * n as usize;
                        for i in 0..3 {
                            g[n + i] += f[i];
                        }
                    }
                });
            }
            return;
        }
        // Someone else may be at it: then without the memory kept here.
        let mut kept = self.partial.try_lock();
        let mut own = Vec::new();
        let partial = kept.as_deref_mut().unwrap_or(&mut own);
        partial.resize(self.members.len(), [0.0; 4]);
        threads::par_parts_mut(partial, &self.starts, |r, part| {
            self.forces_of_run(r, fields, law, |_, forces| part.copy_from_slice(forces));
        });
        let (incidence, partial) = (self.incidence(), &*partial);
        const NODES: usize = 512;
        threads::par_chunks_mut(&mut g[3 * self.nodes.start..3 * self.nodes.end], 3 * NODES, |chunk, g| {
            for (k, g) in g.as_chunks_mut::<3>().0.iter_mut().enumerate() {
                let n = chunk * NODES + k;
                for &m in &incidence.members[incidence.start[n] as usize..incidence.start[n + 1] as usize] {
                    let f = &partial[m as usize];
                    for i in 0..3 {
                        g[i] += f[i];
                    }
                }
            }
        });
    }

    fn incidence(&self) -> &Incidence {
        self.incidence.get_or_init(|| {
            let first = self.nodes.start as u32;
            let mut start = vec![0u32; self.nodes.len() + 1];
            for n in &self.members {
                start[(n - first) as usize + 1] += 1;
            }
            for n in 0..self.nodes.len() {
                start[n + 1] += start[n];
            }
            let mut next = start.clone();
            let mut members = vec![0u32; self.members.len()];
            for (m, n) in self.members.iter().enumerate() {
                let slot = &mut next[(n - first) as usize];
                members[*slot as usize] = m as u32;
                *slot += 1;
            }
            Incidence { start, members }
        })
    }

    /// Adds c K v with K the projected stiffness at q, without forming it.
    pub fn add_hessian_product(&self, q: &[f64], v: &[f64], c: f64, out: &mut [f64]) {
        // Between the three axes, ∂²ψ acts on the columns of Ḟ.
        let axes = Mat3::<Lanes>::identity();
        self.add_forces([q, v], out, &|first, gradients, P| {
            let mut F = [axes; BATCH];
            let mut blocks = [[[Lanes::zero(); 9]; 6]; BATCH];
            for (batch, (gradients, P)) in gradients.chunks(BATCH).zip(P.chunks_mut(BATCH)).enumerate() {
                let (F, blocks) = (&mut F[..P.len()], &mut blocks[..P.len()]);
                F.iter_mut().zip(gradients).for_each(|(F, [shape, _])| *F = *shape);
                let places = self.places(first + batch * BATCH);
                self.material.tangents(places, true, F, &[&axes; BATCH][..F.len()], blocks);
                simd::run(Columns { blocks, gradients, c, P });
            }
        });
    }

    /// Adds the nodal gradient vol P ∇N of one tet.
    pub(super) fn add_stress(&self, e: usize, P: &Mat3, out: &mut [f64]) {
        let forces = P.mul_transpose(&self.inverse(e)).scale(self.volume(e));
        let nodes = self.tet(e).map(|n| 3 * n as usize);
        for i in 0..3 {
            let mut sum = 0.0;
            for corner in 0..3 {
                out[nodes[corner + 1] + i] += forces[(i, corner)];
                sum += forces[(i, corner)];
            }
            out[nodes[0] + i] -= sum;
        }
    }
}

/// P = c ∂²ψ : Ḟ from ∂²ψ between the axes.
struct Columns<'a> {
    blocks: &'a [BasisTangent<Lanes>],
    /// F and Ḟ.
    gradients: &'a [[Mat3<Lanes>; 2]],
    c: f64,
    P: &'a mut [Mat3<Lanes>],
}

impl Kernel for Columns<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, _: M) {
        for ((blocks, [_, rate]), P) in self.blocks.iter().zip(self.gradients).zip(self.P) {
            for n in 0..3 {
                for i in 0..3 {
                    let mut sum = Lanes::zero();
                    for m in 0..3 {
                        for k in 0..3 {
                            // The block of (n, m) is the transposed one of (m, n).
                            let (block, at) = match n >= m {
                                true => (n * (n + 1) / 2 + m, 3 * i + k),
                                false => (m * (m + 1) / 2 + n, 3 * k + i),
                            };
                            sum = sum + blocks[block][at] * rate[(k, m)];
                        }
                    }
                    P[(i, n)] = sum.scale(self.c);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_lie_in_one_line_each() {
        let mut scratch = Scratch::default();
        for _ in 0..2 {
            assert_eq!(scratch.vectors().as_ptr().addr() % 64, 0);
        }
    }
}
