//! Static equilibria against closed forms, and runs that start from them.

use lilyan_dynamics::equilibrium::EquilibriumError;
use lilyan_scene::build::{Built, build};
use lilyan_scene::schema::Scene;
use lilyan_solid::output;
use lilyan_study::rest::{RestReport, rest};

fn built(text: &str) -> (Scene, Built) {
    let scene = Scene::from_str(text, "rest.toml").expect("a scene");
    let built = build(&scene).expect("a model");
    (scene, built)
}

fn solved(text: &str) -> (RestReport, Built) {
    let (scene, mut built) = built(text);
    let report = rest(&scene, &mut built).expect("an equilibrium");
    (report, built)
}

/// A bar of 2 m × 0.5 m × 0.5 m, held at x = 0 so that it can contract sideways.
fn bar(model: &str, young: f64, rest: &str) -> String {
    format!(
        r#"
time = {{ end = 1, step = 0.01 }}
[[body]]
mesh = {{ box = {{ size = [2, 0.5, 0.5], cells = [8, 2, 2] }} }}
material = {{ model = "{model}", E = {young:e}, nu = 0.3, rho = 1000 }}
[[pin]]
where = "x < 1e-9"
axes = ["x"]
[[pin]]
where = "x < 1e-9 && y < 1e-9"
axes = ["y"]
[[pin]]
where = "x < 1e-9 && z < 1e-9"
axes = ["z"]
{rest}"#
    )
}

/// A traction that stretches a linear bar by 1 % gives u = σL/E, the pin force −σA and the energy ½σ²V/E, from jelly to
/// diamond.
#[test]
fn a_stretched_bar_has_the_strain_of_hookes_law() {
    for young in [1e3, 1e7, 1e12] {
        let stress = 0.01 * young;
        let load = format!("[[load]]\nwhere = \"x > 2 - 1e-9\"\ntraction = [{stress:e}, 0, 0]\n");
        let (report, built) = solved(&bar("linear", young, &load));
        let end = built.simulation.state().q.iter().step_by(3).fold(0.0, |m: f64, x| m.max(*x));
        assert!((end - 2.02).abs() < 1e-9, "E = {young:e}: the end is at {end}");
        let force = report.pin_forces[0][0];
        assert!((force / (-stress * 0.25) - 1.0).abs() < 1e-6, "E = {young:e}: {force} N");
        assert!((report.elastic / (0.5 * stress * 0.01 * 0.5) - 1.0).abs() < 1e-6, "{} J", report.elastic);
        assert_eq!(report.stable, Some(true));
    }
}

/// The same bar of a nonlinear material, stretched far: the work of the traction's reaction balances, and every
/// element has the same stretch, which the derivative of the energy confirms.
#[test]
fn a_large_stretch_is_found_without_load_steps() {
    let load = "[[load]]\nwhere = \"x > 2 - 1e-9\"\ntraction = [2e5, 0, 0]\n";
    let (report, _) = solved(&bar("stable-neo-hookean", 1e5, load));
    assert!((report.pin_forces[0][0] / (-2e5 * 0.25) - 1.0).abs() < 1e-6, "{:?}", report.pin_forces);
    assert!(report.largest_displacement > 1.0, "{} m", report.largest_displacement);
    assert!(report.unbalanced_force < 1e-3, "{} N", report.unbalanced_force);
}

/// A straight column under twice its critical load is in equilibrium, but not stable: the search leaves it. The mesh is symmetric,
/// so that it does not bend the column by itself.
#[test]
fn a_column_buckles() {
    let column = |traction: f64| {
        format!(
            r#"
time = {{ end = 1, step = 0.01 }}
[[body]]
mesh = {{ box = {{ size = [4, 0.4, 0.8], cells = [16, 2, 4], diagonals = "mirrored" }} }}
material = {{ model = "stvk", E = 1e6, nu = 0.3, rho = 1000 }}
[[pin]]
where = "x < 1e-9"
[[load]]
where = "x > 4 - 1e-9"
traction = [{traction:e}, 0, 0]
"#
        )
    };
    // Euler: π²EI/(4L²A) = 2060 Pa by beam theory; linear tets are stiffer.
    let (straight, _) = solved(&column(-1000.0));
    assert_eq!((straight.saddles, straight.stable), (0, Some(true)));
    assert!(straight.largest_displacement < 0.02, "{} m", straight.largest_displacement);
    let (bent, _) = solved(&column(-8000.0));
    assert!(bent.saddles > 0 && bent.stable == Some(true), "{} saddles, {:?}", bent.saddles, bent.stable);
    assert!(bent.largest_displacement > 0.5, "{} m", bent.largest_displacement);
}

/// Pins carry all that acts, whatever it is: gravity, dead loads, forces of the present place, pressure, and forces of constraints.
#[test]
fn pins_carry_what_acts() {
    for constraint in ["", "[[constraint]]\nkind = \"volume\""] {
        let (report, built) = solved(&format!(
            r#"
time = {{ end = 1, step = 0.01 }}
environment = {{ gravity = [0, -9.81, 0] }}
[[body]]
mesh = {{ box = {{ size = [2, 0.5, 0.5], cells = [8, 2, 2] }} }}
material = {{ model = "neo-hookean", E = 1e7, nu = 0.3, rho = 1000 }}
[[pin]]
where = "x < 1e-9"
[[load]]
where = "x > 2 - 1e-9"
force = [3000, 0, 500]
[[load]]
where = "x > 2 - 1e-9"
force = ["1000*X/2", "400 + 0*x", 0]
{constraint}
"#
        ));
        let weight: f64 = 9.81 * built.simulation.system().node_masses().iter().sum::<f64>();
        let [carried] = report.pin_forces[..] else { panic!("one pin") };
        for (carried, expected) in carried.iter().zip([-4000.0, weight - 400.0, -500.0]) {
            assert!((carried - expected).abs() < 1e-5 * weight, "{constraint}: {:?}", report.pin_forces);
        }
    }
}

