//! Entities, nodes and elements of Gmsh format 4.1.

use super::super::binary::BinaryCursor;
use super::super::error::{Place, ReadError};
use super::super::raw_mesh::{ItemNumbers, RawMesh};
use super::super::text::TextCursor;
use super::Format;
use super::element_type::{ElementType, MOST_NODES, not_a_tet};
use super::groups::Groups;

/// Physical groups of one entity that are kept; each costs time for every element in it.
const MOST_GROUPS: usize = 64;

/// Numbers as text or binary: version 4.1 has the same fields in the same order in both.
struct Gmsh4Numbers<'s, 'a> {
    scan: &'s mut TextCursor<'a>,
    bin: BinaryCursor<'a>,
    format: Format,
}

impl<'s, 'a> Gmsh4Numbers<'s, 'a> {
    fn new(scan: &'s mut TextCursor<'a>, format: Format) -> Self {
        if format.binary {
            scan.line();
        }
        let bin = BinaryCursor::new(scan.data, scan.pos, format.big_endian);
        Gmsh4Numbers { scan, bin, format }
    }

    /// Leaves the text cursor behind what has been read.
    fn done(self) {
        if self.format.binary {
            self.scan.pos = self.bin.pos;
        }
    }

    fn here(&self) -> Place {
        if self.format.binary { self.bin.here() } else { self.scan.here() }
    }

    fn fail<T>(&self, what: String) -> Result<T, ReadError> {
        Err(ReadError::new(self.here(), what, "the file may be damaged: write it again"))
    }

    /// A `size_t`.
    fn size(&mut self, wanted: &str) -> Result<u64, ReadError> {
        match (self.format.binary, self.format.size) {
            (false, _) => self.scan.uint(wanted),
            (true, 8) => self.bin.u64(),
            (true, _) => self.bin.i32().map(|i| u64::from(i as u32)),
        }
    }

    fn int(&mut self, wanted: &str) -> Result<i32, ReadError> {
        if self.format.binary {
            return self.bin.i32();
        }
        let value = self.scan.int(wanted)?;
        match i32::try_from(value) {
            Ok(v) => Ok(v),
            Err(_) => self.fail(format!("{value} is too large for {wanted}")),
        }
    }

    fn float(&mut self, wanted: &str) -> Result<f64, ReadError> {
        if self.format.binary { self.bin.f64() } else { self.scan.float(wanted) }
    }

    fn point(&mut self) -> Result<[f64; 3], ReadError> {
        if self.format.binary { self.bin.point() } else { self.scan.point() }
    }

    /// A count of items that take at least these bytes as text and as binary.
    fn count(&mut self, wanted: &str, as_text: u64, as_binary: u64) -> Result<usize, ReadError> {
        let n = self.size(wanted)?;
        if !self.format.binary {
            return self.scan.fits(n, as_text);
        }
        let left = self.bin.left() as u64;
        match n.checked_mul(as_binary) {
            Some(bytes) if bytes <= left => Ok(n as usize),
            _ => self.fail(format!("{wanted} is {n}, but only {left} bytes follow")),
        }
    }
}

pub(super) fn entities(scan: &mut TextCursor, format: Format, groups: &mut Groups) -> Result<(), ReadError> {
    let mut src = Gmsh4Numbers::new(scan, format);
    let mut counts = [0u64; 4];
    for c in &mut counts {
        *c = src.size("the number of entities")?;
    }
    for (dimension, n) in counts.into_iter().enumerate() {
        for _ in 0..n {
            let tag = src.int("the number of an entity")?;
            for _ in 0..if dimension == 0 { 3 } else { 6 } {
                src.float("a bound of the entity")?;
            }
            let physicals = src.count("the number of physical groups", 2, 4)?;
            let mut list = Vec::new();
            for _ in 0..physicals {
                let group = i64::from(src.int("a physical group")?);
                if list.len() < MOST_GROUPS {
                    list.push(group);
                }
            }
            if !list.is_empty() {
                groups.physicals.insert((dimension as u32, tag), list);
            }
            if dimension > 0 {
                for _ in 0..src.count("the number of bounding entities", 2, 4)? {
                    src.int("a bounding entity")?;
                }
            }
        }
    }
    src.done();
    Ok(())
}

pub(super) fn nodes(scan: &mut TextCursor, format: Format, raw: &mut RawMesh) -> Result<(), ReadError> {
    let size = format.size;
    let mut src = Gmsh4Numbers::new(scan, format);
    let blocks = src.size("the number of blocks")?;
    let total = src.count("the number of nodes", 8, size + 24)?;
    src.size("the least node number")?;
    src.size("the greatest node number")?;
    raw.vertices.reserve_exact(total);
    let mut ids = ItemNumbers::default();
    for _ in 0..blocks {
        let dimension = src.int("the dimension of a block")?;
        src.int("the entity of a block")?;
        let parametric = src.int("the mark of parametric nodes")?;
        let n = src.count("the number of nodes of a block", 8, size + 24)?;
        for _ in 0..n {
            ids.push(src.size("the number of a node")?);
        }
        for _ in 0..n {
            raw.vertices.push(src.point()?);
            if parametric != 0 {
                for _ in 0..dimension.clamp(0, 3) {
                    src.float("a parameter of the node")?;
                }
            }
        }
    }
    if raw.vertices.len() != total {
        return src.fail(format!("the blocks hold {} nodes, the header says {total}", raw.vertices.len()));
    }
    raw.vertex_ids = ids;
    src.done();
    Ok(())
}

pub(super) fn elements(
    scan: &mut TextCursor,
    format: Format,
    raw: &mut RawMesh,
    groups: &mut Groups,
) -> Result<(), ReadError> {
    let size = format.size;
    let mut src = Gmsh4Numbers::new(scan, format);
    let blocks = src.size("the number of blocks")?;
    let total = src.count("the number of elements", 4, 2 * size)?;
    src.size("the least element number")?;
    src.size("the greatest element number")?;
    let mut done = 0usize;
    for _ in 0..blocks {
        let dimension = src.int("the dimension of a block")?;
        let entity = src.int("the entity of a block")?;
        let kind = src.int("the type of elements")?;
        let n = src.count("the number of elements of a block", 4, 2 * size)?;
        if n == 0 {
            continue;
        }
        let place = src.here();
        let Some(element) = ElementType::find(kind) else {
            return Err(not_a_tet(place, src.size("the number of an element")?, kind));
        };
        let physicals = u32::try_from(dimension)
            .ok()
            .and_then(|d| groups.physicals.get(&(d, entity)).cloned())
            .unwrap_or_default();
        for _ in 0..n {
            let id = src.size("the number of an element")?;
            let mut vertices = [0u32; MOST_NODES];
            for k in 0..element.nodes {
                let node = src.size("a node number")?;
                if let Some(v) = vertices.get_mut(k).filter(|_| k < element.used()) {
                    [*v] = raw.find_vertices([node], || src.here())?;
                }
            }
            let vertices = vertices.get(..element.used()).unwrap_or_default();
            groups.add(raw, id, element, vertices, &physicals, entity);
        }
        done += n;
    }
    if done != total {
        return src.fail(format!("the blocks hold {done} elements, the header says {total}"));
    }
    src.done();
    Ok(())
}
