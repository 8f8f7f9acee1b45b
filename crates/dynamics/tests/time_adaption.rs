//! Time adaption as \[kharevych2010\] shows it (Figs. 3.6–3.10), and what it costs against fixed steps.
//! `cargo test -p lilyan-dynamics --test time_adaption -- --nocapture` prints the figures of
//! docs/time-adaption.md.

mod common;
use common::{arrive, make};
use lilyan_dynamics::integrators::StepLength;
use lilyan_dynamics::options::{Formula, SharedFormula};
use lilyan_dynamics::systems::{Oscillator, Particles, Pendulum, Rods, Spring};
use lilyan_dynamics::{
    Abilities, ConfigurationSpace, Curvature, EnergyParts, Integrator, Simulation, State, System, Value,
};
use lilyan_solve::BlockMatrix;
use std::sync::{Arc, atomic::AtomicUsize, atomic::Ordering};

fn rule(name: &str, scale: f64, epsilon: f64) -> Vec<(&'static str, Value)> {
    vec![
        ("rule", Value::Word(name.into())),
        ("scale", Value::Number(scale)),
        ("epsilon", Value::Number(epsilon)),
    ]
}

/// Mean energies of the first and the last hundred of 4000 steps; less than all where it gave up.
fn first_and_last(system: &dyn System, start: &State, mut method: Box<dyn Integrator>, h: f64) -> [f64; 2] {
    let mut state = start.clone();
    let mut energies = Vec::new();
    for _ in 0..4000 {
        if method.step(system, &mut state, h).is_err() {
            break;
        }
        energies.push(state.kinetic(system) + system.energy(state.t, &state.q));
    }
    let n = energies.len();
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    [mean(&energies[..n.min(100)]), mean(&energies[n.saturating_sub(100)..])]
}

/// Fig. 3.6, Skeel's spring: Verlet with another step in every quarter of the period explodes, or dies, though
/// either step alone is stable; steps adapted to the motion do neither.
#[test]
fn skeels_spring() {
    let system = Oscillator::new(1.0);
    let start = State::new(&system, vec![1.0, 0.0, 0.0], vec![0.0; 3]);
    let energy = |s: &State| s.kinetic(&system) + system.energy(0.0, &s.q);
    let swapped = |away: f64, back: f64| {
        let (mut state, mut verlet) = (start.clone(), make("verlet", &[]));
        for _ in 0..200 {
            let h = if state.q[0] * state.v[0] > 0.0 { away } else { back };
            verlet.step(&system, &mut state, h).unwrap();
        }
        energy(&state)
    };
    println!(
        "Skeel's spring, 0.5 J: Verlet alternating {:.1e} J, {:.1e} J",
        swapped(1.2, 0.8),
        swapped(0.8, 1.2)
    );
    assert!(swapped(1.2, 0.8) > 1e2 && swapped(0.8, 1.2) < 1e-3);
    assert!((swapped(1.2, 1.2) - 0.5).abs() < 0.3 && (swapped(0.8, 0.8) - 0.5).abs() < 0.3);
    for name in ["adaptive-reversible", "adaptive-symplectic"] {
        let [first, last] = first_and_last(&system, &start, make(name, &rule("potential", 0.5, 1.0)), 0.4);
        println!("Skeel's spring, 0.5 J: {name} {first:.4} → {last:.4} J");
        assert!((last - first).abs() < 0.01 * first, "{name}: {first} → {last}");
    }
}

/// Figs. 3.7 and 3.8: the pendulum with steps from the start's position alone drifts.
#[test]
fn pendulum() {
    let system = Pendulum::new(1.0, 1.0, 9.81);
    let start = State::new(&system, vec![2.5, 0.0, 0.0], vec![0.0; 3]);
    for (name, scale, epsilon) in [("poses", 5.0, 0.3), ("phase-space", 5.0, 0.3)] {
        for (method, drifts) in
            [("adaptive-naive", true), ("adaptive-reversible", false), ("adaptive-symplectic", false)]
        {
            let [first, last] =
                first_and_last(&system, &start, make(method, &rule(name, scale, epsilon)), 0.2);
            println!("pendulum, {name}: {method} {first:.3} → {last:.3} J");
            let drift = (last / first - 1.0).abs();
            assert!(if drifts { drift > 0.1 } else { drift < 0.01 }, "{method}, {name}: {drift}");
        }
    }
}

