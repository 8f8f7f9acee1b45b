//! Obstacles that move: a rigid motion in time, and the contact with the obstacle where it is at a time.
//!
//! W(t, q) of a moving obstacle is W(x′) of the obstacle at rest, with the positions x′ of the nodes as seen from the obstacle. Any contact
//! model makes it, and no model knows of motion. A path is straight as seen from the obstacle, so that collision detection
//! covers its motion. Friction opposes the velocity as seen from there. What the motion of the obstacle gives to the bodies is the
//! change of W in time at fixed positions, and the work of friction beside what slip dissipates
//! ([`lilyan_dynamics::system::abilities::TimedPotential`]).

use super::ObstacleShape;
use crate::potentials::{
    ContactFriction, Intersection, Intersections, MovingPotential, Potential, PotentialRole,
};
use lilyan_dynamics::system::abilities::FeasibleStep;
use lilyan_dynamics::system::three_quarters;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;
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

    /// Rᵀ x.
    pub fn turned_back(&self, x: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|k| (0..3).map(|i| self.rotation[i][k] * x[i]).sum())
    }

    /// The point whose place is x.
    pub fn original(&self, x: [f64; 3]) -> [f64; 3] {
        let back = self.turned_back(std::array::from_fn(|k| x[k] - self.center[k] - self.displacement[k]));
        std::array::from_fn(|k| back[k] + self.center[k])
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

/// Half the time (s) over which the velocity of an obstacle is taken by differences.
const SHORT: f64 = 1e-6;

/// Contact with an obstacle that moves.
pub struct MovingObstacle {
    /// The contact with the obstacle where it is without the motion.
    still: Arc<dyn Potential>,
    motion: ObstacleMotion,
    /// Nodes that may touch it.
    nodes: Arc<Vec<u32>>,
    /// The contact as it is at 0.
    start: PlacedObstacle,
}

impl MovingObstacle {
    /// The contact `still` of these nodes, with an obstacle that moves.
    pub fn new(still: Arc<dyn Potential>, motion: ObstacleMotion, nodes: Vec<u32>) -> Self {
        let nodes = Arc::new(nodes);
        let start = PlacedObstacle::new(&still, &motion, &nodes, 0.0);
        Self { still, motion, nodes, start }
    }

    /// The obstacle at a time.
    fn now(&self, t: f64) -> PlacedObstacle {
        PlacedObstacle::new(&self.still, &self.motion, &self.nodes, t)
    }

    /// The ends of a motion between the times `t`, as seen from the obstacle.
    fn seen(&self, t: [f64; 2], q0: &[f64], q1: &[f64]) -> [Vec<f64>; 2] {
        [self.now(t[0]).seen(q0), self.now(t[1]).seen(q1)]
    }

    /// The obstacle in the middle of a step, as which forces of the step are turned.
    fn middle(&self, t: [f64; 2]) -> PlacedObstacle {
        self.now(0.5 * (t[0] + t[1]))
    }
}

/// An obstacle at a time.
///
/// Positions and velocities are seen from the obstacle, where it does not move, and forces are turned back.
struct PlacedObstacle {
    still: Arc<dyn Potential>,
    nodes: Arc<Vec<u32>>,
    place: Placement,
    /// Where it is a little before and after.
    around: [Placement; 2],
    /// The time between the two, s.
    between: f64,
}

impl PlacedObstacle {
    fn new(still: &Arc<dyn Potential>, motion: &ObstacleMotion, nodes: &Arc<Vec<u32>>, t: f64) -> Self {
        // Formulas need not be defined before the start.
        let before = (t - SHORT).max(0.0);
        let after = before + 2.0 * SHORT;
        Self {
            still: still.clone(),
            nodes: nodes.clone(),
            place: motion(t),
            around: [motion(before), motion(after)],
            between: after - before,
        }
    }

    /// Positions as seen from the obstacle, m.
    fn seen(&self, q: &[f64]) -> Vec<f64> {
        let mut q = q.to_vec();
        for node in self.nodes.iter() {
            let x = &mut q[3 * *node as usize..][..3];
            x.copy_from_slice(&self.place.original([x[0], x[1], x[2]]));
        }
        q
    }

    /// Velocities at these positions as seen from the obstacle, m/s.
    fn seen_velocities(&self, seen: &[f64], v: &[f64]) -> Vec<f64> {
        let mut v = v.to_vec();
        for node in self.nodes.iter() {
            let first = 3 * *node as usize;
            let x = [seen[first], seen[first + 1], seen[first + 2]];
            let [before, after] = self.around.each_ref().map(|place| place.moved(x));
            let own = std::array::from_fn(|k| v[first + k] - (after[k] - before[k]) / self.between);
            v[first..first + 3].copy_from_slice(&self.place.turned_back(own));
        }
        v
    }

    /// Adds forces that were found as seen from the obstacle.
    fn add_turned(&self, own: &[f64], f: &mut [f64]) {
        for node in self.nodes.iter() {
            let first = 3 * *node as usize;
            let turned = self.place.turned([own[first], own[first + 1], own[first + 2]]);
            f[first..first + 3].iter_mut().zip(turned).for_each(|(f, own)| *f += own);
        }
    }

    /// Adds a matrix that `fill` finds as seen from the obstacle.
    fn add_turned_matrix(&self, h: &mut BlockMatrix, fill: impl FnOnce(&mut BlockMatrix)) {
        let mut own = BlockMatrix::zeros(h.pattern().clone());
        fill(&mut own);
        if self.place.rotation != Placement::START.rotation {
            own.turn(&self.place.rotation);
        }
        h.add_scaled(1.0, &own);
    }
}

impl Potential for PlacedObstacle {
    fn role(&self) -> PotentialRole<'_> {
        let still = self.still.role();
        PotentialRole {
            is_contact: true,
            friction: still.friction.is_some().then_some(self),
            intersections: still.intersections.is_some().then_some(self),
            ..PotentialRole::smooth(still.kind)
        }
    }
    fn energy(&self, q: &[f64]) -> f64 {
        self.still.energy(&self.seen(q))
    }
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        let mut own = vec![0.0; g.len()];
        self.still.add_gradient(&self.seen(q), &mut own);
        self.add_turned(&own, g);
    }
    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.add_turned_matrix(h, |own| self.still.add_hessian(&self.seen(q), curvature, own));
    }
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        let mut own = vec![0.0; g.len()];
        let feasible = self.still.add_discrete_gradient(&self.seen(q0), &self.seen(q1), &mut own);
        self.add_turned(&own, g);
        feasible
    }
}

