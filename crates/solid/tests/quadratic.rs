//! Quadratic tets against exact solutions: patch tests, orders of convergence, known frequencies, locking, free fall.
#![allow(non_snake_case)] // Young's modulus is E

mod common;

use common::{Random, energy, integrator, max_difference, modes, momentum_drift, stiffness};
use lilyan_dynamics::{State, System};
use lilyan_solid::elements::{LINEAR_TETS, QUADRATIC_TETS, SolidKind};
use lilyan_solid::materials::{CATALOGUE, Given, find};
use lilyan_solid::mesh::{Location, Mesh, Nodes};
use lilyan_solid::meshing::{Diagonals, box_mesh_with};
use lilyan_solid::{BodyInput, Model, ModelBuilder, Pin};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::{Curvature, Objective, Stopping, Workspace, minimize};
use std::f64::consts::PI;
use std::sync::Arc;

fn grid(size: [f64; 3], cells: [usize; 3]) -> Mesh {
    box_mesh_with(size, cells, Diagonals::Mirrored).unwrap()
}

fn input(kind: &'static SolidKind, mesh: Mesh, material: &str, E: f64, nu: f64, rho: f64) -> BodyInput {
    let nodes: Nodes = (kind.nodes)(Arc::new(mesh));
    BodyInput::of(kind, nodes, "body", find(material).unwrap(), Given::from_young(E, nu).unwrap(), rho)
}

fn quadratic(mesh: Mesh, material: &str, E: f64, nu: f64, rho: f64) -> BodyInput {
    input(&QUADRATIC_TETS, mesh, material, E, nu, rho)
}

/// A model with the coordinates held that `held` names by place and axis.
fn held_model(body: BodyInput, held: impl Fn(&[f64; 3], usize) -> bool) -> Model {
    let points = body.nodes.points().to_vec();
    let mut builder = ModelBuilder::default();
    builder.body(body).unwrap();
    for (n, x) in points.iter().enumerate() {
        let axes = [0, 1, 2].map(|k| held(x, k));
        if axes != [false; 3] {
            builder.pin(Pin { nodes: vec![n as u32], axes, motion: None, until: f64::INFINITY });
        }
    }
    builder.build()
}

/// A unit cube whose inner vertices are moved by a fifth of a cell.
fn distorted() -> Mesh {
    let mut mesh = grid([1.0; 3], [3, 2, 2]);
    let mut random = Random(7);
    for x in &mut mesh.vertices {
        if x.iter().all(|c| *c > 1e-9 && *c < 1.0 - 1e-9) {
            x.iter_mut().for_each(|c| *c += 0.07 * random.number());
        }
    }
    mesh
}

/// The same with an edge in each of some tets bent, inside and on the boundary.
fn curved() -> Mesh {
    let mut mesh = distorted();
    let mut random = Random(3);
    let mut bent = vec![false; mesh.tets().len()];
    for t in 0..bent.len() {
        let ends = [mesh.tets()[t][0], mesh.tets()[t][3]];
        let around: Vec<usize> =
            (0..bent.len()).filter(|k| ends.iter().all(|v| mesh.tets()[*k].contains(v))).collect();
        if around.iter().any(|k| bent[*k]) {
            continue;
        }
        around.iter().for_each(|k| bent[*k] = true);
        let [a, b] = ends.map(|v| mesh.vertices[v as usize]);
        let place = [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]) + 0.05 * random.number());
        mesh.edge_points.insert([ends[0].min(ends[1]), ends[0].max(ends[1])], place);
    }
    assert!(!mesh.edge_points.is_empty());
    mesh
}

fn on_boundary(x: &[f64; 3]) -> bool {
    x.iter().any(|c| *c < 1e-9 || *c > 1.0 - 1e-9)
}

fn gradient(model: &Model, q: &[f64]) -> Vec<f64> {
    let mut g = vec![0.0; q.len()];
    model.gradient(0.0, q, &mut g);
    g
}

