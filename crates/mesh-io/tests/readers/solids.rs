//! Solid cells of every kind: split so that neighbours agree, nodes on edges kept where they belong.

use super::{Folder, tets, volume};
use lilyan_solid::elements::QUADRATIC_TETS;
use lilyan_solid::mesh::Mesh;
use std::fmt::Write;
use std::sync::Arc;

/// Edges in the order of vtkCellType.h, for cells of 4, 8, 6 and 5 corners.
fn edges(corners: usize) -> &'static [[usize; 2]] {
    match corners {
        4 => &[[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]],
        8 => {
            &[[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]]
        }
        6 => &[[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [0, 3], [1, 4], [2, 5]],
        _ => &[[0, 1], [1, 2], [2, 3], [3, 0], [0, 4], [1, 4], [2, 4], [3, 4]],
    }
}

/// Edges as the manual of Gmsh numbers them.
fn edges_of_gmsh(corners: usize) -> &'static [[usize; 2]] {
    match corners {
        4 => &[[0, 1], [1, 2], [2, 0], [3, 0], [2, 3], [1, 3]],
        8 => {
            &[[0, 1], [0, 3], [0, 4], [1, 2], [1, 5], [2, 3], [2, 6], [3, 7], [4, 5], [4, 7], [5, 6], [6, 7]]
        }
        6 => &[[0, 1], [0, 2], [0, 3], [1, 2], [1, 4], [2, 5], [3, 4], [3, 5], [4, 5]],
        _ => &[[0, 1], [0, 3], [0, 4], [1, 2], [1, 4], [2, 3], [2, 4], [3, 4]],
    }
}

/// A mesh of cells of some kind.
struct Cells {
    points: Vec<[f64; 3]>,
    cells: Vec<Vec<usize>>,
}

/// A box of 2 × 2 × 1 cells in a bent shape of volume 8: hexahedra, or each cut into two wedges, or into six pyramids, or five
/// tets with alternating diagonals.
fn body(corners: usize, place: impl Fn([f64; 3]) -> [f64; 3]) -> Cells {
    let number = |i: usize, j: usize, k: usize| i + 3 * (j + 3 * k);
    let mut points = Vec::new();
    for k in 0..2 {
        for j in 0..3 {
            for i in 0..3 {
                points.push([i as f64, j as f64, 2.0 * k as f64]);
            }
        }
    }
    let mut cells = Vec::new();
    for j in 0..2 {
        for i in 0..2 {
            let at = |a: usize, b: usize, c: usize| number(i + a, j + b, c);
            let hex = [
                at(0, 0, 0),
                at(1, 0, 0),
                at(1, 1, 0),
                at(0, 1, 0),
                at(0, 0, 1),
                at(1, 0, 1),
                at(1, 1, 1),
                at(0, 1, 1),
            ];
            let pick = |of: &[usize]| of.iter().map(|k| hex[*k]).collect::<Vec<usize>>();
            match corners {
                8 => cells.push(hex.to_vec()),
                6 => cells.extend([pick(&[0, 1, 2, 4, 5, 6]), pick(&[0, 2, 3, 4, 6, 7])]),
                4 if (i + j) % 2 == 0 => cells.extend(
                    [[0, 1, 2, 5], [0, 2, 3, 7], [0, 5, 7, 4], [2, 7, 5, 6], [0, 2, 7, 5]].map(|t| pick(&t)),
                ),
                4 => cells.extend(
                    [[1, 3, 0, 4], [1, 2, 3, 6], [1, 6, 4, 5], [3, 4, 6, 7], [1, 4, 3, 6]].map(|t| pick(&t)),
                ),
                _ => {
                    let middle = points.len();
                    points.push([i as f64 + 0.5, j as f64 + 0.5, 1.0]);
                    let faces =
                        [[0, 1, 2, 3], [4, 7, 6, 5], [0, 4, 5, 1], [1, 5, 6, 2], [2, 6, 7, 3], [3, 7, 4, 0]];
                    cells.extend(faces.map(|f| [pick(&f), vec![middle]].concat()));
                }
            }
        }
    }
    points.iter_mut().for_each(|x| *x = place(*x));
    Cells { points, cells }
}

impl Cells {
    /// With a node at the middle of each edge before it was bent.
    fn quadratic(corners: usize, edges: &[[usize; 2]], place: impl Fn([f64; 3]) -> [f64; 3]) -> Self {
        let mut out = body(corners, |x| x);
        let mut known: Vec<([usize; 2], usize)> = Vec::new();
        for cell in &mut out.cells {
            let own: Vec<usize> = edges
                .iter()
                .map(|e| {
                    let ends = [cell[e[0]].min(cell[e[1]]), cell[e[0]].max(cell[e[1]])];
                    if let Some((_, node)) = known.iter().find(|(other, _)| *other == ends) {
                        return *node;
                    }
                    let [a, b] = ends.map(|v| out.points[v]);
                    out.points.push([0, 1, 2].map(|k| 0.5 * (a[k] + b[k])));
                    known.push((ends, out.points.len() - 1));
                    out.points.len() - 1
                })
                .collect();
            cell.extend(own);
        }
        out.points.iter_mut().for_each(|x| *x = place(*x));
        out
    }

