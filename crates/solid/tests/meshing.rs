//! Meshes made from surfaces and shapes: volumes, angles, manifolds, and what hostile input gets.
#![allow(non_snake_case)] // R and r are the radii of a torus
use lilyan_solid::mesh::{Mesh, TriMesh};
use lilyan_solid::meshing::{
    Options, Resolution, box_mesh, cylinder, ellipsoid, sphere, tetrahedralize, tetrahedralize_with,
};
use std::f64::consts::PI;
use std::path::Path;

/// Positive tets, conforming, closed manifold boundary, outward; returns the smallest dihedral angle.
fn check(name: &str, m: &Mesh) -> f64 {
    m.check().unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(m.signed_volumes().iter().all(|&v| v > 0.0), "{name}: flipped tets");
    let t = m.topology();
    assert!(t.is_manifold(), "{name}: {t:?}");
    assert!(t.unused_vertices.is_empty(), "{name}: unused vertices");
    let outside = m.surface().to_tri_mesh(&m.vertices).signed_volume();
    assert!((outside / m.volume() - 1.0).abs() < 1e-9, "{name}: surface {outside}, tets {}", m.volume());
    let q = m.quality();
    assert!(q.max_dihedral < 168.0, "{name}: largest dihedral angle {}", q.max_dihedral);
    q.min_dihedral
}

/// A torus around the y axis with a ring of radius R and a tube of radius r.
fn torus(R: f64, r: f64, n: usize, m: usize) -> TriMesh {
    let at = |i: usize, n: usize| 2.0 * PI * (i % n) as f64 / n as f64;
    let mut s = TriMesh::default();
    for i in 0..n {
        for j in 0..m {
            let (a, b) = (at(i, n), at(j, m));
            let d = R + r * b.cos();
            s.vertices.push([d * a.cos(), r * b.sin(), d * a.sin()]);
            let v = |i: usize, j: usize| ((i % n) * m + j % m) as u32;
            let (p, q, s1, s2) = (v(i, j), v(i + 1, j), v(i + 1, j + 1), v(i, j + 1));
            s.triangles.extend([[p, s1, q], [p, s2, s1]]);
        }
    }
    s
}

fn cube() -> TriMesh {
    let m = box_mesh([1.0; 3], [1; 3]).unwrap();
    m.surface().to_tri_mesh(&m.vertices)
}

fn ball(n: usize) -> TriMesh {
    // A box's surface, blown up.
    let m = box_mesh([2.0; 3], [n; 3]).unwrap();
    let mut s = m.surface().to_tri_mesh(&m.vertices);
    for p in &mut s.vertices {
        let q = p.map(|x| x - 1.0);
        let l = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        *p = q.map(|x| x / l);
    }
    s
}

fn moved(s: &TriMesh, d: [f64; 3]) -> TriMesh {
    let vertices = s.vertices.iter().map(|p| [0, 1, 2].map(|i| p[i] + d[i])).collect();
    TriMesh { vertices, triangles: s.triangles.clone() }
}

fn joined(a: &TriMesh, b: &TriMesh) -> TriMesh {
    let mut s = a.clone();
    let n = a.vertices.len() as u32;
    s.vertices.extend(&b.vertices);
    s.triangles.extend(b.triangles.iter().map(|t| t.map(|v| v + n)));
    s
}

fn turned(s: &TriMesh) -> TriMesh {
    let triangles = s.triangles.iter().map(|t| [t[0], t[2], t[1]]).collect();
    TriMesh { vertices: s.vertices.clone(), triangles }
}

#[test]
fn surfaces_are_filled_to_their_volume() {
    for (name, surface, exact, tolerance, euler) in [
        ("ball", ball(16), 4.0 / 3.0 * PI, 0.03, 1),
        ("torus", torus(1.0, 0.35, 60, 24), 2.0 * PI * PI * 0.35 * 0.35, 0.04, 0),
        ("cube", cube(), 1.0, 0.005, 1),
        ("inside-out ball", turned(&ball(16)), 4.0 / 3.0 * PI, 0.03, 1),
        ("far ball", moved(&ball(16), [1e4, -2e4, 3e4]), 4.0 / 3.0 * PI, 0.03, 1),
        ("two balls", joined(&ball(12), &moved(&ball(12), [3.0, 0.0, 0.0])), 8.0 / 3.0 * PI, 0.05, 2),
    ] {
        for passes in [0, 5] {
            let options = Options { passes, ..Options::new(Resolution::Tets(6000)) };
            let filled = tetrahedralize_with(&surface, &options).unwrap();
            let m = &filled.mesh;
            let angle = check(name, m);
            // The paper's bound for what is cut from the lattice; smoothing never goes below the guard.
            assert!(
                angle > if passes == 0 { 10.7 } else { 15.0 },
                "{name}: {angle} degrees after {passes} passes"
            );
            let error = m.volume() / exact - 1.0;
            let tolerance = if passes == 0 { 0.05 } else { tolerance };
            assert!(error.abs() < tolerance, "{name}: volume off by {error}");
            assert!((5000..7000).contains(&m.tets().len()), "{name}: {} tets", m.tets().len());
            assert_eq!(m.topology().euler, euler, "{name}");
            println!(
                "{name}, {passes} passes: {} tets, {angle:.1} degrees, volume {error:+.4}",
                m.tets().len()
            );
        }
    }
}

