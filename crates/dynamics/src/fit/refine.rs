//! Refinement of modes by block Davidson with a factor of a similar matrix.

use super::Deformation;
use super::pencil::{Pencil, RigidModes, mass_matrix};
use crate::System;
use lilyan_solve::eigen::Subspace;
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, Cholesky};

/// Largest component of other modes in a converged mode. The error of its frequency is the square of it. Mixing among the
/// fitted modes has no effect.
pub(super) const MAX_MIXING: f64 = 0.1;
/// Number of modes that test whether a factor is still close. The lowest modes change most.
const TEST_MODES: usize = 3;

/// A system in a configuration, for which modes are computed.
pub(super) struct Configuration<'a> {
    pub system: &'a dyn System,
    pub deformation: &'a dyn Deformation,
    pub t: f64,
    pub q: &'a [f64],
    pub held: &'a [bool],
}

/// A factorised matrix similar to K, which refines modes.
#[derive(Default)]
pub(super) struct ModeRefiner {
    /// The configuration of the matrix, m.
    pub computed_at: Vec<f64>,
    /// K in that configuration.
    pub matrix: Option<BlockMatrix>,
    /// The factor of K + σM.
    pub factor: Option<Cholesky>,
}

/// The eigenvalue problem of the modes in a configuration.
pub(super) struct ModeProblem<'a> {
    pub configuration: &'a Configuration<'a>,
    pub pencil: &'a Pencil<'a>,
    pub rigid: &'a RigidModes,
    /// σ of K + σM.
    pub shift: f64,
    /// Number of modes that must converge.
    pub used: usize,
}

impl ModeRefiner {
    pub fn new(search: &ModeProblem<'_>) -> Self {
        let ModeProblem { configuration, pencil, .. } = search;
        Self { computed_at: configuration.q.to_vec(), matrix: Some(pencil.k.clone()), factor: None }
    }

    /// K in the configuration of the refiner.
    fn matrix(&mut self, configuration: &Configuration<'_>) -> &BlockMatrix {
        let Self { computed_at, matrix, .. } = self;
        matrix.get_or_insert_with(|| {
            let mut k = BlockMatrix::zeros(configuration.system.pattern().clone());
            configuration.deformation.add_deformation_hessian(
                configuration.t,
                computed_at,
                Curvature::Projected,
                &mut k,
            );
            k
        })
    }

    /// Refines modes until they converge, at most `most` times. Returns the largest component of other modes that they had
    /// before, if they converged.
    pub fn refine(&mut self, modes: &mut Subspace, search: &ModeProblem<'_>, most: usize) -> Option<f64> {
        let Configuration { system, q, .. } = *search.configuration;
        // If the present matrix is too different, small corrections do not mean convergence.
        let test_modes = modes.vectors.chunks_exact(q.len()).take(TEST_MODES);
        let energy = |a: &BlockMatrix| test_modes.clone().map(|u| a.quadratic_form(u)).sum::<f64>();
        let (then, now) = (energy(self.matrix(search.configuration)), energy(search.pencil.k));
        let shifts = search.shift * TEST_MODES as f64;
        if (then - now).abs() > 0.5 * (now.abs() + shifts) {
            return None;
        }
        if self.factor.is_none() {
            let mut a = self.matrix(search.configuration).clone();
            a.add_scaled(search.shift, &mass_matrix(system));
            a.hold(search.pencil.held);
            let mut factor = Cholesky::new();
            if factor.factor(&a).is_err() {
                return None;
            }
            self.factor = Some(factor);
        }
        let factor = self.factor.as_mut().expect("computed above");
        let mut solve = |x: &mut [f64], columns: usize| factor.solve_many(x, columns);
        let mut before = None;
        for _ in 0..most {
            let sizes = modes.refine(search.pencil, &mut solve, &|u| search.rigid.project_out(u), q.len())?;
            let mixing = sizes[..search.used].iter().fold(0.0f64, |m, s| m.max(*s));
            let before = *before.get_or_insert(mixing);
            if mixing <= MAX_MIXING {
                return Some(before);
            }
        }
        None
    }
}
