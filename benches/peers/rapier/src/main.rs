//! rapier on the common beam: a soft body of tets with its finite-element solver, which takes one linear solve per
//! step where the common beam asks for Newton's method to its tolerance. Single precision. Its neo-Hookean model is
//! the stable one without the logarithm: μ/2 (tr C − 3) + (λ + μ)/2 (J − 1 − μ/(λ + μ))².

#[path = "../../common.rs"]
mod common;

use common::{E, G, H, NU, RHO};
use rapier3d::prelude::*;

struct Beam {
    world: PhysicsWorld,
    body: SoftBodyHandle,
    tip: Vec<(usize, f64)>,
}

fn prepare(points: &[[f64; 3]], tets: &[[usize; 4]]) -> Beam {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, G as f32, 0.0);
    let parameters = &mut world.integration_parameters;
    parameters.dt = H as f32;
    parameters.num_solver_iterations = 1;
    parameters.soft_bodies.max_extra_substeps = 0;
    parameters.soft_bodies.fem.max_linear_iterations = 1000;
    let mass = |tet: &[usize; 4]| {
        let [a, b, c] = [1, 2, 3].map(|k| [0, 1, 2].map(|i| points[tet[k]][i] - points[tet[0]][i]));
        let cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
        RHO * (0..3).map(|i| a[i] * cross[i]).sum::<f64>() / 6.0
    };
    let mut masses = vec![0.0; points.len()];
    for tet in tets {
        tet.iter().for_each(|&i| masses[i] += (mass(tet) / 4.0) as f32);
    }
    let at = |x: f64| (0..points.len()).filter(move |&i| points[i][0] == x);
    let body = SoftBodyBuilder::new(points.iter().map(|p| Vector::from(p.map(|c| c as f32))).collect())
        .cells(tets.iter().map(|t| t.map(|i| i as u32)).collect())
        .masses(masses)
        .pinned_particles(at(0.0).map(|i| i as u32))
        .cell_model(SoftBodyCellModel::NeoHookean)
        .material(SoftBodyMaterial {
            young_modulus: E as f32,
            poisson_ratio: NU as f32,
            elastic_damping_ratio: 0.0,
            ..Default::default()
        })
        .solver(SoftBodySolver::Fem)
        .no_surface_collider()
        .can_sleep(false);
    let body = world.insert_soft_body(body);
    Beam { world, body, tip: at(4.0).map(|i| (i, points[i][1])).collect() }
}

fn main() {
    let step = |beam: &mut Beam| {
        beam.world.step();
        None
    };
    let tip = |beam: &Beam| {
        let body = &beam.world.soft_bodies[beam.body];
        let fall = |&(i, rest): &(usize, f64)| body.particle_position(i).y as f64 - rest;
        beam.tip.iter().map(fall).sum::<f64>() / beam.tip.len() as f64
    };
    let settings = "one linear solve per step, CG to 1e-5, single precision";
    let more = &[("mass", "lumped"), ("material", "stable neo-Hookean without logarithm")];
    common::main("rapier", "0.36.1", settings, more, prepare, step, tip);
}
