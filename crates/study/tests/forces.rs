//! `forces.csv`: what pins and contacts carry.

#[path = "common/running.rs"]
mod running;

use running::{column, folder, made, run_until};

/// A damped cube of 1000 kg/m³ and 0.4 m, 627.84 N, with what holds it.
fn cube(integrator: &str, support: &str) -> String {
    format!(
        r#"
time = {{ end = 2, step = 0.01 }}
integrator = "{integrator}"
environment = {{ gravity = [0, -9.81, 0] }}
output = {{ every = 1, replay = false, forces = true }}
[[body]]
name = "cube"
mesh = {{ box = {{ size = [0.4, 0.4, 0.4], cells = [2, 2, 2] }} }}
material = {{ model = "neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }}
damping = {{ model = "viscous", time = 0.05 }}
{support}
"#
    )
}

const WEIGHT: f64 = 1000.0 * 0.064 * 9.81;

/// A column from 1 to 2 s, N.
fn settled(name: &str, integrator: &str, support: &str, wanted: &str) -> Vec<f64> {
    let directory = folder(name);
    let (scene, built) = made(&cube(integrator, support), &[]);
    run_until(&scene, built, &directory, false, None);
    column(&directory, "forces.csv", wanted)[101..].to_vec()
}

/// The last value of a column, N.
fn last(name: &str, integrator: &str, support: &str, wanted: &str) -> f64 {
    *settled(name, integrator, support, wanted).last().unwrap()
}

#[test]
fn at_rest_pins_and_contacts_carry_the_weight() {
    let pin = "[[pin]]\nwhere = \"y > 0.39\"";
    let floor =
        "[[contact]]\nkind = \"plane\"\nmodel = \"barrier\"\npoint = [0, -1e-4, 0]\nnormal = [0, 1, 0]";
    for integrator in ["energy-momentum", "backward-euler"] {
        let held = last("forces-pin", integrator, pin, "pin1_fy");
        assert!((held / WEIGHT - 1.0).abs() < 1e-6, "{integrator}: the pin carries {held} N");
        // The surface trembles on the stiff contact, which nothing damps. By the balance of momentum the mean is the weight.
        let stood = settled("forces-floor", integrator, floor, "cube_contact_fy");
        let stood = stood.iter().sum::<f64>() / stood.len() as f64;
        assert!((stood / WEIGHT - 1.0).abs() < 1e-3, "{integrator}: the floor carries {stood} N");
    }
}

/// A load of the present place is an applied force, which counts once.
#[test]
fn a_pin_carries_an_applied_force_once() {
    let directory = folder("forces-applied");
    let text =
        cube("backward-euler", "[[pin]]\nwhere = \"all\"\n[[load]]\nacceleration = [0, \"-9.81 + 0*x\", 0]");
    let (scene, built) = made(&text, &["environment.gravity=[0, 0, 0]", "time.end=0.2"]);
    run_until(&scene, built, &directory, false, None);
    let force = column(&directory, "forces.csv", "pin1_fy");
    assert!(force.iter().all(|f| (f / WEIGHT - 1.0).abs() < 1e-6), "{force:?}");
}

/// On a slope that friction holds, contact and friction together carry the weight.
#[test]
fn friction_is_part_of_the_force_of_a_contact() {
    let slope = "[[contact]]\nkind = \"plane\"\nmodel = \"barrier\"\npoint = [0, -0.04407, 0]\nnormal = [-0.2, 1, 0]\nfriction = 1.0";
    let tilted = format!("initial = {{ rotate = {{ axis = [0, 0, 1], degrees = 11.309932 }} }}\n{slope}");
    for (column, expected) in [("cube_contact_fx", 0.0), ("cube_contact_fy", WEIGHT)] {
        let force = last("forces-slope", "backward-euler", &tilted, column);
        assert!((force - expected).abs() < 0.01 * WEIGHT, "{column}: {force} N");
    }
}

/// A pin that moves gives its body momentum: the integral of its force.
#[test]
fn the_force_of_a_moving_pin_is_what_the_body_gains() {
    let directory = folder("forces-moving");
    let motion = "[[pin]]\nwhere = \"all\"\nmotion = [\"0.5*t^2\", 0, 0]";
    let (scene, built) =
        made(&cube("backward-euler", motion), &["environment.gravity=[0, 0, 0]", "time.end=0.2"]);
    run_until(&scene, built, &directory, false, None);
    let force = column(&directory, "forces.csv", "pin1_fx");
    // 64 kg at 1 m/s².
    assert!(force[2..].iter().all(|f| (f - 64.0).abs() < 1e-6 * 64.0), "{force:?}");
}
