//! The nodes of a body: the points of its mesh that have unknowns.
//!
//! Continuous linear elements have a node at each vertex. Discontinuous elements have a node at each corner of each cell,
//! so that several nodes lie at one vertex. A kind of elements with other nodes says where they are by a [`NodeLayout`].
//! Whatever acts on nodes (surfaces, loads, probes, output) asks here which nodes it means. All numbers are those of the
//! body, from 0; [`crate::DofMap`] places them among those of a model.

use super::parents::{Interpolate, NodeParents};
use super::topology::FACES;
use super::{Location, Mesh, NO_TET, Surface};
use crate::math::Mat3;
use std::sync::Arc;

/// The nodes of a body on its mesh.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    mesh: Arc<Mesh>,
    /// `None`: the nodes are the vertices.
    own: Option<OwnNodes>,
}

/// Where the nodes of a kind of elements are, if they are not the vertices.
#[derive(Clone, Debug)]
pub struct NodeLayout {
    /// The nodes of all tets, as many for each as there are [`NodeLayout::shares`]; the first four are at its corners.
    pub cells: Vec<u32>,
    /// Between which vertices each node lies.
    pub parents: NodeParents,
    /// The surface of the body as triangles of nodes.
    pub surface: Surface,
    /// The surface of a body of quadratic tets as faces of six nodes: corners, outward, then the edges (01)(12)(20).
    pub faces: Vec<[u32; 6]>,
    /// Faces or edges between cells that share no nodes.
    pub inner_faces: Vec<InnerFace>,
    /// The values of the shape functions of a tet at a point with these barycentric coordinates.
    pub shape: fn([f64; 4], &mut [f64]),
    /// Their derivatives by the last three coordinates, the first being 1 less these.
    pub slopes: fn([f64; 4], &mut [[f64; 3]]),
    /// The part of the volume of a tet that each of its nodes stands for: ∫N over the volume, or a lumped part. Of sum 1.
    pub shares: &'static [f64],
    /// Where the nodes are, if some edges are not straight at rest.
    pub curved: Option<CurvedNodes>,
}

/// Nodes that do not lie where their parents say, since edges are curved at rest.
#[derive(Clone, Debug, Default)]
pub struct CurvedNodes {
    /// Places of all nodes, m.
    pub points: Vec<[f64; 3]>,
    /// ∫N over the volume for each node, m³.
    pub volumes: Vec<f64>,
}

/// A layout, and what follows from it.
#[derive(Clone, Debug)]
struct OwnNodes {
    layout: NodeLayout,
    points: Vec<[f64; 3]>,
    /// The nodes at the corners of tets that have others as well; else empty.
    corners: Vec<[u32; 4]>,
}

/// Each corner of a linear tet stands for a quarter of it.
const LINEAR_SHARES: [f64; 4] = [0.25; 4];

fn linear_shape(barycentric: [f64; 4], out: &mut [f64]) {
    out.copy_from_slice(&barycentric);
}

