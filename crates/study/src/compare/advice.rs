//! What to use, in words, from what was measured and from nothing else.

use super::row::ComparisonRow;
use super::runner::RunEnd;
use lilyan_report::{percent, short};

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// An error of at most this, as cheaply as possible.
    Error(f64),
    /// As accurate as possible at no more than a second of computing per simulated second.
    RealTime,
}

impl Goal {
    /// The goals that every comparison speaks of.
    pub const ALL: [Self; 3] = [Self::Error(0.01), Self::Error(0.05), Self::RealTime];

    /// In a few words.
    pub fn name(&self) -> String {
        match self {
            Self::Error(tolerance) => format!("{} error", percent(*tolerance)),
            Self::RealTime => "real time".into(),
        }
    }
}

/// Advice for one goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// For what.
    pub goal: Goal,
    /// Index of the row that is advised; `None` if none meets the goal.
    pub row: Option<usize>,
    /// What to use and why, or what came closest.
    pub text: String,
}

/// Costs this close are the same: the clock of a busy machine is not better than that.
const SAME_COST: f64 = 1.25;
/// Energy lost or gained beyond this share is worth a word.
const NOTICEABLE_DRIFT: f64 = 0.05;
/// The band in which a method that claims to bound the energy should keep it, as in the verdict of a run.
const BAND: f64 = 0.02;
/// The drift of a momentum that a method claims to keep: a hundred times what the verdict of a run allows, since steps of a
/// comparison are solved to tolerances of their own.
const MOMENTUM: f64 = 1e-6;
/// A run that gains more than this share of the energy in play is on its way to an explosion: positions may
/// still be right, but it is not advised.
const MOST_GAIN: f64 = 0.2;

/// Advice from the rows. `reference_error` is added to every error; `order` tells what a row's method was
/// measured to have.
pub fn advise(
    goal: Goal,
    rows: &[ComparisonRow],
    reference_error: Option<f64>,
    order: &dyn Fn(&ComparisonRow) -> Option<f64>,
) -> Advice {
    let candidates = Candidates { rows, reference_error: reference_error.unwrap_or(0.0) };
    let (row, text) = match goal {
        Goal::Error(tolerance) => match candidates.cheapest(tolerance, &|_| true) {
            Some(k) => (Some(k), candidates.recommend(k, tolerance)),
            None => (None, candidates.none_reaches(tolerance, order)),
        },
        Goal::RealTime => match candidates.most_accurate(1.0) {
            Some(k) => (Some(k), candidates.in_real_time(k)),
            None => (None, candidates.none_is_fast()),
        },
    };
    Advice { goal, row, text }
}

struct Candidates<'a> {
    rows: &'a [ComparisonRow],
    reference_error: f64,
}

