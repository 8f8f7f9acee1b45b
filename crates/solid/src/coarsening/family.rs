//! Loads beyond those of uniform stress with the fine normal.
//!
//! - With the normal N of the coarse mesh, e·N (§4.4.2 of \[kharevych2010\]): near the boundary the test functions are those of the
//!   coarse tets. Such loads are not in equilibrium. The nearest loads to them are taken that are, and have the mean stress e.
//! - Stresses that vary linearly, 15 of them with div σ = 0, as in bending and torsion. With the six uniform ones they are the
//!   larger family to which tensors are fitted by least squares (§4.3.9 there).

use super::Fine;
use super::boundary::parts;
use super::tensor::unit;
use crate::math::Mat3;
use crate::math::vector::{V3, add, area_vector, dot, norm, scale, sub};
use crate::mesh::{Mesh, Surface};
use lilyan_parallel::threads;
use lilyan_solve::SmallMatrix;
use std::collections::BTreeMap;
use std::f64::consts::SQRT_2;

/// Number of linearly varying stresses without divergence.
pub(super) const LINEAR: usize = 15;

/// Which triangles of the surface of a fine body are pulled.
pub(super) struct Pulled<'a> {
    pub fine: &'a Fine<'a>,
    pub surface: &'a Surface,
    /// Triangles of the outer boundary.
    pub outside: &'a [bool],
    /// Those of them that are no lips of cracks or walls of notches.
    pub pulled: &'a [bool],
    /// Unknowns that are held.
    pub held: &'a [bool],
}

/// σ = Σ e_a x_k of these (a, k, factor).
type LinearStress = &'static [(usize, usize, f64)];

/// A basis of the linear stresses without divergence: bending, torsion, and pull that is balanced by shear.
#[rustfmt::skip]
const STRESSES: [LinearStress; LINEAR] = [
    &[(0, 1, 1.0)], &[(0, 2, 1.0)], &[(1, 0, 1.0)], &[(1, 2, 1.0)], &[(2, 0, 1.0)], &[(2, 1, 1.0)],
    &[(3, 0, 1.0)], &[(4, 1, 1.0)], &[(5, 2, 1.0)],
    &[(0, 0, 1.0), (5, 1, -SQRT_2)], &[(0, 0, 1.0), (4, 2, -SQRT_2)],
    &[(1, 1, 1.0), (5, 0, -SQRT_2)], &[(1, 1, 1.0), (3, 2, -SQRT_2)],
    &[(2, 2, 1.0), (4, 0, -SQRT_2)], &[(2, 2, 1.0), (3, 1, -SQRT_2)],
];

/// Nodal forces of the six unit stresses with the normals of the coarse mesh.
pub(super) fn coarse_normal_loads(pulled: &Pulled<'_>, coarse: &Mesh) -> Vec<f64> {
    let towards = normals(pulled, coarse);
    let stress: [Mat3; 6] = std::array::from_fn(unit);
    pulled.loads(6, &|a, t, _| stress[a].mul_vec(towards[t]), &|a, t, _| stress[a].mul_vec(pulled.normal(t)))
}

/// Nodal forces of the linearly varying stresses.
pub(super) fn linear_loads(pulled: &Pulled<'_>) -> Vec<f64> {
    let unit: [Mat3; 6] = std::array::from_fn(unit);
    let traction = |a: usize, t: usize, x: V3| {
        let mut out = [0.0; 3];
        for (e, k, factor) in STRESSES[a] {
            out = add(out, scale(unit[*e].mul_vec(pulled.normal(t)), factor * x[*k]));
        }
        out
    };
    pulled.loads(LINEAR, &traction, &traction)
}

/// The normal of the coarse boundary at each triangle that is pulled: of its nearest face that looks the same way, else its own.
fn normals(pulled: &Pulled<'_>, coarse: &Mesh) -> Vec<V3> {
    let faces: Vec<(V3, V3)> = coarse
        .surface()
        .triangles
        .iter()
        .map(|t| t.map(|v| coarse.vertices[v as usize]))
        .map(|x| (centre(x), area_vector(x)))
        .map(|(c, a)| (c, scale(a, 1.0 / norm(a).max(f64::MIN_POSITIVE))))
        .collect();
    threads::par_map(pulled.surface.triangles.len(), |t| {
        let own = pulled.normal(t);
        let at = centre(pulled.corners(t));
        let alike = faces.iter().filter(|(_, n)| dot(*n, own) > 0.5);
        // The distance along the normal counts twice: faces of the same side of the body are nearer.
        let far = |(c, n): &(V3, V3)| {
            let d = sub(at, *c);
            dot(d, d) + 3.0 * dot(d, *n).powi(2)
        };
        alike.min_by(|a, b| far(a).total_cmp(&far(b))).map_or(own, |(_, n)| *n)
    })
}

