//! Which modes `siere` integrates exactly.

/// Most modes with `auto`.
const MAX_AUTO_MODES: usize = 20;
/// The share of the motion that `auto` leaves to the complement.
const AUTO_REMAINDER: f64 = 1e-3;
/// Extra vectors, which speed up the convergence of the last wanted modes.
const GUARDS: usize = 2;
/// Further candidates at the start, where it is not known yet which modes will move.
const CANDIDATES: usize = 10;

/// Which modes are integrated exactly.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    /// Number of modes; `None` for `auto`.
    pub(super) wanted: Option<usize>,
    /// Whether the lowest are taken, and not those that carry most of the motion.
    pub(super) lowest: bool,
}

impl Choice {
    /// The number of modes to begin with.
    pub(super) fn first(&self) -> usize {
        match self.wanted {
            Some(0) => 0,
            Some(n) => n + GUARDS + if self.lowest { 0 } else { CANDIDATES },
            None => MAX_AUTO_MODES,
        }
    }

    /// The modes to keep, and how many of them are integrated exactly: these come first. `values` are h²λ, ascending;
    /// `shares` what each mode carries of the motion.
    pub(super) fn among(&self, values: &[f64], shares: &[f64]) -> (Vec<usize>, usize) {
        let slow = values.iter().filter(|z| **z < 1.0 - 1e-9).count();
        if self.lowest {
            let used = self.wanted.unwrap_or(slow.clamp(1, MAX_AUTO_MODES)).min(values.len());
            return ((0..values.len().min(used + GUARDS)).collect(), used);
        }
        let mut order: Vec<usize> = (0..slow).collect();
        order.sort_by(|&i, &j| shares[j].total_cmp(&shares[i]));
        let used = self.wanted.map_or_else(
            || {
                let total: f64 = order.iter().map(|&k| shares[k]).sum();
                let mut sum = 0.0;
                let enough = order.iter().position(|&k| {
                    sum += shares[k];
                    sum >= (1.0 - AUTO_REMAINDER) * total
                });
                enough.map_or(slow, |last| last + 1).min(MAX_AUTO_MODES)
            },
            |wanted| wanted.min(values.len()),
        );
        // Where fewer are slow than wanted, the lowest of the others follow.
        order.extend(slow..values.len());
        let mut rest: Vec<usize> = order.split_off(used);
        rest.sort_unstable();
        order.extend(rest.into_iter().take(GUARDS));
        (order, used)
    }
}
