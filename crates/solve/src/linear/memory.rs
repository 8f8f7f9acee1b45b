//! The state of the solver choice, which a checkpoint stores.

use super::cost::CostModel;
use serde::{Deserialize, Serialize};

/// A preconditioner that is built from one matrix and reused for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kept {
    /// A Cholesky factor.
    Factor,
    /// A multigrid hierarchy.
    Multigrid,
}

/// Exponential backoff: a method that failed is skipped for a number of systems, which doubles with each failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Backoff {
    /// Systems before the method is tried again.
    pub wait: usize,
    /// The number of systems skipped after the last failure.
    pub penalty: usize,
}

impl Backoff {
    /// Whether the method may be tried now; if not, one more opportunity has passed.
    pub(crate) fn is_over(&mut self) -> bool {
        let over = self.wait == 0;
        self.wait = self.wait.saturating_sub(1);
        over
    }

    /// Records that the method reached its iteration limit.
    pub(crate) fn fail(&mut self) {
        self.penalty = (2 * self.penalty).clamp(CostModel::MEASURED.first_penalty, 1 << 20);
        self.wait = self.penalty;
    }
}

/// The state of the solver choice, which depends on earlier systems. A restarted run needs it to make the same choices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinearMemory {
    /// Backoff of incomplete factors.
    pub incomplete: Backoff,
    /// Backoff of multigrid.
    pub multigrid: Backoff,
    /// Estimated cost of a Cholesky factor, in multigrid iterations.
    pub factor_cost: Option<f64>,
    /// Iterations per digit when the multigrid hierarchy was new.
    pub rate: f64,
    /// Extra iterations since then, as the matrix moved away from that of the hierarchy.
    pub excess: f64,
}
