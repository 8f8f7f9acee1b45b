//! The outer boundary of a fine body: which of its faces are pulled.

use crate::math::vector::{V3, add, area_vector, distance, norm, scale};
use crate::mesh::{Locator, Mesh, Surface};
use lilyan_parallel::threads;

/// Whether each triangle of the surface is part of an outer boundary: closed parts of the surface whose outward side
/// is that away from the body enclose it if their volume is positive, and a cavity if it is negative.
pub fn outer_faces(mesh: &Mesh, surface: &Surface) -> Vec<bool> {
    let part = parts(surface);
    // From the first vertex of each part, so that a small cavity far from the origin keeps its digits.
    let mut enclosed = vec![0.0; part.len()];
    for (t, &part) in part.iter().enumerate() {
        let origin = mesh.vertices[surface.triangles[part][0] as usize];
        let [a, b, c] = surface.triangles[t].map(|v| mesh.vertices[v as usize]);
        enclosed[part] += crate::math::vector::volume([origin, a, b, c]);
    }
    part.iter().map(|part| enclosed[*part] > 0.0).collect()
}

/// For each triangle the first one of the closed part of the surface that it is in.
pub(super) fn parts(surface: &Surface) -> Vec<usize> {
    let mut parent: Vec<u32> = (0..surface.triangles.len() as u32).collect();
    let mut edges: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * parent.len());
    for (t, triangle) in surface.triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
            edges.push(([a.min(b), a.max(b)], t as u32));
        }
    }
    edges.sort_unstable();
    for pair in edges.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let (a, b) = (root(&mut parent, pair[0].1), root(&mut parent, pair[1].1));
        parent[a.max(b) as usize] = a.min(b);
    }
    (0..parent.len() as u32).map(|t| root(&mut parent, t) as usize).collect()
}

pub(super) fn root(parent: &mut [u32], mut t: u32) -> u32 {
    while parent[t as usize] != t {
        parent[t as usize] = parent[parent[t as usize] as usize];
        t = parent[t as usize];
    }
    t
}

/// Whether each triangle of the surface is pulled: it is part of an outer boundary, and no part of the body is in front of it
/// nearer than the size of a coarse tet, inside of the coarse mesh. So lips of cracks and walls of notches that are narrower
/// than the coarse mesh can resolve are free, as those of cavities are.
pub fn pulled_faces(fine: &Mesh, surface: &Surface, coarse: &Mesh) -> Vec<bool> {
    let outside = outer_faces(fine, surface);
    let (of_fine, of_coarse) = (fine.locator(), coarse.locator());
    threads::par_map(outside.len(), |t| {
        let corners = surface.triangles[t].map(|v| fine.vertices[v as usize]);
        outside[t] && !is_in_front(corners, coarse, &of_fine, &of_coarse)
    })
}

/// Whether the body goes on in front of a face, before the coarse mesh ends and within the size of its tet.
fn is_in_front(face: [V3; 3], coarse: &Mesh, of_fine: &Locator<'_>, of_coarse: &Locator<'_>) -> bool {
    let centre = scale(face.into_iter().fold([0.0; 3], add), 1.0 / 3.0);
    let area = area_vector(face);
    let Some(start) = of_coarse.locate(centre) else { return false };
    let corners = coarse.corners(start.tet);
    let reach =
        (0..4).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| distance(corners[i], corners[j]));
    let reach = reach.fold(0.0, f64::max);
    // Steps of a quarter of the face find a narrow gap, since what is behind it is thicker.
    let step = (0.25 * norm(area).sqrt()).max(reach / 64.0);
    let normal = scale(area, 1.0 / norm(area).max(f64::MIN_POSITIVE));
    for k in 1..=(reach / step) as usize {
        let point = add(centre, scale(normal, k as f64 * step));
        let inside = |of: &Locator<'_>| of.locate(point).is_some_and(|found| found.distance == 0.0);
        if !inside(of_coarse) {
            return false;
        }
        if inside(of_fine) {
            return true;
        }
    }
    false
}
