//! Block Davidson: eigenvectors of the previous step, improved with an existing factorisation as the matrix changes.

use crate::dense::{generalized_eigen, symmetric_eigen};
use crate::second_order::SecondOrderSystem;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// Approximate eigenvectors U with UᵀMU = 1, and their eigenvalues.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subspace {
    /// The vectors, column by column.
    pub vectors: Vec<f64>,
    /// Ritz values uᵀKu, ascending; set by [`Subspace::refine`].
    pub values: Vec<f64>,
}

/// The vectors to keep, from all Ritz values, ascending, and for each load the products uᵀf with all Ritz vectors.
pub type Choose<'a> = dyn Fn(&[f64], &[Vec<f64>]) -> Vec<usize> + 'a;

/// Aᵀ B for matrices with n rows.
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

/// Applies a matrix to every column.
fn apply_to_columns(apply: &dyn Fn(&[f64], &mut [f64]), x: &[f64], n: usize) -> Vec<f64> {
    let mut y = vec![0.0; x.len()];
    for (x, y) in x.chunks_exact(n).zip(y.chunks_exact_mut(n)) {
        apply(x, y);
    }
    y
}

impl Subspace {
    /// Number of vectors of length `n`.
    pub fn len(&self, n: usize) -> usize {
        self.vectors.len() / n.max(1)
    }

    /// One step of block Davidson \[morgan1986\] towards the lowest modes of K u = λ M u: Rayleigh–Ritz in the span of U
    /// and the preconditioned residuals A⁻¹(KU − MUΛ). `solve` applies A⁻¹ for a matrix close to M + τ²K, that is
    /// shift-invert with the shift −1/τ². `project` is applied to every new vector, and projects it onto the admissible
    /// motions.
    ///
    /// Returns ‖A⁻¹(Ku − λMu)‖_M of each vector before the step; `None` if a number is not finite.
    pub fn refine(
        &mut self,
        system: &dyn SecondOrderSystem,
        solve: &mut dyn FnMut(&mut [f64], usize),
        project: &dyn Fn(&mut [f64]),
        n: usize,
    ) -> Option<Vec<f64>> {
        let count = self.len(n);
        self.refine_among(system, solve, project, n, &[], &|_, _| (0..count).collect())
    }

    /// Whether the first `count` vectors are still modes: ‖A⁻¹r‖_M of the sum r of their residuals is at most `most`. Then Ritz
    /// vectors and values in their span replace them. Otherwise, and where a number is not finite, nothing changes. `solve` applies
    /// A⁻¹, as in [`Subspace::refine`].
    pub fn still_holds(
        &mut self,
        system: &dyn SecondOrderSystem,
        solve: &mut dyn FnMut(&mut [f64], usize),
        project: &dyn Fn(&mut [f64]),
        n: usize,
        count: usize,
        most: f64,
    ) -> bool {
        let u = &self.vectors;
        let mut ku = vec![0.0; u.len()];
        system.stiffness_of_columns(u, &mut ku, n);
        let mu = apply_to_columns(&|x, y| system.mass(x, y), u, n);
        let projected = inner(u, &ku, n);
        add_product(&mut ku, -1.0, &mu, projected.as_ref(), n);
        let mut sum = vec![0.0; n];
        for residual in ku.chunks_exact(n).take(count) {
            sum.iter_mut().zip(residual).for_each(|(sum, r)| *sum += r);
        }
        solve(&mut sum, 1);
        project(&mut sum);
        let mut weighted = vec![0.0; n];
        system.mass(&sum, &mut weighted);
        let size = sum.iter().zip(&weighted).map(|(x, y)| x * y).sum::<f64>().sqrt();
        let symmetric = Mat::from_fn(projected.nrows(), projected.ncols(), |i, j| {
            0.5 * (projected[(i, j)] + projected[(j, i)])
        });
        tracing::debug!(size, most, "modes of the step before");
        let holds = size.is_finite() && size <= most;
        let Some((values, vectors)) = symmetric_eigen(symmetric.as_ref()).filter(|_| holds) else {
            return false;
        };
        let mut turned = vec![0.0; u.len()];
        add_product(&mut turned, 1.0, u, vectors.as_ref(), n);
        (self.vectors, self.values) = (turned, values);
        true
    }

