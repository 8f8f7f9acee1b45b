//! Kernels over blocks of four tets: gather, deformation gradient, a law at the points, nodal forces.
//!
//! F = Dₛ Dₘ⁻¹ with Dₛ the current and Dₘ the rest edges from vertex 0. The gradient of vol ψ(F) at
//! vertices 1, 2, 3 is the columns of vol P Dₘ⁻ᵀ, and minus their sum at vertex 0.
//!
//! A law, for example the stress of a material, is asked for a batch of blocks at a time.

use crate::elements::runs::RunVectors;
use crate::math::{LANES, Lanes, Mat3};
use lilyan_parallel::simd::{Kernel, Quads};

/// Four tets: vertices, Dₘ⁻¹, volumes. The last blocks may be
/// filled up with a tet of volume 0.
#[derive(Clone, Debug)]
pub struct Block {
    /// Vertices, `nodes[corner][lane]`, as places in the list of nodes of the block's run.
    pub nodes: [[u16; LANES]; 4],
    /// Dₘ⁻¹, 1/m.
    pub inverse: Mat3<Lanes>,
    /// Rest volumes, m³.
    pub volume: Lanes,
}

// Everything that a kernel calls is `inline(always)`, and so are its closures: what is not inlined is
// compiled for the lowest processor level.
impl Block {
    /// From vertex 0 to a corner, of one tet.
    #[inline(always)]
    fn edge<M: Quads>(&self, m: M, x: &RunVectors, corner: usize, lane: usize) -> M::Quad {
        let (to, from) = (self.nodes[corner][lane], self.nodes[0][lane]);
        m.sub(m.load(&x[usize::from(to)]), m.load(&x[usize::from(from)]))
    }

    /// From vertex 0 to a corner: x, y, z of four tets.
    #[inline(always)]
    fn edges<M: Quads>(&self, m: M, x: &RunVectors, corner: usize) -> [M::Quad; 4] {
        m.transpose([
            self.edge(m, x, corner, 0),
            self.edge(m, x, corner, 1),
            self.edge(m, x, corner, 2),
            self.edge(m, x, corner, 3),
        ])
    }

    /// Dₛ Dₘ⁻¹ of a vector field on the nodes of the run: F of positions, Ḟ of velocities.
    #[inline(always)]
    fn gradient_of<M: Quads>(&self, m: M, x: &RunVectors, out: &mut Mat3<Lanes>) {
        let (a, b, c) = (self.edges(m, x, 1), self.edges(m, x, 2), self.edges(m, x, 3));
        for j in 0..3 {
            let inverse = &self.inverse;
            let g = [m.load(&inverse[(0, j)].0), m.load(&inverse[(1, j)].0), m.load(&inverse[(2, j)].0)];
            for i in 0..3 {
                m.store(combine(m, [a[i], b[i], c[i]], g), &mut out[(i, j)].0);
            }
        }
    }

    /// Adds vol P Dₘ⁻ᵀ to the nodes of the run.
    #[inline(always)]
    fn add_forces<M: Quads>(&self, m: M, P: &Mat3<Lanes>, out: &mut RunVectors) {
        let zero = m.load(&[0.0; 4]);
        let volume = m.load(&self.volume.0);
        let mut first = [zero; 4];
        for corner in 1..4 {
            let g = row(m, &self.inverse, corner - 1);
            let mut force = [zero; 4];
            for i in 0..3 {
                force[i] = m.mul(combine(m, row(m, P, i), g), volume);
                first[i] = m.sub(first[i], force[i]);
            }
            self.scatter(m, corner, force, out);
        }
        self.scatter(m, 0, first, out);
    }

    /// Adds vectors, given as x, y, z and 0 of four tets, to a corner of each.
    #[inline(always)]
    fn scatter<M: Quads>(&self, m: M, corner: usize, f: [M::Quad; 4], out: &mut RunVectors) {
        let vectors = m.transpose(f);
        for lane in 0..LANES {
            let to = &mut out[usize::from(self.nodes[corner][lane])];
            m.store(m.add(m.load(to), vectors[lane]), to);
        }
    }
}

/// Row i of a matrix.
#[inline(always)]
fn row<M: Quads>(m: M, a: &Mat3<Lanes>, i: usize) -> [M::Quad; 3] {
    [m.load(&a[(i, 0)].0), m.load(&a[(i, 1)].0), m.load(&a[(i, 2)].0)]
}

