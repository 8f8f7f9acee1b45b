//! Sums of element matrices, in parallel and yet the same to the bit for any number of threads: each thread owns a
//! part of the matrix and computes all cells that touch it, in their order. The few that touch two parts are computed
//! twice; nobody waits, and nothing is stored in between.

use crate::math::LANES;
use lilyan_parallel::threads;
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Where the blocks of the matrices of four cells are; [`NOWHERE`] for a cell that is none.
pub(in crate::elements) type PairPositions<const P: usize> = [[u32; P]; LANES];

/// There are never so many blocks.
pub(in crate::elements) const NOWHERE: u32 = u32::MAX;

/// Runs per thread, at least: some 400 µs of work.
const RUNS_PER_THREAD: usize = 2;

/// How the matrices of some patterns are summed up, of cells with P pairs of nodes in runs of so many blocks.
pub(in crate::elements) struct Sharing<const P: usize> {
    run_blocks: usize,
    plans: Mutex<Vec<Arc<Plan<P>>>>,
}

/// How the matrices of one pattern are summed up by so many threads.
struct Plan<const P: usize> {
    pattern: Arc<BlockPattern>,
    positions: Arc<Vec<PairPositions<P>>>,
    shares: Vec<ThreadShare>,
}

/// What one thread does.
struct ThreadShare {
    /// The blocks of the matrix that it owns.
    owned: Range<usize>,
    /// The blocks of cells that touch these, none across the border of two runs.
    touching: Vec<Range<u32>>,
}

/// The part of a matrix that one thread sums up.
pub(in crate::elements) struct MatrixPart<'a, const P: usize> {
    /// Blocks of cells that touch it, none across the border of two runs.
    pub touching: &'a [Range<u32>],
    /// Where the pairs of all cells are in the whole matrix.
    pub positions: &'a [PairPositions<P>],
    /// The position of the first of its values in the whole matrix.
    pub start: usize,
    /// Its values.
    pub values: &'a mut [[f64; 9]],
}

impl<const P: usize> Sharing<P> {
    /// For runs of so many blocks.
    pub fn new(run_blocks: usize) -> Self {
        Self { run_blocks, plans: Mutex::default() }
    }

    /// Cuts a matrix into parts and calls `add` for each. `positions` finds the pairs of all cells in a pattern.
    pub fn each_part(
        &self,
        h: &mut BlockMatrix,
        runs: usize,
        positions: impl FnOnce(&BlockPattern) -> Vec<PairPositions<P>>,
        add: &(dyn Fn(MatrixPart<'_, P>) + Sync),
    ) {
        let plan = self.plan_for(h.pattern(), runs, positions);
        let mut rest = h.values_mut();
        let mut behind = 0;
        let mut work = Vec::with_capacity(plan.shares.len());
        for share in &plan.shares {
            let (_, from) = rest.split_at_mut(share.owned.start - behind);
            let (own, after) = from.split_at_mut(share.owned.len());
            work.push((share, own));
            (rest, behind) = (after, share.owned.end);
        }
        threads::par_chunks_mut(&mut work, 1, |_, work| {
            let (share, values) = &mut work[0];
            let (touching, start) = (&share.touching[..], share.owned.start);
            add(MatrixPart { touching, positions: &plan.positions, start, values });
        });
    }

    /// Kept for each of the few patterns that a model has.
    fn plan_for(
        &self,
        pattern: &Arc<BlockPattern>,
        runs: usize,
        positions: impl FnOnce(&BlockPattern) -> Vec<PairPositions<P>>,
    ) -> Arc<Plan<P>> {
        let shares = threads::threads().min(runs / RUNS_PER_THREAD).max(1);
        let mut kept = self.plans.lock().unwrap_or_else(|e| e.into_inner());
        let same = |plan: &&Arc<Plan<P>>| Arc::ptr_eq(&plan.pattern, pattern);
        if let Some(known) = kept.iter().filter(same).find(|plan| plan.shares.len() == shares) {
            return known.clone();
        }
        let positions = match kept.iter().find(same) {
            Some(known) => known.positions.clone(),
            None => Arc::new(positions(pattern)),
        };
        let shares = self.shares(&positions, shares);
        let made = Arc::new(Plan { pattern: pattern.clone(), positions, shares });
        if kept.len() == 4 {
            kept.remove(0);
        }
        kept.push(made.clone());
        made
    }

    /// Cuts the matrix into so many parts of one size.
    fn shares(&self, positions: &[PairPositions<P>], count: usize) -> Vec<ThreadShare> {
        let place = |p: &u32| (*p != NOWHERE).then_some(*p as usize);
        let all = || positions.iter().flatten().flatten().filter_map(place);
        let first = all().min().unwrap_or(0);
        let size = all().max().map_or(0, |p| p + 1) - first;
        let cut = |k: usize| first + size * k / count;
        (0..count)
            .map(|k| {
                let owned = cut(k)..cut(k + 1);
                let mut touching: Vec<Range<u32>> = Vec::new();
                for (block, positions) in positions.iter().enumerate() {
                    if !positions.iter().flatten().filter_map(place).any(|p| owned.contains(&p)) {
                        continue;
                    }
                    let number = block as u32;
                    match touching.last_mut() {
                        Some(last) if last.end == number && !block.is_multiple_of(self.run_blocks) => {
                            last.end += 1;
                        }
                        _ => touching.push(number..number + 1),
                    }
                }
                ThreadShare { owned, touching }
            })
            .collect()
    }
}
