//! Gmsh `.msh`: Geuzaine and Remacle, "Gmsh: a 3-D finite element mesh generator", IJNME 79(11),
//! 2009; file formats 2.2 and 4.1 in its reference manual. Sections and groups, which both
//! versions share; nodes and elements are in `gmsh2` and `gmsh4`.

use super::bin::Bin;
use super::error::{Place, ReadError};
use super::raw::{MOST_SETS, Raw, set_name};
use super::scan::{Scan, show, text};
use super::{Reader, gmsh2, gmsh4};
use std::collections::HashMap;

pub(super) const READER: Reader = Reader {
    name: "Gmsh",
    extensions: &["msh"],
    summary: "2.2 and 4.1, text and binary; physical volumes as tags with their names, other physical groups as vertex sets",
    begins: |head| Scan::new(head, None).word().is_some_and(|w| w.first() == Some(&b'$')),
    beginning: "$MeshFormat",
    parse: |_, data| parse(&data),
};

/// How the numbers of this file are written.
#[derive(Clone, Copy)]
pub(super) struct Format {
    pub binary: bool,
    pub big_endian: bool,
    /// Bytes of a `size_t` of version 4.
    pub size: u64,
    /// 2 or 4.
    major: u32,
}

/// Groups as they are met, and what each tet belongs to.
#[derive(Default)]
pub(super) struct Groups {
    names: HashMap<(u32, i64), String>,
    sets: HashMap<(u32, i64), Vec<u32>>,
    /// Elementary entity of each tet, for files without physical groups.
    entities: Vec<i32>,
    /// Physical groups of each entity (dimension, number), from `$Entities` of version 4.
    pub physicals: HashMap<(u32, i32), Vec<i64>>,
    higher_order: u64,
    lower: u64,
    several: bool,
}

/// (dimension, corners, nodes) of Gmsh's element types; corners come first among the nodes.
pub(super) fn element_type(kind: i32) -> Option<(u32, usize, usize)> {
    Some(match kind {
        15 => (0, 1, 1),
        1 => (1, 2, 2),
        8 => (1, 2, 3),
        26 => (1, 2, 4),
        27 => (1, 2, 5),
        28 => (1, 2, 6),
        2 => (2, 3, 3),
        9 => (2, 3, 6),
        20 => (2, 3, 9),
        21 => (2, 3, 10),
        22 => (2, 3, 12),
        23 | 24 => (2, 3, 15),
        25 => (2, 3, 21),
        3 => (2, 4, 4),
        16 => (2, 4, 8),
        10 => (2, 4, 9),
        4 => (3, 4, 4),
        11 => (3, 4, 10),
        29 => (3, 4, 20),
        30 => (3, 4, 35),
        31 => (3, 4, 56),
        _ => return None,
    })
}

/// The refusal of an element that is neither a tet nor of lower dimension.
pub(super) fn not_a_tet(place: Place, id: u64, kind: i32) -> ReadError {
    let name = match kind {
        5 | 12 | 17 | 92 | 93 => "a hexahedron",
        6 | 13 | 18 => "a prism",
        7 | 14 | 19 => "a pyramid",
        _ => "of a type that is not known",
    };
    ReadError::new(
        place,
        format!("element {id} is {name} (Gmsh type {kind})"),
        "only tetrahedra can be used: mesh the volume without recombination",
    )
}

impl Groups {
    /// Adds one element whose corners are positions of vertices.
    pub fn add(
        &mut self,
        raw: &mut Raw,
        id: u64,
        (dimension, corners, nodes): (u32, usize, usize),
        vertices: &[u32],
        physicals: &[i64],
        entity: i32,
    ) {
        if dimension == 3 {
            if let [a, b, c, d, ..] = *vertices {
                raw.tets.push([a, b, c, d]);
            }
            raw.tet_ids.push(id);
            raw.tags.push(physicals.first().copied().unwrap_or(0).saturating_abs());
            self.entities.push(entity);
            self.higher_order += u64::from(nodes > corners);
            self.several |= physicals.len() > 1;
            return;
        }
        self.lower += 1;
        if dimension == 2 {
            raw.push_polygon(vertices);
        }
        for p in physicals.iter().filter(|&&p| p != 0) {
            let key = (dimension, p.saturating_abs());
            if self.sets.len() < MOST_SETS || self.sets.contains_key(&key) {
                self.sets.entry(key).or_default().extend_from_slice(vertices);
            }
        }
    }

    fn finish(self, raw: &mut Raw) {
        for ((dimension, tag), set) in self.sets {
            match self.names.get(&(dimension, tag)) {
                Some(name) => raw.push_to_set(name, &set),
                None => raw.push_to_set(&set_name(dimension, tag), &set),
            }
        }
        for ((dimension, tag), name) in self.names {
            if dimension == 3 {
                raw.region_names.entry(name).or_default().push(tag);
            }
        }
        let first = self.entities.first();
        if raw.tags.iter().all(|&t| t == 0) && self.entities.iter().any(|e| Some(e) != first) {
            raw.tags = self.entities.iter().map(|&e| i64::from(e)).collect();
            raw.notes
                .push("the file has no physical volumes: the numbers of its volumes are the tags".into());
        }
        if self.higher_order > 0 {
            raw.notes.push(format!(
                "{} tetrahedra are of higher order: their corners are used, the other nodes are not",
                self.higher_order
            ));
        }
        if self.several {
            raw.notes.push("some volumes are in several physical groups: the first is the tag".into());
        }
    }
}

