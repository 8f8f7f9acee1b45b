//! Formats and files that other programs leave: old versions, shared extensions, includes, groups, missing markers.

use super::samples::{TETS, VERTICES};
use super::{Folder, tets};
use lilyan_mesh_io::readers::{Loaded, formats, groups, read, read_bytes, read_group};

const GMSH_1: &str = "$NOD\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n$ENDNOD\n\
    $ELM\n3\n1 2 7 1 3 1 2 3\n2 4 1 1 4 1 2 3 4\n3 4 2 1 4 2 3 4 5\n$ENDELM\n";

#[test]
fn gmsh_1_is_read() {
    let dir = Folder::new("gmsh-1");
    let (mesh, _) = tets(&dir.write("old.msh", GMSH_1));
    assert_eq!(
        (mesh.vertices.as_slice(), mesh.tets(), mesh.tags.as_slice()),
        (&VERTICES[..], &TETS[..], &[1, 2][..])
    );
    assert_eq!(mesh.vertex_sets["surface:7"], [0, 1, 2]);
    let message = dir.error("cut.msh", &GMSH_1[..120]).to_string();
    assert!(message.contains("line"), "{message}");
    let message = dir.error("count.msh", GMSH_1.replace("4 1 1 4 1 2 3 4", "4 1 1 5 1 2 3 4")).to_string();
    assert!(message.contains("has 5 nodes instead of 4"), "{message}");
}

#[test]
fn formats_with_one_extension_are_told_apart_by_their_beginning() {
    let dir = Folder::new("shared");
    let mfem = include_str!("../data/body.mfem");
    let (mesh, _) = tets(&dir.write("body.mesh", mfem));
    assert_eq!((mesh.tets(), mesh.vertex_sets["surface:7"].as_slice()), (&TETS[..], &[0, 1, 2][..]));
    let message = dir.error("other.mesh", "something else\n").to_string();
    assert!(message.contains("MeshVersionFormatted") && message.contains("MFEM mesh v1.0"), "{message}");
    let curved = mfem.replace("5\n3\n0 0 0", "5\nnodes\nFiniteElementSpace\n");
    let message = dir.error("curved.mesh", curved).to_string();
    assert!(message.contains("curved"), "{message}");
    let all: Vec<&str> = formats().collect();
    assert_eq!(all.iter().filter(|e| **e == "mesh").count(), 1);
}

#[test]
fn nastran_numbers_without_e_and_quadratic_tets() {
    let dir = Folder::new("nastran");
    let edges = [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]];
    let mut text = String::new();
    let corners = &VERTICES[..4];
    let middles = edges.map(|[a, b]: [usize; 2]| [0, 1, 2].map(|k| 0.5 * (corners[a][k] + corners[b][k])));
    for (k, [x, y, z]) in corners.iter().copied().chain(middles).enumerate() {
        text += &format!("GRID,{},,{},{y},{z:.1}+0\n", k + 1, 10.0 * x);
    }
    text += "CTETRA,9,3,1,2,3,4,5,6,+a\n+a,7,8,9,10\n";
    let (mesh, _) = tets(&dir.write("one.bdf", &text));
    assert_eq!((mesh.tags.as_slice(), mesh.edge_points.len()), (&[3][..], 6));
    assert_eq!(mesh.vertices[1][0], 10.0);
    let message = dir.error("bad.bdf", text.replace("GRID,2,,10", "GRID,2,,ten")).to_string();
    assert!(message.contains("line 2") && message.contains("`ten`"), "{message}");
    let message = dir.error("frame.bdf", text.replace("GRID,3,,", "GRID,3,7,")).to_string();
    assert!(message.contains("coordinate system"), "{message}");
}

#[test]
fn markers_that_are_promised_may_lack() {
    let dir = Folder::new("markers");
    dir.write("a.ele", "1 4 0\n0 0 1 2 3\n");
    let (mesh, _) = tets(&dir.write("a.node", "4 3 0 1\n0 0 0 0\n1 1 0 0 5\n2 0 1 0\n3 0 0 1\n"));
    assert_eq!(mesh.vertices, VERTICES[..4]);
    assert_eq!(mesh.vertex_sets["point:5"], [1]);
}

#[test]
fn vega_files_include_files_beside_them() {
    let dir = Folder::new("include");
    let vertices = "*VERTICES\n4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n";
    let elements = "*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n";
    dir.write("points.veg", vertices);
    let whole = dir.write("whole.veg", format!("# whole\n*INCLUDE points.veg\n{elements}"));
    assert_eq!(tets(&whole).0.vertices, VERTICES[..4]);
    for wrong in ["/etc/passwd", "../points.veg", ""] {
        let message = dir.error("out.veg", format!("*VERTICES\n*INCLUDE {wrong}\n")).to_string();
        assert!(message.contains("line 2") && message.contains("beside this one"), "{message}");
    }
    let message = dir.error("loop.veg", "*VERTICES\n*INCLUDE loop.veg\n").to_string();
    assert!(message.contains("deep"), "{message}");
}

#[test]
fn groups_of_faces_are_bodies_of_their_own() {
    let dir = Folder::new("groups");
    let text = "o left\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\ng left skin\nf 1 2 3 4\no right\nv 5 0 0\nv 6 0 0\nv 6 1 0\nf 5 6 7\n";
    let path = dir.write("two.obj", text);
    assert_eq!(groups(&path).unwrap(), ["left", "skin", "right"]);
    let vertices = |group: &str| match read_group(&path, None, group).unwrap() {
        Loaded::Surface(surface, _) => (surface.vertices.len(), surface.triangles.len()),
        Loaded::Tets(..) => panic!("a surface"),
    };
    assert_eq!([vertices("left"), vertices("skin"), vertices("right")], [(4, 2), (4, 2), (3, 1)]);
    let message = read_group(&path, None, "top").unwrap_err().to_string();
    assert!(message.contains("\"top\"") && message.contains("left, skin, right"), "{message}");
    let stl = dir.write("a.stl", "solid a\nendsolid a\n");
    assert!(read_group(&stl, None, "a").unwrap_err().to_string().contains("no groups"));
}

#[test]
fn cad_models_are_refused_with_the_way_round() {
    for name in ["part.step", "part.STP", "part.iges"] {
        let message = read(std::path::Path::new(name)).unwrap_err().to_string();
        assert!(message.contains("gmsh -3 part."), "{message}");
    }
    assert!(read_bytes("part.step", None, b"ISO-10303-21;").is_err());
}
