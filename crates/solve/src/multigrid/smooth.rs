//! What takes the rough part of an error away: a polynomial in D⁻¹A, with D the blocks on the diagonal.
//!
//! Chebyshev's of the fourth kind \[lottes2023\]: as good as can be had if nothing but the largest eigenvalue is known. It
//! commutes with A, so that smoothing before and after the coarser levels makes a symmetric whole, and it is nothing
//! but products with A: any number of threads can share them.

use super::sparse::{Apply, Block, ByRows, add_product, inverse, multiply};
use crate::dense::symmetric_eigen;
use crate::threads;
use crate::vector::{Random, dot};
use faer::Mat;

/// Degree of the polynomial.
const DEGREE: usize = 2;
/// Steps of Lanczos' method for the largest eigenvalue, and what is added to their result.
const STEPS: usize = 10;
const MARGIN: f64 = 1.1;
/// Nodes that one task goes through.
const CHUNK: usize = 1 << 11;

/// See the module.
#[derive(Default)]
pub(super) struct Smoother<const N: usize> {
    /// D⁻¹.
    pub inverse: Vec<Block<N, N>>,
    /// Above the eigenvalues of D⁻¹A.
    pub bound: f64,
}

impl<const N: usize> Smoother<N> {
    /// For a matrix with so many rows; else the first row whose diagonal block is not positive definite.
    pub fn new(a: &impl ByRows<N>, rows: usize) -> Result<Self, usize> {
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
        smoother.bound = MARGIN * smoother.largest(a);
        Ok(smoother)
    }

    /// An estimate of the largest eigenvalue of D⁻¹A: conjugate gradients are Lanczos' method \[hestenes1952\].
    fn largest(&self, a: &impl ByRows<N>) -> f64 {
        let n = self.inverse.len();
        let mut random = Random(3);
        let mut r: Vec<[f64; N]> = (0..n).map(|_| std::array::from_fn(|_| random.number())).collect();
        let mut z = vec![[0.0; N]; n];
        let mut image = z.clone();
        let mut p = z.clone();
        let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
        let (mut before, mut carried) = (0.0, 0.0);
        for k in 0..STEPS {
            self.add_inverse(0.0, 1.0, &r, &mut z);
            let rz = dot(r.as_flattened(), z.as_flattened());
            let beta = if k == 0 { 0.0 } else { rz / before };
            for (p, z) in p.iter_mut().zip(&z) {
                *p = std::array::from_fn(|c| z[c] + beta * p[c]);
            }
            multiply(a, &p, &mut image);
            let alpha = rz / dot(p.as_flattened(), image.as_flattened());
            // Converged, or not positive definite: that is for others to find.
            if !(alpha > 0.0 && alpha.is_finite()) {
                break;
            }
            if k > 0 {
                beside.push(beta.sqrt() * carried);
            }
            diagonal.push(1.0 / alpha + beta * carried);
            carried = 1.0 / alpha;
            for (r, image) in r.iter_mut().zip(&image) {
                (0..N).for_each(|c| r[c] -= alpha * image[c]);
            }
            before = rz;
        }
        let tridiagonal = Mat::from_fn(diagonal.len(), diagonal.len(), |i, j| match i.abs_diff(j) {
            0 => diagonal[i],
            1 => beside[i.min(j)],
            _ => 0.0,
        });
        let values = symmetric_eigen(tridiagonal.as_ref()).map(|found| found.0);
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

    /// Adds to x what smooths, given the residual r of x; r is that of the new x afterwards, if `after` asks for it.
    pub fn smooth(
        &self,
        apply: &mut Apply<'_, N>,
        x: &mut [[f64; N]],
        [r, z, image]: [&mut [[f64; N]]; 3],
        after: bool,
    ) {
        for k in 1..=DEGREE {
            let weight = 1.0 / (2 * k + 1) as f64;
            let keep = if k == 1 { 0.0 } else { (2 * k - 3) as f64 * weight };
            self.add_inverse(keep, (8 * k - 4) as f64 * weight / self.bound, r, z);
            add(1.0, z, x);
            if after || k < DEGREE {
                apply(z, image);
                add(-1.0, image, r);
            }
        }
    }
}

/// y ← y + s x.
pub(super) fn add<const N: usize>(s: f64, x: &[[f64; N]], y: &mut [[f64; N]]) {
    crate::vector::axpy(s, x.as_flattened(), y.as_flattened_mut());
}
