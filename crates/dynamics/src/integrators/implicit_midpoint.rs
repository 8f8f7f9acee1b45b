//! The implicit midpoint rule in positions and velocities \[hairer2006\]:
//!
//!   M(v_{k+1} − v_k) = hF(q_½, v_½),  q_½ = q_k + ¼h(v_k + v_{k+1}),  v_½ = ½(v_k + v_{k+1}).
//!
//! Second order, symplectic, reversible, keeps both momenta. The same map as `variational` with α = ½,
//! reached from the other side.

use super::{Claims, Entry, LINEAR, MAX_ITERATIONS, TOLERANCE};
use crate::StepError;
use crate::driver::{Driven, End, Scheme, Stage, Step};
use crate::implicit::Method;

pub(super) const ENTRY: Entry = Entry {
    name: "implicit-midpoint",
    summary: "second order, symplectic; the textbook form of variational with alpha = 0.5",
    cite: "hairer2006",
    options: &[TOLERANCE, MAX_ITERATIONS, LINEAR],
    variants: &[],
    build: |options| Box::new(Driven::new(ImplicitMidpoint, options, Method::Minimize)),
};

struct ImplicitMidpoint;

impl Scheme for ImplicitMidpoint {
    fn step(&self, step: &mut Step<'_>) -> Result<End, StepError> {
        let (state, h) = (step.state, step.h);
        let time = state.t + 0.5 * h;
        let (middle, v) = step.stage(Stage {
            time,
            impulse: state.p.iter().map(|p| 0.5 * h * p).collect(),
            weight: 0.25 * h * h,
            span: 0.5 * h,
            offset: vec![0.0; state.q.len()],
            reach: 0.5,
        })?;
        let q: Vec<f64> = middle.iter().zip(&state.q).map(|(x, q)| q + 2.0 * (x - q)).collect();
        step.check_end(&q)?;
        let force = step.force(time, &middle, &v);
        let mut p: Vec<f64> = state.p.iter().zip(&force).map(|(p, f)| p + h * f).collect();
        step.holding.add_kick(&mut p);
        Ok(End { q, p, history: Vec::new() })
    }

    fn keeps_constraints(&self) -> bool {
        true
    }

    fn takes_fits(&self) -> bool {
        true
    }

    fn claims(&self) -> Claims {
        Claims {
            order: 2,
            damped_order: 2,
            explicit: false,
            symplectic: true,
            reversible: true,
            linear_momentum: true,
            angular_momentum: true,
            energy: false,
        }
    }
}
