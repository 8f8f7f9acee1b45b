//! The surfaces of quadratic tets as contact models know surfaces: vertices with areas, and triangles.
//!
//! A quadratic face becomes sixteen triangles between its six nodes and the six points of a rule of degree 4, which lie on the
//! face, curved or not. The points have the weights of the rule as areas, so that a uniform pressure gives the nodes exactly what it
//! gives to the face: nothing to a flat one's corners, a third of its force to the nodes on its edges. Areas of the nodes themselves
//! would put a quarter on the corners, and those at the rim of a touching face would count the faces beside it as well.
//!
//! The nodes have an area of next to nothing ([`NODES_SHARE`]): it is for barriers, which keep off what has an area. Obstacles of models
//! that allow penetration do without.
//!
//! The points are further nodes x̂ = S x after those of the model; models of contact do not know of them.

use super::surface::ContactSurface;
use crate::dofs::DofMap;
use crate::math::vector::norm;
use crate::mesh::{NodeParents, TriMesh, face_points};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The triangles between the nodes of a face (0 to 5) and its points (6 to 8 beside the edges opposite to corners 0 to 2, 9 to 11
/// beside these corners), outward as the face is.
const TRIANGLES: [[usize; 3]; 16] = [
    [8, 6, 7],
    [9, 8, 7],
    [10, 6, 8],
    [11, 7, 6],
    [0, 3, 9],
    [3, 8, 9],
    [3, 1, 10],
    [3, 10, 8],
    [1, 4, 10],
    [4, 6, 10],
    [4, 2, 11],
    [4, 11, 6],
    [2, 5, 11],
    [5, 7, 11],
    [5, 0, 9],
    [5, 9, 7],
];

/// The part of the area of a face that its nodes have.
const NODES_SHARE: f64 = 1e-3;

/// The points on the faces of all bodies of quadratic tets.
#[derive(Debug)]
pub(crate) struct FaceLattice {
    /// How many nodes the model has.
    pub nodes: usize,
    /// S: the nodes of the model that each further point lies between.
    pub points: NodeParents,
    /// By body; `None` where the faces are not quadratic.
    bodies: Vec<Option<QuadraticSurface>>,
}

/// The surface of a body of quadratic tets.
#[derive(Debug)]
pub(crate) struct QuadraticSurface {
    /// All of it.
    pub surface: Arc<ContactSurface>,
    /// The points inside of the faces, with their areas, m².
    pub points: Vec<(u32, f64)>,
}

impl FaceLattice {
    /// Of bodies with these nodes.
    pub fn new(bodies: &[&DofMap]) -> Self {
        let nodes = bodies.last().map_or(0, |dofs| dofs.range().end);
        let mut points = NodeParents::default();
        let surfaces = bodies.iter().map(|dofs| {
            let quadratic = !dofs.nodes().quadratic_faces().is_empty();
            quadratic.then(|| QuadraticSurface::new(dofs, nodes, &mut points))
        });
        Self { bodies: surfaces.collect(), nodes, points }
    }

    /// Whether no body has quadratic faces.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// A body, if it has quadratic faces.
    pub fn of(&self, body: usize) -> Option<&QuadraticSurface> {
        self.bodies[body].as_ref()
    }
}

impl QuadraticSurface {
    /// Of a body; its points are numbered after `nodes` and those that are there.
    fn new(dofs: &DofMap, nodes: usize, parents: &mut NodeParents) -> Self {
        let own = dofs.nodes();
        let rule = face_points();
        let (mut mesh, mut global, mut areas) = (TriMesh::default(), Vec::<u32>::new(), Vec::<f64>::new());
        let mut points = Vec::new();
        let mut known: BTreeMap<u32, u32> = BTreeMap::new();
        for face in own.quadratic_faces() {
            let at = face.map(|n| own.points()[n as usize]);
            let inside = rule.each_ref().map(|point| norm(point.area_vector(&at)));
            let area: f64 = inside.iter().sum();
            let mut vertices = [0u32; 12];
            for (k, node) in face.iter().enumerate() {
                vertices[k] = *known.entry(*node).or_insert_with(|| {
                    global.push(dofs.global(*node));
                    mesh.vertices.push(at[k]);
                    areas.push(0.0);
                    global.len() as u32 - 1
                });
                areas[vertices[k] as usize] += NODES_SHARE / 6.0 * area;
            }
            for (k, (point, inside)) in rule.iter().zip(inside).enumerate() {
                let weights = dofs.globals(*face).into_iter().zip(point.shape);
                parents.push(&weights.collect::<Vec<_>>());
                vertices[6 + k] = global.len() as u32;
                global.push((nodes + parents.len() - 1) as u32);
                points.push((global[global.len() - 1], inside));
                mesh.vertices.push(point.value(&at));
                areas.push((1.0 - NODES_SHARE) * inside);
            }
            mesh.triangles.extend(TRIANGLES.map(|t| t.map(|p| vertices[p])));
        }
        let surface = Arc::new(ContactSurface::of_mesh(global, areas, mesh, own.is_closed()));
        Self { surface, points }
    }
}