fn parse(data: &[u8]) -> Result<Raw, ReadError> {
    let mut scan = Scan::new(data, None);
    let mut raw = Raw { repeats_are_groups: true, ..Raw::default() };
    let mut groups = Groups::default();
    let mut format = None;
    let mut seen: Vec<&[u8]> = Vec::new();
    while let Some(word) = scan.word() {
        let Some(name) = word.strip_prefix(b"$") else {
            return scan.fail(
                format!("expected a section such as $Nodes, found `{}`", show(word)),
                "a count and the lines after it may disagree",
            );
        };
        if matches!(name, b"MeshFormat" | b"Nodes" | b"Elements" | b"Entities") {
            if seen.contains(&name) {
                return scan.fail(format!("${} comes twice", show(name)), "write the mesh again");
            }
            seen.push(name);
        }
        if name == b"MeshFormat" {
            format = Some(mesh_format(&mut scan)?);
            end_section(&mut scan, name)?;
            continue;
        }
        let known = matches!(name, b"PhysicalNames" | b"Entities" | b"Nodes" | b"Elements");
        if !known {
            skip_section(&mut scan, name)?;
            continue;
        }
        let Some(format) = format else {
            return scan.fail(format!("${} comes before $MeshFormat", show(name)), "write the mesh again");
        };
        match (name, format.major) {
            (b"PhysicalNames", _) => physical_names(&mut scan, &mut groups)?,
            (b"Entities", 4) => gmsh4::entities(&mut scan, format, &mut groups)?,
            (b"Entities", _) => {
                skip_section(&mut scan, name)?;
                continue;
            }
            (b"Nodes", major) => {
                if major == 2 {
                    gmsh2::nodes(&mut scan, format, &mut raw)?;
                } else {
                    gmsh4::nodes(&mut scan, format, &mut raw)?;
                }
                if let Err(id) = raw.vertex_ids.index() {
                    return Err(ReadError::new(
                        Place::Vertex(id),
                        "two nodes have this number",
                        "renumber the mesh",
                    ));
                }
            }
            (_, 2) => gmsh2::elements(&mut scan, format, &mut raw, &mut groups)?,
            (_, _) => gmsh4::elements(&mut scan, format, &mut raw, &mut groups)?,
        }
        end_section(&mut scan, name)?;
    }
    if format.is_none() {
        return scan.fail("$MeshFormat is missing", "write the mesh again");
    }
    groups.finish(&mut raw);
    Ok(raw)
}

fn mesh_format(scan: &mut Scan) -> Result<Format, ReadError> {
    let version = scan.float("the version of the format")?;
    let binary = scan.uint("the kind of file (0 text, 1 binary)")?;
    let size = scan.uint("the size of numbers")?;
    let major = if (2.0..2.3).contains(&version) {
        2
    } else if version == 4.1 {
        4
    } else {
        return scan.fail(
            format!("version {version} of the format is not read"),
            "save as 2.2 or 4.1 (in Gmsh: Mesh.MshFileVersion = 4.1)",
        );
    };
    if binary > 1 || !matches!(size, 4 | 8) || (major == 2 && size != 8) {
        return scan
            .fail(format!("`{version} {binary} {size}` is not a format of Gmsh"), "write the mesh again");
    }
    let mut format = Format { binary: binary == 1, big_endian: false, size, major };
    if format.binary {
        scan.line();
        let mut bin = Bin::new(scan.data, scan.pos, false);
        match bin.i32()? {
            1 => {}
            0x0100_0000 => format.big_endian = true,
            other => {
                return bin
                    .fail(format!("the mark of the byte order is {other}, not 1"), "write the mesh again");
            }
        }
        scan.pos = bin.pos;
    }
    Ok(format)
}

fn end_section(scan: &mut Scan, name: &[u8]) -> Result<(), ReadError> {
    let start = scan.pos;
    let found = scan.word();
    if found.and_then(|w| w.strip_prefix(b"$End")) == Some(name) {
        return Ok(());
    }
    let found = found.map_or("the end of the file".to_string(), |w| format!("`{}`", show(w)));
    scan.pos = start;
    scan.fail(
        format!("$End{} should be here, found {found}", show(name)),
        "the section has more or less than its count says: write the mesh again",
    )
}

/// Past `$EndName`; sections of other names may hold binary data.
fn skip_section(scan: &mut Scan, name: &[u8]) -> Result<(), ReadError> {
    let start = scan.pos;
    let end = [b"$End", name].concat();
    while let Some(step) = scan.rest().iter().position(|&b| b == b'$') {
        scan.pos += step;
        if scan.rest().starts_with(&end) {
            scan.pos += end.len();
            return Ok(());
        }
        scan.pos += 1;
    }
    scan.pos = start;
    scan.fail(format!("${} has no end", show(name)), "the file may be cut short: write the mesh again")
}

fn physical_names(scan: &mut Scan, groups: &mut Groups) -> Result<(), ReadError> {
    let n = scan.count("the number of names", 7)?;
    for _ in 0..n {
        let dimension = scan.uint("the dimension of a group")?;
        let tag = scan.int("the number of a group")?;
        let line = scan.line().unwrap_or_default();
        let name = line.strip_prefix(b"\"").and_then(|l| l.strip_suffix(b"\"")).unwrap_or(line);
        if dimension > 3 || name.is_empty() {
            return scan
                .fail("a group needs a dimension up to 3, a number and a name", "write the mesh again");
        }
        groups.names.insert((dimension as u32, tag), text(name));
    }
    Ok(())
}
