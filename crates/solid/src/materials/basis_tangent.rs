//! Second derivatives of ψ in a basis: with F = F₀ + Σ xₙ bₙᵀ for three vectors bₙ, ∂²ψ/∂xₙ∂xₘ.
//!
//! An element whose F is linear in nodal positions xₙ has such vectors, the basis bₙ = ∇Nₙ of its shape functions,
//! and its stiffness is this times its volume. For isotropic models the blocks follow directly from the derivatives
//! of ψ by the invariants. That takes a quarter of the work of ∂P/∂F, and goes in lanes.

use super::invariants::{Derivatives, Invariants, Isotropic, scaling};
use super::{MAX_CONSTANTS, Mat9};
use crate::math::{LANES, Lanes, Mat3, Real, Scalar, spin_compliance, three};

/// Row-major 3×3 blocks ∂²ψ/∂xₙ∂xₘ of (n, m) = (1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3), Pa/m²:
/// K(n,m)ᵢₖ = Σⱼₗ H₍ᵢⱼ₎₍ₖₗ₎ bₙⱼ bₘₗ with H = ∂P/∂F.
pub type BasisTangent<T = f64> = [[T; 9]; 6];

/// The pairs of [`BasisTangent`], counted from 0.
const PAIRS: [(usize, usize); 6] = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)];

/// From H = ∂P/∂F; the rows of `basis` are b₁, b₂, b₃.
pub fn contract(tangent: &Mat9, basis: &Mat3) -> BasisTangent {
    // half[n][i][3k+l] = Σⱼ H₍ᵢⱼ₎₍ₖₗ₎ bₙⱼ
    let mut half = [[[0.0; 9]; 3]; 3];
    for n in 0..3 {
        for i in 0..3 {
            for j in 0..3 {
                for kl in 0..9 {
                    half[n][i][kl] += basis[(n, j)] * tangent[3 * i + j][kl];
                }
            }
        }
    }
    PAIRS.map(|(n, m)| {
        std::array::from_fn(|ik| {
            let row = &half[n][ik / 3][3 * (ik % 3)..];
            row[0] * basis[(m, 0)] + row[1] * basis[(m, 1)] + row[2] * basis[(m, 2)]
        })
    })
}

/// From the ∂P/∂F that `tangent` gives of constants and F, lane by lane.
pub fn each_lane(
    c: &[Lanes],
    F: &Mat3<Lanes>,
    basis: &Mat3<Lanes>,
    out: &mut BasisTangent<Lanes>,
    tangent: &dyn Fn(&[f64], &Mat3) -> Mat9,
) {
    let mut constants = [0.0; MAX_CONSTANTS];
    for lane in 0..LANES {
        constants.iter_mut().zip(c).for_each(|(to, c)| *to = c.0[lane]);
        let one = contract(&tangent(&constants[..c.len()], &F.lane(lane)), &basis.lane(lane));
        for (to, x) in out.iter_mut().flatten().zip(one.iter().flatten()) {
            to.0[lane] = *x;
        }
    }
}

/// ∂P/∂F : dF from the ∂P/∂F that `tangent` gives of constants and F, lane by lane.
pub fn product_of_each_lane(
    c: &[Lanes],
    F: &Mat3<Lanes>,
    dF: &Mat3<Lanes>,
    tangent: &dyn Fn(&[f64], &Mat3) -> Mat9,
) -> Mat3<Lanes> {
    let mut constants = [0.0; MAX_CONSTANTS];
    let mut out = Mat3::zero();
    for lane in 0..LANES {
        constants.iter_mut().zip(c).for_each(|(to, c)| *to = c.0[lane]);
        out.set_lane(lane, &product(&tangent(&constants[..c.len()], &F.lane(lane)), &dF.lane(lane)));
    }
    out
}

/// ∂P/∂F : dF.
pub fn product(tangent: &Mat9, dF: &Mat3) -> Mat3 {
    let mut out = Mat3::zero();
    for (x, row) in tangent.iter().enumerate() {
        let mut sum = 0.0;
        for (y, k) in row.iter().enumerate() {
            sum += k * dF.0[y / 3][y % 3];
        }
        out.0[x / 3][x % 3] = sum;
    }
    out
}