    fn vtk(&self, kind: u8) -> String {
        let mut out = "# vtk DataFile Version 3.0\nbody\nASCII\nDATASET UNSTRUCTURED_GRID\n".to_string();
        let _ = writeln!(out, "POINTS {} double", self.points.len());
        self.points.iter().for_each(|[x, y, z]| writeln!(out, "{x:?} {y:?} {z:?}").unwrap());
        let size: usize = self.cells.iter().map(|c| c.len() + 1).sum();
        let _ = writeln!(out, "CELLS {} {size}", self.cells.len());
        for cell in &self.cells {
            let _ = writeln!(out, "{} {}", cell.len(), joined(cell, 0, " "));
        }
        let _ = writeln!(out, "CELL_TYPES {}", self.cells.len());
        self.cells.iter().for_each(|_| writeln!(out, "{kind}").unwrap());
        out
    }

    fn gmsh(&self, kind: u8) -> String {
        let mut out = format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", self.points.len());
        for (n, [x, y, z]) in self.points.iter().enumerate() {
            let _ = writeln!(out, "{} {x:?} {y:?} {z:?}", n + 1);
        }
        let _ = writeln!(out, "$EndNodes\n$Elements\n{}", self.cells.len());
        for (e, cell) in self.cells.iter().enumerate() {
            let _ = writeln!(out, "{} {kind} 2 {} 1 {}", e + 1, 3 + e % 2, joined(cell, 1, " "));
        }
        out + "$EndElements\n"
    }

    fn abaqus(&self, kind: &str) -> String {
        let mut out = "*NODE\n".to_string();
        for (n, [x, y, z]) in self.points.iter().enumerate() {
            let _ = writeln!(out, "{}, {x:?}, {y:?}, {z:?}", n + 1);
        }
        let _ = writeln!(out, "*ELEMENT, TYPE={kind}, ELSET=ALL");
        for (e, cell) in self.cells.iter().enumerate() {
            let _ = writeln!(out, "{}, {}", e + 1, joined(cell, 1, ", "));
        }
        out + "*ELSET, ELSET=LAST\n" + &self.cells.len().to_string() + "\n"
    }

    fn medit(&self, section: &str) -> String {
        let mut out = format!("MeshVersionFormatted 2\nDimension 3\nVertices\n{}\n", self.points.len());
        self.points.iter().for_each(|[x, y, z]| writeln!(out, "{x:?} {y:?} {z:?} 0").unwrap());
        let _ = writeln!(out, "{section}\n{}", self.cells.len());
        self.cells.iter().for_each(|cell| writeln!(out, "{} 5", joined(cell, 1, " ")).unwrap());
        out + "End\n"
    }
}

fn joined(cell: &[usize], first: usize, by: &str) -> String {
    cell.iter().map(|v| (v + first).to_string()).collect::<Vec<_>>().join(by)
}

/// A shear that bends all lines along x and keeps volumes.
fn bent([x, y, z]: [f64; 3]) -> [f64; 3] {
    [x, y + 0.15 * x * x, z - 0.1 * x * x]
}

/// Tets of positive volume that share their faces: 16 outer squares are 32 triangles.
fn check(mesh: &Mesh, tets: usize, label: &str) {
    assert_eq!(mesh.tets().len(), tets, "{label}");
    assert!(mesh.tets().iter().all(|t| volume(mesh, *t) > 0.0), "{label}");
    assert_eq!(mesh.surface().triangles.len(), 32, "{label}: neighbours are cut alike");
}

