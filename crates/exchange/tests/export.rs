//! Exports hold what the frames hold.

use lilyan_exchange::export::{FORMATS, export, find};
use lilyan_exchange::{Animation, AnimationOptions, Results};
use lilyan_scene::build::build;
use lilyan_scene::schema::Scene;
use lilyan_study::run::{RunOptions, Signal, run};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A ball, a quadratic bar and a rope, with z up.
const SCENE: &str = r#"
title = "Three \"bodies\""
time = { end = 0.02, step = 0.005 }
integrator = "backward-euler"
environment = { gravity = [0, 0, -9.81] }
output = { every = 0.005, fields = ["velocity", "von_mises"] }
[[body]]
name = "ball"
mesh = { sphere = { radius = 0.5, tets = 200 }, translate = [0, 0, 1] }
material = { E = 1e4, nu = 0.3, rho = 1000 }
initial = { velocity = [1, 0, 0] }
[[body]]
name = "bar"
mesh = { box = { size = [2, 1, 1], cells = [2, 1, 1] }, translate = [2, 0, 0] }
element = "quadratic"
material = { E = 1e4, nu = 0.3, rho = 1000 }
[[body]]
name = "rope"
mesh = { rope = { from = [0, 2, 0], to = [1, 2, 0], segments = 4, radius = 0.01 } }
material = { model = "springs", E = 1e5, rho = 1000 }
"#;

fn results(name: &str) -> Results {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let scene = Scene::from_str(SCENE, "scene.toml").unwrap();
    let options = RunOptions { directory: folder.clone(), ..RunOptions::default() };
    run(&scene, build(&scene).unwrap(), &options, &mut |_| Signal::Continue).unwrap();
    Results::open(&folder).unwrap()
}

fn exported(results: &Results, format: &str, options: &AnimationOptions) -> Vec<PathBuf> {
    export(results, find(format).unwrap(), options, None, &mut |_| ()).unwrap().files
}

fn coloured() -> AnimationOptions {
    AnimationOptions { field: Some("von_mises".into()), ..AnimationOptions::default() }
}

/// The JSON and the binary part of a .glb.
fn parts(path: &Path) -> (Value, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((&bytes[..4], word(4), word(8)), (&b"glTF"[..], 2, bytes.len()));
    let text = word(12);
    assert_eq!(&bytes[16..20], b"JSON");
    let json = serde_json::from_slice(&bytes[20..20 + text]).unwrap();
    assert_eq!((&bytes[24 + text..28 + text], word(20 + text)), (&b"BIN\0"[..], bytes.len() - 28 - text));
    (json, bytes[28 + text..].to_vec())
}

fn vectors(json: &Value, binary: &[u8], accessor: &Value) -> Vec<[f32; 3]> {
    let accessor = &json["accessors"][accessor.as_u64().unwrap() as usize];
    let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let [from, length] = ["byteOffset", "byteLength"].map(|key| view[key].as_u64().unwrap() as usize);
    let floats = binary[from..from + length].chunks_exact(4);
    let floats: Vec<f32> = floats.map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!(floats.len(), 3 * accessor["count"].as_u64().unwrap() as usize);
    floats.as_chunks().0.to_vec()
}

