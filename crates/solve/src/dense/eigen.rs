//! Eigenvalue problems of small dense matrices.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

/// All eigenvalues, ascending, and the eigenvectors (columns) of a symmetric matrix given by its lower triangle.
///
/// It calls faer's low-level function, since the high-level one takes the number of threads from a global setting.
/// `None` if the iteration does not converge; for finite numbers it does.
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

/// All eigenvalues, ascending, and the eigenvectors of a symmetric tridiagonal matrix.
pub(crate) fn tridiagonal_eigen(diagonal: &[f64], off_diagonal: &[f64]) -> Option<(Vec<f64>, Mat<f64>)> {
    let n = diagonal.len();
    let matrix = Mat::from_fn(n, n, |i, j| match i.abs_diff(j) {
        0 => diagonal[i],
        1 => off_diagonal[i.min(j)],
        _ => 0.0,
    });
    symmetric_eigen(matrix.as_ref())
}

/// A B.
fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// All solutions of K y = λ M y, λ ascending, Yᵀ M Y = 1, for an M near the identity.
///
/// The problem is transformed by M^−½, which changes nearly orthonormal vectors least (Löwdin 1950). `None` if M is not
/// positive definite.
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
