//! What a mesh says about itself: volumes, shape, surface, neighbours, order, places.

use lilyan_solid::mesh::{Mesh, MeshError, NO_TET, TriMesh};
use lilyan_solid::meshing::{Diagonals, box_mesh, box_mesh_with};

fn regular_tet() -> Mesh {
    let vertices = vec![[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
    Mesh::new(vertices, vec![[0, 2, 1, 3]])
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * (1.0 + a.abs().max(b.abs()))
}

/// Numbers in [0, 1) that are the same on every machine.
fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 11) as f64 / (1u64 << 53) as f64
}

#[test]
fn kuhn_boxes() {
    for (size, cells) in
        [([4.0, 1.0, 1.0], [16, 4, 4]), ([1.0, 2.0, 3.0], [1, 1, 1]), ([0.1, 7.0, 2.0], [3, 1, 5])]
    {
        let m = box_mesh(size, cells).unwrap();
        let [nx, ny, nz] = cells;
        m.check().unwrap();
        assert_eq!(m.tets().len(), 6 * nx * ny * nz);
        assert_eq!(m.vertices.len(), (nx + 1) * (ny + 1) * (nz + 1));
        assert!(
            m.signed_volumes()
                .iter()
                .all(|&v| close(v, size.iter().product::<f64>() / m.tets().len() as f64))
        );
        let t = m.topology();
        assert!(t.is_manifold(), "{t:?}");
        assert_eq!((t.euler, t.boundary_euler, t.components), (1, 2, 1));
        assert_eq!(t.boundary_faces, 4 * (nx * ny + ny * nz + nz * nx));
        assert_eq!(m.bounds().unwrap(), [[0.0; 3], size]);
        // x runs fastest
        assert_eq!(m.vertices[1], [size[0] / nx as f64, 0.0, 0.0]);
        assert_eq!(m.vertices[nx + 1], [0.0, size[1] / ny as f64, 0.0]);
    }
    assert_eq!(box_mesh([4.0, 1.0, 1.0], [16, 4, 4]).unwrap().tets().len(), 24 * 4usize.pow(3));
    // A Kuhn tet of a cube has dihedral angles of 45, 60 and 90 degrees.
    let q = box_mesh([1.0; 3], [2; 3]).unwrap().quality();
    assert!((q.min_dihedral - 45.0).abs() < 1e-9 && (q.max_dihedral - 90.0).abs() < 1e-6, "{q:?}");
}

/// Mirrored diagonals conform, and the mesh is its own mirror image along every axis.
#[test]
fn boxes_with_mirrored_diagonals_are_symmetric() {
    let cells = [4, 2, 6];
    let m = box_mesh_with([1.0; 3], cells, Diagonals::Mirrored).unwrap();
    m.check().unwrap();
    assert!(m.signed_volumes().iter().all(|v| close(*v, 1.0 / m.tets().len() as f64)));
    let t = m.topology();
    assert!(t.is_manifold() && t.euler == 1 && t.boundary_euler == 2, "{t:?}");
    // Tets as sets of whole coordinates of their corners.
    let place = |v: u32| [0, 1, 2].map(|x| (m.vertices[v as usize][x] * cells[x] as f64).round() as usize);
    let set = |mirror: &dyn Fn([usize; 3]) -> [usize; 3]| -> std::collections::BTreeSet<Vec<[usize; 3]>> {
        let of = |tet: &[u32; 4]| {
            let mut corners: Vec<[usize; 3]> = tet.iter().map(|v| mirror(place(*v))).collect();
            corners.sort_unstable();
            corners
        };
        m.tets().iter().map(of).collect()
    };
    let same = set(&|p| p);
    for axis in 0..3 {
        let mirrored = set(&|mut p: [usize; 3]| {
            p[axis] = cells[axis] - p[axis];
            p
        });
        assert!(same == mirrored, "axis {axis}");
    }
}

