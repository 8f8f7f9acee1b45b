//! Linear operators and preconditioners, the interface of the Krylov methods.

use crate::matrix::BlockMatrix;

/// A square matrix, given by its product with a vector.
///
/// ```
/// use lilyan_solve::{Identity, cg, from_fn};
///
/// // 2 x₀ = 2, 4 x₁ = 2.
/// let mut diagonal = from_fn(2, |x, y| (y[0], y[1]) = (2.0 * x[0], 4.0 * x[1]));
/// let mut x = [0.0; 2];
/// let report = cg(&mut diagonal, &mut Identity, &[2.0, 2.0], &mut x, 1e-12, 10);
/// assert!(report.converged && (x[0] - 1.0).abs() < 1e-12 && (x[1] - 0.5).abs() < 1e-12);
/// ```
pub trait Operator {
    /// The number of rows.
    fn size(&self) -> usize;
    /// y ← A x.
    fn apply(&mut self, x: &[f64], y: &mut [f64]);
}

/// An approximation of the inverse of a matrix. It must be linear; for conjugate gradients also symmetric and positive
/// definite.
pub trait Preconditioner {
    /// x ← B x, where B ≈ A⁻¹.
    fn precondition(&mut self, x: &mut [f64]);
}

impl Operator for &BlockMatrix {
    fn size(&self) -> usize {
        self.dofs()
    }

    fn apply(&mut self, x: &[f64], y: &mut [f64]) {
        self.mul_vec(x, y);
    }
}

/// An operator whose product is a closure; [`from_fn`] creates it.
pub struct FnOperator<F> {
    size: usize,
    product: F,
}

/// The operator with `size` rows whose product y ← A x is `product(x, y)`.
pub fn from_fn<F: FnMut(&[f64], &mut [f64])>(size: usize, product: F) -> FnOperator<F> {
    FnOperator { size, product }
}

impl<F: FnMut(&[f64], &mut [f64])> Operator for FnOperator<F> {
    fn size(&self) -> usize {
        self.size
    }

    fn apply(&mut self, x: &[f64], y: &mut [f64]) {
        (self.product)(x, y);
    }
}

/// A closure that overwrites its argument.
impl<F: FnMut(&mut [f64])> Preconditioner for F {
    fn precondition(&mut self, x: &mut [f64]) {
        self(x);
    }
}

/// The identity as a preconditioner: no preconditioning.
pub struct Identity;

impl Preconditioner for Identity {
    fn precondition(&mut self, _: &mut [f64]) {}
}
