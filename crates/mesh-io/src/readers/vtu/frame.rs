//! A frame of a run with all of its cells and fields, as the writer of frames left it.

use super::super::error::{Place, ReadError};
use super::super::load;
use super::super::text::{TextCursor, text};
use super::{Array, DAMAGED, Decoder, READER, Section, structure};
use lilyan_solid::mesh::{CellBlock, CellKind};
use std::path::Path;

/// A frame of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameData {
    /// Positions of the points, m.
    pub positions: Vec<[f64; 3]>,
    /// Cells, in the order of the file.
    pub blocks: Vec<CellBlock>,
    /// Fields on the points.
    pub point_fields: Vec<FrameField>,
    /// Fields on the cells.
    pub cell_fields: Vec<FrameField>,
}

/// Numbers on the points or cells of a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameField {
    /// Its name: "von_mises".
    pub name: String,
    /// Numbers per point or cell.
    pub components: usize,
    /// All numbers, point by point or cell by cell.
    pub values: Vec<f64>,
}

/// Reads a frame (`.vtu`) with all of its cells and fields.
pub fn read_frame(path: &Path) -> Result<FrameData, ReadError> {
    let data = load(path, &[&READER]).map_err(|e| e.in_file(path))?;
    parse(&data).map_err(|e| e.in_file(path))
}

fn parse(data: &[u8]) -> Result<FrameData, ReadError> {
    let wrong = |what: String| ReadError::new(Place::File, what, "give a frame of a run");
    let mut scan = TextCursor::new(data, None);
    let (pieces, encoding) = structure(&mut scan)?;
    let [piece] = pieces.as_slice() else {
        return Err(wrong(format!("the grid has {} pieces instead of one", pieces.len())));
    };
    let mut decoder = Decoder::new(&scan, encoding, data.len());
    let mut frame = FrameData::default();
    let cells = decoder.points_and_cells(piece, 0, &mut frame.positions)?;
    let points = frame.positions.len() as u32;
    let mut from = 0;
    for (&to, &number) in cells.ends.iter().zip(&cells.kinds) {
        let Some(kind) = CellKind::ALL.into_iter().find(|kind| kind.vtk() == number) else {
            return Err(wrong(format!("there is a cell of VTK type {number}, which frames do not have")));
        };
        let nodes = cells.vertices.get(from as usize..to as usize).unwrap_or_default();
        if nodes.len() != kind.nodes() || nodes.iter().any(|&v| v >= points) {
            return Err(ReadError::new(Place::File, format!("a {} has wrong nodes", kind.name()), DAMAGED));
        }
        match frame.blocks.last_mut() {
            Some(last) if last.kind == kind => last.nodes.extend(nodes),
            _ => frame.blocks.push(CellBlock { kind, nodes: nodes.to_vec() }),
        }
        from = to;
    }
    let mut read = |section: Section, count: u64| -> Result<Vec<FrameField>, ReadError> {
        let chosen = piece.arrays.iter().filter(|array| array.section == section && array.components > 0);
        chosen.map(|array| field(&mut decoder, array, count)).collect()
    };
    frame.point_fields = read(Section::PointData, piece.points)?;
    frame.cell_fields = read(Section::CellData, piece.cells)?;
    Ok(frame)
}

fn field<'a>(decoder: &mut Decoder<'_, 'a>, array: &Array<'a>, count: u64) -> Result<FrameField, ReadError> {
    let mut values = Vec::new();
    decoder.each(array, count.saturating_mul(array.components), |x| {
        values.push(x.float());
        Some(())
    })?;
    Ok(FrameField { name: text(array.name), components: array.components as usize, values })
}
