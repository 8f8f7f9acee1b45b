//! What the writers promise: whole files, exact numbers, old files kept when a write fails.

use lilyan_files::{atomic, csv, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory of its own for every test, emptied first.
fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("writers-{name}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn listing(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_write_replaces_the_whole_file_and_leaves_nothing_else() {
    let dir = scratch("replace");
    let file = dir.join("a.txt");
    atomic::write(&file, b"a long first version").unwrap();
    atomic::write(&file, b"second").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"second");
    assert_eq!(listing(&dir), ["a.txt"]);
}

#[test]
fn a_failing_source_keeps_the_old_file_and_names_it() {
    let dir = scratch("source");
    let file = dir.join("a.txt");
    atomic::write(&file, b"old").unwrap();
    let error = atomic::write_with(&file, |out| {
        out.write_all(&[b'x'; 300_000])?;
        Err(std::io::Error::other("the sky fell"))
    })
    .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("a.txt") && text.contains("the sky fell"), "{text}");
    assert_eq!(fs::read(&file).unwrap(), b"old");
    assert_eq!(listing(&dir), ["a.txt"]);
}

#[test]
fn a_directory_in_the_way_is_refused() {
    let dir = scratch("directory");
    let file = dir.join("energy.csv");
    fs::create_dir(&file).unwrap();
    let text = atomic::write(&file, b"x").unwrap_err().to_string();
    assert!(text.contains("energy.csv") && text.contains("directory"), "{text}");
    assert_eq!(listing(&dir), ["energy.csv"]);
    let missing = dir.join("nowhere").join("a.txt");
    let text = atomic::write(&missing, b"x").unwrap_err().to_string();
    assert!(text.contains("nowhere"), "{text}");
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_devices_refused() {
    let dir = scratch("links");
    let real = dir.join("real.txt");
    let link = dir.join("link.txt");
    fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink("real.txt", &link).unwrap();
    atomic::write(&link, b"new").unwrap();
    assert_eq!(fs::read(&real).unwrap(), b"new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let text = atomic::write("/dev/null", b"x").unwrap_err().to_string();
    assert!(text.contains("not a regular file"), "{text}");
}

/// The child of the next test: writes 4 MB to the path it is given and reports how it went.
#[test]
fn child_that_writes_four_megabytes() {
    let Ok(path) = std::env::var("LILYAN_TEST_WRITE") else {
        return;
    };
    match atomic::write(&path, &vec![7u8; 4_000_000]) {
        Ok(()) => println!("written"),
        Err(e) => println!("refused: {e}"),
    }
}

/// A full disk, imitated by a limit on the size of files (in a process of its own, with the
/// signal that comes with the limit ignored).
#[cfg(unix)]
#[test]
fn a_full_disk_keeps_the_old_file() {
    let dir = scratch("full");
    let file = dir.join("checkpoint");
    fs::write(&file, "old").unwrap();
    let me = std::env::current_exe().unwrap();
    let output = Command::new("sh")
        .arg("-c")
        .arg("trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact child_that_writes_four_megabytes --nocapture")
        .arg(me)
        .env("LILYAN_TEST_WRITE", &file)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("refused:") && text.contains("checkpoint"), "{text}");
    assert_eq!(fs::read(&file).unwrap(), b"old");
    assert_eq!(listing(&dir), ["checkpoint"]);
}

#[test]
fn leftovers_of_a_killed_run_are_removed() {
    let dir = scratch("leftovers");
    fs::write(dir.join(".lilyan-1-0.tmp"), "half").unwrap();
    fs::write(dir.join("energy.csv"), "t\n").unwrap();
    assert_eq!(atomic::remove_leftovers(&dir).unwrap(), 1);
    assert_eq!(listing(&dir), ["energy.csv"]);
}

#[test]
fn tables_read_back_to_the_same_bits() {
    let mut table = csv::Table::new(["t", "a, with \"quotes\"", "z"]);
    let odd = [0.1, -0.0, 1e-300, 5e-324, f64::MAX, 1.0 / 3.0, 1e16, 123456789.0, 9.999999e-6, 2f64.powi(70)];
    for (n, &x) in odd.iter().enumerate() {
        table.push(&[n as f64, x, -x]);
    }
    table.push(&[f64::INFINITY, f64::NEG_INFINITY, 0.0]);
    let dir = scratch("csv");
    table.write(dir.join("energy.csv")).unwrap();
    let text = fs::read_to_string(dir.join("energy.csv")).unwrap();
    let again = csv::Table::parse(&text).unwrap();
    assert_eq!(again.columns(), table.columns());
    for (a, b) in table.rows().flatten().zip(again.rows().flatten()) {
        assert_eq!(a.to_bits(), b.to_bits(), "{a} became {b}");
    }
    assert_eq!(again.len(), odd.len() + 1);
    assert!(text.contains("\n0,0.1,-0.1\n") && text.contains("1e-300"), "{text}");
    assert_eq!(csv::Shortest(f64::NAN).to_string(), "nan");
    assert_eq!(csv::Table::parse("t,x\n1\n").unwrap_err().to_string(), "line 2: 1 numbers for 2 columns");
    assert_eq!(
        csv::Table::parse("t,x\n1,2\n3,abc\n").unwrap_err().to_string(),
        "line 3: `abc` is not a number"
    );
    let empty = "the file is empty; its first line should name the columns";
    assert_eq!(csv::Table::parse("").unwrap_err().to_string(), empty);
    let open = "line 1: a quotation mark is not closed";
    assert_eq!(csv::Table::parse("t,\"x\n1,2\n").unwrap_err().to_string(), open);
    assert_eq!(table.column("z").unwrap()[0], -0.1);
}

#[test]
fn json_keeps_the_order_of_keys() {
    let dir = scratch("json");
    let file = dir.join("summary.json");
    json::write(&file, &serde_json::json!({ "title": "bar", "steps": 10, "drift": f64::NAN })).unwrap();
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "{\n  \"title\": \"bar\",\n  \"steps\": 10,\n  \"drift\": null\n}\n"
    );
}
