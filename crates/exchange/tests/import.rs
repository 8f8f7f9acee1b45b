//! Scenes of other programs become scenes that mean the same, and what is lost is told.

use lilyan_exchange::import::{ImportOptions, ImportedScene, import};
use lilyan_scene::build::{Built, build};
use lilyan_scene::schema::Scene;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("import-{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Two tets as Gmsh 2.2, of size 1.
const MESH: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n$EndNodes\n\
    $Elements\n2\n1 4 2 0 1 1 2 3 4\n2 4 2 0 1 2 3 4 5\n$EndElements\n";

fn imported(at: &Path, name: &str, text: &str) -> (ImportedScene, Scene) {
    let file = at.join(name);
    std::fs::write(&file, text).unwrap();
    let output = at.join("scene.toml");
    let found = import(&file, &output, &ImportOptions { end: Some(0.1) }).unwrap();
    let scene = Scene::from_str(&found.toml, &output.display().to_string()).unwrap();
    (found, scene)
}

fn built(scene: &Scene) -> Built {
    build(scene).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn polyfem_scenes_with_common_files_selections_and_obstacles() {
    let at = folder("polyfem");
    std::fs::write(at.join("two.msh"), MESH).unwrap();
    std::fs::write(at.join("floor.obj"), "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nf 4 3 2 1\n").unwrap();
    std::fs::write(
        at.join("common.json"),
        r#"{ "contact": { "enabled": true, "dhat": 0.002 }, "solver": { "advanced": { "lump_mass_matrix": true } } }"#,
    )
    .unwrap();
    let (found, scene) = imported(
        &at,
        "scene.json",
        r#"{
        "common": "common.json",
        "geometry": [
            { "mesh": "two.msh", "transformation": { "dimensions": [2, 4, 1], "rotation": [0, 0, 90], "translation": [0, 1, 0] },
              "volume_selection": 1,
              "surface_selection": [{ "id": 7, "axis": "-y", "position": 0.1, "relative": true }] },
            { "mesh": "floor.obj", "is_obstacle": true, "surface_selection": 9, "transformation": { "scale": [5, 1, 5] } },
            { "mesh": "two.msh", "enabled": false }
        ],
        "materials": [{ "id": 1, "type": "NeoHookean", "E": 1e5, "nu": 0.4, "rho": 900, "phi": 3 }],
        "boundary_conditions": { "rhs": [0, 9.81, 0],
            "dirichlet_boundary": [{ "id": 7, "value": ["0.1*t", 0, 0], "dimension": [true, false, true] }],
            "obstacle_displacements": [{ "id": 9, "value": [0, "-0.1*t", 0] }],
            "pressure_boundary": [] },
        "initial_conditions": { "velocity": [{ "id": 1, "value": [1, 0, 0] }] },
        "contact": { "friction_coefficient": 0.3, "epsv": 1e-4 },
        "time": { "tend": 2, "time_steps": 100, "integrator": "BDF2" }
    }"#,
    );
    assert_eq!((scene.time.end, scene.time.step, scene.integrator.name.as_str()), (2.0, 0.02, "bdf2"));
    let built = built(&scene);
    let mesh = built.bodies[0].mesh();
    // Scaled to 2 × 4 × 1, then turned about z: 4 × 2 × 1, then lifted.
    let [low, high] = mesh.bounds().unwrap();
    let near = |a: [f64; 3], b: [f64; 3]| (0..3).all(|k| (a[k] - b[k]).abs() < 1e-9);
    assert!(near(low, [-4.0, 1.0, 0.0]) && near(high, [0.0, 3.0, 1.0]), "{low:?} {high:?}");
    assert_eq!(
        (built.bodies[0].model.as_str(), built.bodies[0].density),
        ("neo-hookean-log", [900.0, 900.0])
    );
    // Below a tenth of the height lie two of the five vertices.
    let pins = built.simulation.system().pins();
    let expected = mesh.vertices.iter().filter(|x| x[1] <= 1.2 + 1e-5).count();
    assert_eq!(pins.iter().map(|p| p.nodes.len()).sum::<usize>(), expected);
    assert_eq!(scene.contacts.len(), 2, "the floor and the body itself");
    assert_eq!(scene.contacts[0].parameters.number("distance"), Some(0.002));
    assert_eq!(scene.contacts[0].parameters.number("friction"), Some(0.3));
    let placed = scene.contacts[0].motion.as_ref().unwrap().at(2.0).displacement;
    assert_eq!(placed, [0.0, -0.2, 0.0]);
    let told = found.notes.join("\n");
    for lost in ["`phi`", "`pressure_boundary`", "geometry[2] is not enabled"] {
        assert!(told.contains(lost), "{lost}: {told}");
    }
    assert!(!told.contains("lump_mass_matrix"));
}

#[test]
fn mujoco_flexes_stand_where_mujoco_puts_them() {
    let at = folder("mjcf");
    std::fs::write(
        at.join("ground.xml"),
        "<mujoco><worldbody><geom type='plane' size='0 0 1'/></worldbody></mujoco>",
    )
    .unwrap();
    let (found, scene) = imported(
        &at,
        "model.xml",
        r#"<mujoco model="Two">
          <include file="ground.xml"/>
          <option timestep=".001" gravity="0 0 -5"/>
          <default><default class="wall"><geom type="plane" size=".5 .5 .05"/></default></default>
          <worldbody>
            <geom class="wall" zaxis="1 0 0" pos="-2 0 0"/>
            <geom type="box" size=".5 .5 .1" pos="3 0 1"/>
            <flexcomp name="soft" type="grid" count="3 2 2" spacing=".5 .2 .2" pos="0 0 1" euler="0 0 90" dim="3" mass="2">
              <elasticity young="5e4" poisson="0.2" damping="0.002"/><contact selfcollide="none"/>
              <pin id="0 3"/>
            </flexcomp>
            <flexcomp name="sheet" type="grid" count="3 3 1" spacing=".1 .1 .1" pos="0 0 2" dim="2" mass="1">
              <elasticity young="3e5" thickness="1e-2" elastic2d="stretch"/>
            </flexcomp>
            <body><freejoint/><geom type="sphere" size=".1"/></body>
          </worldbody>
          <actuator><motor joint="x"/></actuator>
        </mujoco>"#,
    );
    assert_eq!((scene.title.as_str(), scene.time.step, scene.time.end), ("Two", 0.001, 0.1));
    let built = built(&scene);
    let near = |a: [f64; 3], b: [f64; 3]| (0..3).all(|k| (a[k] - b[k]).abs() < 1e-9);
    let [low, high] = built.bodies[0].mesh().bounds().unwrap();
    // The block of 1 × 0.2 × 0.2 is turned about z and stands about (0, 0, 1).
    assert!(near(low, [-0.1, -0.5, 0.9]) && near(high, [0.1, 0.5, 1.1]), "{low:?} {high:?}");
    let mass: f64 = built.simulation.system().node_masses().iter().sum();
    assert!((mass - 3.0).abs() < 1e-9, "{mass}");
    // Points 0 and 3 have the first and the last place along y, z of the first layer.
    let pins = built.simulation.system().pins();
    assert_eq!(pins.iter().map(|p| p.nodes.len()).sum::<usize>(), 2);
    let rest = built.rest_positions();
    let held: Vec<[f64; 3]> =
        pins.iter().flat_map(|p| &p.nodes).map(|n| [0, 1, 2].map(|k| rest[3 * *n as usize + k])).collect();
    assert!(
        held.iter().any(|x| near(*x, [0.1, -0.5, 0.9])) && held.iter().any(|x| near(*x, [-0.1, -0.5, 1.1])),
        "{held:?}"
    );
    // The default radius of MuJoCo.
    assert!(scene.contacts.iter().all(|c| c.parameters.number("distance") == Some(0.005)));
    // Two planes, a box, the bodies with each other, and the sheet with itself.
    assert_eq!(scene.contacts.len(), 5);
    let told = found.notes.join("\n");
    for lost in ["a rigid body that moves", "actuator: 1 element", "solref"] {
        assert!(told.contains(lost), "{lost}: {told}");
    }
}

#[test]
fn abaqus_decks_with_sets_materials_loads_and_steps() {
    let at = folder("abaqus");
    let (found, scene) = imported(
        &at,
        "bar.inp",
        "*HEADING\nbar\n*NODE, NSET=NALL\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n5,1,1,1\n*ELEMENT, TYPE=C3D4, ELSET=EALL\n\
         1,1,2,3,4\n2,2,3,4,5\n*ELSET, ELSET=HARD\n2\n*NSET, NSET=FIX\n1,3\n*MATERIAL, NAME=RUBBER\n*ELASTIC\n1e6,0.3\n*DENSITY\n1200,\n\
         *DAMPING, ALPHA=0.5, BETA=1e-4\n*MATERIAL, NAME=steel\n*ELASTIC\n2e11,0.28\n*DENSITY\n7800\n*EXPANSION\n1e-5\n\
         *SOLID SECTION, ELSET=EALL, MATERIAL=RUBBER\n*SOLID SECTION, ELSET=HARD, MATERIAL=STEEL\n\
         *BOUNDARY\nFIX,1,3\n4,2\n*INITIAL CONDITIONS, TYPE=VELOCITY\nNALL,1,2.5\n\
         *STEP, NLGEOM\n*DYNAMIC, DIRECT\n0.01,0.5\n*DLOAD\nEALL,GRAV,9.81,0,0,-1\nEALL,P1,3\n*CLOAD\n5,3,-10\n*END STEP\n",
    );
    assert_eq!((scene.time.end, scene.time.step), (0.1, 0.01), "the end that was asked for");
    let built = built(&scene);
    let body = &built.bodies[0];
    assert_eq!((body.model.as_str(), body.young, body.density), ("stvk", [1e6, 2e11], [1200.0, 7800.0]));
    assert_eq!(scene.bodies[0].damping.len(), 1);
    let pins = built.simulation.system().pins();
    assert_eq!(pins.iter().map(|p| p.nodes.len()).collect::<Vec<_>>(), [2, 1]);
    assert!(built.simulation.state().v.chunks(3).zip(0..).all(|(v, _)| v[1] == 0.0 && v[2] == 0.0));
    assert_eq!(scene.loads.len(), 1);
    let told = found.notes.join("\n");
    for lost in ["*EXPANSION", "DLOAD: EALL, P1, 3", "no units"] {
        assert!(told.contains(lost), "{lost}: {told}");
    }
}

#[test]
fn vega_configurations_with_regions_and_fixed_vertices() {
    let at = folder("vega");
    std::fs::write(
        at.join("two.veg"),
        "*VERTICES\n5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n*ELEMENTS\nTET\n2 4 0\n1 1 2 3 4\n2 2 3 4 5\n\
         *MATERIAL soft\nENU, 1000, 1e6, 0.45\n*MATERIAL hard\nENU, 2000, 1e8, 0.3\n*SET a\n1\n*SET b\n2\n*REGION\na, soft\n*REGION\nb, hard\n",
    )
    .unwrap();
    std::fs::write(at.join("fixed.bou"), "1,2,3\n").unwrap();
    let (found, scene) = imported(
        &at,
        "two.config",
        "*volumetricMeshFilename\ntwo.veg\n*deformableObjectMethod\nInvertibleFEM\n*invertibleMaterial\nneoHookean\n\
         *fixedVerticesFilename\nfixed.bou\n*timestep\n0.005\n*dampingStiffnessCoef\n0.01\n*solver\nimplicitNewmark\n*addGravity\n1\n\
         *compressionResistance\n500\n",
    );
    assert_eq!((scene.time.step, scene.integrator.name.as_str()), (0.005, "newmark"));
    let built = built(&scene);
    let body = &built.bodies[0];
    assert_eq!(
        (body.model.as_str(), body.young, body.density),
        ("stable-neo-hookean", [1e6, 1e8], [1000.0, 2000.0])
    );
    assert_eq!(built.simulation.system().pins().iter().map(|p| p.nodes.len()).sum::<usize>(), 3);
    assert!(found.notes.iter().any(|note| note.contains("compressionResistance 500")), "{:?}", found.notes);
}

/// A closed tetrahedron whose first vertex has this number, moved along x.
fn tetrahedron(first: usize, x: f64) -> String {
    let [a, b, c, d] = [first, first + 1, first + 2, first + 3];
    format!(
        "v {x} 0 0\nv {} 0 0\nv {x} 1 0\nv {x} 0 1\nf {a} {c} {b}\nf {a} {b} {d}\nf {a} {d} {c}\nf {b} {c} {d}\n",
        x + 1.0
    )
}

#[test]
fn groups_of_an_obj_become_bodies() {
    let at = folder("obj");
    let text = format!("o left\ng left skin\n{}o right\n{}", tetrahedron(1, 0.0), tetrahedron(5, 3.0));
    let (found, scene) = imported(&at, "two.obj", &text);
    let names: Vec<&str> = scene.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["left", "right"]);
    let built = built(&scene);
    let [low, high] = built.bodies[1].mesh().bounds().unwrap();
    // The mesher rounds sharp corners.
    assert!((low[0] - 3.0).abs() < 0.1 && (high[0] - 4.0).abs() < 0.2, "{low:?} {high:?}");
    assert!(found.notes.iter().any(|note| note.contains("4.0000 × 1.0000 × 1.0000 m")), "{:?}", found.notes);
    let (_, scene) = imported(&at, "one.obj", &tetrahedron(1, 0.0));
    assert_eq!(scene.bodies.len(), 1);
}

