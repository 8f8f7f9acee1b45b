//! Discontinuous tets and triangles: derivatives, consistency, convergence to the continuous solution, and integrators on them.

mod common;

use common::{E, NU, RHO, Random, integrator};
use lilyan_dynamics::{Simulation, State, System};
use lilyan_solid::elements::{
    DISCONTINUOUS_TETS, Elements, GluingKind, LINEAR_TETS, MembraneModel, Triangle,
};
use lilyan_solid::materials::{Given, find};
use lilyan_solid::mesh::{Mesh, Nodes};
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::nets::Sheet;
use lilyan_solid::{BodyInput, Glued, Model, ModelBuilder, NetInput, Pin};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;
use std::collections::BTreeMap;
use std::sync::Arc;

const KINDS: [GluingKind; 2] = [GluingKind::BabuskaZlamal, GluingKind::InteriorPenalty];

/// What is cut into its cells: a solid into tets, or a sheet into triangles.
struct Whole(Arc<Mesh>);

fn block(size: [f64; 3], cells: [usize; 3]) -> Whole {
    Whole(Arc::new(box_mesh(size, cells).unwrap()))
}

fn sheet(size: [f64; 2], cells: [usize; 2]) -> Whole {
    let sheet = Sheet { cells };
    Whole(Arc::new(Mesh::of_cells(sheet.vertices(size), vec![sheet.triangles().into()])))
}

/// A cube and a square.
fn both() -> [Whole; 2] {
    [block([1.0; 3], [1; 3]), sheet([1.0; 2], [2; 2])]
}

fn net(nodes: Nodes, model: &str) -> NetInput {
    let (given, thickness) = (Given::from_young(E, NU).unwrap(), 0.01);
    let corner = |n: u32| nodes.points()[n as usize];
    let triangle = |t: &[u32; 3]| Triangle::new(*t, t.map(corner), thickness, &given);
    let triangles: Vec<Triangle> = nodes.surface().triangles.iter().map(triangle).collect();
    let mut masses = vec![0.0; nodes.len()];
    for t in &triangles {
        t.nodes.iter().for_each(|n| masses[*n as usize] += RHO * t.volume() / 3.0);
    }
    let membrane = Some((MembraneModel::find(model).unwrap(), triangles));
    NetInput { nodes: Arc::new(nodes), masses, membrane, ..NetInput::default() }
}

impl Whole {
    /// Adds it to a model, discontinuous if there is a gluing, and returns the rest positions of its nodes.
    fn add(
        &self,
        builder: &mut ModelBuilder,
        gluing: Option<(GluingKind, f64)>,
        material: &str,
    ) -> Vec<[f64; 3]> {
        let mesh = self.0.clone();
        let glued = gluing.map(|(kind, penalty)| Glued { kind, penalty });
        let kind = if glued.is_some() { &DISCONTINUOUS_TETS } else { &LINEAR_TETS };
        let nodes = (kind.nodes)(mesh);
        let dofs = if self.0.dimension() == 3 {
            let (found, given) = (find(material).unwrap(), Given::from_young(E, NU).unwrap());
            builder
                .body(BodyInput { glued, ..BodyInput::of(kind, nodes, "body", found, given, RHO) })
                .unwrap()
        } else {
            builder.net(NetInput { glued, ..net(nodes, material) })
        };
        dofs.nodes().points().to_vec()
    }

    /// Discontinuous, and the rest positions of its nodes.
    fn model(&self, kind: GluingKind, penalty: f64, material: &str) -> (Model, Vec<[f64; 3]>) {
        let mut builder = ModelBuilder::default();
        let vertices = self.add(&mut builder, Some((kind, penalty)), material);
        (builder.build(), vertices)
    }

    /// Whether each node lies on the boundary of the whole.
    fn outside(&self) -> Vec<bool> {
        let nodes = Nodes::discontinuous(self.0.clone());
        if self.0.dimension() == 3 {
            let mut outside = vec![false; nodes.len()];
            nodes.surface().vertices.iter().for_each(|n| outside[*n as usize] = true);
            return outside;
        }
        // Inside, both edges at a corner are shared.
        let mut shared = vec![0; nodes.len()];
        for face in nodes.inner_faces() {
            for side in 0..2 {
                let corners = &face.corners[side][..2];
                corners.iter().for_each(|k| shared[3 * face.cells[side] as usize + *k as usize] += 1);
            }
        }
        shared.iter().map(|n| *n < 2).collect()
    }
}