#[test]
fn edge_length_is_met_and_volume_converges() {
    let surface = ball(24);
    let mut last = f64::INFINITY;
    for length in [0.4, 0.2, 0.1] {
        let m = tetrahedralize(&surface, Resolution::EdgeLength(length)).unwrap().mesh;
        check("ball", &m);
        let q = m.quality();
        assert!((q.mean_edge / length - 1.0).abs() < 0.1, "wanted {length}, got {}", q.mean_edge);
        let error = (m.volume() / surface.signed_volume() - 1.0).abs();
        assert!(error < 0.5 * last, "{length}: {error} after {last}");
        last = error;
    }
}

#[test]
fn adapted_meshes_are_coarser_where_they_may() {
    for (name, surface, exact, tolerance) in [
        ("ball", ball(16), 4.0 / 3.0 * PI, 0.04),
        ("torus", torus(1.0, 0.35, 60, 24), 2.0 * PI * PI * 0.35 * 0.35, 0.06),
        ("cube", cube(), 1.0, 0.01),
    ] {
        let options = Options { adapt: 6.0, ..Options::new(Resolution::Tets(1500)) };
        let m = tetrahedralize_with(&surface, &options).unwrap().mesh;
        let angle = check(name, &m);
        let error = m.volume() / exact - 1.0;
        println!("{name}: {} tets, {angle:.1} degrees, volume {error:+.4}", m.tets().len());
        assert!(angle > 10.0 && error.abs() < tolerance && m.tets().len() <= 2000);
        assert_eq!(m.components().1, 1);
    }
    for adapt in [0.0, 0.5, -1.0, f64::NAN, f64::INFINITY] {
        let options = Options { adapt, ..Options::new(Resolution::Tets(1500)) };
        assert!(tetrahedralize_with(&cube(), &options).is_err());
    }
}

#[test]
fn a_cube_keeps_its_edges_and_corners() {
    let m = tetrahedralize(&cube(), Resolution::EdgeLength(0.12)).unwrap().mesh;
    let near = |p: &[f64; 3]| p.iter().filter(|x| x.abs() < 1e-9 || (**x - 1.0).abs() < 1e-9).count();
    let s = m.surface();
    assert!(s.vertices.iter().all(|&v| near(&m.vertices[v as usize]) >= 1), "vertices off the cube");
    assert_eq!(m.vertices.iter().filter(|p| near(p) == 3).count(), 8, "corners");
    assert!((m.volume() - 1.0).abs() < 0.004, "{}", m.volume());
}

#[test]
fn the_same_surface_gives_the_same_mesh() {
    let run = || tetrahedralize(&ball(8), Resolution::Tets(2000)).unwrap();
    assert_eq!(run(), run());
}

