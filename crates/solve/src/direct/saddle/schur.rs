//! Saddle-point systems [A Bᵀ; B 0] (u, w) = (f, g): equations of motion with constraints.
//!
//! A is symmetric and positive definite. If B has few rows, the dense Schur complement S = B A⁻¹ Bᵀ is formed, with one
//! solve with the Cholesky factor of A per row. If B has many rows, one sparse L D Lᵀ of the quasidefinite matrix is
//! computed. Both are refined iteratively with the matrix itself, so that the accuracy does not depend on the choice.

use crate::direct::saddle::quasidefinite::QuasiDefinite;
use crate::direct::{DirectSolver, NotPositiveDefinite};
use crate::matrix::BlockMatrix;
use crate::matrix::sparse_rows::SparseRows;

/// Up to this number of rows the Schur complement is used: the solves cost about as much as a factorisation.
const MAX_SCHUR_ROWS: usize = 48;

/// Regularisation of the quasidefinite matrix, relative to the diagonal of S. Refinement removes its effect. Below 1e-12
/// the pivots would not be safe.
const REGULARISATION: f64 = 1e-9;

/// A factorised saddle-point matrix.
#[derive(Default)]
pub struct Saddle {
    rows: SparseRows,
    /// A⁻¹Bᵀ, one column after the other; only with the Schur complement.
    influence: Vec<f64>,
    /// The Cholesky factor of S, row by row.
    schur: Vec<f64>,
    quasidefinite: QuasiDefinite,
}

impl Saddle {
    /// An empty factorisation.
    pub fn new() -> Saddle {
        Saddle::default()
    }

    /// Factorises. `factor` becomes the factor of A if the Schur complement is used.
    ///
    /// The error names a dof at which A is not positive definite, or n + i for a linearly dependent row i of B.
    pub fn factor(
        &mut self,
        a: &BlockMatrix,
        factor: &mut dyn DirectSolver,
        rows: &SparseRows,
    ) -> Result<(), NotPositiveDefinite> {
        self.rows.clone_from(rows);
        let (n, m) = (a.dofs(), rows.len());
        if m <= MAX_SCHUR_ROWS {
            factor.factor(a)?;
            self.influence.clear();
            self.influence.resize(n * m, 0.0);
            for i in 0..m {
                for (c, v) in rows.row(i) {
                    self.influence[i * n + c] = v;
                }
            }
            factor.solve_many(&mut self.influence, m);
            self.schur.clear();
            self.schur.resize(m * m, 0.0);
            for i in 0..m {
                let column = &self.influence[i * n..(i + 1) * n];
                for j in 0..m {
                    self.schur[j * m + i] = rows.row(j).fold(0.0, |sum, (c, v)| sum + v * column[c]);
                }
            }
            return cholesky(&mut self.schur, m)
                .map_err(|row| NotPositiveDefinite { dof: n + row, finite: true });
        }
        if !a.is_finite() {
            return Err(NotPositiveDefinite { dof: 0, finite: false });
        }
        let delta: Vec<f64> = rows.squares(&a.diagonal()).iter().map(|s| REGULARISATION * s).collect();
        if let Some(row) = delta.iter().position(|d| d.is_nan() || *d <= 0.0) {
            return Err(NotPositiveDefinite { dof: n + row, finite: true });
        }
        self.quasidefinite.factor(a, rows, &delta).map_err(|dof| NotPositiveDefinite { dof, finite: true })
    }

    /// (f, g) ← (u, w), with at most `refinements` steps of iterative refinement while they converge.
    pub fn solve(
        &mut self,
        a: &BlockMatrix,
        factor: &mut dyn DirectSolver,
        z: &mut [f64],
        refinements: usize,
    ) {
        let n = a.dofs();
        let right = z.to_vec();
        self.solve_once(n, factor, z);
        let (mut image, mut last) = (vec![0.0; z.len()], f64::INFINITY);
        for _ in 0..refinements {
            let (top, bottom) = image.split_at_mut(n);
            a.mul_vec(&z[..n], top);
            self.rows.add_transposed(1.0, &z[n..], top);
            self.rows.mul(&z[..n], bottom);
            let mut correction: Vec<f64> = right.iter().zip(&image).map(|(r, i)| r - i).collect();
            self.solve_once(n, factor, &mut correction);
            let relative_change = |of: std::ops::Range<usize>| {
                let size = |v: &[f64]| v[of.clone()].iter().fold(0.0, |m: f64, x| m.max(x.abs()));
                let (change, size) = (size(&correction), size(z));
                if size > 0.0 { change / size } else { change }
            };
            let change = relative_change(0..n).max(relative_change(n..right.len()));
            // NaN, or no convergence.
            if change.is_nan() || change >= 0.5 * last {
                return;
            }
            for (z, c) in z.iter_mut().zip(&correction) {
                *z += c;
            }
            if change <= 1e-15 {
                return;
            }
            last = change;
        }
    }

