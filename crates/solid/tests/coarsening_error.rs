//! The error of a coarse body in equilibrium: O(h) in H¹ with the size h of its tets [kharevych2010, 4.3.9]. In L² it falls with h too,
//! but not with h², as is said there.
#![allow(non_snake_case)] // E as in the papers

mod common;

use common::flat;
use lilyan_dynamics::System;
use lilyan_solid::coarsening::{
    DIRECT, Fine, Loading, Tensor, Traction, average, fit, harmonic, homogenize, of_material, to_voigt,
};
use lilyan_solid::materials::{Given, find};
use lilyan_solid::mesh::{Display, Harmonics, Mesh, Nodes};
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::{BodyInput, ModelBuilder};
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, Cholesky};
use std::sync::Arc;

const NAMES: [&str; 21] = [
    "C11", "C12", "C13", "C14", "C15", "C16", "C22", "C23", "C24", "C25", "C26", "C33", "C34", "C35", "C36",
    "C44", "C45", "C46", "C55", "C56", "C66",
];

/// Displacements in equilibrium with a weight of these masses along x, held where x = 0.
fn equilibrium(mesh: &Mesh, stiffness: &[Tensor], masses: &[f64]) -> Vec<f64> {
    let given = |c: &Tensor| {
        let constants = NAMES.into_iter().zip(to_voigt(c));
        constants.fold(Given::from_young(1e5, 0.3).unwrap(), |given, (name, value)| given.with(name, value))
    };
    let given: Vec<Given> = stiffness.iter().map(given).collect();
    let mut body = BodyInput::new("bar", mesh.clone(), find("linear").unwrap(), given[0].clone(), 1000.0);
    body.given = given;
    let mut builder = ModelBuilder::default();
    builder.body(body).unwrap();
    let model = builder.build();
    let mut k = BlockMatrix::zeros(model.pattern().clone());
    model.hessian(0.0, &flat(&mesh.vertices), Curvature::Exact, &mut k);
    let held = held(mesh);
    k.hold(&held);
    let mut cholesky = Cholesky::new();
    cholesky.factor(&k).unwrap();
    let mut u: Vec<f64> = masses.iter().flat_map(|m| [*m, 0.0, 0.0]).collect();
    u.iter_mut().zip(&held).filter(|(_, held)| **held).for_each(|(f, _)| *f = 0.0);
    cholesky.solve(&mut u);
    u
}

/// Held at one end, and guided along x: a rod in one dimension.
fn held(mesh: &Mesh) -> Vec<bool> {
    mesh.vertices.iter().flat_map(|x| [x[0] < 1e-9, true, true]).collect()
}

/// Squares of the norms of a displacement, and of its gradient, over a mesh.
fn norms(mesh: &Mesh, u: &[f64]) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for (t, tet) in mesh.tets().iter().enumerate() {
        let x = mesh.corners(t);
        let rows: Vec<[f64; 3]> = (1..4).map(|i| [0, 1, 2].map(|k| x[i][k] - x[0][k])).collect();
        let edges = lilyan_solid::math::Mat3::from_fn(|i, k| rows[i][k]);
        let (volume, inverse) = (edges.det() / 6.0, edges.inverse());
        let at = |n: usize, k: usize| u[3 * tet[n] as usize + k];
        for k in 0..3 {
            let difference = [1, 2, 3].map(|n| at(n, k) - at(0, k));
            let gradient = inverse.mul_vec(difference);
            sums[1] += volume * gradient.iter().map(|g| g * g).sum::<f64>();
            let sum: f64 = (0..4).map(|n| at(n, k)).sum();
            sums[0] += volume / 20.0 * (sum * sum + (0..4).map(|n| at(n, k).powi(2)).sum::<f64>());
        }
    }
    sums
}

