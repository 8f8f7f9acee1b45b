//! TetGen `.node` and `.ele`: Si, "TetGen, a Delaunay-based quality tetrahedral mesh generator",
//! ACM TOMS 41(2), 2015; file formats in its manual.

use super::error::{Place, ReadError};
use super::raw_mesh::{ItemNumbers, RawMesh, set_name};
use super::solid_cell::SolidCell;
use super::text::{TextCursor, parse_float};
use super::{Content, Input, Reader, load};
use std::path::Path;

pub(super) const READER: Reader = Reader {
    name: "TetGen",
    extensions: &["node", "ele"],
    summary: "the pair .node and .ele, given by either; region attribute as tag, boundary markers as vertex sets",
    content: Content::Solid,
    begins: |head| TextCursor::new(head, Some(b'#')).word().is_none_or(|w| w.iter().all(u8::is_ascii_digit)),
    beginning: "the number of its lines",
    parse,
};

fn parse(Input { path, format, data, .. }: Input<'_>) -> Result<RawMesh, ReadError> {
    let is_node = format == "node";
    let partner = partner(path, is_node);
    let other = load(&partner, &[&READER]).map_err(|mut e| {
        if !partner.exists() {
            e.what = format!("the other half of the mesh, {}, is missing", partner.display());
            e.remedy = "put the .node and the .ele file side by side under the same name".into();
            return e.in_file(path);
        }
        e.in_file(&partner)
    })?;
    let (node, ele) = if is_node { (path, partner.as_path()) } else { (partner.as_path(), path) };
    let (node_data, ele_data) = if is_node { (data, other) } else { (other, data) };
    let mut raw = RawMesh::default();
    nodes(&node_data, &mut raw).map_err(|e| e.in_file(node))?;
    drop(node_data);
    elements(&ele_data, &mut raw).map_err(|e| e.in_file(ele))?;
    Ok(raw)
}

/// The same name with the other extension, upper case if this one is.
fn partner(path: &Path, is_node: bool) -> std::path::PathBuf {
    let other = if is_node { "ele" } else { "node" };
    let upper = path.extension().is_some_and(|e| e.to_string_lossy().chars().all(char::is_uppercase));
    path.with_extension(if upper { other.to_uppercase() } else { other.to_string() })
}

fn nodes(data: &[u8], raw: &mut RawMesh) -> Result<(), ReadError> {
    let mut scan = TextCursor::new(data, Some(b'#'));
    let n = scan.uint("the number of nodes")?;
    let mut header = [3, 0, 0]; // dimension, attributes, boundary marker
    for h in &mut header {
        if !scan.at_line_end() {
            *h = scan.uint("the header `nodes dimension attributes markers`")?;
        }
    }
    let [dimension, attributes, marker] = header;
    if dimension != 3 {
        return scan.fail(format!("the mesh has dimension {dimension}"), "only meshes in 3-D can be used");
    }
    if n == 0 {
        return scan.fail(
            "the file announces no nodes (TetGen writes this when they are in another file)",
            "write the nodes into the .node file",
        );
    }
    let n = scan.fits(n, 8)?;
    raw.vertices.reserve_exact(n);
    let mut last = (i64::MIN, String::new());
    for v in 0..n {
        let id = scan.uint("the number of a node")?;
        if raw.vertex_ids.len() == 0 && id > 1 {
            return scan
                .fail(format!("the first node has number {id}"), "nodes are numbered from 0 or from 1");
        }
        raw.vertex_ids.push(id);
        raw.vertices.push(scan.point()?);
        for _ in 0..attributes {
            scan.float("an attribute of the node")?;
        }
        // Some programs promise a marker that their lines do not have.
        if marker > 0 && !scan.at_line_end() {
            let m = scan.int("the boundary marker of the node")?;
            if m != 0 {
                if last.0 != m {
                    last = (m, set_name(0, m));
                }
                raw.push_to_set(&last.1, &[v as u32]);
            }
        }
    }
    if raw.vertex_ids.id(n - 1) != raw.vertex_ids.id(0) + (n as u64 - 1) || raw.vertex_ids.index().is_err() {
        return Err(ReadError::new(
            Place::File,
            "the nodes are not numbered one after the other",
            "number them from 0 or from 1 without gaps",
        ));
    }
    Ok(())
}

