//! Discontinuous tets: derivatives, consistency, convergence to the continuous solution, and integrators on them.

mod common;

use common::{E, NU, RHO, Random, integrator};
use lilyan_dynamics::{Simulation, State, System};
use lilyan_solid::elements::{Elements, GluingKind};
use lilyan_solid::materials::{Given, find};
use lilyan_solid::mesh::TetMesh;
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::{BodyInput, Model, ModelBuilder, Pin};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;
use std::collections::BTreeMap;

const KINDS: [GluingKind; 2] = [GluingKind::BabuskaZlamal, GluingKind::InteriorPenalty];

fn body(mesh: &TetMesh, kind: GluingKind, penalty: f64, material: &str) -> BodyInput {
    let given = Given::from_young(E, NU).unwrap();
    BodyInput::split("body", mesh.split(), kind, penalty, find(material).unwrap(), given, RHO)
}

fn model(body: BodyInput) -> Model {
    let mut builder = ModelBuilder::default();
    builder.body(body).unwrap();
    builder.build()
}

/// Positions of the vertices of a split mesh, moved by a smooth field and by noise.
fn shaken(mesh: &TetMesh, noise: f64, random: &mut Random) -> Vec<f64> {
    let place =
        |x: &[f64; 3]| [1.1 * x[0] + 0.1 * x[1] * x[2], 0.95 * x[1] - 0.1 * x[0], x[2] + 0.2 * x[0] * x[0]];
    let all = mesh.split().mesh.vertices;
    all.iter().flat_map(place).map(|x| x + noise * random.number()).collect()
}

#[test]
fn a_split_mesh_is_the_same_body() {
    let mesh = box_mesh([1.0, 1.0, 1.0], [2, 1, 2]).unwrap();
    let split = mesh.split();
    let whole = mesh.surface();
    let area = |s: &lilyan_solid::mesh::Surface, x: &[[f64; 3]]| s.face_areas(x).iter().sum::<f64>();
    assert_eq!(split.mesh.vertices.len(), 4 * mesh.tets.len());
    assert!((split.mesh.volume() - 1.0).abs() < 1e-13);
    assert_eq!(split.surface.triangles.len(), whole.triangles.len());
    assert!((area(&split.surface, &split.mesh.vertices) - 6.0).abs() < 1e-12);
    assert_eq!(2 * split.faces.len() + whole.triangles.len(), 4 * mesh.tets.len());
    for face in &split.faces {
        for k in 0..3 {
            let at = |s: usize| split.mesh.vertices[4 * face.tets[s] as usize + face.corners[s][k] as usize];
            assert_eq!(at(0), at(1));
        }
    }
}

#[test]
fn forces_and_stiffness_are_derivatives_of_the_energy() {
    let mesh = box_mesh([1.0, 1.0, 1.0], [1, 1, 1]).unwrap();
    for kind in KINDS {
        let model = model(body(&mesh, kind, 4.0, "neo-hookean-log"));
        let gluing = &model.bodies()[0].gluing;
        let q = shaken(&mesh, 0.02, &mut Random(7));
        let gradient = |q: &[f64]| {
            let mut g = vec![0.0; q.len()];
            gluing.add_gradient(q, &mut g);
            g
        };
        let g = gradient(&q);
        let mut h = BlockMatrix::zeros(model.pattern().clone());
        gluing.add_hessian(&q, false, &mut h);
        let exact = h.to_dense();
        let (force, stiff) = (
            g.iter().fold(0.0f64, |m, x| m.max(x.abs())),
            exact.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs())),
        );
        let at = |i: usize, d: f64| {
            let mut p = q.clone();
            p[i] += d;
            p
        };
        let d = 1e-4;
        for i in 0..q.len() {
            let slope = |d: f64| (gluing.energy(&at(i, d)) - gluing.energy(&at(i, -d))) / (2.0 * d);
            let fourth = (4.0 * slope(0.5 * d) - slope(d)) / 3.0;
            assert!((fourth - g[i]).abs() < 1e-8 * force, "{kind:?}: {fourth} {}", g[i]);
            let columns = [d, -d, 0.5 * d, -0.5 * d].map(|d| gradient(&at(i, d)));
            for j in 0..q.len() {
                let [a, b, c, e] = &columns;
                let column = (8.0 * (c[j] - e[j]) - (a[j] - b[j])) / (6.0 * d);
                assert!((column - exact[i][j]).abs() < 1e-7 * stiff, "{kind:?}: {column} {}", exact[i][j]);
            }
        }
    }
}

