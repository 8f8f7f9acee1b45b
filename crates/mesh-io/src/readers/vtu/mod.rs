//! `.vtu`, the XML format of VTK for unstructured grids. Arrays are text, inline base64, appended raw or appended base64; they
//! may be compressed with zlib. The VTK user's guide defines the format under "VTK XML file formats".

mod frame;

pub use frame::{FrameData, FrameField, read_frame};

use super::base64;
use super::binary::{BinaryCursor, Number, NumberKind};
use super::cells::{self, CellField, CellFields, PointCollector};
use super::error::{Place, ReadError};
use super::raw_mesh::{ItemNumbers, RawMesh};
use super::text::{TextCursor, parse_int, show, text};
use super::xml;
use super::{Content, Reader};
use flate2::read::ZlibDecoder;
use std::borrow::Cow;
use std::io::Read;

pub(super) const READER: Reader = Reader {
    name: "VTK XML",
    extensions: &["vtu"],
    summary: "text, base64, appended, zlib; cell and point scalars as fields, a material number as tags",
    content: Content::Solid,
    begins: |head| head.trim_ascii_start().first() == Some(&b'<'),
    beginning: "<VTKFile",
    parse: |input| parse(&input.data),
};

const DAMAGED: &str = "the file may be damaged or cut short: write it again";

/// Largest size of the unpacked arrays: this many bytes plus [`RATIO`] times the size of the file. zlib compresses meshes by a
/// factor of 2 to 10. A file beyond the limit is made to exhaust the memory.
const UNPACKED: u64 = 24 << 20;
const RATIO: u64 = 32;

/// How the arrays of the file are encoded.
#[derive(Default)]
struct Encoding<'a> {
    big_endian: bool,
    wide_header: bool,
    zlib: bool,
    /// The appended data after the underscore, and whether they are encoded in base64.
    appended: Option<(&'a [u8], bool)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Section {
    Points,
    Cells,
    CellData,
    PointData,
}

struct Array<'a> {
    section: Section,
    name: &'a [u8],
    kind: NumberKind,
    components: u64,
    format: &'a [u8],
    offset: usize,
    text: &'a [u8],
    /// Offset of its declaration in the file.
    at: usize,
}

#[derive(Default)]
struct Piece<'a> {
    points: u64,
    cells: u64,
    arrays: Vec<Array<'a>>,
}

fn parse(data: &[u8]) -> Result<RawMesh, ReadError> {
    let mut scan = TextCursor::new(data, None);
    let (pieces, encoding) = structure(&mut scan)?;
    let mut raw = RawMesh::default();
    let mut decoder = Decoder::new(&scan, encoding, data.len());
    let mut fields = CellFields::new(data.len() * if decoder.encoding.zlib { 8 } else { 1 });
    let mut cells = 0;
    for piece in &pieces {
        decoder.piece(piece, &mut raw, &mut fields, &mut cells, pieces.len() == 1)?;
    }
    if pieces.len() > 1 {
        raw.notes.push(format!("{} pieces are read as one mesh; their cell fields are not", pieces.len()));
    }
    cells::keep_fields(&mut raw, fields);
    raw.vertex_ids = ItemNumbers::counted(0, raw.vertices.len());
    Ok(raw)
}