#[test]
fn odd_surfaces_are_filled_with_a_note() {
    // A ball without a few triangles.
    let mut holed = ball(16);
    holed.triangles.truncate(holed.triangles.len() - 6);
    // A ball with every third triangle turned.
    let mut mixed = ball(16);
    for t in mixed.triangles.iter_mut().step_by(3) {
        t.swap(0, 1);
    }
    // Triangles with their own copies of vertices, as .stl has them.
    let whole = ball(16);
    let soup = TriMesh {
        vertices: whole.triangles.iter().flat_map(|t| t.map(|v| whole.vertices[v as usize])).collect(),
        triangles: (0..whole.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
    };
    let mut flat = ball(16);
    flat.triangles.push(flat.triangles[0]);
    let overlap = joined(&ball(16), &moved(&ball(16), [0.5, 0.1, 0.0]));
    let lens = PI / 12.0 * (4.0 + 0.26_f64.sqrt()) * (2.0 - 0.26_f64.sqrt()).powi(2);
    let v = 4.0 / 3.0 * PI;
    for (name, surface, exact, word) in [
        ("holed", holed, v, "open edges"),
        ("mixed", mixed, v, "agree"),
        ("soup", soup, v, ""),
        ("repeated", flat, v, "repeated"),
        ("overlapping", overlap, 2.0 * v - lens, "2 parts"),
    ] {
        let filled = tetrahedralize(&surface, Resolution::Tets(4000)).unwrap();
        check(name, &filled.mesh);
        let error = filled.mesh.volume() / exact - 1.0;
        assert!(error.abs() < 0.05, "{name}: {error}");
        let notes = filled.notes.join("\n");
        assert_eq!(notes.is_empty(), word.is_empty(), "{name}: {notes}");
        assert!(notes.contains(word), "{name}: {notes}");
    }
}

#[test]
fn a_cavity_stays_empty() {
    let surface = joined(
        &ball(16),
        &turned(&{
            let mut inner = ball(12);
            inner.vertices.iter_mut().for_each(|p| *p = p.map(|x| 0.5 * x));
            inner
        }),
    );
    let m = tetrahedralize(&surface, Resolution::Tets(8000)).unwrap().mesh;
    check("shell", &m);
    let exact = 4.0 / 3.0 * PI * (1.0 - 0.125);
    assert!((m.volume() / exact - 1.0).abs() < 0.04, "{}", m.volume());
    assert_eq!(m.topology().boundary_euler, 4);
}

#[test]
fn what_is_lost_is_said() {
    // A ball with a long thin whisker.
    let mut whisker = box_mesh([4.0, 0.3, 0.3], [1; 3]).unwrap();
    whisker.vertices.iter_mut().for_each(|p| p[1] += 3.0);
    let thin = whisker.surface().to_tri_mesh(&whisker.vertices);
    let surface = joined(&ball(12), &thin);
    let filled = tetrahedralize(&surface, Resolution::EdgeLength(0.6)).unwrap();
    check("whisker", &filled.mesh);
    assert!(filled.notes.iter().any(|n| n.contains("volume is missing")), "{:?}", filled.notes);
}

#[test]
fn hostile_surfaces_and_resolutions_are_refused_with_advice() {
    let single =
        TriMesh { vertices: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], triangles: vec![[0, 1, 2]] };
    let tilted =
        TriMesh { vertices: vec![[0.0; 3], [1.0, 0.0, 0.3], [0.0, 1.0, 0.7]], triangles: vec![[0, 1, 2]] };
    let mut nan = cube();
    nan.vertices[3][1] = f64::NAN;
    let mut infinite = cube();
    infinite.vertices[3][1] = f64::INFINITY;
    let mut range = cube();
    range.triangles[2][0] = 99;
    let point = TriMesh { vertices: vec![[1.0; 3]; 3], triangles: vec![[0, 1, 2]] };
    let mut huge = cube();
    huge.vertices.iter_mut().for_each(|p| *p = p.map(|x| x * 1e300));
    let mut tiny = cube();
    tiny.vertices.iter_mut().for_each(|p| *p = p.map(|x| x * 1e-300));
    let length = Resolution::EdgeLength;
    for (name, surface, resolution, word) in [
        ("empty", TriMesh::default(), length(0.1), "no elements"),
        ("single", single.clone(), length(0.1), "closed"),
        ("single by count", single, Resolution::Tets(100), "closed"),
        ("tilted", tilted.clone(), length(0.1), "closed"),
        ("tilted by count", tilted, Resolution::Tets(100), "closed"),
        ("NaN", nan, length(0.1), "vertex 3"),
        ("infinite", infinite, length(0.1), "vertex 3"),
        ("out of range", range, length(0.1), "element 2"),
        ("point", point.clone(), length(0.1), ""),
        ("point by count", point, Resolution::Tets(10), ""),
        ("length 0", cube(), length(0.0), "positive"),
        ("length < 0", cube(), length(-1.0), "positive"),
        ("length NaN", cube(), length(f64::NAN), "positive"),
        ("length infinite", cube(), length(f64::INFINITY), "positive"),
        ("length huge", cube(), length(1e200), "between"),
        ("length large", cube(), length(30.0), "edge length of at most"),
        ("length small", cube(), length(1e-3), "larger"),
        ("length tiny", cube(), length(1e-300), "between"),
        ("no tets", cube(), Resolution::Tets(0), "positive"),
        ("many tets", cube(), Resolution::Tets(usize::MAX), "at most"),
        ("too many tets", cube(), Resolution::Tets(50_000_001), "at most"),
        ("huge", huge, Resolution::Tets(100), ""),
        ("tiny", tiny, Resolution::Tets(100), ""),
    ] {
        match tetrahedralize(&surface, resolution) {
            Err(e) => assert!(e.to_string().contains(word), "{name}: {e}"),
            Ok(_) => panic!("{name}: accepted"),
        }
    }
    // One tet wanted: few, but something.
    assert!(tetrahedralize(&cube(), Resolution::Tets(1)).is_ok());
}

