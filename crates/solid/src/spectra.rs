//! The lowest modes of two meshes of one body, told apart and compared: which mode of the coarse one is which of the
//! fine one, how much too stiff it is, and what the modes of the fine one look like on the coarse one.

use crate::Model;
use crate::mesh::Embedding;
use lilyan_dynamics::System;
use lilyan_dynamics::fit::{self, Target};
use lilyan_solve::{EigenError, SmallMatrix};
use std::sync::Arc;

/// A body and its rest shape.
pub struct OneBody<'a> {
    /// The model, which may have others.
    pub model: &'a Model,
    /// Its number.
    pub body: usize,
    /// Rest positions of everything in the model, m.
    pub rest: &'a Arc<Vec<f64>>,
}

/// Modes of the coarse mesh, and their partners in the fine one.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectra {
    /// λ of the coarse mesh, 1/s², lowest first, rigid motions not counted.
    pub coarse: Vec<f64>,
    /// λ of the fine one, a few more.
    pub fine: Vec<f64>,
    /// The fine mode that each coarse one is.
    pub partner: Vec<usize>,
    /// |uᵀBᵀMu| of each coarse mode and its partner: 1 where the shapes are the same.
    pub overlap: Vec<f64>,
    /// Numbers of the fine modes that the coarse ones can form.
    pub formed: Vec<usize>,
    /// They on the coarse mesh, mode by mode: the nearest that the coarse modes can form, as the fine mesh weighs it.
    pub shapes: Arc<Vec<f64>>,
}

/// |overlap| from which on two modes are the same \[chen2019, 3.3.5\].
pub const SAME: f64 = 0.6;

