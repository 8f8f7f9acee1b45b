//! Faulty meshes: what is repaired, and what is refused with its place.

use super::{Folder, tets};
use lilyan_mesh_io::readers::{Place, READERS, read};
use std::fs;
use std::time::{Duration, Instant};

fn medit(vertices: &[&str], tets: &[&str]) -> String {
    let list = |items: &[&str]| items.iter().map(|i| format!("{i} 0\n")).collect::<String>();
    format!(
        "MeshVersionFormatted 1\nDimension 3\nVertices\n{}\n{}Tetrahedra\n{}\n{}End\n",
        vertices.len(),
        list(vertices),
        tets.len(),
        list(tets)
    )
}

const CORNERS: [&str; 5] = ["0 0 0", "1 0 0", "0 1 0", "0 0 1", "1 1 1"];

#[test]
fn flipped_tets_are_turned_and_unused_vertices_left_out() {
    let dir = Folder::new("turned");
    let text = medit(&["9 9 9", "0 0 0", "1 0 0", "0 1 0", "8 8 8", "0 0 1"], &["2 3 6 4"]);
    let text = text.replace("End\n", "Triangles\n2\n1 2 3 5\n1 5 5 6\nEnd\n");
    let (m, notes) = tets(&dir.write("a.mesh", text));
    assert_eq!(m.vertices.len(), 4);
    assert_eq!(m.tets(), [[0, 1, 2, 3]]);
    assert_eq!(m.vertex_sets.len(), 1);
    assert_eq!(m.vertex_sets["surface:5"], [0, 1]);
    assert!(notes.iter().any(|n| n.contains("1 of 1 tetrahedra") && n.ends_with("turned: 1")), "{notes:?}");
    assert!(notes.iter().any(|n| n.contains("2 of 6 vertices")), "{notes:?}");
    assert!(notes.iter().any(|n| n.contains("`surface:6`")), "{notes:?}");
}

#[test]
fn faults_are_named_with_their_place() {
    let dir = Folder::new("faults");
    let all: Vec<&str> = CORNERS.to_vec();
    let with = |i: usize, v| {
        let mut all = all.clone();
        all[i] = v;
        medit(&all, &["1 2 3 4", "2 3 4 5"])
    };
    let good = ["1 2 3 4", "2 3 4 5"];
    for (data, place, words) in [
        (with(3, "0 nan 1"), Place::Vertex(4), "not finite"),
        (with(4, "0 1e400 1"), Place::Vertex(5), "not finite"),
        (with(0, "1e200 0 0"), Place::Vertex(1), "beyond"),
        (with(4, "0.5 0.5 0"), Place::Tet(2), "no volume"),
        (medit(&all, &["1 2 3 4", "2 3 4 6"]), Place::Tet(2), "vertex 6"),
        (medit(&all, &["1 2 3 4", "2 3 4 4294967295"]), Place::Tet(2), "vertex 4294967295"),
        (medit(&all, &["1 2 3 4", "2 3 4 4294967297"]), Place::Line(13), "vertex 4294967297"),
        (medit(&all, &["1 2 3 4", "2 3 4 -1"]), Place::Line(13), "`-1`"),
        (medit(&all, &["1 2 3 4", "2 3 4 0"]), Place::Line(13), "vertex 0"),
        (medit(&all, &["1 2 3 4", "2 3 4 3"]), Place::Tet(2), "same vertex twice"),
        (medit(&all, &["1 2 3 4", "4 2 3 1"]), Place::Tet(2), "as tetrahedron 1"),
        (medit(&["0 0 0", "1 0 0", "0 1 0", "3 4 0"], &["1 2 3 4"]), Place::Tet(1), "no volume"),
        (medit(&["0 0 0", "1 0 0", "0 1 0", "3 4 1e-13"], &["1 2 3 4"]), Place::Tet(1), "1e-12"),
        (medit(&all, &[]), Place::File, "empty"),
        (medit(&all, &good).replace("Vertices\n5", "Vertices\n1000000000"), Place::Line(4), "1000000000"),
        (medit(&all, &good).replace("Vertices\n5", "Vertices\n4"), Place::Line(9), "Tetrahedra"),
        (medit(&all, &good).replace("Tetrahedra\n2", "Hexahedra\n2"), Place::Line(11), "announces 2"),
        (String::new(), Place::File, "empty"),
        ("hello\n".into(), Place::File, "MeshVersionFormatted"),
    ] {
        let path = dir.write("bad.mesh", &data);
        let e = read(&path).expect_err(&data);
        assert_eq!((e.place, &e.file), (place, &path), "{e}\n{data}");
        assert!(e.to_string().contains(words) && !e.remedy.is_empty(), "{e}: no `{words}`");
    }
    let e = dir.error("a.xyz", "x");
    assert!(READERS.iter().all(|r| e.to_string().contains(r.extensions[0])), "{e}");
    let e = dir.error("lonely.node", "5 3 0 0\n");
    assert!(e.to_string().contains("lonely.ele"), "{e}");
    assert!(read(&dir.0.join("absent.msh")).is_err());
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_opened() {
    let dir = Folder::new("special");
    let start = Instant::now();
    fs::create_dir(dir.0.join("folder.msh")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", dir.0.join("zero.msh")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(dir.0.join("pipe.msh")).status();
    for name in ["folder.msh", "zero.msh", "pipe.msh"] {
        if name == "pipe.msh" && !made.as_ref().is_ok_and(|s| s.success()) {
            continue;
        }
        assert!(read(&dir.0.join(name)).is_err(), "{name}");
    }
    // Sparse: takes no room on the disk.
    let large = fs::File::create(dir.0.join("large.mesh")).unwrap();
    large.set_len(5 << 30).unwrap();
    let e = read(&dir.0.join("large.mesh")).unwrap_err();
    assert!(e.to_string().contains("4 GiB"), "{e}");
    large.set_len(3 << 30).unwrap();
    assert!(read(&dir.0.join("large.mesh")).is_err());
    assert!(start.elapsed() < Duration::from_secs(1));
}
