//! `sweep.csv`: what came out of each run. It holds nothing that depends on the machine, on threads or on who did the runs.

use super::{EndedRun, Plan, RunState, SweepError};
use crate::run::Summary;
use lilyan_files::atomic;
use lilyan_files::csv::{Shortest, cell};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// All runs of a sweep that have ended.
#[derive(Clone, Debug, Serialize)]
pub struct SweepReport {
    /// Title of the scene.
    pub title: String,
    /// The varied keys.
    pub keys: Vec<String>,
    /// Number of runs of the plan.
    pub planned: usize,
    /// Runs that have ended, in the order of the plan.
    pub rows: Vec<SweepRow>,
}

/// A run that has ended.
#[derive(Clone, Debug, Serialize)]
pub struct SweepRow {
    /// Number of the run, from 0.
    pub index: usize,
    /// Name of its folder in `runs`.
    pub id: String,
    /// Values of the varied keys.
    pub values: Vec<String>,
    /// How it ended.
    pub state: RunState,
    /// Why it did not finish; empty if it did.
    pub reason: String,
    /// Its verdict in one sentence.
    pub verdict: String,
    /// `pass`, `warn` or `fail`; empty without a verdict.
    pub verdict_level: String,
    /// Numbers by name: energies, drifts, and of each probe the last, smallest and largest value.
    pub results: BTreeMap<String, f64>,
    /// The names of `results` in the order of the columns.
    #[serde(skip)]
    columns: Vec<String>,
}

impl SweepRow {
    /// What came out of a run; `None` if it has not ended.
    pub fn read(plan: &Plan, index: usize, directory: &Path) -> Result<Option<Self>, SweepError> {
        let planned = plan.run(index)?;
        let folder = planned.folder(directory);
        let Some(ended) = EndedRun::read(&folder)? else { return Ok(None) };
        let mut row = Self {
            index,
            id: planned.id.clone(),
            values: planned.values.clone(),
            state: ended.state,
            reason: ended.reason,
            verdict: String::new(),
            verdict_level: String::new(),
            results: BTreeMap::new(),
            columns: Vec::new(),
        };
        if matches!(row.state, RunState::Finished | RunState::Failed) {
            let path = folder.join("summary.json");
            let wrong = |why: String| SweepError::Read { path: path.display().to_string(), why };
            let bytes = std::fs::read(&path).map_err(|e| wrong(e.to_string()))?;
            row.take(&serde_json::from_slice(&bytes).map_err(|e| wrong(e.to_string()))?);
        }
        Ok(Some(row))
    }

    fn take(&mut self, summary: &Summary) {
        self.verdict.clone_from(&summary.verdict);
        self.verdict_level.clone_from(&summary.verdict_level);
        let share = |x: f64| if summary.energy.in_play > 0.0 { x / summary.energy.in_play } else { 0.0 };
        let drift = |x: Option<f64>| x.unwrap_or(f64::NAN);
        let mut results = vec![
            ("time_simulated".into(), summary.time_simulated),
            ("steps".into(), summary.steps as f64),
            ("halved_steps".into(), summary.halved_steps),
            ("newton_iterations_mean".into(), summary.newton_iterations_mean),
            ("energy_final".into(), summary.energy.last),
            ("energy_in_play".into(), summary.energy.in_play),
            ("energy_unaccounted".into(), share(summary.energy.unaccounted_max)),
            ("linear_drift".into(), drift(summary.momentum.linear_drift)),
            ("angular_drift".into(), drift(summary.momentum.angular_drift)),
        ];
        for (name, column) in &summary.probes {
            for (what, value) in [("final", column.last), ("min", column.min), ("max", column.max)] {
                results.push((format!("{name} {what}"), value));
            }
        }
        self.columns = results.iter().map(|(name, _)| name.clone()).collect();
        self.results = results.into_iter().filter(|(_, x): &(String, f64)| !x.is_nan()).collect();
    }
}

impl SweepReport {
    /// Reads what has ended.
    pub fn collect(plan: &Plan, directory: &Path) -> Result<Self, SweepError> {
        let rows = (0..plan.runs().len()).map(|k| SweepRow::read(plan, k, directory));
        Ok(Self {
            title: plan.title().into(),
            keys: plan.keys().to_vec(),
            planned: plan.runs().len(),
            rows: rows.filter_map(Result::transpose).collect::<Result<_, _>>()?,
        })
    }

    /// Whether every run of the plan has ended.
    pub fn complete(&self) -> bool {
        self.rows.len() == self.planned
    }

    /// How many runs ended in this way.
    pub fn count(&self, state: RunState) -> usize {
        self.rows.iter().filter(|row| row.state == state).count()
    }

    /// Names of the results of all runs, each once.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns: Vec<&str> = Vec::new();
        for row in &self.rows {
            // Runs of one sweep nearly always have the same columns.
            if columns.len() != row.columns.len() || columns.iter().zip(&row.columns).any(|(a, b)| a != b) {
                columns.extend(
                    row.columns
                        .iter()
                        .map(String::as_str)
                        .filter(|c| !columns.contains(c))
                        .collect::<Vec<_>>(),
                );
            }
        }
        columns
    }

    /// As text with commas.
    pub fn csv(&self) -> String {
        let columns = self.columns();
        let mut header: Vec<String> = vec!["index".into(), "id".into()];
        header.extend(self.keys.iter().map(|key| cell(key)));
        header.extend(["status", "verdict"].map(String::from));
        header.extend(columns.iter().map(|c| cell(c)));
        header.push("reason".into());
        let mut out = header.join(",") + "\n";
        for row in &self.rows {
            let mut cells = vec![row.index.to_string(), row.id.clone()];
            cells.extend(row.values.iter().map(|v| cell(v)));
            cells.extend([row.state.name().to_string(), row.verdict_level.clone()]);
            let number = |c: &&str| row.results.get(*c).map_or(String::new(), |x| Shortest(*x).to_string());
            cells.extend(columns.iter().map(number));
            cells.push(cell(&row.reason));
            out += &(cells.join(",") + "\n");
        }
        out
    }
}

/// Writes `sweep.csv`.
pub fn write_table(report: &SweepReport, directory: &Path) -> Result<(), SweepError> {
    Ok(atomic::write(directory.join("sweep.csv"), report.csv().as_bytes())?)
}
