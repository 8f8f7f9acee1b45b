//! Vega `.veg` volumes: Barbič, Sin, Schroeder, "Vega FEM library", 2012.

use super::error::{Place, ReadError};
use super::raw_mesh::{ItemNumbers, RawMesh};
use super::solid_cell::SolidCell;
use super::text::{TextCursor, show, text};
use super::{Content, LARGEST, Reader, load};
use std::collections::HashMap;
use std::path::{Component, Path};

pub(super) const READER: Reader = Reader {
    name: "Vega",
    extensions: &["veg"],
    summary: "tetrahedra, cubes split into tetrahedra; element sets and the materials of regions as named tags",
    content: Content::Solid,
    begins: |head| TextCursor::new(head, Some(b'#')).word().is_none_or(|w| w.first() == Some(&b'*')),
    beginning: "a line such as *VERTICES",
    parse: |input| parse(&with_included(input.path, input.data, 0)?),
};

/// Files may include files, these others, and so on, this deep.
const MAX_DEPTH: usize = 8;

/// The file with the lines of those that it includes. They are in its folder or below: a mesh is no way to other files.
fn with_included(path: &Path, data: Vec<u8>, depth: usize) -> Result<Vec<u8>, ReadError> {
    if !data.windows(8).any(|w| w.eq_ignore_ascii_case(b"*include")) {
        return Ok(data);
    }
    let mut whole = Vec::with_capacity(data.len());
    for (number, line) in data.split_inclusive(|b| *b == b'\n').enumerate() {
        let is_include = line.get(..8).is_some_and(|head| head.eq_ignore_ascii_case(b"*include"));
        let Some(name) = line.get(8..).filter(|_| is_include) else {
            whole.extend_from_slice(line);
            continue;
        };
        let name = text(name.trim_ascii());
        let fail = |what: String, remedy: &str| {
            Err(ReadError::new(Place::Line(number as u64 + 1), what, remedy).in_file(path))
        };
        let plain = Path::new(&name).components().all(|c| matches!(c, Component::Normal(_)));
        if name.is_empty() || !plain {
            return fail(format!("the file includes `{name}`"), "name a file beside this one");
        }
        if depth >= MAX_DEPTH {
            return fail(
                format!("files include each other more than {MAX_DEPTH} deep"),
                "put them into one file",
            );
        }
        let file = path.parent().unwrap_or(Path::new("")).join(&name);
        let included = load(&file, &[]).map_err(|e| e.in_file(&file))?;
        whole.extend(with_included(&file, included, depth + 1)?);
        whole.push(b'\n');
        if whole.len() as u64 > LARGEST {
            return fail("the included files are too large together".into(), "use a coarser mesh");
        }
    }
    Ok(whole)
}

/// Region that every Vega file may use without defining it.
const ALL: &str = "allElements";

