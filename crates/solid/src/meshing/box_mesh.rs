//! A box of Kuhn tets.
//!
//! Each cell is cut into the six simplices that walk from its corner (0,0,0) to (1,1,1) along the
//! axes, one per order of the axes \[kuhn1960\]. All cells are cut along the same diagonal, so that
//! opposite faces of neighbouring cells are cut alike and the mesh conforms. Such a mesh prefers a direction: a beam that is
//! pushed along y swings along z too. With [`Diagonals::Mirrored`], neighbouring cells are mirror images of each other. This
//! conforms too, and with even numbers of cells the mesh has the symmetry of the box.

use super::{MOST_TETS, MeshingError, fail, positive};
use crate::mesh::Mesh;

/// Orders in which the axes are walked, even permutations first.
const WALKS: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0]];

/// The diagonals along which the cells of a box are cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diagonals {
    /// The same in all cells.
    #[default]
    Same,
    /// Mirror images in neighbouring cells.
    Mirrored,
}

/// A box with one corner at the origin, edges `size` (m) along the axes, cut into `cells` per axis
/// and six tets per cell, along the same diagonal in each cell.
///
/// Vertex (i, j, k) at (i, j, k)·size/cells has number i + (n₀+1)(j + (n₁+1)k): x runs fastest.
/// Tets 6c … 6c+5 fill cell c = i + n₀(j + n₁k). All are positively oriented.
///
/// # Errors
/// A size that is not positive, no cells along an axis, or more than [`MOST_TETS`].
pub fn box_mesh(size: [f64; 3], cells: [usize; 3]) -> Result<Mesh, MeshingError> {
    box_mesh_with(size, cells, Diagonals::Same)
}

/// The same with these diagonals.
///
/// # Errors
/// As [`box_mesh`].
pub fn box_mesh_with(size: [f64; 3], cells: [usize; 3], diagonals: Diagonals) -> Result<Mesh, MeshingError> {
    for (axis, &s) in ["x", "y", "z"].iter().zip(&size) {
        positive(&format!("box size along {axis}"), s)?;
    }
    if let Some(axis) = cells.iter().position(|&n| n == 0) {
        return fail(format!("box has no cells along {}: give at least 1", ["x", "y", "z"][axis]));
    }
    let [nx, ny, nz] = cells;
    let tets = nx.checked_mul(ny).and_then(|n| n.checked_mul(nz)).and_then(|n| n.checked_mul(6));
    if tets.is_none_or(|t| t > MOST_TETS) {
        return fail(format!(
            "box of {nx} × {ny} × {nz} cells has more than {MOST_TETS} tets (6 per cell): use fewer cells"
        ));
    }
    let mut vertices = Vec::new();
    for k in 0..=nz {
        for j in 0..=ny {
            for i in 0..=nx {
                let at = |i: usize, n: usize, s: f64| s * (i as f64 / n as f64);
                vertices.push([at(i, nx, size[0]), at(j, ny, size[1]), at(k, nz, size[2])]);
            }
        }
    }
    let stride = [1, nx + 1, (nx + 1) * (ny + 1)];
    let mut tets = Vec::new();
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                cut([i, j, k], stride, diagonals, &mut tets);
            }
        }
    }
    Ok(Mesh::new(vertices, tets))
}

/// Adds the six tets of a cell.
fn cut(cell: [usize; 3], stride: [usize; 3], diagonals: Diagonals, tets: &mut Vec<[u32; 4]>) {
    let mirrored = cell.map(|c| diagonals == Diagonals::Mirrored && c % 2 == 1);
    let first: usize = (0..3).map(|x| (cell[x] + usize::from(mirrored[x])) * stride[x]).sum();
    let along = |from: usize, x: usize| if mirrored[x] { from - stride[x] } else { from + stride[x] };
    let odd_reflections = mirrored.iter().filter(|m| **m).count() % 2 == 1;
    for (w, walk) in WALKS.iter().enumerate() {
        let a = along(first, walk[0]);
        let b = along(a, walk[1]);
        let end = along(b, walk[2]);
        // An odd order of the axes, or an odd number of reflections, gives a left-handed tet: swap its middle.
        let (a, b) = if (w < 3) != odd_reflections { (a, b) } else { (b, a) };
        tets.push([first, a, b, end].map(|v| v as u32));
    }
}
