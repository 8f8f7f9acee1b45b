//! Memory for a million tets. Each case runs in its own process, since the system reports one peak per process.

use super::figures::{Figures, Limit};
use crate::failure::{CommandResult, Failure};
use lilyan_scene::build::build;
use lilyan_scene::schema::Scene;
use std::time::Instant;

/// A scene of a million tets.
struct Case {
    /// The name of the benchmark that the child process runs. It is not listed.
    name: &'static str,
    says: &'static str,
    tets: usize,
    scene: &'static str,
    set: &'static [&'static str],
    steps: usize,
    /// Largest memory, bytes per tet.
    limit: f64,
}

/// The common beam.
const BEAM: &str = "time = { end = 1.0, step = 0.01 }\n\
    integrator = { name = \"backward-euler\", tolerance = 1e-6 }\n\
    environment = { gravity = [0, -9.81, 0] }\n\
    [[body]]\n\
    name = \"beam\"\n\
    mesh = { box = { size = [4, 1, 1], cells = [140, 35, 35] } }\n\
    material = { model = \"neo-hookean-log\", E = 1e6, nu = 0.45, rho = 1000 }\n\
    [[pin]]\n\
    body = \"beam\"\n\
    where = { box = { min = [-0.01, -1, -1], max = [0.01, 2, 2] } }\n";

const CASES: [Case; 3] = [
    Case {
        name: "memory-explicit",
        says: "explicit",
        tets: 6 * 56 * 56 * 56,
        scene: "time = { end = 1.0, step = 1e-4 }\n\
            integrator = { name = \"verlet\" }\n\
            [[body]]\n\
            name = \"cube\"\n\
            mesh = { box = { size = [1, 1, 1], cells = [56, 56, 56] } }\n\
            material = { model = \"neo-hookean\", E = 1e5, nu = 0.3, rho = 1000 }\n",
        set: &[],
        steps: 3,
        limit: 600.0,
    },
    Case {
        name: "memory-implicit",
        says: "implicit",
        tets: 24 * 35 * 35 * 35,
        scene: BEAM,
        set: &[],
        steps: 10,
        // 24 GB in total.
        limit: 23_000.0,
    },
    Case {
        name: "memory-stiff",
        says: "implicit, E = 1e9 Pa",
        tets: 24 * 35 * 35 * 35,
        scene: BEAM,
        set: &["body.beam.material.E=1e9"],
        steps: 4,
        limit: 3_000.0,
    },
];

pub fn run(figures: &mut Figures) -> CommandResult {
    for case in &CASES {
        eprintln!("  {}", case.says);
        let [peak, seconds] = in_a_child(case)?;
        figures.add(format!("{}: peak of {} tets", case.says, case.tets), peak, "MB");
        let per_tet = 1e6 * peak / case.tets as f64;
        figures.hold(format!("{}: per tet", case.says), per_tet, "bytes", Limit::AtMost(case.limit));
        figures.add(format!("{}: a step", case.says), seconds, "s");
    }
    figures.remark("the whole process, from the scene to the last of some steps");
    Ok(())
}

/// The case of this name.
pub fn case(name: &str) -> Option<fn(&mut Figures) -> CommandResult> {
    match name {
        "memory-explicit" => Some(|figures| alone(&CASES[0], figures)),
        "memory-implicit" => Some(|figures| alone(&CASES[1], figures)),
        "memory-stiff" => Some(|figures| alone(&CASES[2], figures)),
        _ => None,
    }
}

/// Runs a case in a child process. Returns the peak in MB and the seconds per step.
fn in_a_child(case: &Case) -> Result<[f64; 2], Failure> {
    let own = std::env::current_exe().map_err(Failure::stopped)?;
    let threads = lilyan_parallel::threads::threads().to_string();
    let output = std::process::Command::new(own)
        .args(["bench", case.name, "--json", "--threads", &threads])
        .output()
        .map_err(Failure::stopped)?;
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(Failure::stopped)?;
    Ok(["peak", "step"].map(|f| value[case.name][f]["value"].as_f64().unwrap_or(f64::NAN)))
}

/// Builds the scene, steps it, and reads the peak of this process.
fn alone(case: &Case, figures: &mut Figures) -> CommandResult {
    let scene = Scene::from_str_with(case.scene, "bench", case.set).map_err(Failure::stopped)?;
    let mut simulation = build(&scene).map_err(Failure::stopped)?.simulation;
    let began = Instant::now();
    for _ in 0..case.steps {
        simulation.advance().map_err(Failure::stopped)?;
    }
    figures.add("step", began.elapsed().as_secs_f64() / case.steps as f64, "s");
    figures.add("peak", peak_memory_mb(), "MB");
    Ok(())
}

/// Peak resident memory of this process, MB; NaN where the system does not tell.
fn peak_memory_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kib = line.and_then(|l| l.trim().strip_suffix(" kB")).and_then(|n| n.trim().parse::<f64>().ok());
    kib.map_or(f64::NAN, |k| k * 1024e-6)
}
