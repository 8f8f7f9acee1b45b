//! The change of one distance over a step: its discrete gradient, an approximation of its derivative, and its friction.
//!
//! The discrete gradient of w m φ(g), with a mollifier m for edges that are nearly parallel, is
//!
//!   λ (m̄ Q N + φ̄ ∇̄m) + (1 − λ) μ (m φ′ N + φ ∇m)_middle,   λ = m₀ m m₁,
//!
//! and what [`correction`] adds to make its work exact. Q is the difference quotient of φ, N the gradient of the distance at the midpoint.
//! The first part knows of a barrier that is felt at one end alone. The second vanishes where edges are parallel at the midpoint,
//! where N jumps, and by μ where neither end is within reach.

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

/// A node that takes part in changes of distances.
#[derive(Clone, Copy, Debug)]
pub(super) struct MovingNode {
    /// The node.
    pub node: u32,
    /// ω of [`Chord`].
    pub weight: f64,
    /// Its midpoint, m.
    pub middle: V3,
    /// Its motion, m.
    pub moved: V3,
}

impl MovingNode {
    /// A node that goes from one place to another.
    pub fn new(node: u32, weight: f64, from: V3, to: V3) -> Self {
        Self { node, weight, middle: scale(add(from, to), 0.5), moved: sub(to, from) }
    }
}

/// A change of a distance between q₀ and q₁.
pub(super) struct DistanceChange {
    middle: Stencil,
    /// Nodes of the stencil at the midpoint.
    nodes: [u32; 4],
    /// ±1: the sign of N along the vector between the closest points.
    sign: f64,
    /// m.
    gaps: [f64; 2],
    /// w m̄, m².
    weight: f64,
    law: BarrierLaw,
    /// The force along N, N.
    slope: f64,
    /// The forces along the edges of a mollifier, N, and the nodes of both edges.
    fading: Option<([V3; 2], [u32; 4])>,
    /// λ.
    full: f64,
    /// The change of the energy less the work of these forces, J.
    missing: f64,
    /// Friction, what turns with the surface at the midpoint, and the sum of the forces of all changes with the same feature there, N; the
    /// others of them have none.
    friction: Option<(FrictionLaw, TurningNodes, f64)>,
}

/// All changes of distances over a step.
#[derive(Default)]
pub(super) struct Changes {
    /// In a fixed order.
    pub distances: Vec<DistanceChange>,
    /// Nodes and forces, N, that make their work exact.
    pub corrections: Vec<(u32, V3)>,
}

/// A stencil at q₀, at the midpoint or at q₁, with its nodes.
pub(super) type Stage = (Stencil, [u32; 4]);

/// The mollifiers of two edges at q₀, at the midpoint and at q₁, with the nodes of both.
pub(super) type Mollifiers = ([Mollifier; 3], [u32; 4]);

/// The normal of a stage towards these nodes. A stencil of an edge and an end of another one begins with the end, whichever edge it
/// belongs to.
fn outward((stencil, nodes): &Stage, own: &[MovingNode]) -> V3 {
    let begins = own.iter().any(|part| part.node == nodes[0]);
    if begins { stencil.normal() } else { scale(stencil.normal(), -1.0) }
}

/// Gives friction to the changes of one owner: to the first of each feature at the midpoint, under the load of all.
pub(super) fn give_friction(changes: &mut [DistanceChange], law: FrictionLaw, turning: &TurningNodes) {
    for i in 0..changes.len() {
        let (before, rest) = changes.split_at_mut(i);
        let Some(change) = rest.first_mut() else { continue };
        let load = -change.slope;
        match before.iter_mut().find(|other| other.nodes == change.nodes && other.friction.is_some()) {
            Some(DistanceChange { friction: Some((_, _, sum)), .. }) => *sum += load,
            _ => change.friction = Some((law, turning.clone(), load)),
        }
    }
}

/// Forces on `nodes` that do the work which the forces of these changes leave out.
///
/// One correction for all changes of one owner, over nodes whose weights change smoothly: were it one for each change, over its own nodes,
/// it would jump where features change.
pub(super) fn correction(changes: &[DistanceChange], nodes: &[MovingNode], out: &mut Vec<(u32, V3)>) {
    let total: f64 = changes.iter().map(|change| change.slope.abs()).sum();
    let missing: f64 = changes.iter().map(|change| change.missing).sum();
    if missing == 0.0 {
        return;
    }
    let x: Vec<V3> = nodes.iter().map(|part| part.middle).collect();
    let moved: Vec<V3> = nodes.iter().map(|part| part.moved).collect();
    let weights: Vec<f64> = nodes.iter().map(|part| part.weight).collect();
    let mut normal = vec![[0.0; 3]; nodes.len()];
    for change in changes.iter().filter(|_| total > 0.0) {
        let share = change.full.sqrt() * change.slope.abs() / total;
        for (normal, part) in normal.iter_mut().zip(nodes) {
            *normal = add(*normal, scale(change.normal_at(part.node), share));
        }
    }
    let along = inner(&normal, &moved);
    let size = x.iter().map(|a| norm(sub(*a, x[0]))).fold(0.0, f64::max);
    let mut force = vec![[0.0; 3]; nodes.len()];
    let chord = Chord { x: &x, weights: &weights, moved: &moved, normal: &normal, along };
    chord.add_missing(missing, RESOLVED * size, &mut force);
    out.extend(nodes.iter().zip(force).map(|(part, force)| (part.node, force)));
}

