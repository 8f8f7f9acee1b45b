//! Exponential Rosenbrock–Euler \[chen2018\]: the exact motion of the system linearised at the start of the step,
//!
//!   u_{k+1} = u_k + hφ₁(hJ) b(u_k),   u = (q, v),   J = [0 1; −M⁻¹K −M⁻¹D].
//!
//! The method is of second order. For linear systems it is exact at any step, and so has no numerical damping. K is the
//! exact second derivative, also where it is indefinite and the solution grows. The product with φ₁ is computed in Krylov
//! spaces ([`lilyan_solve::exponential`]), to a tolerance:
//!
//! * `lanczos`: block Lanczos in the inner product of M. It needs D = αM + βK, and determines α and β from D. If D has
//!   another form, `general` is used.
//! * `general`: Arnoldi on (q, v), for any D.
//! * `shift-invert`: spaces of (M + τD + τ²K)⁻¹, τ = h/10, whose size does not grow with the stiffness as long as the
//!   state is smooth. The tolerance then holds for the displacement. Motion that is much faster than the step keeps its
//!   energy, but not its phase. If 40 vectors are not enough (the state is not smooth), a Chebyshev expansion is used
//!   instead (½hω_max products). If the matrix is not positive definite, the space is built with the projected K; the
//!   result is still that of K.
//!
//! The thesis uses Arnoldi only, whose cost grows with √E. `auto` uses products below hω_max = 100 and solves above.
//!
//! A translation of the whole system that no force resists is split off first, so that Σp is exact to round-off.

use super::{Claims, Entry, Integrator};
use crate::implicit::PersistentWorkspace;
use crate::linearised::{EvaluationTime, Linearised, finish};
use crate::options::{Kind, OptionSpec, Options};
use crate::prescribed::Prescribed;
use crate::{Memory, MemoryError, State, StepError, StepStats, System};
use lilyan_solve::exponential::{Accuracy, Damping, FlowError, Growth, flow};
use lilyan_solve::newton::{Curvature, SolveError};

pub(super) const ENTRY: Entry = Entry {
    name: "ere",
    summary: "exponential Rosenbrock–Euler: exact for linear systems, second order, no numerical damping",
    cite: "chen2018",
    stable_deformed: Some(1.5),
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

/// hω_max above which solves cost less than products. ω_max is the upper bound of [`Linearised::fastest`].
/// Measured (`lilyan bench exponential`): at hω_max = 28, 44, 88, 139, 278 and 440 products take 0.15, 1.4, 1.3, 3.6, 5.6
/// and 37 times as long, on bars of 1,536 and 12,288 tets that swing smoothly.
const STIFF: f64 = 100.0;

/// τ/h. For large hω all values between 1/50 and 1/2 are equally good. For smaller hω, 1/10 needs half as many vectors as
/// 1/2. For stiff bodies 1/50 is too close to an explicit method.
const SHIFT: f64 = 0.1;

/// Most solves before the method changes to products. Smooth states need about ten for any stiffness. A state that needs
/// more than 40 also needs more than 120.
const SOLVES: usize = 40;

#[derive(Clone, Copy, PartialEq)]
enum ExponentialMethod {
    Auto,
    Lanczos,
    ShiftInvert,
    General,
}

struct Ere {
    method: ExponentialMethod,
    tolerance: f64,
    persistent: PersistentWorkspace,
    prescribed: Prescribed,
}

impl Ere {
    fn new(options: &Options) -> Self {
        let method = match options.word("method") {
            "lanczos" => ExponentialMethod::Lanczos,
            "shift-invert" => ExponentialMethod::ShiftInvert,
            "general" => ExponentialMethod::General,
            _ => ExponentialMethod::Auto,
        };
        let tolerance = options.number("tolerance");
        Self {
            method,
            tolerance,
            persistent: PersistentWorkspace::default(),
            prescribed: Prescribed::default(),
        }
    }
}

impl Integrator for Ere {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        self.prescribed.prepare(system, state, h)?;
        let failed = |cause| StepError::Solve { cause, t: state.t, h };
        let mut linear = Linearised::new(system, state, &self.prescribed, h, EvaluationTime::Middle)?;
        let translations = linear.split_translations(h);
        let moving: f64 = translations.iter().map(|t| t.square(h)).sum();
        // The least motion that the tolerance refers to is 0.1 mm per metre, as in the implicit methods.
        let total: f64 = system.mass().diagonal().iter().sum();
        let still = 1e-4 * system.length() / h * (total / 3.0).sqrt();
        let mut accuracy =
            Accuracy { tolerance: self.tolerance, floor: moving.sqrt() + still, max_vectors: 80 };

        let solves = match self.method {
            ExponentialMethod::Auto => linear.fastest(h) > STIFF,
            method => method == ExponentialMethod::ShiftInvert,
        };
        let damping =
            if self.method == ExponentialMethod::General { Damping::General } else { linear.kind() };
        let (v, a) = (&linear.velocity, &linear.acceleration);
        let motion = if solves {
            let tau = SHIFT * h;
            let work = self.persistent.workspace(system);
            linear.shifted(tau, Curvature::Exact, work.matrix_mut());
            if work.factor_matrix().is_err() {
                linear.shifted(tau, Curvature::Projected, work.matrix_mut());
                work.factor_matrix().map_err(|e| failed(SolveError::Singular { dof: e.dof }))?;
            }
            accuracy.max_vectors = SOLVES;
            let mut solve = |x: &mut [f64], columns: usize| work.solve_many(x, columns);
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
        linear.add_drift(h, &mut motion.dq);
        finish(system, state, &mut self.prescribed, h, motion.dq, motion.dv)?;
        Ok(StepStats { newton_iterations: 1, linear_iterations: motion.vectors, ..Default::default() })
    }

    fn claims(&self) -> Claims {
        Claims::of_order(2)
    }

    fn limit(&self) -> Option<&'static str> {
        Some(
            "linear systems; a nonlinear one can gain energy where K changes much in a step (a turn of more than about \
             0.1 rad, an indefinite K)",
        )
    }

    fn reset(&mut self) {
        self.persistent.reset();
    }

    fn memory(&self) -> Memory {
        Memory::new(self.persistent.memory())
    }

    fn restore(&mut self, memory: &Memory, _state: &State) -> Result<(), MemoryError> {
        memory.read().map(|memory| self.persistent.restore(memory))
    }
}
