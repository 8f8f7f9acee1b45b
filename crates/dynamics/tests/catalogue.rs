//! Every integrator in the catalogue, with its defaults and every variant, held to its claims on small
//! systems. A new integrator is tested because it is registered.

mod common;

use common::{arrive, run};
use lilyan_dynamics::analysis::{Stability, response, stability};
use lilyan_dynamics::integrators::{CATALOGUE, Claims, Entry, StepLength};
use lilyan_dynamics::systems::{Oscillator, Particles, Pendulum, Spring};
use lilyan_dynamics::{Integrator, Simulation, State, System, Value};

/// Every entry with every variant, solved to round-off.
fn each(mut test: impl FnMut(&str, &dyn Fn() -> Box<dyn Integrator>, Claims)) {
    for entry in CATALOGUE {
        for mut given in entry.all_variants() {
            let name = format!("{} {given:?}", entry.name);
            tighten(entry, &mut given);
            let make = || entry.create(&given).unwrap();
            let claims = make().claims();
            test(&name, &make, claims);
        }
    }
}

fn tighten(entry: &Entry, given: &mut Vec<(String, Value)>) {
    if entry.options.iter().any(|o| o.name == "tolerance") {
        given.push(("tolerance".into(), Value::Number(1e-13)));
    }
}

/// Four masses and six springs (a tetrahedron), stretched and spinning: nonlinear, not planar.
fn tetrahedron(damping: f64) -> (Particles, State) {
    let ends = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    let springs = ends
        .iter()
        .enumerate()
        .map(|(k, &ends)| Spring { ends, stiffness: 40.0 + 7.0 * k as f64, length: 1.0, damping })
        .collect();
    let system = Particles::new(&[1.0, 1.5, 0.8, 1.2], springs, 1.0);
    let q = vec![0.0, 0.1, 0.0, 1.1, 0.0, 0.05, 0.4, 0.95, 0.0, 0.55, 0.3, 0.9];
    let v = vec![0.3, 0.2, -0.5, -0.1, 0.6, 0.1, 0.5, -0.4, 0.2, -0.6, -0.2, 0.1];
    let state = State::new(&system, q, v);
    (system, state)
}

/// The tetrahedron with other springs, stretched by 1 %.
fn stiff(stiffness: f64, damping: f64) -> (Particles, State) {
    let ends = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    let springs = ends.map(|ends| Spring { ends, stiffness, length: 1.0, damping }).to_vec();
    let system = Particles::new(&[1.0, 1.5, 0.8, 1.2], springs, 1.0);
    let corners = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
    let q = corners.iter().flatten().map(|x| x * 1.01 / 8f64.sqrt()).collect();
    let v = vec![0.3, 0.2, -0.5, -0.1, 0.6, 0.1, 0.5, -0.4, 0.2, -0.6, -0.2, 0.1];
    let state = State::new(&system, q, v);
    (system, state)
}

/// P6: Richardson's order on the finest pair of five halvings, or of as many as stay above round-off.
fn measured_order(make: &dyn Fn() -> Box<dyn Integrator>, damping: f64, order: u32) -> f64 {
    let (system, state) = tetrahedron(damping);
    // Coarse enough that fourth order stays above round-off, fine enough to be asymptotic.
    let (steps, halvings) = match order {
        1 => (400, 5),
        2 => (160, 5),
        4 => (72, 5),
        6 => (24, 3),
        _ => (12, 3),
    };
    let ends: Vec<State> = (0..=halvings)
        .map(|k| {
            let n = steps << k;
            arrive(&system, make().as_mut(), &state, 0.8 / n as f64, 0.8)
        })
        .collect();
    let difference = |a: &State, b: &State| {
        let both = a.q.iter().chain(&a.v).zip(b.q.iter().chain(&b.v));
        both.map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
    };
    let d: Vec<f64> = ends.windows(2).map(|w| difference(&w[0], &w[1])).collect();
    (d[halvings - 2] / d[halvings - 1]).log2()
}

