//! Reversible time adaption \[kharevych2010\] §3.4.1: Δt = hσ(q_k, q_{k+1}) with σ symmetric, solved together
//! with the midpoint step. Running backwards retraces the path, and energy does not drift.

use super::super::{Entry, Variant};
use super::{Adaptive, EPSILON, MAX_ITERATIONS, RULE, SCALE, TIME, TOLERANCE};

pub(in super::super) const ENTRY: Entry = Entry {
    name: "adaptive-reversible",
    summary: "steps as long as a rule wants them, solved together with the step; no energy drift",
    cite: "kharevych2010",
    options: &[RULE, SCALE, EPSILON, TIME, TOLERANCE, MAX_ITERATIONS],
    variants: &[
        &[("scale", Variant::Number(1.0))],
        &[("rule", Variant::Word("potential")), ("scale", Variant::Number(10.0))],
        &[("rule", Variant::Word("poses")), ("scale", Variant::Number(10.0))],
        &[
            ("rule", Variant::Word("phase-space")),
            ("scale", Variant::Number(10.0)),
            ("epsilon", Variant::Number(0.3)),
            ("time", Variant::Number(0.1)),
        ],
    ],
    build: |options| Box::new(Adaptive::new(options, false)),
};
