//! The change of one distance over a step: its discrete gradient, an approximation of its derivative, and its friction.

use super::friction::{FrictionLaw, SlidingContact, TurningNodes};
use super::law::BarrierLaw;
use super::mollifier::Mollifier;
use super::scatter::{add_at, add_block};
use super::stencil::Stencil;
use crate::contact::chord::{Chord, inner};
use crate::math::vector::{V3, add, dot, norm, scale, sub};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// Motions smaller than this part of the stencil are not corrected: the correction, of third order, is below its own
/// round-off.
const RESOLVED: f64 = 1e-10;
/// A change of a distance between q₀ and q₁.
pub(super) struct DistanceChange {
    middle: Stencil,
    /// Nodes of the stencil at the midpoint.
    nodes: [u32; 4],
    /// ±1: the sign of N along the vector between the closest points.
    sign: f64,
    /// m.
    gaps: [f64; 2],
    /// The nodes that take part: weight, midpoint and motion.
    parts: Vec<(u32, f64, V3, V3)>,
    /// m².
    weight: f64,
    law: BarrierLaw,
    /// The mollifier at both ends and the nodes of both edges.
    mollifiers: Option<([Mollifier; 2], [u32; 4])>,
    /// Friction, what turns with the surface at the midpoint, and the sum of the forces of all changes with the same feature there, N; the
    /// others of them have none.
    friction: Option<(FrictionLaw, TurningNodes, f64)>,
}

/// A stencil at q₀, at the midpoint and at q₁, with its nodes and their places at q₀ and at q₁.
pub(super) type Stage = (Stencil, [u32; 4], [[V3; 2]; 4]);

/// Gives friction to the changes of one owner: to the first of each feature at the midpoint, under the load of all.
pub(super) fn give_friction(changes: &mut [DistanceChange], law: FrictionLaw, turning: &TurningNodes) {
    for i in 0..changes.len() {
        let (before, rest) = changes.split_at_mut(i);
        let Some(change) = rest.first_mut() else { continue };
        let load = -change.slope();
        match before.iter_mut().find(|other| other.nodes == change.nodes && other.friction.is_some()) {
            Some(DistanceChange { friction: Some((_, _, sum)), .. }) => *sum += load,
            _ => change.friction = Some((law, turning.clone(), load)),
        }
    }
}

impl DistanceChange {
    /// From its stages, weight (m²), law and mollifiers.
    pub fn new(
        stages: [Stage; 3],
        weight: f64,
        law: BarrierLaw,
        mollifiers: Option<([Mollifier; 2], [u32; 4])>,
    ) -> Self {
        let [first, middle, last] = &stages;
        let normal = middle.0.normal();
        let against = |end: &Stage| dot(normal, end.0.normal()) < 0.0;
        let mut parts: Vec<(u32, f64, V3, V3)> = Vec::new();
        for (stencil, nodes, places) in &stages {
            for ((&node, c), [from, to]) in nodes.iter().zip(stencil.coefficients()).zip(places) {
                let share = c.abs() / 3.0;
                match parts.iter_mut().find(|part| part.0 == node) {
                    Some(part) => part.1 += share,
                    None => parts.push((node, share, midpoint(*from, *to), sub(*to, *from))),
                }
            }
        }
        Self {
            middle: middle.0,
            nodes: middle.1,
            sign: if against(first) && against(last) { -1.0 } else { 1.0 },
            gaps: [first.0.distance(), last.0.distance()],
            parts,
            weight,
            law,
            mollifiers,
            friction: None,
        }
    }

    /// Its friction, if it has any.
    pub fn sliding(&self) -> Option<SlidingContact> {
        let (law, turning, load) = self.friction.clone()?;
        Some(SlidingContact { nodes: self.nodes, stencil: self.middle, load, law, turning })
    }

    /// Q, N.
    fn slope(&self) -> f64 {
        let [g0, g1] = self.gaps;
        self.weight * self.mollified() * self.law.quotient(g0, g1)
    }

    /// Whether there is a gap at both ends and in the middle.
    pub fn is_possible(&self) -> bool {
        self.middle.distance() > 0.0 && self.gaps.iter().all(|gap| *gap > 0.0)
    }

    /// The mean of m at both ends.
    fn mollified(&self) -> f64 {
        self.mollifiers.map_or(1.0, |([a, b], _)| 0.5 * (a.value() + b.value()))
    }

    /// Adds the discrete gradient, N.
    pub fn add_force(&self, g: &mut [f64]) {
        let [g0, g1] = self.gaps;
        let slope = self.slope();
        let x: Vec<V3> = self.parts.iter().map(|part| part.2).collect();
        let moved: Vec<V3> = self.parts.iter().map(|part| part.3).collect();
        let weights: Vec<f64> = self.parts.iter().map(|part| part.1).collect();
        let own = &self.nodes[..self.middle.count()];
        let share = |part: &(u32, f64, V3, V3)| {
            let place = own.iter().position(|node| *node == part.0);
            place.map_or([0.0; 3], |i| scale(self.middle.gradient(i), self.sign))
        };
        let normal: Vec<V3> = self.parts.iter().map(share).collect();
        let along = inner(&normal, &moved);
        let mut force: Vec<V3> = normal.iter().map(|n| scale(*n, slope)).collect();
        let size = x.iter().map(|a| norm(sub(*a, x[0]))).fold(0.0, f64::max);
        let chord = Chord { x: &x, weights: &weights, moved: &moved, normal: &normal, along };
        chord.add_missing(slope * ((g1 - g0) - along), RESOLVED * size, &mut force);
        self.parts.iter().zip(force).for_each(|(part, f)| add_at(part.0, f, g));
        if let Some(([m0, m1], nodes)) = &self.mollifiers {
            let energy = 0.5 * self.weight * (self.law.energy(g0) + self.law.energy(g1));
            let [u, v] = m0.discrete_gradient(m1);
            for (node, f) in nodes.iter().zip([scale(u, -1.0), u, scale(v, -1.0), v]) {
                add_at(*node, scale(f, energy), g);
            }
        }
    }

    /// Adds a symmetric approximation of the derivative of the discrete gradient with respect to q₁, N/m.
    pub fn add_hessian(&self, curvature: Curvature, h: &mut BlockMatrix) {
        let exact = curvature == Curvature::Exact;
        let [g0, g1] = self.gaps;
        let weight = self.weight * self.mollified();
        let along = weight * self.law.quotient_slope(g0, g1);
        if !exact && along <= 0.0 {
            return;
        }
        let across = 0.5 * self.sign * weight * self.law.quotient(g0, g1);
        for i in 0..self.middle.count() {
            for j in 0..=i {
                let (a, b) = (self.middle.gradient(i), self.middle.gradient(j));
                let second = if exact { self.middle.hessian(i, j) } else { [0.0; 9] };
                let block = std::array::from_fn(|k| along * a[k / 3] * b[k % 3] + across * second[k]);
                add_block([self.nodes[i], self.nodes[j]], &block, h);
            }
        }
    }
}

fn midpoint(a: V3, b: V3) -> V3 {
    scale(add(a, b), 0.5)
}
