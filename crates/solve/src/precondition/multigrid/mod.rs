//! Algebraic multigrid by smoothed aggregation \[vanek1996\]: a preconditioner for large stiff matrices. Work and memory
//! are proportional to the number of nodes. The number of iterations hardly grows with it.
//!
//! Neighbouring nodes form aggregates. The rigid modes of the aggregates are the unknowns of the coarser level. This is
//! repeated until a Cholesky factor of the coarsest level costs little. The symbolic phase (aggregates and patterns)
//! runs once per pattern. The numeric phase runs for one matrix, and its result can precondition similar matrices: on
//! the finest level the V-cycle always uses the current matrix. Couplings outside the pattern (contact) enter on the
//! finest level only.

mod aggregate;
mod cycle;
mod galerkin;
mod prolong;
mod smooth;
mod sparse;

use crate::direct::cholesky::{Cholesky, NotPositiveDefinite, first_non_finite};
use crate::matrix::block::BlockMatrix;
use crate::matrix::pattern::BlockPattern;
use cycle::Level;
use prolong::RigidModes;
use sparse::{BlockCsr, BlockRows, Graph, multiply};
use std::sync::Arc;

/// A level with at most this many nodes is factorised.
const COARSEST: usize = 128;

/// A hierarchy of coarser and coarser matrices by smoothed aggregation; one V-cycle is the preconditioner.
#[derive(Default)]
pub struct Multigrid {
    pattern: Option<Arc<BlockPattern>>,
    fine: Level<3>,
    coarse: Vec<(BlockCsr<6>, Level<6>)>,
    last: BlockCsr<6>,
    factor: Cholesky,
}

impl Multigrid {
    /// Builds the hierarchy of A. `positions` are those of the nodes.
    pub fn factor(&mut self, a: &BlockMatrix, positions: &[f64]) -> Result<(), NotPositiveDefinite> {
        if let Some(dof) = first_non_finite(a) {
            return Err(NotPositiveDefinite { dof, finite: false });
        }
        self.analyse(a.pattern());
        self.update(a, positions).map_err(|(level, mut node)| {
            // Name a node of the finest level.
            for (_, level) in self.coarse[..level.saturating_sub(1)].iter().rev() {
                node = level.member(node);
            }
            let node = if level > 0 { self.fine.member(node) } else { node };
            NotPositiveDefinite { dof: 3 * node, finite: true }
        })
    }

    fn analyse(&mut self, pattern: &Arc<BlockPattern>) {
        if self.pattern.as_ref().is_some_and(|p| Arc::ptr_eq(p, pattern)) {
            return;
        }
        *self = Self { pattern: Some(pattern.clone()), ..Default::default() };
        self.fine = Level::new(&Graph::of(pattern));
        let mut graph = self.fine.pattern.coarse.clone();
        while graph.rows() > COARSEST {
            let level = Level::new(&graph);
            let next = level.pattern.coarse.clone();
            // Coarsening stalls, e.g. where every body is one aggregate already.
            if 2 * next.rows() > graph.rows() {
                break;
            }
            self.coarse.push((BlockCsr { graph, values: Vec::new() }, level));
            graph = next;
        }
        self.last.graph = graph;
    }

    /// The numeric phase. The error is the level and the node at which the matrix is not positive definite.
    fn update(&mut self, a: &BlockMatrix, positions: &[f64]) -> Result<(), (usize, usize)> {
        let Self { fine, coarse, last, factor, .. } = self;
        let (mut matrices, mut levels): (Vec<_>, Vec<_>) = coarse.iter_mut().map(|(a, l)| (a, l)).unzip();
        matrices.push(last);
        let modes = RigidModes::rigid(a, positions);
        let mut modes = fine.update(a, &modes, &mut matrices[0].values).map_err(|node| (0, node))?;
        for (k, level) in levels.iter_mut().enumerate() {
            let [matrix, next] = &mut matrices[k..k + 2] else { break };
            modes = level.update(&**matrix, &modes, &mut next.values).map_err(|node| (k + 1, node))?;
        }
        factor.factor(&split(matrices[levels.len()])).map_err(|e| (levels.len() + 1, e.dof / 6))
    }

    /// x ← B x, where B ≈ A⁻¹ is one V-cycle. A is the matrix of the hierarchy or a similar one.
    pub fn solve(&mut self, a: &BlockMatrix, x: &mut [f64]) {
        let Self { fine, coarse, factor, .. } = self;
        let apply =
            &mut |x: &[[f64; 3]], y: &mut [[f64; 3]]| a.mul_vec(x.as_flattened(), y.as_flattened_mut());
        fine.cycle(apply, &mut |x| v_cycle(coarse, factor, x), x.as_chunks_mut().0);
    }
}

/// One V-cycle on the given levels, finest first, and the factor of the coarsest.
fn v_cycle(levels: &mut [(BlockCsr<6>, Level<6>)], factor: &mut Cholesky, x: &mut [[f64; 6]]) {
    match levels {
        [] => factor.solve(x.as_flattened_mut()),
        [(matrix, level), coarser @ ..] => {
            level.cycle(&mut |x, y| multiply(matrix, x, y), &mut |x| v_cycle(coarser, factor, x), x);
        }
    }
}

/// The matrix with every 6×6 block divided into four 3×3 blocks.
fn split(a: &BlockCsr<6>) -> BlockMatrix {
    let n = a.graph.rows();
    let pairs: Vec<[u32; 4]> = (0..n as u32)
        .flat_map(|i| a.graph.row(i as usize).iter().map(move |&j| [2 * i, 2 * i + 1, 2 * j, 2 * j + 1]))
        .collect();
    let pattern = BlockPattern::from_cliques(2 * n, pairs.iter().map(|pair| &pair[..]));
    let mut out = BlockMatrix::zeros(Arc::new(pattern));
    for i in 0..n {
        a.each(i, |j, block| {
            for (r, c) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                if 2 * i + r >= 2 * j + c {
                    let part = std::array::from_fn(|k| block[3 * r + k / 3][3 * c + k % 3]);
                    out.add_block(2 * i + r, 2 * j + c, &part);
                }
            }
        });
    }
    out
}
