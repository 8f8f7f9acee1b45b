//! Finer meshes: scenes whose bodies have twice as many cells along each direction.

use lilyan_scene::build::Built;
use lilyan_scene::schema::{FileSpec, Resolution, Scene, Shape};
use lilyan_solid::mesh::Mesh;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The edges of a tet in the order of the nodes of quadratic tets.
const EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]];

/// The three diagonals of the octahedron between the middles of the edges, and the ring of the other four around each.
const DIAGONALS: [([usize; 2], [usize; 4]); 3] =
    [([0, 5], [1, 2, 3, 4]), ([1, 3], [0, 2, 5, 4]), ([2, 4], [0, 1, 5, 3])];

/// The scene with its meshes refined so many times. Generated shapes are made of smaller cells; tets of files are cut into eight each,
/// so that the shape stays that of the file.
pub fn refined(scene: &Scene, built: &Built, times: u32) -> Scene {
    let mut out = scene.clone();
    if times == 0 {
        return out;
    }
    let factor = 1u32 << times;
    for (spec, body) in out.bodies.iter_mut().zip(&built.bodies) {
        let finer = |resolution: &mut Resolution, smallest: f64| {
            *resolution = match *resolution {
                Resolution::Automatic => Resolution::Edge(0.25 * smallest / f64::from(factor)),
                Resolution::Edge(edge) => Resolution::Edge(edge / f64::from(factor)),
                Resolution::Tets(n) => Resolution::Tets(n.saturating_mul(factor.saturating_pow(3))),
            };
        };
        match &mut spec.mesh.shape {
            Shape::Box { cells, .. } => cells.iter_mut().for_each(|n| *n *= factor),
            Shape::Cloth { cells, .. } => cells.iter_mut().for_each(|n| *n *= factor),
            Shape::Rope { segments, .. } => *segments *= factor,
            Shape::Points { .. } => {}
            Shape::Sphere { radius, resolution } => finer(resolution, *radius),
            Shape::Cylinder { radius, length, resolution } => finer(resolution, radius.min(*length)),
            Shape::Ellipsoid { radii, resolution } => {
                finer(resolution, radii.iter().copied().fold(f64::INFINITY, f64::min));
            }
            Shape::File(file) => {
                if body.mesh().tets().is_empty() {
                    continue;
                }
                let mesh = (0..times).fold(body.mesh().clone(), |mesh, _| halved(&mesh));
                let name = format!("{} refined {times}", body.name);
                *file = FileSpec {
                    path: name.clone(),
                    format: None,
                    group: None,
                    resolution: Resolution::Automatic,
                    embed: false,
                    thickness: file.thickness,
                };
                // The mesh of the body is in its place already.
                spec.mesh.transform.scale = [1.0; 3];
                spec.mesh.transform.rotate = None;
                spec.mesh.transform.translate = [0.0; 3];
                spec.element = body.element;
                spec.element_given = true;
                out.meshes.insert(name, Arc::new(mesh));
            }
        }
    }
    out
}

/// Every tet cut into eight: four at its corners, and the octahedron between them along its shortest diagonal \[bey1995\].
pub fn halved(mesh: &Mesh) -> Mesh {
    let mut edges: Vec<[u32; 2]> = mesh.tets().iter().flat_map(|t| EDGES.map(|e| ends(t, e))).collect();
    edges.sort_unstable();
    edges.dedup();
    let first = mesh.vertices.len() as u32;
    let number = |edge: [u32; 2]| first + edges.binary_search(&edge).map_or(0, |k| k as u32);
    let mut vertices = mesh.vertices.clone();
    vertices.extend(edges.iter().map(|edge| edge_point(mesh, *edge)));
    let mut tets = Vec::with_capacity(8 * mesh.tets().len());
    let mut edge_points = BTreeMap::new();
    for tet in mesh.tets() {
        let m = EDGES.map(|e| number(ends(tet, e)));
        let [a, b, c, d] = *tet;
        let [ab, bc, ac, ad, bd, cd] = m;
        let mut own = vec![[a, ab, ac, ad], [ab, b, bc, bd], [ac, bc, c, cd], [ad, bd, cd, d]];
        let length = |[i, j]: [usize; 2]| {
            let [x, y] = [m[i], m[j]].map(|v| vertices[v as usize]);
            (0..3).map(|k| (x[k] - y[k]).powi(2)).sum::<f64>()
        };
        let shortest = DIAGONALS.iter().min_by(|p, q| length(p.0).total_cmp(&length(q.0)));
        if let Some(([i, j], ring)) = shortest {
            own.extend((0..4).map(|k| [m[*i], m[*j], m[ring[k]], m[ring[(k + 1) % 4]]]));
        }
        if !mesh.edge_points.is_empty() {
            for child in &own {
                curve(mesh, tet, &m, child, &mut edge_points);
            }
        }
        tets.extend(own);
    }
    let mut out = Mesh::new(vertices, tets);
    out.orient();
    let each = |k: usize| std::iter::repeat_n(k, 8);
    out.tags = (0..mesh.tags.len()).flat_map(each).map(|k| mesh.tags[k]).collect();
    out.region_names = mesh.region_names.clone();
    let of_cells = |values: &Vec<f64>| (0..values.len()).flat_map(each).map(|k| values[k]).collect();
    out.cell_data = mesh.cell_data.iter().map(|(name, values)| (name.clone(), of_cells(values))).collect();
    for (name, set) in &mesh.vertex_sets {
        let mut all = set.clone();
        let inside = |v: &u32| set.binary_search(v).is_ok();
        all.extend(edges.iter().filter(|e| e.iter().all(inside)).map(|e| number(*e)));
        out.vertex_sets.insert(name.clone(), all);
    }
    out.edge_points = edge_points;
    out
}