/// Reads the pieces. Their arrays stay encoded.
fn structure<'a>(scan: &mut TextCursor<'a>) -> Result<(Vec<Piece<'a>>, Encoding<'a>), ReadError> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut encoding = Encoding::default();
    let mut section = None;
    let mut grid = false;
    let mut inside_array = false;
    while let Some(tag) = xml::next(scan)? {
        if inside_array
            && let Some(array) = pieces.last_mut().and_then(|p| p.arrays.last_mut())
            && array.text.is_empty()
        {
            array.text = tag.text.trim_ascii();
        }
        match (tag.name, tag.end) {
            (b"VTKFile", false) => {
                let kind = tag.attribute("type").unwrap_or_default();
                if kind != b"UnstructuredGrid" {
                    return scan
                        .fail(format!("the data set is `{}`", show(kind)), "write an UnstructuredGrid");
                }
                grid = true;
                encoding.big_endian = tag.attribute("byte_order") == Some(b"BigEndian");
                encoding.wide_header = tag.attribute("header_type") == Some(b"UInt64");
                encoding.zlib = match tag.attribute("compressor") {
                    None | Some(b"") => false,
                    Some(b"vtkZLibDataCompressor") => true,
                    Some(other) => {
                        return scan.fail(
                            format!("the data are compressed with {}", show(other)),
                            "write them uncompressed or with zlib",
                        );
                    }
                };
            }
            (b"Piece", false) => {
                let count = |name: &str| match tag.attribute(name).map(<[u8]>::trim_ascii).and_then(parse_int)
                {
                    Some(n) if n >= 0 => Ok(n as u64),
                    _ => scan.fail(format!("the piece has no {name}"), DAMAGED),
                };
                pieces.push(Piece {
                    points: count("NumberOfPoints")?,
                    cells: count("NumberOfCells")?,
                    arrays: Vec::new(),
                });
            }
            (b"Points", end) => section = (!end).then_some(Section::Points),
            (b"Cells", end) => section = (!end).then_some(Section::Cells),
            (b"CellData", end) => section = (!end && !tag.empty).then_some(Section::CellData),
            (b"PointData", end) => section = (!end && !tag.empty).then_some(Section::PointData),
            (b"DataArray", true) => inside_array = false,
            (b"DataArray", false) => {
                let (Some(section), Some(piece)) = (section, pieces.last_mut()) else {
                    continue;
                };
                inside_array = !tag.empty;
                let kind = tag.attribute("type").unwrap_or_default();
                let Some(kind) = kind_of(kind) else {
                    if matches!(section, Section::CellData | Section::PointData) {
                        inside_array = false;
                        continue; // not an array of numbers
                    }
                    return scan.fail(format!("`{}` is not a type of numbers", show(kind)), DAMAGED);
                };
                let number = |name: &str| tag.attribute(name).map(<[u8]>::trim_ascii).and_then(parse_int);
                let default = if section == Section::Points { 3 } else { 1 };
                piece.arrays.push(Array {
                    section,
                    name: tag.attribute("Name").unwrap_or_default(),
                    kind,
                    components: number("NumberOfComponents")
                        .and_then(|n| u64::try_from(n).ok())
                        .unwrap_or(default),
                    format: tag.attribute("format").unwrap_or(b"ascii"),
                    offset: number("offset").and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX),
                    text: b"",
                    at: scan.pos,
                });
            }
            (b"AppendedData", false) => {
                let rest = scan.rest();
                let Some(mark) = rest.iter().position(|&b| b == b'_') else {
                    return scan.fail("the appended data have no beginning `_`", DAMAGED);
                };
                let data = rest.get(mark + 1..).unwrap_or_default();
                encoding.appended = Some((data, tag.attribute("encoding") == Some(b"base64")));
                break; // the raw data that follow are not XML
            }
            _ => {}
        }
    }
    if !grid || pieces.is_empty() {
        return scan.fail("there is no <Piece> of an unstructured grid", DAMAGED);
    }
    Ok((pieces, encoding))
}

fn kind_of(name: &[u8]) -> Option<NumberKind> {
    Some(match name {
        b"Int8" => NumberKind::I8,
        b"UInt8" => NumberKind::U8,
        b"Int16" => NumberKind::I16,
        b"UInt16" => NumberKind::U16,
        b"Int32" => NumberKind::I32,
        b"UInt32" => NumberKind::U32,
        b"Int64" => NumberKind::I64,
        b"UInt64" => NumberKind::U64,
        b"Float32" => NumberKind::F32,
        b"Float64" => NumberKind::F64,
        _ => return None,
    })
}

struct Decoder<'s, 'a> {
    scan: &'s TextCursor<'a>,
    encoding: Encoding<'a>,
    budget: u64,
}

/// The cells of a piece: where each ends, its VTK type, and the points of all.
struct PieceCells {
    ends: Vec<u32>,
    kinds: Vec<u8>,
    vertices: Vec<u32>,
}

impl<'s, 'a> Decoder<'s, 'a> {
    /// For a file of so many bytes.
    fn new(scan: &'s TextCursor<'a>, encoding: Encoding<'a>, bytes: usize) -> Self {
        // Several arrays may refer to the same bytes, so the limit holds for uncompressed files as well.
        let budget = if encoding.zlib { UNPACKED + RATIO * bytes as u64 } else { 2 * bytes as u64 };
        Self { scan, encoding, budget }
    }

