//! Nastran bulk data (`.bdf`, `.nas`): GRID and solid elements of order 1 and 2, in free, small and large fields.

use super::error::{Place, ReadError};
use super::raw_mesh::RawMesh;
use super::solid_cell::SolidCell;
use super::text::show;
use super::{Content, Reader};

pub(super) const READER: Reader = Reader {
    name: "Nastran",
    extensions: &["bdf", "nas"],
    summary: "CTETRA, CHEXA, CPENTA, CPYRAM of order 1 and 2, or CTRIA3 and CQUAD4 as a surface; properties as tags",
    content: Content::Solid,
    begins: |head| !head.contains(&0),
    beginning: "text",
    parse: |input| parse(&input.data),
};

/// A card with its fields, and its line.
struct Card<'a> {
    name: &'a [u8],
    fields: Vec<&'a [u8]>,
    place: Place,
}

impl Card<'_> {
    fn fail<T>(&self, what: String) -> Result<T, ReadError> {
        let remedy = "the file may be damaged, or its fields may be shifted: write it again";
        Err(ReadError::new(self.place, format!("{}: {what}", show(self.name)), remedy))
    }

    fn integer(&self, field: usize, what: &str) -> Result<u64, ReadError> {
        let text = self.fields.get(field).copied().unwrap_or_default();
        match std::str::from_utf8(text).ok().and_then(|t| t.parse().ok()) {
            Some(n) => Ok(n),
            None => self.fail(format!("{what} is `{}`", show(text))),
        }
    }

    fn number(&self, field: usize) -> Result<f64, ReadError> {
        let text = self.fields.get(field).copied().unwrap_or_default();
        match real(text).filter(|x| x.is_finite()) {
            Some(x) => Ok(x),
            None => self.fail(format!("`{}` is not a number", show(text))),
        }
    }
}

/// A real number; the E of the exponent may be missing, as in `1.0-3`. Nothing is 0.
fn real(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    if text.is_empty() {
        return Some(0.0);
    }
    let plain = text.replace(['d', 'D'], "e");
    plain.parse().ok().or_else(|| {
        let sign = plain.char_indices().skip(1).find(|(_, c)| matches!(c, '+' | '-'))?.0;
        let (digits, exponent) = plain.split_at_checked(sign)?;
        format!("{digits}e{exponent}").parse().ok()
    })
}

/// What the nodes of solids with nodes on their edges are in the order of vtkCellType.h.
const HEX20: [usize; 20] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 12, 13, 14, 15];
const WEDGE15: [usize; 15] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 9, 10, 11];

fn parse(data: &[u8]) -> Result<RawMesh, ReadError> {
    let cards = cards(data)?;
    let mut raw = RawMesh::default();
    for card in cards.iter().filter(|card| card.name == b"GRID") {
        if card.fields.get(1).is_some_and(|frame| !matches!(*frame, b"" | b"0")) {
            return card.fail("its place is in a coordinate system of its own".into());
        }
        raw.vertex_ids.push(card.integer(0, "the number of the point")?);
        raw.vertices.push([card.number(2)?, card.number(3)?, card.number(4)?]);
    }
    if let Err(id) = raw.vertex_ids.index() {
        return Err(ReadError::new(Place::Vertex(id), "two points have this number", "renumber the mesh"));
    }
    let mut left_out = 0;
    for card in &cards {
        let (solid, counts, order): (_, [usize; 2], &[usize]) = match card.name {
            b"CTETRA" => (Some(SolidCell::Tet), [4, 10], &[]),
            b"CHEXA" => (Some(SolidCell::Hexahedron), [8, 20], &HEX20),
            b"CPENTA" => (Some(SolidCell::Wedge), [6, 15], &WEDGE15),
            b"CPYRAM" => (Some(SolidCell::Pyramid), [5, 13], &[]),
            b"CTRIA3" => (None, [3, 3], &[]),
            b"CQUAD4" => (None, [4, 4], &[]),
            b"GRID" => continue,
            name => {
                left_out += u32::from(name.first() == Some(&b'C') && card.fields.len() > 3);
                continue;
            }
        };
        let id = card.integer(0, "the number of the element")?;
        let given = card.fields.iter().skip(2).take(counts[1]);
        let filled = given.take_while(|field| !field.is_empty()).count();
        let count = if filled >= counts[1] { counts[1] } else { counts[0] };
        let mut nodes = Vec::with_capacity(count);
        for k in 0..count {
            let node = card.integer(2 + k, "a node")?;
            let [v] = raw.find_vertices([node], || card.place)?;
            nodes.push(v);
        }
        match solid {
            None => raw.push_polygon(&nodes),
            Some(solid) => {
                let ordered: Vec<u32> = match count == order.len() {
                    true => order.iter().filter_map(|k| nodes.get(*k).copied()).collect(),
                    false => nodes,
                };
                raw.push_solid(solid, &ordered, id);
                raw.tags.push(card.integer(1, "the property")? as i64);
            }
        }
    }
    if left_out > 0 {
        raw.notes.push(format!("{left_out} elements that are neither solids nor triangles are not used"));
    }
    Ok(raw)
}

/// Fields of a line: separated by commas, or of 8 or, with `*` behind the name, of 16 characters.
fn fields<'a>(line: &'a [u8], out: &mut Vec<&'a [u8]>) -> &'a [u8] {
    if line.contains(&b',') {
        let mut all = line.split(|b| *b == b',').map(<[u8]>::trim_ascii);
        let name = all.next().unwrap_or_default();
        let all: Vec<&[u8]> = all.collect();
        // The tenth field names the continuation.
        out.extend(all.iter().take(8));
        return name;
    }
    let name = line.get(..8.min(line.len())).unwrap_or_default().trim_ascii();
    let (width, count) = if name.contains(&b'*') { (16, 4) } else { (8, 8) };
    for k in 0..count {
        let from = (8 + k * width).min(line.len());
        let to = (8 + (k + 1) * width).min(line.len());
        out.push(line.get(from..to).unwrap_or_default().trim_ascii());
    }
    name
}

fn cards(data: &[u8]) -> Result<Vec<Card<'_>>, ReadError> {
    let mut cards: Vec<Card> = Vec::new();
    for (number, line) in data.split(|b| *b == b'\n').enumerate() {
        let line = line.split(|b| *b == b'$').next().unwrap_or_default().trim_ascii_end();
        if line.is_empty() {
            continue;
        }
        let mut found = Vec::new();
        let name = fields(line, &mut found);
        if name.is_empty() || matches!(name.first(), Some(b'+' | b'*')) {
            if let Some(card) = cards.last_mut() {
                card.fields.extend(found);
            }
            continue;
        }
        let place = Place::Line(number as u64 + 1);
        let name = name.split(|b| *b == b'*').next().unwrap_or_default().trim_ascii();
        match name {
            b"ENDDATA" => break,
            b"INCLUDE" => {
                let remedy = "put the included lines into this file";
                return Err(ReadError::new(place, "the file includes another", remedy));
            }
            _ => cards.push(Card { name, fields: found, place }),
        }
    }
    Ok(cards)
}
