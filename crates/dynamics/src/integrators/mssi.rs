//! Material-stiffness semi-implicit step \[chen2019, ch. 5\]: the linearly implicit Euler step with the material
//! stiffness alone,
//!
//!   (M + hD + h²K_s) Δv = h(f_total − hK_s v_k),  q_{k+1} = q_k + h v_{k+1}   (the sign of (5.8) there is misprinted),
//!
//! and explicit geometric stiffness. K_s of springs is k n nᵀ; of continua Bᵀ(∂S/∂E)B with the strain–displacement
//! matrix B. The matrix is positive definite for any stress. Every force, including the implicit one, acts along springs
//! (or as a symmetric stress) at q_k, so that q_k × Δp sums to 0. Unlike `semi-implicit`, the method therefore conserves
//! angular momentum exactly with lumped mass, and does not slow rigid rotation. The disadvantage is that the geometric
//! stiffness, and with it the tension T in springs of length l, limits the step: h² T/l ≲ m.

use super::semi_implicit::{CLAIMS, Implicit, SemiImplicit};
use super::{Claims, Entry};
use crate::StiffPart;

const LIMIT: &str =
    "h²T/l < m for springs of length l and mass m under a tension T: the geometric stiffness is explicit";

pub(super) const ENTRY: Entry = Entry {
    name: "mssi",
    summary: "one linear solve per step with the material stiffness; geometric stiffness explicit",
    cite: "chen2019",
    stable_deformed: Some(2.0),
    options: &[],
    variants: &[],
    build: |_| {
        let claims = Claims { angular_momentum: true, ..CLAIMS };
        SemiImplicit::boxed(&[Implicit::Part(StiffPart::Material)], claims, Some(LIMIT))
    },
};
