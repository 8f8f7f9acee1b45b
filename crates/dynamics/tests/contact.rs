//! Terms with state and feasible-step limits: a particle and a wall without thickness.
//!
//! The distance to the wall is unsigned, as that of surfaces in contact is, and the energy is finite on both sides.
//! Nothing but the path of a step tells the sides apart.

mod common;

use common::make;
use lilyan_dynamics::integrators::{CATALOGUE, refusal};
use lilyan_dynamics::system::abilities::{DiscreteGradient, FeasibleStep, PrescribedMotion};
use lilyan_dynamics::system::half_hessian;
use lilyan_dynamics::system::terms::{StatefulTerms, StepStart, StepTerms, TermHistory};
use lilyan_dynamics::{
    Abilities, ConfigurationSpace, Curvature, EnergyParts, Integrator, Simulation, State, StepError, System,
};
use lilyan_solve::BlockMatrix;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Distance from the wall at which the barrier begins, m, and its stiffness, J.
const REACH: f64 = 0.1;
const KAPPA: f64 = 1.0;

/// κ(1−x)³/x of the gap x in units of the reach, its first and its second derivative by the gap.
fn barrier(gap: f64) -> [f64; 3] {
    let x = gap / REACH;
    if x >= 1.0 {
        return [0.0; 3];
    }
    let y = 1.0 - x;
    let slope = -y * y * (1.0 + 2.0 * x) / (x * x);
    let curvature = 2.0 * y * (1.0 + x + x * x) / (x * x * x);
    [KAPPA * y * y * y / x, KAPPA * slope / REACH, KAPPA * curvature / (REACH * REACH)]
}

/// A unit mass in front of the plane x = 0, which a barrier surrounds on both sides.
struct Walled {
    space: ConfigurationSpace,
    /// N; pushes along y.
    push: f64,
    /// Force of the friction per normal force; 0: none.
    friction: f64,
    /// A second particle is prescribed to move along x with this velocity, m/s.
    piston: Option<f64>,
    /// Whether the stateful terms limit steps, and not the system.
    limited_by_terms: bool,
    /// How often the terms ask for another solve of a step although nothing changed.
    extra_solves: usize,
    /// How often a step was solved again.
    lags: AtomicUsize,
}

impl Walled {
    fn new() -> Self {
        Self::with(1)
    }

    fn with(nodes: usize) -> Self {
        let all: Vec<u32> = (0..nodes as u32).collect();
        Self {
            space: ConfigurationSpace::lumped(&vec![1.0; nodes], std::iter::once(&all[..]), 1.0),
            push: 0.0,
            friction: 0.0,
            piston: None,
            limited_by_terms: false,
            extra_solves: 0,
            lags: AtomicUsize::new(0),
        }
    }

    /// Gaps: of the particle to the wall, or, with a piston, of the two particles along x.
    fn gap(&self, q: &[f64]) -> f64 {
        if self.piston.is_some() { q[0] - q[3] } else { q[0] }
    }
}

impl System for Walled {
    fn space(&self) -> &ConfigurationSpace {
        &self.space
    }
    fn energy(&self, _t: f64, q: &[f64]) -> f64 {
        barrier(self.gap(q).abs())[0] - self.push * q[1]
    }
    fn gradient(&self, _t: f64, q: &[f64], g: &mut [f64]) {
        g.fill(0.0);
        let gap = self.gap(q);
        g[0] = gap.signum() * barrier(gap.abs())[1];
        g[1] = -self.push;
        if self.piston.is_some() {
            g[3] = -g[0];
        }
    }
    fn hessian(&self, _t: f64, q: &[f64], _: Curvature, h: &mut BlockMatrix) {
        let c = barrier(self.gap(q).abs())[2];
        let block = [c, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        h.add_block(0, 0, &block);
        if self.piston.is_some() {
            h.add_block(1, 1, &block);
            h.add_block(1, 0, &block.map(|x| -x));
        }
    }
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        EnergyParts::other(self.energy(t, q))
    }
    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            prescribed: self.piston.map(|_| self as &dyn PrescribedMotion),
            feasible_step: (!self.limited_by_terms).then_some(self),
            terms: (self.friction > 0.0 || self.limited_by_terms || self.extra_solves > 0).then_some(self),
            discrete_gradient: Some(self),
            ..Abilities::NONE
        }
    }
}

