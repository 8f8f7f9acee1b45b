//! Mass matrices.

use lilyan_parallel::threads;
use lilyan_solve::{BlockMatrix, Cholesky};
use std::sync::Mutex;

/// The mass matrix of a system.
pub enum Mass {
    /// A diagonal matrix: one mass (kg) per unknown.
    Lumped(Vec<f64>),
    /// A sparse matrix.
    Consistent(Box<ConsistentMass>),
}

/// A consistent mass matrix and its factor for the current set of Dirichlet dofs.
pub struct ConsistentMass {
    matrix: BlockMatrix,
    diagonal: Vec<f64>,
    /// The Dirichlet dofs of the factor, and the factor.
    factor: Mutex<(Option<Vec<bool>>, Cholesky)>,
}

impl Mass {
    /// The mass given by a sparse matrix.
    pub fn consistent(matrix: BlockMatrix) -> Self {
        let diagonal = matrix.diagonal();
        Self::Consistent(Box::new(ConsistentMass {
            matrix,
            diagonal,
            factor: Mutex::new((None, Cholesky::new())),
        }))
    }

    /// The diagonal, kg. For a lumped mass this is the whole matrix.
    pub fn diagonal(&self) -> &[f64] {
        match self {
            Self::Lumped(m) => m,
            Self::Consistent(c) => &c.diagonal,
        }
    }

    /// p = M v.
    pub fn mul(&self, v: &[f64], p: &mut [f64]) {
        match self {
            Self::Lumped(m) => {
                for ((p, m), v) in p.iter_mut().zip(m).zip(v) {
                    *p = m * v;
                }
            }
            Self::Consistent(c) => c.matrix.mul_vec(v, p),
        }
    }

    /// Solves (M v)ᵢ = pᵢ for the free unknowns. Entries of v at Dirichlet dofs are given and stay.
    pub fn solve(&self, held: &[bool], p: &[f64], v: &mut [f64]) {
        match self {
            Self::Lumped(m) => {
                const CHUNK: usize = 1 << 12;
                threads::par_chunks_mut(v, CHUNK, |k, v| {
                    let at = k * CHUNK..k * CHUNK + v.len();
                    let (m, p, held) = (&m[at.clone()], &p[at.clone()], &held[at]);
                    for i in 0..v.len() {
                        v[i] = if held[i] { v[i] } else { p[i] / m[i] };
                    }
                });
            }
            Self::Consistent(c) => c.solve(held, p, v),
        }
    }

    /// vᵀ M v / 2 for p = M v.
    pub fn kinetic(&self, p: &[f64], v: &[f64]) -> f64 {
        0.5 * lilyan_solve::newton::dot(p, v)
    }

    /// Adds M to a matrix.
    pub fn add_to(&self, a: &mut BlockMatrix) {
        match self {
            Self::Lumped(m) => a.add_diagonal(m),
            Self::Consistent(c) => a.add_scaled(1.0, &c.matrix),
        }
    }
}

impl ConsistentMass {
    fn solve(&self, held: &[bool], p: &[f64], v: &mut [f64]) {
        let mut guard = self.factor.lock().unwrap_or_else(|e| e.into_inner());
        if guard.0.as_deref() != Some(held) {
            let mut m = self.matrix.clone();
            m.hold(held);
            guard.1.factor(&m).expect("a mass matrix is positive definite");
            guard.0 = Some(held.to_vec());
        }
        // M_ff v_f = p_f − M_fh v_h.
        let held_part: Vec<f64> = v.iter().zip(held).map(|(v, h)| if *h { *v } else { 0.0 }).collect();
        let mut rhs = vec![0.0; p.len()];
        self.matrix.mul_vec(&held_part, &mut rhs);
        for i in 0..p.len() {
            rhs[i] = if held[i] { 0.0 } else { p[i] - rhs[i] };
        }
        guard.1.solve(&mut rhs);
        for i in 0..p.len() {
            if !held[i] {
                v[i] = rhs[i];
            }
        }
    }
}
