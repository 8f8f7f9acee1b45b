//! Obstacles that move: a rigid motion in time, and the contact with the obstacle where it is at a time.
//!
//! W(t, q) of a moving obstacle is that of the obstacle in its place at t. Any contact model makes it, so that models know nothing of
//! motion. What the motion of the obstacle gives to the bodies is the change of W in time at fixed positions
//! ([`lilyan_dynamics::system::abilities::TimedPotential`]).

use super::{ContactModel, ContactPair, ContactSurfaces, ObstacleShape};
use crate::potentials::{MovingPotential, Potential, PotentialRole};
use lilyan_dynamics::system::three_quarters;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;
use std::fmt::Debug;
use std::sync::Arc;

/// The place of a rigid thing: x ↦ R (x − c) + c + d.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// R, by rows.
    pub rotation: [[f64; 3]; 3],
    /// c, m.
    pub center: [f64; 3],
    /// d, m.
    pub displacement: [f64; 3],
}

impl Placement {
    /// Where it was at the start.
    pub const START: Self = Self {
        rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        center: [0.0; 3],
        displacement: [0.0; 3],
    };

    /// R x.
    pub fn turned(&self, x: [f64; 3]) -> [f64; 3] {
        self.rotation.map(|row| (0..3).map(|k| row[k] * x[k]).sum())
    }

    /// The point whose place is x.
    pub fn original(&self, x: [f64; 3]) -> [f64; 3] {
        let from: [f64; 3] = std::array::from_fn(|k| x[k] - self.center[k] - self.displacement[k]);
        std::array::from_fn(|k| (0..3).map(|i| self.rotation[i][k] * from[i]).sum::<f64>() + self.center[k])
    }

    /// The place of a point.
    pub fn moved(&self, x: [f64; 3]) -> [f64; 3] {
        let turned = self.turned(std::array::from_fn(|k| x[k] - self.center[k]));
        std::array::from_fn(|k| turned[k] + self.center[k] + self.displacement[k])
    }
}

impl ObstacleShape {
    /// The obstacle in another place.
    #[must_use]
    pub fn placed(self, placement: &Placement) -> Self {
        match self {
            Self::Plane { point, normal } => {
                Self::Plane { point: placement.moved(point), normal: placement.turned(normal) }
            }
            Self::Sphere { center, radius, inside } => {
                Self::Sphere { center: placement.moved(center), radius, inside }
            }
        }
    }
}

/// The place of an obstacle at a time, s.
pub type ObstacleMotion = Arc<dyn Fn(f64) -> Placement + Send + Sync>;

/// Contact with an obstacle that moves.
pub struct MovingObstacle {
    shape: ObstacleShape,
    motion: ObstacleMotion,
    model: Arc<dyn ContactModel>,
    /// Surface nodes and their areas, m².
    nodes: Vec<(u32, f64)>,
}

impl MovingObstacle {
    /// The contact of surface nodes, with their areas (m²), with an obstacle that is at `shape` without the motion.
    pub fn new(
        shape: ObstacleShape,
        motion: ObstacleMotion,
        model: Arc<dyn ContactModel>,
        nodes: Vec<(u32, f64)>,
    ) -> Self {
        Self { shape, motion, model, nodes }
    }

    /// Where the nodes at q would be at time `middle` if they moved with the obstacle from time `t` on.
    fn carried(&self, q: &[f64], t: f64, middle: f64) -> Vec<f64> {
        let (then, now) = ((self.motion)(t), (self.motion)(middle));
        let mut q = q.to_vec();
        for (node, _) in &self.nodes {
            let x = &mut q[3 * *node as usize..][..3];
            x.copy_from_slice(&now.moved(then.original([x[0], x[1], x[2]])));
        }
        q
    }

    /// The obstacle in the middle between the times `t`, and the ends of the motion relative to it.
    fn relative(&self, t: [f64; 2], q0: &[f64], q1: &[f64]) -> (Arc<dyn Potential>, [Vec<f64>; 2]) {
        let middle = 0.5 * (t[0] + t[1]);
        (self.now(middle), [self.carried(q0, t[0], middle), self.carried(q1, t[1], middle)])
    }

    fn now(&self, t: f64) -> Arc<dyn Potential> {
        let pair = ContactPair::Obstacle(self.shape.placed(&(self.motion)(t)));
        let (none, points) = (|_: usize| unreachable!("there are no bodies"), || self.nodes.clone());
        self.model.potential(pair, &ContactSurfaces::new(0, &none, &points, &[]))
    }
}

/// Without a time it is where it is at 0.
impl Potential for MovingObstacle {
    fn role(&self) -> PotentialRole<'_> {
        PotentialRole::penalty()
    }
    fn moving(&self) -> Option<&dyn MovingPotential> {
        Some(self)
    }
    fn energy(&self, q: &[f64]) -> f64 {
        self.now(0.0).energy(q)
    }
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        self.now(0.0).add_gradient(q, g);
    }
    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.now(0.0).add_hessian(q, curvature, h);
    }
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        self.now(0.0).add_discrete_gradient(q0, q1, g)
    }
}

impl MovingPotential for MovingObstacle {
    fn at(&self, t: f64) -> Arc<dyn Potential> {
        self.now(t)
    }
    fn add_discrete_gradient(&self, t: [f64; 2], q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        let (now, [q0, q1]) = self.relative(t, q0, q1);
        now.add_discrete_gradient(&q0, &q1, g)
    }
    fn add_hessian_between(
        &self,
        t: [f64; 2],
        q0: &[f64],
        q1: &[f64],
        curvature: Curvature,
        h: &mut BlockMatrix,
    ) {
        let (now, [q0, q1]) = self.relative(t, q0, q1);
        now.add_hessian(&three_quarters(&q0, &q1), curvature, h);
    }
    fn work(&self, t: [f64; 2], q0: &[f64], q1: &[f64]) -> f64 {
        let mut g = vec![0.0; q0.len()];
        if !MovingPotential::add_discrete_gradient(self, t, q0, q1, &mut g) {
            return f64::NAN;
        }
        let taken: f64 = g.iter().zip(q0.iter().zip(q1)).map(|(g, (a, b))| g * (b - a)).sum();
        self.now(t[1]).energy(q1) - self.now(t[0]).energy(q0) - taken
    }
}
