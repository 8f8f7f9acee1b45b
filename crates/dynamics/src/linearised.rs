//! A system linearised about a state, which exponential methods integrate exactly.
//!
//!   M δq̈ = M a − K δq − D δq̇,   a = M⁻¹(−∇W + f),   K = ∇²W,   D = −∂f/∂v
//!
//! Time-dependent terms (loads, moving Dirichlet dofs) are evaluated in the middle of the step ([`EvaluationTime::Middle`]), and forces
//! without potential at q + ½hv, which replaces ∂f/∂q. A step that is exact for this system is then of second order.
//! Partly implicit methods evaluate them at the end ([`EvaluationTime::End`]), where their stiff part is in equilibrium. δq is measured in
//! a frame that moves with the Dirichlet dofs ([`crate::drift`]).

use crate::drift::drift;
use crate::prescribed::Prescribed;
use crate::step::first_not_finite;
use crate::{State, StepError, System};
use lilyan_solve::BlockMatrix;
use lilyan_solve::SecondOrderSystem;
use lilyan_solve::exponential::Damping;
use lilyan_solve::exponential::Propagator;
use lilyan_solve::newton::{Curvature, dot, max_norm};

/// The time at which loads and Dirichlet dofs are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvaluationTime {
    /// The middle of the step.
    Middle,
    /// The end of the step.
    End,
}

/// The linear system M δq̈ = M a − K δq − D δq̇ about a state, which exponential methods integrate exactly.
pub struct Linearised<'a> {
    system: &'a dyn System,
    held: &'a [bool],
    /// The configuration at which K is evaluated, m.
    q: Vec<f64>,
    time: f64,
    /// K with Dirichlet dofs decoupled.
    stiffness: BlockMatrix,
    /// D with Dirichlet dofs decoupled, if there are forces without potential.
    damping: Option<BlockMatrix>,
    kind: Damping,
    /// −∇W at q, N.
    potential_force: Vec<f64>,
    /// v of the free unknowns relative to the moving frame, 0 where prescribed, m/s.
    pub velocity: Vec<f64>,
    /// The velocity of that frame, m/s.
    drift: Vec<f64>,
    /// a of the free unknowns, 0 where prescribed, m/s².
    pub acceleration: Vec<f64>,
    /// The change of Ma if moving Dirichlet dofs are where they are in the middle of the step, N. Empty if none moves, or if they are there
    /// already. Exact solutions for constant forces take it: with Dirichlet dofs of the end they would run ahead by half a step.
    pub force_in_the_middle: Vec<f64>,
}

impl<'a> Linearised<'a> {
    /// Linearises about `state` for a step of `h` with these Dirichlet dofs.
    pub fn new(
        system: &'a dyn System,
        state: &State,
        prescribed: &'a Prescribed,
        h: f64,
        when: EvaluationTime,
    ) -> Result<Self, StepError> {
        let n = state.q.len();
        let abilities = system.abilities();
        let (time, flight) = match when {
            EvaluationTime::Middle => (state.t + 0.5 * h, 0.5 * h),
            EvaluationTime::End => (state.t + h, 0.0),
        };
        let (mut q, mut v) = (state.q.clone(), state.v.clone());
        let (mut acceleration, mut frame) = (vec![0.0; n], vec![0.0; n]);
        if prescribed.any() {
            frame = drift(system.pattern(), prescribed, state, h);
            (0..n).for_each(|i| q[i] += (time - state.t) * frame[i]);
            // Without this the frame may lead to an infeasible place.
            if !system.energy(time, &q).is_finite() {
                q.clone_from(&state.q);
                frame.fill(0.0);
            }
            let (mut middle, mut rate) = (q.clone(), v.clone());
            abilities.place_prescribed(time, &mut middle, &mut rate);
            for i in (0..n).filter(|&i| prescribed.mask[i]) {
                q[i] = middle[i];
                v[i] = (prescribed.q[i] - state.q[i]) / h;
                acceleration[i] = (prescribed.v[i] - state.v[i]) / h;
            }
        }
        let mut force = vec![0.0; n];
        system.gradient(time, &q, &mut force);
        for f in &mut force {
            *f = -*f;
        }
        let potential_force = force.clone();
        let mut stiffness = BlockMatrix::zeros(system.pattern().clone());
        system.hessian(time, &q, Curvature::Exact, &mut stiffness);
        let mut damping = None;
        let mut kind = Damping::Rayleigh { alpha: 0.0, beta: 0.0 };
        if let Some(dissipation) = abilities.dissipation {
            let mut ahead: Vec<f64> = (0..n)
                .map(|i| q[i] + if prescribed.mask[i] { 0.0 } else { flight * (v[i] - frame[i]) })
                .collect();
            // q + ½hv may be infeasible. Then the second order is lost, but not the step.
            if !system.energy(time, &ahead).is_finite() {
                ahead.clone_from(&q);
            }
            dissipation.add_forces(time, &ahead, &v, &mut force);
            let mut d = BlockMatrix::zeros(system.pattern().clone());
            dissipation.add_damping_matrix(time, &ahead, &v, &mut d);
            kind = match rayleigh(system, &d, &stiffness) {
                Some((alpha, beta)) => Damping::Rayleigh { alpha, beta },
                None => Damping::General,
            };
            d.hold(&prescribed.mask);
            damping = Some(d);
        }
        if let Some(dof) = first_not_finite(&[&force]) {
            return Err(StepError::NotFinite { t: state.t, h, dof });
        }
        stiffness.hold(&prescribed.mask);
        let mut middle = Vec::new();
        if when == EvaluationTime::End && abilities.prescribed_moves() {
            let place: Vec<f64> = (0..n).map(|i| state.q[i] + 0.5 * h * frame[i]).collect();
            middle = change_of_force(system, &prescribed.mask, state.t + 0.5 * h, place, &potential_force);
        }
        system.mass().solve(&prescribed.mask, &force, &mut acceleration);
        for i in (0..n).filter(|&i| prescribed.mask[i]) {
            (v[i], acceleration[i]) = (0.0, 0.0);
        }
        v.iter_mut().zip(&frame).for_each(|(v, drift)| *v -= drift);
        Ok(Self {
            system,
            held: &prescribed.mask,
            q,
            time,
            stiffness,
            damping,
            kind,
            potential_force,
            velocity: v,
            drift: frame,
            acceleration,
            force_in_the_middle: middle,
        })
    }

