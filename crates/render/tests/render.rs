//! Pictures and films of a small run.

use lilyan_exchange::Results;
use lilyan_render::{Image, RenderOptions, png, render};
use lilyan_scene::build::build;
use lilyan_scene::schema::Scene;
use lilyan_study::run::{RunOptions, Signal, run};
use std::path::PathBuf;

const SCENE: &str = r#"
time = { end = 0.2, step = 0.02 }
integrator = "backward-euler"
environment = { gravity = [0, 0, -9.81] }
[[body]]
mesh = { box = { size = [1, 1, 1], cells = [2, 2, 2] }, translate = [0, 0, 0.5] }
material = { E = 1e5, nu = 0.3, rho = 1000 }
[[contact]]
kind = "plane"
point = [0, 0, 0]
normal = [0, 0, 1]
"#;

fn results(name: &str) -> Results {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let scene = Scene::from_str(SCENE, "scene.toml").unwrap();
    let options = RunOptions { directory: directory.clone(), ..RunOptions::default() };
    run(&scene, build(&scene).unwrap(), &options, &mut |_| Signal::Continue).unwrap();
    Results::open(&directory).unwrap()
}

fn small() -> RenderOptions {
    RenderOptions { size: [96, 64], rate: 10.0, speed: Some(0.2), ..RenderOptions::default() }
}

#[test]
fn films_have_as_many_pictures_as_their_length_and_rate_ask_for() {
    let results = results("films");
    let film = results.directory.join("film.gif");
    let done = render(&results, &small(), &film, &mut |_, _| ()).unwrap();
    // 0.2 s at a fifth of the speed are 1 s, at 10 pictures per second and the last.
    assert_eq!(done.pictures, 11);
    let bytes = std::fs::read(&film).unwrap();
    assert_eq!((&bytes[..6], bytes.last()), (&b"GIF89a"[..], Some(&0x3b)));
    let delays = bytes.windows(4).filter(|w| *w == [0x21, 0xf9, 4, 4]).count();
    assert_eq!(delays, 11);
    let numbered = render(&results, &small(), &results.directory.join("one.png"), &mut |_, _| ()).unwrap();
    assert_eq!(numbered.files.len(), 11);
    assert!(numbered.files[10].ends_with("one-000010.png") && numbered.files[10].is_file());
}

#[test]
fn pictures_are_the_same_for_any_number_of_threads() {
    let results = results("threads");
    let path = results.directory.join("one.png");
    let options = RenderOptions { at: Some(0.11), ..small() };
    let drawn = [1, 2].map(|threads| {
        lilyan_parallel::threads::set_threads(threads);
        render(&results, &options, &path, &mut |_, _| ()).unwrap();
        std::fs::read(&path).unwrap()
    });
    assert_eq!(drawn[0], drawn[1]);
    // A body on a floor, and not one colour.
    let plain = png::encode(&Image::new(96, 64, [200; 3]));
    assert!(drawn[0].len() > 4 * plain.len(), "{} bytes", drawn[0].len());
}

#[test]
fn wrong_requests_say_what_to_ask_for() {
    let results = results("wrong");
    let ask = |options: RenderOptions, file: &str| {
        render(&results, &options, &results.directory.join(file), &mut |_, _| ()).unwrap_err().to_string()
    };
    let message = ask(small(), "film.avi");
    assert!(message.contains(".webm, .mp4, .gif or .png"), "{message}");
    let message = ask(RenderOptions { at: Some(7.0), ..small() }, "one.png");
    assert!(message.contains("from 0 to 0.2 s"), "{message}");
    let message = ask(RenderOptions { size: [0, 10], ..small() }, "one.png");
    assert!(message.contains("16 to 8192"), "{message}");
    let message = ask(RenderOptions { rate: 60.0, ..small() }, "film.gif");
    assert!(message.contains("from 1 to 50"), "{message}");
    let message = ask(RenderOptions { speed: Some(1e-12), ..small() }, "film.gif");
    assert!(message.contains("--speed"), "{message}");
}
