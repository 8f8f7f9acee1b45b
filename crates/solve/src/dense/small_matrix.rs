//! Small dense matrices, e.g. projections onto a few modes.

use super::eigen::symmetric_eigen;
use faer::Mat;

/// A small dense matrix, by rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SmallMatrix {
    rows: usize,
    columns: usize,
    data: Vec<f64>,
}

impl std::ops::Index<(usize, usize)> for SmallMatrix {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.columns + j]
    }
}

impl SmallMatrix {
    /// The matrix with these entries.
    pub fn from_fn(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let data = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| entry(i, j));
        Self { rows, columns, data: data.collect() }
    }

    /// The diagonal matrix with these entries.
    pub fn diagonal(values: &[f64]) -> Self {
        Self::from_fn(values.len(), values.len(), |i, j| if i == j { values[i] } else { 0.0 })
    }

    /// The block diagonal matrix of A and B.
    pub fn block_diagonal(&self, other: &Self) -> Self {
        let (r, c) = (self.rows, self.columns);
        Self::from_fn(r + other.rows, c + other.columns, |i, j| match (i < r, j < c) {
            (true, true) => self[(i, j)],
            (false, false) => other[(i - r, j - c)],
            _ => 0.0,
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.columns..(i + 1) * self.columns]
    }

    /// A B.
    pub fn times(&self, other: &Self) -> Self {
        let entry = |i, j| (0..self.columns).fold(0.0, |sum, k| sum + self[(i, k)] * other[(k, j)]);
        Self::from_fn(self.rows, other.columns, entry)
    }

    /// A x.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        let entry = |i| (0..self.columns).fold(0.0, |sum, k| sum + self[(i, k)] * x[k]);
        (0..self.rows).map(entry).collect()
    }

    /// Aᵀ.
    pub fn transposed(&self) -> Self {
        Self::from_fn(self.columns, self.rows, |i, j| self[(j, i)])
    }

    /// s A + t B.
    pub fn combined(&self, s: f64, other: &Self, t: f64) -> Self {
        Self::from_fn(self.rows, self.columns, |i, j| s * self[(i, j)] + t * other[(i, j)])
    }

    /// (A + Aᵀ)/2.
    pub fn symmetric(&self) -> Self {
        Self::from_fn(self.rows, self.rows, |i, j| 0.5 * (self[(i, j)] + self[(j, i)]))
    }

    /// diag(l) A diag(r).
    pub fn scaled(&self, l: &[f64], r: &[f64]) -> Self {
        Self::from_fn(self.rows, self.columns, |i, j| l[i] * self[(i, j)] * r[j])
    }

    /// f(A) of a symmetric matrix, by its eigenvalues; `None` if an entry is not finite.
    pub fn function(&self, f: impl Fn(f64) -> f64) -> Option<Self> {
        if self.data.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let a = Mat::from_fn(self.rows, self.rows, |i, j| self[(i, j)]);
        let (values, q) = symmetric_eigen(a.as_ref())?;
        let values: Vec<f64> = values.into_iter().map(f).collect();
        let entry = |i, j| (0..self.rows).fold(0.0, |sum, k| sum + values[k] * q[(i, k)] * q[(j, k)]);
        Some(Self::from_fn(self.rows, self.rows, entry))
    }

    /// A⁻¹ of a symmetric matrix, by its Cholesky factor; `None` if A is not positive definite.
    pub fn inverse(&self) -> Option<Self> {
        let n = self.rows;
        let mut l = self.data.clone();
        for j in 0..n {
            for k in 0..j {
                for i in j..n {
                    l[i * n + j] -= l[i * n + k] * l[j * n + k];
                }
            }
            let pivot = l[j * n + j];
            if pivot.is_nan() || pivot <= 1e-14 * self.data[j * n + j].abs() {
                return None;
            }
            (j..n).for_each(|i| l[i * n + j] /= pivot.sqrt());
        }
        // L⁻¹ by rows, then L⁻ᵀL⁻¹.
        let mut m = vec![0.0; n * n];
        for i in 0..n {
            m[i * n + i] = 1.0;
            for k in 0..i {
                let c = l[i * n + k];
                (0..=k).for_each(|j| m[i * n + j] -= c * m[k * n + j]);
            }
            (0..=i).for_each(|j| m[i * n + j] /= l[i * n + i]);
        }
        let entry = |i: usize, j: usize| (i.max(j)..n).fold(0.0, |sum, k| sum + m[k * n + i] * m[k * n + j]);
        Some(Self::from_fn(n, n, entry))
    }

    /// The nearest matrix with orthonormal columns, A (AᵀA)^−½. Singular values below `least` are divided by `least`
    /// only, so that noise is not amplified. `None` if an entry is not finite.
    pub fn orthonormal(&self, least: f64) -> Option<Self> {
        let square = self.transposed().times(self).symmetric();
        let root = square.function(|s| 1.0 / s.max(least * least).sqrt())?;
        Some(self.times(&root))
    }

    /// Singular values, ascending; `None` if an entry is not finite.
    pub fn singular_values(&self) -> Option<Vec<f64>> {
        let square = self.transposed().times(self);
        if square.data.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let square = Mat::from_fn(square.rows, square.rows, |i, j| square[(i, j)]);
        Some(symmetric_eigen(square.as_ref())?.0.into_iter().map(|s| s.max(0.0).sqrt()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_nearest_orthonormal_columns() {
        let a = SmallMatrix::from_fn(3, 3, |i, j| 1.0 / (1 + i + j) as f64 + if i == j { 1.0 } else { 0.0 });
        let off = |a: &SmallMatrix, b: &SmallMatrix| {
            a.data.iter().zip(&b.data).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()))
        };
        let one = SmallMatrix::diagonal(&[1.0; 3]);
        assert!(off(&a.times(&a.function(|x| 1.0 / x).unwrap()), &one) < 1e-14);
        assert!(off(&a.times(&a.inverse().unwrap()), &one) < 1e-14);
        assert!(
            a.combined(1.0, &one, -2.0).inverse().is_none()
                && SmallMatrix::diagonal(&[f64::NAN]).inverse().is_none()
        );
        let q = SmallMatrix::from_fn(3, 2, |i, j| ((1 + i) as f64 * (j as f64 + 0.3)).sin())
            .orthonormal(1e-9)
            .unwrap();
        assert!(off(&q.transposed().times(&q), &SmallMatrix::diagonal(&[1.0; 2])) < 1e-13);
        assert!(q.singular_values().unwrap().iter().all(|s| (s - 1.0).abs() < 1e-13));
        assert!(SmallMatrix::diagonal(&[f64::NAN]).function(|x| x).is_none());
        let two = SmallMatrix::diagonal(&[2.0]).block_diagonal(&SmallMatrix::diagonal(&[3.0]));
        assert_eq!(two, SmallMatrix::diagonal(&[2.0, 3.0]));
        assert_eq!(two.apply(&[1.0, 1.0]), [2.0, 3.0]);
    }
}
