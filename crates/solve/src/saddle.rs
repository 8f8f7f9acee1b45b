//! Saddle-point systems [A Bᵀ; B 0] (u, w) = (f, g): equations of motion with constraints.
//!
//! A is symmetric and positive definite; the rows of B are few or many. Few: the Schur complement S = B A⁻¹ Bᵀ, dense,
//! from as many solves with the Cholesky factor of A. Many: one sparse L D Lᵀ of the whole. Either is refined against
//! the matrix itself, so that the accuracy does not depend on the choice.

use crate::quasidefinite::QuasiDefinite;
use crate::rows::SparseRows;
use crate::{BlockMatrix, Cholesky, NotPositiveDefinite};

/// So many rows are eliminated by the Schur complement: their solves cost about as much as a factorisation.
const FEW: usize = 48;

/// Share of the diagonal of S that regularises the whole matrix: what it changes is undone by refinement, and below
/// 1e-12 there would be no pivots that are safe.
const REGULARISATION: f64 = 1e-9;

/// A factorised saddle-point matrix.
#[derive(Default)]
pub struct Saddle {
    rows: SparseRows,
    /// A⁻¹Bᵀ, one column after the other, and the Cholesky factor of S row by row; only where rows are few.
    influence: Vec<f64>,
    schur: Vec<f64>,
    whole: QuasiDefinite,
}

impl Saddle {
    /// Nothing factorised.
    pub fn new() -> Saddle {
        Saddle::default()
    }

    /// Factorises. `factor` is that of A alone, made here where the rows are few.
    ///
    /// The error names a dof of A that is not positive definite, or, as a dof beyond them, a row of B that depends on
    /// others.
    pub fn factor(
        &mut self,
        a: &BlockMatrix,
        factor: &mut Cholesky,
        rows: &SparseRows,
    ) -> Result<(), NotPositiveDefinite> {
        self.rows.clone_from(rows);
        let (n, m) = (a.dofs(), rows.len());
        if m <= FEW {
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
        self.whole.factor(a, rows, &delta).map_err(|dof| NotPositiveDefinite { dof, finite: true })
    }

    /// (f, g) ← (u, w), refined up to so many times while that helps.
    pub fn solve(&mut self, a: &BlockMatrix, factor: &mut Cholesky, z: &mut [f64], refinements: usize) {
        let n = a.dofs();
        let right = z.to_vec();
        self.rough(n, factor, z);
        let (mut image, mut last) = (vec![0.0; z.len()], f64::INFINITY);
        for _ in 0..refinements {
            let (top, bottom) = image.split_at_mut(n);
            a.mul_vec(&z[..n], top);
            self.rows.add_transposed(1.0, &z[n..], top);
            self.rows.mul(&z[..n], bottom);
            let mut correction: Vec<f64> = right.iter().zip(&image).map(|(r, i)| r - i).collect();
            self.rough(n, factor, &mut correction);
            let share = |of: std::ops::Range<usize>| {
                let size = |v: &[f64]| v[of.clone()].iter().fold(0.0, |m: f64, x| m.max(x.abs()));
                let (change, size) = (size(&correction), size(z));
                if size > 0.0 { change / size } else { change }
            };
            let change = share(0..n).max(share(n..right.len()));
            // Not a number: no better than before.
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

    fn rough(&mut self, n: usize, factor: &mut Cholesky, z: &mut [f64]) {
        let m = self.rows.len();
        if m > FEW {
            self.whole.solve(z);
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

/// The lower Cholesky factor in place of a dense matrix; the error is the row that depends on those before.
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

/// A row that depends on others, and on which, with what weight (largest first, unit rows).
pub type Dependence = (usize, Vec<(usize, f64)>);

/// The rows that depend on earlier ones, in the metric of the diagonal matrix D⁻¹ (masses, say): sin² of their angle to
/// the span of the others is below `tolerance`. Rows without entries depend on nothing.
///
/// Cholesky of the Gram matrix of unit rows, in the given order, so that it is the later one that is called
/// superfluous. Dense: for at most some thousand rows that are connected.
pub fn dependent_rows(rows: &SparseRows, d: &[f64], tolerance: f64) -> Vec<Dependence> {
    let m = rows.len();
    let squares = rows.squares(d);
    let mut touching: Vec<Vec<(u32, f64)>> = vec![Vec::new(); d.len()];
    for i in 0..m {
        for (c, v) in rows.row(i).filter(|e| e.1 != 0.0) {
            touching[c].push((i as u32, v / (squares[i] * d[c]).sqrt()));
        }
    }
    let (mut l, mut kept, mut dependent) = (Vec::<Vec<f64>>::new(), Vec::new(), Vec::new());
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
        let mut line: Vec<f64> = Vec::with_capacity(kept.len() + 1);
        for (k, &j) in kept.iter().enumerate() {
            let other: &Vec<f64> = &l[k];
            let sum = line.iter().zip(other).fold(gram[j], |sum: f64, (a, b)| sum - a * b);
            line.push(sum / other[k]);
        }
        let left = line.iter().fold(1.0, |left, x| left - x * x);
        if left > tolerance {
            line.push(left.sqrt());
            l.push(line);
            kept.push(i);
            continue;
        }
        // Weights: Lᵀ c = line.
        for k in (0..line.len()).rev() {
            line[k] /= l[k][k];
            for j in 0..k {
                line[j] -= l[k][j] * line[k];
            }
        }
        let mut on: Vec<(usize, f64)> =
            kept.iter().copied().zip(line).filter(|(_, c): &(usize, f64)| c.abs() > 1e-6).collect();
        on.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        dependent.push((i, on));
    }
    dependent
}
