//! Coarsening in one and two dimensions: ropes of springs, and flat membranes of triangles \[kharevych2010, 4.3, d = 1, 2\].
//!
//! A membrane has three harmonic displacements, under unit tension along both axes and unit shear at its outer edge; edges of
//! holes are free. As in three dimensions a coarse triangle gets the tensor that stores the energy of the fine triangles in it
//! (`homogenize`). In one dimension the harmonic displacement has the same force everywhere, so a coarse segment has the sum of
//! the compliances in it: springs in series.
//!
//! Tensors are those of the plane, times the thickness, N/m: 6×6 as all others, with the entries xx, yy and xy in use.

use super::homogenize::{bounded, compliance};
use super::tensor::{add_scaled, product, symmetric, transposed};
use super::{CoarseningError, Tensor, fail};
use lilyan_solve::{BlockMatrix, BlockPattern, Cholesky};
use std::collections::BTreeMap;
use std::f64::consts::FRAC_1_SQRT_2;
use std::sync::Arc;

/// Triangles in a plane, counterclockwise.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaneMesh {
    /// Places, m.
    pub vertices: Vec<[f64; 2]>,
    /// Corners.
    pub triangles: Vec<[u32; 3]>,
}

/// What a coarse membrane gets.
#[derive(Clone, Debug, PartialEq)]
pub struct CoarseMembrane {
    /// Tensor of each coarse triangle, times the thickness, N/m.
    pub stiffness: Vec<Tensor>,
    /// Mass of each coarse vertex, kg.
    pub masses: Vec<f64>,
}

/// Indices of xx, yy and xy.
const IN_PLANE: [usize; 3] = [0, 1, 5];

/// The tensor of an isotropic membrane under plane stress, times the thickness, N/m.
#[allow(non_snake_case)] // E as in the literature
pub fn plane_stress(E: f64, nu: f64, thickness: f64) -> Tensor {
    let mut out = [[0.0; 6]; 6];
    let factor = E * thickness / (1.0 - nu * nu);
    (out[0][0], out[1][1], out[5][5]) = (factor, factor, factor * (1.0 - nu));
    (out[0][1], out[1][0]) = (nu * factor, nu * factor);
    out
}

/// λ (N) of the segments of a coarse rope, from length (m) and λ of the springs of the fine one, one after the other. Both begin
/// at the same end; what the coarse rope does not reach belongs to its last segment.
pub fn coarse_rope(fine: &[(f64, f64)], coarse: &[f64]) -> Result<Vec<f64>, CoarseningError> {
    let positive = |x: f64| x > 0.0 && x.is_finite();
    if coarse.is_empty() || !fine.iter().all(|(l, k)| positive(*l) && positive(*k)) {
        return fail(
            "a rope needs springs of positive length and stiffness, and at least one coarse segment",
        );
    }
    if !coarse.iter().all(|l| positive(*l)) {
        return fail("coarse segments need positive lengths");
    }
    let mut ends: Vec<f64> = Vec::with_capacity(coarse.len());
    coarse.iter().for_each(|l| ends.push(ends.last().unwrap_or(&0.0) + l));
    let last = coarse.len() - 1;
    ends[last] = f64::INFINITY;
    let (mut lengths, mut compliances) = (vec![0.0; coarse.len()], vec![0.0; coarse.len()]);
    let (mut at, mut q) = (0.0, 0);
    for (length, lambda) in fine {
        let end = at + length;
        while at < end {
            let stop = end.min(ends[q]);
            lengths[q] += stop - at;
            compliances[q] += (stop - at) / lambda;
            at = stop;
            // Round-off of the sums of lengths is no segment.
            q = if at >= ends[q] - 1e-12 * end { q + 1 } else { q };
        }
    }
    if lengths.contains(&0.0) {
        return fail("the coarse rope is longer than the fine one");
    }
    Ok(lengths.iter().zip(&compliances).map(|(l, c)| l / c).collect())
}

