//! Abaqus `.inp` decks: the nodes, the solid elements of order 1 and 2, and the sets.

use super::error::{Place, ReadError};
use super::raw_mesh::{ItemNumbers, RawMesh};
use super::solid_cell::SolidCell;
use super::text::{TextCursor, parse_int, show, text};
use super::{Content, Reader};
use std::collections::HashMap;

pub(super) const READER: Reader = Reader {
    name: "Abaqus",
    extensions: &["inp"],
    summary: "C3D4, C3D10 and, split into tets, C3D5, C3D6, C3D8, C3D15 and C3D20; ELSET as named tags, NSET as vertex sets",
    content: Content::Solid,
    begins: |head| TextCursor::new(head, None).word().is_none_or(|w| w.first() == Some(&b'*')),
    beginning: "a line such as *NODE",
    parse: |input| parse(&input.data),
};

/// A keyword line, and the offset at which its data begin.
struct Block<'a> {
    keyword: Vec<u8>,
    line: &'a [u8],
    data: usize,
}

/// Named lists in the order of the file. Abaqus ignores the case of names.
#[derive(Default)]
struct Sets {
    lists: Vec<(String, Vec<u32>)>,
    by_name: HashMap<Vec<u8>, usize>,
    /// Number of entries that may still be added. It is bounded because a short line can name a whole range or a whole set.
    budget: usize,
}

impl Sets {
    fn extend(&mut self, name: &[u8], items: impl Iterator<Item = u32>) -> Result<(), ReadError> {
        let lists = &mut self.lists;
        let at = *self.by_name.entry(name.to_ascii_uppercase()).or_insert_with(|| {
            lists.push((text(name), Vec::new()));
            lists.len() - 1
        });
        if let Some((_, list)) = lists.get_mut(at) {
            for item in items {
                if self.budget == 0 {
                    return Err(ReadError::new(
                        Place::File,
                        format!("the sets up to `{}` are far longer than the file", show(name)),
                        "leave out sets that the simulation does not need",
                    ));
                }
                self.budget -= 1;
                list.push(item);
            }
        }
        Ok(())
    }

    fn get(&self, name: &[u8]) -> Option<&Vec<u32>> {
        self.lists.get(*self.by_name.get(&name.to_ascii_uppercase())?).map(|l| &l.1)
    }
}

fn parse(data: &[u8]) -> Result<RawMesh, ReadError> {
    let mut raw = RawMesh::default();
    let blocks = blocks(data)?;
    let of = |keyword: &'static [u8]| blocks.iter().filter(move |b| b.keyword == keyword);
    let budget = data.len() / 4 + (1 << 20);
    let mut nsets = Sets { budget, ..Sets::default() };
    let mut elsets = Sets { budget, ..Sets::default() };
    for b in of(b"NODE") {
        let first = raw.vertices.len() as u32;
        nodes(data, b, &mut raw)?;
        if let Some(name) = parameter(b.line, b"NSET") {
            nsets.extend(name, first..raw.vertices.len() as u32)?;
        }
    }
    unique(&mut raw.vertex_ids, Place::Vertex, "nodes")?;
    // Of solid elements, some of which are several tets.
    let mut ids = ItemNumbers::default();
    for b in of(b"ELEMENT") {
        let first = ids.len() as u32;
        elements(data, b, &mut ids, &mut raw)?;
        if let Some(name) = parameter(b.line, b"ELSET") {
            elsets.extend(name, first..ids.len() as u32)?;
        }
    }
    unique(&mut ids, Place::Tet, "elements")?;
    for b in of(b"NSET") {
        if let Some(name) = parameter(b.line, b"NSET") {
            members(data, b, name, &raw.vertex_ids, &mut nsets)?;
        }
    }
    for b in of(b"ELSET") {
        if let Some(name) = parameter(b.line, b"ELSET") {
            members(data, b, name, &ids, &mut elsets)?;
        }
    }
    for (name, set) in &nsets.lists {
        raw.push_to_set(name, set);
    }
    elsets.lists.retain(|l| !l.1.is_empty());
    if !elsets.lists.is_empty() {
        raw.solids.tets_of(&mut elsets.lists, raw.tets.len());
        raw.tag_by_sets(&elsets.lists);
    }
    if of(b"INSTANCE").count() > 1 {
        raw.notes
            .push("the deck places instances of parts: the parts are read once, as they are defined".into());
    }
    Ok(raw)
}

fn unique(ids: &mut ItemNumbers, place: fn(u64) -> Place, what: &str) -> Result<(), ReadError> {
    ids.index().map_err(|id| {
        ReadError::new(
            place(id),
            format!("two {what} have this number"),
            "write one part per file, numbered once",
        )
    })
}