    fn solve_once(&mut self, n: usize, factor: &mut dyn DirectSolver, z: &mut [f64]) {
        let m = self.rows.len();
        if m > MAX_SCHUR_ROWS {
            self.quasidefinite.solve(z);
            return;
        }
        let (u, w) = z.split_at_mut(n);
        factor.solve(u);
        let mut s = vec![0.0; m];
        self.rows.mul(u, &mut s);
        for (w, s) in w.iter_mut().zip(&s) {
            *w = s - *w;
        }
        cholesky_solve(&self.schur, m, w);
        for (i, w) in w.iter().enumerate() {
            for (u, y) in u.iter_mut().zip(&self.influence[i * n..(i + 1) * n]) {
                *u -= w * y;
            }
        }
    }
}

/// The Cholesky factor of a dense matrix, in place. The error is the first row that depends on earlier ones.
fn cholesky(s: &mut [f64], m: usize) -> Result<(), usize> {
    for i in 0..m {
        let before = s[i * m + i];
        for j in 0..=i {
            let sum = (0..j).fold(s[i * m + j], |sum, k| sum - s[i * m + k] * s[j * m + k]);
            if j < i {
                s[i * m + j] = sum / s[j * m + j];
            } else if sum > 1e-14 * before {
                s[i * m + i] = sum.sqrt();
            } else {
                return Err(i);
            }
        }
    }
    Ok(())
}

fn cholesky_solve(l: &[f64], m: usize, x: &mut [f64]) {
    for i in 0..m {
        x[i] = (0..i).fold(x[i], |sum, k| sum - l[i * m + k] * x[k]) / l[i * m + i];
    }
    for i in (0..m).rev() {
        x[i] = (i + 1..m).fold(x[i], |sum, k| sum - l[k * m + i] * x[k]) / l[i * m + i];
    }
}

/// A linearly dependent row, and the rows it depends on with their coefficients (of unit rows, largest first).
pub type Dependence = (usize, Vec<(usize, f64)>);

/// The rows that depend linearly on earlier ones in the metric of the diagonal matrix D⁻¹ (e.g. inverse masses): sin² of
/// the angle to the span of the earlier rows is below `tolerance`. A zero row is reported with no others.
///
/// The method is a Cholesky factorisation of the Gram matrix of unit rows in the given order, so that the later of two
/// dependent rows is reported. It is dense, for at most a few thousand connected rows.
pub fn dependent_rows(rows: &SparseRows, d: &[f64], tolerance: f64) -> Vec<Dependence> {
    let m = rows.len();
    let squares = rows.squares(d);
    let mut touching: Vec<Vec<(u32, f64)>> = vec![Vec::new(); d.len()];
    for i in 0..m {
        for (c, v) in rows.row(i).filter(|e| e.1 != 0.0) {
            touching[c].push((i as u32, v / (squares[i] * d[c]).sqrt()));
        }
    }
    let (mut l, mut independent, mut dependent) = (Vec::<Vec<f64>>::new(), Vec::new(), Vec::new());
    let mut gram = vec![0.0; m];
    for i in 0..m {
        if squares[i] <= 0.0 {
            dependent.push((i, Vec::new()));
            continue;
        }
        gram.fill(0.0);
        for (c, v) in rows.row(i).filter(|e| e.1 != 0.0) {
            let unit = v / (squares[i] * d[c]).sqrt();
            for &(j, w) in &touching[c] {
                gram[j as usize] += unit * w;
            }
        }
        let mut coefficients: Vec<f64> = Vec::with_capacity(independent.len() + 1);
        for (k, &j) in independent.iter().enumerate() {
            let other: &Vec<f64> = &l[k];
            let sum = coefficients.iter().zip(other).fold(gram[j], |sum: f64, (a, b)| sum - a * b);
            coefficients.push(sum / other[k]);
        }
        let left = coefficients.iter().fold(1.0, |left, x| left - x * x);
        if left > tolerance {
            coefficients.push(left.sqrt());
            l.push(coefficients);
            independent.push(i);
            continue;
        }
        // Weights: Lᵀ c = coefficients.
        for k in (0..coefficients.len()).rev() {
            coefficients[k] /= l[k][k];
            for j in 0..k {
                coefficients[j] -= l[k][j] * coefficients[k];
            }
        }
        let mut on: Vec<(usize, f64)> = independent
            .iter()
            .copied()
            .zip(coefficients)
            .filter(|(_, c): &(usize, f64)| c.abs() > 1e-6)
            .collect();
        on.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        dependent.push((i, on));
    }
    dependent
}
