//! What holds discontinuous simplices together \[chen2019, ch. 5\]: tets at their faces, the triangles of membranes at
//! their edges. With the jump \[x\] across a face of area A (an edge times the thickness) and normals N at rest, from the
//! first cell to the second,
//!
//!   babuska-zlamal     W = Σ ½η∫‖\[x\]‖²
//!   interior-penalty   W = Σ ½η∫‖\[x\]‖² − ∫ ½(P₁N₁ + P₂N₂)·\[x\]
//!
//! \[babuska1973, arnold1982\]. The first leaves a gap of PN/η and comes to the continuous solution as η grows; the second
//! is consistent: a field that a continuous mesh can carry is in equilibrium as it is. η = c (λ+2μ) A/V, the larger of both
//! sides, with a number c; small strains are stable for c ≥ 2 in the second.
//!
//! N is in the frame of each cell at rest, the same for all tets; that of two triangles differs where the surface is
//! curved. \[x\] is linear on a face with d corners and P constant in a cell, so ∫‖\[x\]‖² = A/(d(d+1)) Σ(1+δᵢₖ) jᵢ·jₖ and
//! ∫\[x\] = A j̄ are exact. W does not change in a rigid motion, as P turns with \[x\].

mod cell;

pub use cell::Simplices;

use super::{ElementCells, Elements, Glued, GluingKind, SolidKind, Tets};
use crate::math::Mat3;
use crate::math::vector::{V3, add, dot, norm, scale, sub};
use crate::math::without_rigid;
use crate::mesh::{InnerFace, Nodes};
use crate::potentials::{Kind, Potential, PotentialRole};
use lilyan_dynamics::StiffPart;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;
use std::sync::Arc;

/// Discontinuous linear tets, each by itself, held together at their faces.
pub static DISCONTINUOUS_TETS: SolidKind = SolidKind {
    name: "dg",
    summary: "discontinuous linear tets, glued by interior-penalty or babuska-zlamal",
    consistent_mass: false,
    mean_dilatation: false,
    nodes: Nodes::discontinuous,
    build: |input| {
        let (faces, glued) = (input.dofs.nodes().inner_faces().to_vec(), input.glued);
        let tets = Arc::new(Tets::of(input));
        let gluing = glued.map(|glued| join(glued, tets.clone(), &faces));
        std::iter::once(tets as Arc<dyn Elements>).chain(gluing).collect()
    },
};

/// What joins these cells at these faces.
pub fn join<C: Simplices>(glued: Glued, cells: Arc<C>, faces: &[InnerFace]) -> Arc<dyn Elements> {
    Arc::new(Gluing::new(cells, faces, glued.kind, glued.penalty))
}

struct GluedFace {
    cells: [usize; 2],
    /// Global nodes on either side; an edge has two.
    sides: [[u32; 3]; 2],
    area: f64,
    /// From the first cell to the second, in the frame of each at rest.
    normals: [V3; 2],
    /// Height of the first cell over it, m.
    height: f64,
    /// η, Pa/m.
    eta: f64,
}

/// The faces inside a body of discontinuous cells.
pub struct Gluing<C> {
    cells: Arc<C>,
    kind: GluingKind,
    faces: Vec<GluedFace>,
}

fn at(q: &[f64], n: u32) -> V3 {
    [0, 1, 2].map(|k| q[3 * n as usize + k])
}

impl<C: Simplices> Gluing<C> {
    /// Corners of a face.
    const SHARED: usize = C::CORNERS - 1;

