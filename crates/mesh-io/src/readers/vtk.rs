//! Legacy `.vtk`, text and binary, versions 2.0 to 5.1: "VTK file formats" in the VTK user's guide.

use super::binary::{BinaryCursor, Number, NumberKind};
use super::cells::{self, CellField, CellFields, PointCollector};
use super::error::{Place, ReadError};
use super::raw_mesh::{ItemNumbers, RawMesh};
use super::text::{TextCursor, parse_float, show, text};
use super::{Content, Reader};

pub(super) const READER: Reader = Reader {
    name: "VTK legacy",
    extensions: &["vtk"],
    summary: "2.0 to 5.1, text and binary; cell scalars as fields, a material number as tags",
    content: Content::Solid,
    begins: |head| head.get(..14).is_some_and(|h| h.eq_ignore_ascii_case(b"# vtk datafile")),
    beginning: "# vtk DataFile Version",
    parse: |input| parse(&input.data),
};

struct VtkFile<'a> {
    scan: TextCursor<'a>,
    binary: bool,
}

/// Cells as one list of vertices and where each begins.
#[derive(Default)]
struct VtkCells {
    starts: Vec<u32>,
    vertices: Vec<u32>,
}

impl VtkCells {
    fn get(&self, cell: usize) -> Option<&[u32]> {
        let (from, to) = (*self.starts.get(cell)?, *self.starts.get(cell + 1)?);
        self.vertices.get(from as usize..to as usize)
    }

    fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }
}

fn parse(data: &[u8]) -> Result<RawMesh, ReadError> {
    let mut scan = TextCursor::new(data, None);
    let version = scan.line().and_then(|l| l.rsplit(|&b| b == b' ').next()).and_then(parse_float);
    if version.is_none_or(|v| !(1.0..6.0).contains(&v)) {
        scan.pos = 0;
        return scan.fail("the version of the format is missing or not known", "write version 2.0 to 5.1");
    }
    scan.line();
    let binary = match scan.word().map(<[u8]>::to_ascii_uppercase).as_deref() {
        Some(b"ASCII") => false,
        Some(b"BINARY") => true,
        _ => return scan.fail("line 3 should be ASCII or BINARY", "write the file again"),
    };
    let mut file = VtkFile { scan, binary };
    let mut raw = RawMesh::default();
    let (mut cells, mut kinds, mut fields) = (VtkCells::default(), None, CellFields::new(data.len()));
    // Number of items that the attributes belong to, and whether those are cells.
    let mut attributes: Option<(u64, bool)> = None;
    while let Some(word) = file.scan.word() {
        match word.to_ascii_uppercase().as_slice() {
            b"DATASET" => {
                let kind = file.scan.word().unwrap_or_default().to_ascii_uppercase();
                if kind != b"UNSTRUCTURED_GRID" && kind != b"POLYDATA" {
                    return file.fail(
                        format!("the data set is {}", show(&kind)),
                        "write an UNSTRUCTURED_GRID of tetrahedra, or POLYDATA for a surface",
                    );
                }
            }
            b"POINTS" => {
                let n = file.scan.uint("the number of points")?;
                let kind = file.kind()?;
                if kind.bytes() < 2 {
                    return file.fail("the points are bytes", "write them as float or double");
                }
                raw.vertices.reserve_exact(file.fits(n, 3 * kind.bytes() as u64, 6)?);
                let mut points = PointCollector::new(&mut raw.vertices);
                file.each(n.saturating_mul(3), kind, |x| {
                    points.push(x.float());
                    Some(())
                })?;
            }
            b"CELLS" => cells = file.cells()?,
            b"CELL_TYPES" => {
                let n = file.scan.uint("the number of cell types")?;
                file.end_of_keyword();
                let mut list = Vec::with_capacity(file.fits(n, 4, 2)?);
                file.each(n, NumberKind::I32, |x| {
                    list.push(x.int().and_then(|i| u8::try_from(i).ok())?);
                    Some(())
                })?;
                kinds = Some(list);
            }
            name @ (b"POLYGONS" | b"TRIANGLE_STRIPS" | b"VERTICES" | b"LINES") => {
                let list = file.cells()?;
                let kind = match name {
                    b"POLYGONS" => 7,
                    b"TRIANGLE_STRIPS" => 6,
                    _ => continue,
                };
                for c in 0..list.len() {
                    cells::add(&mut raw, c as u64, kind, list.get(c).unwrap_or_default())?;
                }
            }
            b"CELL_DATA" => attributes = Some((file.scan.uint("the number of cells")?, true)),
            b"POINT_DATA" => attributes = Some((file.scan.uint("the number of points")?, false)),
            b"METADATA" => {
                file.scan.line();
                while file.scan.line().is_some_and(|l| !l.is_empty()) {}
            }
            keyword => {
                if !file.attribute(keyword, attributes, &mut fields)? {
                    raw.notes.push(format!("what follows `{}` is not used", show(keyword)));
                    break;
                }
            }
        }
    }
    assemble(&mut raw, &cells, kinds.as_deref())?;
    cells::keep_fields(&mut raw, fields);
    raw.vertex_ids = ItemNumbers::counted(0, raw.vertices.len());
    Ok(raw)
}