fn gluing(model: &Model) -> &dyn Elements {
    let body = &model.bodies()[0];
    &**body.elements.iter().find(|e| e.joins()).unwrap()
}

/// Positions of vertices, moved by a smooth field and by noise.
fn shaken(vertices: &[[f64; 3]], noise: f64, random: &mut Random) -> Vec<f64> {
    let place =
        |x: &[f64; 3]| [1.1 * x[0] + 0.1 * x[1] * x[2], 0.95 * x[1] - 0.1 * x[0], x[2] + 0.2 * x[0] * x[0]];
    vertices.iter().flat_map(place).map(|x| x + noise * random.number()).collect()
}

#[test]
fn a_discontinuous_sheet_is_the_same_sheet() {
    let nodes = Nodes::discontinuous(sheet([2.0, 1.0], [3, 2]).0);
    assert_eq!((nodes.len(), nodes.surface().triangles.len(), nodes.mesh().vertices.len()), (36, 12, 12));
    assert!(!nodes.is_closed());
    // 36 sides, 10 of them on the boundary.
    assert_eq!(nodes.inner_faces().len(), 13);
    for face in nodes.inner_faces() {
        for k in 0..2 {
            let at = |s: usize| nodes.points()[3 * face.cells[s] as usize + face.corners[s][k] as usize];
            assert_eq!(at(0), at(1));
        }
    }
}

#[test]
fn a_discontinuous_solid_is_the_same_body() {
    let nodes = Nodes::discontinuous(box_mesh([1.0, 1.0, 1.0], [2, 1, 2]).unwrap());
    let (mesh, surface) = (nodes.mesh(), nodes.surface());
    assert_eq!(nodes.len(), 4 * mesh.tets().len());
    assert!((nodes.volumes().iter().sum::<f64>() - 1.0).abs() < 1e-13);
    assert_eq!(surface.triangles.len(), mesh.surface().triangles.len());
    assert!((surface.face_areas(nodes.points()).iter().sum::<f64>() - 6.0).abs() < 1e-12);
    assert_eq!(2 * nodes.inner_faces().len() + surface.triangles.len(), 4 * mesh.tets().len());
    for face in nodes.inner_faces() {
        for k in 0..3 {
            let at = |s: usize| nodes.points()[4 * face.cells[s] as usize + face.corners[s][k] as usize];
            assert_eq!(at(0), at(1));
        }
    }
    // What is said of vertices is said of all nodes there.
    assert_eq!(nodes.interpolated(&mesh.vertices), nodes.points());
}

#[test]
fn forces_and_stiffness_are_derivatives_of_the_energy() {
    for (whole, kind) in both().iter().flat_map(|w| KINDS.map(|k| (w, k))) {
        let (model, vertices) = whole.model(kind, 4.0, "neo-hookean-log");
        let gluing = gluing(&model);
        let q = shaken(&vertices, 0.02, &mut Random(7));
        let gradient = |q: &[f64]| {
            let mut g = vec![0.0; q.len()];
            gluing.add_gradient(q, &mut g);
            g
        };
        let g = gradient(&q);
        let mut h = BlockMatrix::zeros(model.pattern().clone());
        gluing.add_hessian(&q, Curvature::Exact, &mut h);
        let exact = h.to_dense();
        let (force, stiff) = (
            g.iter().fold(0.0f64, |m, x| m.max(x.abs())),
            exact.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs())),
        );
        let at = |i: usize, d: f64| {
            let mut p = q.clone();
            p[i] += d;
            p
        };
        let d = 1e-4;
        for i in 0..q.len() {
            let slope = |d: f64| (gluing.energy(&at(i, d)) - gluing.energy(&at(i, -d))) / (2.0 * d);
            let fourth = (4.0 * slope(0.5 * d) - slope(d)) / 3.0;
            assert!((fourth - g[i]).abs() < 1e-8 * force, "{kind:?}: {fourth} {}", g[i]);
            let columns = [d, -d, 0.5 * d, -0.5 * d].map(|d| gradient(&at(i, d)));
            for j in 0..q.len() {
                let [a, b, c, e] = &columns;
                let column = (8.0 * (c[j] - e[j]) - (a[j] - b[j])) / (6.0 * d);
                assert!((column - exact[i][j]).abs() < 1e-7 * stiff, "{kind:?}: {column} {}", exact[i][j]);
            }
        }
    }
}