#[test]
fn what_is_no_scene_is_refused_with_a_reason() {
    let at = folder("wrong");
    std::fs::write(at.join("two.msh"), MESH).unwrap();
    let refused = |name: &str, text: &str| {
        let file = at.join(name);
        std::fs::write(&file, text).unwrap();
        import(&file, &at.join("scene.toml"), &ImportOptions::default()).unwrap_err().to_string()
    };
    for (name, text, reason) in [
        ("a.json", "{", "a.json"),
        ("b.json", "{}", "no `geometry`"),
        ("c.json", "{\"geometry\": [{\"mesh\": \"gone.msh\"}]}", "gone.msh"),
        (
            "array.json",
            "{\"geometry\": [{\"mesh\": \"two.msh\", \"array\": {\"size\": [1e6, 1e6, 1e6], \"offset\": 1}}]}",
            "10000 copies",
        ),
        ("d.xml", "<mujoco>", "line 1"),
        ("e.xml", "<robot/>", "<robot>"),
        ("f.xml", "<mujoco><worldbody/></mujoco>", "no flexcomp"),
        ("g.inp", "*HEADING\n", "g.inp"),
        ("h.config", "*timestep\n1\n", "volumetricMeshFilename"),
        ("i.blend", "", "PolyFEM"),
    ] {
        let message = refused(name, text);
        assert!(message.contains(reason), "{name}: {message}");
    }
}