/// From the dP of a dF: column k of K(n,m) is dP bₙ of dF = eₖ bₘᵀ.
#[inline(always)]
pub fn from_differential<T: Real>(
    basis: &Mat3<T>,
    dP: impl Fn(&Mat3<T>) -> Mat3<T>,
    out: &mut BasisTangent<T>,
) {
    for m in 0..3 {
        for k in 0..3 {
            let mut dF = Mat3::zero();
            dF.0[k] = basis.0[m];
            let dP = dP(&dF);
            for n in m..3 {
                let column = dP.mul_vec(basis.0[n]);
                let block = &mut out[n * (n + 1) / 2 + m];
                for i in 0..3 {
                    block[3 * i + k] = column[i];
                }
            }
        }
    }
}

/// From the derivatives of ψ by I, Q, J and s (see [`super::isotropic`]). With b = bₙ, b' = bₘ:
/// ∂I·b = 2Fb, ∂Q·b = 4FCb, ∂J·b = cof F b, ∂s·b = Rb, and
///   ∂²I: 2 b·b' 1,   ∂²Q: 4(Fb·Fb' 1 + Fb' (Fb)ᵀ + b·b' FFᵀ),   ∂²J: \[w\]× with w = −F(b × b'),
///   ∂²s: (R\[b\]×) (tr(S) 1 − S)⁻¹ (R\[b'\]×)ᵀ.
#[inline(always)]
pub fn isotropic<D: Isotropic, T: Real>(c: &[T], F: &Mat3<T>, basis: &Mat3<T>, out: &mut BasisTangent<T>) {
    let C = F.transpose_mul(F);
    let R = if D::ROTATION { T::rotation(F) } else { Mat3::zero() };
    let at = Invariants { I: C.trace(), Q: C.dot(&C), J: F.det(), s: R.dot(F) };
    let d = D::derivatives(c, &at);
    // One column for each basis vector.
    let moved = F.mul_transpose(basis);
    let (along_j, square) = (F.cofactor().mul_transpose(basis), basis.mul_transpose(basis));
    // Left-hand factors of what ends in ∂I·b' and in ∂J·b'.
    let (by_i, by_j) = match D::COUPLED {
        true => (
            Mat3::combine(d.II.scale(4.0), &moved, d.IJ.scale(2.0), &along_j),
            Mat3::combine(d.IJ.scale(2.0), &moved, d.JJ, &along_j),
        ),
        false => (Mat3::zero(), along_j.scale(d.JJ)),
    };
    // ψ_J F(b × b') for the pair that column k has no part in, cyclically.
    let spins = F.mul_transpose(&basis.cofactor()).scale(d.J);
    for (block, (n, m)) in out.iter_mut().zip(PAIRS) {
        let own = (d.I + d.I) * square[(n, m)];
        for r in 0..3 {
            for s in 0..3 {
                let start = if r == s { own } else { T::zero() };
                let mut sum = by_j[(r, n)].mul_add(along_j[(s, m)], start);
                if D::COUPLED {
                    sum = by_i[(r, n)].mul_add(moved[(s, m)], sum);
                }
                block[3 * r + s] = sum;
            }
        }
        if n != m {
            let k = 3 - n - m;
            let w = spins.column(k);
            // bₙ × bₘ is row k of the cofactors where (n, m, k) is a cyclic order, and minus it otherwise.
            let cyclic = (n + 1) % 3 == m;
            for (r, s, t) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
                let w = if cyclic { w[t] } else { -w[t] };
                block[3 * r + s] += w;
                block[3 * s + r] -= w;
            }
        }
    }
    if D::QUARTIC {
        add_quartic(out, [d.Q, d.QJ], F, &C, basis, [&moved, &along_j, &square]);
    }
    if D::ROTATION {
        add_rotation(out, [d.s, d.ss], F, &R, basis);
    }
}

