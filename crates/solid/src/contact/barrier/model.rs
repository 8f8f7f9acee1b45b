//! Contact that no motion passes through: the model, its card and its defaults.

use super::collision_mesh::CollisionMesh;
use super::friction::FrictionLaw;
use super::law::BarrierLaw;
use super::obstacle_barrier::{ObstacleBarrier, ObstacleNode};
use super::search::SurfacePair;
use super::surface_barrier::SurfaceBarrier;
use crate::build_error::BuildError;
use crate::contact::{BodyScale, ContactCard, ContactModel, ContactPair, ContactSurfaces};
use crate::parameters::{ModelParameter, ParameterKind, Parameters};
use crate::potentials::Potential;
use std::sync::Arc;

/// The card of the barrier.
pub static CARD: ContactCard = ContactCard {
    name: "barrier",
    summary: "a barrier that no motion passes through; gives back the energy that it took. For implicit methods",
    cite: "li2020",
    parameters: PARAMETERS,
    obstacle_parameters: PARAMETERS,
    takes_meshes: true,
    limits_steps: true,
    create,
};

const DISTANCE: ModelParameter = ModelParameter {
    name: "distance",
    unit: "m",
    example: "1e-3",
    doc: "Gap from which on surfaces push each other.",
    kind: ParameterKind::Derived { from: "a thousandth of the smallest extent of all bodies" },
};
const MODULUS: ModelParameter = ModelParameter {
    name: "modulus",
    unit: "Pa",
    example: "1e5",
    doc: "Pressure at six tenths of the distance.",
    kind: ParameterKind::Derived { from: "the moduli of the bodies" },
};

const FRICTION: ModelParameter = ModelParameter {
    name: "friction",
    unit: "",
    example: "0.5",
    doc: "Coulomb's coefficient of friction μ.",
    kind: ParameterKind::Number { default: 0.0 },
};
const SLIP: ModelParameter = ModelParameter {
    name: "slip",
    unit: "m/s",
    example: "1e-4",
    doc: "Speed of sliding from which on friction has its full size; below, it grows smoothly from 0.",
    kind: ParameterKind::Derived { from: "1/1000 of the smallest extent of all bodies per second" },
};
const PARAMETERS: &[ModelParameter] = &[DISTANCE, MODULUS, FRICTION, SLIP];

/// The default slip over the smallest extent, 1/s.
const SLIP_PER_EXTENT: f64 = 1e-3;
/// The default distance over the smallest extent.
const DISTANCE_PER_EXTENT: f64 = 1e-3;
/// The default modulus of ropes and cloth over their weight per area on earth.
const MODULUS_PER_WEIGHT: f64 = 1e3;
/// m/s².
const EARTH: f64 = 9.81;

/// Contact by a barrier.
#[derive(Clone, Debug, PartialEq)]
pub struct Barrier {
    /// d̂, m.
    pub distance: f64,
    /// κ of all pairs, Pa; `None`: by the bodies.
    pub modulus: Option<f64>,
    /// What each body gives to the modulus of its contacts, Pa.
    pub moduli: Vec<f64>,
    /// Friction, if there is any.
    pub friction: Option<FrictionLaw>,
}

impl Barrier {
    /// The law of one body against a rigid obstacle, or of two bodies.
    fn law(&self, bodies: &[usize]) -> BarrierLaw {
        let compliance = |body: &usize| 1.0 / self.moduli.get(*body).copied().unwrap_or(f64::INFINITY);
        let modulus = self.modulus.unwrap_or_else(|| 1.0 / bodies.iter().map(compliance).sum::<f64>());
        BarrierLaw { modulus, distance: self.distance }
    }

    fn surfaces(&self, bodies: &[usize], pairs: &[[usize; 2]], of: &ContactSurfaces<'_>) -> SurfaceBarrier {
        self.between(self.meshes(bodies, of), bodies, pairs)
    }

    fn meshes(&self, bodies: &[usize], of: &ContactSurfaces<'_>) -> Vec<CollisionMesh> {
        bodies.iter().map(|&body| CollisionMesh::of_body(&of.of(body))).collect()
    }

