//! The lowest modes of a matrix that is met for the first time; later ones are refined
//! ([`lilyan_solve::refine`]).

use lilyan_solve::newton::dot;
use lilyan_solve::refine::Subspace;
use lilyan_solve::{BlockMatrix, EigenError, lowest_modes};

/// The `count` lowest modes of K u = λ M u, or as many as there are, in the complement of a few motions that cost no
/// energy: `without` takes these out of a vector, and there are `apart` of them. Held unknowns stay 0. `tolerance` is
/// that of [`lowest_modes`].
pub(crate) fn lowest(
    k: &BlockMatrix,
    m: &BlockMatrix,
    held: &[bool],
    count: usize,
    apart: usize,
    without: &dyn Fn(&mut [f64]),
    tolerance: f64,
) -> Result<Subspace, EigenError> {
    let mut subspace = Subspace::default();
    if count == 0 {
        return Ok(subspace);
    }
    let total = count + apart;
    let found = match lowest_modes(k, m, held, total, tolerance) {
        Err(EigenError::TooManyModes { available }) if available < total => {
            lowest_modes(k, m, held, available, tolerance)?
        }
        other => other?,
    };
    let n = held.len();
    let mut weighed = vec![0.0; n];
    for (mut u, value) in found.vectors.into_iter().zip(found.values) {
        without(&mut u);
        for _ in 0..2 {
            for v in subspace.vectors.chunks_exact(n) {
                m.mul_vec(&u, &mut weighed);
                let s = dot(v, &weighed);
                u.iter_mut().zip(v).for_each(|(u, v)| *u -= s * v);
            }
        }
        m.mul_vec(&u, &mut weighed);
        let left = dot(&u, &weighed).sqrt();
        // Those taken out were among the modes that were found.
        if left > 1e-3 && subspace.values.len() < count {
            subspace.vectors.extend(u.into_iter().map(|x| x / left));
            subspace.values.push(value);
        }
    }
    Ok(subspace)
}
