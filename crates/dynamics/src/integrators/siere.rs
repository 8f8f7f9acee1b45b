//! SIERE \[chen2019\], chapter 6: a few modes are integrated exactly as in `ere`, the rest linearly implicitly as in
//! `semi-implicit`.
//!
//! The linearised system is split by modes, K U = M U Λ, UᵀMU = 1: J_G acts on span U, J_H = J − J_G, and
//!
//!   u_{k+1} = u_k + (1 − hJ_H)⁻¹ (hH + hφ₁(hJ_G) G).
//!
//! J_H vanishes on span U and equals J on its M-complement. So the 2n system and the Sherman–Morrison–Woodbury formula of the
//! thesis are not needed:
//! * each mode moves by the closed form of its damped oscillator ([`lilyan_solve::exponential`]), δq_G;
//! * the complement takes one Newton step of backward Euler, (M + hD + h²K) δv = h f_c − h²K v_c, δq = h(v_c + δv), with the
//!   force f_c at q_k + δq_G (the warm start of the thesis). On a linear system this is the formula above. Where a body
//!   turns, modes lead straight on and stretch it. With the force at q_k the complement would see that stretch one step
//!   later, and its damping would take the energy. `h_part = "backward-euler"` repeats the Newton step until it converges.
//!
//! **Which modes.** The lowest ones, as in the thesis, or with `select = "motion"` those that carry most of the motion,
//! (uᵀp)² + (uᵀf)²/λ, among all with hω ≤ 1: what carries nothing is not worth a mode, and faster modes turn too far within
//! a step for a linearisation. Modes of the last step are refined by block Davidson ([`lilyan_solve::eigen`])
//! in a space that then also contains the responses to p and f, so that modes which begin to move are found. A given number of
//! lowest modes rests while their residual says that they have turned by less than 0.03, but with `h_part = "midpoint"`. The first ones are
//! computed by shift-invert Lanczos. They need not be exact, since they only determine which part is integrated by which
//! method.
//!
//! **Indefinite K.** If M + τD + τ²K is not positive definite, K has eigenvalues below −1/τ², and modes would grow by more
//! than cosh 1 in a step; near an inverted element without bound. Modes and complement then use the projected K, as
//! `semi-implicit` does. Otherwise a mode with λ < 0 is a true instability (buckling), and moves exactly. No split of a
//! nonlinear system conserves energy. A step is accepted only if kinetic energy plus potential (with loads and Dirichlet dofs
//! as at its end) does not increase, up to a small share of what it moves. Otherwise it is repeated with the force at q_k, then
//! without modes, as `semi-implicit`, and at last as `backward-euler`, whose minimum always exists.
//!
//! **Order.** The method is of first order, without numerical damping of the motion in the modes. With `h_part = "midpoint"` the
//! complement takes the midpoint rule, (M + ½hD + ¼h²K) δv = h f_c − ½h²K v_c, δq = h(v_c + ½δv), with loads, Dirichlet dofs and
//! the modes where they are in the middle of the step, and Newton's method until it converges. Both parts are then exact to
//! O(h³) for the linearised system, and the linearisation is too, so that the method is of second order (measured with the lowest
//! modes; `select = "motion"` may choose other modes from step to step, and measured 1.7). The damping of a mode is
//! uᵀDu, which is exact for Rayleigh damping; for other damping each part feels the velocity that the others have gained in half
//! a step.
//! A translation of the whole system that no force resists is an additional exact mode. Without modes the method is
//! `semi-implicit`, or `implicit-midpoint` itself, with the claims of that method.

use super::{Claims, Entry, Integrator, backward_euler, implicit_midpoint};
use crate::implicit::PersistentWorkspace;
use crate::linearised::{Linearised, Translation, finish};
use crate::modes;
use crate::options::{Kind, OptionSpec, Value};
use crate::prescribed::Prescribed;
use crate::{Memory, MemoryError, MemoryRecord, State, StepError, StepStats, System};
use choice::Choice;
use lilyan_solve::SecondOrderSystem;
use lilyan_solve::eigen::Subspace;
use lilyan_solve::newton::{Curvature, SolveError, SolverMemory, Workspace};
use lilyan_solve::{BlockMatrix, EigenError, NotPositiveDefinite};
use serde::{Deserialize, Serialize};
use split::{Attempt, Motion, Rest, Split};
use std::cell::Cell;
use step_solver::StepSolver;

mod choice;
mod split;
mod step_solver;

