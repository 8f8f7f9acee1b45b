//! Scene files: the contract's example, every error with its line and remedy, and files that nobody means.

mod errors;
mod hostile;

use lilyan_scene::document::{Node, SceneError, apply_override};
use lilyan_scene::schema::{
    ConstraintKind, Element, EndAt, EndSpec, Field, FieldName, FileSpec, LoadKind, Mass, OptionValue,
    Quantity, Resolution, Scene, Selector, Shape, TwistAmount, defaults,
};
use lilyan_solid::contact::{ContactPair, ObstacleShape};
use lilyan_solid::meshing::Diagonals;

const EXAMPLE: &str = include_str!("../data/interface.toml");

/// A small scene; `BODY` and `REST` are replaced by the cases.
const SMALL: &str = "\
title = \"small\"
[time]
end = 1
step = 0.01
[[body]]
name = \"bar\"
mesh = { box = { size = [4, 1, 1], cells = [4, 1, 1] } }
material = { E = 1e5, nu = 0.3, rho = 1000 }
";

fn read(text: &str) -> Scene {
    Scene::from_str(text, "scene.toml").unwrap_or_else(|error| panic!("{error}\nin\n{text}"))
}

fn refused(text: &str) -> SceneError {
    match Scene::from_str(text, "scene.toml") {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error,
    }
}

/// The small scene with lines added at its end, from line 9.
fn with(lines: &str) -> String {
    format!("{SMALL}{lines}")
}

/// The small scene with one line replaced.
fn replaced(line: usize, by: &str) -> String {
    let mut lines: Vec<&str> = SMALL.lines().collect();
    lines[line - 1] = by;
    lines.join("\n")
}

fn as_json(toml_text: &str) -> String {
    let table: toml::Table = toml_text.parse().expect("valid TOML");
    serde_json::to_string_pretty(&table).expect("representable")
}

/// Variables of a load at the origin, at rest.
fn load_point(t: f64) -> [f64; 10] {
    let mut values = [0.0; 10];
    values[9] = t;
    values
}

#[test]
fn the_example_of_the_contract() {
    let scene = read(EXAMPLE);
    assert_eq!(scene.title, "Bar tumbling in space");
    assert_eq!((scene.time.end, scene.time.step, scene.time.steps()), (8.0, 0.004, 2000));
    assert_eq!(scene.integrator.name, "variational");
    let options: Vec<_> = scene.integrator.options.iter().map(|o| (o.key.as_str(), &o.value)).collect();
    assert_eq!(options, [("alpha", &OptionValue::Number(0.5)), ("tolerance", &OptionValue::Number(1e-8))]);
    assert_eq!(scene.integrator.options[0].mark.place.line(), Some(9));
    let gravity = scene.environment.gravity.as_ref().expect("gravity");
    assert_eq!(gravity[1], Quantity::Number(-9.81));
    let body = &scene.bodies[0];
    assert_eq!(body.name, "bar");
    assert_eq!(
        body.mesh.shape,
        Shape::Box { size: [4.0, 1.0, 1.0], cells: [16, 4, 4], diagonals: Diagonals::Mirrored }
    );
    assert_eq!(body.material.model, "neo-hookean");
    assert_eq!(body.material.base.young, Some(Field::Constant(1e5)));
    assert_eq!(body.material.base.density, Some(Field::Constant(1000.0)));
    assert_eq!(body.mass, Mass::Lumped);
    assert_eq!(body.damping[0].card.name, "viscous");
    assert_eq!(body.damping[0].parameters.number("time"), Some(0.01));
    assert_eq!(body.initial.stretch, Some([1.15, 0.95, 0.95]));
    assert_eq!(scene.pins[0].axes, [true; 3]);
    assert!(matches!(scene.pins[0].selector, Selector::Box { .. }));
    assert_eq!(scene.loads[0].kind, LoadKind::Force);
    assert_eq!(scene.loads[0].value[1].eval(&load_point(0.2)), -100.0);
    assert_eq!(scene.loads[0].value[1].eval(&load_point(0.6)), 0.0);
    assert_eq!(scene.constraints[0].kind, ConstraintKind::Volume { body: 0 });
    let floor = scene.contacts[0].obstacle();
    assert!(matches!(floor, Some(ObstacleShape::Plane { normal: [0.0, 1.0, 0.0], .. })));
    assert_eq!(scene.contacts[0].parameters.number("stiffness"), Some(1e6));
    assert_eq!(scene.output.every, 0.02);
    assert_eq!(scene.output.fields, [FieldName::Velocity, FieldName::VonMises, FieldName::StrainEnergy]);
    assert_eq!(scene.probes[0].at, [4.0, 0.5, 0.5]);
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
}

