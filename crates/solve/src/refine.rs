//! Modes that follow a matrix as it changes: last step's vectors, improved with a factorisation that is there anyway.

use crate::dense::{generalized_eigen, symmetric_eigen};
use crate::flow::Linear;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// Vectors of a length, one after the other, with UᵀMU = 1, and their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subspace {
    /// The vectors, column by column.
    pub vectors: Vec<f64>,
    /// uᵀKu, ascending, once refined.
    pub values: Vec<f64>,
}

/// Aᵀ B for columns of n numbers.
fn inner(a: &[f64], b: &[f64], n: usize) -> Mat<f64> {
    let (a, b) = (columns(a, n), columns(b, n));
    let mut out = Mat::zeros(a.ncols(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a.transpose(), b, 1.0, Par::Seq);
    out
}

fn columns(a: &[f64], n: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(a, n, a.len() / n)
}

/// C ← C + s A B.
fn add_product(c: &mut [f64], s: f64, a: &[f64], b: MatRef<'_, f64>, n: usize) {
    let count = c.len() / n;
    matmul(MatMut::from_column_major_slice_mut(c, n, count), Accum::Add, columns(a, n), b, s, Par::Seq);
}

fn each(apply: &dyn Fn(&[f64], &mut [f64]), x: &[f64], n: usize) -> Vec<f64> {
    let mut y = vec![0.0; x.len()];
    for (x, y) in x.chunks_exact(n).zip(y.chunks_exact_mut(n)) {
        apply(x, y);
    }
    y
}

impl Subspace {
    /// How many vectors.
    pub fn len(&self, n: usize) -> usize {
        self.vectors.len() / n.max(1)
    }

    /// One step of block Davidson \[morgan1986\] towards the lowest modes of K u = λ M u: Rayleigh–Ritz in the span of U
    /// and A⁻¹(KU − MUΛ), where `solve` is A⁻¹ for some A = M + τ²K near enough, that is shift-invert with a shift of
    /// −1/τ². `keep` is applied to every new vector.
    ///
    /// Returns for each vector ‖A⁻¹(Ku − λMu)‖_M as it was before the step; `None` if something is not finite.
    pub fn refine(
        &mut self,
        system: &dyn Linear,
        solve: &mut dyn FnMut(&mut [f64], usize),
        keep: &dyn Fn(&mut [f64]),
        n: usize,
    ) -> Option<Vec<f64>> {
        let count = self.len(n);
        let stiffness = |x: &[f64], y: &mut [f64]| system.stiffness(x, y);
        let mass = |x: &[f64], y: &mut [f64]| system.mass(x, y);
        let u = &self.vectors;
        let (ku, mu) = (each(&stiffness, u, n), each(&mass, u, n));
        // R = KU − MU(UᵀKU), and the correction W without what it has of U.
        let projected = inner(u, &ku, n);
        let mut w = ku.clone();
        add_product(&mut w, -1.0, &mu, projected.as_ref(), n);
        solve(&mut w, count);
        w.chunks_exact_mut(n).for_each(keep);
        let square = inner(&w, &each(&mass, &w, n), n);
        let before: Vec<f64> = (0..count).map(|k| square[(k, k)]).collect();
        // Twice, as in Gram–Schmidt.
        for _ in 0..2 {
            let overlap = inner(&mu, &w, n);
            add_product(&mut w, -1.0, u, overlap.as_ref(), n);
        }
        let square = inner(&w, &each(&mass, &w, n), n);
        // Of rounding within the span of U, nothing is left.
        let sizes: Vec<f64> = (0..count)
            .map(|k| if square[(k, k)] <= 1e-12 * before[k] { 0.0 } else { square[(k, k)].sqrt() })
            .collect();
        if sizes.iter().any(|s| !s.is_finite()) {
            return None;
        }
        // An orthonormal basis of the corrections that are more than rounding.
        let scaled = Mat::from_fn(count, count, |i, j| {
            let size = sizes[i] * sizes[j];
            if size > 0.0 { square[(i, j)] / size } else { 0.0 }
        });
        let (weights, directions) = symmetric_eigen(scaled.as_ref())?;
        let scale: f64 = sizes.iter().fold(0.0, |m, s| m.max(*s));
        let useful: Vec<usize> = (0..count).filter(|&k| weights[k] > 1e-8 && scale > 0.0).collect();
        let basis = Mat::from_fn(count, useful.len(), |i, k| {
            let k = useful[k];
            if sizes[i] > 0.0 { directions[(i, k)] / (weights[k].sqrt() * sizes[i]) } else { 0.0 }
        });
        let mut y = u.clone();
        y.resize((count + useful.len()) * n, 0.0);
        add_product(&mut y[count * n..], 1.0, &w, basis.as_ref(), n);
        let (mut ky, mut my) = (ku, mu);
        ky.extend(each(&stiffness, &y[count * n..], n));
        my.extend(each(&mass, &y[count * n..], n));
        let symmetric =
            |a: Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| 0.5 * (a[(i, j)] + a[(j, i)]));
        let (stiffness, mass) = (symmetric(inner(&y, &ky, n)), symmetric(inner(&y, &my, n)));
        let (values, vectors) = generalized_eigen(&stiffness, &mass)?;
        if values.iter().any(|v| !v.is_finite()) {
            return None;
        }
        self.vectors.fill(0.0);
        add_product(&mut self.vectors, 1.0, &y, vectors.as_ref().subcols(0, count), n);
        self.values = values[..count].to_vec();
        Some(sizes)
    }
}
