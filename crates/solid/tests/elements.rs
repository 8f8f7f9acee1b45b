//! The mesh-level System: forces, stiffness, mass, damping and discrete gradients of every material,
//! on a distorted mesh.

mod common;

use common::{RHO, Random, body, flat, max_difference, model, stiffness};
use lilyan_dynamics::system::abilities::{DiscreteGradient, Dissipation};
use lilyan_dynamics::{State, System};
use lilyan_solid::Model;
use lilyan_solid::damping;
use lilyan_solid::materials::{CATALOGUE, Material};
use lilyan_solid::mesh::Mesh;
use lilyan_solid::meshing::box_mesh;
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::{Curvature, Objective, Stopping, Workspace, dot, max_norm, minimize};

const SIZE: [f64; 3] = [1.0, 0.8, 0.7];

/// A box whose inner vertices are moved by up to a fifth of a cell.
fn mesh() -> Mesh {
    let mut mesh = box_mesh(SIZE, [3, 3, 3]).unwrap();
    let mut random = Random(3);
    for x in &mut mesh.vertices {
        if !on_boundary(x) {
            for x in x {
                *x += 0.05 * random.number();
            }
        }
    }
    mesh
}

fn on_boundary(x: &[f64; 3]) -> bool {
    (0..3).any(|k| x[k] < 1e-9 || x[k] > SIZE[k] - 1e-9)
}

/// A rotation by about a radian times a stretch of some 15 %, det > 0.
const A: [[f64; 3]; 3] = [[0.70, -0.55, 0.28], [0.62, 0.85, -0.18], [-0.20, 0.30, 1.05]];

fn affine(a: &[[f64; 3]; 3], offset: f64, x: &[f64]) -> Vec<f64> {
    x.chunks_exact(3)
        .flat_map(|x| a.map(|row| row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + offset))
        .collect()
}

/// A deformed state: affine plus noise, no element near inversion.
fn deformed(seed: u64) -> Vec<f64> {
    let mut random = Random(seed);
    let mut q = affine(&A, 0.1, &flat(&mesh().vertices));
    for x in &mut q {
        *x += 0.01 * random.number();
    }
    q
}

fn random_vector(seed: u64, n: usize) -> Vec<f64> {
    let mut random = Random(seed);
    (0..n).map(|_| random.number()).collect()
}

fn plus(q: &[f64], c: f64, d: &[f64]) -> Vec<f64> {
    q.iter().zip(d).map(|(q, d)| q + c * d).collect()
}

fn gradient(model: &Model, q: &[f64]) -> Vec<f64> {
    let mut g = vec![0.0; q.len()];
    model.gradient(0.0, q, &mut g);
    g
}

fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

fn each_material(mut test: impl FnMut(&str, &'static dyn Material, Model)) {
    for material in CATALOGUE {
        let name = material.card().name;
        test(name, *material, model(body(mesh(), name)));
    }
}

/// Σf and Σ x × f of a force field over Σ|f| (and the size of the body).
fn resultants(x: &[f64], f: &[f64]) -> (f64, f64) {
    let center: [f64; 3] =
        std::array::from_fn(|k| x.iter().skip(k).step_by(3).sum::<f64>() / (x.len() / 3) as f64);
    let state = State { t: 0.0, q: x.to_vec(), v: f.to_vec(), p: f.to_vec(), ..State::default() };
    let (force, torque) = state.momenta(center);
    let all: f64 = f.iter().map(|f| f.abs()).sum();
    (norm(&force) / all, norm(&torque) / all)
}

/// The force is minus the gradient of the energy, and the stiffness the derivative of the force:
/// central differences along random directions. The stiffness is symmetric.
#[test]
fn forces_and_stiffness_are_derivatives() {
    each_material(|name, _, model| {
        let q = deformed(5);
        let g = gradient(&model, &q);
        let k = stiffness(&model, &q);
        for seed in 10..16 {
            let d = random_vector(seed, q.len());
            let delta = 1e-5;
            let (ahead, behind) = (plus(&q, delta, &d), plus(&q, -delta, &d));
            let slope = (model.energy(0.0, &ahead) - model.energy(0.0, &behind)) / (2.0 * delta);
            let error = (slope - dot(&g, &d)).abs() / (norm(&g) * norm(&d));
            assert!(error <= 1e-8, "{name}: force off by {error:e}");

            let (a, b) = (gradient(&model, &ahead), gradient(&model, &behind));
            let change: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a - b) / (2.0 * delta)).collect();
            let mut product = vec![0.0; q.len()];
            k.mul_vec(&d, &mut product);
            let error = max_difference(&product, &change) / max_norm(&product);
            assert!(error <= 1e-7, "{name}: stiffness off by {error:e}");
        }
        // Blocks off the diagonal are stored once; those on it must be symmetric themselves.
        let largest = k.values().iter().flatten().fold(0f64, |m, x| m.max(x.abs()));
        for j in 0..model.pattern().n() {
            let b = &k.values()[model.pattern().diagonal_position(j)];
            let asymmetry = (b[1] - b[3]).abs().max((b[2] - b[6]).abs()).max((b[5] - b[7]).abs());
            assert!(asymmetry <= 1e-14 * largest, "{name}: asymmetry {asymmetry:e}");
        }
    });
}