    fn piece(
        &mut self,
        piece: &Piece<'a>,
        raw: &mut RawMesh,
        fields: &mut CellFields,
        cells: &mut u64,
        with_fields: bool,
    ) -> Result<(), ReadError> {
        let first = raw.vertices.len() as u32;
        if piece.points == 0 && piece.cells == 0 {
            return Ok(()); // parallel programs write empty pieces
        }
        let PieceCells { ends, kinds, vertices } = self.points_and_cells(piece, first, &mut raw.vertices)?;
        let mut from = 0;
        for (&to, &kind) in ends.iter().zip(&kinds) {
            let Some(corners) = vertices.get(from as usize..to as usize) else {
                let what = format!("array `offsets`: the offset {to} of cell {cells} does not fit");
                return Err(ReadError::new(Place::File, what, DAMAGED));
            };
            cells::add(raw, *cells, kind, corners)?;
            from = to;
            *cells += 1;
        }
        for array in piece.arrays.iter().filter(|a| a.section == Section::CellData && with_fields) {
            if array.components == 0 || !fields.room(piece.cells.saturating_mul(array.components)) {
                continue;
            }
            let mut values = Vec::new();
            self.each(array, piece.cells.saturating_mul(array.components), |x| {
                values.push(x.float());
                Some(())
            })?;
            let components = array.components as usize;
            fields.push(CellField { name: text(array.name), kind: array.kind, components, values });
        }
        for array in piece.arrays.iter().filter(|a| a.section == Section::PointData && with_fields) {
            // Only scalars are read, since masses are scalars. Vectors such as velocities are not needed.
            if array.components != 1 || !fields.take(piece.points) {
                continue;
            }
            let mut values = Vec::new();
            self.each(array, piece.points, |x| {
                values.push(x.float());
                Some(())
            })?;
            raw.point_data.insert(text(array.name), values);
        }
        Ok(())
    }

    /// The points of a piece, added to `points`, and its cells, whose point numbers start at `first`.
    fn points_and_cells(
        &mut self,
        piece: &Piece<'a>,
        first: u32,
        all_points: &mut Vec<[f64; 3]>,
    ) -> Result<PieceCells, ReadError> {
        let find = |section, name: &[u8]| {
            let found = piece.arrays.iter().find(|a| {
                a.section == section && (section == Section::Points || a.name.eq_ignore_ascii_case(name))
            });
            found.ok_or_else(|| {
                let what = format!("the array `{}` is missing", show(name));
                ReadError::new(Place::File, what, DAMAGED)
            })
        };
        let points = find(Section::Points, b"Points")?;
        if points.components != 3 || points.kind.bytes() < 2 {
            return self.fail(
                points,
                format!("points have {} components of type {:?}", points.components, points.kind),
            );
        }
        let mut collector = PointCollector::new(all_points);
        self.each(points, piece.points.saturating_mul(3), |x| {
            collector.push(x.float());
            Some(())
        })?;
        let mut ends: Vec<u32> = Vec::new();
        self.each(find(Section::Cells, b"offsets")?, piece.cells, |x| {
            ends.push(x.int().and_then(|i| u32::try_from(i).ok())?);
            Some(())
        })?;
        let mut kinds: Vec<u8> = Vec::new();
        self.each(find(Section::Cells, b"types")?, piece.cells, |x| {
            kinds.push(x.int().and_then(|i| u8::try_from(i).ok())?);
            Some(())
        })?;
        let connectivity = find(Section::Cells, b"connectivity")?;
        let mut vertices: Vec<u32> = Vec::new();
        let all = ends.last().copied().unwrap_or(0);
        self.each(connectivity, u64::from(all), |x| {
            let v = x.int().and_then(|i| u32::try_from(i).ok())?;
            vertices.push(v.checked_add(first)?);
            Some(())
        })?;
        Ok(PieceCells { ends, kinds, vertices })
    }

    fn fail<T>(&self, array: &Array, what: String) -> Result<T, ReadError> {
        let name = if array.name.is_empty() { "Points".into() } else { show(array.name) };
        Err(ReadError::new(self.scan.line_at(array.at), format!("array `{name}`: {what}"), DAMAGED))
    }

