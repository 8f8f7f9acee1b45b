//! Damaged and malicious files: no panic, bounded memory and time.

use super::samples::{Sample, samples};
use super::{Folder, tets, volume};
use lilyan_mesh_io::readers::{Loaded, read};
use std::fs;
use std::io::Write;
use std::panic::catch_unwind;
use std::time::{Duration, Instant};

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
                    assert!(m.tets().iter().all(|&t| volume(&m, t) > 0.0));
                    assert_eq!(m.tags.len(), m.tets().len());
                    assert!(m.vertex_sets.values().flatten().all(|&v| (v as usize) < m.vertices.len()));
                    assert!(m.cell_data.values().all(|f| f.len() == m.tets().len()));
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
pub fn peak_memory() -> usize {
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
