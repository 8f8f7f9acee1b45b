//! Mesh readers: the public mesh set, one body in every format, and bad input.

#[path = "common/samples.rs"]
mod samples;

use lilyan_scene::readers::{Loaded, Place, READERS, ReadError, read};
use lilyan_solid::mesh::TetMesh;
use samples::{FACES, Sample, TETS, VERTICES, samples};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The public mesh set, if it is on this machine: LILYAN_MESHES, or beside the repository (a
/// worktree lies one folder deeper).
fn meshes() -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = std::env::var_os("LILYAN_MESHES")
        .map(PathBuf::from)
        .into_iter()
        .chain(["../../../shared/data/meshes", "../../../../shared/data/meshes"].map(|p| here.join(p)))
        .find(|p| p.join("README.md").is_file());
    if found.is_none() {
        println!("skipped: no mesh set (set LILYAN_MESHES)");
    }
    found
}

/// A folder of this test run, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("lilyan-readers-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Folder(dir)
    }

    fn write(&self, name: &str, data: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, data).unwrap();
        path
    }

    fn place(&self, s: &Sample, data: &[u8]) -> PathBuf {
        if let Some((extension, partner)) = &s.partner {
            self.write(&format!("sample.{extension}"), partner);
        }
        self.write(&format!("sample.{}", s.extension), data)
    }

    fn error(&self, name: &str, data: impl AsRef<[u8]>) -> ReadError {
        read(&self.write(name, data)).expect_err(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn tets(path: &Path) -> (TetMesh, Vec<String>) {
    match read(path) {
        Ok(Loaded::Tets(mesh, notes)) => (mesh, notes),
        Ok(Loaded::Surface(..)) => panic!("{} came back as a surface", path.display()),
        Err(e) => panic!("{e}"),
    }
}

fn volume(mesh: &TetMesh, tet: [u32; 4]) -> f64 {
    let [a, b, c, d] = tet.map(|v| mesh.vertices[v as usize]);
    let [u, v, w] = [b, c, d].map(|p| [p[0] - a[0], p[1] - a[1], p[2] - a[2]]);
    u[0] * (v[1] * w[2] - v[2] * w[1])
        + u[1] * (v[2] * w[0] - v[0] * w[2])
        + u[2] * (v[0] * w[1] - v[1] * w[0])
}

/// Every row of the table in the set's README: vertices and tets as it says. Vertices that no
/// element uses may be left out if a note counts them; second-order tets are in the remarks.
#[test]
fn public_meshes_have_the_stated_counts() {
    let Some(dir) = meshes() else { return };
    let table = fs::read_to_string(dir.join("README.md")).unwrap();
    let mut rows = 0;
    for line in table.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, _, v, t, .., remarks, _] = *cells else {
            continue;
        };
        let (Ok(v), Ok(t)) = (v.parse::<usize>(), t.parse::<usize>()) else {
            continue;
        };
        rows += 1;
        let paths: Vec<String> = match name.strip_suffix(".node/.ele") {
            Some(stem) => vec![format!("{stem}.node"), format!("{stem}.ele")],
            None => vec![name.to_string()],
        };
        let before = |unit: &str| {
            let words: Vec<&str> = remarks.split([' ', ',', ';']).filter(|w| !w.is_empty()).collect();
            words.windows(2).find(|w| w[1].starts_with(unit)).and_then(|w| w[0].parse::<usize>().ok())
        };
        let quadratic = before("tetra10");
        for path in paths {
            let loaded = read(&dir.join(&path)).unwrap_or_else(|e| panic!("{e}"));
            let dropped: usize = loaded
                .notes()
                .iter()
                .filter_map(|n| n.strip_suffix(" vertices belong to no element and are left out"))
                .filter_map(|n| n.split(' ').next()?.parse::<usize>().ok())
                .sum();
            match loaded {
                Loaded::Tets(m, notes) => {
                    assert_eq!(m.vertices.len() + dropped, v, "{path}");
                    assert_eq!(m.tets.len(), if t > 0 { t } else { quadratic.unwrap() }, "{path}");
                    assert!(dropped == 0 || quadratic.is_some(), "{path}: {notes:?}");
                    assert_eq!(m.tags.len(), m.tets.len());
                    assert!(m.tets.iter().all(|&t| volume(&m, t) > 0.0), "{path}");
                    let turned = notes.iter().any(|n| n.contains("have been turned"));
                    assert_eq!(turned, remarks.contains("neg. volume"), "{path}: {notes:?}");
                    let regions = m.tags.iter().collect::<BTreeSet<_>>().len();
                    if ["materials", "mat_id", "tags", "physical volumes"].iter().any(|w| remarks.contains(w))
                        && !remarks.contains("legacy VTK 2.0")
                    {
                        assert!(regions > 1, "{path}: one region where the table says `{remarks}`");
                    }
                }
                Loaded::Surface(m, _) => {
                    assert_eq!((m.vertices.len() + dropped, t), (v, 0), "{path}");
                    if let Some(n) = before("triangle").or(before("faces")) {
                        assert_eq!(m.triangles.len(), n, "{path}");
                    }
                }
            }
        }
    }
    assert!(rows >= 60, "{rows} rows found in the table");
}

