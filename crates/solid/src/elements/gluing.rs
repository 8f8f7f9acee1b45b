//! What holds discontinuous tets together \[chen2019, ch. 5\]: with the jump \[x\] across a face of area A and normal N
//! at rest, from the first tet to the second,
//!
//!   babuska-zlamal     W = Σ ½η∫‖\[x\]‖²
//!   interior-penalty   W = Σ ½η∫‖\[x\]‖² − ∫ ½(P₁ + P₂)N·\[x\]
//!
//! \[babuska1973, arnold1982\]. The first leaves a gap of PN/η and comes to the continuous solution as η grows; the second
//! is consistent: a field that a continuous mesh can carry is in equilibrium as it is. η = c (λ+2μ) A/V, the larger of both
//! sides, with a number c; small strains are stable for c ≥ 2 in the second.
//!
//! \[x\] is linear on a face and P constant in a tet, so ∫‖\[x\]‖² = A/12 Σ(1+δᵢₖ) jᵢ·jₖ and ∫\[x\] = A j̄ are exact. W does
//! not change in a rigid motion, as P turns with \[x\].

use super::{Elements, Tets};
use crate::math::Mat3;
use crate::mesh::SplitFace;
use crate::mesh::vector::{V3, add, area_vector, dot, norm, scale, sub};
use crate::potentials::without_rigid;
use lilyan_solve::BlockMatrix;
use std::sync::Arc;

/// Which energy; see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GluingKind {
    /// η‖\[x\]‖² alone.
    BabuskaZlamal,
    /// With the mean traction.
    InteriorPenalty,
}

struct Face {
    tets: [usize; 2],
    /// Global nodes on either side.
    sides: [[u32; 3]; 2],
    area: f64,
    /// From the first tet to the second, at rest.
    normal: V3,
    /// η, Pa/m.
    eta: f64,
}

/// The faces inside a body of discontinuous tets.
pub struct Gluing {
    tets: Arc<Tets>,
    kind: GluingKind,
    faces: Vec<Face>,
}

/// Nodes of a face in both tets, the corners of the first, then those of the second.
type Local = [u32; 8];

fn at(q: &[f64], n: u32) -> V3 {
    [0, 1, 2].map(|k| q[3 * n as usize + k])
}

impl Gluing {
    /// For the faces of a split body at rest positions (m, flat, by global node), with the number c of the module.
    pub fn new(tets: Arc<Tets>, faces: &[SplitFace], rest: &[f64], kind: GluingKind, penalty: f64) -> Self {
        let face = |f: &SplitFace| {
            let both = f.tets.map(|t| t as usize);
            let sides: [[u32; 3]; 2] =
                std::array::from_fn(|s| f.corners[s].map(|k| tets.tet(both[s])[k as usize]));
            let double = area_vector(sides[0].map(|n| at(rest, n)));
            let area = 0.5 * norm(double);
            let slope = |t: usize| {
                let (mu, lambda) = tets.moduli(t);
                (lambda + 2.0 * mu) * area / tets.volume(t)
            };
            let eta = penalty * slope(both[0]).max(slope(both[1]));
            Face { tets: both, sides, area, normal: scale(double, 0.5 / area), eta }
        };
        let faces = faces.iter().map(face).collect();
        Self { tets, kind, faces }
    }

    /// No faces.
    pub fn none(tets: Arc<Tets>) -> Self {
        Self { tets, kind: GluingKind::BabuskaZlamal, faces: Vec::new() }
    }

    /// Number of faces.
    pub fn len(&self) -> usize {
        self.faces.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.faces.is_empty()
    }

