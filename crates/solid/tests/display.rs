//! What a coarse mesh shows of a fine body: bounded for whatever body and motion, and nearer to the fine body than by
//! interpolation.

mod common;

use common::{carved, centre, flat, modes};
use lilyan_solid::coarsening::{
    DIRECT, Fine, Loading, Tensor, Traction, cover, fit, harmonic, homogenize, of_material,
};
use lilyan_solid::materials::{Given, find};
use lilyan_solid::math::{Mat3, Svd};
use lilyan_solid::mesh::{Display, Embedding, Harmonics, MAX_FLUCTUATION, Mesh, Nodes};
use lilyan_solid::meshing::{box_mesh, sphere};
use lilyan_solid::{BodyInput, Model, ModelBuilder, Pin};
use std::sync::Arc;

/// A heterogeneous body: its mesh, E of a place, which places are held, and how many coarse tets stand for it.
struct Case {
    name: &'static str,
    mesh: Mesh,
    young: fn([f64; 3]) -> f64,
    held: fn([f64; 3]) -> bool,
    tets: usize,
}

const SIZE: [f64; 3] = [2.0, 0.5, 0.5];

fn bar() -> Mesh {
    box_mesh(SIZE, [20, 6, 6]).unwrap()
}

/// The bar without some of its tets, by their centres.
fn without(gone: impl Fn([f64; 3]) -> bool) -> Mesh {
    carved(&bar(), gone)
}

fn nowhere(_: [f64; 3]) -> bool {
    false
}

fn at_the_end(x: [f64; 3]) -> bool {
    x[0] < 1e-9
}

fn scattered(x: [f64; 3]) -> f64 {
    10f64.powf(5.0 + 2.0 * (37.0 * x[0] + 91.0 * x[1] + 53.0 * x[2]).sin())
}

/// Layers, cracks, fibres, holes, notches, pins, and stiffnesses by chance.
fn cases() -> Vec<Case> {
    let case = |name, mesh, young, held, tets| Case { name, mesh, young, held, tets };
    vec![
        case("layers across", bar(), |x| if (5.0 * x[0]).fract() < 0.5 { 1e5 } else { 2e6 }, nowhere, 48),
        case("layers along", bar(), |x| if (6.0 * x[2]).fract() < 0.5 { 1e5 } else { 2e6 }, at_the_end, 48),
        case(
            "soft crack",
            bar(),
            |x| if (x[0] - 0.95).abs() < 0.05 && x[2] > 0.25 { 1e3 } else { 1e5 },
            at_the_end,
            48,
        ),
        case(
            "soft crack, free",
            bar(),
            |x| if (x[0] - 0.95).abs() < 0.05 && x[2] > 0.16 { 1e2 } else { 1e5 },
            nowhere,
            24,
        ),
        case(
            "fibres",
            bar(),
            |x| if (x[1] - 0.25).abs() < 0.09 && (x[2] - 0.25).abs() < 0.09 { 2.5e7 } else { 1e5 },
            at_the_end,
            48,
        ),
        case(
            "cavity",
            without(|x| (x[0] - 1.0).abs() < 0.3 && (1..3).all(|k| (x[k] - 0.25).abs() < 0.16)),
            |_| 1e5,
            at_the_end,
            48,
        ),
        case("notch", without(|x| (x[0] - 0.95).abs() < 0.05 && x[2] > 0.16), |_| 1e5, at_the_end, 48),
        case("by chance", bar(), scattered, |x| x[0] < 1e-9 && x[1] < 0.2 && x[2] < 0.2, 48),
        case("two held faces", bar(), scattered, |x| x[0] < 1e-9 || x[0] > 2.0 - 1e-9, 12),
        case(
            "ball with a stiff core",
            sphere(1.0, 0.3).unwrap(),
            |x| if x.iter().map(|x| x * x).sum::<f64>() < 0.25 { 1e7 } else { 1e5 },
            |x| x[2] < -0.9,
            40,
        ),
    ]
}

/// The coarse body and the fine one that it shows.
struct Shown {
    nodes: Arc<Nodes>,
    harmonics: Harmonics,
    display: Display,
}