/// The same pendulum as a mass on a rod: the rod keeps its length, and the motion is the same.
#[test]
fn pendulum_on_a_rod() {
    let (angle, speed) = (2.5f64, 0.3);
    let system = Rods::chain(1, 1.0, [angle.sin(), -angle.cos(), 0.0], 9.81);
    let velocity = vec![0.0, 0.0, 0.0, speed * angle.cos(), speed * angle.sin(), 0.0];
    let start = State::new(&system, system.places().to_vec(), velocity);
    let free = Pendulum::new(1.0, 1.0, 9.81);
    let free_start = State::new(&free, vec![angle, 0.0, 0.0], vec![speed, 0.0, 0.0]);
    for (method, drifts) in
        [("adaptive-naive", true), ("adaptive-reversible", false), ("adaptive-symplectic", false)]
    {
        let given = rule("poses", 5.0, 0.3);
        let end = |h: f64| arrive(&system, make(method, &given).as_mut(), &start, h, 2.0);
        let reference = arrive(&free, make("variational-4", &[]).as_mut(), &free_start, 1e-3, 2.0).q[0];
        let error = |s: &State| (s.q[3] - reference.sin()).hypot(s.q[4] + reference.cos());
        let (coarse, fine) = (error(&end(0.01)), error(&end(0.005)));
        println!("pendulum on a rod, {method}: off by {coarse:.1e} m, {fine:.1e} m at half the step");
        assert!(fine < 1e-3 && coarse > 3.5 * fine && coarse < 4.5 * fine, "{method}: {coarse} {fine}");
        assert!((end(0.01).q[3].hypot(end(0.01).q[4]) - 1.0).abs() < 1e-10);
        let [first, last] = first_and_last(&system, &start, make(method, &given), 0.1);
        println!("pendulum on a rod: {method} {first:.3} → {last:.3} J");
        // Above its lowest point.
        let drift = ((last - first) / (first + 9.81)).abs();
        assert!(if drifts { drift > 0.1 } else { drift < 0.01 }, "{method}: {first} → {last}");
    }
}

/// Fig. 3.8 (d): the acceleration of a mass on a rod is that along its circle, g∣sin θ∣, so that the steps follow it; the
/// mass of the hinge, which does not move, is not part of the mean. The mass never jumps to another root of the
/// equations, and energy stays.
#[test]
fn accelerations_on_a_rod() {
    for (angle, speed, scale, h) in
        [(0.93f64, 0.0, 10.0, 0.1), (2.5, 0.3, 5.0, 0.05), (0.93, 0.0, 10.0, 0.08)]
    {
        let system = Rods::chain(1, 1.0, [angle.sin(), -angle.cos(), 0.0], G);
        let velocity = vec![0.0, 0.0, 0.0, speed * angle.cos(), speed * angle.sin(), 0.0];
        let start = State::new(&system, system.places().to_vec(), velocity);
        // The multiplier asks for shorter steps, on a rod as for an angle.
        for (name, h) in [("adaptive-reversible", h), ("adaptive-symplectic", 0.2 * h)] {
            let mut method = make(name, &rule("acceleration", scale, 0.3));
            let (mut state, mut steps) = (start.clone(), Vec::new());
            let energy = |s: &State| s.kinetic(&system) + system.energy(0.0, &s.q) + G;
            let (mut least, mut most) = (f64::INFINITY, 0.0f64);
            for _ in 0..1000 {
                let before = state.clone();
                method.step(&system, &mut state, h).unwrap();
                let dt = state.t - before.t;
                let a = [&before, &state].map(|s| {
                    // −g along the tangent at (x, y) = (sin θ, −cos θ).
                    [G * s.q[3] * -s.q[4], G * s.q[3] * s.q[3]]
                });
                let mean = 0.5 * (a[0][0] + a[1][0]).hypot(a[0][1] + a[1][1]) / scale;
                let expected = h / (mean * mean + 0.09).sqrt();
                // Steps are as long as the rule says, to the accuracy of the solve.
                assert!((dt / expected - 1.0).abs() < 1e-6, "{name}: {dt} s, not {expected} s");
                steps.push(dt);
                (least, most) = (least.min(energy(&state)), most.max(energy(&state)));
            }
            let longest = steps.iter().copied().fold(0.0, f64::max);
            let shortest = steps.iter().copied().fold(f64::INFINITY, f64::min);
            println!(
                "rod from {angle} rad, {name}: steps {shortest:.4} to {longest:.4} s, energy {least:.3} to {most:.3} J \
                 of {:.3} J",
                energy(&start)
            );
            assert!(longest > 1.5 * shortest);
            assert!(least > 0.8 * energy(&start) && most < 1.2 * energy(&start), "{name}: {least} to {most}");
        }
    }
}

