//! What a contact model is, and what it is told of the bodies.

use super::ContactSurface;
use crate::build_error::BuildError;
use crate::mesh::TriMesh;
use crate::parameters::{ModelParameter, Parameters};
use crate::potentials::Potential;
use std::cell::OnceCell;
use std::fmt::Debug;
use std::sync::Arc;

/// What touches what. Bodies are numbered from 0 in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactPair {
    /// All bodies and an obstacle.
    Obstacle(ObstacleShape),
    /// All bodies and a rigid triangle mesh, by the number that [`crate::ModelBuilder::obstacle`] gave it.
    Mesh(usize),
    /// Two bodies, or all pairs of distinct bodies.
    Bodies(Option<[usize; 2]>),
    /// A body and itself, or each body and itself.
    Itself(Option<usize>),
}

/// The shape of an obstacle in its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ObstacleShape {
    /// The half-space below a plane.
    Plane {
        /// A point on it, m.
        point: [f64; 3],
        /// Unit normal, away from the obstacle.
        normal: [f64; 3],
    },
    /// A ball, or (inside) everything but a ball.
    Sphere {
        /// m.
        center: [f64; 3],
        /// m.
        radius: f64,
        /// The bodies are inside.
        inside: bool,
    },
}

/// Where a point is, seen from an obstacle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObstacleDistance {
    /// d, m; negative inside of the obstacle.
    pub distance: f64,
    /// n = ∇d: unit, away from the obstacle.
    pub normal: [f64; 3],
    /// R of ∇²d = (I − n nᵀ)/R, m: infinite for a plane, negative inside of a sphere.
    pub radius_of_curvature: f64,
}

impl ObstacleShape {
    /// The distance of a point (m), and its derivatives.
    pub fn distance(&self, x: &[f64]) -> ObstacleDistance {
        match *self {
            Self::Plane { point, normal } => {
                let distance = (0..3).map(|i| (x[i] - point[i]) * normal[i]).sum();
                ObstacleDistance { distance, normal, radius_of_curvature: f64::INFINITY }
            }
            Self::Sphere { center, radius, inside } => {
                let r = [x[0] - center[0], x[1] - center[1], x[2] - center[2]];
                let l = (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]).sqrt();
                let sign = if inside { -1.0 } else { 1.0 };
                let distance = sign * (l - radius);
                ObstacleDistance {
                    distance,
                    normal: r.map(|x| sign * x / l.max(f64::MIN_POSITIVE)),
                    radius_of_curvature: if inside { distance - radius } else { distance + radius },
                }
            }
        }
    }
}

/// A contact model with its constants.
pub trait ContactModel: Debug + Send + Sync {
    /// Checks the constants.
    fn check(&self) -> Result<(), BuildError>;
    /// Whether it keeps bodies off obstacles that are triangle meshes.
    fn takes_meshes(&self) -> bool;
    /// The potential that keeps these apart.
    fn potential(&self, pair: ContactPair, surfaces: &ContactSurfaces<'_>) -> Arc<dyn Potential>;
}

/// Makes a contact model from its parameters and the scales of the bodies.
pub type CreateContact = fn(&Parameters, &[BodyScale<'_>]) -> Result<Arc<dyn ContactModel>, BuildError>;

/// What a contact model is, and how it is made.
#[derive(Clone, Copy)]
pub struct ContactCard {
    /// Name in scene files.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Key in references.bib.
    pub cite: &'static str,
    /// Its parameters in scene files.
    pub parameters: &'static [ModelParameter],
    /// Those of them that contact with an obstacle takes.
    pub obstacle_parameters: &'static [ModelParameter],
    /// Whether it keeps bodies off obstacles that are triangle meshes.
    pub takes_meshes: bool,
    /// Whether no motion passes through it, so that it limits steps.
    pub limits_steps: bool,
    /// Makes one from its parameters. What is not given is derived from the bodies.
    pub create: CreateContact,
}

impl Debug for ContactCard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Scales of a body, from which a contact model derives what the scene does not give.
pub struct BodyScale<'a> {
    /// The largest Young's modulus, Pa; `None` for ropes, cloth and points.
    pub young: Option<f64>,
    /// The smallest extent along x, y, z, m.
    pub extent: f64,
    /// The largest extent along x, y, z, m.
    pub length: f64,
    /// Mass per area of the surface, kg/m².
    pub areal_mass: f64,
    /// The mean edge of the mesh, m; not finite for ropes and points. It is computed when asked for.
    pub mean_edge: Box<dyn Fn() -> f64 + 'a>,
}

impl BodyScale<'_> {
    /// The smallest extent of a solid, the largest of ropes, cloth and points, which are thin; m.
    pub fn size(&self) -> f64 {
        if self.young.is_some() { self.extent } else { self.length }
    }

    /// The stiffness per area (Pa/m) of a layer as thick as a tenth of the body, made of its material: the largest of all
    /// bodies. 0 where there are only ropes, cloth and points.
    pub fn layer_stiffness(bodies: &[Self]) -> f64 {
        let layer = |b: &Self| b.young.map(|young| 10.0 * young / b.extent.max(f64::MIN_POSITIVE));
        bodies.iter().filter_map(layer).fold(0.0, f64::max)
    }

    /// A fifth of the smallest mean edge of all bodies, m; `None` where there are only ropes and points, without triangles.
    pub fn fifth_of_edge(bodies: &[Self]) -> Option<f64> {
        let edges = bodies.iter().map(|b| (b.mean_edge)()).filter(|e| e.is_finite());
        edges.min_by(f64::total_cmp).map(|edge| 0.2 * edge)
    }
}

/// The surfaces of all bodies. The surface of a body is made when it is first asked for.
pub struct ContactSurfaces<'a> {
    make: &'a dyn Fn(usize) -> Arc<ContactSurface>,
    made: Vec<OnceCell<Arc<ContactSurface>>>,
    points: &'a dyn Fn() -> Vec<(u32, f64)>,
    obstacles: &'a [TriMesh],
}

impl<'a> ContactSurfaces<'a> {
    /// Surfaces of so many bodies, made by `make`; `points` finds the nodes of all with their areas. `obstacles` are rigid triangle
    /// meshes.
    pub fn new(
        bodies: usize,
        make: &'a dyn Fn(usize) -> Arc<ContactSurface>,
        points: &'a dyn Fn() -> Vec<(u32, f64)>,
        obstacles: &'a [TriMesh],
    ) -> Self {
        Self { make, made: vec![OnceCell::new(); bodies], points, obstacles }
    }

    /// How many bodies there are.
    pub fn bodies(&self) -> usize {
        self.made.len()
    }

    /// The surface of a body.
    pub fn of(&self, body: usize) -> Arc<ContactSurface> {
        self.made[body].get_or_init(|| (self.make)(body)).clone()
    }

    /// The surfaces of all bodies.
    pub fn all(&self) -> Vec<Arc<ContactSurface>> {
        (0..self.bodies()).map(|body| self.of(body)).collect()
    }

    /// A rigid triangle mesh.
    pub fn obstacle(&self, number: usize) -> &TriMesh {
        &self.obstacles[number]
    }

    /// Nodes of all bodies that can touch something, with their areas, m².
    pub fn points(&self) -> Vec<(u32, f64)> {
        (self.points)()
    }
}
