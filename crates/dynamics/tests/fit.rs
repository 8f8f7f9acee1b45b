//! Fits against the same system with the matrix that a fit stands for, written out.

mod common;

use lilyan_dynamics::fit::{Deformation, Fit, Fitting, Phase, Target};
use lilyan_dynamics::integrators::{CATALOGUE, find, refusal};
use lilyan_dynamics::system::abilities::{
    Dissipation, FeasibleStep, Loads, PrescribedMotion, add_midpoint_forces,
};
use lilyan_dynamics::system::terms::{StatefulTerms, StepStart, StepTerms, TermHistory};
use lilyan_dynamics::systems::{Particles, Spring};
use lilyan_dynamics::{
    Abilities, ConfigurationSpace, Curvature, EnergyParts, Integrator, Mass, Simulation, State, System, Value,
};
use lilyan_solve::newton::dot;
use lilyan_solve::{BlockMatrix, BlockPattern, lowest_modes};
use std::ops::Range;
use std::sync::Arc;

const NODES: usize = 7;
const N: usize = 3 * NODES;

/// Springs K (q − X), damped by αM + βK, under a load; the first node is held until `until`.
struct Linear {
    k: Vec<f64>,
    d: Vec<f64>,
    space: ConfigurationSpace,
    rest: Arc<Vec<f64>>,
    alpha: f64,
    load: bool,
    until: f64,
    /// Amplitude of the motion of the held node, m.
    shaken: f64,
    fits: Vec<Fit>,
}

impl Linear {
    fn product(a: &[f64], x: &[f64]) -> Vec<f64> {
        a.chunks_exact(N).map(|row| dot(row, x)).collect()
    }
    fn add(a: &[f64], h: &mut BlockMatrix) {
        for i in 0..NODES {
            for j in 0..=i {
                let block: Vec<f64> = (0..9).map(|e| a[(3 * i + e / 3) * N + 3 * j + e % 3]).collect();
                h.add_block(i, j, block.as_slice().try_into().unwrap());
            }
        }
    }
    fn away(&self, q: &[f64]) -> Vec<f64> {
        q.iter().zip(self.rest.iter()).map(|(q, x)| q - x).collect()
    }
}

impl System for Linear {
    fn space(&self) -> &ConfigurationSpace {
        &self.space
    }
    fn energy(&self, t: f64, q: &[f64]) -> f64 {
        let d = self.away(q);
        let mut load = vec![0.0; N];
        self.add_load(t, &mut load);
        0.5 * dot(&d, &Self::product(&self.k, &d)) - dot(&load, &d)
    }
    fn gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        g.copy_from_slice(&Self::product(&self.k, &self.away(q)));
        let mut load = vec![0.0; N];
        self.add_load(t, &mut load);
        g.iter_mut().zip(load).for_each(|(g, f)| *g -= f);
    }
    fn hessian(&self, _t: f64, _q: &[f64], _curvature: Curvature, h: &mut BlockMatrix) {
        Self::add(&self.k, h);
    }
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        EnergyParts::other(self.energy(t, q))
    }
    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            prescribed: Some(self),
            loads: self.load.then_some(self),
            dissipation: (self.alpha > 0.0).then_some(self),
            deformation: Some(self),
            ..Abilities::NONE
        }
    }
}

impl Loads for Linear {
    fn add_load(&self, t: f64, f: &mut [f64]) {
        if self.load {
            f.iter_mut().enumerate().for_each(|(i, f)| *f += (i as f64).sin() * (1.0 + t));
        }
    }
}

impl Dissipation for Linear {
    fn add_forces(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        self.add_outer_forces(t, q, v, f);
        f.iter_mut().zip(Self::product(&self.d, v)).for_each(|(f, d)| *f -= d);
    }
    fn add_mean_forces(&self, t0: f64, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        add_midpoint_forces(self, t0, h, q0, q1, f);
    }
    fn add_damping_matrix(&self, _t: f64, _q: &[f64], _v: &[f64], d: &mut BlockMatrix) {
        Self::add(&self.d, d);
        d.add_diagonal(&self.mass().diagonal().iter().map(|m| self.alpha * m).collect::<Vec<_>>());
    }
    fn add_mean_damping_matrix(&self, t: f64, _h: f64, between: &[f64], v: &[f64], d: &mut BlockMatrix) {
        self.add_damping_matrix(t, between, v, d);
    }
}

