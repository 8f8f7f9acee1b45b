//! The folder that coarsening leaves.

use super::carry::MESH;
use super::{Effective, FineBody, Method};
use crate::document::Node;
use crate::schema::{STIFFNESS_KEYS, Scene};
use crate::writers::{atomic, json, vtu};
use lilyan_solid::coarsening::{Fitted, to_voigt};
use lilyan_solid::mesh::TetMesh;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What is to be written.
pub(super) struct Made<'a> {
    pub scene: &'a Scene,
    pub method: &'static Method,
    pub model: &'static str,
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

    /// Writes mesh, scene and report; returns the path of the scene.
    pub fn write(
        &self,
        document: &Node,
        report: &Value,
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
        vtu::Frame {
            time: None,
            positions: mesh.vertices.as_flattened(),
            tets: &mesh.tets,
            point_fields: vec![scalar("mass", masses.as_slice())],
            cell_fields,
            ..vtu::Frame::default()
        }
        .write(directory.join(MESH))?;
        json::write(directory.join("coarsen.json"), report)?;
        let path = directory.join("scene.toml");
        atomic::write(&path, document.to_toml().as_bytes())?;
        Ok(path)
    }
}
