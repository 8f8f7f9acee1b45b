//! Explicit Euler: q_{k+1} = q_k + h v_k, v_{k+1} = v_k + h a(q_k, v_k). The method is of first order. It gains energy at
//! any step, so that an undamped oscillator is always unstable. It serves for comparison (\[kharevych2006\] Fig. 1).

use super::{Claims, Entry, Integrator, acceleration};
use crate::prescribed::Prescribed;
use crate::{State, StepError, StepStats, System};

pub(super) const ENTRY: Entry = Entry {
    name: "explicit-euler",
    summary: "first order, gains energy; for comparison only",
    cite: "hairer2006",
    stable_deformed: None,
    options: &[],
    variants: &[],
    build: |_| Box::new(ExplicitEuler::default()),
};

#[derive(Default)]
struct ExplicitEuler {
    prescribed: Prescribed,
    force: Vec<f64>,
    a: Vec<f64>,
    q: Vec<f64>,
    p: Vec<f64>,
}

impl Integrator for ExplicitEuler {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        let n = state.q.len();
        self.prescribed.prepare(system, state, h)?;
        let Self { prescribed, force, a, q, p } = self;
        for v in [&mut *force, a, q, p] {
            v.resize(n, 0.0);
        }
        acceleration(system, &prescribed.mask, state.t, &state.q, &state.v, force, a);
        for i in 0..n {
            q[i] = state.q[i] + h * state.v[i];
            p[i] = state.p[i] + h * force[i];
        }
        prescribed.finish(system, state, h, q, p)?;
        Ok(StepStats::default())
    }

    fn claims(&self) -> Claims {
        Claims { explicit: true, ..Claims::of_order(1) }
    }
}