impl DistanceChange {
    /// From its stages, the motion of its nodes, of which the first `own` are a vertex or an edge, weight (m²), law and mollifiers.
    pub fn new(
        stages: [Stage; 3],
        (moving, own): (&[MovingNode], usize),
        weight: f64,
        law: BarrierLaw,
        mollifiers: Option<Mollifiers>,
    ) -> Self {
        let [first, middle, last] = &stages;
        let normals = stages.each_ref().map(|stage| outward(stage, &moving[..own]));
        let against = |end: usize| dot(normals[1], normals[end]) < 0.0;
        let gaps = [first.0.distance(), last.0.distance()];
        let mut change = Self {
            middle: middle.0,
            nodes: middle.1,
            sign: if against(0) && against(2) { -1.0 } else { 1.0 },
            gaps,
            weight,
            law,
            slope: weight * law.quotient(gaps[0], gaps[1]),
            fading: None,
            full: 1.0,
            missing: 0.0,
            friction: None,
        };
        let motion =
            |node: u32| moving.iter().find(|part| part.node == node).map_or([0.0; 3], |part| part.moved);
        let along: f64 = (0..change.middle.count())
            .map(|i| dot(scale(change.middle.gradient(i), change.sign), motion(change.nodes[i])))
            .sum();
        match mollifiers {
            None => change.missing = change.slope * ((gaps[1] - gaps[0]) - along),
            Some((mollifiers, nodes)) => change.fade(&mollifiers, nodes, along, &motion),
        }
        change
    }

    /// Takes mollifiers into account.
    fn fade(
        &mut self,
        [m0, m, m1]: &[Mollifier; 3],
        nodes: [u32; 4],
        along: f64,
        motion: &dyn Fn(u32) -> V3,
    ) {
        let [g0, g1] = self.gaps;
        let (weight, quotient) = (self.weight, self.law.quotient(g0, g1));
        let [a, b, c] = [m0, m, m1].map(Mollifier::value);
        let (mean, full) = (0.5 * (a + c), a * b * c);
        let [between, gap] = [0.5 * (self.law.energy(g0) + self.law.energy(g1)), self.middle.distance()];
        let reached = 1.0 - (1.0 - self.law.fade(g0)) * (1.0 - self.law.fade(g1));
        let of_steps = m0.discrete_gradient(m1).map(|f| scale(f, weight * between));
        let of_middle = m.gradient().map(|f| scale(f, reached * weight * self.law.energy(gap)));
        let edges = [0, 1].map(|k| sub(motion(nodes[2 * k + 1]), motion(nodes[2 * k])));
        let work = |forces: &[V3; 2]| dot(forces[0], edges[0]) + dot(forces[1], edges[1]);
        let (step, middle) = (weight * mean * quotient, reached * weight * b * self.law.slope(gap));
        let missing_of_step = step * ((g1 - g0) - along);
        let missing_of_middle = step * (g1 - g0) - middle * along + work(&of_steps) - work(&of_middle);
        let blend = |x: f64, y: f64| full * x + (1.0 - full) * y;
        let forces = [0, 1].map(|k| add(scale(of_steps[k], full), scale(of_middle[k], 1.0 - full)));
        self.slope = blend(step, middle);
        self.missing = blend(missing_of_step, missing_of_middle);
        self.fading = Some((forces, nodes));
        self.full = full;
        self.weight *= mean;
    }

    /// Its friction, if it has any.
    pub fn sliding(&self) -> Option<SlidingContact> {
        let (law, turning, load) = self.friction.clone()?;
        Some(SlidingContact { nodes: self.nodes, stencil: self.middle, load, law, turning })
    }

    /// Whether there is a gap at both ends and in the middle.
    pub fn is_possible(&self) -> bool {
        self.middle.distance() > 0.0 && self.gaps.iter().all(|gap| *gap > 0.0)
    }

    /// N at a node.
    fn normal_at(&self, node: u32) -> V3 {
        let place = self.nodes[..self.middle.count()].iter().position(|own| *own == node);
        place.map_or([0.0; 3], |i| scale(self.middle.gradient(i), self.sign))
    }

    /// Adds its forces, N, without the correction.
    pub fn add_force(&self, g: &mut [f64]) {
        for (i, &node) in self.nodes[..self.middle.count()].iter().enumerate() {
            add_at(node, scale(self.middle.gradient(i), self.sign * self.slope), g);
        }
        if let Some(([u, v], nodes)) = self.fading {
            for (node, f) in nodes.iter().zip([scale(u, -1.0), u, scale(v, -1.0), v]) {
                add_at(*node, f, g);
            }
        }
    }

    /// Adds a symmetric approximation of the derivative of the discrete gradient with respect to q₁, N/m.
    pub fn add_hessian(&self, curvature: Curvature, h: &mut BlockMatrix) {
        let exact = curvature == Curvature::Exact;
        let [g0, g1] = self.gaps;
        let along = self.weight * self.law.quotient_slope(g0, g1);
        if !exact && along <= 0.0 {
            return;
        }
        let across = 0.5 * self.sign * self.weight * self.law.quotient(g0, g1);
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