/// Fig. 3.8 (b): with the rule `poses` the angles between frames are almost equal, where with fixed steps they
/// are not.
#[test]
fn poses_are_equally_spaced() {
    let system = Pendulum::new(1.0, 1.0, 9.81);
    let start = State::new(&system, vec![2.0, 0.0, 0.0], vec![0.0; 3]);
    let spread = |mut method: Box<dyn Integrator>| {
        let (mut state, mut gaps) = (start.clone(), Vec::new());
        while gaps.len() < 20 || state.q[0] > -1.0 && state.v[0] < 0.0 {
            let before = state.q[0];
            method.step(&system, &mut state, 0.02).unwrap();
            if before < 1.0 && before > -0.9 {
                gaps.push((state.q[0] - before).abs());
            }
            if state.q[0] < -0.95 {
                break;
            }
        }
        gaps.iter().copied().fold(0.0, f64::max) / gaps.iter().copied().fold(f64::INFINITY, f64::min)
    };
    let adapted = spread(make("adaptive-reversible", &rule("poses", 1.0, 1e-3)));
    let fixed = spread(make("variational", &[]));
    println!("pendulum, longest over shortest way between poses: {adapted:.4} adapted, {fixed:.2} fixed");
    assert!(adapted < 1.01 && fixed > 1.1, "{adapted} {fixed}");
}

fn three_masses() -> (Particles, State) {
    let spring = |a, b| Spring { ends: [a, b], stiffness: 20.0, length: 1.0, damping: 0.0 };
    let system = Particles::new(&[1.0; 3], vec![spring(0, 1), spring(1, 2), spring(2, 0)], 1.0);
    let q = vec![0.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.5, 1.4, 0.0];
    let v = vec![0.0, -0.5, 0.0, 0.3, 0.8, 0.0, -0.3, -0.3, 0.0];
    let start = State::new(&system, q, v);
    (system, start)
}

/// Figs. 3.9 and 3.10: three masses, three springs, σ = 1/(W/10 + 1), 4000 steps.
#[test]
fn three_masses_and_three_springs() {
    let (system, start) = three_masses();
    let run = |name: &str, h: f64| {
        let [first, last] = first_and_last(&system, &start, make(name, &rule("potential", 10.0, 1.0)), h);
        println!("three masses, h = {h} s: {name} {first:.3} → {last:.3} J");
        last / first - 1.0
    };
    assert!(run("adaptive-naive", 0.1) < -0.1);
    assert!(run("adaptive-reversible", 0.1).abs() < 0.005);
    assert!(run("adaptive-symplectic", 0.1).abs() < 0.02);
    // Longer steps: the multiplier makes the symplectic one worse, as the source found.
    let (reversible, symplectic) = (run("adaptive-reversible", 0.15), run("adaptive-symplectic", 0.15));
    assert!(reversible.abs() < symplectic.abs(), "{reversible} {symplectic}");
    // Fig. 3.10 (b): naive adaption of a step that is not symmetric is worse by far.
    let mut skew = rule("potential", 10.0, 1.0);
    skew.push(("alpha", Value::Number(0.25)));
    let [first, last] = first_and_last(&system, &start, make("adaptive-naive", &skew), 0.1);
    println!("three masses, h = 0.1 s: adaptive-naive with alpha = 0.25 {first:.3} → {last:.3} J");
    assert!((last / first - 1.0).abs() > 0.3);
}

