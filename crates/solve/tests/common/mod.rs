//! Meshes and matrices with fixed seeds, shared by the tests.
#![allow(dead_code)]

use lilyan_solve::{BlockMatrix, BlockPattern};
use std::sync::Arc;

/// SplitMix64 (Steele, Lea & Flood 2014).
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// In [−1, 1).
    pub fn number(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
    pub fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.number()).collect()
    }
}

/// A box of cells, each cut into Kuhn's six tetrahedra around its diagonal.
pub fn kuhn_box(nx: usize, ny: usize, nz: usize) -> (Vec<[f64; 3]>, Vec<[u32; 4]>) {
    let id = |p: [usize; 3]| (p[0] + (nx + 1) * (p[1] + (ny + 1) * p[2])) as u32;
    let mut points = Vec::new();
    for z in 0..=nz {
        for y in 0..=ny {
            for x in 0..=nx {
                points.push([x as f64, y as f64, z as f64]);
            }
        }
    }
    let mut tets = Vec::new();
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                for axes in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                    let mut p = [x, y, z];
                    let mut tet = [id(p); 4];
                    for k in 0..3 {
                        p[axes[k]] += 1;
                        tet[k + 1] = id(p);
                    }
                    tets.push(tet);
                }
            }
        }
    }
    (points, tets)
}

pub fn pattern_of(n: usize, tets: &[[u32; 4]]) -> Arc<BlockPattern> {
    Arc::new(BlockPattern::from_cliques(n, tets.iter().map(|t| &t[..])))
}

/// Random elements between random nodes.
pub fn random_tets(random: &mut Random, n: usize, count: usize) -> Vec<[u32; 4]> {
    (0..count).map(|_| std::array::from_fn(|_| random.below(n) as u32)).collect()
}

/// Σ over elements of random rank-3 terms, plus `diagonal`: symmetric positive definite if `diagonal` > 0.
pub fn random_spd(random: &mut Random, n: usize, tets: &[[u32; 4]], diagonal: f64) -> BlockMatrix {
    let mut a = BlockMatrix::zeros(pattern_of(n, tets));
    for tet in tets {
        let g: Vec<[f64; 9]> = (0..4).map(|_| std::array::from_fn(|_| random.number())).collect();
        for p in 0..4 {
            for q in 0..4 {
                if tet[p] >= tet[q] {
                    let mut block = [0.0; 9];
                    for r in 0..3 {
                        for c in 0..3 {
                            block[3 * r + c] = (0..3).map(|k| g[p][3 * r + k] * g[q][3 * c + k]).sum();
                        }
                    }
                    a.add_block(tet[p] as usize, tet[q] as usize, &block);
                }
            }
        }
    }
    a.add_diagonal(&vec![diagonal; 3 * n]);
    a
}

/// Stiffness of linear elasticity (Lamé λ, μ) on linear tetrahedra, and the consistent mass for density 1.
pub fn elasticity(
    points: &[[f64; 3]],
    tets: &[[u32; 4]],
    lambda: f64,
    mu: f64,
) -> (BlockMatrix, BlockMatrix) {
    let pattern = pattern_of(points.len(), tets);
    let (mut k, mut m) = (BlockMatrix::zeros(pattern.clone()), BlockMatrix::zeros(pattern));
    for tet in tets {
        let x: Vec<[f64; 3]> = tet.iter().map(|&i| points[i as usize]).collect();
        let e: Vec<[f64; 3]> = (1..4).map(|i| std::array::from_fn(|c| x[i][c] - x[0][c])).collect();
        let cross = |a: &[f64; 3], b: &[f64; 3]| {
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        let (c0, c1, c2) = (cross(&e[1], &e[2]), cross(&e[2], &e[0]), cross(&e[0], &e[1]));
        let det: f64 = (0..3).map(|c| e[0][c] * c0[c]).sum();
        let volume = det.abs() / 6.0;
        let mut g = [[0.0; 3]; 4];
        for c in 0..3 {
            g[1][c] = c0[c] / det;
            g[2][c] = c1[c] / det;
            g[3][c] = c2[c] / det;
            g[0][c] = -g[1][c] - g[2][c] - g[3][c];
        }
        for p in 0..4 {
            for q in 0..4 {
                if tet[p] < tet[q] {
                    continue;
                }
                let dot: f64 = (0..3).map(|c| g[p][c] * g[q][c]).sum();
                let mut block = [0.0; 9];
                for r in 0..3 {
                    for c in 0..3 {
                        block[3 * r + c] = volume * (lambda * g[p][r] * g[q][c] + mu * g[p][c] * g[q][r]);
                    }
                    block[4 * r] += volume * mu * dot;
                }
                k.add_block(tet[p] as usize, tet[q] as usize, &block);
                let w = volume / if p == q { 10.0 } else { 20.0 };
                m.add_block(tet[p] as usize, tet[q] as usize, &[w, 0.0, 0.0, 0.0, w, 0.0, 0.0, 0.0, w]);
            }
        }
    }
    (k, m)
}

/// ‖A x − b‖ / ‖b‖.
pub fn residual(a: &BlockMatrix, x: &[f64], b: &[f64]) -> f64 {
    let mut y = vec![0.0; x.len()];
    a.mul_vec(x, &mut y);
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|e| e * e).sum::<f64>().sqrt();
    norm(&mut y.iter().zip(b).map(|(p, q)| p - q)) / norm(&mut b.iter().copied())
}

pub fn bits(v: &[f64]) -> Vec<u64> {
    v.iter().map(|x| x.to_bits()).collect()
}
