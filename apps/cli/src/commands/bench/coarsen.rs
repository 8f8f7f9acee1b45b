//! Time of coarsening the layered cube, and times of a step of the fine and of the coarse cube.

use super::figures::{Figures, Limit};
use crate::failure::{CommandResult, Failure};
use lilyan_scene::build::{build, open};
use lilyan_scene::schema::Scene;
use lilyan_solid::elements::Tets;
use lilyan_study::coarsen::{CoarseMesh, CoarsenOptions, coarsen};
use std::time::Instant;

/// Requested number of tets of the coarse grid.
const TETS: usize = 100;

pub fn run(figures: &mut Figures) -> CommandResult {
    let scene = open("layered-cube", &[]).map_err(Failure::input)?;
    let (fine, tets) = seconds_per_step(&scene, 3)?;
    figures.add("fine", tets as f64, "tets");
    for method in ["average", "homogenize", "homogenize+eigenfit"] {
        eprintln!("  {method}");
        let request = CoarsenOptions {
            body: None,
            mesh: CoarseMesh::Tets(TETS),
            method: method.into(),
            model: None,
            modes: None,
            display: false,
            traction: None,
            all_tractions: false,
            quadratic: false,
        };
        let began = Instant::now();
        let made = coarsen(&scene, &request, &mut |_, _| {}).map_err(Failure::input)?;
        let took = began.elapsed().as_secs_f64();
        let (step, tets) = seconds_per_step(&made.scene, 40)?;
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

/// Shortest time of a step of a scene, s, and its number of tets.
fn seconds_per_step(scene: &Scene, steps: usize) -> Result<(f64, usize), Failure> {
    let built = build(scene).map_err(Failure::input)?;
    let tets =
        built.simulation.system().bodies().iter().filter_map(|b| b.find::<Tets>()).map(|t| t.len()).sum();
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
