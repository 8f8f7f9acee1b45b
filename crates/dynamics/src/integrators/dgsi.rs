//! Semi-implicit step of discontinuous elements \[chen2019, ch. 5\]: linearly implicit Euler with the stiffness K_s of the
//! elements alone,
//!
//!   (M + hD + h²K_s) Δv = h(f_total − hK_s v_k),  q_{k+1} = q_k + h v_{k+1},
//!
//! and what joins them explicit. On a body of `element = "dg"` K_s has one block for each tet, and nothing couples
//! them; on other systems it is all of the projected stiffness. The gluing of faces, being explicit, limits the step as
//! its own stiffness does.

use super::Entry;
use super::semi_implicit::{CLAIMS, Implicit, SemiImplicit};
use crate::StiffPart;

pub(super) const ENTRY: Entry = Entry {
    name: "dgsi",
    summary: "one linear solve per step with the stiffness of elements; what joins discontinuous ones explicit",
    cite: "chen2019",
    options: &[],
    variants: &[],
    build: |_| SemiImplicit::boxed(&[Implicit::Part(StiffPart::Elements)], CLAIMS),
};
