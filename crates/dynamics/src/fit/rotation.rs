//! Rotation and strain of a body, node by node, from the positions of coupled nodes.

use lilyan_solve::BlockPattern;
use std::ops::Range;

/// A 3×3 matrix by rows.
type Matrix = [[f64; 3]; 3];

/// R of the polar decomposition A = R S, also for a singular A, e.g. for points in a plane: Newton's method for the axis of what
/// is left to turn, (tr S − S) ω = 2 axial(A Rᵀ), S = sym(A Rᵀ); where that is singular or far, a step of \[muller2016\].
fn polar(a: &Matrix) -> Matrix {
    let mut r = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..200 {
        // A Rᵀ.
        let b: Matrix = [0, 1, 2].map(|i| [0, 1, 2].map(|j| (0..3).map(|k| a[i][k] * r[j][k]).sum::<f64>()));
        let axis = [b[2][1] - b[1][2], b[0][2] - b[2][0], b[1][0] - b[0][1]];
        let trace = b[0][0] + b[1][1] + b[2][2];
        let symmetric = |i: usize, j: usize| 0.5 * (b[i][j] + b[j][i]);
        let m: Matrix =
            [0, 1, 2].map(|i| [0, 1, 2].map(|j| if i == j { trace } else { 0.0 } - symmetric(i, j)));
        let mut turn = axis.map(|x| x / (trace.abs() + f64::MIN_POSITIVE));
        if let Some(newton) = solve(&m, axis).filter(|w| w.iter().map(|w| w * w).sum::<f64>() < 0.25) {
            turn = newton;
        }
        let angle = turn.iter().map(|t| t * t).sum::<f64>().sqrt();
        if angle < 1e-9 {
            break;
        }
        // Rodrigues' formula. Steps are limited to one radian.
        let (sin, cos) = angle.min(1.0).sin_cos();
        let n = turn.map(|t| t / angle);
        let mut next = r;
        for k in 0..3 {
            let x = [r[0][k], r[1][k], r[2][k]];
            let dot = (0..3).map(|i| n[i] * x[i]).sum::<f64>();
            for i in 0..3 {
                let (j, l) = ((i + 1) % 3, (i + 2) % 3);
                next[i][k] = cos * x[i] + sin * (n[j] * x[l] - n[l] * x[j]) + (1.0 - cos) * dot * n[i];
            }
        }
        r = next;
    }
    r
}

/// The solution of a symmetric system that is safely positive definite.
fn solve(m: &Matrix, b: [f64; 3]) -> Option<[f64; 3]> {
    let minor = |i: usize, j: usize| {
        let ([i1, i2], [j1, j2]) = ([(i + 1) % 3, (i + 2) % 3], [(j + 1) % 3, (j + 2) % 3]);
        m[i1][j1] * m[i2][j2] - m[i1][j2] * m[i2][j1]
    };
    let det = (0..3).map(|j| m[0][j] * minor(0, j)).sum::<f64>();
    let trace = m[0][0] + m[1][1] + m[2][2];
    (trace > 0.0 && m[0][0] > 0.0 && minor(2, 2) > 0.0 && det > 1e-6 * trace.powi(3))
        .then(|| [0, 1, 2].map(|i| (0..3).map(|j| minor(j, i) * b[j]).sum::<f64>() / det))
}

fn difference(x: &[f64], i: usize, j: usize) -> [f64; 3] {
    [0, 1, 2].map(|k| x[3 * j + k] - x[3 * i + k])
}

/// Pairs (i, j), i > j, of coupled nodes of a body.
fn edges<'a>(pattern: &'a BlockPattern, dofs: &Range<usize>) -> impl Iterator<Item = (usize, usize)> + 'a {
    let nodes = dofs.start / 3..dofs.end / 3;
    let inside = nodes.clone();
    nodes.flat_map(move |j| {
        let inside = inside.clone();
        let below = pattern.column(j).iter().map(|i| *i as usize);
        below.filter(move |i| *i != j && inside.contains(i)).map(move |i| (i, j))
    })
}