/// Tensors and masses of a coarse membrane that stands for a fine one, of these tensors (N/m) and masses per area (kg/m²).
///
/// # Errors
/// Meshes that do not meet, or a stiffness that is not positive definite.
pub fn coarse_membrane(
    fine: &PlaneMesh,
    stiffness: &[Tensor],
    density: &[f64],
    coarse: &PlaneMesh,
) -> Result<CoarseMembrane, CoarseningError> {
    let same = |n: usize| n == fine.triangles.len();
    if !same(stiffness.len()) || !same(density.len()) {
        return fail("a membrane needs a tensor and a density for each triangle");
    }
    let harmonic = harmonic(fine, stiffness)?;
    let samples = sample(fine, coarse, &harmonic);
    let mut out = CoarseMembrane { stiffness: Vec::new(), masses: vec![0.0; coarse.vertices.len()] };
    let mut found = 0.0;
    for (q, triangle) in coarse.triangles.iter().enumerate() {
        let corners = coarse.corners(q);
        let (area, g) = gradients(corners);
        let (mut energy, mut average) = ([[0.0; 6]; 6], [[0.0; 6]; 6]);
        for e in 0..fine.triangles.len() {
            let Some((part, centre)) = overlap(corners, fine.corners(e)) else { continue };
            found += part;
            let strain = strains(&harmonic, &fine.triangles[e], &gradients(fine.corners(e)).1);
            let stored = product(&transposed(&strain), &product(&stiffness[e], &strain));
            add_scaled(&mut energy, part / area, &stored);
            add_scaled(&mut average, part / area, &stiffness[e]);
            for (v, n) in triangle.iter().zip(barycentric(corners, &g, centre)) {
                out.masses[*v as usize] += density[e] * part * n;
            }
        }
        // Strains out of the plane cost what they may.
        let most = (0..6).map(|i| average[i][i]).fold(0.0, f64::max);
        (2..5).for_each(|i| average[i][i] = most);
        if most == 0.0 {
            return fail(format!("coarse triangle {q} holds nothing of the membrane"));
        }
        let strain = strains(&samples, triangle, &g);
        let (mut tensor, ..) = bounded(&compliance(&strain, &symmetric(&energy)), &average);
        (2..5).for_each(|i| tensor[i][i] = 0.0);
        out.stiffness.push(tensor);
    }
    let whole: f64 = (0..fine.triangles.len()).map(|e| gradients(fine.corners(e)).0).sum();
    if (found / whole - 1.0).abs() > 1e-9 {
        return fail(format!(
            "the coarse mesh holds {:.6} of the membrane's area, not all of it",
            found / whole
        ));
    }
    Ok(out)
}

impl PlaneMesh {
    fn corners(&self, t: usize) -> [[f64; 2]; 3] {
        self.triangles[t].map(|v| self.vertices[v as usize])
    }

    /// Edges of one triangle alone, in closed loops that go round a positive area: the outer boundary, and not that of holes.
    fn outer_edges(&self) -> Vec<[u32; 2]> {
        let mut next: BTreeMap<u32, u32> = BTreeMap::new();
        let mut edges: BTreeMap<[u32; 2], usize> = BTreeMap::new();
        let sides = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
        for [a, b] in self.triangles.iter().flat_map(sides) {
            *edges.entry([a.min(b), a.max(b)]).or_default() += 1;
        }
        for [a, b] in self.triangles.iter().flat_map(sides) {
            if edges[&[a.min(b), a.max(b)]] == 1 {
                next.insert(a, b);
            }
        }
        let mut out = Vec::new();
        while let Some((&start, _)) = next.iter().next() {
            let (mut ring, mut at, mut area) = (Vec::new(), start, 0.0);
            while let Some(to) = next.remove(&at) {
                let ([x, y], [u, v]) = (self.vertices[at as usize], self.vertices[to as usize]);
                area += 0.5 * (x * v - y * u);
                ring.push([at, to]);
                at = to;
            }
            if area > 0.0 {
                out.extend(ring);
            }
        }
        out
    }
}

