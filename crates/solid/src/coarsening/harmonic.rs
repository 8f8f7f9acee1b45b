//! Six harmonic displacements: the fine body under unit stress on its outer boundary.
//!
//! div(C : ε(h)) = 0 inside, C : ε(h) · n = e_a · n on the outer boundary, with the six symmetric unit tensors e_a;
//! boundaries of cavities are free \[kharevych2010, (4.3)\]. One stiffness matrix, one factorisation, six right-hand
//! sides, or more where the traction is a mixture (`traction`).
//! A free body then needs no more than six unknowns held, any six that stop its rigid motion: they feel no force. Nodes
//! that will stay held are held here too, and then fewer are added.

use super::boundary::{outer_faces, pulled_faces, root};
use super::family::{LINEAR, Pulled, coarse_normal_loads, linear_loads};
use super::tensor::strain_of;
use super::traction::{Traction, loads, mixed};
use super::{CoarseningError, Fine, Progress, fail, gradients};
use crate::math::vector::{V3, norm, scale, sub};
use crate::mesh::Mesh;
use lilyan_solve::{BlockMatrix, BlockPattern, Cholesky, cg};
use std::sync::Arc;

/// Up to this many unknowns the matrix is factorised; beyond, conjugate gradients take their time instead of memory.
pub const DIRECT: usize = 900_000;

/// Residual at which conjugate gradients stop.
const TOLERANCE: f64 = 1e-10;

/// The displacements, and what they were made from. With [`Traction::CoarseNormal`] a coarse mesh must be given; without one the
/// fine normals stand.
pub struct Harmonic {
    /// One per unit tensor xx, yy, zz, yz, xz, xy (shear with 1/√2), three numbers per vertex, m/Pa.
    pub displacements: [Vec<f64>; 6],
    /// Triangles of the outer boundary that were pulled.
    pub outer: usize,
    /// Triangles of cavities, which were not.
    pub inner: usize,
    /// Triangles of lips and notches of the outer boundary, which were not either.
    pub openings: usize,
    /// Largest relative residual of the solves.
    pub residual: f64,
    /// Further displacements, under stresses that vary linearly ([`Traction::Linear`]).
    pub further: Vec<Vec<f64>>,
    /// Energy of all displacements in the whole body, the six first, m³/Pa.
    pub energies: Vec<f64>,
}

/// What pulls at a fine body.
pub struct Loading<'a> {
    /// One set of six displacements is computed for each.
    pub tractions: &'a [Traction],
    /// A mesh whose size tells lips and notches, which are free, from outer boundary; absent: nothing is a notch.
    pub coarse: Option<&'a Mesh>,
    /// Number of unknowns up to which the matrix is factorised, see [`DIRECT`].
    pub direct: usize,
}

/// The six displacements of a body for each traction.
///
/// # Errors
/// A stiffness that is not positive definite, or conjugate gradients that do not converge.
pub fn harmonic(
    fine: &Fine<'_>,
    loading: &Loading<'_>,
    progress: Progress<'_>,
) -> Result<Vec<Harmonic>, CoarseningError> {
    let mesh = fine.mesh;
    let dofs = 3 * mesh.vertices.len();
    progress("stiffness", 0.0);
    let surface = mesh.surface();
    let outside = outer_faces(mesh, surface);
    let pulled = loading.coarse.map_or_else(|| outside.clone(), |coarse| pulled_faces(mesh, surface, coarse));
    let mut held = fine.held.to_vec();
    hold_rigid_motion(mesh, &mut held);
    let stiffness = stiffness(fine, &held);
    let mut loads = loads(fine, surface, [&outside, &pulled], &held);
    let candidates = loading.tractions.iter().map(|t| t.candidates()).max().unwrap_or(0);
    loads.truncate(6 * candidates * dofs);
    let pulled_part = Pulled { fine, surface, outside: &outside, pulled: &pulled, held: &held };
    let coarse_normals = loads.len();
    if let Some(coarse) = loading.coarse.filter(|_| loading.tractions.contains(&Traction::CoarseNormal)) {
        loads.extend(coarse_normal_loads(&pulled_part, coarse));
    }
    let further = loads.len();
    if loading.tractions.contains(&Traction::Linear) {
        loads.extend(linear_loads(&pulled_part));
    }
    let columns = loads.len() / dofs.max(1);
    let mut x = loads.clone();
    if dofs <= loading.direct {
        progress("factorisation", 0.0);
        let mut cholesky = Cholesky::new();
        cholesky.factor(&stiffness).map_err(|e| {
            CoarseningError(format!(
                "the stiffness of the fine body cannot be factorised: {e}; check its material"
            ))
        })?;
        progress("six displacements", 0.5);
        cholesky.solve_many(&mut x, columns);
        // Once more for the residual: differences over small tets keep their digits.
        let mut r = residual(&stiffness, &loads, &x);
        cholesky.solve_many(&mut r, columns);
        x.iter_mut().zip(&r).for_each(|(x, r)| *x += r);
    } else {
        iterate(&stiffness, &loads, &mut x, progress)?;
    }
    let count = |of: &dyn Fn(usize) -> bool| (0..outside.len()).filter(|t| of(*t)).count();
    let (outer, inner) = (count(&|t| pulled[t]), count(&|t| !outside[t]));
    let openings = outside.len() - outer - inner;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let one = |traction: &Traction| {
        let of = |all: &[f64], from: usize, count: usize| all[from..from + count * dofs].to_vec();
        let (mut forces, mut moved) = match (traction, further > coarse_normals) {
            (Traction::CoarseNormal, true) => (of(&loads, coarse_normals, 6), of(&x, coarse_normals, 6)),
            _ => mixed(*traction, &loads, &x, dofs),
        };
        if *traction == Traction::Linear {
            forces.extend(of(&loads, further, LINEAR));
            moved.extend(of(&x, further, LINEAR));
        }
        let residual = worst_residual(&stiffness, &forces, &moved)?;
        let energies = forces.chunks_exact(dofs).zip(moved.chunks_exact(dofs)).map(|(f, u)| product(f, u));
        let energies = energies.collect();
        let mut columns = moved.chunks_exact(dofs).map(<[f64]>::to_vec);
        let displacements = std::array::from_fn(|_| columns.next().unwrap_or_default());
        Ok(Harmonic { displacements, outer, inner, openings, residual, further: columns.collect(), energies })
    };
    loading.tractions.iter().map(one).collect()
}

