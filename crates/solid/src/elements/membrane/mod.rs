//! Membranes: linear triangles in space under plane stress, W = Σ area·thickness·ψ(C), C = FᵀF with the 3×2
//! deformation gradient F = Σ xₚ ∇Nₚᵀ. They resist stretch and shear, not bending.
//!
//! Every isotropic ψ is a function of I = tr C and D = det C. Then, with the cofactor I·1 − C in place of D C⁻¹,
//!   S = 2(ψ_I 1 + ψ_D (I 1 − C)),   P = F S:
//! no inverse, no root. With μ and λ̄ = Eν/(1−ν²), Lamé's constants of plane stress, and J = √D,
//!   stvk             μ E:E + ½λ̄ tr²E
//!   neo-hookean      ½μ(I/J − 2) + ½(λ̄+μ)(J−1)²      the d = 2 form of \[kharevych2010\] (2.4)
//!   neo-hookean-log  ½μ(I − 2 − 2 ln J) + ½λ̄ ln²J
//! each with the small-strain response of (E, ν). The thickness is that at rest.

mod elements;

use crate::materials::{Constants, Given, Lame, Mat9};
use crate::math::vector::{V3, cross, dot, norm, scale, sub};
use crate::math::{Mat3, project_positive};
use lilyan_solve::BlockMatrix;

/// 3×2 matrix as rows.
type M32 = [[f64; 2]; 3];
/// 2×2 matrix as rows.
type M22 = [[f64; 2]; 2];
/// ∂P/∂F in the row-major order of [`M32`].
type M66 = [[f64; 6]; 6];

/// The energy density of a membrane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MembraneModel {
    /// St. Venant–Kirchhoff.
    Stvk,
    /// Neo-Hookean with an isochoric part.
    NeoHookean,
    /// Neo-Hookean with logarithms.
    NeoHookeanLog,
}

impl MembraneModel {
    /// Names in scene files.
    pub const NAMES: [(&'static str, Self); 3] =
        [("stvk", Self::Stvk), ("neo-hookean", Self::NeoHookean), ("neo-hookean-log", Self::NeoHookeanLog)];

    /// The model of that name.
    pub fn find(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|m| m.0 == name).map(|m| m.1)
    }
}

/// A triangle at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle {
    /// Its nodes.
    pub nodes: [u32; 3],
    /// Area at rest, m².
    pub area: f64,
    /// Thickness, m.
    pub thickness: f64,
    /// μ, Pa.
    pub mu: f64,
    /// λ̄ of plane stress, Pa.
    pub lambda: f64,
    /// Dₘ⁻¹ in a basis of its plane, 1/m; its rows are ∇N₁, ∇N₂.
    inverse: M22,
}

impl Triangle {
    /// With those corners at rest (m), not in a line.
    pub fn new(nodes: [u32; 3], corners: [V3; 3], thickness: f64, given: &Given) -> Self {
        let (u, v) = (sub(corners[1], corners[0]), sub(corners[2], corners[0]));
        let length = norm(u);
        let e = scale(u, 1.0 / length);
        let along = dot(v, e);
        let twice = norm(cross(u, v));
        let across = twice / length;
        Self {
            nodes,
            area: 0.5 * twice,
            thickness,
            mu: given.mu,
            lambda: given.E * given.nu / (1.0 - given.nu * given.nu),
            inverse: [[1.0 / length, -along / (length * across)], [0.0, 1.0 / across]],
        }
    }

    /// μ and λ̄, Pa.
    pub fn moduli(&self) -> Lame {
        Lame { mu: self.mu, lambda: self.lambda }
    }

    /// Volume at rest, m³.
    pub fn volume(&self) -> f64 {
        self.area * self.thickness
    }

    /// F for positions, Ḟ for velocities.
    pub fn gradient_of(&self, x: &[f64]) -> [[f64; 2]; 3] {
        let [a, b, c] = self.nodes.map(|n| 3 * n as usize);
        std::array::from_fn(|i| {
            let (u, v) = (x[b + i] - x[a + i], x[c + i] - x[a + i]);
            let m = &self.inverse;
            [u * m[0][0] + v * m[1][0], u * m[0][1] + v * m[1][1]]
        })
    }

    /// Adds the nodal gradient volume·P ∇N.
    fn add_stress(&self, P: &M32, out: &mut [f64]) {
        let [a, b, c] = self.nodes.map(|n| 3 * n as usize);
        for i in 0..3 {
            let f = |n: usize| self.volume() * (P[i][0] * self.inverse[n][0] + P[i][1] * self.inverse[n][1]);
            let (f1, f2) = (f(0), f(1));
            out[b + i] += f1;
            out[c + i] += f2;
            out[a + i] -= f1 + f2;
        }
    }

    /// ∇N of the corners, 1/m.
    pub(super) fn slopes(&self) -> [[f64; 2]; 3] {
        let m = &self.inverse;
        [[-m[0][0] - m[1][0], -m[0][1] - m[1][1]], m[0], m[1]]
    }