impl Spectra {
    /// Compares the `count` lowest modes, with what is held at time t (s).
    pub fn new(coarse: &OneBody<'_>, fine: &OneBody<'_>, t: f64, count: usize) -> Result<Self, EigenError> {
        let modes = |of: &OneBody<'_>, count: usize| {
            let dofs = of.model.bodies()[of.body].dofs.unknowns();
            let found = fit::modes_at_rest(of.model, &dofs, of.rest, t, count)?;
            let n = of.rest.len();
            let vectors: Vec<Vec<f64>> =
                found.vectors.chunks_exact(n).map(|u| u[dofs.clone()].to_vec()).collect();
            Ok((found.values, vectors))
        };
        let (coarse_values, coarse_vectors) = modes(coarse, count)?;
        // Those that the coarse mesh puts further up.
        let (fine_values, fine_vectors) = modes(fine, coarse_values.len() + 5)?;
        let [coarse_dofs, fine_dofs] = [coarse, fine].map(|of| &of.model.bodies()[of.body].dofs);
        let Some(embedding) = Embedding::new(coarse_dofs.nodes(), fine_dofs.nodes().points()) else {
            return Err(EigenError::TooManyModes { available: 0 });
        };
        let mass = fine_dofs.part(fine.model.mass().diagonal());
        let inner = |a: &[f64], b: &[f64]| -> f64 { (0..a.len()).map(|i| mass[i] * a[i] * b[i]).sum() };
        let carried: Vec<Vec<f64>> = coarse_vectors.iter().map(|u| embedding.map(u)).collect();
        let (m, k) = (carried.len(), fine_vectors.len());
        let sizes: Vec<f64> = fine_vectors.iter().map(|v| inner(v, v).sqrt()).collect();
        let along = SmallMatrix::from_fn(m, k, |i, j| inner(&carried[i], &fine_vectors[j]) / sizes[j]);
        let square = SmallMatrix::from_fn(m, m, |i, j| inner(&carried[i], &carried[j])).symmetric();
        let overlap_of =
            |i: usize, j: usize| along[(i, j)].abs() / square[(i, i)].sqrt().max(f64::MIN_POSITIVE);
        let overlaps: Vec<Vec<f64>> = (0..m).map(|i| (0..k).map(|j| overlap_of(i, j)).collect()).collect();
        let partner = pair(&overlaps, k);
        let overlap = partner.iter().enumerate().map(|(i, &j)| overlaps[i][j]).collect();
        // Least squares: along = square · weights.
        let inverse = square.function(|v| if v > 0.0 { 1.0 / v } else { 0.0 });
        let inverse = inverse.ok_or(EigenError::TooManyModes { available: 0 })?;
        let weights = inverse.times(&along);
        // Lowest first, each as far as it is not made of those before.
        let (mut formed, mut basis) = (Vec::new(), Vec::<Vec<f64>>::new());
        for j in 0..k {
            let mut left: Vec<f64> = (0..m).map(|i| weights[(i, j)]).collect();
            let product = |a: &[f64], b: &[f64]| (0..m).map(|i| a[i] * b[i]).sum::<f64>();
            for taken in &basis {
                let along = product(&square.apply(taken), &left);
                left.iter_mut().zip(taken).for_each(|(l, t)| *l -= along * t);
            }
            let size = product(&left, &square.apply(&left)).max(0.0).sqrt();
            if size > SAME && formed.len() < m {
                formed.push(j);
                basis.push(left.into_iter().map(|x| x / size).collect());
            }
        }
        let mut shapes = Vec::new();
        for &j in &formed {
            let one = |d: usize| (0..m).map(|i| weights[(i, j)] * coarse_vectors[i][d]).sum::<f64>();
            shapes.extend((0..coarse_vectors[0].len()).map(one));
        }
        let shapes = Arc::new(shapes);
        Ok(Self { coarse: coarse_values, fine: fine_values, partner, overlap, formed, shapes })
    }

    /// What makes of the coarse modes those of the fine body, of the lowest ones at most `most`.
    pub fn target(&self, most: usize) -> Target {
        let taken = self.formed.len().min(most);
        let values = self.formed[..taken].iter().map(|&j| self.fine[j]).collect();
        let shapes = match taken == self.formed.len() {
            true => self.shapes.clone(),
            false => Arc::new(self.shapes[..self.shapes.len() / self.formed.len() * taken].to_vec()),
        };
        Target::Modes { values, shapes, from: self.coarse.len() }
    }

    /// λ(fine)/λ(coarse) of each coarse mode; 1 where a motion costs nothing.
    pub fn ratios(&self) -> Vec<f64> {
        let least = 1e-9 * self.coarse.last().copied().unwrap_or(0.0);
        let ratio = |(value, &j): (&f64, &usize)| if *value > least { self.fine[j] / value } else { 1.0 };
        self.coarse.iter().zip(&self.partner).map(ratio).collect()
    }

    /// How many coarse modes are found in the fine mesh.
    pub fn found(&self) -> usize {
        self.overlap.iter().filter(|o| **o > SAME).count()
    }

    /// Whether the coarse mesh can show the motion of the fine one: at least half of its modes are modes there
    /// \[chen2019, 3.3.5\].
    pub fn is_acceptable(&self) -> bool {
        2 * self.found() >= self.coarse.len()
    }
}

/// For each row the column of its partner: largest overlaps first; what is left goes in order.
fn pair(overlaps: &[Vec<f64>], columns: usize) -> Vec<usize> {
    let mut all: Vec<(usize, usize)> =
        (0..overlaps.len()).flat_map(|i| (0..columns).map(move |j| (i, j))).collect();
    all.sort_by(|a, b| overlaps[b.0][b.1].total_cmp(&overlaps[a.0][a.1]).then(a.cmp(b)));
    let (mut partner, mut taken) = (vec![None; overlaps.len()], vec![false; columns]);
    for (i, j) in all.into_iter().filter(|&(i, j)| overlaps[i][j] > SAME) {
        if partner[i].is_none() && !taken[j] {
            (partner[i], taken[j]) = (Some(j), true);
        }
    }
    let mut free = (0..columns).filter(|&j| !taken[j]).collect::<Vec<_>>().into_iter();
    let last = columns.saturating_sub(1);
    partner.into_iter().map(|p| p.or_else(|| free.next()).unwrap_or(last)).collect()
}
