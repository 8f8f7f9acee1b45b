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
    build: |_| Box::new(ExplicitEuler { ends: Ends::default() }),
};

struct ExplicitEuler {
    ends: Ends,
}

impl Integrator for ExplicitEuler {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError> {
        let n = state.q.len();
        self.ends.prepare(system, state, h)?;
        let (mut force, mut a) = (vec![0.0; n], vec![0.0; n]);
        acceleration(system, &self.ends.mask, state.t, &state.q, &state.v, &mut force, &mut a);
        let mut q1: Vec<f64> = (0..n).map(|i| state.q[i] + h * state.v[i]).collect();
        let mut p1: Vec<f64> = (0..n).map(|i| state.p[i] + h * force[i]).collect();
        self.ends.finish(system, state, h, &mut q1, &mut p1)?;
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
