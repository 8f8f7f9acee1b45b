//! Regularised constraints \[servin2006\]: a stiff elastic energy ½ Σ φ²/α is treated as a compliant constraint φ = 0,
//!
//!   M v_{k+1} = M v_k + h f + J(q_k)ᵀ y,   q_{k+1} = q_k + h v_{k+1},
//!   αy/h = −[(1 − b) φ(q_k) + b φ(q_{k+1})],   b = ½ + β/h,   γ = 1/b,
//!
//! with y = hλ the impulses of the constraints. The source replaces φ(q_{k+1}) by φ_k + hJv, which leaves a strain of
//! ½(hω)² in a body that turns, and with it an energy without bound as α → 0. Here the equations are solved as they
//! stand, by corrections with the matrix of the source,
//!
//!   ⎡ M   −Jᵀ   ⎤ ⎡ δv ⎤
//!   ⎣ J   γα/h² ⎦ ⎣ δy ⎦ = −residual,   J = J(q_k),
//!
//! from v = v_k, y = 0. There is one matrix per step. For a steady rotation the first correction is exact, since
//! Green's strain is quadratic and its second-order part the same in each step. The corrections end when the energy of
//! the strain that is left over is below [`ACCURACY`]² of the energy of the step.
//!
//! The method is of first order. For α → 0 it is SHAKE \[ryckaert1977\], which keeps a rigid rotation. For finite α a
//! steady rotation of a stretched body is a solution as well, and is not damped. A vibration of frequency ω is damped by
//! 1/√(1 + b(hω)²) per step, and, beyond what the step resolves, by 1 − γ. The impulses act at q_k and have no torque
//! there, and v × Mv = 0. Hence both momenta are conserved.
//!
//! All other potentials f are linearised at q_k (h²∇²W in addition to M), and so is damping (hD).
//!
//! **Forms.** There are three ways to solve the system. Eliminating y first gives (M + h²/γ Jᵀα⁻¹J) v = …, which has the
//! size and pattern of any implicit step but loses digits as α → 0, which the corrections restore. Eliminating the nodes
//! first gives the Schur complement JM⁻¹Jᵀ + γα/h². The whole system can be factorised in a fill-reducing order.
//! Eliminating y costs the least by far, since tets have eleven times as many strains as there are unknowns. `auto`
//! eliminates every strain that is not too stiff for it, and factorises the rest as a whole. In each form p₁ is the sum
//! of the impulses that were solved for. Σp is therefore conserved to round-off, and Σq×p to the accuracy of the
//! velocities (1e-8 in 100 steps at E = 1e12 Pa). Where all strains are eliminated, systems are solved to 1e-8 of the correction in
//! the norm of the matrix, by the solver of least cost, and later steps reuse its preconditioner.

mod rows;

use super::{Claims, Entry, Integrator, Variant};
use crate::implicit::{PersistentWorkspace, reuse_key};
use crate::options::{Kind, OptionSpec, Options};
use crate::prescribed::Prescribed;
use crate::step::first_not_finite;
use crate::strains::Strains;
use crate::system::strains::Strained;
use crate::{Memory, MemoryError, State, StepError, StepStats, System};
use lilyan_solve::newton::{Curvature, Linearisation, SolveError, Workspace, dot};
use lilyan_solve::{BlockMatrix, BlockPattern, Compliant, Elimination, NotPositiveDefinite};
use rows::{Gathering, Rows, compact, strains};
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "regularized",
    summary: "stiff strains as constraints that give way: one factorisation, first order, any stiffness",
    cite: "servin2006",
    stable_deformed: Some(2.0),
    options: &[
        OptionSpec {
            name: "form",
            doc: "how the equations are solved: strains eliminated, Schur complement, all at once, or as suits",
            kind: Kind::Word { choices: &["auto", "eliminate", "schur", "saddle"] },
        },
        OptionSpec {
            name: "beta",
            doc: "damping time of the strains, s",
            kind: Kind::Number { min: 0.0, max: 1e6, default: 0.0 },
        },
        OptionSpec {
            name: "beta_steps",
            doc: "damping time of the strains in steps, added to beta; 0.5 leaves nothing of a rigid strain, 0 all of it",
            kind: Kind::Number { min: 0.0, max: 1e6, default: BETA_STEPS },
        },
        OptionSpec {
            name: "corrections",
            doc: "most corrections of the strain at the end of a step; 0: linearised, as in the source",
            kind: Kind::Number { min: 0.0, max: 1e3, default: 30.0 },
        },
    ],
    variants: &[
        &[("form", Variant::Word("eliminate")), ("beta", Variant::Number(0.01))],
        &[("form", Variant::Word("schur"))],
        &[("form", Variant::Word("saddle"))],
        &[("beta_steps", Variant::Number(0.0)), ("corrections", Variant::Number(0.0))],
    ],
    build: |options| Box::new(Regularized::new(options)),
};

