//! `lilyan check`.

use super::common::load;
use crate::failure::CommandResult;
use crate::output;
use lilyan_study::check::check;

/// Read and diagnose a scene without running it.
#[derive(clap::Args)]
#[command(after_help = "Example: lilyan check steel-cantilever")]
pub struct CheckArguments {
    /// Scene file or name of a built-in scene
    scene: String,
    /// Sets a key of the scene
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// How many of the lowest modes to look at
    #[arg(short = 'n', long, default_value_t = 3)]
    modes: usize,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &CheckArguments) -> CommandResult {
    let (scene, built) = load(&arguments.scene, &arguments.set)?;
    let checked = check(&scene, &built, arguments.modes);
    if arguments.json {
        output::json(&checked.report);
        return Ok(());
    }
    output::line(format!("{}: {}", arguments.scene, scene.title));
    checked.lines.iter().for_each(output::line);
    for warning in &checked.report.warnings {
        output::line(format!("warning: {warning}"));
    }
    output::line(match checked.report.warnings.len() {
        0 => "no problems found".to_string(),
        1 => "1 warning".to_string(),
        n => format!("{n} warnings"),
    });
    Ok(())
}
