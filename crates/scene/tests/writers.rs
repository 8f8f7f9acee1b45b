//! What the writers promise: whole files, exact numbers, old files kept when a write fails.

use lilyan_scene::writers::{atomic, csv, json, pvd, vtu};
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
    assert_eq!(csv::Table::parse("t,x\n1\n").unwrap_err(), "line 2: 1 numbers for 2 columns");
    assert_eq!(csv::Table::parse("t,x\n1,2\n3,abc\n").unwrap_err(), "line 3: `abc` is not a number");
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

#[test]
fn collections_grow_and_stay_whole() {
    let dir = scratch("pvd");
    let mut series = pvd::Collection::new(dir.join("frames.pvd"));
    for n in 0..3 {
        series.add(0.1 * n as f64, vtu::frame_name(n)).unwrap();
        let text = fs::read_to_string(series.path()).unwrap();
        assert_eq!(text.matches("<DataSet").count(), n + 1);
        assert!(text.ends_with("</VTKFile>\n"));
    }
    let text = fs::read_to_string(series.path()).unwrap();
    assert!(text.contains("timestep=\"0.2\" part=\"0\" file=\"frames/000002.vtu\""), "{text}");
    series.truncate(1);
    assert_eq!(series.frames(), [(0.0, "frames/000000.vtu".to_string())]);
}

/// Finds the array `name` in a VTU file by following its offset into the appended block.
fn appended(bytes: &[u8], name: &str) -> Vec<u8> {
    let marker = b"<AppendedData encoding=\"raw\">\n_";
    let start = bytes.windows(marker.len()).position(|w| w == marker).unwrap() + marker.len();
    let head = std::str::from_utf8(&bytes[..start]).unwrap();
    let line = head.lines().find(|l| l.contains(&format!("Name=\"{name}\""))).unwrap();
    let offset: usize = line.split("offset=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    let at = start + offset;
    let length = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    bytes[at + 8..at + 8 + length].to_vec()
}

fn as_f64(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

fn as_i32(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect()
}

const POSITIONS: [f64; 15] =
    [0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 1.0 / 3.0];

#[test]
fn frames_round_trip() {
    let dir = scratch("vtu");
    let velocity: Vec<f64> = (0..15).map(|k| (k as f64).sin()).collect();
    let frame = vtu::Frame {
        time: Some(0.25),
        positions: &POSITIONS,
        tets: &[[0, 1, 2, 3]],
        triangles: &[[1, 2, 4], [2, 3, 4]],
        lines: &[[0, 4]],
        point_fields: vec![vtu::Field { name: "velocity <&\">", components: 3, values: &velocity }],
        cell_fields: vec![vtu::Field {
            name: "von_mises",
            components: 1,
            values: &[1.0, f64::NAN, 3.0, 4.0],
        }],
    };
    let file = dir.join("a.vtu");
    frame.write(&file).unwrap();
    let bytes = fs::read(&file).unwrap();
    assert_eq!(as_f64(&appended(&bytes, "TimeValue")), [0.25]);
    assert_eq!(as_f64(&appended(&bytes, "Points")), POSITIONS);
    assert_eq!(as_i32(&appended(&bytes, "connectivity")), [0, 1, 2, 3, 1, 2, 4, 2, 3, 4, 0, 4]);
    assert_eq!(as_i32(&appended(&bytes, "offsets")), [4, 7, 10, 12]);
    assert_eq!(appended(&bytes, "types"), [10, 5, 5, 3]);
    assert_eq!(as_f64(&appended(&bytes, "velocity &lt;&amp;&quot;&gt;")), velocity);
    let stress = as_f64(&appended(&bytes, "von_mises"));
    assert!(stress[0] == 1.0 && stress[1].is_nan() && stress[3] == 4.0);
    assert!(bytes.ends_with(b"\n</AppendedData>\n</VTKFile>\n"));

    frame.write(dir.join("b.vtu")).unwrap();
    assert_eq!(bytes, fs::read(dir.join("b.vtu")).unwrap(), "same frame, same bytes");
    vtu::Frame::default().write(dir.join("empty.vtu")).unwrap();
}

#[test]
fn wrong_frames_are_refused_before_anything_is_written() {
    let dir = scratch("vtu-wrong");
    let file = dir.join("a.vtu");
    let mut broken = POSITIONS;
    broken[7] = f64::NAN;
    let base = vtu::Frame { positions: &POSITIONS, tets: &[[0, 1, 2, 3]], ..Default::default() };
    let field = |values| vec![vtu::Field { name: "speed", components: 1, values }];
    let cases = [
        (vtu::Frame { positions: &broken, ..base.clone() }, "point 2 is at NaN along y"),
        (vtu::Frame { positions: &POSITIONS[..4], ..base.clone() }, "not three per point"),
        (vtu::Frame { tets: &[[0, 1, 2, 5]], ..base.clone() }, "tet 0 uses point 5, but there are 5 points"),
        (vtu::Frame { lines: &[[9, 0]], ..base.clone() }, "line 0 uses point 9"),
        (vtu::Frame { point_fields: field(&[1.0]), ..base.clone() }, "field `speed` has 1 numbers"),
    ];
    for (frame, expected) in cases {
        let text = frame.write(&file).unwrap_err().to_string();
        assert!(text.contains("a.vtu") && text.contains(expected), "{text}");
    }
    assert!(listing(&dir).is_empty());
}