#[test]
fn discrete_gradients_keep_energy_and_momenta() {
    let mesh = box_mesh([1.0, 1.0, 1.0], [1, 1, 1]).unwrap();
    for kind in KINDS {
        let model = model(body(&mesh, kind, 4.0, "neo-hookean"));
        let gluing = &model.bodies()[0].gluing;
        let (q0, q1) = (shaken(&mesh, 0.02, &mut Random(1)), shaken(&mesh, 0.03, &mut Random(2)));
        let mut g = vec![0.0; q0.len()];
        assert!(gluing.add_discrete_gradient(&q0, &q1, &mut g));
        let work: f64 = g.iter().zip(q0.iter().zip(&q1)).map(|(g, (a, b))| g * (b - a)).sum();
        let size: f64 = g.iter().zip(q0.iter().zip(&q1)).map(|(g, (a, b))| (g * (b - a)).abs()).sum();
        let change = gluing.energy(&q1) - gluing.energy(&q0);
        assert!((work - change).abs() < 1e-12 * size, "{kind:?}: {work} {change}");
        let (mut sum, mut scale) = ([0.0; 6], 0.0);
        for (f, (a, b)) in g.chunks_exact(3).zip(q0.chunks_exact(3).zip(q1.chunks_exact(3))) {
            for k in 0..3 {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                sum[k] += f[k];
                sum[3 + k] += 0.5 * ((a[i] + b[i]) * f[j] - (a[j] + b[j]) * f[i]);
                scale += f[k].abs();
            }
        }
        assert!(sum.iter().all(|x| x.abs() < 1e-11 * scale), "{kind:?}: {sum:?}");
    }
}

/// An even deformation is in equilibrium inside, as it is with a continuous mesh: the interior penalty is consistent. The
/// plain penalty is not.
#[test]
fn interior_penalty_passes_the_patch_test() {
    let mesh = box_mesh([1.0, 1.0, 1.0], [2, 2, 2]).unwrap();
    for material in ["linear", "stvk", "neo-hookean"] {
        for kind in KINDS {
            let model = model(body(&mesh, kind, 4.0, material));
            let split = mesh.split();
            let q: Vec<f64> = (split.mesh.vertices.iter())
                .flat_map(|x| [1.1 * x[0] + 0.05 * x[1], 0.97 * x[1], x[2] - 0.1 * x[0]])
                .collect();
            let mut g = vec![0.0; q.len()];
            model.gradient(0.0, &q, &mut g);
            let largest = g.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            // Corners that touch no face of the boundary are free of force.
            let mut outside = vec![false; split.mesh.vertices.len()];
            split.surface.vertices.iter().for_each(|v| outside[*v as usize] = true);
            let inner = (0..outside.len()).filter(|v| !outside[*v]);
            let worst = inner.flat_map(|v| 3 * v..3 * v + 3).map(|i| g[i].abs()).fold(0.0, f64::max);
            match kind {
                GluingKind::InteriorPenalty => assert!(worst < 1e-12 * largest, "{material}: {worst:e}"),
                GluingKind::BabuskaZlamal => assert!(worst > 1e-2 * largest, "{material}: {worst:e}"),
            }
        }
    }
}

/// Lets a clamped beam sink under gravity until it rests; how far the middle of its free end moves.
fn sunk(mut builder: ModelBuilder, vertices: &[[f64; 3]]) -> f64 {
    let clamped = (0..vertices.len()).filter(|&v| vertices[v][0] == 0.0).map(|v| v as u32);
    builder.pin(Pin { nodes: clamped.collect(), axes: [true; 3], motion: None, until: f64::INFINITY });
    builder.gravity([0.0, -2.0, 0.0]);
    let model = builder.build();
    let q: Vec<f64> = vertices.concat();
    let still = vec![0.0; q.len()];
    let state = State::new(&model, q, still);
    let mut simulation = Simulation::new(model, integrator("backward-euler", &[]), state, 0.3);
    for _ in 0..60 {
        simulation.advance().unwrap();
    }
    let free: Vec<f64> = (0..vertices.len())
        .filter(|&v| vertices[v] == [2.0, 0.25, 0.25])
        .map(|v| simulation.state.q[3 * v + 1] - vertices[v][1])
        .collect();
    free.iter().sum::<f64>() / free.len() as f64
}

