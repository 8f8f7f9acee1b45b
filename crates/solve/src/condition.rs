//! Condition numbers of the matrices of implicit steps, estimated.

use crate::{BlockMatrix, Cholesky, NotPositiveDefinite};

/// Products with the inverse and its transpose before the estimate is taken as it is; it hardly ever needs more than three.
const MAX_ROUNDS: usize = 5;

/// An estimate of ‖D⁻¹A‖₁ ‖A⁻¹D‖₁ for symmetric, positive definite A and diagonal D: the first norm is exact, the second
/// a lower bound that is rarely off by more than a factor of 3 \[hager1984\].
pub fn scaled_condition(a: &BlockMatrix, d: &[f64]) -> Result<f64, NotPositiveDefinite> {
    let mut factor = Cholesky::new();
    factor.factor(a)?;
    let mut apply = |x: &mut Vec<f64>| {
        x.iter_mut().zip(d).for_each(|(x, d)| *x *= d);
        factor.solve(x);
    };
    let n = d.len();
    let mut norm = 0.0f64;
    let mut x = vec![1.0 / n as f64; n];
    for _ in 0..MAX_ROUNDS {
        let mut y = x.clone();
        apply(&mut y);
        let there: f64 = y.iter().map(|y| y.abs()).sum();
        if there <= norm {
            break;
        }
        norm = there;
        // Bᵀ sign(y) with B = A⁻¹D, so that Bᵀ = D A⁻¹ = D (A⁻¹D) D⁻¹.
        let mut z: Vec<f64> = y.iter().zip(d).map(|(y, d)| y.signum() / d).collect();
        apply(&mut z);
        z.iter_mut().zip(d).for_each(|(z, d)| *z *= d);
        let steepest = (0..n).max_by(|&i, &j| z[i].abs().total_cmp(&z[j].abs())).unwrap_or(0);
        if z[steepest].abs() <= z.iter().zip(&x).map(|(z, x)| z * x).sum() {
            break;
        }
        x.fill(0.0);
        x[steepest] = 1.0;
    }
    Ok(norm * one_norm(a, d))
}

/// ‖D⁻¹A‖₁: the largest sum of a column.
fn one_norm(a: &BlockMatrix, d: &[f64]) -> f64 {
    let lower = a.to_scalar_lower_csc();
    let mut sums = vec![0.0; d.len()];
    for j in 0..d.len() {
        for k in lower.col_ptr[j]..lower.col_ptr[j + 1] {
            let (i, value) = (lower.rows[k], lower.values[k].abs());
            sums[j] += value / d[i];
            if i != j {
                sums[i] += value / d[j];
            }
        }
    }
    sums.into_iter().fold(0.0, f64::max)
}
