//! The smoother: a Chebyshev polynomial in D⁻¹A, where D is the block diagonal of A.
//!
//! Chebyshev polynomials of the fourth kind \[lottes2023\] are optimal if only the largest eigenvalue is known. The
//! smoother is self-adjoint in the inner product of A, so the V-cycle is symmetric. It consists of products with A, which
//! any number of threads can share.

use super::sparse::{Apply, Block, BlockRows, add_product, inverse, multiply};
use crate::dense::tridiagonal_eigen;
use crate::matrix::vector::{Random, dot};
use lilyan_parallel::threads;

/// Degree of the polynomial.
const DEGREE: usize = 2;
/// Lanczos steps for the largest eigenvalue, and the safety factor of the result.
const STEPS: usize = 10;
const MARGIN: f64 = 1.1;
/// Nodes per task.
const CHUNK: usize = 1 << 11;

/// Chebyshev smoother, preconditioned by the block diagonal.
#[derive(Default)]
pub(super) struct Smoother<const N: usize> {
    /// D⁻¹.
    pub inverse: Vec<Block<N, N>>,
    /// An upper bound of the eigenvalues of D⁻¹A.
    pub bound: f64,
}

impl<const N: usize> Smoother<N> {
    /// For a matrix with `rows` block rows. The error is the first row whose diagonal block is not positive definite.
    pub fn new(a: &impl BlockRows<N>, rows: usize) -> Result<Self, usize> {
        let mut inverses = vec![None; rows];
        threads::par_chunks_mut(&mut inverses, CHUNK, |chunk, part| {
            for (k, to) in part.iter_mut().enumerate() {
                let i = chunk * CHUNK + k;
                a.each(i, |j, block| {
                    if i == j {
                        *to = inverse(block);
                    }
                });
            }
        });
        let mut smoother = Self { inverse: Vec::with_capacity(rows), bound: 1.0 };
        for (i, block) in inverses.into_iter().enumerate() {
            smoother.inverse.push(block.ok_or(i)?);
        }
        smoother.bound = MARGIN * smoother.largest_eigenvalue(a);
        Ok(smoother)
    }

    /// An estimate of the largest eigenvalue of D⁻¹A from the Lanczos matrix of conjugate gradients \[hestenes1952\].
    fn largest_eigenvalue(&self, a: &impl BlockRows<N>) -> f64 {
        let n = self.inverse.len();
        let mut random = Random(3);
        let mut r: Vec<[f64; N]> = (0..n).map(|_| std::array::from_fn(|_| random.number())).collect();
        let mut z = vec![[0.0; N]; n];
        let mut image = z.clone();
        let mut p = z.clone();
        let (mut diagonal, mut off_diagonal) = (Vec::new(), Vec::new());
        let (mut previous_rz, mut inverse_alpha) = (0.0, 0.0);
        for k in 0..STEPS {
            self.add_inverse(0.0, 1.0, &r, &mut z);
            let rz = dot(r.as_flattened(), z.as_flattened());
            let beta = if k == 0 { 0.0 } else { rz / previous_rz };
            for (p, z) in p.iter_mut().zip(&z) {
                *p = std::array::from_fn(|c| z[c] + beta * p[c]);
            }
            multiply(a, &p, &mut image);
            let alpha = rz / dot(p.as_flattened(), image.as_flattened());
            // Converged, or A is not positive definite. The factorisation reports the latter.
            if !(alpha > 0.0 && alpha.is_finite()) {
                break;
            }
            if k > 0 {
                off_diagonal.push(beta.sqrt() * inverse_alpha);
            }
            diagonal.push(1.0 / alpha + beta * inverse_alpha);
            inverse_alpha = 1.0 / alpha;
            for (r, image) in r.iter_mut().zip(&image) {
                (0..N).for_each(|c| r[c] -= alpha * image[c]);
            }
            previous_rz = rz;
        }
        let values = tridiagonal_eigen(&diagonal, &off_diagonal).map(|found| found.0);
        values.and_then(|values| values.last().copied()).unwrap_or(1.0).max(1.0)
    }

    /// z ← s z + c D⁻¹ r.
    fn add_inverse(&self, s: f64, c: f64, r: &[[f64; N]], z: &mut [[f64; N]]) {
        threads::par_chunks_mut(z, CHUNK, |chunk, z| {
            let from = chunk * CHUNK;
            for ((z, r), d) in z.iter_mut().zip(&r[from..]).zip(&self.inverse[from..]) {
                let mut sum = [0.0; N];
                add_product(&mut sum, d, r);
                for k in 0..N {
                    z[k] = s * z[k] + c * sum[k];
                }
            }
        });
    }

    /// Smooths x, given its residual r. r becomes the residual of the new x if `update_residual` is set.
    pub fn smooth(
        &self,
        apply: &mut Apply<'_, N>,
        x: &mut [[f64; N]],
        [r, z, image]: [&mut [[f64; N]]; 3],
        update_residual: bool,
    ) {
        for k in 1..=DEGREE {
            let weight = 1.0 / (2 * k + 1) as f64;
            let previous = if k == 1 { 0.0 } else { (2 * k - 3) as f64 * weight };
            self.add_inverse(previous, (8 * k - 4) as f64 * weight / self.bound, r, z);
            add(1.0, z, x);
            if update_residual || k < DEGREE {
                apply(z, image);
                add(-1.0, image, r);
            }
        }
    }
}

/// y ← y + s x.
pub(super) fn add<const N: usize>(s: f64, x: &[[f64; N]], y: &mut [[f64; N]]) {
    crate::matrix::vector::axpy(s, x.as_flattened(), y.as_flattened_mut());
}
