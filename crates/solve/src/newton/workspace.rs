//! What Newton's method works in, kept from one step to the next.

use super::{Circumstances, Curvature, Objective};
use crate::inner::{Inner, Means};
use crate::{BlockMatrix, Cholesky, Deflation, Saddle, SparseRows};

/// Matrix, factor and vectors that a solve works in; keep it from one step to the next.
pub struct Workspace {
    pub(super) matrix: BlockMatrix,
    /// The factorisation of the last matrix.
    pub factor: Cholesky,
    /// What the matrix that is meant has beyond the one that was factorised.
    pub(super) deflation: Option<Deflation>,
    pub(super) gradient: Vec<f64>,
    pub(super) direction: Vec<f64>,
    pub(super) trial: Vec<f64>,
    pub(super) trial_gradient: Vec<f64>,
    pub(super) saddle: Saddle,
    pub(super) rows: SparseRows,
    pub(super) inner: Inner,
    /// What the factor, or the levels, were made of, if they may serve further steps.
    pub(super) made: Option<Made>,
    /// Of what is to be made again.
    recalled: Option<Made>,
}

/// What a factor, or levels, were made of.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub x: Vec<f64>,
    pub curvature: Curvature,
    pub circumstances: Circumstances,
    pub means: Means,
}

impl Workspace {
    /// For matrices of this pattern.
    pub fn new(pattern: std::sync::Arc<crate::BlockPattern>) -> Self {
        Self::with_couplings(pattern, &[])
    }

    /// For matrices of this pattern, of which these couplings were seen before
    /// ([`Cholesky::with_couplings`]).
    pub fn with_couplings(pattern: std::sync::Arc<crate::BlockPattern>, couplings: &[(u32, u32)]) -> Self {
        let n = 3 * pattern.n();
        Self {
            matrix: BlockMatrix::zeros(pattern),
            factor: Cholesky::with_couplings(couplings),
            deflation: None,
            gradient: vec![0.0; n],
            direction: vec![0.0; n],
            trial: vec![0.0; n],
            trial_gradient: vec![0.0; n],
            saddle: Saddle::new(),
            rows: SparseRows::new(),
            inner: Inner::default(),
            made: None,
            recalled: None,
        }
    }

    /// What [`super::minimize`] found out about its linear systems, and what its factor was made of, for a restart.
    pub fn experience(&self) -> Vec<f64> {
        let mut memory = self.inner.memory().to_vec();
        if let Some(made) = self.made.as_ref().or(self.recalled.as_ref()) {
            let Circumstances { time, same: [first, second] } = made.circumstances;
            let [projected, levels] = [made.curvature == Curvature::Projected, made.means == Means::Levels]
                .map(|b| f64::from(u8::from(b)));
            memory.extend([time, first, second, projected, levels]);
            memory.extend(&made.x);
        } else if memory.iter().all(|m| *m == 0.0) {
            memory.clear();
        }
        memory
    }

    /// Takes up what [`Workspace::experience`] returned.
    pub fn experienced(&mut self, experience: &[f64]) {
        let (inner, rest) = experience.split_first_chunk().unwrap_or((&[0.0; 7], &[]));
        self.inner.remember(*inner);
        self.recalled = rest.split_first_chunk().map(|(&[time, first, second, projected, levels], x)| Made {
            x: x.to_vec(),
            curvature: if projected == 0.0 { Curvature::Exact } else { Curvature::Projected },
            circumstances: Circumstances { time, same: [first, second] },
            means: if levels == 0.0 { Means::Factor } else { Means::Levels },
        });
    }

    /// Begins a step: the factor of before stays if it may, and is made again after a restart.
    pub(super) fn begin(&mut self, objective: &mut dyn Objective, fresh: bool) {
        let now = objective.circumstances().filter(|_| !fresh);
        let same = |made: &Made| now.is_some_and(|now| now.same == made.circumstances.same);
        self.made = self.made.take().filter(same);
        if let Some(made) = self.recalled.take().filter(same) {
            objective.hessian_then(made.circumstances.time, &made.x, made.curvature, &mut self.matrix);
            let again = self.inner.recall(made.means, &self.matrix, &mut self.factor, &made.x);
            self.made = again.then_some(made);
        }
        self.inner.begin(fresh, self.made.as_ref().map(|made| made.means), objective.low_rank());
    }

    /// The factor no longer is what [`super::minimize`] made it.
    pub(super) fn forget(&mut self) {
        (self.made, self.recalled) = (None, None);
    }

    /// Vectors for so many unknowns and multipliers.
    pub(super) fn resize(&mut self, n: usize) {
        for v in [&mut self.gradient, &mut self.direction, &mut self.trial, &mut self.trial_gradient] {
            v.resize(n, 0.0);
        }
    }

    /// Whether it was made for this pattern.
    pub fn fits(&self, pattern: &std::sync::Arc<crate::BlockPattern>) -> bool {
        std::sync::Arc::ptr_eq(self.matrix.pattern(), pattern)
    }

    /// The matrix, to be filled by callers that factorise it themselves.
    pub fn matrix_mut(&mut self) -> &mut BlockMatrix {
        &mut self.matrix
    }

    /// The matrix, and what factorises it.
    pub fn matrix_and_factor(&mut self) -> (&BlockMatrix, &mut Cholesky) {
        self.forget();
        (&self.matrix, &mut self.factor)
    }

    /// Factorises the matrix as it stands.
    pub fn factor_matrix(&mut self) -> Result<(), crate::NotPositiveDefinite> {
        self.deflation = None;
        self.forget();
        self.factor.factor(&self.matrix)
    }

    /// Adds to the factorised matrix, for [`Workspace::solve`] and [`Workspace::mul`].
    pub fn correct(&mut self, low_rank: Option<Deflation>) {
        self.deflation = low_rank;
    }

    /// y ← the matrix, with its correction, times x.
    pub fn mul(&self, x: &[f64], y: &mut [f64]) {
        self.matrix.mul_vec(x, y);
        if let Some(deflation) = &self.deflation {
            deflation.add_product(x, y);
        }
    }

    /// x ← the inverse of the factorised matrix, with its correction, times x.
    pub fn solve(&mut self, x: &mut [f64]) {
        match &self.deflation {
            None => self.factor.solve(x),
            Some(deflation) => {
                deflation.solve(&self.matrix, &mut self.factor, x);
            }
        }
    }
}
