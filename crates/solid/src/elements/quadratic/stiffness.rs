//! Stiffness of quadratic tets and of whatever has a matrix at their points.
//!
//! ∂²ψ by F at a point in the basis ∇λ₁, ∇λ₂, ∇λ₃ is what a material gives linear tets, T(n, m). With ∇N_a = Σ α_an ∇λₙ and
//! numbers α that are the same in all tets, K(a, b) = Σ w Σ α_an α_bm T(n, m) over the points.

use super::dilatation::Coupling10;
use super::kernel::{Blocks10, Gradients10, POINTS, RestPoint};
use super::shape::{NODES, points};
use super::{QuadraticTets, RUN, sorted_nodes, sorted_slopes};
use crate::elements::runs::{MatrixPart, NOWHERE, PairPositions, RunVectors, gather, with_scratch};
use crate::materials::basis_tangent::contract;
use crate::materials::{BasisTangent, Mat9};
use crate::math::{LANES, Lanes, Mat3, Scalar};
use lilyan_parallel::simd::{self, Kernel, Quads};
use lilyan_solve::{BlockMatrix, BlockPattern};

/// How many lower blocks an element matrix has: of nodes (0, 0), (1, 0), (1, 1), (2, 0) …
pub(super) const PAIRS10: usize = NODES * (NODES + 1) / 2;

/// Blocks of tets whose stiffness is computed before it is summed up.
const CHUNK: usize = 2;

/// ∂²ψ at the points of some blocks, from positions of the nodes of their run, and with mean dilatation what joins the points
/// of each block.
type PointTangents<'a> =
    &'a (dyn Fn(Blocks10<'_>, &RunVectors, &mut [BasisTangent<Lanes>], &mut [Coupling10]) + Sync);

impl QuadraticTets {
    /// Adds ∂²(Σ w ψ)/∂q², N/m, exact or projected point by point.
    pub fn add_hessian(&self, q: &[f64], projected: bool, h: &mut BlockMatrix) {
        if self.mean_dilatation {
            return self.add_even_tangents(q, h, !projected, &|e, F| match projected {
                true => self.material.hessian_projected(self.constants(e), F),
                false => self.material.hessian(self.constants(e), F),
            });
        }
        self.add_tangents(q, h, &|blocks, q, out, _| {
            let mut F = [Mat3([[Lanes::zero(); 3]; 3]); CHUNK * POINTS];
            let F = &mut F[..out.len()];
            simd::run(Gradients10 { blocks, q, out: F });
            let mut bases = [&blocks.rest[0].inverse; CHUNK * POINTS];
            for k in 0..blocks.blocks.len() {
                for (q, rest) in blocks.points(k).into_iter().enumerate() {
                    bases[POINTS * k + q] = &rest.inverse;
                }
            }
            let places = self.entries(blocks.first);
            self.material.tangents(places, projected, F, &bases[..out.len()], out);
        });
    }

    /// Adds Σ w ∇Nᵀ H ∇N for the 9×9 matrix H that `tangent` gives of tet e and F at a point.
    pub(super) fn add_point_matrices(
        &self,
        q: &[f64],
        h: &mut BlockMatrix,
        tangent: &(dyn Fn(usize, &Mat3) -> Mat9 + Sync),
    ) {
        if self.mean_dilatation {
            return self.add_even_tangents(q, h, false, tangent);
        }
        self.add_tangents(&[], h, &|blocks, _, out, _| {
            for (entry, out) in out.iter_mut().enumerate() {
                let (k, point) = (entry / POINTS, entry % POINTS);
                let inverse = &blocks.points(k)[point].inverse;
                for lane in 0..LANES {
                    let e = self.numbers[LANES * (blocks.first + k) + lane] as usize;
                    if e < self.len() {
                        let one = contract(&tangent(e, &self.gradient_of(e, point, q)), &inverse.lane(lane));
                        for (to, x) in out.iter_mut().flatten().zip(one.iter().flatten()) {
                            to.0[lane] = *x;
                        }
                    }
                }
            }
        });
    }

