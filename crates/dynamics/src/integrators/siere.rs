//! SIERE \[chen2019\], chapter 6: the lowest modes exactly as `ere`, the rest linearly implicitly as `semi-implicit`.
//!
//! The linearised system is split by its s lowest modes, K U = M U Λ, UᵀMU = 1: J_G acts on span U, J_H = J − J_G, and
//!
//!   u_{k+1} = u_k + (1 − hJ_H)⁻¹ (hH + hφ₁(hJ_G) G).
//!
//! J_H vanishes on span U and equals J on its M-complement. So, without the 2n system and the Sherman–Morrison–Woodbury
//! formula of the thesis:
//!
//! * each mode moves by the closed form of its damped oscillator ([`lilyan_solve::phi`]), also where λ ≤ 0;
//! * the complement takes the step of `semi-implicit`, (M + hD + h²K) δv = h f_c − h²K v_c, δq = h(v_c + δv).
//!
//! The first modes come from shift-invert Lanczos. Afterwards last step's are refined with the factorisation of
//! M + hD + h²K that the step needs anyway, by block Davidson ([`lilyan_solve::refine`]). They need not be exact: the
//! split only says which part is integrated how.
//!
//! First order, without numerical damping of what the modes hold. Damping of a mode is uᵀDu, exact for Rayleigh damping.
//! A translation of the whole that nothing resists is a mode of its own, not counted, and exact. With no modes this is
//! `semi-implicit`.

use super::{Claims, Entry, Integrator};
use crate::implicit::Kept;
use crate::linearised::{Linearised, Translation, When, finish};
use crate::modes;
use crate::options::{Kind, OptionSpec};
use crate::step::Ends;
use crate::{Integrating, State, StepError, System};
use lilyan_solve::flow::Linear;
use lilyan_solve::newton::{Curvature, SolveError, Workspace, dot};
use lilyan_solve::phi::Propagator;
use lilyan_solve::refine::Subspace;
use lilyan_solve::{BlockMatrix, EigenError};

pub(super) const ENTRY: Entry = Entry {
    name: "siere",
    summary: "lowest modes exactly, the rest linearly implicitly: one solve per step",
    cite: "chen2019",
    options: &[OptionSpec {
        name: "modes",
        doc: "lowest modes that are integrated exactly; \"auto\": those with hω < 1, at most 20",
        kind: Kind::NumberOr { min: 0.0, max: 200.0, default: 5.0, word: "auto" },
    }],
    variants: &[&[("modes", super::Variant::Number(2.0))]],
    build: |options| {
        let wanted = options.number_or_word("modes").map(|n| n as usize);
        Box::new(Siere { wanted, kept: Kept::default(), ends: Ends::default(), modes: None })
    },
};

/// Most modes that `auto` takes.
const MOST: usize = 20;
/// Vectors beside those wanted, which hasten the convergence of the last of these.
const GUARDS: usize = 2;

struct Siere {
    /// `None`: as many as seem useful.
    wanted: Option<usize>,
    kept: Kept,
    ends: Ends,
    modes: Option<Modes>,
}

/// The modes of the last step.
struct Modes {
    subspace: Subspace,
    /// How many of them are used; the others only help.
    used: usize,
    /// How many unknowns were held: others have other modes.
    held: usize,
}

impl Modes {
    /// The lowest modes, found from nothing.
    fn new(
        linear: &Linearised<'_>,
        system: &dyn System,
        mask: &[bool],
        translations: &[Translation],
        wanted: Option<usize>,
        h: f64,
    ) -> Result<Self, EigenError> {
        let held = mask.iter().filter(|h| **h).count();
        let available = mask.len() - held - translations.len();
        let count = wanted.map_or(MOST, |n| if n == 0 { 0 } else { n + GUARDS }).min(available);
        let mut m = BlockMatrix::zeros(system.pattern().clone());
        system.mass().add_to(&mut m);
        let without = |u: &mut [f64]| linear.without(translations, u);
        // Where to begin, no more: every step refines them. (Of a strongly deformed body, many negative values lie
        // close together; more digits would take hundreds of vectors.)
        let close = 1e-3;
        let k = linear.stiffness_matrix();
        let mut subspace = modes::lowest(k, &m, mask, count, translations.len(), &without, close)?;
        let useful = subspace.values.iter().filter(|value| h * h * **value < 1.0).count();
        let used = wanted.unwrap_or(useful.max(1)).min(subspace.values.len());
        subspace.values.clear();
        Ok(Self { subspace, used, held })
    }

    /// The modes that are integrated exactly.
    fn used_vectors(&self, n: usize) -> impl Iterator<Item = &[f64]> {
        self.subspace.vectors.chunks_exact(n).take(self.used)
    }

