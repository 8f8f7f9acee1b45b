//! Constraints from the scene file to the results.

#[path = "common/running.rs"]
mod running;

use lilyan_dynamics::constraints::{TOLERANCE, worst};
use lilyan_dynamics::integrators::CATALOGUE;
use lilyan_dynamics::{System, spectrum};
use lilyan_study::diagnose;
use running::{column, folder, made, run_until};

/// A soft block that hangs by its top and would sag and thin, but for its volume.
const BLOCK: &str = r#"
[time]
end = 0.3
step = 0.005
[integrator]
name = "variational"
[environment]
gravity = [0, -9.81, 0]
[[body]]
name = "block"
mesh = { box = { size = [0.4, 0.4, 0.4], cells = [3, 3, 3] } }
material = { model = "neo-hookean", E = 1e4, nu = 0.2, rho = 1000 }
[[pin]]
body = "block"
where = "y > 0.39"
[[constraint]]
name = "kept"
kind = "volume"
[output]
every = 0.1
"#;

fn volume(folder: &std::path::Path) -> f64 {
    column(folder, "energy.csv", "constraint_violation").into_iter().fold(0.0, f64::max)
}

#[test]
fn a_block_keeps_its_volume_with_every_integrator_that_says_so() {
    for entry in CATALOGUE.iter().filter(|e| e.create(&[]).unwrap().constraint_solver().is_some()) {
        let name = format!("integrator.name={}", entry.name);
        let explicit = entry.create(&[]).unwrap().claims().explicit;
        let step = if explicit { "time.step=1e-3" } else { "time.step=5e-3" };
        let (scene, built) = made(BLOCK, &[&name, step]);
        let into = folder(&format!("volume-{}", entry.name));
        let outcome = run_until(&scene, built, &into, false, None);
        assert_eq!(outcome.summary.status, "finished", "{}", entry.name);
        assert!(volume(&into) <= TOLERANCE, "{}: {:e}", entry.name, volume(&into));
        // A body that hangs wants to grow: the pressure inside is below zero, ρgh/3 or so.
        let pressure = column(&into, "energy.csv", "kept pressure");
        let mean = pressure.iter().sum::<f64>() / pressure.len() as f64;
        assert!(-3000.0 < mean && mean < -200.0, "{}: {mean} Pa", entry.name);
    }
    // And without the constraint it does not.
    let (scene, mut built) = made(BLOCK, &["constraint=[]"]);
    let (_, kept) = made(BLOCK, &[]);
    for _ in 0..60 {
        built.simulation.advance().unwrap();
    }
    let lost = worst(kept.simulation.system(), 0.0, &built.simulation.state().q).unwrap().1;
    assert!(lost > 1e-3, "{}: {lost:e}", scene.title);
}

/// Energy and momenta of a free body that tumbles at constant volume.
#[test]
fn a_tumbling_block_keeps_volume_energy_and_momenta() {
    let free = [
        "pin=[]",
        "environment={}",
        "integrator.name=energy-momentum",
        "body.block.initial={ angular_velocity = [1, 4, 2], stretch = [1.2, 0.8333333333333334, 1] }",
    ];
    let (scene, built) = made(BLOCK, &free);
    let into = folder("volume-tumbling");
    let outcome = run_until(&scene, built, &into, false, None);
    assert!(volume(&into) <= TOLERANCE, "{:e}", volume(&into));
    let energy = &outcome.summary.energy;
    let lost = energy.unaccounted_max / energy.in_play;
    assert!(lost < 1e-8, "energy {lost:e}");
    let momentum = outcome.summary.momentum;
    for drift in [momentum.linear_drift, momentum.angular_drift].map(Option::unwrap) {
        assert!(drift < 1e-9, "{drift:e}");
    }
}

/// Half of the tets of a slender bar, a wedge along it: few enough to be independent, many enough for the sparse
/// factorisation.
#[test]
fn every_element_keeps_its_volume_where_the_mesh_allows() {
    let each = [
        "body.block.mesh.box.size=[2, 0.1, 0.1]",
        "body.block.mesh.box.cells=[20, 1, 1]",
        "pin=[]",
        "constraint=[{ kind = \"volume\", each = \"element\", where = \"z > y\", name = \"kept\" }]",
        "body.block.initial={ angular_velocity = [0, 0, 3] }",
        "environment={}",
    ];
    for name in ["variational", "energy-momentum"] {
        let (scene, built) = made(BLOCK, &[&each[..], &[&format!("integrator.name={name}")]].concat());
        let into = folder(&format!("elements-{name}"));
        let outcome = run_until(&scene, built, &into, false, None);
        assert_eq!(outcome.summary.status, "finished", "{name}");
        assert_eq!(outcome.summary.constraints.unwrap().kept[0].count, 60);
        assert!(volume(&into) <= TOLERANCE, "{name}: {:e}", volume(&into));
    }
}