#[test]
fn shapes_have_their_volume() {
    for (name, mesh, exact, tolerance) in [
        ("sphere", sphere(0.5, 0.08), 4.0 / 3.0 * PI * 0.125, 0.02),
        ("coarse sphere", sphere(0.5, 0.25), 4.0 / 3.0 * PI * 0.125, 0.15),
        ("ellipsoid", ellipsoid([2.0, 1.0, 0.5], 0.12), 4.0 / 3.0 * PI, 0.03),
        ("cylinder", cylinder(0.5, 2.0, 0.1), PI * 0.5, 0.02),
        ("thin cylinder", cylinder(0.05, 2.0, 0.1), PI * 0.0025 * 2.0, 0.18),
        ("disc", cylinder(1.0, 0.05, 0.1), PI * 0.05, 0.02),
    ] {
        let m = mesh.unwrap_or_else(|e| panic!("{name}: {e}"));
        let angle = check(name, &m);
        assert!(angle > 15.0, "{name}: {angle} degrees");
        let error = m.volume() / exact - 1.0;
        assert!(error <= 1e-12 && error > -tolerance, "{name}: {error}");
        println!("{name}: {} tets, {angle:.1} degrees, volume {error:+.4}", m.tets().len());
    }
    for m in [
        sphere(0.0, 0.1),
        sphere(1.0, 0.0),
        sphere(1.0, 2.0),
        sphere(1.0, 1e-4),
        ellipsoid([1.0, f64::NAN, 1.0], 0.1),
        ellipsoid([1e9, 1.0, 1.0], 0.1),
        cylinder(1.0, -1.0, 0.1),
        cylinder(f64::INFINITY, 1.0, 0.1),
        cylinder(1.0, 1.0, 1e-6),
        cylinder(1.0, 1.0, f64::NAN),
    ] {
        assert!(m.is_err());
    }
}

fn parse_obj(text: &str) -> TriMesh {
    let mut s = TriMesh::default();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let x: Vec<f64> = words.map(|w| w.parse().unwrap()).collect();
                s.vertices.push([x[0], x[1], x[2]]);
            }
            Some("f") => {
                let v: Vec<u32> =
                    words.map(|w| w.split('/').next().unwrap().parse::<u32>().unwrap() - 1).collect();
                s.triangles.extend((2..v.len()).map(|k| [v[0], v[k - 1], v[k]]));
            }
            _ => {}
        }
    }
    s
}

#[test]
fn published_surfaces() {
    let Some(folder) = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|a| a.join("shared/data/meshes"))
        .find(|f| f.is_dir())
    else {
        println!("shared/data/meshes is not here: skipped");
        return;
    };
    for (file, tets, tolerance) in [
        ("crane/spot.obj", 20_000, 0.02),
        ("ipc/torus.obj", 5_000, 0.04),
        ("ipc/hammer.obj", 6_000, 0.03),
        ("ipc/sphere1K.obj", 4_000, 0.03),
        ("gauss/garg.obj", 30_000, 0.06),
        ("gauss/gargNested2.obj", 5_000, 0.05),
    ] {
        let Ok(text) = std::fs::read_to_string(folder.join(file)) else {
            println!("{file}: not here, skipped");
            continue;
        };
        let surface = parse_obj(&text);
        for passes in [0, 5] {
            let options = Options { passes, ..Options::new(Resolution::Tets(tets)) };
            let filled = tetrahedralize_with(&surface, &options).unwrap();
            let angle = check(file, &filled.mesh);
            assert!(angle > 10.0, "{file}: {angle} degrees");
            let error = filled.mesh.volume() / surface.signed_volume() - 1.0;
            println!(
                "{file}, {passes} passes: {} tets, {angle:.1} degrees, volume {error:+.4}, {:?}",
                filled.mesh.tets().len(),
                filled.notes
            );
            assert!(error.abs() < tolerance, "{file}: volume off by {error}");
        }
    }
}
