//! The measured cost of linear solvers. Costs are counted, not timed, so that every run makes the same choices.

/// The constants by which a linear solver is chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CostModel {
    /// CG with an incomplete factor may take one iteration per this many unknowns. A factorisation was measured to take
    /// as long as n/50 iterations (145 ms against 0.5 ms at n = 14,883, 46 ms against 0.33 ms at 8,019), and it serves
    /// about three systems.
    pub unknowns_per_iteration: usize,
    /// Systems for which fewer iterations than this would pay are always solved by factorisation.
    pub least_iterations: usize,
    /// Most iterations with a reused factor. So many cost half of a new factor.
    pub reuse_limit: usize,
    /// Iterations with a reused factor above which the next system gets a new one.
    pub reuse_comfortable: usize,
    /// Most iterations with a new factor and a low-rank correction. Two or three are expected.
    pub low_rank_limit: usize,
    /// GMRES iterations in the root finder above which the next system gets a new factor: they cost as much as one.
    pub root_reuse_limit: usize,
    /// Most GMRES iterations for one system of the root finder.
    pub gmres_limit: usize,
    /// Number of systems for which a method (incomplete factor or multigrid) is skipped after its first failure.
    pub first_penalty: usize,
    /// Cost of a multigrid iteration, in iterations with an incomplete factor.
    pub incomplete_per_multigrid: f64,
    /// Least number of multigrid iterations per digit.
    pub multigrid_per_digit: f64,
    /// Time of a multigrid iteration per unknown, ns.
    pub multigrid_time: f64,
    /// Time per entry of a factor, ns: three substitutions for three digits, 0.6 ns each.
    pub substitution_time: f64,
    /// Time per operation of a factorisation, ns: 22 operations per ns, shared by eight systems.
    pub operation_time: f64,
    /// The number of digits to which these times apply.
    pub digits: f64,
    /// Multigrid iterations for these digits on an ordinary body. A factor that costs less is preferred.
    pub ordinary_multigrid: f64,
    /// Extra iterations that an old hierarchy may cost in all before it is rebuilt.
    pub multigrid_excess: f64,
    /// Iterations above this multiple of the first rate of convergence count as extra.
    pub multigrid_slack: f64,
}

impl CostModel {
    /// Measured on one machine. Ratios of times vary little between machines.
    pub const MEASURED: Self = Self {
        unknowns_per_iteration: 160,
        least_iterations: 24,
        reuse_limit: 12,
        reuse_comfortable: 8,
        low_rank_limit: 100,
        root_reuse_limit: 10,
        gmres_limit: 60,
        first_penalty: 32,
        incomplete_per_multigrid: 5.0,
        multigrid_per_digit: 5.0,
        multigrid_time: 200.0,
        substitution_time: 3.0 * 0.6,
        operation_time: 1.0 / (8.0 * 22.0),
        digits: 3.0,
        ordinary_multigrid: 20.0,
        multigrid_excess: 10.0,
        multigrid_slack: 1.25,
    };

    /// Whether systems with this number of unknowns are always solved with a factor.
    pub fn is_small(&self, unknowns: usize) -> bool {
        unknowns / self.unknowns_per_iteration < self.least_iterations
    }

    /// The cost of a factor with these operations and stored entries, in multigrid iterations.
    pub fn factor_cost(&self, unknowns: usize, [operations, stored]: [f64; 2]) -> f64 {
        (self.operation_time * operations + self.substitution_time * stored)
            / (self.multigrid_time * unknowns as f64)
    }

    /// Most CG iterations with an incomplete factor for `accuracy`: they cost as much as the alternative, which is
    /// multigrid at this rate (iterations per digit), or a factor if that is known to be cheaper.
    pub fn incomplete_limit(
        &self,
        unknowns: usize,
        factor_cost: Option<f64>,
        multigrid_rate: f64,
        accuracy: f64,
    ) -> usize {
        let factor_rate =
            factor_cost.filter(|cost| *cost < self.ordinary_multigrid).map(|cost| cost / self.digits);
        let rate = factor_rate.unwrap_or(multigrid_rate.max(self.multigrid_per_digit));
        let limit = self.incomplete_per_multigrid * rate * -accuracy.log10();
        (unknowns / self.unknowns_per_iteration).min(limit as usize)
    }

    /// Most CG iterations with multigrid for `accuracy`. The factor of two allows for errors of the prediction.
    pub fn multigrid_limit(&self, factor_cost: Option<f64>, accuracy: f64) -> usize {
        let per_digit = 2.0 * factor_cost.unwrap_or(self.ordinary_multigrid) / self.digits;
        (-accuracy.log10() * per_digit) as usize + 10
    }
}