/// Figs. 3.7 and 3.9 (d, g): σ of one end. At the end alone, solved together with the step, it drifts as well; with the
/// multiplier, σ of the start alone holds at short steps and not at long ones.
#[test]
fn rules_at_one_end() {
    let (system, start) = three_masses();
    let run = |name: &str, sigma: &str, h: f64| {
        let mut given = rule("potential", 10.0, 1.0);
        given.push(("sigma", Value::Word(sigma.into())));
        let [first, last] = first_and_last(&system, &start, make(name, &given), h);
        println!("three masses, h = {h} s: {name} with sigma at the {sigma} {first:.3} → {last:.3} J");
        last / first - 1.0
    };
    let (by_start, by_end) = (run("adaptive-naive", "start", 0.1), run("adaptive-naive", "end", 0.1));
    // Backwards in time, one is the other: where one loses, the other gains.
    assert!(by_start < -0.1 && by_end > 0.1, "{by_start} {by_end}");
    assert!(run("adaptive-symplectic", "start", 0.05).abs() < 0.05);
    run("adaptive-symplectic", "start", 0.2);

    let mut method =
        make("adaptive-naive", &[("sigma", Value::Word("end".into())), ("scale", Value::Number(2.0))]);
    let mut state = start.clone();
    method.step(&system, &mut state, 0.1).unwrap();
    let mut g = vec![0.0; 9];
    system.gradient(0.0, &state.q, &mut g);
    let square = g.iter().map(|g| g * g).sum::<f64>() / 3.0 / 4.0;
    assert!((state.t - 0.1 / (square + 1.0).sqrt()).abs() < 1e-10, "{}", state.t);
}

#[derive(Debug)]
struct ShortInTheMiddle;
impl Formula for ShortInTheMiddle {
    fn source(&self) -> &str {
        "0.2 + 0.8*x^2"
    }
    fn eval_dual(&self, values: &[f64], wrt: usize) -> (f64, f64) {
        (0.2 + 0.8 * values[0] * values[0], if wrt == 0 { 1.6 * values[0] } else { 0.0 })
    }
    fn depends_on(&self, index: usize) -> bool {
        index == 0
    }
}

/// Steps by a formula of the place (§3.3.6: short in a region) are what it says in the middle of each; energy does not drift.
#[test]
fn rules_by_formula() {
    let system = Oscillator::new(1.0);
    let start = State::new(&system, vec![1.0, 0.0, 0.0], vec![0.0; 3]);
    let given = [("formula", Value::Formula(SharedFormula(Arc::new(ShortInTheMiddle))))];
    for name in ["adaptive-reversible", "adaptive-symplectic"] {
        let [first, last] = first_and_last(&system, &start, make(name, &given), 0.2);
        assert!((last / first - 1.0).abs() < 0.01, "{name}: {first} → {last}");
        let (mut state, mut method) = (start.clone(), make(name, &given));
        for _ in 0..100 {
            let before = state.clone();
            method.step(&system, &mut state, 0.2).unwrap();
            let middle = 0.5 * (before.q[0] + state.q[0]);
            let off = state.t - before.t - 0.2 * (0.2 + 0.8 * middle * middle);
            assert!(off.abs() < 1e-8, "{name}: {off}");
        }
    }
}

