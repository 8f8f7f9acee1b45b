//! The block Krylov space for Rayleigh damping.

use super::Growth;
use super::space::{Coordinates, KrylovSpace, combination, orthonormalise, size};
use crate::dense::symmetric_eigen;
use crate::exponential::phi::Propagator;
use crate::matrix::vector::dot;
use crate::second_order::SecondOrderSystem;
use faer::Mat;

/// Block Krylov space in n dimensions for Rayleigh damping.
pub struct Symmetric<'a> {
    system: &'a dyn SecondOrderSystem,
    rayleigh: [f64; 2],
    dofs: usize,
    vectors: Vec<Vec<f64>>,
    /// K times the vectors from which the space has not grown yet.
    images: Vec<Vec<f64>>,
    grown: usize,
    /// Lower triangle of VᵀKV.
    projected: Vec<Vec<f64>>,
    /// Coordinates of v and a.
    start: [Vec<f64>; 2],
}

impl<'a> Symmetric<'a> {
    pub fn new(system: &'a dyn SecondOrderSystem, v: &[f64], a: &[f64], rayleigh: [f64; 2]) -> Self {
        let mut space = Self {
            system,
            rayleigh,
            dofs: v.len(),
            vectors: Vec::new(),
            images: Vec::new(),
            grown: 0,
            projected: Vec::new(),
            start: [Vec::new(), Vec::new()],
        };
        for (k, w) in [v, a].into_iter().enumerate() {
            space.start[k] = space.add(w.to_vec());
        }
        space
    }

    fn add(&mut self, mut w: Vec<f64>) -> Vec<f64> {
        let coordinates = orthonormalise(&|x, y| self.system.mass(x, y), &self.vectors, &mut w);
        if coordinates[self.vectors.len()] > 0.0 {
            let mut image = vec![0.0; self.dofs];
            self.system.stiffness(&w, &mut image);
            self.vectors.push(w);
            self.projected.push(self.vectors.iter().map(|v| dot(v, &image)).collect());
            self.images.push(image);
        }
        coordinates
    }
}

impl KrylovSpace for Symmetric<'_> {
    fn len(&self) -> usize {
        self.vectors.len()
    }

    fn speed(&self) -> f64 {
        self.start[0].iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    fn grow(&mut self, growth: &mut Growth<'_>) -> bool {
        let before = self.vectors.len();
        // Two at a time, since there are two start vectors.
        let images: Vec<Vec<f64>> = self.images.drain(..2.min(self.images.len())).collect();
        let used = self.grown..self.grown + images.len();
        self.grown = used.end;
        match growth {
            Growth::Polynomial => {
                for image in images {
                    let mut w = vec![0.0; self.dofs];
                    self.system.divide_by_mass(&image, &mut w);
                    self.add(w);
                }
            }
            Growth::ShiftInvert { solve, .. } => {
                let mut block = vec![0.0; self.dofs * used.len()];
                for (w, k) in block.chunks_exact_mut(self.dofs).zip(used.clone()) {
                    self.system.mass(&self.vectors[k], w);
                }
                solve(&mut block, used.len());
                for w in block.chunks_exact(self.dofs) {
                    self.add(w.to_vec());
                }
            }
        }
        self.vectors.len() > before || self.grown < self.vectors.len()
    }

    fn motion(&self, m: usize, t: f64) -> Option<Coordinates> {
        if m == 0 {
            return Some([Vec::new(), Vec::new()]);
        }
        let lower = Mat::from_fn(m, m, |i, j| self.projected[i.max(j)][i.min(j)]);
        if (0..m).any(|i| (0..m).any(|j| !lower[(i, j)].is_finite())) {
            return None;
        }
        let (values, q) = symmetric_eigen(lower.as_ref())?;
        let mut out = [vec![0.0; m], vec![0.0; m]];
        for k in 0..m {
            let along = |c: &[f64]| c.iter().take(m).enumerate().map(|(i, c)| c * q[(i, k)]).sum::<f64>();
            let (v, a) = (along(&self.start[0]), along(&self.start[1]));
            let damping = self.rayleigh[0] + self.rayleigh[1] * values[k];
            let propagator = Propagator::new(t * t * values[k], 0.5 * t * damping);
            let (x, y) = propagator.advance(v, t * a);
            for i in 0..m {
                out[0][i] += x * q[(i, k)];
                out[1][i] += y * q[(i, k)];
            }
        }
        Some(out).filter(|c| size(c).is_finite())
    }

    fn assemble(&self, t: f64, coordinates: &Coordinates) -> (Vec<f64>, Vec<f64>) {
        let displacement: Vec<f64> = coordinates[0].iter().map(|x| t * x).collect();
        let n = self.dofs;
        (combination(&displacement, &self.vectors, n), combination(&coordinates[1], &self.vectors, n))
    }
}
