//! Energy–momentum step with Gonzalez' discrete gradient \[gonzalez2000\].
//!
//!   p_{k+1} = p_k − h ∇̄W(q_k, q_{k+1}) + h f,   q_{k+1} = q_k + ½h M⁻¹(p_k + p_{k+1}),
//!
//! with ∇̄W·Δq = ΔW exactly and ∇̄W equivariant (per element, a stress that is a function of C_k and
//! C_{k+1}): energy and both momenta are kept for any step size, and with the midpoint viscosity f the
//! energy lost is the energy dissipated. Not symplectic. The Jacobian is unsymmetric; Newton–Krylov.

use super::{Claims, Entry, LINEAR, MAX_ITERATIONS};
use crate::StepError;
use crate::driver::{Driven, End, Scheme, Step};
use crate::implicit::{ForceRule, Method, Parts, PotentialRule};
use crate::options::{Kind, OptionSpec};

pub(super) const ENTRY: Entry = Entry {
    name: "energy-momentum",
    summary: "keeps energy and both momenta at any step size (discrete gradient)",
    cite: "gonzalez2000",
    options: &[
        // What the solver leaves is what energy and angular momentum drift by, so it solves closer
        // than others: 1e-9 would be 2 % cheaper and drift seven times as fast.
        OptionSpec {
            name: "tolerance",
            doc: "size of the last Newton correction relative to the motion in the step",
            kind: Kind::Number { min: 1e-15, max: 0.5, default: 1e-10 },
        },
        MAX_ITERATIONS,
        LINEAR,
    ],
    variants: &[],
    build: |options| Box::new(Driven::new(EnergyMomentum, options, Method::Root)),
};

struct EnergyMomentum;

impl Scheme for EnergyMomentum {
    fn step(&self, step: &mut Step<'_>) -> Result<End, StepError> {
        let (system, state, h) = (step.system, step.state, step.h);
        let n = state.q.len();
        let impulse: Vec<f64> = state.p.iter().map(|p| h * p).collect();
        let mut q = step.ballistic(1.0);
        let time = state.t + 0.5 * h;
        step.solve(
            Parts {
                impulse: &impulse,
                weight: 0.5 * h * h,
                time,
                reach: 1.0,
                force_weight: 0.5 * h * h,
                forces: ForceRule::Between,
                potential: PotentialRule::Discrete,
            },
            &mut q,
        )?;
        let mut g = vec![0.0; n];
        if !system.discrete_gradient(time, &state.q, &q, &mut g) {
            return Err(step.infeasible());
        }
        let mut f = vec![0.0; n];
        if system.has_forces() {
            system.forces_between(state.t, h, &state.q, &q, &mut f);
        }
        let mut p: Vec<f64> = (0..n).map(|i| state.p[i] - h * (g[i] - f[i])).collect();
        step.holding.add_kick(&mut p);
        Ok(End { q, p, history: Vec::new() })
    }

    fn keeps_constraints(&self) -> bool {
        true
    }

    fn claims(&self) -> Claims {
        Claims {
            order: 2,
            damped_order: 2,
            explicit: false,
            symplectic: false,
            reversible: true,
            linear_momentum: true,
            angular_momentum: true,
            energy: true,
        }
    }
}
