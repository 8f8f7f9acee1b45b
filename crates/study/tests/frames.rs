//! Frames can be made again: a run waits for the disk at checkpoints and at its end, not at each frame. The program holds
//! one test, since the waits are counted for the whole process.

#[path = "common/running.rs"]
mod running;

use lilyan_files::atomic::disk_waits;
use lilyan_study::run::{Status, Summary};
use running::{folder, made, run_until};

const BAR: &str = r#"
time = { end = 0.1, step = 0.0005 }
integrator = "verlet"
[[body]]
mesh = { box = { size = [4, 1, 1], cells = [4, 1, 1] } }
material = { E = 1e5, nu = 0.3, rho = 1000 }
initial = { stretch = [1.1, 1, 1] }
[output]
every = 0.001
"#;

#[test]
fn frames_do_not_wait_for_the_disk() {
    let folder = folder("frames-without-waiting");
    let (scene, built) = made(BAR, &[]);
    let before = disk_waits();
    let outcome = run_until(&scene, built, &folder, false, None);
    assert_eq!(outcome.status, Status::Finished);
    // What is on the disk is the summary, and reads back as it.
    let text = std::fs::read_to_string(folder.join("summary.json")).unwrap();
    assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), outcome.summary);
    let frames = std::fs::read_dir(folder.join("frames")).unwrap().count();
    assert_eq!(frames, 101);
    let pvd = std::fs::read_to_string(folder.join("frames.pvd")).unwrap();
    assert_eq!(pvd.matches("<DataSet").count(), frames);
    let waits = disk_waits() - before;
    // Checkpoint, energy.csv, summary.json and report.html: two each.
    assert!(waits <= 8, "{waits} waits for {frames} frames");
}
