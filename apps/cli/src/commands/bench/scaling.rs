//! How the cost of an explicit step grows with the mesh, and how much memory a million tets take.

use super::figures::{Figures, Limit};
use super::{best, block, deformed, integrator};
use crate::failure::{Done, Failure};
use lilyan_dynamics::{State, System};
use lilyan_scene::build::build;
use lilyan_scene::schema::Scene;

/// Cells along the edge of the cube, six tets each: 1,296 to 1,053,696 tets, a factor of three apart.
const CELLS: [usize; 7] = [6, 9, 13, 18, 26, 38, 56];

pub fn run(figures: &mut Figures) -> Done {
    let mut points = Vec::new();
    for n in CELLS {
        let tets = 6 * n * n * n;
        eprintln!("  {tets} tets");
        let (mesh, builder) = block([1.0; 3], [n; 3], "neo-hookean")?;
        let model = builder.build();
        let mut verlet = integrator("verlet", &[])?;
        let mut state = State::new(&model, deformed(&mesh), vec![0.0; model.dofs()]);
        drop(mesh);
        // A tenth of the stable step, so that the motion stays tame however many steps are timed.
        let h = 0.1 * 2e-2 / n as f64;
        let mut failed = None;
        let seconds = best(12, 1.0, || {
            if let Err(e) = verlet.step(&model, &mut state, h) {
                failed = Some(e);
            }
        });
        if let Some(e) = failed {
            return Err(Failure::stopped(e));
        }
        points.push(((tets as f64).ln(), seconds.ln()));
        figures.add(format!("{tets} tets"), 1e9 * seconds / tets as f64, "ns per tet and step");
    }
    figures.hold("exponent", slope(&points), "of time per step in tets", Limit::AtMost(1.05));
    eprintln!("  memory");
    figures.hold("peak memory", memory_of_child()?, "MB for 1,053,696 tets", Limit::AtMost(1500.0));
    figures.remark("Verlet, neo-Hookean cubes; memory is the peak of a process that runs such a scene");
    Ok(())
}

/// Least-squares slope.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let sum = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>();
    sum(&|p| (p.0 - x) * (p.1 - y)) / sum(&|p| (p.0 - x) * (p.0 - x))
}

/// Runs [`memory`] as a process of its own: a peak cannot be told apart within one.
fn memory_of_child() -> Result<f64, Failure> {
    let own = std::env::current_exe().map_err(Failure::stopped)?;
    let threads = lilyan_solve::threads::threads().to_string();
    let output = std::process::Command::new(own)
        .args(["bench", "memory", "--json", "--threads", &threads])
        .output()
        .map_err(Failure::stopped)?;
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(Failure::stopped)?;
    Ok(value["memory"]["peak memory"]["value"].as_f64().unwrap_or(f64::NAN))
}

/// Builds the scene of a million tets, steps it, and reads the peak of this process.
pub fn memory(figures: &mut Figures) -> Done {
    let text = "time = { end = 1.0, step = 1e-4 }\n\
        integrator = { name = \"verlet\" }\n\
        [[body]]\n\
        name = \"cube\"\n\
        mesh = { box = { size = [1, 1, 1], cells = [56, 56, 56] } }\n\
        material = { model = \"neo-hookean\", E = 1e5, nu = 0.3, rho = 1000 }\n";
    let scene = Scene::from_str_with(text, "bench", &[]).map_err(Failure::stopped)?;
    let mut simulation = build(&scene).map_err(Failure::stopped)?.simulation;
    for _ in 0..3 {
        simulation.advance().map_err(Failure::stopped)?;
    }
    figures.hold("peak memory", peak_memory_mb(), "MB", Limit::AtMost(1500.0));
    Ok(())
}

/// Peak resident memory of this process, MB; NaN where the system does not tell.
fn peak_memory_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kib = line.and_then(|l| l.trim().strip_suffix(" kB")).and_then(|n| n.trim().parse::<f64>().ok());
    kib.map_or(f64::NAN, |k| k * 1024e-6)
}