    /// Follows the stiffness of this step, by one refinement: the next step goes on with it.
    fn follow(
        &mut self,
        linear: &Linearised<'_>,
        translations: &[Translation],
        work: &mut Workspace,
    ) -> Option<()> {
        if self.used == 0 {
            return Some(());
        }
        let mut solve = |x: &mut [f64], columns: usize| work.factor.solve_many(x, columns);
        let keep = |u: &mut [f64]| linear.without(translations, u);
        self.subspace.refine(linear, &mut solve, &keep, linear.velocity.len()).map(|_| ())
    }
}

impl Integrator for Siere {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError> {
        let n = state.q.len();
        self.ends.prepare(system, state, h)?;
        let mask = &self.ends.mask;
        let failed = |cause| StepError::Solve { cause, t: state.t, h };
        let mut linear = Linearised::new(system, state, &self.ends, h, When::End)?;
        let translations = linear.split_translations(h);
        let work = self.kept.workspace(system);
        linear.shifted(h, Curvature::Exact, work.matrix_mut());
        if work.factor_matrix().is_err() {
            linear.shifted(h, Curvature::Projected, work.matrix_mut());
            work.factor_matrix().map_err(|e| failed(SolveError::Singular { dof: e.dof }))?;
        }
        work.correct(system.correction().map(|c| c.deflation(h * h, h)));
        let held = mask.iter().filter(|h| **h).count();
        if self.modes.as_ref().is_none_or(|m| m.held != held || m.subspace.vectors.len() % n != 0) {
            let modes = Modes::new(&linear, system, mask, &translations, self.wanted, h);
            self.modes = Some(modes.map_err(|e| {
                failed(match e {
                    EigenError::NotPositiveDefinite { dof } => SolveError::Singular { dof },
                    _ => SolveError::NotFinite { dof: None },
                })
            })?);
        }
        let modes = self.modes.as_mut().expect("just made");
        if modes.follow(&linear, &translations, work).is_none() {
            self.modes = None;
            return Err(failed(SolveError::NotFinite { dof: None }));
        }

        // Each mode by itself, and out of v and a.
        let (mut v, mut a) = (linear.velocity.clone(), linear.acceleration.clone());
        let (mut dq, mut dv) = (vec![0.0; n], vec![0.0; n]);
        let (mut momentum, mut force, mut damped) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        linear.mass(&linear.velocity, &mut momentum);
        linear.mass(&linear.acceleration, &mut force);
        for (u, value) in modes.used_vectors(n).zip(&modes.subspace.values) {
            let (rate, pull) = (dot(u, &momentum), dot(u, &force));
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
        // The complement; h²K v = (A − M − hD)v, with K as it stands in the matrix that was factorised.
        let (mut rhs, mut product) = (vec![0.0; n], vec![0.0; n]);
        linear.mass(&v, &mut momentum);
        linear.mass(&a, &mut force);
        linear.damping(&v, &mut damped);
        work.mul(&v, &mut product);
        for i in 0..n {
            rhs[i] = h * force[i] - (product[i] - momentum[i] - h * damped[i]);
        }
        work.solve(&mut rhs);
        for i in 0..n {
            dq[i] += h * (v[i] + rhs[i]);
            dv[i] += rhs[i];
        }
        for translation in &translations {
            translation.add_to(&mut dq, &mut dv);
        }
        finish(system, state, &mut self.ends, h, dq, dv)?;
        Ok(Integrating { newton_iterations: 1, linear_iterations: 0, ..Default::default() })
    }

    fn claims(&self) -> Claims {
        Claims {
            order: 1,
            damped_order: 1,
            explicit: false,
            symplectic: false,
            reversible: false,
            linear_momentum: true,
            angular_momentum: false,
            energy: false,
        }
    }

    fn takes_fits(&self) -> bool {
        true
    }

    fn reset(&mut self) {
        self.kept.reset();
        self.modes = None;
    }

    /// The couplings, then the modes.
    fn memory(&self) -> Vec<f64> {
        let couplings = self.kept.memory();
        let mut memory = vec![couplings.len() as f64];
        memory.extend(couplings);
        if let Some(modes) = &self.modes {
            memory.extend([modes.used as f64, modes.held as f64]);
            memory.extend(&modes.subspace.vectors);
        }
        memory
    }

    fn remember(&mut self, memory: &[f64]) {
        self.reset();
        let Some((&count, rest)) = memory.split_first() else { return };
        let (couplings, rest) = rest.split_at((count as usize).min(rest.len()));
        self.kept.remember(couplings);
        if let [used, held, vectors @ ..] = rest {
            let subspace = Subspace { vectors: vectors.to_vec(), values: Vec::new() };
            self.modes = Some(Modes { subspace, used: *used as usize, held: *held as usize });
        }
    }
}
