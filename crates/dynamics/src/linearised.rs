//! A system linearised about a state: what exponential methods integrate exactly.
//!
//!   M δq̈ = M a − K δq − D δq̇,   a = M⁻¹(−∇W + f),   K = ∇²W,   D = −∂f/∂v
//!
//! What depends on time (loads, held unknowns that move) is taken in the middle of the step ([`When::Middle`]), and
//! forces without potential at q + ½hv, which stands for ∂f/∂q: a step that is exact for this system is second order.
//! Methods that are implicit in part take it at the end ([`When::End`]), where their stiff part is in equilibrium.

use crate::step::{Ends, first_not_finite};
use crate::{State, StepError, System};
use lilyan_solve::BlockMatrix;
use lilyan_solve::flow::{Damping, Linear};
use lilyan_solve::newton::{Curvature, dot, max_norm};
use lilyan_solve::phi::Propagator;

/// At which time of the step the outside is seen; see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// In the middle.
    Middle,
    /// At the end.
    End,
}

/// See the module.
pub struct Linearised<'a> {
    system: &'a dyn System,
    held: &'a [bool],
    /// Where K is taken, m.
    q: Vec<f64>,
    time: f64,
    /// K, held unknowns decoupled.
    stiffness: BlockMatrix,
    /// D likewise, if there are forces without potential.
    damping: Option<BlockMatrix>,
    kind: Damping,
    /// v and a of the free unknowns, 0 where held.
    pub velocity: Vec<f64>,
    /// See `velocity`.
    pub acceleration: Vec<f64>,
}

impl<'a> Linearised<'a> {
    /// About `state` for a step of `h` whose ends are known.
    pub fn new(
        system: &'a dyn System,
        state: &State,
        ends: &'a Ends,
        h: f64,
        when: When,
    ) -> Result<Self, StepError> {
        let n = state.q.len();
        let (time, flight) = match when {
            When::Middle => (state.t + 0.5 * h, 0.5 * h),
            When::End => (state.t + h, 0.0),
        };
        let (mut q, mut v) = (state.q.clone(), state.v.clone());
        let mut acceleration = vec![0.0; n];
        if ends.any() {
            let (mut middle, mut rate) = (q.clone(), v.clone());
            system.place_held(time, &mut middle, &mut rate);
            for i in (0..n).filter(|&i| ends.mask[i]) {
                q[i] = middle[i];
                v[i] = (ends.q[i] - state.q[i]) / h;
                acceleration[i] = (ends.v[i] - state.v[i]) / h;
            }
        }
        let mut force = vec![0.0; n];
        system.gradient(time, &q, &mut force);
        for f in &mut force {
            *f = -*f;
        }
        let mut stiffness = BlockMatrix::zeros(system.pattern().clone());
        system.hessian(time, &q, Curvature::Exact, &mut stiffness);
        let mut damping = None;
        let mut kind = Damping::Rayleigh { alpha: 0.0, beta: 0.0 };
        if system.has_forces() {
            let mut ahead: Vec<f64> =
                (0..n).map(|i| q[i] + if ends.mask[i] { 0.0 } else { flight * v[i] }).collect();
            // Half a step of flight may lead where no force is defined; then the second order is lost, not the step.
            if !system.energy(time, &ahead).is_finite() {
                ahead.clone_from(&q);
            }
            system.forces(time, &ahead, &v, &mut force);
            let mut d = BlockMatrix::zeros(system.pattern().clone());
            system.damping(time, &ahead, &mut d);
            kind = match rayleigh(system, &d, &stiffness) {
                Some((alpha, beta)) => Damping::Rayleigh { alpha, beta },
                None => Damping::General,
            };
            d.hold(&ends.mask);
            damping = Some(d);
        }
        if let Some(dof) = first_not_finite(&[&force]) {
            return Err(StepError::NotFinite { t: state.t, h, dof });
        }
        stiffness.hold(&ends.mask);
        system.mass().solve(&ends.mask, &force, &mut acceleration);
        for i in (0..n).filter(|&i| ends.mask[i]) {
            (v[i], acceleration[i]) = (0.0, 0.0);
        }
        Ok(Self { system, held: &ends.mask, q, time, stiffness, damping, kind, velocity: v, acceleration })
    }