    /// Projects the given translations out of a vector.
    pub fn project_out(&self, translations: &[Translation], x: &mut [f64]) {
        if translations.is_empty() {
            return;
        }
        let mut weighted = vec![0.0; x.len()];
        self.system.mass().mul(x, &mut weighted);
        for t in translations {
            let mean = (t.axis..x.len()).step_by(3).map(|i| weighted[i]).sum::<f64>() / t.mass;
            (t.axis..x.len()).step_by(3).for_each(|i| x[i] -= mean);
        }
    }

    /// The structure of D. It is found from the matrix, so that it holds for every damping model.
    pub fn kind(&self) -> Damping {
        self.kind
    }

    /// Adds the way of the moving frame over a step to a displacement.
    pub fn add_drift(&self, h: f64, dq: &mut [f64]) {
        dq.iter_mut().zip(&self.drift).for_each(|(dq, drift)| *dq += h * drift);
    }

    /// Replaces K by its projection element by element, which is positive semidefinite.
    pub fn project_stiffness(&mut self) {
        self.stiffness.clear();
        self.system.hessian(self.time, &self.q, Curvature::Projected, &mut self.stiffness);
        self.stiffness.hold(self.held);
    }

    /// The configuration displaced by `dq`, with Dirichlet dofs as they are at the time of evaluation.
    pub fn displaced(&self, dq: &[f64]) -> Vec<f64> {
        (0..dq.len()).map(|i| self.q[i] + if self.held[i] { 0.0 } else { dq[i] }).collect()
    }

    /// W after a displacement by `dq`, J; loads as they are at the time of evaluation.
    pub fn potential(&self, dq: &[f64]) -> f64 {
        self.system.energy(self.time, &self.displaced(dq))
    }

    /// The change of M⁻¹(−∇W) of the free unknowns by a displacement `dq`, m/s².
    pub fn change_of_acceleration(&self, dq: &[f64]) -> Vec<f64> {
        let n = dq.len();
        let mut force = vec![0.0; n];
        self.system.gradient(self.time, &self.displaced(dq), &mut force);
        for i in 0..n {
            force[i] = -force[i] - self.potential_force[i];
        }
        let mut change = vec![0.0; n];
        self.system.mass().solve(self.held, &force, &mut change);
        (0..n).filter(|&i| self.held[i]).for_each(|i| change[i] = 0.0);
        change
    }

    /// ½vᵀMv, J.
    pub fn kinetic(&self, v: &[f64]) -> f64 {
        let mut momentum = vec![0.0; v.len()];
        self.mass(v, &mut momentum);
        0.5 * dot(v, &momentum)
    }

    /// K with Dirichlet dofs decoupled.
    pub fn stiffness_matrix(&self) -> &BlockMatrix {
        &self.stiffness
    }

