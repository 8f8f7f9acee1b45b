//! The linear systems of a step of `siere`: one for the complement, to 1e-6 as in `semi-implicit`, and whatever preconditions
//! it for the modes.

use lilyan_solve::NotPositiveDefinite;
use lilyan_solve::linear::LinearReport;
use lilyan_solve::newton::{Curvature, Linearisation, RigidMotions, Workspace};

/// Relative accuracy of each solve in the norm of the matrix.
const ACCURACY: f64 = 1e-6;

/// Solves with the matrix of a step.
pub(super) struct StepSolver<'a> {
    work: &'a mut Workspace,
    positions: &'a [f64],
    /// Dirichlet dofs.
    pub(super) held: &'a [bool],
    /// What the solves took.
    pub(super) report: LinearReport,
}

impl<'a> StepSolver<'a> {
    pub(super) fn new(work: &'a mut Workspace, positions: &'a [f64], held: &'a [bool]) -> Self {
        Self { work, positions, held, report: LinearReport::default() }
    }

    /// Where the matrix was assembled. Later steps build their own preconditioner.
    fn at(&self) -> Linearisation<'a> {
        Linearisation { x: self.positions, rates: &[], curvature: Curvature::Exact, key: None }
    }

    /// Makes a preconditioner of the matrix. It fails if this finds that the matrix is not positive definite.
    pub(super) fn begin(&mut self) -> Result<(), NotPositiveDefinite> {
        self.work.precondition_columns(&self.at(), &mut [], 0)
    }

    /// Preconditions the columns of x with whatever preconditions the solves.
    pub(super) fn precondition(&mut self, x: &mut [f64], columns: usize) {
        // What has no preconditioner has failed in `begin`.
        let _ = self.work.precondition_columns(&self.at(), x, columns);
    }

    /// x ← A⁻¹ x, up to a residual without resultant.
    pub(super) fn solve(&mut self, x: &mut [f64]) -> Result<(), NotPositiveDefinite> {
        let right = x.to_vec();
        let solved = self.work.solve_linear(&self.at(), x, ACCURACY)?;
        if solved.iterations > 0 {
            self.work.balance(&right, x, self.positions, RigidMotions::Translations, self.held);
        }
        self.report.iterations += solved.iterations;
        self.report.multigrid |= solved.multigrid;
        Ok(())
    }

    /// y ← A x.
    pub(super) fn mul(&self, x: &[f64], y: &mut [f64]) {
        self.work.mul(x, y);
    }
}
