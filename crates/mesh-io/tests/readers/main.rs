//! Mesh readers: the public mesh set, one body in every format, and bad input.

mod faults;
mod hostile;
mod more;
mod samples;
mod solids;

use hostile::peak_memory;
use lilyan_mesh_io::readers::{Loaded, READERS, ReadError, read, read_as};
use lilyan_solid::mesh::Mesh;
use samples::{FACES, Sample, TETS, VERTICES, samples};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The public mesh set, if it is on this machine: LILYAN_MESHES, or beside the repository (a
/// worktree lies one folder deeper).
fn meshes() -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = std::env::var_os("LILYAN_MESHES")
        .map(PathBuf::from)
        .into_iter()
        .chain(["../../../shared/data/meshes", "../../../../shared/data/meshes"].map(|p| here.join(p)))
        .find(|p| p.join("README.md").is_file());
    if found.is_none() {
        println!("skipped: no mesh set (set LILYAN_MESHES)");
    }
    found
}

/// A folder of this test run, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("lilyan-readers-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Folder(dir)
    }

    fn write(&self, name: &str, data: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, data).unwrap();
        path
    }

    fn place(&self, s: &Sample, data: &[u8]) -> PathBuf {
        if let Some((extension, partner)) = &s.partner {
            self.write(&format!("sample.{extension}"), partner);
        }
        self.write(&format!("sample.{}", s.extension), data)
    }

    fn error(&self, name: &str, data: impl AsRef<[u8]>) -> ReadError {
        read(&self.write(name, data)).expect_err(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn tets(path: &Path) -> (Mesh, Vec<String>) {
    match read(path) {
        Ok(Loaded::Tets(mesh, notes)) => (mesh, notes),
        Ok(Loaded::Surface(..)) => panic!("{} came back as a surface", path.display()),
        Err(e) => panic!("{e}"),
    }
}

fn volume(mesh: &Mesh, tet: [u32; 4]) -> f64 {
    let [a, b, c, d] = tet.map(|v| mesh.vertices[v as usize]);
    let [u, v, w] = [b, c, d].map(|p| [p[0] - a[0], p[1] - a[1], p[2] - a[2]]);
    u[0] * (v[1] * w[2] - v[2] * w[1])
        + u[1] * (v[2] * w[0] - v[0] * w[2])
        + u[2] * (v[0] * w[1] - v[1] * w[0])
}

/// Every row of the table in the set's README: vertices and tets as it says. Vertices that no
/// element uses may be left out if a note counts them; second-order tets are in the remarks.
#[test]
fn public_meshes_have_the_stated_counts() {
    let Some(dir) = meshes() else { return };
    let table = fs::read_to_string(dir.join("README.md")).unwrap();
    let mut rows = 0;
    for line in table.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, _, v, t, .., remarks, _] = *cells else {
            continue;
        };
        let (Ok(v), Ok(t)) = (v.parse::<usize>(), t.parse::<usize>()) else {
            continue;
        };
        rows += 1;
        let paths: Vec<String> = match name.strip_suffix(".node/.ele") {
            Some(stem) => vec![format!("{stem}.node"), format!("{stem}.ele")],
            None => vec![name.to_string()],
        };
        let before = |unit: &str| {
            let words: Vec<&str> = remarks.split([' ', ',', ';']).filter(|w| !w.is_empty()).collect();
            words.windows(2).find(|w| w[1].starts_with(unit)).and_then(|w| w[0].parse::<usize>().ok())
        };
        let quadratic = before("tetra10");
        for path in paths {
            let loaded = read(&dir.join(&path)).unwrap_or_else(|e| panic!("{e}"));
            let dropped: usize = loaded
                .notes()
                .iter()
                .filter_map(|n| n.strip_suffix(" vertices belong to no element and are left out"))
                .filter_map(|n| n.split(' ').next()?.parse::<usize>().ok())
                .sum();
            match loaded {
                Loaded::Tets(m, notes) => {
                    let middles = m.edge_points.len();
                    assert_eq!(m.vertices.len() + middles + dropped, v, "{path}");
                    assert_eq!(m.tets().len(), if t > 0 { t } else { quadratic.unwrap() }, "{path}");
                    assert!(dropped == 0 || quadratic.is_some(), "{path}: {notes:?}");
                    assert_eq!(m.tags.len(), m.tets().len());
                    assert!(m.tets().iter().all(|&t| volume(&m, t) > 0.0), "{path}");
                    let turned = notes.iter().any(|n| n.contains("have been turned"));
                    assert_eq!(turned, remarks.contains("neg. volume"), "{path}: {notes:?}");
                    let regions = m.tags.iter().collect::<BTreeSet<_>>().len();
                    if ["materials", "mat_id", "tags", "physical volumes"].iter().any(|w| remarks.contains(w))
                        && !remarks.contains("legacy VTK 2.0")
                    {
                        assert!(regions > 1, "{path}: one region where the table says `{remarks}`");
                    }
                }
                Loaded::Surface(m, _) => {
                    assert_eq!((m.vertices.len() + dropped, t), (v, 0), "{path}");
                    if let Some(n) = before("triangle").or(before("faces")) {
                        assert_eq!(m.triangles.len(), n, "{path}");
                    }
                }
            }
        }
    }
    assert!(rows >= 60, "{rows} rows found in the table");
}

