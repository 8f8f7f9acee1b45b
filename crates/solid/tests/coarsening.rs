//! Numerical coarsening against closed forms: homogeneous bodies, layers in a row, laminates, cavities.
#![allow(non_snake_case)] // E as in the papers

mod common;

use common::{carved, flat, modes};
use lilyan_solid::coarsening::{
    DIRECT, Fine, Fitted, Harmonic, Homogenized, Loading, Overlaps, Tensor, Traction, average, cover, fit,
    from_voigt, harmonic, homogenize, of_material, outer_faces, to_voigt,
};
use lilyan_solid::materials::{CATALOGUE, Given, find};
use lilyan_solid::mesh::Mesh;
use lilyan_solid::meshing::{box_mesh, sphere};
use lilyan_solid::{BodyInput, ModelBuilder, Pin};

fn isotropic(E: f64, nu: f64) -> Tensor {
    let linear = find("linear").unwrap();
    of_material(linear, &linear.constants(&Given::from_young(E, nu).unwrap()).unwrap())
}

/// A general anisotropic tensor: an isotropic one plus AᵀA of made-up numbers, Pa.
fn anisotropic() -> Tensor {
    let mut c = isotropic(1e5, 0.2);
    let a: [[f64; 6]; 6] =
        std::array::from_fn(|i| std::array::from_fn(|j| ((7 * i + 3 * j * j + 1) % 11) as f64));
    for i in 0..6 {
        for j in 0..6 {
            c[i][j] += 300.0 * (0..6).map(|k| a[k][i] * a[k][j]).sum::<f64>();
        }
    }
    c
}

fn difference(a: &Tensor, b: &Tensor) -> f64 {
    let size = b.as_flattened().iter().fold(0.0f64, |m, x| m.max(x.abs()));
    a.as_flattened().iter().zip(b.as_flattened()).fold(0.0f64, |m, (a, b)| m.max((a - b).abs())) / size
}

struct Coarsened {
    fitted: Fitted,
    result: Homogenized,
    averages: Vec<Tensor>,
    masses: Vec<f64>,
}

fn coarsened(fine: &Mesh, stiffness: &[Tensor], held: &[bool], coarse: &Mesh, direct: usize) -> Coarsened {
    let fitted = fit(coarse, fine, &mut |_, _| {}).unwrap();
    let body = Fine { mesh: fine, stiffness, density: &[1000.0], held };
    let displacements = displacements(&body, direct);
    let result = homogenize(&body, &fitted.mesh, &fitted.overlaps, &displacements);
    let averages = average(&body, &fitted.mesh, &fitted.overlaps);
    let masses = fitted.overlaps.masses(&fitted.mesh, &body);
    Coarsened { fitted, result, averages, masses }
}

fn displacements(body: &Fine<'_>, direct: usize) -> Harmonic {
    let loading = Loading { tractions: &[Traction::LeastEnergy], coarse: None, direct };
    harmonic(body, &loading, &mut |_, _| {}).unwrap().remove(0)
}

fn free(mesh: &Mesh) -> Vec<bool> {
    vec![false; 3 * mesh.vertices.len()]
}

fn per_tet(mesh: &Mesh, of: impl Fn([f64; 3]) -> Tensor) -> Vec<Tensor> {
    let centre = |t: usize| std::array::from_fn(|k| 0.25 * mesh.corners(t).iter().map(|c| c[k]).sum::<f64>());
    (0..mesh.tets().len()).map(|t| of(centre(t))).collect()
}

fn moved(mut mesh: Mesh, by: [f64; 3], factor: f64) -> Mesh {
    mesh.vertices.iter_mut().for_each(|x| (0..3).for_each(|k| x[k] = factor * x[k] + by[k]));
    mesh
}

