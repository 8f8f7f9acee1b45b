//! Symplectic time adaption \[kharevych2010\] §3.3.3–3.3.5: Δt = hσ enters the discrete action as a constraint,
//! whose multiplier λ measures how far the discrete energy is from the true one.
//!
//!   D₁L_k + D₂L_{k−1} − hλ_{k−1}∂₂σ_{k−1} − hλ_k∂₁σ_k + F⁺_{k−1}Δt_{k−1} + F⁻_kΔt_k = 0,  λ_k from energies.
//!
//! For a given energy a step is symplectic, and reversible if σ is symmetric. σ may also be that of the start alone (the
//! first example of §3.3.6, Fig. 3.9 d and g). The method needs shorter steps than `adaptive-reversible`,
//! and its energy oscillates more. The source reports this, and the tests confirm it.

use super::super::{Entry, LINEAR, MAX_ITERATIONS, TOLERANCE, Variant};
use super::{Adaptive, EPSILON, FORMULA, QUADRATURE, RULE, SCALE, SIGMA, TIME, VARIANTS};

pub(in super::super) const ENTRY: Entry = Entry {
    name: "adaptive-symplectic",
    summary: "steps as long as a rule wants them, with the multiplier that keeps the step symplectic",
    cite: "kharevych2010",
    stable_deformed: None,
    options: &[RULE, SCALE, EPSILON, TIME, FORMULA, SIGMA, QUADRATURE, TOLERANCE, MAX_ITERATIONS, LINEAR],
    variants: &[
        VARIANTS[0],
        VARIANTS[1],
        VARIANTS[2],
        VARIANTS[3],
        &[
            ("sigma", Variant::Word("start")),
            ("rule", Variant::Word("potential")),
            ("scale", Variant::Number(10.0)),
        ],
    ],
    build: |options| {
        let mut method = Adaptive::new(options, true);
        method.rule.at_start = options.word("sigma") == "start";
        Box::new(method)
    },
};
