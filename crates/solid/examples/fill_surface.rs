//! Fills a closed surface with tets: an .obj in, a Medit .mesh out.
//!
//! ```text
//! cargo run --release -p lilyan-solid --example fill_surface -- spot.obj scenes/spot.mesh 6000 1.0
//! ```
//!
//! The arguments are the surface, the mesh to write, about how many tets, and the length in metres
//! to which the longest side of the body is scaled (0: as it is). The body is put with its lowest
//! point at y = 0, centred over the origin. `scenes/spot.mesh` was made by the line above from
//! Keenan Crane's "spot" (public domain).
//!
//! The way: parse → scale → [`tetrahedralize_with`] → look at the quality → write. Everything but the
//! parsing and the writing is library; the `lilyan` program does the same for any scene whose mesh
//! is a surface.

use lilyan_solid::mesh::{Mesh, TriMesh};
use lilyan_solid::meshing::{Options, Resolution, tetrahedralize_with};
use std::fmt::Write;
use std::process::ExitCode;

fn parse_obj(text: &str) -> Option<TriMesh> {
    let mut mesh = TriMesh::default();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let x: Vec<f64> = words.map(str::parse).collect::<Result<_, _>>().ok()?;
                mesh.vertices.push([*x.first()?, *x.get(1)?, *x.get(2)?]);
            }
            Some("f") => {
                // Vertex numbers from 1, each perhaps with /texture/normal behind.
                let corner = |w: &str| w.split('/').next()?.parse::<u32>().ok()?.checked_sub(1);
                let v: Vec<u32> = words.map(corner).collect::<Option<_>>()?;
                mesh.triangles.extend((2..v.len()).map(|k| [v[0], v[k - 1], v[k]]));
            }
            _ => {}
        }
    }
    Some(mesh)
}

fn medit(mesh: &Mesh) -> String {
    let mut out = String::from("MeshVersionFormatted 2\nDimension 3\n");
    let _ = writeln!(out, "Vertices {}", mesh.vertices.len());
    for p in &mesh.vertices {
        // Five decimals of a body of about a metre: 10 µm.
        let [x, y, z] = p.map(|c| (c * 1e5).round() / 1e5 + 0.0);
        let _ = writeln!(out, "{x} {y} {z} 0");
    }
    let _ = writeln!(out, "Tetrahedra {}", mesh.tets().len());
    for t in mesh.tets() {
        let [a, b, c, d] = t.map(|v| v + 1);
        let _ = writeln!(out, "{a} {b} {c} {d} 0");
    }
    out.push_str("End\n");
    out
}

fn run(args: &[String]) -> Result<(), String> {
    let [input, output, tets, length] = args else {
        return Err("usage: fill_surface SURFACE.obj OUT.mesh TETS LENGTH".into());
    };
    let text = std::fs::read_to_string(input).map_err(|e| format!("{input}: {e}"))?;
    let mut surface = parse_obj(&text).ok_or(format!("{input}: not an .obj that I can read"))?;
    let tets: usize = tets.parse().map_err(|_| format!("{tets}: not a number of tets"))?;
    let length: f64 = length.parse().map_err(|_| format!("{length}: not a length"))?;

    let [lo, hi] = surface.bounds().ok_or(format!("{input}: no vertices"))?;
    let longest = (0..3).map(|i| hi[i] - lo[i]).fold(0.0, f64::max);
    let scale = if length > 0.0 { length / longest } else { 1.0 };
    let foot = [0.5 * (lo[0] + hi[0]), lo[1], 0.5 * (lo[2] + hi[2])];
    for p in &mut surface.vertices {
        *p = [0, 1, 2].map(|i| scale * (p[i] - foot[i]));
    }

    let options = Options { adapt: 10.0, ..Options::new(Resolution::Tets(tets)) };
    let filled = tetrahedralize_with(&surface, &options).map_err(|e| e.to_string())?;
    for note in &filled.notes {
        println!("note: {note}");
    }
    let q = filled.mesh.quality();
    println!("{} vertices, {} tets, {} piece(s)", q.vertices, q.tets, q.components);
    println!(
        "volume {:.5} m³, {:+.2} % against the surface",
        q.volume,
        100.0 * (q.volume / surface.signed_volume() - 1.0)
    );
    println!("dihedral angles {:.1}° … {:.1}°", q.min_dihedral, q.max_dihedral);
    println!(
        "edges {:.4} … {:.4} m, mean {:.4} m, smallest height {:.4} m",
        q.shortest_edge, q.longest_edge, q.mean_edge, q.smallest_height
    );
    std::fs::write(output, medit(&filled.mesh)).map_err(|e| format!("{output}: {e}"))
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
