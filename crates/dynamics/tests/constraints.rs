//! Constraints held exactly, by every integrator that says it can, against closed forms.

mod common;

use common::{arrive, make, run};
use lilyan_dynamics::constraints::{Distance, TOLERANCE, start, worst};
use lilyan_dynamics::integrators::{CATALOGUE, Claims, StepLength};
use lilyan_dynamics::systems::Rods;
use lilyan_dynamics::{Integrator, Simulation, State, System, Value};

const G: f64 = 9.81;

/// Every integrator that keeps constraints, with every variant, solved closely.
fn each(mut test: impl FnMut(&str, &dyn Fn() -> Box<dyn Integrator>, Claims)) {
    let mut tested = 0;
    for entry in CATALOGUE {
        for mut given in entry.all_variants() {
            if entry.create(&given).unwrap().constraint_solver().is_none() {
                continue;
            }
            let name = format!("{} {given:?}", entry.name);
            if entry.options.iter().any(|o| o.name == "tolerance") {
                given.push(("tolerance".into(), Value::Number(1e-12)));
            }
            let make = || entry.create(&given).unwrap();
            let claims = make().claims();
            test(&name, &make, claims);
            tested += 1;
        }
    }
    assert!(tested >= 10, "only {tested} integrators keep constraints");
}

/// A unit mass on a rod of length l, at an angle (rad) from the vertical, with an angular velocity.
fn pendulum(l: f64, angle: f64, omega: f64) -> (Rods, State) {
    let system = Rods::chain(1, l, [angle.sin(), -angle.cos(), 0.0], G);
    let mut v = vec![0.0; 6];
    (v[3], v[4]) = (l * omega * angle.cos(), l * omega * angle.sin());
    let mut state = State::new(&system, system.places().to_vec(), v);
    assert!(start(&system, &mut state).unwrap() < 1e-14);
    (system, state)
}

/// Two unit masses on rods of 1 m at two angles: planar, chaotic at large swings.
fn double(angles: [f64; 2], rates: [f64; 2]) -> (Rods, State) {
    let rods = vec![Distance::new("upper", [0, 1], 1.0), Distance::new("lower", [1, 2], 1.0)];
    let (q, v) = unfold(angles, rates);
    let places: Vec<[f64; 3]> = q.chunks_exact(3).map(|x| [x[0], x[1], x[2]]).collect();
    let system = Rods::new(&[1.0; 3], &places, 1, rods, [0.0, -G, 0.0]);
    let mut state = State::new(&system, q, v);
    start(&system, &mut state).unwrap();
    (system, state)
}

/// Positions and velocities of the double pendulum from its angles.
fn unfold(a: [f64; 2], w: [f64; 2]) -> (Vec<f64>, Vec<f64>) {
    let (mut q, mut v) = (vec![0.0; 9], vec![0.0; 9]);
    for k in 0..2 {
        let (at, from) = (3 * (k + 1), 3 * k);
        q[at] = q[from] + a[k].sin();
        q[at + 1] = q[from + 1] - a[k].cos();
        v[at] = v[from] + w[k] * a[k].cos();
        v[at + 1] = v[from + 1] + w[k] * a[k].sin();
    }
    (q, v)
}

fn energy(system: &Rods, s: &State) -> f64 {
    s.kinetic(system) + system.energy(0.0, &s.q)
}

