//! VTU: unstructured grids for ParaView, VTK, meshio.
//!
//! The file is an XML head and one appended block of raw little-endian numbers (f64, Int32 or Int64, UInt8). Each array is
//! preceded by its length in bytes as UInt64. Numbers are neither text nor compressed: they are exact to the bit, and the
//! disk limits the speed of writing.

use lilyan_files::atomic::{self, WriteError};
use lilyan_files::markup::escape;
use lilyan_solid::mesh::CellBlock;
use std::io::{self, Write};
use std::path::Path;

/// Numbers on the points or cells of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// The name that ParaView shows: "von_mises".
    pub name: &'a str,
    /// Numbers per point or cell: 1, 3 (vectors), 6 or 9 (tensors).
    pub components: usize,
    /// All numbers, point by point or cell by cell.
    pub values: &'a [f64],
}

/// The state of a run at one time, as it is written.
///
/// Cells are numbered block after block; cell fields follow that order.
#[derive(Clone, Debug, Default)]
pub struct Frame<'a> {
    /// Time, s; absent for a mesh that is not part of a series.
    pub time: Option<f64>,
    /// Positions of the points, m: x, y, z of the first, x, y, z of the second, …
    pub positions: &'a [f64],
    /// Cells of any kind.
    pub blocks: &'a [CellBlock],
    /// Fields on the points.
    pub point_fields: Vec<Field<'a>>,
    /// Fields on the cells.
    pub cell_fields: Vec<Field<'a>>,
}

impl Frame<'_> {
    /// Number of cells of all kinds.
    pub fn cells(&self) -> usize {
        self.blocks.iter().map(CellBlock::len).sum()
    }

    /// Writes the frame atomically.
    ///
    /// A frame is refused before anything is written if a position is not finite, if a cell has a point that does not exist, or
    /// if a field has the wrong length.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), WriteError> {
        let path = path.as_ref();
        self.check().map_err(|cause| WriteError::data(path, cause))?;
        atomic::replace_with(path, |out| self.stream(out))
    }

    fn check(&self) -> Result<(), String> {
        if !self.positions.len().is_multiple_of(3) {
            return Err(format!("{} coordinates are not three per point", self.positions.len()));
        }
        let points = self.positions.len() / 3;
        if let Some(k) = self.positions.iter().position(|x| !x.is_finite()) {
            return Err(format!(
                "point {} is at {} along {}",
                k / 3,
                self.positions[k],
                ["x", "y", "z"][k % 3]
            ));
        }
        for block in self.blocks {
            for (n, nodes) in block.iter().enumerate() {
                if let Some(v) = nodes.iter().find(|&&v| v as usize >= points) {
                    let kind = block.kind.name();
                    return Err(format!("{kind} {n} uses point {v}, but there are {points} points"));
                }
            }
        }
        let on_points = self.point_fields.iter().map(|f| (f, "points", points));
        let on_cells = self.cell_fields.iter().map(|f| (f, "cells", self.cells()));
        for (field, place, count) in on_points.chain(on_cells) {
            if field.components == 0 || field.values.len() != count * field.components {
                return Err(format!(
                    "field `{}` has {} numbers; {} components on {count} {place} need {}",
                    field.name,
                    field.values.len(),
                    field.components,
                    count * field.components
                ));
            }
        }
        Ok(())
    }

    fn stream(&self, out: &mut dyn Write) -> io::Result<()> {
        let corners = self.blocks.iter().map(|block| block.nodes.len()).sum::<usize>();
        let largest = corners.max(self.positions.len() / 3);
        let wide = i32::try_from(largest).is_err();
        let (integer, integer_size) = if wide { ("Int64", 8) } else { ("Int32", 4) };
        let mut offset = 0u64;
        let mut array = |kind: &str, name: &str, components: usize, bytes: usize| {
            // Without the attribute meshio gives scalars the shape (n,), as users expect.
            let shape = match components {
                1 => String::new(),
                n => format!(" NumberOfComponents=\"{n}\""),
            };
            let line = format!(
                "<DataArray type=\"{kind}\" Name=\"{}\"{shape} format=\"appended\" offset=\"{offset}\"/>\n",
                escape(name)
            );
            offset += 8 + bytes as u64;
            line
        };

        let mut head = String::from(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n",
        );
        if self.time.is_some() {
            let line = array("Float64", "TimeValue", 1, 8);
            let line = line.replace(" format=", " NumberOfTuples=\"1\" format=");
            head += &format!("<FieldData>\n{line}</FieldData>\n");
        }
        let (points, cells) = (self.positions.len() / 3, self.cells());
        head += &format!("<Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\">\n");
        head += &format!(
            "<Points>\n{}</Points>\n<Cells>\n",
            array("Float64", "Points", 3, 8 * self.positions.len())
        );
        head += &array(integer, "connectivity", 1, integer_size * corners);
        head += &array(integer, "offsets", 1, integer_size * cells);
        head += &array("UInt8", "types", 1, cells);
        head += "</Cells>\n";
        for (tag, fields) in [("PointData", &self.point_fields), ("CellData", &self.cell_fields)] {
            head += &format!("<{tag}>\n");
            for field in fields {
                head += &array("Float64", field.name, field.components, 8 * field.values.len());
            }
            head += &format!("</{tag}>\n");
        }
        head += "</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_";
        out.write_all(head.as_bytes())?;

        if let Some(time) = self.time {
            doubles(out, &[time])?;
        }
        doubles(out, self.positions)?;
        let vertices = self.blocks.iter().flat_map(|block| &block.nodes);
        integers(out, wide, corners, vertices.map(|&v| i64::from(v)))?;
        let mut end = 0;
        let sizes = self.blocks.iter().flat_map(|b| std::iter::repeat_n(b.kind.nodes() as i64, b.len()));
        let ends = sizes.map(|size| {
            end += size;
            end
        });
        integers(out, wide, cells, ends)?;
        out.write_all(&(cells as u64).to_le_bytes())?;
        for block in self.blocks {
            out.write_all(&vec![block.kind.vtk(); block.len()])?;
        }
        for field in self.point_fields.iter().chain(&self.cell_fields) {
            doubles(out, field.values)?;
        }
        out.write_all(b"\n</AppendedData>\n</VTKFile>\n")
    }
}