    /// Writes M + τD + τ²K with the exact or the projected K.
    pub fn shifted(&self, tau: f64, curvature: Curvature, a: &mut BlockMatrix) {
        a.clear();
        match curvature {
            Curvature::Exact => a.add_scaled(1.0, &self.stiffness),
            Curvature::Projected => self.system.hessian(self.time, &self.q, curvature, a),
        }
        a.scale(tau * tau);
        if let Some(d) = &self.damping {
            a.add_scaled(tau, d);
        }
        self.system.mass().add_to(a);
        a.hold(self.held);
    }

    /// The fastest rate h√λ or hd of the system: a bound for a lumped mass, otherwise an estimate.
    pub fn fastest(&self, h: f64) -> f64 {
        let bound = |a: &BlockMatrix| {
            let mut sums = vec![0.0; self.held.len()];
            let mut absolute = a.clone();
            for value in absolute.values_mut().iter_mut().flatten() {
                *value = value.abs();
            }
            absolute.mul_vec(&vec![1.0; sums.len()], &mut sums);
            let mass = self.system.mass().diagonal();
            (0..sums.len()).filter(|&i| !self.held[i]).map(|i| sums[i] / mass[i]).fold(0.0, f64::max)
        };
        let damping = self.damping.as_ref().map_or(0.0, bound);
        (h * bound(&self.stiffness).sqrt()).max(h * damping)
    }

    /// Separates rigid translations of the whole system from v and a, if nothing but αM resists them, and returns them with
    /// their motion over a step. They are then exact, and the linear momentum is conserved for any accuracy of the rest.
    pub fn split_translations(&mut self, h: f64) -> Vec<Translation> {
        let mut found = Vec::new();
        if self.held.contains(&true) {
            return found;
        }
        let n = self.held.len();
        let largest = |a: &BlockMatrix| max_norm(&a.diagonal());
        let (mut image, mut weight) = (vec![0.0; n], vec![0.0; n]);
        for axis in 0..3 {
            let e: Vec<f64> = (0..n).map(|i| if i % 3 == axis { 1.0 } else { 0.0 }).collect();
            self.system.mass().mul(&e, &mut weight);
            let mass = dot(&e, &weight);
            self.stiffness.mul_vec(&e, &mut image);
            // Rounding in sums of about fifteen blocks.
            if max_norm(&image) > 1e-12 * largest(&self.stiffness) {
                continue;
            }
            let mut alpha = 0.0;
            if let Some(d) = &self.damping {
                d.mul_vec(&e, &mut image);
                alpha = dot(&e, &image) / mass;
                for i in 0..n {
                    image[i] -= alpha * weight[i];
                }
                if max_norm(&image) > 1e-12 * largest(d) {
                    continue;
                }
            }
            let (v, a) = (dot(&weight, &self.velocity) / mass, dot(&weight, &self.acceleration) / mass);
            for i in (axis..n).step_by(3) {
                self.velocity[i] -= v;
                self.acceleration[i] -= a;
            }
            let (dq, dv) = Propagator::new(0.0, 0.5 * h * alpha).advance(h * v, h * h * a);
            found.push(Translation { axis, mass, speed: v, dq, dv: dv / h });
        }
        found
    }
}

/// −∇W with Dirichlet dofs as they are at `t`, and the free unknowns at `q`, without a force; 0 where prescribed. Empty if infeasible.
fn change_of_force(system: &dyn System, held: &[bool], t: f64, mut q: Vec<f64>, without: &[f64]) -> Vec<f64> {
    let mut force = vec![0.0; q.len()];
    let mut rates = vec![0.0; q.len()];
    system.abilities().place_prescribed(t, &mut q, &mut rates);
    system.gradient(t, &q, &mut force);
    if first_not_finite(&[&force]).is_some() {
        return Vec::new();
    }
    for i in 0..force.len() {
        force[i] = if held[i] { 0.0 } else { -force[i] - without[i] };
    }
    force
}

/// Moves the state by the motion of the linearised system, if the end is feasible.
pub fn finish(
    system: &dyn System,
    state: &mut State,
    prescribed: &mut Prescribed,
    h: f64,
    dq: Vec<f64>,
    mut dv: Vec<f64>,
) -> Result<(), StepError> {
    let mut q1: Vec<f64> = state.q.iter().zip(&dq).map(|(q, d)| q + d).collect();
    for i in (0..q1.len()).filter(|&i| prescribed.mask[i]) {
        q1[i] = prescribed.q[i];
        dv[i] = prescribed.v[i] - state.v[i];
    }
    if let Some(dof) = first_not_finite(&[&q1, &dv]) {
        return Err(StepError::NotFinite { t: state.t, h, dof });
    }
    if !system.energy(state.t + h, &q1).is_finite() {
        return Err(StepError::Infeasible { t: state.t, h });
    }
    // p₀ + Mδv, not M(v₀ + δv), so that momenta are conserved to rounding.
    let mut p1 = vec![0.0; q1.len()];
    system.mass().mul(&dv, &mut p1);
    p1.iter_mut().zip(&state.p).for_each(|(p1, p)| *p1 += p);
    prescribed.finish(system, state, h, &mut q1, &mut p1)
}