fn held(case: &Case) -> Vec<bool> {
    case.mesh.vertices.iter().flat_map(|x| [(case.held)(*x); 3]).collect()
}

fn shown(case: &Case) -> Shown {
    let linear = find("linear").unwrap();
    let tensor = |e: usize| -> Tensor {
        let given = Given::from_young((case.young)(centre(&case.mesh, e)), 0.3).unwrap();
        of_material(linear, &linear.constants(&given).unwrap())
    };
    let stiffness: Vec<Tensor> = (0..case.mesh.tets().len()).map(tensor).collect();
    let fine = Fine { mesh: &case.mesh, stiffness: &stiffness, density: &[1000.0], held: &held(case) };
    let fitted = fit(&cover(&case.mesh, case.tets).unwrap(), &case.mesh, &mut |_, _| {}).unwrap();
    let loading = Loading { tractions: &[Traction::LeastEnergy], coarse: None, direct: DIRECT };
    let found = harmonic(&fine, &loading, &mut |_, _| {}).unwrap().remove(0);
    let samples = homogenize(&fine, &fitted.mesh, &fitted.overlaps, &found).samples;
    let nodes = Arc::new(Nodes::at_vertices(fitted.mesh));
    let harmonics = Harmonics { fine: found.displacements, coarse: samples };
    let display = Display::new(&nodes, &case.mesh.vertices).unwrap().with(&nodes, &harmonics).unwrap();
    Shown { nodes, harmonics, display }
}

/// A bar rolled up by 130°, twisted and drawn out, or shaken so that tets turn inside out.
fn deformed(points: &[[f64; 3]], motion: usize) -> Vec<f64> {
    let at = |(i, x): (usize, &[f64; 3])| -> [f64; 3] {
        match motion {
            0 => {
                let (sin, cos) = (1.13 * x[0]).sin_cos();
                let r = 0.88 - x[2];
                [r * sin, x[1], 0.88 - r * cos]
            }
            1 => {
                let (sin, cos) = (1.5 * x[0]).sin_cos();
                let (y, z) = (x[1] - 0.25, x[2] - 0.25);
                [1.8 * x[0] + 5.0, cos * y - sin * z, sin * y + cos * z]
            }
            _ => std::array::from_fn(|k| x[k] + 0.3 * ((7 * i + 3 * k) as f64 * 1.7).sin()),
        }
    };
    points.iter().enumerate().flat_map(at).collect()
}

/// √6 MAX_FLUCTUATION ℓ|ε| of each coarse tet.
fn reach(nodes: &Nodes, q: &[f64]) -> Vec<f64> {
    let edges = |x: &[[f64; 3]; 4]| Mat3::from_fn(|k, i| x[i + 1][k] - x[0][k]);
    let of_tet = |t: usize| {
        let (rest, tet) = (nodes.mesh().corners(t), nodes.tets()[t]);
        let now = tet.map(|v| std::array::from_fn(|k| q[3 * v as usize + k]));
        let sigma = Svd::new(&(edges(&now) * edges(&rest).inverse())).sigma;
        let strain = sigma.iter().map(|s| (s - 1.0).powi(2)).sum::<f64>().sqrt();
        let length =
            |i: usize, j: usize| (0..3).map(|k| (rest[i][k] - rest[j][k]).powi(2)).sum::<f64>().sqrt();
        let size = (0..4).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| length(i, j));
        6f64.sqrt() * MAX_FLUCTUATION * size.fold(0.0, f64::max) * strain
    };
    (0..nodes.tets().len()).map(of_tet).collect()
}

#[test]
fn no_point_leaves_its_coarse_tet_by_more_than_the_strain_allows() {
    for case in cases() {
        let Shown { nodes, display, .. } = shown(&case);
        for motion in 0..3 {
            let q = deformed(nodes.points(), motion);
            let reach = reach(&nodes, &q);
            let (placed, interpolated) = (display.place(&q), display.embedding().place(&q));
            let mut moved = 0.0f64;
            for (p, corners) in display.embedding().corners.iter().enumerate() {
                let near = (0..reach.len()).filter(|t| nodes.tets()[*t].iter().any(|v| corners.contains(v)));
                let most = near.map(|t| reach[t]).fold(0.0, f64::max);
                let off = (0..3).map(|k| (placed[3 * p + k] - interpolated[3 * p + k]).powi(2)).sum::<f64>();
                assert!(off.sqrt() <= most * (1.0 + 1e-9), "{}: {} > {most}", case.name, off.sqrt());
                moved = moved.max(off.sqrt());
            }
            assert!(moved > 1e-4, "{}: nothing inside of the coarse tets is shown", case.name);
        }
    }
}

