//! The end of a run: summary.json and report.html.

use super::record::Recorder;
use super::verdict::{self, EnergyFigures};
use super::{Pace, constraints};
use crate::build::Built;
use crate::citations;
use crate::report::{Band, Plot, Report, Series, Verdict, percent, short};
use crate::schema::Scene;
use crate::writers::atomic::WriteError;
use crate::writers::json;
use crate::writers::vtu::Cells;
use lilyan_dynamics::System;
use lilyan_dynamics::fit::{Fit, Followed};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// All steps done.
    Finished,
    /// Stopped on request; a checkpoint is written.
    Interrupted,
    /// It could not go on; why, and what to do.
    Failed(String),
}

/// What a run leaves behind.
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// Content of summary.json.
    pub summary: Value,
    /// One sentence on whether to trust it.
    pub verdict: Verdict,
    /// Where the report is.
    pub report: PathBuf,
}

pub(super) fn write(
    scene: &Scene,
    built: &Built,
    recorder: &Recorder,
    status: &Status,
    pace: &Pace,
    directory: &Path,
) -> Result<Outcome, WriteError> {
    let claims = built.simulation.integrator.claims();
    let checks = verdict::checks(built, recorder, &claims, &scene.integrator.name);
    let t = built.simulation.state.t;
    let stopped = match status {
        Status::Finished => None,
        Status::Interrupted => Some((t, "interrupted; go on with --resume")),
        Status::Failed(why) => Some((t, why.as_str())),
    };
    let verdict = verdict::verdict(&checks, stopped);
    let summary = summary(scene, built, recorder, status, pace, &verdict);
    json::write(directory.join("summary.json"), &summary)?;

    let mut report = Report::new(&scene.title, verdict.clone());
    report.kind = "Simulation report".into();
    report.subtitle = subtitle(scene, built);
    report.checks = checks;
    report.facts = facts(scene, built, recorder, pace);
    report.plots = plots(scene, built, recorder);
    report.replay = recorder.replay.clone();
    report.settings = vec![("scene".into(), scene.to_toml())];
    report.warnings = built.warnings.iter().chain(&built.notes).cloned().collect();
    report.citations = citations::for_scene(scene);
    report.provenance = vec![
        ("program".into(), format!("lilyan {}", env!("CARGO_PKG_VERSION"))),
        ("scene hash".into(), scene.hash()),
    ];
    let path = directory.join("report.html");
    report.write(&path)?;
    Ok(Outcome { status: status.clone(), summary, verdict, report: path })
}

fn subtitle(scene: &Scene, built: &Built) -> String {
    format!(
        "{}, {}, {} steps of {} s",
        Cells::of(built.simulation.system.bodies()).describe(),
        scene.integrator.name,
        built.simulation.index,
        short(scene.time.step)
    )
}