pub(super) const ENTRY: Entry = Entry {
    name: "siere",
    summary: "a few modes exactly, the rest linearly implicitly: one solve per step",
    cite: "chen2019",
    stable_deformed: Some(2.0),
    options: &[
        OptionSpec {
            name: "modes",
            doc: "modes that are integrated exactly; \"auto\": those with hω < 1, or that carry 99.9 % of the motion, at most 20",
            kind: Kind::NumberOr { min: 0.0, max: 200.0, default: 5.0, word: "auto" },
        },
        OptionSpec {
            name: "select",
            doc: "which modes: the lowest, or those with hω ≤ 1 that carry most of the motion",
            kind: Kind::Word { choices: &["lowest", "motion"] },
        },
        OptionSpec {
            name: "h_part",
            doc: "how the rest is integrated: by one linear solve, by backward Euler (solves until it converges), or by the \
                  midpoint rule, which makes the method one of second order",
            kind: Kind::Word { choices: &["semi-implicit", "backward-euler", "midpoint"] },
        },
        OptionSpec {
            name: "tolerance",
            doc: "size of the last correction of the rest relative to the velocity that it gains, where it is solved until it \
                  converges",
            kind: Kind::Number { min: 1e-15, max: 0.5, default: 1e-6 },
        },
    ],
    variants: &[
        &[("modes", super::Variant::Number(2.0))],
        &[("h_part", super::Variant::Word("backward-euler"))],
        &[("h_part", super::Variant::Word("midpoint"))],
        &[("modes", super::Variant::Number(0.0)), ("h_part", super::Variant::Word("midpoint"))],
    ],
    build: |options| {
        let wanted = options.number_or_word("modes").map(|n| n as usize);
        if wanted == Some(0) && options.word("h_part") == "midpoint" {
            let tolerance = ("tolerance".into(), Value::Number(options.number("tolerance")));
            return implicit_midpoint::ENTRY.create(&[tolerance]).expect("it has this option");
        }
        Box::new(Siere {
            choice: Choice { wanted, lowest: options.word("select") == "lowest" },
            rest: match options.word("h_part") {
                "backward-euler" => Rest::BackwardEuler,
                "midpoint" => Rest::Midpoint,
                _ => Rest::SemiImplicit,
            },
            tolerance: options.number("tolerance"),
            persistent: PersistentWorkspace::default(),
            prescribed: Prescribed::default(),
            modes: None,
        })
    },
};

/// Most refinements of the first modes, and the error at which they end.
const SETTLING: usize = 10;
const SETTLED: f64 = 1e-10;
/// The error of modes, as an angle, up to which they serve another step unrefined.
const STILL: f64 = 0.03;
/// The least (hω)² with which a mode counts in its potential energy f²/λ: slower ones hardly swing within a run.
const SLOWEST: f64 = 1e-4;
struct Siere {
    choice: Choice,
    rest: Rest,
    tolerance: f64,
    persistent: PersistentWorkspace,
    prescribed: Prescribed,
    modes: Option<Modes>,
}

/// The modes of the last step.
struct Modes {
    subspace: Subspace,
    /// Number of modes in use. The others are extra vectors.
    used: usize,
    /// Number of Dirichlet dofs. If it changes, the modes are computed again.
    held: usize,
    /// The positions to which the last step led, m. Modes of a state that was changed since do not rest.
    end: Vec<f64>,
}

impl Modes {
    /// The lowest modes, computed without an initial guess.
    fn new(
        linear: &Linearised<'_>,
        system: &dyn System,
        mask: &[bool],
        translations: &[Translation],
        count: usize,
    ) -> Result<Self, EigenError> {
        let held = mask.iter().filter(|h| **h).count();
        let available = mask.len() - held - translations.len();
        let mut m = BlockMatrix::zeros(system.pattern().clone());
        system.mass().add_to(&mut m);
        let without = |u: &mut [f64]| linear.project_out(translations, u);
        // An initial guess is sufficient, since every step refines it. (A strongly deformed body has many negative
        // eigenvalues close together. More digits would need hundreds of vectors.)
        let close = 1e-3;
        let k = linear.stiffness_matrix();
        let subspace = modes::lowest(k, &m, mask, count.min(available), translations.len(), &without, close)?;
        Ok(Self { subspace, used: 0, held, end: Vec::new() })
    }

    /// Refines the first modes until they are those of the system, corrections by fits included, or as far as that goes.
    fn settle(
        &mut self,
        linear: &Linearised<'_>,
        translations: &[Translation],
        solver: &mut StepSolver<'_>,
        h: f64,
    ) {
        let n = linear.velocity.len();
        let keep = |u: &mut [f64]| linear.project_out(translations, u);
        let attempts = if self.subspace.vectors.is_empty() { 0 } else { SETTLING };
        for _ in 0..attempts {
            let mut solve = |x: &mut [f64], columns: usize| solver.precondition(x, columns);
            let Some(sizes) = self.subspace.refine(linear, &mut solve, &keep, n) else { return };
            if sizes.iter().all(|size| h * h * size < SETTLED) {
                return;
            }
        }
    }

