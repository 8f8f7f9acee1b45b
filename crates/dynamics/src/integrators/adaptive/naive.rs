//! Naive time adaption \[kharevych2010\] §3.3.2, for comparison: Δt = hσ(q_k) depends on the start alone, or Δt = hσ(q_{k+1})
//! on the end alone, and the step is one of the variational integrator. The method is of second order, but neither symplectic nor reversible. Energy
//! drifts, and drifts more for α ≠ ½ (Fig. 3.10 there).

use super::super::variational::{self, Variational};
use super::super::{Claims, Entry, Integrator, StepLength, Variant};
use super::{
    EPSILON, FORMULA, LINEAR, MAX_ITERATIONS, RULE, Rule, SCALE, Span, TIME, TOLERANCE, checked, total,
};
use crate::constraints::ConstraintSolver;
use crate::driver::{ImplicitIntegrator, ImplicitMemory};
use crate::options::{Kind, OptionSpec, Options, Value};
use crate::prescribed::Prescribed;
use crate::{Memory, MemoryError, MemoryRecord, State, StepError, StepStats, System};
use lilyan_solve::newton::dot;
use serde::{Deserialize, Serialize};

pub(in super::super) const ENTRY: Entry = Entry {
    name: "adaptive-naive",
    summary: "steps as long as a rule wants them at their start; energy drifts, for comparison only",
    cite: "kharevych2010",
    stable_deformed: None,
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
        FORMULA,
        OptionSpec {
            name: "sigma",
            doc: "where the rule is evaluated: at the start of a step, or at its end, solved together with the step",
            kind: Kind::Word { choices: &["start", "end"] },
        },
        TOLERANCE,
        MAX_ITERATIONS,
        LINEAR,
    ],
    variants: &[
        &[("rule", Variant::Word("potential")), ("scale", Variant::Number(10.0))],
        &[
            ("sigma", Variant::Word("end")),
            ("rule", Variant::Word("potential")),
            ("scale", Variant::Number(10.0)),
        ],
    ],
    build: |options| Box::new(Naive::new(options)),
};

struct Naive {
    rule: Rule,
    /// Whether σ is that of the end of the step.
    at_end: bool,
    inner: ImplicitIntegrator<Variational>,
    prescribed: Prescribed,
    /// The expected energy, as in the other methods.
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
            at_end: options.word("sigma") == "end",
            inner: Variational::driven(&inner),
            prescribed: Prescribed::default(),
            energy: None,
        }
    }
}

/// Largest number of trials of a step whose length follows from its end, and the accuracy of the length.
const TRIALS: usize = 60;
const LENGTH_ACCURACY: f64 = 1e-10;

/// The error names the requested step, as in other methods.
fn asked(error: StepError, h: f64) -> StepError {
    match error {
        StepError::Solve { cause, t, .. } => StepError::Solve { cause, t, h },
        other => other,
    }
}

impl Naive {
    /// hσ(q) at a state.
    fn step_at(&self, system: &dyn System, state: &State, h: f64, energy: f64) -> Result<f64, StepError> {
        let (q, t, held) = (&state.q, state.t, &self.prescribed.mask);
        let start = self.rule.start(system, t, held, q);
        let span = Span { system, h, t, q0: q, x: q, held, energy, start: &start };
        checked(h, self.rule.sigma(&span, false).value, system, state)
    }

    /// A step of Δt = hσ(q₁): by the secant method for Δt. Returns Δt.
    fn step_by_end(
        &mut self,
        system: &dyn System,
        state: &mut State,
        h: f64,
        first: f64,
        energy: f64,
        report: &mut StepStats,
    ) -> Result<f64, StepError> {
        let (mut dt, mut last) = (first, None);
        for _ in 0..TRIALS {
            let mut end = state.clone();
            report.add(self.inner.step(system, &mut end, dt).map_err(|error| asked(error, h))?);
            let excess = self.step_at(system, &end, h, energy)? - dt;
            if excess.abs() <= LENGTH_ACCURACY * dt.abs() {
                *state = end;
                return Ok(dt);
            }
            let slope = match last {
                Some((dt0, excess0)) if excess != excess0 => (excess - excess0) / (dt - dt0),
                _ => -1.0,
            };
            last = Some((dt, excess));
            // Longer or shorter by at most a factor of two.
            dt = (dt - excess / slope).abs().clamp(0.5 * dt.abs(), 2.0 * dt.abs()) * h.signum();
        }
        Err(StepError::StepRatio { t: state.t, h, sigma: dt / h })
    }
}

impl Integrator for Naive {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        let n = state.q.len();
        let energy = self.energy.unwrap_or_else(|| total(system, state));
        self.prescribed.prepare(system, state, 0.0)?;
        let (t, q0) = (state.t, state.q.clone());
        let mut dt = self.step_at(system, state, h, energy)?;
        let mut report = StepStats::default();
        if self.at_end {
            dt = self.step_by_end(system, state, h, dt, energy, &mut report)?;
        } else {
            report = self.inner.step(system, state, dt).map_err(|error| asked(error, h))?;
        }
        let mut added = 0.0;
        let abilities = system.abilities();
        if let Some(dissipation) = abilities.dissipation {
            let moved: Vec<f64> = state.q.iter().zip(&q0).map(|(a, b)| a - b).collect();
            let mut forces = vec![0.0; n];
            dissipation.add_mean_forces(t, dt, &q0, &state.q, &mut forces);
            added += dot(&forces, &moved);
        }
        if abilities.loads.is_some() {
            added += system.energy(t + dt, &q0) - system.energy(t, &q0);
        }
        self.energy = Some(energy + added);
        Ok(report)
    }

    fn claims(&self) -> Claims {
        Claims { symplectic: false, reversible: false, ..self.inner.claims() }
    }

    fn step_length(&self) -> StepLength {
        StepLength::Adaptive
    }

    fn constraint_solver(&self) -> Option<&ConstraintSolver> {
        self.inner.constraint_solver()
    }

    fn reset(&mut self) {
        self.inner.reset();
        self.energy = None;
    }

    fn memory(&self) -> Memory {
        Memory::new(NaiveMemory { energy: self.energy, inner: self.inner.record() })
    }

    fn restore(&mut self, memory: &Memory, state: &State) -> Result<(), MemoryError> {
        let NaiveMemory { energy, inner } = memory.read()?;
        self.energy = energy;
        self.inner.restore_record(inner, state);
        Ok(())
    }
}

/// The memory of `adaptive-naive`.
#[derive(Clone, Serialize, Deserialize)]
struct NaiveMemory {
    /// The expected energy, J.
    energy: Option<f64>,
    inner: ImplicitMemory,
}

impl MemoryRecord for NaiveMemory {
    const KIND: &'static str = "adaptive-naive";
    const VERSION: u32 = 2;
}
