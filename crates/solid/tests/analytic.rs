//! Against closed forms: free fall, waves, pendulum, beams, numerical damping, the explicit limit.

mod common;

use common::{E, RHO, each_integrator, energy, explicit_limit, first_mode, flat, integrator, model};
use lilyan_dynamics::analysis::response;
use lilyan_dynamics::integrators::StepLength;
use lilyan_dynamics::{State, System};
use lilyan_solid::materials::{self, Given};
use lilyan_solid::mesh::Mesh;
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::{BodyInput, Model, ModelBuilder, Pin};
use std::f64::consts::{PI, TAU};

fn elastic(mesh: Mesh, material: &str, young: f64, nu: f64) -> BodyInput {
    let material = materials::find(material).unwrap();
    BodyInput::new("body", mesh, material, Given::from_young(young, nu).unwrap(), RHO)
}

/// A model with gravity and some vertices of the mesh held along some axes.
fn held(input: BodyInput, g: [f64; 3], axes: [bool; 3], hold: impl Fn(&[f64; 3]) -> bool) -> Model {
    let nodes = (0u32..).zip(input.nodes.points()).filter(|(_, x)| hold(x)).map(|(n, _)| n).collect();
    let mut builder = ModelBuilder::default();
    builder.body(input).unwrap();
    builder.gravity(g);
    builder.pin(Pin { nodes, axes, motion: None, until: f64::INFINITY });
    builder.build()
}

/// Free fall: the centre of mass follows ½gt² to 1e-13 with every method of second order or more, the
/// body keeps its shape.
#[test]
fn free_fall() {
    let g = [0.3, -9.81, 0.1];
    each_integrator(1e-10, |name, make, claims| {
        if claims.order < 2 {
            return;
        }
        let mesh = box_mesh([1.0, 0.8, 0.7], [2, 2, 2]).unwrap();
        let start = flat(&mesh.vertices);
        let mut builder = ModelBuilder::default();
        builder.body(elastic(mesh, "neo-hookean", E, 0.3)).unwrap();
        builder.gravity(g);
        let model = builder.build();
        let v: Vec<f64> = (0..start.len()).map(|i| [1.0, 2.0, -0.5][i % 3]).collect();
        let mut state = State::new(&model, start.clone(), v);
        let mut method = make();
        if method.refuses(&model).is_some() {
            return;
        }
        let (steps, h) = (128, 1.0 / 128.0);
        for _ in 0..steps {
            method.step(&model, &mut state, h).unwrap();
        }
        let mut worst = 0f64;
        for (i, x) in state.q.iter().enumerate() {
            let t = state.t; // 1 s, unless the method has a pace of its own
            let exact = start[i] + t * [1.0, 2.0, -0.5][i % 3] + 0.5 * t * t * g[i % 3];
            worst = worst.max((x - exact).abs());
        }
        println!("{name}: {worst:.1e}");
        let limit = match method.step_length() {
            // The symplectic choice of steps pulls at the path itself, by its error in the step.
            StepLength::Adaptive if claims.symplectic => 1e-6,
            StepLength::Adaptive | StepLength::AtMost => 1e-12,
            StepLength::Fixed => 1e-13,
        };
        assert!(worst <= limit, "{name}: free fall off by {worst:e} m");
    });
}

/// ω of the mode that moves along x most, among the lowest `count`.
fn axial_omega(model: &Model, q: &[f64], count: usize) -> f64 {
    let modes = common::modes(model, q, count);
    let mass = model.mass().diagonal();
    let share = |k: usize| -> f64 {
        (0..q.len()).filter(|i| i % 3 == 0).map(|i| mass[i] * modes.vectors[k][i].powi(2)).sum()
    };
    let axial = (0..count).find(|&k| modes.values[k] > 1.0 && share(k) > 0.9).unwrap();
    modes.values[axial].sqrt()
}

/// The wave speed in a bar is √(E/ρ) at ν = 0: from the first axial mode of a free bar, ω = πc/L.
#[test]
fn bar_wave_speed() {
    let mesh = box_mesh([2.0, 0.2, 0.2], [40, 2, 2]).unwrap();
    let rest = flat(&mesh.vertices);
    let model = model(elastic(mesh, "neo-hookean", E, 0.0));
    let speed = axial_omega(&model, &rest, 20) * 2.0 / PI;
    let error = speed / (E / RHO).sqrt() - 1.0;
    println!("wave speed off by {error:.1e}");
    assert!(error.abs() <= 0.005, "wave speed off by {error:e}");
}