#[test]
fn four_gmsh_encodings_of_one_mesh_agree() {
    let Some(dir) = meshes() else { return };
    let [a22, b22, a41, b41] = ["22_ascii", "22_binary", "41_ascii", "41_binary"]
        .map(|n| tets(&dir.join(format!("polyfem/{n}.msh"))).0);
    assert_eq!(a22, b22);
    assert_eq!(a41, b41);
    // Version 4.1 orders the vertices by volume, so these two agree by position.
    let corners = |m: &Mesh| m.tets().iter().map(|t| t.map(|v| m.vertices[v as usize])).collect::<Vec<_>>();
    assert_eq!(corners(&a22), corners(&a41));
    assert_eq!(a22.tags, a41.tags);
    assert_eq!(a22.tags, [1, 2, 2, 2, 3]);
}

#[test]
fn one_body_in_every_format() {
    let dir = Folder::new("formats");
    let samples = samples();
    for r in READERS {
        for e in r.extensions {
            assert!(
                samples.iter().any(|s| s.extension == *e),
                "no sample of .{e}: put one into tests/data/body.{e}"
            );
        }
    }
    for s in &samples {
        let loaded = read(&dir.place(s, &s.data)).unwrap_or_else(|e| panic!("{}: {e}", s.label));
        match loaded {
            Loaded::Tets(m, notes) => {
                assert!(s.tags, "{}", s.label);
                assert_eq!(m.vertices, VERTICES, "{}", s.label);
                assert_eq!(m.tets(), TETS, "{}", s.label);
                assert_eq!(m.tags, [1, 2], "{}: {notes:?}", s.label);
                assert!(!notes.iter().any(|n| n.contains("left out")), "{}: {notes:?}", s.label);
                let names: Vec<(&str, &[i64])> =
                    m.region_names.iter().map(|(n, t)| (n.as_str(), &t[..])).collect();
                let sets: Vec<(&str, &[u32])> =
                    m.vertex_sets.iter().map(|(n, t)| (n.as_str(), &t[..])).collect();
                match s.extension {
                    "msh" => {
                        assert_eq!(names, [("hard part", &[2][..]), ("soft", &[1])], "{}", s.label);
                        assert_eq!(sets, [("base", &[0, 1, 2][..]), ("tip", &[4])], "{}", s.label);
                    }
                    "mesh" => assert_eq!(sets, [("surface:7", &[0, 1, 2][..])]),
                    "node" => assert_eq!(sets, [("point:4", &[0, 1, 2, 3, 4][..])]),
                    "vtk" | "vtu" => assert_eq!(m.cell_data["stiff"], [1.5, 2.5], "{}", s.label),
                    "veg" => {
                        assert_eq!(names, [("a", &[1][..]), ("b", &[2]), ("hard", &[2]), ("soft", &[1])]);
                    }
                    "inp" => {
                        assert_eq!(names, [("hard", &[2][..]), ("soft", &[1])]);
                        assert_eq!(sets, [("all", &[0, 1, 2, 3, 4][..]), ("base", &[0, 1, 2])]);
                    }
                    _ => {}
                }
            }
            Loaded::Surface(m, _) => {
                assert!(!s.tags, "{}", s.label);
                let at = |p: [f64; 3]| VERTICES.iter().position(|v| *v == p).unwrap() as u32;
                assert_eq!(m.vertices.len(), 5, "{}", s.label);
                let faces: Vec<[u32; 3]> =
                    m.triangles.iter().map(|t| t.map(|v| at(m.vertices[v as usize]))).collect();
                assert_eq!(faces, FACES, "{}", s.label);
            }
        }
    }
}

