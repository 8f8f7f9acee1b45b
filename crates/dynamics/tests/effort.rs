//! Less effort than asked for: what is cut is told, and full effort is as if nothing had been said.

mod common;

use common::run;
use lilyan_dynamics::integrators::CATALOGUE;
use lilyan_dynamics::systems::{Particles, Spring};
use lilyan_dynamics::{Effort, Integrator, LOOSEST_TOLERANCE, State, System, Value};

/// Four masses and six springs, stretched and spinning, with steps that are long for it.
fn tetrahedron(damping: f64) -> (Particles, State) {
    let ends = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    let springs = ends.map(|ends| Spring { ends, stiffness: 400.0, length: 1.0, damping }).to_vec();
    let system = Particles::new(&[1.0, 1.5, 0.8, 1.2], springs, 1.0);
    let q = vec![0.0, 0.1, 0.0, 1.1, 0.0, 0.05, 0.4, 0.95, 0.0, 0.55, 0.3, 0.9];
    let v = vec![0.3, 0.2, -0.5, -0.1, 0.6, 0.1, 0.5, -0.4, 0.2, -0.6, -0.2, 0.1];
    let state = State::new(&system, q, v);
    (system, state)
}

const H: f64 = 0.05;

/// Every integrator whose effort can be cut.
fn each(mut test: impl FnMut(&str, &dyn Fn() -> Box<dyn Integrator>)) {
    let mut tried = 0;
    for entry in CATALOGUE {
        let make = || entry.create(&[]).unwrap();
        let asked = entry.options.iter().any(|option| option.name == "tolerance");
        if let Some(effort) = make().set_effort(0.0) {
            assert!(asked, "{}", entry.name);
            assert_eq!(effort.tolerance, LOOSEST_TOLERANCE, "{}", entry.name);
            test(entry.name, &make);
            tried += 1;
        }
    }
    assert!(tried >= 8, "{tried}");
}

#[test]
fn full_effort_again_is_as_if_nothing_had_been_said() {
    let (system, state) = tetrahedron(0.5);
    each(|name, make| {
        let plain = run(&system, make().as_mut(), &state, H, 20);
        let mut told = make();
        told.set_effort(0.0);
        let effort = told.set_effort(1.0).unwrap();
        assert_eq!(effort.tolerance, effort.asked, "{name}");
        let again = run(&system, told.as_mut(), &state, H, 20);
        assert_eq!(plain, again, "{name}");
        let mut quick = make();
        quick.set_effort(0.0);
        assert_ne!(plain, run(&system, quick.as_mut(), &state, H, 20), "{name}: something was cut");
    });
}

/// From the same state: a step that tells of no shortfall is as good as a full one, and one that does is off by no more than
/// it tells; by an integrator that begins anew, and by one that keeps its factors.
#[test]
fn what_is_cut_is_told() {
    for (damping, keeps) in [(0.0, false), (0.0, true), (0.5, false), (0.5, true)] {
        let (system, start) = tetrahedron(damping);
        each(|name, make| {
            let mut hurried = make();
            let (mut state, mut cut, mut kept) = (start.clone(), 0, 0);
            for k in 0..40 {
                let (mut full, mut quick) = (state.clone(), state.clone());
                let mut integrator = make();
                let report = integrator.step(&system, &mut full, H).unwrap();
                assert_eq!(report.shortfall, 0.0, "{name}");
                if !keeps {
                    hurried = make();
                }
                let effort = hurried.set_effort(f64::from(k % 5) / 5.0).unwrap();
                let told = hurried.step(&system, &mut quick, H).unwrap();
                assert!(keeps || told.newton_iterations <= report.newton_iterations, "{name}");
                let far =
                    |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
                let moved = far(&full.q, &state.q) + 1e-4 * system.length();
                let off = far(&full.q, &quick.q);
                // Positions of the end are up to a few times as far off as those that are solved for.
                let allowed = 4.0 * told.shortfall.max(1.0) * effort.asked * moved;
                assert!(off <= allowed, "{name}, step {k}: off by {off:e}, told {allowed:e}, {effort:?}");
                if told.shortfall > 0.0 {
                    let most = 1.0001 * LOOSEST_TOLERANCE / effort.asked;
                    assert!((1.0..=most).contains(&told.shortfall), "{name}: {}", told.shortfall);
                    cut += 1;
                } else {
                    kept += 1;
                }
                state = full;
                // Changed by hand: methods of several steps begin anew, as they do in the fresh one.
                state.q[0] += 1e-6;
            }
            assert!(cut > 5 && cut + kept == 40, "{name}: {cut} cut, {kept} kept");
        });
    }
}

#[test]
fn effort_goes_evenly_from_the_least_to_what_is_asked_for() {
    let efforts: Vec<Effort> = (0..=8).map(|k| Effort::between(f64::from(k) / 8.0, 1e-8)).collect();
    assert_eq!(efforts[0], Effort { tolerance: LOOSEST_TOLERANCE, asked: 1e-8 });
    assert_eq!(efforts[8], Effort { tolerance: 1e-8, asked: 1e-8 });
    assert!(efforts.windows(2).all(|e| e[0].tolerance > e[1].tolerance), "{efforts:?}");
    // What is asked for may be looser than that already.
    assert_eq!(Effort::between(0.3, 0.2).tolerance, 0.2);
}

#[test]
fn a_tolerance_that_was_asked_for_is_told() {
    let given = [("tolerance".to_string(), Value::Number(1e-5))];
    let entry = lilyan_dynamics::integrators::find("backward-euler").unwrap();
    assert_eq!(entry.create(&given).unwrap().set_effort(0.5).unwrap().asked, 1e-5);
}
