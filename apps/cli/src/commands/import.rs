//! `lilyan import`.

use crate::failure::{CommandResult, Failure};
use crate::output;
use lilyan_exchange::import::{IMPORTERS, ImportOptions, import};
use lilyan_files::atomic;
use serde_json::json;
use std::path::PathBuf;

/// Turn a scene of another program into one of lilyan, and tell line by line what could not be carried over.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  lilyan import five-cubes.json -o cubes.toml        # PolyFEM
  lilyan import floppy.xml -o floppy.toml --end 3    # MuJoCo
  lilyan import bracket.inp -o bracket.toml          # Abaqus, CalculiX
  lilyan import --formats")]
pub struct ImportArguments {
    /// The scene of the other program
    #[arg(required_unless_present = "formats")]
    file: Option<PathBuf>,
    /// The scene to write [default: NAME.toml in this folder]
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Simulated time, s, of formats that have none
    #[arg(long, value_name = "SECONDS")]
    end: Option<f64>,
    /// List the formats
    #[arg(long)]
    formats: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &ImportArguments) -> CommandResult {
    let Some(file) = arguments.file.as_ref().filter(|_| !arguments.formats) else {
        print_formats(arguments.json);
        return Ok(());
    };
    if arguments.end.is_some_and(|end| !(end > 0.0 && end.is_finite())) {
        return Err(Failure::input("--end: give a time above 0 s"));
    }
    let stem = file.file_stem().unwrap_or_default();
    let path = arguments.output.clone().unwrap_or_else(|| PathBuf::from(stem).with_extension("toml"));
    if arguments.output.is_none() && path.exists() {
        return Err(Failure::input(format!(
            "{} is there already; name another file with -o",
            path.display()
        )));
    }
    let scene = import(file, &path, &ImportOptions { end: arguments.end }).map_err(Failure::input)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::input(format!("{}: {e}; choose another file with -o", folder.display())))?;
    }
    atomic::write(&path, scene.toml.as_bytes()).map_err(Failure::input)?;
    if arguments.json {
        let written = path.display().to_string();
        output::json(&json!({ "format": scene.format, "scene": written, "notes": scene.notes }));
        return Ok(());
    }
    if !scene.notes.is_empty() {
        output::line("not carried over as it was:");
    }
    for note in &scene.notes {
        output::line(format!("  {note}"));
    }
    output::line(format!("written: {} ({}); `lilyan check` looks at it", path.display(), scene.format));
    Ok(())
}

fn print_formats(json: bool) {
    if json {
        let all = IMPORTERS
            .iter()
            .map(|i| json!({ "name": i.name, "extensions": i.extensions, "summary": i.summary }));
        output::json(&json!({ "formats": all.collect::<Vec<_>>() }));
        return;
    }
    let mut rows = vec![["format", "files", "what is carried over"].map(String::from).to_vec()];
    rows.extend(IMPORTERS.iter().map(|i| {
        let files: Vec<String> = i.extensions.iter().map(|e| format!(".{e}")).collect();
        vec![i.name.to_string(), files.join(" "), i.summary.to_string()]
    }));
    output::table(&rows);
}
