//! ∂P/∂F of every isotropic model, exact and projected, from the derivatives of ψ with respect to
//! four invariants of F with signed singular values σ:
//!   I = ‖F‖² = Σσᵢ²,   Q = ‖FᵀF‖² = Σσᵢ⁴,   J = det F = Πσᵢ,   s = tr S = R : F = Σσᵢ.
//!
//! Exact: ∂P/∂F = Σ ψ_ab ∂a⊗∂b + Σ ψ_a ∂²a, with ∂I = 2F, ∂Q = 4FC, ∂J = cof F, ∂s = R and
//!   ∂²I = 2·1,  ∂²Q_{ij,kl} = 4(δ_ik C_lj + F_il F_kj + (FFᵀ)_ik δ_jl),  ∂²J_{ij,kl} = ε_ikm ε_jln F_mn,
//!   ∂²s : dF = dR = R\[ω\]×,  (tr(S) I − S) ω = axial(RᵀdF).
//!
//! Eigensystem \[smith2019\]: with F = U Σ Vᵀ, the nine eigenmatrices are, for each pair (i, j) with the
//! third index k,
//!   twist  U(e_i e_jᵀ − e_j e_iᵀ)Vᵀ/√2   λ = (ψ_i+ψ_j)/(σ_i+σ_j) = 2ψ_I + 4(σ_i²−σ_iσ_j+σ_j²)ψ_Q + σ_kψ_J + 2ψ_s/(σ_i+σ_j)
//!   flip   U(e_i e_jᵀ + e_j e_iᵀ)Vᵀ/√2   λ = (ψ_i−ψ_j)/(σ_i−σ_j) = 2ψ_I + 4(σ_i²+σ_iσ_j+σ_j²)ψ_Q − σ_kψ_J
//! and three scalings U diag(e) Vᵀ with (λ, e) the eigenpairs of the 3×3 matrix ∂²ψ/∂σ∂σ. The
//! quotients are written divided out, so that repeated singular values need no limit; the only
//! division left is the one by σ_i+σ_j, where the polar rotation itself is singular (held at 1e-8).

use super::invariants::scaling;
use super::{BasisTangent, Invariants, Isotropic, Mat9, Tangent, basis_tangent};
use crate::math::{Lanes, Mat3, Real, Svd, solve_spin};

/// From [`Isotropic::derivatives`].
pub struct ByInvariants;

impl<D: Isotropic> Tangent<D> for ByInvariants {
    fn hessian(c: &[f64], F: &Mat3) -> Mat9 {
        hessian::<D>(c, F)
    }

    fn hessian_projected(c: &[f64], F: &Mat3) -> Mat9 {
        hessian_projected::<D>(c, F)
    }

    #[inline(always)]
    fn in_basis<T: Real>(c: &[T], F: &Mat3<T>, basis: &Mat3<T>, out: &mut BasisTangent<T>) {
        basis_tangent::isotropic::<D, T>(c, F, basis, out);
    }

    #[inline(always)]
    fn in_basis_projected(c: &[Lanes], F: &Mat3<Lanes>, basis: &Mat3<Lanes>, out: &mut BasisTangent<Lanes>) {
        basis_tangent::isotropic_projected::<D, Lanes>(c, F, basis, out);
    }

    #[inline(always)]
    fn product_projected(c: &[Lanes], F: &Mat3<Lanes>, dF: &Mat3<Lanes>) -> Mat3<Lanes> {
        basis_tangent::isotropic_projected_product::<D>(c, F, dF)
    }
}

/// ∂P/∂F.
pub fn hessian<D: Isotropic>(c: &[f64], F: &Mat3) -> Mat9 {
    let C = F.transpose_mul(F);
    let (gQ, gJ) = ((*F * C).scale(4.0), F.cofactor());
    let R = if D::ROTATION { f64::rotation(F) } else { Mat3::zero() };
    let at = Invariants { I: C.trace(), Q: C.dot(&C), J: F.det(), s: R.dot(F) };
    let d = D::derivatives(c, &at);

    let [f, q, j, r] = [F.scale(2.0), gQ, gJ, R].map(|m| flat(&m));
    let mut K = [[0.0; 9]; 9];
    for a in 0..9 {
        // Row a of Σ ψ_ab ∂a⊗∂b, gathered by the right-hand factor.
        let by_f = d.II * f[a] + d.IJ * j[a];
        let by_q = d.QJ * j[a];
        let by_j = d.IJ * f[a] + d.QJ * q[a] + d.JJ * j[a];
        for b in 0..9 {
            K[a][b] = by_f * f[b] + by_q * q[b] + by_j * j[b] + d.ss * r[a] * r[b];
        }
        K[a][a] += 2.0 * d.I;
    }
    add_cofactor_derivative(&mut K, d.J, F);
    if D::QUARTIC {
        add_quartic_derivative(&mut K, 4.0 * d.Q, F, &C);
    }
    if D::ROTATION {
        add_rotation_derivative(&mut K, d.s, F, &R);
    }
    K
}

