//! Stanford `.ply` surfaces, text and binary of either byte order.

use super::binary::{BinaryCursor, Number, NumberKind};
use super::error::ReadError;
use super::raw_mesh::{ItemNumbers, RawMesh};
use super::text::{TextCursor, show};
use super::{Content, Reader};

pub(super) const READER: Reader = Reader {
    name: "PLY",
    extensions: &["ply"],
    summary: "surface, text and binary; polygons become triangle fans",
    content: Content::Surface,
    begins: |head| TextCursor::new(head, None).word() == Some(b"ply"),
    beginning: "ply",
    parse: |input| parse(&input.data),
};

struct Property {
    role: Role,
    kind: NumberKind,
    /// Kind of the length, for a list.
    list: Option<NumberKind>,
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Coordinate(usize),
    Corners,
    Other,
}

struct Element {
    name: String,
    count: u64,
    properties: Vec<Property>,
}

/// Where the numbers come from.
enum PlyNumbers<'a> {
    Text(TextCursor<'a>),
    Binary(BinaryCursor<'a>),
}

impl PlyNumbers<'_> {
    fn number(&mut self, kind: NumberKind) -> Result<Number, ReadError> {
        match self {
            PlyNumbers::Binary(bin) => bin.number(kind),
            PlyNumbers::Text(scan) if kind.is_float() => scan.float("a number").map(Number::Float),
            PlyNumbers::Text(scan) => scan.int("an integer").map(Number::Int),
        }
    }

    fn fail<T>(&self, what: impl Into<String>, remedy: &str) -> Result<T, ReadError> {
        match self {
            PlyNumbers::Binary(bin) => bin.fail(what, remedy),
            PlyNumbers::Text(scan) => scan.fail(what, remedy),
        }
    }

    fn left(&self) -> u64 {
        match self {
            PlyNumbers::Binary(bin) => bin.left() as u64,
            PlyNumbers::Text(scan) => scan.rest().len() as u64,
        }
    }
}

fn parse(data: &[u8]) -> Result<RawMesh, ReadError> {
    let mut scan = TextCursor::new(data, None);
    let (elements, binary, big_endian) = header(&mut scan)?;
    let mut source = match binary {
        true => PlyNumbers::Binary(BinaryCursor::new(data, scan.pos, big_endian)),
        false => PlyNumbers::Text(scan),
    };
    let mut raw = RawMesh::default();
    let mut corners: Vec<u32> = Vec::new();
    for element in &elements {
        if element.properties.is_empty() {
            continue;
        }
        // Every property takes at least one byte.
        let least = element.properties.len() as u64;
        if element.count.checked_mul(least).is_none_or(|n| n > source.left() + 1) {
            return source.fail(
                format!(
                    "the header announces {} of `{}`, but only {} bytes are left",
                    element.count,
                    element.name,
                    source.left()
                ),
                "the file may be damaged or cut short: write it again",
            );
        }
        let is_vertex = element.name == "vertex";
        if is_vertex {
            let given = element
                .properties
                .iter()
                .filter(|p| matches!(p.role, Role::Coordinate(_)) && p.list.is_none() && p.kind.bytes() > 1)
                .count();
            if given != 3 {
                return source.fail("the vertices do not have x, y and z", "write all three coordinates");
            }
        }
        for _ in 0..element.count {
            let mut p = [0.0; 3];
            for property in &element.properties {
                let Some(length) = property.list else {
                    let x = source.number(property.kind)?;
                    if let Role::Coordinate(k) = property.role
                        && let Some(c) = p.get_mut(k)
                    {
                        *c = x.float();
                    }
                    continue;
                };
                let Some(n) = source.number(length)?.int().filter(|&n| n >= 0) else {
                    return source
                        .fail("a list has a negative length", "the file may be damaged: write it again");
                };
                let is_face = element.name == "face" && property.role == Role::Corners;
                corners.clear();
                for _ in 0..n {
                    let v = source.number(property.kind)?;
                    if !is_face {
                        continue;
                    }
                    match v.int().and_then(|i| u32::try_from(i).ok()) {
                        Some(v) => corners.push(v),
                        None => {
                            return source.fail(
                                format!("a face refers to vertex {}", v.float()),
                                "vertices are numbered from 0",
                            );
                        }
                    }
                }
                if is_face {
                    if corners.len() < 3 {
                        return source.fail(
                            format!("a face has {} corners", corners.len()),
                            "a face needs at least 3",
                        );
                    }
                    raw.push_polygon(&corners);
                }
            }
            if is_vertex {
                raw.vertices.push(p);
            }
        }
        if element.name == "tristrips" && element.count > 0 {
            raw.notes.push("triangle strips are not used: write faces".into());
        }
    }
    raw.vertex_ids = ItemNumbers::counted(0, raw.vertices.len());
    Ok(raw)
}