impl ContactFriction for PlacedObstacle {
    fn add_friction(&self, q: &[f64], v: &[f64], f: &mut [f64]) {
        let Some(friction) = self.still.role().friction else { return };
        let (seen, mut own) = (self.seen(q), vec![0.0; f.len()]);
        friction.add_friction(&seen, &self.seen_velocities(&seen, v), &mut own);
        self.add_turned(&own, f);
    }
    fn add_mean_friction(&self, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        let Some(friction) = self.still.role().friction else { return };
        let mut own = vec![0.0; f.len()];
        friction.add_mean_friction(h, &self.seen(q0), &self.seen(q1), &mut own);
        self.add_turned(&own, f);
    }
    fn add_friction_matrix(&self, q: &[f64], v: &[f64], d: &mut BlockMatrix) {
        let Some(friction) = self.still.role().friction else { return };
        let seen = self.seen(q);
        let v = self.seen_velocities(&seen, v);
        self.add_turned_matrix(d, |own| friction.add_friction_matrix(&seen, &v, own));
    }
    fn add_mean_friction_matrix(&self, h: f64, q0: &[f64], q1: &[f64], d: &mut BlockMatrix) {
        let Some(friction) = self.still.role().friction else { return };
        let (q0, q1) = (self.seen(q0), self.seen(q1));
        self.add_turned_matrix(d, |own| friction.add_mean_friction_matrix(h, &q0, &q1, own));
    }
}

impl Intersections for PlacedObstacle {
    fn first_intersection(&self, q: &[f64]) -> Option<Intersection> {
        let found = self.still.role().intersections?.first_intersection(&self.seen(q))?;
        Some(Intersection { place: self.place.moved(found.place), ..found })
    }
}