/// A strain far stiffer than the step resolves is multiplied by 1 − γ = −⅔ in each step. With β = 0, as in the source, it
/// changes its sign and stays.
const BETA_STEPS: f64 = 0.1;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Auto,
    Eliminate,
    Schur,
    Saddle,
}

struct Regularized {
    form: Form,
    beta: f64,
    beta_steps: f64,
    corrections: usize,
    persistent: PersistentWorkspace,
    whole: Compliant,
    /// The matrix that `whole` factorised, without rows.
    compact: BlockMatrix,
    prescribed: Prescribed,
}

impl Regularized {
    fn new(options: &Options) -> Self {
        Self {
            form: match options.word("form") {
                "eliminate" => Form::Eliminate,
                "schur" => Form::Schur,
                "saddle" => Form::Saddle,
                _ => Form::Auto,
            },
            beta: options.number("beta"),
            beta_steps: options.number("beta_steps"),
            corrections: options.number("corrections") as usize,
            persistent: PersistentWorkspace::default(),
            whole: Compliant::new(),
            compact: compact(&BlockMatrix::zeros(Arc::new(BlockPattern::from_cliques(
                0,
                std::iter::empty(),
            )))),
            prescribed: Prescribed::default(),
        }
    }
}

/// What the left-over strain may have of the energy of a step, as a square root.
const ACCURACY: f64 = 1e-4;

/// Accuracy of each solve, relative to the correction and to the velocity in the norm of M. The next residual contains what
/// a solve leaves over, except for the last one.
const SOLVE_ACCURACY: f64 = 1e-8;

/// A step with its matrix, ready for corrections.
struct Corrections<'a> {
    system: &'a dyn System,
    groups: &'a [&'a dyn Strains],
    q0: &'a [f64],
    h: f64,
    gamma: f64,
    held: &'a [bool],
    /// M v_k + h f, N s.
    impulse: &'a [f64],
    /// h²∇²W + hD of everything but strains.
    linear: &'a BlockMatrix,
    phi0: Vec<f64>,
    soft: Rows,
    stiff: Rows,
}

impl Corrections<'_> {
    /// The momenta at the end: what was known, what depends on v, and the impulses of the strains.
    fn momenta(&self, v: &[f64]) -> Vec<f64> {
        let mut p = vec![0.0; v.len()];
        self.linear.mul_vec(v, &mut p);
        p.iter_mut().zip(self.impulse).for_each(|(p, known)| *p = known - *p);
        for rows in [&self.stiff, &self.soft] {
            rows.jacobian.add_transposed(1.0, &rows.impulse, &mut p);
        }
        p
    }

    /// Corrects v and the impulses until the strains at the end are those of the impulses, at most `most` times after the
    /// first. `solve` applies the inverse of the matrix to (δv, −δy of stiff strains). Returns the number of solves.
    fn run(
        &mut self,
        v: &mut [f64],
        most: usize,
        solve: &mut dyn FnMut(&mut [f64]) -> Result<(), NotPositiveDefinite>,
    ) -> Result<usize, NotPositiveDefinite> {
        let n = v.len();
        let stored = |phi: &[f64]| -> f64 {
            let all = self.groups.iter().flat_map(|g| g.layout().compliances).zip(phi);
            all.filter(|(alpha, _)| **alpha > 0.0).map(|(alpha, phi)| 0.5 * phi * phi / alpha).sum()
        };
        let elastic = stored(&self.phi0);
        let mut last: Option<(f64, Vec<f64>, [Vec<f64>; 2])> = None;
        let mut solves = 0;
        loop {
            let q1: Vec<f64> = (0..n).map(|i| self.q0[i] + self.h * v[i]).collect();
            let phi1 = strains(self.groups, &q1);
            let (soft, soft_energy) = self.soft.residual(self.gamma, self.h, &self.phi0, &phi1);
            let (stiff, stiff_energy) = self.stiff.residual(self.gamma, self.h, &self.phi0, &phi1);
            let left = soft_energy + stiff_energy;
            let mut inertia = vec![0.0; n];
            self.system.mass().mul(v, &mut inertia);
            if solves > 0 {
                let before = last.as_ref().map_or(f64::INFINITY, |last| last.0);
                if let Some((_, v0, [soft, stiff])) = last.filter(|_| left.is_nan() || left > before) {
                    // A correction that does not help is taken back.
                    v.copy_from_slice(&v0);
                    (self.soft.impulse, self.stiff.impulse) = (soft, stiff);
                    return Ok(solves);
                }
                let whole = 0.5 * dot(v, &inertia) + elastic;
                if !(left > ACCURACY * ACCURACY * whole && left < 0.9 * before) || solves > most {
                    return Ok(solves);
                }
                last = Some((left, v.to_vec(), [self.soft.impulse.clone(), self.stiff.impulse.clone()]));
            }
            let mut z = self.momenta(v);
            for i in 0..n {
                z[i] = if self.held[i] { 0.0 } else { z[i] - inertia[i] };
            }
            let pushes: Vec<f64> = soft.iter().zip(&self.soft.pivot).map(|(r, c)| -r / c).collect();
            self.soft.jacobian.add_transposed(1.0, &pushes, &mut z);
            (0..n).filter(|&i| self.held[i]).for_each(|i| z[i] = 0.0);
            z.extend(stiff.iter().map(|r| -r));
            solve(&mut z)?;
            v.iter_mut().zip(&z).for_each(|(v, d)| *v += d);
            let mut rates = vec![0.0; soft.len()];
            self.soft.jacobian.mul(&z[..n], &mut rates);
            for (i, rate) in rates.iter().enumerate() {
                self.soft.impulse[i] -= (soft[i] + rate) / self.soft.pivot[i];
            }
            self.stiff.impulse.iter_mut().zip(&z[n..]).for_each(|(y, z)| *y -= z);
            solves += 1;
        }
    }
}

