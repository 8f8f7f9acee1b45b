//! From scene to model: what is given is what acts, and what is wrong is told with place and remedy.

mod common;

use common::{folder, made};
use lilyan_dynamics::System;
use lilyan_dynamics::system::abilities::Loads;
use lilyan_scene::build::build;
use lilyan_scene::schema::Scene;
use lilyan_solid::meshing::box_mesh;

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
    let mut f = vec![0.0; built.simulation.system().dofs()];
    built.simulation.system().add_load(t, &mut f);
    std::array::from_fn(|k| f.iter().skip(k).step_by(3).sum())
}

fn close(a: [f64; 3], b: [f64; 3]) {
    let size = b.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    assert!((0..3).all(|k| (a[k] - b[k]).abs() <= 1e-12 * size), "{a:?}, not {b:?}");
}

/// What a scene says of the format counts, for every reader; what the file is called does not.
#[test]
fn the_format_of_a_mesh_file_is_obeyed() {
    let folder = folder("build-format");
    let cube = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    for name in ["tet.dat", "tet.obj"] {
        std::fs::write(folder.join(name), cube).unwrap();
    }
    let build_as = |name: &str, format: &str| {
        let path = folder.join(name).display().to_string();
        let mesh = format!("body.mesh={{ file = {path:?}, format = \"{format}\", tets = 50 }}");
        build(&Scene::from_str_with(BAR, "scene.toml", &[&mesh]).unwrap_or_else(|e| panic!("{e}")))
            .map(|_| ())
    };
    assert_eq!(build_as("tet.dat", "obj"), Ok(()));
    assert!(build_as("tet.obj", "stl").unwrap_err().to_string().contains("STL"));
    // Each format that can be read can be named.
    for format in lilyan_mesh_io::readers::formats() {
        let mesh = format!("body.mesh={{ file = \"a.dat\", format = \"{format}\" }}");
        assert!(Scene::from_str_with(BAR, "scene.toml", &[&mesh]).is_ok(), "{format}");
    }
}

#[test]
fn loads_add_up() {
    let end = "where = { box = { min = [1.99, -1, -1], max = [3, 2, 2] } }";
    let load = |l: &str| format!("load=[{{ body = \"bar\", {l} }}]");
    // N in all, however many vertices share it
    close(total_load(&[&load(&format!("{end}, force = [1, \"-2*t\", 3]"))], 0.5), [1.0, -1.0, 3.0]);
    // Pa on 1 m²
    close(total_load(&[&load(&format!("{end}, traction = [10, 0, \"X*t\"]"))], 0.5), [10.0, 0.0, 1.0]);
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
        assert_eq!(built.simulation.system().pins()[0].nodes.len(), count, "{selector}");
    }
}

