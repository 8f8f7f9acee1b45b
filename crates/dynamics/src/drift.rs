//! The velocity with which Dirichlet dofs carry what is attached to them.
//!
//! A system that is linearised with its moving Dirichlet dofs at one place sees them jump there, and stiff parts answer with a
//! motion that is not in the true one. In a frame that moves with them nothing jumps. Forces inside of bodies are the same in both
//! frames. Bodies that are not connected to Dirichlet dofs stay in the frame of the scene.

use crate::State;
use crate::prescribed::Prescribed;
use lilyan_solve::BlockPattern;

/// For each free unknown the mean velocity over the step of the Dirichlet dofs along its axis, among the nodes to which
/// the pattern connects it, m/s; 0 where there are none.
pub fn drift(pattern: &BlockPattern, prescribed: &Prescribed, state: &State, h: f64) -> Vec<f64> {
    let n = state.q.len();
    let mut velocities = vec![0.0; n];
    let travelled = |i: usize| (prescribed.q[i] - state.q[i]) / h;
    if !(0..n).any(|i| prescribed.mask[i] && travelled(i) != 0.0) {
        return velocities;
    }
    let part = components(pattern);
    let mut sums = vec![[(0.0, 0u32); 3]; part.len()];
    for i in (0..n).filter(|&i| prescribed.mask[i]) {
        let (sum, count) = &mut sums[part[i / 3]][i % 3];
        (*sum, *count) = (*sum + travelled(i), *count + 1);
    }
    for i in (0..n).filter(|&i| !prescribed.mask[i]) {
        let (sum, count) = sums[part[i / 3]][i % 3];
        velocities[i] = if count > 0 { sum / f64::from(count) } else { 0.0 };
    }
    velocities
}

/// The connected component of each node, named by one of its nodes.
fn components(pattern: &BlockPattern) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..pattern.n()).collect();
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    for j in 0..pattern.n() {
        for &i in pattern.column(j) {
            let (a, b) = (root(&mut parent, i as usize), root(&mut parent, j));
            parent[a.max(b)] = a.min(b);
        }
    }
    (0..pattern.n()).map(|i| root(&mut parent, i)).collect()
}
