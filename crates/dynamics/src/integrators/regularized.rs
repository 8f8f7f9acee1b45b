//! Regularised constraints \[servin2006\]: stiff elastic energy ½ Σ φ²/α stepped as a constraint φ = 0 that gives way,
//!
//!   ⎡ M   −Jᵀ   ⎤ ⎡ v_{k+1} ⎤   ⎡ M v_k + h f  ⎤
//!   ⎣ J   γα/h² ⎦ ⎣ y       ⎦ = ⎣ −γ φ_k/h     ⎦,   q_{k+1} = q_k + h v_{k+1},   γ = 1/(½ + β/h),
//!
//! with J = ∂φ/∂q at q_k and y = hλ the impulses of the constraints. First order, one linear solve, stable for every
//! stiffness up to α = 0. Internal vibrations are damped (β adds to that); a rigid motion has Jv = 0 and is not. Since
//! the impulses act at q_k and have no torque there, and v × Mv = 0, angular momentum is kept, as is momentum.
//!
//! Everything else with a potential, f, is linearised at q_k (h²∇²W beside M), and so is damping (hD).
//!
//! **Forms.** The matrix is solved with y eliminated first, (M + h²/γ Jᵀα⁻¹J) v = …, which has the size and pattern of
//! any implicit step but loses digits as α → 0; or with the nodes eliminated first, the Schur complement
//! JM⁻¹Jᵀ + γα/h²; or as a whole with a fill-reducing order. Eliminating y costs the least by far (tets have eleven
//! times as many strains as there are unknowns), so `auto` does that for every strain but those that are too
//! stiff for it; what remains is solved as a whole. In each form p₁ is the sum of the impulses that were solved for, so
//! that Σp is kept to round-off, and Σq×p to what the velocities have lost (1e-8 in 100 steps at E = 1e12 Pa).

use super::{Claims, Entry, Integrator, Variant};
use crate::implicit::Kept;
use crate::options::{Kind, OptionSpec};
use crate::step::{Ends, first_not_finite};
use crate::strains::Strains;
use crate::{Integrating, State, StepError, System};
use lilyan_solve::newton::SolveError;
use lilyan_solve::{BlockMatrix, BlockPattern, Compliant, Elimination, SparseRows};
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "regularized",
    summary: "stiff strains as constraints that give way: one linear solve, first order, any stiffness",
    cite: "servin2006",
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
            doc: "damping time of the strains in steps, added to beta; 0.5 leaves nothing of a rigid strain",
            kind: Kind::Number { min: 0.0, max: 1e6, default: BETA_STEPS },
        },
    ],
    variants: &[
        &[("form", Variant::Word("eliminate")), ("beta", Variant::Number(0.01))],
        &[("form", Variant::Word("schur"))],
        &[("form", Variant::Word("saddle"))],
    ],
    build: |options| {
        Box::new(Regularized {
            form: match options.word("form") {
                "eliminate" => Form::Eliminate,
                "schur" => Form::Schur,
                "saddle" => Form::Saddle,
                _ => Form::Auto,
            },
            beta: options.number("beta"),
            beta_steps: options.number("beta_steps"),
            kept: Kept::default(),
            whole: Compliant::new(),
            ends: Ends::default(),
        })
    },
};

/// With β = 0 a stiff strain changes its sign in every step, as in the source.
const BETA_STEPS: f64 = 0.0;

/// A strain is eliminated while its stiffness, h²/γα JM⁻¹Jᵀ, is below this: a solve loses so many units of round-off
/// in the velocities (not in the momenta). Steel in tets of 5 mm at h = 15 ms is at about 1e10.
const STIFFEST: f64 = 1e11;

/// No strain is stiffer than that: round-off would eat what is beside it in the matrix.
const RIGID: f64 = 1e14;

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
    kept: Kept,
    whole: Compliant,
    ends: Ends,
}

/// The strains of all elements at q_k, in one list.
#[derive(Default)]
struct Rows {
    /// ∂φ/∂q.
    jacobian: SparseRows,
    phi: Vec<f64>,
    /// γα/h².
    compliance: Vec<f64>,
}