#[test]
fn commented_lines_of_the_example_work_too() {
    let text =
        EXAMPLE.replace("# monopole", "monopole").replace("# motion", "motion").replace("# until", "until");
    let scene = read(&text);
    assert_eq!(scene.environment.monopole.map(|m| m.strength), Some(1.0));
    let motion = scene.pins[0].motion.as_ref().expect("motion");
    let (x, v) = motion.at(0.0, [0.0; 3]);
    assert!(x == [0.0; 3] && (v[0] - 0.2 * std::f64::consts::PI).abs() < 1e-15);
    assert_eq!(v[1..], [0.0; 2]);
    assert!(motion.is_translation());
    assert_eq!(scene.pins[0].until, Some(1.0));
}

#[test]
fn json_gives_the_same_scene() {
    let scene = read(EXAMPLE);
    let json = as_json(EXAMPLE);
    let by_ending = Scene::from_str(&json, "scene.json").expect("valid");
    let by_content = Scene::from_str(&json, "scene").expect("valid");
    assert_eq!(scene, by_ending);
    assert_eq!(scene, by_content);
    assert_eq!(scene.hash(), by_ending.hash());
}

#[test]
fn printing_and_hash_are_canonical() {
    let scene = read(EXAMPLE);
    let printed = scene.to_toml();
    let again = read(&printed);
    assert_eq!(scene, again);
    assert_eq!(printed, again.to_toml());
    assert_eq!(scene.hash(), again.hash());
    assert_eq!(scene.hash().len(), 32);
    // The value itself is part of the promise: summaries of different versions are compared by it.
    assert_eq!(read(SMALL).hash(), "e129c60af54eacf212c7ceb82e604af1");
    assert_eq!(
        read(&SMALL.replace("end = 1\nstep = 0.01", "step = 1e-2\nend = 1.0")).hash(),
        read(SMALL).hash()
    );
    assert_ne!(read(&SMALL.replace("end = 1", "end = 2")).hash(), read(SMALL).hash());
    let odd = "\"a b\" = \"q\\\"\\\\\\n\\u0001é\"\n\"\" = [1, [true, 1e300, -0.0, 9007199254740993], { k = { } }]\n";
    let node = Node::parse(odd, "odd.toml").expect("valid");
    assert_eq!(Node::parse(&node.to_toml(), "odd.toml").expect("printed TOML is valid"), node);
}

#[test]
fn defaults_hold() {
    let text = "time = { end = 1, step = 0.004 }\n[[body]]\nmesh = \"bunny.mesh\"\nmaterial = { E = 1e5, nu = 0.3, rho = 900 }\n[[pin]]\nwhere = \"all\"\n";
    let scene = Scene::from_str(text, "folder/hare.toml").expect("valid");
    assert_eq!(scene.title, "hare");
    assert_eq!(scene.integrator.name, defaults::INTEGRATOR);
    assert_eq!(scene.bodies[0].name, "body");
    assert_eq!(scene.bodies[0].material.model, defaults::MODEL);
    assert_eq!(scene.output.every, 0.01);
    assert_eq!(scene.output.checkpoint_every, defaults::CHECKPOINT_EVERY);
    assert_eq!(scene.pins[0].body, 0);
    let Shape::File(FileSpec { path, resolution: Resolution::Automatic, .. }) = &scene.bodies[0].mesh.shape
    else {
        panic!("a text is a file");
    };
    assert_eq!(scene.resolve(path), std::path::Path::new("folder/bunny.mesh"));
    assert_eq!(scene.resolve("/abs.mesh"), std::path::Path::new("/abs.mesh"));
}