fn linear_slopes(_: [f64; 4], out: &mut [[f64; 3]]) {
    out.copy_from_slice(&[[-1.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
}

/// A face between two tets, or an edge between two triangles, whose nodes are not shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InnerFace {
    /// The tets or triangles.
    pub cells: [u32; 2],
    /// Corners of each that lie on the face, in the same order of places; outward of the first. The first two for an
    /// edge.
    pub corners: [[u8; 3]; 2],
}

impl Nodes {
    /// A node at each vertex, for continuous linear elements.
    pub fn at_vertices(mesh: impl Into<Arc<Mesh>>) -> Self {
        Self { mesh: mesh.into(), own: None }
    }

    /// Nodes of its own for each cell, at its corners: those of the tets or, without tets, of the triangles. Number 4t + k
    /// at corner k of tet t, or 3t + k at corner k of triangle t.
    pub fn discontinuous(mesh: impl Into<Arc<Mesh>>) -> Self {
        let mesh = mesh.into();
        let solid = mesh.dimension() == 3;
        let corners = if solid { mesh.tets().as_flattened() } else { mesh.triangles().as_flattened() };
        let (surface, inner_faces) =
            if solid { split_tets(&mesh) } else { split_triangles(mesh.triangles()) };
        let layout = NodeLayout {
            cells: (0..4 * mesh.tets().len() as u32).collect(),
            parents: NodeParents::at(corners.to_vec()),
            surface,
            faces: Vec::new(),
            inner_faces,
            shape: linear_shape,
            slopes: linear_slopes,
            shares: &LINEAR_SHARES,
            curved: None,
        };
        Self::with_layout(mesh, layout)
    }

    /// The nodes of any kind of elements.
    ///
    /// # Panics
    ///
    /// If the layout is not of this mesh: it lists the nodes of other than all tets, or fewer than four for each.
    pub fn with_layout(mesh: impl Into<Arc<Mesh>>, layout: NodeLayout) -> Self {
        let (mesh, count) = (mesh.into(), layout.shares.len());
        assert!(count >= 4, "a tet has nodes at its four corners, and there are {count} shares");
        assert_eq!(
            layout.cells.len(),
            count * mesh.tets().len(),
            "the layout lists {count} nodes for each tet"
        );
        let points = match &layout.curved {
            Some(curved) => curved.points.clone(),
            None => layout.parents.interpolated(&mesh.vertices),
        };
        let corners = match count {
            4 => Vec::new(),
            _ => layout.cells.chunks_exact(count).map(|cell| [0, 1, 2, 3].map(|k| cell[k])).collect(),
        };
        Self { mesh, own: Some(OwnNodes { layout, points, corners }) }
    }

    /// The mesh.
    pub fn mesh(&self) -> &Arc<Mesh> {
        &self.mesh
    }

    /// How many nodes.
    pub fn len(&self) -> usize {
        self.points().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rest positions of the nodes, m.
    pub fn points(&self) -> &[[f64; 3]] {
        self.own.as_ref().map_or(&self.mesh.vertices, |own| &own.points)
    }

    /// The nodes at the corners of each tet.
    pub fn tets(&self) -> &[[u32; 4]] {
        match &self.own {
            None => self.mesh.tets(),
            Some(own) if own.layout.shares.len() == 4 => own.layout.cells.as_chunks().0,
            Some(own) => &own.corners,
        }
    }

    /// All nodes of a tet, those at its corners first.
    pub fn of_tet(&self, tet: usize) -> &[u32] {
        match &self.own {
            None => &self.mesh.tets()[tet],
            Some(own) => {
                let count = own.layout.shares.len();
                &own.layout.cells[count * tet..count * (tet + 1)]
            }
        }
    }

    /// The part of the volume of a tet that each of [`Nodes::of_tet`] stands for, of sum 1.
    pub fn shares(&self) -> &'static [f64] {
        self.own.as_ref().map_or(&LINEAR_SHARES, |own| own.layout.shares)
    }

    /// The surface of the body as triangles of nodes.
    pub fn surface(&self) -> &Surface {
        self.own.as_ref().map_or_else(|| self.mesh.surface(), |own| &own.layout.surface)
    }

    /// The surface as faces of six nodes, of a body of quadratic tets; else empty.
    pub fn quadratic_faces(&self) -> &[[u32; 6]] {
        self.own.as_ref().map_or(&[], |own| &own.layout.faces)
    }

    /// Where the nodes are, if some edges are not straight at rest.
    pub fn curved(&self) -> Option<&CurvedNodes> {
        self.own.as_ref()?.layout.curved.as_ref()
    }

    /// Whether the surface has an inside.
    pub fn is_closed(&self) -> bool {
        self.mesh.dimension() == 3 || self.mesh.surface().is_closed()
    }

    /// The faces or edges between cells that share no nodes; none between continuous cells.
    pub fn inner_faces(&self) -> &[InnerFace] {
        self.own.as_ref().map_or(&[], |own| &own.layout.inner_faces)
    }

    /// A field given at the vertices, at the nodes: linear between vertices.
    pub fn interpolated<T: Interpolate>(&self, values: &[T]) -> Vec<T> {
        self.own.as_ref().map_or_else(|| values.to_vec(), |own| own.layout.parents.interpolated(values))
    }

    /// Marks of vertices as marks of nodes: a node is marked if all vertices are that it lies between.
    pub fn marks(&self, of_vertices: &[bool]) -> Vec<bool> {
        self.own.as_ref().map_or_else(|| of_vertices.to_vec(), |own| own.layout.parents.marks(of_vertices))
    }

    /// Amounts at the vertices, such as masses, divided among the nodes there as the volumes are; their sum stays. `None`
    /// if nodes lie between vertices: amounts at vertices do not say what belongs to them.
    pub fn divided(&self, amounts: &[f64]) -> Option<Vec<f64>> {
        let Some(own) = &self.own else { return Some(amounts.to_vec()) };
        let vertices = own.layout.parents.single()?;
        // Without tets there are no volumes, and all nodes of a vertex count the same.
        let volumes = if self.tets().is_empty() { vec![1.0; self.len()] } else { self.volumes() };
        let mut sums = vec![0.0; self.mesh.vertices.len()];
        vertices.iter().zip(&volumes).for_each(|(v, volume)| sums[*v as usize] += volume);
        let part = |(v, volume): (&u32, &f64)| amounts[*v as usize] * (volume / sums[*v as usize]);
        Some(vertices.iter().zip(&volumes).map(part).collect())
    }

    /// The nodes that place a point of a tet, and their weights, of sum 1.
    pub fn weights_at(&self, location: &Location) -> Vec<(u32, f64)> {
        let nodes = self.of_tet(location.tet);
        let mut weights = vec![0.0; nodes.len()];
        let shape =
            self.own.as_ref().map_or(linear_shape as fn([f64; 4], &mut [f64]), |own| own.layout.shape);
        shape(self.own_coordinates(location), &mut weights);
        nodes.iter().copied().zip(weights).collect()
    }

    /// The coordinates in the tet, whose edges may be curved, of a point that is given by those in the tet of its corners.
    fn own_coordinates(&self, location: &Location) -> [f64; 4] {
        let straight = location.barycentric;
        let Some(own) = self.own.as_ref().filter(|own| own.layout.curved.is_some()) else { return straight };
        let corners = self.mesh.corners(location.tet);
        let target: [f64; 3] = std::array::from_fn(|k| (0..4).map(|c| straight[c] * corners[c][k]).sum());
        let nodes = self.of_tet(location.tet);
        let (mut values, mut slopes) = (vec![0.0; nodes.len()], vec![[0.0; 3]; nodes.len()]);
        // Newton's method; the edges of usable tets are so little curved that a few steps do.
        let mut at = straight;
        for _ in 0..NEWTON_STEPS {
            (own.layout.shape)(at, &mut values);
            (own.layout.slopes)(at, &mut slopes);
            let mut missing = target;
            let mut J = Mat3::zero();
            for (n, (value, slope)) in nodes.iter().zip(values.iter().zip(&slopes)) {
                let x = own.points[*n as usize];
                (0..3).for_each(|k| missing[k] -= value * x[k]);
                J = J + Mat3::outer(x, *slope);
            }
            let step = J.inverse().mul_vec(missing);
            if !step.iter().all(|x| x.is_finite()) {
                return straight;
            }
            (0..3).for_each(|k| at[k + 1] += step[k]);
            at[0] = 1.0 - at[1] - at[2] - at[3];
        }
        at
    }

    /// Volume of the tets that each node stands for, m³.
    pub fn volumes(&self) -> Vec<f64> {
        if let Some(curved) = self.curved() {
            return curved.volumes.clone();
        }
        let mut out = vec![0.0; self.len()];
        for (tet, volume) in self.mesh.signed_volumes().into_iter().enumerate() {
            for (node, share) in self.of_tet(tet).iter().zip(self.shares()) {
                out[*node as usize] += share * volume;
            }
        }
        out
    }
}

/// Steps of Newton's method from the straight tet to the curved one.
const NEWTON_STEPS: usize = 8;

fn tet_node(tet: usize, corner: usize) -> u32 {
    (4 * tet + corner) as u32
}

/// The boundary in nodes of the tets, and the faces inside.
fn split_tets(mesh: &Mesh) -> (Surface, Vec<InnerFace>) {
    let tets = mesh.tets();
    let (mut triangles, mut owners, mut faces) = (Vec::new(), Vec::new(), Vec::new());
    for (t, neighbours) in mesh.neighbours().iter().enumerate() {
        for (f, &other) in neighbours.iter().enumerate() {
            let corners = FACES[f];
            if other == NO_TET {
                triangles.push(corners.map(|k| tet_node(t, k)));
                owners.push(t as u32);
            } else if (other as usize) > t {
                let theirs = &tets[other as usize];
                let same = |k: usize| theirs.iter().position(|v| *v == tets[t][k]).unwrap_or(0);
                faces.push(InnerFace {
                    cells: [t as u32, other],
                    corners: [corners.map(|k| k as u8), corners.map(|k| same(k) as u8)],
                });
            }
        }
    }
    (Surface::of_triangles(triangles, owners), faces)
}

/// All triangles in their own nodes, and the edges between them. Where more than two triangles meet, each is joined to
/// the next.
fn split_triangles(triangles: &[[u32; 3]]) -> (Surface, Vec<InnerFace>) {
    // Ends in order of their numbers, triangle, corners in the same order.
    let mut edges: Vec<([u32; 2], u32, [u8; 2])> = Vec::new();
    for (t, corners) in triangles.iter().enumerate() {
        for k in [[0u8, 1], [1, 2], [2, 0]] {
            let ends = k.map(|k| corners[usize::from(k)]);
            edges.push(match ends[0] < ends[1] {
                true => (ends, t as u32, k),
                false => ([ends[1], ends[0]], t as u32, [k[1], k[0]]),
            });
        }
    }
    edges.sort_unstable();
    let joined = edges.windows(2).filter(|e| e[0].0 == e[1].0);
    let face = |e: &[([u32; 2], u32, [u8; 2])]| InnerFace {
        cells: [e[0].1, e[1].1],
        corners: [e[0].2, e[1].2].map(|[a, b]| [a, b, b]),
    };
    let own = (0..triangles.len()).map(|t| [0, 1, 2].map(|k| (3 * t + k) as u32)).collect();
    (Surface::of_triangles(own, Vec::new()), joined.map(face).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The corners of the edges of a tet, in the order of the nodes there.
    const EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]];

    fn quadratic_shape(b: [f64; 4], out: &mut [f64]) {
        (0..4).for_each(|k| out[k] = b[k] * (2.0 * b[k] - 1.0));
        EDGES.iter().enumerate().for_each(|(e, [i, j])| out[4 + e] = 4.0 * b[*i] * b[*j]);
    }

    /// One tet with nodes at the middles of its edges too.
    fn ten_nodes() -> Nodes {
        let vertices = vec![[0.0; 3], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.0, 3.0]];
        let mesh = Mesh::new(vertices, vec![[0, 1, 2, 3]]);
        let mut parents = NodeParents::at((0..4).collect());
        EDGES.iter().for_each(|ends| parents.push(&ends.map(|k| (k as u32, 0.5))));
        let middle = |a: usize, b: usize| {
            4 + EDGES.iter().position(|e| e.contains(&a) && e.contains(&b)).unwrap_or(0) as u32
        };
        let parts = |[a, b, c]: [usize; 3]| {
            let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
            let [a, b, c] = [a, b, c].map(|k| k as u32);
            [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        };
        let layout = NodeLayout {
            cells: (0..10).collect(),
            parents,
            surface: Surface::of_triangles(FACES.into_iter().flat_map(parts).collect(), vec![0; 16]),
            faces: Vec::new(),
            inner_faces: Vec::new(),
            shape: quadratic_shape,
            slopes: |_, _| unreachable!("asked for curved tets alone"),
            shares: &[-0.05, -0.05, -0.05, -0.05, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2],
            curved: None,
        };
        Nodes::with_layout(mesh, layout)
    }

    #[test]
    fn a_layout_may_have_nodes_between_vertices() {
        let nodes = ten_nodes();
        assert_eq!(nodes.len(), 10);
        assert_eq!(nodes.tets(), [[0, 1, 2, 3]]);
        assert_eq!(nodes.of_tet(0), (0..10).collect::<Vec<u32>>());
        assert_eq!(nodes.points()[5], [1.0, 0.5, 0.0]);
        assert!((nodes.volumes().iter().sum::<f64>() - 1.0).abs() < 1e-15);
        let surface = nodes.surface();
        assert!(surface.is_closed());
        let area = |s: &Surface, x: &[[f64; 3]]| s.face_areas(x).iter().sum::<f64>();
        let whole = area(nodes.mesh().surface(), &nodes.mesh().vertices);
        assert!((area(surface, nodes.points()) - whole).abs() < 1e-14 * whole);
    }

    #[test]
    fn values_at_vertices_reach_nodes_by_their_meaning() {
        let nodes = ten_nodes();
        assert_eq!(nodes.interpolated(&nodes.mesh().vertices), nodes.points());
        assert_eq!(nodes.interpolated(&[1.0, 2.0, 5.0, 0.0])[4..], [1.5, 3.5, 3.0, 0.5, 1.0, 2.5]);
        let marked = nodes.marks(&[true, true, true, false]);
        assert_eq!(marked, [true, true, true, false, true, true, true, false, false, false]);
        assert_eq!(nodes.divided(&[1.0; 4]), None);
    }

    #[test]
    fn weights_follow_the_shape_functions() {
        let nodes = ten_nodes();
        let barycentric = [0.1, 0.2, 0.3, 0.4];
        let weights = nodes.weights_at(&Location { tet: 0, barycentric, distance: 0.0 });
        let sum_of = |f: &dyn Fn([f64; 3]) -> f64| -> f64 {
            weights.iter().map(|(n, w)| w * f(nodes.points()[*n as usize])).sum()
        };
        let corners = nodes.mesh().corners(0);
        let at = |k: usize| (0..4).map(|c| barycentric[c] * corners[c][k]).sum::<f64>();
        assert!((sum_of(&|_| 1.0) - 1.0).abs() < 1e-15);
        (0..3).for_each(|k| assert!((sum_of(&|x| x[k]) - at(k)).abs() < 1e-15));
        // Quadratic fields as well.
        assert!((sum_of(&|x| x[0] * x[2]) - at(0) * at(2)).abs() < 1e-14);
    }

    /// Two tets share a face: what a vertex holds is divided among its nodes as the volumes are.
    #[test]
    fn divided_amounts_keep_their_sum() {
        let vertices = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -3.0]];
        let nodes = Nodes::discontinuous(Mesh::new(vertices, vec![[0, 1, 2, 3], [0, 2, 1, 4]]));
        let parts = nodes.divided(&[4.0, 8.0, 12.0, 5.0, 7.0]).unwrap();
        let expected = [1.0, 2.0, 3.0, 5.0, 3.0, 9.0, 6.0, 7.0];
        assert!(parts.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{parts:?}");
        assert_eq!(nodes.interpolated(&nodes.mesh().vertices), nodes.points());
        let at_vertices = Nodes::at_vertices(nodes.mesh().clone());
        assert_eq!(at_vertices.divided(&[4.0, 8.0, 12.0, 5.0, 7.0]).unwrap(), [4.0, 8.0, 12.0, 5.0, 7.0]);
    }
}