    /// For the faces of a split body, with the number c of the module.
    pub fn new(cells: Arc<C>, faces: &[InnerFace], kind: GluingKind, penalty: f64) -> Self {
        let face = |f: &InnerFace| {
            let both = f.cells.map(|c| c as usize);
            // ∇N of the corner that is not on the face is its inward normal over the height.
            let [first, second] = [0, 1].map(|s| {
                let shared = &f.corners[s][..Self::SHARED];
                let apex = (0..C::CORNERS).find(|k| !shared.contains(&(*k as u8))).unwrap_or(0);
                cells.slopes(both[s])[apex]
            });
            let area = Self::SHARED as f64 * cells.volume(both[0]) * norm(first);
            let slope = |c: usize| cells.modulus(c) * area / cells.volume(c);
            GluedFace {
                cells: both,
                sides: [0, 1].map(|s| f.corners[s].map(|k| cells.corners(both[s])[k as usize])),
                area,
                normals: [scale(first, -1.0 / norm(first)), scale(second, 1.0 / norm(second))],
                height: 1.0 / norm(first),
                eta: penalty * slope(both[0]).max(slope(both[1])),
            }
        };
        let faces = faces.iter().map(face).collect();
        Self { cells, kind, faces }
    }

    fn local(&self, face: &GluedFace) -> Vec<u32> {
        let corners = |s: usize| self.cells.corners(face.cells[s]).into_iter().take(C::CORNERS);
        corners(0).chain(corners(1)).collect()
    }

    /// jᵢ, 0 beyond the corners of the face, and their sum.
    fn jumps(face: &GluedFace, q: &[f64]) -> ([V3; 3], V3) {
        let mut j = [[0.0; 3]; 3];
        for k in 0..Self::SHARED {
            j[k] = sub(at(q, face.sides[0][k]), at(q, face.sides[1][k]));
        }
        (j, add(add(j[0], j[1]), j[2]))
    }

    /// ηA/(d(d+1)).
    fn strength(face: &GluedFace) -> f64 {
        face.eta * face.area / (Self::SHARED * (Self::SHARED + 1)) as f64
    }

    /// A/d.
    fn share(face: &GluedFace) -> f64 {
        face.area / Self::SHARED as f64
    }

    /// j̄ ⊗ N in the frame of one side.
    fn gap(face: &GluedFace, side: usize, sum: V3) -> Mat3 {
        Mat3::from_fn(|i, k| sum[i] / Self::SHARED as f64 * face.normals[side][k])
    }

    fn energy_of(&self, face: &GluedFace, q: &[f64]) -> f64 {
        let (j, sum) = Self::jumps(face, q);
        let squares: f64 = j.iter().map(|j| dot(*j, *j)).sum();
        let penalty = 0.5 * Self::strength(face) * (squares + dot(sum, sum));
        if self.kind == GluingKind::BabuskaZlamal {
            return penalty;
        }
        let traction = |side: usize| {
            let cell = face.cells[side];
            self.cells.stress(cell, &self.cells.deformation(cell, q)).mul_vec(face.normals[side])
        };
        let mean = scale(add(traction(0), traction(1)), 0.5);
        penalty - Self::share(face) * dot(mean, sum)
    }

    /// Calls `f(node, part of ∇W)`.
    fn each_force(&self, face: &GluedFace, q: &[f64], mut f: impl FnMut(u32, V3)) {
        let (j, sum) = Self::jumps(face, q);
        let mut mean = [0.0; 3];
        if self.kind == GluingKind::InteriorPenalty {
            for (side, cell) in face.cells.into_iter().enumerate() {
                // What a change of F does to P:(j̄ ⊗ N).
                let M = Self::gap(face, side, sum);
                let F = self.cells.deformation(cell, q);
                mean = add(mean, scale(self.cells.stress(cell, &F).mul_vec(face.normals[side]), 0.5));
                let H = self.cells.tangent(cell, &F);
                let G = Mat3::from_fn(|i, k| {
                    -0.5 * face.area * (0..9).map(|x| H[3 * i + k][x] * M[(x / 3, x % 3)]).sum::<f64>()
                });
                let (nodes, slopes) = (self.cells.corners(cell), self.cells.slopes(cell));
                for k in 0..C::CORNERS {
                    f(nodes[k], G.mul_vec(slopes[k]));
                }
            }
        }
        for k in 0..Self::SHARED {
            let pull = scale(add(j[k], sum), Self::strength(face));
            let force = sub(pull, scale(mean, Self::share(face)));
            f(face.sides[0][k], force);
            f(face.sides[1][k], scale(force, -1.0));
        }
    }