/// A scene that uses most of the keys.
const MANY_KEYS: &str = r#"
time = { end = 1, step = 0.01 }
integrator = "verlet"
[[body]]
name = "a"
mesh = { file = "a.stl", scale = [1, 2, 3], rotate = { axis = [0, 0, 2], degrees = 90 }, translate = [0, 0, 1], tets = 5000, format = "stl", embed = true }
mass = "consistent"
damping = [{ model = "kharevych", coefficient = 0.5, implicit = false }, { model = "rayleigh", beta = 1e-3 }, "none"]
initial = { velocity = ["-y", "x", 0], twist = { axis = [1, 0, 0], rate = 0.5 } }
[body.material]
model = "mooney-rivlin"
E = "1e6 + 1e8*(x>2)*(tag==1)"
nu = { cell_data = "poisson" }
rho = 1000
c10 = 3.5
[[body.material.regions]]
where = { tag = 3, box = { min = [0, 0, 0], max = [1, 1, 1] } }
E = 5e6
[[body.material.regions]]
where = [{ region = "core" }, "x > 1 && tag == 2", { sphere = { center = [0, 0, 0], radius = 1 } }]
rho = 2000
[[body]]
mesh = { rope = { points = [[0, 0, 0], [1, 0, 0]], segments = 20, radius = 0.01 } }
material = { lambda = 1e4, rho = 1200 }
[[body]]
name = "masses"
mesh = { points = { positions = [[0, 0, 0], [1, 0, 0]], edges = [[0, 1]], masses = [1, 2] } }
[[body]]
name = "ball"
mesh = { sphere = { radius = 0.5, edge = 0.1 } }
material = { model = "linear", C11 = 3, C22 = 3, C33 = 3, C44 = 1, C55 = 1, C66 = 1, C12 = 1, rho = 1000 }
[[pin]]
body = "a"
where = [{ set = "left" }, { vertices = [0, 5] }, { surface = true, expression = "z < 0.1" }, { all = true }]
axes = ["z"]
motion = [0, 0, "t^2"]
[[load]]
body = "a"
acceleration = ["t*x", 0, 0]
[[load]]
body = "ball"
where = "surface"
traction = [0, 0, 1]
[[contact]]
kind = "bodies"
between = ["a", "ball"]
thickness = 1e-3
[[contact]]
kind = "self"
body = "a"
[[contact]]
kind = "sphere"
center = [0, 0, 0]
radius = 9
inside = true
[[constraint]]
kind = "distance"
body = "masses"
between = [0, { body = "a", nearest = [0, 0, 1] }]
until = 2
[[probe]]
body = "ball"
at = [0, 0, 0]
[output]
fields = ["J", "mass", "J"]
energy_every = 10
checkpoint_every = 5
replay = false
"#;

