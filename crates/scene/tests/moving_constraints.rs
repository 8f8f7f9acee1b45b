//! Constraints g(t, q) = 0 that change in time: rods whose length is a formula, vertices on moving surfaces and curves.

mod common;

use common::made;
use lilyan_scene::build::{Built, build};
use lilyan_scene::schema::Scene;

/// Two masses of 1 kg, 1 m apart, that turn about their centre.
const PAIR: &str = r#"
time = { end = 1, step = 0.005 }
[[body]]
mesh = { points = { positions = [[-0.5, 0, 0], [0.5, 0, 0]], masses = [1, 1] } }
initial = { velocity = [0, "2*x", 0] }
[[constraint]]
kind = "distance"
between = [[-0.5, 0, 0], [0.5, 0, 0]]
length = "1 + 0.2*sin(3*t)"
"#;

const KEEPING: [&str; 7] = [
    "variational",
    "variational-4",
    "verlet",
    "energy-momentum",
    "backward-euler",
    "semi-implicit",
    "implicit-midpoint",
];

fn run(built: &mut Built) {
    while built.simulation.state().t < 1.0 - 1e-9 {
        built.simulation.advance().expect("a step");
    }
}

/// The angular momentum ½l²ω stays, so that the energy is ¼l̇² + L²/l² and the work is its change.
#[test]
fn a_rod_that_changes_its_length_does_its_work() {
    for integrator in KEEPING {
        let (_, mut built) = made(PAIR, &[&format!("integrator.name={integrator}")]);
        run(&mut built);
        let state = built.simulation.state();
        let s: [f64; 3] = std::array::from_fn(|k| state.q[3 + k] - state.q[k]);
        let length = s.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (exact, rate) = (1.0 + 0.2 * 3f64.sin(), 0.6 * 3f64.cos());
        assert!((length - exact).abs() < 1e-9, "{integrator}: {length}");
        let claims = lilyan_dynamics::integrators::find(integrator).unwrap().create(&[]).unwrap().claims();
        let spin = state.momenta([0.0; 3]).1[2];
        let limit = if claims.angular_momentum { 1e-10 } else { 0.02 };
        assert!((spin - 1.0).abs() < limit, "{integrator}: angular momentum {spin}");
        let accurate = if claims.order >= 2 { 2e-3 } else { 0.06 };
        let energy = 0.25 * rate * rate + 1.0 / (exact * exact);
        let total = built.simulation.total_energy();
        assert!((total / energy - 1.0).abs() < accurate, "{integrator}: {total} J of {energy}");
        let ledger = built.simulation.ledger();
        let lost = ledger.dissipated_numerical(total).abs();
        let closed = if integrator == "energy-momentum" { 1e-9 } else { accurate };
        assert!(lost < closed, "{integrator}: {lost} J unaccounted for");
        assert!((ledger.work_external - (energy - ledger.initial)).abs() < 2.0 * accurate, "{integrator}");
    }
}

/// A bead on a plate that shakes: its place is the plate's, and the plate carries it with m(g + a).
#[test]
fn a_vertex_follows_a_moving_surface() {
    let text = r#"
time = { end = 1, step = 0.005 }
environment = { gravity = [0, 0, -9.81] }
[[body]]
mesh = { points = { positions = [[0, 0, 0], [0, 1, 0]], masses = [2, 1] } }
initial = { velocity = [1, 0, 0] }
[[constraint]]
kind = "surface"
equation = "z - 0.1*sin(5*t)"
where = { vertices = [0] }
"#;
    for integrator in KEEPING {
        let (_, mut built) = made(text, &[&format!("integrator.name={integrator}")]);
        run(&mut built);
        let q = &built.simulation.state().q;
        assert!((q[2] - 0.1 * 5f64.sin()).abs() < 1e-9 && (q[0] - 1.0).abs() < 1e-9, "{integrator}: {q:?}");
        // The mean over the last step, whose middle is at 0.9975 s.
        let expected = 2.0 * (9.81 - 2.5 * (5.0f64 * 0.9975).sin());
        let force = built.simulation.constraint_forces()[0];
        assert!((force.abs() / expected - 1.0).abs() < 0.02, "{integrator}: {force} N of {expected}");
    }
}

/// A bead on a hoop that turns about the vertical with Ω: it stays at the height where cos θ = g/Ω²r.
#[test]
fn a_vertex_on_a_turning_hoop_finds_its_height() {
    let theta = (9.81f64 / 25.0).acos();
    let (x, z, v) = (theta.sin(), -theta.cos(), 5.0 * theta.sin());
    let text = format!(
        r#"
time = {{ end = 1, step = 0.005 }}
environment = {{ gravity = [0, 0, -9.81] }}
[[body]]
mesh = {{ points = {{ positions = [[{x:?}, 0, {z:?}], [5, 0, 0]], masses = [1, 1] }} }}
initial = {{ velocity = [0, {v:?}, 0] }}
[[constraint]]
kind = "surface"
equation = "x^2 + y^2 + z^2 - 1"
where = {{ vertices = [0] }}
[[constraint]]
kind = "surface"
equation = "y*cos(5*t) - x*sin(5*t)"
where = {{ vertices = [0] }}
"#
    );
    for integrator in ["variational", "energy-momentum", "verlet"] {
        let (_, mut built) = made(&text, &[&format!("integrator.name={integrator}")]);
        run(&mut built);
        let q = &built.simulation.state().q;
        assert!((q[2] - z).abs() < 2e-3, "{integrator}: {} of {z}", q[2]);
        assert!((q[0] - x * 5f64.cos()).abs() < 2e-3, "{integrator}: {}", q[0]);
    }
}

/// On a surface that stands still the force does no work.
#[test]
fn a_spherical_pendulum_keeps_its_energy() {
    let text = r#"
time = { end = 1, step = 0.01 }
environment = { gravity = [0, 0, -9.81] }
[[body]]
mesh = { points = { positions = [[1, 0, 0], [5, 0, 0]], masses = [1, 1] } }
initial = { velocity = [0, 2, 0] }
[[constraint]]
kind = "surface"
equation = "x^4 + y^4 + z^4 - 1"
where = { vertices = [0] }
[[pin]]
where = { vertices = [1] }
"#;
    let (_, mut built) = made(text, &["integrator.name=energy-momentum", "integrator.tolerance=1e-12"]);
    let before = built.simulation.total_energy();
    run(&mut built);
    assert!((built.simulation.total_energy() - before).abs() < 1e-8, "{}", built.simulation.total_energy());
}

#[test]
fn wrong_constraints_are_told() {
    let surface = |equation: &str| {
        PAIR.replace("kind = \"distance\"", "kind = \"surface\"")
            .replace("between = [[-0.5, 0, 0], [0.5, 0, 0]]", "where = \"all\"")
            .replace("length = \"1 + 0.2*sin(3*t)\"", &format!("equation = \"{equation}\""))
    };
    for (text, words) in [
        (surface("z - 0.1"), "is off by 1.000e-1 m at the start"),
        (surface("t"), "describes no surface"),
        (surface("z^2"), "gives the force no direction"),
        (PAIR.replace("1 + 0.2*sin(3*t)", "-1 + t"), "not positive at t = 0"),
        (PAIR.replace("1 + 0.2*sin(3*t)", "2 + t"), "off by"),
        (format!("{PAIR}\n[integrator]\nname = \"adaptive-reversible\""), "change in time"),
    ] {
        let scene = Scene::from_str_with(&text, "scene.toml", &[]);
        let error = scene.and_then(|scene| build(&scene).map(|_| ())).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    }
}