fn centre(x: [V3; 3]) -> V3 {
    scale(x.into_iter().fold([0.0; 3], add), 1.0 / 3.0)
}

impl Pulled<'_> {
    fn corners(&self, t: usize) -> [V3; 3] {
        self.surface.triangles[t].map(|v| self.fine.mesh.vertices[v as usize])
    }

    fn normal(&self, t: usize) -> V3 {
        let a = area_vector(self.corners(t));
        scale(a, 1.0 / norm(a).max(f64::MIN_POSITIVE))
    }

    /// Nodal forces of `count` tractions: functions of their number, the triangle and the place, which counts from the middle
    /// of the closed part of the boundary and in units of its size. They get the resultant, the moment and the mean stress that
    /// the tractions `exact` have on the whole of the part.
    fn loads(
        &self,
        count: usize,
        traction: &dyn Fn(usize, usize, V3) -> V3,
        exact: &dyn Fn(usize, usize, V3) -> V3,
    ) -> Vec<f64> {
        let dofs = self.held.len();
        let mut out = vec![0.0; count * dofs];
        let part = parts(self.surface);
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        (0..part.len())
            .filter(|t| self.outside[*t])
            .for_each(|t| members.entry(part[t]).or_default().push(t));
        for whole in members.values() {
            let pulled: Vec<usize> = whole.iter().copied().filter(|t| self.pulled[*t]).collect();
            let patch = Patch::new(self, whole, &pulled);
            for a in 0..count {
                let target = patch.moments(self, whole, &|t, x| exact(a, t, x));
                let forces = patch.forces(self, &pulled, &|t, x| traction(a, t, x));
                for (v, f) in patch.corrected(forces, &target) {
                    (0..3).for_each(|k| out[a * dofs + 3 * v as usize + k] += f[k]);
                }
            }
        }
        for f in out.chunks_exact_mut(dofs) {
            f.iter_mut().zip(self.held).filter(|(_, h)| **h).for_each(|(f, _)| *f = 0.0);
        }
        out
    }
}

/// The vertices of a closed part of the boundary that are pulled.
struct Patch {
    middle: V3,
    size: f64,
    /// Place, relative to the middle and in units of the size, and area of each vertex.
    vertices: BTreeMap<u32, (V3, f64)>,
}

impl Patch {
    fn new(pulled: &Pulled<'_>, whole: &[usize], some: &[usize]) -> Self {
        let area = |t: &usize| 0.5 * norm(area_vector(pulled.corners(*t)));
        let total: f64 = whole.iter().map(area).sum();
        let weighed = whole.iter().fold([0.0; 3], |s, t| add(s, scale(centre(pulled.corners(*t)), area(t))));
        let (middle, size) = (scale(weighed, 1.0 / total), total.sqrt());
        let mut vertices = BTreeMap::new();
        for t in some {
            for v in pulled.surface.triangles[*t] {
                let at = scale(sub(pulled.fine.mesh.vertices[v as usize], middle), 1.0 / size);
                vertices.entry(v).or_insert((at, 0.0)).1 += area(t) / 3.0;
            }
        }
        Self { middle, size, vertices }
    }

    /// ∫ N t dA at the corners of these triangles.
    fn forces(
        &self,
        pulled: &Pulled<'_>,
        triangles: &[usize],
        traction: &dyn Fn(usize, V3) -> V3,
    ) -> BTreeMap<u32, V3> {
        let mut out: BTreeMap<u32, V3> = BTreeMap::new();
        for &t in triangles {
            let x = pulled.corners(t);
            let at = x.map(|x| traction(t, scale(sub(x, self.middle), 1.0 / self.size)));
            let sum = at.into_iter().fold([0.0; 3], add);
            let area = 0.5 * norm(area_vector(x));
            for (v, own) in pulled.surface.triangles[t].into_iter().zip(at) {
                let f = out.entry(v).or_insert([0.0; 3]);
                *f = add(*f, scale(add(sum, own), area / 12.0));
            }
        }
        out
    }

    /// Σ f and Σ f ⊗ x of tractions on these triangles.
    fn moments(
        &self,
        pulled: &Pulled<'_>,
        triangles: &[usize],
        traction: &dyn Fn(usize, V3) -> V3,
    ) -> [f64; 12] {
        let mut out = [0.0; 12];
        for (v, f) in self.forces(pulled, triangles, traction) {
            let x = scale(sub(pulled.fine.mesh.vertices[v as usize], self.middle), 1.0 / self.size);
            (0..12).for_each(|i| out[i] += f[i % 3] * if i < 3 { 1.0 } else { x[i / 3 - 1] });
        }
        out
    }

