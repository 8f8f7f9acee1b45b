//! `lilyan bench`: speed and memory relative to limits of the machine, as ratios that are measured in one run.
//!
//! Times of different runs or machines cannot be compared. Ratios of two times that are measured alternately can be compared.
//! Each time is the shortest of several repetitions, since other processes only add to it.

mod beam;
mod coarsen;
mod constrained;
mod drop;
mod explicit;
mod exponential;
mod figures;
mod implicit;
mod memory;
mod methods;
mod minimize;
mod readers;
mod real_time;
mod scaling;
mod timed_system;

use crate::failure::{CommandResult, Failure};
use crate::output;
use figures::Figures;
use lilyan_dynamics::{Integrator, Value, integrators};
use lilyan_parallel::threads;
use lilyan_solid::materials::{Given, find};
use lilyan_solid::mesh::Mesh;
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::{BodyInput, ModelBuilder};
use std::time::Instant;

/// Benchmarks, as ratios that are measured in one run, with their limits.
#[derive(clap::Args)]
#[command(after_help = "Example: lilyan bench explicit --json\n\n\
    beam           the common beam: seconds per step, their parts, and the result\n\
    drop           the same beam by explicit steps: tets per second, and the speed-up by a second thread\n\
    implicit       share of factorisation and solves in a midpoint step of 24,000 tets\n\
    explicit       tets per second of a Verlet step relative to the memory bandwidth\n\
    scaling        cost of a Verlet step from 1,000 to 4,000,000 tets\n\
    damped         damped steps relative to undamped ones, and how their cost grows with the mesh\n\
    conserving     steps that conserve the energy relative to backward Euler\n\
    solves         methods of one solve per step relative to each other\n\
    constrained    cost of a step relative to the number of rods\n\
    memory         peak memory of a million tets, explicit and implicit\n\
    real-time      largest body at 60 steps per second of four integrators\n\
    minimize       minimising the Lilyan compared with finding the root of its gradient\n\
    siere-over-si  cost of siere relative to semi-implicit\n\
    ere-stiffness  cost of ere for stiffer and stiffer materials\n\
    exponential    cost of ere relative to rk4\n\
    coarsen        cost of coarsening, and of a fine step relative to a coarse one\n\
    readers        speed of the mesh readers")]
pub struct BenchArguments {
    /// Name of a benchmark; all of them if absent
    name: Option<String>,
    /// Threads to use; all cores if absent
    #[arg(long)]
    threads: Option<usize>,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

type Bench = fn(&mut Figures) -> CommandResult;

const ALL: &[(&str, Bench)] = &[
    ("beam", beam::run),
    ("drop", drop::run),
    ("implicit", implicit::run),
    ("explicit", explicit::run),
    ("scaling", scaling::run),
    ("damped", methods::damped),
    ("conserving", methods::conserving),
    ("solves", methods::solves),
    ("constrained", constrained::run),
    ("memory", memory::run),
    ("real-time", real_time::run),
    ("minimize", minimize::run),
    ("siere-over-si", exponential::siere_over_si),
    ("ere-stiffness", exponential::ere_stiffness),
    ("exponential", exponential::run),
    ("coarsen", coarsen::run),
    ("readers", readers::run),
];

pub fn run(arguments: &BenchArguments) -> CommandResult {
    if let Some(n) = arguments.threads {
        threads::set_threads(n);
    }
    let name = arguments.name.as_deref();
    let chosen: Vec<(&str, Bench)> = match name {
        None => ALL.to_vec(),
        Some(name) => match memory::case(name) {
            Some(case) => vec![(name, case)],
            None => ALL.iter().filter(|b| b.0 == name).copied().collect(),
        },
    };
    if chosen.is_empty() {
        let names: Vec<&str> = ALL.iter().map(|b| b.0).collect();
        return Err(Failure::input(lilyan_scene::suggest::unknown(
            "benchmark",
            name.unwrap_or_default(),
            &names,
        )));
    }
    let mut all = Vec::new();
    for (name, bench) in chosen {
        let start = Instant::now();
        eprintln!("{name} …");
        let mut figures = Figures::new(name);
        bench(&mut figures)?;
        eprintln!("{name}: {:.1} s", start.elapsed().as_secs_f64());
        if !arguments.json {
            figures.print();
        }
        all.push(figures);
    }
    if arguments.json {
        output::json(&figures::json(&all, threads::threads()));
    }
    Ok(())
}

/// Shortest time of one call, s. There are at least `least` calls, and they take at least `seconds` in total.
fn best(least: usize, seconds: f64, mut f: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    let mut calls = 0;
    while calls < least || start.elapsed().as_secs_f64() < seconds {
        let began = Instant::now();
        f();
        best = best.min(began.elapsed().as_secs_f64());
        calls += 1;
    }
    best
}

/// An integrator with these options.
fn integrator(name: &str, options: &[(String, Value)]) -> Result<Box<dyn Integrator>, Failure> {
    let entry = integrators::find(name).ok_or_else(|| Failure::stopped(format!("no integrator {name}")))?;
    entry.create(options).map_err(Failure::stopped)
}

/// A box and a model of it with E = 1e5 Pa, ν = 0.3 and ρ = 1000 kg/m³. No force acts on it yet.
fn block(size: [f64; 3], cells: [usize; 3], material: &str) -> Result<(Mesh, ModelBuilder), Failure> {
    let mesh = box_mesh(size, cells).map_err(Failure::stopped)?;
    let material = find(material).ok_or_else(|| Failure::stopped(format!("no material {material}")))?;
    let given = Given::from_young(1e5, 0.3).map_err(Failure::stopped)?;
    let mut builder = ModelBuilder::default();
    builder.body(BodyInput::new("block", mesh.clone(), material, given, 1000.0)).map_err(Failure::stopped)?;
    Ok((mesh, builder))
}

/// The vertices of the mesh after a stretch of a tenth and a small bend. All tets differ, and none is near inversion.
fn deformed(mesh: &Mesh) -> Vec<f64> {
    let bent =
        |x: &[f64; 3]| [1.1 * x[0], 0.97 * x[1] + 0.05 * x[0] * x[0], 0.97 * x[2] + 0.02 * x[0] * x[1]];
    mesh.vertices.iter().flat_map(bent).collect()
}