#[test]
fn impossible_boxes_say_what_to_do() {
    for (size, cells, word) in [
        ([0.0, 1.0, 1.0], [1, 1, 1], "positive"),
        ([1.0, -1.0, 1.0], [1, 1, 1], "positive"),
        ([1.0, 1.0, f64::NAN], [1, 1, 1], "positive"),
        ([f64::INFINITY, 1.0, 1.0], [1, 1, 1], "positive"),
        ([1.0; 3], [1, 0, 1], "at least 1"),
        ([1.0; 3], [1000, 1000, 1000], "fewer"),
        ([1.0; 3], [usize::MAX, usize::MAX, 2], "fewer"),
    ] {
        let e = box_mesh(size, cells).unwrap_err().to_string();
        assert!(e.contains(word), "{e}");
    }
}

#[test]
fn quality_of_a_regular_tet() {
    let q = regular_tet().quality();
    let edge = 8.0_f64.sqrt();
    let angle = (1.0_f64 / 3.0).acos().to_degrees();
    assert!(close(q.volume, edge.powi(3) / (6.0 * 2.0_f64.sqrt())));
    assert!(close(q.min_dihedral, angle) && close(q.max_dihedral, angle));
    assert!(close(q.shortest_edge, edge) && close(q.longest_edge, edge) && close(q.mean_edge, edge));
    assert!(close(q.smallest_height, edge * (2.0_f64 / 3.0).sqrt()));
    assert!(close(q.smallest_inradius, edge / 24.0_f64.sqrt()));
    assert!(close(q.volume_ratio, 1.0));
    assert_eq!((q.components, q.worst.len()), (1, 1));
    assert_eq!(q.bounds, [[-1.0; 3], [1.0; 3]]);
}

#[test]
fn quality_names_flat_flipped_and_unused() {
    let mut m = box_mesh([1.0; 3], [2; 3]).unwrap();
    m.tets_mut()[7].swap(0, 1);
    m.tets_mut()[11].swap(2, 3);
    m.vertices.push([0.5, 0.5, 9.0]);
    let q = m.quality();
    assert_eq!(q.flipped, [7, 11]);
    assert_eq!(q.unused_vertices, [27]);
    assert_eq!(m.orient(), [7, 11]);
    assert!(m.quality().flipped.is_empty());
    // Flatten one vertex of a single tet into the opposite face.
    let mut flat = regular_tet();
    flat.vertices[0] = [-1.0 / 3.0; 3];
    let q = flat.quality();
    assert_eq!(q.degenerate, [0]);
    assert!(q.min_dihedral < 1e-5 && q.smallest_height < 1e-12);
    // An empty mesh has nothing to say and does not panic.
    let none = Mesh::default();
    assert_eq!(none.quality().components, 0);
    assert_eq!(none.surface().triangles.len(), 0);
    assert!(none.locate([0.0; 3]).is_none() && none.locator().locate([0.0; 3]).is_none());
}

#[test]
fn hostile_arrays_are_refused_by_number() {
    let mut nan = regular_tet();
    nan.vertices[2][1] = f64::NAN;
    let mut far = regular_tet();
    far.tets_mut()[0][3] = 4;
    let mut twice = regular_tet();
    twice.tets_mut()[0][3] = 2;
    let mut long = regular_tet();
    long.cell_data.insert("E".into(), vec![1.0; 2]);
    for (m, e) in [
        (Mesh::default(), MeshError::Empty),
        (nan, MeshError::NotFinite { vertex: 2 }),
        (far, MeshError::OutOfRange { element: 0, vertex: 4, vertices: 4 }),
        (twice, MeshError::Repeated { element: 0, vertex: 2 }),
        (long, MeshError::Length { name: "E".into(), found: 2, expected: 1 }),
    ] {
        assert_eq!(m.check(), Err(e.clone()));
        assert!(!e.to_string().is_empty());
    }
    assert_eq!(TriMesh::default().check(), Err(MeshError::Empty));
}