#[test]
fn four_gmsh_encodings_of_one_mesh_agree() {
    let Some(dir) = meshes() else { return };
    let [a22, b22, a41, b41] = ["22_ascii", "22_binary", "41_ascii", "41_binary"]
        .map(|n| tets(&dir.join(format!("polyfem/{n}.msh"))).0);
    assert_eq!(a22, b22);
    assert_eq!(a41, b41);
    // Version 4.1 orders the vertices by volume, so these two agree by position.
    let corners = |m: &TetMesh| m.tets.iter().map(|t| t.map(|v| m.vertices[v as usize])).collect::<Vec<_>>();
    assert_eq!(corners(&a22), corners(&a41));
    assert_eq!(a22.tags, a41.tags);
    assert_eq!(a22.tags, [1, 2, 2, 2, 3]);
}

#[test]
fn one_body_in_every_format() {
    let dir = Folder::new("formats");
    let samples = samples();
    for r in READERS {
        for e in r.extensions {
            assert!(samples.iter().any(|s| s.extension == *e), "no sample of .{e}");
        }
    }
    for s in &samples {
        let loaded = read(&dir.place(s, &s.data)).unwrap_or_else(|e| panic!("{}: {e}", s.label));
        match loaded {
            Loaded::Tets(m, notes) => {
                assert!(s.tags, "{}", s.label);
                assert_eq!(m.vertices, VERTICES, "{}", s.label);
                assert_eq!(m.tets, TETS, "{}", s.label);
                assert_eq!(m.tags, [1, 2], "{}: {notes:?}", s.label);
                assert!(!notes.iter().any(|n| n.contains("left out")), "{}: {notes:?}", s.label);
                let names: Vec<(&str, &[i64])> =
                    m.region_names.iter().map(|(n, t)| (n.as_str(), &t[..])).collect();
                let sets: Vec<(&str, &[u32])> =
                    m.vertex_sets.iter().map(|(n, t)| (n.as_str(), &t[..])).collect();
                match s.extension {
                    "msh" => {
                        assert_eq!(names, [("hard part", &[2][..]), ("soft", &[1])], "{}", s.label);
                        assert_eq!(sets, [("base", &[0, 1, 2][..]), ("tip", &[4])], "{}", s.label);
                    }
                    "mesh" => assert_eq!(sets, [("surface:7", &[0, 1, 2][..])]),
                    "node" => assert_eq!(sets, [("point:4", &[0, 1, 2, 3, 4][..])]),
                    "vtk" | "vtu" => assert_eq!(m.cell_data["stiff"], [1.5, 2.5], "{}", s.label),
                    "veg" => {
                        assert_eq!(names, [("a", &[1][..]), ("b", &[2]), ("hard", &[2]), ("soft", &[1])]);
                    }
                    "inp" => {
                        assert_eq!(names, [("hard", &[2][..]), ("soft", &[1])]);
                        assert_eq!(sets, [("all", &[0, 1, 2, 3, 4][..]), ("base", &[0, 1, 2])]);
                    }
                    _ => {}
                }
            }
            Loaded::Surface(m, _) => {
                assert!(!s.tags, "{}", s.label);
                let at = |p: [f64; 3]| VERTICES.iter().position(|v| *v == p).unwrap() as u32;
                assert_eq!(m.vertices.len(), 5, "{}", s.label);
                let faces: Vec<[u32; 3]> =
                    m.triangles.iter().map(|t| t.map(|v| at(m.vertices[v as usize]))).collect();
                assert_eq!(faces, FACES, "{}", s.label);
            }
        }
    }
}