/// K(k) = π / (2 agm(1, √(1−k²))).
fn complete_elliptic(k: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - k * k).sqrt());
    for _ in 0..12 {
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
    }
    PI / (2.0 * a)
}

/// A stiff bar hinged along an edge swings with the period 4K(sin θ/2)/ω of a rigid pendulum with the
/// inertia of its own nodal masses.
#[test]
fn pendulum_period() {
    let mesh = box_mesh([1.0, 0.2, 0.2], [6, 1, 1]).unwrap();
    let vertices = mesh.vertices.clone();
    // Hinge: the edge x = y = 0, along z. At rest in the file the bar lies along x.
    let model = held(elastic(mesh, "neo-hookean", 1e8, 0.3), [0.0, -9.81, 0.0], [true; 3], |x| {
        x[0] == 0.0 && x[1] == 0.0
    });
    let masses = model.node_masses().clone();
    let (mut total, mut inertia, mut center) = (0.0, 0.0, [0.0; 2]);
    for (x, m) in vertices.iter().zip(masses.iter()) {
        total += m;
        inertia += m * (x[0] * x[0] + x[1] * x[1]);
        center = [center[0] + m * x[0], center[1] + m * x[1]];
    }
    let arm = (center[0].powi(2) + center[1].powi(2)).sqrt() / total;
    let below = center[1].atan2(center[0]) + PI / 2.0;
    // The bar starts at the angle `below` from hanging: about 90° + 11°.
    let omega = (total * 9.81 * arm / inertia).sqrt();
    let exact = 4.0 * complete_elliptic((0.5 * below).sin()) / omega;
    let mut state = State::new(&model, flat(&vertices), vec![0.0; model.dofs()]);
    let mut method = integrator("variational", &[]);
    let h = exact / 400.0;
    // Angular velocity changes sign at the turning points: half a period apart.
    let spin = |s: &State| {
        s.q.chunks_exact(3).zip(s.p.chunks_exact(3)).map(|(x, p)| x[0] * p[1] - x[1] * p[0]).sum::<f64>()
    };
    let (mut crossings, mut before) = (Vec::new(), 0.0);
    while crossings.len() < 4 && state.t < 4.0 * exact {
        method.step(&model, &mut state, h).unwrap();
        let now = spin(&state);
        if before * now < 0.0 {
            crossings.push(state.t - h * now / (now - before));
        }
        before = now;
    }
    let period = crossings[3] - crossings[1];
    let error = period / exact - 1.0;
    println!("pendulum: {period:.5} s, exact {exact:.5} s, off by {error:.1e}");
    assert!(error.abs() <= 1e-3, "period off by {error:e}");
}

