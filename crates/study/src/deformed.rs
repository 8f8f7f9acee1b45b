//! How far implicit methods are stable on strongly deformed bodies.
//!
//! A method that is stable for every step of a linear oscillation can gain energy in a body that deforms strongly. Measured on
//! free, turning bars of 24 neo-Hookean tets (for some methods the material that they support), one stretched by half and one
//! twisted by 150°. `tests/deformed.rs` repeats the measurement.

/// Methods, and the longest step, in explicit limits (hω = 2 at rest), up to which the energy stays below 1.25 times that of the
/// start over 60 steps. Longer steps than [`LONGEST`] were not tried.
const LIMITS: &[(&str, f64)] = &[
    ("variational", 2.0),
    ("variational-4", 1.5),
    ("galerkin", 2.0),
    ("implicit-midpoint", 2.0),
    ("newmark", 1.5),
    ("generalized-alpha", 2.0),
    ("corotational-reversible", 1.0),
    ("ere", 1.5),
    ("siere", 2.0),
    ("mssi", 2.0),
    ("regularized", 2.0),
    ("semi-implicit", 300.0),
    ("energy-momentum", 100.0),
    ("backward-euler", LONGEST),
    ("bdf2", LONGEST),
    ("tr-bdf2", LONGEST),
];

/// The longest step that was tried, in explicit limits.
pub const LONGEST: f64 = 1000.0;

/// The longest step of a method that was stable on strongly deformed bars, in explicit limits (hω = 2). `None` for methods that
/// are explicit, choose their own steps, or were not measured.
pub fn limit(name: &str) -> Option<f64> {
    LIMITS.iter().find(|(method, _)| *method == name).map(|(_, limit)| *limit)
}