#[test]
fn every_morph_target_of_a_glb_is_a_frame() {
    let results = results("glb");
    let files = exported(&results, "glb", &coloured());
    let (json, binary) = parts(&files[0]);
    let animation = Animation::read(&results, &coloured(), &mut |_| ()).unwrap();
    // z is up in the scene: the root turns it to y.
    let root = &json["nodes"][0];
    let half = 0.5f64.sqrt();
    let turn: Vec<f64> = root["rotation"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    assert!(turn.iter().zip([-half, 0.0, 0.0, half]).all(|(a, b)| (a - b).abs() < 1e-15), "{turn:?}");
    assert_eq!(root["children"], serde_json::json!([1, 2, 3]));
    assert_eq!(root["name"], "Three \"bodies\"");
    for (b, body) in animation.bodies.iter().enumerate() {
        let mesh = &json["meshes"][b];
        assert_eq!(mesh["name"], body.name.as_str());
        let primitive = &mesh["primitives"][0];
        let base = vectors(&json, &binary, &primitive["attributes"]["POSITION"]);
        let targets = primitive["targets"].as_array().unwrap();
        assert_eq!(targets.len() + 1, results.frames.len());
        let source = match body.surface.triangles.is_empty() {
            true => (0..body.surface.source.len() as u32).collect(),
            false => body.surface.creased(&body.positions[0]).source,
        };
        for (k, target) in targets.iter().enumerate() {
            let moved = vectors(&json, &binary, &target["POSITION"]);
            for (v, (x, dx)) in source.iter().zip(base.iter().zip(&moved)) {
                let frame = body.positions[k + 1][*v as usize];
                assert!(
                    (0..3).all(|i| (f64::from(x[i] + dx[i]) - frame[i]).abs() < 1e-6),
                    "frame {k} vertex {v}"
                );
            }
            let colours = vectors(&json, &binary, &target["COLOR_0"]);
            let first = vectors(&json, &binary, &primitive["attributes"]["COLOR_0"]);
            assert!(
                first
                    .iter()
                    .zip(&colours)
                    .all(|(a, b)| (0..3).all(|i| (-1e-6..=1.000_001).contains(&(a[i] + b[i]))))
            );
        }
        if !body.surface.triangles.is_empty() {
            let normals = vectors(&json, &binary, &primitive["attributes"]["NORMAL"]);
            assert!(normals.iter().all(|n| (n.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5));
        }
    }
    let sampler = &json["animations"][0]["samplers"][0];
    let times = &json["accessors"][sampler["input"].as_u64().unwrap() as usize];
    assert!((times["max"][0].as_f64().unwrap() - 0.02).abs() < 1e-9);
}

#[test]
fn a_box_of_quadratic_tets_has_its_faces_and_creases() {
    let results = results("quadratic");
    let options = AnimationOptions { bodies: vec!["bar".into()], ..AnimationOptions::default() };
    let animation = Animation::read(&results, &options, &mut |_| ()).unwrap();
    let [body] = animation.bodies.as_slice() else { panic!("one body") };
    // Ten squares of two triangles, each cut into four.
    assert_eq!(body.surface.triangles.len(), 80);
    let corners = |t: &[u32; 3]| t.map(|v| body.positions[0][v as usize]);
    let volume: f64 = body
        .surface
        .triangles
        .iter()
        .map(corners)
        .map(|[a, b, c]| {
            let cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
            (a[0] * cross[0] + a[1] * cross[1] + a[2] * cross[2]) / 6.0
        })
        .sum();
    assert!((volume - 2.0).abs() < 1e-9, "outward: {volume}");
    // Each of the six sides of the box has vertices of its own, with one normal.
    let creased = body.surface.creased(&body.positions[0]);
    let split: Vec<[f64; 3]> = creased.source.iter().map(|v| body.positions[0][*v as usize]).collect();
    for n in lilyan_exchange::vertex_normals(&split, &creased.triangles) {
        assert!(n.iter().filter(|x| x.abs() > 1.0 - 1e-9).count() == 1, "{n:?}");
    }
}

#[test]
fn caches_and_sequences_have_the_vertices_of_the_mesh_in_its_order() {
    let results = results("caches");
    let animation = Animation::read(&results, &AnimationOptions::default(), &mut |_| ()).unwrap();
    let ball = &animation.bodies[0];
    let n = ball.surface.source.len();
    let file = |format: &str, name: &str| {
        std::fs::read(results.directory.join("export").join(format).join(name)).unwrap()
    };
    assert_eq!(exported(&results, "pc2", &AnimationOptions::default()).len(), 6);
    let pc2 = file("pc2", "ball.pc2");
    assert_eq!(&pc2[..12], b"POINTCACHE2\0");
    assert_eq!(pc2.len(), 32 + 12 * n * animation.times.len());
    let last = f32::from_le_bytes(pc2[pc2.len() - 4..].try_into().unwrap());
    assert_eq!(last, ball.positions.last().unwrap()[n - 1][2] as f32);
    exported(&results, "mdd", &AnimationOptions::default());
    let mdd = file("mdd", "ball.mdd");
    assert_eq!(mdd[..8], [(animation.times.len() as u32).to_be_bytes(), (n as u32).to_be_bytes()].concat());
    assert_eq!(mdd.len(), 8 + 4 * animation.times.len() + 12 * n * animation.times.len());
    let mesh = String::from_utf8(file("pc2", "ball.obj")).unwrap();
    assert_eq!(mesh.lines().filter(|l| l.starts_with("v ")).count(), n);
    let all: usize = animation.bodies.iter().map(|b| b.surface.source.len()).sum();
    assert_eq!(exported(&results, "obj", &AnimationOptions::default()).len(), 5);
    let obj = String::from_utf8(file("obj", "000004.obj")).unwrap();
    assert_eq!(obj.lines().filter(|l| l.starts_with("v ")).count(), all);
    assert_eq!(obj.lines().filter(|l| l.starts_with("l ")).count(), 4);
    exported(&results, "ply", &coloured());
    let ply = file("ply", "000000.ply");
    let head = String::from_utf8_lossy(&ply[..400]).into_owned();
    assert!(
        head.contains(&format!("element vertex {all}\n")) && head.contains("property float von_mises\n"),
        "{head}"
    );
}

#[test]
fn a_part_of_a_run_can_be_chosen() {
    let results = results("part");
    let read = |options: &AnimationOptions| Animation::read(&results, options, &mut |_| ());
    let options = AnimationOptions { between: Some([0.005, 0.015]), every: 2, ..AnimationOptions::default() };
    let times = read(&options).unwrap().times;
    assert!(times.len() == 2 && (times[0] - 0.005).abs() < 1e-12 && (times[1] - 0.015).abs() < 1e-12);
    let wrong = |options: AnimationOptions| read(&options).unwrap_err().to_string();
    let message = wrong(AnimationOptions { bodies: vec!["bal".into()], ..AnimationOptions::default() });
    assert!(message.contains("did you mean \"ball\""), "{message}");
    let message = wrong(AnimationOptions { field: Some("vonmises".into()), ..AnimationOptions::default() });
    assert!(message.contains("von_mises") && message.contains("output.fields"), "{message}");
    let message = wrong(AnimationOptions { between: Some([1.0, 2.0]), ..AnimationOptions::default() });
    assert!(message.contains("go from 0 to 0.02 s"), "{message}");
    let message = find("vtkhdf").err().unwrap().to_string();
    assert!(message.contains("frames.pvd"), "{message}");
    let message = Results::open(Path::new("/nowhere")).unwrap_err().to_string();
    assert!(message.contains("no such folder"), "{message}");
}

#[test]
fn results_without_an_index_and_damaged_ones_are_read_or_refused() {
    let results = results("old");
    std::fs::remove_file(results.directory.join("run.json")).unwrap();
    let old = Results::open(&results.directory).unwrap();
    let animation = Animation::read(&old, &AnimationOptions::default(), &mut |_| ()).unwrap();
    assert_eq!(animation.bodies.len(), 1);
    assert_eq!(animation.up, [0.0, 1.0, 0.0]);
    let frame = results.frames[2].1.clone();
    let bytes = std::fs::read(&frame).unwrap();
    for cut in [0, 10, 500, bytes.len() / 2, bytes.len() - 30] {
        std::fs::write(&frame, &bytes[..cut]).unwrap();
        let message =
            Animation::read(&old, &AnimationOptions::default(), &mut |_| ()).unwrap_err().to_string();
        assert!(message.contains("000002.vtu"), "{message}");
    }
}

#[test]
fn formats_have_names_and_summaries() {
    for format in FORMATS {
        assert!(find(format.name).is_ok() && format.summary.len() > 10);
    }
}
