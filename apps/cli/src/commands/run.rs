//! `lilyan run`.

use super::common::{CommonArguments, default_folder, keep_drawing, load, progress_bar};
use crate::failure::{CommandResult, Failure};
use crate::{output, stop_signal};
use lilyan_files::printable::printable;
use lilyan_report::Level;
use lilyan_scene::library;
use lilyan_study::run::{RunError, RunOptions, RunOutcome, RunProgress, Signal, Status, run as simulate};
use std::path::PathBuf;

/// Simulate a scene: frames, tables and a report with a verdict.
#[derive(clap::Args, Default)]
#[command(
    after_help = "Examples:\n  lilyan run\n  lilyan run cantilever --set time.step=0.02 -o out/long-step\n  lilyan run scene.toml --resume\n  lilyan run scene.toml -v 2> log"
)]
pub struct RunArguments {
    /// Scene file or name of a built-in scene (`lilyan scenes`); absent: the default scene
    scene: Option<String>,
    /// Folder of the results [default: out/NAME]
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Stop after this many steps
    #[arg(long)]
    steps: Option<u64>,
    /// Go on from the checkpoint in the output folder
    #[arg(long)]
    resume: bool,
    /// Tell on standard error what every step and Newton iteration does; twice: linear solves too
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(flatten)]
    common: CommonArguments,
}

/// What a run keeps that is ended in a step.
const KEPT_CHECKPOINT: &str =
    "the last checkpoint is kept, and the same command with --resume goes on from it";

pub fn run(arguments: &RunArguments) -> CommandResult {
    arguments.common.set_threads();
    listen(arguments.verbose);
    let name = arguments.scene.as_deref().unwrap_or(library::SCENES[0].name);
    let (scene, built) = load(name, &arguments.common.set)?;
    for warning in &built.warnings {
        eprintln!("warning: {}", printable(warning));
    }
    let directory = arguments.output.clone().unwrap_or_else(|| default_folder(name, ""));
    let known = built.warnings.len();
    if stop_signal::signal() != 0 {
        return Err(Failure::interrupted(stop_signal::signal() as u8, "interrupted; nothing was written"));
    }
    stop_signal::keep(match arguments.resume {
        true => KEPT_CHECKPOINT,
        false => "no checkpoint was written yet",
    });
    let quiet = arguments.common.json || arguments.verbose > 0;
    let template = "{msg}  {bar:32}  step {pos}/{len}  {per_sec}  {eta} left";
    let bar = progress_bar(scene.time.steps(), template, quiet).inspect(keep_drawing);
    let mut shown = 0.0;
    let options = RunOptions { directory, resume: arguments.resume, steps: arguments.steps };
    let outcome = simulate(&scene, built, &options, &mut |now: &RunProgress| {
        if let Some(bar) = &bar
            && now.wall - shown > 0.1
        {
            shown = now.wall;
            bar.set_length(now.steps);
            bar.set_position(now.step);
            bar.set_message(format!("t = {:.4} s", now.t));
        }
        if now.saved {
            stop_signal::keep(KEPT_CHECKPOINT);
        }
        match stop_signal::signal() {
            0 => Signal::Continue,
            _ => Signal::Stop,
        }
    })
    .map_err(|e| match e {
        RunError::Write(_) => Failure::stopped(e),
        RunError::Folder(_) | RunError::InUse(_) | RunError::Resume(_) => Failure::input(e),
    })?;
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    for warning in outcome.summary.warnings.iter().skip(known) {
        eprintln!("warning: {}", printable(warning));
    }
    finish(arguments, &outcome, stop_signal::signal())
}

/// Writes the tracing events of solvers and integrators to standard error.
fn listen(verbosity: u8) {
    let level = match verbosity {
        0 => return,
        1 => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    let written =
        tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_ansi(false);
    // This fails only if there is a subscriber already.
    let _ = written.without_time().with_target(false).with_level(false).try_init();
}

fn finish(arguments: &RunArguments, outcome: &RunOutcome, signal: usize) -> CommandResult {
    let report = outcome.report.display();
    if arguments.common.json {
        output::json(&outcome.summary);
    } else {
        let s = &outcome.summary;
        output::line(format!(
            "{}: {} steps, {:.4} s simulated in {:.2} s, {} elements",
            s.title, s.steps, s.time_simulated, s.wall_seconds, s.elements
        ));
        let mark = match outcome.verdict.level {
            Level::Pass => "✓",
            Level::Warn => "!",
            Level::Fail => "✗",
        };
        // The reason is printed last, on standard error.
        output::line(match &outcome.status {
            Status::Finished => format!("{mark} {}: {}", outcome.verdict.headline, outcome.verdict.sentence),
            _ => format!("{mark} {}", outcome.verdict.headline),
        });
        output::line(format!("report: {report}"));
    }
    match &outcome.status {
        Status::Finished => Ok(()),
        Status::Interrupted => {
            let message = "interrupted; the same command with --resume goes on from here";
            Err(Failure::interrupted(signal as u8, message).json_printed(arguments.common.json))
        }
        Status::Failed(why) => {
            Err(Failure::stopped(format!("{why}\nresults so far: {report}"))
                .json_printed(arguments.common.json))
        }
    }
}
