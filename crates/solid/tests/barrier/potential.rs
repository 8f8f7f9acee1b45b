//! The energy of the barrier, its derivatives, its discrete gradient and its limit to steps.

use super::Random;
use lilyan_dynamics::Curvature;
use lilyan_parallel::threads;
use lilyan_solid::contact::barrier::{Barrier, FrictionLaw};
use lilyan_solid::contact::{ContactPair, ObstacleShape};
use lilyan_solid::materials::{Given, find};
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::potentials::Potential;
use lilyan_solid::{BodyInput, Model, ModelBuilder};
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::sync::Arc;

/// d̂, m: large, so that many features take part.
const DISTANCE: f64 = 0.25;

/// Two boxes of different meshes above each other, with the contact of this pair.
fn boxes(pair: ContactPair, distance: f64) -> Model {
    rough_boxes(pair, distance, None)
}

/// The same with friction.
pub fn rough_boxes(pair: ContactPair, distance: f64, friction: Option<FrictionLaw>) -> Model {
    let mut builder = ModelBuilder::default();
    for (name, cells) in [("below", [3, 2, 2]), ("above", [2, 2, 3])] {
        let mesh = box_mesh([1.0, 1.0, 1.0], cells).unwrap();
        let given = Given::from_young(1e4, 0.3).unwrap();
        let mut body = BodyInput::new(name, mesh, find("stvk").unwrap(), given, 1000.0);
        let points = box_mesh([1.0, 1.0, 1.0], cells).unwrap().vertices;
        let lift = if name == "above" { 1.1 } else { 0.0 };
        body.start =
            Some(points.iter().map(|x| [x[0] + 0.13 * lift, x[1] + 0.07 * lift, x[2] + lift]).collect());
        builder.body(body).unwrap();
    }
    let model = Barrier { distance, modulus: Some(1e3), moduli: Vec::new(), friction };
    builder.contact(pair, Arc::new(model)).unwrap();
    builder.build()
}

pub fn contact(model: &Model) -> &Arc<dyn Potential> {
    model.potentials().iter().find(|p| p.role().is_contact).unwrap()
}

/// Positions at the start, each coordinate moved by up to `size`.
pub fn pose(model: &Model, size: f64, random: &mut Random) -> Vec<f64> {
    model.start().iter().map(|x| x + size * random.next()).collect()
}

fn max(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m, x| m.max(x.abs()))
}

const PLANE: ObstacleShape = ObstacleShape::Plane { point: [0.0, 0.0, -0.1], normal: [0.0, 0.0, 1.0] };
const BALL: ObstacleShape = ObstacleShape::Sphere { center: [0.5, 0.5, -1.2], radius: 1.1, inside: false };
const SHELL: ObstacleShape = ObstacleShape::Sphere { center: [0.5, 0.5, 1.0], radius: 1.5, inside: true };

fn pairs() -> [ContactPair; 4] {
    [
        ContactPair::Bodies(None),
        ContactPair::Obstacle(PLANE),
        ContactPair::Obstacle(BALL),
        ContactPair::Obstacle(SHELL),
    ]
}

#[test]
fn gradient_and_hessian_are_derivatives() {
    let mut random = Random(1);
    for pair in pairs() {
        let model = boxes(pair, DISTANCE);
        let (contact, n) = (contact(&model), model.start().len());
        let pattern = Arc::new(BlockPattern::from_cliques(n / 3, std::iter::empty()));
        for _ in 0..6 {
            let q = pose(&model, 0.02, &mut random);
            let gradient = |q: &[f64]| {
                let mut g = vec![0.0; n];
                contact.add_gradient(q, &mut g);
                g
            };
            let (own, d) = (gradient(&q), pose(&model, 1.0, &mut random));
            let d: Vec<f64> = d.iter().zip(model.start()).map(|(a, b)| a - b).collect();
            let at = |t: f64| -> Vec<f64> { q.iter().zip(&d).map(|(q, d)| q + t * d).collect() };
            let h = 1e-6;
            let slope: f64 = own.iter().zip(&d).map(|(g, d)| g * d).sum();
            let difference = (contact.energy(&at(h)) - contact.energy(&at(-h))) / (2.0 * h);
            assert!(contact.energy(&q) > 0.0, "{pair:?}");
            assert!((slope - difference).abs() < 1e-6 * max(&own), "{pair:?}: {slope} {difference}");
            let mut matrix = BlockMatrix::zeros(pattern.clone());
            contact.add_hessian(&q, Curvature::Exact, &mut matrix);
            let mut product = vec![0.0; n];
            matrix.mul_vec(&d, &mut product);
            let (after, before) = (gradient(&at(h)), gradient(&at(-h)));
            for i in 0..n {
                let difference = (after[i] - before[i]) / (2.0 * h);
                assert!(
                    (product[i] - difference).abs() < 2e-5 * max(&product),
                    "{pair:?}, {i}: {} {difference}",
                    product[i]
                );
            }
        }
    }
}