#[test]
fn order_is_as_claimed() {
    each(|name, make, claims| {
        for (damping, claimed) in [(0.0, claims.order), (0.6, claims.damped_order)] {
            let order = measured_order(make, damping, claimed);
            assert!(
                (order - claimed as f64).abs() <= 0.02,
                "{name}: order {order:.4} measured, {claimed} claimed (damping {damping})"
            );
        }
    });
}

/// Methods that keep angular momentum on springs, whose forces have no torque, but not on finite elements, which
/// tests of those show.
const KINDER_ON_SPRINGS: &[&str] = &["corotational-reversible"];

#[test]
fn momenta_are_kept_as_claimed() {
    each(|name, make, claims| {
        for damping in [0.0, 0.6] {
            let (system, state) = tetrahedron(damping);
            let end = run(&system, make().as_mut(), &state, 0.01, 2000);
            let (p0, l0) = state.momenta([0.0; 3]);
            let (p1, l1) = end.momenta([0.0; 3]);
            // Relative to what moves at the end: explicit Euler has exploded by then.
            let scale = 1.0 + end.p.iter().map(|p| p.abs()).sum::<f64>();
            let drift =
                |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| (a[k] - b[k]).abs()).fold(0.0, f64::max) / scale;
            let (linear, angular) = (drift(p0, p1), drift(l0, l1));
            if claims.linear_momentum {
                assert!(linear < 1e-11, "{name}: linear momentum drifts by {linear:e}");
            }
            if claims.angular_momentum {
                assert!(angular < 1e-10, "{name}: angular momentum drifts by {angular:e}");
            } else if !KINDER_ON_SPRINGS.iter().any(|kind| name.starts_with(kind)) {
                assert!(angular > 1e-9, "{name} keeps angular momentum but does not claim it");
            }
        }
    });
}

#[test]
fn energy_is_kept_or_bounded_as_claimed() {
    each(|name, make, claims| {
        let (system, state) = tetrahedron(0.0);
        let energy = |s: &State| s.kinetic(&system) + system.energy(0.0, &s.q);
        let start = energy(&state);
        let mut integrator = make();
        let mut current = state.clone();
        let mut mean = [0.0; 2];
        // As many as the source takes to show what adaption does to energy.
        let (h, n) = match (integrator.step_length(), claims.bounds_energy()) {
            (StepLength::Adaptive, true) => (0.02, 2000),
            (StepLength::Adaptive, false) => (0.05, 2000),
            _ => (0.01, 20_000),
        };
        for half in 0..2 {
            for _ in 0..n {
                integrator.step(&system, &mut current, h).unwrap();
                mean[half] += energy(&current) / f64::from(n);
            }
        }
        let drift = (mean[1] - mean[0]).abs() / start;
        let end = (energy(&current) - start).abs() / start;
        println!("{name}: mean energy drifts by {drift:.1e}, at the end {end:.1e}");
        if claims.energy {
            assert!(end < 1e-10, "{name}: energy drifts by {end:e}");
        } else if claims.bounds_energy() {
            assert!(drift < 2e-3, "{name}: mean energy drifts by {drift:e}");
        } else {
            assert!(drift > 2e-3 || end > 2e-3, "{name} keeps energy but does not claim it");
        }
    });
}