/// Root mean square of the relative changes of length between coupled nodes.
pub(super) fn strain(pattern: &BlockPattern, dofs: &Range<usize>, rest: &[f64], q: &[f64]) -> f64 {
    let length =
        |x: &[f64], i: usize, j: usize| difference(x, i, j).iter().map(|d| d * d).sum::<f64>().sqrt();
    let (mut square, mut count) = (0.0, 0.0);
    for (i, j) in edges(pattern, dofs) {
        let before = length(rest, i, j);
        if before > 0.0 {
            square += (length(q, i, j) / before - 1.0).powi(2);
            count += 1.0;
        }
    }
    if count > 0.0 { (square / count).sqrt() } else { 0.0 }
}

/// Root mean square of the relative changes of the vectors between coupled nodes, by strain and by rotation.
pub(super) fn change(pattern: &BlockPattern, dofs: &Range<usize>, before: &[f64], q: &[f64]) -> f64 {
    let (mut square, mut count) = (0.0, 0.0);
    for (i, j) in edges(pattern, dofs) {
        let (x, y) = (difference(before, i, j), difference(q, i, j));
        let length = x.iter().map(|x| x * x).sum::<f64>();
        if length > 0.0 {
            square += (0..3).map(|k| (y[k] - x[k]).powi(2)).sum::<f64>() / length;
            count += 1.0;
        }
    }
    if count > 0.0 { (square / count).sqrt() } else { 0.0 }
}

/// The rotation of a body from `before` to q, node by node.
pub(super) struct NodalRotations {
    dofs: Range<usize>,
    rotations: Vec<Matrix>,
}

impl NodalRotations {
    pub fn new(pattern: &BlockPattern, dofs: &Range<usize>, before: &[f64], q: &[f64]) -> Self {
        let mut stretches = vec![[[0.0; 3]; 3]; dofs.len() / 3];
        for (i, j) in edges(pattern, dofs) {
            let (x, y) = (difference(before, i, j), difference(q, i, j));
            for node in [i, j] {
                let a = &mut stretches[node - dofs.start / 3];
                (0..9).for_each(|k| a[k / 3][k % 3] += y[k / 3] * x[k % 3]);
            }
        }
        Self { dofs: dofs.clone(), rotations: stretches.iter().map(polar).collect() }
    }

    /// Rotates displacements or forces, given as columns of length n.
    pub fn apply(&self, columns: &mut [f64], n: usize) {
        for column in columns.chunks_exact_mut(n) {
            for (u, r) in column[self.dofs.clone()].as_chunks_mut::<3>().0.iter_mut().zip(&self.rotations) {
                *u = [0, 1, 2].map(|i| r[i][0] * u[0] + r[i][1] * u[1] + r[i][2] * u[2]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coupled_nodes_determine_rotation_and_strain() {
        let (sin, cos) = 2.5f64.sin_cos();
        let apply = |x: [f64; 3]| [cos * x[0] - sin * x[1], sin * x[0] + cos * x[1], x[2] + 3.0];
        // Points in a plane, so that the matrices are singular.
        let points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 2.0, 0.0]];
        let (rest, q) = (points.concat(), points.map(apply).concat());
        let pattern = BlockPattern::from_cliques(4, [[0u32, 1, 2, 3].as_slice()].into_iter());
        assert!(strain(&pattern, &(0..12), &rest, &q) < 1e-15);
        // |R − 1| of vectors in the plane of rotation: twice the sine of half the angle.
        assert!((change(&pattern, &(0..12), &rest, &q) - 2.0 * 1.25f64.sin()).abs() < 1e-12);
        let mut found = [1.0, 0.0, 5.0].repeat(4);
        NodalRotations::new(&pattern, &(0..12), &rest, &q).apply(&mut found, 12);
        for u in found.chunks_exact(3) {
            assert!((u[0] - cos).abs() < 1e-8 && (u[1] - sin).abs() < 1e-8 && (u[2] - 5.0).abs() < 1e-8);
        }
        let longer: Vec<f64> = rest.iter().map(|x| 1.5 * x).collect();
        assert!((strain(&pattern, &(0..12), &rest, &longer) - 0.5).abs() < 1e-12);
    }
}
