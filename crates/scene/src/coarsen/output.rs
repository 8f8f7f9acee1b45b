//! The folder that coarsening leaves.

use super::carry::MESH;
use super::{Effective, FineBody, Method};
use crate::build::harmonic_name;
use crate::document::Node;
use crate::schema::{STIFFNESS_KEYS, Scene};
use crate::writers::{atomic, vtu};
use lilyan_solid::coarsening::{Fitted, to_voigt};
use lilyan_solid::mesh::TetMesh;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Name of the fine mesh's file.
pub(super) const FINE: &str = "fine.vtu";

fn field<'a>(name: &'a str, values: &'a [f64]) -> vtu::Field<'a> {
    vtu::Field { name, components: 1, values }
}

/// Six fields of vectors as eighteen of numbers.
fn by_name(h: &[Vec<f64>; 6]) -> Vec<(String, Vec<f64>)> {
    let one = |a: usize, k: usize| (harmonic_name(a, k), h[a].iter().skip(k).step_by(3).copied().collect());
    (0..6).flat_map(|a| (0..3).map(move |k| one(a, k))).collect()
}

/// What is to be written.
pub(super) struct Made<'a> {
    pub scene: &'a Scene,
    pub method: &'static Method,
    pub model: &'a str,
    pub fine: &'a FineBody,
    pub fitted: &'a Fitted,
    pub effective: &'a Effective,
}

impl Made<'_> {
    /// What was done, as data.
    pub fn report(&self, body: usize, notes: &[String], seconds: f64) -> Value {
        let about = |mesh: &TetMesh, mass: f64| {
            json!({
                "vertices": mesh.vertices.len(),
                "tets": mesh.tets.len(),
                "volume": mesh.volume(),
                "mass": mass,
            })
        };
        let masses = self.fitted.overlaps.masses(&self.fitted.mesh, &self.fine.view());
        json!({
            "title": self.scene.title,
            "body": self.scene.bodies[body].name,
            "method": self.method.name,
            "model": self.model,
            "fine": about(&self.fine.mesh, self.fine.masses().iter().sum()),
            "coarse": about(&self.fitted.mesh, masses.iter().sum()),
            "tets_ratio": self.fine.mesh.tets.len() as f64 / self.fitted.mesh.tets.len() as f64,
            "coarse_tets_left_out": self.fitted.left_out,
            "volume_beyond_coarse_mesh": self.fitted.beyond,
            "figures": self.effective.figures,
            "notes": notes,
            "wall_seconds": seconds,
            "version": env!("CARGO_PKG_VERSION"),
        })
    }

    /// Writes the fine mesh, to be shown, with its harmonic displacements if there are some.
    pub fn write_fine(&self, directory: &Path) -> Result<(), atomic::WriteError> {
        let mesh = &self.fine.mesh;
        let harmonics = self.effective.harmonics.as_ref().map(|h| by_name(&h.fine));
        vtu::Frame {
            time: None,
            positions: mesh.vertices.as_flattened(),
            tets: &mesh.tets,
            point_fields: harmonics.iter().flatten().map(|(n, v)| field(n, v)).collect(),
            ..vtu::Frame::default()
        }
        .write(directory.join(FINE))
    }

    /// Writes mesh, with `shapes` of modes as point data, and scene; returns the path of the scene.
    pub fn write(
        &self,
        document: &Node,
        shapes: &[(String, Vec<f64>)],
        directory: &Path,
    ) -> Result<PathBuf, atomic::WriteError> {
        let mesh = &self.fitted.mesh;
        let fine = self.fine.view();
        let constants: Vec<[f64; 21]> = self.effective.stiffness.iter().map(to_voigt).collect();
        let columns: Vec<Vec<f64>> = (0..21).map(|k| constants.iter().map(|c| c[k]).collect()).collect();
        let densities = self.fitted.overlaps.densities(mesh, &fine);
        let volumes = mesh.signed_volumes();
        let fill: Vec<f64> =
            (0..volumes.len()).map(|q| self.fitted.overlaps.volume(q) / volumes[q]).collect();
        let masses = self.fitted.overlaps.masses(mesh, &fine);
        let scalar = |name, values| vtu::Field { name, components: 1, values };
        let mut cell_fields = vec![scalar("rho", densities.as_slice()), scalar("fill", fill.as_slice())];
        cell_fields
            .extend(self.effective.fields.iter().map(|(name, values)| scalar(name, values.as_slice())));
        cell_fields.extend(STIFFNESS_KEYS.iter().zip(&columns).map(|(name, values)| scalar(name, values)));
        let harmonics = self.effective.harmonics.as_ref().map(|h| by_name(&h.coarse));
        let mut point_fields = vec![scalar("mass", masses.as_slice())];
        point_fields.extend(harmonics.iter().flatten().chain(shapes).map(|(n, v)| field(n, v)));
        vtu::Frame {
            time: None,
            positions: mesh.vertices.as_flattened(),
            tets: &mesh.tets,
            point_fields,
            cell_fields,
            ..vtu::Frame::default()
        }
        .write(directory.join(MESH))?;
        let path = directory.join("scene.toml");
        atomic::write(&path, document.to_toml().as_bytes())?;
        Ok(path)
    }
}
