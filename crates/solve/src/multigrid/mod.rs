//! Smoothed aggregation \[vanek1996\]: a preconditioner for large stiff matrices, whose work and memory grow as the number of
//! nodes, and whose iterations hardly grow at all.
//!
//! Neighbouring nodes are put together in groups, whose rigid motions are the unknowns of a coarser level; and so on,
//! until a Cholesky factor costs nothing. Which nodes and which couplings is found once per pattern, the numbers are
//! made from a matrix and may then serve others near it: the finest level is always the matrix at hand.
//! Couplings outside of the pattern (contact) are left to that level.

mod aggregate;
mod cycle;
mod galerkin;
mod prolong;
mod smooth;
mod sparse;

use crate::block::BlockMatrix;
use crate::cholesky::{Cholesky, NotPositiveDefinite, first_non_finite};
use crate::pattern::BlockPattern;
use cycle::Level;
use prolong::Modes;
use sparse::{ByRows, Graph, Matrix, multiply};
use std::sync::Arc;

/// Nodes of a level that is factorised.
const COARSEST: usize = 128;

/// See the module.
#[derive(Default)]
pub struct Multigrid {
    pattern: Option<Arc<BlockPattern>>,
    fine: Level<3>,
    coarse: Vec<(Matrix<6>, Level<6>)>,
    last: Matrix<6>,
    factor: Cholesky,
}

impl Multigrid {
    /// Makes the levels of A, whose nodes are at these positions.
    pub fn factor(&mut self, a: &BlockMatrix, positions: &[f64]) -> Result<(), NotPositiveDefinite> {
        if let Some(dof) = first_non_finite(a) {
            return Err(NotPositiveDefinite { dof, finite: false });
        }
        self.analyse(a.pattern());
        self.set(a, positions).map_err(|(level, mut node)| {
            // Down to the finest level.
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
        let mut graph = self.fine.shape.coarse.clone();
        while graph.rows() > COARSEST {
            let level = Level::new(&graph);
            let next = level.shape.coarse.clone();
            // Bodies of one group each: there is nothing left to be put together.
            if 2 * next.rows() > graph.rows() {
                break;
            }
            self.coarse.push((Matrix { graph, values: Vec::new() }, level));
            graph = next;
        }
        self.last.graph = graph;
    }

    /// The numbers; else level and node at which the matrix is not positive definite.
    fn set(&mut self, a: &BlockMatrix, positions: &[f64]) -> Result<(), (usize, usize)> {
        let Self { fine, coarse, last, factor, .. } = self;
        let (mut matrices, mut levels): (Vec<_>, Vec<_>) = coarse.iter_mut().map(|(a, l)| (a, l)).unzip();
        matrices.push(last);
        let modes = Modes::rigid(a, positions);
        let mut modes = fine.set(a, &modes, &mut matrices[0].values).map_err(|node| (0, node))?;
        for (k, level) in levels.iter_mut().enumerate() {
            let [own, next] = &mut matrices[k..k + 2] else { break };
            modes = level.set(&**own, &modes, &mut next.values).map_err(|node| (k + 1, node))?;
        }
        factor.factor(&split(matrices[levels.len()])).map_err(|e| (levels.len() + 1, e.dof / 6))
    }

    /// x ← about A⁻¹ x, where A is the matrix of which the levels were made, or one near it.
    pub fn solve(&mut self, a: &BlockMatrix, x: &mut [f64]) {
        let Self { fine, coarse, factor, .. } = self;
        let apply =
            &mut |x: &[[f64; 3]], y: &mut [[f64; 3]]| a.mul_vec(x.as_flattened(), y.as_flattened_mut());
        fine.cycle(apply, &mut |x| descend(coarse, factor, x), x.as_chunks_mut().0);
    }
}

/// x ← about the inverse of the first level's matrix times x.
fn descend(levels: &mut [(Matrix<6>, Level<6>)], factor: &mut Cholesky, x: &mut [[f64; 6]]) {
    match levels {
        [] => factor.solve(x.as_flattened_mut()),
        [(matrix, level), rest @ ..] => {
            level.cycle(&mut |x, y| multiply(matrix, x, y), &mut |x| descend(rest, factor, x), x);
        }
    }
}

/// A matrix with two nodes for each.
fn split(a: &Matrix<6>) -> BlockMatrix {
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
