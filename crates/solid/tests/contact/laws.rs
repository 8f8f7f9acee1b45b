//! Obstacles and contact of surfaces with a law that is not in the catalogue: they take any.

use super::{Random, diagonal_pattern, gradient, meeting, size, touching, two_cubes_with};
use lilyan_solid::contact::{ContactLaw, Obstacle, ObstacleShape};
use lilyan_solid::potentials::Potential;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// φ(b) = k b₊³/3.
#[derive(Clone, Copy, Debug)]
struct Cubic(f64);

impl ContactLaw for Cubic {
    fn of_area(self, area: f64) -> Self {
        Self(self.0 * area)
    }
    fn energy(self, depth: f64) -> f64 {
        self.0 * depth.max(0.0).powi(3) / 3.0
    }
    fn slope(self, depth: f64) -> f64 {
        self.0 * depth.max(0.0).powi(2)
    }
    fn curvature(self, depth: f64) -> f64 {
        2.0 * self.0 * depth.max(0.0)
    }
}

/// Pa/m².
const STRENGTH: f64 = 1e4;

/// The gradient is the derivative of the energy, and the discrete gradient takes its change along a chord.
fn check_gradients(potential: &dyn Potential, q: &[f64], direction: &[f64]) {
    let moved = |c: f64| -> Vec<f64> { q.iter().zip(direction).map(|(q, d)| q + c * d).collect() };
    let along = |g: &[f64]| g.iter().zip(direction).map(|(a, b)| a * b).sum::<f64>();
    // Central differences of smooth functions of size 1 are right to some 1e-9 with this step.
    let h = 1e-6;
    let g = gradient(potential, q);
    let quotient = (potential.energy(&moved(h)) - potential.energy(&moved(-h))) / (2.0 * h);
    assert!((along(&g) - quotient).abs() <= 1e-5 * size(&g), "{} {quotient}", along(&g));
    let (far, mut chord) = (moved(0.02), vec![0.0; q.len()]);
    assert!(potential.add_discrete_gradient(q, &far, &mut chord));
    let change = potential.energy(&far) - potential.energy(q);
    assert!((0.02 * along(&chord) - change).abs() <= 1e-10 * potential.energy(q).max(1.0), "{change}");
}

/// The Hessian is the derivative of the gradient.
fn check_hessian(potential: &dyn Potential, q: &[f64], direction: &[f64], tolerance: f64) {
    let moved = |c: f64| -> Vec<f64> { q.iter().zip(direction).map(|(q, d)| q + c * d).collect() };
    let mut matrix = BlockMatrix::zeros(diagonal_pattern(q.len() / 3));
    potential.add_hessian(q, Curvature::Exact, &mut matrix);
    let mut product = vec![0.0; q.len()];
    matrix.mul_vec(direction, &mut product);
    let (back, forth) = (gradient(potential, &moved(-1e-6)), gradient(potential, &moved(1e-6)));
    for i in 0..q.len() {
        let quotient = (forth[i] - back[i]) / 2e-6;
        assert!((product[i] - quotient).abs() <= tolerance, "{i}: {} {quotient}", product[i]);
    }
}

#[test]
fn obstacles_take_any_law() {
    let mut random = Random(11);
    let sphere = |inside| ObstacleShape::Sphere { center: [0.0; 3], radius: 0.7, inside };
    let plane = ObstacleShape::Plane { point: [0.0; 3], normal: [0.6, 0.8, 0.0] };
    for shape in [plane, sphere(false), sphere(true)] {
        let nodes = (0..20).map(|n| (n, 0.1)).collect();
        let obstacle = Obstacle { shape, law: Cubic(STRENGTH), nodes };
        for _ in 0..20 {
            let q: Vec<f64> = (0..20).flat_map(|_| random.vector()).collect();
            let direction: Vec<f64> = q.iter().map(|_| random.next()).collect();
            assert!(obstacle.energy(&q) > 0.0);
            check_gradients(&obstacle, &q, &direction);
            check_hessian(&obstacle, &q, &direction, 1e-5 * STRENGTH);
        }
    }
}

#[test]
fn surfaces_take_any_law() {
    let (contact, mesh) = two_cubes_with(Cubic(STRENGTH));
    let (mut random, mut tested) = (Random(12), 0);
    for _ in 0..200 {
        let q = touching(&mesh, &mut random);
        let direction: Vec<f64> = q.iter().map(|_| random.next()).collect();
        let moved = |c: f64| -> Vec<f64> { q.iter().zip(&direction).map(|(q, d)| q + c * d).collect() };
        let here = contact.contacts(&q);
        // Where the nearest feature changes the second derivative jumps; near an edge or a corner it is large.
        let smooth = [-1e-6, 1e-6].iter().all(|c| meeting(&contact.contacts(&moved(*c))) == meeting(&here));
        if here.is_empty() || !smooth || here.iter().any(|c| c.distance.abs() < 1e-2) {
            continue;
        }
        check_gradients(&contact, &q, &direction);
        check_hessian(&contact, &q, &direction, 1e-5 * STRENGTH);
        tested += 1;
    }
    assert!(tested >= 10, "{tested}");
}
