//! Symplectic time adaption \[kharevych2010\] §3.3.3–3.3.5: Δt = hσ enters the discrete action as a constraint,
//! whose multiplier λ measures how far the discrete energy is from the true one.
//!
//!   D₁L_k + D₂L_{k−1} − hλ_{k−1}∂₂σ_{k−1} − hλ_k∂₁σ_k + F⁺_{k−1}Δt_{k−1} + F⁻_kΔt_k = 0,  λ_k from energies.
//!
//! For a given energy a step is symplectic and reversible. The source's verdict, which the tests repeat: it
//! needs shorter steps than `adaptive-reversible` and oscillates more.

use super::super::Entry;
use super::{Adaptive, OPTIONS, VARIANTS};

pub(in super::super) const ENTRY: Entry = Entry {
    name: "adaptive-symplectic",
    summary: "steps as long as a rule wants them, with the multiplier that keeps the step symplectic",
    cite: "kharevych2010",
    options: OPTIONS,
    variants: VARIANTS,
    build: |options| Box::new(Adaptive::new(options, true)),
};
