//! Wavefront `.obj` surfaces.

use super::error::{Place, ReadError};
use super::raw_mesh::{ItemNumbers, RawMesh};
use super::text::{TextCursor, parse_int, show, text};
use super::{Content, Reader};

pub(super) const READER: Reader = Reader {
    name: "Wavefront OBJ",
    extensions: &["obj"],
    summary: "surface, or one of its groups and objects; polygons become triangle fans, texture and normals are not used",
    content: Content::Surface,
    begins: |head| !head.contains(&0),
    beginning: "text",
    parse: |input| parse(&input.data, input.group),
};

/// Names of groups and objects that have faces.
pub(super) fn groups(data: &[u8]) -> Vec<String> {
    let mut scan = TextCursor::new(data, Some(b'#'));
    let (mut open, mut found): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    while let Some(word) = scan.word() {
        match word {
            b"o" | b"g" => open = names(&mut scan),
            b"f" => {
                for name in open.drain(..) {
                    if !found.contains(&name) {
                        found.push(name);
                    }
                }
                scan.line();
            }
            _ => {
                scan.line();
            }
        }
    }
    found
}

/// The names of an `o` or `g` line.
fn names(scan: &mut TextCursor) -> Vec<String> {
    let line = scan.line().unwrap_or_default();
    line.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty()).map(text).collect()
}

/// `group`: the faces of this group or object alone.
fn parse(data: &[u8], group: Option<&str>) -> Result<RawMesh, ReadError> {
    let mut scan = TextCursor::new(data, Some(b'#'));
    let mut raw = RawMesh::default();
    let mut corners: Vec<u32> = Vec::new();
    let (mut wanted, mut seen) = (group.is_none(), group.is_none());
    while let Some(word) = scan.word() {
        match word {
            b"v" => {
                raw.vertices.push(scan.point()?);
                // A weight or a colour may follow.
                while scan.word_in_line().is_some() {}
            }
            b"f" => {
                corners.clear();
                while let Some(corner) = scan.word_in_line() {
                    if corner == b"\\" {
                        scan.line(); // the polygon goes on in the next line
                        continue;
                    }
                    corners.push(index(&scan, corner, raw.vertices.len())?);
                }
                if corners.len() < 3 {
                    return scan
                        .fail(format!("a face has {} corners", corners.len()), "a face needs at least 3");
                }
                if wanted {
                    raw.push_polygon(&corners);
                }
            }
            b"o" | b"g" => {
                let names = names(&mut scan);
                wanted = group.is_none_or(|group| names.iter().any(|name| name == group));
                seen |= wanted;
            }
            b"vn" | b"vt" | b"vp" | b"s" | b"l" | b"p" | b"mtllib" | b"usemtl" => {
                scan.line();
            }
            _ if word.first().is_some_and(u8::is_ascii_alphabetic) && word.len() < 40 => {
                scan.line();
            }
            _ => {
                return scan.fail(
                    format!("expected a line such as `v 0 0 0` or `f 1 2 3`, found `{}`", show(word)),
                    "the file may be damaged: write it again",
                );
            }
        }
    }
    if !seen {
        let known = groups(data);
        let remedy = match known.len() {
            0 => "the file has no groups: leave out `group`".to_string(),
            _ => format!("its groups are {}", known.iter().take(20).cloned().collect::<Vec<_>>().join(", ")),
        };
        return Err(ReadError::new(
            Place::File,
            format!("there is no group or object \"{}\"", group.unwrap_or_default()),
            remedy,
        ));
    }
    raw.vertex_ids = ItemNumbers::counted(1, raw.vertices.len());
    Ok(raw)
}

/// `7`, `7/1`, `7//3`, `7/1/3`, or from the end: `-1`.
fn index(scan: &TextCursor, corner: &[u8], so_far: usize) -> Result<u32, ReadError> {
    let number = corner.split(|&b| b == b'/').next().unwrap_or_default();
    let position = match parse_int(number) {
        Some(i) if i > 0 => u64::try_from(i - 1).ok(),
        Some(i) if i < 0 => (so_far as u64).checked_sub(i.unsigned_abs()),
        _ => None,
    };
    match position.and_then(|p| u32::try_from(p).ok()) {
        Some(p) => Ok(p),
        None => scan.fail(
            format!("a face refers to `{}`, after {so_far} vertices", show(corner)),
            "vertices are numbered from 1, or backwards from -1",
        ),
    }
}
