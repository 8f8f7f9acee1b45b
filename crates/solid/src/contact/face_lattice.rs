//! The surfaces of quadratic tets as contact models know surfaces: vertices with areas, and triangles.
//!
//! A quadratic face becomes nine triangles between the points of its lattice of thirds, which lie on the face, curved or not. Their
//! areas are the weights of the Newton–Cotes rule of degree 3, so that a uniform pressure at these points gives the nodes of the
//! face exactly what it gives to the face: nothing to a flat one's corners, a third of its force to the nodes on its edges. The
//! areas of triangles between the nodes themselves would put a quarter on the corners, and the stress beside a contact would
//! oscillate by as much.
//!
//! The points are further nodes x̂ = S x after those of the model; models of contact do not know of them.

use super::surface::ContactSurface;
use crate::dofs::DofMap;
use crate::math::vector::norm;
use crate::mesh::{NodeParents, TriMesh, face_lattice};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The triangles of the lattice of thirds, outward as the face is.
const TRIANGLES: [[usize; 3]; 9] =
    [[0, 3, 8], [3, 4, 9], [4, 1, 5], [8, 9, 7], [9, 5, 6], [7, 6, 2], [3, 9, 8], [4, 5, 9], [9, 6, 7]];

/// The points on the faces of all bodies of quadratic tets.
#[derive(Debug)]
pub(crate) struct FaceLattice {
    /// How many nodes the model has.
    pub nodes: usize,
    /// S: the nodes of the model that each further point lies between.
    pub points: NodeParents,
    /// By body; `None` where the faces are not quadratic.
    surfaces: Vec<Option<Arc<ContactSurface>>>,
}

impl FaceLattice {
    /// Of bodies with these nodes.
    pub fn new(bodies: &[&DofMap]) -> Self {
        let nodes = bodies.last().map_or(0, |dofs| dofs.range().end);
        let mut points = NodeParents::default();
        let surfaces = bodies.iter().map(|dofs| {
            let quadratic = !dofs.nodes().quadratic_faces().is_empty();
            quadratic.then(|| Arc::new(surface(dofs, nodes, &mut points)))
        });
        Self { surfaces: surfaces.collect(), nodes, points }
    }

    /// Whether no body has quadratic faces.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The surface of a body with quadratic faces.
    pub fn surface(&self, body: usize) -> Option<&Arc<ContactSurface>> {
        self.surfaces[body].as_ref()
    }
}

/// The surface of a body; its points are numbered after `nodes` and those that are there.
fn surface(dofs: &DofMap, nodes: usize, points: &mut NodeParents) -> ContactSurface {
    let own = dofs.nodes();
    let lattice = face_lattice();
    let (mut mesh, mut global, mut areas) = (TriMesh::default(), Vec::<u32>::new(), Vec::<f64>::new());
    // Corners by their node, points on edges by the nodes of the ends, the nearer one first.
    let mut known: BTreeMap<[u32; 2], u32> = BTreeMap::new();
    for face in own.quadratic_faces() {
        let at = face.map(|n| own.points()[n as usize]);
        let vertices: [u32; 10] = std::array::from_fn(|p| {
            let point = &lattice[p];
            let key = match p {
                0..3 => Some([face[p]; 2]),
                3..9 => {
                    let (edge, far) = ((p - 3) / 2, (p - 3) % 2);
                    Some([face[(edge + far) % 3], face[(edge + 1 - far) % 3]])
                }
                _ => None,
            };
            let vertex = key.and_then(|key| known.get(&key).copied()).unwrap_or_else(|| {
                let vertex = global.len() as u32;
                global.push(match p {
                    0..3 => dofs.global(face[p]),
                    _ => {
                        let weights = dofs.globals(*face).into_iter().zip(point.shape);
                        let parents: Vec<(u32, f64)> = weights.filter(|(_, w)| *w != 0.0).collect();
                        points.push(&parents);
                        (nodes + points.len() - 1) as u32
                    }
                });
                mesh.vertices.push(point.value(&at));
                areas.push(0.0);
                if let Some(key) = key {
                    known.insert(key, vertex);
                }
                vertex
            });
            areas[vertex as usize] += norm(point.area_vector(&at));
            vertex
        });
        mesh.triangles.extend(TRIANGLES.map(|t| t.map(|p| vertices[p])));
    }
    ContactSurface::of_mesh(global, areas, mesh, own.is_closed())
}
