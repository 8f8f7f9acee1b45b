//! The implicit midpoint rule in positions and velocities \[hairer2006\]:
//!
//!   M(v_{k+1} − v_k) = hF(q_½, v_½),  q_½ = q_k + ¼h(v_k + v_{k+1}),  v_½ = ½(v_k + v_{k+1}).
//!
//! The method is of second order, symplectic and reversible, and conserves both momenta. It is the same map as
//! `variational` with α = ½, in another formulation.

use super::{Claims, Entry, LINEAR, MAX_ITERATIONS, SOLVE, TOLERANCE};
use crate::StepError;
use crate::driver::{End, History, ImplicitIntegrator, Scheme, Stage, Step};
use crate::implicit::Method;

pub(super) const ENTRY: Entry = Entry {
    name: "implicit-midpoint",
    summary: "second order, symplectic; the textbook form of variational with alpha = 0.5",
    cite: "hairer2006",
    stable_deformed: Some(2.0),
    options: &[SOLVE, TOLERANCE, MAX_ITERATIONS, LINEAR],
    variants: &[],
    build: |options| Box::new(ImplicitIntegrator::new(ImplicitMidpoint, options, Method::chosen(options))),
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
        step.constraint_solver.add_start_impulse(&mut p);
        Ok(End { q, p, history: History::None })
    }

    fn keeps_constraints(&self) -> bool {
        true
    }

    fn takes_fits(&self) -> bool {
        true
    }

    fn claims(&self) -> Claims {
        Claims { reversible: true, ..Claims::variational(2) }
    }
}
