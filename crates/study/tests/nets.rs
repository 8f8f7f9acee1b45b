//! Ropes, cloth, points and springs on meshes, from the scene file to the frames.

#[path = "common/running.rs"]
mod running;

use lilyan_mesh_io::readers::read_vertices;
use lilyan_scene::schema::Scene;
use lilyan_solid::elements::{Membrane, Springs, Tets};
use lilyan_study::run::Status;
use running::{column, folder, made, run_until};

const SCENE: &str = r#"
[time]
end = 0.05
step = 0.005
[environment]
gravity = [0, -10, 0]
[[body]]
name = "net"
mesh = { rope = { from = [0, 0, 0], to = [2, 0, 0], segments = 8, radius = 0.01 } }
material = { model = "springs", lambda = 100, rho = 1000 }
[[pin]]
where = { nearest = [0, 0, 0] }
[[probe]]
name = "tip"
at = [2, 0, 0.1]
[output]
every = 0.01
fields = ["velocity", "von_mises", "strain_energy", "pressure", "stress", "J", "tag", "force", "mass"]
"#;

const CLOTH: &str = "body.mesh={ cloth = { size = [1, 2], cells = [3, 6], thickness = 0.002 } }";
const POINTS: &str = "body.mesh={ points = { positions = [[0,0,0],[1,0,0],[0,1,0]], edges = [[0,1],[1,2]], masses = [1,2,3] } }";
const BLOCK: &str = "body.mesh={ box = { size = [1, 1, 1], cells = [2, 1, 1] } }";
const SHEET: &str = "body.material={ model = \"stvk\", E = 1e4, nu = 0.3, rho = 500 }";

/// Vertices, springs, triangles, tets and mass.
fn counted(overrides: &[&str]) -> (usize, [usize; 3], f64) {
    let (_, built) = made(SCENE, overrides);
    let body = &built.simulation.system().bodies()[0];
    let mass = built.simulation.system().node_masses().iter().sum();
    let springs = body.find::<Springs>().map_or(0, |s| s.list().len());
    let triangles = body.find::<Membrane>().map_or(0, |m| m.list().len());
    let tets = body.find::<Tets>().map_or(0, |t| t.len());
    (body.dofs.range().len(), [springs, triangles, tets], mass)
}

#[test]
fn every_kind_of_net_is_built() {
    let close = |a: f64, b: f64| (a - b).abs() < 1e-12 * b;
    let (vertices, cells, mass) = counted(&[]);
    assert!((vertices, cells) == (9, [8, 0, 0]) && close(mass, 1000.0 * std::f64::consts::PI * 1e-4 * 2.0));
    // 4 · 6 + 3 · 7 along the sides, 2 · 18 across.
    let (vertices, cells, mass) = counted(&[CLOTH]);
    assert!((vertices, cells) == (28, [81, 0, 0]) && close(mass, 1000.0 * 0.002 * 2.0));
    let (_, cells, mass) = counted(&[CLOTH, "body.element=membrane", SHEET]);
    assert!(cells == [0, 36, 0] && close(mass, 500.0 * 0.002 * 2.0));
    let (vertices, cells, mass) = counted(&[POINTS]);
    assert!((vertices, cells, mass) == (3, [2, 0, 0], 6.0));
    let (vertices, cells, mass) = counted(&[BLOCK, "body.element=springs"]);
    assert!((vertices, cells) == (12, [33, 0, 0]) && close(mass, 1000.0), "{cells:?}");
    let bent = "body.mesh={ rope = { points = [[0,0,0],[1,0,0],[1,1,0]], segments = 4, radius = 0.01 } }";
    let (_, built) = made(SCENE, &[bent]);
    assert_eq!(built.bodies[0].mesh().vertices[3], [1.0, 0.5, 0.0]);
}

#[test]
fn surfaces_stay_surfaces_when_asked() {
    let at = folder("net-surface");
    let cube = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    std::fs::write(at.join("tet.obj"), cube).unwrap();
    let mesh = format!("body.mesh={{ file = {:?}, thickness = 0.01 }}", at.join("tet.obj"));
    let (vertices, cells, _) = counted(&[&mesh, "body.element=membrane", SHEET]);
    assert_eq!((vertices, cells), (4, [0, 4, 0]));
    let (_, cells, _) = counted(&[&mesh, "body.element=springs"]);
    assert_eq!(cells, [6, 0, 0]);
}