/// Ten thousand steps over some eight swings: the rod's length, its rate, and the energy.
#[test]
fn a_pendulum_keeps_its_length() {
    each(|name, make, claims| {
        let (system, mut state) = pendulum(0.5, 2.0, 0.0);
        let (first, mut band): (f64, f64) = (energy(&system, &state), 0.0);
        let mut integrator = make();
        // Variants differ in nothing that ten thousand steps would show and two thousand not.
        let all = name.ends_with("[]") || std::env::var("LILYAN_LONG").is_ok_and(|v| v == "1");
        for k in 0..if all { 10_000 } else { 2_000 } {
            integrator.step(&system, &mut state, 0.002).unwrap_or_else(|e| panic!("{name} step {k}: {e}"));
            let (r, v) = (&state.q[3..6], &state.v[3..6]);
            let length = (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]).sqrt();
            assert!(
                (length / 0.5 - 1.0).abs() <= TOLERANCE,
                "{name} step {k}: length off by {:e}",
                length - 0.5
            );
            let rate = (r[0] * v[0] + r[1] * v[1] + r[2] * v[2]) / 0.5;
            // A discrete gradient keeps the mean rate over each step, the others the rate itself.
            let allowed = if claims.energy { 1e-4 } else { 1e-10 };
            assert!(rate.abs() < allowed, "{name} step {k}: the rod lengthens by {rate:e} m/s");
            band = band.max((energy(&system, &state) - first).abs() / (G * 0.5 * 1.5));
        }
        if claims.energy {
            assert!(band < 1e-9, "{name}: energy off by {band:e}");
        } else if claims.symplectic {
            let allowed = if claims.order == 1 { 2e-2 } else { 1e-4 };
            assert!(band < allowed, "{name}: energy off by {band:e}");
        }
        println!("{name}: energy within {band:.1e}");
    });
}

/// T = 2π √(l/g) / agm(1, cos θ₀/2).
#[test]
fn the_period_is_that_of_the_closed_form() {
    let (mut a, mut b) = (1.0, 1f64.cos());
    for _ in 0..8 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    let period = std::f64::consts::TAU * (0.5 / G).sqrt() / a;
    each(|name, make, claims| {
        let (system, state) = pendulum(0.5, 2.0, 0.0);
        let (mut integrator, mut s) = (make(), state);
        let mut crossings = Vec::new();
        while crossings.len() < 7 {
            let before = s.clone();
            integrator.step(&system, &mut s, 1e-3).unwrap();
            let h = s.t - before.t;
            let (x0, x1) = (before.q[3], s.q[3]);
            if x0 * x1 < 0.0 {
                // Where the cubic through positions and velocities is zero, near enough by two secants.
                let root = x0 / (x0 - x1);
                let cubic = |u: f64| {
                    let (d0, d1) = (h * before.v[3], h * s.v[3]);
                    x0 * (1.0 + 2.0 * u) * (1.0 - u).powi(2)
                        + d0 * u * (1.0 - u).powi(2)
                        + x1 * u * u * (3.0 - 2.0 * u)
                        + d1 * u * u * (u - 1.0)
                };
                crossings.push(before.t + h * (root - cubic(root) / (x1 - x0)));
            }
        }
        let measured = (crossings[6] - crossings[0]) / 3.0;
        let error = (measured / period - 1.0).abs();
        let allowed = if claims.order == 1 { 2e-2 } else { 1e-5 };
        assert!(error < allowed, "{name}: period off by {error:e}");
    });
}

/// The tension is m(g cos θ + l θ̇²); the mean over a step is that of its middle, to second order.
#[test]
fn multipliers_are_the_tension() {
    each(|name, make, claims| {
        let worst = |h: f64| {
            let (system, state) = pendulum(0.5, 1.2, 1.0);
            let mut simulation = Simulation::new(system, make(), state, h);
            let mut error: f64 = 0.0;
            let steps = (0.6 / h) as usize;
            for _ in 0..steps {
                let before = simulation.state().clone();
                if simulation.advance().unwrap().substeps == 0 {
                    continue;
                }
                let after = simulation.state();
                let middle = |a: &[f64], b: &[f64], k: usize| 0.5 * (a[k] + b[k]);
                let y = middle(&before.q, &after.q, 4);
                let speed: f64 = (3..6).map(|k| 0.5 * (before.v[k].powi(2) + after.v[k].powi(2))).sum();
                let tension = -G * y / 0.5 + speed / 0.5;
                error = error.max((simulation.constraint_forces()[0] / tension - 1.0).abs());
            }
            error
        };
        let (coarse, fine) = (worst(4e-3), worst(2e-3));
        // Along a discrete gradient only the mean of two velocities keeps to the rod; what is left in each
        // of them is of second order and changes sign, which makes its share of the force one of first order.
        let factor = if claims.order == 1 || claims.energy { 1.7 } else { 3.5 };
        assert!(fine < 0.02, "{name}: tension off by {fine:e}");
        assert!(coarse > factor * fine, "{name}: tension off by {coarse:e}, {fine:e} at half the step");
    });
}

