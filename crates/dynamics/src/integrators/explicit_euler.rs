//! Explicit Euler: q_{k+1} = q_k + h v_k, v_{k+1} = v_k + h a(q_k, v_k). First order; gains energy at any
//! step, so that an undamped oscillator always explodes. Here for comparison (\[kharevych2006\] Fig. 1).

use super::{Claims, Entry, Integrator, acceleration};
use crate::step::Ends;
use crate::{Integrating, State, StepError, System};

pub(super) const ENTRY: Entry = Entry {
    name: "explicit-euler",
    summary: "first order, gains energy; for comparison only",
    cite: "hairer2006",
    options: &[],
    variants: &[],
    build: |_| Box::new(ExplicitEuler::default()),
};

#[derive(Default)]
struct ExplicitEuler {
    ends: Ends,
    force: Vec<f64>,
    a: Vec<f64>,
    q: Vec<f64>,
    p: Vec<f64>,
}

impl Integrator for ExplicitEuler {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError> {
        let n = state.q.len();
        self.ends.prepare(system, state, h)?;
        let Self { ends, force, a, q, p } = self;
        for v in [&mut *force, a, q, p] {
            v.resize(n, 0.0);
        }
        acceleration(system, &ends.mask, state.t, &state.q, &state.v, force, a);
        for i in 0..n {
            q[i] = state.q[i] + h * state.v[i];
            p[i] = state.p[i] + h * force[i];
        }
        ends.finish(system, state, h, q, p)?;
        Ok(Integrating::default())
    }

    fn claims(&self) -> Claims {
        Claims {
            order: 1,
            damped_order: 1,
            explicit: true,
            symplectic: false,
            reversible: false,
            linear_momentum: true,
            angular_momentum: false,
            energy: false,
        }
    }
}
