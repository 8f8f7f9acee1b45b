//! `lilyan converge`.

use super::common::{CommonArguments, load, make_folder, progress_bar};
use crate::failure::{CommandResult, Failure};
use crate::{output, stop_signal};
use lilyan_files::json;
use lilyan_report::short;
use lilyan_study::converge::{self, ConvergeError, ConvergeOptions, ConvergeProgress, ConvergeReport};
use lilyan_study::run::Signal;
use std::path::PathBuf;

/// Refine step and mesh together until probes settle, and tell the cheapest setting that is accurate enough.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  lilyan converge cantilever --set time.end=1
  lilyan converge scene.toml --accuracy 0.01 --probe tip --budget 600

Solids are run with linear and with quadratic tets. The error of a run is the largest distance of a probe from where the finest run \
has it, at any time, relative to the largest way that a probe goes. converge.json goes into the output folder.")]
pub struct ConvergeArguments {
    /// Scene file or name of a built-in scene
    scene: String,
    /// Largest error of a probe, relative to the motion
    #[arg(long, value_name = "SHARE", default_value_t = 0.02)]
    accuracy: f64,
    /// A probe that must settle; may be repeated [default: all of the scene]
    #[arg(long, value_name = "NAME")]
    probe: Vec<String>,
    /// Wall time for all runs together in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0)]
    budget: f64,
    /// Folder of the results [default: out/NAME-converge]
    #[arg(short, long)]
    output: Option<PathBuf>,
    #[command(flatten)]
    common: CommonArguments,
}

pub fn run(arguments: &ConvergeArguments) -> CommandResult {
    arguments.common.set_threads();
    for (option, value, example) in
        [("--accuracy", arguments.accuracy, "0.02"), ("--budget", arguments.budget, "60")]
    {
        if !(value > 0.0 && value.is_finite()) {
            return Err(Failure::input(format!("{option}: give a positive number, for example {example}")));
        }
    }
    let options = ConvergeOptions {
        accuracy: arguments.accuracy,
        probes: arguments.probe.clone(),
        budget: arguments.budget,
    };
    let (scene, built) = load(&arguments.scene, &arguments.common.set)?;
    let directory = make_folder(arguments.output.as_ref(), &arguments.scene, "-converge")?;
    let bar = progress_bar(1000, "{prefix}  {bar:32}  {msg}", arguments.common.json);
    let mut progress = |now: &ConvergeProgress| {
        let place = (1000.0 * now.done) as u64;
        if let Some(bar) = bar.as_ref().filter(|bar| bar.position() != place) {
            bar.set_position(place);
            bar.set_prefix(format!("run {}", now.run + 1));
            let setting = now.setting;
            let element = setting.element.map_or("as given", |e| e.name());
            bar.set_message(format!(
                "{element}, refined {}, step {} s",
                setting.refinement,
                short(setting.step)
            ));
        }
        match stop_signal::signal() {
            0 => Signal::Continue,
            _ => Signal::Stop,
        }
    };
    let found = converge::converge(&scene, built, &options, &mut progress);
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let found = found.map_err(|e| match e {
        ConvergeError::Input(_) => Failure::input(e),
        ConvergeError::NoReference(_) => Failure::stopped(e),
        ConvergeError::Interrupted => Failure::interrupted(stop_signal::signal() as u8, e),
    })?;
    let report = ConvergeReport::new(&scene, &found);
    let path = directory.join("converge.json");
    json::write(path, &report)
        .map_err(|e| Failure::stopped(format!("{e}; make room or choose another folder with -o")))?;
    if arguments.common.json {
        output::json(&report);
    } else {
        output::line(format!(
            "{}: {} s; the probes go up to {} m",
            scene.title,
            short(scene.time.end),
            short(found.motion)
        ));
        output::table(&converge::table(&found));
        output::line(&report.advice);
    }
    match found.settled {
        true => Ok(()),
        false => Err(Failure::stopped("the probes have not settled").json_printed(arguments.common.json)),
    }
}