/// The trapezoidal rule with adapted steps is Verlet with steps that the equation σ gives: reversible, of second order.
#[test]
fn adapted_verlet() {
    let (system, start) = three_masses();
    let given = || {
        let mut given = rule("potential", 10.0, 1.0);
        given.push(("quadrature", Value::Word("trapezoid".into())));
        given
    };
    for name in ["adaptive-reversible", "adaptive-symplectic"] {
        let [first, last] = first_and_last(&system, &start, make(name, &given()), 0.05);
        println!("three masses, h = 0.05 s: {name}, trapezoid {first:.3} → {last:.3} J");
        assert!((last / first - 1.0).abs() < 0.02, "{name}: {first} → {last}");
        let reference = arrive(&system, make("variational-4", &[]).as_mut(), &start, 1e-3, 1.0);
        let error = |h: f64| {
            let end = arrive(&system, make(name, &given()).as_mut(), &start, h, 1.0);
            end.q.iter().zip(&reference.q).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        let ratio = error(0.01) / error(0.005);
        assert!((3.5..4.5).contains(&ratio), "{name}: errors fall by {ratio}");
    }
    // One step is a Verlet step of its length, and retraces itself.
    let (mut adapted, mut fixed) = (start.clone(), start.clone());
    let mut method = make("adaptive-reversible", &given());
    method.step(&system, &mut adapted, 0.1).unwrap();
    make("verlet", &[]).step(&system, &mut fixed, adapted.t).unwrap();
    let apart = |a: &State, b: &State| a.q.iter().zip(&b.q).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(apart(&adapted, &fixed) < 1e-9);
    adapted.v.iter_mut().chain(&mut adapted.p).for_each(|x| *x = -*x);
    method.step(&system, &mut adapted, 0.1).unwrap();
    assert!(apart(&adapted, &start) < 1e-8, "{}", apart(&adapted, &start));
}

/// Damping and adaption together: the energy that is lost is the energy dissipated, at any pace.
#[test]
fn damped_energy_goes_where_it_should() {
    let spring = |a, b| Spring { ends: [a, b], stiffness: 20.0, length: 1.0, damping: 0.2 };
    for name in ["adaptive-reversible", "adaptive-symplectic", "variational"] {
        let (_, start) = three_masses();
        let system = Particles::new(&[1.0; 3], vec![spring(0, 1), spring(1, 2), spring(2, 0)], 1.0);
        let options = if name == "variational" { Vec::new() } else { rule("potential", 10.0, 1.0) };
        let mut simulation = Simulation::new(system, make(name, &options), start, 0.02);
        for _ in 0..200 {
            simulation.advance().unwrap();
        }
        let total = simulation.total_energy();
        let ledger = simulation.ledger();
        println!("damped, {name}: {total:.4} J left, {:.4} J dissipated", ledger.dissipated_physical);
        assert!(ledger.dissipated_physical > 2.0, "{name}");
        assert!(ledger.dissipated_numerical(total).abs() < 0.01 * ledger.initial, "{name}");
        assert!(simulation.state().t >= 4.0 - 1e-9 && simulation.state().t < 4.0 + 0.02, "{name}");
    }
}

/// A unit mass in a plane, W by its distance; counts its forces.
struct Point {
    potential: Potential,
    space: ConfigurationSpace,
    forces: AtomicUsize,
}

#[derive(Clone, Copy)]
enum Potential {
    /// −1/r.
    Kepler,
    /// Weight g·x and a floor ½k·min(x, 0)².
    Bounce(f64),
}

const G: f64 = 9.81;

impl Point {
    fn new(potential: Potential) -> Self {
        Self { potential, space: ConfigurationSpace::single_node(1.0), forces: AtomicUsize::new(0) }
    }
}

fn norm(q: &[f64]) -> f64 {
    q.iter().map(|x| x * x).sum::<f64>().sqrt()
}

impl System for Point {
    fn space(&self) -> &ConfigurationSpace {
        &self.space
    }
    fn energy(&self, _t: f64, q: &[f64]) -> f64 {
        match self.potential {
            Potential::Kepler => -1.0 / norm(q),
            Potential::Bounce(k) => G * q[0] + 0.5 * k * q[0].min(0.0).powi(2),
        }
    }
    fn gradient(&self, _t: f64, q: &[f64], g: &mut [f64]) {
        self.forces.fetch_add(1, Ordering::Relaxed);
        match self.potential {
            Potential::Kepler => {
                let r = norm(q);
                (0..3).for_each(|i| g[i] = q[i] / r.powi(3));
            }
            Potential::Bounce(k) => g.copy_from_slice(&[G + k * q[0].min(0.0), 0.0, 0.0]),
        }
    }
    fn hessian(&self, _t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        match self.potential {
            Potential::Kepler => {
                let r = norm(q);
                let along = if curvature == Curvature::Exact { 3.0 } else { 1.0 };
                let entry = |i: usize, j: usize| {
                    (f64::from(u8::from(i == j)) - along * q[i] * q[j] / (r * r)) / r.powi(3)
                };
                h.add_block(0, 0, &std::array::from_fn(|k| entry(k / 3, k % 3)));
            }
            Potential::Bounce(k) => h.add_diagonal(&[if q[0] < 0.0 { k } else { 0.0 }, 0.0, 0.0]),
        }
    }
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        EnergyParts::other(self.energy(t, q))
    }
    fn abilities(&self) -> Abilities<'_> {
        Abilities::NONE
    }
}

/// Forces taken, and the distance from `goal` at the time `end`.
fn cost_and_error(system: &Point, start: &State, goal: &[f64], end: f64, name: &str, h: f64) -> (usize, f64) {
    let options = match (name, system.potential) {
        ("adaptive-error", _) => vec![("accuracy", Value::Number(h))],
        ("adaptive-reversible", Potential::Kepler) => rule("acceleration", 1.0, 1.0),
        ("adaptive-reversible", Potential::Bounce(_)) => rule("acceleration", G, 1.0),
        _ => Vec::new(),
    };
    let (mut method, mut state) = (make(name, &options), start.clone());
    system.forces.store(0, Ordering::Relaxed);
    let longest = if name == "adaptive-error" { 0.1 } else { h };
    while end - state.t > 1e-12 {
        let rest = end - state.t;
        let mut next = state.clone();
        let step = if method.step_length() == StepLength::Adaptive { longest } else { longest.min(rest) };
        if method.step(system, &mut next, step).is_err() {
            return (usize::MAX, f64::INFINITY);
        }
        if next.t > end + 1e-12 {
            make("variational", &[]).step(system, &mut state, rest).unwrap();
        } else {
            state = next;
        }
    }
    let error = state.q.iter().zip(goal).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    (system.forces.load(Ordering::Relaxed), error)
}

