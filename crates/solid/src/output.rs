//! Cells and fields of bodies, in the order in which files number cells: kind by kind, body by body.

use crate::elements::{CellField, ElementCells};
use crate::mesh::{CellBlock, CellKind};
use crate::model::Body;

/// Calls `f` with every set of elements that has cells, in order.
fn each(bodies: &[Body], mut f: impl FnMut(usize, &dyn ElementCells, CellBlock)) {
    for kind in CellKind::ALL {
        for (b, body) in bodies.iter().enumerate() {
            for elements in &body.elements {
                if let Some(cells) = elements.cells().filter(|cells| cells.cell_kind() == kind) {
                    f(b, cells, cells.block());
                }
            }
        }
    }
}

/// The cells of bodies in global nodes, one block for each kind that there is.
pub fn cells(bodies: &[Body]) -> Vec<CellBlock> {
    let mut blocks: Vec<CellBlock> = Vec::new();
    each(bodies, |_, _, cells| match blocks.last_mut() {
        Some(last) if last.kind == cells.kind => last.nodes.extend(cells.nodes),
        _ => blocks.push(cells),
    });
    blocks
}

/// How many cells of which kinds there are, in words.
pub fn describe(blocks: &[CellBlock]) -> String {
    let told = blocks.iter().map(|block| {
        let (count, name) = (block.len(), block.kind.name());
        format!("{count} {name}{}", if count == 1 { "" } else { "s" })
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() { "single points".into() } else { told.join(", ") }
}

/// A field at positions q, [`CellField::components`] numbers for each of the [`cells`].
pub fn cell_field(bodies: &[Body], field: CellField, q: &[f64]) -> Vec<f64> {
    let mut out = Vec::new();
    each(bodies, |_, elements, _| elements.append_field(field, q, &mut out));
    out
}

/// The region number of each of the [`cells`]: that of its tet in the mesh, 0 for cells of nets.
pub fn cell_tags(bodies: &[Body]) -> Vec<i64> {
    let mut out = Vec::new();
    each(bodies, |b, _, cells| {
        let tags = &bodies[b].dofs.nodes().mesh().tags;
        let tag = |e: usize| match cells.kind.dimension() {
            3 => tags.get(e).copied().unwrap_or(0),
            _ => 0,
        };
        out.extend((0..cells.len()).map(tag));
    });
    out
}

/// A number for each of the [`cells`] as means at `count` nodes, weighted by the volumes of the cells.
pub fn mean_at_nodes(bodies: &[Body], count: usize, per_cell: &[f64]) -> Vec<f64> {
    let (mut sum, mut weight) = (vec![0.0; count], vec![0.0; count]);
    let mut values = per_cell.iter();
    each(bodies, |_, elements, cells| {
        let mut volumes = Vec::with_capacity(cells.len());
        elements.append_field(CellField::Volume, &[], &mut volumes);
        for ((nodes, volume), value) in cells.iter().zip(volumes).zip(&mut values) {
            for &n in nodes {
                sum[n as usize] += volume * value;
                weight[n as usize] += volume;
            }
        }
    });
    sum.iter().zip(&weight).map(|(s, w)| if *w > 0.0 { s / w } else { 0.0 }).collect()
}

/// The Cauchy stress at `count` nodes, Pa, nine numbers for each: the mean of what the cells there have at the node, weighted by
/// their volumes.
pub fn nodal_stress(bodies: &[Body], count: usize, q: &[f64]) -> Vec<f64> {
    const SIZE: usize = 9;
    let (mut sum, mut weight) = (vec![0.0; SIZE * count], vec![0.0; count]);
    each(bodies, |_, elements, cells| {
        let (mut volumes, mut stresses) = (Vec::new(), Vec::new());
        elements.append_field(CellField::Volume, &[], &mut volumes);
        elements.append_nodal_stress(q, &mut stresses);
        let mut stresses = stresses.chunks_exact(SIZE);
        for (nodes, volume) in cells.iter().zip(volumes) {
            for (&n, stress) in nodes.iter().zip(&mut stresses) {
                let at = SIZE * n as usize;
                sum[at..at + SIZE].iter_mut().zip(stress).for_each(|(sum, s)| *sum += volume * s);
                weight[n as usize] += volume;
            }
        }
    });
    let divided =
        |(s, w): (&[f64], &f64)| s.iter().map(|s| if *w > 0.0 { s / w } else { 0.0 }).collect::<Vec<_>>();
    sum.chunks_exact(SIZE).zip(&weight).flat_map(divided).collect()
}

/// The cell of a solid whose volume is the least part of that at rest: (det F, body, cell of the body). +∞ without
/// solids.
pub fn smallest_volume_ratio(bodies: &[Body], q: &[f64]) -> (f64, usize, usize) {
    let mut worst = (f64::INFINITY, 0, 0);
    each(bodies, |b, elements, cells| {
        if cells.kind.dimension() == 3 {
            let mut ratios = Vec::with_capacity(cells.len());
            elements.append_field(CellField::VolumeRatio, q, &mut ratios);
            for (e, &J) in ratios.iter().enumerate().filter(|(_, J)| **J < f64::INFINITY) {
                if J < worst.0 {
                    worst = (J, b, e);
                }
            }
        }
    });
    worst
}
