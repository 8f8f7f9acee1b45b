//! From a coarse level to the finer one: rigid motions of groups of nodes, smoothed \[vanek1996\].

use super::sparse::{Block, ByRows, Graph, Transposed, add_blocks, add_transposed_blocks};
use crate::block::BlockMatrix;
use crate::threads;

/// Groups that one task goes through.
const CHUNK: usize = 1 << 6;
/// A motion of which less than this share is new to its group is left out.
const NEW: f64 = 1e-6;

/// What must be represented on every level: three translations and three rotations, at each node, and where it is.
#[derive(Default)]
pub(super) struct Modes<const N: usize> {
    pub values: Vec<Block<N, 6>>,
    centres: Vec<[f64; 3]>,
}

/// e_k × x.
fn turned(x: &[f64; 3]) -> [[f64; 3]; 3] {
    [[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]]
}

impl Modes<3> {
    /// The rigid motions of nodes at these positions. Unknowns that are coupled to none (held ones) need no help from coarser
    /// levels: they are left out.
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
                let rotations = turned(&centres[i]);
                for r in (0..3).filter(|&r| coupled[r]) {
                    value[r][r] = 1.0;
                    for k in 0..3 {
                        value[r][3 + k] = rotations[k][r];
                    }
                }
            }
        });
        Modes { values, centres }
    }
}

impl<const N: usize> Modes<N> {
    /// An orthonormal basis of the motions of every group, given at its nodes, and the motions in terms of it.
    pub fn tentative(&self, groups: &Transposed) -> (Vec<Block<N, 6>>, Modes<6>) {
        let chunks = threads::par_map(groups.rows().div_ceil(CHUNK), |chunk| {
            let of_chunk = chunk * CHUNK..groups.rows().min((chunk + 1) * CHUNK);
            of_chunk.map(|g| self.of_group(groups.row(g))).collect::<Vec<_>>()
        });
        let mut basis = vec![[[0.0; 6]; N]; self.values.len()];
        let mut coarse = Modes { values: Vec::new(), centres: Vec::new() };
        for (g, (own, motions, centre)) in chunks.into_iter().flatten().enumerate() {
            for (&(i, _), own) in groups.row(g).iter().zip(own) {
                basis[i as usize] = own;
            }
            coarse.values.push(motions);
            coarse.centres.push(centre);
        }
        (basis, coarse)
    }

    /// The basis of one group, the motions in terms of it, and its middle.
    fn of_group(&self, nodes: &[(u32, u32)]) -> (Vec<Block<N, 6>>, Block<6, 6>, [f64; 3]) {
        let share = 1.0 / nodes.len().max(1) as f64;
        let centre: [f64; 3] = std::array::from_fn(|c| {
            share * nodes.iter().map(|&(i, _)| self.centres[i as usize][c]).sum::<f64>()
        });
        let away = turned(&centre);
        // Rotations about the middle: about a far point they are hardly more than translations.
        let mut basis: Vec<Block<N, 6>> = nodes.iter().map(|&(i, _)| self.values[i as usize]).collect();
        for row in basis.as_flattened_mut() {
            for k in 0..3 {
                row[3 + k] -= (0..3).map(|m| away[k][m] * row[m]).sum::<f64>();
            }
        }
        let rows = basis.as_flattened_mut();
        for k in 0..6 {
            let before = rows.iter().map(|row| row[k] * row[k]).sum::<f64>().sqrt();
            // Twice is enough for orthogonality to rounding.
            for j in (0..k).chain(0..k) {
                let part = rows.iter().map(|row| row[j] * row[k]).sum::<f64>();
                rows.iter_mut().for_each(|row| row[k] -= part * row[j]);
            }
            let size = rows.iter().map(|row| row[k] * row[k]).sum::<f64>().sqrt();
            let scale = if size > NEW * before { 1.0 / size } else { 0.0 };
            rows.iter_mut().for_each(|row| row[k] *= scale);
        }
        let mut motions = [[0.0; 6]; 6];
        for (own, &(i, _)) in basis.iter().zip(nodes) {
            add_transposed_blocks(&mut motions, own, &self.values[i as usize]);
        }
        (basis, motions, centre)
    }
}

/// P = (1 − ω D⁻¹ A) T, for the basis T of groups.
pub(super) fn smoothed<const N: usize>(
    a: &impl ByRows<N>,
    (inverse, tentative): (&[Block<N, N>], &[Block<N, 6>]),
    omega: f64,
    group: &[u32],
    graph: &Graph,
    count: usize,
    values: &mut Vec<Block<N, 6>>,
) {
    values.resize(graph.len(), [[0.0; 6]; N]);
    graph.fill(values, count, |i, row, places| {
        graph.place(i, places);
        row.fill([[0.0; 6]; N]);
        a.each(i, |j, block| {
            add_blocks(&mut row[places[group[j] as usize] as usize], block, &tentative[j]);
        });
        let damped = inverse[i].map(|row| row.map(|x| -omega * x));
        for value in &mut *row {
            let image = std::mem::replace(value, [[0.0; 6]; N]);
            add_blocks(value, &damped, &image);
        }
        let own = &mut row[places[group[i] as usize] as usize];
        for r in 0..N {
            for c in 0..6 {
                own[r][c] += tentative[i][r][c];
            }
        }
    });
}
