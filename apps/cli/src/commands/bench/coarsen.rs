//! What coarsening costs and gains: the layered cube made coarse, and a step of each.

use super::figures::{Figures, Limit};
use crate::failure::{Done, Failure};
use lilyan_scene::build::{build, open};
use lilyan_scene::coarsen::{CoarseMesh, Request, coarsen};
use lilyan_scene::schema::Scene;
use std::time::Instant;

/// Of the coarse grid that is asked for.
const TETS: usize = 100;

pub fn run(figures: &mut Figures) -> Done {
    let scene = open("layered-cube", &[]).map_err(Failure::input)?;
    let folder = std::env::temp_dir().join(format!("lilyan-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(Failure::stopped)?;
    let done = measure(figures, &scene, &folder);
    // What is left in a folder for such things is not worth a failure.
    let _ = std::fs::remove_dir_all(&folder);
    done
}

fn measure(figures: &mut Figures, scene: &Scene, folder: &std::path::Path) -> Done {
    let (fine, tets) = seconds_per_step(scene, 3)?;
    figures.add("fine", tets as f64, "tets");
    for method in ["average", "homogenize", "homogenize+eigenfit"] {
        eprintln!("  {method}");
        let request = Request {
            body: None,
            mesh: CoarseMesh::Tets(TETS),
            method: method.into(),
            model: None,
            modes: None,
            display: false,
        };
        let began = Instant::now();
        let made = coarsen(scene, &request, folder, &mut |_, _| {}).map_err(Failure::input)?;
        let took = began.elapsed().as_secs_f64();
        let coarse = Scene::from_path(&made.scene).map_err(Failure::input)?;
        let (step, tets) = seconds_per_step(&coarse, 40)?;
        figures.add(format!("{method}: coarse"), tets as f64, "tets");
        figures.add(format!("{method}: coarsening, in steps of the fine body"), took / fine, "");
        let name = format!("{method}: fine step over coarse step");
        match method {
            "homogenize+eigenfit" => figures.hold(name, fine / step, "", Limit::AtLeast(100.0)),
            _ => figures.add(name, fine / step, ""),
        }
    }
    figures.remark(format!("layered-cube, about {TETS} tets asked for"));
    Ok(())
}

/// Least seconds of a step of a scene, and its tets.
fn seconds_per_step(scene: &Scene, steps: usize) -> Result<(f64, usize), Failure> {
    let built = build(scene).map_err(Failure::input)?;
    let tets = built.simulation.system.bodies().iter().map(|b| b.tets.len()).sum();
    let mut simulation = built.simulation;
    simulation.advance().map_err(Failure::stopped)?;
    let mut least = f64::INFINITY;
    for _ in 0..steps {
        let began = Instant::now();
        simulation.advance().map_err(Failure::stopped)?;
        least = least.min(began.elapsed().as_secs_f64());
    }
    Ok((least, tets))
}