fn elements(data: &[u8], raw: &mut RawMesh) -> Result<(), ReadError> {
    let mut scan = TextCursor::new(data, Some(b'#'));
    let n = scan.uint("the number of tetrahedra")?;
    let mut header = [4, 0]; // nodes per element, attributes
    for h in &mut header {
        if !scan.at_line_end() {
            *h = scan.uint("the header `tetrahedra nodes-per-tetrahedron attributes`")?;
        }
    }
    let [per_tet, attributes] = header;
    if per_tet != 4 && per_tet != 10 {
        return scan.fail(format!("the elements have {per_tet} nodes"), "tetrahedra have 4 or 10");
    }
    let n = scan.fits(n, 2 * (per_tet + 1))?;
    raw.tets.reserve_exact(n);
    let (mut least, mut most) = (u32::MAX, 0u32);
    for _ in 0..n {
        let id = scan.uint("the number of a tetrahedron")?;
        let mut nodes = [0u32; 10];
        for t in nodes.iter_mut().take(per_tet as usize) {
            let v = scan.uint("a node number")?;
            *t = match u32::try_from(v) {
                Ok(v) => v,
                Err(_) => {
                    return scan.fail(
                        format!("the tetrahedron refers to node {v}, which does not exist"),
                        "the two files may not belong together",
                    );
                }
            };
            least = least.min(*t);
            most = most.max(*t);
        }
        raw.push_solid(SolidCell::Tet, nodes.get(..per_tet as usize).unwrap_or_default(), id);
        if attributes > 0 {
            raw.tags.push(attribute(&mut scan)?);
            for _ in 1..attributes {
                scan.float("an attribute of the tetrahedron")?;
            }
        }
    }
    rebase(raw, least, most)
}

/// The region attribute; TetGen writes it as a real number that is whole.
fn attribute(scan: &mut TextCursor) -> Result<i64, ReadError> {
    let start = scan.pos;
    let word = scan.word().unwrap_or_default();
    match parse_float(word) {
        Some(x) if x.abs() < 9e15 => Ok(x.round() as i64),
        _ => {
            scan.pos = start;
            scan.int("the region attribute")
        }
    }
}

/// Positions from node numbers. Some programs number the nodes from 1 and refer to them from 0:
/// a reference to 0 is then the evidence, and every tet follows it.
fn rebase(raw: &mut RawMesh, least: u32, most: u32) -> Result<(), ReadError> {
    let n = raw.vertices.len() as u64;
    let first = raw.vertex_ids.id(0);
    let mut base = first;
    if first == 1 && least == 0 && u64::from(most) < n {
        base = 0;
        raw.notes.push("the .node file numbers from 1 and the .ele file refers from 0: read so".into());
    } else if first == 0 && least >= 1 && u64::from(most) == n {
        base = 1;
        raw.notes.push("the .node file numbers from 0 and the .ele file refers from 1: read so".into());
    }
    if base != first {
        raw.vertex_ids = ItemNumbers::counted(base, raw.vertices.len());
    }
    raw.solids.rebase(base);
    for (e, tet) in raw.tets.iter_mut().enumerate() {
        for v in tet {
            let id = u64::from(*v);
            if id < base || id - base >= n {
                return Err(ReadError::new(
                    Place::Tet(raw.tet_ids.id(e)),
                    format!(
                        "it refers to node {id}, but the {n} nodes are numbered {base} to {}",
                        base + n - 1
                    ),
                    "the two files may not belong together",
                ));
            }
            *v = (id - base) as u32;
        }
    }
    Ok(())
}