/// A rigid translation of the whole system along an axis over a step.
#[derive(Clone, Copy, Debug)]
pub struct Translation {
    axis: usize,
    mass: f64,
    /// At the start of the step, m/s.
    speed: f64,
    dq: f64,
    dv: f64,
}

impl Translation {
    /// Adds the translation to a motion.
    pub fn add_to(&self, dq: &mut [f64], dv: &mut [f64]) {
        for i in (self.axis..dq.len()).step_by(3) {
            dq[i] += self.dq;
            dv[i] += self.dv;
        }
    }

    /// The gain of kinetic energy over the step, J.
    pub fn kinetic_gain(&self) -> f64 {
        self.mass * self.dv * (self.speed + 0.5 * self.dv)
    }

    /// ‖(δq/h, δv)‖_M².
    pub fn square(&self, h: f64) -> f64 {
        self.mass * ((self.dq / h).powi(2) + self.dv.powi(2))
    }
}

/// (α, β) if D = αM + βK to rounding.
fn rayleigh(system: &dyn System, d: &BlockMatrix, k: &BlockMatrix) -> Option<(f64, f64)> {
    let mut m = BlockMatrix::zeros(d.pattern().clone());
    system.mass().add_to(&mut m);
    let product = |a: &BlockMatrix, b: &BlockMatrix| -> f64 {
        a.values().iter().flatten().zip(b.values().iter().flatten()).map(|(a, b)| a * b).sum()
    };
    let largest = |a: &BlockMatrix| {
        a.values().iter().chain(a.extra().values()).flatten().fold(0.0f64, |m, x| m.max(x.abs()))
    };
    // Least squares, in units in which M and K have norm 1.
    let (mm, kk) = (product(&m, &m).sqrt(), product(k, k).sqrt());
    let (dm, mut dk, mut mk) = (product(d, &m) / mm, 0.0, 0.0);
    if kk > 0.0 {
        (dk, mk) = (product(d, k) / kk, product(&m, k) / (mm * kk));
    }
    let determinant = 1.0 - mk * mk;
    // K is a multiple of M (a single oscillator): α alone is enough.
    let (alpha, beta) = if kk > 0.0 && determinant > 1e-10 {
        ((dm - mk * dk) / (determinant * mm), (dk - mk * dm) / (determinant * kk))
    } else {
        (dm / mm, 0.0)
    };
    let mut remainder = d.clone();
    remainder.add_scaled(-alpha, &m);
    remainder.add_scaled(-beta, k);
    (largest(&remainder) <= 1e-12 * largest(d)).then_some((alpha, beta))
}

impl SecondOrderSystem for Linearised<'_> {
    fn mass(&self, x: &[f64], y: &mut [f64]) {
        self.system.mass().mul(x, y);
        if let crate::Mass::Consistent(_) = self.system.mass() {
            for (y, held) in y.iter_mut().zip(self.held) {
                *y = if *held { 0.0 } else { *y };
            }
        }
    }
    fn divide_by_mass(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        self.system.mass().solve(self.held, x, y);
    }
    fn stiffness(&self, x: &[f64], y: &mut [f64]) {
        self.stiffness.mul_vec(x, y);
        if let Some(correction) = self.system.abilities().correction {
            correction.add_stiffness(x, y);
        }
    }
    fn stiffness_of_columns(&self, x: &[f64], y: &mut [f64], n: usize) {
        self.stiffness.mul_columns(x, y);
        if let Some(correction) = self.system.abilities().correction {
            x.chunks_exact(n).zip(y.chunks_exact_mut(n)).for_each(|(x, y)| correction.add_stiffness(x, y));
        }
    }
    fn damping(&self, x: &[f64], y: &mut [f64]) {
        match &self.damping {
            Some(d) => d.mul_vec(x, y),
            None => y.fill(0.0),
        }
        if let (Some(_), Some(correction)) = (&self.damping, self.system.abilities().correction) {
            correction.add_damping(x, y);
        }
    }
}
