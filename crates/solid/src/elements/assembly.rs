//! Sums over the tets, in parallel and yet the same to the bit for any number of threads: each run by
//! itself, then the runs in their order.

use super::kernel::{Block, Padded};
use super::tets::{Incidence, RUN, Tets};
use crate::math::Mat3;
use lilyan_solve::threads;
use std::cell::Cell;

/// Below this many runs, of some 20 µs each, one thread does it all.
const SERIAL: usize = 4;

/// Adds the forces of a run: first block number, blocks, fields on the nodes of the run, forces there.
type RunKernel<'a, const N: usize> = &'a (dyn Fn(usize, &[Block], [&[Padded]; N], &mut [Padded]) + Sync);

/// Memory for vectors, from the beginning of a line of the cache on. One that lies across two lines takes two accesses, and
/// with the heap's own alignment every second would.
#[derive(Default)]
pub(super) struct Vectors(Vec<f64>);

impl Vectors {
    const fn none() -> Self {
        Self(Vec::new())
    }

    /// So many vectors that hold anything.
    fn of(&mut self, count: usize) -> &mut [Padded] {
        const LINE: usize = 8;
        if self.0.len() < 4 * count + LINE {
            self.0.resize(4 * count + LINE, 0.0);
        }
        let before = self.0.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE);
        &mut self.0[before..].as_chunks_mut().0[..count]
    }
}

thread_local! {
    /// Vectors on the nodes of a run, kept from one run to the next.
    static SCRATCH: Cell<Vectors> = const { Cell::new(Vectors::none()) };
}

/// Calls `f` with so many vectors that hold anything.
fn with_scratch<R>(count: usize, f: impl FnOnce(&mut [Padded]) -> R) -> R {
    let mut scratch = SCRATCH.take();
    let out = f(scratch.of(count));
    SCRATCH.set(scratch);
    out
}

/// The vectors of a field on some nodes.
pub(super) fn gather(members: &[u32], x: &[f64], out: &mut [Padded]) {
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
        with_scratch(members.len(), |local| {
            gather(members, q, local);
            self.material.energies(r * RUN, self.blocks_of(r), &self.constants, local)
        })
    }

    /// Adds the gradient of Σ vol ψ, N.
    pub fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        self.add_forces([q], g, &|first, blocks, [q], out| {
            self.material.forces(first, blocks, &self.constants, q, out);
        });
    }

    /// Adds the discrete gradient of Σ vol ψ between q₀ and q₁, N; `false` where an element ends in a
    /// state that its material does not survive.
    pub fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        self.add_forces([q0, q1], g, &|first, blocks, ends, out| {
            self.material.discrete_forces(first, blocks, &self.constants, ends, out);
        });
        g[3 * self.nodes.start..3 * self.nodes.end].iter().all(|x| x.is_finite())
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

    /// Forces of one run on its nodes, overwriting `out`.
    fn forces_of_run<const N: usize>(
        &self,
        r: usize,
        fields: [&[f64]; N],
        kernel: RunKernel<'_, N>,
        out: &mut [Padded],
    ) {
        let members = self.members_of(r);
        let n = members.len();
        with_scratch(N * n, |local| {
            for (k, field) in fields.iter().enumerate() {
                gather(members, field, &mut local[k * n..(k + 1) * n]);
            }
            let local = &*local;
            let fields = std::array::from_fn(|k| &local[k * n..(k + 1) * n]);
            out.fill([0.0; 4]);
            kernel(r * RUN, self.blocks_of(r), fields, out);
        });
    }

    /// Adds the forces that `kernel` computes of each run from the fields.
    pub(crate) fn add_forces<const N: usize>(
        &self,
        fields: [&[f64]; N],
        g: &mut [f64],
        kernel: RunKernel<'_, N>,
    ) {
        // Someone else may be at it: then without the memory kept here.
        let mut kept = self.partial.try_lock();
        let mut own = Vectors::default();
        let partial = kept.as_deref_mut().unwrap_or(&mut own);
        if self.runs() < SERIAL || threads::threads() == 1 {
            for r in 0..self.runs() {
                let members = self.members_of(r);
                let out = partial.of(members.len());
                self.forces_of_run(r, fields, kernel, out);
                for (&n, f) in members.iter().zip(out) {
                    let n = 3 * n as usize;
                    for i in 0..3 {
                        g[n + i] += f[i];
                    }
                }
            }
            return;
        }
        let partial = partial.of(self.members.len());
        threads::par_parts_mut(partial, &self.starts, |r, part| self.forces_of_run(r, fields, kernel, part));
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
        for e in 0..self.len() {
            let F = self.gradient_of(e, q);
            let rate = self.gradient_of(e, v);
            let tangent = self.material.hessian_projected(self.constants(e), &F);
            let P = Mat3::from_fn(|i, j| {
                let row = &tangent[3 * i + j];
                c * (0..9).map(|k| row[k] * rate[(k / 3, k % 3)]).sum::<f64>()
            });
            self.add_stress(e, &P, out);
        }
    }

    /// Adds the nodal gradient vol P ∇N of one tet.
    pub(crate) fn add_stress(&self, e: usize, P: &Mat3, out: &mut [f64]) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever was asked for before.
    #[test]
    fn vectors_lie_in_one_line_each() {
        let mut vectors = Vectors::default();
        for count in [1, 300, 7, 100_000, 0] {
            let list = vectors.of(count);
            assert_eq!(list.len(), count);
            assert_eq!(list.as_ptr().addr() % 64, 0);
        }
    }
}