#[test]
fn tensors_of_materials_are_their_small_strain_moduli() {
    let given = Given::from_young(2e5, 0.3).unwrap();
    for material in CATALOGUE {
        let c = to_voigt(&of_material(*material, &material.constants(&given).unwrap()));
        let (lambda, mu) = material.card().small_strain.lame(&given);
        let expected =
            [(0, lambda + 2.0 * mu), (1, lambda), (6, lambda + 2.0 * mu), (15, mu), (20, mu), (3, 0.0)];
        for (place, value) in expected {
            assert!((c[place] - value).abs() < 1e-9 * mu, "{} constant {place}", material.card().name);
        }
    }
    let c: [f64; 21] = std::array::from_fn(|k| k as f64 + 1.0);
    assert!(to_voigt(&from_voigt(&c)).iter().zip(&c).all(|(a, b)| (a - b).abs() < 1e-14 * b));
}

/// Coarse tets inside, at and beyond the surface of a ball, none of whose corners is a fine vertex: the tensor comes
/// out as it went in, times the share of the tet that is filled; isotropic or not, factorised or iterated.
#[test]
fn a_homogeneous_body_keeps_its_tensor() {
    let fine = sphere(1.0, 0.25).unwrap();
    let coarse = moved(box_mesh([2.3, 2.2, 2.5], [3, 3, 4]).unwrap(), [-1.12, -1.13, -1.21], 1.0);
    for (c, direct) in [(isotropic(1e5, 0.3), DIRECT), (anisotropic(), DIRECT), (anisotropic(), 0)] {
        let out = coarsened(&fine, &[c], &free(&fine), &coarse, direct);
        let volumes = out.fitted.mesh.signed_volumes();
        // What coarse tets held that were left out, all but empty.
        assert!(out.fitted.beyond < 2e-3, "the grid covers the ball: {}", out.fitted.beyond);
        let mut interior = 0;
        for (q, found) in out.result.stiffness.iter().enumerate() {
            let fill = out.fitted.overlaps.volume(q) / volumes[q];
            interior += usize::from(fill > 1.0 - 1e-12);
            let scaled = c.map(|row| row.map(|x| fill * x));
            // Conjugate gradients leave 1e-10 of the load; differences over a tet make more of it.
            let limit = if direct == 0 { 1e-6 } else { 1e-10 };
            assert!(
                difference(found, &scaled) < limit,
                "tet {q}, fill {fill}: {:e}",
                difference(found, &scaled)
            );
            assert!(difference(&out.averages[q], &scaled) < 1e-12);
        }
        assert!(interior > 10, "{interior} coarse tets inside");
    }
}

/// All of the mass, and its centre, whether or not the coarse mesh reaches it.
#[test]
fn mass_is_kept() {
    let fine = sphere(1.0, 0.3).unwrap();
    let whole = 1000.0 * fine.volume();
    for (size, beyond) in [(2.4, false), (1.5, true)] {
        let coarse = moved(box_mesh([size; 3], [3; 3]).unwrap(), [-0.5 * size; 3], 1.0);
        let fitted = fit(&coarse, &fine, &mut |_, _| {}).unwrap();
        let body =
            Fine { mesh: &fine, stiffness: &[isotropic(1.0, 0.0)], density: &[1000.0], held: &free(&fine) };
        let masses = fitted.overlaps.masses(&fitted.mesh, &body);
        assert!((masses.iter().sum::<f64>() - whole).abs() < 1e-11 * whole);
        assert!(masses.iter().all(|m| *m > 0.0));
        assert_eq!(fitted.beyond > 0.0, beyond);
        let held: f64 = (0..fitted.overlaps.len()).map(|q| fitted.overlaps.volume(q)).sum();
        assert!((held - fine.volume()).abs() < 1e-11 * held);
        for k in 0..3 {
            let centre = masses.iter().zip(&fitted.mesh.vertices).map(|(m, x)| m * x[k]).sum::<f64>() / whole;
            let own = centre_of(&fine)[k];
            let limit = if beyond { 1e-2 } else { 1e-11 };
            assert!((centre - own).abs() < limit, "centre of mass {centre} instead of {own}");
        }
    }
}

