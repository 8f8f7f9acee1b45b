//! Six harmonic displacements: the fine body under unit stress on its outer boundary.
//!
//! div(C : ε(h)) = 0 inside, C : ε(h) · n = e_a · n on the outer boundary, with the six symmetric unit tensors e_a;
//! boundaries of cavities are free \[kharevych2010, (4.3)\]. One stiffness matrix, one factorisation, six right-hand
//! sides. Where fibres end at the boundary, that pulls as hard at the soft matrix between them, which hands the load over
//! only along a length that grows with the contrast: the ends would come out as soft as the matrix. So there are two more
//! candidates for each e_a, with the same resultant, moment and mean stress: one whose pressure, and one all of whose
//! traction follows the stiffness at the boundary ([`shares`]). The mixture of the three with the least energy is taken:
//! of all stresses in equilibrium with a mean, the true one stores least.
//! A free body then needs no more than six unknowns held, any six that stop its rigid motion: they feel no force. Nodes
//! that will stay held are held here too, and then fewer are added.

use super::tensor::{strain_of, unit};
use super::{CoarseningError, Fine, Progress, fail, gradients};
use crate::mesh::vector::{V3, area_vector, dot, norm, scale, sub};
use crate::mesh::{Surface, TetMesh};
use lilyan_solve::{BlockMatrix, BlockPattern, Cholesky, Small, cg};
use std::sync::Arc;

/// Up to this many unknowns the matrix is factorised; beyond, conjugate gradients take their time instead of memory.
pub const DIRECT: usize = 900_000;

/// Residual at which conjugate gradients stop.
const TOLERANCE: f64 = 1e-10;

/// The displacements, and what they were made from.
pub struct Harmonic {
    /// One per unit tensor xx, yy, zz, yz, xz, xy (shear with 1/√2), three numbers per vertex, m/Pa.
    pub displacements: [Vec<f64>; 6],
    /// Triangles of the outer boundary, which were pulled.
    pub outer: usize,
    /// Triangles of cavities, which were not.
    pub inner: usize,
    /// Largest relative residual of the six solves.
    pub residual: f64,
}

/// Whether each triangle of the surface is part of an outer boundary: closed parts of the surface whose outward side
/// is that away from the body enclose it if their volume is positive, and a cavity if it is negative.
pub fn outer_faces(mesh: &TetMesh, surface: &Surface) -> Vec<bool> {
    let part = parts(surface);
    // From the first vertex of each part, so that a small cavity far from the origin keeps its digits.
    let mut enclosed = vec![0.0; part.len()];
    for (t, &part) in part.iter().enumerate() {
        let origin = mesh.vertices[surface.triangles[part][0] as usize];
        let [a, b, c] = surface.triangles[t].map(|v| mesh.vertices[v as usize]);
        enclosed[part] += crate::mesh::vector::volume([origin, a, b, c]);
    }
    part.iter().map(|part| enclosed[*part] > 0.0).collect()
}

/// For each triangle the first one of the closed part of the surface that it is in.
fn parts(surface: &Surface) -> Vec<usize> {
    let mut parent: Vec<u32> = (0..surface.triangles.len() as u32).collect();
    let mut edges: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * parent.len());
    for (t, triangle) in surface.triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
            edges.push(([a.min(b), a.max(b)], t as u32));
        }
    }
    edges.sort_unstable();
    for pair in edges.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let (a, b) = (root(&mut parent, pair[0].1), root(&mut parent, pair[1].1));
        parent[a.max(b) as usize] = a.min(b);
    }
    (0..parent.len() as u32).map(|t| root(&mut parent, t) as usize).collect()
}

fn root(parent: &mut [u32], mut t: u32) -> u32 {
    while parent[t as usize] != t {
        parent[t as usize] = parent[parent[t as usize] as usize];
        t = parent[t as usize];
    }
    t
}

