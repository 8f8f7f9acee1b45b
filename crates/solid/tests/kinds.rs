//! What every kind of elements for solids keeps: forces and stiffness are derivatives of the energy, discrete gradients are
//! exact, and masses, volumes and weights add up.

use lilyan_dynamics::System;
use lilyan_solid::elements::{DISCONTINUOUS_TETS, Glued, GluingKind, SOLID_KINDS, SolidKind};
use lilyan_solid::materials::{CATALOGUE, Given, Material};
use lilyan_solid::mesh::Mesh;
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::{BodyInput, Model, ModelBuilder, output};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;
use std::sync::Arc;

const RHO: f64 = 1000.0;
const SIZE: [f64; 3] = [1.0, 0.6, 0.5];
/// m³.
const VOLUME: f64 = 0.3;

fn kinds() -> impl Iterator<Item = &'static SolidKind> {
    SOLID_KINDS.iter().copied().chain([&DISCONTINUOUS_TETS])
}

fn block() -> Arc<Mesh> {
    Arc::new(box_mesh(SIZE, [2, 1, 1]).unwrap())
}

fn body(kind: &'static SolidKind, material: &'static dyn Material, name: &str, mesh: Arc<Mesh>) -> BodyInput {
    let given = Given::from_young(1e5, 0.3).unwrap();
    let glued = Glued { kind: GluingKind::InteriorPenalty, penalty: 4.0 };
    let glued = (*kind == DISCONTINUOUS_TETS).then_some(glued);
    BodyInput { glued, ..BodyInput::of(kind, (kind.nodes)(mesh), name, material, given, RHO) }
}

fn model(kind: &'static SolidKind, material: &'static dyn Material, consistent_mass: bool) -> Model {
    let mut builder = ModelBuilder::default();
    builder.body(BodyInput { consistent_mass, ..body(kind, material, "body", block()) }).unwrap();
    builder.build()
}

/// Calls `test(name, model)` for every kind with every material.
fn each_model(test: impl Fn(&str, &Model)) {
    for kind in kinds() {
        for material in CATALOGUE {
            let name = format!("{} {}", kind.name, material.card().name);
            test(&name, &model(kind, *material, false));
            if kind.mean_dilatation {
                test(&format!("{name}, mean dilatation"), &nearly_incompressible(kind, *material));
            }
        }
    }
}

/// ν = 0.49, with the mean dilatation of each tet.
fn nearly_incompressible(kind: &'static SolidKind, material: &'static dyn Material) -> Model {
    let mut builder = ModelBuilder::default();
    let given = vec![Given::from_young(1e5, 0.49).unwrap()];
    builder
        .body(BodyInput { given, mean_dilatation: Some(true), ..body(kind, material, "body", block()) })
        .unwrap();
    builder.build()
}

/// Numbers from −1 to 1.
fn random(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(next).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// a + c·b.
fn plus(a: &[f64], c: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + c * b).collect()
}

/// Rest positions, each moved by at most 2 cm along each axis.
fn shaken(model: &Model, seed: u64) -> Vec<f64> {
    let rest = model.rest_positions();
    plus(&rest, 0.02, &random(seed, rest.len()))
}

fn gradient(model: &Model, q: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; q.len()];
    model.gradient(0.0, q, &mut out);
    out
}

#[test]
fn forces_and_stiffness_are_derivatives_of_the_energy() {
    each_model(|name, model| {
        let q = shaken(model, 3);
        let g = gradient(model, &q);
        let mut stiffness = BlockMatrix::zeros(model.pattern().clone());
        model.hessian(0.0, &q, Curvature::Exact, &mut stiffness);
        // Central differences: their error is of order STEP², round-off of order 1e-16/STEP.
        const STEP: f64 = 1e-6;
        for seed in 10..13 {
            let d = random(seed, q.len());
            let [a, b] = [STEP, -STEP].map(|c| plus(&q, c, &d));
            let slope = (model.energy(0.0, &a) - model.energy(0.0, &b)) / (2.0 * STEP);
            let error = (slope - dot(&g, &d)).abs() / (norm(&g) * norm(&d));
            assert!(error < 1e-7, "{name}: force {error:e}");
            let change = plus(&gradient(model, &a), -1.0, &gradient(model, &b));
            let mut product = vec![0.0; q.len()];
            stiffness.mul_vec(&d, &mut product);
            let error = norm(&plus(&change, -2.0 * STEP, &product)) / (2.0 * STEP * norm(&product));
            assert!(error < 1e-6, "{name}: stiffness {error:e}");
        }
    });
}

#[test]
fn discrete_gradients_are_exact() {
    each_model(|name, model| {
        let (q0, q1) = (shaken(model, 3), shaken(model, 4));
        let mut g = vec![0.0; q0.len()];
        let ability = model.abilities().discrete_gradient.unwrap();
        assert!(ability.discrete_gradient([0.0; 2], &q0, &q1, &mut g), "{name}");
        let (before, after) = (model.energy(0.0, &q0), model.energy(0.0, &q1));
        let error = dot(&g, &plus(&q1, -1.0, &q0)) - (after - before);
        assert!(error.abs() < 1e-10 * before, "{name}: {error:e} J");
        for k in 0..3 {
            let sum: f64 = g.iter().skip(k).step_by(3).sum();
            assert!(sum.abs() < 1e-9 * norm(&g), "{name}: {sum:e} N");
        }
    });
}

