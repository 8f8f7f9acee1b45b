//! Contact by the barrier, from the scene to the files.

#[path = "common/running.rs"]
mod running;

use lilyan_report::Level;
use running::{column, folder, made, run_until};

const TABLE: &str = r#"
[[contact]]
kind = "mesh"
model = "barrier"
mesh = { box = { size = [1, 0.1, 1], cells = [2, 1, 2] }, translate = [-0.41, -0.1, -0.37] }
"#;

/// A box that falls onto what is given, which ends at y = 0.
fn dropped(integrator: &str, step: f64, below: &str) -> String {
    format!(
        r#"
time = {{ end = 0.4, step = {step} }}
integrator = {{ name = "{integrator}" }}
environment = {{ gravity = [0, -9.81, 0] }}
[[body]]
name = "box"
mesh = {{ box = {{ size = [0.2, 0.2, 0.2], cells = [2, 2, 2] }}, translate = [0, 0.1, 0], rotate = {{ axis = [1, 0, 2], degrees = 20 }} }}
material = {{ model = "neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }}
{below}
[output]
every = 0.1
replay = false
"#
    )
}

/// The least height (m) of the first 27 nodes, which are those of the falling box, at the end of a run that passes.
fn run_and_find_lowest(name: &str, text: &str, unaccounted: f64) -> f64 {
    let (scene, built) = made(text, &[]);
    let outcome = run_until(&scene, built, &folder(name), false, None);
    let energy = &outcome.summary.energy;
    assert!(energy.unaccounted_max <= unaccounted * energy.in_play, "{name}: {energy:?}");
    // Backward Euler takes energy from an impact, which is reported.
    assert!(unaccounted == 1.0 || outcome.verdict.level == Level::Pass, "{name}: {:?}", outcome.verdict);
    // The run is the same to the bit: the state at the end is that of another one.
    let (_, mut built) = made(text, &[]);
    let end = scene.time.end;
    let mut lowest = f64::INFINITY;
    while built.simulation.state().t < end - 1e-9 {
        built.simulation.advance().unwrap_or_else(|e| panic!("{name}: {e}"));
        let q = &built.simulation.state().q[..81];
        lowest = lowest.min(q.chunks_exact(3).fold(f64::INFINITY, |m, x| m.min(x[1])));
    }
    lowest
}

/// A table keeps the box above it: it falls by its gap and not further, at any step and with any method.
#[test]
fn a_box_falls_onto_a_mesh() {
    for (integrator, step, unaccounted) in [("backward-euler", 5e-3, 1.0), ("energy-momentum", 4e-3, 1e-8)] {
        let lowest = run_and_find_lowest(
            &format!("on-a-mesh-{integrator}"),
            &dropped(integrator, step, TABLE),
            unaccounted,
        );
        assert!(lowest > 0.0 && lowest < 2e-4, "{integrator}: {lowest}");
    }
}

#[test]
fn a_box_falls_onto_another_box() {
    let other = r#"
[[body]]
name = "lower"
mesh = { box = { size = [0.3, 0.1, 0.3], cells = [3, 1, 3] }, translate = [-0.05, -0.1, -0.05] }
material = { model = "neo-hookean", E = 1e6, nu = 0.3, rho = 1000 }
[[contact]]
kind = "bodies"
model = "barrier"
[[contact]]
kind = "plane"
model = "barrier"
point = [0, -0.101, 0]
normal = [0, 1, 0]
"#;
    for (integrator, step, unaccounted) in [("backward-euler", 5e-3, 1.0), ("energy-momentum", 4e-3, 1e-8)] {
        let lowest = run_and_find_lowest(
            &format!("on-a-box-{integrator}"),
            &dropped(integrator, step, other),
            unaccounted,
        );
        assert!(lowest > -0.03 && lowest < 0.03, "{integrator}: {lowest}");
    }
}

/// A cube on a plane with friction under a gravity that is tilted, from a speed along the plane (m/s).
fn sliding(
    integrator: &str,
    step: f64,
    end: f64,
    [along, down]: [f64; 2],
    speed: f64,
    friction: f64,
) -> String {
    format!(
        r#"
time = {{ end = {end}, step = {step} }}
integrator = {{ name = "{integrator}", tolerance = 1e-11 }}
environment = {{ gravity = [{along}, {down}, 0] }}
[[body]]
mesh = {{ box = {{ size = [0.2, 0.1, 0.2], cells = [2, 1, 2] }}, translate = [0, {gap}, 0] }}
material = {{ model = "neo-hookean", E = 1e7, nu = 0.3, rho = 1000 }}
damping = {{ model = "viscous", time = 1e-4 }}
initial = {{ velocity = [{speed}, 0, 0] }}
[[contact]]
kind = "plane"
model = "barrier"
point = [0, 0, 0]
normal = [0, 1, 0]
friction = {friction}
[output]
every = 0.1
replay = false
"#,
        // Where the barrier carries the weight at rest: p/κ = 1e-4 gives 0.9942 of d̂ = 1e-4 m.
        gap = 0.9942e-4,
    )
}

/// What a run of [`sliding`] tells.
struct Slide {
    /// The way of the centre, m.
    way: f64,
    /// Its mean speed in the second half, m/s.
    late: f64,
    /// Energy unaccounted for, over that in play.
    unaccounted: f64,
    /// What friction took, J.
    friction: f64,
}

fn slide(name: &str, text: &str) -> Slide {
    let (scene, built) = made(text, &[]);
    let energy = run_until(&scene, built, &folder(name), false, None).summary.energy;
    let (_, mut again) = made(text, &[]);
    let masses = again.simulation.system().node_masses().to_vec();
    let centre = |q: &[f64]| {
        masses.iter().enumerate().map(|(n, m)| m * q[3 * n]).sum::<f64>() / masses.iter().sum::<f64>()
    };
    let (start, mut half) = (centre(&again.simulation.state().q), 0.0);
    let end = scene.time.end;
    while again.simulation.state().t < end - 1e-9 {
        if again.simulation.state().t < 0.5 * end + 1e-9 {
            half = centre(&again.simulation.state().q);
        }
        again.simulation.advance().unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    let last = centre(&again.simulation.state().q);
    let friction = again.simulation.ledger().dissipated_friction;
    let written = column(&folder_of(name), "energy.csv", "dissipated_friction");
    assert_eq!(written.last().copied(), Some(friction), "{name}");
    let unaccounted = energy.unaccounted_max / energy.in_play;
    Slide { way: last - start, late: (last - half) / (0.5 * end), unaccounted, friction }
}

fn folder_of(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("study").join(name)
}

/// What slides comes to rest after v²/2μg, and friction has taken its kinetic energy.
#[test]
fn a_block_slides_to_rest() {
    let (speed, friction) = (1.0, 0.5);
    let expected = speed * speed / (2.0 * friction * 9.81);
    for (integrator, step, budget) in [("energy-momentum", 5e-3, 1e-9), ("backward-euler", 1e-3, 0.1)] {
        let text = sliding(integrator, step, 0.3, [0.0, -9.81], speed, friction);
        let Slide { way, unaccounted, friction: taken, .. } = slide(&format!("sliding-{integrator}"), &text);
        println!("{integrator}: {way} m of {expected}, {taken} J of 2, {unaccounted:.1e} unaccounted for");
        // Half a step of the mean speed for backward Euler, which is of first order.
        let order = if integrator == "backward-euler" { speed * step } else { 0.0 };
        assert!((way - expected).abs() < 5e-3 * expected + order, "{integrator}: {way}, not {expected}");
        assert!(unaccounted < budget, "{integrator}: {unaccounted}");
        assert!((taken - 2.0).abs() < 0.02 * 2.0, "{integrator}: {taken} J");
    }
}

/// On a slope of tan θ = ½ a block with μ = 0.49 slides with a = g (sin θ − μ cos θ); with μ = 0.6 it creeps below ε.
#[test]
fn a_slope_holds_above_its_coefficient_and_not_below() {
    let angle = 0.5f64.atan();
    let gravity = [9.81 * angle.sin(), -9.81 * angle.cos()];
    let end = 1.0;
    for step in [5e-3, 2e-2] {
        // From a speed: from rest friction would begin at 0, and the block would first shake.
        let text = sliding("energy-momentum", step, end, gravity, 0.5, 0.49);
        let Slide { way, unaccounted, .. } = slide("slope-slides", &text);
        let (way, expected) = (way - 0.5 * end, 0.5 * 9.81 * (angle.sin() - 0.49 * angle.cos()) * end * end);
        println!("h = {step}: {way} m of {expected}, {unaccounted:.1e} unaccounted for");
        assert!((way - expected).abs() < 5e-3 * expected, "h = {step}: {way}, not {expected}");
    }
    // Gravity that begins at once shakes the block: a coefficient that holds it nevertheless.
    let Slide { late, .. } = slide("slope-holds", &sliding("backward-euler", 2e-3, 0.2, gravity, 0.0, 0.6));
    // ε is 1e-3 of the smallest extent per second.
    println!("creep {late:.2e} m/s");
    assert!(late.abs() < 1e-4, "{late} m/s");
}

/// The oblique impact of a point: exactly v_t = 1 − 2μ, v_n = 1 and 0.42 J, at any step.
#[test]
fn a_point_leaves_an_oblique_impact_as_coulomb_says_at_any_step() {
    for step in [1e-4, 1e-2, 1e-1] {
        let text = format!(
            r#"
time = {{ end = {end}, step = {step} }}
integrator = {{ name = "energy-momentum", tolerance = 1e-12 }}
[[body]]
mesh = {{ points = {{ positions = [[0, 0.0155, 0]], masses = [1], radius = 0.1 }} }}
initial = {{ velocity = [1, -1, 0] }}
[[contact]]
kind = "plane"
model = "barrier"
point = [0, 0, 0]
normal = [0, 1, 0]
distance = 1e-3
modulus = 1e5
friction = 0.3
slip = 1e-5
[output]
replay = false
"#,
            end = if step < 1e-3 { 0.05 } else { 0.5 },
        );
        let (scene, mut built) = made(&text, &[]);
        let before = built.simulation.total_energy();
        while built.simulation.state().t < scene.time.end - 1e-9 {
            built.simulation.advance().unwrap_or_else(|e| panic!("h = {step}: {e}"));
        }
        let v = &built.simulation.state().v;
        let (left, taken) = (built.simulation.total_energy(), built.simulation.ledger().dissipated_friction);
        println!("h = {step}: v_t = {:.6}, v_n = {:.6}, {taken:.6} J", v[0], v[1]);
        assert!((v[0] - 0.4).abs() < 1e-3 && (v[1] - 1.0).abs() < 1e-3, "h = {step}: {v:?}");
        assert!(
            (taken - 0.42).abs() < 1e-3 && (before - left - taken).abs() < 1e-10,
            "h = {step}: {taken} J"
        );
    }
}
