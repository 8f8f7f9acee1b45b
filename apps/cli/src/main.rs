//! The `lilyan` command line.

mod commands;
mod failure;
mod output;
mod stop_signal;

use clap::{Parser, Subcommand};
use lilyan_files::printable::printable;
use std::process::ExitCode;

/// The text that `lilyan --version` prints after the name. `-V` prints only the number.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nMIT or Apache-2.0, at your choice; `lilyan licenses` prints the notices of what it is built from"
);

/// Elastodynamics whose physics does not change with the time step or the mesh.
#[derive(Parser)]
#[command(name = "lilyan", version, long_version = LONG_VERSION, after_help = "Example: lilyan run cantilever -o out/cantilever")]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Run(commands::run::RunArguments),
    Check(commands::check::CheckArguments),
    Compare(commands::compare::CompareArguments),
    Converge(commands::converge::ConvergeArguments),
    Modes(commands::modes::ModesArguments),
    Rest(commands::rest::RestArguments),
    Sweep(commands::sweep::SweepArguments),
    Export(commands::export::ExportArguments),
    Render(commands::render::RenderArguments),
    Import(commands::import::ImportArguments),
    Coarsen(commands::coarsen::CoarsenArguments),
    Lab(commands::lab::LabArguments),
    Bench(commands::bench::BenchArguments),
    Scenes(commands::scenes::ScenesArguments),
    Schema(commands::schema::SchemaArguments),
    Integrators(commands::catalogue::IntegratorsArguments),
    Materials(commands::catalogue::MaterialsArguments),
    Licenses(commands::licenses::LicensesArguments),
}

fn main() -> ExitCode {
    let arguments = match CommandLine::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Wrong arguments are wrong input: status 1, where clap would say 2.
            if error.use_stderr() {
                report(&failure::Failure::input(error.render().to_string().trim_end()), "");
                return ExitCode::from(1);
            }
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
    };
    stop_signal::listen(|failure| report(failure, "lilyan: "));
    let done = match arguments.command {
        None => commands::run::run(&commands::run::RunArguments::default()),
        Some(Command::Run(a)) => commands::run::run(&a),
        Some(Command::Check(a)) => commands::check::run(&a),
        Some(Command::Compare(a)) => commands::compare::run(&a),
        Some(Command::Converge(a)) => commands::converge::run(&a),
        Some(Command::Modes(a)) => commands::modes::run(&a),
        Some(Command::Rest(a)) => commands::rest::run(&a),
        Some(Command::Sweep(a)) => commands::sweep::run(&a),
        Some(Command::Export(a)) => commands::export::run(&a),
        Some(Command::Render(a)) => commands::render::run(&a),
        Some(Command::Import(a)) => commands::import::run(&a),
        Some(Command::Coarsen(a)) => commands::coarsen::run(&a),
        Some(Command::Lab(a)) => commands::lab::run(&a),
        Some(Command::Bench(a)) => commands::bench::run(&a),
        Some(Command::Scenes(a)) => commands::scenes::run(&a),
        Some(Command::Schema(a)) => commands::schema::run(&a),
        Some(Command::Integrators(a)) => commands::catalogue::integrators(&a),
        Some(Command::Materials(a)) => commands::catalogue::materials(&a),
        Some(Command::Licenses(a)) => commands::licenses::run(&a),
    };
    stop_signal::finish();
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
    eprintln!("{prefix}{}", printable(&failure.message));
    // Also when the arguments themselves could not be read.
    if !failure.json_printed && std::env::args_os().any(|a| a == "--json") {
        output::json(&serde_json::json!({ "error": failure.message, "exit_status": failure.code }));
    }
}
