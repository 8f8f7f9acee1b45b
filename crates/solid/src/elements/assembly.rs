//! Sums over the tets, in parallel and yet the same to the bit for any number of threads: energies in
//! fixed runs, forces at each node in element order.

use super::kernel::Block;
use super::tets::{Incidence, RUN, Tets};
use crate::materials::Mat9;
use crate::math::{LANES, Lanes, Mat3};
use lilyan_solve::{BlockMatrix, BlockPattern, threads};

/// Below this many blocks one thread is faster than waking others.
const SERIAL: usize = 4 * RUN;

/// A 12×12 element matrix as the ten lower 3×3 blocks in the order (0,0), (1,0), (1,1), (2,0), …
type Element = [[f64; 9]; 10];

/// Energies or corner forces of a run of blocks: first block number, blocks, output.
type RunKernel<'a, T> = &'a (dyn Fn(usize, &[Block], &mut [T]) + Sync);

impl Tets {
    /// Σ vol ψ, J; +∞ where an element is infeasible.
    pub fn energy(&self, q: &[f64]) -> f64 {
        let runs = self.blocks.len().div_ceil(RUN);
        let run = |r: usize| -> f64 {
            let blocks = &self.blocks[r * RUN..((r + 1) * RUN).min(self.blocks.len())];
            let mut out = [Lanes([0.0; LANES]); RUN];
            self.material.energies(r * RUN, blocks, &self.constants, q, &mut out[..blocks.len()]);
            let mut sum = 0.0;
            for (block, lanes) in blocks.iter().zip(&out) {
                for lane in 0..LANES {
                    if block.volume.0[lane] != 0.0 {
                        sum += lanes.0[lane];
                    }
                }
            }
            sum
        };
        let total = threads::sum_chunks(runs, 1, |range| range.map(run).sum());
        if total.is_nan() { f64::INFINITY } else { total }
    }

    /// Adds the gradient of Σ vol ψ, N.
    pub fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        self.add_corner_forces(g, &|first, blocks, out| {
            self.material.forces(first, blocks, &self.constants, q, out);
        });
    }

    /// Adds the discrete gradient of Σ vol ψ between q₀ and q₁, N; `false` where an element ends inverted.
    pub fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        self.add_corner_forces(g, &|first, blocks, out| {
            self.material.discrete_forces(first, blocks, &self.constants, q0, q1, out);
        });
        g[3 * self.nodes.start..3 * self.nodes.end].iter().all(|x| x.is_finite())
    }

    /// Adds what `kernel` computes at the corners of each block.
    pub(crate) fn add_corner_forces(&self, g: &mut [f64], kernel: RunKernel<'_, [Lanes; 12]>) {
        if self.blocks.len() < SERIAL || threads::threads() == 1 {
            let mut out = vec![[Lanes([0.0; LANES]); 12]; RUN.min(self.blocks.len())];
            for (r, blocks) in self.blocks.chunks(RUN).enumerate() {
                kernel(r * RUN, blocks, &mut out);
                for (block, forces) in blocks.iter().zip(&out) {
                    scatter(block, forces, g);
                }
            }
            return;
        }
        let mut corners = vec![[Lanes([0.0; LANES]); 12]; self.blocks.len()];
        threads::par_chunks_mut(&mut corners, RUN, |r, out| {
            kernel(r * RUN, &self.blocks[r * RUN..r * RUN + out.len()], out);
        });
        let incidence = self.incidence();
        let body = &mut g[3 * self.nodes.start..3 * self.nodes.end];
        threads::par_chunks_mut(body, 3 * 1024, |chunk, g| {
            for (k, g) in g.chunks_exact_mut(3).enumerate() {
                let n = chunk * 1024 + k;
                let range = incidence.start[n] as usize..incidence.start[n + 1] as usize;
                for &c in &incidence.corners[range] {
                    let (e, corner) = (c as usize / 4, c as usize % 4);
                    let forces = &corners[e / LANES];
                    for i in 0..3 {
                        g[i] += forces[3 * corner + i].0[e % LANES];
                    }
                }
            }
        });
    }

    fn incidence(&self) -> &Incidence {
        self.incidence.get_or_init(|| {
            let first = self.nodes.start as u32;
            let mut start = vec![0u32; self.nodes.len() + 1];
            for n in self.cliques().flatten() {
                start[(n - first) as usize + 1] += 1;
            }
            for n in 0..self.nodes.len() {
                start[n + 1] += start[n];
            }
            let mut next = start.clone();
            let mut corners = vec![0u32; 4 * self.len()];
            for e in 0..self.len() {
                for (corner, n) in self.tet(e).into_iter().enumerate() {
                    let slot = &mut next[(n - first) as usize];
                    corners[*slot as usize] = (4 * e + corner) as u32;
                    *slot += 1;
                }
            }
            Incidence { start, corners }
        })
    }

    /// Adds ∂²(Σ vol ψ)/∂q², N/m, exact or projected element by element.
    pub fn add_hessian(&self, q: &[f64], projected: bool, h: &mut BlockMatrix) {
        self.add_element_matrices(h, &|e| {
            let F = self.gradient_of(e, q);
            let c = self.constants(e);
            match projected {
                true => self.material.hessian_projected(c, &F),
                false => self.material.hessian(c, &F),
            }
        });
    }

    /// Adds c K v with K the projected stiffness at q, without forming it.
    pub fn add_hessian_product(&self, q: &[f64], v: &[f64], c: f64, out: &mut [f64]) {
        for e in 0..self.len() {
            let F = self.gradient_of(e, q);
            let rate = self.gradient_of(e, v);
            let tangent = self.material.hessian_projected(self.constants(e), &F);
            let P = Mat3::from_fn(|i, j| {
                let row = &tangent[3 * i + j];
                c * (0..9).map(|k| row[k] * rate[(k / 3, k % 3)]).sum::<f64>()
            });
            self.add_stress(e, &P, out);
        }
    }

    /// Adds the nodal gradient vol P ∇N of one tet.
    pub(crate) fn add_stress(&self, e: usize, P: &Mat3, out: &mut [f64]) {
        let forces = P.mul_transpose(&self.inverse(e)).scale(self.volume(e));
        let nodes = self.tet(e).map(|n| 3 * n as usize);
        for i in 0..3 {
            let mut sum = 0.0;
            for corner in 0..3 {
                out[nodes[corner + 1] + i] += forces[(i, corner)];
                sum += forces[(i, corner)];
            }
            out[nodes[0] + i] -= sum;
        }
    }

    /// Adds vol ∇Nᵀ H ∇N for the 9×9 matrix H that `tangent` gives of each tet.
    pub(crate) fn add_element_matrices(&self, h: &mut BlockMatrix, tangent: &(dyn Fn(usize) -> Mat9 + Sync)) {
        let pattern = h.pattern().clone();
        let positions = self.positions.get_or_init(|| self.block_positions(&pattern));
        // The expensive part in parallel, the sums in element order by one thread.
        const SLAB: usize = 1 << 14;
        let mut matrices = vec![[[0.0; 9]; 10]; SLAB.min(self.len())];
        for first in (0..self.len()).step_by(SLAB) {
            let count = SLAB.min(self.len() - first);
            threads::par_chunks_mut(&mut matrices[..count], 256, |chunk, out| {
                for (k, out) in out.iter_mut().enumerate() {
                    let e = first + 256 * chunk + k;
                    *out = element_matrix(&tangent(e), &self.inverse(e), self.volume(e));
                }
            });
            for (k, matrix) in matrices[..count].iter().enumerate() {
                let tet = self.tet(first + k);
                for (pair, (a, b)) in PAIRS.iter().enumerate() {
                    let position = positions[first + k][pair] as usize;
                    if tet[*a] >= tet[*b] {
                        h.add_at(position, &matrix[pair]);
                    } else {
                        h.add_at(position, &transposed(&matrix[pair]));
                    }
                }
            }
        }
    }

    fn block_positions(&self, pattern: &BlockPattern) -> Vec<[u32; 10]> {
        (0..self.len())
            .map(|e| {
                let tet = self.tet(e);
                PAIRS.map(|(a, b)| {
                    let (i, j) = (tet[a].max(tet[b]), tet[a].min(tet[b]));
                    let position = pattern.position(i as usize, j as usize);
                    position.expect("the pattern was made of these tets") as u32
                })
            })
            .collect()
    }
}

