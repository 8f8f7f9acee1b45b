//! Material-stiffness semi-implicit step \[chen2019, ch. 5\]: the linearly implicit Euler step with the material
//! stiffness alone,
//!
//!   (M + hD + h²K_s) Δv = h(f_total − hK_s v_k),  q_{k+1} = q_k + h v_{k+1}   (the sign of (5.8) there is misprinted),
//!
//! and the geometric stiffness explicit. K_s of springs is k n nᵀ; of continua Bᵀ(∂S/∂E)B with the strain–displacement
//! matrix B. The matrix is positive definite whatever the stress. Every force, the implicit one included, then acts
//! along springs (or as a symmetric stress) at q_k, so that q_k × Δp sums to 0: unlike `semi-implicit` it keeps angular
//! momentum exactly with lumped mass, and does not slow rigid rotation. The price: geometric stiffness, and so tension
//! T in springs of length l, limits the step, h² T/l ≲ m.

use super::semi_implicit::{CLAIMS, Implicit, SemiImplicit};
use super::{Claims, Entry};
use crate::StiffPart;

pub(super) const ENTRY: Entry = Entry {
    name: "mssi",
    summary: "one linear solve per step with the material stiffness; geometric stiffness explicit",
    cite: "chen2019",
    options: &[],
    variants: &[],
    build: |_| {
        let claims = Claims { angular_momentum: true, ..CLAIMS };
        SemiImplicit::boxed(&[Implicit::Part(StiffPart::Material)], claims)
    },
};
