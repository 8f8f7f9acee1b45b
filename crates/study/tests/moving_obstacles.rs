//! Planes and spheres that move, and their work.

#[path = "common/running.rs"]
mod running;

use lilyan_report::Level;
use lilyan_solid::contact::ObstacleShape;
use running::{column, folder, made, run_until};

const INTEGRATORS: [(&str, f64); 5] = [
    ("energy-momentum", 1e-7),
    ("variational", 0.02),
    ("implicit-midpoint", 0.02),
    ("newmark", 0.02),
    ("verlet", 0.02),
];

/// A cube that falls onto a floor, with what else is given.
fn dropped(integrator: &str, step: f64, speed: f64, floor: &str) -> String {
    format!(
        r#"
time = {{ end = 0.5, step = {step} }}
integrator = {{ name = "{integrator}" }}
environment = {{ gravity = [0, -9.81, 0] }}
[[body]]
mesh = {{ box = {{ size = [0.4, 0.4, 0.4], cells = [2, 2, 2] }} }}
material = {{ model = "neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }}
initial = {{ velocity = [0.2, {speed}, 0] }}
[[contact]]
kind = "plane"
point = [0, -0.05, 0]
normal = [0, 1, 0]
stiffness = 1e6
{floor}
[output]
every = 0.05
replay = false
"#
    )
}

fn step_of(integrator: &str) -> f64 {
    if integrator == "verlet" { 1e-3 } else { 5e-3 }
}

/// A floor that rises at a constant speed is a floor at rest, seen from a falling frame.
#[test]
fn a_rising_floor_is_a_floor_at_rest_in_another_frame() {
    let rise = 0.8;
    for (integrator, _) in INTEGRATORS {
        let step = step_of(integrator);
        let after = |speed: f64, floor: &str| {
            let (_, mut built) = made(
                &dropped(integrator, step, speed, floor),
                &["integrator.tolerance=1e-10"][..usize::from(integrator != "verlet")],
            );
            let start = built.simulation.total_energy();
            while built.simulation.state().t < 0.5 - 0.5 * step {
                built.simulation.advance().expect("a step");
            }
            let work = built.simulation.ledger().work_external;
            (built.simulation.state().clone(), built.simulation.total_energy() - start, work)
        };
        let (still, _, none) = after(-0.5 - rise, "");
        let (moved, gained, work) = after(-0.5, &format!("motion = [0, \"{rise}*t\", 0]"));
        assert_eq!(none, 0.0);
        let t = moved.t;
        for (i, (a, b)) in still.q.iter().zip(&moved.q).enumerate() {
            let expected = a + if i % 3 == 1 { rise * t } else { 0.0 };
            assert!((b - expected).abs() < 1e-6, "{integrator}: {b} instead of {expected} m");
        }
        assert!(work > 10.0, "{integrator}: the floor does work, {work} J");
        assert!((work - gained).abs() < 0.02 * work, "{integrator}: {work} J of work, {gained} J gained");
    }
}

#[test]
fn the_work_of_moving_obstacles_is_accounted_for() {
    let motions = [
        "motion = [0, \"0.1*sin(10*t)\", 0]",
        "rotate = { axis = [0, 0, 1], point = [-2, 0, 0], degrees = \"20*t\" }",
    ];
    for motion in motions {
        for (integrator, allowed) in INTEGRATORS {
            let (scene, built) = made(&dropped(integrator, step_of(integrator), -0.5, motion), &[]);
            let directory = folder("moving-floor");
            let outcome = run_until(&scene, built, &directory, false, None);
            let energy = &outcome.summary.energy;
            assert!(energy.unaccounted_max < allowed * energy.in_play, "{integrator}, {motion}: {energy:?}");
            assert_eq!(outcome.verdict.level, Level::Pass, "{integrator}, {motion}: {:?}", outcome.verdict);
            let work = column(&directory, "energy.csv", "work_external");
            assert!(work.iter().any(|w| w.abs() > 1.0), "{integrator}, {motion}: {work:?}");
        }
    }
}

/// A ball that is pushed sideways by a sphere leaves with the momentum that the work explains.
#[test]
fn a_sphere_strikes_a_body() {
    let text = dropped("energy-momentum", 2e-3, 0.0, "")
        .replace("gravity = [0, -9.81, 0]", "gravity = [0, 0, 0]")
        .replace(
            "kind = \"plane\"\npoint = [0, -0.05, 0]\nnormal = [0, 1, 0]",
            "kind = \"sphere\"\ncenter = [-0.5, 0.2, 0.2]\nradius = 0.4\nmotion = [\"1.5*t\", 0, 0]",
        );
    let (scene, built) = made(&text, &[]);
    let outcome = run_until(&scene, built, &folder("struck"), false, None);
    let energy = &outcome.summary.energy;
    assert!(energy.unaccounted_max < 1e-7 * energy.in_play, "{energy:?}");
    let work = column(&folder_of("struck"), "energy.csv", "work_external");
    let momentum = column(&folder_of("struck"), "energy.csv", "px");
    let (first, last) = (momentum[0], *momentum.last().expect("lines"));
    // What moves at U gives the work U·Δp.
    let given = 1.5 * (last - first);
    assert!(given > 10.0, "{given}");
    assert!((work.last().expect("lines") - given).abs() < 1e-2 * given, "{work:?}, {given}");
}

fn folder_of(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("study").join(name)
}

#[test]
fn obstacles_are_where_their_motion_puts_them() {
    let turned =
        "rotate = { axis = [0, 0, 1], point = [1, 0, 0], degrees = \"90*t\" }\nmotion = [0, 0, \"2*t\"]";
    let (scene, _) = made(&dropped("backward-euler", 0.01, 0.0, turned), &[]);
    let Some(ObstacleShape::Plane { point, normal }) = scene.contacts[0].obstacle_at(1.0) else {
        panic!("a plane")
    };
    let near = |a: [f64; 3], b: [f64; 3]| (0..3).all(|k| (a[k] - b[k]).abs() < 1e-12);
    assert!(near(normal, [-1.0, 0.0, 0.0]), "{normal:?}");
    assert!(near(point, [1.05, -1.0, 2.0]), "{point:?}");
}

/// [`dropped`] with a floor that no motion passes through.
fn dropped_on_barrier(integrator: &str, step: f64, speed: f64, floor: &str) -> String {
    dropped(integrator, step, speed, floor).replace("stiffness = 1e6", "model = \"barrier\"\nslip = 1e-3")
}

/// A barrier that rises at a constant speed is one at rest, seen from a falling frame: a plane, and a mesh.
#[test]
fn a_rising_barrier_is_a_barrier_at_rest_in_another_frame() {
    let rise = 0.8;
    let plane = "kind = \"plane\"\npoint = [0, -0.05, 0]\nnormal = [0, 1, 0]";
    let mesh = "kind = \"mesh\"\nmesh = { box = { size = [3, 1, 3], cells = [2, 1, 2] }, translate = [-1.31, -1.05, -1.23] }";
    for kind in [plane, mesh] {
        let after = |speed: f64, floor: &str| {
            let text = dropped_on_barrier("backward-euler", 4e-3, speed, floor).replace(plane, kind);
            let (_, mut built) = made(&text, &["integrator.tolerance=1e-10"]);
            while built.simulation.state().t < 0.16 - 2e-3 {
                built.simulation.advance().unwrap_or_else(|e| panic!("{kind}: {e}"));
            }
            let state = built.simulation.state();
            (state.q.clone(), state.t)
        };
        let (still, t) = after(-1.0 - rise, "");
        let (moved, _) = after(-1.0, &format!("motion = [0, \"{rise}*t\", 0]"));
        for (i, (a, b)) in still.iter().zip(&moved).enumerate() {
            let expected = a + if i % 3 == 1 { rise * t } else { 0.0 };
            assert!((b - expected).abs() < 1e-6, "{kind}: {b} instead of {expected} m");
        }
    }
}

/// The budget closes while the obstacle pushes, turns and drags the body along by friction.
#[test]
fn the_work_of_moving_barriers_is_accounted_for() {
    let motions = [
        "motion = [0, \"0.1*sin(10*t)\", 0]",
        "motion = [\"2*t\", 0, 0]\nfriction = 0.4",
        "rotate = { axis = [0, 0, 1], point = [-2, 0, 0], degrees = \"20*t\" }\nfriction = 0.4",
    ];
    for (number, motion) in motions.into_iter().enumerate() {
        let text = dropped_on_barrier("energy-momentum", 5e-3, -0.5, motion);
        let (scene, built) = made(&text, &[]);
        let name = format!("moving-barrier-{number}");
        let outcome = run_until(&scene, built, &folder(&name), false, None);
        let energy = &outcome.summary.energy;
        assert!(energy.unaccounted_max < 1e-7 * energy.in_play, "{motion}: {energy:?}");
        let work = column(&folder_of(&name), "energy.csv", "work_external");
        assert!(work.last().is_some_and(|w| w.abs() > 1.0), "{motion}: {work:?}");
        if motion.contains("friction") {
            // Slip takes energy, whatever the floor gives.
            let taken = column(&folder_of(&name), "energy.csv", "dissipated_friction");
            assert!(taken.windows(2).all(|pair| pair[1] >= pair[0] - 1e-9), "{motion}: {taken:?}");
        }
    }
}

/// A plane is driven into a body that is held: the run ends with an error that says so, and nothing passes through.
#[test]
fn an_obstacle_driven_into_what_cannot_yield_ends_the_run() {
    let text = dropped_on_barrier("backward-euler", 0.01, 0.0, "motion = [0, \"t\", 0]")
        + "[[pin]]\nwhere = \"all\"";
    let (_, mut built) = made(&text.replace("velocity = [0.2, 0, 0]", "velocity = [0, 0, 0]"), &[]);
    let error = loop {
        match built.simulation.advance() {
            Ok(_) => assert!(built.simulation.state().t < 0.06, "the plane has passed through"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("moving obstacle"), "{error}");
}