    /// Adds c times the stiffness of η‖\[x\]‖² times a vector.
    fn add_penalty_product(&self, v: &[f64], c: f64, out: &mut [f64]) {
        for face in &self.faces {
            let (j, sum) = Self::jumps(face, v);
            for k in 0..Self::SHARED {
                let force = scale(add(j[k], sum), c * Self::strength(face));
                for x in 0..3 {
                    out[3 * face.sides[0][k] as usize + x] += force[x];
                    out[3 * face.sides[1][k] as usize + x] -= force[x];
                }
            }
        }
    }

    fn add_penalty(face: &GluedFace, h: &mut BlockMatrix) {
        let d = Self::SHARED;
        let signed = |k: usize| (face.sides[k / d][k % d] as usize, if k < d { 1.0 } else { -1.0 });
        for a in 0..2 * d {
            for b in 0..=a {
                let ((n, s), (m, r)) = (signed(a), signed(b));
                let same = if a % d == b % d { 2.0 } else { 1.0 };
                let c = s * r * same * Self::strength(face);
                h.add_block(n, m, &[c, 0.0, 0.0, 0.0, c, 0.0, 0.0, 0.0, c]);
            }
        }
    }

    /// The second derivative of −½A (P₁N₁ + P₂N₂)·j̄.
    fn add_consistent(&self, face: &GluedFace, q: &[f64], h: &mut BlockMatrix) {
        let (_, sum) = Self::jumps(face, q);
        let size = norm(sum) / Self::SHARED as f64;
        for (side, cell) in face.cells.into_iter().enumerate() {
            let (M, normal) = (Self::gap(face, side, sum), face.normals[side]);
            let F = self.cells.deformation(cell, q);
            let (nodes, slopes) = (self.cells.corners(cell), self.cells.slopes(cell));
            let H = self.cells.tangent(cell, &F);
            // ∂H/∂F : M by differences, exact to 1e-10: third derivatives of ψ are nowhere else needed.
            let third = (size > 0.0).then(|| {
                let d = 1e-5 / size;
                let tangent = |F: Mat3| self.cells.tangent(cell, &F);
                (tangent(F + M.scale(d)), tangent(F - M.scale(d)), 0.5 / d)
            });
            for n in 0..C::CORNERS {
                if let Some((more, less, per)) = &third {
                    for m in 0..=n {
                        let block = std::array::from_fn(|x| {
                            let (i, k) = (x / 3, x % 3);
                            let mut sum = 0.0;
                            for a in 0..3 {
                                for b in 0..3 {
                                    let change = more[3 * i + a][3 * k + b] - less[3 * i + a][3 * k + b];
                                    sum += change * slopes[n][a] * slopes[m][b];
                                }
                            }
                            -0.5 * face.area * per * sum
                        });
                        h.add_block(nodes[n] as usize, nodes[m] as usize, &block);
                    }
                }
                // ∂(PN)ₖ/∂xₙᵢ times the share of each corner of the face in j̄.
                let block: [f64; 9] = std::array::from_fn(|x| {
                    let (i, k) = (x / 3, x % 3);
                    let mut sum = 0.0;
                    for l in 0..3 {
                        for a in 0..3 {
                            sum += H[3 * k + l][3 * i + a] * normal[l] * slopes[n][a];
                        }
                    }
                    sum
                });
                for (side, sign) in [(0, 1.0), (1, -1.0)] {
                    for &r in &face.sides[side][..Self::SHARED] {
                        let c = -0.5 * sign * Self::share(face);
                        let both: [f64; 9] = match r == nodes[n] {
                            true => std::array::from_fn(|x| c * (block[x] + block[3 * (x % 3) + x / 3])),
                            false => block.map(|x| c * x),
                        };
                        h.add_block(nodes[n] as usize, r as usize, &both);
                    }
                }
            }
        }
    }
}

