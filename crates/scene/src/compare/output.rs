//! The comparison as text, as CSV and as JSON.

use super::page;
use super::{Comparison, Row};
use crate::report::{percent, short};
use crate::schema::Scene;
use crate::writers::atomic::{self, WriteError};
use crate::writers::csv::Shortest;
use crate::writers::json as json_file;
use lilyan_dynamics::Value as OptionValue;
use serde_json::{Value, json};
use std::path::Path;

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

/// Advice that names this row, failed steps, and why it did not finish.
fn remarks(comparison: &Comparison, k: usize) -> String {
    let row = &comparison.rows[k];
    let mut remarks: Vec<String> = Vec::new();
    let chosen = comparison.advice.iter().filter(|a| a.row == Some(k)).map(|a| a.goal.name());
    let chosen: Vec<String> = chosen.collect();
    if !chosen.is_empty() {
        remarks.push(format!("← {}", chosen.join(", ")));
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
    crate::report::digits(x, 2)
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

/// `compare.csv`: numbers in SI units and shares; empty where there is none.
pub fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "integrator,step,status,error_l2,error_worst,error_probe,cost,wall_seconds,time_simulated,steps,\
         halved_steps,newton_iterations,force_evaluations,hessian_evaluations,energy_drift,energy_final,\
         linear_drift,angular_drift,reason\n",
    );
    let number = |x: Option<f64>| x.map_or(String::new(), |x| Shortest(x).to_string());
    let quoted = |s: &str| format!("\"{}\"", s.replace('"', "\"\"").replace(['\n', '\r'], " "));
    for row in rows {
        let e = row.errors.as_ref();
        let cells = [
            quoted(&row.method.to_string()),
            Shortest(row.step).to_string(),
            row.ended.word().to_string(),
            number(e.map(|e| e.l2)),
            number(e.map(|e| e.worst)),
            number(e.and_then(|e| e.probe())),
            number(row.cost()),
            number(Some(row.work.wall)),
            number(Some(row.work.t)),
            row.work.steps.to_string(),
            row.work.halved.to_string(),
            row.work.newton.to_string(),
            row.calls[0].to_string(),
            row.calls[1].to_string(),
            number(row.energy_drift.map(|d| d[0])),
            number(row.energy_drift.map(|d| d[1])),
            number(row.linear_drift),
            number(row.angular_drift),
            quoted(&row.ended.reason()),
        ];
        text += &cells.join(",");
        text.push('\n');
    }
    text
}

/// `compare.json`.
pub fn json(scene: &Scene, comparison: &Comparison) -> Value {
    let c = comparison;
    let options = |row: &Row| {
        let value = |v: &OptionValue| match v {
            OptionValue::Number(x) => json!(x),
            OptionValue::Flag(b) => json!(b),
            OptionValue::Word(w) => json!(w),
        };
        row.method.options.iter().map(|(k, v)| (k.clone(), value(v))).collect::<serde_json::Map<_, _>>()
    };
    let row = |row: &Row| {
        let e = row.errors.as_ref();
        let probes = e.map(|e| {
            let named = c.probes.iter().zip(&e.probes).map(|(name, x)| (name.clone(), json!(x)));
            named.collect::<serde_json::Map<_, _>>()
        });
        json!({
            "integrator": row.method.name,
            "options": options(row),
            "step": row.step,
            "status": row.ended.word(),
            "reason": row.ended.reason(),
            "error_l2": e.map(|e| e.l2),
            "error_worst": e.map(|e| e.worst),
            "error_probe": e.and_then(|e| e.probe()),
            "error_probes": probes,
            "cost": row.cost(),
            "wall_seconds": row.work.wall,
            "time_simulated": row.work.t,
            "steps": row.work.steps,
            "mean_step": row.mean_step(),
            "halved_steps": row.work.halved,
            "newton_iterations": row.work.newton,
            "force_evaluations": row.calls[0],
            "hessian_evaluations": row.calls[1],
            "energy_drift": row.energy_drift.map(|d| d[0]),
            "energy_final": row.energy_drift.map(|d| d[1]),
            "linear_drift": row.linear_drift,
            "angular_drift": row.angular_drift,
        })
    };
    let orders: Vec<Value> = c
        .methods()
        .into_iter()
        .map(|m| {
            let claims = m.claims();
            json!({
                "integrator": m.to_string(),
                "measured": c.order(m),
                "claimed": claims.map(|c| c.order),
                "claimed_with_damping": claims.map(|c| c.damped_order),
            })
        })
        .collect();
    let advice: Vec<Value> = c
        .advice
        .iter()
        .map(|a| {
            let row = a.row.map(|k| &c.rows[k]);
            json!({
                "goal": a.goal.name(),
                "met": row.is_some(),
                "integrator": row.map(|r| r.method.to_string()),
                "step": row.map(|r| r.step),
                "error_l2": row.and_then(|r| r.error()),
                "cost": row.and_then(|r| r.cost()),
                "text": a.text,
            })
        })
        .collect();
    json!({
        "title": scene.title,
        "reference": {
            "kind": if c.reference.extrapolated.is_some() { "extrapolated" } else { "fine run" },
            "integrator": c.reference.method.name,
            "finest_step": c.reference.step,
            "order": c.reference.extrapolated,
            "error": c.reference.error,
            "runs": c.reference.runs,
            "wall_seconds": c.reference.wall,
            "text": c.reference.describe(),
        },
        "motion_size": c.reference.size,
        "energy_in_play": c.in_play,
        "times": c.times.as_slice().len(),
        "rows": c.rows.iter().map(row).collect::<Vec<_>>(),
        "orders": orders,
        "advice": advice,
        "notes": c.notes,
        "conserved": {
            "energy": c.conserved.energy,
            "linear_momentum": c.conserved.linear,
            "angular_momentum": c.conserved.angular,
        },
        "budget_seconds": c.budget,
        "interrupted": c.interrupted,
        "threads": lilyan_solve::threads::threads(),
        "version": env!("CARGO_PKG_VERSION"),
        "scene_hash": scene.hash(),
    })
}

/// Writes `compare.csv`, `compare.json` and `report.html`.
pub fn write(scene: &Scene, comparison: &Comparison, directory: &Path) -> Result<(), WriteError> {
    atomic::write(directory.join("compare.csv"), csv(&comparison.rows).as_bytes())?;
    json_file::write(directory.join("compare.json"), &json(scene, comparison))?;
    page::report(scene, comparison).write(directory.join("report.html"))
}

/// What the reference is and how far it can be believed.
pub fn reference_line(comparison: &Comparison) -> String {
    let r = &comparison.reference;
    match r.error {
        Some(error) => format!("{}; its own error: about {}", r.describe(), percent(error)),
        None => format!("{}; its own error is not known", r.describe()),
    }
}
