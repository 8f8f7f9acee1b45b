//! `lilyan compare` for the page.

use super::super::words;
use super::Source;
use super::worker::{Ended, Found, Reporter};
use lilyan_scene::compare::{self, Ask, CompareError, CompareOptions, Comparison, Method, Progress};
use lilyan_scene::document::Node;
use lilyan_scene::report::short;
use lilyan_scene::run::Signal;
use lilyan_scene::schema::Scene;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

/// Elements that are compared at most: every run has to end while someone waits.
pub const ELEMENTS: usize = 50_000;
/// Share of the whole that the reference takes, about.
const REFERENCE: f64 = 0.25;

/// What is to be compared.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    pane: usize,
    /// As after `--integrators`, one by one.
    integrators: Vec<String>,
    /// s; none: some around the scene's.
    #[serde(default)]
    steps: Vec<f64>,
    /// Simulated time, s.
    end: f64,
    /// Wall time of a run, s.
    budget: f64,
}

impl Wanted {
    /// The pane that is meant.
    pub fn pane(&self) -> usize {
        self.pane
    }

    /// Refuses what would not end, and what cannot be meant.
    pub fn check(&self, elements: usize) -> Result<(), String> {
        let within = |x: f64, low: f64, high: f64| x >= low && x <= high;
        if elements > ELEMENTS {
            return Err(format!(
                "{elements} elements are more than the lab compares ({ELEMENTS}); use a coarser mesh, or `lilyan compare`"
            ));
        }
        if self.integrators.is_empty() || self.integrators.len() > 12 {
            return Err("choose one to twelve integrators".into());
        }
        for name in &self.integrators {
            Method::parse(name)?;
        }
        if self.steps.len() > 8 || !self.steps.iter().all(|h| within(*h, 1e-9, 1e3)) {
            return Err("give up to eight steps, each between 1e-9 and 1000 s".into());
        }
        if !within(self.end, 1e-6, 100.0) {
            return Err("the simulated time has to be between 1e-6 and 100 s".into());
        }
        if !within(self.budget, 0.1, 60.0) {
            return Err("the time for a run has to be between 0.1 and 60 s".into());
        }
        Ok(())
    }

    /// The pane's own integrator comes with its options.
    fn options(&self, scene: &Scene) -> Result<CompareOptions, String> {
        let own = Method::of_scene(scene);
        let mut methods = Vec::new();
        for name in &self.integrators {
            let method = Method::parse(name)?;
            let same = own.as_ref().filter(|own| own.name == method.name && method.options.is_empty());
            methods.push(same.cloned().unwrap_or(method));
        }
        Ok(CompareOptions { methods, steps: self.steps.clone(), reference: Ask::Auto, budget: self.budget })
    }
}

/// Runs them all; the report goes into the folder.
pub fn work(wanted: &Wanted, mut source: Source, folder: &Path, reporter: &mut Reporter) -> Ended {
    match compared(wanted, &mut source, folder, reporter) {
        Ok(ended) => ended,
        Err(why) => Ended::Failed(why),
    }
}

fn compared(
    wanted: &Wanted,
    source: &mut Source,
    folder: &Path,
    reporter: &mut Reporter,
) -> Result<Ended, String> {
    let end = Node::from_json(&json!(wanted.end), "the lab").map_err(|e| words::of(&e))?;
    source.set("time.end", end)?;
    let (scene, built) = source.build()?;
    let options = wanted.options(&scene)?;
    let mut progress = |now: &Progress<'_>| match reporter.tell(|| describe(now), share(now)) {
        true => Signal::Continue,
        false => Signal::Stop,
    };
    let comparison = match compare::compare(&scene, built, &options, &mut progress, &mut |_| {}) {
        Ok(comparison) => comparison,
        Err(CompareError::Interrupted) => return Ok(Ended::Cancelled(None)),
        Err(why) => return Err(words::without_options(&why.to_string())),
    };
    if comparison.rows.is_empty() {
        return Ok(Ended::Cancelled(None));
    }
    compare::write(&scene, &comparison, folder).map_err(|e| format!("the report cannot be written: {e}"))?;
    let found = Found { told: told(&scene, &comparison), scene: None };
    Ok(if comparison.interrupted { Ended::Cancelled(Some(found)) } else { Ended::Done(found) })
}

fn describe(now: &Progress<'_>) -> String {
    let what =
        if now.reference { "reference".into() } else { format!("run {} of {}", now.run + 1, now.runs) };
    format!("{what}: {}, step {} s", now.method, short(now.step))
}

fn share(now: &Progress<'_>) -> f64 {
    match now.reference {
        true => REFERENCE * now.done,
        false => REFERENCE + (1.0 - REFERENCE) * (now.run as f64 + now.done) / now.runs.max(1) as f64,
    }
}

fn told(scene: &Scene, c: &Comparison) -> Value {
    let advice = c.advice.iter().map(|a| {
        let row = a.row.and_then(|k| c.rows.get(k));
        json!({
            "goal": a.goal.name(),
            "text": words::without_options(&a.text),
            "integrator": row.map(|r| r.method.name),
            "step": row.map(|r| r.step),
        })
    });
    json!({
        "title": scene.title,
        "end": scene.time.end,
        "motion": c.reference.size,
        "reference": compare::reference_line(c),
        "table": compare::terminal(c),
        "advice": advice.collect::<Vec<_>>(),
        "notes": c.notes.iter().map(|n| words::without_options(n)).collect::<Vec<_>>(),
        "files": ["report.html", "compare.csv", "compare.json"],
    })
}
