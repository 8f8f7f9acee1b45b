//! Gmsh `.msh`: Geuzaine and Remacle, "Gmsh: a 3-D finite element mesh generator", IJNME 79(11),
//! 2009; file formats 1, 2.2 and 4.1 in its reference manual. This file reads the sections that both
//! versions share. Nodes and elements differ: `version1`, `version2` and `version4` read them.

mod element_type;
mod groups;
mod version1;
mod version2;
mod version4;

use super::binary::BinaryCursor;
use super::error::{Place, ReadError};
use super::raw_mesh::RawMesh;
use super::text::{TextCursor, show, text};
use super::{Content, Reader};
use groups::Groups;

pub(super) const READER: Reader = Reader {
    name: "Gmsh",
    extensions: &["msh"],
    summary: "1, 2.2 and 4.1, text and binary; physical volumes as tags with their names, other physical groups as vertex sets",
    content: Content::Solid,
    begins: |head| TextCursor::new(head, None).word().is_some_and(|w| w.first() == Some(&b'$')),
    beginning: "$MeshFormat",
    parse: |input| parse(&input.data),
};

/// How the numbers of this file are written.
#[derive(Clone, Copy)]
struct Format {
    binary: bool,
    big_endian: bool,
    /// Bytes of a `size_t` of version 4.
    size: u64,
    /// 2 or 4.
    major: u32,
}

/// Whether the bytes are a binary mesh of MuJoCo, which has the same extension: four counts, then as many vertices and
/// normals (3 floats), texture coordinates (2 floats) and faces (3 integers).
fn is_mujoco(data: &[u8]) -> bool {
    let Some((head, rest)) = data.split_first_chunk::<16>() else { return false };
    let counts: [u64; 4] = head
        .as_chunks::<4>()
        .0
        .try_into()
        .map_or([0; 4], |c: [[u8; 4]; 4]| c.map(|count| u64::from(u32::from_le_bytes(count))));
    let [vertices, normals, coordinates, faces] = counts;
    vertices > 0 && 12 * (vertices + normals + faces) + 8 * coordinates == rest.len() as u64
}

fn parse(data: &[u8]) -> Result<RawMesh, ReadError> {
    let mut scan = TextCursor::new(data, None);
    if is_mujoco(data) {
        return scan.fail(
            "this is a binary mesh of MuJoCo, a surface, not one of Gmsh",
            "save it as .stl or .obj, which are filled with tets",
        );
    }
    let mut raw = RawMesh { repeats_are_groups: true, ..RawMesh::default() };
    let mut groups = Groups::default();
    let mut format = None;
    // Version 1 has no $MeshFormat.
    let mut version_1 = false;
    let mut seen: Vec<&[u8]> = Vec::new();
    while let Some(word) = scan.word() {
        let Some(name) = word.strip_prefix(b"$") else {
            return scan.fail(
                format!("expected a section such as $Nodes, found `{}`", show(word)),
                "a count and the lines after it may disagree",
            );
        };
        if matches!(name, b"MeshFormat" | b"Nodes" | b"Elements" | b"Entities" | b"NOD" | b"ELM") {
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
        if matches!(name, b"NOD" | b"ELM") && format.is_none() {
            version_1 = true;
            match name {
                b"NOD" => {
                    version1::nodes(&mut scan, &mut raw)?;
                    index(&mut raw)?;
                }
                _ => version1::elements(&mut scan, &mut raw, &mut groups)?,
            }
            end_section_of(&mut scan, b"$END", name)?;
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
            (b"Entities", 4) => version4::entities(&mut scan, format, &mut groups)?,
            (b"Entities", _) => {
                skip_section(&mut scan, name)?;
                continue;
            }
            (b"Nodes", major) => {
                if major == 2 {
                    version2::nodes(&mut scan, format, &mut raw)?;
                } else {
                    version4::nodes(&mut scan, format, &mut raw)?;
                }
                index(&mut raw)?;
            }
            (_, 2) => version2::elements(&mut scan, format, &mut raw, &mut groups)?,
            (_, _) => version4::elements(&mut scan, format, &mut raw, &mut groups)?,
        }
        end_section(&mut scan, name)?;
    }
    if format.is_none() && !version_1 {
        return scan.fail("$MeshFormat is missing", "write the mesh again");
    }
    groups.finish(&mut raw);
    Ok(raw)
}

fn index(raw: &mut RawMesh) -> Result<(), ReadError> {
    let twice = |id| ReadError::new(Place::Vertex(id), "two nodes have this number", "renumber the mesh");
    raw.vertex_ids.index().map_err(twice)
}

fn mesh_format(scan: &mut TextCursor) -> Result<Format, ReadError> {
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
        let mut bin = BinaryCursor::new(scan.data, scan.pos, false);
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

fn end_section(scan: &mut TextCursor, name: &[u8]) -> Result<(), ReadError> {
    end_section_of(scan, b"$End", name)
}

fn end_section_of(scan: &mut TextCursor, prefix: &[u8], name: &[u8]) -> Result<(), ReadError> {
    let start = scan.pos;
    let found = scan.word();
    if found.and_then(|w| w.strip_prefix(prefix)) == Some(name) {
        return Ok(());
    }
    let found = found.map_or("the end of the file".to_string(), |w| format!("`{}`", show(w)));
    scan.pos = start;
    scan.fail(
        format!("{}{} should be here, found {found}", show(prefix), show(name)),
        "the section has more or less than its count says: write the mesh again",
    )
}

/// Past `$EndName`; sections of other names may hold binary data.
fn skip_section(scan: &mut TextCursor, name: &[u8]) -> Result<(), ReadError> {
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

fn physical_names(scan: &mut TextCursor, groups: &mut Groups) -> Result<(), ReadError> {
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
        groups.add_name(dimension as u32, tag, text(name));
    }
    Ok(())
}
