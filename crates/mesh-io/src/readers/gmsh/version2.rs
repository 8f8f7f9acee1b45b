//! Nodes and elements of Gmsh format 2.2.

use super::super::binary::BinaryCursor;
use super::super::error::ReadError;
use super::super::raw_mesh::RawMesh;
use super::super::text::TextCursor;
use super::Format;
use super::element_type::{ElementType, MOST_NODES, not_a_tet};
use super::groups::Groups;

/// Bytes of the shortest node and element as text, "1 0 0 0\n" and "1 15 0 1\n".
const NODE: u64 = 8;
const ELEMENT: u64 = 9;

pub(super) fn nodes(scan: &mut TextCursor, format: Format, raw: &mut RawMesh) -> Result<(), ReadError> {
    let n = scan.count("the number of nodes", if format.binary { 28 } else { NODE })?;
    raw.vertices.reserve_exact(n);
    if !format.binary {
        for _ in 0..n {
            raw.vertex_ids.push(scan.uint("the number of a node")?);
            raw.vertices.push(scan.point()?);
        }
        return Ok(());
    }
    scan.line();
    let mut bin = BinaryCursor::new(scan.data, scan.pos, format.big_endian);
    for _ in 0..n {
        let id = number(&mut bin, "a node")?;
        raw.vertex_ids.push(id);
        raw.vertices.push(bin.point()?);
    }
    scan.pos = bin.pos;
    Ok(())
}

fn number(bin: &mut BinaryCursor, of: &str) -> Result<u64, ReadError> {
    let id = bin.i32()?;
    match u64::try_from(id) {
        Ok(id) => Ok(id),
        Err(_) => bin.fail(format!("{of} has number {id}"), "the file may be damaged: write it again"),
    }
}

pub(super) fn elements(
    scan: &mut TextCursor,
    format: Format,
    raw: &mut RawMesh,
    groups: &mut Groups,
) -> Result<(), ReadError> {
    let n = scan.count("the number of elements", ELEMENT)?;
    if format.binary {
        scan.line();
        let mut bin = BinaryCursor::new(scan.data, scan.pos, format.big_endian);
        binary(&mut bin, n, raw, groups)?;
        scan.pos = bin.pos;
        return Ok(());
    }
    for _ in 0..n {
        let id = scan.uint("the number of an element")?;
        let start = scan.pos;
        let kind = scan.int("the type of an element")?;
        let element = i32::try_from(kind).ok().and_then(ElementType::find);
        let Some(element) = element else {
            return Err(not_a_tet(scan.line_at(start), id, kind as i32));
        };
        let tags = scan.uint("the number of tags")?;
        let mut first = [0i64; 2];
        for k in 0..tags {
            let tag = scan.int("a tag")?;
            if let Some(t) = first.get_mut(k as usize) {
                *t = tag;
            }
        }
        let mut vertices = [0u32; MOST_NODES];
        for k in 0..element.nodes {
            let node = scan.uint("a node number")?;
            if let Some(v) = vertices.get_mut(k).filter(|_| k < element.used()) {
                [*v] = raw.find_vertices([node], || scan.here())?;
            }
        }
        let [physical, entity] = first;
        groups.add(
            raw,
            id,
            element,
            vertices.get(..element.used()).unwrap_or_default(),
            &[physical],
            entity as i32,
        );
    }
    Ok(())
}

fn binary(bin: &mut BinaryCursor, n: usize, raw: &mut RawMesh, groups: &mut Groups) -> Result<(), ReadError> {
    let mut done = 0usize;
    while done < n {
        let (kind, follow, tags) = (bin.i32()?, bin.i32()?, bin.i32()?);
        let Some(element) = ElementType::find(kind) else {
            return Err(not_a_tet(bin.here(), done as u64 + 1, kind));
        };
        let (Ok(follow), Ok(tags)) = (usize::try_from(follow), usize::try_from(tags)) else {
            return bin
                .fail("a block of elements has a negative count", "the file may be damaged: write it again");
        };
        if follow == 0 || follow > n - done {
            return bin.fail(
                format!("a block announces {follow} elements where {} are left", n - done),
                "the file may be damaged: write it again",
            );
        }
        for _ in 0..follow {
            let id = number(bin, "an element")?;
            let mut first = [0i32; 2];
            for k in 0..tags {
                let tag = bin.i32()?;
                if let Some(t) = first.get_mut(k) {
                    *t = tag;
                }
            }
            let mut vertices = [0u32; MOST_NODES];
            for k in 0..element.nodes {
                let node = number(bin, "a node")?;
                if let Some(v) = vertices.get_mut(k).filter(|_| k < element.used()) {
                    [*v] = raw.find_vertices([node], || bin.here())?;
                }
            }
            let [physical, entity] = first;
            groups.add(
                raw,
                id,
                element,
                vertices.get(..element.used()).unwrap_or_default(),
                &[i64::from(physical)],
                entity,
            );
        }
        done += follow;
    }
    Ok(())
}
