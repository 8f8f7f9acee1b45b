//! The stiffness C of `linear`, `co-rotational` and `anisotropic-neo-hookean`: two constants (λ, μ) if isotropic, or the 21 of
//! the upper triangle, row by row, in Voigt order xx, yy, zz, yz, xz, xy with engineering shear:
//! σ_yz = C44 · 2ε_yz.

use super::{ConstantsError, Given, Parameter};
use crate::math::{Mat3, Real, Square, eigen_symmetric};

macro_rules! parameters {
    ($($name:literal)*) => {
        /// The 21 constants as scene keys.
        pub(super) const PARAMETERS: &[Parameter] = &[$(Parameter {
            name: $name,
            doc: "Pa; entry of the full stiffness matrix (Voigt order xx yy zz yz xz xy, engineering \
                  shear). Given instead of E and nu: the nine orthotropic ones are required, the \
                  others are 0 if absent",
            default: None,
        }),*];
    };
}
parameters!("C11" "C12" "C13" "C14" "C15" "C16" "C22" "C23" "C24" "C25" "C26"
            "C33" "C34" "C35" "C36" "C44" "C45" "C46" "C55" "C56" "C66");

const ORTHOTROPIC: [&str; 9] = ["C11", "C12", "C13", "C22", "C23", "C33", "C44", "C55", "C66"];

/// (row, column) of the six Voigt components.
const VOIGT: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)];

/// [λ, μ], or the 21 constants if any of them was given.
pub(crate) fn constants(given: &Given) -> Result<Vec<f64>, ConstantsError> {
    if !PARAMETERS.iter().any(|p| given.get(p.name).is_some()) {
        return Ok(vec![given.lambda, given.mu]);
    }
    if let Some(name) = ORTHOTROPIC.iter().find(|name| given.get(name).is_none()) {
        return Err(ConstantsError::Missing { constant: name, needed: ORTHOTROPIC.join(", ") });
    }
    let c: Vec<f64> = PARAMETERS.iter().map(|p| given.get(p.name).unwrap_or(0.0)).collect();
    if let Some(p) = c.iter().position(|x| !x.is_finite()) {
        let name = PARAMETERS[p].name;
        return Err(ConstantsError::out_of_range(name, format!("{name} must be a finite number")));
    }
    let mut matrix: Square<6> = [[0.0; 6]; 6];
    for i in 0..6 {
        for j in 0..6 {
            matrix[i][j] = c[packed(i, j)];
        }
    }
    let (lambda, _) = eigen_symmetric(&matrix);
    let least = lambda.iter().fold(f64::INFINITY, |m, &x| m.min(x));
    let most = lambda.iter().fold(0.0f64, |m, &x| m.max(x.abs()));
    if least <= 1e-14 * most {
        return Err(ConstantsError::out_of_range(
            "C11",
            format!(
                "the stiffness matrix C11…C66 is not positive definite (least eigenvalue {least:e} Pa), \
             so some strain would cost no energy; check the signs and the order xx yy zz yz xz xy"
            ),
        ));
    }
    Ok(c)
}

/// Place of entry (i, j) in the packed upper triangle.
#[inline(always)]
const fn packed(i: usize, j: usize) -> usize {
    let (i, j) = if i < j { (i, j) } else { (j, i) };
    6 * i + j - i * (i + 1) / 2
}

/// C : ε for a symmetric ε.
#[inline(always)]
pub(crate) fn apply<T: Real>(c: &[T], e: &Mat3<T>) -> Mat3<T> {
    if let [lambda, mu] = *c {
        let p = lambda * e.trace();
        return e.scale(mu + mu) + Mat3::diagonal([p, p, p]);
    }
    let c: &[T; 21] = c.first_chunk().expect("2 or 21 constants");
    let v = VOIGT.map(|(i, j)| if i == j { e[(i, j)] } else { e[(i, j)] + e[(j, i)] });
    let mut out = Mat3::zero();
    for (n, (i, j)) in VOIGT.into_iter().enumerate() {
        let mut sum = c[packed(n, 0)] * v[0];
        for m in 1..6 {
            sum += c[packed(n, m)] * v[m];
        }
        out[(i, j)] = sum;
        out[(j, i)] = sum;
    }
    out
}