    /// Adds volume·∇Nᵀ H ∇N, H being the matrix of the linear map from dF to dP.
    fn add_tangent(&self, tangent: &M66, h: &mut BlockMatrix) {
        let slopes = self.slopes();
        for n in 0..3 {
            for p in 0..=n {
                let block = std::array::from_fn(|x| {
                    let (i, k) = (x / 3, x % 3);
                    let mut sum = 0.0;
                    for a in 0..2 {
                        for b in 0..2 {
                            sum += tangent[2 * i + a][2 * k + b] * slopes[n][a] * slopes[p][b];
                        }
                    }
                    self.volume() * sum
                });
                h.add_block(self.nodes[n] as usize, self.nodes[p] as usize, &block);
            }
        }
    }
}

/// A 3×2 matrix with a third column of 0.
pub(super) fn widened(F: &[[f64; 2]; 3]) -> Mat3 {
    Mat3::from_fn(|i, k| if k < 2 { F[i][k] } else { 0.0 })
}

/// The first two columns.
fn narrowed(F: &Mat3) -> M32 {
    std::array::from_fn(|i| std::array::from_fn(|k| F[(i, k)]))
}

/// ψ and its derivatives by I and D.
struct Terms {
    psi: f64,
    i: f64,
    d: f64,
    ii: f64,
    id: f64,
    dd: f64,
}

/// At the Green strain E; ψ is summed from terms of second order in E, so that small strains keep their digits.
fn terms(model: MembraneModel, mu: f64, lambda: f64, E: &M22) -> Terms {
    let trace = E[0][0] + E[1][1];
    let det = E[0][0] * E[1][1] - E[0][1] * E[0][1];
    let I = 2.0 + 2.0 * trace;
    let more = 2.0 * trace + 4.0 * det; // D − 1
    let D = 1.0 + more;
    match model {
        MembraneModel::Stvk => Terms {
            psi: mu * (trace * trace - 2.0 * det) + 0.5 * lambda * trace * trace,
            i: 0.5 * mu * (1.0 + 2.0 * trace) + 0.5 * lambda * trace,
            d: -0.5 * mu,
            ii: 0.5 * mu + 0.25 * lambda,
            id: 0.0,
            dd: 0.0,
        },
        MembraneModel::NeoHookeanLog => {
            let ln = if D > 0.0 { more.ln_1p() } else { f64::NAN };
            // I − 2 − ln D = (D − 1 − ln D) − 4 det E; the first by its series where it would cancel.
            let first = if more.abs() < 1e-3 {
                let x = more;
                x * x * (0.5 - x * (1.0 / 3.0 - x * (0.25 - x * (0.2 - x * (1.0 / 6.0 - x / 7.0)))))
            } else {
                more - ln
            };
            Terms {
                psi: 0.5 * mu * (first - 4.0 * det) + 0.125 * lambda * ln * ln,
                i: 0.5 * mu,
                d: (-0.5 * mu + 0.25 * lambda * ln) / D,
                ii: 0.0,
                id: 0.0,
                dd: (0.5 * mu + 0.25 * lambda * (1.0 - ln)) / (D * D),
            }
        }
        MembraneModel::NeoHookean => {
            let J = D.sqrt();
            let kappa = lambda + mu;
            let x = more / (J + 1.0); // J − 1
            Terms {
                // I − 2J = (J − 1)² − 4 det E.
                psi: 0.5 * mu * (x * x - 4.0 * det) / J + 0.5 * kappa * x * x,
                i: 0.5 * mu / J,
                d: -0.25 * mu * I / (D * J) + 0.5 * kappa * x / J,
                ii: 0.0,
                id: -0.25 * mu / (D * J),
                dd: (0.375 * mu * I / D + 0.25 * kappa) / (D * J),
            }
        }
    }
}

/// FᵀG.
fn transpose_mul(F: &M32, G: &M32) -> M22 {
    std::array::from_fn(|a| std::array::from_fn(|b| (0..3).map(|i| F[i][a] * G[i][b]).sum()))
}

/// F S.
fn mul(F: &M32, S: &M22) -> M32 {
    std::array::from_fn(|i| std::array::from_fn(|a| F[i][0] * S[0][a] + F[i][1] * S[1][a]))
}

fn strain(C: &M22) -> M22 {
    [[0.5 * (C[0][0] - 1.0), 0.5 * C[0][1]], [0.5 * C[1][0], 0.5 * (C[1][1] - 1.0)]]
}

fn cofactor(C: &M22) -> M22 {
    [[C[1][1], -C[0][1]], [-C[1][0], C[0][0]]]
}

fn contract(A: &M22, B: &M22) -> f64 {
    A[0][0] * B[0][0] + A[0][1] * B[0][1] + A[1][0] * B[1][0] + A[1][1] * B[1][1]
}

fn of_terms(t: &Terms, C: &M22) -> M22 {
    let cof = cofactor(C);
    std::array::from_fn(|a| std::array::from_fn(|b| 2.0 * (t.d * cof[a][b] + if a == b { t.i } else { 0.0 })))
}

