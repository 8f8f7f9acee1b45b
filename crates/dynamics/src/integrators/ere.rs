//! Exponential Rosenbrock–Euler \[chen2018\]: the motion of the system linearised at the start of the step, exactly,
//!
//!   u_{k+1} = u_k + hφ₁(hJ) b(u_k),   u = (q, v),   J = [0 1; −M⁻¹K −M⁻¹D].
//!
//! Second order; exact, and so free of numerical damping, for linear systems at any step. K is the second derivative
//! itself, also where it is indefinite: what grows, grows. The product with φ₁ is found in small spaces
//! ([`lilyan_solve::flow`]), to a tolerance:
//!
//! * `lanczos`: block Lanczos in the inner product of M. Needs D = αM + βK, which is looked for in D itself; otherwise
//!   as `general`.
//! * `general`: Arnoldi on (q, v), for any D.
//! * `shift-invert`: spaces of (M + τD + τ²K)⁻¹, τ = h/10, whose size does not grow with the stiffness as long as the
//!   state is smooth. The tolerance is then that of the displacement; motion that is much faster than the step
//!   keeps its energy, but not its phase. Where 40 vectors are not enough, as in rough states, a Chebyshev sum takes over (½hω_max products). Where that
//!   matrix is not positive definite the space is made with the projected K; the result is that of K all the same.
//!
//! The thesis has Arnoldi alone, whose cost grows with √E. `auto` multiplies below hω_max = 100 and solves above.
//!
//! A translation of the whole that nothing resists is taken out before: Σp is exact, not just to the tolerance.

use super::{Claims, Entry, Integrator};
use crate::implicit::Kept;
use crate::linearised::{Linearised, When, finish};
use crate::options::{Kind, OptionSpec, Options};
use crate::step::Ends;
use crate::{Integrating, State, StepError, System};
use lilyan_solve::flow::{Accuracy, Damping, FlowError, Growth, flow};
use lilyan_solve::newton::{Curvature, SolveError};

pub(super) const ENTRY: Entry = Entry {
    name: "ere",
    summary: "exponential Rosenbrock–Euler: exact for linear systems, second order, no numerical damping",
    cite: "chen2018",
    options: &[
        OptionSpec {
            name: "method",
            doc: "how the exponential is found: by products (lanczos, general) or solves (shift-invert)",
            kind: Kind::Word { choices: &["auto", "lanczos", "shift-invert", "general"] },
        },
        OptionSpec {
            name: "tolerance",
            doc: "error of the exponential relative to the motion in the step",
            kind: Kind::Number { min: 1e-15, max: 0.1, default: 1e-4 },
        },
    ],
    variants: &[&[("method", super::Variant::Word("shift-invert"))]],
    build: |options| Box::new(Ere::new(options)),
};

/// hω_max above which solves cost less than products, by the bound of [`Linearised::fastest`], which lies above it.
/// Measured (`lilyan bench exponential`): at hω_max = 28, 44, 88, 139, 278 and 440 products take 0.15, 1.4, 1.3, 3.6, 5.6
/// and 37 times as long, on bars of 1,536 and 12,288 tets that swing smoothly.
const STIFF: f64 = 100.0;

/// τ/h. Between 1/2 and 1/50 it makes no difference where hω is large; where it is not, 1/10 takes half the vectors that
/// 1/2 does, and 1/50 is too near to explicit for stiff bodies.
const SHIFT: f64 = 0.1;

/// Solves before products take over. Smooth states take some ten whatever the stiffness; what is not found by
/// 40 is not found by 120.
const SOLVES: usize = 40;

#[derive(Clone, Copy, PartialEq)]
enum Method {
    Auto,
    Lanczos,
    ShiftInvert,
    General,
}

struct Ere {
    method: Method,
    tolerance: f64,
    kept: Kept,
    ends: Ends,
}

impl Ere {
    fn new(options: &Options) -> Self {
        let method = match options.word("method") {
            "lanczos" => Method::Lanczos,
            "shift-invert" => Method::ShiftInvert,
            "general" => Method::General,
            _ => Method::Auto,
        };
        let tolerance = options.number("tolerance");
        Self { method, tolerance, kept: Kept::default(), ends: Ends::default() }
    }
}

impl Integrator for Ere {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError> {
        self.ends.prepare(system, state, h)?;
        let failed = |cause| StepError::Solve { cause, t: state.t, h };
        let mut linear = Linearised::new(system, state, &self.ends, h, When::Middle)?;
        let translations = linear.split_translations(h);
        let moving: f64 = translations.iter().map(|t| t.square(h)).sum();
        // A body at rest is followed to tolerance × 0.1 mm per metre, as by the implicit methods.
        let total: f64 = system.mass().diagonal().iter().sum();
        let still = 1e-4 * system.length() / h * (total / 3.0).sqrt();
        let mut accuracy =
            Accuracy { tolerance: self.tolerance, floor: moving.sqrt() + still, max_vectors: 80 };

        let solves = match self.method {
            Method::Auto => linear.fastest(h) > STIFF,
            method => method == Method::ShiftInvert,
        };
        let damping = if self.method == Method::General { Damping::General } else { linear.kind() };
        let (v, a) = (&linear.velocity, &linear.acceleration);
        let motion = if solves {
            let tau = SHIFT * h;
            let work = self.kept.workspace(system);
            linear.shifted(tau, Curvature::Exact, work.matrix_mut());
            if work.factor_matrix().is_err() {
                linear.shifted(tau, Curvature::Projected, work.matrix_mut());
                work.factor_matrix().map_err(|e| failed(SolveError::Singular { dof: e.dof }))?;
            }
            accuracy.max_vectors = SOLVES;
            let mut solve = |x: &mut [f64], columns: usize| work.factor.solve_many(x, columns);
            let growth = Growth::ShiftInvert { solve: &mut solve, tau };
            flow(&linear, damping, growth, v, a, h, accuracy)
        } else {
            flow(&linear, damping, Growth::Polynomial, v, a, h, accuracy)
        };
        let mut motion = motion.map_err(|e| match e {
            FlowError::NotFinite => failed(SolveError::NotFinite { dof: None }),
            FlowError::TooManyParts(_) => {
                failed(SolveError::Iterations { corrections: Vec::new(), worst: Vec::new() })
            }
        })?;
        for translation in translations {
            translation.add_to(&mut motion.dq, &mut motion.dv);
        }
        finish(system, state, &mut self.ends, h, motion.dq, motion.dv)?;
        Ok(Integrating { newton_iterations: 1, linear_iterations: motion.vectors, ..Default::default() })
    }

    fn claims(&self) -> Claims {
        Claims {
            order: 2,
            damped_order: 2,
            explicit: false,
            symplectic: false,
            reversible: false,
            linear_momentum: true,
            angular_momentum: false,
            energy: false,
        }
    }

    fn reset(&mut self) {
        self.kept.reset();
    }

    fn memory(&self) -> Vec<f64> {
        self.kept.memory()
    }

    fn remember(&mut self, memory: &[f64]) {
        self.kept.remember(memory);
    }
}