impl<C: Simplices> Potential for Gluing<C> {
    fn role(&self) -> PotentialRole<'_> {
        PotentialRole::smooth(Kind::Elastic)
    }

    fn energy(&self, q: &[f64]) -> f64 {
        let total: f64 = self.faces.iter().map(|f| self.energy_of(f, q)).sum();
        if total.is_nan() { f64::INFINITY } else { total }
    }

    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        for face in &self.faces {
            self.each_force(face, q, |n, f| (0..3).for_each(|k| g[3 * n as usize + k] += f[k]));
        }
    }

    /// Projected: the penalty alone, which is never negative.
    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        for face in &self.faces {
            Self::add_penalty(face, h);
            if curvature == Curvature::Exact && self.kind == GluingKind::InteriorPenalty {
                self.add_consistent(face, q, h);
            }
        }
    }

    /// Not part of the elements themselves: a split that takes elements implicitly leaves the faces explicit.
    fn add_stiff_hessian(&self, q: &[f64], part: StiffPart, h: &mut BlockMatrix) {
        if part == StiffPart::Material {
            self.add_hessian(q, Curvature::Projected, h);
        }
    }

    /// Of the quadratic energy the midpoint gradient; otherwise that with Gonzalez' correction along the motion of the
    /// nodes less its rigid part, which has no resultant and no moment.
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        if self.kind == GluingKind::BabuskaZlamal {
            self.add_penalty_product(q0, 0.5, g);
            self.add_penalty_product(q1, 0.5, g);
            return true;
        }
        let middle: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| 0.5 * (a + b)).collect();
        let mut feasible = true;
        for face in &self.faces {
            let nodes = self.local(face);
            let mut forces = vec![[0.0; 3]; nodes.len()];
            self.each_force(face, &middle, |n, f| {
                let k = nodes.iter().position(|m| *m == n).unwrap_or(0);
                forces[k] = add(forces[k], f);
            });
            let x: Vec<V3> = nodes.iter().map(|&n| at(&middle, n)).collect();
            let moved: Vec<V3> = nodes.iter().map(|&n| sub(at(q1, n), at(q0, n))).collect();
            let change = self.energy_of(face, q1) - self.energy_of(face, q0);
            feasible &= change.is_finite();
            let done: f64 = forces.iter().zip(&moved).map(|(f, v)| dot(*f, *v)).sum();
            let rest = without_rigid(&x, &[1.0; 8][..nodes.len()], &moved);
            let square: f64 = rest.iter().zip(&moved).map(|(c, v)| dot(*c, *v)).sum();
            // Smaller motions need no correction: it is of third order and below its own round-off.
            let size = (1e-7 * face.height).powi(2);
            let factor = if square > size { (change - done) / square } else { 0.0 };
            for (k, n) in nodes.into_iter().enumerate() {
                for i in 0..3 {
                    g[3 * n as usize + i] += forces[k][i] + factor * rest[k][i];
                }
            }
        }
        feasible
    }
}

impl<C: Simplices> Elements for Gluing<C> {
    fn len(&self) -> usize {
        self.faces.len()
    }
    /// The corners of the first cell, then those of the second.
    fn each_clique(&self, f: &mut dyn FnMut(&[u32])) {
        self.faces.iter().for_each(|face| f(&self.local(face)));
    }
    fn joins(&self) -> bool {
        true
    }
    fn has_constant_stiffness(&self) -> bool {
        false
    }

    fn add_hessian_product(&self, _q: &[f64], v: &[f64], c: f64, out: &mut [f64]) {
        self.add_penalty_product(v, c, out);
    }

    fn cells(&self) -> Option<&dyn ElementCells> {
        None
    }
}