/// The projected stiffness is positive semidefinite, and the exact one where that already is.
#[test]
fn projected_stiffness_is_positive() {
    each_material(|name, _, model| {
        let rest = flat(&mesh().vertices);
        for q in [rest.clone(), deformed(6)] {
            let mut projected = BlockMatrix::zeros(model.pattern().clone());
            model.hessian(0.0, &q, Curvature::Projected, &mut projected);
            for seed in 20..40 {
                let d = random_vector(seed, q.len());
                let exact = stiffness(&model, &q).quadratic_form(&d);
                let value = projected.quadratic_form(&d);
                assert!(value >= 0.0, "{name}: {value:e}");
                assert!(value >= exact - 1e-9 * exact.abs(), "{name}: {value:e} < {exact:e}");
                if q == rest {
                    assert!(
                        (value - exact).abs() <= 1e-9 * exact,
                        "{name}: projection changes the rest state"
                    );
                }
            }
        }
    });
}

/// Rigid motion changes neither energy nor, but for turning them, forces; internal forces have no
/// resultant and no torque; at 1000 m from the origin still to twelve digits.
#[test]
fn rigid_motion_is_not_felt() {
    // Rotation of 1 rad about (1, 2, 2)/3.
    let (c, s, n) = (1f64.cos(), 1f64.sin(), [1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]);
    let cross = [[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]];
    let rotation: [[f64; 3]; 3] = std::array::from_fn(|i| {
        std::array::from_fn(|j| f64::from(i == j) * c + s * cross[i][j] + (1.0 - c) * n[i] * n[j])
    });
    each_material(|name, material, model| {
        let q = deformed(7);
        let (energy, g) = (model.energy(0.0, &q), gradient(&model, &q));
        for (offset, level, balance) in [(0.0, 1e-13, 1e-14), (1000.0, 1e-12, 1e-12)] {
            let moved = affine(&rotation, offset, &q);
            let (force, torque) = resultants(&moved, &gradient(&model, &moved));
            assert!(force <= balance, "{name} at {offset} m: net force {force:e}");
            if !material.card().frame_indifferent {
                continue;
            }
            let change = (model.energy(0.0, &moved) / energy - 1.0).abs();
            assert!(change <= level, "{name} at {offset} m: energy changes by {change:e}");
            assert!(torque <= balance, "{name} at {offset} m: net torque {torque:e}");
            let turned = affine(&rotation, 0.0, &g);
            let error = max_difference(&turned, &gradient(&model, &moved)) / max_norm(&g);
            assert!(error <= 100.0 * level, "{name} at {offset} m: forces change by {error:e}");
        }
    });
}

/// W with some unknowns held.
struct Static<'a> {
    model: &'a Model,
    held: &'a [bool],
}

impl Objective for Static<'_> {
    fn value(&mut self, x: &[f64]) -> (f64, f64) {
        let energy = self.model.energy(0.0, x);
        (energy, energy.abs())
    }
    fn gradient(&mut self, x: &[f64], g: &mut [f64]) {
        self.model.gradient(0.0, x, g);
        for (g, held) in g.iter_mut().zip(self.held) {
            *g = if *held { 0.0 } else { *g };
        }
    }
    fn hessian(&mut self, x: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        h.clear();
        self.model.hessian(0.0, x, curvature, h);
        h.hold(self.held);
    }
}

