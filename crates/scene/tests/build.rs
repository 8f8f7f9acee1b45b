//! From scene to model: what is given is what acts, and what is wrong is told with place and remedy.

#[path = "common/running.rs"]
mod running;

use lilyan_dynamics::System;
use lilyan_scene::build::build;
use lilyan_scene::schema::Scene;
use running::{folder, made};

const BAR: &str = r#"
[time]
end = 1.0
step = 0.01
[[body]]
name = "bar"
mesh = { box = { size = [2, 1, 1], cells = [4, 2, 2] } }
material = { model = "linear", E = 1e5, nu = 0.25, rho = 1000 }
"#;

fn refused(overrides: &[&str]) -> String {
    let scene = Scene::from_str_with(BAR, "scene.toml", overrides).unwrap_or_else(|e| panic!("{e}"));
    build(&scene).err().unwrap_or_else(|| panic!("{overrides:?} is accepted")).to_string()
}

/// Σ of the load over all nodes at a time.
fn total_load(overrides: &[&str], t: f64) -> [f64; 3] {
    let (_, built) = made(BAR, overrides);
    let mut f = vec![0.0; built.simulation.system.dofs()];
    built.simulation.system.load(t, &mut f);
    std::array::from_fn(|k| f.iter().skip(k).step_by(3).sum())
}

fn close(a: [f64; 3], b: [f64; 3]) {
    let size = b.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    assert!((0..3).all(|k| (a[k] - b[k]).abs() <= 1e-12 * size), "{a:?}, not {b:?}");
}

#[test]
fn loads_add_up() {
    let end = "where = { box = { min = [1.99, -1, -1], max = [3, 2, 2] } }";
    let load = |l: &str| format!("load=[{{ body = \"bar\", {l} }}]");
    // N in all, however many vertices share it
    close(total_load(&[&load(&format!("{end}, force = [1, \"-2*t\", 3]"))], 0.5), [1.0, -1.0, 3.0]);
    // Pa on 1 m²
    close(total_load(&[&load(&format!("{end}, traction = [10, 0, \"x*t\"]"))], 0.5), [10.0, 0.0, 1.0]);
    // N/m³ on 2 m³
    close(total_load(&[&load("where = \"all\", body_force = [5, 0, \"7*cos(t)\"]")], 0.0), [10.0, 0.0, 14.0]);
    // m/s² on 2000 kg
    close(
        total_load(&[&load("where = \"all\", acceleration = [0, \"-9.81\", 0]")], 0.0),
        [0.0, -19620.0, 0.0],
    );
    // gravity that changes is a load on everything
    close(total_load(&["environment.gravity=[0, \"-9.81*t\", 0]"], 2.0), [0.0, -39240.0, 0.0]);
}

#[test]
fn every_selector_selects() {
    // 5 × 3 × 3 vertices
    for (selector, count) in [
        ("\"all\"", 45),
        ("{ box = { min = [-0.1, -1, -1], max = [0.1, 2, 2] } }", 9),
        ("{ sphere = { center = [0, 0, 0], radius = 0.6 } }", 4),
        ("{ nearest = [2.1, 1.1, 1.1] }", 1),
        ("{ vertices = [0, 3, 7] }", 3),
        ("{ tag = 0 }", 45),
        ("\"x > 1.9\"", 9),
    ] {
        let pin = format!("pin=[{{ body = \"bar\", where = {selector} }}]");
        let (_, built) = made(BAR, &[&pin]);
        assert_eq!(built.simulation.system.pins()[0].nodes.len(), count, "{selector}");
    }
}

#[test]
fn bodies_start_as_told() {
    let (_, built) = made(
        BAR,
        &["body.initial={ velocity = [1, 2, 3], angular_velocity = [0, 0, 2], stretch = [1.5, 1, 1] }"],
    );
    let state = &built.simulation.state;
    let (p, l) = state.momenta([1.0, 0.5, 0.5]);
    close(p, [2000.0, 4000.0, 6000.0]);
    // Spin of the stretched bar, 3 × 1 m, lumped: more than the solid's ρV(a² + b²)/12·ω
    assert!(l[2] > 2000.0 * 10.0 / 12.0 * 2.0 && l[2] < 1.3 * 2000.0 * 10.0 / 12.0 * 2.0, "{l:?}");
    let reach = state.q.iter().step_by(3).fold([1e9, -1e9], |[a, b]: [f64; 2], x| [a.min(*x), b.max(*x)]);
    assert!((reach[0] + 0.5).abs() < 1e-12 && (reach[1] - 2.5).abs() < 1e-12, "{reach:?}");
}