/// P10: ‖JᵀΩJ − Ω‖ of ten steps, J by differences of tenth order.
#[test]
fn symplectic_as_claimed() {
    const STENCIL: [f64; 5] = [5.0 / 6.0, -5.0 / 21.0, 5.0 / 84.0, -5.0 / 504.0, 1.0 / 1260.0];
    each(|name, make, claims| {
        let (system, state) = tetrahedron(0.0);
        let n = state.q.len();
        // An adapted step is symplectic for a given energy: that of the undisturbed motion, here.
        let mut first = make();
        let mut after = state.clone();
        first.step(&system, &mut after, 0.02).unwrap();
        let memory = first.memory();
        let map = |x: &[f64]| {
            let mut s = state.clone();
            s.q.copy_from_slice(&x[..n]);
            s.p.copy_from_slice(&x[n..]);
            system.mass().solve(&vec![false; n], &s.p, &mut s.v);
            let mut integrator = make();
            integrator.restore(&memory, &after).unwrap();
            let end = run(&system, integrator.as_mut(), &s, 0.02, 10);
            [end.q, end.p].concat()
        };
        let x: Vec<f64> = state.q.iter().chain(&state.p).copied().collect();
        let delta = 0.004;
        let columns: Vec<Vec<f64>> = (0..2 * n)
            .map(|j| {
                let mut column = vec![0.0; 2 * n];
                for (k, c) in STENCIL.iter().enumerate() {
                    for sign in [1.0, -1.0] {
                        let mut y = x.clone();
                        y[j] += sign * (k + 1) as f64 * delta;
                        for (o, m) in column.iter_mut().zip(map(&y)) {
                            *o += sign * c * m / delta;
                        }
                    }
                }
                column
            })
            .collect();
        let mut worst: f64 = 0.0;
        for a in 0..2 * n {
            for b in 0..2 * n {
                let form: f64 = (0..n)
                    .map(|i| columns[a][i] * columns[b][n + i] - columns[a][n + i] * columns[b][i])
                    .sum();
                let omega = if a < n && b == a + n {
                    1.0
                } else if b < n && a == b + n {
                    -1.0
                } else {
                    0.0
                };
                worst = worst.max((form - omega).abs());
            }
        }
        if claims.symplectic {
            let level = if claims.explicit { 1e-11 } else { 1e-10 };
            assert!(worst < level, "{name}: symplectic defect {worst:e}");
        } else {
            assert!(worst > 1e-7, "{name} is symplectic ({worst:e}) but does not claim it");
        }
    });
}

