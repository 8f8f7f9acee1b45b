//! The mass of quadratic tets. Consistent: ∫ρNₙNₘ, exact for straight tets, by 14 points for curved ones. Lumped: in proportion
//! to its diagonal (Hinton, Rock and Zienkiewicz), since row sums are negative at corners.

use super::QuadraticTets;
use super::layout::rest_jacobian;
use super::shape::{EDGES, NODES, fourteen_points, shape};
use crate::elements::ElementMass;
use lilyan_solve::BlockMatrix;

/// ∫NₙNₘ of one tet, m³.
type MassMatrix = [[f64; NODES]; NODES];

/// In 1/420 of the volume of a straight tet.
fn straight() -> MassMatrix {
    let ends = |n: usize| EDGES[n - 4];
    let entry = |a: usize, b: usize| -> f64 {
        match (a.min(b), a.max(b)) {
            (a, b) if b < 4 => f64::from(if a == b { 6 } else { 1 }),
            (a, b) if a < 4 => f64::from(if ends(b).contains(&a) { -4 } else { -6 }),
            (a, b) if a == b => 32.0,
            (a, b) => f64::from(if ends(a).iter().any(|c| ends(b).contains(c)) { 16 } else { 8 }),
        }
    };
    std::array::from_fn(|a| std::array::from_fn(|b| entry(a, b)))
}

impl QuadraticTets {
    /// Calls `f` with the number and ∫ρNₙNₘ of each tet, kg.
    fn each_mass(&self, mut f: impl FnMut(usize, &MassMatrix)) {
        let nodes = self.dofs.nodes();
        let table = straight();
        for e in 0..self.len() {
            let mut mass = [[0.0; NODES]; NODES];
            if nodes.curved().is_none() {
                let unit = self.density(e) * self.volume(e) / 420.0;
                mass = table.map(|row| row.map(|x| unit * x));
            } else {
                for (lambda, weight) in fourteen_points() {
                    let J = rest_jacobian(nodes.of_tet(e), nodes.points(), lambda).det();
                    let mut values = [0.0; NODES];
                    shape(lambda, &mut values);
                    let unit = self.density(e) * weight * J / 6.0;
                    for (row, a) in mass.iter_mut().zip(values) {
                        row.iter_mut().zip(values).for_each(|(entry, b)| *entry += unit * (a * b));
                    }
                }
            }
            f(e, &mass);
        }
    }
}

impl ElementMass for QuadraticTets {
    fn add_lumped(&self, masses: &mut [f64]) {
        self.each_mass(|e, mass| {
            let total: f64 = mass.iter().flatten().sum();
            let diagonal: f64 = (0..NODES).map(|n| mass[n][n]).sum();
            for (k, n) in self.tet(e).into_iter().enumerate() {
                masses[n as usize] += mass[k][k] * (total / diagonal);
            }
        });
    }

    fn add_consistent(&self, mass: &mut BlockMatrix) {
        self.each_mass(|e, own| {
            let nodes = self.tet(e);
            for a in 0..NODES {
                for b in 0..NODES {
                    // Lower blocks alone.
                    if nodes[a] >= nodes[b] {
                        let c = own[a][b];
                        let block = [c, 0.0, 0.0, 0.0, c, 0.0, 0.0, 0.0, c];
                        mass.add_block(nodes[a] as usize, nodes[b] as usize, &block);
                    }
                }
            }
        });
    }

    fn add_weights(&self, weights: &mut [f64]) {
        self.each_mass(|e, own| {
            for (k, n) in self.tet(e).into_iter().enumerate() {
                weights[n as usize] += own[k].iter().sum::<f64>();
            }
        });
    }

    fn add_product(&self, v: &[f64], c: f64, out: &mut [f64]) {
        self.each_mass(|e, own| {
            let nodes = self.tet(e).map(|n| 3 * n as usize);
            for (a, row) in nodes.into_iter().zip(own) {
                for k in 0..3 {
                    out[a + k] += c * nodes.iter().zip(row).map(|(b, m)| m * v[b + k]).sum::<f64>();
                }
            }
        });
    }
}
