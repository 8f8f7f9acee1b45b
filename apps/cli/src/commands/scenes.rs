//! `lilyan scenes`.

use crate::failure::{CommandResult, Failure};
use crate::output;
use lilyan_scene::{library, suggest};
use serde_json::json;

/// List the built-in scenes, or print one.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  lilyan scenes cantilever > my.toml && lilyan run my.toml
  lilyan scenes papers/k06-fig-2-rod

Scenes named papers/… follow a figure or table of the literature; their first lines say what to run and to look at.")]
pub struct ScenesArguments {
    /// Print this scene's file
    name: Option<String>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &ScenesArguments) -> CommandResult {
    let Some(name) = &arguments.name else {
        if arguments.json {
            let scenes: Vec<_> = all().map(|s| json!({ "name": s.name, "summary": s.summary })).collect();
            output::json(&json!({ "scenes": scenes }));
        } else {
            let row = |s: &library::BuiltIn| vec![s.name.to_string(), s.summary.to_string()];
            output::table(&all().map(row).collect::<Vec<_>>());
        }
        return Ok(());
    };
    let scene = library::find(name).ok_or_else(|| {
        let names: Vec<&str> = all().map(|s| s.name).collect();
        Failure::input(suggest::unknown("built-in scene", name, &names))
    })?;
    if arguments.json {
        output::json(&json!({ "name": scene.name, "summary": scene.summary, "text": scene.text }));
    } else {
        output::line(scene.text.trim_end());
    }
    Ok(())
}

fn all() -> impl Iterator<Item = &'static library::BuiltIn> {
    library::SCENES.iter().chain(library::PAPERS)
}
