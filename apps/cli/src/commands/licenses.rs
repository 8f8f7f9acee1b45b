//! `lilyan licenses`.

use crate::failure::CommandResult;
use crate::output;
use serde_json::json;

/// Written by `.ci/third-party`.
static NOTICES: &str = include_str!("../../../../THIRD-PARTY.md");

/// Print the licences of everything that the program contains.
#[derive(clap::Args)]
#[command(after_help = "Example: lilyan licenses > THIRD-PARTY.md")]
pub struct LicensesArguments {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &LicensesArguments) -> CommandResult {
    if arguments.json {
        output::json(&json!({ "license": env!("CARGO_PKG_LICENSE"), "notices": NOTICES }));
    } else {
        output::line(NOTICES.trim_end());
    }
    Ok(())
}