/// a₀b₀ + a₁b₁ + a₂b₂.
#[inline(always)]
fn combine<M: Quads>(m: M, a: [M::Quad; 3], b: [M::Quad; 3]) -> M::Quad {
    m.mul_add(a[2], b[2], m.mul_add(a[1], b[1], m.mul(a[0], b[0])))
}

/// Blocks that go through the stages of a kernel together. Many enough for the call of a law to cost little beside the
/// law, few enough for their F and P to stay in the first-level cache.
const BATCH: usize = 16;

const ZERO: Lanes = Lanes([0.0; LANES]);

/// Some blocks of a run, and vector fields on its nodes.
pub(super) struct Blocks<'a, const N: usize> {
    /// Number of the first block.
    pub first: usize,
    pub blocks: &'a [Block],
    pub fields: [&'a RunVectors; N],
}

impl<const N: usize> Blocks<'_, N> {
    /// Makes a T of the gradients of every block by `law(first block, gradients, out)`, then hands it to `take`.
    #[inline(always)]
    fn each<M: Quads, T: Copy>(
        self,
        m: M,
        zero: T,
        law: impl Fn(usize, &[[Mat3<Lanes>; N]], &mut [T]),
        mut take: impl FnMut(&Block, &T),
    ) {
        let mut gradients = [[Mat3([[ZERO; 3]; 3]); N]; BATCH];
        let mut made = [zero; BATCH];
        let size = BATCH / N;
        for (batch, blocks) in self.blocks.chunks(size).enumerate() {
            for (k, (block, gradients)) in blocks.iter().zip(&mut gradients).enumerate() {
                if let Some(later) = self.blocks.get(batch * size + k + AHEAD) {
                    m.fetch(later);
                }
                for n in 0..N {
                    block.gradient_of(m, self.fields[n], &mut gradients[n]);
                }
            }
            law(self.first + batch * size, &gradients[..blocks.len()], &mut made[..blocks.len()]);
            for (block, made) in blocks.iter().zip(&made) {
                take(block, made);
            }
        }
    }
}

/// How many blocks ahead of its use a block is prefetched.
const AHEAD: usize = 8;

/// Σ vol ψ with ψ of each block by `law`.
pub(super) struct EnergySum<'a, L> {
    pub blocks: Blocks<'a, 1>,
    pub law: L,
}

impl<L: Fn(usize, &[Mat3<Lanes>], &mut [Lanes])> Kernel for EnergySum<'_, L> {
    type Output = f64;

    #[inline(always)]
    fn run<M: Quads>(self, m: M) -> f64 {
        let mut sum = 0.0;
        self.blocks.each(
            m,
            ZERO,
            #[inline(always)]
            |first, F, out| (self.law)(first, F.as_flattened(), out),
            #[inline(always)]
            |block, energies| {
                let energies = *energies * block.volume;
                for lane in 0..LANES {
                    // Volume 0 fills up the last blocks; 0·∞ must not count.
                    sum += if block.volume.0[lane] == 0.0 { 0.0 } else { energies.0[lane] };
                }
            },
        );
        sum
    }
}

/// Adds the nodal forces of the stress P of each block by `law`.
pub(super) struct Forces<'a, L, const N: usize> {
    pub blocks: Blocks<'a, N>,
    pub law: L,
    pub out: &'a mut RunVectors,
}

impl<const N: usize, L: Fn(usize, &[[Mat3<Lanes>; N]], &mut [Mat3<Lanes>])> Kernel for Forces<'_, L, N> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, m: M) {
        self.blocks.each(
            m,
            Mat3([[ZERO; 3]; 3]),
            #[inline(always)]
            |first, F, P| (self.law)(first, F, P),
            #[inline(always)]
            |block, P| block.add_forces(m, P, self.out),
        );
    }
}

/// F of each block, for positions of the nodes of their run.
pub(super) struct Gradients<'a> {
    pub blocks: &'a [Block],
    pub q: &'a RunVectors,
    pub out: &'a mut [Mat3<Lanes>],
}

impl Kernel for Gradients<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, m: M) {
        for (block, out) in self.blocks.iter().zip(self.out) {
            block.gradient_of(m, self.q, out);
        }
    }
}