    /// The same with the mean dilatation of each tet: `tangent` is given F̂. `exact`: with the second derivatives of F̂(F).
    fn add_even_tangents(
        &self,
        q: &[f64],
        h: &mut BlockMatrix,
        exact: bool,
        tangent: &(dyn Fn(usize, &Mat3) -> Mat9 + Sync),
    ) {
        self.add_tangents(&[], h, &|blocks, _, out, couplings| {
            for (k, coupling) in couplings.iter_mut().enumerate() {
                let points = blocks.points(k);
                for lane in 0..LANES {
                    let e = self.numbers[LANES * (blocks.first + k) + lane] as usize;
                    if e >= self.len() {
                        continue;
                    }
                    let state = self.even_of(e, q);
                    let hessians = state.even.map(|F| tangent(e, &F));
                    let stresses =
                        exact.then(|| state.even.map(|F| self.material.stress(self.constants(e), &F)));
                    let found = state.tangent(&hessians, stresses.as_ref());
                    for (point, own) in found.own.iter().enumerate() {
                        let one = contract(own, &points[point].inverse.lane(lane));
                        let to = out[POINTS * k + point].iter_mut().flatten();
                        to.zip(one.iter().flatten()).for_each(|(to, x)| to.0[lane] = *x);
                    }
                    coupling.set_lane(lane, points, &found);
                }
            }
        });
    }

    /// Adds the element matrices of what `tangents` gives. Without positions it is not given any.
    fn add_tangents(&self, q: &[f64], h: &mut BlockMatrix, tangents: PointTangents<'_>) {
        if self.is_empty() {
            return;
        }
        self.sharing.each_part(h, self.members.runs(), |pattern| self.positions_in(pattern), &|part| {
            self.add_part(q, tangents, part)
        });
    }

    fn add_part(&self, q: &[f64], tangents: PointTangents<'_>, part: MatrixPart<'_, PAIRS10>) {
        let MatrixPart { touching, positions, start, values } = part;
        let slopes = points().map(sorted_slopes);
        let mut element = Box::new([[Lanes::zero(); 9]; PAIRS10]);
        let mut found = [[[Lanes::zero(); 9]; 6]; CHUNK * POINTS];
        let mut couplings = [Coupling10::ZERO; CHUNK];
        let mut gathered = usize::MAX;
        with_scratch(|[local, ..]| {
            let local = local.vectors();
            for range in touching {
                let run = range.start as usize / RUN;
                if run != gathered && !q.is_empty() {
                    gather(self.members.of(run), q, local);
                    gathered = run;
                }
                for first in (range.start as usize..range.end as usize).step_by(CHUNK) {
                    let blocks = self.some_blocks(first, (range.end as usize).min(first + CHUNK));
                    let found = &mut found[..POINTS * blocks.blocks.len()];
                    let count = if self.mean_dilatation { blocks.blocks.len() } else { 0 };
                    tangents(blocks, local, found, &mut couplings[..count]);
                    for (k, found) in found.chunks_exact(POINTS).enumerate() {
                        let rest = blocks.points(k);
                        simd::run(ElementMatrix {
                            slopes: &slopes,
                            rest,
                            tangents: found,
                            out: &mut element,
                        });
                        if k < count {
                            couplings[k].add_to(element.as_mut_slice());
                        }
                        let positions = &positions[first + k];
                        simd::run(Scatter10 { element: &element, positions, start, values });
                    }
                }
            }
        });
    }

    fn positions_in(&self, pattern: &BlockPattern) -> Vec<PairPositions<PAIRS10>> {
        let mut positions = vec![[[NOWHERE; PAIRS10]; LANES]; self.blocks.len()];
        for (place, e) in self.numbers.iter().enumerate().filter(|(_, e)| **e != NOWHERE) {
            let tet = sorted_nodes(self.dofs.nodes().of_tet(*e as usize)).map(|n| self.dofs.global(n));
            let mut to = positions[place / LANES][place % LANES].iter_mut();
            for a in 0..NODES {
                for b in 0..=a {
                    let position = pattern.position(tet[a] as usize, tet[b] as usize);
                    let position = position.expect("the pattern was made of these tets") as u32;
                    to.next().into_iter().for_each(|to| *to = position);
                }
            }
        }
        positions
    }
}