/// The six displacements of a body; `direct` is the number of unknowns up to which the matrix is factorised,
/// see [`DIRECT`].
///
/// # Errors
/// A stiffness that is not positive definite, or conjugate gradients that do not converge.
pub fn harmonic(fine: &Fine<'_>, direct: usize, progress: Progress<'_>) -> Result<Harmonic, CoarseningError> {
    let mesh = fine.mesh;
    let dofs = 3 * mesh.vertices.len();
    progress("stiffness", 0.0);
    let surface = mesh.surface();
    let outside = outer_faces(mesh, &surface);
    let mut held = fine.held.to_vec();
    hold_rigid_motion(mesh, &mut held);
    let stiffness = stiffness(fine, &held);
    let loads = loads(fine, &surface, &outside, &held);
    let mut x = loads.clone();
    if dofs <= direct {
        progress("factorisation", 0.0);
        let mut cholesky = Cholesky::new();
        cholesky.factor(&stiffness).map_err(|e| {
            CoarseningError(format!(
                "the stiffness of the fine body cannot be factorised: {e}; check its material"
            ))
        })?;
        progress("six displacements", 0.5);
        cholesky.solve_many(&mut x, 6 * CANDIDATES);
        // Once more for the residual: differences over small tets keep their digits.
        let mut r = residual(&stiffness, &loads, &x);
        cholesky.solve_many(&mut r, 6 * CANDIDATES);
        x.iter_mut().zip(&r).for_each(|(x, r)| *x += r);
    } else {
        iterate(&stiffness, &loads, &mut x, progress)?;
    }
    let (loads, x) = mixed(&loads, &x, dofs);
    let left = residual(&stiffness, &loads, &x);
    let size = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let relative = |a: usize| {
        let at = a * dofs..(a + 1) * dofs;
        size(&left[at.clone()]) / size(&loads[at]).max(f64::MIN_POSITIVE)
    };
    let worst = (0..6).map(relative).fold(0.0, f64::max);
    if worst.is_nan() || worst > 1e-6 {
        return fail(format!(
            "the six static displacements have a relative residual of {worst:.1e}: the fine body has parts that hang by \
             nothing, or stiffnesses too far apart"
        ));
    }
    let mut columns = x.chunks_exact(dofs).map(<[f64]>::to_vec);
    let outer = outside.iter().filter(|o| **o).count();
    Ok(Harmonic {
        displacements: std::array::from_fn(|_| columns.next().unwrap_or_default()),
        outer,
        inner: outside.len() - outer,
        residual: worst,
    })
}