/// The largest residual of the six solves, relative to the loads.
fn worst_residual(stiffness: &BlockMatrix, loads: &[f64], x: &[f64]) -> Result<f64, CoarseningError> {
    let dofs = stiffness.dofs();
    let left = residual(stiffness, loads, x);
    let size = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let relative = |a: usize| {
        let at = a * dofs..(a + 1) * dofs;
        size(&left[at.clone()]) / size(&loads[at]).max(f64::MIN_POSITIVE)
    };
    let worst = (0..x.len() / dofs.max(1)).map(relative).fold(0.0, f64::max);
    if worst.is_nan() || worst > 1e-6 {
        return fail(format!(
            "the six static displacements have a relative residual of {worst:.1e}: the fine body has parts that hang by \
             nothing, or stiffnesses too far apart"
        ));
    }
    Ok(worst)
}

fn stiffness(fine: &Fine<'_>, held: &[bool]) -> BlockMatrix {
    let mesh = fine.mesh;
    let cliques = mesh.tets().iter().map(|t| t.as_slice());
    let pattern = Arc::new(BlockPattern::from_cliques(mesh.vertices.len(), cliques));
    let mut matrix = BlockMatrix::zeros(pattern);
    for (e, tet) in mesh.tets().iter().enumerate() {
        let (volume, g) = gradients(mesh.corners(e));
        let c = fine.stiffness(e);
        let b = g.map(strain_of);
        // Vol C B, then Bᵀ of it.
        let stress: [[[f64; 3]; 6]; 4] = b.map(|b| {
            std::array::from_fn(|i| {
                std::array::from_fn(|k| volume * (0..6).map(|j| c[i][j] * b[j][k]).sum::<f64>())
            })
        });
        for n in 0..4 {
            for m in 0..=n {
                let block: [f64; 9] = std::array::from_fn(|at| {
                    let (r, k) = (at / 3, at % 3);
                    (0..6).map(|i| b[n][i][r] * stress[m][i][k]).sum()
                });
                matrix.add_block(tet[n] as usize, tet[m] as usize, &block);
            }
        }
    }
    matrix.hold(held);
    matrix
}

fn residual(matrix: &BlockMatrix, b: &[f64], x: &[f64]) -> Vec<f64> {
    let mut r = vec![0.0; b.len()];
    let dofs = matrix.dofs();
    for (x, r) in x.chunks_exact(dofs).zip(r.chunks_exact_mut(dofs)) {
        matrix.mul_vec(x, r);
    }
    r.iter_mut().zip(b).for_each(|(r, b)| *r = b - *r);
    r
}

