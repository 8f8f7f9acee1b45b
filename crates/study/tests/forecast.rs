//! What `lilyan check` foretells of small motions is what runs do, also with methods that treat parts of a body differently.

#[path = "common/running.rs"]
mod running;

use lilyan_scene::schema::{Scene, Snapshot};
use lilyan_study::check::{CheckReport, ModeReport, check};
use lilyan_study::run::{RunOutcome, Status};
use running::{column, folder, made, run_until};

/// A clamped steel bar; what is not said here follows.
fn bar(step: f64, steps: u32, rest: &str) -> String {
    format!(
        r#"
time = {{ end = {end:e}, step = {step:e} }}
{rest}
[[pin]]
where = "x < 0.001"
[output]
replay = false
"#,
        end = f64::from(steps) * step,
    )
}

/// The keys of its body.
fn body(material: &str, damping: &str, initial: &str) -> String {
    format!(
        r#"
[[body]]
mesh = {{ box = {{ size = [1, 0.1, 0.1], cells = [5, 1, 1] }} }}
material = {{ model = "{material}", E = 2e11, nu = 0.3, rho = 7800 }}
damping = {damping}
initial = {initial}
"#
    )
}

fn told(text: &str) -> CheckReport {
    let (scene, built) = made(text, &[]);
    check(&scene, &built, 4).report
}

fn lowest(report: &CheckReport) -> &[ModeReport] {
    report.spectrum.as_ref().unwrap().lowest.as_deref().unwrap()
}

/// Factor per step on the amplitude of mode k in a run that starts in it, from the energies of all its steps.
fn measured(name: &str, k: usize, step: f64, integrator: &str, material: &str, damping: &str) -> f64 {
    let head = format!("integrator = {integrator}");
    let still = bar(step, 1, &(head.clone() + &body(material, damping, "{}")));
    let (_, built) = made(&still, &[]);
    let q = built.rest_positions();
    let modes = lilyan_dynamics::spectrum::modes(built.simulation.system(), &q, k + 1).unwrap();
    let (shape, omega) = (&modes.vectors[k], modes.values[k].sqrt());
    let scale = 1e-7 / shape.iter().fold(0.0, |m: f64, u| m.max(u.abs()));
    let positions = q.iter().zip(shape).map(|(q, u)| q + scale * u).collect();
    let velocities = shape.iter().map(|u| scale * omega.min(1.0 / step) * u).collect();
    let state = Snapshot { positions, velocities }.encode();
    // Six periods at least, since energy falls in steps where damping follows the velocity.
    let steps = (12.0 * std::f64::consts::PI / (omega * step)).ceil().clamp(200.0, 20_000.0) as u32;
    let moving = bar(step, steps, &(head + &body(material, damping, &format!("{{ state = \"{state}\" }}"))));
    let scene = Scene::from_str(&moving, "scene.toml").unwrap();
    let at = folder(&format!("forecast-{name}-{k}"));
    let built = lilyan_scene::build::build(&scene).unwrap();
    run_until(&scene, built, &at, false, None);
    let total = column(&at, "energy.csv", "total");
    // A straight line through the logarithm, past the start and above round-off.
    let usable = total.iter().take_while(|e| **e > 1e-9 * total[0]).count();
    let points: Vec<(f64, f64)> = (usable / 4..usable).map(|n| (n as f64, total[n].ln())).collect();
    let n = points.len() as f64;
    assert!(n > 4.0, "{name}: {total:?}");
    let mean = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
    let (t, y) = (mean(&|p| p.0), mean(&|p| p.1));
    let slope = mean(&|p| (p.0 - t) * (p.1 - y)) / mean(&|p| (p.0 - t).powi(2));
    (0.5 * slope).exp()
}

