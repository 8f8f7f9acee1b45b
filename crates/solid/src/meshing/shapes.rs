//! Round shapes.

use super::solid::Ellipsoid;
use super::{MOST_TETS, MeshingError, fail, improve, positive, repair, stuffing};
use crate::math::vector::volume;
use crate::mesh::Mesh;
use std::f64::consts::PI;

/// A ball around the origin; see [`ellipsoid`].
///
/// # Errors
/// As there.
pub fn sphere(radius: f64, edge_length: f64) -> Result<Mesh, MeshingError> {
    ellipsoid([positive("sphere radius", radius)?; 3], edge_length)
}

/// A solid ellipsoid around the origin with the given half axes (m) along x, y, z, in tets of mean
/// edge `edge_length` (m), by isosurface stuffing. Boundary vertices are on the ellipsoid.
///
/// # Errors
/// Lengths that are not positive, an edge length too large to fit inside or so small that there
/// would be more than [`MOST_TETS`].
pub fn ellipsoid(half_axes: [f64; 3], edge_length: f64) -> Result<Mesh, MeshingError> {
    for a in half_axes {
        positive("ellipsoid half axis", a)?;
    }
    let edge = positive("edge length", edge_length)? / super::tetrahedralize::MEAN_EDGE;
    let shortest = half_axes.iter().copied().fold(f64::INFINITY, f64::min);
    if edge_length > shortest {
        return fail(format!(
            "an edge length of {edge_length} m is too coarse for a half axis of {shortest} m: use at most half of it"
        ));
    }
    let tets = 12.0 * 4.0 / 3.0 * PI * half_axes.iter().product::<f64>() / edge.powi(3);
    if tets > MOST_TETS as f64 {
        return fail(format!(
            "an edge length of {edge_length} m gives more than {MOST_TETS} tets: use a larger one"
        ));
    }
    let shape = Ellipsoid(half_axes);
    let mut mesh = stuffing::stuff(&shape, edge)?;
    repair::make_manifold(&mut mesh);
    improve::improve(&mut mesh, &shape, edge, 180.0, 5, None);
    mesh.reorder();
    Ok(mesh)
}

/// Puts the nodes on the edges of the surface of an ellipsoid onto it, for quadratic tets.
pub fn curve_ellipsoid(mesh: &mut Mesh, half_axes: [f64; 3]) {
    mesh.curve_surface(|_, middle| {
        let size = (0..3).map(|k| (middle[k] / half_axes[k]).powi(2)).sum::<f64>().sqrt();
        (size > 0.0).then(|| middle.map(|x| x / size))
    });
}

/// Puts the nodes on the edges of the wall of a [`cylinder`] onto it, for quadratic tets.
pub fn curve_cylinder(mesh: &mut Mesh, radius: f64) {
    mesh.curve_surface(|ends, [x, y, z]| {
        let on_wall = |p: [f64; 3]| (p[0].hypot(p[1]) / radius - 1.0).abs() < 1e-9;
        let size = x.hypot(y) / radius;
        (ends.into_iter().all(on_wall) && size > 0.0).then_some([x / size, y / size, z])
    });
}

/// A solid cylinder: `radius` (m) around the z axis, from z = 0 to z = `length` (m), in tets of edge
/// about `edge_length` (m).
///
/// The discs are rings of 6, 12, 18, … nearly equilateral triangles' corners; each prism between
/// two discs is cut into three tets. The rim is exact at the vertices.
///
/// # Errors
/// Lengths that are not positive, or more than [`MOST_TETS`].
pub fn cylinder(radius: f64, length: f64, edge_length: f64) -> Result<Mesh, MeshingError> {
    positive("cylinder radius", radius)?;
    positive("cylinder length", length)?;
    positive("edge length", edge_length)?;
    let rings = (radius / edge_length).round().max(1.0);
    let layers = (length / edge_length).round().max(1.0);
    if 18.0 * rings * rings * layers > MOST_TETS as f64 {
        return fail(format!(
            "an edge length of {edge_length} m gives more than {MOST_TETS} tets: use a larger one"
        ));
    }
    let (rings, layers) = (rings as usize, layers as usize);
    // Vertex j of ring r > 0 on a disc; the centre is vertex 0.
    let number = |r: usize, j: usize| {
        if r == 0 { 0 } else { 1 + 3 * r * (r - 1) + j % (6 * r) }
    };
    let per_disc = 1 + 3 * rings * (rings + 1);
    let mut vertices = Vec::new();
    for layer in 0..=layers {
        let z = length * (layer as f64 / layers as f64);
        vertices.push([0.0, 0.0, z]);
        for r in 1..=rings {
            for j in 0..6 * r {
                let angle = PI / 3.0 * (j as f64 / r as f64);
                let at = radius * (r as f64 / rings as f64);
                vertices.push([at * angle.cos(), at * angle.sin(), z]);
            }
        }
    }
    let mut triangles = Vec::new();
    for r in 1..=rings {
        for sector in 0..6 {
            for j in 0..r {
                let (outer, inner) = (sector * r + j, sector * (r - 1) + j);
                triangles.push([number(r - 1, inner), number(r, outer), number(r, outer + 1)]);
                if j + 1 < r {
                    triangles.push([number(r - 1, inner), number(r, outer + 1), number(r - 1, inner + 1)]);
                }
            }
        }
    }
    let mut tets = Vec::new();
    for layer in 0..layers {
        for t in &triangles {
            // Sorted columns: neighbouring prisms cut their common side along the same diagonal.
            let mut low = t.map(|v| (v + layer * per_disc) as u32);
            low.sort_unstable();
            let [a, b, c] = low;
            let [d, e, f] = low.map(|v| v + per_disc as u32);
            for mut tet in [[a, b, c, f], [a, b, e, f], [a, d, e, f]] {
                if volume(tet.map(|v| vertices[v as usize])) < 0.0 {
                    tet.swap(2, 3);
                }
                tets.push(tet);
            }
        }
    }
    Ok(Mesh::new(vertices, tets))
}
