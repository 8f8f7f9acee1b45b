//! The exponential of a small dense matrix.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

/// e^A by scaling and squaring: a Taylor polynomial of degree 16 after scaling to a norm below ½.
///
/// `None` where the norm is not finite or beyond 2⁶⁰.
pub(crate) fn exponential(a: &Mat<f64>) -> Option<Mat<f64>> {
    let n = a.nrows();
    let norm = (0..n).map(|i| (0..n).map(|j| a[(i, j)].abs()).sum::<f64>()).fold(0.0, f64::max);
    if norm.is_nan() || norm > 1e18 {
        return None;
    }
    let halvings = (norm.log2() + 1.0).ceil().max(0.0) as i32;
    let scale = 0.5f64.powi(halvings);
    let b = Mat::from_fn(n, n, |i, j| scale * a[(i, j)]);
    let mut out = Mat::<f64>::identity(n, n);
    let mut next = Mat::<f64>::zeros(n, n);
    for k in (1..=16).rev() {
        matmul(next.as_mut(), Accum::Replace, b.as_ref(), out.as_ref(), 1.0 / k as f64, Par::Seq);
        for i in 0..n {
            next[(i, i)] += 1.0;
        }
        std::mem::swap(&mut out, &mut next);
    }
    for _ in 0..halvings {
        matmul(next.as_mut(), Accum::Replace, out.as_ref(), out.as_ref(), 1.0, Par::Seq);
        std::mem::swap(&mut out, &mut next);
    }
    Some(out)
}