/// Conjugate gradients, preconditioned by the diagonal.
fn iterate(
    matrix: &BlockMatrix,
    loads: &[f64],
    x: &mut [f64],
    progress: Progress<'_>,
) -> Result<(), CoarseningError> {
    let dofs = matrix.dofs();
    let inverse: Vec<f64> = matrix.diagonal().iter().map(|d| 1.0 / d).collect();
    x.fill(0.0);
    for (a, (b, x)) in loads.chunks_exact(dofs).zip(x.chunks_exact_mut(dofs)).enumerate() {
        progress("six displacements", a as f64 * dofs as f64 / loads.len() as f64);
        let report = cg(
            &mut &*matrix,
            &mut |x: &mut [f64]| x.iter_mut().zip(&inverse).for_each(|(x, d)| *x *= d),
            b,
            x,
            TOLERANCE,
            50_000,
        );
        if !report.converged {
            return fail(format!(
                "conjugate gradients stopped at a relative residual of {:.1e} after {} iterations; use a fine mesh \
                 below {DIRECT} unknowns, which is factorised",
                report.relative_residual, report.iterations
            ));
        }
    }
    Ok(())
}

/// Adds to the held unknowns of each connected part as many as it needs not to move rigidly.
fn hold_rigid_motion(mesh: &Mesh, held: &mut [bool]) {
    let mut parent: Vec<u32> = (0..mesh.vertices.len() as u32).collect();
    for tet in mesh.tets() {
        for v in &tet[1..] {
            let (a, b) = (root(&mut parent, tet[0]), root(&mut parent, *v));
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    let mut parts: std::collections::BTreeMap<u32, Vec<usize>> = std::collections::BTreeMap::new();
    for v in 0..mesh.vertices.len() {
        parts.entry(root(&mut parent, v as u32)).or_default().push(v);
    }
    for part in parts.values() {
        let middle = scale(
            part.iter().fold([0.0; 3], |s, &v| crate::math::vector::add(s, mesh.vertices[v])),
            1.0 / part.len() as f64,
        );
        let size = part.iter().map(|&v| norm(sub(mesh.vertices[v], middle))).fold(0.0, f64::max);
        // How the six rigid motions move an unknown; lengths in units of the part's size.
        let row = |v: usize, k: usize| -> [f64; 6] {
            let x = scale(sub(mesh.vertices[v], middle), 1.0 / size.max(f64::MIN_POSITIVE));
            let mut row = [0.0; 6];
            row[k] = 1.0;
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            row[3 + i] = x[j];
            row[3 + j] = -x[i];
            row
        };
        let mut span: Vec<[f64; 6]> = Vec::new();
        for &v in part {
            for k in (0..3).filter(|k| held[3 * v + k]) {
                grow(&mut span, row(v, k), 1e-6);
            }
        }
        // Vertices far apart first: the six extremes of the part.
        let mut candidates = Vec::new();
        for axis in 0..3 {
            let along = |v: &&usize| mesh.vertices[**v][axis];
            candidates.extend(part.iter().min_by(|a, b| along(a).total_cmp(&along(b))));
            candidates.extend(part.iter().max_by(|a, b| along(a).total_cmp(&along(b))));
        }
        for least in [0.3, 0.03, 1e-6] {
            for &v in candidates.iter().copied().chain(part) {
                for k in 0..3 {
                    if span.len() < 6 && !held[3 * v + k] && grow(&mut span, row(v, k), least) {
                        held[3 * v + k] = true;
                    }
                }
                if span.len() == 6 {
                    break;
                }
            }
        }
    }
    // Vertices of no tet have no stiffness.
    let mut used = vec![false; mesh.vertices.len()];
    mesh.tets().as_flattened().iter().for_each(|v| used[*v as usize] = true);
    for v in (0..used.len()).filter(|v| !used[*v]) {
        held[3 * v..3 * v + 3].fill(true);
    }
}

/// Adds a vector to an orthonormal set if enough of it is new.
fn grow(span: &mut Vec<[f64; 6]>, mut row: [f64; 6], least: f64) -> bool {
    let length = |r: &[f64; 6]| r.iter().map(|x| x * x).sum::<f64>().sqrt();
    let whole = length(&row);
    for _ in 0..2 {
        for s in span.iter() {
            let along: f64 = s.iter().zip(&row).map(|(s, r)| s * r).sum();
            row.iter_mut().zip(s).for_each(|(r, s)| *r -= along * s);
        }
    }
    let new = length(&row);
    let enough = span.len() < 6 && new > least * whole;
    if enough {
        span.push(row.map(|r| r / new));
    }
    enough
}

/// Gradient ∂h/∂x of one displacement in a tet with these gradients of barycentric coordinates.
pub(super) fn gradient_of(h: &[f64], tet: &[u32; 4], g: &[V3; 4]) -> [[f64; 3]; 3] {
    let mut out = [[0.0; 3]; 3];
    for (v, g) in tet.iter().zip(g) {
        let u = &h[3 * *v as usize..3 * *v as usize + 3];
        for i in 0..3 {
            for j in 0..3 {
                out[i][j] += u[i] * g[j];
            }
        }
    }
    out
}