/// Patch test: under an affine motion of the boundary the affine field is in equilibrium inside, and
/// it is what a static solve finds.
#[test]
fn affine_boundary_motion_gives_the_affine_field() {
    let vertices = mesh().vertices;
    let held: Vec<bool> = vertices.iter().flat_map(|x| [on_boundary(x); 3]).collect();
    assert!(held.contains(&false));
    each_material(|name, _, model| {
        let exact = affine(&A, 0.1, &flat(&vertices));
        let g = gradient(&model, &exact);
        let largest = |inside: bool| {
            g.iter().zip(&held).filter(|(_, held)| **held != inside).fold(0f64, |m, (g, _)| m.max(g.abs()))
        };
        let residual = largest(true) / largest(false);
        assert!(residual <= 1e-13, "{name}: interior residual {residual:e}");

        let mut random = Random(9);
        let mut q = exact.clone();
        for (x, held) in q.iter_mut().zip(&held) {
            *x += if *held { 0.0 } else { 0.01 * random.number() };
        }
        let origin = q.clone();
        let stopping = Stopping {
            tolerance: 1e-10,
            max_iterations: 50,
            length: 1.0,
            direct: false,
            conserving: true,
            enough: None,
        };
        let mut work = Workspace::new(model.pattern().clone());
        let mut problem = Static { model: &model, held: &held };
        minimize(&mut problem, &mut q, &origin, &stopping, &mut work)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let error = max_difference(&q, &exact);
        assert!(error <= 1e-12, "{name}: solved field off by {error:e} m");
    });
}

/// Lumped and consistent mass add up to ρ vol, row by row to the same.
#[test]
fn masses_add_up() {
    let lumped = model(body(mesh(), "linear"));
    let mut input = body(mesh(), "linear");
    input.consistent_mass = true;
    let consistent = model(input);
    let total = RHO * SIZE.iter().product::<f64>();
    let sum: f64 = lumped.node_masses().iter().sum();
    assert!((sum - total).abs() <= 1e-13 * total, "lumped mass {sum} of {total} kg");
    let ones = vec![1.0; lumped.dofs()];
    let (mut a, mut b) = (ones.clone(), ones.clone());
    lumped.mass().mul(&ones, &mut a);
    consistent.mass().mul(&ones, &mut b);
    assert!(max_difference(&a, &b) <= 1e-13 * max_norm(&a));
    // ∫ρ x² over the box is exact with consistent mass.
    let x: Vec<f64> =
        flat(&mesh().vertices).iter().enumerate().map(|(i, x)| if i % 3 == 0 { *x } else { 0.0 }).collect();
    let mut p = vec![0.0; x.len()];
    consistent.mass().mul(&x, &mut p);
    let exact = total * SIZE[0] * SIZE[0] / 3.0;
    assert!((dot(&x, &p) - exact).abs() <= 1e-13 * exact, "{} of {exact} kg m²", dot(&x, &p));
}

/// The damping matrix is −∂f/∂v (the forces are linear in v), symmetric, and dissipates.
#[test]
fn damping_matrix_is_the_derivative_of_the_force() {
    for card in damping::CATALOGUE {
        let mut input = body(mesh(), "neo-hookean");
        input.damping = (card.variants)(0.01);
        let model = model(input);
        let (q, v, d) = (deformed(8), random_vector(50, model.dofs()), random_vector(51, model.dofs()));
        let force = |v: &[f64]| {
            let mut f = vec![0.0; v.len()];
            model.add_forces(0.0, &q, v, &mut f);
            f
        };
        let (ahead, behind) = (force(&plus(&v, 1.0, &d)), force(&plus(&v, -1.0, &d)));
        let change: Vec<f64> = ahead.iter().zip(&behind).map(|(a, b)| 0.5 * (b - a)).collect();
        let mut matrix = BlockMatrix::zeros(model.pattern().clone());
        model.add_damping_matrix(0.0, &q, &vec![0.0; q.len()], &mut matrix);
        let mut product = vec![0.0; v.len()];
        matrix.mul_vec(&d, &mut product);
        let error = max_difference(&product, &change) / max_norm(&change);
        assert!(error <= 1e-12, "{}: matrix off by {error:e}", card.name);
        assert!(dot(&force(&v), &v) < 0.0, "{} does not dissipate", card.name);
    }
}

