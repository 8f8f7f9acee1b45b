//! Points, cells and cell fields of VTK, legacy and XML: types by their numbers in vtkCellType.h.

use super::binary::NumberKind;
use super::error::{Place, ReadError};
use super::raw_mesh::RawMesh;
use super::solid_cell::SolidCell;

/// Adds cell number `cell` (from 0). Points and lines are passed over.
pub(super) fn add(raw: &mut RawMesh, cell: u64, kind: u8, vertices: &[u32]) -> Result<(), ReadError> {
    let fail = |what: String, remedy: &str| Err(ReadError::new(Place::File, what, remedy));
    match (kind, vertices) {
        (11, &[a, b, d, c, e, f, h, g]) => {
            raw.push_solid(SolidCell::Hexahedron, &[a, b, c, d, e, f, g, h], cell);
        }
        (10..=14 | 24..=27 | 29 | 32 | 33 | 37 | 71..=74 | 78, _) => {
            let solid = match kind {
                10 | 24 | 71 | 78 => SolidCell::Tet,
                12 | 25 | 29 | 33 | 72 => SolidCell::Hexahedron,
                13 | 26 | 32 | 73 => SolidCell::Wedge,
                _ => SolidCell::Pyramid,
            };
            let (linear, quadratic) = (solid.corners(), solid.corners() + solid.edges().len());
            // Lagrange cells of order 2 begin as quadratic cells do; of higher orders, and of Bézier cells, the corners are used.
            let order_two = matches!((kind, vertices.len()), (71, 10) | (72, 27) | (73, 18) | (74, 14))
                || matches!(kind, 24..=27 | 29 | 32 | 33 | 37);
            let used = match vertices.get(..quadratic) {
                Some(nodes) if order_two => nodes,
                _ => vertices.get(..linear).unwrap_or_default(),
            };
            if used.is_empty() || (order_two && used.len() < quadratic) {
                return fail(
                    format!("cell {cell} is of VTK type {kind} but has {} vertices", vertices.len()),
                    "the file may be damaged: write it again",
                );
            }
            raw.push_solid(solid, used, cell);
            if vertices.len() > linear && !order_two && !raw.notes.iter().any(|n| n == HIGHER_ORDER) {
                raw.notes.push(HIGHER_ORDER.into());
            }
        }
        (5 | 22 | 69 | 76, &[a, b, c, ..]) => raw.triangles.push([a, b, c]),
        (7, [_, _, _, ..]) => raw.push_polygon(vertices),
        (9 | 23 | 28 | 70 | 77, &[a, b, c, d, ..]) => raw.push_polygon(&[a, b, c, d]),
        (8, &[a, b, d, c]) => raw.push_polygon(&[a, b, c, d]),
        (6, [_, _, _, ..]) => {
            for (i, w) in vertices.windows(3).enumerate() {
                if let [a, b, c] = *w {
                    raw.triangles.push(if i % 2 == 0 { [a, b, c] } else { [b, a, c] });
                }
            }
        }
        (0..=4 | 21 | 35 | 68 | 75, _) => {}
        (5..=9 | 22 | 23 | 28 | 69 | 70 | 76 | 77, _) => {
            return fail(
                format!("cell {cell} is of VTK type {kind} but has {} vertices", vertices.len()),
                "the file may be damaged: write it again",
            );
        }
        _ => {
            let name = match kind {
                79 => "a Bézier hexahedron",
                31 | 80 => "a wedge of mixed order",
                81 => "a Bézier pyramid",
                42 => "a polyhedron",
                _ => "of a type that is not known",
            };
            return fail(
                format!("cell {cell} is {name} (VTK type {kind})"),
                "only tetrahedra, hexahedra, wedges and pyramids of order 1 or 2 can be used: convert the mesh",
            );
        }
    }
    Ok(())
}

const HIGHER_ORDER: &str = "tetrahedra of higher order: their corners are used, the other nodes are not";

