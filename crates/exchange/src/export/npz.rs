//! NPZ, an archive of NumPy arrays: all nodes, cells and fields of the frames, and the tables of the run.
//!
//! | array | shape |
//! |---|---|
//! | `t` | frames, s |
//! | `positions` | frames × nodes × 3, m |
//! | `body`, `bodies` | nodes: the number of the body; names of the bodies |
//! | `tet`, `quadratic_tet`, `triangle`, `spring` | cells × nodes of each, for the kinds that there are |
//! | a field, as `velocity` | frames × nodes or cells (× components) |
//! | `energy/total`, `probes/tip_x`, … | rows of `energy.csv`, `probes.csv`, `forces.csv` |

use super::zip::Archive;
use super::{ExportFormat, Write};
use crate::animation::{AnimationOptions, chosen_frames, node_ranges};
use crate::error::ExchangeError;
use crate::results::Results;
use lilyan_files::atomic::{self, WriteError};
use lilyan_files::csv::Table;
use lilyan_mesh_io::readers::FrameData;
use std::io;
use std::path::Path;

pub(super) const FORMAT: ExportFormat = ExportFormat {
    name: "npz",
    summary: "NumPy arrays: all nodes, cells and fields of the frames, and the tables of the run",
    write: Write::Frames(write),
};

const TABLES: [&str; 3] = ["energy", "probes", "forces"];

fn write(results: &Results, options: &AnimationOptions, path: &Path) -> Result<(), ExchangeError> {
    if !options.bodies.is_empty() || options.field.is_some() {
        return Err(ExchangeError::request(
            "npz holds every body and field; leave out --body and --field, or choose another format",
        ));
    }
    let chosen = chosen_frames(results, options)?;
    let first = results.frame(chosen[0])?;
    let ranges = node_ranges(results, first.positions.len())?;
    // An error of a frame is told as itself, not as one of the archive.
    let mut failed = None;
    let written = atomic::write_with(path, |out| {
        let mut archive = Archive::new(out);
        let times: Vec<f64> = chosen.iter().map(|&k| results.frames[k].0).collect();
        add(&mut archive, "t", "<f8", &[times.len()], |out| doubles(out, &times))?;
        let mut numbers = vec![0i32; first.positions.len()];
        for (b, (_, range)) in ranges.iter().enumerate() {
            numbers[range.clone()].fill(b as i32);
        }
        add(&mut archive, "body", "<i4", &[numbers.len()], |out| integers(out, numbers.iter().copied()))?;
        names(&mut archive, &ranges.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())?;
        for block in &first.blocks {
            let name = block.kind.name().replace(' ', "_");
            let shape = [block.len(), block.kind.nodes()];
            add(&mut archive, &name, "<i4", &shape, |out| {
                integers(out, block.nodes.iter().map(|v| *v as i32))
            })?;
        }
        let same_frames = |out: &mut dyn io::Write, part: &dyn Fn(&FrameData) -> Option<Vec<f64>>, length| {
            for &k in &chosen {
                let frame = results.frame(k).map_err(|e| {
                    failed = Some(e);
                    io::Error::other("a frame cannot be read")
                })?;
                match part(&frame).filter(|values: &Vec<f64>| values.len() == length) {
                    Some(values) => doubles(out, &values)?,
                    None => return Err(io::Error::other(format!("frame {k} differs from the first"))),
                }
            }
            Ok(())
        };
        let mut same_frames = same_frames;
        let shape = [chosen.len(), first.positions.len(), 3];
        add(&mut archive, "positions", "<f8", &shape, |out| {
            same_frames(out, &|frame| Some(frame.positions.concat()), 3 * first.positions.len())
        })?;
        for field in first.point_fields.iter().chain(&first.cell_fields) {
            let mut shape = vec![chosen.len(), field.values.len() / field.components];
            shape.extend((field.components > 1).then_some(field.components));
            let part = |frame: &FrameData| {
                let mut all = frame.point_fields.iter().chain(&frame.cell_fields);
                all.find(|other| other.name == field.name).map(|other| other.values.clone())
            };
            add(&mut archive, &field.name, "<f8", &shape, |out| same_frames(out, &part, field.values.len()))?;
        }
        tables(&mut archive, results)?;
        archive.finish()
    });
    match (written, failed) {
        (Err(_), Some(cause)) => Err(cause),
        (written, _) => Ok(written?),
    }
}

/// The columns of the tables of a run.
fn tables(archive: &mut Archive<'_>, results: &Results) -> io::Result<()> {
    for name in TABLES {
        let path = results.directory.join(format!("{name}.csv"));
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let table = Table::parse(&text)
            .map_err(|e| io::Error::other(WriteError::data(&path, format!("it is no table: {e}"))))?;
        for column in table.columns() {
            let values = table.column(column).unwrap_or_default();
            add(archive, &format!("{name}/{column}"), "<f8", &[values.len()], |out| doubles(out, &values))?;
        }
    }
    Ok(())
}

/// Names as an array of text.
fn names(archive: &mut Archive<'_>, names: &[&str]) -> io::Result<()> {
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(1);
    add(archive, "bodies", &format!("<U{width}"), &[names.len()], |out| {
        for name in names {
            let mut letters: Vec<u32> = name.chars().map(u32::from).collect();
            letters.resize(width, 0);
            out.write_all(&letters.iter().flat_map(|c| c.to_le_bytes()).collect::<Vec<u8>>())?;
        }
        Ok(())
    })
}

/// Adds an array in the format NPY 1.0.
fn add(
    archive: &mut Archive<'_>,
    name: &str,
    kind: &str,
    shape: &[usize],
    fill: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<()> {
    let sizes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let mut head = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // With the ten bytes before it and the line break, the header is a multiple of 64.
    let padding = (head.len() + 11).next_multiple_of(64) - head.len() - 11;
    head.push_str(&" ".repeat(padding));
    head.push('\n');
    archive.add(&format!("{name}.npy"), |out| {
        out.write_all(b"\x93NUMPY\x01\x00")?;
        out.write_all(&(head.len() as u16).to_le_bytes())?;
        out.write_all(head.as_bytes())?;
        fill(out)
    })
}

fn doubles(out: &mut dyn io::Write, values: &[f64]) -> io::Result<()> {
    values
        .chunks(4096)
        .try_for_each(|part| out.write_all(&part.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()))
}

fn integers(out: &mut dyn io::Write, values: impl Iterator<Item = i32>) -> io::Result<()> {
    out.write_all(&values.flat_map(i32::to_le_bytes).collect::<Vec<u8>>())
}