/// What the matrix of a step depends on besides t, q and v.
struct StepMatrix<'a> {
    system: &'a dyn System,
    strained: &'a dyn Strained,
    gathering: Gathering<'a>,
}

impl StepMatrix<'_> {
    /// h²∇²W + hD of everything but strains, overwriting `a`.
    fn linear(&self, t: f64, q: &[f64], v: &[f64], a: &mut BlockMatrix) {
        let h = self.gathering.h;
        a.clear();
        if let Some(dissipation) = self.system.abilities().dissipation {
            dissipation.add_damping_matrix(t, q, v, a);
            a.scale(1.0 / h);
        }
        self.strained.other_hessian(t, q, a);
        a.scale(h * h);
    }

    /// Mv_k + hf without what depends on v at the end; `work` is overwritten.
    fn impulse(&self, state: &State, t1: f64, work: &mut BlockMatrix) -> Vec<f64> {
        let h = self.gathering.h;
        let (mut g, mut f) = (vec![0.0; state.q.len()], vec![0.0; state.q.len()]);
        self.strained.other_gradient(t1, &state.q, &mut g);
        if let Some(dissipation) = self.system.abilities().dissipation {
            work.clear();
            dissipation.add_damping_matrix(t1, &state.q, &state.v, work);
            work.mul_vec(&state.v, &mut f);
            dissipation.add_forces(t1, &state.q, &state.v, &mut f);
        }
        (0..g.len()).map(|i| state.p[i] + h * (f[i] - g[i])).collect()
    }

    /// Adds M and the eliminated strains, and lists these and the others.
    fn complete(&self, q: &[f64], a: &mut BlockMatrix) -> [Rows; 2] {
        self.system.mass().add_to(a);
        let rows = self.gathering.gather(q, a);
        a.hold(self.gathering.held);
        rows
    }
}

