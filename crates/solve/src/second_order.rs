//! Linear mechanical systems M ẍ + D ẋ + K x = f.

/// A linear mechanical system M ẍ + D ẋ + K x = f, given by products with its matrices. Vectors are zero at Dirichlet
/// dofs, before and after.
pub trait SecondOrderSystem {
    /// y ← M x.
    fn mass(&self, x: &[f64], y: &mut [f64]);
    /// y ← M⁻¹ x.
    fn divide_by_mass(&self, x: &[f64], y: &mut [f64]);
    /// y ← K x.
    fn stiffness(&self, x: &[f64], y: &mut [f64]);
    /// Y ← K X for columns of length `n`, one after the other.
    fn stiffness_of_columns(&self, x: &[f64], y: &mut [f64], n: usize) {
        for (x, y) in x.chunks_exact(n).zip(y.chunks_exact_mut(n)) {
            self.stiffness(x, y);
        }
    }
    /// y ← D x.
    fn damping(&self, x: &[f64], y: &mut [f64]);
}