fn facts(scene: &Scene, built: &Built, recorder: &Recorder, pace: &Pace) -> Vec<(String, String)> {
    let wall = recorder.counters.wall;
    let simulated = built.simulation.state.t;
    let mut facts = vec![
        ("simulated".to_string(), format!("{} s", short(simulated))),
        ("wall time".into(), format!("{} s", short(wall))),
        ("per step".into(), format!("{} ms (median)", short(1e3 * pace.median().unwrap_or(0.0)))),
    ];
    for (body, of_model) in built.bodies.iter().zip(built.simulation.system.bodies()) {
        let [low, high] = body.young;
        let young = match (body.lambda, low == high) {
            (Some(lambda), _) => format!("λ = {} N", short(lambda)),
            (None, true) => format!("E = {} Pa", short(low)),
            (None, false) => format!("E = {} to {} Pa", short(low), short(high)),
        };
        let cells = Cells::of(std::slice::from_ref(of_model)).describe();
        facts.push((body.name.clone(), format!("{}, {young}, {cells}", body.model)));
    }
    facts.extend(fits(built).map(|(fit, followed)| {
        let ratios = followed.ratios();
        let [low, high] =
            ratios.iter().fold([f64::INFINITY, 0.0], |[a, b]: [f64; 2], r| [a.min(*r), b.max(*r)]);
        let done = followed.steps - followed.without;
        let what = match ratios.is_empty() {
            true => "no modes are scaled now".to_string(),
            false => format!("{} modes, stiffness times {} to {}", ratios.len(), short(low), short(high)),
        };
        (format!("fit of {}", fit.name), format!("{what}; in {done} of {} steps", followed.steps))
    }));
    facts.extend(constraints::facts(built, recorder));
    if recorder.counters.newton > 0.0 {
        let mean = recorder.counters.newton / built.simulation.index.max(1) as f64;
        facts.push(("Newton iterations per step".into(), short(mean)));
        let linear = recorder.counters.krylov / recorder.counters.newton;
        let share = recorder.counters.multigrid / recorder.counters.newton;
        let how = match (linear, share) {
            (0.0, _) => "each by a factorisation of its own".to_string(),
            (x, 0.0) => format!("{} iterations each", short(x)),
            (x, share) => {
                format!("{} iterations each, {:.0} % by multigrid", short(x), 100.0 * share.min(1.0))
            }
        };
        facts.push(("linear systems".into(), how));
    }
    facts.push(("integrator".into(), scene.integrator.name.clone()));
    facts
}

fn fits(built: &Built) -> impl Iterator<Item = (&Fit, &Followed)> {
    let followed = built.simulation.fitting().map_or(&[][..], |fitting| fitting.bodies());
    built.simulation.system.fits().iter().zip(followed)
}

fn plots(_scene: &Scene, built: &Built, recorder: &Recorder) -> Vec<Plot> {
    let column = |name: &str| recorder.energy.column(name).unwrap_or_default();
    let t = column("t");
    let line = |name: &str, label: &str| Series::line(label, &t, &column(name));
    let mut energy = vec![line("total", "total"), line("kinetic", "kinetic"), line("elastic", "elastic")];
    for name in ["gravity", "other"] {
        if column(name).iter().any(|x| *x != 0.0) {
            energy.push(line(name, if name == "other" { "contact and other" } else { name }));
        }
    }
    let mut plots = vec![Plot::over_time("Energy", "J", energy)];

    let figures = EnergyFigures::new(recorder);
    let scale = if figures.in_play > 0.0 { figures.in_play } else { 1.0 };
    let share: Vec<f64> = column("dissipated_numerical").iter().map(|x| -100.0 * x / scale).collect();
    let claims = built.simulation.integrator.claims();
    let allowed = if claims.energy { 1e-4 } else { 2.0 };
    let mut budget = Plot::over_time(
        "Energy that nothing accounts for",
        "% of the energy in play",
        vec![Series::line("gained (+) or lost (−) by the integrator", &t, &share)],
    );
    budget.band = Some(Band { low: -allowed, high: allowed, label: "allowed".into() });
    budget.note = format!(
        "Total energy minus the start, minus work from outside, plus what the material dissipated. \
         Largest: {}.",
        percent(figures.unaccounted[0] / scale)
    );
    plots.push(budget);

    let works = ["work_external", "dissipated_physical"];
    if works.iter().any(|w| column(w).iter().any(|x| *x != 0.0)) {
        let series = vec![
            line("work_external", "work from outside"),
            line("dissipated_physical", "dissipated by the material"),
            line("dissipated_numerical", "lost by the integrator"),
        ];
        plots.push(Plot::over_time("Work and dissipation", "J", series));
    }
    for (title, unit, names) in [
        ("Linear momentum", "kg m/s", ["px", "py", "pz"]),
        ("Angular momentum", "kg m²/s", ["lx", "ly", "lz"]),
    ] {
        let series = names.iter().zip(["x", "y", "z"]).map(|(n, axis)| line(n, axis)).collect();
        plots.push(Plot::over_time(title, unit, series));
    }
    plots.extend(constraints::plot(built, recorder));
    for (k, probe) in built.probes.iter().enumerate() {
        let columns = recorder.probes.columns();
        let values = |axis: usize| recorder.probes.column(&columns[1 + 3 * k + axis]).unwrap_or_default();
        let series = ["x", "y", "z"]
            .iter()
            .enumerate()
            .map(|(axis, name)| Series::line(*name, &t, &values(axis)))
            .collect();
        plots.push(Plot::over_time(format!("Probe {}", probe.name), "m", series));
    }
    if recorder.counters.newton > 0.0 {
        let series = vec![line("newton_iterations", "Newton iterations")];
        plots.push(Plot::over_time("Work per step", "iterations", series));
    }
    plots
}