impl PrescribedMotion for Linear {
    fn mark_prescribed(&self, t: f64, mask: &mut [bool]) {
        mask[..3].fill(t <= self.until);
    }
    fn place_prescribed(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        if t <= self.until {
            for k in 0..3 {
                q[k] = self.rest[k] + self.shaken * (4.0 * t).sin();
                v[k] = 4.0 * self.shaken * (4.0 * t).cos();
            }
        }
    }
    fn prescribed_moves(&self) -> bool {
        self.shaken != 0.0
    }
}

impl Deformation for Linear {
    fn deformation_gradient(&self, _t: f64, q: &[f64], g: &mut [f64]) {
        g.copy_from_slice(&Self::product(&self.k, &self.away(q)));
    }
    fn add_deformation_hessian(&self, t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.hessian(t, q, curvature, h);
    }
    fn has_constant_stiffness(&self, _dofs: &Range<usize>) -> bool {
        true
    }
    fn add_outer_forces(&self, _t: f64, _q: &[f64], v: &[f64], f: &mut [f64]) {
        for i in 0..N {
            f[i] -= self.alpha * self.mass().diagonal()[i] * v[i];
        }
    }
    fn fits(&self) -> &[Fit] {
        &self.fits
    }
}

const RATIOS: [f64; 4] = [0.3, 0.5, 0.45, 0.8];

/// A system with a fit, and the same with K‡ and D‡ written out. `shaped`: not its own modes have other values, but
/// mixtures of them.
fn pair(damped: bool, load: bool, shaped: bool) -> [Linear; 2] {
    let masses: Vec<f64> = (0..N).map(|i| 1.0 + 0.1 * (i / 3) as f64).collect();
    let rest: Vec<f64> = (0..N).map(|i| (1.3 * i as f64).cos()).collect();
    // K = Σ k n nᵀ along all pairs, plus a little of everything so that nothing is multiple.
    let mut k = vec![0.0; N * N];
    for a in 0..NODES {
        for b in 0..a {
            for e in 0..9 {
                let (i, j) = (e / 3, e % 3);
                let n = |k: usize| rest[3 * a + k] - rest[3 * b + k];
                let value = 40.0 * n(i) * n(j) + if i == j { 3.0 } else { 0.0 };
                k[(3 * a + i) * N + 3 * a + j] += value;
                k[(3 * b + i) * N + 3 * b + j] += value;
                k[(3 * a + i) * N + 3 * b + j] -= value;
                k[(3 * b + i) * N + 3 * a + j] -= value;
            }
        }
    }
    let all: Vec<u32> = (0..NODES as u32).collect();
    let pattern = Arc::new(BlockPattern::from_cliques(NODES, [all.as_slice()].into_iter()));
    let (mut kb, mut mb) = (BlockMatrix::zeros(pattern.clone()), BlockMatrix::zeros(pattern.clone()));
    Linear::add(&k, &mut kb);
    mb.add_diagonal(&masses);
    let held: Vec<bool> = (0..N).map(|i| i < 3).collect();
    let modes = lowest_modes(&kb, &mb, &held, RATIOS.len(), 1e-12).unwrap();
    let mut fitted = k.clone();
    let mut add = |weight: f64, u: &[f64]| {
        for i in 0..N {
            for j in 0..N {
                fitted[i * N + j] += weight * masses[i] * u[i] * masses[j] * u[j];
            }
        }
    };
    let mut target = Target::Ratios(RATIOS.to_vec());
    if shaped {
        modes.vectors.iter().zip(&modes.values).for_each(|(u, value)| add(-value, u));
        // Half a reflection, so that every new mode has something of all four; lengths and signs do not matter.
        let mix = |i: usize, j: usize| if i == j { 0.5 } else { -0.5 };
        let mut shapes = Vec::new();
        let values: Vec<f64> = modes.values.iter().zip(RATIOS).map(|(v, r)| v * r).collect();
        for j in 0..4 {
            let one = |d: usize| (0..4).map(|i| mix(i, j) * modes.vectors[i][d]).sum::<f64>();
            let shape: Vec<f64> = (0..N).map(one).collect();
            add(values[j], &shape);
            shapes.extend(shape.iter().map(|x| [3.0, -0.2, 1.0, -7.0][j] * x));
        }
        target = Target::Modes { values, shapes: Arc::new(shapes), from: 4 };
    } else {
        let changed = modes.vectors.iter().zip(&modes.values).zip(RATIOS);
        changed.for_each(|((u, value), r)| add((r - 1.0) * value, u));
    }
    let rest = Arc::new(rest);
    let make = |k: Vec<f64>, fits| Linear {
        d: k.iter().map(|k| if damped { 0.01 * k } else { 0.0 }).collect(),
        k,
        space: ConfigurationSpace {
            pattern: pattern.clone(),
            mass: Mass::Lumped(masses.clone()),
            length: 1.0,
        },
        rest: rest.clone(),
        alpha: if damped { 0.2 } else { 0.0 },
        load,
        until: f64::INFINITY,
        shaken: 0.0,
        fits,
    };
    let phases = vec![Phase { until: f64::INFINITY, target }];
    let fit = Fit { name: "all".into(), dofs: 0..N, rest: rest.clone(), phases };
    [make(k, vec![fit]), make(fitted, Vec::new())]
}

