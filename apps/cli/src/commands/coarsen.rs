//! `lilyan coarsen`.

use super::common::{CommonArguments, keep_drawing, make_folder, open_scene, progress_bar};
use crate::failure::{CommandResult, Failure};
use crate::{output, stop_signal};
use lilyan_files::atomic::WriteError;
use lilyan_scene::build::build;
use lilyan_scene::schema::Scene;
use lilyan_solid::coarsening::Traction;
use lilyan_study::coarsen::{CATALOGUE, CoarseMesh, CoarsenOptions, CoarsenOutcome, Consistency, coarsen};
use std::path::{Path, PathBuf};

/// Make a coarse scene that moves like the fine one.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  lilyan coarsen layered-cube --tets 100 -o out/coarse
  lilyan coarsen scene.toml --mesh coarse.msh --method average
  lilyan coarsen --methods
  lilyan run out/coarse/scene.toml

The folder gets scene.toml (an ordinary scene), coarse.vtu (the coarse mesh with 21 elastic constants and a density \
per tet and a mass per vertex) and coarsen.json (what was done).")]
pub struct CoarsenArguments {
    /// Scene file or name of a built-in scene
    #[arg(required_unless_present = "methods")]
    scene: Option<String>,
    /// Coarse mesh of tets; placed as the body's own mesh is
    #[arg(long, value_name = "FILE", conflicts_with = "tets")]
    mesh: Option<PathBuf>,
    /// Make a coarse grid of about so many tets
    #[arg(long, value_name = "N")]
    tets: Option<usize>,
    /// How; --methods lists them
    #[arg(long, default_value = "homogenize+eigenfit")]
    method: String,
    /// Modes that are made those of the fine body [default: 20, or 10 where the body keeps its material]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=20))]
    modes: Option<u8>,
    /// Show runs of the coarse scene on the fine mesh (display.pvd)
    #[arg(long)]
    display: bool,
    /// How unit stresses act on the outer boundary: the same everywhere, mixed for least energy, the same on the normals of the
    /// coarse mesh, or with stresses that vary linearly. best: which of the first two comes nearer to the first frequencies;
    /// all: which of all
    #[arg(long, value_parser = ["best", "all", "uniform", "least-energy", "coarse-normal", "linear"], default_value = "best")]
    traction: String,
    /// Run both scenes and compare them, up to this time [default: the scene's end]
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "inf")]
    compare: Option<f64>,
    /// Which body, where there are several
    #[arg(long)]
    body: Option<String>,
    /// Material of the coarse body: linear, co-rotational, or anisotropic-neo-hookean for neo-Hookean bodies at large strain
    /// [default: linear if the fine body is, else co-rotational]
    #[arg(long)]
    model: Option<String>,
    /// Elements of the coarse body: quadratic tets cost several times as much as linear ones, and bend and twist as the fine body
    #[arg(long, value_parser = ["tets", "quadratic"], default_value = "tets")]
    element: String,
    /// Folder of the coarse scene [default: out/NAME-coarse]
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// List the methods
    #[arg(long)]
    methods: bool,
    #[command(flatten)]
    common: CommonArguments,
}

