//! Bodies, their meshes, and what acts on them.
//!
//! A mesh is vertices and cells ([`Mesh`]). It comes from [`box_mesh`], [`sphere`], [`cylinder`], [`ellipsoid`], from a closed surface
//! ([`tetrahedralize`]), from a file ([`read_mesh`]), or from your own arrays:
//!
//! ```
//! use lilyan::body::Mesh;
//!
//! let points = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
//! let mut mesh = Mesh::new(points, vec![[0, 1, 2, 3]]);
//! mesh.orient(); // tets whose volume is negative are turned
//! mesh.check()?; // indices in range, numbers finite, no tet flat
//! assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-15);
//! # Ok::<(), lilyan::body::MeshError>(())
//! ```
//!
//! A [`BodyInput`] is a mesh with a [material](crate::material), a density and, if wanted, damping. A [`ModelBuilder`] collects bodies and what
//! acts on them, and builds a [`Model`], the mechanical system that integrators step:
//!
//! | on the builder | acts |
//! |---|---|
//! | [`gravity`](ModelBuilder::gravity), [`monopole`](ModelBuilder::monopole) | on all masses |
//! | [`pin`](ModelBuilder::pin) | holds nodes, still or in a prescribed [`Motion`] |
//! | [`load`](ModelBuilder::load) | forces on nodes as a function of time |
//! | [`force`](ModelBuilder::force) | forces of place and velocity, as a [`Force`]: drag, swirl, [`Pressure`] |
//! | [`contact`](ModelBuilder::contact) | contact with obstacles, between bodies and within one, by a [`ContactModel`] such as [`Penalty`] or [`Barrier`] |
//! | [`constraint`](ModelBuilder::constraint) | equations that every step keeps exactly, as a [`Volume`] |
//!
//! ```
//! use lilyan::body::{BodyInput, ModelBuilder, Pin, box_mesh};
//! use lilyan::material::{self, Given};
//!
//! let mesh = box_mesh([4.0, 1.0, 1.0], [8, 2, 2])?;
//! // The nodes of the face x = 0, before the mesh is given away.
//! let clamped: Vec<u32> = (0..mesh.vertices.len() as u32).filter(|n| mesh.vertices[*n as usize][0] == 0.0).collect();
//! assert_eq!(clamped.len(), 9);
//! let soft = material::find("stable-neo-hookean").ok_or("no such material")?;
//! let mut builder = ModelBuilder::default();
//! let dofs = builder.body(BodyInput::new("beam", mesh, soft, Given::from_young(1e6, 0.45)?, 1000.0))?;
//! assert_eq!(dofs.range(), 0..81); // where the nodes of the body are among those of the model
//! builder.pin(Pin { nodes: clamped, axes: [true; 3], motion: None, until: f64::INFINITY });
//! let model = builder.build();
//! let mass: f64 = model.node_masses().iter().sum();
//! assert!((mass - 4000.0).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use lilyan_dynamics::Constraint;
pub use lilyan_dynamics::system::abilities::FeasibleStep;
pub use lilyan_dynamics::system::terms::StatefulTerms;
pub use lilyan_mesh_io::readers::{Loaded, ReadError, read as read_mesh};
pub use lilyan_solid::contact::barrier::Barrier;
pub use lilyan_solid::contact::{
    ContactModel, ContactPair, ObstacleMotion, ObstacleShape, Penalty, Placement,
};
pub use lilyan_solid::damping::{Damping, Kharevych, Rayleigh, Viscous};
pub use lilyan_solid::elements::{Bend, Glued, SOLID_KINDS, SolidKind, Spring, Triangle};
pub use lilyan_solid::mesh::{CellBlock, CellKind, Mesh, MeshError, Nodes, Surface, TriMesh};
pub use lilyan_solid::meshing::{
    MeshingError, Resolution, box_mesh, cylinder, ellipsoid, sphere, tetrahedralize,
};
pub use lilyan_solid::potentials::{
    DiscreteHessian, Intersection, Intersections, Kind as PotentialKind, Potential, PotentialRole,
};
pub use lilyan_solid::{
    Body, BodyInput, BuildError, DofMap, Force, Load, Model, ModelBuilder, Motion, NetInput, Pin, Pressure,
    PressureFace, Volume,
};