    /// Passes the first `n` numbers to `take`, which returns `None` for a number that cannot be right.
    fn each(
        &mut self,
        array: &Array<'a>,
        n: u64,
        mut take: impl FnMut(Number) -> Option<()>,
    ) -> Result<(), ReadError> {
        let wrong = |d: &Self, x: Number| d.fail(array, format!("{} is out of range", x.float()));
        if array.format.eq_ignore_ascii_case(b"ascii") {
            let mut scan = TextCursor::new(array.text, None);
            for _ in 0..n {
                let x = match array.kind.is_float() {
                    true => scan.float("a number").map(Number::Float),
                    false => scan.int("an integer").map(Number::Int),
                };
                let x = x.or_else(|e| self.fail(array, e.what))?;
                if take(x).is_none() {
                    return wrong(self, x);
                }
            }
            return Ok(());
        }
        let bytes = self.bytes(array)?;
        let mut bin = BinaryCursor::new(&bytes, 0, self.encoding.big_endian);
        if n.checked_mul(array.kind.bytes() as u64).is_none_or(|need| need > bytes.len() as u64) {
            return self
                .fail(array, format!("{n} numbers are announced, but there are {} bytes", bytes.len()));
        }
        for _ in 0..n {
            let x = bin.number(array.kind)?;
            if take(x).is_none() {
                return wrong(self, x);
            }
        }
        Ok(())
    }

    /// The decoded bytes of a binary array.
    fn bytes(&mut self, array: &Array<'a>) -> Result<Cow<'a, [u8]>, ReadError> {
        let (source, is_base64) = match array.format {
            b"binary" => (array.text, true),
            b"appended" => {
                let Some((data, is_base64)) = self.encoding.appended else {
                    return self.fail(array, "the file has no appended data".into());
                };
                match data.get(array.offset..) {
                    Some(data) => (data, is_base64),
                    None => {
                        return self.fail(array, "its offset lies beyond the end of the file".into());
                    }
                }
            }
            other => return self.fail(array, format!("the format `{}` is not known", show(other))),
        };
        let read = |from: usize, len: usize| -> Option<Cow<'a, [u8]>> {
            let to = from.checked_add(len)?;
            if is_base64 {
                let mut all = base64::decode(source, to);
                return (all.len() == to).then(|| Cow::Owned(all.split_off(from)));
            }
            source.get(from..to).map(Cow::Borrowed)
        };
        let word = if self.encoding.wide_header { 8 } else { 4 };
        let header = |k: usize| -> Option<usize> {
            let bytes = read(k.checked_mul(word)?, word)?;
            let mut bin = BinaryCursor::new(&bytes, 0, self.encoding.big_endian);
            let kind = if word == 8 { NumberKind::U64 } else { NumberKind::U32 };
            usize::try_from(bin.number(kind).ok()?.int()?).ok()
        };
        let Some(first) = header(0) else {
            return self.fail(array, "its data are missing".into());
        };
        if !self.encoding.zlib {
            return match read(word, first) {
                Some(bytes) => match self.budget.checked_sub(bytes.len() as u64) {
                    Some(left) => {
                        self.budget = left;
                        Ok(bytes)
                    }
                    None => self.fail(array, "the arrays of the file overlap".into()),
                },
                None => self.fail(array, format!("{first} bytes are announced, but the data end before")),
            };
        }
        // The head holds the number of blocks, their size, the size of the last block, and the packed size of each block.
        let sizes = first.checked_mul(word).and_then(|len| read(3 * word, len));
        let Some(sizes) = sizes else {
            return self.fail(array, format!("it announces {first} blocks that are not there"));
        };
        let mut sizes = BinaryCursor::new(&sizes, 0, self.encoding.big_endian);
        let mut lengths = Vec::with_capacity(first);
        for _ in 0..first {
            let kind = if word == 8 { NumberKind::U64 } else { NumberKind::U32 };
            lengths
                .push(sizes.number(kind)?.int().and_then(|i| usize::try_from(i).ok()).unwrap_or(usize::MAX));
        }
        let start = (3 + first) * word;
        let packed =
            lengths.iter().try_fold(0usize, |sum, &l| sum.checked_add(l)).and_then(|len| read(start, len));
        let Some(packed) = packed else {
            return self.fail(array, "its compressed data end early".into());
        };
        let mut out = Vec::new();
        let mut at = 0;
        for length in lengths {
            let block = packed.get(at..at + length).unwrap_or_default();
            at += length;
            let before = out.len() as u64;
            if ZlibDecoder::new(block).take(self.budget + 1).read_to_end(&mut out).is_err() {
                return self.fail(array, "its compressed data are damaged".into());
            }
            match self.budget.checked_sub(out.len() as u64 - before) {
                Some(left) => self.budget = left,
                None => {
                    return self.fail(array, format!("the file unpacks to more than {RATIO} times its size"));
                }
            }
        }
        Ok(Cow::Owned(out))
    }
}