/// Without a time it is where it is at 0.
impl Potential for MovingObstacle {
    fn role(&self) -> PotentialRole<'_> {
        let limited = self.still.role().feasible_step.is_some();
        PotentialRole { feasible_step: limited.then_some(self), ..self.start.role() }
    }
    fn moving(&self) -> Option<&dyn MovingPotential> {
        Some(self)
    }
    fn energy(&self, q: &[f64]) -> f64 {
        self.start.energy(q)
    }
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        self.start.add_gradient(q, g);
    }
    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.start.add_hessian(q, curvature, h);
    }
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        Potential::add_discrete_gradient(&self.start, q0, q1, g)
    }
}

impl FeasibleStep for MovingObstacle {
    /// Of the motion that is straight as seen from the obstacle.
    fn max_step(&self, t: [f64; 2], q: &[f64], d: &[f64]) -> f64 {
        let Some(still) = self.still.role().feasible_step else { return f64::INFINITY };
        let end: Vec<f64> = q.iter().zip(d).map(|(x, d)| x + d).collect();
        let [from, to] = self.seen(t, q, &end);
        let motion: Vec<f64> = to.iter().zip(&from).map(|(b, a)| b - a).collect();
        still.max_step(t, &from, &motion)
    }
}

impl MovingPotential for MovingObstacle {
    fn at(&self, t: f64) -> Arc<dyn Potential> {
        Arc::new(self.now(t))
    }
    fn add_discrete_gradient(&self, t: [f64; 2], q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        let ([q0, q1], mut own) = (self.seen(t, q0, q1), vec![0.0; g.len()]);
        let feasible = self.still.add_discrete_gradient(&q0, &q1, &mut own);
        self.middle(t).add_turned(&own, g);
        feasible
    }
    /// That of the contact, or half of its Hessian three quarters on the way of the relative motion.
    fn add_discrete_hessian(
        &self,
        t: [f64; 2],
        q0: &[f64],
        q1: &[f64],
        curvature: Curvature,
        h: &mut BlockMatrix,
    ) {
        let [q0, q1] = self.seen(t, q0, q1);
        self.middle(t).add_turned_matrix(h, |own| match self.still.role().discrete_hessian {
            Some(hessian) => hessian.add_discrete_hessian(&q0, &q1, curvature, own),
            None => {
                self.still.add_hessian(&three_quarters(&q0, &q1), curvature, own);
                own.scale(0.5);
            }
        });
    }
    fn add_mean_friction(&self, t: [f64; 2], q0: &[f64], q1: &[f64], f: &mut [f64]) {
        let Some(friction) = self.still.role().friction else { return };
        let ([q0, q1], mut own) = (self.seen(t, q0, q1), vec![0.0; f.len()]);
        friction.add_mean_friction(t[1] - t[0], &q0, &q1, &mut own);
        self.middle(t).add_turned(&own, f);
    }
    fn add_mean_friction_matrix(&self, t: [f64; 2], q0: &[f64], q1: &[f64], d: &mut BlockMatrix) {
        let Some(friction) = self.still.role().friction else { return };
        let [q0, q1] = self.seen(t, q0, q1);
        let h = t[1] - t[0];
        self.middle(t).add_turned_matrix(d, |own| friction.add_mean_friction_matrix(h, &q0, &q1, own));
    }
    fn work(&self, t: [f64; 2], q0: &[f64], q1: &[f64]) -> f64 {
        let mut g = vec![0.0; q0.len()];
        if !MovingPotential::add_discrete_gradient(self, t, q0, q1, &mut g) {
            return f64::NAN;
        }
        self.now(t[1]).energy(q1) - self.now(t[0]).energy(q0) - work_of(&g, q0, q1)
    }
    fn friction_work(&self, t: [f64; 2], q0: &[f64], q1: &[f64]) -> f64 {
        let Some(friction) = self.still.role().friction else { return 0.0 };
        let (ends, mut own) = (self.seen(t, q0, q1), vec![0.0; q0.len()]);
        friction.add_mean_friction(t[1] - t[0], &ends[0], &ends[1], &mut own);
        let mut f = vec![0.0; q0.len()];
        self.middle(t).add_turned(&own, &mut f);
        work_of(&f, q0, q1) - work_of(&own, &ends[0], &ends[1])
    }
}

/// f·(q₁ − q₀), J.
fn work_of(f: &[f64], q0: &[f64], q1: &[f64]) -> f64 {
    f.iter().zip(q0.iter().zip(q1)).map(|(f, (a, b))| f * (b - a)).sum()
}
