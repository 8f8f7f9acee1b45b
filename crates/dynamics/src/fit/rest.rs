//! The modes of a body at rest, and what a fit makes of them.

use super::follow::SAME;
use super::pencil::{Rigid, mass_matrix};
use super::{Fit, Target};
use crate::{System, modes};
use lilyan_solve::newton::{Curvature, dot};
use lilyan_solve::refine::Subspace;
use lilyan_solve::{BlockMatrix, EigenError, Small};
use std::ops::Range;

/// Residual of modes that are found from nothing: close enough that refining finds nothing left to do.
pub(super) const EXACT: f64 = 1e-8;

/// A mode with less than this share of the stiffness of the stiffest has none, as about a hinge.
pub(super) const STIFF: f64 = 1e-9;

/// Modes at rest.
pub(super) struct Rest {
    /// The phase of the fit that they are for.
    pub phase: usize,
    pub modes: Subspace,
    /// S − 1.
    pub change: Small,
}

impl Rest {
    /// For a phase of a fit; a few `guards` more modes than it changes.
    pub fn new(
        system: &dyn System,
        fit: &Fit,
        phase: usize,
        mask: &[bool],
        guards: usize,
    ) -> Result<Self, EigenError> {
        let target = &fit.phases[phase].target;
        let modes = at_rest(system, &fit.dofs, &fit.rest, mask, target.count() + guards)?;
        let used = target.count().min(modes.values.len());
        let change = match target {
            Target::Ratios(ratios) => {
                let change: Vec<f64> = ratios[..used].iter().map(|r| r - 1.0).collect();
                Small::diagonal(&change)
            }
            Target::Modes { values, shapes, .. } => towards(system, fit, &modes, used, values, shapes),
        };
        Ok(Self { phase, modes, change })
    }
}

/// S − 1 for which the first modes become those of the fine body, as far as they are made of them.
fn towards(
    system: &dyn System,
    fit: &Fit,
    modes: &Subspace,
    used: usize,
    values: &[f64],
    shapes: &[f64],
) -> Small {
    let n = fit.rest.len();
    let own = &modes.values[..used];
    let least = STIFF * own.iter().fold(0.0f64, |m, v| m.max(*v));
    let (mut kept, mut columns) = (Vec::new(), Vec::new());
    for (value, shape) in values.iter().zip(shapes.chunks_exact(fit.dofs.len())) {
        let (mut u, mut weighed) = (vec![0.0; n], vec![0.0; n]);
        u[fit.dofs.clone()].copy_from_slice(shape);
        system.mass().mul(&u, &mut weighed);
        let size = dot(&u, &weighed).sqrt().max(f64::MIN_POSITIVE);
        let along = modes.vectors.chunks_exact(n).zip(own);
        let column: Vec<f64> =
            along.map(|(c, v)| if *v > least { dot(c, &weighed) / size } else { 0.0 }).collect();
        if dot(&column, &column).sqrt() > SAME && kept.len() < used {
            kept.push(*value);
            columns.push(column);
        }
    }
    let nothing = || Small::diagonal(&vec![0.0; used]);
    let Some(a) = Small::from_fn(used, kept.len(), |i, j| columns[j][i]).orthonormal(1e-6) else {
        return nothing();
    };
    // H = AΛ(fine)Aᵀ + (1 − AAᵀ)Λ(1 − AAᵀ), then S = Λ^−½HΛ^−½.
    let rest = Small::diagonal(&vec![1.0; used]).combined(1.0, &a.times(&a.transposed()), -1.0);
    let left = rest.times(&Small::diagonal(own)).times(&rest);
    let stiffness = a.times(&Small::diagonal(&kept)).times(&a.transposed()).combined(1.0, &left, 1.0);
    let roots: Vec<f64> = own.iter().map(|v| if *v > least { v.sqrt().recip() } else { 0.0 }).collect();
    let ones: Vec<f64> = roots.iter().map(|r| if *r > 0.0 { 1.0 } else { 0.0 }).collect();
    stiffness.symmetric().scaled(&roots, &roots).combined(1.0, &Small::diagonal(&ones), -1.0)
}

/// The modes of a body at rest.
fn at_rest(
    system: &dyn System,
    dofs: &Range<usize>,
    rest: &[f64],
    mask: &[bool],
    count: usize,
) -> Result<Subspace, EigenError> {
    let mut k = BlockMatrix::zeros(system.pattern().clone());
    system.inner_hessian(0.0, rest, Curvature::Projected, &mut k);
    let m = mass_matrix(system);
    let rigid = Rigid::new(system.mass(), dofs, rest, mask);
    modes::lowest(&k, &m, mask, count, rigid.fields.len(), &|u| rigid.without(u), EXACT)
}

/// The lowest modes at rest of what has these unknowns, as held at time t, rigid motions not counted: as many as
/// asked for, or as there are.
pub fn modes_at_rest(
    system: &dyn System,
    dofs: &Range<usize>,
    rest: &[f64],
    t: f64,
    count: usize,
) -> Result<Subspace, EigenError> {
    let mut mask = vec![false; rest.len()];
    system.held(t, &mut mask);
    mask.iter_mut().enumerate().filter(|(i, _)| !dofs.contains(i)).for_each(|(_, m)| *m = true);
    at_rest(system, dofs, rest, &mask, count)
}