#[test]
fn materials_vary_by_formula_region_tag_and_data() {
    let young = |overrides: &[&str]| made(BAR, overrides).1.bodies[0].young;
    assert_eq!(young(&[]), [1e5, 1e5]);
    assert_eq!(young(&["body.material.E=\"1e5*(1 + 3*(x > 1))\""]), [1e5, 4e5]);
    let regions =
        "body.material.regions=[{ where = { box = { min = [0, 0, 0], max = [0.5, 1, 1] } }, E = 7e5 }]";
    assert_eq!(young(&[regions]), [1e5, 7e5]);

    let vtk = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n0 0 0\n1 0 0\n\
        0 1 0\n0 0 1\n1 1 1\nCELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\nCELL_TYPES 2\n10\n10\nCELL_DATA 2\n\
        SCALARS young double 1\nLOOKUP_TABLE default\n1e5\n2e5\nSCALARS tag int 1\nLOOKUP_TABLE default\n1\n2\n";
    let path = folder("build-data").join("two.vtk");
    std::fs::write(&path, vtk).unwrap();
    let mesh = format!("body.mesh={{ file = {path:?} }}");
    assert_eq!(young(&[&mesh, "body.material.E={ cell_data = \"young\" }"]), [1e5, 2e5]);
    assert_eq!(young(&[&mesh, "body.material.E=\"1e5*tag\""]), [1e5, 2e5]);
    assert_eq!(young(&[&mesh, "body.material.regions=[{ where = { tag = 2 }, E = 9e5 }]"]), [1e5, 9e5]);
    let error = refused(&[&mesh, "body.material.E={ cell_data = \"yung\" }"]);
    assert!(error.contains("did you mean \"young\"? known: tag, young"), "{error}");
}

#[test]
fn isotropic_constants_are_a_case_of_the_21() {
    // E = 1e5, nu = 0.25: λ = μ = 4e4
    let general = "body.material={ model = \"linear\", rho = 1000, C = [12e4,4e4,4e4,0,0,0, 12e4,4e4,0,0,0, \
        12e4,0,0,0, 4e4,0,0, 4e4,0, 4e4] }";
    let stretched =
        "body.initial={ stretch = [1.1, 0.97, 1.05], twist = { axis = [1, 0, 0], degrees = 20 } }";
    let energy = |overrides: &[&str]| made(BAR, overrides).1.simulation.energies().1.elastic;
    let (one, other) = (energy(&[stretched]), energy(&[stretched, general]));
    assert!(one > 0.0 && (one - other).abs() <= 1e-13 * one, "{one} {other}");
}

#[test]
fn what_physics_keeps_is_known() {
    let kept = |overrides: &[&str]| {
        let c = made(BAR, &[&["body.material.model=stvk"], overrides].concat()).1.conserved;
        [c.energy, c.linear, c.angular]
    };
    assert_eq!(kept(&[]), [true, true, true]);
    assert_eq!(kept(&["environment.gravity=[0, 0, 0]"]), [true, true, true]);
    assert_eq!(kept(&["environment.gravity=[0, -1, 0]"]), [true, false, false]);
    assert_eq!(kept(&["environment.gravity=[0, \"-t\", 0]"]), [false, false, false]);
    assert_eq!(kept(&["body.damping={ model = \"viscous\", time = 0.1 }"]), [false, true, true]);
    assert_eq!(kept(&["body.damping={ model = \"rayleigh\", alpha = 1, beta = 0 }"]), [false, false, false]);
    assert_eq!(kept(&["contact=[{ kind = \"self\", body = \"bar\" }]"]), [true, true, true]);
    let plane = "contact=[{ kind = \"plane\", point = [0, -1, 0], normal = [0, 1, 0] }]";
    assert_eq!(kept(&[plane]), [true, false, false]);
    assert_eq!(kept(&["pin=[{ body = \"bar\", where = { nearest = [0, 0, 0] } }]"]), [true, false, false]);
    assert_eq!(kept(&["body.material.model=linear"]), [true, true, false]);
}

