//! `lilyan scenes`.

use crate::failure::{Done, Failure};
use crate::output;
use lilyan_scene::{library, suggest};
use serde_json::json;

/// List the built-in scenes, or print one.
#[derive(clap::Args)]
#[command(after_help = "Example: lilyan scenes cantilever > my.toml && lilyan run my.toml")]
pub struct Arguments {
    /// Print this scene's file
    name: Option<String>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Done {
    let Some(name) = &arguments.name else {
        if arguments.json {
            let scenes: Vec<_> =
                library::SCENES.iter().map(|s| json!({ "name": s.name, "summary": s.summary })).collect();
            output::json(&json!({ "scenes": scenes }));
        } else {
            let row = |s: &library::BuiltIn| vec![s.name.to_string(), s.summary.to_string()];
            output::table(&library::SCENES.iter().map(row).collect::<Vec<_>>());
        }
        return Ok(());
    };
    let scene = library::find(name).ok_or_else(|| {
        let names: Vec<&str> = library::SCENES.iter().map(|s| s.name).collect();
        Failure::input(suggest::unknown("built-in scene", name, &names))
    })?;
    if arguments.json {
        output::json(&json!({ "name": scene.name, "summary": scene.summary, "text": scene.text }));
    } else {
        output::line(scene.text.trim_end());
    }
    Ok(())
}
