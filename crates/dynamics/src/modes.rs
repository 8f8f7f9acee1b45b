//! The lowest modes of a matrix without an initial guess. Later ones are refined ([`lilyan_solve::eigen::Subspace`]).

use lilyan_solve::eigen::Subspace;
use lilyan_solve::newton::dot;
use lilyan_solve::{BlockMatrix, EigenError, lowest_modes};

/// The `count` lowest modes of K u = λ M u, or as many as exist, in the complement of `excluded` motions without energy
/// (rigid modes), which `project_out` removes from a vector. Held dofs stay 0. `tolerance` is that of [`lowest_modes`].
pub(crate) fn lowest(
    k: &BlockMatrix,
    m: &BlockMatrix,
    held: &[bool],
    count: usize,
    excluded: usize,
    project_out: &dyn Fn(&mut [f64]),
    tolerance: f64,
) -> Result<Subspace, EigenError> {
    let mut subspace = Subspace::default();
    if count == 0 {
        return Ok(subspace);
    }
    let total = count + excluded;
    let found = match lowest_modes(k, m, held, total, tolerance) {
        Err(EigenError::TooManyModes { available }) if available < total => {
            lowest_modes(k, m, held, available, tolerance)?
        }
        other => other?,
    };
    let n = held.len();
    let mut weighted = vec![0.0; n];
    for (mut u, value) in found.vectors.into_iter().zip(found.values) {
        project_out(&mut u);
        for _ in 0..2 {
            for v in subspace.vectors.chunks_exact(n) {
                m.mul_vec(&u, &mut weighted);
                let s = dot(v, &weighted);
                u.iter_mut().zip(v).for_each(|(u, v)| *u -= s * v);
            }
        }
        m.mul_vec(&u, &mut weighted);
        let left = dot(&u, &weighted).sqrt();
        // Vectors of which little is left were the excluded motions.
        if left > 1e-3 && subspace.values.len() < count {
            subspace.vectors.extend(u.into_iter().map(|x| x / left));
            subspace.values.push(value);
        }
    }
    Ok(subspace)
}
