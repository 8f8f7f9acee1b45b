//! Kernels over blocks of four tets: gather, deformation gradient, material, nodal forces.
//!
//! F = Dₛ Dₘ⁻¹ with Dₛ the current and Dₘ the rest edges from vertex 0. The gradient of vol ψ(F) at
//! vertices 1, 2, 3 is the columns of vol P Dₘ⁻ᵀ, and minus their sum at vertex 0.
//!
//! Blocks come in runs. A kernel sees only the nodes of its run, copied to a short list of [`Padded`]
//! vectors that stays in the first-level cache, and adds forces to another such list.

use super::level::{self, Kernel, Level};
use super::quad::{Plain, Quads};
use crate::materials::{Corners, Density, Material, Tangent, entry};
use crate::math::{LANES, Lanes, Mat3, Real};
use std::marker::PhantomData;

/// A vector of a node as x, y, z, 0: moved by one instruction.
pub type Padded = [f64; 4];

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
    fn edge<M: Quads>(&self, m: M, x: &[Padded], corner: usize, lane: usize) -> M::Quad {
        let (to, from) = (self.nodes[corner][lane], self.nodes[0][lane]);
        m.sub(m.load(&x[usize::from(to)]), m.load(&x[usize::from(from)]))
    }

    /// From vertex 0 to a corner: x, y, z of four tets.
    #[inline(always)]
    fn edges<M: Quads>(&self, m: M, x: &[Padded], corner: usize) -> [M::Quad; 4] {
        m.transpose([
            self.edge(m, x, corner, 0),
            self.edge(m, x, corner, 1),
            self.edge(m, x, corner, 2),
            self.edge(m, x, corner, 3),
        ])
    }

    /// Dₛ Dₘ⁻¹ of a vector field on the nodes of the run: F of positions, Ḟ of velocities.
    #[inline(always)]
    fn gradient_of<M: Quads>(&self, m: M, x: &[Padded], out: &mut Mat3<Lanes>) {
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
    fn add_forces<M: Quads>(&self, m: M, P: &Mat3<Lanes>, out: &mut [Padded]) {
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
    fn scatter<M: Quads>(&self, m: M, corner: usize, f: [M::Quad; 4], out: &mut [Padded]) {
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

/// Most constants that a model may have.
pub const MAX_CONSTANTS: usize = 24;

/// Constants of the tets: one set for all, or one for each.
#[derive(Clone, Debug)]
pub struct Constants {
    count: usize,
    uniform: bool,
    values: Vec<f64>,
}

impl Constants {
    /// One set for all.
    pub fn uniform(values: Vec<f64>) -> Self {
        assert!(values.len() <= MAX_CONSTANTS);
        Self { count: values.len(), uniform: true, values }
    }

    /// One set for each tet, all of the same length.
    pub fn per_tet(sets: &[Vec<f64>]) -> Self {
        let count = sets.first().map_or(0, Vec::len);
        assert!(count <= MAX_CONSTANTS && sets.iter().all(|s| s.len() == count));
        if sets.iter().all(|s| s == &sets[0]) {
            return Self::uniform(sets.first().cloned().unwrap_or_default());
        }
        Self { count, uniform: false, values: sets.concat() }
    }

    /// The set of one tet.
    pub fn of(&self, tet: usize) -> &[f64] {
        if self.uniform { &self.values } else { &self.values[tet * self.count..(tet + 1) * self.count] }
    }

    /// The same with tet e at `places[e]`; the last block is filled up with the set of the first tet, sound
    /// numbers that its volumes of 0 ignore.
    pub(super) fn permuted(&self, places: &[u32]) -> Self {
        if self.uniform {
            return self.clone();
        }
        let mut values = self.of(0).repeat(places.len().div_ceil(LANES) * LANES);
        for (e, &place) in places.iter().enumerate() {
            let at = place as usize * self.count;
            values[at..at + self.count].copy_from_slice(self.of(e));
        }
        Self { values, ..*self }
    }

    /// The sets of the four tets of a block.
    #[inline(always)]
    fn lanes(&self, block: usize, out: &mut [Lanes; MAX_CONSTANTS]) {
        for lane in 0..LANES {
            let set = self.of(block * LANES + lane);
            for k in 0..self.count {
                out[k].0[lane] = set[k];
            }
        }
    }
}

/// Σ vol ψ of the tets of `blocks`, the first of which is block number `first`.
pub fn energies<D: Density>(first: usize, blocks: &[Block], c: &Constants, q: &[Padded]) -> f64 {
    let blocks = Blocks { first, blocks, c, fields: [q] };
    match Level::of_this_machine() {
        Some(level) => level.run(Energies { blocks, law: Inlined::<D>(PhantomData) }),
        None => Energies { blocks, law: last_resort::<D>() }.run(Plain),
    }
}

/// Adds the gradient of Σ vol ψ of the tets of `blocks`.
pub fn forces<D: Density>(first: usize, blocks: &[Block], c: &Constants, q: &[Padded], out: &mut [Padded]) {
    let blocks = Blocks { first, blocks, c, fields: [q] };
    match Level::of_this_machine() {
        Some(level) => level.run(Forces { blocks, stress: stress(Inlined::<D>(PhantomData)), out }),
        None => Forces { blocks, stress: stress(last_resort::<D>()), out }.run(Plain),
    }
}

/// Adds the discrete gradient of Σ vol ψ between positions q₀ and q₁; see `discrete_stress`.
pub fn discrete_forces<D: Density>(
    first: usize,
    blocks: &[Block],
    c: &Constants,
    ends: [&[Padded]; 2],
    out: &mut [Padded],
) {
    let blocks = Blocks { first, blocks, c, fields: ends };
    match Level::of_this_machine() {
        Some(level) => level.run(Forces { blocks, stress: discrete_stress(Inlined::<D>(PhantomData)), out }),
        None => Forces { blocks, stress: discrete_stress(last_resort::<D>()), out }.run(Plain),
    }
}

/// Adds the nodal forces of the stress P that `stress` makes of a block's constants and of the gradients
/// of the fields.
pub(crate) fn add_forces<const N: usize>(
    first: usize,
    blocks: &[Block],
    c: &Constants,
    fields: [&[Padded]; N],
    out: &mut [Padded],
    stress: impl Fn(&[Lanes], &[Mat3<Lanes>; N]) -> Mat3<Lanes>,
) {
    level::run(Forces { blocks: Blocks { first, blocks, c, fields }, stress, out });
}

/// ∂²ψ between the corners of the tets of `blocks`, exact or projected.
pub fn stiffnesses<D: Density>(
    projected: bool,
    first: usize,
    blocks: &[Block],
    c: &Constants,
    q: &[Padded],
    out: &mut [Corners<Lanes>],
) {
    let blocks = Blocks { first, blocks, c, fields: [q] };
    match Level::of_this_machine() {
        Some(level) => level.run(Stiffnesses { projected, blocks, law: Inlined::<D>(PhantomData), out }),
        None => Stiffnesses { projected, blocks, law: last_resort::<D>(), out }.run(Plain),
    }
}

/// ψ and P of four tets, as a kernel sees them.
trait Law: Copy {
    fn energy(self, c: &[Lanes], F: &Mat3<Lanes>) -> Lanes;
    fn stress(self, c: &[Lanes], F: &Mat3<Lanes>) -> Mat3<Lanes>;
    fn stiffness(self, c: &[Lanes], F: &Mat3<Lanes>, gradients: &Mat3<Lanes>, out: &mut Corners<Lanes>);
    fn projected(self, c: &[Lanes], F: &Mat3<Lanes>, gradients: &Mat3<Lanes>, out: &mut Corners<Lanes>);
    fn frame_indifferent(self) -> bool;
}

/// A density whose source becomes part of the loop.
struct Inlined<D>(PhantomData<fn() -> D>);

impl<D> Clone for Inlined<D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D> Copy for Inlined<D> {}

impl<D: Density> Law for Inlined<D> {
    #[inline(always)]
    fn energy(self, c: &[Lanes], F: &Mat3<Lanes>) -> Lanes {
        D::energy(c, F)
    }
    #[inline(always)]
    fn stress(self, c: &[Lanes], F: &Mat3<Lanes>) -> Mat3<Lanes> {
        D::stress(c, F)
    }
    #[inline(always)]
    fn stiffness(self, c: &[Lanes], F: &Mat3<Lanes>, gradients: &Mat3<Lanes>, out: &mut Corners<Lanes>) {
        D::Tangent::stiffness(c, F, gradients, out);
    }
    #[inline(always)]
    fn projected(self, c: &[Lanes], F: &Mat3<Lanes>, gradients: &Mat3<Lanes>, out: &mut Corners<Lanes>) {
        D::Tangent::stiffness_projected(c, F, gradients, out);
    }
    #[inline(always)]
    fn frame_indifferent(self) -> bool {
        D::CARD.frame_indifferent
    }
}

/// A density that is called: slower, but one copy of a loop then serves all materials.
#[derive(Clone, Copy)]
#[cfg(target_arch = "x86_64")]
struct Called(&'static dyn Material);

#[cfg(target_arch = "x86_64")]
impl Law for Called {
    fn energy(self, c: &[Lanes], F: &Mat3<Lanes>) -> Lanes {
        self.0.energy_lanes(c, F)
    }
    fn stress(self, c: &[Lanes], F: &Mat3<Lanes>) -> Mat3<Lanes> {
        self.0.stress_lanes(c, F)
    }
    fn stiffness(self, c: &[Lanes], F: &Mat3<Lanes>, gradients: &Mat3<Lanes>, out: &mut Corners<Lanes>) {
        self.0.stiffness_lanes(false, c, F, gradients, out);
    }
    fn projected(self, c: &[Lanes], F: &Mat3<Lanes>, gradients: &Mat3<Lanes>, out: &mut Corners<Lanes>) {
        self.0.stiffness_lanes(true, c, F, gradients, out);
    }
    fn frame_indifferent(self) -> bool {
        self.0.card().frame_indifferent
    }
}

/// For machines without a better level: here that means x86 from before 2013, which must work but is not
/// worth another copy of every material.
#[cfg(target_arch = "x86_64")]
fn last_resort<D: Density>() -> Called {
    Called(entry::<D>())
}

/// For machines without a better level: elsewhere that means all of them.
#[cfg(not(target_arch = "x86_64"))]
fn last_resort<D: Density>() -> Inlined<D> {
    Inlined(PhantomData)
}

/// P of F.
#[inline(always)]
fn stress<L: Law>(law: L) -> impl Fn(&[Lanes], &[Mat3<Lanes>; 1]) -> Mat3<Lanes> {
    #[inline(always)]
    move |c, [F]| law.stress(c, F)
}

/// P whose nodal forces are a discrete gradient \[gonzalez2000\].
///
/// P = ½(F₀+F₁) S with S = S(C̄) + 2 (ψ₁ − ψ₀ − ½S(C̄):ΔC)/‖ΔC‖² ΔC, C̄ = ½(C₀+C₁). S(C̄) = F⁻¹P(F) for any F with
/// FᵀF = C̄: the Cholesky factor is the cheapest. ψ as a function of C does not see inversion: S(C̄) is that of an
/// element turned inside out where the step begins so, whatever it becomes, so that the equations stay smooth in F₁;
/// the energies are those of F₀ and F₁ themselves, +∞ (and the result not finite) where a material does not
/// survive inversion. The linear material, which is no function of C, takes the midpoint stress, which does the
/// same for a quadratic energy.
#[inline(always)]
fn discrete_stress<L: Law>(law: L) -> impl Fn(&[Lanes], &[Mat3<Lanes>; 2]) -> Mat3<Lanes> {
    #[inline(always)]
    move |c, [F0, F1]| {
        let middle = (*F0 + *F1).scale(Lanes::new(0.5));
        if !law.frame_indifferent() {
            return law.stress(c, &middle);
        }
        let (C0, C1) = (F0.transpose_mul(F0), F1.transpose_mul(F1));
        let change = C1 - C0;
        let mut root = cholesky_transposed(&(C0 + C1).scale(Lanes::new(0.5)));
        root[(2, 2)] = root[(2, 2)] * Lanes::select_positive(F0.det(), Lanes::new(1.0), Lanes::new(-1.0));
        let S = (root.inverse() * law.stress(c, &root)).symmetric_part();
        let square = change.dot(&change);
        // One copy of the energy's source, not two.
        let mut energies = [ZERO; 2];
        for (energy, F) in energies.iter_mut().zip([F0, F1]) {
            *energy = law.energy(c, F);
        }
        let missing = energies[1] - energies[0] - S.dot(&change).scale(0.5);
        // Below ‖ΔC‖ = 1e-6 the correction (third order in ΔC) is smaller than its own round-off.
        let counts = square - C1.dot(&C1).scale(1e-12);
        let factor = Lanes::select_positive(counts, missing.scale(2.0) / square, Lanes::new(0.0));
        middle * (S + change.scale(factor))
    }
}

/// The upper triangular F with FᵀF = C.
#[inline(always)]
fn cholesky_transposed<T: Real>(C: &Mat3<T>) -> Mat3<T> {
    let mut F = Mat3::zero();
    F[(0, 0)] = C[(0, 0)].sqrt();
    F[(0, 1)] = C[(0, 1)] / F[(0, 0)];
    F[(0, 2)] = C[(0, 2)] / F[(0, 0)];
    F[(1, 1)] = (C[(1, 1)] - F[(0, 1)].squared()).sqrt();
    F[(1, 2)] = (C[(1, 2)] - F[(0, 1)] * F[(0, 2)]) / F[(1, 1)];
    F[(2, 2)] = (C[(2, 2)] - F[(0, 2)].squared() - F[(1, 2)].squared()).sqrt();
    F
}

/// Blocks that go through the stages of a kernel together. A stage is short, so that the processor begins
/// with the next block while it still waits for a logarithm of the last; all stages in one are too long.
const BATCH: usize = 4;

/// What every kernel goes through.
struct Blocks<'a, const N: usize> {
    first: usize,
    blocks: &'a [Block],
    c: &'a Constants,
    fields: [&'a [Padded]; N],
}

const ZERO: Lanes = Lanes([0.0; LANES]);

impl<const N: usize> Blocks<'_, N> {
    /// Makes a T of the constants and gradients of every block by `f`, then hands it to `take`.
    #[inline(always)]
    fn each<M: Quads, T: Copy>(
        self,
        m: M,
        zero: T,
        f: impl Fn(&[Lanes], &[Mat3<Lanes>; N]) -> T,
        mut take: impl FnMut(&Block, &T),
    ) {
        let mut constants = [ZERO; MAX_CONSTANTS];
        self.c.lanes(self.first, &mut constants);
        let mut gradients = [[Mat3([[ZERO; 3]; 3]); N]; BATCH];
        let mut made = [zero; BATCH];
        for (batch, blocks) in self.blocks.chunks(BATCH).enumerate() {
            for (k, (block, gradients)) in blocks.iter().zip(&mut gradients).enumerate() {
                if let Some(later) = self.blocks.get((batch + 2) * BATCH + k) {
                    m.fetch(later);
                }
                for n in 0..N {
                    block.gradient_of(m, self.fields[n], &mut gradients[n]);
                }
            }
            for (k, (gradients, made)) in gradients.iter().zip(&mut made).take(blocks.len()).enumerate() {
                if !self.c.uniform {
                    self.c.lanes(self.first + batch * BATCH + k, &mut constants);
                }
                *made = f(&constants[..self.c.count], gradients);
            }
            for (block, made) in blocks.iter().zip(&made) {
                take(block, made);
            }
        }
    }
}

struct Energies<'a, L> {
    blocks: Blocks<'a, 1>,
    law: L,
}

impl<L: Law> Kernel for Energies<'_, L> {
    type Output = f64;

    #[inline(always)]
    fn run<M: Quads>(self, m: M) -> f64 {
        let mut sum = 0.0;
        self.blocks.each(
            m,
            ZERO,
            #[inline(always)]
            |constants, [F]| self.law.energy(constants, F),
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

struct Forces<'a, F, const N: usize> {
    blocks: Blocks<'a, N>,
    stress: F,
    out: &'a mut [Padded],
}

impl<const N: usize, F: Fn(&[Lanes], &[Mat3<Lanes>; N]) -> Mat3<Lanes>> Kernel for Forces<'_, F, N> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, m: M) {
        self.blocks.each(
            m,
            Mat3([[ZERO; 3]; 3]),
            #[inline(always)]
            |constants, gradients| (self.stress)(constants, gradients),
            #[inline(always)]
            |block, P| block.add_forces(m, P, self.out),
        );
    }
}

struct Stiffnesses<'a, L> {
    projected: bool,
    blocks: Blocks<'a, 1>,
    law: L,
    out: &'a mut [Corners<Lanes>],
}