/// Forces that a method takes until its error is below `allowed`, with steps (or accuracies) halved from `h`.
fn forces_for(system: &Point, start: &State, goal: &[f64], end: f64, name: &str, allowed: f64) -> usize {
    let mut h = 0.1;
    for _ in 0..16 {
        let (forces, error) = cost_and_error(system, start, goal, end, name, h);
        if error <= allowed {
            println!("  {name}: {forces} forces for an error of {error:.1e} (at {h:.1e})");
            return forces;
        }
        h *= 0.5;
    }
    panic!("{name} never gets below {allowed}");
}

/// An orbit of eccentricity 0.9, three times round: steps that shorten where it is fast pay.
#[test]
fn adaption_pays_on_an_eccentric_orbit() {
    let system = Point::new(Potential::Kepler);
    let e: f64 = 0.9;
    let speed = ((1.0 - e) / (1.0 + e)).sqrt();
    let start = State::new(&system, vec![1.0 + e, 0.0, 0.0], vec![0.0, speed, 0.0]);
    let goal = start.q.clone();
    println!("orbit:");
    let forces = |name: &str| forces_for(&system, &start, &goal, 6.0 * std::f64::consts::PI, name, 0.02);
    let (fixed, adapted) = (forces("variational"), forces("adaptive-reversible"));
    assert!(2 * adapted < fixed, "{adapted} adapted, {fixed} fixed");
    let (fixed, controlled) = (forces("tr-bdf2"), forces("adaptive-error"));
    assert!(2 * controlled < fixed, "{controlled} controlled, {fixed} fixed");
}

/// A ball on a stiff floor, three bounces and a half: long flights, short contacts.
#[test]
fn adaption_on_a_bouncing_ball() {
    let stiffness: f64 = 1e5;
    let system = Point::new(Potential::Bounce(stiffness));
    let start = State::new(&system, vec![1.0, 0.0, 0.0], vec![0.0; 3]);
    let (fall, omega) = ((2.0 / G).sqrt(), stiffness.sqrt());
    let contact = 2.0 / omega * (std::f64::consts::PI - ((2.0 * G).sqrt() * omega / G).atan());
    let end = 3.0 * (2.0 * fall + contact) + 0.5 * fall;
    let goal = [1.0 - 0.25, 0.0, 0.0];
    println!("bounce:");
    let forces = |name: &str| forces_for(&system, &start, &goal, end, name, 0.005);
    let fixed = forces("variational");
    let adapted = forces("adaptive-reversible");
    let controlled = forces("adaptive-error");
    println!("  fixed {fixed}, adapted {adapted}, controlled {controlled}");
    assert!(controlled < fixed, "{controlled} controlled, {fixed} fixed");
}

/// The error follows the accuracy that is asked for, and stays near it.
#[test]
fn accuracy_is_met() {
    let system = Pendulum::new(1.0, 1.0, 9.81);
    let start = State::new(&system, vec![2.0, 0.0, 0.0], vec![0.0; 3]);
    let end = |method: Box<dyn Integrator>, h: f64| {
        let mut simulation = Simulation::new(Pendulum::new(1.0, 1.0, 9.81), method, start.clone(), h);
        while simulation.state().t < 3.0 - 1e-9 {
            simulation.advance().unwrap();
        }
        assert!((simulation.state().t - 3.0).abs() < 1e-12);
        simulation.state().q[0]
    };
    let exact = end(make("variational-4", &[("tolerance", Value::Number(1e-13))]), 1e-3);
    // Way that could be gone at the greatest speed in 3 s.
    let way = 3.0 * (2.0 * 9.81 * (1.0 - 2f64.cos())).sqrt();
    for accuracy in [1e-2, 1e-3, 1e-4, 1e-5] {
        let error =
            (end(make("adaptive-error", &[("accuracy", Value::Number(accuracy))]), 0.5) - exact).abs() / way;
        println!("accuracy {accuracy:.0e}: error {error:.1e}");
        assert!(error < 3.0 * accuracy, "{accuracy}: {error}");
    }
}