fn ends(tet: &[u32; 4], [i, j]: [usize; 2]) -> [u32; 2] {
    [tet[i].min(tet[j]), tet[i].max(tet[j])]
}

fn edge_point(mesh: &Mesh, edge: [u32; 2]) -> [f64; 3] {
    let [a, b] = edge.map(|v| mesh.vertices[v as usize]);
    let middle = std::array::from_fn(|k| 0.5 * (a[k] + b[k]));
    mesh.edge_points.get(&edge).copied().unwrap_or(middle)
}

/// The nodes on the edges of a part of a curved tet, on the curved shape.
fn curve(
    mesh: &Mesh,
    tet: &[u32; 4],
    middles: &[u32; 6],
    child: &[u32; 4],
    out: &mut BTreeMap<[u32; 2], [f64; 3]>,
) {
    let barycentric = |v: u32| -> [f64; 4] {
        match tet.iter().position(|c| *c == v) {
            Some(corner) => std::array::from_fn(|k| f64::from(u8::from(k == corner))),
            None => {
                let edge = middles.iter().position(|m| *m == v).map_or([0, 0], |e| EDGES[e]);
                std::array::from_fn(|k| if edge.contains(&k) { 0.5 } else { 0.0 })
            }
        }
    };
    for edge in EDGES {
        let [a, b] = edge.map(|k| barycentric(child[k]));
        let l: [f64; 4] = std::array::from_fn(|k| 0.5 * (a[k] + b[k]));
        let mut place = [0.0; 3];
        let mut add = |x: [f64; 3], c: f64| (0..3).for_each(|k| place[k] += c * x[k]);
        for (k, v) in tet.iter().enumerate() {
            add(mesh.vertices[*v as usize], l[k] * (2.0 * l[k] - 1.0));
        }
        for [i, j] in EDGES {
            add(edge_point(mesh, ends(tet, [i, j])), 4.0 * l[i] * l[j]);
        }
        out.insert(ends(child, edge), place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lilyan_solid::elements::QUADRATIC_TETS;
    use lilyan_solid::meshing::box_mesh;

    #[test]
    fn eight_parts_fill_a_tet() {
        let mut mesh = box_mesh([1.0, 2.0, 3.0], [2, 1, 1]).unwrap();
        mesh.vertex_sets.insert("left".into(), (0..12).filter(|v| v % 3 == 0).collect());
        let fine = halved(&halved(&mesh));
        assert_eq!(fine.tets().len(), 64 * 12);
        assert!((fine.signed_volumes().iter().sum::<f64>() - 6.0).abs() < 1e-12);
        assert!(fine.signed_volumes().iter().all(|v| *v > 0.0));
        // It conforms: each outer face has become sixteen.
        assert_eq!(fine.surface().triangles.len(), 16 * mesh.surface().triangles.len());
        let left = &fine.vertex_sets["left"];
        assert!(left.iter().all(|v| fine.vertices[*v as usize][0] == 0.0));
        assert_eq!(left.len(), fine.vertices.iter().filter(|x| x[0] == 0.0).count());
    }

    #[test]
    fn curved_tets_keep_their_shape() {
        let mut mesh = box_mesh([1.0; 3], [1, 1, 1]).unwrap();
        mesh.edge_points.insert([0, 1], [0.5, -0.2, 0.0]);
        let volume = |mesh: Mesh| (QUADRATIC_TETS.nodes)(Arc::new(mesh)).volumes().iter().sum::<f64>();
        let (before, after) = (volume(mesh.clone()), volume(halved(&mesh)));
        assert!((before - 1.0).abs() > 1e-3 && (before - after).abs() < 1e-12, "{before} {after}");
    }
}