impl DiscreteGradient for Walled {
    fn discrete_gradient(&self, _t: [f64; 2], q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        let (a, b) = (self.gap(q0).abs(), self.gap(q1).abs());
        let [w0, w1] = [a, b].map(|gap| barrier(gap)[0]);
        let slope = if (b - a).abs() > 1e-7 { (w1 - w0) / (b - a) } else { barrier(0.5 * (a + b))[1] };
        g.fill(0.0);
        g[0] = self.gap(q0).signum() * slope;
        g[1] = -self.push;
        if self.piston.is_some() {
            g[3] = -g[0];
        }
        w1.is_finite()
    }
    fn add_discrete_hessian(
        &self,
        t: [f64; 2],
        q0: &[f64],
        q1: &[f64],
        curvature: Curvature,
        h: &mut BlockMatrix,
    ) {
        half_hessian(self, t, q0, q1, curvature, h);
    }
}

impl FeasibleStep for Walled {
    /// Nine tenths of the way to the wall.
    fn max_step(&self, _t: [f64; 2], q: &[f64], d: &[f64]) -> f64 {
        let (gap, rate) = (self.gap(q), self.gap(d));
        if gap * rate < 0.0 { 0.9 * gap.abs() / rate.abs() } else { f64::INFINITY }
    }
}

impl PrescribedMotion for Walled {
    fn mark_prescribed(&self, _t: f64, mask: &mut [bool]) {
        mask[3..].fill(true);
    }
    fn place_prescribed(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        let speed = self.piston.unwrap_or(0.0);
        q[3..].copy_from_slice(&[speed * t - 1.0, 0.0, 0.0]);
        v[3..].copy_from_slice(&[speed, 0.0, 0.0]);
    }
    fn prescribed_moves(&self) -> bool {
        true
    }
}

/// Viscous friction along y: ½ c Λ (y − y₀)²/h with the normal force Λ at the lagged position.
struct Sliding<'a> {
    of: &'a Walled,
    h: f64,
    y: f64,
    normal: f64,
    dissipated: f64,
    steps: u8,
    solves: usize,
}

impl Sliding<'_> {
    fn stiffness(&self) -> f64 {
        self.of.friction * self.normal / self.h
    }
}

impl StatefulTerms for Walled {
    fn begin_step<'a>(&'a self, start: StepStart<'_>) -> Box<dyn StepTerms + 'a> {
        let TermHistory { dissipated, data } = start.history;
        let normal = -barrier(self.gap(start.q).abs())[1];
        let steps = data.first().copied().unwrap_or(0);
        let (h, y, dissipated) = (start.h, start.q[1], *dissipated);
        Box::new(Sliding { of: self, h, y, normal, dissipated, steps, solves: 0 })
    }
    fn stored_energy(&self, _history: &TermHistory, _q: &[f64]) -> f64 {
        0.0
    }
}