    /// Nodes coupled by each face, for the pattern of the stiffness matrix.
    pub fn cliques(&self) -> impl Iterator<Item = [u32; 8]> + '_ {
        self.faces.iter().map(|f| self.local(f))
    }

    fn local(&self, face: &Face) -> Local {
        let (a, b) = (self.tets.tet(face.tets[0]), self.tets.tet(face.tets[1]));
        std::array::from_fn(|k| if k < 4 { a[k] } else { b[k - 4] })
    }

    fn jumps(face: &Face, q: &[f64]) -> [V3; 3] {
        std::array::from_fn(|k| sub(at(q, face.sides[0][k]), at(q, face.sides[1][k])))
    }

    fn stress(&self, tet: usize, q: &[f64]) -> Mat3 {
        self.tets.material().stress(self.tets.constants(tet), &self.tets.gradient_of(tet, q))
    }

    /// ∇N of the four corners of a tet.
    fn slopes(&self, tet: usize) -> [V3; 4] {
        let m = self.tets.inverse(tet);
        let row = |n: usize| [m[(n, 0)], m[(n, 1)], m[(n, 2)]];
        let (b, c, d) = (row(0), row(1), row(2));
        [scale(add(add(b, c), d), -1.0), b, c, d]
    }

    fn energy_of(&self, face: &Face, q: &[f64]) -> f64 {
        let j = Self::jumps(face, q);
        let sum = add(add(j[0], j[1]), j[2]);
        let squares: f64 = j.iter().map(|j| dot(*j, *j)).sum();
        let penalty = 0.5 * face.eta * face.area / 12.0 * (squares + dot(sum, sum));
        if self.kind == GluingKind::BabuskaZlamal {
            return penalty;
        }
        let traction = |t: usize| self.stress(t, q).mul_vec(face.normal);
        let mean = scale(add(traction(face.tets[0]), traction(face.tets[1])), 0.5);
        penalty - face.area / 3.0 * dot(mean, sum)
    }

    /// Calls `f(node, part of ∇W)`.
    fn each_force(&self, face: &Face, q: &[f64], mut f: impl FnMut(u32, V3)) {
        let j = Self::jumps(face, q);
        let sum = add(add(j[0], j[1]), j[2]);
        let mut mean = [0.0; 3];
        if self.kind == GluingKind::InteriorPenalty {
            // j̄ ⊗ N, and what a change of F does to P:(j̄ ⊗ N).
            let M = Mat3::from_fn(|i, k| sum[i] / 3.0 * face.normal[k]);
            for t in face.tets {
                let F = self.tets.gradient_of(t, q);
                let (material, c) = (self.tets.material(), self.tets.constants(t));
                mean = add(mean, scale(material.stress(c, &F).mul_vec(face.normal), 0.5));
                let H = material.hessian(c, &F);
                let G = Mat3::from_fn(|i, k| {
                    -0.5 * face.area * (0..9).map(|x| H[3 * i + k][x] * M[(x / 3, x % 3)]).sum::<f64>()
                });
                for (n, slope) in self.tets.tet(t).into_iter().zip(self.slopes(t)) {
                    f(n, G.mul_vec(slope));
                }
            }
        }
        for k in 0..3 {
            let pull = scale(add(j[k], sum), face.eta * face.area / 12.0);
            let force = sub(pull, scale(mean, face.area / 3.0));
            f(face.sides[0][k], force);
            f(face.sides[1][k], scale(force, -1.0));
        }
    }

    /// Adds c times the stiffness of η‖\[x\]‖² times a vector.
    fn add_penalty_product(&self, v: &[f64], c: f64, out: &mut [f64]) {
        for face in &self.faces {
            let j = Self::jumps(face, v);
            let sum = add(add(j[0], j[1]), j[2]);
            for k in 0..3 {
                let force = scale(add(j[k], sum), c * face.eta * face.area / 12.0);
                for x in 0..3 {
                    out[3 * face.sides[0][k] as usize + x] += force[x];
                    out[3 * face.sides[1][k] as usize + x] -= force[x];
                }
            }
        }
    }

    fn add_penalty(face: &Face, h: &mut BlockMatrix) {
        let signed = |k: usize| (face.sides[k / 3][k % 3] as usize, if k < 3 { 1.0 } else { -1.0 });
        for a in 0..6 {
            for b in 0..=a {
                let ((n, s), (m, r)) = (signed(a), signed(b));
                let same = if a % 3 == b % 3 { 2.0 } else { 1.0 };
                let c = s * r * same * face.eta * face.area / 12.0;
                h.add_block(n, m, &[c, 0.0, 0.0, 0.0, c, 0.0, 0.0, 0.0, c]);
            }
        }
    }

    /// The second derivative of −½A (P₁ + P₂)N·j̄.
    fn add_consistent(&self, face: &Face, q: &[f64], h: &mut BlockMatrix) {
        let j = Self::jumps(face, q);
        let mean = scale(add(add(j[0], j[1]), j[2]), 1.0 / 3.0);
        let M = Mat3::from_fn(|i, k| mean[i] * face.normal[k]);
        let size = norm(mean);
        for t in face.tets {
            let F = self.tets.gradient_of(t, q);
            let (material, c) = (self.tets.material(), self.tets.constants(t));
            let (nodes, slopes) = (self.tets.tet(t), self.slopes(t));
            let H = material.hessian(c, &F);
            // ∂H/∂F : M by differences, exact to 1e-10: third derivatives of ψ are nowhere else needed.
            let third = (size > 0.0).then(|| {
                let d = 1e-5 / size;
                let (more, less) =
                    (material.hessian(c, &(F + M.scale(d))), material.hessian(c, &(F - M.scale(d))));
                (more, less, 0.5 / d)
            });
            for n in 0..4 {
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
                            sum += H[3 * k + l][3 * i + a] * face.normal[l] * slopes[n][a];
                        }
                    }
                    sum
                });
                for (side, sign) in [(0, 1.0), (1, -1.0)] {
                    for r in face.sides[side] {
                        let c = -0.5 * face.area * sign / 3.0;
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

impl Elements for Gluing {
    fn is_empty(&self) -> bool {
        self.faces.is_empty()
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
    fn add_hessian(&self, q: &[f64], projected: bool, h: &mut BlockMatrix) {
        for face in &self.faces {
            Self::add_penalty(face, h);
            if !projected && self.kind == GluingKind::InteriorPenalty {
                self.add_consistent(face, q, h);
            }
        }
    }

    fn add_hessian_product(&self, _q: &[f64], v: &[f64], c: f64, out: &mut [f64]) {
        self.add_penalty_product(v, c, out);
    }

    /// Of the quadratic energy the midpoint gradient; otherwise that with Gonzalez' correction along the motion of the
    /// eight nodes less its rigid part, which has no resultant and no moment.
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
            let mut forces = [[0.0; 3]; 8];
            self.each_force(face, &middle, |n, f| {
                let k = nodes.iter().position(|m| *m == n).unwrap_or(0);
                forces[k] = add(forces[k], f);
            });
            let x: Vec<V3> = nodes.iter().map(|&n| at(&middle, n)).collect();
            let moved: Vec<V3> = nodes.iter().map(|&n| sub(at(q1, n), at(q0, n))).collect();
            let change = self.energy_of(face, q1) - self.energy_of(face, q0);
            feasible &= change.is_finite();
            let done: f64 = forces.iter().zip(&moved).map(|(f, v)| dot(*f, *v)).sum();
            let rest = without_rigid(&x, &[1.0; 8], &moved);
            let square: f64 = rest.iter().zip(&moved).map(|(c, v)| dot(*c, *v)).sum();
            // Smaller motions need no correction: it is of third order and below its own round-off.
            let size = face.area * 1e-14;
            let factor = if square > size { (change - done) / square } else { 0.0 };
            for (k, n) in nodes.into_iter().enumerate() {
                for i in 0..3 {
                    g[3 * n as usize + i] += forces[k][i] + factor * rest[k][i];
                }
            }
        }
        feasible
    }

    /// Explicit in the split that takes elements implicitly.
    fn add_element_stiffness(&self, _q: &[f64], _h: &mut BlockMatrix) {}
}
