//! The nodes of quadratic tets on a mesh: its vertices, then a node on each edge, at its middle or where the mesh says.

use super::shape::{EDGES, NODES, SHARES, fourteen_points, shape, slopes};
use crate::math::Mat3;
use crate::mesh::{CurvedNodes, FACES, Mesh, NO_TET, NodeLayout, NodeParents, Nodes, Surface};
use std::sync::Arc;

/// Which of [`EDGES`] are (01)(02)(03)(12)(13)(23).
pub(super) const EDGES_OF_SORTED: [usize; 6] = [0, 2, 3, 1, 4, 5];

/// A face as six nodes of a tet: corners outward, then the edges (01)(12)(20) between them.
const FACES10: [[usize; 6]; 4] =
    [[1, 2, 3, 5, 9, 8], [0, 3, 2, 7, 9, 6], [0, 1, 3, 4, 8, 7], [0, 2, 1, 6, 5, 4]];

/// The nodes of quadratic tets. Edges are numbered after all vertices in the order of their ends, so that the edges of a tet
/// with ascending corners ascend as well.
pub(super) fn nodes(mesh: Arc<Mesh>) -> Nodes {
    let tets = mesh.tets();
    let ends = |tet: &[u32; 4], [i, j]: [usize; 2]| [tet[i].min(tet[j]), tet[i].max(tet[j])];
    let mut edges: Vec<[u32; 2]> = tets.iter().flat_map(|t| EDGES.map(|e| ends(t, e))).collect();
    edges.sort_unstable();
    edges.dedup();
    let first = mesh.vertices.len() as u32;
    let number = |edge: [u32; 2]| first + edges.binary_search(&edge).map_or(0, |k| k as u32);
    let mut cells = Vec::with_capacity(NODES * tets.len());
    for tet in tets {
        cells.extend(tet);
        cells.extend(EDGES.map(|e| number(ends(tet, e))));
    }
    let mut parents = NodeParents::at((0..first).collect());
    for [a, b] in &edges {
        parents.push(&[(*a, 0.5), (*b, 0.5)]);
    }
    let curved = curved(&mesh, &edges, &cells);
    let (faces, surface) = boundary(&mesh, &cells);
    let layout = NodeLayout {
        cells,
        parents,
        surface,
        faces,
        inner_faces: Vec::new(),
        shape,
        slopes: |lambda, out| out.copy_from_slice(&slopes(lambda)),
        shares: &SHARES,
        curved,
    };
    Nodes::with_layout(mesh, layout)
}

/// The boundary as faces of six nodes, and as four triangles for each.
fn boundary(mesh: &Mesh, cells: &[u32]) -> (Vec<[u32; 6]>, Surface) {
    let (mut faces, mut triangles, mut owners) = (Vec::new(), Vec::new(), Vec::new());
    for (t, neighbours) in mesh.neighbours().iter().enumerate() {
        let own = &cells[NODES * t..NODES * (t + 1)];
        for (face, _) in FACES10.iter().zip(neighbours).filter(|(_, other)| **other == NO_TET) {
            let [a, b, c, ab, bc, ca] = face.map(|k| own[k]);
            faces.push([a, b, c, ab, bc, ca]);
            triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
            owners.extend([t as u32; 4]);
        }
    }
    debug_assert!(FACES10.iter().zip(FACES).all(|(ten, four)| ten[..3] == four));
    (faces, Surface::of_triangles(triangles, owners))
}

/// Where the nodes are and what volumes they stand for, if the mesh puts a node off the middle of its edge.
fn curved(mesh: &Mesh, edges: &[[u32; 2]], cells: &[u32]) -> Option<CurvedNodes> {
    let mut points = mesh.vertices.clone();
    let mut bent = false;
    for edge in edges {
        let [a, b] = edge.map(|v| mesh.vertices[v as usize]);
        let middle: [f64; 3] = std::array::from_fn(|k| 0.5 * (a[k] + b[k]));
        let place = mesh.edge_points.get(edge).copied().unwrap_or(middle);
        let off = |k: usize| (place[k] - middle[k]).abs();
        // Files give some seven digits.
        let length = (0..3).map(|k| (b[k] - a[k]).abs()).fold(0.0, f64::max);
        let straight = (0..3).all(|k| off(k) <= 1e-6 * length);
        bent |= !straight;
        points.push(if straight { middle } else { place });
    }
    if !bent {
        return None;
    }
    let mut volumes = vec![0.0; points.len()];
    for own in cells.chunks_exact(NODES) {
        for (lambda, weight) in fourteen_points() {
            let J = rest_jacobian(own, &points, lambda);
            let mut values = [0.0; NODES];
            shape(lambda, &mut values);
            for (n, value) in own.iter().zip(values) {
                volumes[*n as usize] += weight * value * J.det() / 6.0;
            }
        }
    }
    Some(CurvedNodes { points, volumes })
}

/// ∂X/∂(λ₁, λ₂, λ₃) of a tet of these nodes.
pub(super) fn rest_jacobian(own: &[u32], points: &[[f64; 3]], lambda: [f64; 4]) -> Mat3 {
    let first = points[own[0] as usize];
    own.iter().zip(slopes(lambda)).fold(Mat3::zero(), |J, (n, slope)| {
        let x = points[*n as usize];
        J + Mat3::outer([0, 1, 2].map(|k| x[k] - first[k]), slope)
    })
}
