//! Contact: what keeps surfaces apart.
//!
//! | file | what it holds |
//! |---|---|
//! | `model` | what a contact model is, and what it is told of the bodies |
//! | `surface` | the surface of a body, ready for signed distances |
//! | `face_lattice`, `on_lattice` | quadratic faces as vertices and triangles between nodes, for every model |
//! | `law` | the energy of one node as a function of its depth |
//! | `obstacle` | any law: surface nodes against planes and spheres |
//! | `vertex` | one vertex against one triangle: derivatives of the distance |
//! | `surface_contact/` | any law: surfaces of bodies against each other and against themselves |
//! | `law_potential` | any law between any two things that touch |
//! | `chord` | what makes the discrete gradient of a distance exact in energy and momenta |
//! | `barrier/` | a barrier that no motion passes through |
//! | `penalty` | an elastic penalty: a pressure in proportion to the depth |
//! | `motion` | obstacles that move, for any model |
//!
//! A contact model makes a [`crate::potentials::Potential`] whose role says so. Where no motion may pass through it, that
//! potential limits steps (`PotentialRole::feasible_step`); lagged friction and active sets are its stateful terms
//! (`PotentialRole::terms`). To add a model: a file or folder here with its card, and the line of the card
//! in [`CATALOGUE`]. A model whose energy is a function of the depth is a [`ContactLaw`] and asks [`law_potential`] for the rest.

pub mod barrier;
mod chord;
pub(crate) mod face_lattice;
mod law;
mod law_potential;
mod model;
mod motion;
mod obstacle;
pub(crate) mod on_lattice;
mod penalty;
mod surface;
mod surface_contact;
mod vertex;

pub use law::ContactLaw;
pub use law_potential::law_potential;
pub use model::{
    BodyScale, ContactCard, ContactModel, ContactPair, ContactSurfaces, CreateContact, ObstacleDistance,
    ObstacleShape,
};
pub use motion::{MovingObstacle, ObstacleMotion, Placement};
pub use obstacle::Obstacle;
pub use penalty::{LinearPressure, Penalty};
pub use surface::{ContactSurface, Feature};
pub use surface_contact::SurfaceContact;
pub use vertex::VertexContact;

/// Every contact model; the first goes with every method.
pub static CATALOGUE: &[&ContactCard] = &[&penalty::CARD, &barrier::CARD];

/// The contact model that goes with every method.
pub const DEFAULT_CONTACT: &ContactCard = CATALOGUE[0];