    /// [`Subspace::refine`] in a space that also contains the responses A⁻¹f to `loads` f (column by column). Those that
    /// `choose` names are kept.
    pub fn refine_among(
        &mut self,
        system: &dyn SecondOrderSystem,
        solve: &mut dyn FnMut(&mut [f64], usize),
        project: &dyn Fn(&mut [f64]),
        n: usize,
        loads: &[f64],
        choose: &Choose<'_>,
    ) -> Option<Vec<f64>> {
        let count = self.len(n);
        let stiffness = |x: &[f64]| -> Vec<f64> {
            let mut y = vec![0.0; x.len()];
            system.stiffness_of_columns(x, &mut y, n);
            y
        };
        let mass = |x: &[f64], y: &mut [f64]| system.mass(x, y);
        let u = &self.vectors;
        let (ku, mu) = (stiffness(u), apply_to_columns(&mass, u, n));
        // The residual R = KU − MU(UᵀKU), and the correction W, M-orthogonal to U.
        let projected = inner(u, &ku, n);
        let mut w = ku.clone();
        add_product(&mut w, -1.0, &mu, projected.as_ref(), n);
        w.extend_from_slice(loads);
        let trials = w.len() / n;
        solve(&mut w, trials);
        w.chunks_exact_mut(n).for_each(project);
        let square = inner(&w, &apply_to_columns(&mass, &w, n), n);
        let before: Vec<f64> = (0..trials).map(|k| square[(k, k)]).collect();
        // Gram–Schmidt, twice.
        for _ in 0..2 {
            let overlap = inner(&mu, &w, n);
            add_product(&mut w, -1.0, u, overlap.as_ref(), n);
        }
        let square = inner(&w, &apply_to_columns(&mass, &w, n), n);
        // A correction in the span of U leaves only rounding, which is dropped.
        let sizes: Vec<f64> = (0..trials)
            .map(|k| if square[(k, k)] <= 1e-12 * before[k] { 0.0 } else { square[(k, k)].sqrt() })
            .collect();
        if sizes.iter().any(|s| !s.is_finite()) {
            return None;
        }
        // An orthonormal basis of the corrections, without directions of rounding.
        let scaled = Mat::from_fn(trials, trials, |i, j| {
            let size = sizes[i] * sizes[j];
            if size > 0.0 { square[(i, j)] / size } else { 0.0 }
        });
        let (weights, directions) = symmetric_eigen(scaled.as_ref())?;
        let scale: f64 = sizes.iter().fold(0.0, |m, s| m.max(*s));
        let useful: Vec<usize> = (0..trials).filter(|&k| weights[k] > 1e-8 && scale > 0.0).collect();
        let basis = Mat::from_fn(trials, useful.len(), |i, k| {
            let k = useful[k];
            if sizes[i] > 0.0 { directions[(i, k)] / (weights[k].sqrt() * sizes[i]) } else { 0.0 }
        });
        let mut y = u.clone();
        y.resize((count + useful.len()) * n, 0.0);
        add_product(&mut y[count * n..], 1.0, &w, basis.as_ref(), n);
        let (mut ky, mut my) = (ku, mu);
        ky.extend(stiffness(&y[count * n..]));
        my.extend(apply_to_columns(&mass, &y[count * n..], n));
        let symmetric =
            |a: Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, j| 0.5 * (a[(i, j)] + a[(j, i)]));
        let (stiffness, mass) = (symmetric(inner(&y, &ky, n)), symmetric(inner(&y, &my, n)));
        let (values, vectors) = generalized_eigen(&stiffness, &mass)?;
        if values.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let with_load = |load: &[f64]| -> Vec<f64> {
            let products = inner(&y, load, n);
            let along = |k: usize| (0..y.len() / n).map(|i| vectors[(i, k)] * products[(i, 0)]).sum();
            (0..values.len()).map(along).collect()
        };
        let along: Vec<Vec<f64>> = loads.chunks_exact(n).map(with_load).collect();
        let chosen = choose(&values, &along);
        let kept = Mat::from_fn(vectors.nrows(), chosen.len(), |i, k| vectors[(i, chosen[k])]);
        self.vectors.clear();
        self.vectors.resize(chosen.len() * n, 0.0);
        add_product(&mut self.vectors, 1.0, &y, kept.as_ref(), n);
        self.values = chosen.iter().map(|&k| values[k]).collect();
        Some(sizes)
    }
}