/// Makes points of coordinates that come one by one.
pub(super) struct PointCollector<'a> {
    points: &'a mut Vec<[f64; 3]>,
    point: [f64; 3],
    /// Coordinates of `point` that have come.
    filled: usize,
}

impl<'a> PointCollector<'a> {
    /// Appends to these points.
    pub fn new(points: &'a mut Vec<[f64; 3]>) -> Self {
        Self { points, point: [0.0; 3], filled: 0 }
    }

    pub fn push(&mut self, coordinate: f64) {
        if let Some(c) = self.point.get_mut(self.filled) {
            *c = coordinate;
        }
        self.filled += 1;
        if self.filled == 3 {
            self.points.push(self.point);
            self.filled = 0;
        }
    }
}

/// A field with `components` values per cell, in the order of the cells.
pub(super) struct CellField {
    pub name: String,
    pub kind: NumberKind,
    pub components: usize,
    pub values: Vec<f64>,
}

/// The fields of a file, as long as they stay in proportion to it.
pub(super) struct CellFields {
    list: Vec<CellField>,
    /// Values that may still be kept.
    budget: u64,
}

impl CellFields {
    /// For a file of this many bytes. A value takes 8 bytes in memory and mostly 4 or 8 in the
    /// file, so a quarter of its bytes is room for all but files of nothing but byte fields.
    pub fn new(bytes: usize) -> Self {
        CellFields { list: Vec::new(), budget: bytes as u64 / 4 + (1 << 20) }
    }

    /// Whether a field of `size` values may still be added.
    pub fn room(&self, size: u64) -> bool {
        size <= self.budget
    }

    /// Counts values that are kept elsewhere, if there is room for them.
    pub fn take(&mut self, size: u64) -> bool {
        let room = self.room(size);
        self.budget = self.budget.saturating_sub(if room { size } else { 0 });
        room
    }

    pub fn push(&mut self, field: CellField) {
        self.budget = self.budget.saturating_sub(field.values.len() as u64);
        self.list.push(field);
    }
}

/// Keeps the values of the tets, and takes the field that numbers materials as tags.
pub(super) fn keep_fields(raw: &mut RawMesh, fields: CellFields) {
    let mut best: Option<(usize, String)> = None;
    for field in fields.list {
        let pick = |component: usize| -> Option<Vec<f64>> {
            (0..raw.tets.len())
                .map(|e| {
                    let cell = usize::try_from(raw.tet_ids.id(e)).ok()?;
                    let at = cell.checked_mul(field.components)?.checked_add(component)?;
                    field.values.get(at).copied()
                })
                .collect()
        };
        let named = |k: usize| match field.components {
            1 => field.name.clone(),
            _ => format!("{}_{k}", field.name),
        };
        for k in 0..field.components.min(9) {
            let Some(values) = pick(k) else {
                raw.notes.push(format!("the field `{}` has too few values and is left out", field.name));
                break;
            };
            let whole = !field.kind.is_float() || values.iter().all(|x| x.fract() == 0.0 && x.abs() < 9e15);
            if field.components == 1
                && whole
                && let Some(rank) = material_rank(&field.name)
                && best.as_ref().is_none_or(|b| rank < b.0)
            {
                best = Some((rank, named(k)));
            }
            raw.cell_data.insert(named(k), values);
        }
    }
    if let Some((_, name)) = best
        && let Some(values) = raw.cell_data.get(&name)
    {
        raw.tags = values.iter().map(|&x| x as i64).collect();
        raw.notes.push(format!("the field `{name}` numbers the regions"));
    }
}

/// Names under which programs number materials, the most telling first.
fn material_rank(name: &str) -> Option<usize> {
    const NAMES: &[&str] = &[
        "matid",
        "materialid",
        "materialids",
        "mtlid",
        "material",
        "materials",
        "physical",
        "gmshphysical",
        "meditref",
        "region",
        "regionid",
        "regions",
        "domain",
        "subdomain",
        "attribute",
        "cellentityids",
        "tag",
        "tags",
        "label",
        "labels",
    ];
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    NAMES.iter().position(|&n| n == plain)
}