#[test]
fn discrete_gradients_keep_energy_and_momenta() {
    for (whole, kind) in both().iter().flat_map(|w| KINDS.map(|k| (w, k))) {
        let (model, vertices) = whole.model(kind, 4.0, "neo-hookean");
        let gluing = gluing(&model);
        let (q0, q1) = (shaken(&vertices, 0.02, &mut Random(1)), shaken(&vertices, 0.03, &mut Random(2)));
        let mut g = vec![0.0; q0.len()];
        assert!(gluing.add_discrete_gradient(&q0, &q1, &mut g));
        let work: f64 = g.iter().zip(q0.iter().zip(&q1)).map(|(g, (a, b))| g * (b - a)).sum();
        let size: f64 = g.iter().zip(q0.iter().zip(&q1)).map(|(g, (a, b))| (g * (b - a)).abs()).sum();
        let change = gluing.energy(&q1) - gluing.energy(&q0);
        assert!((work - change).abs() < 1e-12 * size, "{kind:?}: {work} {change}");
        let (mut sum, mut scale) = ([0.0; 6], 0.0);
        for (f, (a, b)) in g.chunks_exact(3).zip(q0.chunks_exact(3).zip(q1.chunks_exact(3))) {
            for k in 0..3 {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                sum[k] += f[k];
                sum[3 + k] += 0.5 * ((a[i] + b[i]) * f[j] - (a[j] + b[j]) * f[i]);
                scale += f[k].abs();
            }
        }
        assert!(sum.iter().all(|x| x.abs() < 1e-11 * scale), "{kind:?}: {sum:?}");
    }
}

/// An even deformation is in equilibrium inside, as it is with a continuous mesh: the interior penalty is consistent. The
/// plain penalty is not.
#[test]
fn interior_penalty_passes_the_patch_test() {
    let (solid, sheet) = (block([1.0; 3], [2; 3]), sheet([1.0; 2], [3; 2]));
    let cases = [
        (&solid, "linear"),
        (&solid, "stvk"),
        (&solid, "neo-hookean"),
        (&sheet, "stvk"),
        (&sheet, "neo-hookean"),
    ];
    for (whole, material) in cases {
        for kind in KINDS {
            let (model, vertices) = whole.model(kind, 4.0, material);
            let q: Vec<f64> = (vertices.iter())
                .flat_map(|x| [1.1 * x[0] + 0.05 * x[1], 0.97 * x[1], x[2] - 0.1 * x[0]])
                .collect();
            let mut g = vec![0.0; q.len()];
            model.gradient(0.0, &q, &mut g);
            let largest = g.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            // Corners that touch no face of the boundary are free of force.
            let outside = whole.outside();
            let inner = (0..outside.len()).filter(|v| !outside[*v]);
            let worst = inner.flat_map(|v| 3 * v..3 * v + 3).map(|i| g[i].abs()).fold(0.0, f64::max);
            match kind {
                GluingKind::InteriorPenalty => assert!(worst < 1e-12 * largest, "{material}: {worst:e}"),
                GluingKind::BabuskaZlamal => assert!(worst > 1e-2 * largest, "{material}: {worst:e}"),
            }
        }
    }
}

/// Lets a clamped beam sink under gravity until it rests; how far the middle of its free end moves.
fn sunk(mut builder: ModelBuilder, vertices: &[[f64; 3]], middle: [f64; 3]) -> f64 {
    let clamped = (0..vertices.len()).filter(|&v| vertices[v][0] == 0.0).map(|v| v as u32);
    builder.pin(Pin { nodes: clamped.collect(), axes: [true; 3], motion: None, until: f64::INFINITY });
    builder.gravity([0.0, -2.0, 0.0]);
    let model = builder.build();
    let q: Vec<f64> = vertices.concat();
    let still = vec![0.0; q.len()];
    let state = State::new(&model, q, still);
    let mut simulation = Simulation::new(model, integrator("backward-euler", &[]), state, 0.3);
    for _ in 0..60 {
        simulation.advance().unwrap();
    }
    let free: Vec<f64> = (0..vertices.len())
        .filter(|&v| vertices[v] == middle)
        .map(|v| simulation.state().q[3 * v + 1] - vertices[v][1])
        .collect();
    free.iter().sum::<f64>() / free.len() as f64
}

