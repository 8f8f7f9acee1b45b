//! The `lilyan` command line.

mod commands;
mod failure;
mod output;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Elastodynamics whose physics does not change with the time step or the mesh.
#[derive(Parser)]
#[command(name = "lilyan", version, after_help = "Example: lilyan run cantilever -o out/cantilever")]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Run(commands::run::Arguments),
    Check(commands::check::Arguments),
    Compare(commands::compare::Arguments),
    Modes(commands::modes::Arguments),
    Coarsen(commands::coarsen::Arguments),
    Lab(commands::lab::Arguments),
    Bench(commands::bench::Arguments),
    Scenes(commands::scenes::Arguments),
    Integrators(commands::catalogue::Integrators),
    Materials(commands::catalogue::Materials),
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(told) => {
            // Wrong arguments are wrong input: status 1, where clap would say 2.
            if told.use_stderr() {
                report(&failure::Failure::input(told.render().to_string().trim_end()), "");
                return ExitCode::from(1);
            }
            let _ = told.print();
            return ExitCode::SUCCESS;
        }
    };
    let done = match arguments.command {
        None => commands::run::run(&commands::run::Arguments::default()),
        Some(Command::Run(a)) => commands::run::run(&a),
        Some(Command::Check(a)) => commands::check::run(&a),
        Some(Command::Compare(a)) => commands::compare::run(&a),
        Some(Command::Modes(a)) => commands::modes::run(&a),
        Some(Command::Coarsen(a)) => commands::coarsen::run(&a),
        Some(Command::Lab(a)) => commands::lab::run(&a),
        Some(Command::Bench(a)) => commands::bench::run(&a),
        Some(Command::Scenes(a)) => commands::scenes::run(&a),
        Some(Command::Integrators(a)) => commands::catalogue::integrators(&a),
        Some(Command::Materials(a)) => commands::catalogue::materials(&a),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            report(&failure, "lilyan: ");
            ExitCode::from(failure.code)
        }
    }
}

/// Tells why a command failed: on standard error, and where JSON was asked for, as its one object.
fn report(failure: &failure::Failure, prefix: &str) {
    eprintln!("{prefix}{}", failure.message);
    // Also when the arguments themselves could not be read.
    if !failure.told && std::env::args_os().any(|a| a == "--json") {
        output::json(&serde_json::json!({ "error": failure.message, "exit_status": failure.code }));
    }
}