impl StepTerms for Sliding<'_> {
    fn energy(&self, q: &[f64]) -> f64 {
        0.5 * self.stiffness() * (q[1] - self.y).powi(2)
    }
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        g[1] += self.stiffness() * (q[1] - self.y);
    }
    fn add_hessian(&self, _q: &[f64], _curvature: Curvature, h: &mut BlockMatrix) {
        let k = self.stiffness();
        h.add_block(0, 0, &[0.0, 0.0, 0.0, 0.0, k, 0.0, 0.0, 0.0, 0.0]);
    }
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        g[1] += self.stiffness() * (0.5 * (q0[1] + q1[1]) - self.y);
        true
    }
    fn max_step(&self, q: &[f64], d: &[f64]) -> f64 {
        if self.of.limited_by_terms { FeasibleStep::max_step(self.of, [0.0; 2], q, d) } else { f64::INFINITY }
    }
    fn lag(&mut self, q: &[f64]) -> bool {
        self.solves += 1;
        let normal = -barrier(self.of.gap(q).abs())[1];
        let changed = (normal - self.normal).abs() > 1e-10 * (1.0 + normal);
        self.normal = normal;
        if changed {
            self.of.lags.fetch_add(1, Ordering::Relaxed);
        }
        changed || self.solves <= self.of.extra_solves
    }
    fn end_step(&self, q: &[f64]) -> TermHistory {
        let dissipated = self.dissipated + self.stiffness() * (q[1] - self.y).powi(2);
        TermHistory { dissipated, data: vec![self.steps.wrapping_add(1)] }
    }
}

/// Every entry and variant that steps contact.
fn each(mut test: impl FnMut(&str, &dyn Fn() -> Box<dyn Integrator>)) -> usize {
    let mut count = 0;
    for entry in CATALOGUE {
        for given in entry.all_variants() {
            let make = || entry.create(&given).unwrap();
            if make().takes_contact() {
                test(&format!("{} {given:?}", entry.name), &make);
                count += 1;
            }
        }
    }
    count
}

/// Steps whose ballistic guess lies beyond the wall, where the energy is lower than in front of it.
#[test]
fn no_step_passes_through_a_wall() {
    // Whoever limits steps: the system, the terms, or the system of a step with terms.
    let systems: [fn() -> Walled; 3] = [
        Walled::new,
        || Walled { limited_by_terms: true, ..Walled::new() },
        || Walled { friction: 0.5, ..Walled::new() },
    ];
    let tested = each(|name, make| {
        for (h, system) in [0.02, 0.1, 0.5].into_iter().flat_map(|h| systems.map(|system| (h, system()))) {
            let state = State::new(&system, vec![0.08, 0.0, 0.0], vec![-3.0, 0.0, 0.0]);
            let mut simulation = Simulation::new(system, make(), state, h);
            for _ in 0..(2.0 / h) as usize {
                simulation.advance().unwrap_or_else(|e| panic!("{name}, h = {h}: {e}"));
                let x = simulation.state().q[0];
                assert!(x > 0.0, "{name}, h = {h}: passed through the wall to {x}");
            }
            let v = simulation.state().v[0];
            assert!(v > 0.0, "{name}, h = {h}: not thrown back, v = {v}");
        }
    });
    assert!(tested >= 8, "{tested}");
}

#[test]
fn an_elastic_impact_keeps_its_energy() {
    for h in [0.005, 0.02, 0.1, 0.5] {
        let system = Walled::new();
        let state = State::new(&system, vec![0.5, 0.0, 0.0], vec![-3.0, 0.0, 0.0]);
        let mut simulation = Simulation::new(system, make("energy-momentum", &[]), state, h);
        for _ in 0..(1.0 / h) as usize {
            simulation.advance().unwrap();
        }
        let v = simulation.state().v[0];
        assert!((v - 3.0).abs() < 1e-7, "h = {h}: {v}");
    }
}

/// A piston that is driven into a free particle pushes it along, however far it moves in a step.
#[test]
fn prescribed_motion_does_not_jump_through_what_is_in_its_way() {
    each(|name, make| {
        for h in [0.01, 0.1, 0.5] {
            let system = Walled { piston: Some(4.0), ..Walled::with(2) };
            let state = State::new(&system, vec![0.5, 0.0, 0.0, 0.0, 0.0, 0.0], vec![0.0; 6]);
            let mut simulation = Simulation::new(system, make(), state, h);
            for _ in 0..(1.5 / h) as usize {
                simulation.advance().unwrap_or_else(|e| panic!("{name}, h = {h}: {e}"));
                let q = &simulation.state().q;
                assert!(q[0] > q[3], "{name}, h = {h}: {} behind the piston at {}", q[0], q[3]);
                let place = 4.0 * simulation.state().t - 1.0;
                assert!((q[3] - place).abs() < 1e-12, "{name}: the piston is at {}, not {place}", q[3]);
            }
        }
    });
}