impl Regularized {
    fn step_with(
        &mut self,
        work: &mut Workspace,
        system: &dyn System,
        state: &mut State,
        h: f64,
    ) -> Result<StepStats, StepError> {
        let abilities = system.abilities();
        let strained =
            abilities.strained.map_err(|lacking| StepError::Refused { reason: lacking.to_string() })?;
        self.prescribed.prepare(system, state, h)?;
        let (n, t, t1) = (state.q.len(), state.t, state.t + h);
        let gamma = 1.0 / (0.5 + self.beta / h + self.beta_steps);
        let not_finite = |dof| StepError::NotFinite { t, h, dof };
        let singular = |dof: usize| {
            let cause = SolveError::Singular { dof: dof.min(n - 1) };
            StepError::Solve { cause, t, h }
        };

        let groups = strained.strains();
        let held = self.prescribed.mask.clone();
        let gathering = Gathering {
            groups: &groups,
            form: self.form,
            held: &held,
            mass: system.mass().diagonal(),
            softness: gamma / (h * h),
            h,
        };
        let matrix = StepMatrix { system, strained, gathering };
        let mut linear = BlockMatrix::zeros(system.pattern().clone());
        let r = matrix.impulse(state, t1, &mut linear);
        if let Some(dof) = first_not_finite(&[&r]) {
            return Err(not_finite(dof));
        }
        matrix.linear(t1, &state.q, &state.v, &mut linear);
        let key = reuse_key(system, t1, [gamma, h], &held);
        work.begin_linear(key, &mut |origin, a| {
            matrix.linear(origin.key.time, &origin.x, &origin.rates, a);
            matrix.complete(&origin.x, a);
        });
        work.matrix_mut().clone_from(&linear);
        let [soft, stiff] = matrix.complete(&state.q, work.matrix_mut());
        let mut v = if self.corrections > 0 { state.v.clone() } else { vec![0.0; n] };
        self.prescribed.mean_velocity(&state.q, h, &mut v);
        let whole_matrix = stiff.len() > 0;
        if whole_matrix {
            let mut rows = stiff.jacobian.clone();
            rows.hold(&held);
            let elimination =
                if self.form == Form::Schur { Elimination::NodesFirst } else { Elimination::Mixed };
            self.compact = compact(work.matrix_mut());
            let factored =
                self.whole.factor(&self.compact, &rows, &stiff.pivot, elimination, system.pattern());
            factored.map_err(|e| singular(e.dof))?;
        }
        let mut corrections = Corrections {
            system,
            groups: &groups,
            q0: &state.q,
            h,
            gamma,
            held: &held,
            impulse: &r,
            linear: &linear,
            phi0: strains(&groups, &state.q),
            soft,
            stiff,
        };
        let Self { whole, compact, .. } = self;
        let at = Linearisation { x: &state.q, rates: &state.v, curvature: Curvature::Projected, key };
        let mut report = StepStats::default();
        // The norm of M of the velocity at the end, as far as it is known, or of a correction.
        let mass = system.mass().diagonal();
        let known: f64 = r.iter().zip(mass).map(|(r, m)| r * r / m).sum();
        let size = |z: &[f64]| z.iter().zip(mass).map(|(z, m)| z * z * m).sum::<f64>().max(known).sqrt();
        let mut solve = |z: &mut [f64]| {
            if whole_matrix {
                whole.solve(compact, z);
                return Ok(());
            }
            report.add(work.solve_linear_within(&at, z, SOLVE_ACCURACY, &size)?.into());
            Ok(())
        };
        let solves = corrections.run(&mut v, self.corrections, &mut solve).map_err(|e| singular(e.dof))?;
        report.newton_iterations = solves;
        let mut p1 = corrections.momenta(&v);

        let mut q1: Vec<f64> = (0..n).map(|i| state.q[i] + h * v[i]).collect();
        if let Some(dof) = first_not_finite(&[&q1]) {
            return Err(not_finite(dof));
        }
        if !system.energy(t1, &q1).is_finite() {
            return Err(StepError::Infeasible { t, h });
        }
        self.prescribed.finish(system, state, h, &mut q1, &mut p1)?;
        Ok(report)
    }
}

impl Integrator for Regularized {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        let mut persistent = std::mem::take(&mut self.persistent);
        let done = persistent.attempt(system.pattern(), |work| self.step_with(work, system, state, h));
        self.persistent = persistent;
        done
    }

    fn claims(&self) -> Claims {
        Claims { angular_momentum: true, ..Claims::of_order(1) }
    }

    fn refuses(&self, system: &dyn System) -> Option<String> {
        system.abilities().strained.err().map(|lacking| lacking.to_string())
    }

    fn reset(&mut self) {
        self.persistent.reset();
        self.whole = Compliant::new();
    }

    fn memory(&self) -> Memory {
        Memory::new(self.persistent.memory())
    }

    fn restore(&mut self, memory: &Memory, _state: &State) -> Result<(), MemoryError> {
        memory.read().map(|memory| self.persistent.restore(memory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::{Oscillator, Particles, Spring};

    fn factorizations(system: &dyn System, start: State) -> usize {
        let options = Options::resolve(ENTRY.options, &[]).unwrap();
        let mut method = Regularized::new(&options);
        let mut state = start;
        for _ in 0..5 {
            method.step(system, &mut state, 0.01).unwrap();
        }
        method.persistent.workspace(system).factorizations()
    }

    #[test]
    fn a_constant_matrix_is_factorised_once() {
        let linear = Oscillator::new(3.0);
        let start = State::new(&linear, vec![1.0, 0.0, 0.0], vec![0.0; 3]);
        assert_eq!(factorizations(&linear, start), 1);
        let spring = Spring { ends: [0, 1], stiffness: 1e3, length: 1.0, damping: 0.0 };
        let turning = Particles::new(&[1.0; 2], vec![spring], 1.0);
        let start =
            State::new(&turning, vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0], vec![0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(factorizations(&turning, start), 5);
    }
}