    /// Refines the modes once with the stiffness of this step, unless they `may_rest` and a given number of the lowest ones has hardly
    /// moved, and chooses among them. The next step starts from the result.
    fn follow(
        &mut self,
        linear: &Linearised<'_>,
        translations: &[Translation],
        solver: &mut StepSolver<'_>,
        motion: &Motion,
        choice: Choice,
        may_rest: bool,
        h: f64,
    ) -> Option<()> {
        if choice.wanted == Some(0) || self.subspace.vectors.is_empty() {
            return Some(());
        }
        let mut solve = |x: &mut [f64], columns: usize| solver.precondition(x, columns);
        let keep = |u: &mut [f64]| linear.project_out(translations, u);
        let n = motion.momentum.len();
        if let Some(wanted) = choice.wanted.filter(|_| choice.lowest && may_rest) {
            let wanted = wanted.min(self.subspace.len(n));
            if self.subspace.still_holds(linear, &mut solve, &keep, n, wanted, STILL / (h * h)) {
                self.used = wanted;
                return Some(());
            }
        }
        let used = Cell::new(0);
        let choose = |values: &[f64], along: &[Vec<f64>]| {
            let angles: Vec<f64> = values.iter().map(|value| h * h * value).collect();
            let shares: Vec<f64> = match along {
                [rates, pulls] => (0..values.len())
                    .map(|k| rates[k].powi(2) + (h * pulls[k]).powi(2) / angles[k].abs().max(SLOWEST))
                    .collect(),
                _ => Vec::new(),
            };
            let (kept, count) = choice.among(&angles, &shares);
            used.set(count);
            kept
        };
        let responses =
            if choice.lowest { Vec::new() } else { [&motion.momentum[..], &motion.force].concat() };
        self.subspace.refine_among(linear, &mut solve, &keep, n, &responses, &choose)?;
        self.used = used.get();
        Some(())
    }
}

/// What a step adds to q and v, and whether it keeps the energy.
struct Increments {
    dq: Vec<f64>,
    dv: Vec<f64>,
    sound: bool,
}

impl Siere {
    /// The increments of a step with the matrix of the work space. The inner error: the matrix is not positive definite.
    fn increments(
        &mut self,
        system: &dyn System,
        state: &State,
        linear: &Linearised<'_>,
        translations: &[Translation],
        solver: &mut StepSolver<'_>,
        h: f64,
    ) -> Result<Result<Increments, NotPositiveDefinite>, StepError> {
        let n = state.q.len();
        let failed = |cause| StepError::Solve { cause, t: state.t, h };
        if let Err(e) = solver.begin() {
            return Ok(Err(e));
        }
        let mask = solver.held;
        let held = mask.iter().filter(|h| **h).count();
        if self.modes.as_ref().is_none_or(|m| m.held != held || m.subspace.vectors.len() % n != 0) {
            let modes = Modes::new(linear, system, mask, translations, self.choice.first());
            let mut modes = modes.map_err(|e| {
                failed(match e {
                    EigenError::NotPositiveDefinite { dof } => SolveError::Singular { dof },
                    _ => SolveError::NotFinite { dof: None },
                })
            })?;
            modes.settle(linear, translations, solver, h);
            self.modes = Some(modes);
        }
        let modes = self.modes.as_mut().expect("just made");
        let mut motion = Motion { momentum: vec![0.0; n], force: vec![0.0; n] };
        linear.mass(&linear.velocity, &mut motion.momentum);
        linear.mass(&linear.acceleration, &mut motion.force);
        // What modes of an earlier step leave out is of first order.
        let may_rest = self.rest != Rest::Midpoint && modes.end == state.q;
        if modes.follow(linear, translations, solver, &motion, self.choice, may_rest, h).is_none() {
            self.modes = None;
            return Err(failed(SolveError::NotFinite { dof: None }));
        }
        let (motion, rest, tolerance) = (&motion, self.rest, self.tolerance);
        let split = Split { linear, translations, modes, motion, h, rest, tolerance };
        let before = linear.potential(&vec![0.0; n]);
        let several = modes.used > 0 || self.rest != Rest::SemiImplicit;
        let all = [Attempt::Warm, Attempt::Cold, Attempt::WithoutModes];
        for attempt in if several { &all[..] } else { &all[2..] } {
            let (dq, dv) = match split.advance(*attempt, solver) {
                Err(e) => return Ok(Err(e)),
                Ok(None) => continue,
                Ok(Some(step)) => step,
            };
            let sound = split.keeps_energy(before, &dq, &dv);
            if sound || *attempt == Attempt::WithoutModes {
                return Ok(Ok(Increments { dq, dv, sound }));
            }
        }
        Err(failed(SolveError::NotFinite { dof: None }))
    }

