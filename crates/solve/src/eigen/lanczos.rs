//! The basis of block shift-invert Lanczos, see [`crate::eigen`].

use crate::dense::{generalized_eigen, symmetric_eigen};
use crate::direct::cholesky::{Cholesky, NotPositiveDefinite};
use crate::direct::saddle::schur::Saddle;
use crate::eigen::Modes;
use crate::matrix::block::BlockMatrix;
use crate::matrix::sparse_rows::SparseRows;
use crate::matrix::vector::{Random, axpy, dot, norm, scale};
use faer::Mat;

/// Vectors per block: six rigid modes and two more. Eight solves at once cost about twice as much as one.
pub(crate) const BLOCK: usize = 8;

/// The pencil (K, M) and a factor of K + σM, restricted to motions that satisfy the constraints.
#[allow(non_snake_case)]
pub(crate) struct Pencil<'a> {
    K: &'a BlockMatrix,
    M: &'a BlockMatrix,
    held: &'a [bool],
    /// Constraint rows J, zero at held dofs.
    rows: &'a SparseRows,
    shifted: BlockMatrix,
    saddle: Saddle,
    /// ‖K‖∞ over free dofs, the scale of rounding in K u.
    size: f64,
    cholesky: Cholesky,
    pub shift: f64,
}

impl<'a> Pencil<'a> {
    #[allow(non_snake_case)]
    pub fn new(K: &'a BlockMatrix, M: &'a BlockMatrix, held: &'a [bool], rows: &'a SparseRows) -> Pencil<'a> {
        let mut absolute = K.clone();
        absolute.hold(held);
        for value in absolute.values_mut().iter_mut().flatten() {
            *value = value.abs();
        }
        let (ones, mut sums) = (vec![1.0; held.len()], vec![0.0; held.len()]);
        absolute.mul_vec(&ones, &mut sums);
        let size = (0..held.len()).filter(|&d| !held[d]).fold(0.0, |m, d| f64::max(m, sums[d]));
        let (shifted, saddle) = (K.clone(), Saddle::new());
        Pencil { K, M, held, rows, shifted, saddle, size, cholesky: Cholesky::new(), shift: 0.0 }
    }

    /// Factorises K + σM with held dofs decoupled.
    pub fn factor(&mut self, shift: f64) -> Result<(), NotPositiveDefinite> {
        self.shifted.clone_from(self.K);
        self.shifted.add_scaled(shift, self.M);
        self.shifted.hold(self.held);
        self.shift = shift;
        if self.rows.is_empty() {
            self.cholesky.factor(&self.shifted)
        } else {
            self.saddle.factor(&self.shifted, &mut self.cholesky, self.rows)
        }
    }

    /// Subtracts the constraint forces that balance a force.
    fn subtract_constraint_forces(&mut self, force: &mut [f64]) {
        if !self.rows.is_empty() {
            let z = self.saddle_solve(force);
            self.rows.add_transposed(-1.0, &z[force.len()..], force);
        }
    }

    /// Displacement and multipliers: the solution of the saddle-point system for a force.
    fn saddle_solve(&mut self, force: &[f64]) -> Vec<f64> {
        let mut z = force.to_vec();
        z.resize(force.len() + self.rows.len(), 0.0);
        self.saddle.solve(&self.shifted, &mut self.cholesky, &mut z, 3);
        z
    }

    /// y ← A x, with zeros at held dofs.
    fn product(&self, a: &BlockMatrix, x: &[f64], y: &mut [f64]) {
        a.mul_vec(x, y);
        self.mask(y);
    }

    fn mask(&self, x: &mut [f64]) {
        for (x, &held) in x.iter_mut().zip(self.held) {
            if held {
                *x = 0.0;
            }
        }
    }

    /// Applies S = (K + σM)⁻¹M to each vector. Held dofs stay zero, since the factor is the identity there.
    fn shift_invert(&mut self, vectors: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let n = self.held.len();
        let mut block = vec![0.0; n * vectors.len()];
        for (v, x) in vectors.iter().zip(block.chunks_exact_mut(n)) {
            self.product(self.M, v, x);
        }
        if !self.rows.is_empty() {
            let solve = |x: &[f64]| {
                let mut z = self.saddle_solve(x);
                z.truncate(n);
                z
            };
            return block.chunks_exact(n).map(solve).collect();
        }
        self.cholesky.solve_many(&mut block, vectors.len());
        block.chunks_exact(n).map(|x| x.to_vec()).collect()
    }
}

