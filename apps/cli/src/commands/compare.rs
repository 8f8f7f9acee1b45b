//! `lilyan compare`.

use super::common::{CommonArguments, load, make_folder, progress_bar};
use crate::failure::{CommandResult, Failure};
use crate::{output, stop_signal};
use indicatif::ProgressBar;
use lilyan_files::atomic;
use lilyan_report::short;
use lilyan_scene::schema::Scene;
use lilyan_study::compare::{
    self, CompareError, CompareOptions, CompareProgress, CompareReport, Comparison, ConfiguredIntegrator,
    ReferenceChoice, RequestError,
};
use lilyan_study::run::Signal;
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
pub struct CompareArguments {
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
    #[command(flatten)]
    common: CommonArguments,
}

pub fn run(arguments: &CompareArguments) -> CommandResult {
    arguments.common.set_threads();
    let options = options(arguments)?;
    let (scene, built) = load(&arguments.scene, &arguments.common.set)?;
    let directory = make_folder(arguments.output.as_ref(), &arguments.scene, "-compare")?;
    let bar = progress_bar(1000, "{prefix}  {bar:32}  {msg}", arguments.common.json);
    let csv = directory.join("compare.csv");
    let mut unwritten = None;
    let mut progress = |now: &CompareProgress<'_>| {
        if let Some(bar) = &bar {
            show(bar, now);
        }
        match stop_signal::signal() {
            0 => Signal::Continue,
            _ => Signal::Stop,
        }
    };
    let compared = compare::compare(&scene, built, &options, &mut progress, &mut |rows| {
        // Finished runs are on disk even if a later one fails.
        unwritten = atomic::write(&csv, compare::csv(rows).as_bytes()).err();
        if unwritten.is_none() {
            stop_signal::keep(format!("the runs done so far are in {}", csv.display()));
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let comparison = compared.map_err(|e| match e {
        CompareError::Input(_) => Failure::input(e),
        CompareError::NoReference(_) => Failure::stopped(e),
        CompareError::Interrupted => Failure::interrupted(stop_signal::signal() as u8, e),
    })?;
    let written =
        unwritten.map_or(Ok(()), Err).and_then(|()| compare::write(&scene, &comparison, &directory));
    written.map_err(|e| Failure::stopped(format!("{e}; make room or choose another folder with -o")))?;
    if arguments.common.json {
        output::json(&CompareReport::new(&scene, &comparison));
    } else {
        print_result(&scene, &comparison, &directory);
    }
    if comparison.interrupted {
        let message = format!("interrupted; the runs done so far are in {}", directory.display());
        return Err(
            Failure::interrupted(stop_signal::signal() as u8, message).json_printed(arguments.common.json)
        );
    }
    if !comparison.rows.iter().any(|r| r.finished()) {
        return Err(Failure::stopped("no run finished").json_printed(arguments.common.json));
    }
    Ok(())
}

fn options(arguments: &CompareArguments) -> Result<CompareOptions, Failure> {
    let named = |option: &'static str| move |e: RequestError| Failure::input(format!("{option}: {e}"));
    let methods = arguments.integrators.as_deref().map(ConfiguredIntegrator::parse_list).transpose();
    let steps =
        arguments.step_sizes.as_deref().map(|text| text.split(',').map(compare::parse_step).collect());
    let steps: Option<Vec<f64>> = steps.transpose().map_err(named("--step-sizes"))?;
    if !(arguments.budget > 0.0 && arguments.budget.is_finite()) {
        return Err(Failure::input("--budget: give a positive number of seconds, for example 60"));
    }
    Ok(CompareOptions {
        methods: methods.map_err(named("--integrators"))?.unwrap_or_default(),
        steps: steps.unwrap_or_default(),
        reference: ReferenceChoice::parse(&arguments.reference).map_err(named("--reference"))?,
        budget: arguments.budget,
    })
}

fn print_result(scene: &Scene, comparison: &Comparison, directory: &Path) {
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

fn show(bar: &ProgressBar, now: &CompareProgress<'_>) {
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
