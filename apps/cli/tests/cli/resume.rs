//! Checkpoints, signals and `--resume`, to the byte.

use super::common::{BAR, command, expect, folder, lilyan, text};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Two boxes thrown at each other; long enough to be interrupted anywhere.
const CRASH: &str = r#"
title = "crash"
[time]
end = 500
step = 0.005
[integrator]
name = "energy-momentum"
[[body]]
name = "a"
mesh = { box = { size = [0.4, 0.4, 0.4], cells = [2, 2, 2] } }
material = { model = "neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }
damping = { model = "viscous", time = 0.001 }
initial = { velocity = [1, 0, 0], angular_velocity = [0, 1, 0] }
[[body]]
name = "b"
mesh = { box = { size = [0.4, 0.4, 0.4], cells = [2, 2, 2] }, translate = [0.45, 0.1, 0.05] }
material = { model = "neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }
initial = { velocity = [-1, 0, 0] }
[[contact]]
kind = "bodies"
model = "penalty"
[[contact]]
kind = "sphere"
model = "penalty"
center = [0.4, 0.2, 0.2]
radius = 0.55
inside = true
[output]
every = 0.01
energy_every = 1
[[probe]]
body = "b"
at = [0.5, 0.2, 0.1]
"#;

#[test]
fn a_damaged_checkpoint_falls_back_to_the_one_before() {
    let dir = folder("damaged", BAR);
    expect(&dir, &["run", "scene.toml", "-o", "whole"], 0);
    expect(&dir, &["run", "scene.toml", "-o", "cut", "--steps", "3"], 0);
    expect(&dir, &["run", "scene.toml", "-o", "cut", "--steps", "6", "--resume"], 0);
    let path = dir.join("cut/checkpoint");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let out = expect(&dir, &["run", "scene.toml", "-o", "cut", "--resume"], 0);
    let message = text(&out.stderr);
    assert!(message.contains("cut/checkpoint: the file is damaged"), "{message}");
    assert!(message.contains("t = 0.015"), "{message}");
    assert_same(&dir, "whole", "cut");

    // Another scene's checkpoint, and none at all.
    let out = expect(&dir, &["run", "scene.toml", "-o", "cut", "--resume", "--set", "time.step=0.004"], 1);
    assert!(text(&out.stderr).contains("another scene"));
    for name in ["checkpoint", "checkpoint.previous"] {
        fs::write(dir.join("cut").join(name), "LILYANCP rubbish").unwrap();
    }
    let before = fs::read(dir.join("cut/energy.csv")).unwrap();
    let out = expect(&dir, &["run", "scene.toml", "-o", "cut", "--resume"], 1);
    assert!(text(&out.stderr).contains("without --resume"));
    assert_eq!(fs::read(dir.join("cut/energy.csv")).unwrap(), before, "the results were touched");
}

/// Tables and all frames equal to the byte.
fn assert_same(dir: &Path, one: &str, other: &str) {
    let read = |folder: &str, name: &str| fs::read(dir.join(folder).join(name)).unwrap();
    for name in ["energy.csv", "probes.csv", "frames.pvd"] {
        assert!(read(one, name) == read(other, name), "{name} of {one} and {other} differ");
    }
    let mut names: Vec<_> = fs::read_dir(dir.join(one).join("frames"))
        .unwrap()
        .map(|e| format!("frames/{}", e.unwrap().file_name().to_str().unwrap()))
        .collect();
    names.sort();
    for name in &names {
        assert!(read(one, name) == read(other, name), "{name} of {one} and {other} differ");
    }
    assert_eq!(names.len(), fs::read_dir(dir.join(other).join("frames")).unwrap().count());
}

/// Starts a run that would take hours, sends the signal once some frames are there, and returns the steps it did.
#[cfg(unix)]
fn interrupt(dir: &Path, arguments: &[&str], signal: &str, status: i32) -> u64 {
    use std::time::{Duration, Instant};
    let mut child = command(dir, arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while !dir.join("cut/frames/000006.vtu").exists() {
        assert!(start.elapsed() < Duration::from_secs(120), "no frames");
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").arg(signal).arg(child.id().to_string()).status().unwrap();
    assert!(sent.success());
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(status), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("--resume"));
    let summary = fs::read(dir.join("cut/summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    assert_eq!((&summary["status"], &summary["converged"]), (&"interrupted".into(), &false.into()));
    summary["steps"].as_u64().unwrap()
}

/// D3 and D8: Ctrl-C or a request to terminate, then `--resume`, also with other threads, gives the bytes of a run
/// that was never interrupted.
#[cfg(unix)]
fn interrupted_and_resumed(name: &str, scene: &str, set: &[&str], signal: &str, status: i32) {
    let dir = folder(name, scene);
    let run = |folder: &'static str, more: &[&str]| {
        let mut arguments = vec!["run", "scene.toml", "-o", folder];
        set.iter().for_each(|s| arguments.extend(["--set", s]));
        arguments.extend(more);
        arguments.into_iter().map(String::from).collect::<Vec<_>>()
    };
    fn words(v: &[String]) -> Vec<&str> {
        v.iter().map(String::as_str).collect()
    }
    let done = interrupt(&dir, &words(&run("cut", &["--threads", "1"])), signal, status);
    let steps = (done + 20).to_string();
    expect(&dir, &words(&run("cut", &["--threads", "2", "--resume", "--steps", &steps])), 0);
    expect(&dir, &words(&run("whole", &["--threads", "1", "--steps", &steps])), 0);
    assert_same(&dir, "whole", "cut");
}

#[cfg(unix)]
#[test]
fn ctrl_c_and_resume_explicit() {
    let set = ["time.end=5000", "integrator.compensated=true", "output.energy_every=1"];
    let rod = text(&lilyan(Path::new("."), &["scenes", "tumbling-rod"]).stdout);
    interrupted_and_resumed("explicit", &rod, &set, "-INT", 130);
}

#[cfg(unix)]
#[test]
fn terminate_and_resume_implicit() {
    interrupted_and_resumed("implicit", CRASH, &["integrator.name=backward-euler"], "-TERM", 143);
}

#[cfg(unix)]
#[test]
fn ctrl_c_and_resume_energy_momentum_in_contact() {
    interrupted_and_resumed("contact", CRASH, &[], "-INT", 130);
}

/// D5: a file that cannot be written is named with the cause, and the checkpoint of before stays.
#[cfg(unix)]
#[test]
fn a_result_that_cannot_be_written_is_reported() {
    let dir = folder("unwritable", BAR);
    expect(&dir, &["run", "scene.toml", "-o", "out", "--steps", "3"], 0);
    let before = fs::read(dir.join("out/checkpoint")).unwrap();
    // A folder in the place of a file: an error whoever runs the tests.
    fs::create_dir_all(dir.join("out/frames/000002.vtu/x")).unwrap();
    let out = expect(&dir, &["run", "scene.toml", "-o", "out", "--resume"], 2);
    assert!(text(&out.stderr).contains("cannot write out/frames/000002.vtu"), "{}", text(&out.stderr));
    assert_eq!(fs::read(dir.join("out/checkpoint")).unwrap(), before);
    fs::remove_dir_all(dir.join("out/frames/000002.vtu")).unwrap();

    // No file may be longer than so many blocks of 512 bytes (the shell's `ulimit -f`).
    let limited = |blocks: u32| {
        let script = format!(
            "ulimit -f {blocks} && exec {} run scene.toml -o out --resume",
            env!("CARGO_BIN_EXE_lilyan")
        );
        Command::new("sh").current_dir(&dir).arg("-c").arg(script).output().unwrap()
    };
    let out = limited(2);
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("cannot write out/"), "{}", text(&out.stderr));
    assert_eq!(fs::read(dir.join("out/checkpoint")).unwrap(), before);
    let partial = fs::read_dir(dir.join("out"))
        .unwrap()
        .filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().ends_with(".tmp"));
    assert_eq!(partial.count(), 0);

    expect(&dir, &["run", "scene.toml", "-o", "out", "--resume"], 0);
    expect(&dir, &["run", "scene.toml", "-o", "whole"], 0);
    assert_same(&dir, "whole", "out");
}
