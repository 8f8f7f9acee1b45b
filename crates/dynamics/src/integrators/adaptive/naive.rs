//! Naive time adaption \[kharevych2010\] §3.3.2, for comparison: Δt = hσ(q_k) from the start alone, then a step
//! of the variational integrator. Second order, but neither symplectic nor reversible: energy drifts, the more
//! so for α ≠ ½ (its Fig. 3.10).

use super::super::variational::{self, Variational};
use super::super::{Claims, Entry, Integrator, Pace, Variant};
use super::{EPSILON, LINEAR, MAX_ITERATIONS, RULE, Rule, SCALE, Span, TIME, TOLERANCE, checked, total};
use crate::constraints::Holding;
use crate::driver::Driven;
use crate::options::{Kind, OptionSpec, Options, Value};
use crate::step::Ends;
use crate::{Integrating, State, StepError, System};
use lilyan_solve::newton::dot;

pub(in super::super) const ENTRY: Entry = Entry {
    name: "adaptive-naive",
    summary: "steps as long as a rule wants them at their start; energy drifts, for comparison only",
    cite: "kharevych2010",
    options: &[
        OptionSpec {
            name: "alpha",
            doc: "where in the step forces are taken, as in variational",
            kind: Kind::Number { min: 0.0, max: 1.0, default: 0.5 },
        },
        RULE,
        SCALE,
        EPSILON,
        TIME,
        TOLERANCE,
        MAX_ITERATIONS,
        LINEAR,
    ],
    variants: &[&[("rule", Variant::Word("potential")), ("scale", Variant::Number(10.0))]],
    build: |options| Box::new(Naive::new(options)),
};

struct Naive {
    rule: Rule,
    inner: Driven<Variational>,
    ends: Ends,
    /// As in the other methods.
    energy: Option<f64>,
}

impl Naive {
    fn new(options: &Options) -> Self {
        let known = |name: &str| variational::ENTRY.options.iter().any(|o| o.name == name);
        let given: Vec<(String, Value)> =
            options.iter().filter(|(k, _)| known(k)).map(|(k, v)| (k.to_string(), v.clone())).collect();
        let inner = Options::resolve(variational::ENTRY.options, &given).expect("options of the same kind");
        Self {
            rule: Rule::new(options),
            inner: Variational::driven(&inner),
            ends: Ends::default(),
            energy: None,
        }
    }
}

impl Integrator for Naive {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError> {
        let n = state.q.len();
        let energy = self.energy.unwrap_or_else(|| total(system, state));
        self.ends.prepare(system, state, 0.0)?;
        let mut start = vec![0.0; if self.rule.wants_start() { n } else { 0 }];
        if self.rule.wants_start() {
            system.gradient(state.t, &state.q, &mut start);
        }
        let (t, q0, held) = (state.t, state.q.clone(), &self.ends.mask);
        let span = Span { system, h, t, q0: &q0, x: &q0, held, energy, start: &start };
        let dt = checked(h, self.rule.sigma(&span, false).value, system, state)?;
        // As everywhere, a failure tells the step that was asked for.
        let report = self.inner.step(system, state, dt).map_err(|error| match error {
            StepError::Solve { cause, t, .. } => StepError::Solve { cause, t, h },
            other => other,
        })?;
        let mut added = 0.0;
        if system.has_forces() {
            let moved: Vec<f64> = state.q.iter().zip(&q0).map(|(a, b)| a - b).collect();
            let mut forces = vec![0.0; n];
            system.forces_between(t, dt, &q0, &state.q, &mut forces);
            added += dot(&forces, &moved);
        }
        if system.has_load() {
            added += system.energy(t + dt, &q0) - system.energy(t, &q0);
        }
        self.energy = Some(energy + added);
        Ok(report)
    }

    fn claims(&self) -> Claims {
        Claims { symplectic: false, reversible: false, ..self.inner.claims() }
    }

    fn pace(&self) -> Pace {
        Pace::Own
    }

    fn holding(&self) -> Option<&Holding> {
        self.inner.holding()
    }

    fn reset(&mut self) {
        self.inner.reset();
        self.energy = None;
    }

    fn memory(&self) -> Vec<f64> {
        self.energy.into_iter().chain(self.inner.memory()).collect()
    }

    fn remember(&mut self, memory: &[f64]) {
        self.energy = memory.first().copied();
        self.inner.remember(memory.get(1..).unwrap_or_default());
    }
}
