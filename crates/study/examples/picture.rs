//! A strip of moments of a run as one SVG picture, coloured by von Mises stress.
//!
//! ```text
//! lilyan run spot-landing
//! cargo run -p lilyan-study --example picture -- out/spot-landing docs/spot-landing.svg --floor 0 0.4 0.5 0.7
//! ```
//!
//! The numbers are times in s; the nearest frames are drawn side by side to one scale, each
//! followed sideways. `--floor` draws the plane y = 0.

use lilyan_mesh_io::readers::{Loaded, read};
use lilyan_report::{View, snapshot_svg};
use lilyan_solid::mesh::Mesh;
use std::fmt::Write;
use std::path::Path;

/// Width of a panel and height of its caption, px.
const WIDTH: f64 = 190.0;
const CAPTION: f64 = 26.0;
/// Where on the colour scale no stress lies: its darkest end would hide the shape.
const LOWEST: f64 = 0.2;
/// How far the view is turned about the vertical and raised, rad.
const TURN: f64 = 1.1;
const LIFT: f64 = 0.24;

fn main() {
    if let Err(message) = picture() {
        eprintln!("{message}");
        std::process::exit(1);
    }
}

fn picture() -> Result<(), String> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let floor = arguments.iter().position(|a| a == "--floor").map(|k| arguments.remove(k)).is_some();
    let [folder, out, times @ ..] = &arguments[..] else {
        return Err("usage: picture FOLDER OUT.svg [--floor] TIME…".into());
    };
    let listed = listed_frames(Path::new(folder))?;
    let mut moments = Vec::new();
    for time in times {
        let t: f64 = time.parse().map_err(|e| format!("{time}: {e}"))?;
        let nearest = listed.iter().min_by(|a, b| (a.0 - t).abs().total_cmp(&(b.0 - t).abs()));
        let (t, file) = nearest.ok_or("there are no frames")?;
        moments.push(Moment::read(*t, &Path::new(folder).join(file))?);
    }
    std::fs::write(out, strip(&moments, floor)).map_err(|e| format!("{out}: {e}"))
}

/// Times and files of the frames, from frames.pvd.
fn listed_frames(folder: &Path) -> Result<Vec<(f64, String)>, String> {
    let path = folder.join("frames.pvd");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let value = |line: &str, key: &str| {
        let rest = line.split_once(&format!("{key}=\""))?.1;
        Some(rest.split_once('"')?.0.to_string())
    };
    let frame = |line: &str| Some((value(line, "timestep")?.parse().ok()?, value(line, "file")?));
    Ok(text.lines().filter_map(frame).collect())
}

struct Moment {
    t: f64,
    positions: Vec<f64>,
    triangles: Vec<[u32; 3]>,
    /// Von Mises stress at the vertices, Pa.
    stress: Vec<f64>,
}

impl Moment {
    fn read(t: f64, path: &Path) -> Result<Self, String> {
        let Loaded::Tets(mesh, _) = read(path).map_err(|e| e.to_string())? else {
            return Err(format!("{}: there are no tets", path.display()));
        };
        let triangles = mesh.surface().triangles.clone();
        let stress = at_vertices(&mesh);
        Ok(Self { t, positions: mesh.vertices.concat(), triangles, stress })
    }
}

/// The mean of the tets around each vertex.
fn at_vertices(mesh: &Mesh) -> Vec<f64> {
    let mut sum = vec![[0.0, 0.0]; mesh.vertices.len()];
    if let Some(field) = mesh.cell_data.get("von_mises") {
        for (tet, value) in mesh.tets().iter().zip(field) {
            for &v in tet {
                sum[v as usize][0] += value;
                sum[v as usize][1] += 1.0;
            }
        }
    }
    sum.iter().map(|[s, n]| if *n > 0.0 { s / n } else { 0.0 }).collect()
}

fn strip(moments: &[Moment], floor: bool) -> String {
    let up = [0.0, 1.0, 0.0];
    let look = |q: &[f64]| View::from_direction(q, up, [1.0, 0.0, 0.0], TURN, LIFT);
    // One scale for all, the height of all, each in the middle of its own panel.
    let followed: Vec<Vec<f64>> = moments.iter().map(|m| followed(&m.positions)).collect();
    let ground = [[-0.5, -0.36], [0.5, -0.36], [0.5, 0.36], [-0.5, 0.36]].map(|[x, z]| [x, 0.0, z]).concat();
    let mut seen = followed.concat();
    if floor {
        seen.extend(&ground);
    }
    let view = look(&seen);
    let height = (WIDTH * view.half[1] / view.half[0]).ceil();
    // The stress that all but the worst fiftieth of the vertices stay below.
    let mut all: Vec<f64> = moments.iter().flat_map(|m| m.stress.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    let top = all.get(all.len() * 49 / 50).copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);

    let total = WIDTH * moments.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {total} {}\" width=\"{total}\" font-family=\"sans-serif\" font-size=\"13\">",
        height + CAPTION
    );
    for (k, (moment, q)) in moments.iter().zip(&followed).enumerate() {
        let _ = write!(svg, "<g transform=\"translate({} 0)\">", k as f64 * WIDTH);
        let size = [WIDTH, height];
        if floor {
            let picture = snapshot_svg(&ground, &[[0, 2, 1], [0, 3, 2]], None, &view, size);
            let _ = write!(svg, "<g opacity=\".25\">{picture}</g>");
        }
        let values: Vec<f64> =
            moment.stress.iter().map(|s| LOWEST + (1.0 - LOWEST) * (s / top).sqrt()).collect();
        svg += &snapshot_svg(q, &moment.triangles, Some(&values), &view, size);
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#808890\">t = {} s</text></g>",
            0.5 * WIDTH,
            height + 0.7 * CAPTION,
            moment.t
        );
    }
    svg + "</svg>\n"
}

/// The positions with the middle of the body above the origin.
fn followed(positions: &[f64]) -> Vec<f64> {
    let middle = |k: usize| {
        let values = positions.iter().skip(k).step_by(3).copied();
        0.5 * (values.clone().fold(f64::INFINITY, f64::min) + values.fold(f64::NEG_INFINITY, f64::max))
    };
    let (x, z) = (middle(0), middle(2));
    positions.chunks_exact(3).flat_map(|p| [p[0] - x, p[1], p[2] - z]).collect()
}