/// The discrete gradient: ḡ·Δq = ΔW for steps of any size, and no net force or torque about the
/// midpoint.
#[test]
fn discrete_gradient_gives_the_energy_difference() {
    each_material(|name, material, model| {
        let q0 = deformed(12);
        for size in [2e-2, 1e-3, 1e-5, 1e-7] {
            let q1 = plus(&q0, size, &random_vector(60, q0.len()));
            let step: Vec<f64> = q1.iter().zip(&q0).map(|(a, b)| a - b).collect();
            let mut g = vec![0.0; q0.len()];
            assert!(model.discrete_gradient([0.0; 2], &q0, &q1, &mut g), "{name}: refused");
            let (w0, w1) = (model.energy(0.0, &q0), model.energy(0.0, &q1));
            let error = (dot(&g, &step) - (w1 - w0)).abs();
            // The difference of two energies is itself only known to their round-off.
            let level = 1e-12 * norm(&g) * norm(&step) + 16.0 * f64::EPSILON * w0.abs();
            assert!(error <= level, "{name}, Δq {size:e}: off by {error:e}, level {level:e}");
            let middle = plus(&q0, 0.5, &step);
            let (force, torque) = resultants(&middle, &g);
            assert!(force <= 1e-14, "{name}: net force {force:e}");
            if material.card().frame_indifferent {
                assert!(torque <= 1e-13, "{name}: net torque {torque:e}");
            }
        }
    });
}

/// Threads own parts of the matrix and compute what touches these: the bits are those of one thread, exact and projected,
/// also for a mesh whose nodes are numbered at random. So are energy and forces. The mesh is large enough to be shared by three.
#[test]
fn nothing_depends_on_threads() {
    let mut ordered = box_mesh([3.0, 1.0, 1.0], [40, 13, 13]).unwrap();
    let mut random = Random(7);
    for x in ordered.vertices.iter_mut().flatten() {
        *x += 0.02 * random.number();
    }
    let mut shuffled = ordered.clone();
    let n = shuffled.vertices.len();
    let place = |v: usize| (v * 997) % n;
    for (v, x) in ordered.vertices.iter().enumerate() {
        shuffled.vertices[place(v)] = *x;
    }
    for v in shuffled.tets_mut().iter_mut().flatten() {
        *v = place(*v as usize) as u32;
    }
    for mesh in [ordered, shuffled] {
        let q = affine(&A, 0.0, &flat(&mesh.vertices));
        let model = model(body(mesh, "neo-hookean"));
        let forces = |threads: usize| {
            lilyan_parallel::threads::set_threads(threads);
            let mut g = vec![0.0; q.len()];
            model.gradient(0.0, &q, &mut g);
            (g, model.energy(0.0, &q).to_bits())
        };
        for threads in [2, 3] {
            assert!(forces(threads) == forces(1), "{threads} threads: forces, energy");
        }
        for curvature in [Curvature::Exact, Curvature::Projected] {
            let on = |threads: usize| {
                lilyan_parallel::threads::set_threads(threads);
                let mut k = BlockMatrix::zeros(model.pattern().clone());
                model.hessian(0.0, &q, curvature, &mut k);
                k
            };
            let one = on(1);
            for threads in [2, 3] {
                assert!(on(threads).values() == one.values(), "{threads} threads, {curvature:?}");
            }
        }
    }
    lilyan_parallel::threads::set_threads(0);
}

/// Whatever the order of its vertices: a tet is given back as it was, and so are its gradients and its volume.
#[test]
fn tets_are_given_back_as_they_were() {
    let mut mesh = mesh();
    for (k, tet) in mesh.tets_mut().iter_mut().enumerate() {
        tet.rotate_left(k % 4);
        if k % 2 == 1 {
            tet.swap(0, 1); // which a rotation by one or three turned inside out
        }
    }
    assert!(mesh.signed_volumes().iter().all(|v| *v > 0.0));
    let (tets, volumes) = (mesh.tets().to_vec(), mesh.signed_volumes());
    let q = deformed(5);
    let model = model(body(mesh.clone(), "neo-hookean"));
    let own = model.bodies()[0].find::<lilyan_solid::elements::Tets>().unwrap();
    for (e, tet) in tets.iter().enumerate() {
        assert_eq!(own.tet(e), *tet);
        assert!((own.volume(e) / volumes[e] - 1.0).abs() < 1e-12);
        let [a, b, c, d] = tet.map(|v| mesh.vertices[v as usize]);
        let edge = |x: [f64; 3]| [x[0] - a[0], x[1] - a[1], x[2] - a[2]];
        let edges = lilyan_solid::math::Mat3::from_columns(edge(b), edge(c), edge(d));
        let one = own.inverse(e) * edges - lilyan_solid::math::Mat3::identity();
        assert!(one.dot(&one).sqrt() < 1e-12);
        assert!(own.gradient_of(e, &q).det() > 0.0);
    }
}
