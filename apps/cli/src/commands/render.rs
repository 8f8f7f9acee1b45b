//! `lilyan render`.

use super::common::progress_bar;
use super::export::{PartArguments, pair};
use crate::failure::{CommandResult, Failure};
use crate::output;
use lilyan_exchange::Results;
use lilyan_render::{RenderOptions, render};
use serde_json::json;
use std::path::PathBuf;

/// Draw a run as a film or as pictures, without a graphics card: shadows, a field as colours, a scale.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  lilyan render out/spot-landing -o cow.gif --field von_mises
  lilyan render out/cantilever -o beam.webm --speed 0.5
  lilyan render out/spot-landing -o cow.png --at 0.4 --size 1920x1080

.gif and .png are written by lilyan itself, .webm and .mp4 with the program ffmpeg.")]
pub struct RenderArguments {
    /// Folder of the results
    run: PathBuf,
    /// .webm, .mp4, .gif, or .png (numbered if there are several pictures)
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    part: PartArguments,
    /// A single picture at this time, s
    #[arg(long, value_name = "SECONDS", conflicts_with_all = ["speed", "rate"])]
    at: Option<f64>,
    /// Columns and rows of pixels
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x720")]
    size: String,
    /// Pictures per second [default: 30, in a .gif 25]
    #[arg(long, value_name = "N")]
    rate: Option<f64>,
    /// Simulated seconds per second of the film [default: 1; for runs below 2 s or beyond 30 s so that the film lasts 6 s]
    #[arg(long, value_name = "FACTOR")]
    speed: Option<f64>,
    /// Turn about the vertical and height of the view, degrees, as 30,20 [default: by the shape of the motion]
    #[arg(long, value_name = "TURN,LIFT", value_parser = pair, allow_hyphen_values = true)]
    view: Option<[f64; 2]>,
    /// Threads; 0: all cores
    #[arg(long)]
    threads: Option<usize>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &RenderArguments) -> CommandResult {
    if let Some(threads) = arguments.threads {
        lilyan_parallel::threads::set_threads(threads);
    }
    let size =
        arguments.size.split_once(['x', '×']).and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    let Some(size) = size else {
        return Err(Failure::input(format!("--size {}: give columns and rows, as 1280x720", arguments.size)));
    };
    let is_gif = arguments.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("gif"));
    let options = RenderOptions {
        part: arguments.part.options()?,
        at: arguments.at,
        size,
        rate: arguments.rate.unwrap_or(if is_gif { 25.0 } else { 30.0 }),
        speed: arguments.speed,
        view: arguments.view,
    };
    let results = Results::open(&arguments.run).map_err(Failure::input)?;
    let bar = progress_bar(1000, "{bar:32}  {elapsed}  {msg}", arguments.json);
    let done = render(&results, &options, &arguments.output, &mut |what, share| {
        if let Some(bar) = &bar {
            bar.set_position((1000.0 * share) as u64);
            bar.set_message(what.to_owned());
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let done = done.map_err(Failure::input)?;
    if arguments.json {
        let files: Vec<String> = done.files.iter().map(|path| path.display().to_string()).collect();
        let (pictures, speed) = (done.pictures, done.speed);
        output::json(&json!({ "files": files, "pictures": pictures, "speed": speed, "notes": done.notes }));
        return Ok(());
    }
    for note in &done.notes {
        output::line(format!("note: {note}"));
    }
    let how = match done.pictures {
        1 => "1 picture".to_string(),
        n => format!("{n} pictures, {:.3} simulated seconds per second", done.speed),
    };
    if let Some(file) = done.files.first() {
        output::line(format!("written: {} ({how})", file.display()));
    }
    Ok(())
}