impl Candidates<'_> {
    /// Error (with the reference's own) and cost of a run that finished and can be advised. Methods that are there for
    /// comparison only never can.
    fn figures(&self, k: usize) -> Option<(f64, f64)> {
        let row = &self.rows[k];
        let grows = row.energy_drift.is_some_and(|[extreme, _]| extreme > MOST_GAIN);
        if grows || row.method.is_for_comparison_only() {
            return None;
        }
        Some((row.error()? + self.reference_error, row.cost()?))
    }

    /// Whether a run kept what its method claims: then it is preferred to one that did not.
    fn keeps_claims(&self, k: usize) -> bool {
        let row = &self.rows[k];
        let Some(claims) = row.method.claims() else { return false };
        let within = |drift: Option<f64>, allowed: f64| drift.is_none_or(|x| x.abs() <= allowed);
        let energy = row.energy_drift.map(|[extreme, _]| extreme);
        (!claims.bounds_energy() || within(energy, BAND))
            && (!claims.linear_momentum || within(row.linear_drift, MOMENTUM))
            && (!claims.angular_momentum || within(row.angular_drift, MOMENTUM))
    }

    fn all(&self) -> impl Iterator<Item = (usize, f64, f64)> + '_ {
        (0..self.rows.len()).filter_map(|k| self.figures(k).map(|(error, cost)| (k, error, cost)))
    }

    /// The cheapest within the tolerance; of equally cheap ones the most accurate.
    fn cheapest(&self, tolerance: f64, allowed: &dyn Fn(&ComparisonRow) -> bool) -> Option<usize> {
        let all: Vec<_> =
            self.all().filter(|(k, error, _)| *error <= tolerance && allowed(&self.rows[*k])).collect();
        let fit = self.preferred(all);
        let least = fit.iter().map(|f| f.2).reduce(f64::min)?;
        let best = fit.iter().filter(|f| f.2 <= SAME_COST * least).min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(best.0)
    }

    fn most_accurate(&self, most_cost: f64) -> Option<usize> {
        let fit = self.preferred(self.all().filter(|f| f.2 <= most_cost).collect());
        fit.iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|f| f.0)
    }

    /// Those that kept their claims, if there are any.
    fn preferred(&self, all: Vec<(usize, f64, f64)>) -> Vec<(usize, f64, f64)> {
        let kept: Vec<_> = all.iter().copied().filter(|f| self.keeps_claims(f.0)).collect();
        if kept.is_empty() { all } else { kept }
    }

    fn name(&self, k: usize) -> String {
        format!("{} with a step of {} s", self.rows[k].method, short(self.rows[k].step))
    }

    fn recommend(&self, k: usize, tolerance: f64) -> String {
        let (error, cost) = self.figures(k).unwrap_or((f64::NAN, f64::NAN));
        let mut text = format!("{}: {} error, {}.", self.name(k), percent(error), pace(cost));
        text += &self.rival(k, tolerance, cost);
        text += &self.nature(k);
        text += &self.longer(k);
        text + &self.caution(k)
    }

    /// The next best of another method.
    fn rival(&self, k: usize, tolerance: f64, cost: f64) -> String {
        let own = &self.rows[k].method;
        let Some(next) = self.cheapest(tolerance, &|row| row.method != *own) else {
            return " No other method gets there with the steps tried.".into();
        };
        let theirs = self.figures(next).map_or(f64::NAN, |f| f.1);
        match theirs / cost {
            ratio if ratio <= SAME_COST => format!(" As fast: {}.", self.name(next)),
            ratio => format!(" The next best, {}, takes {} times as long.", self.name(next), short(ratio)),
        }
    }

    /// What in the method makes it so.
    fn nature(&self, k: usize) -> String {
        let Some(claims) = self.rows[k].method.claims() else { return String::new() };
        let mut reasons = Vec::new();
        if claims.explicit {
            reasons.push("its steps solve no equations".to_string());
        }
        if claims.order > 2 {
            reasons.push(format!("its order of {} pays at this accuracy", claims.order));
        }
        if claims.energy {
            reasons.push("it keeps energy at any step".to_string());
        } else if claims.symplectic && self.caution(k).is_empty() {
            reasons.push("being symplectic it does not drift in energy".to_string());
        }
        match reasons.is_empty() {
            true => String::new(),
            false => format!(" Why: {}.", reasons.join(", and ")),
        }
    }

    /// What happens to this method with the next longer step.
    fn longer(&self, k: usize) -> String {
        let row = &self.rows[k];
        let longer = |r: &&ComparisonRow| r.method == row.method && r.step > row.step * (1.0 + 1e-9);
        let Some(next) = self.rows.iter().filter(longer).min_by(|a, b| a.step.total_cmp(&b.step)) else {
            return " Longer steps were not tried.".into();
        };
        let step = short(next.step);
        match (&next.ended, next.error()) {
            (RunEnd::Exploded(_) | RunEnd::Failed(_), _) => format!(" With {step} s it fails."),
            (_, Some(error)) => format!(" With {step} s its error is {}.", percent(error)),
            _ => String::new(),
        }
    }

    fn caution(&self, k: usize) -> String {
        match self.rows[k].energy_drift {
            Some([extreme, _]) if extreme.abs() > NOTICEABLE_DRIFT => format!(
                " Note that it {} {} of the energy in play.",
                if extreme < 0.0 { "loses" } else { "gains" },
                percent(extreme.abs())
            ),
            _ => String::new(),
        }
    }

    fn none_reaches(&self, tolerance: f64, order: &dyn Fn(&ComparisonRow) -> Option<f64>) -> String {
        let wanted = percent(tolerance);
        if self.reference_error > tolerance {
            return format!(
                "No run is known to reach {wanted}: the reference itself is known to {} only; raise \
                 --budget or shorten the scene.",
                percent(self.reference_error)
            );
        }
        let Some((k, error, _)) = self.all().min_by(|a, b| a.1.total_cmp(&b.1)) else {
            return format!("No run reaches {wanted}: none finished.");
        };
        let mut text =
            format!("No run reaches {wanted}: the closest is {} with {}.", self.name(k), percent(error));
        let row = &self.rows[k];
        if let Some(order) = order(row).filter(|p| *p > 0.5) {
            let step = row.mean_step() * (tolerance / error).powf(1.0 / order);
            text += &format!(
                " Its measured order of {} suggests a step of about {} s.",
                short((10.0 * order).round() / 10.0),
                lilyan_report::digits(0.9 * step, 2)
            );
        } else {
            text += " These runs do not show how fast its error falls with the step; try shorter ones with --step-sizes.";
        }
        text
    }

    fn in_real_time(&self, k: usize) -> String {
        let (error, cost) = self.figures(k).unwrap_or((f64::NAN, f64::NAN));
        let but = if error > 0.05 { ", which is more than 5 %" } else { "" };
        let text = format!(
            "{}: the most accurate run that keeps up, {} error{but}, {}.",
            self.name(k),
            percent(error),
            pace(cost)
        );
        text + &self.nature(k) + &self.caution(k)
    }

    fn none_is_fast(&self) -> String {
        match self.all().min_by(|a, b| a.2.total_cmp(&b.2)) {
            None => "No run finished.".into(),
            Some((k, error, cost)) => format!(
                "None keeps up with real time: the fastest, {}, needs {} s per simulated second at {} error. \
                 A coarser mesh or more threads would help.",
                self.name(k),
                short(cost),
                percent(error)
            ),
        }
    }
}