fn centre_of(mesh: &Mesh) -> [f64; 3] {
    let volumes = mesh.signed_volumes();
    let whole: f64 = volumes.iter().sum();
    let moment = |k: usize| -> f64 {
        (0..volumes.len())
            .map(|t| 0.25 * volumes[t] * mesh.corners(t).iter().map(|c| c[k]).sum::<f64>())
            .sum()
    };
    std::array::from_fn(|k| moment(k) / whole)
}

/// Without Poisson effect a bar of layers across x is springs in series: 1/E = ⟨1/E⟩. The six tets of a coarse cell share
/// 𝔾, so that together they are as stiff as the cell, whatever part of which layer each of them holds.
#[test]
fn layers_in_a_row_have_the_harmonic_mean() {
    let cells = 12;
    let fine = box_mesh([1.5, 0.5, 0.5], [3 * cells, 4, 4]).unwrap();
    let young = |x: f64| [3e4, 1e6, 7e3, 2e5][(x / 0.5 * cells as f64) as usize % 4];
    let stiffness = per_tet(&fine, |x| isotropic(young(x[0]), 0.0));
    let coarse = box_mesh([1.5, 0.5, 0.5], [3, 1, 1]).unwrap();
    let out = coarsened(&fine, &stiffness, &free(&fine), &coarse, DIRECT);
    let layers: Vec<f64> = (0..cells).map(|n| young((n as f64 + 0.5) * 0.5 / cells as f64)).collect();
    let harmonic = cells as f64 / layers.iter().map(|E| 1.0 / E).sum::<f64>();
    let plain = layers.iter().sum::<f64>() / cells as f64;
    for cell in 0..3 {
        let tets = 6 * cell..6 * cell + 6;
        // Shares of a cell's tets: equal volumes.
        let mean = |of: &[Tensor]| tets.clone().map(|q| of[q][0][0]).sum::<f64>() / 6.0;
        let found = mean(&out.result.stiffness);
        assert!((found - harmonic).abs() < 1e-8 * harmonic, "{found} instead of {harmonic}");
        assert!((mean(&out.averages) - plain).abs() < 1e-10 * plain);
    }
    assert!(plain > 10.0 * harmonic, "the layers differ enough for the means to differ");
    assert!(out.result.raised.iter().all(|n| *n == 0));
}

/// Exact moduli of a laminate across z of layers with equal thickness \[backus1962\]: Voigt constants C11, C12, C13, C33,
/// C44, C66.
fn backus(layers: &[(f64, f64)]) -> [f64; 6] {
    let lame: Vec<(f64, f64)> = layers
        .iter()
        .map(|&(E, nu)| (E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), E / (2.0 * (1.0 + nu))))
        .collect();
    let mean =
        |f: &dyn Fn(f64, f64) -> f64| lame.iter().map(|&(l, m)| f(l, m)).sum::<f64>() / lame.len() as f64;
    let c33 = 1.0 / mean(&|l, m| 1.0 / (l + 2.0 * m));
    let ratio = mean(&|l, m| l / (l + 2.0 * m));
    let c66 = mean(&|_, m| m);
    let c11 = mean(&|l, m| 4.0 * m * (l + m) / (l + 2.0 * m)) + c33 * ratio * ratio;
    [c11, c11 - 2.0 * c66, c33 * ratio, c33, 1.0 / mean(&|_, m| 1.0 / m), c66]
}

