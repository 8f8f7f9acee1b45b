//! The strains of a step as rows of a saddle-point system, eliminated or not.

use super::Form;
use crate::strains::Strains;
use lilyan_solve::{BlockMatrix, BlockPattern, SparseRows};
use std::sync::Arc;

/// A strain is eliminated while its stiffness, h²/γα JM⁻¹Jᵀ, is below this: a solve loses so many units of round-off
/// in the velocities (not in the momenta). Steel in tets of 5 mm at h = 15 ms is at about 1e10. With `form = "eliminate"`
/// a stiffer strain has this stiffness in the matrix; the corrections give it its own.
const STIFFEST: f64 = 1e11;

/// Strains at the start of a step, in one list, and their impulses.
#[derive(Default)]
pub(super) struct Rows {
    /// ∂φ/∂q.
    pub jacobian: SparseRows,
    /// The place of each strain among all of the system.
    place: Vec<usize>,
    /// γα/h².
    compliance: Vec<f64>,
    /// The same in the matrix.
    pub pivot: Vec<f64>,
    /// Twice the energy of the square of the strain, 1/α; of an incompliant strain, that of the motion that removes it.
    weight: Vec<f64>,
    /// y = hλ.
    pub impulse: Vec<f64>,
}

impl Rows {
    fn push(&mut self, nodes: &[u32], jacobian: &[f64], place: usize, [compliance, pivot, weight]: [f64; 3]) {
        for (i, d) in jacobian.iter().enumerate() {
            self.jacobian.push(3 * nodes[i / 3] as usize + i % 3, *d);
        }
        self.jacobian.end_row();
        self.place.push(place);
        self.compliance.push(compliance);
        self.pivot.push(pivot);
        self.weight.push(weight);
        self.impulse.push(0.0);
    }

    pub fn len(&self) -> usize {
        self.place.len()
    }

    /// The residuals of the strains' equations, γα/h² y + (φ₁ − φ₀ + γφ₀)/h, and their energy if y keeps its value.
    pub fn residual(&self, gamma: f64, h: f64, phi0: &[f64], phi1: &[f64]) -> (Vec<f64>, f64) {
        let mut energy = 0.0;
        let residual = (0..self.len()).map(|i| {
            let k = self.place[i];
            let r = self.compliance[i] * self.impulse[i] + (phi1[k] - phi0[k] + gamma * phi0[k]) / h;
            energy += 0.5 * self.weight[i] * (h * r) * (h * r);
            r
        });
        (residual.collect(), energy)
    }
}

/// All strains φ(q), group by group.
pub(super) fn strains(groups: &[&dyn Strains], q: &[f64]) -> Vec<f64> {
    let mut all = Vec::new();
    for group in groups {
        let begin = all.len();
        all.resize(begin + group.layout().compliances.len(), 0.0);
        group.strains(q, &mut all[begin..]);
    }
    all
}

/// What a step knows of its strains.
pub(super) struct Gathering<'a> {
    pub groups: &'a [&'a dyn Strains],
    pub form: Form,
    /// Dirichlet dofs.
    pub held: &'a [bool],
    /// The diagonal of M.
    pub mass: &'a [f64],
    /// γ/h².
    pub softness: f64,
    /// h.
    pub h: f64,
}

impl Gathering<'_> {
    /// Adds Jᵀ(γα/h²)⁻¹J of the strains to be eliminated to `a`, and lists these and the others.
    pub fn gather(&self, q: &[f64], a: &mut BlockMatrix) -> [Rows; 2] {
        let mut rows = [Rows::default(), Rows::default()];
        let mut before = 0;
        for group in self.groups {
            let layout = group.layout();
            let (n, s) = (layout.nodes_each, layout.strains_each);
            let count = layout.nodes.len() / n;
            let mut jacobian = vec![0.0; count * s * 3 * n];
            group.jacobian(q, &mut jacobian);
            let mut element = vec![0.0; 9 * n * n];
            for e in 0..count {
                let nodes = &layout.nodes[n * e..n * (e + 1)];
                if nodes.iter().all(|&m| self.held[3 * m as usize..][..3] == [true; 3]) {
                    continue;
                }
                element.fill(0.0);
                for i in s * e..s * (e + 1) {
                    let row = &jacobian[3 * n * i..3 * n * (i + 1)];
                    let (stiff, [compliance, pivot, weight]) =
                        self.treatment(nodes, row, layout.compliances[i]);
                    rows[usize::from(stiff)].push(nodes, row, before + i, [compliance, pivot, weight]);
                    if !stiff {
                        add_square(row, 1.0 / pivot, &mut element);
                    }
                }
                scatter(nodes, &element, a);
            }
            before += layout.compliances.len();
        }
        rows
    }

    /// Whether a strain stays a multiplier, its compliance γα/h², the same in the matrix, and its weight.
    fn treatment(&self, nodes: &[u32], row: &[f64], alpha: f64) -> (bool, [f64; 3]) {
        let each = row.iter().enumerate();
        let mobility: f64 = each.map(|(k, d)| d * d / self.mass[3 * nodes[k / 3] as usize + k % 3]).sum();
        let compliance = self.softness * alpha;
        let stiff = match self.form {
            Form::Auto => mobility > STIFFEST * compliance,
            Form::Eliminate => false,
            Form::Schur | Form::Saddle => true,
        };
        let pivot = if stiff { compliance } else { compliance.max(mobility / STIFFEST) };
        let weight = if alpha > 0.0 { 1.0 / alpha } else { 1.0 / (self.h * self.h * mobility) };
        (stiff, [compliance, pivot, weight])
    }
}

/// Adds the lower blocks of c dᵀd to a square matrix.
fn add_square(d: &[f64], c: f64, matrix: &mut [f64]) {
    for k in 0..d.len() {
        let scaled = d[k] * c;
        for l in 0..3 * (k / 3 + 1) {
            matrix[d.len() * k + l] += scaled * d[l];
        }
    }
}

/// Adds the lower blocks of an element's matrix to `a`.
fn scatter(nodes: &[u32], element: &[f64], a: &mut BlockMatrix) {
    let n = nodes.len();
    for (i, &to) in nodes.iter().enumerate() {
        for (j, &from) in nodes[..=i].iter().enumerate() {
            let block = std::array::from_fn(|k| element[3 * n * (3 * i + k / 3) + 3 * j + k % 3]);
            if block != [0.0; 9] {
                a.add_block(to as usize, from as usize, &block);
            }
        }
    }
}

/// The same matrix without the blocks that are zero.
pub(super) fn compact(a: &BlockMatrix) -> BlockMatrix {
    let pattern = a.pattern();
    let diagonal = BlockPattern::from_cliques(pattern.n(), std::iter::empty());
    let mut out = BlockMatrix::zeros(Arc::new(diagonal));
    for j in 0..pattern.n() {
        let first = pattern.diagonal_position(j);
        for (k, &i) in pattern.column(j).iter().enumerate() {
            let block = &a.values()[first + k];
            if *block != [0.0; 9] {
                out.add_block(i as usize, j, block);
            }
        }
    }
    for (&(i, j), block) in a.extra() {
        out.add_block(i as usize, j as usize, block);
    }
    out
}