/// An affine motion is in equilibrium inside, on straight and curved tets, with every material and either dilatation.
#[test]
fn affine_motions_are_in_equilibrium() {
    const A: [[f64; 3]; 3] = [[0.9, -0.4, 0.2], [0.5, 1.0, -0.1], [0.0, 0.3, 1.1]];
    for mesh in [distorted(), curved()] {
        for material in CATALOGUE {
            for mean in [false, true] {
                let name = material.card().name;
                let body = quadratic(mesh.clone(), name, 1e5, 0.49, 1000.0);
                let points = body.nodes.points().to_vec();
                // A node on a bent edge of the boundary is no longer on it.
                let marks: Vec<bool> = mesh.vertices.iter().map(on_boundary).collect();
                let outer = body.nodes.marks(&marks);
                let mut builder = ModelBuilder::default();
                builder.body(BodyInput { mean_dilatation: Some(mean), ..body }).unwrap();
                let model = builder.build();
                let map = |x: &[f64; 3]| A.map(|row| (0..3).map(|k| row[k] * x[k]).sum::<f64>());
                let q: Vec<f64> = points.iter().flat_map(map).collect();
                let g = gradient(&model, &q);
                let largest = |inside: bool| {
                    let of = g.chunks(3).zip(&outer).filter(|(_, outer)| **outer != inside);
                    of.fold(0f64, |m, (g, _)| g.iter().fold(m, |m, x| m.max(x.abs())))
                };
                let residual = largest(true) / largest(false);
                assert!(residual < 2e-12, "{name}, mean {mean}: residual {residual:e}");
            }
        }
    }
}

/// Turned and moved a kilometre away, a curved body has no stress, and its forces have no resultant and no torque.
#[test]
fn rigid_motion_is_not_felt() {
    let (c, s) = (0.6, 0.8);
    for mean in [false, true] {
        let body = quadratic(curved(), "neo-hookean", 1e5, 0.3, 1000.0);
        let points = body.nodes.points().to_vec();
        let mut builder = ModelBuilder::default();
        builder.body(BodyInput { mean_dilatation: Some(mean), ..body }).unwrap();
        let model = builder.build();
        let turned: Vec<f64> =
            points.iter().flat_map(|x| [c * x[0] - s * x[1], s * x[0] + c * x[1], x[2]]).collect();
        assert!(gradient(&model, &turned).iter().all(|g| g.abs() < 1e-9), "mean {mean}");
        let mut random = Random(5);
        let q: Vec<f64> = turned.iter().map(|x| x + 0.02 * random.number() + 1000.0).collect();
        let g = gradient(&model, &q);
        let size: f64 = g.iter().map(|x| x.abs()).sum();
        for k in 0..3 {
            let force: f64 = g.iter().skip(k).step_by(3).sum();
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            let torque: f64 = q
                .chunks(3)
                .zip(g.chunks(3))
                .map(|(x, g)| (x[i] - 1000.0) * g[j] - (x[j] - 1000.0) * g[i])
                .sum();
            assert!(force.abs() < 1e-11 * size && torque.abs() < 1e-11 * size, "{force:e} {torque:e}");
        }
    }
}

/// W less the work of dead forces, with some unknowns held.
struct Static<'a> {
    model: &'a Model,
    held: &'a [bool],
    force: &'a [f64],
}

impl Objective for Static<'_> {
    fn value(&mut self, x: &[f64]) -> (f64, f64) {
        let energy = self.model.energy(0.0, x);
        let work: f64 = x.iter().zip(self.force).map(|(x, f)| x * f).sum();
        (energy - work, energy.abs() + work.abs())
    }
    fn gradient(&mut self, x: &[f64], g: &mut [f64]) {
        self.model.gradient(0.0, x, g);
        for ((g, held), f) in g.iter_mut().zip(self.held).zip(self.force) {
            *g = if *held { 0.0 } else { *g - f };
        }
    }
    fn hessian(&mut self, x: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        h.clear();
        self.model.hessian(0.0, x, curvature, h);
        h.hold(self.held);
    }
}

fn solve(model: &Model, held: &[bool], force: &[f64], q: &mut [f64]) {
    let origin = q.to_vec();
    let stopping = Stopping {
        tolerance: 1e-11,
        max_iterations: 60,
        length: 1.0,
        direct: true,
        conserving: false,
        enough: None,
    };
    let mut work = Workspace::new(model.pattern().clone());
    minimize(&mut Static { model, held, force }, q, &origin, &stopping, &mut work).unwrap();
}

