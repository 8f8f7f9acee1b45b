//! `lilyan compare`.

use super::load;
use super::stopping::Stopping;
use crate::failure::{Done, Failure};
use crate::output;
use indicatif::{ProgressBar, ProgressStyle};
use lilyan_scene::compare::{self, Ask, CompareError, CompareOptions, Comparison, Method, Progress};
use lilyan_scene::report::short;
use lilyan_scene::run::Signal;
use lilyan_scene::schema::Scene;
use lilyan_scene::writers::atomic;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Run a scene with many integrators and steps and compare them with a converged reference.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  lilyan compare cantilever
  lilyan compare tumbling-rod --integrators \"variational(alpha=0.5),verlet,backward-euler\" --step-sizes 0.008,0.004
  lilyan compare scene.toml --reference rk4@0.0005 --budget 60 -o out/compare

The table tells, for each integrator and step, the distance from the reference relative to the size of the \
motion, wall time per simulated second, what became of energy and momenta, and the order that the errors show. \
compare.csv, compare.json and report.html go into the output folder.")]
pub struct Arguments {
    /// Scene file or name of a built-in scene
    scene: String,
    /// Integrators with commas between, options in parentheses: \"variational(alpha=0.5),verlet\" [default: all
    /// that make sense in the scene]
    #[arg(long, value_name = "A,B,…")]
    integrators: Option<String>,
    /// Steps in seconds with commas between [default: the scene's times 4, 2, 1, 1/2; explicit methods from
    /// below their limit]
    #[arg(long, value_name = "H1,H2,…")]
    step_sizes: Option<String>,
    /// What to compare with: auto, fine, METHOD or METHOD@STEP
    #[arg(long, default_value = "auto")]
    reference: String,
    /// Wall time for each run in seconds; the reference gets three times as much
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0)]
    budget: f64,
    /// Folder of the results [default: out/NAME-compare]
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Sets a key of the scene, as in time.end=2; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Threads; 0: all cores
    #[arg(long)]
    threads: Option<usize>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Done {
    if let Some(threads) = arguments.threads {
        lilyan_solve::threads::set_threads(threads);
    }
    let options = options(arguments)?;
    let (scene, built) = load(&arguments.scene, &arguments.set)?;
    let directory = arguments.output.clone().unwrap_or_else(|| {
        let results = super::results_of(&arguments.scene);
        let name = results.file_name().map_or("run".into(), |n| n.to_string_lossy());
        results.with_file_name(format!("{name}-compare"))
    });
    std::fs::create_dir_all(&directory).map_err(|e| {
        Failure::input(format!("{}: {e}; choose another folder with -o", directory.display()))
    })?;
    let stopping = Stopping::listen();
    let bar = bar(arguments.json);
    let csv = directory.join("compare.csv");
    let mut unwritten = None;
    let mut progress = |now: &Progress<'_>| {
        if let Some(bar) = &bar {
            show(bar, now);
        }
        match stopping.signal() {
            0 => Signal::Continue,
            _ => Signal::Stop,
        }
    };
    let compared = compare::compare(&scene, built, &options, &mut progress, &mut |rows| {
        // What is done is on disk, whatever happens next.
        unwritten = atomic::write(&csv, compare::csv(rows).as_bytes()).err();
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let comparison = compared.map_err(|e| match e {
        CompareError::Input(_) => Failure::input(e),
        CompareError::NoReference(_) => Failure::stopped(e),
        CompareError::Interrupted => Failure::interrupted(stopping.signal() as u8, e),
    })?;
    let written =
        unwritten.map_or(Ok(()), Err).and_then(|()| compare::write(&scene, &comparison, &directory));
    written.map_err(|e| Failure::stopped(format!("{e}; make room or choose another folder with -o")))?;
    if arguments.json {
        output::json(&compare::json(&scene, &comparison));
    } else {
        tell(&scene, &comparison, &directory);
    }
    if comparison.interrupted {
        let message = format!("interrupted; the runs done so far are in {}", directory.display());
        return Err(Failure::interrupted(stopping.signal() as u8, message).told(arguments.json));
    }
    if !comparison.rows.iter().any(|r| r.finished()) {
        return Err(Failure::stopped("no run came to its end").told(arguments.json));
    }
    Ok(())
}

fn options(arguments: &Arguments) -> Result<CompareOptions, Failure> {
    let named = |option: &'static str| move |e: String| Failure::input(format!("{option}: {e}"));
    let methods = arguments.integrators.as_deref().map(Method::parse_list).transpose();
    let steps =
        arguments.step_sizes.as_deref().map(|text| text.split(',').map(compare::parse_step).collect());
    let steps: Option<Vec<f64>> = steps.transpose().map_err(named("--step-sizes"))?;
    if !(arguments.budget > 0.0 && arguments.budget.is_finite()) {
        return Err(Failure::input("--budget: give a positive number of seconds, for example 60"));
    }
    Ok(CompareOptions {
        methods: methods.map_err(named("--integrators"))?.unwrap_or_default(),
        steps: steps.unwrap_or_default(),
        reference: Ask::parse(&arguments.reference).map_err(named("--reference"))?,
        budget: arguments.budget,
    })
}

fn tell(scene: &Scene, comparison: &Comparison, directory: &Path) {
    let c = comparison;
    output::line(format!(
        "{}: {} s, {} tets; motion of {} m",
        scene.title,
        short(scene.time.end),
        c.elements,
        short(c.reference.size)
    ));
    output::line(format!("reference: {}", compare::reference_line(c)));
    output::line("");
    output::table(&compare::terminal(c));
    output::line("");
    for note in &c.notes {
        output::line(format!("note: {note}"));
    }
    for advice in &c.advice {
        output::line(format!("{}: {}", advice.goal.name(), advice.text));
    }
    output::line(format!("report: {}", directory.join("report.html").display()));
}

fn bar(json: bool) -> Option<ProgressBar> {
    if json || !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::new(1000);
    let style = "{prefix}  {bar:32}  {msg}";
    bar.set_style(ProgressStyle::with_template(style).unwrap_or(ProgressStyle::default_bar()));
    Some(bar)
}

fn show(bar: &ProgressBar, now: &Progress<'_>) {
    // The bar draws at most 20 times a second, but setting its text is not free.
    let place = (1000.0 * now.done) as u64;
    if place == bar.position() {
        return;
    }
    bar.set_position(place);
    bar.set_prefix(match now.reference {
        true => "reference".to_string(),
        false => format!("run {} of {}", now.run + 1, now.runs),
    });
    bar.set_message(format!("{}, step {} s", now.method, short(now.step)));
}