fn assemble(raw: &mut RawMesh, cells: &VtkCells, kinds: Option<&[u8]>) -> Result<(), ReadError> {
    let kinds = kinds.unwrap_or_default();
    if kinds.len() != cells.len() {
        return Err(ReadError::new(
            Place::File,
            format!("{} cells, but {} cell types", cells.len(), kinds.len()),
            "the file may be damaged or cut short: write it again",
        ));
    }
    for (c, &kind) in kinds.iter().enumerate() {
        let Some(vertices) = cells.get(c) else {
            return Err(ReadError::new(
                Place::File,
                format!("the offsets of cell {c} do not fit"),
                "the file may be damaged: write it again",
            ));
        };
        cells::add(raw, c as u64, kind, vertices)?;
    }
    Ok(())
}

impl VtkFile<'_> {
    fn place(&self) -> Place {
        if self.binary { Place::Byte(self.scan.pos as u64) } else { self.scan.here() }
    }

    fn fail<T>(&self, what: impl Into<String>, remedy: &str) -> Result<T, ReadError> {
        Err(ReadError::new(self.place(), what, remedy))
    }

    /// Binary data begin in the line after their keyword.
    fn end_of_keyword(&mut self) {
        if self.binary {
            self.scan.line();
        }
    }

    /// `n` as a size, if that many items can follow.
    fn fits(&self, n: u64, as_binary: u64, as_text: u64) -> Result<usize, ReadError> {
        self.scan.fits(n, if self.binary { as_binary } else { as_text })
    }

    /// The type at the end of a keyword line.
    fn kind(&mut self) -> Result<NumberKind, ReadError> {
        let word = self.scan.word().unwrap_or_default().to_ascii_lowercase();
        let Some(kind) = kind_of(&word) else {
            return self.fail(format!("`{}` is not a type of numbers", show(&word)), "write the file again");
        };
        self.end_of_keyword();
        Ok(kind)
    }

    /// Hands on `n` numbers; `None` from `take` means that a number cannot be right.
    fn each(
        &mut self,
        n: u64,
        kind: NumberKind,
        mut take: impl FnMut(Number) -> Option<()>,
    ) -> Result<(), ReadError> {
        self.fits(n, kind.bytes() as u64, 2)?;
        let mut bin = BinaryCursor::new(self.scan.data, self.scan.pos, true);
        for _ in 0..n {
            let x = if self.binary {
                let x = bin.number(kind)?;
                self.scan.pos = bin.pos;
                x
            } else if kind.is_float() {
                Number::Float(self.scan.float("a number")?)
            } else {
                Number::Int(self.scan.int("an integer")?)
            };
            if take(x).is_none() {
                return self.fail(
                    format!("{} is out of range here", x.float()),
                    "the file may be damaged: write it again",
                );
            }
        }
        Ok(())
    }

    fn cells(&mut self) -> Result<VtkCells, ReadError> {
        let n = self.scan.uint("the number of cells")?;
        let size = self.scan.uint("the size of the list of cells")?;
        let mut cells = VtkCells::default();
        let start = self.scan.pos;
        self.scan.line();
        if self.scan.rest().trim_ascii_start().starts_with(b"OFFSETS") {
            // Version 5: n offsets (one more than cells), then all vertices.
            for (name, n, list) in
                [("OFFSETS", n, &mut cells.starts), ("CONNECTIVITY", size, &mut cells.vertices)]
            {
                if self.scan.word() != Some(name.as_bytes()) {
                    return self.fail(format!("{name} is missing"), "write the file again");
                }
                let kind = self.kind()?;
                list.reserve_exact(self.fits(n, kind.bytes() as u64, 2)?);
                self.each(n, kind, |x| {
                    list.push(x.int().and_then(|i| u32::try_from(i).ok())?);
                    Some(())
                })?;
            }
            return Ok(cells);
        }
        self.scan.pos = start;
        self.end_of_keyword();
        let cells_fit = self.fits(n, 4, 2)?;
        cells.starts.reserve_exact(cells_fit + 1);
        cells.vertices.reserve_exact(self.fits(size, 4, 2)?.saturating_sub(cells_fit));
        cells.starts.push(0);
        let mut left = 0;
        self.each(size, NumberKind::I32, |x| {
            let i = x.int().and_then(|i| u32::try_from(i).ok())?;
            if left == 0 {
                left = i;
            } else {
                cells.vertices.push(i);
                left -= 1;
            }
            if left == 0 {
                cells.starts.push(cells.vertices.len() as u32);
            }
            Some(())
        })?;
        if left != 0 || cells.len() as u64 != n {
            return self.fail(
                format!("the list of {size} numbers does not hold {n} cells"),
                "the file may be damaged: write it again",
            );
        }
        Ok(cells)
    }

    /// One attribute of cells or points; false for one whose length is not known.
    fn attribute(
        &mut self,
        keyword: &[u8],
        of: Option<(u64, bool)>,
        fields: &mut CellFields,
    ) -> Result<bool, ReadError> {
        if keyword == b"FIELD" {
            self.scan.word();
            for _ in 0..self.scan.uint("the number of arrays")? {
                if self.scan.peek() == Some(b"METADATA") {
                    self.scan.line();
                    while self.scan.line().is_some_and(|l| !l.is_empty()) {}
                }
                let name = self.scan.word().unwrap_or_default();
                let components = self.scan.uint("the number of components")?;
                let n = self.scan.uint("the number of tuples")?;
                let Some(kind) = self.scan.peek().map(<[u8]>::to_ascii_lowercase).and_then(|w| kind_of(&w))
                else {
                    return Ok(false);
                };
                self.scan.word();
                self.end_of_keyword();
                let wanted = of == Some((n, true));
                self.field(name, kind, components, n, wanted, fields)?;
            }
            return Ok(true);
        }
        let Some((n, of_cells)) = of else {
            return self.fail(format!("`{}` is not expected here", show(keyword)), "write the file again");
        };
        let name = self.scan.word().unwrap_or_default();
        let components = match keyword {
            b"SCALARS" | b"GLOBAL_IDS" | b"PEDIGREE_IDS" => 1,
            b"VECTORS" | b"NORMALS" => 3,
            b"TENSORS" => 9,
            b"TENSORS6" => 6,
            b"TEXTURE_COORDINATES" => self.scan.uint("the number of texture coordinates")?,
            b"LOOKUP_TABLE" | b"COLOR_SCALARS" => {
                let size = self.scan.uint("the size")?;
                self.end_of_keyword();
                let kind = if self.binary { NumberKind::U8 } else { NumberKind::F64 };
                let (components, n) = if keyword == b"LOOKUP_TABLE" { (4, size) } else { (size, n) };
                self.field(name, kind, components, n, false, fields)?;
                return Ok(true);
            }
            _ => {
                return self.fail(
                    format!("expected a keyword such as CELLS or SCALARS, found `{}`", show(keyword)),
                    "a count and the lines after it may disagree",
                );
            }
        };
        let Some(kind) = self.scan.peek().map(<[u8]>::to_ascii_lowercase).and_then(|w| kind_of(&w)) else {
            return Ok(false);
        };
        self.scan.word();
        let mut components = components;
        if keyword == b"SCALARS" {
            if !self.scan.at_line_end() {
                components = self.scan.uint("the number of components")?;
            }
            self.scan.line();
            if self.scan.rest().trim_ascii_start().starts_with(b"LOOKUP_TABLE") {
                self.scan.word();
                self.scan.word();
                self.end_of_keyword();
            }
        } else {
            self.end_of_keyword();
        }
        self.field(name, kind, components, n, of_cells, fields)?;
        Ok(true)
    }

    fn field(
        &mut self,
        name: &[u8],
        kind: NumberKind,
        components: u64,
        n: u64,
        wanted: bool,
        fields: &mut CellFields,
    ) -> Result<(), ReadError> {
        let Some(size) = n.checked_mul(components) else {
            return self.fail("an array is too long", "the file may be damaged: write it again");
        };
        let wanted = wanted && components > 0 && fields.room(size);
        let mut values =
            Vec::with_capacity(if wanted { self.fits(size, kind.bytes() as u64, 2)? } else { 0 });
        self.each(size, kind, |x| {
            if wanted {
                values.push(x.float());
            }
            Some(())
        })?;
        if wanted {
            let name = text(name).replace("%20", " ");
            fields.push(CellField { name, kind, components: components as usize, values });
        }
        Ok(())
    }
}

fn kind_of(name: &[u8]) -> Option<NumberKind> {
    Some(match name {
        b"char" | b"signed_char" => NumberKind::I8,
        b"unsigned_char" => NumberKind::U8,
        b"short" => NumberKind::I16,
        b"unsigned_short" => NumberKind::U16,
        b"int" => NumberKind::I32,
        b"unsigned_int" => NumberKind::U32,
        // VTK writes these with 8 bytes on every platform in use.
        b"long" | b"vtktypeint64" | b"long_long" => NumberKind::I64,
        b"unsigned_long" | b"vtktypeuint64" | b"unsigned_long_long" => NumberKind::U64,
        // vtkIdType itself is cut to 4 bytes in legacy files.
        b"vtktypeint32" | b"vtkidtype" => NumberKind::I32,
        b"float" => NumberKind::F32,
        b"double" => NumberKind::F64,
        _ => return None,
    })
}
