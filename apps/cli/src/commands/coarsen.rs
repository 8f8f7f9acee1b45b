//! `lilyan coarsen`.

use crate::failure::{Done, Failure};
use crate::output;
use indicatif::{ProgressBar, ProgressStyle};
use lilyan_scene::build::{build, open};
use lilyan_scene::coarsen::{CATALOGUE, CoarseMesh, Consistency, Outcome, Request, coarsen};
use lilyan_scene::document::SceneError;
use lilyan_scene::schema::Scene;
use std::io::IsTerminal;
use std::path::PathBuf;

/// Make a coarse scene that moves like the fine one.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  lilyan coarsen layered-cube --tets 100 -o out/coarse
  lilyan coarsen scene.toml --mesh coarse.msh --method average
  lilyan coarsen --methods
  lilyan run out/coarse/scene.toml

The folder gets scene.toml (an ordinary scene), coarse.vtu (the coarse mesh with 21 elastic constants and a density \
per tet and a mass per vertex) and coarsen.json (what was done).")]
pub struct Arguments {
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
    /// Run both scenes and compare them, up to this time [default: the scene's end]
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "inf")]
    compare: Option<f64>,
    /// Which body, where there are several
    #[arg(long)]
    body: Option<String>,
    /// Material of the coarse body: linear or co-rotational [default: linear if the fine body is]
    #[arg(long)]
    model: Option<String>,
    /// Folder of the coarse scene [default: out/NAME-coarse]
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Sets a key of the scene
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Threads; 0: all cores
    #[arg(long)]
    threads: Option<usize>,
    /// List the methods
    #[arg(long)]
    methods: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Done {
    if let Some(threads) = arguments.threads {
        lilyan_solve::threads::set_threads(threads);
    }
    let Some(name) = arguments.scene.as_ref().filter(|_| !arguments.methods) else {
        methods(arguments.json);
        return Ok(());
    };
    let overrides: Vec<&str> = arguments.set.iter().map(String::as_str).collect();
    let scene = open(name, &overrides).map_err(Failure::input)?;
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
    let directory = arguments.output.clone().unwrap_or_else(|| {
        let results = super::results_of(name);
        let stem = results.file_name().map_or("run".into(), |n| n.to_string_lossy());
        results.with_file_name(format!("{stem}-coarse"))
    });
    std::fs::create_dir_all(&directory).map_err(|e| {
        Failure::input(format!("{}: {e}; choose another folder with -o", directory.display()))
    })?;
    let request = Request {
        body: arguments.body.clone(),
        mesh,
        method: arguments.method.clone(),
        model: arguments.model.clone(),
        modes: arguments.modes.map(usize::from),
        display: arguments.display,
    };
    let bar = bar(arguments.json);
    let mut show = |what: &str, done: f64| {
        if let Some(bar) = &bar {
            bar.set_position((1000.0 * done.min(1.0)) as u64);
            bar.set_message(what.to_owned());
        }
    };
    let outcome = coarsen(&scene, &request, &directory, &mut show).and_then(|mut outcome| {
        let coarse = check(&outcome)?;
        if let Some(end) = arguments.compare {
            let end = end.min(scene.time.end);
            let found = Consistency::new(&scene, &coarse, outcome.body, end, &mut show)?;
            let written = found.write(&coarse, &directory);
            written.map_err(|e| coarse.bodies[outcome.body].mark.error(e.to_string()))?;
            if let Some(report) = outcome.report.as_object_mut() {
                report.insert("consistency".into(), found.report());
            }
        }
        Ok(outcome)
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let outcome = outcome.map_err(Failure::input)?;
    if arguments.json {
        output::json(&outcome.report);
    } else {
        tell(&scene, &outcome);
        compared(&outcome, &directory);
    }
    Ok(())
}

/// The coarse scene can be built: what stands in its way is told now, not when it is run.
fn check(outcome: &Outcome) -> Result<Scene, SceneError> {
    let scene = Scene::from_path(&outcome.scene)?;
    build(&scene)?;
    Ok(scene)
}

/// What running both showed.
fn compared(outcome: &Outcome, directory: &std::path::Path) {
    let Some(runs) = outcome.report["consistency"]["runs"].as_array() else { return };
    let mut rows =
        vec![["run", "tets", "first frequency (Hz)", "probe off by", "cost"].map(String::from).to_vec()];
    for run in runs {
        let share = |key: &str| format!("{:.1} %", 100.0 * run[key].as_f64().unwrap_or(f64::NAN));
        let frequency = run["frequencies_hz"][0].as_f64().unwrap_or(f64::NAN);
        let name = run["run"].as_str().unwrap_or_default().to_string();
        rows.push(vec![
            name,
            run["tets"].to_string(),
            format!("{frequency:.5}"),
            share("probe_error_max"),
            share("cost_ratio"),
        ]);
    }
    output::table(&rows);
    output::line(format!("report: {}", directory.join("consistency.html").display()));
}

fn methods(json: bool) {
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

fn tell(scene: &Scene, outcome: &Outcome) {
    let number = |place: &str, key: &str| outcome.report[place][key].as_f64().unwrap_or(f64::NAN);
    output::line(format!(
        "{}: {} tets to {}, {:.0} times fewer, by {}; mass {:.6} kg",
        scene.title,
        number("fine", "tets"),
        number("coarse", "tets"),
        outcome.report["tets_ratio"].as_f64().unwrap_or(f64::NAN),
        outcome.report["method"].as_str().unwrap_or_default(),
        number("coarse", "mass"),
    ));
    for note in &outcome.notes {
        output::line(format!("note: {note}"));
    }
    output::line(format!("scene: {}", outcome.scene.display()));
}

fn bar(json: bool) -> Option<ProgressBar> {
    if json || !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::new(1000);
    let style = "{bar:32}  {elapsed}  {msg}";
    bar.set_style(ProgressStyle::with_template(style).unwrap_or(ProgressStyle::default_bar()));
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    Some(bar)
}