/// A chain hangs in a catenary's limit: at rest the tension in each link is the weight below it.
#[test]
fn a_hanging_chain_bears_its_weight() {
    let chain = r#"
[time]
end = 0.05
step = 0.005
[integrator]
name = "variational"
[environment]
gravity = [0, -9.81, 0]
[[body]]
name = "chain"
mesh = { rope = { from = [0, 0, 0], to = [0, -1, 0], segments = 60, radius = 0.005 } }
material = { model = "springs", E = 1e5, rho = 8000 }
[[pin]]
body = "chain"
where = { nearest = [0, 0, 0] }
[[constraint]]
name = "links"
kind = "distance"
each = "edge"
"#;
    let (_, mut built) = made(chain, &[]);
    for _ in 0..10 {
        built.simulation.advance().unwrap();
    }
    let masses = built.simulation.system().node_masses().clone();
    let forces = built.simulation.constraint_forces();
    assert_eq!(forces.len(), 60);
    for (link, force) in forces.iter().enumerate() {
        let weight = 9.81 * masses[link + 1..].iter().sum::<f64>();
        assert!((force / weight - 1.0).abs() < 1e-9, "link {link}: {force} N, not {weight}");
    }
    let rest = built.simulation.system().abilities().constraints();
    assert!(rest.iter().all(|c| c.value(0.0, &built.simulation.state().q).abs() < 1e-12));
}

/// Interrupted and resumed, to the bit, with a rod that is released on the way.
#[test]
fn a_run_with_constraints_resumes_to_the_bit() {
    let rod = "constraint=[{ kind = \"volume\" }, { kind = \"distance\", between = [0, 3], until = 0.2, name = \"rod\" }]";
    for name in ["variational", "verlet", "energy-momentum", "semi-implicit"] {
        let step = if name == "verlet" { "time.step=1e-3" } else { "time.step=5e-3" };
        let new = || made(BLOCK, &[&format!("integrator.name={name}"), step, rod]);
        let (whole, parts) = (folder(&format!("whole-{name}")), folder(&format!("parts-{name}")));
        let (scene, built) = new();
        run_until(&scene, built, &whole, false, None);
        run_until(&scene, new().1, &parts, false, Some(25));
        run_until(&scene, new().1, &parts, true, None);
        let read = |folder: &std::path::Path| std::fs::read(folder.join("energy.csv")).unwrap();
        assert!(read(&whole) == read(&parts), "{name}");
        let (t, force) = (column(&whole, "energy.csv", "t"), column(&whole, "energy.csv", "rod force"));
        assert!(t.iter().zip(&force).all(|(t, f)| (*f == 0.0) == (*t == 0.0 || *t > 0.2 + 1e-9)), "{name}");
    }
}

/// Velocities at the start that break a constraint are changed, and the notes say so.
#[test]
fn velocities_that_disagree_are_told() {
    let swell = "body.block.initial={ velocity = [\"x\", \"y\", \"z\"] }";
    let (_, built) = made(BLOCK, &["pin=[]", swell]);
    assert!(built.notes.iter().any(|n| n.contains("initial velocities were changed")), "{:?}", built.notes);
    let rigid = "body.block.initial={ velocity = [1, 2, 3], angular_velocity = [1, 0, 0] }";
    let (_, built) = made(BLOCK, &["pin=[]", rigid]);
    assert!(built.notes.iter().all(|n| !n.contains("initial velocities")), "{:?}", built.notes);
}

/// Modes are those of motions that keep the constraints: two masses on a spring, with a rod to a third, move as two
/// bodies of 1 kg and 2 kg along the line; a rod in place of the spring leaves nothing to vibrate.
#[test]
fn modes_know_of_constraints() {
    let scene = r#"
[time]
end = 1.0
step = 0.01
[[body]]
name = "line"
mesh = { points = { positions = [[0, 0, 0], [1, 0, 0], [2, 0, 0]], edges = [[0, 1], [1, 2]], masses = [1, 1, 1] } }
material = { model = "springs", lambda = 30 }
[[constraint]]
kind = "distance"
between = [1, 2]
"#;
    let (_, built) = made(scene, &[]);
    assert_eq!(spectrum::free_unknowns(built.simulation.system()), 8);
    let rest = built.rest_positions();
    let modes = spectrum::modes(built.simulation.system(), &rest, 8).unwrap();
    // ω² = k (1/m₁ + 1/m₂).
    let square = 30.0 * (1.0 + 0.5);
    assert!((modes.values[7] / square - 1.0).abs() < 1e-9, "{:?}", modes.values);
    assert!(modes.values[..7].iter().all(|v| v.abs() < 1e-6 * square), "{:?}", modes.values);
    let highest = diagnose::largest_frequency(&built).unwrap();
    assert!((highest / square.sqrt() - 1.0).abs() < 1e-3, "{highest}");
    let both = "constraint=[{ kind = \"distance\", each = \"edge\" }]";
    assert!(diagnose::largest_frequency(&made(scene, &[both]).1).is_none());
}
