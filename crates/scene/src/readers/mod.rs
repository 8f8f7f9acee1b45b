//! Mesh files: one file of code per format, one check after all of them.
//!
//! A file that cannot be used is a [`ReadError`] that says where and why. Whatever was changed on
//! the way in (turned tets, unused vertices left out) is told in the notes beside the mesh.
//!
//! Vertex sets that a file only numbers are named `point:3`, `curve:3`, `surface:3`.
//!
//! Memory stays within about four times the file, since a count in a header is never believed
//! beyond the bytes that follow it.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod abaqus;
pub(crate) mod base64;
mod bin;
mod cells;
mod error;
mod gmsh;
mod gmsh2;
mod gmsh4;
mod medit;
mod obj;
mod ply;
mod raw;
mod scan;
mod stl;
mod tetgen;
mod validate;
mod vega;
mod vtk;
mod vtu;
mod weld;
mod xml;

pub use error::{Place, ReadError};
pub use validate::FLAT;

use lilyan_solid::mesh::{TetMesh, TriMesh};
use raw::Raw;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Largest file that is read, bytes: vertex numbers are 32 bits wide in memory.
pub const LARGEST: u64 = 4 << 30;

/// What a mesh file held, and what was done to it on the way in.
#[derive(Clone, Debug, PartialEq)]
pub enum Loaded {
    /// Tetrahedra; triangles beside them only serve to name vertex sets.
    Tets(TetMesh, Vec<String>),
    /// A triangle surface.
    Surface(TriMesh, Vec<String>),
}

impl Loaded {
    /// What was changed or left out while reading.
    pub fn notes(&self) -> &[String] {
        match self {
            Loaded::Tets(_, notes) | Loaded::Surface(_, notes) => notes,
        }
    }
}

/// A format that can be read.
pub struct Reader {
    /// Its name.
    pub name: &'static str,
    /// Extensions of its files, lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// What of it is read.
    pub summary: &'static str,
    /// Whether the first [`HEAD`] bytes can be of this format.
    begins: fn(&[u8]) -> bool,
    /// How such a file begins, for the error message.
    beginning: &'static str,
    parse: fn(&Path, Vec<u8>) -> Result<Raw, ReadError>,
}

/// Bytes that are looked at before the rest of a file is read.
const HEAD: u64 = 4096;

/// Every format, in the order they are listed to users.
pub static READERS: &[Reader] = &[
    gmsh::READER,
    medit::READER,
    tetgen::READER,
    vtk::READER,
    vtu::READER,
    vega::READER,
    abaqus::READER,
    obj::READER,
    stl::READER,
    ply::READER,
];

/// Reads a mesh, chosen by the file's extension, and checks it.
pub fn read(path: &Path) -> Result<Loaded, ReadError> {
    read_from(path, |reader| load(path, Some(reader)))
}

/// Reads a mesh from memory; the name tells the format.
pub fn read_bytes(name: &str, data: &[u8]) -> Result<Loaded, ReadError> {
    read_from(Path::new(name), |_| Ok(data.to_vec()))
}

/// The vertices of a file alone, whatever its elements, in their order: a frame of lines is no mesh.
pub fn read_vertices(path: &Path) -> Result<Vec<[f64; 3]>, ReadError> {
    Ok(parse_from(path, |reader| load(path, Some(reader)))?.vertices)
}

fn read_from(
    path: &Path,
    load: impl FnOnce(&Reader) -> Result<Vec<u8>, ReadError>,
) -> Result<Loaded, ReadError> {
    validate::finish(parse_from(path, load)?).map_err(|e: ReadError| e.in_file(path))
}

fn parse_from(
    path: &Path,
    load: impl FnOnce(&Reader) -> Result<Vec<u8>, ReadError>,
) -> Result<Raw, ReadError> {
    let named = |e: ReadError| e.in_file(path);
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let reader = READERS.iter().find(|r| r.extensions.contains(&extension.as_str())).ok_or_else(|| {
        let known: Vec<String> =
            READERS.iter().map(|r| format!(".{} ({})", r.extensions.join(" ."), r.name)).collect();
        let what = match extension.as_str() {
            "" => "the file has no extension to tell its format".to_string(),
            e => format!("`.{e}` is not a mesh format that can be read"),
        };
        named(ReadError::new(Place::File, what, format!("the extensions are {}", known.join(", "))))
    })?;
    let data = load(reader).map_err(named)?;
    (reader.parse)(path, data).map_err(named)
}

/// The bytes of a regular file, once its beginning looks right.
fn load(path: &Path, reader: Option<&Reader>) -> Result<Vec<u8>, ReadError> {
    let failed = |e: std::io::Error| {
        ReadError::new(Place::File, format!("the file cannot be read: {e}"), "check its name and permissions")
    };
    // Asked before opening: opening a FIFO would wait for a writer.
    let about = fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        let kind = if about.is_dir() { "a directory" } else { "not a regular file (a pipe or device)" };
        return Err(ReadError::new(Place::File, format!("this is {kind}"), "give the path of a mesh file"));
    }
    let too_large = || {
        ReadError::new(
            Place::File,
            format!("the file is larger than {} GiB, the most that is read", LARGEST >> 30),
            "use a coarser mesh or a binary format",
        )
    };
    if about.len() > LARGEST {
        return Err(too_large());
    }
    let mut file = File::open(path).map_err(failed)?;
    let mut data = Vec::with_capacity(HEAD as usize);
    file.by_ref().take(HEAD).read_to_end(&mut data).map_err(failed)?;
    if data.iter().all(u8::is_ascii_whitespace) && (data.len() as u64) < HEAD {
        return Err(ReadError::new(Place::File, "the file is empty", "write the mesh again"));
    }
    if let Some(r) = reader
        && !(r.begins)(&data)
    {
        return Err(ReadError::new(
            Place::File,
            format!("this is not a {} file: it should begin with {}", r.name, r.beginning),
            "check that the extension fits the content",
        ));
    }
    data.reserve_exact((about.len() as usize).saturating_sub(data.len()).saturating_add(1));
    file.take(LARGEST).read_to_end(&mut data).map_err(failed)?;
    if data.len() as u64 > LARGEST {
        return Err(too_large());
    }
    Ok(data)
}
