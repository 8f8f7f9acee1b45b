//! SIERE \[chen2019\], chapter 6: a few modes are integrated exactly as in `ere`, the rest linearly implicitly as in
//! `semi-implicit`.
//!
//! The linearised system is split by modes, K U = M U Λ, UᵀMU = 1: J_G acts on span U, J_H = J − J_G, and
//!
//!   u_{k+1} = u_k + (1 − hJ_H)⁻¹ (hH + hφ₁(hJ_G) G).
//!
//! J_H vanishes on span U and equals J on its M-complement. The 2n system and the Sherman–Morrison–Woodbury formula of the
//! thesis are therefore not needed:
//!
//! * each mode moves by the closed form of its damped oscillator ([`lilyan_solve::exponential`]), δq_G;
//! * the complement takes one Newton step of backward Euler, (M + hD + h²K) δv = h f_c − h²K v_c, δq = h(v_c + δv), with the
//!   force f_c at q_k + δq_G (the warm start of the thesis). On a linear system this is the formula above. Where a body
//!   turns, modes lead straight on and stretch it. With the force at q_k the complement would see that stretch one step
//!   later, and its damping would take the energy. `h_part = "backward-euler"` repeats the Newton step until it converges.
//!
//! **Which modes.** The lowest ones, as in the thesis, or with `select = "motion"` those that carry most of the motion,
//! (uᵀp)² + (uᵀf)²/λ, among all with hω ≤ 1: what carries nothing is not worth a mode, and faster modes turn too far within
//! a step for a linearisation. Modes of the last step are refined by block Davidson ([`lilyan_solve::eigen`])
//! in a space that then also contains the responses to p and f, so that modes which begin to move are found. The first ones are
//! computed by shift-invert Lanczos. They need not be exact, since they only determine which part is integrated by which
//! method.
//!
//! **Indefinite K.** If M + hD + h²K is not positive definite, K has eigenvalues below −1/h², and modes would grow by more
//! than cosh 1 in a step; near an inverted element without bound. Modes and complement then use the projected K, as
//! `semi-implicit` does. Otherwise a mode with λ < 0 is a true instability (buckling), and moves exactly. No split of a
//! nonlinear system conserves energy, so that a step is accepted only if kinetic energy plus potential (with loads and
//! Dirichlet dofs as they are at its end) does not increase, up to a small share of the energy that it moves. If it does,
//! the step is repeated with the force at q_k, and at last without modes, which is a step of `semi-implicit`. `siere` is
//! therefore never less stable than that method.
//!
//! The method is of first order, without numerical damping of the motion in the modes. The damping of a mode is uᵀDu,
//! which is exact for Rayleigh damping. A translation of the whole system that no force resists is an additional mode,
//! which is not counted and exact. Without modes the method is `semi-implicit`.

use super::{Claims, Entry, Integrator};
use crate::implicit::PersistentWorkspace;
use crate::linearised::{EvaluationTime, Linearised, Translation, finish};
use crate::modes;
use crate::options::{Kind, OptionSpec};
use crate::prescribed::Prescribed;
use crate::{Memory, MemoryError, MemoryRecord, State, StepError, StepStats, System};
use lilyan_solve::SecondOrderSystem;
use lilyan_solve::eigen::Subspace;
use lilyan_solve::exponential::Propagator;
use lilyan_solve::newton::{Curvature, SolveError, SolverMemory, Workspace, dot};
use lilyan_solve::{BlockMatrix, EigenError};
use serde::{Deserialize, Serialize};
use std::cell::Cell;

pub(super) const ENTRY: Entry = Entry {
    name: "siere",
    summary: "a few modes exactly, the rest linearly implicitly: one solve per step",
    cite: "chen2019",
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
            doc: "how the rest is integrated: by one linear solve, or by backward Euler (solves until it converges)",
            kind: Kind::Word { choices: &["semi-implicit", "backward-euler"] },
        },
    ],
    variants: &[&[("modes", super::Variant::Number(2.0))]],
    build: |options| {
        let wanted = options.number_or_word("modes").map(|n| n as usize);
        Box::new(Siere {
            choice: Choice { wanted, lowest: options.word("select") == "lowest" },
            solves: if options.word("h_part") == "backward-euler" { MAX_SOLVES } else { 1 },
            persistent: PersistentWorkspace::default(),
            prescribed: Prescribed::default(),
            modes: None,
        })
    },
};