/// A ball on the floor: the floor carries its weight.
#[test]
fn a_floor_carries_the_weight() {
    let (report, built) = solved(
        r#"
time = { end = 1, step = 0.01 }
[environment]
gravity = [0, -9.81, 0]
[[body]]
mesh = { sphere = { radius = 0.5, tets = 400 }, translate = [0, 0.6, 0] }
material = { model = "neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }
damping = { model = "viscous", time = 0.01 }
[[contact]]
kind = "plane"
point = [0, 0, 0]
normal = [0, 1, 0]
"#,
    );
    let weight: f64 = 9.81 * built.simulation.system().node_masses().iter().sum::<f64>();
    assert!((report.contact_force[1] / weight - 1.0).abs() < 1e-5, "{:?}, {weight} N", report.contact_force);
    assert!(report.contact_force[0].abs() < 1e-6 * weight);
}

/// Nothing holds a body in free fall.
#[test]
fn free_fall_has_no_equilibrium() {
    let text = r#"
time = { end = 1, step = 0.01 }
[environment]
gravity = [0, -9.81, 0]
[[body]]
mesh = { box = { size = [1, 1, 1], cells = [2, 2, 2] } }
material = { E = 1e5, nu = 0.3, rho = 1000 }
"#;
    let (scene, mut built) = built(text);
    match rest(&scene, &mut built) {
        Err(EquilibriumError::NotHeld { .. }) => {}
        other => panic!("{other:?}"),
    }
}

/// A run that starts from equilibrium stays there, with every material; bodies that do not ask for it start undeformed.
#[test]
fn a_run_from_equilibrium_stays_there() {
    let text = |model: &str| {
        format!(
            r#"
time = {{ end = 1, step = 0.01 }}
integrator = {{ name = "energy-momentum" }}
[environment]
gravity = [0, -9.81, 0]
[[body]]
name = "hung"
mesh = {{ box = {{ size = [1, 0.2, 0.2], cells = [8, 2, 2] }} }}
material = {{ model = "{model}", E = 1e5, nu = 0.3, rho = 1000 }}
initial = {{ rest = true }}
[[body]]
name = "other"
mesh = {{ box = {{ size = [1, 0.2, 0.2], cells = [4, 1, 1] }}, translate = [0, 0, 2] }}
material = {{ model = "{model}", E = 1e5, nu = 0.3, rho = 1000 }}
[[pin]]
body = "hung"
where = "x < 1e-9"
[[pin]]
body = "other"
where = "x < 1e-9"
"#
        )
    };
    for model in lilyan_solid::materials::CATALOGUE.iter().map(|m| m.card().name) {
        let (_, mut built) = built(&text(model));
        let start = built.simulation.state().q.clone();
        let rest = built.rest_positions();
        let hung = built.bodies[0].dofs.unknowns();
        let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        assert!(apart(&start[hung.clone()], &rest[hung.clone()]) > 0.05, "{model}: did not sag");
        assert_eq!(start[hung.end..], rest[hung.end..], "{model}: the other body starts undeformed");
        for _ in 0..50 {
            built.simulation.advance().expect("a step");
        }
        let moved = apart(&built.simulation.state().q[hung.clone()], &start[hung]);
        assert!(moved < 1e-7, "{model}: moved by {moved:.1e} m");
    }
}

/// A bar that hangs from its end has the stress ρg(L − x), which is linear: at the nodes it is exact, in the means of tets it is not. Its
/// start does not depend on the first step of the search.
#[test]
fn nodal_stresses_of_a_hanging_bar_are_exact() {
    for step in ["1e-9", "0.01"] {
        let text = bar("linear", 1e7, "")
            .replace("nu = 0.3", "nu = 0.0")
            .replace("[[body]]\n", "[[body]]\nelement = \"quadratic\"\n")
            .replace("step = 0.01", &format!("step = {step}"));
        let text = format!("environment = {{ gravity = [9.81, 0, 0] }}\n{text}");
        let (report, built) = solved(&text);
        assert!(report.unbalanced_force < 1e-6, "step {step}: {} N left", report.unbalanced_force);
        let (model, state) = (built.simulation.system(), built.simulation.state());
        let stress = output::nodal_stress(model.bodies(), model.node_masses().len(), &state.q);
        let rest = model.rest_positions();
        for (x, stress) in rest.chunks_exact(3).zip(stress.chunks_exact(9)) {
            let exact = 1000.0 * 9.81 * (2.0 - x[0]);
            // Of the present shape: the strain is a part in a thousand.
            assert!((stress[0] - exact).abs() < 0.01 * 2.0 * 9810.0, "at {x:?}: {} of {exact} Pa", stress[0]);
            assert!(stress[4].abs() + stress[8].abs() < 1.0, "{stress:?}");
        }
    }
}
