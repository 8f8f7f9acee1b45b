//! `lilyan run`.

use super::load;
use super::stopping::Stopping;
use crate::failure::{Done, Failure};
use crate::output;
use indicatif::{ProgressBar, ProgressStyle};
use lilyan_scene::library;
use lilyan_scene::report::Level;
use lilyan_scene::run::{Outcome, Progress, RunError, RunOptions, Signal, Status, run as simulate};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

/// Simulate a scene: frames, tables and a report with a verdict.
#[derive(clap::Args, Default)]
#[command(
    after_help = "Examples:\n  lilyan run\n  lilyan run cantilever --set time.step=0.02 -o out/coarse\n  lilyan run scene.toml --resume"
)]
pub struct Arguments {
    /// Scene file or name of a built-in scene (`lilyan scenes`); absent: the default scene
    scene: Option<String>,
    /// Folder of the results [default: out/NAME]
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Sets a key of the scene, as in time.step=0.002; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Stop after this many steps
    #[arg(long)]
    steps: Option<u64>,
    /// Threads; 0: all cores
    #[arg(long)]
    threads: Option<usize>,
    /// Go on from the checkpoint in the output folder
    #[arg(long)]
    resume: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Done {
    if let Some(threads) = arguments.threads {
        lilyan_solve::threads::set_threads(threads);
    }
    let name = arguments.scene.as_deref().unwrap_or(library::SCENES[0].name);
    let (scene, built) = load(name, &arguments.set)?;
    for warning in &built.warnings {
        eprintln!("warning: {warning}");
    }
    let directory = arguments.output.clone().unwrap_or_else(|| super::results_of(name));
    let known = built.warnings.len();
    let stopping = Stopping::listen();
    let bar = bar(scene.time.steps(), arguments.json);
    let mut shown = 0.0;
    let options = RunOptions { directory, resume: arguments.resume, steps: arguments.steps };
    let outcome = simulate(&scene, built, &options, &mut |now: &Progress| {
        if let Some(bar) = &bar
            && now.wall - shown > 0.1
        {
            shown = now.wall;
            bar.set_length(now.steps);
            bar.set_position(now.step);
            bar.set_message(format!("t = {:.4} s", now.t));
        }
        match stopping.signal() {
            0 => Signal::Continue,
            _ => Signal::Stop,
        }
    })
    .map_err(|e| match e {
        RunError::Write(_) => Failure::stopped(e),
        RunError::Folder(_) | RunError::Resume(_) => Failure::input(e),
    })?;
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    if let Some(late) = outcome.summary["warnings"].as_array() {
        for warning in late.iter().skip(known).filter_map(|w| w.as_str()) {
            eprintln!("warning: {warning}");
        }
    }
    finish(arguments, &outcome, stopping.signal())
}

fn bar(steps: u64, json: bool) -> Option<ProgressBar> {
    if json || !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::new(steps);
    let style = "{msg}  {bar:32}  step {pos}/{len}  {per_sec}  {eta} left";
    bar.set_style(ProgressStyle::with_template(style).unwrap_or(ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    Some(bar)
}

fn finish(arguments: &Arguments, outcome: &Outcome, signal: usize) -> Done {
    let report = outcome.report.display();
    if arguments.json {
        output::json(&outcome.summary);
    } else {
        let s = &outcome.summary;
        output::line(format!(
            "{}: {} steps, {:.4} s simulated in {:.2} s, {} elements",
            s["title"].as_str().unwrap_or(""),
            s["steps"],
            s["time_simulated"].as_f64().unwrap_or(0.0),
            s["wall_seconds"].as_f64().unwrap_or(0.0),
            s["elements"]
        ));
        let mark = match outcome.verdict.level {
            Level::Pass => "✓",
            Level::Warn => "!",
            Level::Fail => "✗",
        };
        // Why it stopped is told last, on standard error.
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
            Err(Failure::interrupted(signal as u8, message).told(arguments.json))
        }
        Status::Failed(why) => {
            Err(Failure::stopped(format!("{why}\nresults so far: {report}")).told(arguments.json))
        }
    }
}
