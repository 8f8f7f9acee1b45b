//! Elasticity tensors as symmetric 6×6 matrices.
//!
//! Mandel's notation: xx, yy, zz, yz, xz, xy with √2 on shear, so that a double contraction is a product of matrices,
//! and inverses and eigenvalues are those of the tensor.

use crate::materials::{Mat9, Material};
use crate::math::vector::V3;
use crate::math::{Mat3, Square};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// A fourth-order tensor with minor symmetries, in Mandel's notation.
pub type Tensor = Square<6>;

const PAIRS: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)];
const ROOTS: [f64; 6] = [1.0, 1.0, 1.0, SQRT_2, SQRT_2, SQRT_2];

/// The symmetric unit tensors e_a, by which stress and strain are Σ s_a e_a.
pub(crate) fn unit(a: usize) -> Mat3 {
    let (i, j) = PAIRS[a];
    let mut e = Mat3::zero();
    let value = if i == j { 1.0 } else { FRAC_1_SQRT_2 };
    e.0[i][j] = value;
    e.0[j][i] = value;
    e
}

/// The strain of a displacement u N with ∇N = g is B u.
pub(crate) fn strain_of(g: V3) -> [[f64; 3]; 6] {
    let [x, y, z] = g.map(|c| c * FRAC_1_SQRT_2);
    [[g[0], 0.0, 0.0], [0.0, g[1], 0.0], [0.0, 0.0, g[2]], [0.0, z, y], [z, 0.0, x], [y, x, 0.0]]
}

/// The tensor that a material is at small strain, Pa; `constants` are what the material made of its moduli.
pub fn of_material(material: &dyn Material, constants: &[f64]) -> Tensor {
    let hessian: Mat9 = material.hessian(constants, &Mat3::identity());
    let mut c = [[0.0; 6]; 6];
    let units: [Mat3; 6] = std::array::from_fn(unit);
    for a in 0..6 {
        for b in 0..6 {
            for (p, ea) in units[a].0.as_flattened().iter().enumerate().filter(|(_, e)| **e != 0.0) {
                for (q, eb) in units[b].0.as_flattened().iter().enumerate().filter(|(_, e)| **e != 0.0) {
                    c[a][b] += ea * hessian[p][q] * eb;
                }
            }
        }
    }
    symmetric(&c)
}

/// From the 21 constants C11, C12, … C16, C22, … C66 (Voigt, engineering shear), Pa.
pub fn from_voigt(c: &[f64; 21]) -> Tensor {
    let mut out = [[0.0; 6]; 6];
    let mut constants = c.iter();
    for i in 0..6 {
        for j in i..6 {
            let value = ROOTS[i] * ROOTS[j] * constants.next().copied().unwrap_or(0.0);
            (out[i][j], out[j][i]) = (value, value);
        }
    }
    out
}

/// The 21 constants C11, C12, … C16, C22, … C66 (Voigt, engineering shear), Pa.
pub fn to_voigt(c: &Tensor) -> [f64; 21] {
    let mut out = [0.0; 21];
    let mut slots = out.iter_mut();
    for i in 0..6 {
        for j in i..6 {
            if let Some(slot) = slots.next() {
                *slot = c[i][j] / (ROOTS[i] * ROOTS[j]);
            }
        }
    }
    out
}

/// Half of A + Aᵀ: major symmetry, to the bit.
pub(crate) fn symmetric(a: &Tensor) -> Tensor {
    std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (a[i][j] + a[j][i])))
}

/// A B.
pub(crate) fn product(a: &Tensor, b: &Tensor) -> Tensor {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..6).map(|k| a[i][k] * b[k][j]).sum()))
}

/// Aᵀ.
pub(crate) fn transposed(a: &Tensor) -> Tensor {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

/// A += c B.
pub(crate) fn add_scaled(a: &mut Tensor, c: f64, b: &Tensor) {
    for (a, b) in a.as_flattened_mut().iter_mut().zip(b.as_flattened()) {
        *a += c * b;
    }
}

/// Σ f(λₖ) eₖ eₖᵀ.
pub(crate) fn compose(values: &[f64; 6], vectors: &Tensor, f: impl Fn(f64) -> f64) -> Tensor {
    let mut out = [[0.0; 6]; 6];
    for k in 0..6 {
        let value = f(values[k]);
        for i in 0..6 {
            for j in 0..6 {
                out[i][j] += value * vectors[k][i] * vectors[k][j];
            }
        }
    }
    out
}
