//! Contact by a barrier: surfaces never pass through each other, obstacles or themselves.
//!
//! | file | what it holds |
//! |---|---|
//! | `model` | the model, its card and its defaults |
//! | `law` | the barrier as a function of the gap |
//! | `stencil` | closest points of two features, and the derivatives of their distance |
//! | `collision_mesh` | a surface as vertices, edges and triangles |
//! | `search` | which simplices may touch: trees of boxes |
//! | `features` | a vertex against a surface, by inclusion–exclusion |
//! | `friction` | Coulomb friction by an objective slip |
//! | `scatter` | forces and blocks of nodes that move |
//! | `mollifier` | what fades out as two edges become parallel |
//! | `contacts` | contacts at some positions, their energy and its derivatives |
//! | `surface_barrier` | surfaces against each other and against themselves |
//! | `ccd` | continuous collision detection |
//! | `potential` | the barrier between surfaces as a potential that limits steps |
//! | `discrete` | its discrete gradient |
//! | `distance_change` | the change of one distance over a step |
//! | `intersections` | whether surfaces touch or cut each other |
//! | `obstacle_barrier` | planes and spheres |

pub mod ccd;
mod collision_mesh;
mod contacts;
mod discrete;
mod distance_change;
mod features;
mod friction;
mod intersections;
mod law;
mod model;
mod mollifier;
mod obstacle_barrier;
mod potential;
mod scatter;
mod search;
pub mod stencil;
mod surface_barrier;

pub use contacts::BarrierContact;
pub use friction::{FrictionLaw, SlidingContact, TurningNodes};
pub use law::BarrierLaw;
pub use model::Barrier;
pub(super) use model::CARD;
pub use obstacle_barrier::{ObstacleBarrier, ObstacleNode};
pub use surface_barrier::SurfaceBarrier;