#[test]
fn nets_run_write_and_resume() {
    for (k, overrides) in
        [vec![], vec![CLOTH], vec![CLOTH, "body.element=membrane", SHEET], vec![POINTS]].iter().enumerate()
    {
        let (scene, built) = made(SCENE, overrides);
        let at = folder(&format!("net-{k}"));
        let whole = run_until(&scene, built, &at, false, None);
        assert_eq!(whole.status, Status::Finished);
        let tip = column(&at, "probes.csv", "tip_y");
        assert!(tip[10] < tip[0] - 0.005, "{tip:?}");
        let mut frames: Vec<_> =
            std::fs::read_dir(at.join("frames")).unwrap().map(|f| f.unwrap().path()).collect();
        frames.sort();
        assert_eq!(frames.len(), 6);
        let last = read_vertices(&frames[5]).unwrap().concat();
        assert!(
            last.iter().skip(1).step_by(3).any(|y| (y - tip[10]).abs() < 1e-12),
            "frame and probe differ"
        );
        // Interrupted and resumed it comes out the same.
        let (scene, built) = made(SCENE, overrides);
        let again = folder(&format!("net-{k}-resumed"));
        run_until(&scene, built, &again, false, Some(4));
        let (_, built) = made(SCENE, overrides);
        assert_eq!(run_until(&scene, built, &again, true, None).status, Status::Finished);
        assert_eq!(tip, column(&again, "probes.csv", "tip_y"));
    }
}

/// Ropes and points with a radius touch obstacles where no body has triangles, from which a thickness could be derived.
#[test]
fn ropes_and_points_alone_touch_obstacles() {
    const BALLS: &str = "body.mesh={ points = { positions = [[0,0,0],[1,0,0]], edges = [[0,1]], masses = [1,2], radius = 0.01 } }";
    let plane = "{ kind = \"plane\", point = [0,-0.005,0], normal = [0,1,0], stiffness = 1e5 }";
    let sphere = "{ kind = \"sphere\", center = [1.5,-0.51,0], radius = 0.5, stiffness = 1e5 }";
    for (k, body) in [vec![], vec![BALLS]].into_iter().enumerate() {
        for (j, obstacle) in [plane, sphere].into_iter().enumerate() {
            let contact = format!("contact=[{obstacle}]");
            let (scene, built) = made(SCENE, &[&body[..], &[contact.as_str(), "time.end=0.2"]].concat());
            let at = folder(&format!("touch-{k}-{j}"));
            assert_eq!(run_until(&scene, built, &at, false, None).status, Status::Finished);
            let touched = column(&at, "energy.csv", "other").iter().any(|energy| *energy > 0.0);
            assert!(touched || (k, j) == (1, 1), "{body:?} {obstacle}: nothing touched");
        }
    }
}

#[test]
fn what_makes_no_net_is_refused() {
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["body.mesh={ rope = { from = [0,0,0], to = [0,0,0], segments = 3, radius = 1 } }"],
            &["has a length"],
        ),
        (&["body.mesh={ rope = { from = [0,0,0], to = [1,0,0], segments = 3 } }"], &["radius"]),
        (&["body.mesh={ rope = { from = [0,0,0], to = [1,0,0], segmnts = 3, radius = 1 } }"], &["segments"]),
        (&["body.material={ model = \"springs\", rho = 1000 }"], &["body.net.material", "lambda = 100"]),
        (&["body.material={ model = \"springs\", lambda = -1, rho = 1000 }"], &["positive"]),
        (&["body.material={ model = \"springs\", lambda = 10 }"], &["rho = 1000"]),
        (&["body.material={ model = \"springs\", E = 1e5, nu = 0.3, rho = 1000 }"], &["leave out nu"]),
        (&["body.material={ model = \"stvk\", lambda = 10, rho = 1000 }"], &["model = \"springs\""]),
        (&["body.element=membrane"], &["cannot be made of membrane; choose springs"]),
        (&["body.element=tets"], &["choose springs"]),
        (
            &[CLOTH, "body.element=membrane", "body.material={ model = \"arap\", E = 1, nu = 0.3, rho = 1 }"],
            &["membrane model", "stvk"],
        ),
        (&[CLOTH, "body.mass=consistent"], &["lumped"]),
        (&["contact=[{ kind = \"plane\", point = [0,0,0], normal = [0,1,0] }]"], &["stiffness = 1e5"]),
        (&["contact=[{ kind = \"self\", stiffness = 1e5 }]"], &["thickness = 1e-3"]),
        (
            &[POINTS, "contact=[{ kind = \"plane\", point = [0,0,0], normal = [0,1,0], stiffness = 1 }]"],
            &["give them a radius"],
        ),
        (
            &[
                "body.mesh={ cloth = { size = [9, 1], cells = [2, 2], thickness = 0.1 } }",
                "body.material={ E = 1e5, rho = 10 }",
            ],
            &["too long for springs"],
        ),
    ];
    for (overrides, wanted) in cases {
        let error = Scene::from_str_with(SCENE, "scene.toml", overrides)
            .and_then(|scene| lilyan_scene::build::build(&scene).map(|_| ()))
            .err()
            .unwrap_or_else(|| panic!("{overrides:?} is accepted"))
            .to_string();
        assert!(wanted.iter().all(|w| error.contains(w)), "{overrides:?}: {error}");
    }
}

