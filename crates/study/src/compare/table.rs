//! The comparison as a table of text, for the terminal and for the report.

use super::Comparison;
use lilyan_report::{percent, short};

/// The table for a terminal; the first row is the header.
pub fn terminal(comparison: &Comparison) -> Vec<Vec<String>> {
    let columns = Columns::of(comparison);
    let mut rows = vec![columns.header()];
    rows.extend((0..comparison.rows.len()).map(|k| columns.cells(comparison, k)));
    rows
}

/// Which columns are worth their place.
pub(super) struct Columns {
    probes: bool,
    newton: bool,
    linear: bool,
    angular: bool,
}

impl Columns {
    pub(super) fn of(comparison: &Comparison) -> Self {
        Self {
            probes: !comparison.probes.is_empty(),
            newton: comparison.rows.iter().any(|r| r.work.newton > 0),
            linear: comparison.conserved.linear,
            angular: comparison.conserved.angular,
        }
    }

    pub(super) fn header(&self) -> Vec<String> {
        let mut header = vec!["integrator", "step (s)", "error"];
        header.extend(self.probes.then_some("probe"));
        header.extend(["s per s", "forces/step"]);
        header.extend(self.newton.then_some("Newton/step"));
        header.push("energy");
        header.extend(self.linear.then_some("momentum"));
        header.extend(self.angular.then_some("angular"));
        header.extend(["order", "remarks"]);
        header.into_iter().map(String::from).collect()
    }

    pub(super) fn cells(&self, comparison: &Comparison, k: usize) -> Vec<String> {
        let row = &comparison.rows[k];
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "–".into());
        let per_step = |count: u64| {
            let steps = row.work.steps;
            or_none((steps > 0 && count > 0).then(|| short(round(count as f64 / steps as f64))))
        };
        let error = |e: f64| match comparison.reference.error {
            Some(own) if e < own => format!("< {}", percent_of(own)),
            _ => percent_of(e),
        };
        let mut cells = vec![row.method.to_string(), short(row.step), or_none(row.error().map(error))];
        if self.probes {
            cells.push(or_none(row.errors.as_ref().and_then(|e| e.probe()).map(error)));
        }
        cells.extend([or_none(row.cost().map(two)), per_step(row.calls[0])]);
        if self.newton {
            cells.push(per_step(row.work.newton));
        }
        cells.push(or_none(row.energy_drift.filter(|_| row.finished()).map(|d| signed(d[0]))));
        let drift = |x: Option<f64>| or_none(x.filter(|_| row.finished()).map(|x| format!("{x:.0e}")));
        if self.linear {
            cells.push(drift(row.linear_drift));
        }
        if self.angular {
            cells.push(drift(row.angular_drift));
        }
        // The order belongs to the method: said once, at its first row.
        let first = comparison.rows[..k].iter().all(|r| r.method != row.method);
        let order = comparison.order(&row.method).filter(|_| first);
        cells.push(if first { or_none(order.map(|p| format!("{p:.2}"))) } else { String::new() });
        cells.push(remarks(comparison, k));
        cells
    }
}

/// A measured order that is lower than the claimed one by this is told.
const MISSING_ORDER: f64 = 0.75;

/// Advice that names this row, failed steps, and why it did not finish.
fn remarks(comparison: &Comparison, k: usize) -> String {
    let row = &comparison.rows[k];
    let mut remarks: Vec<String> = Vec::new();
    let chosen = comparison.advice.iter().filter(|a| a.row == Some(k)).map(|a| a.goal.name());
    let chosen: Vec<String> = chosen.collect();
    if !chosen.is_empty() {
        remarks.push(format!("← {}", chosen.join(", ")));
    }
    let first = comparison.rows[..k].iter().all(|r| r.method != row.method);
    if let (true, Some(measured), Some(claims)) = (first, comparison.order(&row.method), row.method.claims())
        && measured < f64::from(claims.order) - MISSING_ORDER
    {
        remarks.push(format!("its order {} does not show at these steps", claims.order));
    }
    if row.work.halved > 0 {
        remarks.push(format!("{} of {} steps were cut", row.work.halved, row.work.steps));
    }
    if !row.finished() {
        // The whole of it stands in the files.
        let reason = row.ended.reason();
        let brief: String = reason.chars().take(96).collect();
        remarks.push(if brief.len() < reason.len() { format!("{brief}…") } else { brief });
    }
    remarks.join("; ")
}

/// Two significant digits: clocks and errors are not better than that.
fn two(x: f64) -> String {
    lilyan_report::digits(x, 2)
}

fn percent_of(x: f64) -> String {
    format!("{} %", two(100.0 * x))
}

fn signed(x: f64) -> String {
    let sign = if x > 0.0 { "+" } else { "" };
    match x.abs() {
        small if small < 1e-12 => "0 %".into(),
        _ => format!("{sign}{}", percent_of(x)).replace('-', "−").replace("e−", "e-"),
    }
}

fn round(x: f64) -> f64 {
    (10.0 * x).round() / 10.0
}

/// What the reference is and how far it can be believed.
pub fn reference_line(comparison: &Comparison) -> String {
    let r = &comparison.reference;
    match r.error {
        Some(error) => format!("{}; its own error: about {}", r.describe(), percent(error)),
        None => format!("{}; its own error is not known", r.describe()),
    }
}
