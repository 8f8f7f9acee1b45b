//! A built-in scene is run into a folder; its summary and its verdict are read.
//!
//!     cargo run --release -p lilyan --example run_scene

use lilyan::result::{Level, RunOptions, Signal, Status, run};
use lilyan::scene;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = scene::open("cantilever", &["time.end=0.2", "time.step=0.01"])?;
    let built = scene::build(&scene)?;
    let directory = std::env::temp_dir().join(format!("lilyan-run-scene-{}", std::process::id()));
    let options = RunOptions { directory: directory.clone(), resume: false, steps: None };
    let outcome = run(&scene, built, &options, &mut |now| {
        println!("step {} of {}, t = {:.3} s", now.step, now.steps, now.t);
        Signal::Continue
    })?;

    let summary = &outcome.summary;
    println!("{}: {} steps, {} elements", summary.title, summary.steps, summary.elements);
    println!("{}: {}", outcome.verdict.headline, outcome.verdict.sentence);
    println!("report: {}", outcome.report.display());
    assert!(matches!(outcome.status, Status::Finished) && outcome.verdict.level != Level::Fail);
    std::fs::remove_dir_all(directory)?;
    Ok(())
}