/// Mean tensor of the coarse cell in the middle of a laminate cube of 3³ coarse cells, against Backus' moduli; the
/// largest error of the six constants, relative to C11.
fn laminate(layers_per_cell: usize, cells_per_layer: usize, across: usize) -> f64 {
    let pair = [(1e6, 0.3), (1e5, 0.2)];
    let n = 3 * layers_per_cell;
    let fine = box_mesh([1.0; 3], [3 * across, 3 * across, n * cells_per_layer]).unwrap();
    let stiffness = per_tet(&fine, |x| {
        let (E, nu) = pair[(x[2] * n as f64) as usize % 2];
        isotropic(E, nu)
    });
    let coarse = box_mesh([1.0; 3], [3; 3]).unwrap();
    let out = coarsened(&fine, &stiffness, &free(&fine), &coarse, DIRECT);
    let middle = 6 * (1 + 3 * (1 + 3));
    let mut mean = [[0.0; 6]; 6];
    for found in &out.result.stiffness[middle..middle + 6] {
        (0..36).for_each(|k| mean.as_flattened_mut()[k] += found.as_flattened()[k] / 6.0);
    }
    let c = to_voigt(&mean);
    let found = [c[0], c[1], c[2], c[11], c[15], c[20]];
    let exact = backus(&pair);
    let error = (0..6).map(|k| (found[k] - exact[k]).abs() / exact[0]).fold(0.0, f64::max);
    println!(
        "{layers_per_cell} layers of {cells_per_layer} cells, {across} across: {found:?} {exact:?} {error:.4}"
    );
    error
}

#[test]
fn a_laminate_has_backus_moduli() {
    let (coarse, fine) = (laminate(2, 1, 2), laminate(4, 1, 4));
    assert!(fine < 0.6 * coarse, "{coarse} then {fine}");
    assert!(fine < 0.01, "{fine}");
    if std::env::var_os("LILYAN_LONG").is_some() {
        let finer = laminate(8, 1, 8);
        assert!(finer < 0.6 * fine, "{fine} then {finer}");
    }
}

/// Along fibres, which end at the loaded faces, stiffness is the mean of both, E = Σ c E, in every slice of coarse cells.
#[test]
fn fibres_pull_their_share_up_to_their_ends() {
    let fine = box_mesh([3.0, 1.0, 1.0], [18, 8, 8]).unwrap();
    let fibre = |x: [f64; 3]| (x[1] - 0.5).abs() < 0.25 && (x[2] - 0.5).abs() < 0.25;
    let stiffness = per_tet(&fine, |x| isotropic(if fibre(x) { 1e8 } else { 4e5 }, 0.0));
    let coarse = box_mesh([3.0, 1.0, 1.0], [6, 1, 1]).unwrap();
    let out = coarsened(&fine, &stiffness, &free(&fine), &coarse, DIRECT);
    let mean = 0.25 * 1e8 + 0.75 * 4e5;
    for (slice, tets) in out.result.stiffness.chunks_exact(6).enumerate() {
        let young = tets.iter().map(|c| c[0][0]).sum::<f64>() / 6.0;
        println!("slice {slice}: {:.3} of the mean", young / mean);
        assert!((young / mean - 1.0).abs() < 0.1, "slice {slice}: {young:e}, not {mean:e}");
    }
}

/// The first frequency of a bar held at its left end, of these tensors per tet, rad/s.
fn first_frequency(mesh: &Mesh, stiffness: &[Tensor], masses: Option<&[f64]>) -> f64 {
    const NAMES: [&str; 21] = [
        "C11", "C12", "C13", "C14", "C15", "C16", "C22", "C23", "C24", "C25", "C26", "C33", "C34", "C35",
        "C36", "C44", "C45", "C46", "C55", "C56", "C66",
    ];
    let given = |c: &Tensor| {
        let constants = NAMES.into_iter().zip(to_voigt(c));
        constants.fold(Given::from_young(1e5, 0.3).unwrap(), |given, (name, value)| given.with(name, value))
    };
    let given: Vec<Given> = stiffness.iter().map(given).collect();
    let mut body = BodyInput::new("bar", mesh.clone(), find("linear").unwrap(), given[0].clone(), 1000.0);
    body.given = given;
    body.masses = masses.map(<[f64]>::to_vec);
    let mut builder = ModelBuilder::default();
    builder.body(body).unwrap();
    let held = (0..mesh.vertices.len() as u32).filter(|v| mesh.vertices[*v as usize][0] < 1e-9).collect();
    builder.pin(Pin { nodes: held, axes: [true; 3], motion: None, until: f64::INFINITY });
    let model = builder.build();
    modes(&model, &flat(&mesh.vertices), 1).values[0].sqrt()
}