    /// The forces nearest to these, relative to the area of a vertex, with Σ f and Σ f ⊗ x as given.
    fn corrected(&self, mut forces: BTreeMap<u32, V3>, target: &[f64; 12]) -> BTreeMap<u32, V3> {
        let functions = |x: V3| [1.0, x[0], x[1], x[2]];
        let mut square = [[0.0; 4]; 4];
        for (x, area) in self.vertices.values() {
            let phi = functions(*x);
            (0..16).for_each(|i| square[i / 4][i % 4] += area * phi[i / 4] * phi[i % 4]);
        }
        let most = (0..4).map(|i| square[i][i]).fold(0.0, f64::max);
        let square = SmallMatrix::from_fn(4, 4, |i, j| square[i][j]);
        let Some(inverse) = square.function(|v| if v > 1e-10 * most { 1.0 / v } else { 0.0 }) else {
            return forces;
        };
        // More than once for round-off: what is missing would be borne by what is held.
        for _ in 0..3 {
            for k in 0..3 {
                let mut missing: [f64; 4] = std::array::from_fn(|i| target[3 * i + k]);
                for (v, f) in &forces {
                    let phi = functions(self.vertices[v].0);
                    (0..4).for_each(|i| missing[i] -= f[k] * phi[i]);
                }
                let c = inverse.apply(&missing);
                for (v, f) in &mut forces {
                    let (x, area) = self.vertices[v];
                    f[k] += area * functions(x).iter().zip(&c).map(|(p, c)| p * c).sum::<f64>();
                }
            }
        }
        forces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coarsening::tensor::of_material;
    use crate::coarsening::{outer_faces, pulled_faces};
    use crate::materials::{Given, find};
    use crate::meshing::{box_mesh, sphere};

    fn resultants(mesh: &Mesh, loads: &[f64]) -> Vec<[f64; 12]> {
        let of = |f: &[f64]| {
            let mut out = [0.0; 12];
            for (x, f) in mesh.vertices.iter().zip(f.chunks_exact(3)) {
                (0..12).for_each(|i| out[i] += f[i % 3] * if i < 3 { 1.0 } else { x[i / 3 - 1] });
            }
            out
        };
        loads.chunks_exact(3 * mesh.vertices.len()).map(of).collect()
    }

    #[test]
    fn loads_are_in_equilibrium_and_have_their_mean_stress() {
        let mesh = sphere(1.0, 0.4).unwrap();
        let coarse = {
            let mut coarse = box_mesh([2.0; 3], [2; 3]).unwrap();
            coarse.vertices.iter_mut().for_each(|x| *x = x.map(|c| c - 1.0));
            coarse
        };
        let linear = find("linear").unwrap();
        let stiffness =
            [of_material(linear, &linear.constants(&Given::from_young(1.0, 0.3).unwrap()).unwrap())];
        let held = vec![false; 3 * mesh.vertices.len()];
        let fine = Fine { mesh: &mesh, stiffness: &stiffness, density: &[1.0], held: &held };
        let surface = mesh.surface();
        let outside = outer_faces(&mesh, surface);
        let all = pulled_faces(&mesh, surface, &coarse);
        // Half of the ball is not pulled.
        let half: Vec<bool> =
            surface.triangles.iter().map(|t| mesh.vertices[t[0] as usize][0] > -0.2).collect();
        let volume = mesh.volume();
        for pulled in [&all, &half] {
            let pulled = Pulled { fine: &fine, surface, outside: &outside, pulled, held: &held };
            for (a, found) in resultants(&mesh, &coarse_normal_loads(&pulled, &coarse)).iter().enumerate() {
                let e = unit(a);
                for (i, found) in found.iter().enumerate() {
                    let expected = if i < 3 { 0.0 } else { volume * e.0[i % 3][i / 3 - 1] };
                    assert!(
                        (found - expected).abs() < 1e-10,
                        "stress {a}, moment {i}: {found}, not {expected}"
                    );
                }
            }
            for (a, found) in resultants(&mesh, &linear_loads(&pulled)).iter().enumerate() {
                // No resultant and no torque.
                let torque =
                    (0..3).map(|i| found[3 + 3 * i + (i + 1) % 3] - found[3 + 3 * ((i + 1) % 3) + i]);
                let worst = found[..3].iter().copied().chain(torque).fold(0.0f64, |m, x| m.max(x.abs()));
                assert!(worst < 1e-10, "linear stress {a}: {worst:e}");
            }
        }
    }
}
