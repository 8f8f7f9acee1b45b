//! Forces and blocks of stencils, some of whose corners may not move.

use super::collision_mesh::is_fixed;
use crate::math::vector::V3;
use lilyan_solve::BlockMatrix;

/// Adds to a node, if it moves.
pub fn add_at(node: u32, force: V3, g: &mut [f64]) {
    if !is_fixed(node) {
        let first = 3 * node as usize;
        g[first..first + 3].iter_mut().zip(force).for_each(|(g, f)| *g += f);
    }
}

/// Adds the block of two corners, one of which may not move.
pub fn add_block([i, j]: [u32; 2], block: &[f64; 9], h: &mut BlockMatrix) {
    if is_fixed(i) || is_fixed(j) {
        return;
    }
    h.add_block(i as usize, j as usize, block);
}