/// The blocks that the reader uses.
fn blocks(data: &[u8]) -> Result<Vec<Block<'_>>, ReadError> {
    let mut scan = TextCursor::new(data, None);
    let mut found = Vec::new();
    while let Some(line) = scan.line() {
        let Some(rest) = line.strip_prefix(b"*") else {
            continue;
        };
        let keyword = rest.split(|&b| b == b',').next().unwrap_or_default().trim_ascii().to_ascii_uppercase();
        match keyword.as_slice() {
            b"NODE" | b"ELEMENT" | b"NSET" | b"ELSET" | b"INSTANCE" => {
                found.push(Block { keyword, line: rest, data: scan.pos });
            }
            b"INCLUDE" => {
                return scan.fail("the deck includes another file", "put the included lines into this file");
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The value of `name=value` in a keyword line; empty for a bare `name`.
fn parameter<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    line.split(|&b| b == b',').skip(1).find_map(|part| {
        let mut halves = part.splitn(2, |&b| b == b'=').map(<[u8]>::trim_ascii);
        let key = halves.next()?;
        let value = halves.next().unwrap_or_default();
        key.eq_ignore_ascii_case(name)
            .then(|| value.strip_prefix(b"\"").and_then(|v| v.strip_suffix(b"\"")).unwrap_or(value))
    })
}

/// A cursor at the data lines of a block.
fn data_lines<'a>(data: &'a [u8], block: &Block) -> TextCursor<'a> {
    let mut scan = TextCursor::new(data, None).with_commas();
    scan.pos = block.data;
    scan
}

fn more(scan: &mut TextCursor) -> bool {
    while let Some(word) = scan.peek() {
        if !word.starts_with(b"*") {
            return true;
        }
        if !word.starts_with(b"**") {
            return false;
        }
        scan.line();
    }
    false
}

fn nodes(data: &[u8], block: &Block, raw: &mut RawMesh) -> Result<(), ReadError> {
    let mut scan = data_lines(data, block);
    while more(&mut scan) {
        raw.vertex_ids.push(scan.uint("the number of a node")?);
        raw.vertices.push(scan.point()?);
        scan.line();
    }
    Ok(())
}

fn elements(data: &[u8], block: &Block, ids: &mut ItemNumbers, raw: &mut RawMesh) -> Result<(), ReadError> {
    let mut scan = data_lines(data, block);
    let kind = parameter(block.line, b"TYPE").unwrap_or_default().to_ascii_uppercase();
    let digits: Vec<u8> = match kind.windows(3).position(|w| w == b"C3D") {
        Some(at) => kind.iter().skip(at + 3).copied().take_while(u8::is_ascii_digit).collect(),
        None => Vec::new(),
    };
    let solid = match digits.as_slice() {
        b"4" | b"10" => Some(SolidCell::Tet),
        b"5" => Some(SolidCell::Pyramid),
        b"6" | b"15" => Some(SolidCell::Wedge),
        b"8" | b"20" => Some(SolidCell::Hexahedron),
        _ => None,
    };
    let nodes = match (digits.as_slice(), kind.as_slice()) {
        (b"", b"S3" | b"S3R" | b"STRI3" | b"M3D3" | b"R3D3" | b"SFM3D3") => 3,
        (digits, _) if solid.is_some() => digits.iter().fold(0, |n, d| 10 * n + usize::from(d - b'0')),
        (b"", _) => {
            raw.notes.push(format!("elements of type {} are not used", show(&kind)));
            return Ok(());
        }
        _ => {
            scan.pos = block.data.saturating_sub(1);
            return scan.fail(
                format!("the elements are of type {}", show(&kind)),
                "only C3D4, C3D5, C3D6, C3D8, C3D10, C3D15 and C3D20 can be used",
            );
        }
    };
    while more(&mut scan) {
        let id = scan.uint("the number of an element")?;
        let mut own = [0; 20];
        for place in own.iter_mut().take(nodes) {
            let v = scan.uint("a node number")?;
            [*place] = raw.find_vertices([v], || scan.here())?;
        }
        match (solid, own) {
            (None, [a, b, c, ..]) => raw.triangles.push([a, b, c]),
            (Some(kind), _) => {
                raw.push_solid(kind, own.get(..nodes).unwrap_or_default(), id);
                ids.push(id);
            }
        }
    }
    Ok(())
}

/// Reads the members of a set: numbers, names of earlier sets, or lines `first, last, step` after GENERATE. Numbers of items
/// that the mesh does not have, such as shells in an ELSET, are skipped.
fn members(
    data: &[u8],
    block: &Block,
    name: &[u8],
    ids: &ItemNumbers,
    sets: &mut Sets,
) -> Result<(), ReadError> {
    let mut scan = data_lines(data, block);
    let generate = parameter(block.line, b"GENERATE").is_some();
    while more(&mut scan) {
        if generate {
            let (first, last) = (scan.uint("the first number")?, scan.uint("the last number")?);
            let step = if scan.at_line_end() { 1 } else { scan.uint("the step")? };
            if step == 0 || last < first {
                return scan.fail("a range needs first ≤ last and a step above 0", "correct it in the deck");
            }
            if (last - first) / step > ids.len() as u64 {
                let inside = (0..ids.len()).filter(|&i| {
                    let id = ids.id(i);
                    id >= first && id <= last && (id - first).is_multiple_of(step)
                });
                sets.extend(name, inside.map(|i| i as u32))?;
            } else {
                let steps = 0..=(last - first) / step;
                sets.extend(name, steps.filter_map(|k| ids.find(first + k * step)))?;
            }
            continue;
        }
        let word = scan.word().unwrap_or_default();
        if let Some(id) = parse_int(word).and_then(|i| u64::try_from(i).ok()) {
            sets.extend(name, ids.find(id).into_iter())?;
        } else if let Some(other) = sets.get(word).cloned() {
            sets.extend(name, other.into_iter())?;
        }
    }
    Ok(())
}