fn summary(
    scene: &Scene,
    built: &Built,
    recorder: &Recorder,
    status: &Status,
    pace: &Pace,
    verdict: &Verdict,
) -> Value {
    let simulation = &built.simulation;
    let energy = EnergyFigures::new(recorder);
    let steps = simulation.index;
    let options: serde_json::Map<String, Value> = scene
        .integrator
        .options
        .iter()
        .map(|o| {
            use crate::schema::OptionValue::{Bool, Number, Numbers, Text};
            let value = match &o.value {
                Number(x) => json!(x),
                Text(t) => json!(t),
                Bool(b) => json!(b),
                Numbers(n) => json!(n),
            };
            (o.key.clone(), value)
        })
        .collect();
    let material: Vec<Value> = built
        .bodies
        .iter()
        .map(|b| match b.lambda {
            None => json!({ "body": b.name, "model": b.model, "E": b.young, "rho": b.density }),
            Some(lambda) => json!({ "body": b.name, "model": b.model, "lambda": lambda, "rho": b.density }),
        })
        .collect();
    let drift = |conserved: bool, [drift, scale]: [f64; 2]| match conserved {
        true if scale > 0.0 => json!(drift / scale),
        true => json!(0.0),
        false => Value::Null,
    };
    let c = &recorder.counters;
    let count = |f: fn(&crate::build::BuiltBody) -> usize| built.bodies.iter().map(f).sum::<usize>();
    json!({
        "title": scene.title,
        "integrator": scene.integrator.name,
        "options": options,
        "material": material,
        "vertices": count(|b| b.mesh.vertices.len()),
        "elements": Cells::of(simulation.system.bodies()).len(),
        "dofs": simulation.state.q.len(),
        "steps": steps,
        "time_simulated": simulation.state.t,
        "wall_seconds": c.wall,
        "seconds_per_step_median": pace.median(),
        "newton_iterations_mean": c.newton / steps.max(1) as f64,
        "linear_iterations_mean": c.krylov / steps.max(1) as f64,
        "multigrid_systems_mean": c.multigrid / steps.max(1) as f64,
        "halved_steps": c.halved,
        "threads": lilyan_solve::threads::threads(),
        "peak_memory_mb": peak_memory_mb(),
        "energy": {
            "initial": energy.initial,
            "final": energy.last,
            "min": energy.min,
            "max": energy.max,
            "in_play": energy.in_play,
            "unaccounted_max": energy.unaccounted[0],
        },
        "momentum": {
            "linear_drift": drift(built.conserved.linear, c.linear),
            "angular_drift": drift(built.conserved.angular, c.angular),
        },
        "constraints": constraints::summary(built, recorder),
        "fits": fits(built).map(|(fit, followed)| json!({
            "body": fit.name,
            "ratios": followed.ratios(),
            "steps": followed.steps,
            "steps_without": followed.without,
        })).collect::<Vec<_>>(),
        "converged": *status == Status::Finished,
        "status": match status {
            Status::Finished => json!("finished"),
            Status::Interrupted => json!("interrupted"),
            Status::Failed(why) => json!(why),
        },
        "verdict": format!("{}: {}", verdict.headline, verdict.sentence),
        "warnings": built.warnings,
        "notes": built.notes,
        "version": env!("CARGO_PKG_VERSION"),
        "scene_hash": scene.hash(),
    })
}

/// Peak resident memory of this process, MB (Linux; `null` elsewhere).
fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? / 1024.0)
}