/// The gaps close as the penalty grows, and the solution becomes the continuous one.
#[test]
fn grows_into_the_continuous_solution() {
    let mesh = box_mesh([2.0, 0.5, 0.5], [4, 2, 2]).unwrap();
    let mut builder = ModelBuilder::default();
    builder.body(common::body(mesh.clone(), "stvk")).unwrap();
    let continuous = sunk(builder, &mesh.vertices);
    let split = |kind: GluingKind, penalty: f64| {
        let mut builder = ModelBuilder::default();
        builder.body(body(&mesh, kind, penalty, "stvk")).unwrap();
        sunk(builder, &mesh.split().mesh.vertices) / continuous - 1.0
    };
    for kind in KINDS {
        let errors = [10.0, 100.0, 1000.0].map(|penalty| split(kind, penalty));
        println!("{kind:?}: sinks {:.4} m; relative difference {errors:?}", continuous);
        assert!(errors.iter().all(|e| *e > 0.0), "gaps make it softer");
        assert!(errors[1] < 0.2 * errors[0] && errors[2] < 0.2 * errors[1] && errors[2] < 0.02);
    }
}

/// In free flight both momenta stay, energy as well under `energy-momentum`; `dgsi` steps it with blocks of single tets.
#[test]
fn integrators_move_discontinuous_bodies() {
    let mesh = box_mesh([2.0, 0.5, 0.5], [4, 1, 1]).unwrap();
    for kind in KINDS {
        let mut ends = BTreeMap::new();
        for (name, step, steps) in [
            ("verlet", 2e-4, 2500),
            ("energy-momentum", 5e-3, 100),
            ("semi-implicit", 5e-4, 1000),
            ("dgsi", 5e-4, 1000),
        ] {
            let model = model(body(&mesh, kind, 4.0, "neo-hookean"));
            let x = mesh.split().mesh.vertices;
            let q: Vec<f64> = x.iter().flat_map(|x| [1.1 * x[0], x[1], x[2]]).collect();
            let v: Vec<f64> = x.iter().flat_map(|x| [-2.0 * x[1], 2.0 * x[0], 0.3]).collect();
            let start = State::new(&model, q, v);
            let mut simulation = Simulation::new(model, integrator(name, &[]), start.clone(), step);
            for k in 0..steps {
                simulation.advance().unwrap_or_else(|e| panic!("{kind:?} {name}, step {k}: {e}"));
            }
            let (linear, angular) = common::momentum_drift(&start, &simulation.state);
            assert!(linear < 1e-11, "{kind:?} {name}: P {linear:e}");
            if name == "energy-momentum" {
                let ratio = simulation.total_energy() / simulation.ledger.initial - 1.0;
                assert!(angular < 1e-7 && ratio.abs() < 1e-7, "{kind:?}: L {angular:e}, E {ratio:e}");
            }
            ends.insert(name, simulation.state.q);
        }
        let moved = common::max_difference(&ends["verlet"], &mesh.split().mesh.vertices.concat());
        for (name, q) in &ends {
            let error = common::max_difference(q, &ends["verlet"]) / moved;
            println!("{kind:?} {name}: {error:.1e}");
            assert!(error < 0.05, "{kind:?} {name}: {error}");
        }
    }
}

/// Projected stiffness has a Cholesky factor with any mass.
#[test]
fn projected_stiffness_is_positive() {
    let mesh = box_mesh([1.0, 1.0, 1.0], [1, 1, 1]).unwrap();
    for kind in KINDS {
        let model = model(body(&mesh, kind, 4.0, "stvk"));
        let mut random = Random(5);
        let q: Vec<f64> = shaken(&mesh, 0.1, &mut random).iter().map(|x| 0.6 * x).collect();
        let mut h = BlockMatrix::zeros(model.pattern().clone());
        model.hessian(0.0, &q, Curvature::Projected, &mut h);
        for _ in 0..50 {
            let v: Vec<f64> = q.iter().map(|_| random.number()).collect();
            assert!(h.quadratic_form(&v) > -1e-9 * E, "{kind:?}");
        }
    }
}
