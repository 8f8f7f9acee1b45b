//! A coarse mesh where there is none: a grid of Kuhn tets over the body.

use super::{CoarseningError, fail};
use crate::math::vector::{V3, add, sub};
use crate::mesh::Mesh;
use crate::meshing::box_mesh;

/// A grid of cells over the body's bounding box, of about `tets` tets that hold part of the body. Cells are as near to
/// cubes as whole numbers of them allow, and end with the box: flat ends of a body are faces of the grid.
pub fn cover(fine: &Mesh, tets: usize) -> Result<Mesh, CoarseningError> {
    let Some([lo, hi]) = fine.bounds() else { return fail("the body has no vertices") };
    if tets < 6 {
        return fail(format!("{tets} tets are too few to cover a body: ask for 6 or more"));
    }
    let size = sub(hi, lo);
    // As many tets per volume as would fill the body alone, then corrected for the cells that stick out.
    let mut edge = (6.0 * fine.volume() / tets as f64).cbrt();
    let mut best: Option<(f64, [usize; 3])> = None;
    for _ in 0..12 {
        let cells = size.map(|s| ((s / edge).round() as usize).max(1));
        let held = 6 * touched(fine, lo, size, cells);
        let off = (held as f64 / tets as f64).ln().abs();
        if best.is_none_or(|(least, _)| off < least) {
            best = Some((off, cells));
        }
        edge *= (held as f64 / tets as f64).cbrt().clamp(0.5, 2.0);
    }
    let cells = best.map_or([1; 3], |(_, cells)| cells);
    let mut mesh = box_mesh(size, cells).map_err(|e| CoarseningError(e.to_string()))?;
    for x in &mut mesh.vertices {
        *x = add(*x, lo);
    }
    Ok(mesh)
}

/// How many cells the centre of some fine tet, or one of its corners drawn a little towards it, is in.
fn touched(fine: &Mesh, lo: V3, size: V3, cells: [usize; 3]) -> usize {
    let mut seen = vec![false; cells.iter().product()];
    for t in 0..fine.tets().len() {
        let corners = fine.corners(t);
        let centre: V3 = std::array::from_fn(|k| 0.25 * corners.iter().map(|c| c[k]).sum::<f64>());
        for p in corners.iter().map(|c| crate::math::vector::lerp(*c, centre, 0.1)).chain([centre]) {
            let [i, j, k] = [0, 1, 2].map(|a| {
                let at = (p[a] - lo[a]) / size[a].max(f64::MIN_POSITIVE) * cells[a] as f64;
                (at as usize).min(cells[a] - 1)
            });
            seen[i + cells[0] * (j + cells[1] * k)] = true;
        }
    }
    seen.iter().filter(|s| **s).count()
}
