//! Reversible time adaption \[kharevych2010\] §3.4.1: Δt = hσ(q_k, q_{k+1}) with σ symmetric, solved together
//! with the midpoint step. A run backwards retraces the path, and energy does not drift.

use super::super::Entry;
use super::{Adaptive, OPTIONS, VARIANTS};

pub(in super::super) const ENTRY: Entry = Entry {
    name: "adaptive-reversible",
    summary: "steps as long as a rule wants them, solved together with the step; no energy drift",
    cite: "kharevych2010",
    stable_deformed: None,
    options: OPTIONS,
    variants: VARIANTS,
    build: |options| Box::new(Adaptive::new(options, false)),
};