    fn step_with(
        &mut self,
        work: &mut Workspace,
        system: &dyn System,
        state: &mut State,
        h: f64,
    ) -> Result<StepStats, StepError> {
        let mut prescribed = std::mem::take(&mut self.prescribed);
        let done = self.step_holding(&mut prescribed, work, system, state, h);
        self.prescribed = prescribed;
        done
    }

    fn step_holding(
        &mut self,
        prescribed: &mut Prescribed,
        work: &mut Workspace,
        system: &dyn System,
        state: &mut State,
        h: f64,
    ) -> Result<StepStats, StepError> {
        prescribed.prepare(system, state, h)?;
        let mut linear = Linearised::new(system, state, prescribed, h, self.rest.when())?;
        let translations = linear.split_translations(h);
        let tau = self.rest.reach() * h;
        let correction = system.abilities().correction;
        let mut found = None;
        let mut stats = StepStats { newton_iterations: 1, ..StepStats::default() };
        for projected in [false, true] {
            if projected {
                linear.project_stiffness();
            }
            work.begin_linear(None, &mut |_, _| {});
            linear.shifted(tau, Curvature::Exact, work.matrix_mut());
            work.correct(correction.map(|c| c.deflation(tau * tau, tau)));
            let mut solver = StepSolver::new(work, &state.q, &prescribed.mask);
            let increments = self.increments(system, state, &linear, &translations, &mut solver, h)?;
            stats.linear_iterations += solver.report.iterations;
            stats.multigrid += usize::from(solver.report.multigrid);
            match increments {
                Ok(increments) => {
                    found = Some(increments);
                    break;
                }
                Err(e) if projected => {
                    let cause = SolveError::Singular { dof: e.dof };
                    return Err(StepError::Solve { cause, t: state.t, h });
                }
                Err(_) => {}
            }
        }
        let Increments { mut dq, mut dv, sound } = found.expect("the last failure returns");
        if !sound {
            // A new one, since it is rare, and memory would have to be part of every checkpoint.
            let mut whole = backward_euler::ENTRY.create(&[]).expect("its defaults");
            if let Ok(stats) = whole.step(system, state, h) {
                return Ok(stats);
            }
        }
        for translation in &translations {
            translation.add_to(&mut dq, &mut dv);
        }
        linear.add_drift(h, &mut dq);
        drop(linear);
        finish(system, state, prescribed, h, dq, dv)?;
        if let Some(modes) = &mut self.modes {
            modes.end.clone_from(&state.q);
        }
        Ok(stats)
    }
}

impl Integrator for Siere {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        let mut persistent = std::mem::take(&mut self.persistent);
        let done = persistent.attempt(system.pattern(), |work| self.step_with(work, system, state, h));
        self.persistent = persistent;
        done
    }

    fn claims(&self) -> Claims {
        let order = if self.rest == Rest::Midpoint && self.choice.lowest { 2 } else { 1 };
        Claims::of_order(order)
    }

    fn limit(&self) -> Option<&'static str> {
        Some("that of semi-implicit: a step that would gain energy with its modes is taken without them")
    }

    fn takes_fits(&self) -> bool {
        true
    }

    fn reset(&mut self) {
        self.persistent.reset();
        self.modes = None;
    }

    fn memory(&self) -> Memory {
        let modes = self.modes.as_ref().map(|Modes { subspace, held, end, .. }| ModesMemory {
            vectors: subspace.vectors.clone(),
            held: *held,
            end: end.clone(),
        });
        Memory::new(SiereMemory { solver: self.persistent.memory(), modes })
    }

    fn restore(&mut self, memory: &Memory, _state: &State) -> Result<(), MemoryError> {
        let SiereMemory { solver, modes } = memory.read()?;
        self.persistent.restore(solver);
        self.modes = modes.map(|ModesMemory { vectors, held, end }| {
            let subspace = Subspace { vectors, values: Vec::new() };
            Modes { subspace, used: 0, held, end }
        });
        Ok(())
    }
}

/// The memory of `siere`.
#[derive(Clone, Serialize, Deserialize)]
struct SiereMemory {
    solver: SolverMemory,
    modes: Option<ModesMemory>,
}

/// The modes of the last step.
#[derive(Clone, Serialize, Deserialize)]
struct ModesMemory {
    /// The vectors, one after the other; extra ones come last.
    vectors: Vec<f64>,
    /// Number of Dirichlet dofs.
    held: usize,
    /// The positions to which the last step led, m.
    end: Vec<f64>,
}

impl MemoryRecord for SiereMemory {
    const KIND: &'static str = "siere";
    const VERSION: u32 = 4;
}