impl Rows {
    fn push(&mut self, nodes: &[u32], jacobian: &[f64], phi: f64, compliance: f64) {
        for (i, d) in jacobian.iter().enumerate() {
            self.jacobian.push(3 * nodes[i / 3] as usize + i % 3, *d);
        }
        self.jacobian.end_row();
        self.phi.push(phi);
        self.compliance.push(compliance);
    }
}

impl Regularized {
    /// Adds Jᵀ(γα/h²)⁻¹J of the strains to be eliminated to `a`, and lists these and the others.
    fn gather(
        &self,
        groups: &[&dyn Strains],
        q: &[f64],
        mass: &[f64],
        softness: f64,
        a: &mut BlockMatrix,
    ) -> [Rows; 2] {
        let mut rows = [Rows::default(), Rows::default()];
        for group in groups {
            let (n, s) = (group.nodes_each(), group.strains_each());
            let count = group.nodes().len() / n;
            let mut phi = vec![0.0; count * s];
            let mut jacobian = vec![0.0; count * s * 3 * n];
            group.evaluate(q, &mut phi, &mut jacobian);
            let mut element = vec![0.0; 9 * n * n];
            for e in 0..count {
                let nodes = &group.nodes()[n * e..n * (e + 1)];
                if nodes.iter().all(|&m| self.ends.mask[3 * m as usize..][..3] == [true; 3]) {
                    continue;
                }
                element.fill(0.0);
                for i in s * e..s * (e + 1) {
                    let row = &jacobian[3 * n * i..3 * n * (i + 1)];
                    let mobility: f64 =
                        (0..3 * n).map(|k| row[k] * row[k] / mass[3 * nodes[k / 3] as usize + k % 3]).sum();
                    let compliance = softness * group.compliances()[i];
                    let stiff = match self.form {
                        Form::Auto => mobility > STIFFEST * compliance,
                        Form::Eliminate => false,
                        Form::Schur | Form::Saddle => true,
                    };
                    // Where it must be eliminated there must be something to divide by.
                    let compliance = if stiff { compliance } else { compliance.max(mobility / RIGID) };
                    rows[usize::from(stiff)].push(nodes, row, phi[i], compliance);
                    if !stiff {
                        for k in 0..3 * n {
                            let scaled = row[k] / compliance;
                            for l in 0..3 * (k / 3 + 1) {
                                element[3 * n * k + l] += scaled * row[l];
                            }
                        }
                    }
                }
                for (i, &to) in nodes.iter().enumerate() {
                    for (j, &from) in nodes[..=i].iter().enumerate() {
                        let block = std::array::from_fn(|k| element[3 * n * (3 * i + k / 3) + 3 * j + k % 3]);
                        if block != [0.0; 9] {
                            a.add_block(to as usize, from as usize, &block);
                        }
                    }
                }
            }
        }
        rows
    }
}

/// The same matrix without the blocks that are zero.
fn compact(a: &BlockMatrix) -> BlockMatrix {
    let pattern = a.pattern();
    let diagonal = BlockPattern::from_cliques(pattern.n(), std::iter::empty());
    let mut out = BlockMatrix::zeros(Arc::new(diagonal));
    for j in 0..pattern.n() {
        let first = pattern.diagonal_position(j);
        for (k, &i) in pattern.column(j).iter().enumerate() {
            let block = &a.values()[first + k];
            if *block != [0.0; 9] {
                out.add_block(i as usize, j, block);
            }
        }
    }
    for (&(i, j), block) in a.extra() {
        out.add_block(i as usize, j as usize, block);
    }
    out
}

impl Integrator for Regularized {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError> {
        let strained = system.strained().map_err(|reason| StepError::Refused { reason })?;
        self.ends.prepare(system, state, h)?;
        let (n, t, t1) = (state.q.len(), state.t, state.t + h);
        let gamma = 1.0 / (0.5 + self.beta / h + self.beta_steps);
        let not_finite = |dof| StepError::NotFinite { t, h, dof };
        let singular = |dof: usize| {
            let cause = SolveError::Singular { dof: dof.min(n - 1) };
            StepError::Solve { cause, t, h }
        };

