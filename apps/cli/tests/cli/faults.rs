//! Kills and errors at any call of the kernel that touches a file, injected by strace. `LILYAN_LONG` tries every call, otherwise a sample.
#![cfg(target_os = "linux")]

use super::common::{BAR, expect, folder, lilyan, text};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn has_strace() -> bool {
    let found = Command::new("strace").arg("-V").output().is_ok_and(|out| out.status.success());
    if !found {
        println!("SKIPPED: strace is not installed");
    }
    found
}

fn stride(sample: usize) -> usize {
    if std::env::var_os("LILYAN_LONG").is_some() { 1 } else { sample }
}

/// `lilyan run scene.toml -o out`, with `fault` at the n-th of these calls.
fn run_with_fault(dir: &Path, calls: &str, fault: &str, number: usize) -> Output {
    let inject = format!("inject={calls}:{fault}:when={number}");
    let strace = ["-f", "-qq", "-o", "trace", "-e", &format!("trace={calls}"), "-e", &inject];
    let run = [env!("CARGO_BIN_EXE_lilyan"), "run", "scene.toml", "-o", "out", "--threads", "1"];
    Command::new("strace").current_dir(dir).args(strace).args(run).output().unwrap()
}

fn results(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for name in ["energy.csv", "probes.csv", "frames.pvd"] {
        all.push((name.to_owned(), fs::read(folder.join(name)).unwrap_or_default()));
    }
    for k in 0..6 {
        let name = format!("frames/{k:06}.vtu");
        all.push((name.clone(), fs::read(folder.join(&name)).unwrap_or_default()));
    }
    all
}

/// A run over earlier results, killed at the n-th call of the kernel that changes a file. Whatever `--resume` then finds belongs
/// together: all of the earlier run, or this one.
#[test]
fn a_run_killed_at_any_change_of_a_file_resumes_to_the_same_end() {
    if !has_strace() {
        return;
    }
    let dir = folder("kill-sweep", BAR);
    fs::write(dir.join("earlier.toml"), BAR.replace("E = 1e5", "E = 2e5")).unwrap();
    expect(&dir, &["run", "scene.toml", "-o", "whole"], 0);
    expect(&dir, &["run", "earlier.toml", "-o", "earlier"], 0);
    let (whole, earlier) = (results(&dir.join("whole")), results(&dir.join("earlier")));

    for call in ["?unlink,unlinkat", "?rename,?renameat,renameat2", "fsync"] {
        let mut number = 1;
        loop {
            let _ = fs::remove_dir_all(dir.join("out"));
            expect(&dir, &["run", "earlier.toml", "-o", "out"], 0);
            let killed = run_with_fault(&dir, call, "signal=KILL", number);
            if killed.status.code() == Some(0) {
                break;
            }
            let at = format!("{call} {number}");
            let resumed = lilyan(&dir, &["run", "scene.toml", "-o", "out", "--resume"]);
            let told = text(&resumed.stderr);
            match resumed.status.code() {
                Some(0) => assert!(results(&dir.join("out")) == whole, "{at}: other results"),
                // The checkpoint is that of the earlier run: all of it must be there.
                _ if told.contains("another scene") => {
                    let found = results(&dir.join("out"));
                    let lost: Vec<_> =
                        found.iter().zip(&earlier).filter(|(a, b)| a != b).map(|(a, _)| &a.0).collect();
                    assert!(
                        lost.is_empty(),
                        "{at}: {lost:?} of the earlier run are lost, its checkpoint is not"
                    );
                }
                _ => assert!(told.contains("without --resume"), "{at}: {told}"),
            }
            expect(&dir, &["run", "scene.toml", "-o", "out"], 0);
            assert!(results(&dir.join("out")) == whole, "{at}: a new run is wrong");
            let leftovers = fs::read_dir(dir.join("out")).unwrap();
            let names = leftovers.map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
            let temporary: Vec<String> = names.filter(|name| name.ends_with(".tmp")).collect();
            assert!(temporary.is_empty(), "{at}: {temporary:?}");
            number += stride(3);
        }
    }
}

/// An error at the n-th call is told, or without consequence. No file is there in part, and a new run is as if nothing had been.
#[test]
fn an_error_at_any_call_leaves_whole_files() {
    if !has_strace() {
        return;
    }
    let dir = folder("fault-sweep", BAR);
    expect(&dir, &["run", "scene.toml", "-o", "whole"], 0);
    let whole = results(&dir.join("whole"));
    let calls = [
        "?open,openat",
        "write",
        "close",
        "fsync",
        "?rename,?renameat,renameat2",
        "?unlink,unlinkat",
        "getdents64",
    ];
    for call in calls {
        let mut number = 1;
        loop {
            let _ = fs::remove_dir_all(dir.join("out"));
            let out = run_with_fault(&dir, call, "error=EIO", number);
            let (told, at) = (text(&out.stderr), format!("{call} {number}"));
            // The standard library panics where a folder cannot be closed. In ours it is caught; a library for matrices reads one
            // of the kernel's, whose files cannot fail so.
            let in_library = told.contains("unexpected error during closedir");
            // 127: the loader did not find a library.
            assert!(
                in_library || matches!(out.status.code(), Some(0 | 1 | 2 | 127)),
                "{at}: {:?} {told}",
                out.status
            );
            assert!(in_library || !told.contains("panicked"), "{at}: {told}");
            for ((name, found), (_, expected)) in results(&dir.join("out")).iter().zip(&whole) {
                // The list of frames grows with them.
                let grows = name == "frames.pvd" && found.ends_with(b"</VTKFile>\n");
                assert!(found.is_empty() || found == expected || grows, "{at}: {name} is there in part");
            }
            let injected = fs::read_to_string(dir.join("trace")).unwrap().contains("(INJECTED)");
            if !injected {
                break;
            }
            number += stride(9);
        }
    }
    expect(&dir, &["run", "scene.toml", "-o", "out"], 0);
    assert!(results(&dir.join("out")) == whole);
}