/// dS for a change of C, whose cofactor matrix is `cof`.
fn stress_change(t: &Terms, cof: &M22, dC: &M22) -> M22 {
    let (dI, dD) = (dC[0][0] + dC[1][1], contract(cof, dC));
    let (one, other) = (t.ii * dI + t.id * dD, t.id * dI + t.dd * dD);
    let turned = cofactor(dC);
    std::array::from_fn(|a| {
        std::array::from_fn(|b| {
            2.0 * (other * cof[a][b] + t.d * turned[a][b] + if a == b { one } else { 0.0 })
        })
    })
}

/// The matrix of a linear map from dF to dP.
fn matrix_of(map: impl Fn(&M32) -> M32) -> M66 {
    let mut out = [[0.0; 6]; 6];
    for column in 0..6 {
        let mut unit = [[0.0; 2]; 3];
        unit[column / 2][column % 2] = 1.0;
        let image = map(&unit);
        for row in 0..6 {
            out[row][column] = image[row / 2][row % 2];
        }
    }
    out
}

/// The triangles of one body, in global node numbers.
#[derive(Clone, Debug)]
pub struct Membrane {
    model: MembraneModel,
    list: Vec<Triangle>,
    /// μ and λ̄ of each triangle, Pa.
    moduli: Constants,
}

impl Membrane {
    /// Those triangles.
    pub fn new(model: MembraneModel, list: Vec<Triangle>) -> Self {
        let moduli: Vec<Vec<f64>> = list.iter().map(|t| vec![t.mu, t.lambda]).collect();
        Self { model, list, moduli: Constants::each(&moduli).padded() }
    }

    /// All of them.
    pub fn list(&self) -> &[Triangle] {
        &self.list
    }

    /// ψ of a triangle, J/m³; +∞ where it has no area.
    pub fn density(&self, triangle: &Triangle, F: &[[f64; 2]; 3]) -> f64 {
        let psi = terms(self.model, triangle.mu, triangle.lambda, &strain(&transpose_mul(F, F))).psi;
        if psi.is_nan() { f64::INFINITY } else { psi }
    }

    /// S of a triangle at C, Pa.
    pub fn second_stress(&self, triangle: &Triangle, C: &[[f64; 2]; 2]) -> [[f64; 2]; 2] {
        of_terms(&terms(self.model, triangle.mu, triangle.lambda, &strain(C)), C)
    }

    /// F (∂S/∂E : sym(FᵀdF)) with ∂S/∂E projected positive.
    fn material_tangent(&self, triangle: &Triangle, F: &M32) -> M66 {
        let C = transpose_mul(F, F);
        let t = terms(self.model, triangle.mu, triangle.lambda, &strain(&C));
        let cof = cofactor(&C);
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let units: [M22; 3] =
            [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]], [[0.0, half], [half, 0.0]]];
        let mut elasticity = [[0.0; 3]; 3];
        for (column, unit) in units.iter().enumerate() {
            let dC = unit.map(|row| row.map(|x| 2.0 * x));
            let dS = stress_change(&t, &cof, &dC);
            for (row, other) in units.iter().enumerate() {
                elasticity[row][column] = contract(other, &dS);
            }
        }
        let elasticity = project_positive(&elasticity);
        matrix_of(|dF| {
            let dE = transpose_mul(F, dF);
            let parts = units.map(|unit| contract(&unit, &dE));
            let mut dS = [[0.0; 2]; 2];
            for (row, unit) in elasticity.iter().zip(&units) {
                let size: f64 = row.iter().zip(parts).map(|(c, e)| c * e).sum();
                (0..4).for_each(|k| dS[k / 2][k % 2] += size * unit[k / 2][k % 2]);
            }
            mul(F, &dS)
        })
    }

    /// P of a triangle at F, the last column of which is 0, Pa.
    pub(super) fn stress(&self, triangle: &Triangle, F: &Mat3) -> Mat3 {
        let F = narrowed(F);
        widened(&mul(&F, &self.second_stress(triangle, &transpose_mul(&F, &F))))
    }

    /// ∂P/∂F at such an F, Pa.
    pub(super) fn exact_tangent(&self, triangle: &Triangle, F: &Mat3) -> Mat9 {
        let H = self.tangent(triangle, &narrowed(F), false);
        let entry = |x: usize, y: usize| match (x % 3, y % 3) {
            (2, _) | (_, 2) => 0.0,
            (a, b) => H[2 * (x / 3) + a][2 * (y / 3) + b],
        };
        std::array::from_fn(|x| std::array::from_fn(|y| entry(x, y)))
    }

    fn tangent(&self, triangle: &Triangle, F: &M32, projected: bool) -> M66 {
        let C = transpose_mul(F, F);
        let t = terms(self.model, triangle.mu, triangle.lambda, &strain(&C));
        let (S, cof) = (of_terms(&t, &C), cofactor(&C));
        let H = matrix_of(|dF| {
            let half = transpose_mul(F, dF);
            let dC: M22 = std::array::from_fn(|a| std::array::from_fn(|b| half[a][b] + half[b][a]));
            let dS = stress_change(&t, &cof, &dC);
            let (geometric, material) = (mul(dF, &S), mul(F, &dS));
            std::array::from_fn(|i| std::array::from_fn(|a| geometric[i][a] + material[i][a]))
        });
        if projected { project_positive(&H) } else { H }
    }
}
