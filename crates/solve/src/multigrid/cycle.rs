//! One level, and what it does with a residual: smooths, hands what is left to the next coarser one, smooths again.

use super::aggregate::aggregate;
use super::galerkin::Shape;
use super::prolong::{Modes, smoothed};
use super::smooth::{Smoother, add};
use super::sparse::{Apply, Block, ByRows, Graph, Transposed, add_product};
use crate::threads;

/// Nodes that one task goes through.
const CHUNK: usize = 1 << 9;

/// A level with N unknowns per node.
#[derive(Default)]
pub(super) struct Level<const N: usize> {
    group: Vec<u32>,
    groups: Transposed,
    pub shape: Shape,
    smoother: Smoother<N>,
    p: Vec<Block<N, 6>>,
    vectors: [Vec<[f64; N]>; 4],
    coarse: Vec<[f64; 6]>,
}

impl<const N: usize> Level<N> {
    /// What depends on the couplings alone.
    pub fn new(graph: &Graph) -> Self {
        let (group, count) = aggregate(graph);
        let shape = Shape::new(graph, &group, count);
        let groups = Graph::single(group.clone()).transposed(count);
        let vectors = std::array::from_fn(|_| vec![[0.0; N]; graph.rows()]);
        Self { group, groups, shape, vectors, coarse: vec![[0.0; 6]; count], ..Default::default() }
    }

    /// What depends on the numbers: this level's own, and matrix and modes of the next. Else a node that shows that the
    /// matrix is not positive definite.
    pub fn set(
        &mut self,
        a: &impl ByRows<N>,
        modes: &Modes<N>,
        coarse: &mut Vec<Block<6, 6>>,
    ) -> Result<Modes<6>, usize> {
        self.smoother = Smoother::new(a, self.group.len())?;
        let (tentative, next) = modes.tentative(&self.groups);
        // \[vanek1996\]: the best for the estimate in which it enters.
        let omega = 4.0 / (3.0 * self.smoother.bound);
        let parts = (&self.smoother.inverse[..], &tentative[..]);
        smoothed(a, parts, omega, &self.group, &self.shape.p, self.coarse.len(), &mut self.p);
        self.shape.product(a, &self.p, coarse);
        Ok(next)
    }

    /// A node of the finer level in this group.
    pub fn member(&self, group: usize) -> usize {
        self.groups.row(group).first().map_or(0, |&(i, _)| i as usize)
    }

    /// x ← about A⁻¹ x, with the help of `solve`, which does so on the next level.
    pub fn cycle(
        &mut self,
        apply: &mut Apply<'_, N>,
        solve: &mut dyn FnMut(&mut [[f64; 6]]),
        x: &mut [[f64; N]],
    ) {
        let Self { shape, smoother, p, vectors: [r, z, image, sum], coarse, .. } = self;
        r.copy_from_slice(x);
        sum.fill([0.0; N]);
        smoother.smooth(apply, sum, [r, z, image], true);
        threads::par_chunks_mut(coarse, CHUNK / 8, |chunk, coarse| {
            for (k, to) in coarse.iter_mut().enumerate() {
                *to = [0.0; 6];
                for &(i, at) in shape.columns.row(chunk * (CHUNK / 8) + k) {
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
                for (&g, block) in shape.p.row(i).iter().zip(&p[shape.p.range(i)]) {
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
    use super::super::sparse::Matrix;
    use super::*;
    use crate::vector::Random;
    use crate::{BlockMatrix, BlockPattern};
    use std::sync::Arc;

    /// Springs between random points, none of which resists a rigid motion.
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

    /// P times the motions on the coarse level, largest difference from those on the finer one, relative to these.
    fn missed<const N: usize>(level: &Level<N>, fine: &Modes<N>, coarse: &Modes<6>) -> f64 {
        let (mut worst, mut size) = (0.0f64, 0.0f64);
        for (i, motion) in fine.values.iter().enumerate() {
            for c in 0..6 {
                let mut own = [0.0; N];
                for (&g, block) in level.shape.p.row(i).iter().zip(&level.p[level.shape.p.range(i)]) {
                    add_product(&mut own, block, &coarse.values[g as usize].map(|row| row[c]));
                }
                for r in 0..N {
                    worst = worst.max((own[r] - motion[r][c]).abs());
                    size = size.max(motion[r][c].abs());
                }
            }
        }
        worst / size
    }

    #[test]
    fn all_levels_can_move_as_rigid_bodies() {
        let (at, a) = springs(600);
        let fine = Modes::rigid(&a, &at);
        let mut first = Level::<3>::new(&Graph::of(a.pattern()));
        let mut values = Vec::new();
        let coarse = first.set(&a, &fine, &mut values).unwrap();
        assert!(missed(&first, &fine, &coarse) < 1e-12);
        let matrix = Matrix { graph: first.shape.coarse.clone(), values };
        let mut second = Level::<6>::new(&matrix.graph);
        let coarsest = second.set(&matrix, &coarse, &mut Vec::new()).unwrap();
        assert!(second.coarse.len() < first.coarse.len() && first.coarse.len() < 200);
        assert!(missed(&second, &coarse, &coarsest) < 1e-12);
    }
}