/// A single step, which no halving helps: the piston moves four times as far as the gap.
#[test]
fn prescribed_motion_pushes_what_yields_within_one_step() {
    for name in ["backward-euler", "bdf2", "newmark", "tr-bdf2", "energy-momentum"] {
        let system = Walled { piston: Some(4.0), ..Walled::with(2) };
        let mut state = State::new(&system, vec![-0.9, 0.0, 0.0, 0.0, 0.0, 0.0], vec![0.0; 6]);
        make(name, &[]).step(&system, &mut state, 0.1).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!((state.q[3] + 0.6).abs() < 1e-12, "{name}: the piston is at {}", state.q[3]);
        assert!(state.q[0] > state.q[3], "{name}: {} behind the piston", state.q[0]);
    }
}

/// Something that cannot give way: both particles are prescribed.
#[test]
fn prescribed_motion_against_what_cannot_yield_is_told() {
    struct Clamped(Walled);
    impl System for Clamped {
        forward_system!(0);
        fn abilities(&self) -> Abilities<'_> {
            Abilities { prescribed: Some(self), ..self.0.abilities() }
        }
    }
    impl PrescribedMotion for Clamped {
        fn mark_prescribed(&self, _t: f64, mask: &mut [bool]) {
            mask.fill(true);
        }
        fn place_prescribed(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
            self.0.place_prescribed(t, q, v);
            q[..3].copy_from_slice(&[0.5, 0.0, 0.0]);
            v[..3].fill(0.0);
        }
        fn prescribed_moves(&self) -> bool {
            true
        }
    }
    let system = Clamped(Walled { piston: Some(4.0), ..Walled::with(2) });
    let state = State::new(&system, vec![0.5, 0.0, 0.0, 0.0, 0.0, 0.0], vec![0.0; 6]);
    let mut simulation = Simulation::new(system, make("backward-euler", &[]), state, 0.1);
    let error = (0..20).find_map(|_| simulation.advance().err()).expect("the piston passes through");
    assert!(matches!(error, StepError::Blocked { .. }), "{error}");
    assert!(simulation.state().q[3] < 0.5);
}

