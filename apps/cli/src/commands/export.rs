//! `lilyan export`.

use super::common::progress_bar;
use crate::failure::{CommandResult, Failure};
use crate::output;
use lilyan_exchange::export::{self, FORMATS};
use lilyan_exchange::{AnimationOptions, Results};
use serde_json::json;
use std::path::PathBuf;

/// Write the results of a run for other programs: animated meshes, point caches, arrays.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  lilyan export out/spot-landing --to glb --field von_mises
  lilyan export out/cantilever --to usda --from 0.5 --until 1 -o beam.usda
  lilyan export --formats")]
pub struct ExportArguments {
    /// Folder of the results
    #[arg(required_unless_present = "formats")]
    run: Option<PathBuf>,
    /// Format; --formats lists them
    #[arg(long, value_name = "FORMAT", required_unless_present = "formats")]
    to: Option<String>,
    /// File, or folder of formats with several files [default: RUN/export/…]
    #[arg(short, long)]
    output: Option<PathBuf>,
    #[command(flatten)]
    part: PartArguments,
    /// List the formats
    #[arg(long)]
    formats: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Which part of a run is wanted.
#[derive(clap::Args)]
pub struct PartArguments {
    /// Only this body; may be repeated
    #[arg(long, value_name = "NAME")]
    body: Vec<String>,
    /// The field of the frames that colours the bodies, as von_mises
    #[arg(long)]
    pub field: Option<String>,
    /// Values of the lowest and highest colour, as 0,2e4 [default: those of the field]
    #[arg(long, value_name = "LOW,HIGH", requires = "field", value_parser = pair, allow_hyphen_values = true)]
    range: Option<[f64; 2]>,
    /// First time, s
    #[arg(long, value_name = "SECONDS")]
    from: Option<f64>,
    /// Last time, s
    #[arg(long, value_name = "SECONDS")]
    until: Option<f64>,
    /// Every so many frames
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
}

impl PartArguments {
    /// The part as the library takes it.
    pub fn options(&self) -> Result<AnimationOptions, Failure> {
        if self.range.is_some_and(|[low, high]| !(low.is_finite() && high.is_finite() && low < high)) {
            return Err(Failure::input("--range: give two numbers, the lower one first, as 0,2e4"));
        }
        let between = [self.from.unwrap_or(f64::NEG_INFINITY), self.until.unwrap_or(f64::INFINITY)];
        Ok(AnimationOptions {
            bodies: self.body.clone(),
            field: self.field.clone(),
            between: Some(between),
            every: self.every as usize,
            range: self.range,
        })
    }
}

/// Two numbers with a comma between them.
pub(super) fn pair(text: &str) -> Result<[f64; 2], String> {
    let numbers =
        text.split_once(',').and_then(|(a, b)| Some([a.trim().parse().ok()?, b.trim().parse().ok()?]));
    numbers.ok_or_else(|| "give two numbers with a comma between them".to_string())
}

pub fn run(arguments: &ExportArguments) -> CommandResult {
    let (Some(run), Some(to)) = (&arguments.run, &arguments.to) else {
        print_formats(arguments.json);
        return Ok(());
    };
    if arguments.formats {
        print_formats(arguments.json);
        return Ok(());
    }
    let format = export::find(to).map_err(Failure::input)?;
    let options = arguments.part.options()?;
    let results = Results::open(run).map_err(Failure::input)?;
    let bar = progress_bar(1000, "{bar:32}  {elapsed}  reading frames", arguments.json);
    let done = export::export(&results, format, &options, arguments.output.as_deref(), &mut |share| {
        if let Some(bar) = &bar {
            bar.set_position((1000.0 * share) as u64);
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let done = done.map_err(Failure::input)?;
    if arguments.json {
        let files: Vec<String> = done.files.iter().map(|path| path.display().to_string()).collect();
        output::json(&json!({ "format": format.name, "files": files, "notes": done.notes }));
        return Ok(());
    }
    for note in &done.notes {
        output::line(format!("note: {note}"));
    }
    match done.files.as_slice() {
        [file] => output::line(format!("written: {}", file.display())),
        [first, .., last] => {
            output::line(format!(
                "written: {} files, {} to {}",
                done.files.len(),
                first.display(),
                last.display()
            ));
        }
        [] => {}
    }
    Ok(())
}

fn print_formats(json: bool) {
    if json {
        let all = FORMATS.iter().map(|format| json!({ "name": format.name, "summary": format.summary }));
        output::json(&json!({ "formats": all.collect::<Vec<_>>() }));
        return;
    }
    let mut rows = vec![vec!["format".to_string(), "what it holds".to_string()]];
    rows.extend(FORMATS.iter().map(|format| vec![format.name.to_string(), format.summary.to_string()]));
    output::table(&rows);
}
