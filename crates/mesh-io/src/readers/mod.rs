//! Readers of mesh files: one module per format, and one check for all of them.
//!
//! A file that cannot be used gives a [`ReadError`] that says where and why. The notes beside the mesh tell what was
//! changed: tets that were turned, unused vertices that were left out.
//!
//! Vertex sets that a file only numbers are named `point:3`, `curve:3`, `surface:3`.
//!
//! Memory stays within about four times the file, since a count in a header is never believed
//! beyond the bytes that follow it.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod abaqus;
mod base64;
mod binary;
mod cells;
mod error;
mod gmsh;
mod medit;
mod mfem;
mod nastran;
mod obj;
mod ply;
mod pvd;
mod raw_mesh;
mod solid_cell;
mod solids;
mod stl;
mod tetgen;
mod text;
mod validate;
mod vega;
mod vtk;
mod vtu;
mod weld;
mod xml;

pub use error::{Place, ReadError};
pub use pvd::read_collection;
pub use validate::FLAT;
pub use vtu::{FrameData, FrameField, read_frame};

use lilyan_solid::mesh::{Mesh, TriMesh};
use raw_mesh::{ItemNumbers, RawMesh};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Largest file that is read, bytes: vertex numbers are 32 bits wide in memory.
pub const LARGEST: u64 = 4 << 30;

/// The mesh of a file, and notes on what was changed.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one per file that is read")]
pub enum Loaded {
    /// Tetrahedra; triangles beside them only serve to name vertex sets.
    Tets(Mesh, Vec<String>),
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

/// What files of a format usually hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Tetrahedra, or a surface where there are none.
    Solid,
    /// Triangles alone.
    Surface,
}

/// A format that can be read.
pub struct Reader {
    /// Its name.
    pub name: &'static str,
    /// Extensions of its files, lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// What of it is read.
    pub summary: &'static str,
    /// What its files usually hold.
    pub content: Content,
    /// Whether the first [`HEAD`] bytes can be of this format.
    begins: fn(&[u8]) -> bool,
    /// How such a file begins, for the error message.
    beginning: &'static str,
    parse: fn(Input<'_>) -> Result<RawMesh, ReadError>,
}

/// A file on its way into a parser.
struct Input<'a> {
    /// Its name.
    path: &'a Path,
    /// The format as an extension. The extension of the file may differ.
    format: &'static str,
    /// The faces of this group alone.
    group: Option<&'a str>,
    data: Vec<u8>,
}

/// Bytes that are looked at before the rest of a file is read.
const HEAD: u64 = 4096;

/// Every format, in the order they are listed to users.
pub static READERS: &[Reader] = &[
    gmsh::READER,
    medit::READER,
    mfem::READER,
    tetgen::READER,
    vtk::READER,
    vtu::READER,
    vega::READER,
    abaqus::READER,
    nastran::READER,
    obj::READER,
    stl::READER,
    ply::READER,
];

/// Extensions of models that have to be meshed first.
const CAD: [&str; 6] = ["step", "stp", "iges", "igs", "brep", "sldprt"];

/// Every extension that can be read, without the dot, in the order of [`READERS`]. A format is named by its extension.
///
/// ```
/// use lilyan_mesh_io::readers::formats;
/// assert!(formats().any(|extension| extension == "msh"));
/// ```
pub fn formats() -> impl Iterator<Item = &'static str> {
    let all = || READERS.iter().flat_map(|r| r.extensions.iter().copied());
    // Formats that share an extension are told apart by how their files begin.
    all().enumerate().filter(move |(k, e)| !all().take(*k).any(|earlier| earlier == *e)).map(|(_, e)| e)
}

/// Extensions of formats that hold surfaces alone, as `.obj, .stl`, for messages.
pub fn surface_extensions() -> String {
    let surfaces = READERS.iter().filter(|r| r.content == Content::Surface);
    surfaces.flat_map(|r| r.extensions).map(|e| format!(".{e}")).collect::<Vec<_>>().join(", ")
}

/// Reads a mesh, chosen by the file's extension, and checks it.
pub fn read(path: &Path) -> Result<Loaded, ReadError> {
    read_as(path, None)
}

/// Reads a mesh of the given format (one of [`formats`]), whatever the extension of the file, and checks it.
pub fn read_as(path: &Path, format: Option<&str>) -> Result<Loaded, ReadError> {
    read_from(Source { path, format, group: None }, |readers| load(path, readers))
}

/// Reads the faces of one group or object of a file that has such, as `.obj` files.
pub fn read_group(path: &Path, format: Option<&str>, group: &str) -> Result<Loaded, ReadError> {
    read_from(Source { path, format, group: Some(group) }, |readers| load(path, readers))
}

/// Names of the groups and objects of an `.obj` file that have faces, in the order of the file.
pub fn groups(path: &Path) -> Result<Vec<String>, ReadError> {
    let data = load(path, &[&obj::READER]).map_err(|e| e.in_file(path))?;
    Ok(obj::groups(&data))
}

/// Reads a mesh from memory; the name tells the format unless one is given.
pub fn read_bytes(name: &str, format: Option<&str>, data: &[u8]) -> Result<Loaded, ReadError> {
    let source = Source { path: Path::new(name), format, group: None };
    read_from(source, |_| Ok(data.to_vec()))
}