/// The friction of a converged step belongs to the normal force at its end, for any number of lags.
#[test]
fn lagged_terms_settle_and_their_history_goes_on() {
    let system = || Walled { friction: 0.5, push: 0.0, ..Walled::new() };
    for name in ["backward-euler", "bdf2", "newmark", "energy-momentum", "implicit-midpoint", "tr-bdf2"] {
        let start = State::new(&system(), vec![0.2, 0.0, 0.0], vec![-1.0, 1.0, 0.0]);
        let mut simulation = Simulation::new(system(), make(name, &[]), start.clone(), 0.02);
        for _ in 0..40 {
            simulation.advance().unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        let state = simulation.state();
        assert!(simulation.system().lags.load(Ordering::Relaxed) > 0, "{name}: nothing was lagged");
        assert!(state.v[1] > 0.1 && state.v[1] < 0.99, "{name}: {}", state.v[1]);
        assert!(state.terms.dissipated > 0.0, "{name}");
        assert_eq!(simulation.ledger().dissipated_physical, state.terms.dissipated, "{name}");
        // One step of backward Euler by hand: v₁ = v₀/(1 + h c Λ₁).
        let mut state = start.clone();
        state.q[0] = 0.09;
        if name == "backward-euler" {
            let walled = system();
            make(name, &[("tolerance", lilyan_dynamics::Value::Number(1e-13))])
                .step(&walled, &mut state, 0.02)
                .unwrap();
            let normal = -barrier(state.q[0])[1];
            let exact = 1.0 / (1.0 + 0.02 * 0.5 * normal);
            assert!((state.v[1] - exact).abs() < 1e-9, "{} is not {exact}", state.v[1]);
        }
    }
}

/// Every solve of a step starts from the same history: one more solve with the same terms changes nothing.
#[test]
fn a_repeated_solve_starts_from_the_same_history() {
    let run = |name: &str, extra_solves: usize| {
        let system = Walled { friction: 0.5, extra_solves, ..Walled::new() };
        let state = State::new(&system, vec![0.2, 0.0, 0.0], vec![-1.0, 1.0, 0.0]);
        let tight = [("tolerance", lilyan_dynamics::Value::Number(1e-12))];
        let mut simulation = Simulation::new(system, make(name, &tight), state, 0.005);
        for _ in 0..60 {
            simulation.advance().unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        simulation.state().clone()
    };
    for name in ["bdf2", "generalized-alpha", "energy-momentum"] {
        let (once, again) = (run(name, 0), run(name, 2));
        for (a, b) in once.q.iter().zip(&again.q) {
            assert!((a - b).abs() < 1e-9, "{name}: {a}, with further solves {b}");
        }
    }
}

/// Terms that never settle end the step, and the state with its history is that before the step.
#[test]
fn a_step_whose_terms_do_not_settle_fails_and_changes_nothing() {
    let system = Walled { friction: 0.5, extra_solves: usize::MAX, ..Walled::new() };
    let start = State::new(&system, vec![0.09, 0.0, 0.0], vec![-1.0, 1.0, 0.0]);
    let mut state = start.clone();
    let error = make("backward-euler", &[]).step(&system, &mut state, 0.02).unwrap_err();
    assert!(matches!(error, StepError::Lagging { .. }), "{error}");
    assert_eq!(state, start);
}

/// Newton's method converges quadratically in the terms: their second derivative is part of the matrix. It is 10⁴ times
/// that of everything else here; without it the line search would reduce every step as much.
#[test]
fn the_matrix_contains_the_terms() {
    for name in ["backward-euler", "energy-momentum"] {
        let system = Walled { friction: 1e4, ..Walled::new() };
        let mut state = State::new(&system, vec![0.05, 0.0, 0.0], vec![0.0, 1.0, 0.0]);
        let report = make(name, &[]).step(&system, &mut state, 0.02).unwrap();
        let solves = 1 + system.lags.load(Ordering::Relaxed);
        let most = 8 * solves;
        assert!(report.newton_iterations <= most, "{name}: {} in {solves}", report.newton_iterations);
        assert!(report.linear_iterations <= 3 * report.newton_iterations, "{name}: {report:?}");
    }
}

#[test]
fn a_checkpoint_holds_the_history_of_terms() {
    let system = || Walled { friction: 0.5, ..Walled::new() };
    let start = State::new(&system(), vec![0.2, 0.0, 0.0], vec![-1.0, 1.0, 0.0]);
    let mut whole = Simulation::new(system(), make("backward-euler", &[]), start.clone(), 0.02);
    for _ in 0..8 {
        whole.advance().unwrap();
    }
    let checkpoint = whole.checkpoint();
    assert_eq!(checkpoint.state.terms.data, [8]);
    let mut resumed = Simulation::new(system(), make("backward-euler", &[]), start, 0.02);
    resumed.restore(&checkpoint).unwrap();
    for _ in 0..10 {
        whole.advance().unwrap();
        resumed.advance().unwrap();
    }
    assert_eq!(whole.state(), resumed.state());
    assert_eq!(whole.state().terms.data, [18]);
}

/// A method either follows a feasible path or refuses, and names others.
#[test]
fn methods_that_cannot_follow_a_path_refuse() {
    let system = Walled::new();
    for entry in CATALOGUE {
        let integrator = entry.create(&[]).unwrap();
        let refused = refusal(integrator.as_ref(), &system);
        assert_eq!(refused.is_none(), integrator.takes_contact(), "{}: {refused:?}", entry.name);
        assert!(refused.is_none_or(|text| text.contains("use ")), "{}", entry.name);
    }
}
