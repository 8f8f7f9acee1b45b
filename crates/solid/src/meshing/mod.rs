//! Meshes from shapes and from surfaces.

mod box_mesh;
mod coarsen;
mod improve;
mod lattice;
mod prepare;
mod repair;
mod shapes;
mod solid;
mod stuffing;
mod tetrahedralize;
mod tree;

pub use box_mesh::{Diagonals, box_mesh, box_mesh_with};
pub use shapes::{curve_cylinder, curve_ellipsoid, cylinder, ellipsoid, sphere};
pub use tetrahedralize::{Filled, Options, Resolution, tetrahedralize, tetrahedralize_with};

use std::fmt;

/// More tets than this are refused: about 20 GB of matrices.
pub const MOST_TETS: usize = 50_000_000;

/// Why a mesh could not be made, and what to do about it.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshingError(pub(crate) String);

impl fmt::Display for MeshingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MeshingError {}

fn fail<T>(message: impl Into<String>) -> Result<T, MeshingError> {
    Err(MeshingError(message.into()))
}

/// A length for a message, four digits.
fn metres(x: f64) -> String {
    if (1e-2..1e4).contains(&x) { format!("{x:.4} m") } else { format!("{x:.2e} m") }
}

/// Lengths within these bounds, m, have volumes and squares of volumes that are ordinary numbers.
pub const LENGTHS: std::ops::RangeInclusive<f64> = 1e-40..=1e40;

/// `value` if it is a length that can be computed with.
fn positive(name: &str, value: f64) -> Result<f64, MeshingError> {
    if LENGTHS.contains(&value) {
        Ok(value)
    } else {
        let [least, most] = [LENGTHS.start(), LENGTHS.end()];
        fail(format!("{name} is {value:e}: give a positive length in metres, between {least:e} and {most:e}"))
    }
}