/// A format that is named counts, and the extension does not.
#[test]
fn a_named_format_decides_in_every_format() {
    let dir = Folder::new("named");
    for s in samples() {
        // TetGen finds the other half of a mesh by its name.
        if let Some((extension, partner)) = &s.partner {
            dir.write(&format!("named.{extension}"), partner);
        }
        let path = dir.write("named.dat", &s.data);
        let told = read(&path).expect_err(s.label).to_string();
        assert!(told.contains("`.dat`"), "{told}");
        assert!(read_as(&path, Some(s.extension)).is_ok(), "{}", s.label);
        let upper = s.extension.to_uppercase();
        assert!(read_as(&path, Some(&upper)).is_ok(), "{}", s.label);
    }
    let vtk = samples().into_iter().find(|s| s.extension == "vtk").unwrap();
    let told = read_as(&dir.write("mesh.vtk", &vtk.data), Some("msh")).unwrap_err().to_string();
    assert!(told.contains("not a Gmsh file"), "{told}");
    assert!(read_as(&dir.write("mesh.vtk", &vtk.data), Some("step")).is_err());
}

/// `cargo test --release -p lilyan-mesh-io -- --ignored --nocapture million`
#[test]
#[ignore = "a measurement"]
fn a_million_tets_take_about_a_second() {
    let dir = Folder::new("million");
    let n = 55usize;
    let id = |i: usize, j: usize, k: usize| (i * (n + 1) + j) * (n + 1) + k;
    let mut points = String::new();
    let mut numbered = String::new();
    for v in 0..(n + 1).pow(3) {
        let at = [v / (n + 1).pow(2), v / (n + 1) % (n + 1), v % (n + 1)].map(|i| i as f64 / 53.0 + 1e-3);
        let row = format!("{:.16} {:.16} {:.16}", at[0], at[1], at[2]);
        points += &format!("{row} 0\n");
        numbered += &format!("{} {row}\n", v + 1);
    }
    let (mut medit, mut gmsh, mut vtk, mut ele) =
        (String::new(), String::new(), String::new(), String::new());
    let mut count = 0;
    for c in 0..n * n * n {
        let (i, j, k) = (c / (n * n), c / n % n, c % n);
        for path in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut at = [i, j, k];
            let mut t = [id(i, j, k); 4];
            for (s, axis) in path.into_iter().enumerate() {
                at[axis] += 1;
                t[s + 1] = id(at[0], at[1], at[2]);
            }
            count += 1;
            let [a, b, c, d] = t;
            medit += &format!("{} {} {} {} 1\n", a + 1, b + 1, c + 1, d + 1);
            gmsh += &format!("{count} 4 2 1 1 {} {} {} {}\n", a + 1, b + 1, c + 1, d + 1);
            vtk += &format!("4 {a} {b} {c} {d}\n");
            ele += &format!("{count} {} {} {} {}\n", a + 1, b + 1, c + 1, d + 1);
        }
    }
    let v = (n + 1).pow(3);
    let plain = points.replace(" 0\n", "\n");
    dir.write("m.ele", format!("{count} 4 0\n{ele}"));
    let files = [
        dir.write("m.mesh", format!("MeshVersionFormatted 2\nDimension 3\nVertices {v}\n{points}Tetrahedra {count}\n{medit}End\n")),
        dir.write("m.msh", format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{v}\n{numbered}$EndNodes\n$Elements\n{count}\n{gmsh}$EndElements\n")),
        dir.write("m.vtk", format!("# vtk DataFile Version 3.0\nm\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {v} double\n{plain}CELLS {count} {}\n{vtk}CELL_TYPES {count}\n{}", 5 * count, "10\n".repeat(count))),
        dir.write("m.node", format!("{v} 3 0 0\n{numbered}")),
    ];
    drop((points, numbered, plain, medit, gmsh, vtk, ele));
    for path in files {
        let _ = fs::write("/proc/self/clear_refs", "5"); // resets the peak
        let before = peak_memory();
        let size = fs::metadata(&path).unwrap().len() as usize >> 20;
        let start = Instant::now();
        let (mesh, notes) = tets(&path);
        let time = start.elapsed();
        println!(
            "{:?}: {size} MiB, {} tets in {time:?}, peak +{} MiB {notes:?}",
            path.file_name().unwrap(),
            mesh.tets().len(),
            (peak_memory() - before) >> 20
        );
        assert!(time < Duration::from_secs(5));
    }
}