/// Area of a triangle, and the gradients of the barycentric coordinates of its corners.
fn gradients([a, b, c]: [[f64; 2]; 3]) -> (f64, [[f64; 2]; 3]) {
    let twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let g = |p: [f64; 2], q: [f64; 2]| [(p[1] - q[1]) / twice, (q[0] - p[0]) / twice];
    (0.5 * twice, [g(b, c), g(c, a), g(a, b)])
}

fn barycentric(corners: [[f64; 2]; 3], g: &[[f64; 2]; 3], x: [f64; 2]) -> [f64; 3] {
    let centre = [0, 1].map(|k| corners.iter().map(|c| c[k]).sum::<f64>() / 3.0);
    g.map(|g| 1.0 / 3.0 + g[0] * (x[0] - centre[0]) + g[1] * (x[1] - centre[1]))
}

/// Rows xx, yy, xy (with 1/√2) of the strain of a displacement u N with ∇N = g.
fn strain_of(g: [f64; 2]) -> [[f64; 2]; 3] {
    [[g[0], 0.0], [0.0, g[1]], [g[1] * FRAC_1_SQRT_2, g[0] * FRAC_1_SQRT_2]]
}

/// Strains of the three displacements in a triangle, as columns xx, yy, xy.
fn strains(h: &[Vec<[f64; 2]>; 3], triangle: &[u32; 3], g: &[[f64; 2]; 3]) -> Tensor {
    let mut out = [[0.0; 6]; 6];
    for (v, g) in triangle.iter().zip(g) {
        for (row, i) in strain_of(*g).iter().zip(IN_PLANE) {
            for (h, a) in h.iter().zip(IN_PLANE) {
                let u = h[*v as usize];
                out[i][a] += row[0] * u[0] + row[1] * u[1];
            }
        }
    }
    out
}

/// The three displacements of a membrane under unit tensions and unit shear at its outer edge, m²/N.
fn harmonic(fine: &PlaneMesh, stiffness: &[Tensor]) -> Result<[Vec<[f64; 2]>; 3], CoarseningError> {
    let n = fine.vertices.len();
    let cliques = fine.triangles.iter().map(|t| t.as_slice());
    let mut matrix = BlockMatrix::zeros(Arc::new(BlockPattern::from_cliques(n, cliques)));
    for (e, triangle) in fine.triangles.iter().enumerate() {
        let (area, g) = gradients(fine.corners(e));
        let b = g.map(strain_of);
        for i in 0..3 {
            for j in (0..3).filter(|j| triangle[*j] <= triangle[i]) {
                let block: [f64; 9] = std::array::from_fn(|at| {
                    let (r, k) = (at / 3, at % 3);
                    let term =
                        |p: usize, s: usize| b[i][p][r] * stiffness[e][IN_PLANE[p]][IN_PLANE[s]] * b[j][s][k];
                    if r < 2 && k < 2 {
                        area * (0..9).map(|ps| term(ps / 3, ps % 3)).sum::<f64>()
                    } else {
                        0.0
                    }
                });
                matrix.add_block(triangle[i] as usize, triangle[j] as usize, &block);
            }
        }
    }
    // Held: all out of the plane, and three unknowns that stop rigid motion, which feel no force.
    let mut held: Vec<bool> = (0..3 * n).map(|i| i % 3 == 2).collect();
    let far = |v: &usize| {
        let d = [0, 1].map(|k| fine.vertices[*v][k] - fine.vertices[0][k]);
        d[0].abs() - d[1].abs()
    };
    let last = (0..n).max_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(0);
    (held[0], held[1], held[3 * last + 1]) = (true, true, true);
    matrix.hold(&held);
    let mut x = vec![0.0; 9 * n];
    for [a, b] in fine.outer_edges() {
        let d = [0, 1].map(|k| fine.vertices[b as usize][k] - fine.vertices[a as usize][k]);
        let normal = [d[1], -d[0]];
        let tractions =
            [[normal[0], 0.0], [0.0, normal[1]], [normal[1], normal[0]].map(|t| t * FRAC_1_SQRT_2)];
        for (column, t) in x.chunks_exact_mut(3 * n).zip(tractions) {
            for (v, k) in [(a, 0), (a, 1), (b, 0), (b, 1)] {
                column[3 * v as usize + k] += 0.5 * t[k];
            }
        }
    }
    for column in x.chunks_exact_mut(3 * n) {
        column.iter_mut().zip(&held).filter(|(_, h)| **h).for_each(|(f, _)| *f = 0.0);
    }
    let mut cholesky = Cholesky::new();
    let unsolved = |e| CoarseningError(format!("the stiffness of the membrane cannot be factorised: {e}"));
    cholesky.factor(&matrix).map_err(unsolved)?;
    cholesky.solve_many(&mut x, 3);
    let mut columns = x.chunks_exact(3 * n);
    Ok(std::array::from_fn(|_| {
        let column = columns.next().unwrap_or_default();
        column.chunks_exact(3).map(|u| [u[0], u[1]]).collect()
    }))
}