/// Local pairs of the ten lower blocks.
const PAIRS: [(usize, usize); 10] =
    [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2), (3, 3)];

fn transposed(m: &[f64; 9]) -> [f64; 9] {
    std::array::from_fn(|k| m[3 * (k % 3) + k / 3])
}

/// K(n,m)ᵢₖ = vol Σⱼₗ H₍ᵢⱼ₎₍ₖₗ₎ ∇Nₙⱼ ∇Nₘₗ; blocks with vertex 0 follow from Σₙ ∇Nₙ = 0.
fn element_matrix(tangent: &Mat9, inverse: &Mat3, volume: f64) -> Element {
    // half[n][i][3k+l] = vol Σⱼ H₍ᵢⱼ₎₍ₖₗ₎ ∇Nₙⱼ
    let mut half = [[[0.0; 9]; 3]; 3];
    for n in 0..3 {
        for i in 0..3 {
            for j in 0..3 {
                let w = volume * inverse[(n, j)];
                for kl in 0..9 {
                    half[n][i][kl] += w * tangent[3 * i + j][kl];
                }
            }
        }
    }
    let mut full = [[[0.0; 9]; 4]; 4];
    for n in 0..3 {
        for m in 0..3 {
            let block = &mut full[n + 1][m + 1];
            for i in 0..3 {
                for k in 0..3 {
                    block[3 * i + k] = half[n][i][3 * k] * inverse[(m, 0)]
                        + half[n][i][3 * k + 1] * inverse[(m, 1)]
                        + half[n][i][3 * k + 2] * inverse[(m, 2)];
                }
            }
        }
        for x in 0..9 {
            full[n + 1][0][x] = -(full[n + 1][1][x] + full[n + 1][2][x] + full[n + 1][3][x]);
        }
    }
    for x in 0..9 {
        full[0][0][x] = -(full[1][0][x] + full[2][0][x] + full[3][0][x]);
    }
    PAIRS.map(|(a, b)| full[a][b])
}

fn scatter(block: &Block, forces: &[Lanes; 12], g: &mut [f64]) {
    for lane in 0..LANES {
        if block.volume.0[lane] == 0.0 {
            continue;
        }
        for corner in 0..4 {
            let n = 3 * block.nodes[corner][lane] as usize;
            for i in 0..3 {
                g[n + i] += forces[3 * corner + i].0[lane];
            }
        }
    }
}
