//! Modes made better by a factor of a matrix near their own.

use super::pencil::{Pencil, Rigid, mass_matrix};
use crate::System;
use lilyan_solve::newton::Curvature;
use lilyan_solve::refine::Subspace;
use lilyan_solve::{BlockMatrix, Cholesky};

/// Components of other modes in a mode that one refinement makes good enough. Its frequency is off by their square;
/// a mixture of modes that are all fitted does no harm at all.
const CLOSE: f64 = 0.1;
/// Modes that tell whether a factorisation is still near: the lowest change most.
const TELLING: usize = 3;

/// Where modes are looked for.
pub(super) struct Place<'a> {
    pub system: &'a dyn System,
    pub t: f64,
    pub q: &'a [f64],
    pub held: &'a [bool],
}

/// A matrix near K that is factorised: what modes are improved with.
#[derive(Default)]
pub(super) struct Improver {
    /// Where it was taken, m.
    pub taken_at: Vec<f64>,
    /// K there.
    pub matrix: Option<BlockMatrix>,
    /// Of K + σM.
    pub factor: Option<Cholesky>,
}

/// What modes are looked for, and among what.
pub(super) struct Search<'a> {
    pub place: &'a Place<'a>,
    pub pencil: &'a Pencil<'a>,
    pub rigid: &'a Rigid,
    /// σ of K + σM.
    pub shift: f64,
    /// How many have to be close.
    pub used: usize,
}

impl Improver {
    pub fn new(search: &Search<'_>) -> Self {
        let Search { place, pencil, .. } = search;
        Self { taken_at: place.q.to_vec(), matrix: Some(pencil.k.clone()), factor: None }
    }

    /// K where it was taken.
    fn matrix(&mut self, system: &dyn System, t: f64) -> &BlockMatrix {
        let Self { taken_at, matrix, .. } = self;
        matrix.get_or_insert_with(|| {
            let mut k = BlockMatrix::zeros(system.pattern().clone());
            system.inner_hessian(t, taken_at, Curvature::Projected, &mut k);
            k
        })
    }

    /// Improves modes until they are close, at most so often; whether they are.
    pub fn improve(&mut self, modes: &mut Subspace, search: &Search<'_>, most: usize) -> bool {
        let Place { system, t, q, .. } = *search.place;
        // What the body has become too far from improves nothing, however small the corrections that it gives.
        let telling = modes.vectors.chunks_exact(q.len()).take(TELLING);
        let along = |a: &BlockMatrix| telling.clone().map(|u| a.quadratic_form(u)).sum::<f64>();
        let (then, now) = (along(self.matrix(system, t)), along(search.pencil.k));
        let shifts = search.shift * TELLING as f64;
        if (then - now).abs() > 0.5 * (now.abs() + shifts) {
            return false;
        }
        if self.factor.is_none() {
            let mut a = self.matrix(system, t).clone();
            a.add_scaled(search.shift, &mass_matrix(system));
            a.hold(search.pencil.held);
            let mut factor = Cholesky::new();
            if factor.factor(&a).is_err() {
                return false;
            }
            self.factor = Some(factor);
        }
        let factor = self.factor.as_mut().expect("just made");
        let mut solve = |x: &mut [f64], columns: usize| factor.solve_many(x, columns);
        for _ in 0..most {
            let sizes = modes.refine(search.pencil, &mut solve, &|u| search.rigid.without(u), q.len());
            let Some(sizes) = sizes else { return false };
            if sizes[..search.used].iter().all(|s| *s <= CLOSE) {
                return true;
            }
        }
        false
    }
}
