//! Sweeps: a plan, one run of it, and the table of all.

use crate::errors::{input, step};
use crate::scene::json;
use lilyan_study::run::{RunProgress, Signal};
use lilyan_study::sweep::{self, Attempt, Plan, SweepError, SweepReport, Variation};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn raised(error: SweepError) -> PyErr {
    match error {
        SweepError::Write(_) | SweepError::Run(_) => step(error),
        _ => input(error),
    }
}

fn variations(vary: Vec<(String, Vec<String>)>) -> Vec<Variation> {
    vary.into_iter().map(|(key, values)| Variation { key, values }).collect()
}

/// The plan of a sweep, written as `plan.csv`.
#[pyclass(frozen, module = "lilyan._lilyan")]
pub struct SweepPlan {
    plan: Plan,
    directory: PathBuf,
}

#[pymethods]
impl SweepPlan {
    #[new]
    fn new(
        py: Python<'_>,
        name: String,
        set: Vec<String>,
        vary: Vec<(String, Vec<String>)>,
        directory: PathBuf,
    ) -> PyResult<Self> {
        let plan = py.detach(|| Plan::new(&name, &set, &variations(vary))).map_err(raised)?;
        std::fs::create_dir_all(&directory).map_err(|e| input(format!("{}: {e}", directory.display())))?;
        plan.write(&directory).map_err(raised)?;
        Ok(Self { plan, directory })
    }

    fn __len__(&self) -> usize {
        self.plan.runs().len()
    }

    /// The number of runs that have ended.
    fn ended(&self) -> usize {
        self.plan.ended(&self.directory)
    }

    /// Writes `sweep.csv` and `report.html`, and gives the table as JSON text.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let report = py.detach(|| {
            let report = SweepReport::collect(&self.plan, &self.directory)?;
            sweep::write_table(&report, &self.directory)?;
            sweep::write_page(&self.plan, &report, &self.directory)?;
            Ok(report)
        });
        json(&report.map_err(raised)?)
    }
}

/// Values of a `LOW..HIGH:N` or `LOW..HIGH:logN`, or those between commas.
#[pyfunction]
pub fn sweep_values(text: &str) -> PyResult<Vec<String>> {
    Ok(Variation::parse(&format!("values={text}")).map_err(raised)?.values)
}

/// Does one run of a sweep, unless it has ended; `false` if it was stopped by the file `stop` in the folder.
#[pyfunction]
pub fn sweep_run(
    py: Python<'_>,
    name: String,
    set: Vec<String>,
    vary: Vec<(String, Vec<String>)>,
    directory: PathBuf,
    number: usize,
    retry: bool,
) -> PyResult<bool> {
    let attempt = py.detach(|| one(&name, &set, &variations(vary), &directory, number, retry));
    Ok(attempt.map_err(raised)? != Attempt::Interrupted)
}

fn one(
    name: &str,
    set: &[String],
    vary: &[Variation],
    directory: &Path,
    number: usize,
    retry: bool,
) -> Result<Attempt, SweepError> {
    let plan = match Plan::of_folder(name, set, vary, directory, number) {
        Some(plan) => plan,
        None => Plan::new(name, set, vary)?,
    };
    let (stop, mut looked) = (sweep::stop_file(directory), Instant::now());
    sweep::run_planned(&plan, number, directory, retry, &mut |_: &RunProgress| {
        if looked.elapsed() < Duration::from_millis(100) {
            return Signal::Continue;
        }
        looked = Instant::now();
        if stop.exists() { Signal::Stop } else { Signal::Continue }
    })
}
