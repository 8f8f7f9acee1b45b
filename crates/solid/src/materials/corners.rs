//! The stiffness of a tet between its corners, from ∂P/∂F or, for isotropic models without a rotation, straight
//! from the derivatives of ψ: that takes a quarter of the work.

use super::Mat9;
use super::isotropic::{Derivatives, Invariants, Isotropic};
use crate::math::Mat3;

/// Row-major 3×3 blocks of corners (1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3), per volume: K(n,m)ᵢₖ = Σⱼₗ H₍ᵢⱼ₎₍ₖₗ₎ ∇Nₙⱼ ∇Nₘₗ.
pub type Corners = [[f64; 9]; 6];

/// The pairs of [`Corners`], counted from 0.
const PAIRS: [(usize, usize); 6] = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)];

/// From H = ∂P/∂F; the rows of `gradients` are ∇N₁, ∇N₂, ∇N₃.
pub fn contract(tangent: &Mat9, gradients: &Mat3) -> Corners {
    // half[n][i][3k+l] = Σⱼ H₍ᵢⱼ₎₍ₖₗ₎ ∇Nₙⱼ
    let mut half = [[[0.0; 9]; 3]; 3];
    for n in 0..3 {
        for i in 0..3 {
            for j in 0..3 {
                for kl in 0..9 {
                    half[n][i][kl] += gradients[(n, j)] * tangent[3 * i + j][kl];
                }
            }
        }
    }
    PAIRS.map(|(n, m)| {
        std::array::from_fn(|ik| {
            let row = &half[n][ik / 3][3 * (ik % 3)..];
            row[0] * gradients[(m, 0)] + row[1] * gradients[(m, 1)] + row[2] * gradients[(m, 2)]
        })
    })
}

/// The same from the derivatives of ψ by I, Q and J (see [`super::isotropic`]). With b = ∇Nₙ, b' = ∇Nₘ:
/// ∂I·b = 2Fb, ∂Q·b = 4FCb, ∂J·b = cof F b, and
///   ∂²I: 2 b·b' 1,   ∂²Q: 4(Fb·Fb' 1 + Fb' (Fb)ᵀ + b·b' FFᵀ),   ∂²J: \[w\]× with w = −F(b × b').
pub fn isotropic<D: Isotropic>(c: &[f64], F: &Mat3, gradients: &Mat3) -> Corners {
    const { assert!(!D::ROTATION) };
    let C = F.transpose_mul(F);
    let at = Invariants { I: C.trace(), Q: C.dot(&C), J: F.det(), s: 0.0 };
    let d: Derivatives = D::derivatives(c, &at);
    // One column for each corner.
    let moved = F.mul_transpose(gradients);
    let (along_j, square) = (F.cofactor().mul_transpose(gradients), gradients.mul_transpose(gradients));
    let quartic = d.Q != 0.0 || d.QJ != 0.0;
    let (along_q, B) = match quartic {
        true => ((*F * C).scale(4.0).mul_transpose(gradients), F.mul_transpose(F)),
        false => (Mat3::zero(), Mat3::zero()),
    };
    PAIRS.map(|(n, m)| {
        let (f, g) = (moved.column(n), moved.column(m));
        let (j, k) = (along_j.column(n), along_j.column(m));
        let b = gradients.0[n];
        let e = gradients.0[m];
        let cross = [b[1] * e[2] - b[2] * e[1], b[2] * e[0] - b[0] * e[2], b[0] * e[1] - b[1] * e[0]];
        let w: [f64; 3] = std::array::from_fn(|i| {
            d.J * (F[(i, 0)] * cross[0] + F[(i, 1)] * cross[1] + F[(i, 2)] * cross[2])
        });
        let mut block = [0.0; 9];
        for r in 0..3 {
            let by_g = 4.0 * d.II * f[r] + 2.0 * d.IJ * j[r];
            let by_k = 2.0 * d.IJ * f[r] + d.JJ * j[r];
            for s in 0..3 {
                block[3 * r + s] = by_g * g[s] + by_k * k[s];
            }
        }
        let own = 2.0 * d.I * square[(n, m)];
        for (r, s, t) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            block[4 * r] += own;
            block[3 * r + s] += w[t];
            block[3 * s + r] -= w[t];
        }
        if quartic {
            let (p, q) = (along_q.column(n), along_q.column(m));
            let own = f[0] * g[0] + f[1] * g[1] + f[2] * g[2];
            for r in 0..3 {
                block[4 * r] += 4.0 * d.Q * own;
                for s in 0..3 {
                    block[3 * r + s] += 4.0 * d.Q * (g[r] * f[s] + square[(n, m)] * B[(r, s)])
                        + d.QJ * (p[r] * k[s] + j[r] * q[s]);
                }
            }
        }
        block
    })
}