#[test]
fn surface_is_outward_and_its_areas_add_up() {
    let m = box_mesh([2.0, 3.0, 5.0], [3, 4, 2]).unwrap();
    let s = m.surface();
    let tri = s.to_tri_mesh(&m.vertices);
    tri.check().unwrap();
    assert!(close(tri.signed_volume(), 30.0) && close(tri.area(), 62.0));
    assert!(close(s.face_areas(&m.vertices).iter().sum(), 62.0));
    let nodal = s.nodal_areas(&m.vertices);
    assert!(close(nodal.iter().sum(), 62.0));
    for v in 0..m.vertices.len() {
        assert_eq!(nodal[v] > 0.0, s.vertices.binary_search(&(v as u32)).is_ok());
    }
    for (t, &tet) in s.triangles.iter().zip(&s.tets) {
        assert!(t.iter().all(|v| m.tets()[tet as usize].contains(v)));
    }
}

#[test]
fn neighbours_are_mutual_and_graph_matches_edges() {
    let m = box_mesh([1.0; 3], [3, 2, 2]).unwrap();
    let n = m.neighbours();
    let mut outer = 0;
    for t in 0..n.len() {
        for f in 0..4 {
            match n[t][f] {
                NO_TET => outer += 1,
                o => {
                    assert!(n[o as usize].contains(&(t as u32)));
                    assert!(!m.tets()[o as usize].contains(&m.tets()[t][f]));
                }
            }
        }
    }
    let topology = m.topology();
    assert_eq!(outer, topology.boundary_faces);
    let g = m.vertex_graph();
    assert_eq!((g.len(), g.edges()), (m.vertices.len(), topology.edges));
    for v in 0..g.len() {
        for &w in g.neighbours(v) {
            assert!(g.neighbours(w as usize).contains(&(v as u32)));
        }
    }
    let (offsets, tets) = m.vertex_tets();
    assert_eq!((offsets.len(), tets.len()), (m.vertices.len() + 1, 4 * m.tets().len()));
}

#[test]
fn pieces_and_pinches_are_found() {
    let one = box_mesh([1.0; 3], [1; 3]).unwrap();
    let moved = |d: [f64; 3]| one.vertices.iter().map(move |p| [p[0] + d[0], p[1] + d[1], p[2] + d[2]]);
    let mut two = one.clone();
    two.vertices.extend(moved([2.0, 0.0, 0.0]));
    let second = one.tets().iter().map(|t| t.map(|v| v + 8));
    two.set_cells(vec![one.tets().iter().copied().chain(second).collect::<Vec<_>>().into()]);
    let t = two.topology();
    assert!(t.is_manifold() && t.components == 2 && t.euler == 2, "{t:?}");
    // Two cubes that share one edge (x = y = 1): vertices 3 and 7 of the first are 0 and 4.
    let mut pinched = one.clone();
    pinched.vertices.extend(moved([1.0, 1.0, 0.0]));
    let glue = |v: u32| match v {
        0 => 3,
        4 => 7,
        v => v + 8,
    };
    let second = one.tets().iter().map(|t| t.map(glue));
    pinched.set_cells(vec![one.tets().iter().copied().chain(second).collect::<Vec<_>>().into()]);
    let t = pinched.topology();
    assert_eq!(t.pinched_edges, [[3, 7]]);
    assert!(!t.is_manifold() && t.components == 2);
    // The same tet thrice: an overfull face.
    let mut fat = regular_tet();
    fat.set_cells(vec![vec![fat.tets()[0]; 3].into()]);
    assert_eq!(fat.topology().overfull_faces.len(), 4);
}

