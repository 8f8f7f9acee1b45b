//! Kernels over blocks of four quadratic tets: gather, deformation gradients at four points, a law there, nodal forces.
//!
//! F is linear in λ. At corner c of a straight or curved tet, with the edges' nodes x_ck and positions from node 0,
//!   A_c = ∂x/∂(λ₁, λ₂, λ₃):  column k is 4(x_ck − x_c0) − x_k, and column c is 3x_c − 4x_c0,
//! and at the point that belongs to corner q: A_q = a Σ A_c + d A_q, F_q = A_q J_q⁻¹ with J the same of the rest positions.
//! Forces are the transpose of this map.
//!
//! Inside a block corners ascend, and so do edges: (01)(02)(03)(12)(13)(23).

use super::shape::{A, D, NODES};
use crate::elements::runs::RunVectors;
use crate::math::{LANES, Lanes, Mat3};
use lilyan_parallel::simd::{Kernel, Quads};

/// Points of a tet.
pub(super) const POINTS: usize = 4;

/// Nodes of four tets, `block[node][lane]`, as places in the list of nodes of the block's run.
pub(super) type Block10 = [[u16; LANES]; NODES];

/// Four tets at rest at a point: J⁻¹, 1/m, and the volume that the point stands for, m³.
#[derive(Clone, Copy)]
pub(super) struct RestPoint {
    pub inverse: Mat3<Lanes>,
    pub weight: Lanes,
}

/// Some blocks of a run.
#[derive(Clone, Copy)]
pub(super) struct Blocks10<'a> {
    /// Number of the first block.
    pub first: usize,
    pub blocks: &'a [Block10],
    /// One for each block of straight tets, four of curved ones.
    pub rest: &'a [RestPoint],
}

impl<'a> Blocks10<'a> {
    /// The four points of block k at rest.
    #[inline(always)]
    pub fn points(&self, k: usize) -> [&'a RestPoint; POINTS] {
        if self.rest.len() == self.blocks.len() {
            [&self.rest[k]; POINTS]
        } else {
            let at = &self.rest[POINTS * k..POINTS * (k + 1)];
            [&at[0], &at[1], &at[2], &at[3]]
        }
    }
}

/// The number of the node between two corners inside a block.
const fn between(a: usize, b: usize) -> usize {
    const OF: [[usize; 4]; 4] = [[0, 4, 5, 6], [4, 0, 7, 8], [5, 7, 0, 9], [6, 8, 9, 0]];
    OF[a][b]
}

/// Positions of the nodes 1…9 from node 0, x, y and z of four tets each.
#[inline(always)]
fn relative<M: Quads>(m: M, block: &Block10, x: &RunVectors) -> [[M::Quad; 4]; NODES] {
    let zero = m.load(&[0.0; 4]);
    let mut out = [[zero; 4]; NODES];
    for n in 1..NODES {
        let edge = |lane: usize| {
            m.sub(m.load(&x[usize::from(block[n][lane])]), m.load(&x[usize::from(block[0][lane])]))
        };
        out[n] = m.transpose([edge(0), edge(1), edge(2), edge(3)]);
    }
    out
}

