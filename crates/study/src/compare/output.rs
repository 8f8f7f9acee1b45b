//! The files of a comparison.

use super::page;
use super::report::CompareReport;
use super::{Comparison, ComparisonRow};
use lilyan_files::atomic::{self, WriteError};
use lilyan_files::csv::Shortest;
use lilyan_files::json;
use lilyan_scene::schema::Scene;
use std::path::Path;

/// `compare.csv`: numbers in SI units and shares; empty where there is none.
pub fn csv(rows: &[ComparisonRow]) -> String {
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

/// Writes `compare.csv`, `compare.json` and `report.html`.
pub fn write(scene: &Scene, comparison: &Comparison, directory: &Path) -> Result<(), WriteError> {
    atomic::write(directory.join("compare.csv"), csv(&comparison.rows).as_bytes())?;
    json::write(directory.join("compare.json"), &CompareReport::new(scene, comparison))?;
    page::report(scene, comparison).write(directory.join("report.html"))
}