/// Relative errors in L² and H¹ of what a coarse bar of so many cells shows, with tensors of `homogenize` and of `average`.
fn errors(cells: usize, young: &dyn Fn(f64) -> f64) -> [[f64; 2]; 2] {
    let fine = box_mesh([1.0, 0.5, 0.5], [24, 12, 12]).unwrap();
    let linear = find("linear").unwrap();
    let tensor = |t: usize| {
        let E = young(0.25 * fine.corners(t).iter().map(|c| c[0]).sum::<f64>());
        of_material(linear, &linear.constants(&Given::from_young(E, 0.0).unwrap()).unwrap())
    };
    let stiffness: Vec<Tensor> = (0..fine.tets().len()).map(tensor).collect();
    let free = vec![false; 3 * fine.vertices.len()];
    let body = Fine { mesh: &fine, stiffness: &stiffness, density: &[1000.0], held: &free };
    let fitted =
        fit(&box_mesh([1.0, 0.5, 0.5], [2 * cells, cells, cells]).unwrap(), &fine, &mut |_, _| {}).unwrap();
    let loading = Loading { tractions: &[Traction::Uniform], coarse: None, direct: DIRECT };
    let found = harmonic(&body, &loading, &mut |_, _| {}).unwrap().remove(0);
    let mut masses = vec![0.0; fine.vertices.len()];
    for (tet, volume) in fine.tets().iter().zip(fine.signed_volumes()) {
        tet.iter().for_each(|v| masses[*v as usize] += 250.0 * volume);
    }
    // So little weight that squares of strains are round-off.
    let scaled = |masses: &[f64]| -> Vec<f64> { masses.iter().map(|m| 1e-6 * m).collect() };
    let exact = equilibrium(&fine, &stiffness, &scaled(&masses));
    let whole = norms(&fine, &exact);
    let coarse_masses = fitted.overlaps.masses(&fitted.mesh, &body);
    let homogenized = homogenize(&body, &fitted.mesh, &fitted.overlaps, &found);
    let nodes = Arc::new(Nodes::at_vertices(fitted.mesh.clone()));
    let harmonics = Harmonics { fine: found.displacements, coarse: homogenized.samples };
    let display = Display::new(&nodes, &fine.vertices).unwrap().with(&nodes, &harmonics).unwrap();
    [homogenized.stiffness, average(&body, &fitted.mesh, &fitted.overlaps)].map(|tensors| {
        let u = equilibrium(&fitted.mesh, &tensors, &scaled(&coarse_masses));
        let q: Vec<f64> = flat(&fitted.mesh.vertices).iter().zip(&u).map(|(x, u)| x + u).collect();
        let shown = display.place(&q);
        let off: Vec<f64> =
            (0..exact.len()).map(|i| shown[i] - fine.vertices[i / 3][i % 3] - exact[i]).collect();
        let off = norms(&fine, &off);
        [0, 1].map(|k| (off[k] / whole[k]).sqrt())
    })
}

#[test]
fn the_error_is_of_first_order_in_h1() {
    let smooth = |x: f64| 1e5 * (1.2 + (3.0 * x).sin());
    let found = [1, 2, 4].map(|cells| errors(cells, &smooth));
    for (cells, [homogenized, averaged]) in [1, 2, 4].into_iter().zip(&found) {
        println!("{cells} cells: L² and H¹ {homogenized:?}, by the volume average {averaged:?}");
    }
    for pair in found.windows(2) {
        let order = [0, 1].map(|k| (pair[0][0][k] / pair[1][0][k]).log2());
        println!("orders {order:?}");
        // Tets of one coarse cell hold different stretches of a material that changes: their forces are in balance up to O(h).
        assert!(order[0] > 0.35 && order[1] > 0.9, "orders {order:?}");
    }
    assert!(found[2][0][0] < 0.03 && found[2][0][1] < 0.07, "{found:?}");
}

/// Layers that are thinner than a tet, ten to one: the volume average is 2.8 times too stiff. The tensors of `homogenize` are near as
/// long as a tet holds many layers.
#[test]
fn thin_layers_are_no_obstacle() {
    let layers = |x: f64| 1e5 * (1.0 + x) * if (12.0 * x) as usize % 2 == 0 { 1.0 } else { 0.1 };
    let [homogenized, averaged] = errors(1, &layers);
    println!("six layers in a cell: L² and H¹ {homogenized:?}, by the volume average {averaged:?}");
    println!("two layers in a cell: L² and H¹ {:?}", errors(3, &layers)[0]);
    assert!(homogenized[0] < 0.06 && homogenized[1] < 0.24, "{homogenized:?}");
    assert!(averaged.iter().all(|error| *error > 0.6), "{averaged:?}");
}
