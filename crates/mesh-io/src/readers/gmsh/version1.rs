//! Nodes and elements of Gmsh format 1, text alone: `$NOD` and `$ELM`.

use super::super::error::ReadError;
use super::super::raw_mesh::RawMesh;
use super::super::text::TextCursor;
use super::element_type::{ElementType, MOST_NODES, not_a_tet};
use super::groups::Groups;

/// Bytes of the shortest node and element, "1 0 0 0\n" and "1 15 0 0 1 1\n".
const NODE: u64 = 8;
const ELEMENT: u64 = 13;

pub(super) fn nodes(scan: &mut TextCursor, raw: &mut RawMesh) -> Result<(), ReadError> {
    let n = scan.count("the number of nodes", NODE)?;
    raw.vertices.reserve_exact(n);
    for _ in 0..n {
        raw.vertex_ids.push(scan.uint("the number of a node")?);
        raw.vertices.push(scan.point()?);
    }
    Ok(())
}

/// Each element: number, type, physical group, geometric entity, count of nodes, nodes.
pub(super) fn elements(
    scan: &mut TextCursor,
    raw: &mut RawMesh,
    groups: &mut Groups,
) -> Result<(), ReadError> {
    let n = scan.count("the number of elements", ELEMENT)?;
    for _ in 0..n {
        let id = scan.uint("the number of an element")?;
        let start = scan.pos;
        let kind = scan.int("the type of an element")?;
        let element = i32::try_from(kind).ok().and_then(ElementType::find);
        let Some(element) = element else {
            return Err(not_a_tet(scan.line_at(start), id, kind as i32));
        };
        let physical = scan.int("the physical group of an element")?;
        let entity = scan.int("the geometric entity of an element")?;
        let count = scan.uint("the number of nodes of an element")?;
        if count != element.nodes as u64 {
            return scan.fail(
                format!("element {id} of type {kind} has {count} nodes instead of {}", element.nodes),
                "the file may be damaged: write it again",
            );
        }
        let mut vertices = [0u32; MOST_NODES];
        for k in 0..element.nodes {
            let node = scan.uint("a node number")?;
            if let Some(v) = vertices.get_mut(k).filter(|_| k < element.used()) {
                [*v] = raw.find_vertices([node], || scan.here())?;
            }
        }
        let used = vertices.get(..element.used()).unwrap_or_default();
        groups.add(raw, id, element, used, &[physical], entity as i32);
    }
    Ok(())
}
