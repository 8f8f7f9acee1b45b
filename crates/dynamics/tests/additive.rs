//! What additive splits promise on assembled, nonlinear systems: `mssi` and `siere`.

mod common;

use common::{make, run};
use lilyan_dynamics::systems::{Particles, Spring};
use lilyan_dynamics::{Integrator, State, System, Value};

/// A bar of springs twisted by 30° and let go with steps for which its fast modes are far too fast: modes lead straight on
/// where the bar turns, and the stretch that this makes is seen in the same step. Backward Euler for the rest does the same.
#[test]
fn siere_sees_where_its_modes_lead() {
    let at = |i: u32| [0.1 * f64::from(i / 4), 0.1 * f64::from(i / 2 % 2), 0.1 * f64::from(i % 2)];
    let length = |i: u32, j: u32| (0..3).map(|k| (at(i)[k] - at(j)[k]).powi(2)).sum::<f64>().sqrt();
    let near = (0..48u32).flat_map(|i| (0..i).map(move |j| [j, i])).filter(|[j, i]| i / 4 - j / 4 < 2);
    let spring =
        |ends: [u32; 2]| Spring { ends, stiffness: 1e4, length: length(ends[0], ends[1]), damping: 0.0 };
    let system = Particles::new(&[0.1; 48], near.map(spring).collect(), 1.0);
    let twisted = |i: u32| {
        let ([x, y, z], centre) = (at(i), 0.05);
        let (sin, cos) = (30f64.to_radians() * (x / 1.1 - 0.5)).sin_cos();
        let (y, z) = (y - centre, z - centre);
        [x, y * cos - z * sin, y * sin + z * cos]
    };
    let q: Vec<f64> = (0..48).flat_map(twisted).collect();
    let state = State::new(&system, q, vec![0.0; 144]);
    let energy = |s: &State| s.kinetic(&system) + system.energy(0.0, &s.q);
    let kept = |integrator: &mut dyn Integrator| {
        energy(&run(&system, integrator, &state, 0.004, 200)) / energy(&state)
    };
    let lost = kept(make("semi-implicit", &[]).as_mut());
    let held = kept(make("siere", &[("modes", Value::Number(20.0))]).as_mut());
    let backward = [("modes", Value::Number(20.0)), ("h_part", Value::Word("backward-euler".into()))];
    let converged = kept(make("siere", &backward).as_mut());
    assert!(lost < 0.01 && held > 0.8 && held < 1.0, "{lost} {held}");
    assert!((converged - held).abs() < 0.1, "{held} {converged}");
}

/// A chain under the tension T: the geometric stiffness is explicit, so that the highest transverse mode, ω² = 4T/(lm), is
/// stable up to hω = 2.
#[test]
fn the_limit_of_mssi_is_that_of_its_card() {
    let (count, length, stiffness, mass) = (20u32, 0.5, 1000.0, 0.7);
    let spring = |i: u32| Spring { ends: [i, i + 1], stiffness, length, damping: 0.0 };
    let mut masses = vec![mass; count as usize + 2];
    (masses[0], masses[count as usize + 1]) = (1e12, 1e12);
    let system = Particles::new(&masses, (0..=count).map(spring).collect(), 1.0);
    // Springs of length 1: T = 500 N.
    let tension = stiffness * (1.0 - length);
    let place = |i: u32| [f64::from(i), if i.is_multiple_of(2) { 1e-6 } else { -1e-6 }, 0.0];
    let q: Vec<f64> = (0..count + 2).flat_map(place).collect();
    let state = State::new(&system, q, vec![0.0; 3 * masses.len()]);
    let amplitude = |ratio: f64| {
        let h = (ratio * mass / tension).sqrt();
        let end = run(&system, make("mssi", &[]).as_mut(), &state, h, 60);
        end.q.iter().skip(1).step_by(3).fold(0.0f64, |m, y| m.max(y.abs()))
    };
    assert!(amplitude(0.95) < 2e-5, "{}", amplitude(0.95));
    assert!(amplitude(1.1) > 1e-2, "{}", amplitude(1.1));
    assert!(make("mssi", &[]).limit().is_some_and(|limit| limit.contains("h²T/l < m")));
}