/// What ψ_Q and ψ_QJ add.
#[inline(always)]
fn add_quartic<T: Real>(
    out: &mut BasisTangent<T>,
    [by_q, by_qj]: [T; 2],
    F: &Mat3<T>,
    C: &Mat3<T>,
    basis: &Mat3<T>,
    [moved, along_j, square]: [&Mat3<T>; 3],
) {
    let along_q = (*F * *C).scale(T::new(4.0)).mul_transpose(basis);
    let (B, products) = (F.mul_transpose(F), moved.transpose_mul(moved));
    let four = by_q.scale(4.0);
    for (block, (n, m)) in out.iter_mut().zip(PAIRS) {
        for r in 0..3 {
            for s in 0..3 {
                let mut sum = moved[(r, m)].mul_add(moved[(s, n)], square[(n, m)] * B[(r, s)]);
                if r == s {
                    sum += products[(n, m)];
                }
                let mixed = along_q[(r, n)].mul_add(along_j[(s, m)], along_j[(r, n)] * along_q[(s, m)]);
                block[3 * r + s] += four.mul_add(sum, by_qj * mixed);
            }
        }
    }
}

/// What ψ_s and ψ_ss add.
#[inline(always)]
fn add_rotation<T: Real>(
    out: &mut BasisTangent<T>,
    [by_s, by_ss]: [T; 2],
    F: &Mat3<T>,
    R: &Mat3<T>,
    basis: &Mat3<T>,
) {
    let compliance = spin_compliance(&R.transpose_mul(F)).scale(by_s);
    let turned = R.mul_transpose(basis);
    let spun: [Mat3<T>; 3] = three(
        #[inline(always)]
        |n| *R * Mat3::skew(basis.0[n]),
    );
    let left: [Mat3<T>; 3] = three(
        #[inline(always)]
        |n| spun[n] * compliance,
    );
    for (block, (n, m)) in out.iter_mut().zip(PAIRS) {
        let sum = left[n].mul_transpose(&spun[m]);
        for r in 0..3 {
            for s in 0..3 {
                block[3 * r + s] += (by_ss * turned[(r, n)]).mul_add(turned[(s, m)], sum[(r, s)]);
            }
        }
    }
}

/// F = U Σ Vᵀ, and the derivatives of ψ there.
struct PrincipalAxes<T> {
    U: Mat3<T>,
    V: Mat3<T>,
    sigma: [T; 3],
    derivatives: Derivatives<T>,
}

impl<T: Real> PrincipalAxes<T> {
    #[inline(always)]
    fn new<D: Isotropic>(c: &[T], F: &Mat3<T>) -> Self {
        // F = R S = (R V) Σ Vᵀ.
        let R = T::rotation(F);
        let (sigma, V) = R.transpose_mul(F).symmetric_part().eigen_symmetric_sweeping();
        let squares = three(
            #[inline(always)]
            |k| sigma[k] * sigma[k],
        );
        let at = Invariants {
            I: squares[0] + squares[1] + squares[2],
            Q: squares[0].squared() + squares[1].squared() + squares[2].squared(),
            J: sigma[0] * sigma[1] * sigma[2],
            s: sigma[0] + sigma[1] + sigma[2],
        };
        Self { U: R * V, V, sigma, derivatives: D::derivatives(c, &at) }
    }

    /// The eigenvalues of the twist and of the flip in the plane (i, j), with k the third axis.
    #[inline(always)]
    fn twist_and_flip(&self, i: usize, j: usize, k: usize) -> [T; 2] {
        let Self { sigma, derivatives: d, .. } = self;
        let (sum, product) = (sigma[i] * sigma[i] + sigma[j] * sigma[j], sigma[i] * sigma[j]);
        let spread = sigma[i] + sigma[j];
        let floor = T::new(1e-8);
        let spread = T::select_positive(spread - floor, spread, floor);
        let along = sigma[k] * d.J;
        let shear = d.I + d.I;
        let twist = shear + (sum - product) * d.Q.scale(4.0) + along + (d.s + d.s) / spread;
        let flip = shear + (sum + product) * d.Q.scale(4.0) - along;
        [twist, flip]
    }
}