#[test]
fn what_cannot_be_built_is_refused_with_place_and_remedy() {
    let folder = folder("build-refused");
    let cases: &[(&[&str], &[&str])] = &[
        (&["body.mesh.box.cells=[1000, 1000, 1000]"], &["scene.toml:7: body.bar.mesh", "use fewer cells"]),
        (&["body.mesh={ file = \"no.mesh\" }"], &["no.mesh", "check its name"]),
        (
            &["body.mesh={ rope = { from = [0, 0, 0], to = [1, 0, 0], segments = 4, radius = 0.1 } }"],
            &["model = \"springs\""],
        ),
        (&["body.material.model=jelly"], &["there is no material model \"jelly\"; known: linear"]),
        (&["body.material.E=\"1e5*(x - 1)\""], &["scene.toml:8: body.bar.material: in element", "positive"]),
        (&["body.material.nu=0.5"], &["nu = 0.5", "between -1 and 0.5"]),
        (&["body.material.rho=\"1 - x\""], &["in element", "rho", "kg/m³"]),
        (&["body.initial.velocity=[\"1/(x-1)\", 0, 0]"], &["body.bar: initial", "vertex", "not finite"]),
        (
            &["body.material.model=neo-hookean", "body.initial.twist={ axis = [1, 0, 0], degrees = 720 }"],
            &["inside out", "deform it less"],
        ),
        (
            &["environment.monopole={ strength = 1, at = [1, 0.5, 0.5] }"],
            &["environment.monopole", "move one"],
        ),
        (
            &["integrator.name=verlett"],
            &["integrator.name: there is no integrator", "did you mean \"verlet\"?"],
        ),
        (
            &["integrator.name=verlet", "integrator.tolerance=1"],
            &["integrator.tolerance", "known: compensated"],
        ),
        (
            &["pin=[{ body = \"bar\", where = { tag = 9 } }]"],
            &["pin[0]: `where` selects no vertex; widen it"],
        ),
        (&["pin=[{ body = \"bar\", where = { vertices = [45] } }]"], &["no vertex 45; they go from 0 to 44"]),
        (
            &["pin=[{ body = \"bar\", where = { set = \"a\" } }]"],
            &["there is no vertex set \"a\"; known: none"],
        ),
        (
            &["pin=[{ body = \"bar\", where = \"all\", motion = [\"1/t\", 0, 0] }]"],
            &["pin[0]: `motion` is not finite at t = 0"],
        ),
        (
            &["load=[{ body = \"bar\", where = { nearest = [0, 0, 0] }, traction = [1, 0, 0] }]"],
            &["load[0]", "no complete face"],
        ),
        (
            &["integrator.name=rk4", "constraint=[{ kind = \"volume\", body = \"bar\" }]"],
            &[
                "integrator",
                "cannot keep constraints; use one of variational, variational-4, verlet",
                "\"rk4\"",
            ],
        ),
        (
            &["body.bar.mesh.box.cells=[8, 4, 4]", "constraint=[{ kind = \"volume\", each = \"element\" }]"],
            &["constraint[0]: 768 constraints hold only 675 unknowns", "leave out `each`"],
        ),
        (
            &["constraint=[{ kind = \"distance\", between = [0, 44], length = 1 }]"],
            &[
                "constraint[0]: the distance between vertex 0 of body \"bar\" and vertex 44",
                "at the start",
                "length =",
            ],
        ),
        (
            &[
                "constraint=[{ kind = \"distance\", between = [0, 1] }, { kind = \"distance\", between = [1, 0] }]",
            ],
            &[
                "constraint[1]: the distance between vertex 1",
                "follows from the distance between vertex 0",
                "leave it out",
            ],
        ),
        (
            &["constraint=[{ kind = \"distance\", between = [[0, 0, 0], [0.01, 0, 0]] }]"],
            &["constraint[0]: `between` finds vertex 0", "further apart"],
        ),
        (
            &["constraint=[{ kind = \"distance\", between = [0, 45] }]"],
            &["no vertex 45; they go from 0 to 44"],
        ),
        (&["probe=[{ body = \"bar\", at = [5, 0, 0] }]"], &["probe[0]", "3.000 m outside of body \"bar\""]),
    ];
    for (overrides, parts) in cases {
        let start = std::time::Instant::now();
        let error = refused(overrides);
        assert!(start.elapsed().as_secs_f64() < 5.0, "{overrides:?} took {:?}", start.elapsed());
        for part in *parts {
            assert!(error.contains(part), "{overrides:?}: {part:?} is not in {error}");
        }
        assert!(error.starts_with("scene.toml"), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
}

/// An integrator that cannot do with a material says so before anything runs.
#[test]
fn integrators_refuse_materials_by_name() {
    let text = refused(&["integrator.name=corotational-reversible", "body.0.material.model=stvk"]);
    for word in ["scene.toml", "corotational-reversible", "stvk", "co-rotational", "linear"] {
        assert!(text.contains(word), "{text}");
    }
}

/// A Poisson's ratio of 0.5 is for `stvk` under `regularized`, and for no one else.
#[test]
fn incompressible_bodies_need_their_integrator() {
    let half = ["body.0.material.nu=0.5", "body.0.material.model=stvk"];
    let (_, built) = made(BAR, &[half[0], half[1], "integrator.name=regularized"]);
    assert!(built.simulation.system.incompressible());
    let text = refused(&half);
    assert!(text.contains("0.5") && text.contains("regularized"), "{text}");
    let text = refused(&[half[0], "body.0.material.model=neo-hookean", "integrator.name=regularized"]);
    assert!(text.contains("neo-hookean") && text.contains("stvk"), "{text}");
}