#[test]
fn order_with_constraints_is_as_claimed() {
    each(|name, make, claims| {
        let (system, state) = double([1.0, 0.4], [0.5, -1.0]);
        let steps = [0, 400, 100, 0, 50][claims.order as usize];
        let ends: Vec<State> = (0..5)
            .map(|k| arrive(&system, make().as_mut(), &state, 0.5 / (steps << k) as f64, 0.5))
            .collect();
        let difference = |a: &State, b: &State| {
            let both = a.q.iter().chain(&a.v).zip(b.q.iter().chain(&b.v));
            both.map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
        };
        let d: Vec<f64> = ends.windows(2).map(|w| difference(&w[0], &w[1])).collect();
        let order = (d[2] / d[3]).log2();
        println!("{name}: order {order:.3}");
        let off = (order - claims.order as f64).abs();
        assert!(off <= 0.05, "{name}: order {order:.4} measured, {} claimed ({d:?})", claims.order);
    });
}

#[test]
fn reversible_with_constraints_as_claimed() {
    each(|name, make, claims| {
        let (system, state) = double([1.0, 0.4], [0.5, -1.0]);
        let mut integrator = make();
        let mut end = run(&system, integrator.as_mut(), &state, 0.005, 200);
        for x in end.v.iter_mut().chain(&mut end.p) {
            *x = -*x;
        }
        let back = run(&system, integrator.as_mut(), &end, 0.005, 200);
        let error = back.q.iter().zip(&state.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!("{name}: reversal misses by {error:.1e}");
        if claims.reversible {
            assert!(error < 1e-8, "{name}: reversal misses by {error:e}");
        } else if name != "adaptive-naive []" {
            // In uniform gravity every step of that one is as long.
            assert!(error > 1e-6, "{name} is reversible ({error:e}) but does not claim it");
        }
    });
}

/// The map of (θ, p_θ) of the double pendulum, its coordinates on the constraints, is symplectic.
#[test]
fn symplectic_on_the_constraints_as_claimed() {
    each(|name, make, claims| {
        let (system, state) = double([1.0, 0.4], [0.3, -0.8]);
        // An adapted step is symplectic for a given energy.
        let mut first = make();
        let mut after = state.clone();
        first.step(&system, &mut after, 0.02).unwrap();
        let memory = first.memory();
        // p_θ = (∂q/∂θ)ᵀ p, with ∂q/∂θ the velocities of unit rates.
        let tangent = |a: [f64; 2]| [unfold(a, [1.0, 0.0]).1, unfold(a, [0.0, 1.0]).1];
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let map = |z: [f64; 4]| -> [f64; 4] {
            let t = tangent([z[0], z[1]]);
            let m = [[dot(&t[0], &t[0]), dot(&t[0], &t[1])], [dot(&t[1], &t[0]), dot(&t[1], &t[1])]];
            let det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
            let rates = [(m[1][1] * z[2] - m[0][1] * z[3]) / det, (m[0][0] * z[3] - m[1][0] * z[2]) / det];
            let (q, v) = unfold([z[0], z[1]], rates);
            let mut integrator = make();
            integrator.restore(&memory, &after).unwrap();
            let end = run(&system, integrator.as_mut(), &State::new(&system, q, v), 0.02, 5);
            let angle = |k: usize| {
                let (x, y) = (end.q[3 * k + 3] - end.q[3 * k], end.q[3 * k + 1] - end.q[3 * k + 4]);
                x.atan2(y)
            };
            let a = [angle(0), angle(1)];
            let t = tangent(a);
            [a[0], a[1], dot(&t[0], &end.p), dot(&t[1], &end.p)]
        };
        let at = [1.0, 0.4, 0.3, -0.5];
        // Sixth-order differences.
        let stencil = [3.0 / 4.0, -3.0 / 20.0, 1.0 / 60.0];
        let delta = 0.004;
        let columns: Vec<[f64; 4]> = (0..4)
            .map(|j| {
                let mut column = [0.0; 4];
                for (k, c) in stencil.iter().enumerate() {
                    for sign in [1.0, -1.0] {
                        let mut z = at;
                        z[j] += sign * (k + 1) as f64 * delta;
                        for (o, m) in column.iter_mut().zip(map(z)) {
                            *o += sign * c * m / delta;
                        }
                    }
                }
                column
            })
            .collect();
        let mut defect: f64 = 0.0;
        for a in 0..4 {
            for b in 0..4 {
                let form: f64 = (0..2)
                    .map(|i| columns[a][i] * columns[b][2 + i] - columns[a][2 + i] * columns[b][i])
                    .sum();
                let omega = f64::from(i8::from(b == a + 2)) - f64::from(i8::from(a == b + 2));
                defect = defect.max((form - omega).abs());
            }
        }
        println!("{name}: symplectic defect {defect:.1e}");
        // In uniform gravity even backward Euler is symplectic: there is nothing to hold against it.
        assert!(!claims.symplectic || defect < 1e-9, "{name}: symplectic defect {defect:e}");
    });
}

/// The double pendulum in its two angles, where there are no constraints, by ten thousand steps of Runge and Kutta.
fn angles_after(t: f64, angles: [f64; 2], rates: [f64; 2]) -> [f64; 2] {
    let slope = |z: [f64; 4]| {
        let [a, b, u, w] = z;
        let (s, c) = (a - b).sin_cos();
        let (f, g) = (-s * w * w - 2.0 * G * a.sin(), s * u * u - G * b.sin());
        let det = 2.0 - c * c;
        [u, w, (f - c * g) / det, (2.0 * g - c * f) / det]
    };
    let ahead = |z: [f64; 4], h: f64, d: [f64; 4]| -> [f64; 4] { std::array::from_fn(|i| z[i] + h * d[i]) };
    let (steps, mut z) = (10_000, [angles[0], angles[1], rates[0], rates[1]]);
    let h = t / f64::from(steps);
    for _ in 0..steps {
        let k1 = slope(z);
        let k2 = slope(ahead(z, 0.5 * h, k1));
        let k3 = slope(ahead(z, 0.5 * h, k2));
        let k4 = slope(ahead(z, h, k3));
        z = std::array::from_fn(|i| z[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    [z[0], z[1]]
}

#[test]
fn a_double_pendulum_moves_as_its_angles_do() {
    let (angles, rates) = ([1.0, 0.4], [0.5, -1.0]);
    let (reference, _) = unfold(angles_after(1.0, angles, rates), [0.0; 2]);
    each(|name, make, claims| {
        let (system, state) = double(angles, rates);
        let end = arrive(&system, make().as_mut(), &state, 1e-3, 1.0);
        let error = end.q.iter().zip(&reference).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Rules may ask for steps that are some times longer.
        let allowed = match make().step_length() {
            StepLength::Adaptive => 1e-4,
            _ => [0.0, 1e-2, 1e-5, 0.0, 1e-9][claims.order as usize],
        };
        println!("{name}: off by {error:.1e} m");
        assert!(error < allowed, "{name}: off by {error:e} m after a second");
    });
}

/// A chain long enough for the sparse factorisation of the whole, against a reference of 16 times the steps.
#[test]
fn a_long_chain_swings_as_its_reference() {
    for name in ["variational", "verlet", "energy-momentum"] {
        let system = Rods::chain(60, 0.05, [0.8, -0.6, 0.0], G);
        let mut state = State::new(&system, system.places().to_vec(), vec![0.0; 183]);
        start(&system, &mut state).unwrap();
        let reference = run(&system, make(name, &[]).as_mut(), &state, 2.5e-4, 800);
        let error = |h: f64, n: usize| {
            let end = run(&system, make(name, &[]).as_mut(), &state, h, n);
            let (which, excess) = worst(&system, end.t, &end.q).unwrap();
            assert!(excess <= TOLERANCE, "{name}: rod {which} off by {excess:e}");
            end.q.iter().zip(&reference.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let (coarse, fine) = (error(4e-3, 50), error(2e-3, 100));
        assert!(fine < 1e-3 && coarse > 3.0 * fine, "{name}: {coarse:e}, {fine:e} at half the step");
    }
}

/// Dumbbells that tumble freely: both momenta, and, for `energy-momentum`, the energy.
#[test]
fn momenta_of_a_free_framework_are_kept() {
    each(|name, make, claims| {
        let places = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.3, 0.9, 0.0], [1.2, 0.5, 0.8]];
        let apart = |a: usize, b: usize| {
            (0..3).map(|k| f64::powi(places[a][k] - places[b][k], 2)).sum::<f64>().sqrt()
        };
        let rods =
            [[0, 1], [1, 2], [2, 3]].map(|[a, b]| Distance::new("rod", [a as u32, b as u32], apart(a, b)));
        let system = Rods::new(&[1.0, 2.0, 0.5, 1.5], &places, 0, rods.to_vec(), [0.0; 3]);
        let v = (0..12).map(|i| (1.3 * i as f64).sin()).collect();
        let mut state = State::new(&system, places.concat(), v);
        start(&system, &mut state).unwrap();
        let end = run(&system, make().as_mut(), &state, 0.01, 1000);
        let ((p0, l0), (p1, l1)) = (state.momenta([0.0; 3]), end.momenta([0.0; 3]));
        for k in 0..3 {
            assert!((p1[k] - p0[k]).abs() < 1e-10, "{name}: P{k} {:e}", p1[k] - p0[k]);
            if claims.angular_momentum {
                assert!((l1[k] - l0[k]).abs() < 1e-8, "{name}: L{k} {:e}", l1[k] - l0[k]);
            }
        }
        let drift = energy(&system, &end) / energy(&system, &state) - 1.0;
        assert!(!claims.energy || drift.abs() < 1e-9, "{name}: energy {drift:e}");
    });
}

/// Let go, the mass flies on as a stone does.
#[test]
fn a_rod_is_released_in_time() {
    each(|name, make, claims| {
        let places = [[0.0; 3], [1.0, 0.0, 0.0]];
        let rod = Distance { until: 0.3, ..Distance::new("rod", [0, 1], 1.0) };
        let system = Rods::new(&[1.0; 2], &places, 1, vec![rod], [0.0, -G, 0.0]);
        let state = State::new(&system, places.concat(), vec![0.0; 6]);
        let mut simulation = Simulation::new(system, make(), state, 0.01);
        for k in 0..30 {
            simulation.advance().unwrap();
            // The last steps of methods with their own pace may end when it is over.
            let forces = simulation.constraint_forces();
            assert!(!(10..25).contains(&k) || forces[0] > 1.0, "{name}: {forces:?}");
        }
        let free = simulation.state().clone();
        for _ in 0..20 {
            simulation.advance().unwrap();
        }
        assert!(simulation.constraint_forces().iter().all(|f| *f == 0.0), "{name}");
        let end = simulation.state();
        let length = (end.q[3].powi(2) + end.q[4].powi(2)).sqrt();
        assert!(length > 1.01, "{name}: still held at {length}");
        let time = end.t - free.t;
        assert!((end.q[3] - free.q[3] - time * free.v[3]).abs() < 1e-9, "{name}");
        let fall = free.q[4] + time * free.v[4] - 0.5 * G * time * time;
        // First-order methods fall wrongly by ½ g h t.
        let allowed = match make().step_length() {
            // Steps that change their length are not exact in free fall.
            StepLength::Adaptive => 1e-3,
            _ if claims.order == 1 => 0.5 * G * 0.01 * 0.21,
            _ => 1e-9,
        };
        assert!((end.q[4] - fall).abs() < allowed, "{name}: {} instead of {fall}", end.q[4]);
    });
}

#[test]
fn a_restart_repeats_the_bits() {
    each(|name, make, _| {
        let (system, state) = double([1.0, 0.4], [0.5, -1.0]);
        let mut simulation = Simulation::new(system, make(), state, 0.005);
        for _ in 0..40 {
            simulation.advance().unwrap();
        }
        let saved = simulation.checkpoint();
        let mut ahead = |integrator: Option<Box<dyn Integrator>>| {
            if let Some(integrator) = integrator {
                simulation.set_integrator(integrator);
                simulation.restore(&saved).unwrap();
            }
            for _ in 0..40 {
                simulation.advance().unwrap();
            }
            (simulation.state().clone(), simulation.constraint_forces().to_vec())
        };
        assert_eq!(ahead(None), ahead(Some(make())), "{name}");
    });
}

/// Damping neither weakens a constraint nor reduces the order: damped springs beside rods.
mod damped {
    use super::*;
    use lilyan_dynamics::Abilities;
    use lilyan_dynamics::constraints::Constraint;
    use lilyan_dynamics::systems::{Particles, Spring};

    struct Both(Particles, Vec<Box<dyn Constraint>>);

    impl System for Both {
        crate::forward_system!(0);
        fn abilities(&self) -> Abilities<'_> {
            Abilities { constraints: Some(&self.1), ..self.0.abilities() }
        }
    }

    #[test]
    fn order_with_damping_and_constraints_is_as_claimed() {
        let spring = |a, b, k| Spring { ends: [a, b], stiffness: k, length: 1.0, damping: 0.6 };
        let springs = || vec![spring(0, 2, 40.0), spring(1, 2, 55.0), spring(1, 3, 30.0), spring(0, 3, 70.0)];
        let q = vec![0.0, 0.1, 0.0, 1.1, 0.0, 0.05, 0.4, 0.95, 0.0, 0.55, 0.3, 0.9];
        let v: Vec<f64> = (0..12).map(|i| 0.6 * (2.1 * i as f64).sin()).collect();
        let apart = |a: usize, b: usize| {
            (0..3).map(|k| f64::powi(q[3 * a + k] - q[3 * b + k], 2)).sum::<f64>().sqrt()
        };
        each(|name, make, claims| {
            let rod = |a: usize, b: usize| -> Box<dyn Constraint> {
                Box::new(Distance::new("rod", [a as u32, b as u32], apart(a, b)))
            };
            let particles = Particles::new(&[1.0, 1.5, 0.8, 1.2], springs(), 1.0);
            let system = Both(particles, vec![rod(0, 1), rod(2, 3)]);
            let mut state = State::new(&system, q.clone(), v.clone());
            start(&system, &mut state).unwrap();
            let steps = [0, 300, 100, 0, 50][claims.damped_order as usize];
            let ends: Vec<State> = (0..5)
                .map(|k| {
                    let s = arrive(&system, make().as_mut(), &state, 0.5 / (steps << k) as f64, 0.5);
                    assert!(worst(&system, s.t, &s.q).unwrap().1 <= TOLERANCE, "{name}");
                    s
                })
                .collect();
            let difference = |a: &State, b: &State| {
                let both = a.q.iter().chain(&a.v).zip(b.q.iter().chain(&b.v));
                both.map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
            };
            let d: Vec<f64> = ends.windows(2).map(|w| difference(&w[0], &w[1])).collect();
            let order = (d[2] / d[3]).log2();
            let off = (order - claims.damped_order as f64).abs();
            assert!(off <= 0.05, "{name}: order {order:.4}, {} claimed ({d:?})", claims.damped_order);
        });
    }
}
