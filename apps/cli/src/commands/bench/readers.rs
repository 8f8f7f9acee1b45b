//! Speed of the mesh readers with their checks, on a generated mesh.

use super::best;
use super::figures::Figures;
use crate::failure::{CommandResult, Failure};
use lilyan_mesh_io::readers::{Loaded, read_bytes};
use lilyan_mesh_io::writers::vtu::Frame;
use lilyan_solid::mesh::Mesh;
use lilyan_solid::meshing::box_mesh;
use std::fmt::Write;

/// Cells along the edge of the cube, which give 384,000 tets.
const CELLS: usize = 40;

pub fn run(figures: &mut Figures) -> CommandResult {
    // The cube is turned, so that coordinates have all their digits.
    let mut mesh = box_mesh([1.0; 3], [CELLS; 3]).map_err(Failure::stopped)?;
    let (sin, cos) = 0.3f64.sin_cos();
    for x in &mut mesh.vertices {
        *x = [cos * x[0] - sin * x[1], sin * x[0] + cos * x[1], x[2] / 3.0];
    }
    let files = [
        ("Medit text", "mesh", medit(&mesh).into_bytes()),
        ("Gmsh 2.2 text", "msh", gmsh(&mesh).into_bytes()),
        ("Gmsh 2.2 binary", "msh", gmsh_binary(&mesh)),
        ("VTK text", "vtk", vtk(&mesh).into_bytes()),
        ("Vega text", "veg", vega(&mesh).into_bytes()),
        ("VTU binary", "vtu", vtu(&mesh)?),
    ];
    for (name, extension, data) in files {
        eprintln!("  {name}");
        let file = format!("bench.{extension}");
        match read_bytes(&file, None, &data).map_err(Failure::stopped)? {
            Loaded::Tets(read, _) if read.tets() == mesh.tets() => {}
            _ => return Err(Failure::stopped(format!("{name}: another mesh came back"))),
        }
        let seconds = best(3, 0.3, || {
            let _ = read_bytes(&file, None, &data);
        });
        figures.add(name, 1e-6 * data.len() as f64 / seconds, "MB/s");
        figures.add(format!("{name}, tets"), 1e-6 * mesh.tets().len() as f64 / seconds, "million/s");
    }
    figures.remark(format!("{} tets, from memory, with all checks of the mesh", mesh.tets().len()));
    Ok(())
}

/// Appends lines of numbers. Writing to a string cannot fail.
fn lines<T: std::fmt::Display, const N: usize>(
    out: &mut String,
    rows: impl Iterator<Item = [T; N]>,
    end: &str,
) {
    for row in rows {
        for x in row {
            let _ = write!(out, "{x} ");
        }
        out.push_str(end);
        out.push('\n');
    }
}

fn one_based(mesh: &Mesh) -> impl Iterator<Item = [u32; 4]> + '_ {
    mesh.tets().iter().map(|t| t.map(|v| v + 1))
}

fn medit(mesh: &Mesh) -> String {
    let mut s = format!("MeshVersionFormatted 2\nDimension 3\nVertices\n{}\n", mesh.vertices.len());
    lines(&mut s, mesh.vertices.iter().copied(), "0");
    let _ = writeln!(s, "Tetrahedra\n{}", mesh.tets().len());
    lines(&mut s, one_based(mesh), "0");
    s + "End\n"
}

fn gmsh(mesh: &Mesh) -> String {
    let mut s = format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", mesh.vertices.len());
    for (v, [x, y, z]) in mesh.vertices.iter().enumerate() {
        let _ = writeln!(s, "{} {x} {y} {z}", v + 1);
    }
    let _ = writeln!(s, "$EndNodes\n$Elements\n{}", mesh.tets().len());
    for (e, [a, b, c, d]) in one_based(mesh).enumerate() {
        let _ = writeln!(s, "{} 4 2 0 1 {a} {b} {c} {d}", e + 1);
    }
    s + "$EndElements\n"
}

fn gmsh_binary(mesh: &Mesh) -> Vec<u8> {
    let mut out = b"$MeshFormat\n2.2 1 8\n".to_vec();
    out.extend(1i32.to_le_bytes());
    out.extend(format!("\n$EndMeshFormat\n$Nodes\n{}\n", mesh.vertices.len()).bytes());
    for (v, x) in mesh.vertices.iter().enumerate() {
        out.extend((v as i32 + 1).to_le_bytes());
        out.extend(x.iter().flat_map(|x| x.to_le_bytes()));
    }
    out.extend(format!("\n$EndNodes\n$Elements\n{}\n", mesh.tets().len()).bytes());
    // All elements have one head: type, number of elements, tags per element.
    out.extend([4, mesh.tets().len() as i32, 2].iter().flat_map(|x| x.to_le_bytes()));
    for (e, [a, b, c, d]) in one_based(mesh).enumerate() {
        let row = [e as u32 + 1, 0, 1, a, b, c, d];
        out.extend(row.iter().flat_map(|x| x.to_le_bytes()));
    }
    out.extend(b"\n$EndElements\n");
    out
}

fn vtk(mesh: &Mesh) -> String {
    let mut s = String::from("# vtk DataFile Version 3.0\nbench\nASCII\nDATASET UNSTRUCTURED_GRID\n");
    let _ = writeln!(s, "POINTS {} double", mesh.vertices.len());
    lines(&mut s, mesh.vertices.iter().copied(), "");
    let n = mesh.tets().len();
    let _ = writeln!(s, "CELLS {n} {}", 5 * n);
    lines(&mut s, mesh.tets().iter().map(|&[a, b, c, d]| [4, a, b, c, d]), "");
    let _ = writeln!(s, "CELL_TYPES {n}");
    s + &"10\n".repeat(n)
}

fn vega(mesh: &Mesh) -> String {
    let mut s = format!("*VERTICES\n{} 3 0 0\n", mesh.vertices.len());
    for (v, [x, y, z]) in mesh.vertices.iter().enumerate() {
        let _ = writeln!(s, "{} {x} {y} {z}", v + 1);
    }
    let _ = writeln!(s, "*ELEMENTS\nTET\n{} 4 0", mesh.tets().len());
    for (e, [a, b, c, d]) in one_based(mesh).enumerate() {
        let _ = writeln!(s, "{} {a} {b} {c} {d}", e + 1);
    }
    s
}

fn vtu(mesh: &Mesh) -> Result<Vec<u8>, Failure> {
    let positions: Vec<f64> = mesh.vertices.iter().flatten().copied().collect();
    let frame = Frame { positions: &positions, blocks: mesh.cells(), ..Frame::default() };
    let path = std::env::temp_dir().join(format!("lilyan-bench-{}.vtu", std::process::id()));
    frame.write(&path).map_err(Failure::stopped)?;
    let data = std::fs::read(&path).map_err(Failure::stopped);
    let _ = std::fs::remove_file(&path);
    data
}
