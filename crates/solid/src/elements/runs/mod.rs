//! Cells in blocks of four, blocks in runs: what kernels gather from nodes and add to them, and sums over the runs.
//!
//! A kernel sees only the nodes of its run, copied to the beginning of a list of [`Padded`] vectors, a part that stays in the
//! first-level cache, and adds forces to another such list. Runs go to threads, each by itself, and are then added in their
//! order: the bits are the same for any number of threads.

mod arrangement;
mod sharing;

pub(super) use arrangement::{Arrangement, arrange};
pub(super) use sharing::{MatrixPart, NOWHERE, PairPositions, Sharing};

use lilyan_parallel::threads;
use std::cell::Cell;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

/// A vector of a node as x, y, z, 0: moved by one instruction.
pub(super) type Padded = [f64; 4];

/// Vectors on the nodes of a run. The list has room for every `u16`, so that a kernel need not check an index; the
/// operating system provides memory only for the part that is used.
pub(super) type RunVectors = [Padded; 1 << 16];

/// Below this many runs, of some 20 µs each, one thread does it all.
const SERIAL: usize = 4;

/// The nodes that runs touch.
pub(super) struct RunMembers {
    /// Global nodes of the body.
    nodes: Range<usize>,
    /// Global nodes that each run touches, ascending, run after run.
    members: Vec<u32>,
    /// Where the members of each run begin; one more entry than runs.
    starts: Vec<u32>,
    /// Where each node is among the members.
    incidence: OnceLock<Incidence>,
    /// Forces on the members, kept from one call to the next.
    partial: Mutex<Vec<Padded>>,
}

/// Compressed lists: node n of the body is at the places `members[start[n]..start[n + 1]]` of
/// [`RunMembers::members`], ascending.
struct Incidence {
    start: Vec<u32>,
    members: Vec<u32>,
}

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

impl RunMembers {
    /// How many runs.
    pub fn runs(&self) -> usize {
        self.starts.len() - 1
    }

    /// The global nodes of the body.
    pub fn nodes(&self) -> Range<usize> {
        self.nodes.clone()
    }

    /// The global nodes of one run.
    #[inline]
    pub fn of(&self, run: usize) -> &[u32] {
        &self.members[self.starts[run] as usize..self.starts[run + 1] as usize]
    }

    /// The sum of what `energy` makes of each run and the positions of its nodes; +∞ instead of NaN.
    pub fn sum(&self, q: &[f64], energy: impl Fn(usize, &RunVectors) -> f64 + Sync) -> f64 {
        let of_run = |r: usize| with_fields(self.of(r), [q], |[q], _| energy(r, q));
        let all = || threads::sum_chunks(self.runs(), 1, |runs| runs.map(of_run).sum());
        let total = if self.runs() < SERIAL { threads::alone(all) } else { all() };
        if total.is_nan() { f64::INFINITY } else { total }
    }

    /// Adds the nodal forces that `forces` adds for each run: its number, fields on its nodes, and the list of forces.
    pub fn add_forces<const N: usize>(
        &self,
        fields: [&[f64]; N],
        g: &mut [f64],
        forces: &(impl Fn(usize, [&RunVectors; N], &mut RunVectors) + Sync),
    ) {
        if self.runs() < SERIAL || threads::threads() == 1 {
            for r in 0..self.runs() {
                self.forces_of_run(r, fields, forces, |members, forces| {
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
            self.forces_of_run(r, fields, forces, |_, forces| part.copy_from_slice(forces));
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

    /// Hands the forces of one run on its nodes to `take`.
    fn forces_of_run<const N: usize>(
        &self,
        r: usize,
        fields: [&[f64]; N],
        forces: &impl Fn(usize, [&RunVectors; N], &mut RunVectors),
        take: impl FnOnce(&[u32], &[Padded]),
    ) {
        let members = self.of(r);
        with_fields(members, fields, |fields, out| {
            out[..members.len()].fill([0.0; 4]);
            forces(r, fields, out);
            take(members, &out[..members.len()]);
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
