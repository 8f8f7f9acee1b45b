//! Requests to stop at any moment, folders that are in use, scenes that are too large, and messages for terminals.
#![cfg(unix)]

use super::common::{BAR, command, expect, folder, text};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A user waits no longer.
const PROMPT: Duration = Duration::from_secs(2);

fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").arg(signal).arg(child.id().to_string()).status().unwrap().success());
}

/// A body whose mesh takes many seconds.
const LARGE: &str = r#"
time = { end = 1, step = 1e-3 }
[[body]]
name = "ball"
mesh = { sphere = { radius = 1, tets = 800000 } }
material = { E = 1e5, nu = 0.3, rho = 1000 }
"#;

/// Work that does not ask for signals, here the mesher, is ended too; nothing is left behind.
#[test]
fn every_command_is_ended_while_it_builds() {
    let dir = folder("prompt", LARGE);
    for (words, signal, status) in [
        (&["run", "scene.toml", "-o", "out"][..], "-TERM", 143),
        (&["check", "scene.toml"], "-INT", 130),
        (&["modes", "scene.toml"], "-TERM", 143),
        (&["rest", "scene.toml"], "-INT", 130),
        (&["compare", "scene.toml", "-o", "out"], "-HUP", 129),
        (&["coarsen", "scene.toml", "--tets", "100", "-o", "coarse"], "-TERM", 143),
    ] {
        let child = command(&dir, words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        send(signal, &child);
        let sent = Instant::now();
        let out = child.wait_with_output().unwrap();
        let (took, message) = (sent.elapsed(), text(&out.stderr));
        assert_eq!(out.status.code(), Some(status), "{words:?}: {message}");
        assert!(message.contains("interrupted; nothing was written"), "{words:?}: {message}");
        // The machine that runs the tests may be busy.
        assert!(took < PROMPT + Duration::from_secs(2), "{words:?}: {took:?}");
    }
    assert!(!dir.join("out/checkpoint").exists() && !dir.join("out/energy.csv").exists());
}

/// With JSON, the one object says why.
#[test]
fn a_stopped_command_prints_json() {
    let dir = folder("prompt-json", LARGE);
    let child = command(&dir, &["check", "scene.toml", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    send("-TERM", &child);
    let out = child.wait_with_output().unwrap();
    let told = super::common::json(&out.stdout);
    assert_eq!((out.status.code(), told["exit_status"].as_u64()), (Some(143), Some(143)));
}

/// A second run into the folder of one that runs is refused. The lock goes with its process, however that ends.
#[test]
fn a_folder_belongs_to_one_run() {
    let dir = folder("lock", BAR);
    let long = ["run", "scene.toml", "-o", "out", "--set", "time.end=5000"];
    let mut child = command(&dir, &long).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while !dir.join("out/frames/000001.vtu").exists() {
        assert!(start.elapsed() < Duration::from_secs(120) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(10));
    }
    for resume in [&[][..], &["--resume"]] {
        let out = expect(&dir, &[&long[..], resume].concat(), 1);
        assert!(text(&out.stderr).contains("out: another run writes its results there"));
    }
    assert!(child.try_wait().unwrap().is_none(), "the first run goes on");
    child.kill().unwrap();
    child.wait().unwrap();
    expect(&dir, &["run", "scene.toml", "-o", "out"], 0);
}

/// Paths and titles cannot flood a terminal, nor command it.
#[test]
fn messages_are_printable() {
    let dir = folder("printable", &BAR.replace("title = \"bar\"", "title = \"\\u001b[2Jbar\\u202e\""));
    let out = expect(&dir, &["run", "scene.toml", "-o", "out"], 0);
    assert!(text(&out.stdout).contains("\\u{1b}[2Jbar\\u{202e}"), "{}", text(&out.stdout));
    let path = "x/".repeat(5000);
    let out = expect(&dir, &["run", &path], 1);
    assert!(text(&out.stderr).len() < 5000, "{} bytes", out.stderr.len());
    let ball = "body=[{name=\"b\",mesh={sphere={radius=1e300}},material={E=1e5,nu=0.3,rho=1000}}]";
    let out = expect(&dir, &["check", "scene.toml", "--set", ball, "--set", "probe=[]"], 1);
    assert!(text(&out.stderr).contains("sphere radius is 1e300"), "{}", text(&out.stderr));
}

/// What cannot be built is refused before a mesh is made, with what could.
#[test]
fn a_scene_beyond_the_memory_is_refused() {
    let dir = folder("memory", BAR);
    let rope = "mesh={rope={from=[0,0,0],to=[1,0,0],segments=10000000,radius=0.01}},material={model=\"springs\",E=1e5,rho=1}";
    // Terabytes, whatever machine the tests run on.
    let ropes: Vec<String> = (0..1000).map(|k| format!("{{name=\"b{k}\",{rope}}}")).collect();
    let text_of = BAR.replace("[[probe]]\nname = \"tip\"\nbody = \"bar\"\nat = [2, 0.5, 0.5]\n", "");
    let head = text_of.split("[[body]]").next().unwrap();
    std::fs::write(dir.join("ropes.toml"), format!("body = [{}]\n{head}", ropes.join(",\n"))).unwrap();
    let start = Instant::now();
    let message = text(&expect(&dir, &["run", "ropes.toml", "-o", "out"], 1).stderr);
    assert!(message.contains("elements would fit") && message.contains("GB"), "{message}");
    assert!(start.elapsed() < Duration::from_secs(10) && !dir.join("out").exists());
}