/// ∂P/∂F with its negative eigenvalues set to 0.
pub fn hessian_projected<D: Isotropic>(c: &[f64], F: &Mat3) -> Mat9 {
    let svd = Svd::new(F);
    let sigma = svd.sigma;
    let squares = sigma.map(|x| x * x);
    let at = Invariants {
        I: squares.iter().sum(),
        Q: squares.iter().map(|x| x * x).sum(),
        J: sigma[0] * sigma[1] * sigma[2],
        s: sigma.iter().sum(),
    };
    let d = D::derivatives(c, &at);

    let mut K = [[0.0; 9]; 9];
    for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        let (sum, product) = (squares[i] + squares[j], sigma[i] * sigma[j]);
        let spread = (sigma[i] + sigma[j]).max(1e-8);
        let twist = 2.0 * d.I + 4.0 * (sum - product) * d.Q + sigma[k] * d.J + 2.0 * d.s / spread;
        let flip = 2.0 * d.I + 4.0 * (sum + product) * d.Q - sigma[k] * d.J;
        let ij = flat(&Mat3::outer(svd.u.column(i), svd.v.column(j)));
        let ji = flat(&Mat3::outer(svd.u.column(j), svd.v.column(i)));
        add_square(&mut K, 0.5 * twist, &std::array::from_fn(|a| ij[a] - ji[a]));
        add_square(&mut K, 0.5 * flip, &std::array::from_fn(|a| ij[a] + ji[a]));
    }
    let (lambda, e) = scaling(&d, sigma).eigen_symmetric();
    for k in 0..3 {
        add_square(&mut K, lambda[k], &flat(&svd.compose(e.column(k))));
    }
    K
}

/// K += max(λ, 0) v vᵀ.
fn add_square(K: &mut Mat9, lambda: f64, v: &[f64; 9]) {
    if lambda > 0.0 {
        for a in 0..9 {
            let left = lambda * v[a];
            for b in 0..9 {
                K[a][b] += left * v[b];
            }
        }
    }
}

/// K += w ∂cof F/∂F.
fn add_cofactor_derivative(K: &mut Mat9, w: f64, F: &Mat3) {
    for i in 0..3 {
        for j in 0..3 {
            // cof_ij = F_km F_ln − F_kn F_lm with (i, k, l) and (j, m, n) cyclic.
            let (k, l) = ((i + 1) % 3, (i + 2) % 3);
            let (m, n) = ((j + 1) % 3, (j + 2) % 3);
            let row = &mut K[3 * i + j];
            row[3 * k + m] += w * F[(l, n)];
            row[3 * l + n] += w * F[(k, m)];
            row[3 * k + n] -= w * F[(l, m)];
            row[3 * l + m] -= w * F[(k, n)];
        }
    }
}

/// K += w ∂(F FᵀF)/∂F.
fn add_quartic_derivative(K: &mut Mat9, w: f64, F: &Mat3, C: &Mat3) {
    let B = F.mul_transpose(F);
    for i in 0..3 {
        for j in 0..3 {
            for k in 0..3 {
                for l in 0..3 {
                    let mut sum = F[(i, l)] * F[(k, j)];
                    if i == k {
                        sum += C[(l, j)];
                    }
                    if j == l {
                        sum += B[(i, k)];
                    }
                    K[3 * i + j][3 * k + l] += w * sum;
                }
            }
        }
    }
}

/// K += w ∂R/∂F.
fn add_rotation_derivative(K: &mut Mat9, w: f64, F: &Mat3, R: &Mat3) {
    let S = R.transpose_mul(F);
    for k in 0..3 {
        for l in 0..3 {
            let mut dF = Mat3::zero();
            dF[(k, l)] = 1.0;
            let spin = solve_spin(&S, R.transpose_mul(&dF).axial());
            let dR = flat(&(*R * Mat3::skew(spin)));
            for a in 0..9 {
                K[a][3 * k + l] += w * dR[a];
            }
        }
    }
}

/// The nine entries in the order of [`Mat9`].
pub fn flat(m: &Mat3) -> [f64; 9] {
    std::array::from_fn(|a| m.0[a / 3][a % 3])
}
