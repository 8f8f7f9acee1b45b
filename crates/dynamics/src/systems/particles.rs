use crate::corotated::{Corotated, Rotation};
use crate::strains::{StrainLayout, Strained, Strains};
use crate::system::abilities::{
    AdditiveSplit, DiscreteGradient, Dissipation, Lacking, StiffPart, add_midpoint_forces,
};
use crate::system::half_hessian;
use crate::{Abilities, ConfigurationSpace, EnergyParts, System};
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::sync::Arc;

/// A spring between two particles: ½k(|s| − l)².
#[derive(Clone, Copy, Debug)]
pub struct Spring {
    /// The particles.
    pub ends: [u32; 2],
    /// k, N/m.
    pub stiffness: f64,
    /// l, m; a spring of length 0 is quadratic in the positions.
    pub length: f64,
    /// Force per rate of elongation, N s/m.
    pub damping: f64,
}

/// Particles joined by springs.
pub struct Particles {
    springs: Vec<Spring>,
    /// The two particles of each spring.
    ends: Vec<u32>,
    /// 1/kl² of each spring.
    compliances: Vec<f64>,
    space: ConfigurationSpace,
}

impl Particles {
    /// Masses in kg; `size` (m) characterises the arrangement.
    pub fn new(masses: &[f64], springs: Vec<Spring>, size: f64) -> Self {
        Self {
            ends: springs.iter().flat_map(|s| s.ends).collect(),
            compliances: springs.iter().map(|s| 1.0 / (s.stiffness * s.length * s.length)).collect(),
            space: ConfigurationSpace::lumped(masses, springs.iter().map(|s| s.ends.as_slice()), size),
            springs,
        }
    }
}

fn between(q: &[f64], spring: &Spring) -> [f64; 3] {
    let [a, b] = spring.ends.map(|i| 3 * i as usize);
    [q[b] - q[a], q[b + 1] - q[a + 1], q[b + 2] - q[a + 2]]
}

fn norm(s: [f64; 3]) -> f64 {
    (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]).sqrt()
}

/// Adds ±`force` to the two ends.
fn push(spring: &Spring, force: [f64; 3], out: &mut [f64]) {
    let [a, b] = spring.ends.map(|i| 3 * i as usize);
    for k in 0..3 {
        out[a + k] -= force[k];
        out[b + k] += force[k];
    }
}

fn add_matrix(spring: &Spring, block: [[f64; 3]; 3], out: &mut BlockMatrix) {
    let [a, b] = spring.ends.map(|i| i as usize);
    let flat: [f64; 9] = std::array::from_fn(|k| block[k / 3][k % 3]);
    out.add_block(a, a, &flat);
    out.add_block(b, b, &flat);
    out.add_block(b, a, &flat.map(|x| -x));
}

impl System for Particles {
    fn space(&self) -> &ConfigurationSpace {
        &self.space
    }
    fn energy(&self, _t: f64, q: &[f64]) -> f64 {
        let one = |s: &Spring| 0.5 * s.stiffness * (norm(between(q, s)) - s.length).powi(2);
        self.springs.iter().map(one).sum()
    }
    fn gradient(&self, _t: f64, q: &[f64], g: &mut [f64]) {
        g.fill(0.0);
        for spring in &self.springs {
            let s = between(q, spring);
            // A spring of rest length 0 pulls by k s, also where |s| = 0.
            let slack = if spring.length == 0.0 { 0.0 } else { spring.length / norm(s) };
            push(spring, s.map(|x| spring.stiffness * (1.0 - slack) * x), g);
        }
    }
    fn hessian(&self, _t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        for spring in &self.springs {
            let s = between(q, spring);
            let slack = if spring.length == 0.0 { 0.0 } else { spring.length / norm(s) };
            let along = if slack == 0.0 { 0.0 } else { slack / (norm(s) * norm(s)) };
            let mut across = 1.0 - slack;
            let mut direct = along;
            if curvature == Curvature::Projected && across < 0.0 {
                (across, direct) = (0.0, 1.0 / (norm(s) * norm(s)));
            }
            let k = spring.stiffness;
            let block = std::array::from_fn(|i| {
                std::array::from_fn(|j| k * (direct * s[i] * s[j] + if i == j { across } else { 0.0 }))
            });
            add_matrix(spring, block, h);
        }
    }
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        EnergyParts::elastic(self.energy(t, q))
    }
    fn abilities(&self) -> Abilities<'_> {
        let damped = self.springs.iter().any(|s| s.damping > 0.0);
        let strained = self.springs.iter().all(|s| s.length != 0.0);
        Abilities {
            dissipation: damped.then_some(self),
            discrete_gradient: Some(self),
            split: Some(self),
            corotated: Ok(self),
            strained: if strained { Ok(self) } else { Err(Lacking::StrainOfZeroLength) },
            ..Abilities::NONE
        }
    }
}