fn start(system: &Linear) -> State {
    let q = system.rest.iter().enumerate().map(|(i, x)| x + 0.1 * (2.0 * i as f64).sin()).collect();
    State::new(system, q, (0..N).map(|i| (i as f64).cos()).collect())
}

fn run(system: Linear, integrator: Box<dyn Integrator>, steps: usize) -> Simulation<Linear> {
    let state = start(&system);
    let mut simulation = Simulation::new(system, integrator, state, 0.05);
    for _ in 0..steps {
        simulation.advance().unwrap();
    }
    simulation
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
}

#[test]
fn a_fit_is_the_matrix_that_it_stands_for() {
    let mut tried = Vec::new();
    for entry in CATALOGUE {
        let mut given = Vec::new();
        if entry.options.iter().any(|o| o.name == "tolerance") {
            given.push(("tolerance".to_string(), Value::Number(1e-12)));
        }
        let make = || entry.create(&given).unwrap();
        let refused = refusal(make().as_ref(), &pair(false, false, false)[0]);
        if let Some(why) = refused {
            assert!(!make().takes_fits() && why.contains("use"), "{}: {why}", entry.name);
            continue;
        }
        tried.push(entry.name);
        for (damped, shaped) in [(false, false), (true, true), (true, false), (false, true)] {
            let [fitted, plain] = pair(damped, damped, shaped);
            let (fitted, plain) = (run(fitted, make(), 60), run(plain, make(), 60));
            let report = &fitted.fitting().unwrap().bodies()[0];
            assert_eq!((report.steps, report.skipped), (60, 0), "{}", entry.name);
            let error = apart(&fitted.state().q, &plain.state().q);
            let close = 1e-8;
            assert!(error < close, "{} damped {damped}: {error:e}", entry.name);
            let (a, b) = (fitted.total_energy(), plain.total_energy());
            assert!((a - b).abs() < 10.0 * close * b.abs(), "{} damped {damped}: {a} J, not {b}", entry.name);
            let (a, b) = (fitted.ledger(), plain.ledger());
            let ledgers = [a.initial - b.initial, a.work_external - b.work_external];
            assert!(
                apart(&ledgers, &[0.0; 2]) < 100.0 * close * b.initial.abs(),
                "{}: {a:?}, not {b:?}",
                entry.name
            );
            let lost = (a.dissipated_physical - b.dissipated_physical).abs();
            assert!(lost <= 100.0 * close * b.dissipated_physical.abs(), "{}: {a:?}, not {b:?}", entry.name);
        }
    }
    for name in ["semi-implicit", "backward-euler", "implicit-midpoint", "siere"] {
        assert!(tried.contains(&name), "{name} is among {tried:?}");
    }
}