/// Cost in words.
fn pace(cost: f64) -> String {
    match cost <= 1.0 {
        true => format!("{} s per simulated second ({} times real time)", short(cost), short(1.0 / cost)),
        false => format!("{} s per simulated second", short(cost)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ConfiguredIntegrator, Errors, RunCost};
    use super::*;

    fn row(name: &str, step: f64, error: f64, cost: f64) -> ComparisonRow {
        let method = ConfiguredIntegrator::parse(name).unwrap();
        ComparisonRow {
            ended: RunEnd::Finished,
            work: RunCost { wall: 2.0 * cost, t: 2.0, steps: (2.0 / step) as u64, ..RunCost::default() },
            errors: Some(Errors { l2: error, worst: error, probes: Vec::new() }),
            energy_drift: Some([0.0, 0.0]),
            ..ComparisonRow::skipped(&method, step, String::new())
        }
    }

    fn advice(goal: Goal, rows: &[ComparisonRow], own: f64) -> Advice {
        advise(goal, rows, Some(own), &|_| Some(2.0))
    }

    #[test]
    fn the_cheapest_within_the_tolerance_is_advised() {
        let rows = [
            row("variational", 0.02, 0.008, 0.5),
            row("variational", 0.01, 0.002, 1.0),
            row("backward-euler", 0.001, 0.009, 4.0),
            row("backward-euler", 0.02, 0.2, 0.4),
        ];
        let one = advice(Goal::Error(0.01), &rows, 0.0);
        assert_eq!(one.row, Some(0));
        assert!(one.text.contains("backward-euler with a step of 0.001 s, takes 8 times"), "{}", one.text);
        let five = advice(Goal::Error(0.05), &rows, 0.0);
        assert_eq!(five.row, Some(0));
        // With a reference that is known to 0.5 % only, 0.8 % is not surely below 1 %.
        assert_eq!(advice(Goal::Error(0.01), &rows, 0.005).row, Some(1));
    }

    #[test]
    fn of_equally_cheap_runs_the_most_accurate_is_advised() {
        let rows = [row("semi-implicit", 0.02, 0.04, 0.50), row("variational", 0.04, 0.002, 0.55)];
        assert_eq!(advice(Goal::Error(0.05), &rows, 0.0).row, Some(1));
    }

    #[test]
    fn when_none_meets_the_goal_it_says_so_and_what_would() {
        let rows = [row("variational", 0.02, 0.16, 2.0), row("variational", 0.01, 0.04, 4.0)];
        let one = advice(Goal::Error(0.01), &rows, 0.0);
        assert_eq!(one.row, None);
        // Order 2: a quarter of the error needs half the step, and a tenth less to be sure.
        assert!(one.text.contains("No run reaches 1 %"), "{}", one.text);
        assert!(one.text.contains("a step of about 0.0045 s"), "{}", one.text);
        let fast = advice(Goal::RealTime, &rows, 0.0);
        assert_eq!(fast.row, None);
        assert!(fast.text.contains("None keeps up") && fast.text.contains("needs 2 s"), "{}", fast.text);
    }

    #[test]
    fn with_a_poor_reference_no_run_is_advised() {
        let rows = [row("variational", 0.02, 1e-4, 0.5)];
        let one = advice(Goal::Error(0.01), &rows, 0.02);
        assert_eq!(one.row, None);
        assert!(one.text.contains("the reference itself is known to 2 % only"), "{}", one.text);
    }

    #[test]
    fn runs_that_did_not_finish_are_never_advised() {
        let mut failed = row("verlet", 0.01, 0.0, 0.01);
        failed.errors = None;
        failed.ended = RunEnd::Exploded(0.5);
        assert_eq!(advice(Goal::Error(0.05), &[failed.clone()], 0.0).row, None);
        let rows = [failed, row("verlet", 0.005, 0.001, 0.02)];
        let one = advice(Goal::Error(0.01), &rows, 0.0);
        assert_eq!(one.row, Some(1));
        assert!(one.text.contains("With 0.01 s it fails"), "{}", one.text);
        assert_eq!(advice(Goal::RealTime, &rows, 0.0).row, Some(1));
        assert!(advice(Goal::Error(0.01), &[], 0.0).text.contains("none finished"));
    }

    #[test]
    fn a_run_that_gains_energy_is_not_advised() {
        let mut growing = row("variational", 0.04, 0.002, 0.1);
        growing.energy_drift = Some([1.4, 1.1]);
        let rows = [growing, row("variational", 0.02, 0.001, 0.2)];
        for goal in Goal::ALL {
            assert_eq!(advice(goal, &rows, 0.0).row, Some(1));
        }
    }

    #[test]
    fn what_is_for_comparison_only_is_never_advised() {
        for name in ["adaptive-naive", "explicit-euler"] {
            let rows = [row(name, 0.04, 0.0001, 0.01), row("variational", 0.04, 0.002, 0.8)];
            for goal in Goal::ALL {
                let advice = advice(goal, &rows, 0.0);
                assert_eq!(advice.row, Some(1), "{name}, {goal:?}");
                assert!(!advice.text.contains(name), "{}", advice.text);
            }
            assert_eq!(advice(Goal::Error(0.01), &rows[..1], 0.0).row, None);
        }
    }

    #[test]
    fn a_method_that_broke_its_claims_gives_way_to_one_that_kept_them() {
        let mut off = row("variational", 0.04, 0.001, 0.1);
        off.energy_drift = Some([-0.06, 0.0]);
        let mut turned = row("verlet", 0.01, 0.001, 0.1);
        turned.angular_drift = Some(1e-3);
        let kept = row("energy-momentum", 0.04, 0.004, 0.5);
        for goal in Goal::ALL {
            assert_eq!(advice(goal, &[off.clone(), turned.clone(), kept.clone()], 0.0).row, Some(2));
        }
        // A method that claims nothing about energy breaks no claim by losing some, and where no other meets the target,
        // the one that broke its claims is still advised, with a word about it.
        let alone = advice(Goal::Error(0.01), &[off], 0.0);
        assert_eq!(alone.row, Some(0));
        assert!(alone.text.contains("loses 6 % of the energy"), "{}", alone.text);
    }

    #[test]
    fn energy_that_is_lost_is_mentioned() {
        let mut lossy = row("backward-euler", 0.01, 0.03, 0.1);
        lossy.energy_drift = Some([-0.2, -0.1]);
        let text = advice(Goal::Error(0.05), &[lossy], 0.0).text;
        assert!(text.contains("loses 20 % of the energy"), "{text}");
        assert!(text.contains("No other method"), "{text}");
    }
}