#[test]
fn cells_are_split_alike_by_neighbours() {
    let dir = Folder::new("solids");
    for (corners, tets_in_all, vtk, gmsh, abaqus, medit) in [
        (8, 24, 12, 5, "C3D8R", "Hexahedra"),
        (6, 24, 13, 6, "C3D6", "Prisms"),
        (5, 48, 14, 7, "C3D5", "Pyramids"),
        (4, 20, 10, 4, "C3D4", "Tetrahedra"),
    ] {
        let cells = body(corners, |x| x);
        for (name, text) in [
            ("a.vtk", cells.vtk(vtk)),
            ("a.msh", cells.gmsh(gmsh)),
            ("a.inp", cells.abaqus(abaqus)),
            ("a.mesh", cells.medit(medit)),
        ] {
            let label = format!("{corners} corners, {name}");
            let path = dir.0.join(name);
            std::fs::write(&path, text).unwrap();
            let (mesh, notes) = tets(&path);
            check(&mesh, tets_in_all, &label);
            let all: f64 = mesh.tets().iter().map(|t| volume(&mesh, *t) / 6.0).sum();
            assert!((all - 8.0).abs() < 1e-12, "{label}: {all}");
            assert_eq!(
                notes.iter().any(|n| n.contains("were split into")),
                corners != 4,
                "{label}: {notes:?}"
            );
            assert!(corners == 4 || !notes.iter().any(|n| n.contains("turned")), "{label}: {notes:?}");
            assert!(mesh.edge_points.is_empty(), "{label}");
            match name {
                "a.mesh" => assert!(mesh.tags.iter().all(|t| *t == 5), "{label}"),
                "a.msh" => {
                    assert_eq!(mesh.tags.iter().filter(|t| **t == 3).count() * 2, tets_in_all, "{label}")
                }
                "a.inp" => {
                    let last = &mesh.region_names["LAST"];
                    let count = mesh.tags.iter().filter(|t| last.contains(t)).count();
                    assert_eq!(count, tets_in_all / cells.cells.len(), "{label}: the tets of the last cell");
                }
                _ => {}
            }
        }
    }
}

/// The volume of a bent body is right only if each node is on its edge, and those on the diagonals where the faces are.
#[test]
fn nodes_on_edges_stay_on_their_edges() {
    let dir = Folder::new("quadratic-solids");
    for (corners, tets_in_all, vtk, gmsh, abaqus) in
        [(8, 24, 25, 17, "C3D20R"), (6, 24, 26, 18, "C3D15"), (5, 48, 27, 19, ""), (4, 20, 24, 11, "C3D10")]
    {
        let own = Cells::quadratic(corners, edges(corners), bent);
        let by_gmsh = Cells::quadratic(corners, edges_of_gmsh(corners), bent);
        let mut files = vec![("a.vtk", own.vtk(vtk), false), ("a.msh", by_gmsh.gmsh(gmsh), false)];
        // The order of another program is found out.
        files.push(("b.vtk", by_gmsh.vtk(vtk), true));
        match corners {
            5 => {}
            4 => {
                files.push(("a.inp", own.abaqus(abaqus), false));
                files.push(("a.mesh", by_gmsh.medit("TetrahedraP2"), true));
            }
            _ => files.push(("a.inp", own.abaqus(abaqus), false)),
        }
        for (name, text, reordered) in files {
            let label = format!("{corners} corners, {name}");
            let path = dir.0.join(name);
            std::fs::write(&path, text).unwrap();
            let (mesh, notes) = tets(&path);
            check(&mesh, tets_in_all, &label);
            assert_eq!(
                notes.iter().any(|n| n.contains("order of their own")),
                reordered,
                "{label}: {notes:?}"
            );
            assert!(!notes.iter().any(|n| n.contains("left out")), "{label}: {notes:?}");
            // Every edge of the mesh has its node where the bending puts it.
            let nodes = (QUADRATIC_TETS.nodes)(Arc::new(mesh));
            let volume: f64 = nodes.volumes().iter().sum();
            assert!((volume - 8.0).abs() < 1e-9, "{label}: {volume} m³");
            for t in 0..nodes.mesh().tets().len() {
                let own = nodes.of_tet(t);
                for (k, [i, j]) in edges(4).iter().enumerate() {
                    let [a, b, c] = [own[*i], own[*j], own[4 + k]].map(|n| nodes.points()[n as usize]);
                    // The map is quadratic: unbend, and the node is at the middle.
                    let flat = |[x, y, z]: [f64; 3]| [x, y - 0.15 * x * x, z + 0.1 * x * x];
                    let (a, b, c) = (flat(a), flat(b), flat(c));
                    for axis in 0..3 {
                        let off = c[axis] - 0.5 * (a[axis] + b[axis]);
                        assert!(off.abs() < 1e-9, "{label}: an edge's node is {off:e} m off");
                    }
                }
            }
        }
    }
}

#[test]
fn nodes_that_belong_to_no_edge_are_a_fault() {
    let mut cells = Cells::quadratic(4, edges(4), |x| x);
    let (a, b) = (cells.cells[0][4], cells.cells[0][5]);
    cells.points[a] = cells.points[b];
    let dir = Folder::new("bad-edges");
    let path = dir.0.join("bad.vtk");
    std::fs::write(&path, cells.vtk(24)).unwrap();
    let error = lilyan_mesh_io::readers::read(&path).unwrap_err().to_string();
    assert!(error.contains("nearest to the middle of the same edge"), "{error}");
}