/// The elements, whether binary, whether big endian; leaves the cursor at the data.
fn header(scan: &mut TextCursor) -> Result<(Vec<Element>, bool, bool), ReadError> {
    let mut elements: Vec<Element> = Vec::new();
    let mut format = None;
    scan.word();
    scan.line();
    loop {
        let start = scan.pos;
        let Some(line) = scan.line() else {
            return scan.fail("the header has no end_header", "the file may be cut short: write it again");
        };
        let words: Vec<&[u8]> =
            line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).take(6).collect();
        match *words {
            [] | [b"comment", ..] | [b"obj_info", ..] => {}
            [b"format", kind, ..] => {
                format = match kind {
                    b"ascii" => Some((false, false)),
                    b"binary_little_endian" => Some((true, false)),
                    b"binary_big_endian" => Some((true, true)),
                    _ => None,
                };
            }
            [b"element", name, count] => {
                let Some(count) = super::text::parse_int(count).and_then(|n| u64::try_from(n).ok()) else {
                    scan.pos = start;
                    return scan.fail(format!("`{}` is not a count", show(count)), "write the file again");
                };
                elements.push(Element { name: show(name), count, properties: Vec::new() });
            }
            [b"property", b"list", length, kind, name] => {
                let role = match name {
                    b"vertex_indices" | b"vertex_index" => Role::Corners,
                    _ => Role::Other,
                };
                property(scan, start, &mut elements, role, kind, Some(length))?;
            }
            [b"property", kind, name] => {
                let role = match name {
                    b"x" => Role::Coordinate(0),
                    b"y" => Role::Coordinate(1),
                    b"z" => Role::Coordinate(2),
                    _ => Role::Other,
                };
                property(scan, start, &mut elements, role, kind, None)?;
            }
            [b"end_header"] => break,
            _ => {
                scan.pos = start;
                return scan
                    .fail(format!("`{}` is not a line of a PLY header", show(line)), "write the file again");
            }
        }
    }
    match format {
        Some((binary, big_endian)) => Ok((elements, binary, big_endian)),
        None => scan.fail("the header does not say ascii or binary", "write the file again"),
    }
}

fn property(
    scan: &mut TextCursor,
    start: usize,
    elements: &mut [Element],
    role: Role,
    kind: &[u8],
    list: Option<&[u8]>,
) -> Result<(), ReadError> {
    let length = list.map(kind_of);
    match (elements.last_mut(), kind_of(kind), length) {
        (Some(element), Some(kind), None) => {
            element.properties.push(Property { role, kind, list: None });
            Ok(())
        }
        (Some(element), Some(kind), Some(Some(length))) => {
            element.properties.push(Property { role, kind, list: Some(length) });
            Ok(())
        }
        _ => {
            scan.pos = start;
            scan.fail("a property of an unknown type, or before any element", "write the file again")
        }
    }
}

fn kind_of(name: &[u8]) -> Option<NumberKind> {
    Some(match name {
        b"char" | b"int8" => NumberKind::I8,
        b"uchar" | b"uint8" => NumberKind::U8,
        b"short" | b"int16" => NumberKind::I16,
        b"ushort" | b"uint16" => NumberKind::U16,
        b"int" | b"int32" => NumberKind::I32,
        b"uint" | b"uint32" => NumberKind::U32,
        b"float" | b"float32" => NumberKind::F32,
        b"double" | b"float64" => NumberKind::F64,
        _ => return None,
    })
}
