//! The eigenvalue problem of the modes, and the rigid modes that are excluded from it.

use crate::{Mass, System};
use lilyan_solve::BlockMatrix;
use lilyan_solve::SecondOrderSystem;
use lilyan_solve::newton::dot;
use std::ops::Range;

/// The pencil (K, M) with Dirichlet dofs removed.
pub(super) struct Pencil<'a> {
    pub k: &'a BlockMatrix,
    pub mass: &'a Mass,
    pub held: &'a [bool],
}

/// M times columns, 0 at held dofs.
pub(super) fn multiply_by_mass(mass: &Mass, held: &[bool], columns: &[f64]) -> Vec<f64> {
    let n = held.len();
    let mut out = vec![0.0; columns.len()];
    columns
        .chunks_exact(n)
        .zip(out.chunks_exact_mut(n))
        .for_each(|(x, y)| free_mass_product(mass, held, x, y));
    out
}

/// y ← M x, 0 at held dofs.
pub(super) fn free_mass_product(mass: &Mass, held: &[bool], x: &[f64], y: &mut [f64]) {
    mass.mul(x, y);
    y.iter_mut().zip(held).filter(|(_, h)| **h).for_each(|(y, _)| *y = 0.0);
}

impl SecondOrderSystem for Pencil<'_> {
    fn mass(&self, x: &[f64], y: &mut [f64]) {
        free_mass_product(self.mass, self.held, x, y);
    }
    fn divide_by_mass(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        self.mass.solve(self.held, x, y);
    }
    fn stiffness(&self, x: &[f64], y: &mut [f64]) {
        self.k.mul_vec(x, y);
        y.iter_mut().zip(self.held).filter(|(_, h)| **h).for_each(|(y, _)| *y = 0.0);
    }
    fn damping(&self, _x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
    }
}

/// The rigid modes of a configuration, M-orthonormal; none if a dof of the body is held.
pub(super) struct RigidModes {
    pub fields: Vec<Vec<f64>>,
    weighted: Vec<Vec<f64>>,
}

impl RigidModes {
    pub fn new(mass: &Mass, dofs: &Range<usize>, q: &[f64], mask: &[bool]) -> Self {
        let mut rigid = Self { fields: Vec::new(), weighted: Vec::new() };
        if dofs.clone().any(|i| mask[i]) {
            return rigid;
        }
        let nodes = dofs.len() as f64 / 3.0;
        let centre = [0, 1, 2].map(|k| dofs.clone().skip(k).step_by(3).map(|i| q[i]).sum::<f64>() / nodes);
        for motion in 0..6 {
            let mut field = vec![0.0; q.len()];
            for i in dofs.clone().step_by(3) {
                if motion < 3 {
                    field[i + motion] = 1.0;
                } else {
                    let (j, k) = ((motion + 1) % 3, (motion + 2) % 3);
                    field[i + j] = -(q[i + k] - centre[k]);
                    field[i + k] = q[i + j] - centre[j];
                }
            }
            rigid.project_out(&mut field);
            rigid.project_out(&mut field);
            let mut weighted = vec![0.0; q.len()];
            free_mass_product(mass, mask, &field, &mut weighted);
            let size = dot(&field, &weighted).sqrt();
            if size > 0.0 {
                rigid.fields.push(field.into_iter().map(|x| x / size).collect());
                rigid.weighted.push(weighted.into_iter().map(|x| x / size).collect());
            }
        }
        rigid
    }

    /// Removes resultant force and torque.
    pub fn balance(&self, f: &mut [f64]) {
        for (field, weighted) in self.fields.iter().zip(&self.weighted) {
            let s = dot(field, f);
            f.iter_mut().zip(weighted).for_each(|(f, w)| *f -= s * w);
        }
    }

    /// Projects the rigid modes out of a displacement.
    pub fn project_out(&self, u: &mut [f64]) {
        for (field, weighted) in self.fields.iter().zip(&self.weighted) {
            let s = dot(weighted, u);
            u.iter_mut().zip(field).for_each(|(u, f)| *u -= s * f);
        }
    }
}

/// M as a matrix.
pub(super) fn mass_matrix(system: &dyn System) -> BlockMatrix {
    let mut m = BlockMatrix::zeros(system.pattern().clone());
    system.mass().add_to(&mut m);
    m
}
