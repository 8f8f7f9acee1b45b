//! Saddle-point systems with compliance, [A Bᵀ; B −C] (u, w) = (f, g), with a diagonal C ≥ 0. The multipliers w are forces
//! of stiff springs along the rows of B; where C vanishes, a row is a constraint.
//!
//! Eliminating w first would divide by C. A row is therefore eliminated after all nodes that it touches. Its pivot is then
//! −(C + B A⁻¹ Bᵀ), which is safe for C = 0 too.

use crate::NotPositiveDefinite;
use crate::direct::ordering::{Ordering, order_nodes};
use crate::direct::saddle::quasidefinite::QuasiDefinite;
use crate::matrix::sparse_rows::SparseRows;
use crate::matrix::{BlockMatrix, BlockPattern};

/// Compliances are raised to at least this fraction of the diagonal of B D⁻¹ Bᵀ, with D the diagonal of A, so that linearly
/// dependent rows have nonzero pivots.
const FLOOR: f64 = 1e-14;

/// The order in which a saddle-point matrix is eliminated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elimination {
    /// All nodes, then all rows: the Schur complement C + B A⁻¹ Bᵀ. Efficient if A is (block) diagonal.
    NodesFirst,
    /// Nodes by nested dissection or minimum degree, each row directly after the last of its nodes.
    Mixed,
}

/// A factorised saddle-point matrix with compliance.
#[derive(Default)]
pub struct Compliant {
    quasidefinite: QuasiDefinite,
    rows: SparseRows,
    compliance: Vec<f64>,
}

impl Compliant {
    /// An empty factorisation.
    pub fn new() -> Compliant {
        Compliant::default()
    }

    /// Factorises with the compliances C. `graph` couples all nodes that share a row.
    ///
    /// The error names a dof of A, or n + i for row i.
    pub fn factor(
        &mut self,
        a: &BlockMatrix,
        rows: &SparseRows,
        compliance: &[f64],
        elimination: Elimination,
        graph: &BlockPattern,
    ) -> Result<(), NotPositiveDefinite> {
        let n = a.dofs();
        let error = |dof, finite| NotPositiveDefinite { dof, finite };
        let diagonal = a.diagonal();
        if let Some(dof) = diagonal.iter().position(|d| !(d.is_finite() && *d > 0.0)) {
            return Err(error(dof, diagonal[dof].is_finite()));
        }
        self.rows.clone_from(rows);
        self.compliance =
            rows.squares(&diagonal).iter().zip(compliance).map(|(s, c)| c.max(FLOOR * s)).collect();
        if let Some(row) = self.compliance.iter().position(|c| !(c.is_finite() && *c > 0.0)) {
            return Err(error(n + row, self.compliance[row].is_finite()));
        }
        let order = || Some(elimination_order(rows, elimination, graph));
        self.quasidefinite.factor_in_order(a, rows, &self.compliance, &order).map_err(|dof| error(dof, true))
    }

    /// (f, g) ← (u, w), with one step of iterative refinement, since many small pivots can lose accuracy.
    pub fn solve(&mut self, a: &BlockMatrix, z: &mut [f64]) {
        let n = a.dofs();
        let mut residual = z.to_vec();
        self.quasidefinite.solve(z);
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
        self.quasidefinite.solve(&mut residual);
        for (z, r) in z.iter_mut().zip(&residual) {
            *z += r;
        }
    }
}

/// The elimination order `order[new] = old` of dofs and, after them, rows.
fn elimination_order(rows: &SparseRows, elimination: Elimination, graph: &BlockPattern) -> Vec<usize> {
    let (nodes, m) = (graph.n(), rows.len());
    match elimination {
        Elimination::NodesFirst => {
            // Rows that share a node are coupled after its elimination.
            let mut rows_of_node: Vec<Vec<u32>> = vec![Vec::new(); nodes];
            for i in 0..m {
                for (c, _) in rows.row(i) {
                    let list = &mut rows_of_node[c / 3];
                    if list.last() != Some(&(i as u32)) {
                        list.push(i as u32);
                    }
                }
            }
            let schur = BlockPattern::from_cliques(m, rows_of_node.iter().map(Vec::as_slice));
            let rows_in_order =
                order_nodes(&schur, Ordering::MinimumDegree).into_iter().map(|i| 3 * nodes + i as usize);
            (0..3 * nodes).chain(rows_in_order).collect()
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
