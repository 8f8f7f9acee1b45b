//! `lilyan check`.

use super::load;
use crate::failure::Done;
use crate::output;
use lilyan_scene::check::check;

/// Read and diagnose a scene without running it.
#[derive(clap::Args)]
#[command(after_help = "Example: lilyan check steel-cantilever")]
pub struct Arguments {
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

pub fn run(arguments: &Arguments) -> Done {
    let (scene, built) = load(&arguments.scene, &arguments.set)?;
    let checked = check(&scene, &built, arguments.modes);
    if arguments.json {
        output::json(&checked.report);
        return Ok(());
    }
    output::line(format!("{}: {}", arguments.scene, scene.title));
    checked.lines.iter().for_each(output::line);
    for warning in &checked.warnings {
        output::line(format!("warning: {warning}"));
    }
    output::line(match checked.warnings.len() {
        0 => "nothing to complain about".to_string(),
        1 => "1 warning".to_string(),
        n => format!("{n} warnings"),
    });
    Ok(())
}