fn parse(data: &[u8]) -> Result<RawMesh, ReadError> {
    let mut scan = TextCursor::new(data, Some(b'#')).with_commas();
    let mut raw = RawMesh::default();
    // Of the elements, some of which may be several tets.
    let mut ids = ItemNumbers::default();
    let mut sets: Vec<(String, Vec<u32>)> = Vec::new();
    let mut regions: Vec<(String, String)> = Vec::new();
    let mut numbered = false;
    while let Some(word) = scan.word() {
        match word.to_ascii_uppercase().as_slice() {
            b"*VERTICES" => {
                if !raw.vertices.is_empty() {
                    return scan.fail("*VERTICES come twice", "write one section of vertices");
                }
                let n = scan.count("the number of vertices", 8)?;
                scan.line();
                raw.vertices.reserve_exact(n);
                for _ in 0..n {
                    raw.vertex_ids.push(scan.uint("the number of a vertex")?);
                    raw.vertices.push(scan.point()?);
                }
                if let Err(id) = raw.vertex_ids.index() {
                    let fault = "two vertices have this number";
                    return Err(ReadError::new(Place::Vertex(id), fault, "number the vertices 1, 2, 3, …"));
                }
            }
            b"*ELEMENTS" => {
                if !raw.tets.is_empty() {
                    return scan.fail("*ELEMENTS come twice", "write one section of elements");
                }
                elements(&mut scan, &mut ids, &mut raw)?;
            }
            b"*SET" => {
                let name = text(scan.word_in_line().unwrap_or_default());
                if !numbered {
                    numbered = true;
                    if let Err(id) = ids.index() {
                        let fault = "two elements have this number";
                        return Err(ReadError::new(Place::Tet(id), fault, "number the elements 1, 2, 3, …"));
                    }
                }
                let mut set = Vec::new();
                while scan.peek().is_some_and(|w| w.first() != Some(&b'*')) {
                    let id = scan.uint("the number of an element")?;
                    match ids.find(id) {
                        Some(tet) => set.push(tet),
                        None => {
                            return scan.fail(
                                format!("the set `{name}` refers to element {id}, which does not exist"),
                                "define the elements before the sets",
                            );
                        }
                    }
                }
                sets.push((name, set));
            }
            b"*MATERIAL" => {
                let name = text(scan.word_in_line().unwrap_or_default());
                scan.line();
                scan.peek();
                let values = scan.line().map(show).unwrap_or_default();
                if raw.notes.len() < 20 {
                    raw.notes.push(format!(
                        "the material `{name}` ({values}) is only a name here: give it in the scene"
                    ));
                }
            }
            b"*REGION" => {
                let set = text(scan.word().unwrap_or_default());
                let material = text(scan.word_in_line().unwrap_or_default());
                regions.push((set, material));
            }
            _ if word.first() == Some(&b'*') => {
                while scan.peek().is_some_and(|w| w.first() != Some(&b'*')) {
                    scan.line();
                }
            }
            _ => {
                return scan.fail(
                    format!("expected a line such as *ELEMENTS, found `{}`", show(word)),
                    "a count and the lines after it may disagree",
                );
            }
        }
    }
    raw.solids.tets_of(&mut sets, raw.tets.len());
    tags(&mut raw, sets, &regions)?;
    Ok(raw)
}

fn elements(scan: &mut TextCursor, ids: &mut ItemNumbers, raw: &mut RawMesh) -> Result<(), ReadError> {
    let kind = scan.word().unwrap_or_default().to_ascii_uppercase();
    let solid = match kind.as_slice() {
        b"TET" | b"TETS" => SolidCell::Tet,
        b"CUBIC" => SolidCell::Hexahedron,
        _ => {
            return scan.fail(
                format!("the elements are of type `{}`", show(&kind)),
                "only TET and CUBIC can be used: convert the mesh",
            );
        }
    };
    let n = scan.count("the number of elements", 10)?;
    scan.line();
    raw.tets.reserve_exact(n);
    for _ in 0..n {
        let id = scan.uint("the number of an element")?;
        let mut nodes = [0; 8];
        for node in nodes.iter_mut().take(solid.corners()) {
            let v = scan.uint("a vertex number")?;
            [*node] = raw.find_vertices([v], || scan.here())?;
        }
        raw.push_solid(solid, nodes.get(..solid.corners()).unwrap_or_default(), id);
        ids.push(id);
    }
    Ok(())
}

/// A region gives the tets of its set the name of its material, besides the name of the set.
fn tags(
    raw: &mut RawMesh,
    mut sets: Vec<(String, Vec<u32>)>,
    regions: &[(String, String)],
) -> Result<(), ReadError> {
    let by_name: HashMap<&str, &Vec<u32>> = sets.iter().rev().map(|s| (s.0.as_str(), &s.1)).collect();
    let mut materials: HashMap<&str, Vec<u32>> = HashMap::new();
    // Lists of whole sets are copied here: bounded, or a short file could ask for many.
    let mut budget = 16 * raw.tets.len() + (1 << 20);
    for (set, material) in regions {
        let tets = match by_name.get(set.as_str()) {
            Some(&s) => s.clone(),
            None if set == ALL => (0..raw.tets.len() as u32).collect(),
            None => {
                return Err(ReadError::new(
                    Place::File,
                    format!("a *REGION names the set `{set}`, which the file does not define"),
                    "define it with *SET",
                ));
            }
        };
        budget = match budget.checked_sub(tets.len()) {
            Some(left) => left,
            None => {
                return Err(ReadError::new(
                    Place::File,
                    "the regions overlap too often",
                    "give each element one region",
                ));
            }
        };
        materials.entry(material).or_default().extend(tets);
    }
    // By name, so that the tags do not depend on the hash.
    let mut materials: Vec<(String, Vec<u32>)> =
        materials.into_iter().map(|(n, t)| (n.to_string(), t)).collect();
    materials.sort();
    sets.extend(materials);
    if !sets.is_empty() {
        raw.tag_by_sets(&sets);
    }
    Ok(())
}