fn stiffness(fine: &Fine<'_>, held: &[bool]) -> BlockMatrix {
    let mesh = fine.mesh;
    let cliques = mesh.tets.iter().map(|t| t.as_slice());
    let pattern = Arc::new(BlockPattern::from_cliques(mesh.vertices.len(), cliques));
    let mut matrix = BlockMatrix::zeros(pattern);
    for (e, tet) in mesh.tets.iter().enumerate() {
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

/// A triangle of the outer boundary.
struct Face {
    corners: [u32; 3],
    /// Normal, and its area, m².
    normal: V3,
    area: f64,
    /// Centre, about that of the boundary and in units of its size.
    at: V3,
    /// Stiffness behind it, relative to the mean.
    stiffness: f64,
}

/// The triangles of the outer boundary, by closed part.
fn faces(fine: &Fine<'_>, surface: &Surface, outside: &[bool]) -> Vec<Vec<Face>> {
    let part = parts(surface);
    let mut members: std::collections::BTreeMap<usize, Vec<Face>> = std::collections::BTreeMap::new();
    for t in (0..part.len()).filter(|t| outside[*t]) {
        let corners = surface.triangles[t];
        let x = corners.map(|v| fine.mesh.vertices[v as usize]);
        let a = scale(area_vector(x), 0.5);
        let c = fine.stiffness(surface.tets[t] as usize);
        members.entry(part[t]).or_default().push(Face {
            corners,
            normal: scale(a, 1.0 / norm(a).max(f64::MIN_POSITIVE)),
            area: norm(a),
            at: scale(x.into_iter().fold([0.0; 3], crate::mesh::vector::add), 1.0 / 3.0),
            stiffness: (0..6).map(|i| c[i][i]).sum::<f64>(),
        });
    }
    for faces in members.values_mut() {
        let total: f64 = faces.iter().map(|f| f.area).sum();
        let mean = |of: &dyn Fn(&Face) -> f64| faces.iter().map(|f| f.area * of(f)).sum::<f64>() / total;
        let (middle, stiffness) = ([0, 1, 2].map(|k| mean(&|f| f.at[k])), mean(&|f| f.stiffness));
        for f in faces.iter_mut() {
            f.at = scale(sub(f.at, middle), 1.0 / total.sqrt());
            f.stiffness /= stiffness;
        }
    }
    members.into_values().collect()
}

/// s of each face, by which a part p of the traction on it is multiplied.
///
/// Nearest to the stiffness w, Σ A (s − w)²/w, such that Σ A (s − 1) p n and Σ A (s − 1) p n⊗x vanish: with p = n·e·n, or
/// with p = 1 and all of the traction, resultant, moment and mean stress are then those of s = 1. So s = w (1 + c·φ) with
/// the twelve functions φ = p (n, n⊗x).
fn shares(faces: &[Face], parts: &[f64]) -> Vec<f64> {
    let functions: Vec<[f64; 12]> = (faces.iter().zip(parts))
        .map(|(f, p)| {
            std::array::from_fn(|i| p * f.normal[i % 3] * if i < 3 { 1.0 } else { f.at[i / 3 - 1] })
        })
        .collect();
    let mut square = [[0.0; 12]; 12];
    for (f, phi) in faces.iter().zip(&functions) {
        for i in 0..12 {
            (0..12).for_each(|j| square[i][j] += f.area * f.stiffness * phi[i] * phi[j]);
        }
    }
    // Some of the functions depend on others, as on a ball, or are 0.
    let square = Small::from_fn(12, 12, |i, j| square[i][j]);
    let most = (0..12).map(|i| square[(i, i)]).fold(0.0, f64::max);
    let Some(inverse) = square.function(|v| if v > 1e-10 * most { 1.0 / v } else { 0.0 }) else {
        return vec![1.0; faces.len()];
    };
    let mut shares: Vec<f64> = faces.iter().map(|f| f.stiffness).collect();
    // More than once for round-off: what is missing would be borne by what is held.
    for _ in 0..3 {
        let mut missing = [0.0; 12];
        for ((f, phi), s) in faces.iter().zip(&functions).zip(&shares) {
            (0..12).for_each(|i| missing[i] += f.area * (1.0 - s) * phi[i]);
        }
        let c = inverse.apply(&missing);
        for ((f, phi), s) in faces.iter().zip(&functions).zip(&mut shares) {
            *s += f.stiffness * phi.iter().zip(&c).map(|(f, c)| f * c).sum::<f64>();
        }
    }
    shares
}

/// Ways to share out a unit stress on the boundary.
const CANDIDATES: usize = 3;

/// Nodal forces of the six unit stresses on the outer boundary, 0 where held; the candidates one after the other.
fn loads(fine: &Fine<'_>, surface: &Surface, outside: &[bool], held: &[bool]) -> Vec<f64> {
    let dofs = held.len();
    let mut out = vec![0.0; 6 * CANDIDATES * dofs];
    for faces in faces(fine, surface, outside) {
        let all = shares(&faces, &vec![1.0; faces.len()]);
        for a in 0..6 {
            let e = unit(a);
            let pull: Vec<V3> = faces.iter().map(|f| e.mul_vec(f.normal)).collect();
            let pressures: Vec<f64> = faces.iter().zip(&pull).map(|(f, t)| dot(f.normal, *t)).collect();
            let some = shares(&faces, &pressures);
            for (i, f) in faces.iter().enumerate() {
                let pressed = |k: usize| (some[i] - 1.0) * pressures[i] * f.normal[k];
                for (v, k) in f.corners.into_iter().flat_map(|v| [0, 1, 2].map(|k| (v, k))) {
                    let tractions = [pull[i][k], pull[i][k] + pressed(k), all[i] * pull[i][k]];
                    for (candidate, traction) in tractions.into_iter().enumerate() {
                        out[(6 * candidate + a) * dofs + 3 * v as usize + k] += f.area / 3.0 * traction;
                    }
                }
            }
        }
    }
    for f in out.chunks_exact_mut(dofs) {
        f.iter_mut().zip(held).filter(|(_, h)| **h).for_each(|(f, _)| *f = 0.0);
    }
    out
}

/// For each unit stress the mixture of its candidates, loads and displacements, with the least energy.
fn mixed(loads: &[f64], x: &[f64], dofs: usize) -> (Vec<f64>, Vec<f64>) {
    let column = |of: &'_ [f64], candidate: usize, a: usize| -> Vec<f64> {
        of[(6 * candidate + a) * dofs..(6 * candidate + a + 1) * dofs].to_vec()
    };
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (mut forces, mut displacements) = (Vec::new(), Vec::new());
    for a in 0..6 {
        let (mut f, mut u) = (column(loads, 0, a), column(x, 0, a));
        let apart = |of: &[f64], first: &[f64], candidate: usize| -> Vec<f64> {
            column(of, candidate, a).iter().zip(first).map(|(x, y)| x - y).collect()
        };
        let others: Vec<(Vec<f64>, Vec<f64>)> =
            (1..CANDIDATES).map(|c| (apart(loads, &f, c), apart(x, &u, c))).collect();
        let m = others.len();
        let square = Small::from_fn(m, m, |i, j| product(&others[i].0, &others[j].1)).symmetric();
        let least = 1e-12 * product(&f, &u);
        let inverse = square.function(|v| if v > least { 1.0 / v } else { 0.0 });
        let slope: Vec<f64> = others.iter().map(|(df, _)| -product(df, &u)).collect();
        let weights = inverse.map_or(vec![0.0; m], |inverse| inverse.apply(&slope));
        for ((df, du), w) in others.iter().zip(weights) {
            f.iter_mut().zip(df).for_each(|(f, d)| *f += w * d);
            u.iter_mut().zip(du).for_each(|(u, d)| *u += w * d);
        }
        forces.extend(f);
        displacements.extend(u);
    }
    (forces, displacements)
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
        progress("six displacements", a as f64 / (6 * CANDIDATES) as f64);
        let report = cg(
            &mut |x, y| matrix.mul_vec(x, y),
            &mut |x| x.iter_mut().zip(&inverse).for_each(|(x, d)| *x *= d),
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
fn hold_rigid_motion(mesh: &TetMesh, held: &mut [bool]) {
    let mut parent: Vec<u32> = (0..mesh.vertices.len() as u32).collect();
    for tet in &mesh.tets {
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
            part.iter().fold([0.0; 3], |s, &v| crate::mesh::vector::add(s, mesh.vertices[v])),
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
    mesh.tets.as_flattened().iter().for_each(|v| used[*v as usize] = true);
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