/// u = ∇φ with Δφ = 0 solves Navier's equations: order 3 in L2, 2 in H1.
#[test]
fn smooth_solutions_converge_with_full_order() {
    const ROOT: f64 = std::f64::consts::SQRT_2;
    let exact = |x: &[f64; 3]| {
        let (e, y, z) = ((ROOT * x[0]).exp(), x[1].sin_cos(), x[2].sin_cos());
        [ROOT * e * y.0 * z.0, e * y.1 * z.0, e * y.0 * z.1].map(|u| 0.1 * u)
    };
    let errors = |n: usize| {
        let body = quadratic(grid([1.0; 3], [n; 3]), "linear", 1.0, 0.3, 1.0);
        let nodes = body.nodes.clone();
        let mut builder = ModelBuilder::default();
        builder.body(body).unwrap();
        let model = builder.build();
        let held: Vec<bool> = nodes.points().iter().flat_map(|x| [on_boundary(x); 3]).collect();
        let mut q: Vec<f64> = nodes
            .points()
            .iter()
            .flat_map(|x| {
                let u = exact(x);
                [0, 1, 2].map(|k| x[k] + if on_boundary(x) { u[k] } else { 0.0 })
            })
            .collect();
        solve(&model, &held, &vec![0.0; q.len()], &mut q);
        let (mut l2, mut h1) = (0.0, 0.0);
        let volume = 1.0 / nodes.tets().len() as f64;
        for t in 0..nodes.tets().len() {
            let corners = nodes.mesh().corners(t);
            let error = |barycentric: [f64; 4]| -> [f64; 3] {
                let x: [f64; 3] =
                    [0, 1, 2].map(|k| (0..4).map(|c| barycentric[c] * corners[c][k]).sum::<f64>());
                let at = Location { tet: t, barycentric, distance: 0.0 };
                let u = exact(&x);
                [0, 1, 2].map(|k| {
                    let found: f64 =
                        nodes.weights_at(&at).iter().map(|(v, w)| w * q[3 * *v as usize + k]).sum();
                    found - x[k] - u[k]
                })
            };
            // Points of a rule of degree 3 with positive weights; differences along the edges for derivatives.
            for k in 0..5 {
                let (weight, at) = match k {
                    4 => (0.2, [0.25; 4]),
                    _ => (0.2, std::array::from_fn(|c| if c == k { 0.55 } else { 0.15 })),
                };
                let e = error(at);
                l2 += weight * volume * e.iter().map(|e| e * e).sum::<f64>();
                for edge in [1, 2, 3] {
                    let shifted = |c: f64| {
                        let mut to = at;
                        to[0] -= c;
                        to[edge] += c;
                        to
                    };
                    let (a, b) = (error(shifted(0.01)), error(shifted(-0.01)));
                    // As many cells as the body is long: an edge has a length of 1/n.
                    let slope = |k: usize| (a[k] - b[k]) / 0.02 * n as f64;
                    h1 += weight * volume * (0..3).map(|k| slope(k).powi(2)).sum::<f64>();
                }
            }
        }
        [l2.sqrt(), h1.sqrt()]
    };
    let (coarse, fine) = (errors(2), errors(4));
    let orders = [0, 1].map(|k| (coarse[k] / fine[k]).log2());
    println!("orders {orders:.2?}, errors {fine:?}");
    assert!((orders[0] - 3.0).abs() < 0.25 && (orders[1] - 2.0).abs() < 0.2, "{orders:?}");
}

/// A cube between walls on which it slides has the standing shear wave ω² = 2π²μ/ρ: order 4 with consistent mass.
#[test]
fn frequencies_converge_with_order_four() {
    let (mu, rho) = (1.0 / 2.6, 1.0);
    let exact = 2.0 * PI * PI * mu / rho;
    let error = |n: usize| {
        let body = quadratic(grid([1.0; 3], [n; 3]), "linear", 1.0, 0.3, rho);
        let model = held_model(body, |x, k| x[k] < 1e-9 || x[k] > 1.0 - 1e-9);
        modes(&model, &model.rest_positions(), 1).values[0] / exact - 1.0
    };
    let errors = [error(3), error(6)];
    let order = (errors[0] / errors[1]).log2();
    println!("order {order:.2}, errors {errors:?}");
    assert!((order - 4.0).abs() < 0.4, "{order} from {errors:?}");
}

/// The first frequency of a free cube, Hz, E = 1 Pa, ρ = 1 kg/m³.
fn free_cube(n: usize, nu: f64, change: impl Fn(&mut BodyInput)) -> f64 {
    let mut body = quadratic(grid([1.0; 3], [n; 3]), "linear", 1.0, nu, 1.0);
    change(&mut body);
    let mut builder = ModelBuilder::default();
    builder.body(body).unwrap();
    let model = builder.build();
    let found = modes(&model, &model.rest_positions(), 7).values;
    assert!(found[5].abs() < 1e-8, "six rigid motions: {found:?}");
    found[6].sqrt() / (2.0 * PI)
}