fn medit(vertices: &[&str], tets: &[&str]) -> String {
    let list = |items: &[&str]| items.iter().map(|i| format!("{i} 0\n")).collect::<String>();
    format!(
        "MeshVersionFormatted 1\nDimension 3\nVertices\n{}\n{}Tetrahedra\n{}\n{}End\n",
        vertices.len(),
        list(vertices),
        tets.len(),
        list(tets)
    )
}

const CORNERS: [&str; 5] = ["0 0 0", "1 0 0", "0 1 0", "0 0 1", "1 1 1"];

#[test]
fn flipped_tets_are_turned_and_unused_vertices_left_out() {
    let dir = Folder::new("turned");
    let text = medit(&["9 9 9", "0 0 0", "1 0 0", "0 1 0", "8 8 8", "0 0 1"], &["2 3 6 4"]);
    let text = text.replace("End\n", "Triangles\n2\n1 2 3 5\n1 5 5 6\nEnd\n");
    let (m, notes) = tets(&dir.write("a.mesh", text));
    assert_eq!(m.vertices.len(), 4);
    assert_eq!(m.tets, [[0, 1, 2, 3]]);
    assert_eq!(m.vertex_sets.len(), 1);
    assert_eq!(m.vertex_sets["surface:5"], [0, 1]);
    assert!(notes.iter().any(|n| n.contains("1 of 1 tetrahedra") && n.ends_with("turned: 1")), "{notes:?}");
    assert!(notes.iter().any(|n| n.contains("2 of 6 vertices")), "{notes:?}");
    assert!(notes.iter().any(|n| n.contains("`surface:6`")), "{notes:?}");
}

