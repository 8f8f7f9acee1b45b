//! One level of a V-cycle: pre-smoothing, correction by the next coarser level, post-smoothing.

use super::aggregate::aggregate;
use super::galerkin::GalerkinPattern;
use super::prolong::{RigidModes, smoothed};
use super::smooth::{Smoother, add};
use super::sparse::{Apply, Block, BlockRows, Graph, Transposed, add_product};
use lilyan_parallel::threads;

/// Nodes per task.
const CHUNK: usize = 1 << 9;

/// A level of the hierarchy with N unknowns per node.
#[derive(Default)]
pub(super) struct Level<const N: usize> {
    /// The aggregate of every node.
    aggregate_of: Vec<u32>,
    /// The nodes of every aggregate.
    aggregates: Transposed,
    pub pattern: GalerkinPattern,
    smoother: Smoother<N>,
    /// The prolongation P.
    p: Vec<Block<N, 6>>,
    /// Work space: residual, correction, its image, solution.
    vectors: [Vec<[f64; N]>; 4],
    /// The residual, then the correction, of the coarser level.
    coarse: Vec<[f64; 6]>,
}

impl<const N: usize> Level<N> {
    /// The symbolic phase, which depends on the graph alone.
    pub fn new(graph: &Graph) -> Self {
        let (aggregate_of, count) = aggregate(graph);
        let pattern = GalerkinPattern::new(graph, &aggregate_of, count);
        let aggregates = Graph::single(aggregate_of.clone()).transposed(count);
        let vectors = std::array::from_fn(|_| vec![[0.0; N]; graph.rows()]);
        Self {
            aggregate_of,
            aggregates,
            pattern,
            vectors,
            coarse: vec![[0.0; 6]; count],
            ..Default::default()
        }
    }

    /// The numeric phase: smoother and prolongation of this level, matrix and rigid modes of the coarser one. The error
    /// is a node at which the matrix is not positive definite.
    pub fn update(
        &mut self,
        a: &impl BlockRows<N>,
        modes: &RigidModes<N>,
        coarse: &mut Vec<Block<6, 6>>,
    ) -> Result<RigidModes<6>, usize> {
        self.smoother = Smoother::new(a, self.aggregate_of.len())?;
        let (tentative, next) = modes.tentative(&self.aggregates);
        // The damping of [vanek1996], which minimises the bound of the convergence estimate.
        let omega = 4.0 / (3.0 * self.smoother.bound);
        let parts = (&self.smoother.inverse[..], &tentative[..]);
        smoothed(a, parts, omega, &self.aggregate_of, &self.pattern.p, self.coarse.len(), &mut self.p);
        self.pattern.product(a, &self.p, coarse);
        Ok(next)
    }

    /// A node of the finer level in this aggregate.
    pub fn member(&self, aggregate: usize) -> usize {
        self.aggregates.row(aggregate).first().map_or(0, |&(i, _)| i as usize)
    }

    /// x ← B x, where B ≈ A⁻¹ is one V-cycle. `solve` is the cycle of the coarser level.
    pub fn cycle(
        &mut self,
        apply: &mut Apply<'_, N>,
        solve: &mut dyn FnMut(&mut [[f64; 6]]),
        x: &mut [[f64; N]],
    ) {
        let Self { pattern, smoother, p, vectors: [r, z, image, sum], coarse, .. } = self;
        r.copy_from_slice(x);
        sum.fill([0.0; N]);
        smoother.smooth(apply, sum, [r, z, image], true);
        threads::par_chunks_mut(coarse, CHUNK / 8, |chunk, coarse| {
            for (k, to) in coarse.iter_mut().enumerate() {
                *to = [0.0; 6];
                for &(i, at) in pattern.columns.row(chunk * (CHUNK / 8) + k) {
                    let (block, r) = (&p[at as usize], &r[i as usize]);
                    for m in 0..N {
                        for c in 0..6 {
                            to[c] += block[m][c] * r[m];
                        }
                    }
                }
            }
        });
        solve(coarse);
        threads::par_chunks_mut(z, CHUNK, |chunk, z| {
            for (k, z) in z.iter_mut().enumerate() {
                let i = chunk * CHUNK + k;
                *z = [0.0; N];
                for (&g, block) in pattern.p.row(i).iter().zip(&p[pattern.p.range(i)]) {
                    add_product(z, block, &coarse[g as usize]);
                }
            }
        });
        add(1.0, z, sum);
        apply(z, image);
        add(-1.0, image, r);
        smoother.smooth(apply, sum, [r, z, image], false);
        x.copy_from_slice(sum);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sparse::BlockCsr;
    use super::*;
    use crate::matrix::vector::Random;
    use crate::{BlockMatrix, BlockPattern};
    use std::sync::Arc;

    /// Springs between random points. No spring resists a rigid motion.
    fn springs(n: usize) -> (Vec<f64>, BlockMatrix) {
        let mut random = Random(4);
        let at: Vec<f64> = (0..3 * n).map(|k| (k / 3) as f64 * 0.2 + random.number()).collect();
        let links: Vec<[u32; 2]> = (0..n as u32)
            .flat_map(|i| (1..7).map(move |k| [i, i + k]))
            .filter(|l| (l[1] as usize) < n)
            .collect();
        let pattern = BlockPattern::from_cliques(n, links.iter().map(|l| &l[..]));
        let mut a = BlockMatrix::zeros(Arc::new(pattern));
        for &[i, j] in &links {
            let (i, j) = (i as usize, j as usize);
            let d: [f64; 3] = std::array::from_fn(|c| at[3 * j + c] - at[3 * i + c]);
            let block: [f64; 9] = std::array::from_fn(|k| d[k / 3] * d[k % 3]);
            a.add_block(i, i, &block);
            a.add_block(j, j, &block);
            a.add_block(j, i, &block.map(|x| -x));
        }
        (at, a)
    }

    /// Largest error of P times the rigid modes of the coarse level, relative to the rigid modes of the finer one.
    fn prolongation_error<const N: usize>(
        level: &Level<N>,
        fine: &RigidModes<N>,
        coarse: &RigidModes<6>,
    ) -> f64 {
        let (mut worst, mut size) = (0.0f64, 0.0f64);
        for (i, motion) in fine.values.iter().enumerate() {
            for c in 0..6 {
                let mut prolonged = [0.0; N];
                for (&g, block) in level.pattern.p.row(i).iter().zip(&level.p[level.pattern.p.range(i)]) {
                    add_product(&mut prolonged, block, &coarse.values[g as usize].map(|row| row[c]));
                }
                for r in 0..N {
                    worst = worst.max((prolonged[r] - motion[r][c]).abs());
                    size = size.max(motion[r][c].abs());
                }
            }
        }
        worst / size
    }

    #[test]
    fn all_levels_can_move_as_rigid_bodies() {
        let (at, a) = springs(600);
        let fine = RigidModes::rigid(&a, &at);
        let mut first = Level::<3>::new(&Graph::of(a.pattern()));
        let mut values = Vec::new();
        let coarse = first.update(&a, &fine, &mut values).unwrap();
        assert!(prolongation_error(&first, &fine, &coarse) < 1e-12);
        let matrix = BlockCsr { graph: first.pattern.coarse.clone(), values };
        let mut second = Level::<6>::new(&matrix.graph);
        let coarsest = second.update(&matrix, &coarse, &mut Vec::new()).unwrap();
        assert!(second.coarse.len() < first.coarse.len() && first.coarse.len() < 200);
        assert!(prolongation_error(&second, &coarse, &coarsest) < 1e-12);
    }
}