    /// Takes the given translations out of a vector.
    pub fn without(&self, translations: &[Translation], x: &mut [f64]) {
        if translations.is_empty() {
            return;
        }
        let mut weighed = vec![0.0; x.len()];
        self.system.mass().mul(x, &mut weighed);
        for t in translations {
            let mean = (t.axis..x.len()).step_by(3).map(|i| weighed[i]).sum::<f64>() / t.mass;
            (t.axis..x.len()).step_by(3).for_each(|i| x[i] -= mean);
        }
    }

    /// What D is, found by looking at it: every model of damping is then served without being known here.
    pub fn kind(&self) -> Damping {
        self.kind
    }

    /// K, held unknowns decoupled.
    pub fn stiffness_matrix(&self) -> &BlockMatrix {
        &self.stiffness
    }

    /// Writes M + τD + τ²K; K as it is, or projected.
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

    /// A bound (for lumped mass; an estimate otherwise) of the fastest rate h√λ or hd in the system.
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

    /// Takes the translations of the whole out of v and a, as far as nothing resists them but αM, and returns them
    /// with what they do in a step: they are then exact, and the linear momentum is kept however coarse the rest.
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
            // Rounding in sums of some fifteen blocks.
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
            found.push(Translation { axis, mass, dq, dv: dv / h });
        }
        found
    }
}

/// Moves the state by what the linearised system did, if that is feasible.
pub fn finish(
    system: &dyn System,
    state: &mut State,
    ends: &mut Ends,
    h: f64,
    dq: Vec<f64>,
    mut dv: Vec<f64>,
) -> Result<(), StepError> {
    let mut q1: Vec<f64> = state.q.iter().zip(&dq).map(|(q, d)| q + d).collect();
    for i in (0..q1.len()).filter(|&i| ends.mask[i]) {
        q1[i] = ends.q[i];
        dv[i] = ends.v[i] - state.v[i];
    }
    if let Some(dof) = first_not_finite(&[&q1, &dv]) {
        return Err(StepError::NotFinite { t: state.t, h, dof });
    }
    if !system.energy(state.t + h, &q1).is_finite() {
        return Err(StepError::Infeasible { t: state.t, h });
    }
    // p₀ + Mδv, not M(v₀ + δv): what is conserved is then conserved to rounding.
    let mut p1 = vec![0.0; q1.len()];
    system.mass().mul(&dv, &mut p1);
    p1.iter_mut().zip(&state.p).for_each(|(p1, p)| *p1 += p);
    ends.finish(system, state, h, &mut q1, &mut p1)
}

/// A translation of the whole along an axis, over a step.
#[derive(Clone, Copy, Debug)]
pub struct Translation {
    axis: usize,
    mass: f64,
    dq: f64,
    dv: f64,
}

impl Translation {
    /// Adds it to a motion.
    pub fn add_to(&self, dq: &mut [f64], dv: &mut [f64]) {
        for i in (self.axis..dq.len()).step_by(3) {
            dq[i] += self.dq;
            dv[i] += self.dv;
        }
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
    let mut rest = d.clone();
    rest.add_scaled(-alpha, &m);
    rest.add_scaled(-beta, k);
    (largest(&rest) <= 1e-12 * largest(d)).then_some((alpha, beta))
}

impl Linear for Linearised<'_> {
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
        if let Some(correction) = self.system.correction() {
            correction.add_stiffness(x, y);
        }
    }
    fn damping(&self, x: &[f64], y: &mut [f64]) {
        match &self.damping {
            Some(d) => d.mul_vec(x, y),
            None => y.fill(0.0),
        }
        if let (Some(_), Some(correction)) = (&self.damping, self.system.correction()) {
            correction.add_damping(x, y);
        }
    }
}