#[test]
fn meshes_damping_and_initial_states_are_read() {
    let scene = read(MANY_KEYS);
    assert_eq!(scene.integrator.name, "verlet");
    let body = &scene.bodies[0];
    assert_eq!(body.mesh.transform.rotate.as_ref().map(|r| r.axis), Some([0.0, 0.0, 1.0]));
    assert!(matches!(
        body.mesh.shape,
        Shape::File(FileSpec { resolution: Resolution::Tets(5000), embed: true, format: Some("stl"), .. })
    ));
    let [kharevych, rayleigh] = &body.damping[..] else { panic!("{:?}", body.damping) };
    assert_eq!([kharevych, rayleigh].map(|d| d.card.name), ["kharevych", "rayleigh"]);
    assert_eq!(kharevych.parameters.number("time"), Some(0.5), "`coefficient` stands for `time`");
    assert!(!kharevych.parameters.flag("implicit"));
    assert_eq!(["alpha", "beta"].map(|name| rayleigh.parameters.number(name)), [Some(0.0), Some(1e-3)]);
    assert_eq!(body.initial.twist.as_ref().map(|t| t.amount), Some(TwistAmount::Rate(0.5)));
    let velocity = body.initial.velocity.as_ref().expect("velocity");
    assert_eq!(velocity[0].eval(&[1.0, 2.0, 3.0]), -2.0);
    assert_eq!(scene.bodies[1].name, "body2");
    let Shape::Rope { points, segments: 20, .. } = &scene.bodies[1].mesh.shape else { panic!("a rope") };
    assert_eq!(points[1], [1.0, 0.0, 0.0]);
    assert_eq!(scene.bodies[1].element, Element::Springs);
    assert_eq!(body.element, Element::TETS);
}

#[test]
fn materials_are_read() {
    let scene = read(MANY_KEYS);
    let body = &scene.bodies[0];
    let Some(Field::Expression(young)) = &body.material.base.young else { panic!("a formula") };
    assert_eq!(young.eval(&[3.0, 0.0, 0.0, 1.0]), 1.01e8);
    assert_eq!(body.material.base.poisson, Some(Field::CellData("poisson".into())));
    assert_eq!(body.material.base.extra[0].key, "c10");
    assert!(body.material.check_extra(&["c10"]).is_ok());
    let error = body.material.check_extra(&["c01"]).expect_err("c10 is not known").to_string();
    assert!(error.starts_with("scene.toml:15: body.a.material.c10: unknown key \"c10\""), "{error}");
    assert!(matches!(&body.material.regions[0].selector, Selector::Intersection(parts) if parts.len() == 2));
    assert!(matches!(&body.material.regions[1].selector, Selector::Union(parts) if parts.len() == 3));
    let stiffness = scene.bodies[3].material.base.stiffness.as_ref().expect("21 constants");
    let at = |i: usize| stiffness[i].constant();
    assert_eq!((at(0), at(1), at(2), at(20)), (Some(3.0), Some(1.0), Some(0.0), Some(1.0)));
    let per_cell = read(&replaced(8, "material = { rho = 1000, C = { cell_data = \"C\" } }"));
    let stiffness = per_cell.bodies[0].material.base.stiffness.as_ref().expect("21 fields");
    assert_eq!(stiffness[20], Field::CellData("C66".into()));
}

#[test]
fn what_acts_on_bodies_and_the_output_are_read() {
    let scene = read(MANY_KEYS);
    assert_eq!(scene.pins[0].axes, [false, false, true]);
    assert_eq!(scene.loads[0].selector, Selector::All);
    assert_eq!(scene.loads[1].selector, Selector::Surface(true));
    assert_eq!(scene.contacts[0].pair, ContactPair::Bodies(Some([0, 3])));
    assert!(scene.contacts[0].parameters.number("thickness").is_some());
    assert_eq!(scene.contacts[1].pair, ContactPair::Itself(Some(0)));
    assert!(scene.contacts[1].parameters.number("thickness").is_none());
    assert!(matches!(scene.contacts[2].obstacle(), Some(ObstacleShape::Sphere { inside: true, .. })));
    let ends =
        [EndSpec { body: 2, at: EndAt::Vertex(0) }, EndSpec { body: 0, at: EndAt::Nearest([0.0, 0.0, 1.0]) }];
    assert_eq!(scene.constraints[0].kind, ConstraintKind::Distance { between: ends, length: None });
    assert_eq!(scene.constraints[0].until, Some(2.0));
    assert_eq!((scene.probes[0].body, scene.probes[0].name.as_str()), (3, "probe1"));
    assert_eq!(scene.output.fields, [FieldName::J, FieldName::Mass]);
    assert_eq!(scene.output.fields[0].name(), "J");
}