impl<L: Law> Kernel for Stiffnesses<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, m: M) {
        let Blocks { first, blocks, c, fields: [q] } = self.blocks;
        let mut constants = [ZERO; MAX_CONSTANTS];
        c.lanes(first, &mut constants);
        let mut F = Mat3([[ZERO; 3]; 3]);
        for (k, (block, out)) in blocks.iter().zip(self.out).enumerate() {
            if !c.uniform {
                c.lanes(first + k, &mut constants);
            }
            block.gradient_of(m, q, &mut F);
            let (constants, gradients) = (&constants[..c.count], &block.inverse);
            match self.projected {
                true => self.law.projected(constants, &F, gradients, out),
                false => self.law.stiffness(constants, &F, gradients, out),
            }
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::elements::Tets;
    use crate::materials::{CATALOGUE, Given};
    use crate::meshing::box_mesh;

    /// What old machines run gives the bits of what this one runs.
    #[test]
    fn levels_agree_to_the_bit() {
        let mesh = box_mesh([2.0, 1.0, 1.0], [3, 2, 2]).unwrap();
        let given = Given::from_young(1e5, 0.3).unwrap();
        for &material in CATALOGUE {
            let c = Constants::uniform(material.constants(&given).unwrap());
            let moduli = Constants::uniform(vec![given.mu, given.lambda]);
            let tets = Tets::new(&mesh, 0, material, c.clone(), moduli);
            let place = |shear: f64| -> Vec<Padded> {
                let at = |n: &u32| mesh.vertices[*n as usize];
                let bend = |[x, y, z]: [f64; 3]| [1.1 * x + shear * y, y - 0.1 * x * z, z + 0.2 * x * x, 0.0];
                tets.members.iter().map(at).map(bend).collect()
            };
            let (q0, q1) = (place(0.3), place(0.32));
            let law = Called(material);
            let blocks = |fields| Blocks { first: 0, blocks: &tets.blocks, c: &c, fields };
            let plain = Energies { blocks: blocks([&q0[..]]), law }.run(Plain);
            assert_eq!(plain.to_bits(), material.energies(0, &tets.blocks, &c, &q0).to_bits());
            let zero = vec![[0.0; 4]; q0.len()];
            let (mut a, mut b) = (zero.clone(), zero.clone());
            Forces { blocks: blocks([&q0[..]]), stress: stress(law), out: &mut a }.run(Plain);
            material.forces(0, &tets.blocks, &c, &q0, &mut b);
            assert_eq!(a, b, "{}", material.card().name);
            let (mut a, mut b) = (zero.clone(), zero);
            let blocks = Blocks { first: 0, blocks: &tets.blocks, c: &c, fields: [&q0[..], &q1] };
            Forces { blocks, stress: discrete_stress(law), out: &mut a }.run(Plain);
            material.discrete_forces(0, &tets.blocks, &c, [&q0, &q1], &mut b);
            assert_eq!(a, b, "{}", material.card().name);
            assert!(a.iter().flatten().all(|x| x.is_finite()) && a.iter().flatten().any(|&x| x != 0.0));
            for projected in [false, true] {
                let zero = vec![[[ZERO; 9]; 6]; tets.blocks.len()];
                let (mut a, mut b) = (zero.clone(), zero);
                let blocks = Blocks { first: 0, blocks: &tets.blocks, c: &c, fields: [&q0[..]] };
                Stiffnesses { projected, blocks, law, out: &mut a }.run(Plain);
                material.stiffnesses(projected, 0, &tets.blocks, &c, &q0, &mut b);
                assert_eq!(a, b, "{}, projected: {projected}", material.card().name);
            }
        }
    }
}
