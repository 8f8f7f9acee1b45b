//! The material part of ∂P/∂F: with P = F S, dP = dF S + F (∂S/∂E : dE), dE = sym(FᵀdF), and only the second term, its
//! ∂S/∂E projected positive in the space of strains. It does not see rotations, whatever the stress.

use crate::materials::basis_tangent::{contract, product};
use crate::materials::{BasisTangent, Mat9, Material, Places};
use crate::math::{LANES, Lanes, Mat3, Scalar, project_positive};
use lilyan_parallel::simd::{self, Kernel, Quads};

/// Pairs of the six strains, in Mandel's order.
const PAIRS: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)];

/// The strain of unit norm along Mandel's direction k.
fn unit_strain(k: usize) -> Mat3 {
    let (a, b) = PAIRS[k];
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let size = if a == b { 1.0 } else { half };
    Mat3::from_fn(|i, j| if (i, j) == (a, b) || (i, j) == (b, a) { size } else { 0.0 })
}

/// Entries that go through the stages together.
const BATCH: usize = 8;
const ZERO: Mat3<Lanes> = Mat3([[Lanes([0.0; LANES]); 3]; 3]);

/// Of a material at a list of points, in a basis for each entry. It is ∂P/∂F without dF S, in lanes; where ∂S/∂E is not positive,
/// [`material_tangent`].
pub(in crate::elements) fn material_tangents(
    material: &dyn Material,
    at: Places<'_>,
    F: &[Mat3<Lanes>],
    bases: &[&Mat3<Lanes>],
    out: &mut [BasisTangent<Lanes>],
) {
    if !material.card().frame_indifferent {
        return material.tangents(at, true, F, bases, out);
    }
    let unit = Mat3::identity();
    for (batch, F) in F.chunks(BATCH).enumerate() {
        let (first, count) = (BATCH * batch, F.len());
        let at = Places { first: at.first + first, ..at };
        let (mut P, mut tangents) = ([ZERO; BATCH], [[[Lanes::zero(); 9]; 6]; BATCH]);
        material.stresses(at, F, &mut P[..count]);
        material.tangents(at, false, F, &[&unit; BATCH][..count], &mut tangents[..count]);
        let mut positive = [[true; LANES]; BATCH];
        let (bases, out) = (&bases[first..first + count], &mut out[first..first + count]);
        simd::run(WithoutStress { F, P: &P, tangents: &tangents, bases, out, positive: &mut positive });
        for (k, positive) in positive[..count].iter().enumerate() {
            for lane in (0..LANES).filter(|lane| !positive[*lane]) {
                let c = at.constants.of((at.first + k) * LANES + lane);
                let one = contract(&material_tangent(material, c, &F[k].lane(lane)), &bases[k].lane(lane));
                for (to, x) in out[k].as_flattened_mut().iter_mut().zip(one.as_flattened()) {
                    to.0[lane] = *x;
                }
            }
        }
    }
}

/// Takes dF S out of ∂P/∂F, which is given between the unit vectors, and writes what remains in the bases.
struct WithoutStress<'a> {
    F: &'a [Mat3<Lanes>],
    P: &'a [Mat3<Lanes>],
    tangents: &'a [BasisTangent<Lanes>],
    bases: &'a [&'a Mat3<Lanes>],
    out: &'a mut [BasisTangent<Lanes>],
    /// Whether ∂S/∂E is positive.
    positive: &'a mut [[bool; LANES]],
}

impl Kernel for WithoutStress<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, _: M) {
        for (k, F) in self.F.iter().enumerate() {
            let inverse = F.inverse();
            let S = (inverse * self.P[k]).symmetric_part();
            // Block (n, m) of the material part.
            let mut parts = [[ZERO; 3]; 3];
            for n in 0..3 {
                for m in 0..=n {
                    let block = &self.tangents[k][n * (n + 1) / 2 + m];
                    let part = Mat3([
                        [block[0] - S[(n, m)], block[1], block[2]],
                        [block[3], block[4] - S[(n, m)], block[5]],
                        [block[6], block[7], block[8] - S[(n, m)]],
                    ]);
                    parts[n][m] = part;
                    parts[m][n] = part.transpose();
                }
            }
            self.positive[k] = is_positive(&inverse, F.det(), &parts);
            let basis = self.bases[k];
            for n in 0..3 {
                let mut half = [ZERO; 3];
                for l in 0..3 {
                    for j in 0..3 {
                        half[l] = half[l] + parts[j][l].scale(basis[(n, j)]);
                    }
                }
                for m in 0..=n {
                    let mut sum = ZERO;
                    for l in 0..3 {
                        sum = sum + half[l].scale(basis[(m, l)]);
                    }
                    let block = &mut self.out[k][n * (n + 1) / 2 + m];
                    for x in 0..9 {
                        block[x] = sum.0[x / 3][x % 3];
                    }
                }
            }
        }
    }
}

