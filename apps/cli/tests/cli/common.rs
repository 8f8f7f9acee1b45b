//! Folders, scenes and the program itself, for tests.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub const BAR: &str = r#"
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

/// An empty folder of that name, with the scene as `scene.toml` in it.
pub fn folder(name: &str, scene: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("scene.toml"), scene).unwrap();
    path
}

pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lilyan"));
    command.current_dir(folder).args(arguments);
    command
}

pub fn lilyan(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs it and asserts the exit status.
pub fn expect(folder: &Path, arguments: &[&str], status: i32) -> Output {
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

pub fn json(bytes: &[u8]) -> Value {
    let value: Value = serde_json::from_slice(bytes).unwrap_or_else(|e| panic!("{e}: {}", text(bytes)));
    assert!(value.is_object());
    value
}
