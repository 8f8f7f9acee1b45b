//! The modes of a system with its fits.

use super::pencil::Pencil;
use super::{Correction, Fitting, ModalCorrection};
use crate::{State, System};
use lilyan_solve::SecondOrderSystem;
use lilyan_solve::eigen::Subspace;
use lilyan_solve::newton::{Curvature, dot};
use lilyan_solve::{BlockMatrix, Modes};

/// Replaces the lowest modes at positions q of a system without its fits by those with its fits.
pub fn correct_modes(system: &dyn System, q: &[f64], found: &mut Modes) {
    let n = q.len();
    let at = State { t: 0.0, q: q.to_vec(), v: vec![0.0; n], p: vec![0.0; n], ..State::default() };
    let Some(fitting) = Fitting::new(system, &at) else { return };
    let Some(correction) = fitting.correction() else { return };
    let mut k = BlockMatrix::zeros(system.pattern().clone());
    system.hessian(0.0, q, Curvature::Exact, &mut k);
    let mut held = vec![false; n];
    system.abilities().mark_prescribed(0.0, &mut held);
    let pencil = Pencil { k: &k, mass: system.mass(), held: &held };
    let corrected = Corrected { pencil, correction };
    // Rayleigh–Ritz in the span of the given modes and of the modes that the fit changes.
    let mut vectors = Vec::new();
    let mut weighted = vec![0.0; n];
    for u in found.vectors.iter().map(Vec::as_slice).chain(correction.vectors.values.chunks_exact(n)) {
        let mut u = u.to_vec();
        for _ in 0..2 {
            corrected.mass(&u, &mut weighted);
            let overlaps: Vec<f64> = vectors.chunks_exact(n).map(|v| dot(v, &weighted)).collect();
            for (v, s) in vectors.chunks_exact(n).zip(overlaps) {
                u.iter_mut().zip(v).for_each(|(u, v)| *u -= s * v);
            }
        }
        corrected.mass(&u, &mut weighted);
        let size = dot(&u, &weighted).sqrt();
        if size > 1e-6 {
            vectors.extend(u.into_iter().map(|x| x / size));
        }
    }
    let mut subspace = Subspace { vectors, values: Vec::new() };
    // Without new directions, a refinement is a Rayleigh–Ritz step.
    if subspace.refine(&corrected, &mut |x, _| x.fill(0.0), &|_| (), n).is_some() {
        let count = found.values.len();
        found.values = subspace.values[..count].to_vec();
        found.vectors = subspace.vectors.chunks_exact(n).take(count).map(<[f64]>::to_vec).collect();
    }
}

/// K‡ and M.
struct Corrected<'a> {
    pencil: Pencil<'a>,
    correction: &'a Correction,
}

impl SecondOrderSystem for Corrected<'_> {
    fn mass(&self, x: &[f64], y: &mut [f64]) {
        self.pencil.mass(x, y);
    }
    fn divide_by_mass(&self, x: &[f64], y: &mut [f64]) {
        self.pencil.divide_by_mass(x, y);
    }
    fn stiffness(&self, x: &[f64], y: &mut [f64]) {
        self.pencil.stiffness(x, y);
        self.correction.add_stiffness(x, y);
    }
    fn damping(&self, x: &[f64], y: &mut [f64]) {
        self.pencil.damping(x, y);
    }
}