pub fn run(arguments: &CoarsenArguments) -> CommandResult {
    arguments.common.set_threads();
    let Some(name) = arguments.scene.as_ref().filter(|_| !arguments.methods) else {
        print_methods(arguments.common.json);
        return Ok(());
    };
    let scene = open_scene(name, &arguments.common.set)?;
    let mesh = match (&arguments.mesh, arguments.tets) {
        (Some(file), _) => CoarseMesh::File(file.clone()),
        (None, Some(tets)) => CoarseMesh::Tets(tets),
        (None, None) => {
            return Err(Failure::input("no coarse mesh: give --mesh FILE, or --tets N to have a grid made"));
        }
    };
    if arguments.compare.is_some_and(|end| end.is_nan() || end <= 0.0) {
        return Err(Failure::input("--compare: give a time above 0 s, or none for the scene's end"));
    }
    let directory = make_folder(arguments.output.as_ref(), name, "-coarse")?;
    let request = CoarsenOptions {
        body: arguments.body.clone(),
        mesh,
        method: arguments.method.clone(),
        model: arguments.model.clone(),
        modes: arguments.modes.map(usize::from),
        display: arguments.display,
        traction: match arguments.traction.as_str() {
            "uniform" => Some(Traction::Uniform),
            "least-energy" => Some(Traction::LeastEnergy),
            "coarse-normal" => Some(Traction::CoarseNormal),
            "linear" => Some(Traction::Linear),
            _ => None,
        },
        all_tractions: arguments.traction == "all",
        quadratic: arguments.element == "quadratic",
    };
    let bar = progress_bar(1000, "{bar:32}  {elapsed}  {msg}", arguments.common.json).inspect(keep_drawing);
    let mut show = |what: &str, done: f64| {
        if let Some(bar) = &bar {
            bar.set_position((1000.0 * done.min(1.0)) as u64);
            bar.set_message(what.to_owned());
        }
    };
    let outcome = coarsen(&scene, &request, &mut show).and_then(|mut outcome| {
        // Errors of the build are reported now, not when the coarse scene is run.
        build(&outcome.scene)?;
        let coarse = outcome.scene.clone();
        let unwritten = |e: WriteError| coarse.bodies[outcome.body].mark.error(e.to_string());
        let path = outcome.write(&directory).map_err(unwritten)?;
        stop_signal::keep(format!("the coarse scene is in {}", directory.display()));
        if let Some(end) = arguments.compare {
            let end = end.min(scene.time.end);
            let found = Consistency::new(&scene, &coarse, outcome.body, end, &mut show)?;
            found.write(&coarse, &directory).map_err(unwritten)?;
            outcome.report.consistency = Some(found.report());
        }
        Ok((outcome, path))
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let (outcome, path) = outcome.map_err(Failure::input)?;
    if arguments.common.json {
        output::json(&outcome.report);
    } else {
        print_result(&scene, &outcome, &path);
        print_consistency(&outcome, &directory);
    }
    Ok(())
}

/// Prints how the runs of both scenes compare.
fn print_consistency(outcome: &CoarsenOutcome, directory: &std::path::Path) {
    let Some(consistency) = &outcome.report.consistency else { return };
    let mut rows =
        vec![["run", "tets", "first frequency (Hz)", "probe off by", "cost"].map(String::from).to_vec()];
    for run in &consistency.runs {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        rows.push(vec![
            run.run.clone(),
            run.tets.to_string(),
            run.frequencies_hz.first().map_or_else(|| "none".into(), |frequency| format!("{frequency:.5}")),
            percent(run.probe_error_max),
            percent(run.cost_ratio),
        ]);
    }
    output::table(&rows);
    output::line(format!("report: {}", directory.join("consistency.html").display()));
}

fn print_methods(json: bool) {
    if json {
        let all = CATALOGUE
            .iter()
            .map(|m| serde_json::json!({ "name": m.name, "summary": m.summary, "cite": m.cite }));
        output::json(&serde_json::json!({ "methods": all.collect::<Vec<_>>() }));
        return;
    }
    let mut rows = vec![vec!["method".to_string(), "what it does".to_string()]];
    rows.extend(CATALOGUE.iter().map(|m| vec![m.name.to_string(), m.summary.to_string()]));
    output::table(&rows);
}

fn print_result(scene: &Scene, outcome: &CoarsenOutcome, path: &Path) {
    let report = &outcome.report;
    output::line(format!(
        "{}: {} tets to {}, {:.0} times fewer, by {}; mass {:.6} kg",
        scene.title,
        report.fine.tets,
        report.coarse.tets,
        report.tets_ratio,
        report.method,
        report.coarse.mass,
    ));
    for note in &outcome.notes {
        output::line(format!("note: {note}"));
    }
    output::line(format!("scene: {}", path.display()));
}
