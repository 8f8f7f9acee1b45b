//! Effective tensors that store the energy of the six harmonic displacements \[kharevych2010, (4.5)\].
//!
//! G is the strain of the six displacements in a fine tet (6×6, Mandel's notation), 𝔾 that of their samples at the corners
//! of a coarse tet, and the coarse tet is to store what the fine ones in it do: 𝔾ᵀ ℂ 𝔾 = ⟨GᵀCG⟩ =: A.
//! Here its inverse is made, ℂ⁻¹ = 𝔾 A⁻¹ 𝔾ᵀ, which exists and is symmetric and positive whatever 𝔾 is. Corners that stay
//! held make 𝔾 singular: three of them leave a tet only three ways to strain. Two departures:
//! - No coarse tet is stiffer than the volume average C̄, in any direction: eigenvalues of C̄^½ ℂ⁻¹ C̄^½ are at least 1. Directions
//!   in which the six displacements do not strain a coarse tet, or hardly, take the average this way. Nor softer than
//!   [`SOFTEST`] of it, so that ℂ is positive definite in all cases.
//! - A corner outside of the body takes its sample at the nearest point of the body, carried on along the mean gradient
//!   in the coarse tets around it: one fine tet's gradient would carry its own heterogeneity far.
//!
//! The normal of the boundary is the fine one by default; with the coarse one (§4.4.2 there, `family`) a homogeneous body with a
//! curved boundary does not come out as it went in.
//!
//! With more than six displacements (§4.3.9 there) equality is asked for by least squares: ℂ is nearest to
//! 𝔾ᵀℂ𝔾 = ⟨GᵀCG⟩, displacements scaled to the same energy in the body, so ℂ = 𝔾⁺ᵀ⟨GᵀCG⟩𝔾⁺ with the pseudoinverse 𝔾⁺.

use super::harmonic::gradient_of;
use super::tensor::{add_scaled, compose, product, strain_of, symmetric, transposed};
use super::{Fine, Harmonic, Overlaps, Tensor, gradients};
use crate::math::eigen_symmetric;
use crate::math::vector::{V3, sub};
use crate::mesh::Mesh;
use lilyan_parallel::threads;

/// Least stiffness of a coarse tet relative to the volume average.
pub const SOFTEST: f64 = 1e-8;

/// Beyond this an eigenvalue below 1 is not round-off.
const ROUNDING: f64 = 1e-9;

/// Effective tensors, and where they had to be held within bounds.
pub struct Homogenized {
    /// Of each coarse tet, Pa.
    pub stiffness: Vec<Tensor>,
    /// Of each coarse tet: strains (of six) for which the volume average was taken, since the six displacements gave more.
    pub averaged: Vec<u8>,
    /// Of each coarse tet: strains (of six) for which stiffness was raised to [`SOFTEST`] of the average.
    pub raised: Vec<u8>,
    /// The six displacements at the coarse vertices, three numbers each, m/Pa.
    pub samples: [Vec<f64>; 6],
}

/// Effective tensors of the coarse tets: those that give the coarse body the mean strains of the harmonic displacements.
pub fn homogenize(fine: &Fine<'_>, coarse: &Mesh, overlaps: &Overlaps, harmonic: &Harmonic) -> Homogenized {
    let samples = sample(fine.mesh, coarse, overlaps, &harmonic.displacements);
    let larger = (!harmonic.further.is_empty()).then(|| Family::new(fine.mesh, coarse, overlaps, harmonic));
    let averages = super::average(fine, coarse, overlaps);
    let found = threads::par_map(coarse.tets().len(), |q| {
        let (volume, g) = gradients(coarse.corners(q));
        if let Some(family) = &larger {
            let compliance = family.compliance(fine, coarse, overlaps, q);
            return bounded(&compliance, &averages[q]);
        }
        let strain = strains(&samples, &coarse.tets()[q], &g);
        let mut energy = [[0.0; 6]; 6];
        for s in overlaps.of(q) {
            let e = s.fine as usize;
            let (_, g) = gradients(fine.mesh.corners(e));
            let fine_strain = strains(&harmonic.displacements, &fine.mesh.tets()[e], &g);
            let stored = product(&transposed(&fine_strain), &product(fine.stiffness(e), &fine_strain));
            add_scaled(&mut energy, s.volume / volume, &stored);
        }
        bounded(&compliance(&strain, &symmetric(&energy)), &averages[q])
    });
    Homogenized {
        stiffness: found.iter().map(|f| f.0).collect(),
        averaged: found.iter().map(|f| f.1).collect(),
        raised: found.iter().map(|f| f.2).collect(),
        samples: samples.try_into().unwrap_or_else(|_| unreachable!("six displacements have six samples")),
    }
}

