//! Small dense problems inside the sparse ones.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

/// All eigenvalues, ascending, and the eigenvectors (columns) of a symmetric matrix given by its lower triangle.
///
/// faer's low-level call: its convenient one takes its threads from a global setting. `None` if it does not converge,
/// which it does for finite numbers.
pub(crate) fn symmetric_eigen(a: MatRef<'_, f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let n = a.nrows();
    let mut values = vec![0.0; n];
    let mut vectors = Mat::zeros(n, n);
    let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let diagonal = DiagMut::from_slice_mut(&mut values);
    let stack = MemStack::new(&mut memory);
    self_adjoint_evd(a, diagonal, Some(vectors.as_mut()), Par::Seq, stack, Default::default()).ok()?;
    Some((values, vectors))
}

/// A B.
fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// All solutions of K y = λ M y, λ ascending, Yᵀ M Y = 1, for an M near the identity.
///
/// By M^−½, which changes vectors that are almost right the least (Löwdin 1950). `None` if M is not positive definite.
pub(crate) fn generalized_eigen(k: &Mat<f64>, m: &Mat<f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let n = k.nrows();
    let (d, q) = symmetric_eigen(m.as_ref())?;
    if d.iter().any(|&d| d.is_nan() || d <= 0.0) {
        return None;
    }
    let scaled = Mat::from_fn(n, n, |i, l| q[(i, l)] / d[l].sqrt());
    let root = product(scaled.as_ref(), q.transpose());
    let whole = product(product(root.as_ref(), k.as_ref()).as_ref(), root.as_ref());
    let (values, vectors) = symmetric_eigen(whole.as_ref())?;
    Some((values, product(root.as_ref(), vectors.as_ref())))
}

/// e^A, by its Taylor polynomial of degree 16 after scaling to a norm below ½, and squaring.
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
