//! Every error names the file, the line, the key and what to do.

use super::{EXAMPLE, SMALL, as_json, refused, replaced, with};
use lilyan_scene::schema::Scene;

/// A text, the line that its error names (0: none), and parts of the message.
type Case = (String, usize, Vec<&'static str>);

#[rustfmt::skip] // one case, one line
fn whole_file() -> Vec<Case> {
    vec![
        (String::new(), 0, vec!["\"time\" is missing", "[time] with end"]),
        ("title = \n".into(), 1, vec!["not valid TOML"]),
        ("a = 1\na = 2\n".into(), 2, vec!["not valid TOML", "duplicate"]),
        ("a = 2024-01-01".into(), 1, vec!["a: 2024-01-01 is a date", "in seconds"]),
        ("a = 99999999999999999999".into(), 1, vec!["too many digits", "1e20"]),
        ("[time]\nend = 1\nstep = 0.1\n".into(), 0, vec!["no body", "[[body]]", "mesh = { box"]),
        ("[time]\nend = 1\nstep = 0.1\n[[bodies]]\n".into(), 4, vec!["unknown key \"bodies\" in the scene; did you mean \"body\"?"]),
        ("[time]\nend = 1\nstep = 0.1\n[body]\nname=\"b\"".into(), 4, vec!["body: is a list", "[[body]]"]),
        (with("[wind]\nspeed = 3"), 9, vec!["unknown key \"wind\" in the scene", "known keys: title, time, integrator"]),
        (replaced(1, "title = 3"), 1, vec!["title: expected text in quotes, found the number 3"]),
    ]
}

#[rustfmt::skip] // one case, one line
fn time() -> Vec<Case> {
    vec![
        (replaced(4, "stpe = 0.01"), 4, vec!["unknown key \"stpe\" in time; did you mean \"step\"?"]),
        (replaced(4, "dt = 0.01"), 4, vec!["unknown key \"dt\" in time; did you mean \"step\"?"]),
        (replaced(4, ""), 2, vec!["time: the key \"step\" is missing", "step = 0.004"]),
        (replaced(4, "step = 0"), 4, vec!["time.step: must be positive, not 0; give it in s"]),
        (replaced(4, "step = -0.1"), 4, vec!["time.step: must be positive, not -0.1"]),
        (replaced(4, "step = nan"), 4, vec!["time.step: NaN is not finite; give an ordinary number"]),
        (replaced(3, "end = inf"), 3, vec!["time.end: inf is not finite"]),
        (replaced(3, "end = 1e999"), 3, vec!["time.end: inf is not finite"]),
        (replaced(3, "end = \"1\""), 3, vec!["time.end: expected a number, found the text \"1\""]),
        (replaced(4, "step = 1e-300"), 4, vec!["time.step: ", "use a longer step"]),
        (replaced(4, "step = 0.1\nsubsteps = 2"), 5, vec!["unknown key \"substeps\" in time", "known keys: end, step"]),
    ]
}

#[rustfmt::skip] // one case, one line
fn integrator_and_environment() -> Vec<Case> {
    vec![
        (with("[integrator]\nname = 3"), 10, vec!["integrator.name: expected text"]),
        (with("[integrator]\nalpha = { a = 1 }"), 10, vec!["integrator.alpha: is a table; options are numbers"]),
        (with("[environment]\ngravity = [0, -9.81]"), 10, vec!["environment.gravity: expected 3 numbers", "found 2"]),
        (with("[environment]\ngravity = -9.81"), 10, vec!["environment.gravity: expected a list of 3"]),
        (with("[environment]\ngravity = [0, \"-9.81*x\", 0]"), 10, vec!["environment.gravity[1]: formula", "column 7: unknown name \"x\"", "known here: t"]),
        (with("[environment]\ngravty = [0, 0, 0]"), 10, vec!["unknown key \"gravty\" in environment; did you mean \"gravity\"?"]),
        (with("[environment]\nmonopole = { strength = 1 }"), 10, vec!["environment.monopole: the key \"at\" is missing", "at = [0, 0, 0]"]),
    ]
}

#[rustfmt::skip] // one case, one line
fn body() -> Vec<Case> {
    vec![
        (replaced(6, "nam = \"bar\""), 6, vec!["unknown key \"nam\" in body.body; did you mean \"name\"?"]),
        (replaced(6, "name = \"a,b\""), 6, vec!["\"a,b\" is no name", "without comma"]),
        (replaced(6, "name = \"\""), 6, vec!["is no name"]),
        (replaced(6, "mass = \"lumpd\""), 6, vec!["body.body.mass: \"lumpd\" is not known here; did you mean \"lumped\"? choose one of: lumped, consistent"]),
        (replaced(7, ""), 5, vec!["body.bar: the key \"mesh\" is missing", "mesh = { box"]),
        (replaced(8, ""), 5, vec!["body.bar: the key \"material\" is missing", "rho = 1000"]),
        (with(&SMALL.lines().skip(4).collect::<Vec<_>>().join("\n")), 9, vec!["a second body is named \"bar\"", "its own name"]),
    ]
}

#[rustfmt::skip] // one case, one line
fn mesh() -> Vec<Case> {
    let mesh = |m: &str| replaced(7, &format!("mesh = {{ {m} }}"));
    vec![
        (mesh(""), 7, vec!["body.bar.mesh: says no shape", "file = \"bunny.mesh\""]),
        (mesh("bx = { size = [1, 1, 1], cells = [1, 1, 1] }"), 7, vec!["unknown key \"bx\" in body.bar.mesh; did you mean \"box\"?"]),
        (mesh("box = { size = [1, 1], cells = [1, 1, 1] }"), 7, vec!["body.bar.mesh.box.size: expected 3 numbers", "found 2"]),
        (mesh("box = { size = [1, 0, 1], cells = [1, 1, 1] }"), 7, vec!["body.bar.mesh.box.size[1]: must be positive"]),
        (mesh("box = { size = [1, 1, 1], cells = [1, 1, 0] }"), 7, vec!["cells[2]: must be a whole number from 1"]),
        (mesh("box = { size = [1, 1, 1], cells = [1, 1, 1.5] }"), 7, vec!["cells[2]: expected a whole number, found the number 1.5"]),
        (mesh("box = { size = [1, 1, 1], cells = [9999, 9999, 9999] }"), 7, vec!["cells: makes 1.0e12 vertices", "fewer cells"]),
        (mesh("box = { size = [1, 1, 1], cells = [1, 1, 1] }, file = \"a\""), 7, vec!["mesh.file: a body has one mesh, but box"]),
        (mesh("file = \"\""), 7, vec!["is no path"]),
        (mesh("file = \"a.stl\", scale = 0"), 7, vec!["mesh.scale: must be positive", "\"mm\""]),
        (mesh("file = \"a.stl\", edge = 1, tets = 5"), 7, vec!["mesh.tets: edge and tets both"]),
        (mesh("file = \"a.stl\", format = \"slt\""), 7, vec!["did you mean \"stl\"?"]),
        (mesh("file = \"a.stl\", rotate = { axis = [0, 0, 0], degrees = 1 }"), 7, vec!["rotate.axis: is zero and has no direction"]),
        (mesh("sphere = { radus = 1 }"), 7, vec!["unknown key \"radus\" in body.bar.mesh.sphere; did you mean \"radius\"?"]),
        (mesh("points = { positions = [] }"), 7, vec!["has no points"]),
        (mesh("points = { positions = [[0,0,0]], edges = [[0, 1]] }"), 7, vec!["edges[0][1]: must be a whole number from 0 to 0"]),
        (mesh("points = { positions = [[0,0,0]], masses = [1, 2] }"), 7, vec!["has 2 masses for 1 points"]),
    ]
}

#[rustfmt::skip] // one case, one line
fn material() -> Vec<Case> {
    let material = |m: &str| replaced(8, &format!("material = {{ {m} }}"));
    vec![
        (material("E = 1e5, nu = 0.3, densty = 1000"), 8, vec!["unknown key \"densty\" in body.bar.material; did you mean \"rho\"?", "known keys: model"]),
        (material("E = 1e5, nu = 0.3"), 8, vec!["body.bar.material: the key \"rho\" is missing", "rho = 1000 (kg/m³)"]),
        (material("E = 1e5, rho = 1"), 8, vec!["the key \"nu\" is missing"]),
        (material("nu = 0.3, rho = 1"), 8, vec!["the key \"E\" is missing"]),
        (material("lambda = 3, rho = 1"), 8, vec!["the key \"mu\" is missing"]),
        (material("rho = 1"), 8, vec!["gives no elastic constants", "E = 1e5"]),
        (material("E = 0, nu = 0.3, rho = 1"), 8, vec!["material.E: must be positive, in Pa, not 0"]),
        (material("E = 1, nu = 0.6, rho = 1"), 8, vec!["material.nu: must be above -1 and at most 0.5, not 0.6"]),
        (material("E = 1, nu = -1, rho = 1"), 8, vec!["material.nu: must be above -1"]),
        (material("E = 1, nu = 0.3, rho = -1"), 8, vec!["material.rho: must be positive, in kg/m³, not -1"]),
        (material("E = \"1/0\", nu = 0.3, rho = 1"), 8, vec!["material.E: the formula gives inf"]),
        (material("E = \"1e5*(q>1)\", nu = 0.3, rho = 1"), 8, vec!["material.E: formula \"1e5*(q>1)\", column 6: unknown name \"q\"; known here: x, y, z, tag"]),
        (material("E = { data = \"a\" }, nu = 0.3, rho = 1"), 8, vec!["material.E: the key \"cell_data\" is missing"]),
        (material("E = true, nu = 0.3, rho = 1"), 8, vec!["material.E: expected a number or a formula of x, y, z, tag"]),
        (material("E = 1, nu = 0.3, mu = 3, rho = 1"), 8, vec!["gives both E, nu and lambda, mu; keep one pair"]),
        (material("C = [1, 2], rho = 1"), 8, vec!["material.C: expected 21 numbers"]),
        (material("C = [1], C11 = 2, rho = 1"), 8, vec!["C11: is given besides C"]),
        (material("C11 = 2, rho = 1"), 8, vec!["C22 must be positive as well"]),
        (material("E = 1, nu = 0, rho = 1, regions = [{ E = 2 }]"), 8, vec!["regions[0]: the key \"where\" is missing", "where = { tag = 3 }"]),
        (material("E = 1, nu = 0, rho = 1, regions = [{ where = \"all\" }]"), 8, vec!["regions[0]: changes nothing"]),
        (material("E = 1, nu = 0, rho = 1, regions = [{ where = \"all\", model = \"linear\" }]"), 8, vec!["a body has one model"]),
        (material( "E = 1, nu = 0, rho = 1, regions = [{ where = { nearest = [0, 0, 0] }, E = 1 }]", ), 8, vec!["unknown key \"nearest\"", "known keys: all, box, sphere, tag, region, expression"]),
    ]
}

#[rustfmt::skip] // one case, one line
fn damping_and_initial() -> Vec<Case> {
    vec![
        (replaced(6, "damping = { model = \"viscus\", time = 1 }"), 6, vec!["did you mean \"viscous\"?", "none, viscous, kharevych, rayleigh"]),
        (replaced(6, "damping = \"viscous\""), 6, vec!["needs its strength", "time = 0.01"]),
        (replaced(6, "damping = { model = \"viscous\" }"), 6, vec!["damping: the key \"time\" is missing"]),
        (replaced(6, "damping = { model = \"viscous\", time = -1 }"), 6, vec!["damping.time: must not be negative"]),
        (replaced(6, "damping = { model = \"rayleigh\", gamma = 1 }"), 6, vec!["unknown key \"gamma\"", "known keys: model, alpha, beta"]),
        (replaced( 6, "damping = { model = \"kharevych\", time = 1, coefficient = 1 }", ), 6, vec!["keep one of them"]),
        (replaced(6, "initial = { spin = [0, 0, 1] }"), 6, vec!["unknown key \"spin\"", "did you mean \"angular_velocity\"?"]),
        (replaced(6, "initial = { stretch = [1, 0, 1] }"), 6, vec!["initial.stretch: must be positive"]),
        (replaced(6, "initial = { velocity = [1, \"t\", 1] }"), 6, vec!["initial.velocity[1]: formula \"t\"", "known here: x, y, z"]),
        (replaced(6, "initial = { twist = { axis = [1, 0, 0] } }"), 6, vec!["twist: the key \"degrees\" is missing", "rate = 0.5"]),
    ]
}

#[rustfmt::skip] // one case, one line
fn pins() -> Vec<Case> {
    let pin = |key: &str| with(&format!("[[pin]]\nbody = \"bar\"\n{key}\n"));
    vec![
        (pin(""), 9, vec!["pin[0]: the key \"where\" is missing", "nearest"]),
        (pin("where = \"all\"\nuntl = 1"), 12, vec!["unknown key \"untl\" in pin[0]; did you mean \"until\"?"]),
        (pin("where = { }"), 11, vec!["pin[0].where: selects nothing"]),
        (pin("where = []"), 11, vec!["pin[0].where: is an empty list"]),
        (pin("where = 3"), 11, vec!["pin[0].where: expected \"all\""]),
        (pin("where = \"left\""), 11, vec!["pin[0].where: formula \"left\", column 1: unknown name"]),
        (pin("where = { al = true }"), 11, vec!["did you mean \"all\"?"]),
        (pin("where = { all = false }"), 11, vec!["where.all: must be true"]),
        (pin("where = { box = { min = [1, 0, 0], max = [0, 1, 1] } }"), 11, vec!["where.box: min is above max along x (1 > 0); exchange them"]),
        (pin("where = { box = { min = [1, 0, 0] } }"), 11, vec!["where.box: the key \"max\" is missing"]),
        (pin("where = { sphere = { center = [0, 0, 0], radius = 0 } }"), 11, vec!["where.sphere.radius: must be positive"]),
        (pin("where = { vertices = [] }"), 11, vec!["where.vertices: is empty"]),
        (pin("where = { vertices = [-1] }"), 11, vec!["where.vertices[0]: must be a whole number from 0"]),
        (pin("where = { vertices = [4294967295] }"), 11, vec!["where.vertices[0]: must be a whole number"]),
        (pin("where = { tag = 1.5 }"), 11, vec!["where.tag: expected a whole number"]),
        (pin("where = [\"all\",\n  { tag = \"a\" }]"), 12, vec!["pin[0].where[1].tag: expected a whole number"]),
        (pin("where = \"all\"\nmotion = [\"u\", 0, 0]"), 12, vec!["pin[0].motion[0]", "known here: x, y, z, t"]),
        (pin("where = \"all\"\naxes = [\"w\"]"), 12, vec!["pin[0].axes[0]: \"w\" is not known here", "x, y, z"]),
        (pin("where = \"all\"\naxes = []"), 12, vec!["pin[0].axes: is empty"]),
        (pin("where = \"all\"\naxes = [\"x\"]\nmotion = [0, 1, 0]"), 13, vec!["pin[0].motion: moves along an axis"]),
        (pin("where = \"all\"\nuntil = 0"), 12, vec!["pin[0].until: must be positive"]),
        (with("[[pin]]\nbody = \"bra\"\nwhere = \"all\""), 10, vec!["pin[0].body: there is no body \"bra\"; did you mean \"bar\"? the scene has: bar"]),
    ]
}

#[rustfmt::skip] // one case, one line
fn loads() -> Vec<Case> {
    let load = |key: &str| with(&format!("[[load]]\nbody = \"bar\"\nwhere = \"all\"\n{key}\n"));
    vec![
        (load(""), 9, vec!["load[0]: gives no load", "force = [0, -100, 0]"]),
        (load("force = [0, 0, 0]\ntraction = [0, 0, 0]"), 13, vec!["load[0].traction: a load is one of", "write two"]),
        (load("force = [0, 0]"), 12, vec!["load[0].force: expected 3"]),
        (load("force = [0, \"sin(\", 0]"), 12, vec!["load[0].force[1]: formula \"sin(\", column 5"]),
        (load("forc = [0, 0, 0]"), 12, vec!["unknown key \"forc\" in load[0]; did you mean \"force\"?"]),
        (with("[[load]]\nforce = [0, 0, 0]"), 9, vec!["load[0]: the key \"where\" is missing"]),
    ]
}

#[rustfmt::skip] // one case, one line
fn constraints_and_contacts() -> Vec<Case> {
    vec![
        (with("[[constraint]]\nkind = \"volum\""), 10, vec!["constraint[0].kind: \"volum\"", "did you mean \"volume\"?"]),
        (with("[[constraint]]\nkind = \"distance\""), 9, vec!["constraint[0]", "between = [[0, 0, 0], [1, 0, 0]]"]),
        (with("[[constraint]]\nkind = \"distance\"\nbetween = [1]"), 11, vec!["constraint[0].between: expected 2 ends"]),
        (with("[[constraint]]\nkind = \"volume\"\neach = \"edge\""), 11, vec!["constraint[0].each: \"edge\""]),
        (with("[[constraint]]\nkind = \"volume\"\nbody = \"baz\""), 11, vec!["constraint[0].body: there is no body \"baz\""]),
        (with("[[contact]]\npoint = [0, 0, 0]"), 9, vec!["contact[0]: the key \"kind\" is missing"]),
        (with("[[contact]]\nkind = \"plan\""), 10, vec!["did you mean \"plane\"?", "plane, sphere, mesh, bodies, self"]),
        (with("[[contact]]\nkind = \"plane\"\npoint = [0, 0, 0]"), 9, vec!["contact[0]: the key \"normal\" is missing"]),
        (with("[[contact]]\nkind = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 0, 0]"), 12, vec!["contact[0].normal: is zero"]),
        (with( "[[contact]]\nkind = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 1, 0]\nstiffness = 0", ), 13, vec!["contact[0].stiffness: must be positive"]),
        (with( "[[contact]]\nkind = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 1, 0]\nradius = 1", ), 13, vec!["unknown key \"radius\" in contact[0]"]),
        (with("[[contact]]\nkind = \"bodies\""), 10, vec!["contact[0].kind: needs two bodies", "self"]),
        (with("[[contact]]\nkind = \"self\"\nbody = \"x\""), 11, vec!["there is no body \"x\""]),
    ]
}

#[rustfmt::skip] // one case, one line
fn output_and_probes() -> Vec<Case> {
    vec![
        (with("[output]\nevery = 0"), 10, vec!["output.every: must be positive"]),
        (with("[output]\nfields = [\"velocty\"]"), 10, vec!["output.fields[0]: \"velocty\"", "did you mean \"velocity\"?", "von_mises"]),
        (with("[output]\nenergy_every = 0"), 10, vec!["output.energy_every: must be a whole number from 1"]),
        (with("[output]\nreplay = 1"), 10, vec!["output.replay: expected true or false"]),
        (with("[output]\nframes = 1"), 10, vec!["unknown key \"frames\" in output", "known keys: every, fields"]),
        (with("[[probe]]\nbody = \"bar\""), 9, vec!["probe[0]: the key \"at\" is missing", "at = [4, 0.5, 0.5]"]),
        (with("[[probe]]\nat = [0, 0, nan]"), 10, vec!["probe[0].at[2]: NaN is not finite"]),
        (with( "[[probe]]\nat = [0, 0, 0]\nname = \"p\"\n[[probe]]\nat = [0, 0, 0]\nname = \"p\"", ), 12, vec!["a second probe is named \"p\""]),
    ]
}

#[test]
fn every_error_names_file_line_key_and_remedy() {
    let mut failures = String::new();
    let topics = [
        whole_file,
        time,
        integrator_and_environment,
        body,
        mesh,
        material,
        damping_and_initial,
        pins,
        loads,
        constraints_and_contacts,
        output_and_probes,
    ];
    for (text, line, parts) in topics.iter().flat_map(|cases| cases()) {
        let message = refused(&text).to_string();
        let start = if line == 0 { "scene.toml: ".to_owned() } else { format!("scene.toml:{line}: ") };
        let missing: Vec<_> = parts.iter().filter(|part| !message.contains(**part)).collect();
        if !message.starts_with(&start) || !missing.is_empty() {
            failures += &format!("expected {start} {missing:?}\n   found {message}\n");
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn json_errors_name_the_key() {
    let json = |text: &str| Scene::from_str(text, "scene.json").expect_err(text).to_string();
    assert!(json("{").starts_with("scene.json:1: not valid JSON"));
    assert!(json("{\n\"title\": null}").contains("title: null is no value; leave the key out"));
    assert!(json("[]").contains("expected a table"));
    assert!(json("").contains("not valid JSON"));
    let wrong = json(&as_json(EXAMPLE).replace("\"rho\"", "\"rh\""));
    assert!(wrong.contains("unknown key \"rh\" in body.bar.material; did you mean \"rho\"?"), "{wrong}");
}