/// More than six displacements, scaled to the same energy in the body.
struct Family<'a> {
    fine: Vec<&'a [f64]>,
    /// At the coarse vertices.
    coarse: Vec<Vec<f64>>,
    scales: Vec<f64>,
}

impl<'a> Family<'a> {
    fn new(fine: &Mesh, coarse: &Mesh, overlaps: &Overlaps, harmonic: &'a Harmonic) -> Self {
        let Harmonic { displacements, further, energies, .. } = harmonic;
        let all: Vec<&[f64]> = displacements.iter().chain(further).map(Vec::as_slice).collect();
        let scale = |e: &f64| if *e > 0.0 { e.sqrt().recip() } else { 0.0 };
        let samples = sample(fine, coarse, overlaps, &all);
        Self { fine: all, coarse: samples, scales: energies.iter().map(scale).collect() }
    }

    /// Strains of the displacements in a tet, scaled.
    fn strains<T: AsRef<[f64]>>(&self, h: &[T], tet: &[u32; 4], g: &[V3; 4]) -> Vec<[f64; 6]> {
        let strain = |(h, scale): (&T, &f64)| {
            let mut out = [0.0; 6];
            for (v, g) in tet.iter().zip(g) {
                let (b, u) = (strain_of(*g), &h.as_ref()[3 * *v as usize..3 * *v as usize + 3]);
                (0..6).for_each(|i| out[i] += scale * (b[i][0] * u[0] + b[i][1] * u[1] + b[i][2] * u[2]));
            }
            out
        };
        h.iter().zip(&self.scales).map(strain).collect()
    }

    /// The inverse of the tensor of a coarse tet; 0 for strains that no displacement has.
    fn compliance(&self, fine: &Fine<'_>, coarse: &Mesh, overlaps: &Overlaps, q: usize) -> Tensor {
        let (volume, g) = gradients(coarse.corners(q));
        let strain = self.strains(&self.coarse, &coarse.tets()[q], &g);
        let mut square = [[0.0; 6]; 6];
        for e in &strain {
            (0..36).for_each(|i| square[i / 6][i % 6] += e[i / 6] * e[i % 6]);
        }
        let (values, vectors) = eigen_symmetric(&square);
        let most = values.iter().copied().fold(0.0, f64::max);
        let inverse = compose(&values, &vectors, |v| if v > 1e-10 * most { 1.0 / v } else { 0.0 });
        // 𝔾⁺ᵀ GᵀCG 𝔾⁺ of a fine tet is LᵀCL with L = G𝔾⁺, which maps the coarse strain to its own.
        let pseudoinverse: Vec<[f64; 6]> = strain.iter().map(|e| apply(&inverse, e)).collect();
        let mut stiffness = [[0.0; 6]; 6];
        for s in overlaps.of(q) {
            let e = s.fine as usize;
            let (_, g) = gradients(fine.mesh.corners(e));
            let mut local = [[0.0; 6]; 6];
            for (own, all) in self.strains(&self.fine, &fine.mesh.tets()[e], &g).iter().zip(&pseudoinverse) {
                (0..36).for_each(|i| local[i / 6][i % 6] += own[i / 6] * all[i % 6]);
            }
            let stored = product(&transposed(&local), &product(fine.stiffness(e), &local));
            add_scaled(&mut stiffness, s.volume / volume, &stored);
        }
        let (values, vectors) = eigen_symmetric(&symmetric(&stiffness));
        let most = values.iter().copied().fold(0.0, f64::max);
        compose(&values, &vectors, |v| if v > 1e-13 * most { 1.0 / v } else { 0.0 })
    }
}

fn apply(a: &Tensor, x: &[f64; 6]) -> [f64; 6] {
    std::array::from_fn(|i| (0..6).map(|j| a[i][j] * x[j]).sum())
}

/// Strains of the six displacements, one per column.
fn strains(h: &[Vec<f64>], tet: &[u32; 4], g: &[V3; 4]) -> Tensor {
    let mut out = [[0.0; 6]; 6];
    for (v, g) in tet.iter().zip(g) {
        let b = strain_of(*g);
        for (a, h) in h.iter().enumerate() {
            let u = &h[3 * *v as usize..3 * *v as usize + 3];
            for i in 0..6 {
                out[i][a] += b[i][0] * u[0] + b[i][1] * u[1] + b[i][2] * u[2];
            }
        }
    }
    out
}