/// A body that passes over another through thousands of changes of features: each step changes W by no more than the gradient
/// says.
#[test]
fn energy_is_continuous_while_features_change() {
    let model = boxes(ContactPair::Bodies(None), DISTANCE);
    let (contact, n) = (contact(&model), model.start().len());
    let mut random = Random(8);
    let q = pose(&model, 0.01, &mut random);
    let first = model.bodies()[1].dofs.unknowns().start;
    let at = |t: f64| -> Vec<f64> {
        let moved = |i: usize| if i >= first { [0.9, 0.7, 0.0][i % 3] * t } else { 0.0 };
        (0..n).map(|i| q[i] + moved(i)).collect()
    };
    let steps = 4000;
    let mut before: Option<(f64, f64)> = None;
    for k in 0..=steps {
        let q = at(f64::from(k) / f64::from(steps));
        let mut g = vec![0.0; n];
        contact.add_gradient(&q, &mut g);
        let slope: f64 = (first..n).map(|i| g[i] * [0.9, 0.7, 0.0][i % 3]).sum();
        let energy = contact.energy(&q);
        if let Some((energy_before, slope_before)) = before {
            // The trapezoidal rule is exact to third order.
            let change = 0.5 * (slope + slope_before) / f64::from(steps);
            assert!((energy - energy_before - change).abs() < 2e-6 * energy, "step {k}");
        }
        before = Some((energy, slope));
    }
}

#[test]
fn discrete_gradient_keeps_energy_and_momenta() {
    let mut random = Random(4);
    for (pair, free) in pairs().into_iter().zip([true, false, false, false]) {
        let model = boxes(pair, DISTANCE);
        let (contact, n) = (contact(&model), model.start().len());
        let mut worst = [0.0f64; 3];
        for trial in 0..40 {
            let size = [0.04, 0.01, 1e-4, 1e-7][trial % 4];
            let q0 = pose(&model, 0.02, &mut random);
            let q1: Vec<f64> = q0.iter().map(|x| x + size * random.next()).collect();
            let mut g = vec![0.0; n];
            assert!(contact.add_discrete_gradient(&q0, &q1, &mut g));
            let work: f64 = (0..n).map(|i| g[i] * (q1[i] - q0[i])).sum();
            let change = contact.energy(&q1) - contact.energy(&q0);
            worst[0] = worst[0].max((work - change).abs() / contact.energy(&q0));
            let (mut force, mut moment) = ([0.0; 3], [0.0; 3]);
            for (f, (a, b)) in g.chunks_exact(3).zip(q0.chunks_exact(3).zip(q1.chunks_exact(3))) {
                let x = [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]));
                for k in 0..3 {
                    let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                    force[k] += f[k];
                    moment[k] += x[i] * f[j] - x[j] * f[i];
                }
            }
            if free {
                worst[1] = worst[1].max(max(&force) / max(&g));
                worst[2] = worst[2].max(max(&moment) / max(&g));
            }
        }
        assert!(worst.iter().all(|w| *w < 1e-12), "{pair:?}: {worst:?}");
    }
}

/// Edges of a cloth that is folded onto itself: no energy at rest, energy where it is near itself.
#[test]
fn nothing_at_rest() {
    for distance in [1e-3, DISTANCE, 2.0] {
        let model = boxes(ContactPair::Itself(None), distance);
        let mut rest = model.start().to_vec();
        assert_eq!(contact(&model).energy(&rest), 0.0);
        // The top of the first body, pressed to a fifth.
        rest.chunks_exact_mut(3).for_each(|x| x[2] *= 0.1);
        if distance == DISTANCE {
            assert!(contact(&model).energy(&rest) > 0.0);
        }
    }
}

/// A body is never moved through another, however far it is to go, and threads do not matter.
#[test]
fn steps_end_before_contact() {
    let model = boxes(ContactPair::Bodies(None), 1e-3);
    let limit = contact(&model).role().feasible_step.unwrap();
    let first = model.bodies()[1].dofs.unknowns().start;
    let mut random = Random(2);
    for far in [0.05, 0.5, 50.0] {
        let d: Vec<f64> = (0..model.start().len())
            .map(|i| if i >= first && i % 3 == 2 { -far } else { 1e-3 * random.next() })
            .collect();
        let of = |count: usize| {
            threads::set_threads(count);
            limit.max_step([0.0; 2], model.start(), &d)
        };
        let [one, two, three] = [1, 2, 3].map(of);
        assert!(one.to_bits() == two.to_bits() && two.to_bits() == three.to_bits());
        // The gap is 0.1 m at the start.
        assert!(if far == 0.05 { one == 1.0 } else { one * far < 0.11 && one * far > 0.08 }, "{far}: {one}");
    }
    threads::set_threads(1);
}

#[test]
fn obstacles_stop_motion() {
    for (shape, way) in [(PLANE, -1.0), (BALL, -1.0), (SHELL, 1.0)] {
        let model = boxes(ContactPair::Obstacle(shape), 1e-3);
        let limit = contact(&model).role().feasible_step.unwrap();
        let d: Vec<f64> = (0..model.start().len()).map(|i| if i % 3 == 2 { way } else { 0.0 }).collect();
        let step = limit.max_step([0.0; 2], model.start(), &d);
        let end: Vec<f64> = model.start().iter().zip(&d).map(|(x, d)| x + step * d).collect();
        let gap =
            |q: &[f64]| q.chunks_exact(3).map(|x| shape.distance(x).distance).fold(f64::INFINITY, f64::min);
        let (before, after) = (gap(model.start()), gap(&end));
        assert!(after > 0.0 && after < 0.5 * before, "{shape:?}: {before} {after}");
        let back: Vec<f64> = d.iter().map(|d| -1e-3 * d).collect();
        assert!(limit.max_step([0.0; 2], model.start(), &back) >= 1.0, "{shape:?}");
    }
}
