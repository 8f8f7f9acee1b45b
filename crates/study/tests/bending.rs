//! Ropes and cloth bend as beams and plates do: the first frequency of a free strip, which is 4.73004² √(B/m)/(2π L²) with B the
//! flexural rigidity and m the mass per length.

#[path = "common/running.rs"]
mod running;

use lilyan_dynamics::spectrum;
use running::made;

/// The frequency nearest to that of theory over that of theory, less 1, with so many cells along the strip.
fn error(text: &str, keys: &[&str], theory: f64) -> f64 {
    let (_, built) = made(text, keys);
    let system = built.simulation.system();
    let modes = spectrum::modes(system, &built.rest_positions(), 12).unwrap();
    let hz = modes.values.iter().map(|v| v.max(0.0).sqrt() / (2.0 * std::f64::consts::PI));
    let ratios: Vec<f64> = hz.map(|f| f / theory - 1.0).collect();
    ratios.iter().copied().min_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap()
}

fn theory(rigidity: f64, mass_per_length: f64) -> f64 {
    4.730_041f64.powi(2) * (rigidity / mass_per_length).sqrt() / (2.0 * std::f64::consts::PI)
}

/// 1 m long; 1 cm thick.
const ROPE: &str = r#"
time = { end = 1, step = 0.01 }
[[body]]
name = "rope"
mesh = { rope = { from = [0, 0, 0], to = [1, 0, 0], segments = 10, radius = 0.01, bending = 0.01 } }
material = { lambda = 1e4, rho = 1000 }
"#;

/// 1 m long, 0.1 m wide, 1 mm thick.
const STRIP: &str = r#"
time = { end = 1, step = 0.01 }
[[body]]
name = "strip"
mesh = { cloth = { size = [1, 0.1], cells = [10, 2], thickness = 0.001, bending = 0.01 } }
element = "membrane"
material = { model = "stvk", E = 1e7, nu = 0.0, rho = 1000 }
"#;

#[test]
fn ropes_bend_as_beams() {
    let area = std::f64::consts::PI * 1e-4;
    let theory = theory(0.01, 1000.0 * area);
    let errors = [10, 20, 40].map(|n| error(ROPE, &[&format!("body.rope.mesh.rope.segments={n}")], theory));
    let orders = [(errors[0] / errors[1]).abs().log2(), (errors[1] / errors[2]).abs().log2()];
    println!("rope: errors {errors:?}, orders {orders:?}");
    assert!(errors[2].abs() < 0.02, "{errors:?}");
    assert!(orders.iter().all(|order| *order > 0.9), "{orders:?} of {errors:?}");
}

#[test]
fn cloth_bends_as_a_plate() {
    // Rigidity per width, mass per area; the width takes no part without Poisson's ratio.
    let theory = theory(0.01, 1.0);
    let cells = |n: usize| format!("body.strip.mesh.cloth.cells=[{n}, {}]", n / 5);
    let errors = [10, 20, 40].map(|n| error(STRIP, &[&cells(n)], theory));
    let orders = [(errors[0] / errors[1]).abs().log2(), (errors[1] / errors[2]).abs().log2()];
    println!("cloth: errors {errors:?}, orders {orders:?}");
    assert!(errors[2].abs() < 0.02, "{errors:?}");
    assert!(orders.iter().all(|order| *order > 0.9), "{orders:?} of {errors:?}");
}