/// Most modes with `auto`.
const MAX_AUTO_MODES: usize = 20;
/// The share of the motion that `auto` leaves to the complement.
const AUTO_REMAINDER: f64 = 1e-3;
/// Extra vectors, which speed up the convergence of the last wanted modes.
const GUARDS: usize = 2;
/// Further candidates at the start, where it is not known yet which modes will move.
const CANDIDATES: usize = 10;
/// Most refinements of the first modes, and the error at which they end.
const SETTLING: usize = 10;
const SETTLED: f64 = 1e-10;
/// The least (hω)² with which a mode counts in its potential energy f²/λ: slower ones hardly swing within a run.
const SLOWEST: f64 = 1e-4;
/// The energy that a step may gain, relative to the energy that it moves. Errors of a sound step are far below.
const GAIN: f64 = 0.05;
/// Most solves with `h_part = "backward-euler"`, and the relative correction at which they end.
const MAX_SOLVES: usize = 50;
const CONVERGED: f64 = 1e-6;

struct Siere {
    choice: Choice,
    /// Most solves for the complement.
    solves: usize,
    persistent: PersistentWorkspace,
    prescribed: Prescribed,
    modes: Option<Modes>,
}

/// Which modes are integrated exactly.
#[derive(Clone, Copy)]
struct Choice {
    /// Number of modes; `None` for `auto`.
    wanted: Option<usize>,
    lowest: bool,
}

impl Choice {
    /// The number of modes to begin with.
    fn first(&self) -> usize {
        match self.wanted {
            Some(0) => 0,
            Some(n) => n + GUARDS + if self.lowest { 0 } else { CANDIDATES },
            None => MAX_AUTO_MODES,
        }
    }

    /// The modes to keep, and how many of them are integrated exactly: these come first. `values` are h²λ, ascending;
    /// `shares` what each mode carries of the motion.
    fn among(&self, values: &[f64], shares: &[f64]) -> (Vec<usize>, usize) {
        let slow = values.iter().filter(|z| **z < 1.0 - 1e-9).count();
        if self.lowest {
            let used = self.wanted.unwrap_or(slow.clamp(1, MAX_AUTO_MODES)).min(values.len());
            return ((0..values.len().min(used + GUARDS)).collect(), used);
        }
        let mut order: Vec<usize> = (0..slow).collect();
        order.sort_by(|&i, &j| shares[j].total_cmp(&shares[i]));
        let used = self.wanted.map_or_else(
            || {
                let total: f64 = order.iter().map(|&k| shares[k]).sum();
                let mut sum = 0.0;
                let enough = order.iter().position(|&k| {
                    sum += shares[k];
                    sum >= (1.0 - AUTO_REMAINDER) * total
                });
                enough.map_or(slow, |last| last + 1).min(MAX_AUTO_MODES)
            },
            |wanted| wanted.min(values.len()),
        );
        // Where fewer are slow than wanted, the lowest of the others follow.
        order.extend(slow..values.len());
        let mut rest: Vec<usize> = order.split_off(used);
        rest.sort_unstable();
        order.extend(rest.into_iter().take(GUARDS));
        (order, used)
    }
}

/// The modes of the last step.
struct Modes {
    subspace: Subspace,
    /// Number of modes in use. The others are extra vectors.
    used: usize,
    /// Number of Dirichlet dofs. If it changes, the modes are computed again.
    held: usize,
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
        Ok(Self { subspace, used: 0, held })
    }

    /// Refines the first modes until they are those of the system, corrections by fits included, or as far as that goes.
    fn settle(
        &mut self,
        linear: &Linearised<'_>,
        translations: &[Translation],
        work: &mut Workspace,
        h: f64,
    ) {
        let n = linear.velocity.len();
        let keep = |u: &mut [f64]| linear.project_out(translations, u);
        let attempts = if self.subspace.vectors.is_empty() { 0 } else { SETTLING };
        for _ in 0..attempts {
            let mut solve = |x: &mut [f64], columns: usize| work.solve_many(x, columns);
            let Some(sizes) = self.subspace.refine(linear, &mut solve, &keep, n) else { return };
            if sizes.iter().all(|size| h * h * size < SETTLED) {
                return;
            }
        }
    }

    /// Refines the modes once with the stiffness of this step, and chooses among them. The next step starts from the result.
    fn follow(
        &mut self,
        linear: &Linearised<'_>,
        translations: &[Translation],
        work: &mut Workspace,
        motion: &Motion,
        choice: Choice,
        h: f64,
    ) -> Option<()> {
        if choice.wanted == Some(0) || self.subspace.vectors.is_empty() {
            return Some(());
        }
        let mut solve = |x: &mut [f64], columns: usize| work.solve_many(x, columns);
        let keep = |u: &mut [f64]| linear.project_out(translations, u);
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
        let n = motion.momentum.len();
        self.subspace.refine_among(linear, &mut solve, &keep, n, &responses, &choose)?;
        self.used = used.get();
        Some(())
    }
}

