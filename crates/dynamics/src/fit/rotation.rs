//! How far a body has turned as a whole.

/// A 3×3 matrix by rows.
pub(super) type Matrix = [[f64; 3]; 3];

/// R of the polar decomposition A = R S, by \[muller2016\]: also where A is singular, as of points in a plane.
pub(super) fn polar(a: &Matrix) -> Matrix {
    let mut r = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let column = |m: &Matrix, k: usize| [m[0][k], m[1][k], m[2][k]];
    for _ in 0..200 {
        let (mut turn, mut along) = ([0.0; 3], 0.0);
        for k in 0..3 {
            let (x, y) = (column(&r, k), column(a, k));
            for i in 0..3 {
                let (j, l) = ((i + 1) % 3, (i + 2) % 3);
                turn[i] += x[j] * y[l] - x[l] * y[j];
            }
            along += (0..3).map(|i| x[i] * y[i]).sum::<f64>();
        }
        let size = turn.iter().map(|t| t * t).sum::<f64>().sqrt();
        let angle = size / (along.abs() + f64::MIN_POSITIVE);
        if angle < 1e-12 {
            break;
        }
        // Rodrigues' formula; from near half a turn on, steps are cut.
        let (sin, cos) = angle.min(1.0).sin_cos();
        let n = turn.map(|t| t / size);
        let mut next = r;
        for k in 0..3 {
            let x = column(&r, k);
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

/// A weight, a point, and where it went.
pub(super) type Pair = (f64, [f64; 3], [f64; 3]);

/// The rotation that takes points, with weights, nearest to others, both about their centres; `None` if the points
/// lie on a line.
pub(super) fn between(pairs: &[Pair]) -> Option<Matrix> {
    let total: f64 = pairs.iter().map(|p| p.0).sum();
    let mean = |pick: &dyn Fn(&Pair) -> [f64; 3]| {
        [0, 1, 2].map(|k| pairs.iter().map(|p| p.0 * pick(p)[k]).sum::<f64>() / total)
    };
    let (from, to) = (mean(&|p| p.1), mean(&|p| p.2));
    let (mut a, mut spread) = ([[0.0; 3]; 3], [[0.0; 3]; 3]);
    for (w, x, y) in pairs {
        for i in 0..3 {
            for j in 0..3 {
                a[i][j] += w * (y[i] - to[i]) * (x[j] - from[j]);
                spread[i][j] += w * (x[i] - from[i]) * (x[j] - from[j]);
            }
        }
    }
    let trace: f64 = (0..3).map(|i| spread[i][i]).sum();
    let minors: f64 = [(0, 1), (1, 2), (0, 2)]
        .iter()
        .map(|&(i, j): &(usize, usize)| spread[i][i] * spread[j][j] - spread[i][j] * spread[j][i])
        .sum();
    (minors > 1e-8 * trace * trace).then(|| polar(&a))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_a_plane_tell_their_rotation() {
        let (sin, cos) = 2.5f64.sin_cos();
        let turned = |x: [f64; 3]| [cos * x[0] - sin * x[1], sin * x[0] + cos * x[1], x[2] + 3.0];
        let points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 2.0, 0.0]];
        let pairs: Vec<_> = points.iter().map(|&x| (1.0, x, turned(x))).collect();
        let r = between(&pairs).unwrap();
        assert!(
            (r[0][0] - cos).abs() < 1e-10 && (r[1][0] - sin).abs() < 1e-10 && (r[2][2] - 1.0).abs() < 1e-10
        );
        assert!(between(&pairs[..2]).is_none());
    }
}
