//! The classical fourth-order Runge–Kutta method on (q, v). It is accurate for short times. It is not symplectic, so that
//! energy drifts over long times (downwards for oscillations). It is stable for hω < 2√2.

use super::{Claims, Entry, Integrator, acceleration};
use crate::prescribed::Prescribed;
use crate::{State, StepError, StepStats, System};

pub(super) const ENTRY: Entry = Entry {
    name: "rk4",
    summary: "fourth order, explicit, four forces per step; energy drifts",
    cite: "hairer2006",
    stable_deformed: None,
    options: &[],
    variants: &[],
    build: |_| Box::new(Rk4::default()),
};

#[derive(Default)]
struct Rk4 {
    prescribed: Prescribed,
    q: Vec<f64>,
    v: Vec<f64>,
    force: Vec<f64>,
    a: Vec<f64>,
    sum_v: Vec<f64>,
    sum_f: Vec<f64>,
}

impl Integrator for Rk4 {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        let n = state.q.len();
        self.prescribed.prepare(system, state, h)?;
        let Self { prescribed, q, v, force, a, sum_v, sum_f } = self;
        let (t, q0, v0) = (state.t, &state.q, &state.v);
        q.clone_from(q0);
        v.clone_from(v0);
        for x in [&mut *force, a, sum_v, sum_f] {
            x.clear();
            x.resize(n, 0.0);
        }
        // Stage times, and weights of the sums in sixths.
        for (stage, (at, weight)) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)].into_iter().enumerate()
        {
            if stage > 0 {
                // `v` and `a` still belong to the previous stage.
                for i in 0..n {
                    q[i] = q0[i] + at * h * v[i];
                    v[i] = v0[i] + at * h * a[i];
                }
                system.abilities().place_prescribed(t + at * h, q, v);
            }
            acceleration(system, &prescribed.mask, t + at * h, q, v, force, a);
            for i in 0..n {
                sum_v[i] += weight * v[i];
                sum_f[i] += weight * force[i];
            }
        }
        for i in 0..n {
            sum_v[i] = q0[i] + h / 6.0 * sum_v[i];
            sum_f[i] = state.p[i] + h / 6.0 * sum_f[i];
        }
        prescribed.finish(system, state, h, sum_v, sum_f)?;
        Ok(StepStats::default())
    }

    fn claims(&self) -> Claims {
        Claims { explicit: true, ..Claims::of_order(4) }
    }
}
