//! Stiffness of tets and of whatever has a matrix at their points.

use super::kernel::{Block, Gradients};
use super::{RUN, Tets};
use crate::elements::runs::{MatrixPart, NOWHERE, PairPositions, RunVectors, gather, with_scratch};
use crate::materials::BasisTangent;
use crate::math::{LANES, Lanes, Mat3, Scalar};
use lilyan_parallel::simd::{self, Kernel, Quads};
use lilyan_solve::{BlockMatrix, BlockPattern};

/// How many lower blocks an element matrix has.
pub(super) const TET_PAIRS: usize = 10;

/// Local pairs of the ten lower blocks of an element matrix.
const PAIRS: [(usize, usize); TET_PAIRS] =
    [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2), (3, 3)];

/// Blocks of tets whose stiffness is computed before it is summed up: it stays in the first-level cache.
const CHUNK: usize = 8;

/// The stiffness per volume between the corners of some blocks, the first of which has that number; positions of the nodes of
/// their run.
type Stiffnesses<'a> = &'a (dyn Fn(usize, &[Block], &RunVectors, &mut [BasisTangent<Lanes>]) + Sync);

/// The stiffness per volume between the ∇N of some blocks, the first of which has that number, at F.
type TangentLaw<'a> = &'a (dyn Fn(usize, &[Mat3<Lanes>], &[&Mat3<Lanes>], &mut [BasisTangent<Lanes>]) + Sync);

impl Tets {
    /// Adds ∂²(Σ vol ψ)/∂q², N/m, exact or projected element by element.
    pub fn add_hessian(&self, q: &[f64], projected: bool, h: &mut BlockMatrix) {
        self.add_tangents(q, h, &|first, F, bases, out| {
            self.material.tangents(self.places(first), projected, F, bases, out);
        });
    }

    /// Adds the volumes times the blocks that `law` gives of the first block, of F and of the ∇N of each block.
    pub(super) fn add_tangents(&self, q: &[f64], h: &mut BlockMatrix, law: TangentLaw<'_>) {
        self.add_stiffnesses(q, h, &|first, blocks, q, out| {
            let mut F = [Mat3([[Lanes::zero(); 3]; 3]); CHUNK];
            let F = &mut F[..blocks.len()];
            simd::run(Gradients { blocks, q, out: F });
            let mut bases = [&blocks[0].inverse; CHUNK];
            bases.iter_mut().zip(blocks).for_each(|(basis, block)| *basis = &block.inverse);
            law(first, F, &bases[..blocks.len()], out);
        });
    }

    /// Adds the volumes times what `stiffnesses` gives.
    fn add_stiffnesses(&self, q: &[f64], h: &mut BlockMatrix, stiffnesses: Stiffnesses<'_>) {
        if self.is_empty() {
            return;
        }
        self.sharing.each_part(h, self.members.runs(), |pattern| self.positions_in(pattern), &|part| {
            self.add_part(q, stiffnesses, part)
        });
    }

    fn add_part(&self, q: &[f64], stiffnesses: Stiffnesses<'_>, part: MatrixPart<'_, TET_PAIRS>) {
        let MatrixPart { touching, positions, start: first_value, values } = part;
        let mut gathered = usize::MAX;
        let mut corners = [[[Lanes::zero(); 9]; 6]; CHUNK];
        with_scratch(|[local, ..]| {
            let local = local.vectors();
            for range in touching {
                let (start, end) = (range.start as usize, range.end as usize);
                let run = start / RUN;
                if run != gathered {
                    gather(self.members.of(run), q, local);
                    gathered = run;
                }
                for first in (start..end).step_by(CHUNK) {
                    let blocks = &self.blocks[first..end.min(first + CHUNK)];
                    let corners = &mut corners[..blocks.len()];
                    stiffnesses(first, blocks, local, corners);
                    let positions = &positions[first..first + blocks.len()];
                    simd::run(Scatter { blocks, corners, positions, start: first_value, values });
                }
            }
        });
    }

    fn positions_in(&self, pattern: &BlockPattern) -> Vec<PairPositions<TET_PAIRS>> {
        let mut positions = vec![[[NOWHERE; TET_PAIRS]; LANES]; self.blocks.len()];
        for (place, _) in self.numbers.iter().enumerate().filter(|(_, e)| **e != NOWHERE) {
            let tet = self.ascending(place);
            for (to, (a, b)) in positions[place / LANES][place % LANES].iter_mut().zip(PAIRS) {
                let position = pattern.position(tet[a] as usize, tet[b] as usize);
                *to = position.expect("the pattern was made of these tets") as u32;
            }
        }
        positions
    }
}

/// Adds element matrices to the blocks of a matrix from number `start` on; those elsewhere are left to others.
struct Scatter<'a> {
    blocks: &'a [Block],
    corners: &'a [BasisTangent<Lanes>],
    positions: &'a [PairPositions<TET_PAIRS>],
    start: usize,
    values: &'a mut [[f64; 9]],
}

impl Kernel for Scatter<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, m: M) {
        let mut element = [[Lanes::zero(); 9]; 10];
        for ((block, corners), positions) in self.blocks.iter().zip(self.corners).zip(self.positions) {
            element_matrices(m, corners, block.volume, &mut element);
            for (k, entries) in element.iter().enumerate() {
                let load = |e: usize| m.load(&entries[e].0);
                let low = m.transpose([load(0), load(1), load(2), load(3)]);
                let high = m.transpose([load(4), load(5), load(6), load(7)]);
                for lane in 0..LANES {
                    let at = (positions[lane][k] as usize).wrapping_sub(self.start);
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
}

/// All ten lower blocks; those with vertex 0 follow from Σₙ ∇Nₙ = 0.
#[inline(always)]
fn element_matrices<M: Quads>(
    m: M,
    corners: &BasisTangent<Lanes>,
    volume: Lanes,
    out: &mut [[Lanes; 9]; 10],
) {
    let (volume, zero) = (m.load(&volume.0), m.load(&[0.0; LANES]));
    let minus = |a, b, c| m.sub(m.sub(m.sub(zero, a), b), c);
    for x in 0..9 {
        let y = 3 * (x % 3) + x / 3;
        let entry = |pair: usize, x: usize| m.mul(m.load(&corners[pair][x].0), volume);
        let (k11, k21, k22) = (entry(0, x), entry(1, x), entry(2, x));
        let (k31, k32, k33) = (entry(3, x), entry(4, x), entry(5, x));
        let k10 = minus(k11, entry(1, y), entry(3, y));
        let k20 = minus(k21, k22, entry(4, y));
        let k30 = minus(k31, k32, k33);
        let all = [minus(k10, k20, k30), k10, k11, k20, k21, k22, k30, k31, k32, k33];
        for k in 0..10 {
            m.store(all[k], &mut out[k][x].0);
        }
    }
}