fn doubles(out: &mut dyn Write, values: &[f64]) -> io::Result<()> {
    out.write_all(&(8 * values.len() as u64).to_le_bytes())?;
    let mut buffer = [0u8; 8 * 512];
    for chunk in values.chunks(512) {
        for (bytes, x) in buffer.chunks_exact_mut(8).zip(chunk) {
            bytes.copy_from_slice(&x.to_le_bytes());
        }
        out.write_all(&buffer[..8 * chunk.len()])?;
    }
    Ok(())
}

fn integers(
    out: &mut dyn Write,
    wide: bool,
    count: usize,
    values: impl Iterator<Item = i64>,
) -> io::Result<()> {
    let size = if wide { 8 } else { 4 };
    out.write_all(&((size * count) as u64).to_le_bytes())?;
    let mut buffer = Vec::with_capacity(4096 + 8);
    for x in values {
        buffer.extend_from_slice(&x.to_le_bytes()[..size]);
        if buffer.len() >= 4096 {
            out.write_all(&buffer)?;
            buffer.clear();
        }
    }
    out.write_all(&buffer)
}

/// The name of frame `n` relative to the results: `frames/000042.vtu`.
pub fn frame_name(n: usize) -> String {
    format!("frames/{n:06}.vtu")
}

/// The name of frame `n` of the display meshes: `display/000042.vtu`.
pub fn display_name(n: usize) -> String {
    format!("display/{n:06}.vtu")
}

/// Whether a file in `frames/` has a name that [`frame_name`] gives.
pub fn is_frame_name(name: &str) -> bool {
    name.strip_suffix(".vtu").is_some_and(|n| n.len() >= 6 && n.bytes().all(|b| b.is_ascii_digit()))
}