#[test]
fn constraints_that_change_bring_their_own_ratios() {
    let make = || lilyan_dynamics::integrators::find("semi-implicit").unwrap().create(&[]).unwrap();
    let [mut fitted, _] = pair(false, false, false);
    fitted.until = 0.52;
    let infinity = f64::INFINITY;
    let phase = |until, ratios: &[f64]| Phase { until, target: Target::Ratios(ratios.to_vec()) };
    // Nothing is fitted before the release: then the two move alike up to it, and differ afterwards.
    fitted.fits[0].phases = vec![phase(0.52, &[]), phase(infinity, &[0.5, 0.5])];
    let [mut bare, _] = pair(false, false, false);
    bare.until = 0.52;
    bare.fits.clear();
    let (a, b) = (run(fitted, make(), 10), run(bare, make(), 10));
    assert_eq!(a.state().q, b.state().q);
    let mut a = a;
    let mut b = b;
    for _ in 0..10 {
        a.advance().unwrap();
        b.advance().unwrap();
    }
    assert!(apart(&a.state().q, &b.state().q) > 1e-3);
    // Free, the correction does not push the whole: momentum stays.
    let before = a.state().momenta([0.0; 3]).0;
    for _ in 0..20 {
        a.advance().unwrap();
    }
    assert!(apart(&before, &a.state().momenta([0.0; 3]).0) < 1e-12);
}

/// Springs that turn: a nonlinear system with a fit.
struct Net(Particles, Vec<Fit>);

impl System for Net {
    forward_system!(0);
    fn abilities(&self) -> Abilities<'_> {
        Abilities { deformation: Some(self), ..self.0.abilities() }
    }
}

impl Deformation for Net {
    fn deformation_gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        self.0.gradient(t, q, g);
    }
    fn add_deformation_hessian(&self, t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.0.hessian(t, q, curvature, h);
    }
    fn has_constant_stiffness(&self, _dofs: &Range<usize>) -> bool {
        false
    }
    fn add_outer_forces(&self, _t: f64, _q: &[f64], _v: &[f64], _f: &mut [f64]) {}
    fn fits(&self) -> &[Fit] {
        &self.1
    }
}

/// A net in a fence: contact limits its steps and has terms with state.
struct Fenced(Net);

impl System for Fenced {
    forward_system!(0);
    fn abilities(&self) -> Abilities<'_> {
        Abilities { feasible_step: Some(self), terms: Some(self), ..self.0.abilities() }
    }
}

impl FeasibleStep for Fenced {
    fn max_step(&self, _t: [f64; 2], _q: &[f64], _d: &[f64]) -> f64 {
        0.25
    }
}

impl StatefulTerms for Fenced {
    fn begin_step<'a>(&'a self, _start: StepStart<'_>) -> Box<dyn StepTerms + 'a> {
        unreachable!("no step is taken")
    }
    fn stored_energy(&self, _history: &TermHistory, _q: &[f64]) -> f64 {
        0.75
    }
}

/// The system that an integrator steps has the contact of the system that is fitted.
/// With constant matrices a semi-implicit step is one of backward Euler, also where held nodes move and pull at the modes.
#[test]
fn held_nodes_that_move_act_on_fitted_modes() {
    let of = |name: &str, fitted: bool| {
        let [mut system, _] = pair(false, true, true);
        system.shaken = 0.2;
        if !fitted {
            system.fits.clear();
        }
        let integrator = lilyan_dynamics::integrators::find(name).unwrap().create(&[]).unwrap();
        let run = run(system, integrator, 40);
        run.state().q.clone()
    };
    let fitted = of("semi-implicit", true);
    assert!(
        apart(&fitted, &of("backward-euler", true)) < 1e-5,
        "{}",
        apart(&fitted, &of("backward-euler", true))
    );
    assert!(apart(&fitted, &of("semi-implicit", false)) > 1e-2);
}

#[test]
fn a_fit_leaves_contact_alone() {
    let (net, state) = net([1.0; 3], 0.0);
    let fenced = Fenced(net);
    let fitting = Fitting::new(&fenced, &state).unwrap();
    let view = fitting.view(&fenced);
    let Abilities { feasible_step: Some(feasible), terms: Some(terms), .. } = view.abilities() else {
        panic!("the fit hides contact")
    };
    assert_eq!(feasible.max_step([0.0; 2], &state.q, &state.v), 0.25);
    assert_eq!(terms.stored_energy(&state.terms, &state.q), 0.75);
    // The energy that the terms store between steps is part of the energy of the simulation.
    let simulation =
        Simulation::new(fenced, find("backward-euler").unwrap().create(&[]).unwrap(), state, 0.01);
    assert_eq!(simulation.energies().1.other, 0.75);
}