/// Displacements at the coarse vertices; outside of the membrane they go on as in the nearest triangle.
fn sample(fine: &PlaneMesh, coarse: &PlaneMesh, h: &[Vec<[f64; 2]>; 3]) -> [Vec<[f64; 2]>; 3] {
    let places: Vec<(usize, [f64; 3])> = coarse
        .vertices
        .iter()
        .map(|x| {
            let inside = |e: usize| {
                let corners = fine.corners(e);
                let n = barycentric(corners, &gradients(corners).1, *x);
                (n.into_iter().fold(f64::INFINITY, f64::min), e, n)
            };
            let best = (0..fine.triangles.len()).map(inside).max_by(|a, b| a.0.total_cmp(&b.0));
            best.map_or((0, [0.0; 3]), |(_, e, n)| (e, n))
        })
        .collect();
    std::array::from_fn(|a| {
        let at = |(e, n): &(usize, [f64; 3])| {
            let corners = fine.triangles[*e].map(|v| h[a][v as usize]);
            [0, 1].map(|k| (0..3).map(|i| n[i] * corners[i][k]).sum())
        };
        places.iter().map(at).collect()
    })
}

/// Area and centre of what two triangles share.
fn overlap(a: [[f64; 2]; 3], b: [[f64; 2]; 3]) -> Option<(f64, [f64; 2])> {
    let apart = |k: usize| {
        let range = |t: &[[f64; 2]; 3]| {
            t.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[lo, hi], x| [lo.min(x[k]), hi.max(x[k])])
        };
        let ([lo, hi], [other, end]) = (range(&a), range(&b));
        hi <= other || end <= lo
    };
    if apart(0) || apart(1) {
        return None;
    }
    let mut polygon = b.to_vec();
    for i in 0..3 {
        let (p, q) = (a[i], a[(i + 1) % 3]);
        let side = |x: &[f64; 2]| (q[0] - p[0]) * (x[1] - p[1]) - (q[1] - p[1]) * (x[0] - p[0]);
        let mut cut = Vec::new();
        for (k, x) in polygon.iter().enumerate() {
            let y = &polygon[(k + 1) % polygon.len()];
            let (s, t) = (side(x), side(y));
            if s >= 0.0 {
                cut.push(*x);
            }
            if (s >= 0.0) != (t >= 0.0) {
                cut.push([0, 1].map(|k| x[k] + s / (s - t) * (y[k] - x[k])));
            }
        }
        polygon = cut;
    }
    let (mut area, mut centre) = (0.0, [0.0; 2]);
    for k in 2..polygon.len() {
        let part = gradients([polygon[0], polygon[k - 1], polygon[k]]).0;
        area += part;
        (0..2).for_each(|i| centre[i] += part / 3.0 * (polygon[0][i] + polygon[k - 1][i] + polygon[k][i]));
    }
    let least = 1e-14 * gradients(a).0.min(gradients(b).0);
    (area > least).then(|| (area, centre.map(|c| c / area)))
}