/// Momentum p = Mv and force f = Ma of the free unknowns at the start of a step.
struct Motion {
    momentum: Vec<f64>,
    force: Vec<f64>,
}

/// The ways to take a step, in the order in which they are tried.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// The complement feels the force at the point to which the modes lead.
    Warm,
    /// The complement feels the force at the start of the step.
    Cold,
    /// No modes: `semi-implicit`.
    WithoutModes,
}

/// One linearised step: the system, its translations, and its modes.
struct Split<'a> {
    linear: &'a Linearised<'a>,
    translations: &'a [Translation],
    modes: &'a Modes,
    motion: &'a Motion,
    h: f64,
    /// Most solves for the complement.
    solves: usize,
}

impl Split<'_> {
    /// The modes that are integrated exactly.
    fn used(&self, way: Way) -> impl Iterator<Item = (&[f64], f64)> {
        let n = self.motion.momentum.len();
        let count = if way == Way::WithoutModes { 0 } else { self.modes.used };
        let Subspace { vectors, values } = &self.modes.subspace;
        vectors.chunks_exact(n).zip(values.iter().copied()).take(count)
    }

    /// Removes the modes from a vector.
    fn project_out(&self, way: Way, x: &mut [f64]) {
        let mut weighted = vec![0.0; x.len()];
        self.linear.mass(x, &mut weighted);
        for (u, _) in self.used(way) {
            let along = dot(u, &weighted);
            x.iter_mut().zip(u).for_each(|(x, u)| *x -= along * u);
        }
        self.linear.project_out(self.translations, x);
    }

    /// (δq, δv) of a step. `None` if the solves for the complement do not converge.
    fn advance(&self, way: Way, work: &mut Workspace) -> Option<(Vec<f64>, Vec<f64>)> {
        let (linear, h) = (self.linear, self.h);
        let n = self.motion.momentum.len();
        // Integrate each mode, and remove it from v and a.
        let (mut v, mut a) = (linear.velocity.clone(), linear.acceleration.clone());
        let (mut dq, mut dv) = (vec![0.0; n], vec![0.0; n]);
        let (mut inertia, mut damped) = (vec![0.0; n], vec![0.0; n]);
        for (u, value) in self.used(way) {
            let (rate, pull) = (dot(u, &self.motion.momentum), dot(u, &self.motion.force));
            linear.damping(u, &mut damped);
            let propagator = Propagator::new(h * h * value, 0.5 * h * dot(u, &damped));
            let (x, y) = propagator.advance(h * rate, h * h * pull);
            for i in 0..n {
                dq[i] += x * u[i];
                dv[i] += y / h * u[i];
                v[i] -= rate * u[i];
                a[i] -= pull * u[i];
            }
        }
        let mut change = vec![0.0; n];
        if way == Way::Warm {
            change = linear.change_of_acceleration(&dq);
            self.project_out(way, &mut change);
        }
        // The complement; h²K v = (A − M − hD)v, with the K of the factorised matrix.
        let (mut rhs, mut product) = (vec![0.0; n], vec![0.0; n]);
        linear.mass(&v, &mut inertia);
        linear.damping(&v, &mut damped);
        work.mul(&v, &mut product);
        for i in 0..n {
            rhs[i] = -(product[i] - inertia[i] - h * damped[i]);
        }
        let mut gain = vec![0.0; n];
        let solves = if way == Way::Warm { self.solves } else { 1 };
        for solve in 1..=solves {
            let total: Vec<f64> = a.iter().zip(&change).map(|(a, c)| a + c).collect();
            linear.mass(&total, &mut product);
            for i in 0..n {
                rhs[i] += h * product[i];
            }
            work.solve(&mut rhs);
            if solve > 1 {
                self.project_out(way, &mut rhs);
            }
            gain.iter_mut().zip(&rhs).for_each(|(g, r)| *g += r);
            let (correction, size) = (linear.kinetic(&rhs), linear.kinetic(&gain));
            if solves == 1 || correction <= CONVERGED * CONVERGED * size {
                break;
            }
            if solve == solves || !correction.is_finite() {
                return None;
            }
            // The residual of backward Euler at the end of the step.
            let end: Vec<f64> = (0..n).map(|i| dq[i] + h * (v[i] + gain[i])).collect();
            change = linear.change_of_acceleration(&end);
            self.project_out(way, &mut change);
            linear.mass(&gain, &mut inertia);
            linear.damping(&gain, &mut damped);
            for i in 0..n {
                rhs[i] = -inertia[i] - h * damped[i];
            }
        }
        for i in 0..n {
            dq[i] += h * (v[i] + gain[i]);
            dv[i] += gain[i];
        }
        Some((dq, dv))
    }

    /// Whether a step keeps or loses energy, up to [`GAIN`]. Loads and Dirichlet dofs do no work here, since both energies
    /// are taken with those at the end of the step.
    fn keeps_energy(&self, before: f64, dq: &[f64], dv: &[f64]) -> bool {
        let (mut dq, mut translation) = (dq.to_vec(), vec![0.0; dq.len()]);
        for t in self.translations {
            t.add_to(&mut dq, &mut translation);
        }
        let v: Vec<f64> = self.linear.velocity.iter().zip(dv).map(|(v, d)| v + d).collect();
        let after = self.linear.potential(&dq);
        let (start, end) = (self.linear.kinetic(&self.linear.velocity), self.linear.kinetic(&v));
        // What the translation gains comes from the potential.
        let work: f64 = self.translations.iter().map(Translation::kinetic_gain).sum();
        let change = after - before + work;
        let rounding = 1e-12 * (before.abs() + after.abs());
        let finite = change.is_finite();
        finite && end - start + change <= GAIN * (start + end + change.abs()) + rounding
    }
}

