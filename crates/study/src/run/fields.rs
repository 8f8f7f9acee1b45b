//! Fields of a state: what frames and the replay show.

use lilyan_dynamics::System;
use lilyan_files::atomic::WriteError;
use lilyan_mesh_io::writers::vtu::{Field, Frame};
use lilyan_scene::build::Built;
use lilyan_scene::schema::FieldName;
use lilyan_solid::elements::{self, CellField};
use lilyan_solid::output;
use std::path::Path;

/// A field as a frame takes it.
struct FieldData {
    pub name: &'static str,
    pub components: usize,
    pub per_vertex: bool,
    pub values: Vec<f64>,
}

/// Writes the current state with the wanted fields as a .vtu file.
pub(crate) fn write_state(
    built: &Built,
    wanted: &[FieldName],
    time: Option<f64>,
    path: &Path,
) -> Result<(), WriteError> {
    let fields = compute(built, wanted);
    let pick = |per_vertex: bool| {
        let chosen = fields.iter().filter(|f| f.per_vertex == per_vertex);
        chosen.map(|f| Field { name: f.name, components: f.components, values: &f.values }).collect()
    };
    Frame {
        time,
        positions: &built.simulation.state().q,
        blocks: &output::cells(built.simulation.system().bodies()),
        point_fields: pick(true),
        cell_fields: pick(false),
    }
    .write(path)
}

/// Computes the wanted fields at the current state.
fn compute(built: &Built, wanted: &[FieldName]) -> Vec<FieldData> {
    let simulation = &built.simulation;
    let (model, state) = (simulation.system(), simulation.state());
    let vertex = |name, components, values| FieldData { name, components, per_vertex: true, values };
    let cell = |name, components, values| FieldData { name, components, per_vertex: false, values };
    wanted
        .iter()
        .map(|field| match field {
            FieldName::Velocity => vertex("velocity", 3, state.v.clone()),
            FieldName::Displacement => {
                let rest = model.rest_positions();
                let moved = state.q.iter().zip(rest).map(|(q, r)| q - r).collect();
                vertex("displacement", 3, moved)
            }
            FieldName::Force => {
                let mut force = vec![0.0; state.q.len()];
                model.gradient(state.t, &state.q, &mut force);
                force.iter_mut().for_each(|f| *f = -*f);
                vertex("force", 3, force)
            }
            FieldName::Mass => vertex("mass", 1, model.node_masses().to_vec()),
            FieldName::VonMises => cell("von_mises", 1, von_mises(built, &state.q)),
            FieldName::StrainEnergy => {
                cell("strain_energy", 1, of_cells(built, CellField::EnergyDensity, &state.q))
            }
            FieldName::Pressure => {
                let stresses = of_cells(built, CellField::Stress, &state.q);
                let pressure = |s: &[f64; 9]| -(s[0] + s[4] + s[8]) / 3.0;
                cell("pressure", 1, stresses.as_chunks().0.iter().map(pressure).collect())
            }
            FieldName::Stress => cell("stress", 9, of_cells(built, CellField::Stress, &state.q)),
            FieldName::NodalStress => vertex("nodal_stress", 9, nodal_stress(built, &state.q)),
            FieldName::NodalVonMises => {
                vertex("nodal_von_mises", 1, elements::von_mises(&nodal_stress(built, &state.q)))
            }
            FieldName::J => cell("J", 1, of_cells(built, CellField::VolumeRatio, &state.q)),
            FieldName::Tag => {
                let tags = output::cell_tags(model.bodies());
                cell("tag", 1, tags.into_iter().map(|tag| tag as f64).collect())
            }
        })
        .collect()
}

fn of_cells(built: &Built, field: CellField, q: &[f64]) -> Vec<f64> {
    output::cell_field(built.simulation.system().bodies(), field, q)
}

fn nodal_stress(built: &Built, q: &[f64]) -> Vec<f64> {
    let model = built.simulation.system();
    output::nodal_stress(model.bodies(), model.node_masses().len(), q)
}

/// The von Mises stress of each cell, Pa.
pub(crate) fn von_mises(built: &Built, q: &[f64]) -> Vec<f64> {
    elements::von_mises(&of_cells(built, CellField::Stress, q))
}

/// A scalar field at the vertices, for pictures: velocities by their size, what belongs to elements by its mean around a
/// vertex.
pub fn at_vertices(built: &Built, field: FieldName) -> Vec<f64> {
    let mut computed = compute(built, &[field]);
    let Some(data) = computed.pop() else { return Vec::new() };
    let sizes = |values: &[f64]| {
        values.chunks_exact(data.components).map(|c| c.iter().map(|x| x * x).sum::<f64>().sqrt()).collect()
    };
    match (data.per_vertex, data.components) {
        (true, 1) => data.values,
        (true, _) => sizes(&data.values),
        (false, 1) => to_vertices(built, &data.values),
        (false, _) => to_vertices(built, &sizes(&data.values)),
    }
}

/// Values per element as means at the vertices.
pub(super) fn to_vertices(built: &Built, per_cell: &[f64]) -> Vec<f64> {
    let model = built.simulation.system();
    output::mean_at_nodes(model.bodies(), model.node_masses().len(), per_cell)
}

/// Smallest det F, and the body and element where it is.
pub(super) fn smallest_J(built: &Built) -> (f64, usize, usize) {
    output::smallest_volume_ratio(built.simulation.system().bodies(), &built.simulation.state().q)
}