/// First bending frequency of a cantilever after Timoshenko, rad/s: the clamped-free determinant of the
/// beam with shear (κ = 5/6) and rotary inertia, square section of side `a`.
fn timoshenko(length: f64, a: f64, nu: f64) -> f64 {
    let (area, inertia) = (a * a, a.powi(4) / 12.0);
    let shear = 5.0 / 6.0 * E / (2.0 * (1.0 + nu)) * area;
    let bend = E * inertia;
    // w' = ψ + Q/κGA, ψ' = −Mb/EI, Mb' = Q + …: integrated from the clamped end for unit shear and unit
    // moment there; the free end needs Mb = Q = 0.
    let determinant = |omega: f64| {
        let end = |start: [f64; 4]| {
            let rhs = |y: [f64; 4]| {
                let [w, psi, moment, force] = y;
                [
                    psi + force / shear,
                    moment / bend,
                    -force - RHO * inertia * omega * omega * psi,
                    -RHO * area * omega * omega * w,
                ]
            };
            let (mut y, n) = (start, 400);
            let h = length / n as f64;
            for _ in 0..n {
                let add = |y: [f64; 4], c: f64, k: [f64; 4]| std::array::from_fn(|i| y[i] + c * k[i]);
                let k1 = rhs(y);
                let k2 = rhs(add(y, 0.5 * h, k1));
                let k3 = rhs(add(y, 0.5 * h, k2));
                let k4 = rhs(add(y, h, k3));
                y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
            }
            y
        };
        let (a, b) = (end([0.0, 0.0, 1.0, 0.0]), end([0.0, 0.0, 0.0, 1.0]));
        a[2] * b[3] - a[3] * b[2]
    };
    let euler = 3.5160 / (length * length) * (bend / (RHO * area)).sqrt();
    let (mut low, mut high) = (0.5 * euler, 1.05 * euler);
    assert!(determinant(low) * determinant(high) < 0.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if determinant(low) * determinant(middle) <= 0.0 { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

/// The first bending frequency of a cantilever comes down to beam theory as the mesh is refined; linear
/// tets are too stiff in bending, so it is the extrapolated value that is held to 1 %.
#[test]
fn cantilever_frequency() {
    let (length, side, nu) = (2.0, 0.4, 0.0);
    let exact = timoshenko(length, side, nu);
    let omegas: Vec<f64> = [2usize, 4, 8]
        .iter()
        .map(|&n| {
            let mesh = box_mesh([length, side, side], [5 * n, n, n]).unwrap();
            let rest = flat(&mesh.vertices);
            let model = held(elastic(mesh, "linear", E, nu), [0.0; 3], [true; 3], |x| x[0] == 0.0);
            common::modes(&model, &rest, 1).values[0].sqrt()
        })
        .collect();
    let ratios: Vec<f64> = omegas.iter().map(|w| w / exact).collect();
    let order = ((omegas[0] - omegas[1]) / (omegas[1] - omegas[2])).log2();
    let extrapolated = omegas[2] - (omegas[1] - omegas[2]) / (2f64.powf(order) - 1.0);
    println!("f/f_Timoshenko {ratios:.3?}, order {order:.2}, extrapolated {:.4}", extrapolated / exact);
    assert!(omegas[0] > omegas[1] && omegas[1] > omegas[2] && omegas[2] > exact);
    assert!((extrapolated / exact - 1.0).abs() <= 0.01, "{}", extrapolated / exact);
}

/// Backward Euler takes from a mode what the analysis of its one-step map predicts.
#[test]
fn numerical_damping_is_as_predicted() {
    let mesh = box_mesh([2.0, 0.5, 0.5], [6, 2, 2]).unwrap();
    let rest = flat(&mesh.vertices);
    let model = model(elastic(mesh, "neo-hookean", E, 0.3));
    let (omega, shape) = first_mode(&model, &rest);
    let amplitude = 1e-5 / shape.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for per_period in [20.0, 60.0] {
        let h = TAU / omega / per_period;
        let mut method = integrator("backward-euler", &[("tolerance", 1e-11)]);
        let growth = response(method.as_mut(), h * omega).unwrap().growth;
        let q = rest.iter().zip(&shape).map(|(q, u)| q + amplitude * u).collect();
        let mut state = State::new(&model, q, vec![0.0; rest.len()]);
        let start = energy(&model, &state);
        let steps = per_period as usize;
        for _ in 0..steps {
            method.step(&model, &mut state, h).unwrap();
        }
        let measured = 0.5 * (energy(&model, &state) / start).ln() / steps as f64;
        let ratio = measured / growth.ln();
        println!("{per_period} per period: {ratio:.4} of the predicted damping");
        assert!((ratio - 1.0).abs() <= 0.05, "{ratio}");
    }
}

/// Verlet holds just below 2/ω_max and explodes just above.
#[test]
fn explicit_limit_is_sharp() {
    let mesh = box_mesh([2.0, 0.5, 0.5], [6, 2, 2]).unwrap();
    let rest = flat(&mesh.vertices);
    let model = model(elastic(mesh, "neo-hookean", E, 0.3));
    let limit = explicit_limit(&model, &rest);
    let run = |share: f64| {
        let mut random = common::Random(5);
        let q = rest.iter().map(|x| x + 1e-6 * random.number()).collect();
        let mut state = State::new(&model, q, vec![0.0; rest.len()]);
        let start = energy(&model, &state);
        let mut method = integrator("verlet", &[]);
        for _ in 0..2000 {
            if method.step(&model, &mut state, share * limit).is_err() {
                return f64::INFINITY;
            }
        }
        energy(&model, &state) / start
    };
    let (below, above) = (run(0.975), run(1.025));
    println!("energy at 0.975 and 1.025 of the limit: {below:.2e}, {above:.2e}");
    assert!(below < 30.0, "explodes below the limit: {below:e}");
    assert!(above > 1e3, "holds above the limit: {above:e}");
}