#[test]
fn two_bodies_need_names_in_references() {
    let two = SMALL.to_owned()
        + &SMALL.lines().skip(4).collect::<Vec<_>>().join("\n").replace("\"bar\"", "\"foo\"");
    let error = refused(&(two.clone() + "\n[[pin]]\nwhere = \"all\"")).to_string();
    assert!(
        error.contains("pin[0]: the key \"body\" is missing; write for example body = \"bar\""),
        "{error}"
    );
    let error =
        refused(&(two + "\n[[contact]]\nkind = \"bodies\"\nbetween = [\"foo\", \"foo\"]")).to_string();
    assert!(error.contains("contact[0].between: names one body twice"), "{error}");
}

#[test]
fn unlikely_units_are_warned_about() {
    let warned = |text: &str, part: &str| {
        let warnings = read(text).warnings;
        assert!(warnings.iter().any(|w| w.contains(part)), "{part}: {warnings:?}");
    };
    assert!(read(SMALL).warnings.is_empty());
    let material = |m: &str| replaced(8, &format!("material = {{ {m} }}"));
    warned(&material("E = 2.1, nu = 0.3, rho = 1000"), "body.bar.material.E = 2.1 Pa");
    warned(&material("E = 210, nu = 0.3, rho = 7850"), "210 GPa is 2.1e11");
    assert!(read(&material("E = 1000, nu = 0.3, rho = 1000")).warnings.is_empty());
    warned(&material("E = 1e14, nu = 0.3, rho = 1000"), "stiffer than diamond");
    warned(&material("E = 1e6, nu = 0.3, rho = 7.8"), "g/cm³");
    warned(&material("E = 1e6, nu = 0.3, rho = 1e6"), "heavier");
    warned(&material("E = 1e6, nu = 0.5, rho = 1e3"), "incompressible");
    let stiffness = "C11 = 1, C12 = 2, C22 = 1, C33 = 1, C44 = 1, C55 = 1, C66 = 1, rho = 1e3";
    warned(&material(stiffness), "not positive definite");
    assert!(read(&material(&stiffness.replace("C12 = 2", "C12 = 0.5"))).warnings.is_empty());
    warned(&with("[environment]\ngravity = [0, -981, 0]"), "SI wants m/s²");
    warned(&replaced(4, "step = 5"), "longer than the run");
    warned(&replaced(4, "step = 1e-10"), "steps will take very long");
    warned(&with("[output]\nevery = 0.001"), "every step becomes a frame");
}

#[test]
fn integrator_names_and_options_are_checked_by_their_card() {
    let scene = read(EXAMPLE);
    assert!(scene.integrator.check_name(&["variational"]).is_ok());
    let error = scene.integrator.check_name(&["verlet", "variation"]).expect_err("not there").to_string();
    assert!(error.starts_with("scene.toml:8: integrator.name: there is no integrator \"variational\"; did you mean \"variation\"?"), "{error}");
    assert!(scene.integrator.check_options(&["alpha", "tolerance"]).is_ok());
    let error = scene.integrator.check_options(&["alpha", "tolerence"]).expect_err("not there").to_string();
    assert!(
        error.starts_with("scene.toml:10: integrator.tolerance: unknown key")
            && error.contains("did you mean \"tolerence\"?"),
        "{error}"
    );
}

