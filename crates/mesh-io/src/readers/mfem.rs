//! MFEM's meshes, `MFEM mesh v1.0` to `v1.3`: attributes of elements as tags, those of boundary elements as vertex sets.
//! The format is told by MFEM's documentation ("Mesh formats").

use super::error::ReadError;
use super::raw_mesh::{ItemNumbers, RawMesh, set_name};
use super::solid_cell::SolidCell;
use super::text::{TextCursor, show};
use super::{Content, Reader};

pub(super) const READER: Reader = Reader {
    name: "MFEM",
    extensions: &["mfem", "mesh"],
    summary: "v1.0 with straight tets, hexahedra, wedges and pyramids; attributes as tags, those of the boundary as vertex sets",
    content: Content::Solid,
    begins: |head| head.trim_ascii_start().starts_with(b"MFEM"),
    beginning: "MFEM mesh v1.0",
    parse: |input| parse(&input.data),
};

const DAMAGED: &str = "the file may be damaged: write it again";

/// An element or boundary element: its attribute, what it is, and where its vertices are in the list of all.
struct Cell {
    attribute: i64,
    geometry: i64,
    vertices: std::ops::Range<usize>,
}

/// Vertices of each geometry: point, segment, triangle, square, tetrahedron, cube, prism, pyramid.
const CORNERS: [usize; 8] = [1, 2, 3, 4, 4, 8, 6, 5];

fn parse(data: &[u8]) -> Result<RawMesh, ReadError> {
    let mut scan = TextCursor::new(data, Some(b'#'));
    let title = scan.line().unwrap_or_default();
    if !title.starts_with(b"MFEM mesh v1") {
        return scan.fail(
            format!("`{}` is not a version that is read", show(title)),
            "save as `MFEM mesh v1.0`, which is neither NURBS nor non-conforming",
        );
    }
    let mut raw = RawMesh::default();
    let mut numbers: Vec<u32> = Vec::new();
    let (mut elements, mut boundary) = (Vec::new(), Vec::new());
    while let Some(word) = scan.word() {
        match word {
            b"dimension" => {
                let dimension = scan.uint("the dimension")?;
                if dimension != 3 {
                    return scan.fail(
                        format!("the mesh has dimension {dimension}"),
                        "only meshes in 3-D can be used",
                    );
                }
            }
            b"elements" => elements = cells(&mut scan, &mut numbers)?,
            b"boundary" => boundary = cells(&mut scan, &mut numbers)?,
            b"vertices" => vertices(&mut scan, &mut raw)?,
            b"mfem_mesh_end" => break,
            b"nodes" => {
                return scan.fail(
                    "the mesh is curved: its nodes are a field of finite elements",
                    "save it with straight elements (`Mesh::SetCurvature(1)`, then vertices), or as .vtk",
                );
            }
            other => {
                return scan.fail(
                    format!("expected dimension, elements, boundary or vertices, found `{}`", show(other)),
                    DAMAGED,
                );
            }
        }
    }
    let count = raw.vertices.len();
    if let Some(v) = numbers.iter().find(|v| **v as usize >= count) {
        return scan.fail(format!("an element refers to vertex {v}, and there are {count}"), DAMAGED);
    }
    raw.vertex_ids = ItemNumbers::counted(0, count);
    for (number, cell) in elements.iter().enumerate() {
        let corners = numbers.get(cell.vertices.clone()).unwrap_or_default();
        let solid = match cell.geometry {
            4 => SolidCell::Tet,
            5 => SolidCell::Hexahedron,
            6 => SolidCell::Wedge,
            7 => SolidCell::Pyramid,
            _ => continue,
        };
        raw.push_solid(solid, corners, number as u64);
        raw.tags.push(cell.attribute);
    }
    let surface = raw.tags.is_empty();
    for cell in elements.iter().filter(|_| surface).chain(&boundary) {
        let corners = numbers.get(cell.vertices.clone()).unwrap_or_default();
        if corners.len() > 2 {
            raw.push_polygon(corners);
        }
        raw.push_to_set(&set_name(2, cell.attribute), corners);
    }
    Ok(raw)
}

fn cells(scan: &mut TextCursor, numbers: &mut Vec<u32>) -> Result<Vec<Cell>, ReadError> {
    let n = scan.count("the number of elements", 6)?;
    let mut cells = Vec::with_capacity(n);
    for _ in 0..n {
        let attribute = scan.int("the attribute of an element")?;
        let geometry = scan.int("the geometry of an element")?;
        let Some(corners) = usize::try_from(geometry).ok().and_then(|g| CORNERS.get(g)) else {
            return scan.fail(format!("there is no geometry {geometry}"), DAMAGED);
        };
        let start = numbers.len();
        for _ in 0..*corners {
            let v = scan.uint("a vertex number")?;
            numbers.push(u32::try_from(v).unwrap_or(u32::MAX));
        }
        cells.push(Cell { attribute, geometry, vertices: start..numbers.len() });
    }
    Ok(cells)
}

fn vertices(scan: &mut TextCursor, raw: &mut RawMesh) -> Result<(), ReadError> {
    let n = scan.count("the number of vertices", 2)?;
    if scan.peek() == Some(b"nodes") {
        return Ok(()); // their places follow as nodes
    }
    let dimension = scan.uint("the dimension of space")?;
    if dimension != 3 {
        return scan
            .fail(format!("the vertices have {dimension} coordinates"), "only meshes in 3-D can be used");
    }
    let n = scan.fits(n as u64, 6)?;
    raw.vertices.reserve_exact(n);
    for _ in 0..n {
        raw.vertices.push(scan.point()?);
    }
    Ok(())
}
