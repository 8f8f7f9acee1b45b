//! Surfaces that tets carry along.

mod common {
    pub mod running;
}

use common::running::{folder, made, run_until};
use lilyan_mesh_io::readers::read_vertices;
use lilyan_scene::build::build;
use lilyan_scene::schema::Scene;

/// A pyramid that sticks out of a box that turns and flies.
const SCENE: &str = r#"
time = { end = 0.2, step = 0.05 }
integrator = { name = "energy-momentum" }
output = { every = 0.1 }
[[body]]
name = "box"
mesh = { box = { size = [1, 1, 1], cells = [2, 2, 2] } }
material = { model = "stable-neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }
display = "pyramid.obj"
initial = { velocity = [1, 0, 0], rotate = { axis = [0, 0, 1], degrees = 90 } }
"#;
const PYRAMID: &str =
    "v 0.2 0.2 0.5\nv 0.8 0.2 0.5\nv 0.5 0.8 0.5\nv 0.5 0.5 1.2\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

#[test]
fn a_surface_goes_with_its_body_also_outside_and_turned() {
    let folder = folder("display");
    std::fs::write(folder.join("pyramid.obj"), PYRAMID).unwrap();
    let origin = folder.join("scene.toml").display().to_string();
    let scene = Scene::from_str(SCENE, &origin).unwrap();
    let built = build(&scene).unwrap_or_else(|e| panic!("{e}"));
    assert!(built.notes.iter().any(|n| n.contains("1 of 4 vertices")), "{:?}", built.notes);
    let results = folder.join("out");
    run_until(&scene, built, &results, false, None);
    for (k, t) in [0.0, 0.1, 0.2].into_iter().enumerate() {
        let shown = read_vertices(&results.join(format!("display/{k:06}.vtu"))).unwrap();
        // A quarter turn about the centre (0.5, 0.5), then flight along x.
        for (x, y) in [[0.2, 0.2, 0.5], [0.8, 0.2, 0.5], [0.5, 0.8, 0.5], [0.5, 0.5, 1.2]].iter().zip(&shown)
        {
            let exact = [1.0 - x[1] + t, x[0], x[2]];
            assert!((0..3).all(|i| (exact[i] - y[i]).abs() < 1e-6), "t = {t}: {y:?}, not {exact:?}");
        }
    }
    assert!(std::fs::read_to_string(results.join("display.pvd")).unwrap().contains("display/000002.vtu"));

    // Far away, it is not carried but refused.
    let far = SCENE
        .replace("display = \"pyramid.obj\"", "display = { file = \"pyramid.obj\", translate = [9, 0, 0] }");
    let Err(error) = Scene::from_str(&far, &origin).and_then(|s| build(&s)) else {
        panic!("a far surface is carried")
    };
    assert!(error.to_string().contains("move it"), "{error}");
}

#[test]
fn only_bodies_of_tets_carry_something() {
    let springs = SCENE.replace("display =", "element = \"springs\"\ndisplay =");
    assert!(Scene::from_str(&springs, "scene.toml").is_err_and(|e| e.to_string().contains("tets")));
    let plain = SCENE.replace("display = \"pyramid.obj\"\n", "");
    assert!(made(&plain, &[]).1.bodies[0].shown.is_none());
}
