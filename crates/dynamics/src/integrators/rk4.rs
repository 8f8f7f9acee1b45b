//! The classical fourth-order Runge–Kutta method on (q, v). Accurate for short times; not symplectic,
//! so that over long times energy drifts (downwards, for oscillations). Stable for hω < 2√2.

use super::{Claims, Entry, Integrator, acceleration};
use crate::step::Ends;
use crate::{Integrating, State, StepError, System};

pub(super) const ENTRY: Entry = Entry {
    name: "rk4",
    summary: "fourth order, explicit, four forces per step; energy drifts",
    cite: "hairer2006",
    options: &[],
    variants: &[],
    build: |_| Box::new(Rk4 { ends: Ends::default() }),
};

struct Rk4 {
    ends: Ends,
}

impl Integrator for Rk4 {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError> {
        let n = state.q.len();
        let (t, q0, v0) = (state.t, &state.q, &state.v);
        self.ends.prepare(system, state, h)?;
        let mask = self.ends.mask.clone();
        let (mut q, mut v) = (q0.clone(), v0.clone());
        let (mut force, mut a) = (vec![0.0; n], vec![0.0; n]);
        let (mut sum_v, mut sum_f) = (vec![0.0; n], vec![0.0; n]);
        // Stage times, and weights of the sums in sixths.
        for (stage, (at, weight)) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)].into_iter().enumerate()
        {
            if stage > 0 {
                // `v` and `a` are still those of the stage before.
                for i in 0..n {
                    q[i] = q0[i] + at * h * v[i];
                    v[i] = v0[i] + at * h * a[i];
                }
                system.place_held(t + at * h, &mut q, &mut v);
            }
            acceleration(system, &mask, t + at * h, &q, &v, &mut force, &mut a);
            for i in 0..n {
                sum_v[i] += weight * v[i];
                sum_f[i] += weight * force[i];
            }
        }
        let mut q1: Vec<f64> = (0..n).map(|i| q0[i] + h / 6.0 * sum_v[i]).collect();
        let mut p1: Vec<f64> = (0..n).map(|i| state.p[i] + h / 6.0 * sum_f[i]).collect();
        self.ends.finish(system, state, h, &mut q1, &mut p1)?;
        Ok(Integrating::default())
    }

    fn claims(&self) -> Claims {
        Claims {
            order: 4,
            damped_order: 4,
            explicit: true,
            symplectic: false,
            reversible: false,
            linear_momentum: true,
            angular_momentum: false,
            energy: false,
        }
    }
}
