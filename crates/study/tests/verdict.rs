//! The verdict: round-off is not taken for a fault, and a fault is not taken for round-off.

#[path = "common/running.rs"]
mod running;

use lilyan_dynamics::integrators;
use lilyan_report::Level;
use lilyan_scene::build::build;
use lilyan_scene::schema::Scene;
use lilyan_solid::materials;
use lilyan_study::run::RunOutcome;
use running::{folder, made, run_until};

/// A bar of a size (m), at a distance (m) from the origin, of a modulus (Pa), with a stretch along x, for 200 steps of about
/// a third of what verlet takes.
fn bar(integrator: &str, size: f64, away: f64, young: f64, stretch: f64) -> String {
    let wave = (young / 1000.0).sqrt();
    let step = 0.02 * size / wave;
    format!(
        r#"
time = {{ end = {end:e}, step = {step:e} }}
integrator = "{integrator}"
[[body]]
mesh = {{ box = {{ size = [{l:e}, {size:e}, {size:e}], cells = [8, 2, 2] }}, translate = [{away:e}, 0, 0] }}
material = {{ model = "stable-neo-hookean", E = {young:e}, nu = 0.3, rho = 1000 }}
initial = {{ stretch = [{stretch:?}, 1, 1] }}
[output]
replay = false
"#,
        end = 200.0 * step,
        l = 4.0 * size,
    )
}

fn run(name: &str, scene: &str) -> RunOutcome {
    let (scene, built) = made(scene, &[]);
    run_until(&scene, built, &folder(&format!("verdict-{name}")), false, None)
}

#[test]
fn a_body_at_rest_is_not_called_untrustworthy() {
    let mut k = 0;
    for integrator in ["verlet", "energy-momentum", "variational", "backward-euler"] {
        for (size, away, young) in
            [(1.0, 0.0, 1e5), (1e-6, 0.0, 1e5), (1e6, 0.0, 1e11), (1.0, 1e4, 1e9), (1e-3, 1.0, 1e3)]
        {
            k += 1;
            let outcome = run(&format!("rest-{k}"), &bar(integrator, size, away, young, 1.0));
            let told = format!("{integrator}, {size} m, {away} m away, {young} Pa: {:?}", outcome.verdict);
            assert_eq!(outcome.verdict.level, Level::Pass, "{told}");
        }
    }
}

/// Small motions, as soon as they are larger than round-off, are judged as large ones are.
#[test]
fn a_method_that_loses_the_energy_of_a_tiny_motion_is_told() {
    for (k, (size, stretch)) in [(1.0, 1.01), (1.0, 1.0 + 1e-7), (1e-4, 1.0 + 1e-9)].into_iter().enumerate() {
        let lossy = run(&format!("lossy-{k}"), &bar("backward-euler", size, 0.0, 1e5, stretch));
        assert_ne!(lossy.verdict.level, Level::Pass, "{size} m by {stretch}: {:?}", lossy.verdict);
        let keeping = run(&format!("keeping-{k}"), &bar("energy-momentum", size, 0.0, 1e5, stretch));
        assert_eq!(keeping.verdict.level, Level::Pass, "{size} m by {stretch}: {:?}", keeping.verdict);
    }
}

/// A cube at rest in empty space, away from the origin, with so many steps of this length (s).
fn cube(
    integrator: &str,
    material: &str,
    size: f64,
    young: f64,
    step: f64,
    steps: u32,
    more: &str,
) -> String {
    format!(
        r#"
time = {{ end = {end:e}, step = {step:e} }}
integrator = "{integrator}"
[[body]]
mesh = {{ box = {{ size = [{size:e}, {size:e}, {size:e}], cells = [2, 2, 2] }}, translate = [{size:e}, {away:e}, 0] }}
material = {{ model = "{material}", E = {young:e}, nu = 0.3, rho = 1000 }}
{more}
[output]
replay = false
"#,
        end = f64::from(steps) * step,
        away = 0.3 * size,
    )
}

/// Nothing acts and nothing moves: every method with every material is sound. Explicit methods get a hundredth of their
/// stable step, so that `explicit-euler`, which is stable with none, has not amplified its round-off by the end.
#[test]
fn a_body_at_rest_is_sound_with_every_integrator_and_material() {
    let mut tried = 0;
    for entry in integrators::CATALOGUE {
        let explicit = entry.create(&[]).unwrap().claims().explicit;
        for material in materials::CATALOGUE {
            let model = material.card().name;
            // A wave crosses the cube in 0.1 s.
            let step = if explicit { 5e-4 } else { 0.02 };
            let text = cube(entry.name, model, 1.0, 1e5, step, 40, "");
            let scene = Scene::from_str_with(&text, "scene.toml", &[]).unwrap();
            let Ok(built) = build(&scene) else { continue };
            tried += 1;
            let outcome = run_until(&scene, built, &folder("verdict-every"), false, None);
            assert_eq!(outcome.verdict.level, Level::Pass, "{}, {model}: {:?}", entry.name, outcome.verdict);
        }
    }
    assert!(tried > 150, "{tried}");
}

