//! Saddle-point systems with compliance, [A Bᵀ; B −C] (u, w) = (f, g) with a diagonal C ≥ 0: forces w of stiff
//! springs along the rows of B, which are constraints where C vanishes.
//!
//! Eliminating w first would divide by C, so a row is never eliminated before the nodes it touches: its pivot is then
//! −(C + B A⁻¹ Bᵀ), as good for C = 0 as for any other.

use crate::NotPositiveDefinite;
use crate::block::{BlockMatrix, BlockPattern};
use crate::ordering::{Ordering, order_nodes};
use crate::quasidefinite::QuasiDefinite;
use crate::rows::SparseRows;

/// Compliance below this share of B A⁻¹ Bᵀ is raised to it, so that rows that depend on each other have pivots.
const FLOOR: f64 = 1e-14;

/// The order in which a saddle-point matrix is eliminated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elimination {
    /// All nodes, then the rows: the Schur complement C + B A⁻¹ Bᵀ. Good where A is (block) diagonal.
    NodesFirst,
    /// Nodes by nested dissection or minimum degree, each row as soon as its nodes are gone.
    Mixed,
}

/// A factorised saddle-point matrix with compliance.
#[derive(Default)]
pub struct Compliant {
    whole: QuasiDefinite,
    rows: SparseRows,
    compliance: Vec<f64>,
}

impl Compliant {
    /// Nothing factorised.
    pub fn new() -> Compliant {
        Compliant::default()
    }

    /// Factorises for the compliances C. `graph` couples all nodes that share a row.
    ///
    /// The error names a dof of A, or, beyond those, a row.
    pub fn factor(
        &mut self,
        a: &BlockMatrix,
        rows: &SparseRows,
        compliance: &[f64],
        elimination: Elimination,
        graph: &BlockPattern,
    ) -> Result<(), NotPositiveDefinite> {
        let n = a.dofs();
        let refused = |dof, finite| NotPositiveDefinite { dof, finite };
        let diagonal = a.diagonal();
        if let Some(dof) = diagonal.iter().position(|d| !(d.is_finite() && *d > 0.0)) {
            return Err(refused(dof, diagonal[dof].is_finite()));
        }
        self.rows.clone_from(rows);
        self.compliance =
            rows.squares(&diagonal).iter().zip(compliance).map(|(s, c)| c.max(FLOOR * s)).collect();
        if let Some(row) = self.compliance.iter().position(|c| !(c.is_finite() && *c > 0.0)) {
            return Err(refused(n + row, self.compliance[row].is_finite()));
        }
        let order = || Some(elimination_order(rows, elimination, graph));
        self.whole.factor_in_order(a, rows, &self.compliance, &order).map_err(|dof| refused(dof, true))
    }

    /// (f, g) ← (u, w), refined once: the order is safe, but a product of many small pivots is not always.
    pub fn solve(&mut self, a: &BlockMatrix, z: &mut [f64]) {
        let n = a.dofs();
        let mut residual = z.to_vec();
        self.whole.solve(z);
        let mut image = vec![0.0; z.len()];
        let (top, bottom) = image.split_at_mut(n);
        a.mul_vec(&z[..n], top);
        self.rows.add_transposed(1.0, &z[n..], top);
        self.rows.mul(&z[..n], bottom);
        for i in 0..bottom.len() {
            bottom[i] -= self.compliance[i] * z[n + i];
        }
        for (r, i) in residual.iter_mut().zip(&image) {
            *r -= i;
        }
        self.whole.solve(&mut residual);
        for (z, r) in z.iter_mut().zip(&residual) {
            *z += r;
        }
    }
}

/// `order[new] = old` of dofs and, behind them, rows.
fn elimination_order(rows: &SparseRows, elimination: Elimination, graph: &BlockPattern) -> Vec<usize> {
    let (nodes, m) = (graph.n(), rows.len());
    match elimination {
        Elimination::NodesFirst => {
            // Rows that share a node are coupled once it is gone.
            let mut around: Vec<Vec<u32>> = vec![Vec::new(); nodes];
            for i in 0..m {
                for (c, _) in rows.row(i) {
                    let list = &mut around[c / 3];
                    if list.last() != Some(&(i as u32)) {
                        list.push(i as u32);
                    }
                }
            }
            let schur = BlockPattern::from_cliques(m, around.iter().map(Vec::as_slice));
            let behind =
                order_nodes(&schur, Ordering::MinimumDegree).into_iter().map(|i| 3 * nodes + i as usize);
            (0..3 * nodes).chain(behind).collect()
        }
        Elimination::Mixed => {
            let order = order_nodes(graph, Ordering::Automatic);
            let mut place = vec![0u32; nodes];
            for (new, &old) in order.iter().enumerate() {
                place[old as usize] = new as u32;
            }
            let mut after: Vec<Vec<usize>> = vec![Vec::new(); nodes];
            for i in 0..m {
                let last = rows.row(i).map(|(c, _)| place[c / 3]).max().unwrap_or(0);
                after[last as usize].push(3 * nodes + i);
            }
            order
                .iter()
                .zip(&after)
                .flat_map(|(&node, rows)| {
                    (0..3).map(move |c| 3 * node as usize + c).chain(rows.iter().copied())
                })
                .collect()
        }
    }
}