#[test]
fn overrides_reach_every_value() {
    let set = |assignments: &[&str]| Scene::from_str_with(EXAMPLE, "scene.toml", assignments);
    let scene = set(&[
        "time.step=0.002",
        "body.0.material.E=1e6",
        "body[0].material.nu = 0.4",
        "body.bar.material.rho=\"500 + x\"",
        "body.mass=consistent",
        "integrator.name=verlet",
        "title=\"a = b\"",
        "output.fields=[\"J\"]",
        "environment.monopole={ strength = 2, at = [0, 0, 0] }",
        "pin.0.axes=[\"x\"]",
        "load.0.force[1]=-5",
        "probe.1.at=[0, 0, 0]",
        "body.bar.initial.velocity.0=x^2 + 1",
    ])
    .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scene.time.step, 0.002);
    assert_eq!(scene.bodies[0].material.base.young, Some(Field::Constant(1e6)));
    assert_eq!(scene.bodies[0].material.base.poisson, Some(Field::Constant(0.4)));
    assert!(matches!(scene.bodies[0].material.base.density, Some(Field::Expression(_))));
    assert_eq!(scene.bodies[0].mass, Mass::Consistent);
    assert_eq!(scene.integrator.name, "verlet");
    assert_eq!(scene.title, "a = b");
    assert_eq!(scene.output.fields, [FieldName::J]);
    assert_eq!(scene.environment.monopole.map(|m| m.strength), Some(2.0));
    assert_eq!(scene.pins[0].axes, [true, false, false]);
    assert_eq!(scene.loads[0].value[1], Quantity::Number(-5.0));
    assert_eq!(scene.probes.len(), 2);
    let velocity = scene.bodies[0].initial.velocity.as_ref().expect("velocity");
    assert_eq!(velocity[0].eval(&[3.0, 0.0, 0.0]), 10.0);
    assert_ne!(scene.hash(), read(EXAMPLE).hash());

    let failing: &[(&str, &str)] = &[
        ("time.step", "--set: \"time.step\" has no \"=\"; write key=value"),
        ("time..step=1", "a key is missing"),
        ("=1", "a key is missing"),
        ("time.step=fast", "scene.toml with --set: time.step: expected a number, found the text \"fast\""),
        ("time.stpe=1", "scene.toml with --set: unknown key \"stpe\" in time; did you mean \"step\"?"),
        ("tme.step=1", "unknown key \"tme\" in the scene; did you mean \"time\"?"),
        ("time.step.x=1", "\"x\" cannot be set inside a number"),
        ("body.brr.mass=lumped", "no member is named \"brr\"; did you mean \"bar\"? name one of [bar]"),
        ("body.7.mass=lumped", "there is no member 7; the list has 1"),
        ("body[x].mass=lumped", "[x] is not a number"),
        ("body[0.mass=lumped", "\"[\" is not closed"),
        ("body[0]mass=lumped", "expected \".\""),
        ("title=[1", "is not a valid TOML value"),
        ("'title=1", "has no \"=\""),
    ];
    for (assignment, part) in failing {
        let error = set(&[assignment]).expect_err(assignment).to_string();
        assert!(error.contains(part), "{assignment}: {error}");
    }
    let mut node = Node::parse(SMALL, "scene.toml").expect("valid");
    let deep = vec!["a"; 100_000].join(".") + "=1";
    assert!(apply_override(&mut node, &deep).is_err());
    let deep = format!("a={}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(apply_override(&mut node, &deep).is_err());
}

#[test]
fn values_are_set_and_taken_out_by_path() {
    use lilyan_scene::document::set_value;
    use serde_json::json;
    let text = "[time]\nend = 1\nstep = 0.1\n[[pin]]\nbody = \"a\"\n[[pin]]\nbody = \"b\"\n";
    let mut node = Node::parse(text, "scene.toml").unwrap();
    let value = |v| Some(Node::from_json(&v, "here").unwrap());
    set_value(&mut node, "time.step", value(json!(0.2))).unwrap();
    set_value(&mut node, "pin.2", value(json!({ "body": "c" }))).unwrap();
    set_value(&mut node, "pin.0", None).unwrap();
    set_value(&mut node, "environment.gravity", None).unwrap();
    set_value(&mut node, "pin.1.body", value(json!("d"))).unwrap();
    let wanted = json!({ "time": { "end": 1, "step": 0.2 }, "pin": [{ "body": "b" }, { "body": "d" }] });
    assert_eq!(node.to_json(), wanted);
    assert_eq!(Node::from_json(&wanted, "here").unwrap(), node);
    assert!(set_value(&mut node, "pin.7", None).is_err(), "there is no such member");
    assert!(Node::from_json(&json!({ "a": null }), "here").is_err());
}