/// Discontinuous tets and triangles: pins take all vertices at a place, frames and probes work, and gluing is checked.
#[test]
fn discontinuous_bodies_run() {
    let solid = "body.material={ model = \"stvk\", E = 1e5, nu = 0.3, rho = 1000 }";
    let dg = [BLOCK, "body.element=dg", solid, "probe=[{ name = \"tip\", at = [1, 0.5, 0.5] }]"];
    let (_, built) = made(SCENE, &dg);
    assert_eq!(built.bodies[0].nodes().len(), 48);
    assert!(built.simulation.system().pins()[0].nodes.len() > 1);
    assert_eq!(built.bodies[0].nodes().surface().triangles.len(), 20);
    for integrator in ["energy-momentum", "dgsi"] {
        let (scene, built) = made(SCENE, &[&dg[..], &[&format!("integrator.name={integrator}")]].concat());
        let at = folder(&format!("dg-{integrator}"));
        assert_eq!(run_until(&scene, built, &at, false, None).status, Status::Finished);
        let tip = column(&at, "probes.csv", "tip_y");
        assert!(tip[10] < tip[0] - 0.005, "{integrator}: {tip:?}");
    }
    // A cloth is cut into its triangles.
    let cut = [CLOTH, "body.element=dg", SHEET, "probe=[{ name = \"tip\", at = [1, 2, 0] }]"];
    for integrator in ["energy-momentum", "mssi", "dgsi"] {
        let name = format!("integrator.name={integrator}");
        let all = [&cut[..], &[&name, "time.step=0.001", "environment.gravity=[0, 0, -10]"]].concat();
        let (scene, built) = made(SCENE, &all);
        assert_eq!(built.bodies[0].nodes().len(), 108);
        let at = folder(&format!("dg-cloth-{integrator}"));
        assert_eq!(run_until(&scene, built, &at, false, None).status, Status::Finished);
        let tip = column(&at, "probes.csv", "tip_z");
        assert!(tip[tip.len() - 1] < tip[0] - 0.005, "{integrator}: {tip:?}");
    }
    let bent = "body.mesh={ cloth = { size = [1, 2], cells = [3, 6], thickness = 0.002, bending = 1e-3 } }";
    let scene = Scene::from_str_with(SCENE, "scene.toml", &[&cut[..], &[bent]].concat()).unwrap();
    let refused = lilyan_scene::build::build(&scene).err().unwrap().to_string();
    assert!(refused.contains("do not resist bending"), "{refused}");
    assert!(scene.bodies[0].gluing.is_some_and(|g| g.consistent && g.penalty == 4.0));
    for (gluing, wanted) in [
        ("body.gluing={ kind = \"interior-penalty\", penalty = 1 }", "2 or more"),
        ("body.gluing={ kind = \"glue\" }", "babuska-zlamal"),
    ] {
        let error = Scene::from_str_with(SCENE, "scene.toml", &[&dg[..], &[gluing]].concat()).unwrap_err();
        assert!(error.to_string().contains(wanted), "{error}");
    }
    let error = Scene::from_str_with(SCENE, "scene.toml", &["body.gluing={ penalty = 3 }"]).unwrap_err();
    assert!(error.to_string().contains("element = \"dg\""), "{error}");
}
