//! Pins that are moved by formulas of place and time, and by rotations.

#[path = "common/running.rs"]
mod running;

use lilyan_report::Level;
use lilyan_scene::build::Built;
use running::{column, folder, made, run_until};

/// A bar along x that is twisted at one end and held at the other.
fn twisted(integrator: &str, moved: &str, more: &str) -> String {
    let tolerance = if integrator == "siere" { "" } else { ", tolerance = 1e-10" };
    format!(
        r#"
time = {{ end = 0.5, step = 0.01 }}
integrator = {{ name = "{integrator}" {tolerance} }}
[[body]]
mesh = {{ box = {{ size = [1, 0.2, 0.3], cells = [5, 1, 2] }} }}
material = {{ model = "stable-neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }}
{more}
[[pin]]
where = "x < 1e-9"
[[pin]]
where = "x > 1 - 1e-9"
{moved}
[output]
every = 0.05
replay = false
"#
    )
}

const ROTATED: &str = "rotate = { axis = [1, 0, 0], point = [0, 0.1, 0.15], degrees = \"180*t^2\" }";
/// The same written out: Rodrigues' formula about the line y = 0.1, z = 0.15.
const WRITTEN: &str = r#"motion = [0,
    "(y-0.1)*(cos(pi*t^2)-1) - (z-0.15)*sin(pi*t^2)",
    "(y-0.1)*sin(pi*t^2) + (z-0.15)*(cos(pi*t^2)-1)"]"#;

fn state(built: &Built) -> (Vec<f64>, Vec<f64>) {
    let state = built.simulation.state();
    (state.q.clone(), state.p.clone())
}

#[test]
fn a_rotation_is_the_formula_that_it_stands_for() {
    let after = |moved: &str| {
        let (_, mut built) = made(&twisted("energy-momentum", moved, ""), &[]);
        for _ in 0..40 {
            built.simulation.advance().expect("a step");
        }
        state(&built)
    };
    let (rotated, written) = (after(ROTATED), after(WRITTEN));
    let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let size = written.1.iter().fold(0.0, |m: f64, p| m.max(p.abs()));
    assert!(apart(&rotated.0, &written.0) < 1e-9, "{}", apart(&rotated.0, &written.0));
    assert!(apart(&rotated.1, &written.1) < 1e-7 * size, "{}", apart(&rotated.1, &written.1));
}

#[test]
fn the_velocity_is_the_derivative_of_the_displacement() {
    for moved in [ROTATED, WRITTEN, "motion = [\"sin(3*t)*x*y\", \"exp(-t)*z\", \"t^3\"]"] {
        let (scene, _) = made(&twisted("backward-euler", moved, ""), &[]);
        let motion = scene.pins[1].motion.as_ref().expect("a motion");
        for t in [0.0, 0.3, 1.7] {
            let place = [0.9, 0.17, -0.4];
            let (before, after) = (motion.at(t - 1e-5, place).0, motion.at(t + 1e-5, place).0);
            for k in 0..3 {
                let difference = (after[k] - before[k]) / 2e-5;
                // The error of the difference is 1e-10/6 of the third derivative.
                assert!((difference - motion.at(t, place).1[k]).abs() < 1e-6, "{moved}, t = {t}, axis {k}");
            }
        }
    }
}

/// The work of the hand that twists is in the budget of energy, with damping too.
#[test]
fn the_work_of_a_rotated_pin_is_accounted_for() {
    for damping in ["", "damping = { model = \"viscous\", time = 0.005 }"] {
        let (scene, built) = made(&twisted("energy-momentum", ROTATED, damping), &[]);
        let directory = folder("rotated-pin");
        let outcome = run_until(&scene, built, &directory, false, None);
        assert_eq!(outcome.verdict.level, Level::Pass, "{:?}", outcome.verdict);
        let energy = &outcome.summary.energy;
        assert!(energy.unaccounted_max < 1e-8 * energy.in_play, "{damping}: {energy:?}");
        let work = column(&directory, "energy.csv", "work_external");
        assert!(work.last().is_some_and(|w| *w > 1.0), "the twist takes work: {work:?}");
    }
}

/// A bar whose ends turn together, slowly, turns as a whole and is hardly strained.
#[test]
fn both_ends_turned_together_turn_the_bar() {
    let text = twisted("energy-momentum", "", "").replace("[[pin]]", "[[hold]]");
    let text = text.replacen("[[hold]]\nwhere = \"x < 1e-9\"\n", "", 1);
    let turned = "where = \"x < 1e-9 || x > 1 - 1e-9\"\nrotate = { axis = [0, 0, 1], point = [0.5, 0.1, 0], degrees = \"20*t^2\" }";
    let text = text.replace("[[hold]]\nwhere = \"x > 1 - 1e-9\"\n", &format!("[[pin]]\n{turned}\n"));
    let (_, mut built) = made(&text, &[]);
    for _ in 0..50 {
        built.simulation.advance().expect("a step");
    }
    let (kinetic, parts) = built.simulation.energies();
    let (sin, cos) = 5.0_f64.to_radians().sin_cos();
    let (rest, now) = (built.rest_positions(), &built.simulation.state().q);
    for (a, b) in rest.chunks_exact(3).zip(now.chunks_exact(3)) {
        let (x, y) = (a[0] - 0.5, a[1] - 0.1);
        assert!((b[0] - 0.5 - (cos * x - sin * y)).abs() < 0.01, "{a:?} → {b:?}");
        assert!((b[1] - 0.1 - (sin * x + cos * y)).abs() < 0.01, "{a:?} → {b:?}");
    }
    assert!(parts.elastic < 0.2 * kinetic + 0.1, "{} J elastic, {kinetic} J kinetic", parts.elastic);
}

/// A pin that starts with a velocity, stiff damping and a step thirty times as long as the time in which damping evens velocities
/// out: the first acceleration is huge and short. The start is resolved, so that the budget closes with every method that resolves the
/// swing of the bar (0.15 rad in a step) to 2 %.
#[test]
fn a_pin_that_starts_with_a_velocity_does_not_shake_the_body() {
    for (integrator, allowed) in [
        ("generalized-alpha", 0.02),
        ("bdf2", 0.02),
        ("tr-bdf2", 0.02),
        ("ere", 0.02),
        ("newmark", 0.02),
        ("implicit-midpoint", 0.02),
        ("energy-momentum", 1e-6),
    ] {
        let text = format!(
            r#"
time = {{ end = 0.4, step = 0.0025 }}
integrator = "{integrator}"
[[body]]
mesh = {{ box = {{ size = [0.1, 0.02, 0.02], cells = [5, 1, 1] }} }}
material = {{ model = "stable-neo-hookean", E = 1e6, nu = 0.4, rho = 1100 }}
damping = {{ model = "viscous", time = 0.005 }}
[[pin]]
where = "x < 1e-9"
motion = [0, "0.05*t", 0]
[[load]]
where = "x > 0.1 - 1e-9"
force = [0, "-0.2*t", 0]
[output]
replay = false
"#
        );
        let (scene, built) = made(&text, &[]);
        let outcome = run_until(&scene, built, &folder(&format!("pin-{integrator}")), false, None);
        let energy = outcome.summary.energy;
        println!("{integrator}: {:.3e} of {:.3e} J", energy.unaccounted_max, energy.in_play);
        assert!(energy.unaccounted_max < allowed * energy.in_play, "{integrator}: {:?}", outcome.verdict);
        assert_eq!(outcome.verdict.level, Level::Pass, "{integrator}: {:?}", outcome.verdict);
    }
}

/// Methods that integrate modes exactly about a state, with pins that carry or twist a body at steps that resolve neither damping nor
/// the stiffest modes: they have the budget of `semi-implicit` or better.
#[test]
fn exact_modes_follow_moving_pins() {
    for (integrator, allowed) in [("siere", 0.005), ("ere", 0.005)] {
        let (scene, built) = made(&twisted(integrator, ROTATED, ""), &[]);
        let outcome = run_until(&scene, built, &folder(&format!("twisted-{integrator}")), false, None);
        let energy = outcome.summary.energy;
        println!("{integrator}: {:.3e} of {:.3e} J", energy.unaccounted_max, energy.in_play);
        assert!(energy.unaccounted_max < allowed * energy.in_play, "{integrator}: {:?}", outcome.verdict);
    }
}

/// A finger of a robot's hand: the clamp moves, a tendon pulls along one side.
fn finger(integrator: &str, cells: [usize; 3], end: f64) -> String {
    format!(
        r#"
time = {{ end = {end}, step = 0.0025 }}
integrator = "{integrator}"
[[body]]
mesh = {{ box = {{ size = [0.1, 0.02, 0.02], cells = {cells:?} }} }}
material = {{ model = "stable-neo-hookean", E = "3e5 + 2e6*(y < 0.004)", nu = 0.45, rho = 1100 }}
damping = {{ model = "viscous", time = 0.005 }}
[[pin]]
where = "x < 1e-9"
motion = [0, "0.05*t", 0]
[[load]]
where = "x > 0.1 - 1e-9 && y > 0.0199"
force = ["-2*min(t/0.2, 1)", "-0.2*min(t/0.2, 1)", 0]
[output]
replay = false
"#
    )
}

/// 15,360 tets: the matrices are so stiff that a factor without fill overflows, which no step may fail of.
#[test]
fn no_step_of_a_stiff_start_is_cut() {
    let (scene, built) = made(&finger("siere", [40, 8, 8], 0.005), &[]);
    let outcome = run_until(&scene, built, &folder("finger-start"), false, None);
    assert_eq!(outcome.summary.halved_steps, 0.0, "{:?}", outcome.verdict);
}

/// A clamp that starts at speed, with elements so small that the steps of the start double some fifteen times: no method may
/// let what oscillates from step to step grow with them. The level is that of the verdict.
#[test]
fn a_finger_of_fine_elements_starts_with_a_moving_clamp() {
    for (integrator, allowed) in [
        ("generalized-alpha", 0.02),
        ("bdf2", 0.02),
        ("tr-bdf2", 0.02),
        ("newmark", 0.02),
        ("energy-momentum", 1e-6),
    ] {
        let (scene, built) = made(&finger(integrator, [20, 4, 4], 0.02), &[]);
        let outcome = run_until(&scene, built, &folder(&format!("finger-{integrator}")), false, None);
        let energy = outcome.summary.energy;
        println!("{integrator}: {:.3e} of {:.3e} J", energy.unaccounted_max, energy.in_play);
        assert!(energy.unaccounted_max < allowed * energy.in_play, "{integrator}: {:?}", outcome.verdict);
    }
}