/// Layers between faces that are pulled: a displacement H s, turned, is shown as it is.
#[test]
fn harmonic_displacements_are_shown_as_they_are() {
    let Shown { nodes, harmonics, display } = shown(&cases()[0]);
    let (sin, cos) = 2.27f64.sin_cos();
    let turned = |x: [f64; 3]| [cos * x[0] - sin * x[1], sin * x[0] + cos * x[1], x[2] + 3.0];
    // Strains of about 1e-6, so that their squares are round-off.
    let s = [0.9, 0.3, -0.2, 0.1, 0.2, 0.3].map(|s| 0.1 * s);
    let moved = |points: &[[f64; 3]], h: &[Vec<f64>; 6]| -> Vec<f64> {
        let at = |(p, x): (usize, &[f64; 3])| {
            turned([0, 1, 2].map(|k| x[k] + (0..6).map(|a| s[a] * h[a][3 * p + k]).sum::<f64>()))
        };
        points.iter().enumerate().flat_map(at).collect()
    };
    let q = moved(nodes.points(), &harmonics.coarse);
    let exact = moved(&cases()[0].mesh.vertices, &harmonics.fine);
    let off = |x: &[f64]| x.iter().zip(&exact).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    let (shown, plain) = (off(&display.place(&q)), off(&display.embedding().place(&q)));
    assert!(shown < 1e-4 * plain, "{shown} of {plain}");
}

fn model(case: &Case) -> Model {
    let given = |e| Given::from_young((case.young)(centre(&case.mesh, e)), 0.3).unwrap();
    let mut body = BodyInput::new("body", case.mesh.clone(), find("linear").unwrap(), given(0), 1000.0);
    body.given = (0..case.mesh.tets().len()).map(given).collect();
    let mut builder = ModelBuilder::default();
    builder.body(body).unwrap();
    let nodes = (0..case.mesh.vertices.len() as u32).filter(|v| (case.held)(case.mesh.vertices[*v as usize]));
    builder.pin(Pin { nodes: nodes.collect(), axes: [true; 3], motion: None, until: f64::INFINITY });
    builder.build()
}

/// The first modes of the fine body, of which the coarse nodes know their places alone: what is shown between them is not
/// further off than by interpolation, but for a little, and much nearer where a crack opens.
#[test]
fn modes_of_the_fine_body_are_shown_better_than_by_interpolation() {
    for case in cases() {
        let Shown { nodes, display, .. } = shown(&case);
        let rest = flat(&case.mesh.vertices);
        let rigid = if held(&case).contains(&true) { 0 } else { 6 };
        let found = modes(&model(&case), &rest, rigid + 5);
        let sampled = Embedding::new(&Nodes::at_vertices(case.mesh.clone()), nodes.points()).unwrap();
        for (k, u) in found.vectors.iter().skip(rigid).enumerate() {
            let scale = 1e-5 / u.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let u: Vec<f64> = u.iter().map(|x| scale * x).collect();
            let v = sampled.map(&u);
            let q: Vec<f64> = nodes.points().iter().flatten().zip(&v).map(|(x, v)| x + v).collect();
            let off = |x: &[f64]| {
                let difference = x.iter().zip(&rest).zip(&u).map(|((x, r), u)| (x - r - u).powi(2));
                (difference.sum::<f64>() / u.iter().map(|u| u * u).sum::<f64>()).sqrt()
            };
            let (shown, plain) = (off(&display.place(&q)), off(&display.embedding().place(&q)));
            println!("{}, mode {}: {shown:.4} instead of {plain:.4}", case.name, k + 1);
            let most = if case.name == "soft crack" && k == 0 { 0.7 } else { 1.2 };
            assert!(shown < most * plain, "{}, mode {}: {shown} instead of {plain}", case.name, k + 1);
        }
    }
}