/// 𝔾 A⁻¹ 𝔾ᵀ; combinations of the six displacements that store nothing strain nothing and are left out.
pub(super) fn compliance(strain: &Tensor, energy: &Tensor) -> Tensor {
    // Scaled, since displacements of soft and stiff directions differ by orders.
    let d: [f64; 6] =
        std::array::from_fn(|a| if energy[a][a] > 0.0 { energy[a][a].sqrt().recip() } else { 0.0 });
    let scaled: Tensor = std::array::from_fn(|i| std::array::from_fn(|j| d[i] * energy[i][j] * d[j]));
    let (values, vectors) = eigen_symmetric(&scaled);
    let most = values.iter().copied().fold(0.0, f64::max);
    let inverse = compose(&values, &vectors, |v| if v > 1e-13 * most { 1.0 / v } else { 0.0 });
    let strain: Tensor = std::array::from_fn(|i| std::array::from_fn(|j| strain[i][j] * d[j]));
    symmetric(&product(&strain, &product(&inverse, &transposed(&strain))))
}

/// The inverse of a compliance, held between the average and [`SOFTEST`] of it; in how many directions it had to be.
pub(super) fn bounded(compliance: &Tensor, average: &Tensor) -> (Tensor, u8, u8) {
    let (values, vectors) = eigen_symmetric(average);
    let root = compose(&values, &vectors, |v| v.max(0.0).sqrt());
    let (values, vectors) = eigen_symmetric(&symmetric(&product(&root, &product(compliance, &root))));
    let count = |test: &dyn Fn(f64) -> bool| values.iter().filter(|v| test(**v)).count() as u8;
    let inverse = compose(&values, &vectors, |v| 1.0 / v.clamp(1.0, 1.0 / SOFTEST));
    let stiffness = symmetric(&product(&root, &product(&inverse, &root)));
    (stiffness, count(&|v| v < 1.0 - ROUNDING), count(&|v| v > 1.0 / SOFTEST))
}

/// Displacements at the coarse vertices.
fn sample<T: AsRef<[f64]> + Sync>(
    fine: &Mesh,
    coarse: &Mesh,
    overlaps: &Overlaps,
    fields: &[T],
) -> Vec<Vec<f64>> {
    let locator = fine.locator();
    let (offsets, around) = coarse.vertex_tets();
    let size = fine.bounds().map_or(0.0, |[a, b]| crate::math::vector::norm(sub(b, a)));
    let places: Vec<Vec<[f64; 3]>> = threads::par_map(coarse.vertices.len(), |v| {
        let x = coarse.vertices[v];
        let Some(place) = locator.locate(x) else { return vec![[0.0; 3]; fields.len()] };
        let tet = &fine.tets()[place.tet];
        let at = |h: &T| -> [f64; 3] {
            let h = h.as_ref();
            std::array::from_fn(|k| (0..4).map(|n| place.barycentric[n] * h[3 * tet[n] as usize + k]).sum())
        };
        let mut out: Vec<[f64; 3]> = fields.iter().map(at).collect();
        if place.distance > 1e-12 * size {
            let offset = sub(x, fine.place(&place, &fine.vertices));
            let tets = &around[offsets[v]..offsets[v + 1]];
            for (h, out) in fields.iter().zip(&mut out) {
                let mean = mean_gradient(fine, h.as_ref(), overlaps, tets);
                for i in 0..3 {
                    out[i] += (0..3).map(|j| mean[i][j] * offset[j]).sum::<f64>();
                }
            }
        }
        out
    });
    (0..fields.len()).map(|a| places.iter().flat_map(|p| p[a]).collect()).collect()
}

/// The mean of ∂h/∂x over the fine body in these coarse tets.
fn mean_gradient(fine: &Mesh, h: &[f64], overlaps: &Overlaps, tets: &[u32]) -> [[f64; 3]; 3] {
    let (mut sum, mut volume) = ([[0.0; 3]; 3], 0.0);
    for s in tets.iter().flat_map(|q| overlaps.of(*q as usize)) {
        let e = s.fine as usize;
        let gradient = gradient_of(h, &fine.tets()[e], &gradients(fine.corners(e)).1);
        volume += s.volume;
        for (sum, g) in sum.as_flattened_mut().iter_mut().zip(gradient.as_flattened()) {
            *sum += s.volume * g;
        }
    }
    sum.map(|row| row.map(|x| x / volume))
}