/// Ritz pairs of S, largest θ first.
pub(crate) struct Ritz {
    pub theta: Vec<f64>,
    /// ‖S u − θ u‖_M.
    pub estimates: Vec<f64>,
    /// Coefficients of u in the basis.
    coefficients: Vec<Vec<f64>>,
}

/// An M-orthonormal basis of the Krylov space, and the projection of S onto it.
pub(crate) struct Basis {
    vectors: Vec<Vec<f64>>,
    /// `image[j][i]` = vᵢᵀ M S vⱼ. The list ends with the last vector that existed after S was applied to vⱼ; further
    /// entries are 0.
    image: Vec<Vec<f64>>,
    random: Random,
    product: Vec<f64>,
}

impl Basis {
    pub fn new(pencil: &mut Pencil) -> Basis {
        let product = vec![0.0; pencil.held.len()];
        let mut basis = Basis { vectors: Vec::new(), image: Vec::new(), random: Random(1), product };
        basis.refresh(pencil);
        basis
    }

    /// Number of vectors to which S was applied.
    pub fn processed(&self) -> usize {
        self.image.len()
    }

    /// Adds a block of random vectors. S is applied to them once, which damps high modes and removes the null space of M.
    pub fn refresh(&mut self, pencil: &mut Pencil) {
        let start: Vec<Vec<f64>> = (0..BLOCK).map(|_| self.random_vector(pencil)).collect();
        for w in pencil.shift_invert(&start) {
            self.add(pencil, w);
        }
    }

    /// A random vector, zero at held dofs.
    fn random_vector(&mut self, pencil: &Pencil) -> Vec<f64> {
        let mut x: Vec<f64> = (0..pencil.held.len()).map(|_| self.random.number()).collect();
        pencil.mask(&mut x);
        x
    }

    /// Orthonormalises w against the basis, and adds it unless it is linearly dependent. Returns its coefficients, and
    /// whether it was added.
    ///
    /// Classical Gram–Schmidt, repeated until w changes little. Twice is enough unless w is nearly in the span
    /// (Kahan & Parlett; Giraud et al. 2005).
    fn add(&mut self, pencil: &Pencil, mut w: Vec<f64>) -> (Vec<f64>, bool) {
        let mut coefficients = vec![0.0; self.vectors.len()];
        pencil.product(pencil.M, &w, &mut self.product);
        let original = dot(&w, &self.product).max(0.0).sqrt();
        let mut before = original;
        let mut left = before;
        for _ in 0..6 {
            for (v, c) in self.vectors.iter().zip(&mut coefficients) {
                let s = dot(v, &self.product);
                axpy(-s, v, &mut w);
                *c += s;
            }
            pencil.product(pencil.M, &w, &mut self.product);
            left = dot(&w, &self.product).max(0.0).sqrt();
            if left > 0.7 * before || left <= 1e-13 * original {
                break;
            }
            before = left;
        }
        let new = left > 1e-13 * original;
        if new {
            scale(1.0 / left, &mut w);
            coefficients.push(left);
            self.vectors.push(w);
        }
        (coefficients, new)
    }

    /// Applies S to the vectors that were not processed yet. Returns whether the basis is complete.
    pub fn grow(&mut self, pencil: &mut Pencil) -> bool {
        let first = self.image.len();
        if first == self.vectors.len() {
            return true;
        }
        let mut dependent = 0;
        for w in pencil.shift_invert(&self.vectors[first..]) {
            let (coefficients, new) = self.add(pencil, w);
            self.image.push(coefficients);
            dependent += usize::from(!new);
        }
        // Random vectors replace linearly dependent ones.
        for _ in 0..dependent.min(BLOCK) {
            let random = self.random_vector(pencil);
            let smooth = pencil.shift_invert(&[random]).remove(0);
            if !self.add(pencil, smooth).1 {
                break;
            }
        }
        self.image.len() == self.vectors.len()
    }

