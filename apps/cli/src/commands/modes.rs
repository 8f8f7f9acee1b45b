//! `lilyan modes`.

use super::common::{default_folder, load};
use crate::failure::{CommandResult, Failure};
use crate::output;
use lilyan_dynamics::spectrum;
use lilyan_files::{atomic, csv};
use lilyan_mesh_io::writers::vtu;
use lilyan_solve::EigenError;
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Lowest free-vibration modes of a scene: frequencies, and shapes as files.
#[derive(clap::Args)]
#[command(after_help = "Example: lilyan modes cantilever -n 10 -o out/modes")]
pub struct ModesArguments {
    /// Scene file or name of a built-in scene
    scene: String,
    /// How many
    #[arg(short = 'n', long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// At a frame instead of at rest: its number in out/SCENE, or the path of a .vtu file
    #[arg(long, value_name = "FRAME")]
    at: Option<String>,
    /// Folder for modes.csv and mode shapes
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Also write the stiffness and mass matrices there (Matrix Market)
    #[arg(long, requires = "output")]
    matrices: bool,
    /// Sets a key of the scene
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &ModesArguments) -> CommandResult {
    let (_, built) = load(&arguments.scene, &arguments.set)?;
    let q = match &arguments.at {
        None => built.rest_positions(),
        Some(frame) => {
            let path = match frame.parse::<usize>() {
                Ok(number) => default_folder(&arguments.scene, "").join(vtu::frame_name(number)),
                Err(_) => PathBuf::from(frame),
            };
            frame_positions(&path, built.simulation.state().q.len())?
        }
    };
    let modes =
        spectrum::modes(built.simulation.system(), &q, arguments.count as usize).map_err(|e| match e {
            EigenError::TooManyModes { .. } => Failure::input(format!("{e}; ask for fewer with -n")),
            e => Failure::stopped(e),
        })?;
    let two_pi = 2.0 * std::f64::consts::PI;
    // A rigid mode has a λ of ± round-off, which is no frequency. A λ below that is an instability, told by its sign.
    let round_off = 1e-6 * modes.shift;
    let frequency = |value: f64| match value.abs() > round_off {
        true => value.signum() * value.abs().sqrt() / two_pi,
        false => 0.0,
    };
    let frequencies: Vec<f64> = modes.values.iter().map(|v| frequency(*v)).collect();
    if let Some(directory) = &arguments.output {
        std::fs::create_dir_all(directory).map_err(Failure::input)?;
        write_modes(&built, &q, &modes, &frequencies, directory).map_err(Failure::input)?;
        if arguments.matrices {
            let m = spectrum::matrices(built.simulation.system(), &q);
            for (name, matrix) in [("K.mtx", &m.stiffness), ("M.mtx", &m.mass)] {
                atomic::write(directory.join(name), matrix_market(matrix).as_bytes())
                    .map_err(Failure::input)?;
            }
            let held: String = m.held.iter().map(|h| if *h { "1\n" } else { "0\n" }).collect();
            atomic::write(directory.join("held.txt"), held.as_bytes()).map_err(Failure::input)?;
        }
    }
    if arguments.json {
        output::json(&json!({
            "frequencies_hz": frequencies,
            "eigenvalues": modes.values,
            "residuals": modes.residuals,
        }));
        return Ok(());
    }
    let mut rows = vec![vec!["mode".into(), "frequency (Hz)".into(), "residual".into()]];
    for (k, (f, r)) in frequencies.iter().zip(&modes.residuals).enumerate() {
        rows.push(vec![format!("{}", k + 1), format!("{f:.6}"), format!("{r:.1e}")]);
    }
    output::table(&rows);
    if let Some(directory) = &arguments.output {
        output::line(format!("shapes: {}", directory.display()));
    }
    Ok(())
}

fn frame_positions(frame: &Path, dofs: usize) -> Result<Vec<f64>, Failure> {
    match lilyan_mesh_io::readers::read_vertices(frame).map_err(Failure::input)? {
        vertices if 3 * vertices.len() == dofs => Ok(vertices.concat()),
        _ => Err(Failure::input(format!(
            "{}: this frame does not belong to the scene (its number of vertices differs)",
            frame.display()
        ))),
    }
}

fn write_modes(
    built: &lilyan_scene::build::Built,
    q: &[f64],
    modes: &lilyan_solve::Modes,
    frequencies: &[f64],
    directory: &Path,
) -> Result<(), atomic::WriteError> {
    let mut table = csv::Table::new(["mode", "frequency_hz", "eigenvalue", "residual"]);
    let cells = lilyan_solid::output::cells(built.simulation.system().bodies());
    for (k, shape) in modes.vectors.iter().enumerate() {
        table.push(&[(k + 1) as f64, frequencies[k], modes.values[k], modes.residuals[k]]);
        vtu::Frame {
            time: None,
            positions: q,
            blocks: &cells,
            point_fields: vec![vtu::Field { name: "shape", components: 3, values: shape }],
            cell_fields: Vec::new(),
        }
        .write(directory.join(format!("mode_{:03}.vtu", k + 1)))?;
    }
    table.write(directory.join("modes.csv"))
}

/// The lower triangle in Matrix Market's coordinate format.
fn matrix_market(matrix: &lilyan_solve::BlockMatrix) -> String {
    let csc = matrix.to_scalar_lower_csc();
    let n = csc.col_ptr.len() - 1;
    let mut text = String::from("%%MatrixMarket matrix coordinate real symmetric\n");
    let _ = writeln!(text, "{n} {n} {}", csc.values.len());
    for column in 0..n {
        for k in csc.col_ptr[column]..csc.col_ptr[column + 1] {
            let _ = writeln!(text, "{} {} {:e}", csc.rows[k] + 1, column + 1, csc.values[k]);
        }
    }
    text
}
