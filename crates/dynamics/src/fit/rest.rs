//! The modes of a body at rest, and the change S − 1 that a fit asks for.

use super::pencil::{RigidModes, mass_matrix};
use super::refine::Configuration;
use super::{Deformation, Fit, Target};
use crate::{System, modes};
use lilyan_solve::eigen::Subspace;
use lilyan_solve::newton::{Curvature, dot};
use lilyan_solve::{BlockMatrix, EigenError, SmallMatrix};
use std::ops::Range;

/// Residual of modes that are computed from the beginning, so small that refinement changes nothing.
pub(super) const RESIDUAL: f64 = 1e-8;

/// A mode counts as free of stiffness (e.g. about a hinge) below this fraction of the largest λ.
pub(super) const MIN_STIFFNESS: f64 = 1e-9;

/// Least |uᵢᵀMuⱼ| of two modes that correspond \[chen2019, 3.3.5\].
pub(super) const MIN_OVERLAP: f64 = 0.6;

/// The modes of a body at rest.
pub(super) struct RestModes {
    /// The phase of the fit.
    pub phase: usize,
    pub modes: Subspace,
    /// S − 1.
    pub change: SmallMatrix,
}

impl RestModes {
    /// The modes for a phase of a fit, with `guards` extra ones.
    pub fn new(
        configuration: &Configuration<'_>,
        fit: &Fit,
        phase: usize,
        mask: &[bool],
        guards: usize,
    ) -> Result<Self, EigenError> {
        let target = &fit.phases[phase].target;
        let Configuration { system, deformation, .. } = *configuration;
        let modes = at_rest(system, deformation, &fit.dofs, &fit.rest, mask, target.count() + guards)?;
        let used = target.count().min(modes.values.len());
        let change = match target {
            Target::Ratios(ratios) => {
                let change: Vec<f64> = ratios[..used].iter().map(|r| r - 1.0).collect();
                SmallMatrix::diagonal(&change)
            }
            Target::Modes { values, shapes, .. } => {
                change_to_fine_modes(system, fit, &modes, used, values, shapes)
            }
        };
        Ok(Self { phase, modes, change })
    }
}

/// S − 1 for which the first modes become those of the fine body, as far as the former span the latter.
fn change_to_fine_modes(
    system: &dyn System,
    fit: &Fit,
    modes: &Subspace,
    used: usize,
    values: &[f64],
    shapes: &[f64],
) -> SmallMatrix {
    let n = fit.rest.len();
    let coarse_values = &modes.values[..used];
    let least = MIN_STIFFNESS * coarse_values.iter().fold(0.0f64, |m, v| m.max(*v));
    let (mut fine_values, mut columns) = (Vec::new(), Vec::new());
    for (value, shape) in values.iter().zip(shapes.chunks_exact(fit.dofs.len())) {
        let (mut u, mut weighted) = (vec![0.0; n], vec![0.0; n]);
        u[fit.dofs.clone()].copy_from_slice(shape);
        system.mass().mul(&u, &mut weighted);
        let size = dot(&u, &weighted).sqrt().max(f64::MIN_POSITIVE);
        let pairs = modes.vectors.chunks_exact(n).zip(coarse_values);
        let column: Vec<f64> =
            pairs.map(|(c, v)| if *v > least { dot(c, &weighted) / size } else { 0.0 }).collect();
        if dot(&column, &column).sqrt() > MIN_OVERLAP && fine_values.len() < used {
            fine_values.push(*value);
            columns.push(column);
        }
    }
    let no_change = || SmallMatrix::diagonal(&vec![0.0; used]);
    let Some(a) = SmallMatrix::from_fn(used, fine_values.len(), |i, j| columns[j][i]).orthonormal(1e-6)
    else {
        return no_change();
    };
    // H = AΛ(fine)Aᵀ + (1 − AAᵀ)Λ(1 − AAᵀ), then S = Λ^−½HΛ^−½.
    let complement = SmallMatrix::diagonal(&vec![1.0; used]).combined(1.0, &a.times(&a.transposed()), -1.0);
    let unchanged = complement.times(&SmallMatrix::diagonal(coarse_values)).times(&complement);
    let stiffness =
        a.times(&SmallMatrix::diagonal(&fine_values)).times(&a.transposed()).combined(1.0, &unchanged, 1.0);
    let roots: Vec<f64> =
        coarse_values.iter().map(|v| if *v > least { v.sqrt().recip() } else { 0.0 }).collect();
    let ones: Vec<f64> = roots.iter().map(|r| if *r > 0.0 { 1.0 } else { 0.0 }).collect();
    stiffness.symmetric().scaled(&roots, &roots).combined(1.0, &SmallMatrix::diagonal(&ones), -1.0)
}

/// The modes of a body at rest.
fn at_rest(
    system: &dyn System,
    deformation: &dyn Deformation,
    dofs: &Range<usize>,
    rest: &[f64],
    mask: &[bool],
    count: usize,
) -> Result<Subspace, EigenError> {
    let mut k = BlockMatrix::zeros(system.pattern().clone());
    deformation.add_deformation_hessian(0.0, rest, Curvature::Projected, &mut k);
    let m = mass_matrix(system);
    let rigid = RigidModes::new(system.mass(), dofs, rest, mask);
    modes::lowest(&k, &m, mask, count, rigid.fields.len(), &|u| rigid.project_out(u), RESIDUAL)
}

/// The `count` lowest modes at rest (or as many as exist) of the body with these dofs, with the Dirichlet dofs of time t.
/// Rigid modes are not counted. A system without [`Deformation`] has none.
pub fn modes_at_rest(
    system: &dyn System,
    dofs: &Range<usize>,
    rest: &[f64],
    t: f64,
    count: usize,
) -> Result<Subspace, EigenError> {
    let abilities = system.abilities();
    let Some(deformation) = abilities.deformation else { return Ok(Subspace::default()) };
    let mut mask = vec![false; rest.len()];
    abilities.mark_prescribed(t, &mut mask);
    mask.iter_mut().enumerate().filter(|(i, _)| !dofs.contains(i)).for_each(|(_, m)| *m = true);
    at_rest(system, deformation, dofs, rest, &mask, count)
}