    /// Pairs of surfaces, of which the first belong to these bodies and others to obstacles.
    fn between(&self, meshes: Vec<CollisionMesh>, bodies: &[usize], pairs: &[[usize; 2]]) -> SurfaceBarrier {
        let pair = |&[a, b]: &[usize; 2]| {
            let areas = [meshes[a].mean_area(), meshes[b].mean_area()];
            let total = areas[0] + areas[1];
            SurfacePair {
                surfaces: [a, b],
                law: self.law(&[a, b].into_iter().filter_map(|s| bodies.get(s).copied()).collect::<Vec<_>>()),
                shares: [areas[1] / total, areas[0] / total],
                friction: self.friction,
            }
        };
        let pairs = pairs.iter().map(pair).collect();
        SurfaceBarrier::new(meshes, pairs)
    }
}

impl ContactModel for Barrier {
    fn check(&self) -> Result<(), BuildError> {
        BuildError::check_positive(DISTANCE.name, self.distance, DISTANCE.unit)?;
        if let Some(law) = self.friction {
            BuildError::check_positive(FRICTION.name, law.coefficient, FRICTION.unit)?;
            BuildError::check_positive(SLIP.name, law.slip, SLIP.unit)?;
        }
        let moduli = self.modulus.as_slice().iter().chain(&self.moduli);
        moduli
            .copied()
            .try_for_each(|modulus| BuildError::check_positive(MODULUS.name, modulus, MODULUS.unit))
    }

    fn takes_meshes(&self) -> bool {
        true
    }

    fn potential(&self, pair: ContactPair, surfaces: &ContactSurfaces<'_>) -> Arc<dyn Potential> {
        let all: Vec<usize> = (0..surfaces.bodies()).collect();
        Arc::new(match pair {
            ContactPair::Obstacle(shape) => {
                let nodes = all.iter().flat_map(|&body| {
                    let (surface, law) = (surfaces.of(body), self.law(&[body]));
                    let node = |(&node, &area): (&u32, &f64)| ObstacleNode { node, area, law };
                    surface.nodes.iter().zip(&surface.areas).map(node).collect::<Vec<_>>()
                });
                return Arc::new(ObstacleBarrier { shape, nodes: nodes.collect(), friction: self.friction });
            }
            ContactPair::Mesh(number) => {
                let mut meshes = self.meshes(&all, surfaces);
                meshes.push(CollisionMesh::of_obstacle(surfaces.obstacle(number)));
                let pairs: Vec<[usize; 2]> = all.iter().map(|&body| [body, all.len()]).collect();
                self.between(meshes, &all, &pairs)
            }
            ContactPair::Bodies(Some(both)) => self.surfaces(&both, &[[0, 1]], surfaces),
            ContactPair::Bodies(None) => {
                let pairs: Vec<[usize; 2]> =
                    (0..all.len()).flat_map(|j| (0..j).map(move |i| [i, j])).collect();
                self.surfaces(&all, &pairs, surfaces)
            }
            ContactPair::Itself(Some(body)) => self.surfaces(&[body], &[[0, 0]], surfaces),
            ContactPair::Itself(None) => {
                let pairs: Vec<[usize; 2]> = all.iter().map(|&body| [body, body]).collect();
                self.surfaces(&all, &pairs, surfaces)
            }
        })
    }
}

fn create(given: &Parameters, bodies: &[BodyScale<'_>]) -> Result<Arc<dyn ContactModel>, BuildError> {
    let modulus = given.number(MODULUS.name);
    let of_body = |body: &BodyScale<'_>| {
        let own = body.young.unwrap_or(MODULUS_PER_WEIGHT * EARTH * body.areal_mass);
        if own > 0.0 { own } else { f64::INFINITY }
    };
    let extent = bodies.iter().map(BodyScale::size).fold(f64::INFINITY, f64::min);
    let coefficient = given.number(FRICTION.name).unwrap_or(0.0);
    let slip = given.number(SLIP.name).unwrap_or(SLIP_PER_EXTENT * extent);
    Ok(Arc::new(Barrier {
        friction: (coefficient != 0.0).then_some(FrictionLaw { coefficient, slip }),
        distance: given.number(DISTANCE.name).unwrap_or(DISTANCE_PER_EXTENT * extent),
        modulus,
        moduli: bodies.iter().map(of_body).filter(|_| modulus.is_none()).collect(),
    }))
}