impl Integrator for Siere {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        let n = state.q.len();
        self.prescribed.prepare(system, state, h)?;
        let mask = &self.prescribed.mask;
        let failed = |cause| StepError::Solve { cause, t: state.t, h };
        let mut linear = Linearised::new(system, state, &self.prescribed, h, EvaluationTime::End)?;
        let translations = linear.split_translations(h);
        let work = self.persistent.workspace(system);
        linear.shifted(h, Curvature::Exact, work.matrix_mut());
        if work.factor_matrix().is_err() {
            linear.project_stiffness();
            linear.shifted(h, Curvature::Exact, work.matrix_mut());
            work.factor_matrix().map_err(|e| failed(SolveError::Singular { dof: e.dof }))?;
        }
        work.correct(system.abilities().correction.map(|c| c.deflation(h * h, h)));
        let held = mask.iter().filter(|h| **h).count();
        if self.modes.as_ref().is_none_or(|m| m.held != held || m.subspace.vectors.len() % n != 0) {
            let modes = Modes::new(&linear, system, mask, &translations, self.choice.first());
            let mut modes = modes.map_err(|e| {
                failed(match e {
                    EigenError::NotPositiveDefinite { dof } => SolveError::Singular { dof },
                    _ => SolveError::NotFinite { dof: None },
                })
            })?;
            modes.settle(&linear, &translations, work, h);
            self.modes = Some(modes);
        }
        let modes = self.modes.as_mut().expect("just made");
        let mut motion = Motion { momentum: vec![0.0; n], force: vec![0.0; n] };
        linear.mass(&linear.velocity, &mut motion.momentum);
        linear.mass(&linear.acceleration, &mut motion.force);
        if modes.follow(&linear, &translations, work, &motion, self.choice, h).is_none() {
            self.modes = None;
            return Err(failed(SolveError::NotFinite { dof: None }));
        }

        let (linear, translations) = (&linear, &translations[..]);
        let split = Split { linear, translations, modes, motion: &motion, h, solves: self.solves };
        let before = linear.potential(&vec![0.0; n]);
        let ways = if modes.used > 0 { &[Way::Warm, Way::Cold][..] } else { &[] };
        let mut steps = ways.iter().filter_map(|way| split.advance(*way, work));
        let sound = steps.find(|(dq, dv)| split.keeps_energy(before, dq, dv));
        drop(steps);
        let last = || split.advance(Way::WithoutModes, work);
        let (mut dq, mut dv) = sound.or_else(last).expect("one solve");
        for translation in translations {
            translation.add_to(&mut dq, &mut dv);
        }
        finish(system, state, &mut self.prescribed, h, dq, dv)?;
        Ok(StepStats { newton_iterations: 1, linear_iterations: 0, ..Default::default() })
    }

    fn claims(&self) -> Claims {
        Claims::of_order(1)
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
        let modes = self.modes.as_ref().map(|Modes { subspace, held, .. }| ModesMemory {
            vectors: subspace.vectors.clone(),
            held: *held,
        });
        Memory::new(SiereMemory { solver: self.persistent.memory(), modes })
    }

    fn restore(&mut self, memory: &Memory, _state: &State) -> Result<(), MemoryError> {
        let SiereMemory { solver, modes } = memory.read()?;
        self.persistent.restore(solver);
        self.modes = modes.map(|ModesMemory { vectors, held }| {
            let subspace = Subspace { vectors, values: Vec::new() };
            Modes { subspace, used: 0, held }
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
}

impl MemoryRecord for SiereMemory {
    const KIND: &'static str = "siere";
    const VERSION: u32 = 3;
}