/// 0.2822 Hz at ν = 0.3 and 0.262599 Hz at ν = 0.499, there without locking and without oscillating pressures, which would
/// bring modes of little energy.
#[test]
fn free_cubes_have_their_frequencies() {
    let plain = free_cube(3, 0.3, |_| {});
    assert!((plain / 0.2822 - 1.0).abs() < 0.012, "{plain}");
    let soft = free_cube(3, 0.499, |_| {});
    let locked = free_cube(3, 0.499, |body| body.mean_dilatation = Some(false));
    println!("free cube: {plain:.5}, {soft:.6} (pointwise {locked:.6})");
    assert!((soft / 0.262_599 - 1.0).abs() < 0.02, "{soft}");
    assert!(soft < locked, "{soft} {locked}");
}

/// Steel, 1 × 0.05 × 0.05 m, clamped at one end: 40.79 Hz. Linear tets with the same nodes have 65 Hz.
#[test]
fn a_steel_cantilever_has_the_frequency_of_a_beam() {
    let frequency = |kind: &'static SolidKind, cells: [usize; 3]| {
        let body = input(kind, grid([1.0, 0.05, 0.05], cells), "linear", 200e9, 0.3, 7850.0);
        let model = held_model(body, |x, _| x[0] < 1e-9);
        let found = modes(&model, &model.rest_positions(), 2).values;
        assert!((found[1] / found[0] - 1.0).abs() < 1e-6 || kind == &LINEAR_TETS || cells[1] % 2 == 1);
        found[0].sqrt() / (2.0 * PI)
    };
    let linear = frequency(&LINEAR_TETS, [20, 2, 2]);
    let [same, fine] = [[10, 1, 1], [20, 2, 2]].map(|cells| frequency(&QUADRATIC_TETS, cells));
    println!("cantilever: linear {linear:.2}, quadratic {same:.2} and {fine:.2} Hz");
    assert!((same / 40.789 - 1.0).abs() < 0.015, "{same} Hz with as many nodes as {linear} Hz");
    assert!((fine / 40.789 - 1.0).abs() < 0.005, "{fine} Hz");
}

/// Cook's membrane in plane strain, 8 × 8 × 1 cells, 1,904 unknowns: how far the upper corner rises.
fn cook(nu: f64, material: &str, load: f64, mean: Option<bool>) -> f64 {
    let mut mesh = grid([1.0; 3], [8, 8, 1]);
    for x in &mut mesh.vertices {
        let (a, b) = (x[0], x[1]);
        *x = [48.0 * a, 44.0 * a + b * (44.0 - 28.0 * a), x[2]];
    }
    let body = BodyInput { mean_dilatation: mean, ..quadratic(mesh, material, 250.0, nu, 1.0) };
    let nodes = body.nodes.clone();
    let held: Vec<bool> = nodes
        .points()
        .iter()
        .flat_map(|x| [0, 1, 2].map(|k| x[0] < 1e-9 || (k == 2 && (x[2] < 1e-9 || x[2] > 1.0 - 1e-9))))
        .collect();
    let mut builder = ModelBuilder::default();
    builder.body(body).unwrap();
    let model = builder.build();
    let end: Vec<bool> = nodes.points().iter().map(|x| x[0] > 48.0 - 1e-9).collect();
    let mut force = vec![0.0; 3 * nodes.len()];
    for (n, weight) in nodes.face_weights(&end).into_iter().enumerate() {
        force[3 * n + 1] = load * 6.25 * weight;
    }
    let mut q = model.rest_positions();
    solve(&model, &held, &force, &mut q);
    let tip = |x: &[f64; 3]| (x[0] - 48.0).abs() + (x[1] - 60.0).abs() + x[2].abs() < 1e-9;
    let n = nodes.points().iter().position(tip).unwrap();
    (q[3 * n + 1] - 60.0) / load
}

