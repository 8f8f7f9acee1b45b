//! `lilyan schema`: the scene language for editors and readers.

use crate::failure::CommandResult;
use crate::output;
use lilyan_scene::reference;

/// Print the scene language as JSON Schema (draft 2020-12), or as a reference page.
///
/// Editors of TOML (taplo, "Even Better TOML" for VS Code) complete keys, show what they mean and underline mistakes
/// where the first line of a scene is `#:schema scene.schema.json`.
#[derive(clap::Args)]
#[command(after_help = "Example: lilyan schema > scene.schema.json")]
pub struct SchemaArguments {
    /// Print the reference page in Markdown instead
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print as JSON (it is JSON anyway)
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &SchemaArguments) -> CommandResult {
    if arguments.markdown {
        output::line(reference::markdown().trim_end());
    } else {
        output::json(&reference::json_schema());
    }
    Ok(())
}