/// F of a field at the four points.
#[inline(always)]
fn gradients<M: Quads>(
    m: M,
    block: &Block10,
    rest: [&RestPoint; POINTS],
    x: &RunVectors,
    mut put: impl FnMut(usize, usize, usize, M::Quad),
) {
    let (four, three) = (m.load(&[4.0; 4]), m.load(&[3.0; 4]));
    let (a, d) = (m.load(&[A; 4]), m.load(&[D; 4]));
    let y = relative(m, block, x);
    let zero = m.load(&[0.0; 4]);
    for i in 0..3 {
        // Rows i of A_c.
        let mut rows = [[zero; 3]; POINTS];
        let mut sum = [zero; 3];
        for c in 0..POINTS {
            for k in 1..4 {
                rows[c][k - 1] = if c == 0 {
                    m.sub(m.mul(four, y[between(0, k)][i]), y[k][i])
                } else if c == k {
                    m.sub(m.mul(three, y[c][i]), m.mul(four, y[between(0, c)][i]))
                } else {
                    m.sub(m.mul(four, m.sub(y[between(c, k)][i], y[between(0, c)][i])), y[k][i])
                };
                sum[k - 1] = m.add(sum[k - 1], rows[c][k - 1]);
            }
        }
        for q in 0..POINTS {
            let row = [0, 1, 2].map(
                #[inline(always)]
                |k| m.mul_add(d, rows[q][k], m.mul(a, sum[k])),
            );
            let g = &rest[q].inverse;
            for j in 0..3 {
                let along = |k: usize| m.load(&g[(k, j)].0);
                let entry = m.mul_add(row[2], along(2), m.mul_add(row[1], along(1), m.mul(row[0], along(0))));
                put(q, i, j, entry);
            }
        }
    }
}

/// Adds Σ w P ∇N to the nodes of the run.
#[inline(always)]
fn add_forces<M: Quads>(
    m: M,
    block: &Block10,
    rest: [&RestPoint; POINTS],
    P: &[Mat3<Lanes>],
    out: &mut RunVectors,
) {
    let (four, three) = (m.load(&[4.0; 4]), m.load(&[3.0; 4]));
    let (a, d) = (m.load(&[A; 4]), m.load(&[D; 4]));
    let zero = m.load(&[0.0; 4]);
    let mut force = [[zero; 4]; NODES];
    for i in 0..3 {
        // Rows i of w P J⁻ᵀ, then of what belongs to the corners.
        let mut rows = [[zero; 3]; POINTS];
        let mut sum = [zero; 3];
        for q in 0..POINTS {
            let weight = m.load(&rest[q].weight.0);
            let (g, P) = (&rest[q].inverse, &P[q]);
            for k in 0..3 {
                let term = |j: usize| m.load(&P[(i, j)].0);
                let along = |j: usize| m.load(&g[(k, j)].0);
                let row =
                    m.mul_add(term(2), along(2), m.mul_add(term(1), along(1), m.mul(term(0), along(0))));
                rows[q][k] = m.mul(row, weight);
                sum[k] = m.add(sum[k], rows[q][k]);
            }
        }
        for q in 0..POINTS {
            for k in 0..3 {
                rows[q][k] = m.mul_add(d, rows[q][k], m.mul(a, sum[k]));
            }
        }
        let mut total = zero;
        let mut set = |n: usize, f: M::Quad| {
            force[n][i] = f;
            total = m.add(total, f);
        };
        for k in 1..4 {
            let all = m.add(m.add(rows[k][0], rows[k][1]), rows[k][2]);
            set(between(0, k), m.mul(four, m.sub(rows[0][k - 1], all)));
            for c in 1..k {
                set(between(c, k), m.mul(four, m.add(rows[c][k - 1], rows[k][c - 1])));
            }
            let mut corner = m.mul(three, rows[k][k - 1]);
            for c in 0..POINTS {
                if c != k {
                    corner = m.sub(corner, rows[c][k - 1]);
                }
            }
            set(k, corner);
        }
        force[0][i] = m.sub(zero, total);
    }
    for n in 0..NODES {
        let vectors = m.transpose(force[n]);
        for lane in 0..LANES {
            let to = &mut out[usize::from(block[n][lane])];
            m.store(m.add(m.load(to), vectors[lane]), to);
        }
    }
}

/// Entries of four points each that go through the stages of a kernel together, as for linear tets.
pub(super) const BATCH: usize = 16;

const ZERO: Lanes = Lanes([0.0; LANES]);

/// Blocks, and vector fields on the nodes of their run.
pub(super) struct Fields10<'a, const N: usize> {
    pub blocks: Blocks10<'a>,
    pub fields: [&'a RunVectors; N],
}