#[test]
fn masses_and_volumes_add_up() {
    for kind in kinds() {
        for consistent in [false, true] {
            let model = model(kind, CATALOGUE[0], consistent);
            let ones = vec![1.0; model.dofs()];
            let mut momenta = vec![0.0; model.dofs()];
            model.mass().mul(&ones, &mut momenta);
            let mass = momenta.iter().sum::<f64>() / 3.0;
            assert!((mass - RHO * VOLUME).abs() < 1e-11 * RHO * VOLUME, "{}: {mass} kg", kind.name);
        }
        let nodes = (kind.nodes)(block());
        let volume: f64 = nodes.volumes().iter().sum();
        assert!((volume - VOLUME).abs() < 1e-14, "{}: {volume} m³", kind.name);
        assert!((nodes.shares().iter().sum::<f64>() - 1.0).abs() < 1e-15, "{}", kind.name);
    }
}

#[test]
fn weights_reproduce_linear_fields() {
    for kind in kinds() {
        let nodes = (kind.nodes)(block());
        let field = |x: &[f64; 3]| 0.7 + 2.0 * x[0] - 3.0 * x[1] + 5.0 * x[2];
        for r in random(5, 60).as_chunks::<3>().0 {
            let [lo, hi] = nodes.mesh().bounds().unwrap();
            let point: [f64; 3] = std::array::from_fn(|k| lo[k] + 0.5 * (1.0 + r[k]) * (hi[k] - lo[k]));
            let found = nodes.mesh().locate(point).unwrap();
            let weights = nodes.weights_at(&found);
            let own: Vec<u32> = weights.iter().map(|w| w.0).collect();
            assert_eq!(own, nodes.of_tet(found.tet), "{}", kind.name);
            assert!((weights.iter().map(|w| w.1).sum::<f64>() - 1.0).abs() < 1e-13, "{}", kind.name);
            let value: f64 = weights.iter().map(|(n, w)| w * field(&nodes.points()[*n as usize])).sum();
            assert!((value - field(&point)).abs() < 1e-12, "{}: {value}", kind.name);
        }
        let at_vertices: Vec<f64> = nodes.mesh().vertices.iter().map(field).collect();
        let errors = nodes.interpolated(&at_vertices).into_iter().zip(nodes.points());
        errors.for_each(|(value, x)| assert!((value - field(x)).abs() < 1e-14, "{}", kind.name));
    }
}

/// The corners come first among the nodes of a tet, and the surface bounds the same volume.
#[test]
fn nodes_lie_on_the_mesh() {
    for kind in kinds() {
        let nodes = (kind.nodes)(block());
        for (t, corners) in nodes.tets().iter().enumerate() {
            assert_eq!(nodes.of_tet(t)[..4], *corners, "{}", kind.name);
            assert_eq!(corners.map(|n| nodes.points()[n as usize]), nodes.mesh().corners(t), "{}", kind.name);
        }
        let surface = nodes.surface();
        let area: f64 = surface.face_areas(nodes.points()).iter().sum();
        let [a, b, c] = SIZE;
        assert!((area - 2.0 * (a * b + b * c + c * a)).abs() < 1e-12, "{}: {area} m²", kind.name);
        assert_eq!(surface.triangles.len(), surface.tets.len(), "{}", kind.name);
        let all = nodes.marks(&vec![true; nodes.mesh().vertices.len()]);
        assert_eq!(all, vec![true; nodes.len()], "{}", kind.name);
    }
}

/// Amounts at vertices keep their sum or are refused.
#[test]
fn divided_amounts_keep_their_sum() {
    for kind in kinds() {
        let nodes = (kind.nodes)(block());
        let amounts: Vec<f64> = (0..nodes.mesh().vertices.len()).map(|v| 1.0 + v as f64).collect();
        if let Some(divided) = nodes.divided(&amounts) {
            let (given, kept) = (amounts.iter().sum::<f64>(), divided.iter().sum::<f64>());
            assert!((given - kept).abs() < 1e-13 * given, "{}: {kept}", kind.name);
        }
    }
}

/// Tags are those of the cells, in whatever order bodies of several kinds stand in the model.
#[test]
fn tags_are_numbered_as_cells_are() {
    let all: Vec<&'static SolidKind> = kinds().collect();
    let mut builder = ModelBuilder::default();
    for (b, kind) in all.iter().rev().enumerate() {
        let mut mesh = box_mesh(SIZE, [1 + b, 1, 1]).unwrap();
        // Each tag says the body and the tet.
        mesh.tags = (0..mesh.tets().len()).map(|e| (1000 * b + e) as i64).collect();
        builder.body(body(kind, CATALOGUE[0], &format!("body {b}"), Arc::new(mesh))).unwrap();
    }
    let model = builder.build();
    let tags = output::cell_tags(model.bodies());
    let cells = output::cells(model.bodies());
    let cells: Vec<&[u32]> = cells.iter().flat_map(|block| block.iter()).collect();
    assert_eq!(tags.len(), cells.len());
    for (tag, cell) in tags.iter().zip(cells) {
        let (b, e) = (*tag as usize / 1000, *tag as usize % 1000);
        let (owner, node) = model.owner(cell[0]).unwrap();
        assert_eq!(owner, b);
        assert!(model.bodies()[b].dofs.nodes().of_tet(e).contains(&node));
    }
}
