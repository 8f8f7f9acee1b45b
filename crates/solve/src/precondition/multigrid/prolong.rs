//! Prolongation from a coarse level to the finer one: rigid modes of the aggregates, smoothed \[vanek1996\].

use super::sparse::{Block, BlockRows, Graph, Transposed, add_blocks, add_transposed_blocks};
use crate::matrix::block::BlockMatrix;
use lilyan_parallel::threads;

/// Aggregates per task.
const CHUNK: usize = 1 << 6;
/// Gram–Schmidt drops a mode of which less than this part is linearly independent of the earlier ones.
const INDEPENDENT: f64 = 1e-6;

/// The near-null space that every level must represent: three translations and three rotations.
#[derive(Default)]
pub(super) struct RigidModes<const N: usize> {
    /// The modes at each node.
    pub values: Vec<Block<N, 6>>,
    /// The position of each node.
    centres: Vec<[f64; 3]>,
}

/// e_k × x for k = 0, 1, 2.
fn rotations(x: &[f64; 3]) -> [[f64; 3]; 3] {
    [[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]]
}

impl RigidModes<3> {
    /// The rigid modes of nodes at these positions. They are zero at unknowns without couplings (Dirichlet dofs), which
    /// need no coarse correction.
    pub fn rigid(a: &BlockMatrix, positions: &[f64]) -> Self {
        let points = positions.as_chunks::<3>().0;
        let share = 1.0 / points.len().max(1) as f64;
        let mean: [f64; 3] = std::array::from_fn(|c| share * points.iter().map(|x| x[c]).sum::<f64>());
        let centres: Vec<[f64; 3]> = points.iter().map(|x| std::array::from_fn(|c| x[c] - mean[c])).collect();
        let mut values = vec![[[0.0; 6]; 3]; points.len()];
        threads::par_chunks_mut(&mut values, 1 << 10, |chunk, values| {
            for (k, value) in values.iter_mut().enumerate() {
                let i = (chunk << 10) + k;
                let mut coupled = [false; 3];
                a.each(i, |j, block| {
                    for r in 0..3 {
                        coupled[r] |= (0..3).any(|c| (i != j || r != c) && block[r][c] != 0.0);
                    }
                });
                let rotations = rotations(&centres[i]);
                for r in (0..3).filter(|&r| coupled[r]) {
                    value[r][r] = 1.0;
                    for k in 0..3 {
                        value[r][3 + k] = rotations[k][r];
                    }
                }
            }
        });
        RigidModes { values, centres }
    }
}

impl<const N: usize> RigidModes<N> {
    /// The tentative prolongation, an orthonormal basis of the rigid modes on every aggregate, and the rigid modes of the
    /// coarse level.
    pub fn tentative(&self, aggregates: &Transposed) -> (Vec<Block<N, 6>>, RigidModes<6>) {
        let chunks = threads::par_map(aggregates.rows().div_ceil(CHUNK), |chunk| {
            let of_chunk = chunk * CHUNK..aggregates.rows().min((chunk + 1) * CHUNK);
            of_chunk.map(|g| self.of_aggregate(aggregates.row(g))).collect::<Vec<_>>()
        });
        let mut basis = vec![[[0.0; 6]; N]; self.values.len()];
        let mut coarse = RigidModes { values: Vec::new(), centres: Vec::new() };
        for (g, (blocks, modes, centre)) in chunks.into_iter().flatten().enumerate() {
            for (&(i, _), block) in aggregates.row(g).iter().zip(blocks) {
                basis[i as usize] = block;
            }
            coarse.values.push(modes);
            coarse.centres.push(centre);
        }
        (basis, coarse)
    }

    /// The basis of one aggregate, the rigid modes in this basis, and the centre.
    fn of_aggregate(&self, nodes: &[(u32, u32)]) -> (Vec<Block<N, 6>>, Block<6, 6>, [f64; 3]) {
        let share = 1.0 / nodes.len().max(1) as f64;
        let centre: [f64; 3] = std::array::from_fn(|c| {
            share * nodes.iter().map(|&(i, _)| self.centres[i as usize][c]).sum::<f64>()
        });
        let offset = rotations(&centre);
        // Rotations about the centre. About a distant point they are nearly translations.
        let mut basis: Vec<Block<N, 6>> = nodes.iter().map(|&(i, _)| self.values[i as usize]).collect();
        for row in basis.as_flattened_mut() {
            for k in 0..3 {
                row[3 + k] -= (0..3).map(|m| offset[k][m] * row[m]).sum::<f64>();
            }
        }
        let rows = basis.as_flattened_mut();
        for k in 0..6 {
            let before = rows.iter().map(|row| row[k] * row[k]).sum::<f64>().sqrt();
            // Gram–Schmidt twice is enough for orthogonality to rounding.
            for j in (0..k).chain(0..k) {
                let part = rows.iter().map(|row| row[j] * row[k]).sum::<f64>();
                rows.iter_mut().for_each(|row| row[k] -= part * row[j]);
            }
            let size = rows.iter().map(|row| row[k] * row[k]).sum::<f64>().sqrt();
            let scale = if size > INDEPENDENT * before { 1.0 / size } else { 0.0 };
            rows.iter_mut().for_each(|row| row[k] *= scale);
        }
        let mut modes = [[0.0; 6]; 6];
        for (block, &(i, _)) in basis.iter().zip(nodes) {
            add_transposed_blocks(&mut modes, block, &self.values[i as usize]);
        }
        (basis, modes, centre)
    }
}

/// The smoothed prolongation P = (1 − ω D⁻¹ A) T of the tentative prolongation T.
pub(super) fn smoothed<const N: usize>(
    a: &impl BlockRows<N>,
    (inverse, tentative): (&[Block<N, N>], &[Block<N, 6>]),
    omega: f64,
    aggregate_of: &[u32],
    graph: &Graph,
    count: usize,
    values: &mut Vec<Block<N, 6>>,
) {
    values.resize(graph.len(), [[0.0; 6]; N]);
    graph.fill(values, count, |i, row, places| {
        graph.place(i, places);
        row.fill([[0.0; 6]; N]);
        a.each(i, |j, block| {
            add_blocks(&mut row[places[aggregate_of[j] as usize] as usize], block, &tentative[j]);
        });
        let damped = inverse[i].map(|row| row.map(|x| -omega * x));
        for value in &mut *row {
            let image = std::mem::replace(value, [[0.0; 6]; N]);
            add_blocks(value, &damped, &image);
        }
        let block = &mut row[places[aggregate_of[i] as usize] as usize];
        for r in 0..N {
            for c in 0..6 {
                block[r][c] += tentative[i][r][c];
            }
        }
    });
}
