//! The end of a run: summary.json and report.html.

use super::recorder::Recorder;
use super::summary::{Status, Summary};
use super::verdict::{self, EnergyFigures};
use super::{StepTimes, constraints};
use crate::citations;
use crate::diagnose::fits;
use crate::mesh_error;
use lilyan_files::atomic::WriteError;
use lilyan_files::json;
use lilyan_report::{Band, Plot, Report, Series, Verdict, percent, short};
use lilyan_scene::build::Built;
use lilyan_scene::schema::Scene;
use lilyan_solid::output;
use std::path::{Path, PathBuf};

/// What a run leaves behind.
pub struct RunOutcome {
    /// How it ended.
    pub status: Status,
    /// Content of summary.json.
    pub summary: Summary,
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
    step_times: &StepTimes,
    directory: &Path,
) -> Result<RunOutcome, WriteError> {
    let claims = built.simulation.integrator().claims();
    let checks = verdict::checks(built, recorder, &claims, &scene.integrator.name);
    let t = built.simulation.state().t;
    let stopped = match status {
        Status::Finished => None,
        Status::Interrupted => Some((t, "interrupted; go on with --resume")),
        Status::Failed(why) => Some((t, why.as_str())),
    };
    let verdict = verdict::verdict(&checks, stopped);
    let mesh = mesh_error::measure(scene, built, mesh_error::MOST_NODES_OF_RUN);
    let summary = Summary::new(scene, built, recorder, status, step_times, mesh, (&verdict, &checks));
    json::write(directory.join("summary.json"), &summary)?;

    let mut report = Report::new(&scene.title, verdict.clone());
    report.kind = "Simulation report".into();
    report.subtitle = subtitle(scene, built);
    report.checks = checks;
    report.facts = facts(scene, built, recorder, step_times);
    report.facts.extend(mesh.map(|mesh| ("mesh".into(), mesh.line())));
    report.plots = plots(built, recorder);
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
    Ok(RunOutcome { status: status.clone(), summary, verdict, report: path })
}

fn subtitle(scene: &Scene, built: &Built) -> String {
    format!(
        "{}, {}, {} steps of {} s",
        output::describe(&output::cells(built.simulation.system().bodies())),
        scene.integrator.name,
        built.simulation.index(),
        short(scene.time.step)
    )
}

fn facts(scene: &Scene, built: &Built, recorder: &Recorder, step_times: &StepTimes) -> Vec<(String, String)> {
    let wall = recorder.counters.wall;
    let simulated = built.simulation.state().t;
    let mut facts = vec![
        ("simulated".to_string(), format!("{} s", short(simulated))),
        ("wall time".into(), format!("{} s", short(wall))),
        ("per step".into(), format!("{} ms (median)", short(1e3 * step_times.median().unwrap_or(0.0)))),
    ];
    for (body, of_model) in built.bodies.iter().zip(built.simulation.system().bodies()) {
        let [low, high] = body.young;
        let young = match (body.lambda, low == high) {
            (Some(lambda), _) => format!("λ = {} N", short(lambda)),
            (None, true) => format!("E = {} Pa", short(low)),
            (None, false) => format!("E = {} to {} Pa", short(low), short(high)),
        };
        let cells = output::describe(&output::cells(std::slice::from_ref(of_model)));
        facts.push((body.name.clone(), format!("{}, {young}, {cells}", body.model)));
    }
    facts.extend(fits(built).map(|(fit, followed)| {
        let ratios = followed.ratios();
        let [low, high] =
            ratios.iter().fold([f64::INFINITY, 0.0], |[a, b]: [f64; 2], r| [a.min(*r), b.max(*r)]);
        let done = followed.steps - followed.skipped;
        let what = match ratios.is_empty() {
            true => "no modes are scaled now".to_string(),
            false => format!("{} modes, stiffness times {} to {}", ratios.len(), short(low), short(high)),
        };
        (format!("fit of {}", fit.name), format!("{what}; in {done} of {} steps", followed.steps))
    }));
    facts.extend(constraints::facts(built, &recorder.energy));
    if recorder.counters.newton > 0.0 {
        let mean = recorder.counters.newton / built.simulation.index().max(1) as f64;
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

fn plots(built: &Built, recorder: &Recorder) -> Vec<Plot> {
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
    let claims = built.simulation.integrator().claims();
    let allowed = if claims.energy { 1e-4 } else { 2.0 };
    let mut budget = Plot::over_time(
        "Energy error of the integrator",
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
    plots.extend(constraints::plot(built, &recorder.energy));
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
