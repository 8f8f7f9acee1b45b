//! Scenes of quadratic tets: every integrator, material and damping model; what acts on them; what is written.

#[path = "common/running.rs"]
mod running;

use lilyan_dynamics::integrators;
use lilyan_scene::build::build;
use lilyan_scene::schema::Scene;
use lilyan_solid::elements::QUADRATIC_TETS;
use lilyan_solid::mesh::CellKind;
use lilyan_solid::{damping, materials, output};
use lilyan_study::run::Status;
use running::{folder, made, run_until};

const BAR: &str = r#"
time = { end = 0.02, step = 0.002 }
integrator = "variational"
environment = { gravity = [0, -9.81, 0] }
[[body]]
name = "bar"
element = "quadratic"
mesh = { box = { size = [1, 0.4, 0.4], cells = [2, 1, 1] } }
material = { model = "neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }
initial = { stretch = [1.05, 1, 1] }
[[pin]]
where = { box = { min = [-0.01, -1, -1], max = [0.01, 1, 1] } }
[[probe]]
name = "tip"
at = [1, 0.2, 0.2]
[output]
every = 0.01
"#;

/// Every integrator steps them or says why not.
#[test]
fn every_integrator_takes_quadratic_tets_or_says_why() {
    let mut taken = 0;
    for entry in integrators::CATALOGUE {
        let model = match entry.name {
            "corotational-reversible" => "co-rotational",
            "regularized" => "stvk",
            _ => "neo-hookean",
        };
        let given = [
            format!("integrator=\"{}\"", entry.name),
            "time.step=0.0001".to_string(),
            format!("body.bar.material.model=\"{model}\""),
        ];
        let keys: Vec<&str> = given.iter().map(String::as_str).collect();
        let scene = Scene::from_str_with(BAR, "scene.toml", &keys).unwrap_or_else(|e| panic!("{e}"));
        match build(&scene) {
            Ok(mut built) => {
                for _ in 0..3 {
                    built.simulation.advance().unwrap_or_else(|e| panic!("{}: {e}", entry.name));
                }
                let q = &built.simulation.state().q;
                assert!(q.iter().all(|x| x.is_finite()), "{}", entry.name);
                taken += 1;
            }
            Err(e) => {
                let why = e.to_string();
                assert!(why.contains("quadratic tets"), "{}: {why}", entry.name);
            }
        }
    }
    assert!(taken >= 10, "{taken} integrators");
}

#[test]
fn every_material_and_damping_model_takes_quadratic_tets() {
    let steps = |keys: &[&str], name: &str| {
        let (_, mut built) = made(BAR, keys);
        for _ in 0..3 {
            built.simulation.advance().unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    };
    for material in materials::CATALOGUE {
        let name = material.card().name;
        steps(&[&format!("body.bar.material.model=\"{name}\"")], name);
        // Its constants may differ from place to place, and nearly incompressible bodies do not lock.
        steps(&[&format!("body.bar.material.model=\"{name}\""), "body.bar.material.E=\"1e5*(1+x)\""], name);
        steps(&[&format!("body.bar.material.model=\"{name}\""), "body.bar.material.nu=0.48"], name);
    }
    for card in damping::CATALOGUE {
        for nu in ["0.3", "0.48"] {
            let damping = match card.name {
                "rayleigh" => "{ model = \"rayleigh\", alpha = 1.0, beta = 0.001 }".to_string(),
                name => format!("{{ model = \"{name}\", time = 0.001 }}"),
            };
            steps(
                &[&format!("body.bar.damping={damping}"), &format!("body.bar.material.nu={nu}")],
                card.name,
            );
        }
    }
}

/// Frames are cells of type 24, and a run that is resumed ends as one that was not stopped.
#[test]
fn runs_write_quadratic_cells() {
    let folder = folder("quadratic-run");
    let (scene, built) = made(BAR, &[]);
    let kinds: Vec<CellKind> =
        output::cells(built.simulation.system().bodies()).iter().map(|block| block.kind).collect();
    assert_eq!(kinds, [CellKind::QuadraticTet]);
    let outcome = run_until(&scene, built, &folder, false, None);
    assert_eq!(outcome.status, Status::Finished);
    assert!(outcome.summary.mesh.is_some_and(|mesh| mesh.quadratic && mesh.linear_error > 0.0));
    assert!(std::fs::read_to_string(folder.join("report.html")).unwrap().contains("quadratic"));
    assert!(std::fs::read_dir(folder.join("frames")).unwrap().count() >= 3);
}

/// Nearly incompressible linear tets are warned about, quadratic ones take the mean dilatation by themselves.
#[test]
fn locking_is_told_and_cured() {
    let warned = |keys: &[&str]| made(BAR, keys).1.warnings.iter().any(|w| w.contains("lock"));
    let linear = "body.bar.element=\"tets\"";
    assert!(warned(&[linear, "body.bar.material.nu=0.46"]));
    assert!(!warned(&[linear, "body.bar.material.nu=0.45"]));
    assert!(!warned(&["body.bar.material.nu=0.49"]));
    let energy = |keys: &[&str]| {
        use lilyan_dynamics::System;
        let (_, built) = made(BAR, keys);
        let mut q = built.rest_positions();
        q.iter_mut().enumerate().for_each(|(i, x)| *x += 0.01 * ((7 * i) as f64).sin());
        built.simulation.system().energy(0.0, &q)
    };
    let nu = "body.bar.material.nu=0.49";
    let [own, mean, pointwise] = [
        energy(&[nu]),
        energy(&[nu, "body.bar.volumetric=\"mean\""]),
        energy(&[nu, "body.bar.volumetric=\"pointwise\""]),
    ];
    assert!(own == mean && mean < pointwise, "{own} {mean} {pointwise}");
    assert_eq!(energy(&[]), energy(&["body.bar.volumetric=\"pointwise\""]));
    let keys = [linear, "body.bar.volumetric=\"mean\""];
    assert!(Scene::from_str_with(BAR, "scene.toml", &keys).is_err());
}

/// A file with nodes on edges is made of quadratic tets unless the scene says otherwise.
#[test]
fn files_with_ten_nodes_are_quadratic() {
    let folder = folder("quadratic-file");
    let mut text = "*NODE\n".to_string();
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let edges = [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]];
    let middles = edges.map(|[i, j]: [usize; 2]| [0, 1, 2].map(|k| 0.5 * (corners[i][k] + corners[j][k])));
    for (n, [x, y, z]) in corners.iter().chain(&middles).enumerate() {
        text += &format!("{}, {x:?}, {y:?}, {z:?}\n", n + 1);
    }
    text += "*ELEMENT, TYPE=C3D10\n1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\n";
    std::fs::write(folder.join("tet.inp"), text).unwrap();
    let mesh = format!("body.bar.mesh={:?}", folder.join("tet.inp").display().to_string());
    let scene =
        BAR.replace("element = \"quadratic\"\n", "").replace("at = [1, 0.2, 0.2]", "at = [0.1, 0.1, 0.1]");
    let (_, built) = made(&scene, &[&mesh]);
    assert_eq!(built.bodies[0].element.solid(), Some(&QUADRATIC_TETS));
    assert_eq!(built.simulation.state().q.len(), 30);
    assert!(built.simulation.system().bodies()[0].consistent_mass);
    let (_, built) = made(&scene, &[&mesh, "body.bar.element=\"tets\""]);
    assert_eq!(built.simulation.state().q.len(), 12);
    let (_, built) = made(&scene, &[&mesh, "integrator=\"verlet\"", "time.step=1e-5"]);
    assert!(!built.simulation.system().bodies()[0].consistent_mass);
}