impl<const N: usize> Fields10<'_, N> {
    /// Makes a T of the gradients at every point by `law(first block, gradients, out)`, four entries for a block, then hands
    /// those of a block to `take`.
    #[inline(always)]
    fn each<M: Quads, T: Copy>(
        self,
        m: M,
        zero: T,
        law: impl Fn(usize, &[[Mat3<Lanes>; N]], &mut [T]),
        mut take: impl FnMut(&Block10, [&RestPoint; POINTS], &[T]),
    ) {
        let mut at = [[Mat3([[ZERO; 3]; 3]); N]; BATCH];
        let mut made = [zero; BATCH];
        let size = BATCH / (POINTS * N);
        for (batch, blocks) in self.blocks.blocks.chunks(size).enumerate() {
            let first = batch * size;
            for (k, block) in blocks.iter().enumerate() {
                let rest = self.blocks.points(first + k);
                for n in 0..N {
                    gradients(
                        m,
                        block,
                        rest,
                        self.fields[n],
                        #[inline(always)]
                        |q, i, j, value| m.store(value, &mut at[POINTS * k + q][n][(i, j)].0),
                    );
                }
            }
            let entries = POINTS * blocks.len();
            law(self.blocks.first + first, &at[..entries], &mut made[..entries]);
            for (k, block) in blocks.iter().enumerate() {
                take(block, self.blocks.points(first + k), &made[POINTS * k..POINTS * (k + 1)]);
            }
        }
    }
}

/// Σ w ψ with ψ at each point by `law`.
pub(super) struct EnergySum10<'a, L> {
    pub fields: Fields10<'a, 1>,
    pub law: L,
}

impl<L: Fn(usize, &[Mat3<Lanes>], &mut [Lanes])> Kernel for EnergySum10<'_, L> {
    type Output = f64;

    #[inline(always)]
    fn run<M: Quads>(self, m: M) -> f64 {
        let mut sum = 0.0;
        self.fields.each(
            m,
            ZERO,
            #[inline(always)]
            |first, F, out| (self.law)(first, F.as_flattened(), out),
            #[inline(always)]
            |_, rest, energies| {
                for (rest, energy) in rest.iter().zip(energies) {
                    let product = *energy * rest.weight;
                    for lane in 0..LANES {
                        // Weight 0 fills up the last blocks; 0·∞ must not count.
                        sum += if rest.weight.0[lane] == 0.0 { 0.0 } else { product.0[lane] };
                    }
                }
            },
        );
        sum
    }
}

/// Adds the nodal forces of the stress P at each point by `law`.
pub(super) struct Forces10<'a, L, const N: usize> {
    pub fields: Fields10<'a, N>,
    pub law: L,
    pub out: &'a mut RunVectors,
}

impl<const N: usize, L: Fn(usize, &[[Mat3<Lanes>; N]], &mut [Mat3<Lanes>])> Kernel for Forces10<'_, L, N> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, m: M) {
        self.fields.each(
            m,
            Mat3([[ZERO; 3]; 3]),
            #[inline(always)]
            |first, F, P| (self.law)(first, F, P),
            #[inline(always)]
            |block, rest, P| add_forces(m, block, rest, P, self.out),
        );
    }
}

/// F at the points of each block, four entries for a block.
pub(super) struct Gradients10<'a> {
    pub blocks: Blocks10<'a>,
    pub q: &'a RunVectors,
    pub out: &'a mut [Mat3<Lanes>],
}

impl Kernel for Gradients10<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, m: M) {
        for (k, block) in self.blocks.blocks.iter().enumerate() {
            let out = &mut self.out[POINTS * k..POINTS * (k + 1)];
            gradients(
                m,
                block,
                self.blocks.points(k),
                self.q,
                #[inline(always)]
                |q, i, j, value| m.store(value, &mut out[q][(i, j)].0),
            );
        }
    }
}