    /// Rayleigh–Ritz in the processed part of the basis.
    pub fn ritz(&self) -> Option<Ritz> {
        let m = self.image.len();
        let entry = |i: usize, j: usize| self.image[j].get(i).copied().unwrap_or(0.0);
        let projected = Mat::from_fn(m, m, |i, j| 0.5 * (entry(i, j) + entry(j, i)));
        let mut ritz = Ritz { theta: Vec::new(), estimates: Vec::new(), coefficients: Vec::new() };
        if m == 0 {
            return Some(ritz);
        }
        let (values, vectors) = symmetric_eigen(projected.as_ref())?;
        for k in (0..m).rev() {
            let y: Vec<f64> = (0..m).map(|i| vectors[(i, k)]).collect();
            let beyond = (m..self.vectors.len()).map(|i| (0..m).map(|j| entry(i, j) * y[j]).sum::<f64>());
            ritz.estimates.push(beyond.map(|r| r * r).sum::<f64>().sqrt());
            ritz.theta.push(values[k]);
            ritz.coefficients.push(y);
        }
        Some(ritz)
    }

    /// The `count` lowest modes with their true residuals, and for each the residual that rounding alone can cause.
    ///
    /// S is applied to the Ritz vectors once more. Rounding errors of Gram–Schmidt lie in high modes: K would amplify them
    /// by λ_max / λ, and S damps them by the same factor. Rayleigh–Ritz with K and M follows.
    pub fn modes(&self, pencil: &mut Pencil, ritz: &Ritz, count: usize) -> Option<(Modes, Vec<f64>)> {
        let n = pencil.held.len();
        let mut smooth = Vec::with_capacity(count);
        for part in ritz.coefficients[..count].chunks(BLOCK) {
            let vectors: Vec<Vec<f64>> = part.iter().map(|y| combination(y, &self.vectors, n)).collect();
            smooth.extend(pencil.shift_invert(&vectors));
        }
        for (w, theta) in smooth.iter_mut().zip(&ritz.theta) {
            scale(1.0 / theta, w);
        }
        let project = |a: &BlockMatrix| {
            let mut products = vec![vec![0.0; n]; count];
            for (w, p) in smooth.iter().zip(&mut products) {
                pencil.product(a, w, p);
            }
            // K and M are symmetric; the average removes the asymmetry due to rounding.
            Mat::from_fn(count, count, |i, j| {
                0.5 * (dot(&smooth[i], &products[j]) + dot(&smooth[j], &products[i]))
            })
        };
        let (stiffness, mass) = (project(pencil.K), project(pencil.M));
        let (values, coefficients) = generalized_eigen(&stiffness, &mass)?;
        let mut modes = Modes { values, vectors: vec![], residuals: vec![], shift: pencil.shift };
        let mut rounding = Vec::new();
        let (mut ku, mut mu) = (vec![0.0; n], vec![0.0; n]);
        for k in 0..count {
            let y: Vec<f64> = (0..count).map(|i| coefficients[(i, k)]).collect();
            let u = combination(&y, &smooth, n);
            pencil.product(pencil.K, &u, &mut ku);
            pencil.product(pencil.M, &u, &mut mu);
            let measure = norm(&ku) + pencil.shift * norm(&mu);
            axpy(-modes.values[k], &mu, &mut ku);
            pencil.subtract_constraint_forces(&mut ku);
            modes.residuals.push(norm(&ku) / measure);
            // 16: rounding of the solve and of this product.
            rounding.push(16.0 * f64::EPSILON * pencil.size * norm(&u) / measure);
            modes.vectors.push(u);
        }
        Some((modes, rounding))
    }
}

/// Σ cᵢ vᵢ.
fn combination(coefficients: &[f64], vectors: &[Vec<f64>], n: usize) -> Vec<f64> {
    let mut u = vec![0.0; n];
    for (c, v) in coefficients.iter().zip(vectors) {
        axpy(*c, v, &mut u);
    }
    u
}