        // r = Mv_k + hf, and what of it depends on v: (h²∇²W + hD) v.
        let mut r = vec![0.0; n];
        strained.other_gradient(t1, &state.q, &mut r);
        let mut linear = BlockMatrix::zeros(system.pattern().clone());
        strained.other_hessian(t1, &state.q, &mut linear);
        linear.scale(h * h);
        let mut f = vec![0.0; n];
        if system.has_forces() {
            let mut d = BlockMatrix::zeros(system.pattern().clone());
            system.damping(t1, &state.q, &mut d);
            d.mul_vec(&state.v, &mut f);
            system.forces(t1, &state.q, &state.v, &mut f);
            linear.add_scaled(h, &d);
        }
        for i in 0..n {
            r[i] = state.p[i] + h * (f[i] - r[i]);
        }

        let mut a = linear.clone();
        system.mass().add_to(&mut a);
        let groups = strained.strains();
        let [soft, mut stiff] =
            self.gather(&groups, &state.q, system.mass().diagonal(), gamma / (h * h), &mut a);
        let mut v = vec![0.0; n];
        self.ends.mean_velocity(&state.q, h, &mut v);
        // z = (v, −y of the stiff strains).
        let mut known = vec![0.0; n];
        a.mul_vec(&v, &mut known);
        let mut z = r.clone();
        let pushes: Vec<f64> =
            (0..soft.phi.len()).map(|i| -gamma / h * soft.phi[i] / soft.compliance[i]).collect();
        soft.jacobian.add_transposed(1.0, &pushes, &mut z);
        for i in 0..n {
            z[i] = if self.ends.mask[i] { v[i] } else { z[i] - known[i] };
        }
        let mut rate = vec![0.0; stiff.phi.len()];
        stiff.jacobian.mul(&v, &mut rate);
        z.extend((0..rate.len()).map(|i| -gamma / h * stiff.phi[i] - rate[i]));
        if let Some(dof) = first_not_finite(&[&z]) {
            return Err(not_finite(dof.min(n - 1)));
        }
        a.hold(&self.ends.mask);
        if stiff.phi.is_empty() {
            let work = self.kept.workspace(system);
            *work.matrix_mut() = a;
            work.factor_matrix().map_err(|e| singular(e.dof))?;
            work.factor.solve(&mut z);
        } else {
            let elimination =
                if self.form == Form::Schur { Elimination::NodesFirst } else { Elimination::Mixed };
            let mut rows = std::mem::take(&mut stiff.jacobian);
            let all = rows.clone();
            rows.hold(&self.ends.mask);
            let a = compact(&a);
            self.whole
                .factor(&a, &rows, &stiff.compliance, elimination, system.pattern())
                .map_err(|e| singular(e.dof))?;
            self.whole.solve(&a, &mut z);
            stiff.jacobian = all;
        }
        v.copy_from_slice(&z[..n]);

        // p₁ from the impulses.
        let mut p1 = r;
        linear.mul_vec(&v, &mut known);
        for i in 0..n {
            p1[i] -= known[i];
        }
        stiff.jacobian.add_transposed(-1.0, &z[n..], &mut p1);
        let mut y = vec![0.0; soft.phi.len()];
        soft.jacobian.mul(&v, &mut y);
        for i in 0..y.len() {
            y[i] = -(y[i] + gamma / h * soft.phi[i]) / soft.compliance[i];
        }
        soft.jacobian.add_transposed(1.0, &y, &mut p1);

        let mut q1: Vec<f64> = (0..n).map(|i| state.q[i] + h * v[i]).collect();
        if let Some(dof) = first_not_finite(&[&q1]) {
            return Err(not_finite(dof));
        }
        if !system.energy(t1, &q1).is_finite() {
            return Err(StepError::Infeasible { t, h });
        }
        self.ends.finish(system, state, h, &mut q1, &mut p1)?;
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
            angular_momentum: true,
            energy: false,
        }
    }

    fn refuses(&self, system: &dyn System) -> Option<String> {
        system.strained().err()
    }

    fn reset(&mut self) {
        self.kept.reset();
        self.whole = Compliant::new();
    }

    fn memory(&self) -> Vec<f64> {
        self.kept.memory()
    }

    fn remember(&mut self, memory: &[f64]) {
        self.kept.remember(memory);
    }
}
