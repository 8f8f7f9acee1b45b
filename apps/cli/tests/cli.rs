//! The program as its users meet it: arguments in, files and exit status out.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const COLUMNS: &str = "t,kinetic,elastic,gravity,other,total,work_external,dissipated_physical,\
    dissipated_numerical,px,py,pz,lx,ly,lz,step,newton_iterations";

const BAR: &str = r#"
title = "bar"
[time]
end = 0.05
step = 0.005
[integrator]
name = "energy-momentum"
[[body]]
name = "bar"
mesh = { box = { size = [2, 1, 1], cells = [2, 1, 1] } }
material = { model = "neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }
initial = { stretch = [1.1, 1, 1], angular_velocity = [0, 0, 1] }
[output]
every = 0.01
[[probe]]
name = "tip"
body = "bar"
at = [2, 0.5, 0.5]
"#;

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
[[contact]]
kind = "sphere"
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

/// An empty folder of that name, with the scene as `scene.toml` in it.
fn folder(name: &str, scene: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("scene.toml"), scene).unwrap();
    path
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lilyan"));
    command.current_dir(folder).args(arguments);
    command
}

fn lilyan(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs it and asserts the exit status.
fn expect(folder: &Path, arguments: &[&str], status: i32) -> Output {
    let out = lilyan(folder, arguments);
    assert_eq!(
        out.status.code(),
        Some(status),
        "{arguments:?}\n{}\n{}",
        text(&out.stdout),
        text(&out.stderr)
    );
    out
}

fn json(bytes: &[u8]) -> Value {
    let value: Value = serde_json::from_slice(bytes).unwrap_or_else(|e| panic!("{e}: {}", text(bytes)));
    assert!(value.is_object());
    value
}

#[test]
fn every_command_has_help_with_an_example() {
    let dir = folder("help", BAR);
    for name in ["run", "check", "compare", "modes", "scenes", "integrators", "materials"] {
        let out = expect(&dir, &[name, "--help"], 0);
        assert!(text(&out.stdout).contains("lilyan "), "{name}");
        assert!(text(&out.stdout).contains("Example"), "{name}");
        assert!(text(&out.stdout).contains("--json"), "{name}");
    }
    assert!(text(&expect(&dir, &["--help"], 0).stdout).contains("Example"));
    assert!(text(&expect(&dir, &["--version"], 0).stdout).starts_with("lilyan "));
}

#[test]
fn every_command_prints_one_json_object_and_nothing_else() {
    let dir = folder("json", BAR);
    let commands: [&[&str]; 8] = [
        &["run", "scene.toml", "--json"],
        &["check", "scene.toml", "--json"],
        &["check", "steel-cantilever", "--json"],
        &["modes", "scene.toml", "-n", "8", "--json"],
        &["scenes", "--json"],
        &["scenes", "cantilever", "--json"],
        &["integrators", "--json"],
        &["materials", "--json"],
    ];
    for arguments in commands {
        json(&expect(&dir, arguments, 0).stdout);
    }
    // Failures too, with the message that stands on standard error.
    let failures: [&[&str]; 4] = [
        &["run", "nothere.toml", "--json"],
        &["run", "scene.toml", "--json", "--set", "time.stp=1"],
        &["modes", "scene.toml", "-n", "100000", "--json"],
        &["run", "--json", "--no-such-option"],
    ];
    for arguments in failures {
        let out = expect(&dir, arguments, 1);
        let told = json(&out.stdout);
        assert_eq!(told["exit_status"], 1);
        assert!(text(&out.stderr).contains(told["error"].as_str().unwrap()), "{arguments:?}");
    }
}

#[test]
fn catalogues_say_what_the_contract_promises() {
    let dir = folder("catalogue", BAR);
    let integrators = json(&expect(&dir, &["integrators", "--json"], 0).stdout);
    for entry in integrators["integrators"].as_array().unwrap() {
        assert!(entry["cite"]["text"].is_string(), "{entry}");
        assert!(entry["order"].is_number() && entry["conserves"].is_object());
    }
    let materials = json(&expect(&dir, &["materials", "--json"], 0).stdout);
    for entry in materials["materials"].as_array().unwrap() {
        assert!(entry["cite"]["text"].is_string(), "{entry}");
    }
    let scene = text(&expect(&dir, &["scenes", "cantilever"], 0).stdout);
    fs::write(dir.join("mine.toml"), scene).unwrap();
    expect(&dir, &["run", "mine.toml", "--steps", "1"], 0);
}

#[test]
fn a_run_writes_what_the_contract_lists() {
    let dir = folder("results", BAR);
    let out = expect(&dir, &["run", "scene.toml", "-o", "out"], 0);
    assert!(text(&out.stdout).contains("report: out/report.html"));
    let file = |name: &str| fs::read_to_string(dir.join("out").join(name)).unwrap();

    let energy = file("energy.csv");
    assert!(energy.starts_with(COLUMNS), "{}", energy.lines().next().unwrap());
    assert_eq!(energy.lines().count(), 1 + 11, "a line at t = 0 and after each of ten steps");
    assert!(file("probes.csv").starts_with("t,tip_x,tip_y,tip_z\n"));
    assert_eq!(file("probes.csv").lines().count(), 1 + 11);

    let summary: Value = serde_json::from_str(&file("summary.json")).unwrap();
    let keys = "title integrator options material vertices elements dofs steps time_simulated wall_seconds \
        seconds_per_step_median newton_iterations_mean threads peak_memory_mb energy momentum converged warnings \
        version scene_hash";
    for key in keys.split_whitespace() {
        assert!(!summary[key].is_null(), "{key} is missing");
    }
    for key in ["initial", "final", "min", "max"] {
        assert!(summary["energy"][key].is_f64(), "energy.{key}");
    }
    for key in ["linear_drift", "angular_drift"] {
        assert!(summary["momentum"][key].as_f64().unwrap() < 1e-12, "momentum.{key}");
    }
    assert_eq!((&summary["steps"], &summary["elements"]), (&Value::from(10), &Value::from(12)));
    assert_eq!(summary["converged"], true);

    let frames = file("frames.pvd");
    for (k, t) in ["0", "0.01", "0.02", "0.03", "0.04", "0.05"].iter().enumerate() {
        assert!(frames.contains(&format!("timestep=\"{t}\"")), "t = {t}: {frames}");
        assert!(frames.contains(&format!("frames/{k:06}.vtu")));
    }
    assert_eq!(fs::read_dir(dir.join("out/frames")).unwrap().count(), 6);
    assert!(fs::read(dir.join("out/frames/000000.vtu")).unwrap().starts_with(b"<?xml"));

    let report = file("report.html");
    for outside in ["src=\"http", "url(http", "<link", "@import", "fetch("] {
        assert!(!report.contains(outside), "the report refers to the outside: {outside}");
    }
    assert!(dir.join("out/checkpoint").is_file());
}

#[test]
fn without_arguments_the_default_scene_runs() {
    let dir = folder("default", BAR);
    expect(&dir, &["run", "--steps", "5"], 0);
    assert!(dir.join("out/tumbling-rod/report.html").is_file());
    expect(&dir, &[], 0);
    assert!(
        fs::read_to_string(dir.join("out/tumbling-rod/summary.json")).unwrap().contains("\"steps\": 2000")
    );
}

#[test]
fn set_reaches_every_key() {
    let dir = folder("set", BAR);
    let set = |assignments: &[&str]| {
        let mut arguments = vec!["run", "scene.toml", "--json", "--steps", "2"];
        for a in assignments {
            arguments.extend(["--set", a]);
        }
        json(&expect(&dir, &arguments, 0).stdout)
    };
    let plain = set(&[]);
    let summary = set(&["time.step=0.001", "integrator.name=verlet", "body.material.E=2e5"]);
    assert_eq!(summary["integrator"], "verlet");
    assert_eq!(summary["material"][0]["E"][0], 2e5);
    assert_eq!(summary["time_simulated"], 0.002);
    assert_ne!(summary["scene_hash"], plain["scene_hash"]);
    // Keys that the file does not have, with and without the name of the only body.
    for key in ["body.damping", "body.bar.damping", "body.0.damping"] {
        let damped = set(&[&format!("{key}={{ model = \"viscous\", time = 0.01 }}")]);
        assert!(damped["energy"]["final"].as_f64() < plain["energy"]["final"].as_f64(), "{key}");
    }
    assert_eq!(set(&["body.mass=consistent"])["status"], "finished");
}

#[test]
fn wrong_input_is_refused_with_place_and_remedy() {
    let dir = folder("wrong", BAR);
    let tet = "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n\
        Tetrahedra\n1\n1 2 3 9 0\nEnd\n";
    fs::write(dir.join("index.mesh"), tet).unwrap();
    fs::write(dir.join("flat.mesh"), tet.replace(" 9 0", " 4 0").replace("0 0 1 0\n", "1 1 0 0\n")).unwrap();
    fs::write(dir.join("typo.toml"), BAR.replace("step =", "stpe =")).unwrap();
    fs::write(dir.join("nan.toml"), BAR.replace("[1.1, 1, 1]", "[\"0/0\", 1, 1]")).unwrap();
    let cases: &[(&[&str], &[&str])] = &[
        (&["nothere.toml"], &["nothere.toml", "no such file", "built in are"]),
        (&["tumblingrod"], &["did you mean \"tumbling-rod\"?"]),
        (&["typo.toml"], &["typo.toml:5:", "stpe", "did you mean \"step\"?"]),
        (&["nan.toml"], &["nan.toml:12:", "initial.stretch"]),
        (&["scene.toml", "--set", "time.step=-1"], &["time.step", "must be positive"]),
        (&["scene.toml", "--set", "time.end=0"], &["time.end", "must be positive"]),
        (&["scene.toml", "--set", "integrator.name=verlt"], &["did you mean \"verlet\"? known: "]),
        (&["scene.toml", "--set", "integrator.alpha=0.5"], &["alpha", "known: tolerance"]),
        (&["scene.toml", "--set", "integrator.tolerance=5"], &["tolerance", "from", "to 0.5"]),
        (&["scene.toml", "--set", "body.material.model=jelly"], &["material.model", "\"jelly\"; known: "]),
        (&["scene.toml", "--set", "body.material.nu=0.5"], &["scene.toml:11:", "nu = 0.5"]),
        (&["scene.toml", "--set", "body.mesh={file=\"no.mesh\"}"], &["no.mesh", "check its name"]),
        (&["scene.toml", "--set", "body.mesh={file=\"index.mesh\"}"], &["tetrahedron 1", "vertex 9"]),
        (&["scene.toml", "--set", "body.mesh={file=\"flat.mesh\"}"], &["tetrahedron 1", "no volume"]),
        (&["scene.toml", "--set", "body.mesh.box.cells=[1000,1000,1000]"], &["use fewer cells"]),
        (&["scene.toml", "--set", "body.initial.velocity=[\"0/0\",0,0]"], &["velocity[0]", "NaN"]),
        (
            &["scene.toml", "--set", "body.initial.velocity=[\"sqrt(1-x)\",0,0]"],
            &["body.bar", "vertex", "not finite"],
        ),
        (
            &["scene.toml", "--set", "pin=[{body=\"bar\",where={box={min=[8,8,8],max=[9,9,9]}}}]"],
            &["pin[0]", "selects no vertex", "reaches from [0.0, 0.0, 0.0] to [2.0, 1.0, 1.0]"],
        ),
        (&["scene.toml", "--set", "probe.tip.at=[9,9,9]"], &["probe", "outside of body \"bar\""]),
        (
            &[
                "scene.toml",
                "--set",
                "environment.monopole={strength=1,at=[0,0,0]}",
                "--set",
                "body.initial={}",
            ],
            &["monopole", "move one"],
        ),
        (
            &["scene.toml", "--set", "body.initial.twist={axis=[1,0,0],degrees=360}"],
            &["inside out", "stable-neo-hookean"],
        ),
        (&["scene.toml", "--resume", "-o", "never"], &["cannot resume", "without --resume"]),
        (&["scene.toml", "-o", "scene.toml"], &["scene.toml", "-o"]),
        (&["scene.toml", "-o", "/proc/lilyan"], &["/proc/lilyan", "-o"]),
        (&["scene.toml", "--steps", "many"], &["--steps"]),
    ];
    for (arguments, parts) in cases {
        let out = expect(&dir, &[&["run"], *arguments].concat(), 1);
        let message = text(&out.stderr);
        for part in *parts {
            assert!(message.contains(part), "{arguments:?}: {part:?} is not in {message}");
        }
        assert!(out.stdout.is_empty(), "{arguments:?}");
    }
    assert!(!dir.join("out").exists(), "a refused scene leaves no folder");
    assert!(!dir.join("never").exists());
}

#[test]
fn files_of_others_in_the_folder_stay() {
    let dir = folder("foreign", BAR);
    let theirs = ["out/notes.txt", "out/frames/mine.vtu", "out/frames/000001.txt", "out/energy.csv.bak"];
    fs::create_dir_all(dir.join("out/frames")).unwrap();
    for name in theirs {
        fs::write(dir.join(name), "theirs").unwrap();
    }
    fs::write(dir.join("out/frames/000099.vtu"), "of an earlier, longer run").unwrap();
    fs::write(dir.join("out/.lilyan-1-0.tmp"), "of a killed run").unwrap();
    fs::write(dir.join("out/frames/.lilyan-1-1.tmp"), "of a killed run").unwrap();
    expect(&dir, &["run", "scene.toml", "-o", "out"], 0);
    for name in theirs {
        assert_eq!(fs::read_to_string(dir.join(name)).unwrap(), "theirs", "{name}");
    }
    for name in ["out/frames/000099.vtu", "out/.lilyan-1-0.tmp", "out/frames/.lilyan-1-1.tmp"] {
        assert!(!dir.join(name).exists(), "{name}");
    }
}

#[test]
fn an_explosion_ends_with_status_2_and_keeps_what_was_good() {
    let dir = folder("explosion", BAR);
    let set = ["--set", "time.step=0.2", "--set", "time.end=200", "--set", "output.every=0.2"];
    let arguments =
        [&["run", "scene.toml", "-o", "out", "--set", "integrator.name=verlet"], &set[..]].concat();
    let out = expect(&dir, &arguments, 2);
    let message = text(&out.stderr);
    for part in
        ["at t = ", "The stable step of an explicit method is about", "energy-momentum", "results so far"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
    let read = |name: &str| fs::read_to_string(dir.join("out").join(name)).unwrap();
    for bad in ["nan", "inf"] {
        assert!(!read("energy.csv").to_lowercase().contains(bad), "{bad}");
    }
    let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
    assert_eq!(summary["converged"], false);
    // Every line has a frame here, and none is of a state beyond the last line.
    let lines = read("energy.csv").lines().count() - 1;
    assert_eq!(read("frames.pvd").matches("<DataSet").count(), lines);
    assert_eq!(fs::read_dir(dir.join("out/frames")).unwrap().count(), lines);
    assert_eq!(summary["steps"].as_u64().unwrap() as usize, lines - 1);

    // The same with JSON: the summary, which says why.
    let out = expect(&dir, &[&arguments[..], &["--json"]].concat(), 2);
    assert!(json(&out.stdout)["status"].as_str().unwrap().contains("stable step"));
}

#[test]
fn a_load_that_stops_being_a_number_is_named() {
    let dir = folder("load", BAR);
    let load = "load=[{body=\"bar\",where=\"all\",force=[\"ln(0.02-t)\",0,0]}]";
    for integrator in ["energy-momentum", "variational", "backward-euler", "verlet", "rk4"] {
        let name = format!("integrator.name={integrator}");
        let out = expect(&dir, &["run", "scene.toml", "-o", "out", "--set", load, "--set", &name], 2);
        let message = text(&out.stderr);
        assert!(message.contains("`load[0]` is not a finite number at t = 0.0"), "{integrator}: {message}");
        assert!(!fs::read_to_string(dir.join("out/energy.csv")).unwrap().contains("nan"));
    }
}

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

#[test]
fn check_diagnoses() {
    let dir = folder("check", BAR);
    let told = json(&expect(&dir, &["check", "steel-cantilever", "--json"], 0).stdout);
    assert_eq!(told["spectrum"]["lowest"].as_array().unwrap().len(), 3);
    assert!(told["spectrum"]["stable_steps"]["verlet"].as_f64().unwrap() > 0.0);
    assert!(!told["warnings"].as_array().unwrap().is_empty(), "backward Euler damps");
    assert!(told["memory_mb"]["implicit"].as_f64().unwrap() > 0.0);
    let pinned = "pin=[{body=\"bar\",where=\"all\"}]";
    let out = expect(&dir, &["check", "scene.toml", "--set", pinned], 0);
    assert!(text(&out.stdout).contains("every vertex is pinned"));
    expect(&dir, &["check", "scene.toml", "--set", "time.step=x"], 1);
}

#[test]
fn modes_writes_shapes() {
    let dir = folder("modes", BAR);
    expect(&dir, &["modes", "scene.toml", "-n", "7", "-o", "m", "--matrices"], 0);
    for name in ["m/modes.csv", "m/mode_001.vtu", "m/mode_007.vtu", "m/K.mtx", "m/M.mtx"] {
        assert!(dir.join(name).is_file(), "{name}");
    }
    expect(&dir, &["modes", "scene.toml", "-n", "0"], 1);
    expect(&dir, &["run", "scene.toml", "-o", "out"], 0);
    expect(&dir, &["modes", "scene.toml", "-n", "7", "--at", "out/frames/000003.vtu"], 0);
    let out = expect(&dir, &["modes", "cantilever", "--at", "out/frames/000003.vtu"], 1);
    assert!(text(&out.stderr).contains("does not belong"));
}

const TWO: &[&str] = &["compare", "scene.toml", "--integrators", "verlet,variational(alpha=0.5)", "--json"];

#[test]
fn compare_leaves_a_table_a_page_and_one_json_object() {
    let dir = folder("compare", BAR);
    let told = json(&expect(&dir, TWO, 0).stdout);
    let rows = told["rows"].as_array().unwrap();
    assert!(rows.iter().any(|r| r["integrator"] == "verlet" && r["status"] == "finished"));
    assert!(rows.iter().any(|r| r["integrator"] == "variational" && r["options"]["alpha"] == 0.5));
    assert!(told["reference"]["error"].as_f64().unwrap() < 1e-4);
    assert_eq!(told["advice"].as_array().unwrap().len(), 3);
    let results = dir.join("out/scene-compare");
    assert_eq!(
        json(&fs::read(results.join("compare.json")).unwrap())["rows"].as_array().unwrap().len(),
        rows.len()
    );
    assert_eq!(fs::read_to_string(results.join("compare.csv")).unwrap().lines().count(), rows.len() + 1);
    assert!(fs::read_to_string(results.join("report.html")).unwrap().contains("Comparison of integrators"));

    let steps = ["--step-sizes", "0.01,0.005", "--reference", "rk4@0.0005", "-o", "there", "--threads", "1"];
    let out = expect(&dir, &[&TWO[..4], &steps].concat(), 0);
    let table = text(&out.stdout);
    for wanted in
        ["a fine run of rk4 with steps of 5e-4 s", "verlet", "order", "1 % error: ", "real time: ", "there"]
    {
        assert!(table.contains(wanted), "{wanted}: {table}");
    }
}

#[test]
fn compare_refuses_nonsense_with_a_remedy() {
    let dir = folder("compare-nonsense", BAR);
    for (arguments, wanted) in [
        (&["--integrators", "verlett"][..], "did you mean \"verlet\""),
        (&["--integrators", "variational(alpha=7)"], "from 0 to 1"),
        (&["--integrators", ""], "a name is missing"),
        (&["--step-sizes", "0.01,fast"], "\"fast\" is not a step"),
        (&["--step-sizes", "-1"], "positive"),
        (&["--step-sizes", "3"], "longer than the scene"),
        (&["--step-sizes", "nan"], "positive"),
        (&["--budget", "0"], "--budget"),
        (&["--reference", "nothing"], "METHOD@STEP"),
        (&["--set", "time.stp=1"], "did you mean \"step\""),
    ] {
        // `=` keeps values that begin with a dash from being taken for options.
        let given = [arguments[0], arguments[1]].join("=");
        let out = expect(&dir, &["compare", "scene.toml", "--json", &given], 1);
        assert!(text(&out.stderr).contains(wanted), "{given}: {}", text(&out.stderr));
        assert_eq!(json(&out.stdout)["exit_status"], 1);
    }
    expect(&dir, &["compare", "nothere.toml"], 1);
    expect(&dir, &["compare", "scene.toml", "-o", "scene.toml/in"], 1);
    // Nothing can be done in a nanosecond: no reference, and it says what to do.
    let out = expect(&dir, &["compare", "scene.toml", "--budget", "1e-9"], 2);
    assert!(text(&out.stderr).contains("raise --budget"), "{}", text(&out.stderr));
}

#[cfg(unix)]
#[test]
fn an_interrupted_comparison_keeps_the_runs_that_are_done() {
    let dir = folder("compare-interrupted", BAR);
    // A quick run, and one that never ends.
    let steps = ["--step-sizes", "0.005,1e-9", "--budget", "1e6", "--reference", "verlet@0.001"];
    let mut command =
        command(&dir, &[&["compare", "scene.toml", "--integrators", "verlet"][..], &steps].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let csv = dir.join("out/scene-compare/compare.csv");
    let patience = std::time::Instant::now();
    while !csv.exists() && patience.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(Command::new("kill").arg("-INT").arg(child.id().to_string()).status().unwrap().success());
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(130), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("interrupted"), "{}", text(&out.stderr));
    assert_eq!(fs::read_to_string(csv).unwrap().lines().count(), 2);
    assert!(dir.join("out/scene-compare/report.html").is_file());
}