/// A beam of one layer of tets keeps the stiffness of its bending with the mean dilatation: nearly incompressible or not, E and ρ
/// determine its frequency. With the mean alone it would swell on one side instead, at 13 Hz.
#[test]
fn nearly_incompressible_beams_are_not_soft() {
    for (cells, allowed) in [([10, 1, 1], 0.05), ([20, 2, 2], 0.01)] {
        for nu in [0.46, 0.49, 0.4999] {
            let body = quadratic(grid([1.0, 0.05, 0.05], cells), "linear", 200e9, nu, 7850.0);
            let model = held_model(body, |x, _| x[0] < 1e-9);
            let hz = modes(&model, &model.rest_positions(), 1).values[0].sqrt() / (2.0 * PI);
            println!("nu {nu}, {cells:?}: {hz:.2} Hz");
            assert!((hz / 40.8 - 1.0).abs() < allowed, "nu {nu}, {cells:?}: {hz} Hz");
        }
    }
}

#[test]
fn cooks_membrane_does_not_lock() {
    let (nearly, soft) = (cook(0.4999, "linear", 1.0, None), cook(0.49, "linear", 1.0, None));
    let locked = cook(0.4999, "linear", 1.0, Some(false));
    println!("Cook: {nearly:.3} and {soft:.3}; pointwise {locked:.3}");
    assert!((nearly / 7.766 - 1.0).abs() < 0.01, "{nearly}");
    assert!((soft / 7.84 - 1.0).abs() < 0.01, "{soft}");
    assert!(locked < 0.985 * nearly, "{locked}");
    // Small motions of rubber are those of the linear material.
    let rubber = cook(0.4999, "neo-hookean", 1e-4, None);
    assert!((rubber / nearly - 1.0).abs() < 1e-3, "{rubber}");
}

/// A body that falls freely is not strained: gravity pulls at M times 1, whatever the mass.
#[test]
fn free_fall_is_without_stress() {
    for consistent_mass in [false, true] {
        let body = BodyInput { consistent_mass, ..quadratic(curved(), "neo-hookean", 1e5, 0.3, 1000.0) };
        let mut builder = ModelBuilder::default();
        builder.body(body).unwrap();
        builder.gravity([0.0, -9.81, 0.0]);
        let model = builder.build();
        let rest = model.rest_positions();
        let mut state = State::new(&model, rest.clone(), vec![0.0; rest.len()]);
        let mut method = integrator("variational", &[("tolerance", 1e-12)]);
        for _ in 0..20 {
            method.step(&model, &mut state, 0.01).unwrap();
        }
        let fallen = state.q[1] - rest[1];
        assert!(fallen < -0.1);
        let moved: Vec<f64> =
            rest.iter().enumerate().map(|(i, x)| if i % 3 == 1 { x + fallen } else { *x }).collect();
        let error = max_difference(&state.q, &moved);
        assert!(error < 1e-12, "consistent {consistent_mass}: {error:e} m");
    }
}

/// Curved tets, strongly strained and turning, pointwise and with mean dilatation: energy and momenta to round-off.
#[test]
fn energy_and_momenta_are_kept() {
    for mean in [false, true] {
        let mut body = quadratic(curved(), "neo-hookean", 1e5, 0.48, 1000.0);
        body.mean_dilatation = Some(mean);
        let points = body.nodes.points().to_vec();
        let mut builder = ModelBuilder::default();
        builder.body(body).unwrap();
        let model = builder.build();
        let q: Vec<f64> = points.iter().flat_map(|x| [1.2 * x[0], 0.92 * x[1], 0.92 * x[2]]).collect();
        let v: Vec<f64> = points.iter().flat_map(|x| [-2.0 * x[1], 2.0 * x[0], 0.5 * x[1]]).collect();
        let start = State::new(&model, q, v);
        let (mut state, before) = (start.clone(), energy(&model, &start));
        let mut method = integrator("energy-momentum", &[("tolerance", 1e-13)]);
        for _ in 0..20 {
            method.step(&model, &mut state, 0.01).unwrap();
        }
        let change = (energy(&model, &state) / before - 1.0).abs();
        let (linear, angular) = momentum_drift(&start, &state);
        println!("mean {mean}: energy {change:.1e}, momenta {linear:.1e} {angular:.1e}");
        assert!(change < 1e-11 && linear < 1e-13 && angular < 1e-12, "{change:e} {linear:e} {angular:e}");
        assert!(
            model.energy(0.0, &state.q) > 0.0 && stiffness(&model, &state.q).quadratic_form(&state.v) != 0.0
        );
    }
}