/// The gaps close as the penalty grows, and the solution becomes the continuous one.
#[test]
fn grows_into_the_continuous_solution() {
    for whole in [block([2.0, 0.5, 0.5], [4, 2, 2]), sheet([2.0, 0.5], [4, 2])] {
        let height = if whole.0.dimension() == 2 { 0.0 } else { 0.25 };
        grows_continuous(&whole, [2.0, 0.25, height]);
    }
}

fn grows_continuous(whole: &Whole, middle: [f64; 3]) {
    let sinks = |gluing: Option<(GluingKind, f64)>| {
        let mut builder = ModelBuilder::default();
        let vertices = whole.add(&mut builder, gluing, "stvk");
        sunk(builder, &vertices, middle)
    };
    let continuous = sinks(None);
    for kind in KINDS {
        let errors = [10.0, 100.0, 1000.0].map(|penalty| sinks(Some((kind, penalty))) / continuous - 1.0);
        println!("{kind:?}: sinks {:.4} m; relative difference {errors:?}", continuous);
        assert!(errors.iter().all(|e| *e > 0.0), "gaps make it softer");
        assert!(errors[1] < 0.2 * errors[0] && errors[2] < 0.2 * errors[1] && errors[2] < 0.02);
    }
}

/// In free flight both momenta stay, energy as well under `energy-momentum`; `dgsi` steps it with blocks of single cells.
#[test]
fn integrators_move_discontinuous_bodies() {
    for whole in [block([2.0, 0.5, 0.5], [4, 1, 1]), sheet([2.0, 0.5], [4, 1])] {
        integrators_move(&whole);
    }
}

fn integrators_move(whole: &Whole) {
    for kind in KINDS {
        let mut ends = BTreeMap::new();
        for (name, step, steps) in [
            ("verlet", 2e-4, 2500),
            ("energy-momentum", 5e-3, 100),
            ("semi-implicit", 5e-4, 1000),
            ("mssi", 5e-4, 1000),
            ("dgsi", 5e-4, 1000),
        ] {
            let (model, x) = whole.model(kind, 4.0, "neo-hookean");
            let q: Vec<f64> = x.iter().flat_map(|x| [1.1 * x[0], x[1], x[2]]).collect();
            let v: Vec<f64> = x.iter().flat_map(|x| [-2.0 * x[1], 2.0 * x[0], 0.3]).collect();
            let start = State::new(&model, q, v);
            let mut simulation = Simulation::new(model, integrator(name, &[]), start.clone(), step);
            for k in 0..steps {
                simulation.advance().unwrap_or_else(|e| panic!("{kind:?} {name}, step {k}: {e}"));
            }
            let (linear, angular) = common::momentum_drift(&start, simulation.state());
            assert!(linear < 1e-11, "{kind:?} {name}: P {linear:e}");
            if name == "energy-momentum" {
                let ratio = simulation.total_energy() / simulation.ledger().initial - 1.0;
                assert!(angular < 1e-7 && ratio.abs() < 1e-7, "{kind:?}: L {angular:e}, E {ratio:e}");
            }
            ends.insert(name, simulation.state().q.clone());
        }
        let rest = whole.model(kind, 4.0, "neo-hookean").1.concat();
        let moved = common::max_difference(&ends["verlet"], &rest);
        for (name, q) in &ends {
            let error = common::max_difference(q, &ends["verlet"]) / moved;
            println!("{kind:?} {name}: {error:.1e}");
            assert!(error < 0.05, "{kind:?} {name}: {error}");
        }
    }
}

/// Projected stiffness has a Cholesky factor with any mass.
#[test]
fn projected_stiffness_is_positive() {
    for (whole, kind) in both().iter().flat_map(|w| KINDS.map(|k| (w, k))) {
        let (model, vertices) = whole.model(kind, 4.0, "stvk");
        let mut random = Random(5);
        let q: Vec<f64> = shaken(&vertices, 0.1, &mut random).iter().map(|x| 0.6 * x).collect();
        let mut h = BlockMatrix::zeros(model.pattern().clone());
        model.hessian(0.0, &q, Curvature::Projected, &mut h);
        for _ in 0..50 {
            let v: Vec<f64> = q.iter().map(|_| random.number()).collect();
            assert!(h.quadratic_form(&v) > -1e-9 * E, "{kind:?}");
        }
    }
}