/// Checks a mesh that is given in memory as if a file had held it; elements and vertices are numbered from 0 in errors.
///
/// ```
/// use lilyan_mesh_io::readers::given;
/// use lilyan_solid::mesh::Mesh;
/// let corners = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let (mesh, notes) = given("tet", Mesh::new(corners.clone(), vec![[0, 2, 1, 3]]))?;
/// assert_eq!(mesh.tets(), [[0, 2, 3, 1]]);
/// assert_eq!(notes.len(), 1, "it was turned");
/// assert!(given("flat", Mesh::new(corners, vec![[0, 1, 2, 2]])).is_err());
/// # Ok::<(), lilyan_mesh_io::readers::ReadError>(())
/// ```
pub fn given(name: &str, mesh: Mesh) -> Result<(Mesh, Vec<String>), ReadError> {
    let named = |e: ReadError| e.in_file(Path::new(name));
    let wrong = |what: String| named(ReadError::new(Place::File, what, "correct the arrays"));
    mesh.check().map_err(|e| wrong(e.to_string()))?;
    let raw = RawMesh {
        vertex_ids: ItemNumbers::counted(0, mesh.vertices.len()),
        tet_ids: ItemNumbers::counted(0, mesh.tets().len()),
        tets: mesh.tets().to_vec(),
        vertices: mesh.vertices,
        tags: mesh.tags,
        region_names: mesh.region_names,
        cell_data: mesh.cell_data,
        point_data: mesh.point_data,
        edge_points: mesh.edge_points,
        vertex_sets: mesh.vertex_sets,
        ..RawMesh::default()
    };
    match validate::finish(raw).map_err(named)? {
        Loaded::Tets(mesh, notes) => Ok((mesh, notes)),
        Loaded::Surface(..) => Err(wrong("the mesh has no elements".into())),
    }
}

/// Only the vertices of a file, in their order. The elements are not checked, since a frame of lines is not a mesh.
pub fn read_vertices(path: &Path) -> Result<Vec<[f64; 3]>, ReadError> {
    let source = Source { path, format: None, group: None };
    Ok(parse_from(source, |readers| load(path, readers))?.vertices)
}

/// What is to be read.
#[derive(Clone, Copy)]
struct Source<'a> {
    path: &'a Path,
    /// One of [`formats`]; absent: that of the extension.
    format: Option<&'a str>,
    /// A group of faces instead of all.
    group: Option<&'a str>,
}

fn read_from(
    source: Source<'_>,
    load: impl FnOnce(&[&Reader]) -> Result<Vec<u8>, ReadError>,
) -> Result<Loaded, ReadError> {
    validate::finish(parse_from(source, load)?).map_err(|e: ReadError| e.in_file(source.path))
}

fn parse_from(
    source: Source<'_>,
    load: impl FnOnce(&[&Reader]) -> Result<Vec<u8>, ReadError>,
) -> Result<RawMesh, ReadError> {
    let Source { path, format, group } = source;
    let named = |e: ReadError| e.in_file(path);
    let extension = match format {
        Some(format) => format.to_lowercase(),
        None => path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default(),
    };
    let able: Vec<&Reader> = READERS.iter().filter(|r| r.extensions.contains(&extension.as_str())).collect();
    let Some(first) = able.first() else {
        if CAD.contains(&extension.as_str()) {
            return Err(named(ReadError::new(
                Place::File,
                "this is a CAD model: curved faces, and no mesh",
                format!("mesh it first, for example: gmsh -3 part.{extension} -o part.msh"),
            )));
        }
        let known: Vec<String> =
            READERS.iter().map(|r| format!(".{} ({})", r.extensions.join(" ."), r.name)).collect();
        let what = match extension.as_str() {
            "" => "the file has no extension to tell its format".to_string(),
            e => format!("`.{e}` is not a mesh format that can be read"),
        };
        return Err(named(ReadError::new(
            Place::File,
            what,
            format!("the extensions are {}", known.join(", ")),
        )));
    };
    let data = load(&able).map_err(named)?;
    // Formats that share an extension are told apart by how their files begin.
    let head = data.get(..HEAD as usize).unwrap_or(&data);
    let reader = able.iter().find(|r| (r.begins)(head)).unwrap_or(first);
    let format = reader.extensions.iter().find(|e| **e == extension).copied().unwrap_or_default();
    if group.is_some() && reader.name != obj::READER.name {
        let what = format!("{} files have no groups of faces", reader.name);
        return Err(named(ReadError::new(Place::File, what, "leave out `group`")));
    }
    (reader.parse)(Input { path, format, group, data }).map_err(named)
}

/// The bytes of a regular file, once its beginning looks right.
/// Without readers any content is right.
fn load(path: &Path, readers: &[&Reader]) -> Result<Vec<u8>, ReadError> {
    let failed = |e: std::io::Error| {
        ReadError::new(Place::File, format!("the file cannot be read: {e}"), "check its name and permissions")
    };
    // This is checked before the file is opened, since opening a FIFO waits for a writer.
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
    if !readers.is_empty() && !readers.iter().any(|r| (r.begins)(&data)) {
        let told: Vec<String> = readers
            .iter()
            .map(|r| format!("not a {} file: it should begin with {}", r.name, r.beginning))
            .collect();
        return Err(ReadError::new(
            Place::File,
            format!("this is {}", told.join(", and ")),
            "check that the extension, or `format` in the scene, fits the content",
        ));
    }
    data.reserve_exact((about.len() as usize).saturating_sub(data.len()).saturating_add(1));
    file.take(LARGEST).read_to_end(&mut data).map_err(failed)?;
    if data.len() as u64 > LARGEST {
        return Err(too_large());
    }
    Ok(data)
}
