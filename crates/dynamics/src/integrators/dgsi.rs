//! Semi-implicit step of discontinuous elements \[chen2019, ch. 5\]: linearly implicit Euler with the stiffness K_s of the
//! elements alone,
//!
//!   (M + hD + h²K_s) Δv = h(f_total − hK_s v_k),  q_{k+1} = q_k + h v_{k+1},
//!
//! and explicit coupling terms. On a body with `element = "dg"` K_s has one block for each tet and no coupling between
//! tets. On other systems it is the whole projected stiffness. The coupling terms are explicit, so their stiffness limits
//! the step.

use super::Entry;
use super::semi_implicit::{CLAIMS, Implicit, SemiImplicit};
use crate::StiffPart;

const LIMIT: &str = "hω < 2 for the frequencies ω that the coupling between discontinuous elements has by itself: it is explicit";

pub(super) const ENTRY: Entry = Entry {
    name: "dgsi",
    summary: "one linear solve per step with the stiffness of elements; what joins discontinuous ones explicit",
    cite: "chen2019",
    stable_deformed: None,
    options: &[],
    variants: &[],
    build: |_| SemiImplicit::boxed(&[Implicit::Part(StiffPart::Elements)], CLAIMS, Some(LIMIT)),
};