#[test]
fn reorder_is_a_permutation_and_keeps_everything() {
    let mut m = box_mesh([3.0, 1.0, 1.0], [12, 4, 4]).unwrap();
    // Shuffle, so that the order has something to repair.
    let mut seed = 1;
    let n = m.vertices.len();
    let mut shuffle: Vec<u32> = (0..n as u32).collect();
    for i in (1..n).rev() {
        shuffle.swap(i, (random(&mut seed) * (i + 1) as f64) as usize);
    }
    let old = m.vertices.clone();
    for (v, &to) in shuffle.iter().enumerate() {
        m.vertices[to as usize] = old[v];
    }
    for t in m.tets_mut() {
        *t = t.map(|v| shuffle[v as usize]);
    }
    m.tags = (0..m.tets().len() as i64).collect();
    m.cell_data.insert("E".into(), (0..m.tets().len()).map(|t| t as f64).collect());
    m.vertex_sets.insert("end".into(), (0..n as u32).filter(|&v| m.vertices[v as usize][0] == 0.0).collect());
    let spread = |m: &Mesh| {
        let d = |t: &[u32; 4]| (t.iter().max().unwrap() - t.iter().min().unwrap()) as usize;
        m.tets().iter().map(d).sum::<usize>()
    };
    let before = m.clone();
    let p = m.reorder();
    for list in [&p.vertices, &p.tets] {
        let mut sorted = list.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(i, &v)| i == v as usize));
    }
    for (v, &o) in p.vertices.iter().enumerate() {
        assert_eq!(m.vertices[v], before.vertices[o as usize]);
    }
    let number = p.new_vertex_numbers();
    let tet_number = p.new_tet_numbers();
    for (t, &o) in p.tets.iter().enumerate() {
        assert_eq!(m.corners(t), before.corners(o as usize));
        assert_eq!(m.tags[t], before.tags[o as usize]);
        assert_eq!(m.cell_data["E"][t], before.cell_data["E"][o as usize]);
        assert_eq!(m.tets()[t], before.tets()[o as usize].map(|v| number[v as usize]));
        assert_eq!(tet_number[o as usize], t as u32);
    }
    assert!(m.vertex_sets["end"].iter().all(|&v| m.vertices[v as usize][0] == 0.0));
    assert!(2 * spread(&m) < spread(&before), "{} {}", spread(&m), spread(&before));
    let mut again = before.clone();
    assert_eq!((again.reorder(), &again), (p, &m));
}

#[test]
fn places_are_found() {
    let m = box_mesh([3.0, 1.0, 2.0], [6, 2, 5]).unwrap();
    let locator = m.locator();
    let mut seed = 7;
    for n in 0..3000 {
        // Inside, on lattice planes, outside near and far.
        let reach = [1.0, 1.0, 3.0, 50.0][n % 4];
        let mut p = [3.0, 1.0, 2.0].map(|s: f64| s * (0.5 + reach * (random(&mut seed) - 0.5)));
        if n % 4 == 1 {
            p = p.map(|x| (x * 4.0).round() / 4.0);
        }
        let inside =
            [0.0, 0.0, 0.0].iter().zip([3.0, 1.0, 2.0]).zip(p).all(|((lo, hi), x)| *lo <= x && x <= hi);
        let at = locator.locate(p).unwrap();
        let nearest = [p[0].clamp(0.0, 3.0), p[1].clamp(0.0, 1.0), p[2].clamp(0.0, 2.0)];
        let found = m.place(&at, &m.vertices);
        for i in 0..3 {
            assert!((found[i] - nearest[i]).abs() < 1e-9, "{p:?} {at:?}");
        }
        assert!(close(at.barycentric.iter().sum(), 1.0) && at.barycentric.iter().all(|&b| b > -1e-9));
        assert_eq!(at.distance == 0.0, inside);
        if n % 100 < 4 {
            assert!((m.locate(p).unwrap().distance - at.distance).abs() < 1e-12);
        }
    }
    assert!(locator.locate([f64::NAN, 0.0, 0.0]).is_none());
    assert!(m.locate([0.0, f64::INFINITY, 0.0]).is_none());
}