/// An open notch that is narrower than a coarse tet softens the body as its lips are free; pulled at its lips as an outer
/// boundary, a homogeneous body would come out as its volume average.
#[test]
fn an_open_notch_softens() {
    let bar = box_mesh([3.0, 1.0, 1.0], [24, 8, 8]).unwrap();
    let notch = |x: [f64; 3]| (x[0] - 1.4375).abs() < 0.0625 && x[2] > 0.375;
    let fine = carved(&bar, notch);
    let stiffness = [isotropic(1e5, 0.3)];
    let held: Vec<bool> = fine.vertices.iter().flat_map(|x| [x[0] < 1e-9; 3]).collect();
    let body = Fine { mesh: &fine, stiffness: &stiffness, density: &[1000.0], held: &held };
    let fitted = fit(&box_mesh([3.0, 1.0, 1.0], [6, 2, 2]).unwrap(), &fine, &mut |_, _| {}).unwrap();
    let masses = fitted.overlaps.masses(&fitted.mesh, &body);
    let of = |tensors: &[Tensor]| first_frequency(&fitted.mesh, tensors, Some(&masses));
    let homogenized = |traction, coarse| {
        let loading = Loading { tractions: &[traction], coarse, direct: DIRECT };
        let found = harmonic(&body, &loading, &mut |_, _| {}).unwrap().remove(0);
        (of(&homogenize(&body, &fitted.mesh, &fitted.overlaps, &found).stiffness), found.openings)
    };
    let exact = first_frequency(&fine, &vec![stiffness[0]; fine.tets().len()], None);
    let averaged = of(&average(&body, &fitted.mesh, &fitted.overlaps));
    println!("fine {exact}, average {averaged}");
    assert!(averaged > 1.7 * exact);
    for traction in [Traction::Uniform, Traction::LeastEnergy] {
        let (closed, none) = homogenized(traction, None);
        let (open, openings) = homogenized(traction, Some(&fitted.mesh));
        println!("{traction:?}: lips pulled {closed}, free {open}; {openings} faces");
        assert!(none == 0 && openings == 2 * 2 * 8 * 5, "{none}, {openings} triangles of lips");
        assert!(
            (open / exact - 1.0).abs() < 0.05 && closed > 1.5 * exact,
            "{open} and {closed}, not {exact}"
        );
    }
}

/// A cavity is found and left free: the body around it is softer, by more than its missing volume.
#[test]
fn a_cavity_softens() {
    let whole = box_mesh([1.0; 3], [10; 3]).unwrap();
    let (stiffness, held) = ([isotropic(1e5, 0.3)], free(&whole));
    let inside = |t: &[u32; 4]| {
        let middle = |k: usize| 0.25 * t.iter().map(|v| whole.vertices[*v as usize][k]).sum::<f64>();
        (0..3).all(|k| (middle(k) - 0.5).abs() < 0.2)
    };
    let hollow =
        Mesh::new(whole.vertices.clone(), whole.tets().iter().filter(|t| !inside(t)).copied().collect());
    let surface = hollow.surface();
    let outer = outer_faces(&hollow, surface);
    assert_eq!(outer.iter().filter(|o| **o).count(), 6 * 200);
    assert_eq!(outer.iter().filter(|o| !**o).count(), 6 * 32);
    let coarse = box_mesh([1.0; 3], [1; 3]).unwrap();
    let out = coarsened(&hollow, &stiffness, &held, &coarse, DIRECT);
    let mean = |of: &[Tensor], k: usize| of.iter().map(|c| c[k][k]).sum::<f64>() / 6.0;
    for k in 0..6 {
        let filled = stiffness[0][k][k];
        let (average, effective) = (mean(&out.averages, k), mean(&out.result.stiffness, k));
        assert!((average / filled - (1.0 - 0.064)).abs() < 1e-10);
        assert!(effective < 0.99 * average && effective > 0.7 * average, "{k}: {}", effective / average);
    }
    assert!((out.masses.iter().sum::<f64>() - 936.0).abs() < 1e-8);
}