#[test]
fn faults_are_named_with_their_place() {
    let dir = Folder::new("faults");
    let all: Vec<&str> = CORNERS.to_vec();
    let with = |i: usize, v| {
        let mut all = all.clone();
        all[i] = v;
        medit(&all, &["1 2 3 4", "2 3 4 5"])
    };
    let good = ["1 2 3 4", "2 3 4 5"];
    for (data, place, words) in [
        (with(3, "0 nan 1"), Place::Vertex(4), "not finite"),
        (with(4, "0 1e400 1"), Place::Vertex(5), "not finite"),
        (with(0, "1e200 0 0"), Place::Vertex(1), "beyond"),
        (with(4, "0.5 0.5 0"), Place::Tet(2), "no volume"),
        (medit(&all, &["1 2 3 4", "2 3 4 6"]), Place::Tet(2), "vertex 6"),
        (medit(&all, &["1 2 3 4", "2 3 4 4294967295"]), Place::Tet(2), "vertex 4294967295"),
        (medit(&all, &["1 2 3 4", "2 3 4 4294967297"]), Place::Line(13), "vertex 4294967297"),
        (medit(&all, &["1 2 3 4", "2 3 4 -1"]), Place::Line(13), "`-1`"),
        (medit(&all, &["1 2 3 4", "2 3 4 0"]), Place::Line(13), "vertex 0"),
        (medit(&all, &["1 2 3 4", "2 3 4 3"]), Place::Tet(2), "same vertex twice"),
        (medit(&all, &["1 2 3 4", "4 2 3 1"]), Place::Tet(2), "as tetrahedron 1"),
        (medit(&["0 0 0", "1 0 0", "0 1 0", "3 4 0"], &["1 2 3 4"]), Place::Tet(1), "no volume"),
        (medit(&["0 0 0", "1 0 0", "0 1 0", "3 4 1e-13"], &["1 2 3 4"]), Place::Tet(1), "1e-12"),
        (medit(&all, &[]), Place::File, "empty"),
        (medit(&all, &good).replace("Vertices\n5", "Vertices\n1000000000"), Place::Line(4), "1000000000"),
        (medit(&all, &good).replace("Vertices\n5", "Vertices\n4"), Place::Line(9), "Tetrahedra"),
        (medit(&all, &good).replace("Tetrahedra\n2", "Hexahedra\n2"), Place::Line(11), "hexahedra"),
        (String::new(), Place::File, "empty"),
        ("hello\n".into(), Place::File, "MeshVersionFormatted"),
    ] {
        let path = dir.write("bad.mesh", &data);
        let e = read(&path).expect_err(&data);
        assert_eq!((e.place, &e.file), (place, &path), "{e}\n{data}");
        assert!(e.to_string().contains(words) && !e.remedy.is_empty(), "{e}: no `{words}`");
    }
    let e = dir.error("a.step", "x");
    assert!(READERS.iter().all(|r| e.to_string().contains(r.extensions[0])), "{e}");
    let e = dir.error("lonely.node", "5 3 0 0\n");
    assert!(e.to_string().contains("lonely.ele"), "{e}");
    assert!(read(&dir.0.join("absent.msh")).is_err());
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_opened() {
    let dir = Folder::new("special");
    let start = Instant::now();
    fs::create_dir(dir.0.join("folder.msh")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", dir.0.join("zero.msh")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(dir.0.join("pipe.msh")).status();
    for name in ["folder.msh", "zero.msh", "pipe.msh"] {
        if name == "pipe.msh" && !made.as_ref().is_ok_and(|s| s.success()) {
            continue;
        }
        assert!(read(&dir.0.join(name)).is_err(), "{name}");
    }
    // Sparse: takes no room on the disk.
    let large = fs::File::create(dir.0.join("large.mesh")).unwrap();
    large.set_len(5 << 30).unwrap();
    let e = read(&dir.0.join("large.mesh")).unwrap_err();
    assert!(e.to_string().contains("4 GiB"), "{e}");
    large.set_len(3 << 30).unwrap();
    assert!(read(&dir.0.join("large.mesh")).is_err());
    assert!(start.elapsed() < Duration::from_secs(1));
}

/// xorshift64: the corpus is the same in every run.
fn random(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as usize
}

/// Damaged copies of a sample.
fn damaged(s: &Sample, state: &mut u64) -> Vec<Vec<u8>> {
    let n = s.data.len();
    let mut cases: Vec<Vec<u8>> = (0..32).map(|k| s.data[..n * k / 32].to_vec()).collect();
    for _ in 0..32 {
        let mut data = s.data.clone();
        for _ in 0..1 + random(state) % 4 {
            data[random(state) % n] = random(state) as u8;
        }
        cases.push(data);
    }
    // Numbers: every word in turn for text, four and eight bytes anywhere for binary.
    let words: Vec<(usize, usize)> = (0..n)
        .filter(|&i| {
            s.data[i].is_ascii_digit()
                && (i == 0 || !s.data[i - 1].is_ascii_graphic() || s.data[i - 1] == b'"')
        })
        .map(|i| (i, s.data[i..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'.').count()))
        .collect();
    let values: [&[u8]; 12] = [
        b"nan",
        b"inf",
        b"-1",
        b"5",
        b"6",
        b"1000000000",
        b"4294967295",
        b"4294967296",
        b"9223372036854775807",
        b"18446744073709551616",
        b"1e308",
        b"",
    ];
    for (k, &(at, len)) in words.iter().enumerate() {
        for value in [values[k % 12], values[random(state) % 12]] {
            cases.push([&s.data[..at], value, &s.data[at + len..]].concat());
        }
    }
    if !s.is_text {
        for bytes in [
            &[0xff; 4][..],
            &[0xff; 8],
            &[0x7f; 8],
            &[0; 8],
            &1_000_000_000u32.to_le_bytes(),
            &1_000_000_000u32.to_be_bytes(),
            &f64::NAN.to_le_bytes(),
            &f64::NAN.to_be_bytes(),
        ] {
            for _ in 0..16 {
                let mut data = s.data.clone();
                let at = random(state) % (n - 8);
                data[at..at + bytes.len()].copy_from_slice(bytes);
                cases.push(data);
            }
        }
    }
    let garbage: Vec<u8> = (0..2000).map(|_| random(state) as u8).collect();
    cases.push(garbage.clone());
    cases.push([&s.data[..n / 2], &garbage[..], &s.data[n / 2..]].concat());
    cases.push(s.data.repeat(3));
    cases.push([&s.data[..n / 2], &vec![b'1'; 1 << 20][..]].concat());
    cases.push([&s.data[..n / 2], &b"# \" * < $ ".repeat(100_000)[..]].concat());
    cases
}

#[test]
fn hostile_corpus() {
    let dir = Folder::new("hostile");
    let mut state = 0x9e37_79b9_7f4a_7c15;
    let (mut total, mut refused) = (0, 0);
    let mut slowest = Duration::ZERO;
    for s in samples() {
        for (k, data) in damaged(&s, &mut state).into_iter().enumerate() {
            let path = dir.place(&s, &data);
            let start = Instant::now();
            let outcome = catch_unwind(|| read(&path));
            let time = start.elapsed();
            slowest = slowest.max(time);
            let keep =
                || fs::write(std::env::temp_dir().join(format!("lilyan-hostile.{}", s.extension)), &data);
            let Ok(outcome) = outcome else {
                let _ = keep();
                panic!("{} case {k}: the reader panicked", s.label)
            };
            assert!(time < Duration::from_secs(1), "{} case {k} took {time:?}", s.label);
            match outcome {
                Ok(Loaded::Tets(m, _)) => {
                    assert!(m.tets.iter().all(|&t| volume(&m, t) > 0.0));
                    assert_eq!(m.tags.len(), m.tets.len());
                    assert!(m.vertex_sets.values().flatten().all(|&v| (v as usize) < m.vertices.len()));
                    assert!(m.cell_data.values().all(|f| f.len() == m.tets.len()));
                }
                Ok(Loaded::Surface(m, _)) => {
                    assert!(m.triangles.iter().flatten().all(|&v| (v as usize) < m.vertices.len()));
                }
                Err(e) => {
                    refused += 1;
                    assert!(e.file.file_stem().is_some_and(|n| n == "sample"), "{e}");
                    assert!(!e.what.is_empty() && !e.remedy.is_empty(), "{e}");
                }
            }
            total += 1;
        }
    }
    println!("{total} damaged files, {refused} refused, the slowest in {slowest:?}");
    assert!(total >= 200 && refused * 2 > total);
}

/// Peak resident memory of this process so far, bytes; 0 where the system does not tell.
fn peak_memory() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap_or(0) * 1024
}

/// Short files that ask for much: packed zeros, ranges, shared arrays.
#[test]
fn short_files_do_not_unfold() {
    let dir = Folder::new("bombs");
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..256 {
        packed.write_all(&vec![0; 1 << 20]).unwrap();
    }
    let packed = packed.finish().unwrap();
    let points = (256usize << 20) / 24;
    let mut zlib = format!(
        "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" compressor=\"vtkZLibDataCompressor\"><UnstructuredGrid><Piece NumberOfPoints=\"{points}\" NumberOfCells=\"1\"><Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"appended\" offset=\"0\"/></Points></Piece></UnstructuredGrid><AppendedData encoding=\"raw\">_"
    )
    .into_bytes();
    for n in [1, 256 << 20, 256 << 20, packed.len() as u32] {
        zlib.extend(n.to_le_bytes());
    }
    zlib.extend(&packed);
    let e = dir.error("bomb.vtu", zlib);
    assert!(e.to_string().contains("unpacks"), "{e}");

    let piece = "<Piece NumberOfPoints=\"20000\" NumberOfCells=\"0\"><Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"appended\" offset=\"0\"/></Points><Cells><DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\"></DataArray><DataArray type=\"Int64\" Name=\"types\" format=\"ascii\"></DataArray><DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\"></DataArray></Cells></Piece>";
    let mut shared = b"<VTKFile type=\"UnstructuredGrid\" header_type=\"UInt64\"><UnstructuredGrid>".to_vec();
    shared.extend(piece.repeat(2000).bytes());
    shared.extend(b"</UnstructuredGrid><AppendedData encoding=\"raw\">_");
    shared.extend(480_000u64.to_le_bytes());
    shared.extend(vec![0; 480_000]);
    let e = dir.error("shared.vtu", shared);
    assert!(e.to_string().contains("overlap"), "{e}");

    let mut deck = String::from("*NODE\n");
    (1..20_000).for_each(|i| deck += &format!("{i},0,0,{i}\n"));
    (0..9_000).for_each(|i| deck += &format!("*NSET,NSET=s{i},GENERATE\n1,99999999999,1\n"));
    let e = dir.error("ranges.inp", deck);
    assert!(e.to_string().contains("longer than the file"), "{e}");
    let mut veg = String::from(
        "*VERTICES\n4 3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n",
    );
    (0..50_000).for_each(|i| veg += &format!("*SET s{i}\n1\n"));
    assert_eq!(tets(&dir.write("sets.veg", veg)).0.region_names.len(), 50_000);
    if peak_memory() > 0 {
        println!("peak {} MiB", peak_memory() >> 20);
    }
}

/// `cargo test --release -p lilyan-scene -- --ignored --nocapture million`
#[test]
#[ignore = "a measurement"]
fn a_million_tets_take_about_a_second() {
    let dir = Folder::new("million");
    let n = 55usize;
    let id = |i: usize, j: usize, k: usize| (i * (n + 1) + j) * (n + 1) + k;
    let mut points = String::new();
    let mut numbered = String::new();
    for v in 0..(n + 1).pow(3) {
        let at = [v / (n + 1).pow(2), v / (n + 1) % (n + 1), v % (n + 1)].map(|i| i as f64 / 53.0 + 1e-3);
        let row = format!("{:.16} {:.16} {:.16}", at[0], at[1], at[2]);
        points += &format!("{row} 0\n");
        numbered += &format!("{} {row}\n", v + 1);
    }
    let (mut medit, mut gmsh, mut vtk, mut ele) =
        (String::new(), String::new(), String::new(), String::new());
    let mut count = 0;
    for c in 0..n * n * n {
        let (i, j, k) = (c / (n * n), c / n % n, c % n);
        for path in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut at = [i, j, k];
            let mut t = [id(i, j, k); 4];
            for (s, axis) in path.into_iter().enumerate() {
                at[axis] += 1;
                t[s + 1] = id(at[0], at[1], at[2]);
            }
            count += 1;
            let [a, b, c, d] = t;
            medit += &format!("{} {} {} {} 1\n", a + 1, b + 1, c + 1, d + 1);
            gmsh += &format!("{count} 4 2 1 1 {} {} {} {}\n", a + 1, b + 1, c + 1, d + 1);
            vtk += &format!("4 {a} {b} {c} {d}\n");
            ele += &format!("{count} {} {} {} {}\n", a + 1, b + 1, c + 1, d + 1);
        }
    }
    let v = (n + 1).pow(3);
    let plain = points.replace(" 0\n", "\n");
    dir.write("m.ele", format!("{count} 4 0\n{ele}"));
    let files = [
        dir.write("m.mesh", format!("MeshVersionFormatted 2\nDimension 3\nVertices {v}\n{points}Tetrahedra {count}\n{medit}End\n")),
        dir.write("m.msh", format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{v}\n{numbered}$EndNodes\n$Elements\n{count}\n{gmsh}$EndElements\n")),
        dir.write("m.vtk", format!("# vtk DataFile Version 3.0\nm\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {v} double\n{plain}CELLS {count} {}\n{vtk}CELL_TYPES {count}\n{}", 5 * count, "10\n".repeat(count))),
        dir.write("m.node", format!("{v} 3 0 0\n{numbered}")),
    ];
    drop((points, numbered, plain, medit, gmsh, vtk, ele));
    for path in files {
        let _ = fs::write("/proc/self/clear_refs", "5"); // resets the peak
        let before = peak_memory();
        let size = fs::metadata(&path).unwrap().len() as usize >> 20;
        let start = Instant::now();
        let (mesh, notes) = tets(&path);
        let time = start.elapsed();
        println!(
            "{:?}: {size} MiB, {} tets in {time:?}, peak +{} MiB {notes:?}",
            path.file_name().unwrap(),
            mesh.tets.len(),
            (peak_memory() - before) >> 20
        );
        assert!(time < Duration::from_secs(5));
    }
}
