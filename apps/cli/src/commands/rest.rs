//! `lilyan rest`.

use super::common::{CommonArguments, load, make_folder};
use crate::failure::{CommandResult, Failure};
use crate::output;
use lilyan_report::digits;
use lilyan_study::rest::{self, RestReport};
use std::path::PathBuf;

/// Static equilibrium of a scene under what acts on it at t = 0.
///
/// Damping, initial velocities and the integrator of the scene play no part. A run starts from its equilibrium with
/// `initial = { rest = true }` in its bodies.
#[derive(clap::Args)]
#[command(after_help = "Example: lilyan rest cantilever -o out/cantilever-rest")]
pub struct RestArguments {
    /// Scene file or name of a built-in scene
    scene: String,
    /// Folder for rest.vtu and rest.json; out/SCENE-rest if none is given
    #[arg(short, long)]
    output: Option<PathBuf>,
    #[command(flatten)]
    common: CommonArguments,
}

pub fn run(arguments: &RestArguments) -> CommandResult {
    arguments.common.set_threads();
    let (scene, mut built) = load(&arguments.scene, &arguments.common.set)?;
    let report = rest::rest(&scene, &mut built).map_err(Failure::stopped)?;
    let folder = make_folder(arguments.output.as_ref(), &arguments.scene, "-rest")?;
    rest::write(&built, &report, &folder).map_err(Failure::input)?;
    if arguments.common.json {
        output::json(&report);
        return Ok(());
    }
    for warning in &built.warnings {
        output::line(format!("warning: {warning}"));
    }
    print(&report);
    output::line(format!("shape and stresses for ParaView: {}", folder.join("rest.vtu").display()));
    Ok(())
}

fn print(report: &RestReport) {
    output::line(format!(
        "{}: equilibrium after {} steps, {} Newton iterations",
        report.title, report.steps, report.newton_iterations
    ));
    output::line(format!("largest displacement: {} m", digits(report.largest_displacement, 5)));
    if let Some(stress) = report.von_mises {
        output::line(format!("largest von Mises stress: {} Pa", digits(stress, 4)));
    }
    output::line(format!("elastic energy: {} J", digits(report.elastic, 5)));
    let vector = |f: &[f64; 3]| format!("({})", f.map(|x| digits(x, 5)).join(", "));
    for (k, force) in report.pin_forces.iter().enumerate() {
        output::line(format!("force of pin[{k}]: {} N", vector(force)));
    }
    if report.contact_force != [0.0; 3] {
        output::line(format!("force of contacts: {} N", vector(&report.contact_force)));
    }
    for probe in &report.probes {
        output::line(format!("{}: {} m", probe.name, vector(&probe.at)));
    }
    output::line(format!("largest force that is not balanced: {} N", digits(report.unbalanced_force, 2)));
    match report.stable {
        Some(true) => output::line(match report.lowest_hz {
            Some(hz) => format!("stable; the lowest frequency about it is {} Hz", digits(hz, 5)),
            None => "stable, with a motion that nothing resists".into(),
        }),
        Some(false) => output::line("NOT stable: the body would leave it after any disturbance"),
        None => output::line("stability is not known where constraints act"),
    }
}