/// Whether ∂S/∂E, between whose unit vectors `parts` is F (∂S/∂E) Fᵀ, is positive definite beyond rounding.
#[inline(always)]
fn is_positive(inverse: &Mat3<Lanes>, det: Lanes, parts: &[[Mat3<Lanes>; 3]; 3]) -> [bool; LANES] {
    // Entry (p, n) of dS by entry (q, m) of dE.
    let mut pulled = [[ZERO; 3]; 3];
    for n in 0..3 {
        for m in 0..3 {
            pulled[n][m] = (*inverse * parts[n][m]).mul_transpose(inverse);
        }
    }
    let mut l = [[Lanes::zero(); 6]; 6];
    let mut positive = [0, 1, 2, 3].map(
        #[inline(always)]
        |lane: usize| det.0[lane].abs() >= LEAST_VOLUME,
    );
    for j in 0..6 {
        for i in j..6 {
            let ((p, n), (q, m)) = (PAIRS[i], PAIRS[j]);
            let root = std::f64::consts::SQRT_2;
            let scale = if p == n { 1.0 } else { root } * if q == m { 1.0 } else { root };
            l[i][j] = pulled[n][m][(p, q)].scale(scale);
        }
    }
    // L D Lᵀ in place, with D on the diagonal.
    for j in 0..6 {
        let (before, mut pivot) = (l[j][j], l[j][j]);
        for k in 0..j {
            pivot -= l[j][k] * l[j][k] * l[k][k];
        }
        for lane in 0..LANES {
            positive[lane] &= pivot.0[lane] > 1e-12 * before.0[lane].abs();
        }
        l[j][j] = pivot;
        let inverse = Lanes::one() / pivot;
        for i in j + 1..6 {
            let mut sum = l[i][j];
            for k in 0..j {
                sum -= l[i][k] * l[j][k] * l[k][k];
            }
            l[i][j] = sum * inverse;
        }
    }
    positive
}

/// |det F| below which an element counts as flat: a cube of 1e-4 of its size has lost half of its digits.
const LEAST_VOLUME: f64 = 1e-12;

/// Of a material at F. One that minds being rotated has no such part, nor has a flat element; they give all of ∂P/∂F,
/// projected.
pub(in crate::elements) fn material_tangent(material: &dyn Material, c: &[f64], F: &Mat3) -> Mat9 {
    if !material.card().frame_indifferent || F.det().abs() < LEAST_VOLUME {
        return material.hessian_projected(c, F);
    }
    let inverse = F.inverse();
    let tangent = material.hessian(c, F);
    let S = (inverse * material.stress(c, F)).symmetric_part();
    // Column k of ∂S/∂E: dF = F⁻ᵀ dE makes FᵀdF = dE, and dS = F⁻¹(dP − dF S).
    let units: [Mat3; 6] = std::array::from_fn(unit_strain);
    let mut elasticity = [[0.0; 6]; 6];
    for (k, unit) in units.iter().enumerate() {
        let dF = inverse.transpose_mul(unit);
        let dP = product(&tangent, &dF);
        let dS = inverse * (dP - dF * S);
        for (row, other) in units.iter().enumerate() {
            elasticity[row][k] = other.dot(&dS);
        }
    }
    let elasticity = project_positive(&elasticity);
    // F times the unit strains, so that E = Σ (F uₖ : dF) uₖ.
    let rows: [Mat3; 6] = std::array::from_fn(|k| *F * units[k]);
    let mut out = [[0.0; 9]; 9];
    for (a, row) in rows.iter().enumerate() {
        // Σ_b (∂S/∂E)_ab F u_b.
        let mut stress = [0.0; 9];
        for (b, e) in elasticity[a].iter().enumerate() {
            for (k, stress) in stress.iter_mut().enumerate() {
                *stress += e * rows[b].0[k / 3][k % 3];
            }
        }
        for (x, entries) in out.iter_mut().enumerate() {
            let left = row.0[x / 3][x % 3];
            for (entry, right) in entries.iter_mut().zip(&stress) {
                *entry += left * right;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::materials::{CATALOGUE, Constants, Given};

    /// In lanes and tet by tet, the material part is the same, projected or not.
    #[test]
    fn lanes_give_the_part_of_each_tet() {
        let given = Given::from_young(1e5, 0.3).expect("ordinary moduli");
        let bases = Mat3::from_fn(|i, j| Lanes([0, 1, 2, 3].map(|l| ((7 * i + 3 * j + l) as f64).sin())));
        for material in CATALOGUE {
            let c = material.constants(&given).expect("ordinary constants");
            let mut projected = 0;
            for strain in [0.05, 0.4] {
                let F = Mat3::from_fn(|i, j| {
                    let own = if i == j { 1.0 + 2.0 * strain } else { 0.0 };
                    Lanes([0, 1, 2, 3].map(|l| own + strain * ((5 * i + 2 * j + 11 * l) as f64).cos()))
                });
                let constants = Constants::uniform(c.clone());
                let mut out = [[[Lanes::zero(); 9]; 6]];
                let at = Places { constants: &constants, first: 0 };
                material_tangents(*material, at, &[F], &[&bases], &mut out);
                for lane in 0..LANES {
                    let tangent = material_tangent(*material, &c, &F.lane(lane));
                    let all = material.hessian(&c, &F.lane(lane));
                    projected += usize::from(tangent != all);
                    let one = contract(&tangent, &bases.lane(lane));
                    let size = one.as_flattened().iter().fold(0.0f64, |m, x| m.max(x.abs()));
                    for (a, b) in out[0].as_flattened().iter().zip(one.as_flattened()) {
                        assert!((a.0[lane] - b).abs() < 1e-11 * size, "{}", material.card().name);
                    }
                }
            }
            assert!(projected > 0 || !material.card().frame_indifferent);
        }
    }
}
