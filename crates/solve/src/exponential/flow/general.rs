//! The Arnoldi space for general damping: vectors (x, y) with the norm xᵀ(K + σM)x + yᵀMy.
//!
//! This norm is nearly the energy. J is nearly dissipative in it, and so is its projection: exponentials are bounded by
//! the motion. In the norm of M alone they would grow like e^{(hω)²/2} until the space is large enough.

use super::Growth;
use super::space::{Coordinates, KrylovSpace, combination, orthonormalise, size};
use crate::dense::exponential;
use crate::matrix::vector::{axpy, dot, scale};
use crate::second_order::SecondOrderSystem;
use faer::Mat;

/// Arnoldi space in 2n dimensions for general damping.
pub struct General<'a> {
    system: &'a dyn SecondOrderSystem,
    dofs: usize,
    sigma: f64,
    vectors: Vec<Vec<f64>>,
    /// J times the vectors.
    images: Vec<Vec<f64>>,
    grown: usize,
    /// `projected[j][i]` is the inner product of vector i and image j.
    projected: Vec<Vec<f64>>,
    /// The norm of (v, a).
    start: f64,
    speed: f64,
    indefinite: bool,
}

impl<'a> General<'a> {
    pub fn new(system: &'a dyn SecondOrderSystem, v: &[f64], a: &[f64], sigma: f64) -> Self {
        let mut space = Self {
            system,
            dofs: v.len(),
            sigma,
            vectors: Vec::new(),
            images: Vec::new(),
            grown: 0,
            projected: Vec::new(),
            start: 0.0,
            speed: 0.0,
            indefinite: false,
        };
        let mut momentum = vec![0.0; v.len()];
        system.mass(v, &mut momentum);
        space.speed = dot(v, &momentum).sqrt();
        space.start = space.add([v, a].concat());
        space
    }

    /// Applies the matrix of the inner product.
    fn weight(&self, u: &[f64], out: &mut [f64]) {
        let n = self.dofs;
        let (x, y) = out.split_at_mut(n);
        self.system.stiffness(&u[..n], x);
        self.system.mass(&u[..n], y);
        axpy(self.sigma, y, x);
        self.system.mass(&u[n..], y);
    }

    /// Orthonormalises w and adds it unless it is linearly dependent. Returns the norm of its new part.
    fn add(&mut self, mut w: Vec<f64>) -> f64 {
        let n = self.dofs;
        let new_part = orthonormalise(&|x, y| self.weight(x, y), &self.vectors, &mut w)[self.vectors.len()];
        self.indefinite |= new_part < 0.0;
        if new_part > 0.0 {
            let mut image = vec![0.0; 2 * n];
            image[..n].copy_from_slice(&w[n..]);
            let (mut force, mut other) = (vec![0.0; n], vec![0.0; n]);
            self.system.stiffness(&w[..n], &mut force);
            self.system.damping(&w[n..], &mut other);
            axpy(1.0, &other, &mut force);
            self.system.divide_by_mass(&force, &mut image[n..]);
            scale(-1.0, &mut image[n..]);
            let (mut weighted, mut weighted_image) = (vec![0.0; 2 * n], vec![0.0; 2 * n]);
            self.weight(&w, &mut weighted);
            self.weight(&image, &mut weighted_image);
            for (column, image) in self.projected.iter_mut().zip(&self.images) {
                column.push(dot(&weighted, image));
            }
            self.vectors.push(w);
            self.images.push(image);
            self.projected.push(self.vectors.iter().map(|v| dot(v, &weighted_image)).collect());
        }
        new_part
    }
}

impl KrylovSpace for General<'_> {
    fn len(&self) -> usize {
        self.vectors.len()
    }

    fn speed(&self) -> f64 {
        self.speed
    }

    fn indefinite(&self) -> bool {
        self.indefinite
    }

    fn grow(&mut self, growth: &mut Growth<'_>) -> bool {
        let n = self.dofs;
        let before = self.vectors.len();
        if self.grown == before || self.indefinite {
            return false;
        }
        let w = match growth {
            Growth::Polynomial => self.images[self.grown].clone(),
            Growth::ShiftInvert { solve, tau } => {
                // (1 − τJ)(x, y) = (b, c): (M + τD + τ²K) y = M c − τK b, x = b + τy.
                let from = &self.vectors[self.grown];
                let (mut y, mut other) = (vec![0.0; n], vec![0.0; n]);
                self.system.mass(&from[n..], &mut y);
                self.system.stiffness(&from[..n], &mut other);
                axpy(-*tau, &other, &mut y);
                solve(&mut y, 1);
                let mut x = from[..n].to_vec();
                axpy(*tau, &y, &mut x);
                x.extend_from_slice(&y);
                x
            }
        };
        self.grown += 1;
        self.add(w);
        self.vectors.len() > before
    }

    fn motion(&self, m: usize, t: f64) -> Option<Coordinates> {
        if m == 0 {
            return Some([Vec::new(), Vec::new()]);
        }
        // tφ₁(tH)b is the last column of exp [tH tb; 0 0].
        let augmented = Mat::from_fn(m + 1, m + 1, |i, j| match (i < m, j < m) {
            (true, true) => t * self.projected[j][i],
            (true, false) if i == 0 => t * self.start,
            _ => 0.0,
        });
        let exponential = exponential(&augmented)?;
        let column = (0..m).map(|i| exponential[(i, m)]).collect();
        Some([column, Vec::new()]).filter(|c| size(c).is_finite())
    }

    fn assemble(&self, _t: f64, coordinates: &Coordinates) -> (Vec<f64>, Vec<f64>) {
        let mut dq = combination(&coordinates[0], &self.vectors, 2 * self.dofs);
        let dv = dq.split_off(self.dofs);
        (dq, dv)
    }
}