#[test]
fn bodies_start_as_told() {
    let (_, built) = made(
        BAR,
        &["body.initial={ velocity = [1, 2, 3], angular_velocity = [0, 0, 2], stretch = [1.5, 1, 1] }"],
    );
    let state = built.simulation.state();
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
fn what_forces_from_outside_leave_conserved_is_known() {
    let kept = |overrides: &[&str]| {
        let built = made(BAR, &[&["body.material.model=stvk"], overrides].concat()).1;
        built.symmetries.iter().map(|s| s.name()).collect::<Vec<_>>().join("; ")
    };
    let gravity = "environment.gravity=[0, -9.81, 0]";
    let vertical = "linear momentum across y; angular momentum about y";
    let floor = "contact=[{ kind = \"plane\", point = [0, -1, 0], normal = [0, 1, 0] }]";
    let ramp = "contact=[{ kind = \"plane\", point = [0, -1, 0], normal = [1, 1, 0] }]";
    let pin = |places: &str| format!("pin=[{{ body = \"bar\", where = {{ vertices = [{places}] }} }}]");
    // A bar of 2 m along x with its first vertex at the origin.
    let monopole = "environment.monopole={ strength = 1, at = [0, 5, 0] }";
    assert_eq!(kept(&[]), "");
    assert_eq!(kept(&[gravity]), vertical);
    assert_eq!(kept(&["environment.gravity=[0, \"-t\", 0]"]), vertical);
    assert_eq!(kept(&["environment.gravity=[\"t\", -1, 0]"]), "linear momentum along z");
    assert_eq!(
        kept(&["environment.gravity=[3, 4, 0]"]),
        "linear momentum across [0.6, 0.8, 0]; angular momentum about [0.6, 0.8, 0]"
    );
    assert_eq!(kept(&[gravity, floor]), vertical);
    assert_eq!(kept(&[gravity, ramp]), "linear momentum along z");
    assert_eq!(kept(&[monopole]), "angular momentum about [0, 5, 0]");
    assert_eq!(kept(&[monopole, gravity]), "angular momentum about y through [0, 5, 0]");
    assert_eq!(kept(&[&pin("0")]), "angular momentum about [0, 0, 0]");
    assert_eq!(kept(&[&pin("0"), gravity]), "angular momentum about y");
    assert_eq!(kept(&[&pin("0"), monopole]), "angular momentum about y through [0, 5, 0]");
    assert_eq!(
        kept(&["pin=[{ body = \"bar\", where = { vertices = [0] }, axes = [\"x\"] }]"]),
        "linear momentum across x; angular momentum about x"
    );
    assert_eq!(kept(&["pin=[{ body = \"bar\", where = { vertices = [0] }, motion = [\"t\", 0, 0] }]"]), "");
    assert_eq!(kept(&[gravity, "body.material.model=linear"]), "linear momentum across y");
    assert_eq!(kept(&[gravity, "body.damping={ model = \"rayleigh\", alpha = 1, beta = 0 }"]), "");
    assert_eq!(kept(&["load=[{ body = \"bar\", where = \"all\", force = [0, \"sin(t)\", 0] }]"]), vertical);
    // The edge x = 0, y = 0 is a hinge; two of its ends and a third vertex hold the bar.
    let on_edge = "pin=[{ body = \"bar\", where = \"(x < 0.001) * (y < 0.001)\" }]";
    assert_eq!(kept(&[on_edge]), "angular momentum about z");
    assert_eq!(kept(&[on_edge, gravity]), "");
    assert_eq!(kept(&["pin=[{ body = \"bar\", where = \"x < 0.001\" }]"]), "");
}

#[test]
fn unlikely_starts_are_warned_about() {
    let warnings = |overrides: &[&str]| made(BAR, overrides).1.warnings.join("; ");
    let (gravity, fast) = ("environment.gravity=[0, -9.81, 0]", "integrator.name=\"energy-momentum\"");
    let floor = |height: f64| {
        format!(
            "contact=[{{ kind = \"plane\", model = \"penalty\", point = [0, {height}, 0], normal = [0, 1, 0] }}]"
        )
    };
    assert_eq!(warnings(&[gravity, fast, &floor(0.0)]), "", "a body that stands on the floor");
    assert!(
        warnings(&[gravity, fast, &floor(0.5)]).contains("0.500 m inside of contact[0]"),
        "half below the floor"
    );
    let kilometres = "body.mesh={ box = { size = [4000, 10, 10], cells = [40, 1, 1] } }";
    assert!(warnings(&[fast, kilometres]).contains("millimetres"), "a file in millimetres");
}

#[test]
fn a_point_on_the_monopole_is_refused() {
    let point = "body.mesh={ points = { positions = [[1, 0.5, 0.5]], masses = [1] } }";
    let told =
        refused(&["environment.monopole={ strength = 1, at = [1, 0.5, 0.5] }", point, "body.material={}"]);
    assert!(told.contains("environment.monopole") && told.contains("move one"), "{told}");
}

#[test]
fn what_cannot_be_built_is_refused_with_place_and_remedy() {
    let folder = folder("build-refused");
    let cases: &[(&[&str], &[&str])] = &[
        (&["body.mesh.box.cells=[1000, 1000, 1000]"], &["scene.toml:7: body.bar.mesh", "would fit"]),
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
/// σ of one's own is read as a formula of its variables, and a wrong one is told with its place.
#[test]
fn steps_by_a_formula() {
    let by = |formula: &str| {
        let method = format!("integrator={{ name = \"adaptive-reversible\", formula = \"{formula}\" }}");
        build(&Scene::from_str_with(BAR, "scene.toml", &[&method, "body.initial={ velocity = [1, 0, 0] }"])?)
    };
    // The bar flies from x = 0…2 at 1 m/s. The centre of its mass is at 1 + t, and 1/σ is the mean of 1 + x over the mass.
    let mut built = by("1/(1 + x)").unwrap_or_else(|e| panic!("{e}"));
    built.simulation.advance().unwrap();
    let (t, h): (f64, f64) = (built.simulation.state().t, 0.01);
    let steps = |dt: f64, from: f64| h / (2.0 + from + 0.5 * dt);
    let (mut expected, mut taken) = (0.0f64, 0);
    while expected < h - 1e-9 * h {
        let dt = (0..50).fold(h, |dt, _| steps(dt, expected));
        expected += dt;
        taken += 1;
    }
    assert!(taken == 3 && (t - expected).abs() < 1e-10, "{t}, not {expected} after {taken} steps");
    let wrong = by("1/(1 + w)").err().map(|e| e.to_string()).unwrap_or_default();
    assert!(wrong.contains("integrator.formula") && wrong.contains("unknown name \"w\""), "{wrong}");
}

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
    assert!(built.simulation.system().abilities().incompressible);
    let text = refused(&half);
    assert!(text.contains("0.5") && text.contains("regularized"), "{text}");
    let text = refused(&[half[0], "body.0.material.model=neo-hookean", "integrator.name=regularized"]);
    assert!(text.contains("neo-hookean") && text.contains("stvk"), "{text}");
}

/// Masses of vertices are the masses of the nodes there. Where nodes are not vertices they are refused.
#[test]
fn masses_of_a_mesh_are_those_of_the_body() {
    let mut mesh = box_mesh([2.0, 1.0, 1.0], [2, 1, 1]).unwrap();
    let masses: Vec<f64> = (0..mesh.vertices.len()).map(|v| 1.0 + v as f64).collect();
    mesh.point_data.insert("kilos".into(), masses.clone());
    let text = BAR.replace("{ box = { size = [2, 1, 1], cells = [4, 2, 2] } }", "\"own\"");
    let text = format!("{text}mass = {{ point_data = \"kilos\" }}\n");
    let scene = Scene::from_str(&text, "scene.toml").unwrap().with_mesh("own", mesh).unwrap();
    let built = build(&scene).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(built.simulation.system().node_masses().to_vec(), masses);
    let split =
        Scene::from_str(&format!("{text}element = \"dg\"\n"), "scene.toml").err().unwrap().to_string();
    assert!(split.contains("masses of points are for bodies of tets"), "{split}");
}

#[test]
fn a_mesh_as_an_obstacle_has_the_barrier() {
    let table = "mesh = { box = { size = [6, 1, 6], cells = [1, 1, 1] }, translate = [-2, -1.01, -2] }";
    let (_, built) = made(BAR, &[&format!("contact=[{{ kind = \"mesh\", {table} }}]")]);
    let limits =
        built.simulation.system().potentials().iter().filter(|p| p.role().feasible_step.is_some()).count();
    assert_eq!(limits, 1);
    let penalty = format!("contact=[{{ kind = \"mesh\", {table}, model = \"penalty\" }}]");
    let refused_model = Scene::from_str_with(BAR, "scene.toml", &[&penalty]).unwrap_err().to_string();
    assert!(refused_model.contains("choose one of: barrier"), "{refused_model}");
}

#[test]
fn a_barrier_refuses_what_it_cannot_keep() {
    let floor = |height: f64, more: &str| {
        format!(
            "contact=[{{ kind = \"plane\", model = \"barrier\", point = [0, {height}, 0], normal = [0, 1, 0]{more} }}]"
        )
    };
    let touching = refused(&[&floor(0.0, "")]);
    assert!(touching.contains("\"bar\" touches or cuts an obstacle of a contact at ("), "{touching}");
    assert!(touching.contains("model = \"penalty\""), "{touching}");
    let explicit = refused(&[&floor(-0.1, ""), "integrator.name=verlet"]);
    assert!(explicit.contains("energy-momentum"), "{explicit}");
}

/// What a contact means that names no model: what its keys belong to, or else what goes with the method.
#[test]
fn the_default_model_of_a_contact_goes_with_its_keys_and_the_method() {
    let model = |integrator: &str, more: &str| {
        let floor = format!("contact=[{{ kind = \"plane\", point = [0, -1, 0], normal = [0, 1, 0]{more} }}]");
        let method = format!("integrator.name={integrator}");
        let scene =
            Scene::from_str_with(BAR, "scene.toml", &[&floor, &method]).unwrap_or_else(|e| panic!("{e}"));
        scene.contacts[0].card.name
    };
    for integrator in ["backward-euler", "bdf2", "newmark", "energy-momentum"] {
        assert_eq!(model(integrator, ""), "barrier", "{integrator}");
        assert_eq!(model(integrator, ", stiffness = 1e6"), "penalty", "{integrator}");
    }
    for integrator in ["verlet", "rk4", "variational", "implicit-midpoint", "semi-implicit"] {
        assert_eq!(model(integrator, ""), "penalty", "{integrator}");
        assert_eq!(model(integrator, ", friction = 0.3"), "barrier", "{integrator}");
    }
    let mesh = "contact=[{ kind = \"mesh\", mesh = { box = { size = [1, 1, 1], cells = [1, 1, 1] } } }]";
    let scene = Scene::from_str_with(BAR, "scene.toml", &[mesh]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scene.contacts[0].card.name, "barrier");
}