/// A box of eight masses with all its diagonals, spinning, stretched by so much.
fn net(stretch: [f64; 3], spin: f64) -> (Net, State) {
    let corner = |i: usize| [(i & 1) as f64, 1.6 * (i >> 1 & 1) as f64, 2.7 * (i >> 2) as f64];
    let rest: Vec<f64> = (0..8).flat_map(corner).collect();
    let mut springs = Vec::new();
    for a in 0..8u32 {
        for b in 0..a {
            let (x, y) = (corner(a as usize), corner(b as usize));
            let length = (0..3).map(|k| (x[k] - y[k]).powi(2)).sum::<f64>().sqrt();
            springs.push(Spring { ends: [a, b], stiffness: 100.0 + f64::from(a), length, damping: 0.0 });
        }
    }
    let phases = vec![Phase { until: f64::INFINITY, target: Target::Ratios(vec![0.6, 0.7, 0.5]) }];
    let fit = Fit { name: "box".into(), dofs: 0..24, rest: Arc::new(rest.clone()), phases };
    let net = Net(Particles::new(&[1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7], springs, 1.0), vec![fit]);
    let q: Vec<f64> = rest.iter().enumerate().map(|(i, x)| (x - 0.5) * stretch[i % 3]).collect();
    let v = q.chunks_exact(3).flat_map(|x| [-spin * x[1], spin * x[0], 0.1]).collect();
    let state = State::new(&net, q, v);
    (net, state)
}

#[test]
fn a_body_that_turns_keeps_its_fit_and_its_momenta() {
    let make = || lilyan_dynamics::integrators::find("implicit-midpoint").unwrap().create(&[]).unwrap();
    let (system, state) = net([1.05, 0.98, 1.0], 3.0);
    let (linear, angular) = state.momenta([0.0; 3]);
    let mut simulation = Simulation::new(system, make(), state, 0.01);
    for _ in 0..300 {
        simulation.advance().unwrap();
    }
    // More than a turn later.
    let report = &simulation.fitting().unwrap().bodies()[0];
    assert_eq!((report.steps, report.skipped), (300, 0), "{:?} {:?}", report.reason, report.first);
    let (p, l) = simulation.state().momenta([0.0; 3]);
    assert!(apart(&p, &linear) < 1e-9, "{p:?}, not {linear:?}");
    // The modes are those of the start of each step, the torque is asked for in its middle.
    assert!(apart(&l, &angular) < 1e-3 * angular[2], "{l:?}, not {angular:?}");
}

#[test]
fn a_restart_repeats_every_bit_and_a_failure_is_counted() {
    for name in ["semi-implicit", "siere", "backward-euler"] {
        let make = || lilyan_dynamics::integrators::find(name).unwrap().create(&[]).unwrap();
        let (system, state) = net([1.2, 0.9, 1.0], 1.0);
        let mut whole = Simulation::new(system, make(), state, 0.02);
        for _ in 0..15 {
            whole.advance().unwrap();
        }
        let checkpoint = whole.checkpoint();
        let (system, state) = net([1.2, 0.9, 1.0], 1.0);
        let mut resumed = Simulation::new(system, make(), state, 0.02);
        resumed.restore(&checkpoint).unwrap();
        for _ in 0..15 {
            whole.advance().unwrap();
            resumed.advance().unwrap();
        }
        assert_eq!(whole.state(), resumed.state(), "{name}");
        assert_eq!(whole.checkpoint().fits, resumed.checkpoint().fits, "{name}");
    }
    // Flattened, the body has nothing of what it was at rest.
    let (system, state) = net([1.0, 1.0, 0.05], 0.0);
    let make = || lilyan_dynamics::integrators::find("semi-implicit").unwrap().create(&[]).unwrap();
    let mut simulation = Simulation::new(system, make(), state, 1e-4);
    simulation.advance().unwrap();
    let report = &simulation.fitting().unwrap().bodies()[0];
    assert_eq!((report.steps, report.skipped), (1, 1));
    assert!(report.first.is_some() && report.reason.is_some_and(|why| why.contains("strained")));
}