/// Whatever the stiffness and whatever is held: symmetric to the bit, positive definite, no stiffer than the average.
#[test]
fn tensors_are_always_sound() {
    let fine = box_mesh([2.0, 1.0, 1.0], [12, 6, 6]).unwrap();
    let stiffness = per_tet(&fine, |x| {
        isotropic(if (17.0 * x[0] * x[1] + 5.0 * x[2]).sin() > 0.3 { 1e9 } else { 1e3 }, 0.45)
    });
    let mut held = free(&fine);
    for v in (0..fine.vertices.len()).filter(|v| fine.vertices[*v][0] == 0.0) {
        held[3 * v..3 * v + 3].fill(true);
    }
    for coarse in [box_mesh([2.0, 1.0, 1.0], [2, 1, 1]).unwrap(), cover(&fine, 300).unwrap()] {
        let out = coarsened(&fine, &stiffness, &held, &coarse, DIRECT);
        for (c, average) in out.result.stiffness.iter().zip(&out.averages) {
            assert!((0..6).all(|i| (0..6).all(|j| c[i][j] == c[j][i])));
            let (values, _) = lilyan_solid::math::eigen_symmetric(c);
            assert!(values.iter().all(|v| *v > 0.0), "{values:?}");
            let rest: Tensor = std::array::from_fn(|i| std::array::from_fn(|j| average[i][j] - c[i][j]));
            let (values, _) = lilyan_solid::math::eigen_symmetric(&rest);
            let most = average[0][0];
            assert!(values.iter().all(|v| *v > -1e-9 * most), "{values:?}");
        }
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let fine = sphere(1.0, 0.2).unwrap();
    let coarse = cover(&fine, 100).unwrap();
    let stiffness = per_tet(&fine, |x| isotropic(if x[0] > 0.1 { 1e6 } else { 1e4 }, 0.3));
    let bits = |threads: usize| {
        lilyan_parallel::threads::set_threads(threads);
        let out = coarsened(&fine, &stiffness, &free(&fine), &coarse, DIRECT);
        let all = out.result.stiffness.iter().flatten().flatten().chain(&out.masses);
        all.map(|x| x.to_bits()).collect::<Vec<_>>()
    };
    assert!(bits(1) == bits(3));
    lilyan_parallel::threads::set_threads(0);
}

#[test]
fn a_grid_has_about_the_tets_that_were_asked_for() {
    let ball = sphere(1.0, 0.15).unwrap();
    let bar = box_mesh([4.0, 1.0, 1.0], [32, 8, 8]).unwrap();
    for (mesh, wanted) in [(&ball, 100), (&ball, 1000), (&bar, 24), (&bar, 200), (&bar, 3000)] {
        let fitted = fit(&cover(mesh, wanted).unwrap(), mesh, &mut |_, _| {}).unwrap();
        let made = fitted.mesh.tets().len();
        assert!(made > wanted / 2 && made < 2 * wanted, "{made} for {wanted}");
        assert!(fitted.beyond < 0.02, "{}", fitted.beyond);
    }
    assert!(cover(&ball, 3).unwrap_err().to_string().contains("6 or more"));
}

#[test]
fn meshes_that_do_not_fit_are_refused() {
    let fine = box_mesh([1.0; 3], [4; 3]).unwrap();
    let away = moved(fine.clone(), [5.0, 0.0, 0.0], 1.0);
    let error = |coarse: &Mesh| fit(coarse, &fine, &mut |_, _| {}).err().unwrap().to_string();
    assert!(error(&away).contains("holds nothing of the body"));
    let mut twice = box_mesh([1.0; 3], [1; 3]).unwrap();
    twice.set_cells(vec![twice.tets().repeat(2).into()]);
    assert!(error(&twice).contains("overlap each other"));
    assert!(Overlaps::default().is_empty());
}
