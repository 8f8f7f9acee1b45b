//! Medit `.mesh`, text form: Frey, "MEDIT: an interactive mesh visualization software",
//! INRIA RT-0253, 2001.

use super::error::{Place, ReadError};
use super::raw_mesh::{ItemNumbers, RawMesh, set_name};
use super::solid_cell::SolidCell;
use super::text::{TextCursor, show};
use super::{Content, Reader};

pub(super) const READER: Reader = Reader {
    name: "Medit",
    extensions: &["mesh"],
    summary: "text; tetrahedra, hexahedra, prisms and pyramids with references as tags, references of triangles, edges and vertices as vertex sets",
    content: Content::Solid,
    begins: |head| {
        TextCursor::new(head, Some(b'#'))
            .word()
            .is_none_or(|w| w.eq_ignore_ascii_case(b"MeshVersionFormatted"))
    },
    beginning: "MeshVersionFormatted",
    parse: |input| parse(&input.data),
};

fn parse(data: &[u8]) -> Result<RawMesh, ReadError> {
    let mut scan = TextCursor::new(data, Some(b'#'));
    let mut raw = RawMesh::default();
    let mut dimension = 3;
    let mut skipped: Vec<String> = Vec::new();
    while let Some(word) = scan.word() {
        match word.to_ascii_lowercase().as_slice() {
            b"meshversionformatted" => {
                let version = scan.uint("the version of the format")?;
                if !(1..=4).contains(&version) {
                    return scan.fail(format!("version {version} is not known"), "write version 1 or 2");
                }
            }
            b"dimension" => {
                dimension = scan.uint("the dimension")?;
                if dimension != 3 {
                    return scan.fail(
                        format!("the mesh has dimension {dimension}"),
                        "only meshes in 3-D can be used",
                    );
                }
            }
            b"vertices" => {
                if !raw.vertices.is_empty() {
                    return scan.fail("Vertices come twice", "write one section of vertices");
                }
                // "0 0 0 0\n" is the shortest vertex.
                let n = scan.count("the number of vertices", 8)?;
                raw.vertices.reserve_exact(n);
                let mut last = (i64::MIN, String::new());
                for v in 0..n {
                    raw.vertices.push(scan.point()?);
                    let reference = scan.int("the reference of the vertex")?;
                    if reference != 0 {
                        if last.0 != reference {
                            last = (reference, set_name(0, reference));
                        }
                        raw.push_to_set(&last.1, &[v as u32]);
                    }
                }
                raw.vertex_ids = ItemNumbers::counted(1, n);
            }
            name @ (b"tetrahedra" | b"tetrahedrap2" | b"hexahedra" | b"prisms" | b"pyramids") => {
                solid_section(&mut scan, &mut raw, name)?;
            }
            b"triangles" => {
                let n = scan.count("the number of triangles", 8)?;
                elements::<3>(&mut scan, &mut raw, n, 2, true)?;
            }
            b"quadrilaterals" => {
                let n = scan.count("the number of quadrilaterals", 10)?;
                elements::<4>(&mut scan, &mut raw, n, 2, true)?;
            }
            b"edges" => {
                let n = scan.count("the number of edges", 6)?;
                elements::<2>(&mut scan, &mut raw, n, 1, false)?;
            }
            b"end" => break,
            _ if word.first().is_some_and(u8::is_ascii_alphabetic) => {
                skipped.push(show(word));
                // A section of numbers: up to the next keyword.
                while scan.peek().is_some_and(|w| w.first().is_some_and(|b| !b.is_ascii_alphabetic())) {
                    scan.word();
                }
            }
            _ => {
                return scan.fail(
                    format!("expected a section such as Tetrahedra, found `{}`", show(word)),
                    "a count and the lines after it may disagree",
                );
            }
        }
    }
    if dimension != 3 {
        return Err(ReadError::new(Place::File, "the mesh is not in 3-D", "only meshes in 3-D can be used"));
    }
    skipped.dedup();
    skipped.truncate(8);
    if !skipped.is_empty() {
        raw.notes.push(format!("sections not used: {}", skipped.join(", ")));
    }
    Ok(raw)
}

/// Vertex numbers, from 1 in the file.
fn corners<const N: usize>(scan: &mut TextCursor) -> Result<[u32; N], ReadError> {
    let mut out = [0; N];
    for o in &mut out {
        let v = scan.uint("a vertex number")?;
        *o = match v.checked_sub(1).and_then(|v| u32::try_from(v).ok()) {
            Some(v) => v,
            None => {
                return scan.fail(
                    format!("the element refers to vertex {v}, which does not exist"),
                    "vertices are numbered from 1",
                );
            }
        };
    }
    Ok(out)
}

/// A section of solid cells.
fn solid_section(scan: &mut TextCursor, raw: &mut RawMesh, name: &[u8]) -> Result<(), ReadError> {
    let what = "the number of elements";
    match name {
        b"tetrahedra" => {
            let n = scan.count(what, 10)?;
            raw.tets.reserve_exact(n);
            raw.tags.reserve_exact(n);
            solids::<4>(scan, raw, n, SolidCell::Tet)
        }
        b"tetrahedrap2" => {
            let n = scan.count(what, 22)?;
            solids::<10>(scan, raw, n, SolidCell::Tet)
        }
        b"hexahedra" => {
            let n = scan.count(what, 18)?;
            solids::<8>(scan, raw, n, SolidCell::Hexahedron)
        }
        b"prisms" => {
            let n = scan.count(what, 14)?;
            solids::<6>(scan, raw, n, SolidCell::Wedge)
        }
        _ => {
            let n = scan.count(what, 12)?;
            solids::<5>(scan, raw, n, SolidCell::Pyramid)
        }
    }
}

/// Solid cells with their references, numbered from 1.
fn solids<const N: usize>(
    scan: &mut TextCursor,
    raw: &mut RawMesh,
    n: usize,
    kind: SolidCell,
) -> Result<(), ReadError> {
    for k in 0..n {
        let made = raw.push_solid(kind, &corners::<N>(scan)?, k as u64 + 1);
        let reference = scan.int("the reference of the element")?;
        raw.tags.extend(std::iter::repeat_n(reference, made));
    }
    Ok(())
}

fn elements<const N: usize>(
    scan: &mut TextCursor,
    raw: &mut RawMesh,
    n: usize,
    dimension: u32,
    keep: bool,
) -> Result<(), ReadError> {
    let mut last = (i64::MIN, String::new());
    for _ in 0..n {
        let vertices = corners::<N>(scan)?;
        let reference = scan.int("the reference of the element")?;
        if keep {
            raw.push_polygon(&vertices);
        }
        if reference != 0 {
            if last.0 != reference {
                last = (reference, set_name(dimension, reference));
            }
            raw.push_to_set(&last.1, &vertices);
        }
    }
    Ok(())
}