/// All lower blocks of the matrices of four tets.
struct ElementMatrix<'a> {
    slopes: &'a [[[f64; 3]; NODES]; POINTS],
    rest: [&'a RestPoint; POINTS],
    tangents: &'a [BasisTangent<Lanes>],
    out: &'a mut [[Lanes; 9]; PAIRS10],
}

impl Kernel for ElementMatrix<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, m: M) {
        let zero = m.load(&[0.0; 4]);
        *self.out = [[Lanes([0.0; LANES]); 9]; PAIRS10];
        for q in 0..POINTS {
            let weight = m.load(&self.rest[q].weight.0);
            // w T as a whole: rows 3n + i, columns 3m + j.
            let mut whole = [[zero; 9]; 9];
            for n in 0..3 {
                for k in 0..=n {
                    let block = &self.tangents[q][n * (n + 1) / 2 + k];
                    for i in 0..3 {
                        for j in 0..3 {
                            let entry = m.mul(weight, m.load(&block[3 * i + j].0));
                            whole[3 * n + i][3 * k + j] = entry;
                            whole[3 * k + j][3 * n + i] = entry;
                        }
                    }
                }
            }
            let mut pair = 0;
            for a in 0..NODES {
                let along = self.slopes[q][a].map(
                    #[inline(always)]
                    |x| m.load(&[x; 4]),
                );
                // Σₙ α_an w T(n, ·): rows i, columns 3m + j.
                let mut half = [[zero; 9]; 3];
                for i in 0..3 {
                    for column in 0..9 {
                        let term = |n: usize| whole[3 * n + i][column];
                        half[i][column] = m.mul_add(
                            along[2],
                            term(2),
                            m.mul_add(along[1], term(1), m.mul(along[0], term(0))),
                        );
                    }
                }
                for b in 0..=a {
                    let to = self.slopes[q][b].map(
                        #[inline(always)]
                        |x| m.load(&[x; 4]),
                    );
                    let block = &mut self.out[pair];
                    for i in 0..3 {
                        for j in 0..3 {
                            let sum = m.load(&block[3 * i + j].0);
                            let sum = m.mul_add(to[0], half[i][j], sum);
                            let sum = m.mul_add(to[1], half[i][3 + j], sum);
                            m.store(m.mul_add(to[2], half[i][6 + j], sum), &mut block[3 * i + j].0);
                        }
                    }
                    pair += 1;
                }
            }
        }
    }
}

/// Adds the matrices of four tets to the blocks of a matrix from number `start` on; those elsewhere are left to others.
struct Scatter10<'a> {
    element: &'a [[Lanes; 9]; PAIRS10],
    positions: &'a PairPositions<PAIRS10>,
    start: usize,
    values: &'a mut [[f64; 9]],
}

impl Kernel for Scatter10<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, m: M) {
        for (k, entries) in self.element.iter().enumerate() {
            let load = |e: usize| m.load(&entries[e].0);
            let low = m.transpose([load(0), load(1), load(2), load(3)]);
            let high = m.transpose([load(4), load(5), load(6), load(7)]);
            for lane in 0..LANES {
                let at = (self.positions[lane][k] as usize).wrapping_sub(self.start);
                let Some((first, rest)) = self.values.get_mut(at).and_then(|b| b.split_first_chunk_mut())
                else {
                    continue;
                };
                m.store(m.add(m.load(first), low[lane]), first);
                if let Some((next, [last])) = rest.split_first_chunk_mut() {
                    m.store(m.add(m.load(next), high[lane]), next);
                    *last += entries[8].0[lane];
                }
            }
        }
    }
}