/// The same with the negative eigenvalues of ∂P/∂F set to 0, from its eigensystem (see [`super::isotropic`]): a sum of
/// squares of what each of the nine eigenmatrices makes of the basis.
#[inline(always)]
pub fn isotropic_projected<D: Isotropic, T: Real>(
    c: &[T],
    F: &Mat3<T>,
    basis: &Mat3<T>,
    out: &mut BasisTangent<T>,
) {
    let axes = PrincipalAxes::new::<D>(c, F);
    let PrincipalAxes { U, V, .. } = &axes;
    // The basis in the axes of V, one column for each vector.
    let b = V.transpose_mul(&basis.transpose());
    *out = [[T::zero(); 9]; 6];
    for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        let [twist, flip] = axes.twist_and_flip(i, j, k);
        for (lambda, sign) in [(twist, -1.0), (flip, 1.0)] {
            let moves: [[T; 3]; 3] = three(
                #[inline(always)]
                |n| {
                    three(
                        #[inline(always)]
                        |r| U[(r, i)] * b[(j, n)] + (U[(r, j)] * b[(i, n)]).scale(sign),
                    )
                },
            );
            add_square(out, lambda.scale(0.5), &moves);
        }
    }
    let (lambda, e) = scaling(&axes.derivatives, axes.sigma).eigen_symmetric_sweeping();
    for k in 0..3 {
        let moves: [[T; 3]; 3] = three(
            #[inline(always)]
            |n| {
                let w = three(
                    #[inline(always)]
                    |x| e[(x, k)] * b[(x, n)],
                );
                U.mul_vec(w)
            },
        );
        add_square(out, lambda[k], &moves);
    }
}

/// dP = ∂P/∂F : dF with the negative eigenvalues of ∂P/∂F set to 0. In the axes of U and V, a twist or a flip is a pair of
/// entries, and the scalings are the diagonal.
#[inline(always)]
pub fn isotropic_projected_product<D: Isotropic>(
    c: &[Lanes],
    F: &Mat3<Lanes>,
    dF: &Mat3<Lanes>,
) -> Mat3<Lanes> {
    let axes = PrincipalAxes::new::<D>(c, F);
    let given = axes.U.transpose_mul(&(*dF * axes.V));
    let mut found = Mat3::zero();
    for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        let [twist, flip] = axes.twist_and_flip(i, j, k).map(
            #[inline(always)]
            |lambda| Lanes::select_positive(lambda, lambda, Lanes::zero()).scale(0.5),
        );
        let (a, b) = (given[(i, j)], given[(j, i)]);
        let (twist, flip) = (twist * (a - b), flip * (a + b));
        found[(i, j)] = flip + twist;
        found[(j, i)] = flip - twist;
    }
    let diagonal = project_and_multiply(
        &scaling(&axes.derivatives, axes.sigma),
        [given[(0, 0)], given[(1, 1)], given[(2, 2)]],
    );
    for x in 0..3 {
        found[(x, x)] = diagonal[x];
    }
    (axes.U * found).mul_transpose(&axes.V)
}

/// A x with the negative eigenvalues of A set to 0. Its eigenvectors are needed in few lanes only: most often A is positive.
#[inline(always)]
fn project_and_multiply(a: &Mat3<Lanes>, x: [Lanes; 3]) -> [Lanes; 3] {
    let minor = a[(0, 0)] * a[(1, 1)] - a[(1, 0)] * a[(1, 0)];
    let (first, det) = (a[(0, 0)], a.det());
    let direct = a.mul_vec(x);
    let positive = |lane: usize| first.0[lane] > 0.0 && minor.0[lane] > 0.0 && det.0[lane] > 0.0;
    if (0..LANES).all(positive) {
        return direct;
    }
    let (lambda, e) = a.eigen_symmetric_sweeping();
    let mut projected = [Lanes::zero(); 3];
    for k in 0..3 {
        let mut along = Lanes::zero();
        for i in 0..3 {
            along = e[(i, k)].mul_add(x[i], along);
        }
        let along = along * Lanes::select_positive(lambda[k], lambda[k], Lanes::zero());
        for i in 0..3 {
            projected[i] = e[(i, k)].mul_add(along, projected[i]);
        }
    }
    for lane in (0..LANES).filter(|lane| positive(*lane)) {
        for i in 0..3 {
            projected[i].0[lane] = direct[i].0[lane];
        }
    }
    projected
}

/// K(n,m) += max(λ, 0) xₙ xₘᵀ.
#[inline(always)]
fn add_square<T: Real>(out: &mut BasisTangent<T>, lambda: T, x: &[[T; 3]; 3]) {
    let lambda = T::select_positive(lambda, lambda, T::zero());
    for (block, (n, m)) in out.iter_mut().zip(PAIRS) {
        for r in 0..3 {
            let left = lambda * x[n][r];
            for s in 0..3 {
                block[3 * r + s] = left.mul_add(x[m][s], block[3 * r + s]);
            }
        }
    }
}