/// From a milligram to a mountain, and at any modulus, a motion of one millionth of the sound speed is judged by the same
/// rule as a large one: a method that damps it is told, one that keeps it is sound, and so is the body at rest.
#[test]
fn tiny_and_huge_bodies_are_judged_alike() {
    for (k, (size, young)) in
        [(1e-3, 1e3), (1e-3, 1e11), (1e-2, 1e6), (1e4, 1e5), (1e5, 1e12)].into_iter().enumerate()
    {
        let wave = (young / 1000.0_f64).sqrt();
        let push = format!("initial = {{ velocity = [\"{:e}*x\", 0, 0] }}", 1e-6 * wave / size);
        for (integrator, more, expected) in [
            ("variational", "", true),
            ("backward-euler", "", true),
            ("energy-momentum", &push[..], true),
            ("backward-euler", &push[..], false),
        ] {
            let step = 0.05 * size / wave;
            let outcome =
                run(&format!("size-{k}"), &cube(integrator, "neo-hookean", size, young, step, 100, more));
            let told = format!("{integrator}, {size} m, {young} Pa, {more:?}: {:?}", outcome.verdict);
            assert_eq!(outcome.verdict.level == Level::Pass, expected, "{told}");
        }
    }
}

/// A soft bar, turning and wobbling, with something that acts from outside.
fn thrown(integrator: &str, step: f64, outside: &str) -> String {
    format!(
        r#"
time = {{ end = 0.4, step = {step:e} }}
integrator = "{integrator}"
[[body]]
name = "bar"
mesh = {{ box = {{ size = [1, 0.25, 0.25], cells = [4, 1, 1] }} }}
material = {{ model = "stable-neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }}
initial = {{ velocity = [0.5, 1, 0.3], angular_velocity = [1, 2, 3], stretch = [1.05, 1, 1] }}
{outside}
[output]
replay = false
"#
    )
}

/// What acts from outside, and the momenta that it leaves.
const OUTSIDE: &[(&str, &[&str])] = &[
    ("[environment]\ngravity = [0, -9.81, 0]", &["linear momentum across y", "angular momentum about y"]),
    (
        "[environment]\ngravity = [0, -9.81, 0]\n[[contact]]\nkind = \"plane\"\nmodel = \"penalty\"\npoint = [0, -0.05, 0]\nnormal = [0, 1, 0]",
        &["linear momentum across y", "angular momentum about y"],
    ),
    (
        "[environment]\nmonopole = { strength = 30, at = [0.5, -2, 0.1] }",
        &["angular momentum about [0.5, -2, 0.1]"],
    ),
    // The stretch has moved the vertex before it is held.
    ("[[pin]]\nwhere = { nearest = [0, 0, 0] }", &["angular momentum about [-0.025, 0, 0]"]),
    ("[[pin]]\nwhere = \"(x < 0.01) * (y < 0.01)\"", &["angular momentum about z through [-0.025, 0, 0]"]),
    (
        "[[load]]\nwhere = { nearest = [1, 0.25, 0.25] }\nforce = [0, 0, \"50*sin(20*t)\"]",
        &["linear momentum across z", "angular momentum about z"],
    ),
    (
        "[[contact]]\nkind = \"sphere\"\nmodel = \"penalty\"\ncenter = [0.5, 1.2, 0.1]\nradius = 0.9",
        &["angular momentum about [0.5, 1.2, 0.1]"],
    ),
];

/// Every method that claims a momentum keeps the part of it that forces from outside leave.
#[test]
fn momenta_that_outside_forces_leave_are_kept() {
    for entry in integrators::CATALOGUE {
        let claims = entry.create(&[]).unwrap().claims();
        for (k, (outside, names)) in OUTSIDE.iter().enumerate() {
            let step = if claims.explicit { 5e-4 } else { 4e-3 };
            let scene = Scene::from_str_with(&thrown(entry.name, step, outside), "scene.toml", &[]).unwrap();
            let Ok(built) = build(&scene) else { continue };
            let outcome = run_until(&scene, built, &folder("verdict-partial"), false, None);
            let found = &outcome.summary.conserved_momenta;
            assert_eq!(found.iter().map(|m| &m.quantity[..]).collect::<Vec<_>>(), *names, "{}", entry.name);
            for momentum in found {
                let claimed = match momentum.quantity.starts_with("linear") {
                    true => claims.linear_momentum,
                    false => claims.angular_momentum,
                };
                let allowed = if claims.explicit { 1e-10 } else { 1e-8 };
                assert!(!claimed || momentum.drift <= allowed, "{} {k}: {momentum:?}", entry.name);
            }
        }
    }
}

/// A method that loses the angular momentum about the vertical is told so, under gravity as well.
#[test]
fn a_lost_part_of_a_momentum_is_told() {
    let outcome = run("lost-momentum", &thrown("backward-euler", 4e-3, OUTSIDE[0].0));
    let told = &outcome.summary.conserved_momenta;
    assert!(told[0].drift < 1e-8 && told[1].drift > 1e-3, "{told:?}");
    let page = std::fs::read_to_string(&outcome.report).unwrap();
    assert!(page.contains("Angular momentum about y"));
    assert!(page.contains("conserved by physics, not by this method"));
}
