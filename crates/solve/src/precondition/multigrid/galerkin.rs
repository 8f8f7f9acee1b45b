//! The Galerkin projection Pᵀ A P, the matrix of the coarser level.

use super::sparse::{Block, BlockRows, Graph, Transposed, add_blocks, add_transposed_blocks};
use std::sync::Arc;

/// Sparsity patterns of P, A P and Pᵀ A P.
#[derive(Default)]
pub(super) struct GalerkinPattern {
    /// P by rows.
    pub p: Graph,
    /// P by columns.
    pub columns: Transposed,
    /// A P.
    image: Graph,
    /// Pᵀ A P.
    pub coarse: Arc<Graph>,
}

impl GalerkinPattern {
    /// For `count` aggregates. The smoothed P couples an aggregate with the neighbours of its nodes.
    pub fn new(graph: &Graph, aggregate_of: &[u32], count: usize) -> Self {
        let p = Graph::new(graph.rows(), |i, list| {
            list.extend(graph.row(i).iter().map(|&j| aggregate_of[j as usize]));
        });
        let columns = p.transposed(count);
        let image = Graph::new(graph.rows(), |i, list| {
            graph.row(i).iter().for_each(|&j| list.extend_from_slice(p.row(j as usize)));
        });
        let coarse = Graph::new(count, |g, list| {
            columns.row(g).iter().for_each(|&(i, _)| list.extend_from_slice(image.row(i as usize)));
        });
        Self { p, columns, image, coarse: Arc::new(coarse) }
    }

    /// Pᵀ A P, symmetric to the bit. The diagonal is 1 where a column of P is zero.
    pub fn product<const N: usize>(
        &self,
        a: &impl BlockRows<N>,
        p: &[Block<N, 6>],
        out: &mut Vec<Block<6, 6>>,
    ) {
        let count = self.coarse.rows();
        let mut image = vec![[[0.0; 6]; N]; self.image.len()];
        self.image.fill(&mut image, count, |i, row, places| {
            self.image.place(i, places);
            a.each(i, |j, block| {
                for (&g, value) in self.p.row(j).iter().zip(&p[self.p.range(j)]) {
                    add_blocks(&mut row[places[g as usize] as usize], block, value);
                }
            });
        });
        out.clear();
        out.resize(self.coarse.len(), [[0.0; 6]; 6]);
        self.coarse.fill(out, count, |g, row, places| {
            self.coarse.place(g, places);
            for &(i, at) in self.columns.row(g) {
                let columns = self.image.row(i as usize);
                let left = columns.partition_point(|&other| other as usize <= g);
                let image = &image[self.image.range(i as usize)];
                for (&other, value) in columns[..left].iter().zip(image) {
                    add_transposed_blocks(&mut row[places[other as usize] as usize], &p[at as usize], value);
                }
            }
        });
        for g in 0..count {
            for at in self.coarse.range(g) {
                let other = self.coarse.column(at);
                let value = out[at];
                if other < g {
                    let row = self.coarse.row(other);
                    let mirror = row.binary_search(&(g as u32)).expect("the pattern is symmetric");
                    out[self.coarse.range(other).start + mirror] =
                        std::array::from_fn(|r| std::array::from_fn(|c| value[c][r]));
                } else if other == g {
                    let value = &mut out[at];
                    for r in 0..6 {
                        (0..r).for_each(|c| value[c][r] = value[r][c]);
                        if value[r][r] == 0.0 {
                            value[r][r] = 1.0;
                        }
                    }
                }
            }
        }
    }
}
