//! Frames and their collection: exact numbers, and nothing written of what is wrong.

use lilyan_mesh_io::writers::{pvd, vtu};
use lilyan_solid::mesh::CellBlock;
use std::fs;
use std::path::{Path, PathBuf};

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
fn collections_grow_and_stay_whole() {
    let dir = scratch("pvd");
    let mut series = pvd::Collection::new(dir.join("frames.pvd"));
    let mut rewritten = 0;
    let mut bytes = 0;
    for n in 0..1000 {
        let before = fs::read(series.path()).unwrap_or_default();
        series.add(0.1 * n as f64, vtu::frame_name(n)).unwrap();
        let text = fs::read_to_string(series.path()).unwrap();
        let listed = text.matches("<DataSet").count();
        assert!(listed <= n + 1 && 16 * (n + 1 - listed) <= n + 1, "{listed} of {}", n + 1);
        assert!(text.ends_with("</VTKFile>\n"));
        if text.as_bytes() != before {
            rewritten += 1;
            bytes += text.len();
        }
    }
    series.write().unwrap();
    let whole = fs::read(series.path()).unwrap();
    assert_eq!(String::from_utf8_lossy(&whole).matches("<DataSet").count(), 1000);
    // The cost grows with the number of frames, not with its square (which would be 500 times the file).
    assert!(rewritten < 120 && bytes < 24 * whole.len(), "{rewritten} times, {bytes} bytes");
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
    let blocks = [
        CellBlock::from(vec![[0, 1, 2, 3]]),
        CellBlock::from(vec![[1, 2, 4], [2, 3, 4]]),
        CellBlock::from(vec![[0, 4]]),
    ];
    let frame = vtu::Frame {
        time: Some(0.25),
        positions: &POSITIONS,
        blocks: &blocks,
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
    let [tet, outside, line] = [
        CellBlock::from(vec![[0, 1, 2, 3]]),
        CellBlock::from(vec![[0, 1, 2, 5]]),
        CellBlock::from(vec![[9, 0]]),
    ]
    .map(|b| [b]);
    let base = vtu::Frame { positions: &POSITIONS, blocks: &tet, ..Default::default() };
    let field = |values| vec![vtu::Field { name: "speed", components: 1, values }];
    let cases = [
        (vtu::Frame { positions: &broken, ..base.clone() }, "point 2 is at NaN along y"),
        (vtu::Frame { positions: &POSITIONS[..4], ..base.clone() }, "not three per point"),
        (vtu::Frame { blocks: &outside, ..base.clone() }, "tet 0 uses point 5, but there are 5 points"),
        (vtu::Frame { blocks: &line, ..base.clone() }, "spring 0 uses point 9"),
        (vtu::Frame { point_fields: field(&[1.0]), ..base.clone() }, "field `speed` has 1 numbers"),
    ];
    for (frame, expected) in cases {
        let text = frame.write(&file).unwrap_err().to_string();
        assert!(text.contains("a.vtu") && text.contains(expected), "{text}");
    }
    assert!(listing(&dir).is_empty());
}
