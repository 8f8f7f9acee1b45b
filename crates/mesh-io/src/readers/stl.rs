//! `.stl` surfaces, text and binary. Triangles share no vertices in the file; equal ones are
//! joined.

use super::binary::BinaryCursor;
use super::error::{Place, ReadError};
use super::raw_mesh::RawMesh;
use super::text::TextCursor;
use super::weld::VertexWelder;
use super::{Content, Reader};

pub(super) const READER: Reader = Reader {
    name: "STL",
    extensions: &["stl"],
    summary: "surface, text and binary; equal vertices are joined",
    content: Content::Surface,
    begins: |_| true,
    beginning: "solid, or 80 bytes of any text",
    parse: |input| parse(&input.data),
};

/// 80 bytes of text and the number of triangles.
const HEADER: usize = 84;
const TRIANGLE: u64 = 50;

fn parse(data: &[u8]) -> Result<RawMesh, ReadError> {
    let mut bin = BinaryCursor::new(data, HEADER - 4, false);
    let binary_size = match bin.i32() {
        Ok(n) => Some(HEADER as u64 + TRIANGLE * u64::from(n as u32)),
        Err(_) => None,
    };
    let is_text = data.trim_ascii_start().get(..5).is_some_and(|w| w.eq_ignore_ascii_case(b"solid"));
    // Many binary files begin with "solid" too: the size decides first.
    if binary_size == Some(data.len() as u64) || !is_text { binary(data, binary_size) } else { text(data) }
}

fn binary(data: &[u8], size: Option<u64>) -> Result<RawMesh, ReadError> {
    let Some(size) = size.filter(|&s| s <= data.len() as u64) else {
        return Err(ReadError::new(
            Place::Byte(HEADER as u64 - 4),
            match size {
                Some(size) => format!("the header asks for {size} bytes, the file has {}", data.len()),
                None => "the file is shorter than the header of a binary STL file".into(),
            },
            "the file may be cut short, or is text that does not begin with `solid`: write it again",
        ));
    };
    let mut raw = RawMesh::default();
    if size < data.len() as u64 {
        raw.notes.push(format!("{} bytes after the last triangle are not used", data.len() as u64 - size));
    }
    let mut weld = VertexWelder::new();
    let body = data.get(HEADER..size as usize).unwrap_or_default();
    raw.triangles.reserve_exact(body.len() / TRIANGLE as usize);
    for record in body.chunks_exact(TRIANGLE as usize) {
        let mut bin = BinaryCursor::new(record, 12, false); // past the normal
        let mut corners = [0; 3];
        for c in &mut corners {
            let mut p = [0.0; 3];
            for x in &mut p {
                *x = f64::from(f32::from_bits(bin.i32()? as u32));
            }
            *c = weld.number(p);
        }
        raw.triangles.push(corners);
    }
    raw.vertices = weld.vertices;
    Ok(raw)
}

fn text(data: &[u8]) -> Result<RawMesh, ReadError> {
    let mut scan = TextCursor::new(data, None);
    let mut raw = RawMesh::default();
    let mut weld = VertexWelder::new();
    let mut corners: Vec<u32> = Vec::new();
    let mut open = false;
    while let Some(word) = scan.word() {
        match word.to_ascii_lowercase().as_slice() {
            // normal x y z: what the corners say already
            b"facet" => {
                for _ in 0..4 {
                    scan.word();
                }
            }
            b"outer" => {
                scan.word();
            }
            b"solid" | b"endsolid" => {
                scan.line();
                open = word.first().is_some_and(|b| b.eq_ignore_ascii_case(&b's')) || open;
            }
            b"vertex" => {
                corners.push(weld.number(scan.point()?));
                if corners.len() > 3 {
                    return scan.fail("a facet has more than 3 vertices", "write triangles");
                }
            }
            b"endloop" => {
                let [a, b, c] = *corners else {
                    return scan.fail(format!("a facet has {} vertices", corners.len()), "write triangles");
                };
                raw.triangles.push([a, b, c]);
                corners.clear();
            }
            b"endfacet" => {}
            other => {
                return scan.fail(
                    format!("expected facet, vertex or endsolid, found `{}`", super::text::show(other)),
                    "the file may be damaged: write it again",
                );
            }
        }
    }
    if !corners.is_empty() || !open {
        return scan.fail("the file ends inside a facet", "the file may be cut short: write it again");
    }
    raw.vertices = weld.vertices;
    Ok(raw)
}