/// Methods with a step for each, 10 to 100 per period of the first mode.
const CASES: &[(&str, &str, &str, &str, f64)] = &[
    ("siere-1", r#"{ name = "siere", modes = 1 }"#, "neo-hookean", "\"none\"", 2e-4),
    ("siere-3", r#"{ name = "siere", modes = 3 }"#, "neo-hookean", "\"none\"", 2e-4),
    (
        "siere-damped",
        r#"{ name = "siere", modes = 1 }"#,
        "linear",
        "{ model = \"rayleigh\", beta = 1e-5 }",
        2e-4,
    ),
    (
        "ere",
        r#"{ name = "ere", tolerance = 1e-12 }"#,
        "neo-hookean",
        "{ model = \"viscous\", time = 1e-5 }",
        2e-4,
    ),
    ("backward-euler", "\"backward-euler\"", "linear", "\"none\"", 2e-4),
    ("semi-implicit", "\"semi-implicit\"", "neo-hookean", "{ model = \"viscous\", time = 1e-5 }", 2e-4),
    ("newmark", r#"{ name = "newmark", gamma = 0.7, beta = 0.4 }"#, "linear", "\"none\"", 2e-4),
    ("generalized-alpha", r#"{ name = "generalized-alpha", rho_inf = 0.3 }"#, "linear", "\"none\"", 4e-4),
    ("bdf2", "\"bdf2\"", "linear", "\"none\"", 4e-4),
    ("mssi", "\"mssi\"", "stvk", "\"none\"", 2e-4),
    ("regularized", "\"regularized\"", "stvk", "\"none\"", 2e-4),
    ("verlet", "\"verlet\"", "linear", "{ model = \"viscous\", time = 1e-5 }", 2e-6),
    ("rk4", "\"rk4\"", "linear", "{ model = \"rayleigh\", alpha = 20, beta = 1e-6 }", 5e-6),
    ("energy-momentum", "\"energy-momentum\"", "neo-hookean", "{ model = \"viscous\", time = 1e-5 }", 2e-4),
];

#[test]
fn modes_decay_in_runs_as_check_foretells() {
    for (name, integrator, material, damping, step) in CASES {
        let text = bar(*step, 1, &(format!("integrator = {integrator}") + &body(material, damping, "{}")));
        let report = told(&text);
        for (k, mode) in lowest(&report).iter().enumerate().take(3) {
            let foretold = mode.growth_per_step.unwrap();
            let run = measured(name, k, *step, integrator, material, damping);
            println!("{name} {k}: {:.0} Hz, foretold {foretold:.8}, run {run:.8}", mode.hz);
            let off = ((1.0 - run) - (1.0 - foretold)).abs() / (1.0 - foretold).abs().max(2e-5);
            assert!(off < 0.05, "{name}, mode {k}: {foretold:.8} foretold, {run:.8} in the run");
        }
    }
}

/// With one mode kept, the first is not damped and the others are, as by the linearly implicit step.
#[test]
fn siere_damps_what_is_not_in_its_modes() {
    let with = |name: &str| {
        told(&bar(5e-4, 1, &(format!("integrator = {name}") + &body("neo-hookean", "\"none\"", "{}"))))
    };
    let (siere, implicit) = (with(r#"{ name = "siere", modes = 1 }"#), with("\"semi-implicit\""));
    let lost = |report: &CheckReport, k: usize| lowest(report)[k].amplitude_lost_per_period.unwrap();
    assert!(lost(&siere, 0).abs() < 1e-3, "{}", lost(&siere, 0));
    for k in 1..3 {
        assert!(lost(&siere, k) > 0.3);
        assert!((lost(&siere, k) - lost(&implicit, k)).abs() < 0.01 * lost(&implicit, k));
    }
}

fn run(name: &str, text: &str) -> RunOutcome {
    let (scene, built) = made(text, &[]);
    run_until(&scene, built, &folder(&format!("forecast-{name}")), false, None)
}

/// Where `check` calls a method unstable with small motions, a run of it is stopped; where it does not, it goes on.
#[test]
fn unstable_splits_are_foretold() {
    let scene = |integrator: &str, element: &str, step: f64| {
        format!(
            r#"
time = {{ end = {end:e}, step = {step:e} }}
integrator = {integrator}
[[body]]
element = "{element}"
mesh = {{ box = {{ size = [1, 0.5, 0.5], cells = [2, 1, 1] }} }}
material = {{ model = "stvk", E = 1e5, nu = 0.3, rho = 1000 }}
initial = {{ stretch = [1.0001, 1, 1] }}
[output]
replay = false
"#,
            end = 400.0 * step,
        )
    };
    let mut found = [false; 2];
    for (k, (integrator, element, step)) in [
        ("\"dgsi\"", "dg", 1e-4),
        ("\"dgsi\"", "dg", 3e-2),
        ("{ name = \"newmark\", beta = 0.1, gamma = 0.5 }", "tets", 3e-2),
        ("\"newmark\"", "tets", 3e-2),
        ("\"semi-implicit\"", "tets", 3e-2),
        ("\"backward-euler\"", "dg", 3e-2),
    ]
    .into_iter()
    .enumerate()
    {
        let text = scene(integrator, element, step);
        let report = told(&text);
        let motion = report.spectrum.as_ref().unwrap().small_motion.unwrap();
        let status = run(&format!("split-{k}"), &text).status;
        println!("{integrator} {element} {step}: {motion:?}, {status:?}");
        assert_eq!(motion.unstable, matches!(status, Status::Failed(_)), "{integrator}, {step}: {motion:?}");
        assert_eq!(motion.unstable, report.warnings.iter().any(|w| w.contains("unstable")));
        found[usize::from(motion.unstable)] = true;
    }
    assert_eq!(found, [true; 2]);
}

/// Explicit damping far above its limit: the steps of a small motion fail, and check says so.
#[test]
fn strong_explicit_damping_is_foretold_to_be_unstable() {
    let damping = "{ model = \"kharevych\", time = 0.05, implicit = false }";
    let head = "integrator = \"tr-bdf2\"".to_string();
    let report = told(&bar(0.04, 1, &(head + &body("neo-hookean-log", damping, "{}"))));
    assert!(report.spectrum.as_ref().unwrap().small_motion.unwrap().unstable);
    assert!(report.warnings.iter().any(|w| w.contains("unstable")), "{:?}", report.warnings);
}
