//! Mesh readers: the public mesh set, small files of every format, and bad input.

use lilyan_scene::readers::{Loaded, READERS, read};
use std::path::{Path, PathBuf};

/// The public mesh set, if it is on this machine.
fn meshes() -> Option<PathBuf> {
    let dir = match std::env::var_os("LILYAN_MESHES") {
        Some(dir) => PathBuf::from(dir),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/meshes"),
    };
    let dir = if dir.is_dir() {
        dir
    } else {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data/meshes")
    };
    if dir.is_dir() {
        return Some(dir);
    }
    println!("skipped: no mesh set (LILYAN_MESHES or ../shared/data/meshes beside the repository)");
    None
}

#[test]
fn public_meshes() {
    let Some(dir) = meshes() else { return };
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap().path();
        if !entry.is_dir() {
            continue;
        }
        for f in std::fs::read_dir(entry).unwrap() {
            let f = f.unwrap().path();
            let t = std::time::Instant::now();
            match read(&f) {
                Ok(Loaded::Tets(m, notes)) => println!(
                    "{:?} {} {} {:?} sets {:?} names {:?} {:?}",
                    f.file_name(),
                    m.vertices.len(),
                    m.tets.len(),
                    notes,
                    m.vertex_sets.keys().take(5).collect::<Vec<_>>(),
                    m.region_names,
                    t.elapsed()
                ),
                Ok(Loaded::Surface(m, notes)) => println!(
                    "{:?} {} tri {} {:?}",
                    f.file_name(),
                    m.vertices.len(),
                    m.triangles.len(),
                    notes
                ),
                Err(e) => println!("ERR {e}"),
            }
        }
    }
    assert!(READERS.len() > 2);
}