impl AdditiveSplit for Particles {
    fn stiff_pattern(&self, _part: StiffPart) -> &Arc<BlockPattern> {
        &self.space.pattern
    }
    /// The material stiffness is k n nᵀ.
    fn add_stiff_hessian(&self, t: f64, q: &[f64], part: StiffPart, h: &mut BlockMatrix) {
        if part == StiffPart::Elements {
            return self.hessian(t, q, Curvature::Projected, h);
        }
        for spring in &self.springs {
            let s = between(q, spring);
            let c = spring.stiffness / (norm(s) * norm(s)).max(f64::MIN_POSITIVE);
            add_matrix(spring, std::array::from_fn(|i| std::array::from_fn(|j| c * s[i] * s[j])), h);
        }
    }
}

impl DiscreteGradient for Particles {
    /// ½(s₀ + s₁) (ψ₁ − ψ₀)/(½|s₁|² − ½|s₀|²): a function of |s|² alone, hence equivariant.
    fn discrete_gradient(&self, _t: [f64; 2], q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        g.fill(0.0);
        for spring in &self.springs {
            let (s0, s1) = (between(q0, spring), between(q1, spring));
            let sum = norm(s0) + norm(s1);
            // (ψ₁ − ψ₀)/(½(|s₁|² − |s₀|²)) with |s₁| − |s₀| divided out.
            let slack = if spring.length == 0.0 { 0.0 } else { 2.0 * spring.length / sum };
            let force = std::array::from_fn(|k| spring.stiffness * (1.0 - slack) * 0.5 * (s0[k] + s1[k]));
            push(spring, force, g);
        }
        true
    }
    fn add_discrete_hessian(
        &self,
        t: [f64; 2],
        q0: &[f64],
        q1: &[f64],
        curvature: Curvature,
        h: &mut BlockMatrix,
    ) {
        half_hessian(self, t, q0, q1, curvature, h);
    }
}

impl Dissipation for Particles {
    fn add_forces(&self, _t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        for spring in &self.springs {
            let (s, rate) = (between(q, spring), between(v, spring));
            let square = norm(s) * norm(s);
            let along = (s[0] * rate[0] + s[1] * rate[1] + s[2] * rate[2]) / square;
            push(spring, s.map(|x| -spring.damping * along * x), f);
        }
    }
    fn add_damping_matrix(&self, _t: f64, q: &[f64], _v: &[f64], d: &mut BlockMatrix) {
        for spring in &self.springs {
            let s = between(q, spring);
            let c = spring.damping / (norm(s) * norm(s));
            add_matrix(spring, std::array::from_fn(|i| std::array::from_fn(|j| c * s[i] * s[j])), d);
        }
    }
    fn add_mean_forces(&self, t0: f64, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        add_midpoint_forces(self, t0, h, q0, q1, f);
    }
    fn add_mean_damping_matrix(&self, t: f64, _h: f64, between: &[f64], v: &[f64], d: &mut BlockMatrix) {
        self.add_damping_matrix(t, between, v, d);
    }
}

/// A spring rotates with its direction. Its co-rotated stiffness is that along its direction.
impl Corotated for Particles {
    fn corotated_gradient(&self, t: f64, q: &[f64], _: Rotation, _: &[bool], g: &mut [f64]) {
        self.gradient(t, q, g);
    }
    fn corotated_stiffness(&self, _t: f64, q: &[f64], _: Rotation, _: &[bool], k: &mut BlockMatrix) {
        for spring in &self.springs {
            let s = between(q, spring);
            let square = norm(s) * norm(s);
            let block = std::array::from_fn(|i| {
                std::array::from_fn(|j| match spring.length == 0.0 {
                    true => spring.stiffness * f64::from(u8::from(i == j)),
                    false => spring.stiffness * s[i] * s[j] / square,
                })
            });
            add_matrix(spring, block, k);
        }
    }
}

impl Strained for Particles {
    fn strains(&self) -> Vec<&dyn Strains> {
        vec![self]
    }
    fn other_gradient(&self, _t: f64, _q: &[f64], g: &mut [f64]) {
        g.fill(0.0);
    }
    fn other_hessian(&self, _t: f64, _q: &[f64], _h: &mut BlockMatrix) {}
}

/// The strain of a spring is (|s| − l)/l.
impl Strains for Particles {
    fn layout(&self) -> StrainLayout<'_> {
        StrainLayout { nodes_each: 2, strains_each: 1, nodes: &self.ends, compliances: &self.compliances }
    }
    fn strains(&self, q: &[f64], phi: &mut [f64]) {
        for (phi, spring) in phi.iter_mut().zip(&self.springs) {
            *phi = (norm(between(q, spring)) - spring.length) / spring.length;
        }
    }
    fn jacobian(&self, q: &[f64], jacobian: &mut [f64]) {
        for (k, spring) in self.springs.iter().enumerate() {
            let s = between(q, spring);
            let size = norm(s);
            for i in 0..3 {
                let slope = s[i] / (size * spring.length);
                jacobian[6 * k + i] = -slope;
                jacobian[6 * k + 3 + i] = slope;
            }
        }
    }
}