#[test]
fn reversible_as_claimed() {
    each(|name, make, claims| {
        let (system, state) = tetrahedron(0.0);
        let mut integrator = make();
        let mut end = run(&system, integrator.as_mut(), &state, 0.01, 500);
        for x in end.v.iter_mut().chain(&mut end.p) {
            *x = -*x;
        }
        let back = run(&system, integrator.as_mut(), &end, 0.01, 500);
        let error = back.q.iter().zip(&state.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if claims.reversible {
            assert!(error < 1e-10, "{name}: reversal misses by {error:e}");
        } else {
            assert!(error > 1e-8, "{name} is reversible ({error:e}) but does not claim it");
        }
    });
}

/// P11: the midpoint rule conserves any quadratic energy.
#[test]
fn midpoint_conserves_quadratic_energy() {
    let spring = |a, b, k| Spring { ends: [a, b], stiffness: k, length: 0.0, damping: 0.0 };
    let system = Particles::new(&[1.0, 2.0, 0.5], vec![spring(0, 1, 30.0), spring(1, 2, 50.0)], 1.0);
    let q = vec![0.0, 0.0, 0.0, 1.0, 0.2, 0.0, 1.5, 1.0, 0.3];
    let state = State::new(&system, q, vec![0.1, 0.0, 0.4, -0.2, 0.3, 0.0, 0.6, -1.2, -0.8]);
    let entry = lilyan_dynamics::integrators::find("variational").unwrap();
    let mut integrator = entry.create(&[("tolerance".into(), Value::Number(1e-15))]).unwrap();
    let energy = |s: &State| s.kinetic(&system) + system.energy(0.0, &s.q);
    let (start, (p0, l0)) = (energy(&state), state.momenta([0.0; 3]));
    let end = run(&system, integrator.as_mut(), &state, 0.05, 100_000);
    let (p1, l1) = end.momenta([0.0; 3]);
    assert!((energy(&end) - start).abs() < 1e-12 * start, "{:e}", energy(&end) / start - 1.0);
    for k in 0..3 {
        assert!((p1[k] - p0[k]).abs() < 1e-12, "P{k} {:e}", p1[k] - p0[k]);
        assert!((l1[k] - l0[k]).abs() < 1e-12, "L{k} {:e}", l1[k] - l0[k]);
    }
}

/// The measured response is the textbook one.
#[test]
fn analysis_agrees_with_closed_forms() {
    let make = |name: &str| lilyan_dynamics::integrators::find(name).unwrap().create(&[]).unwrap();
    let growth = |name: &str, angle: f64| response(make(name).as_mut(), angle).unwrap().growth;
    let x: f64 = 0.7;
    assert!((growth("backward-euler", x) - 1.0 / (1.0 + x * x).sqrt()).abs() < 1e-12);
    assert!((growth("semi-implicit", x) - 1.0 / (1.0 + x * x).sqrt()).abs() < 1e-12);
    assert!((growth("explicit-euler", x) - (1.0 + x * x).sqrt()).abs() < 1e-12);
    assert!((growth("variational", x) - 1.0).abs() < 1e-12);
    assert!((growth("implicit-midpoint", x) - 1.0).abs() < 1e-12);
    assert!((growth("newmark", x) - 1.0).abs() < 1e-12);
    // |ζ| of the larger root of 3/2 ζ² − 2ζ + ½ = ixζ².
    assert!((growth("bdf2", x) - 0.973444170054181).abs() < 1e-6, "{}", growth("bdf2", x));
    // |ζ| of its two stages applied to ẏ = ixy.
    assert!((growth("tr-bdf2", x) - 0.9991860245395279).abs() < 1e-12, "{}", growth("tr-bdf2", x));
    // High frequencies by the factor ρ∞ = 0.8 that was asked for, a triple eigenvalue, whose rate shows
    // only after many steps; low ones hardly.
    let (high, low) = (growth("generalized-alpha", 1e3), growth("generalized-alpha", 0.1));
    assert!((high - 0.8).abs() < 0.03, "{high}");
    assert!(low < 1.0 && low > 1.0 - 1e-5, "{low}");
    assert!(growth("bdf2", 1e3) < 0.05 && growth("tr-bdf2", 1e3) < 0.05);
    assert!(matches!(stability(make("verlet").as_mut()), Stability::Below(l) if (l - 2.0).abs() < 1e-2));
    assert!(matches!(stability(make("rk4").as_mut()), Stability::Below(l) if (l - 8f64.sqrt()).abs() < 1e-3));
    assert_eq!(stability(make("explicit-euler").as_mut()), Stability::Never);
    assert_eq!(stability(make("variational").as_mut()), Stability::Always);
    assert_eq!(stability(make("backward-euler").as_mut()), Stability::Always);
}

/// The textbook's midpoint rule and the variational one are the same map.
#[test]
fn implicit_midpoint_is_variational() {
    let (system, state) = tetrahedron(0.6);
    let end = |name: &str| {
        let entry = lilyan_dynamics::integrators::find(name).unwrap();
        let mut integrator = entry.create(&[("tolerance".into(), Value::Number(1e-13))]).unwrap();
        run(&system, integrator.as_mut(), &state, 0.05, 100)
    };
    let (one, other) = (end("implicit-midpoint"), end("variational"));
    for (a, b) in one.q.iter().chain(&one.p).zip(other.q.iter().chain(&other.p)) {
        assert!((a - b).abs() < 1e-10, "{a} {b}");
    }
}

/// The order holds where steps change all the time, as they do around one that had to be halved.
#[test]
fn order_is_kept_with_changing_steps() {
    let (system, state) = tetrahedron(0.6);
    for name in ["bdf2", "tr-bdf2", "newmark", "generalized-alpha", "implicit-midpoint"] {
        let entry = lilyan_dynamics::integrators::find(name).unwrap();
        let end = |n: usize| {
            let mut integrator = entry.create(&[("tolerance".into(), Value::Number(1e-13))]).unwrap();
            let mut state = state.clone();
            let h = 0.8 / (4 * n) as f64;
            for k in 0..3 * n {
                integrator.step(&system, &mut state, if k % 3 == 0 { 2.0 * h } else { h }).unwrap();
            }
            state.q
        };
        let ends = [400, 800, 1600].map(end);
        let difference =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let order = (difference(&ends[0], &ends[1]) / difference(&ends[1], &ends[2])).log2();
        assert!((order - 2.0).abs() < 0.05, "{name}: order {order:.3}");
    }
}

/// Springs from soft to stiffer than steel at steps from 10 µs to 0.1 s, with and without damping: every
/// method arrives at finite numbers, or says why it cannot. LILYAN_LONG=1 tries everything between the ends.
#[test]
fn any_stiffness_and_step_converges_or_is_refused() {
    let long = std::env::var_os("LILYAN_LONG").is_some();
    let (stride, steps) = if long { (1, 5) } else { (2, 2) };
    each(|name, make, _| {
        for stiffness in [1e4, 1e6, 1e8, 1e10, 1e12].into_iter().step_by(stride) {
            for h in [1e-5, 1e-4, 1e-3, 1e-2, 1e-1].into_iter().step_by(stride) {
                for damping in [0.0, 1e-3 * stiffness] {
                    let (system, state) = stiff(stiffness, damping);
                    let mut simulation = Simulation::new(system, make(), state, h);
                    let (mut integrator, mut state) = (make(), simulation.state().clone());
                    for _ in 0..steps {
                        // A rule that was made for other energies may ask for thousands of steps: a few will do.
                        let arrived = match integrator.step_length() {
                            StepLength::Adaptive => {
                                integrator.step(simulation.system(), &mut state, h).map(|_| ())
                            }
                            _ => {
                                let arrived = simulation.advance().map(|_| ());
                                state.clone_from(simulation.state());
                                arrived
                            }
                        };
                        let State { q, v, p, .. } = &state;
                        assert!(
                            q.iter().chain(v).chain(p).all(|x| x.is_finite()),
                            "{name}: not finite at stiffness {stiffness:e}, step {h:e}, damping {damping:e}"
                        );
                        if let Err(error) = arrived {
                            assert!(error.to_string().contains("s: "), "{name}: {error}");
                            break;
                        }
                    }
                }
            }
        }
    });
}

/// \[kharevych2006\] Fig. 1: explicit Euler gains, backward Euler loses, the symplectic one keeps.
#[test]
fn pendulum_shows_who_keeps_energy() {
    let system = Pendulum::new(1.0, 1.0, 9.81);
    let state = State::new(&system, vec![1.0, 0.0, 0.0], vec![0.0; 3]);
    let energy = |s: &State| s.kinetic(&system) + system.energy(0.0, &s.q);
    let ratio = |name: &str| {
        let mut integrator = lilyan_dynamics::integrators::find(name).unwrap().create(&[]).unwrap();
        energy(&run(&system, integrator.as_mut(), &state, 0.01, 2000)) / energy(&state)
    };
    assert!(ratio("explicit-euler") > 2.0);
    assert!(ratio("backward-euler") < 0.4);
    assert!((ratio("variational") - 1.0).abs() < 2e-3);
    assert!((ratio("verlet") - 1.0).abs() < 2e-3);
}

/// A failed step leaves the state as it was.
#[test]
fn failure_leaves_the_state_alone() {
    let system = Oscillator::new(10.0);
    for entry in CATALOGUE {
        let mut state = State::new(&system, vec![f64::MAX, 0.0, 0.0], vec![f64::MAX, 0.0, 0.0]);
        let before = state.clone();
        let mut integrator = entry.create(&[]).unwrap();
        assert!(integrator.step(&system, &mut state, 10.0).is_err(), "{}", entry.name);
        assert_eq!(state, before, "{}", entry.name);
    }
}

#[test]
fn bad_options_are_refused_with_the_remedy() {
    for entry in CATALOGUE {
        let wrong = entry.create(&[("colour".into(), Value::Flag(true))]).err().unwrap();
        assert!(wrong.to_string().contains("colour"), "{wrong}");
        for option in entry.options {
            let wrong = entry.create(&[(option.name.into(), Value::Word("nonsense".into()))]);
            let message = wrong.err().unwrap();
            let message = message.to_string();
            assert!(message.contains(option.name) && message.contains("must be"), "{message}");
        }
    }
}
