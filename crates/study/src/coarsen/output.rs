//! The results of coarsening: meshes with their data, the report, and the folder.

use super::report::{BodySize, CoarsenReport, MethodFigures};
use super::{CoarsenOutcome, CoarseningMethod, EffectiveProperties, FineBody};
use crate::scene_files;
use lilyan_files::{atomic, json};
use lilyan_scene::build::harmonic_name;
use lilyan_scene::schema::{STIFFNESS_KEYS, Scene};
use lilyan_solid::coarsening::{Fitted, to_voigt};
use lilyan_solid::mesh::Mesh;
use std::path::{Path, PathBuf};

/// Name of the fine mesh's file.
pub(super) const FINE_MESH_FILE: &str = "fine.vtu";

/// Six fields of vectors as eighteen of numbers.
fn by_name(h: &[Vec<f64>; 6]) -> Vec<(String, Vec<f64>)> {
    let one = |a: usize, k: usize| (harmonic_name(a, k), h[a].iter().skip(k).step_by(3).copied().collect());
    (0..6).flat_map(|a| (0..3).map(move |k| one(a, k))).collect()
}

/// A coarse body and what it was made from.
pub(super) struct CoarseBody<'a> {
    pub scene: &'a Scene,
    pub method: &'static CoarseningMethod,
    pub model: &'a str,
    pub fine: &'a FineBody,
    pub fitted: &'a Fitted,
    pub effective: &'a EffectiveProperties,
}

impl CoarseBody<'_> {
    /// What was done, as data.
    pub fn report(&self, body: usize, notes: &[String], seconds: f64) -> CoarsenReport {
        let size = |mesh: &Mesh, masses: &[f64]| BodySize {
            vertices: mesh.vertices.len(),
            tets: mesh.tets().len(),
            volume: mesh.volume(),
            mass: masses.iter().sum(),
        };
        let masses = self.fitted.overlaps.masses(&self.fitted.mesh, &self.fine.view());
        CoarsenReport {
            title: self.scene.title.clone(),
            body: self.scene.bodies[body].name.clone(),
            method: self.method.name.into(),
            model: self.model.into(),
            fine: size(self.fine.mesh(), &self.fine.masses()),
            coarse: size(&self.fitted.mesh, &masses),
            tets_ratio: self.fine.mesh().tets().len() as f64 / self.fitted.mesh.tets().len() as f64,
            coarse_tets_left_out: self.fitted.left_out,
            volume_beyond_coarse_mesh: self.fitted.beyond,
            figures: MethodFigures { homogenization: self.effective.figures },
            notes: notes.to_vec(),
            wall_seconds: seconds,
            version: env!("CARGO_PKG_VERSION").into(),
            fit: None,
            consistency: None,
        }
    }

    /// The fine mesh, to be shown, with its harmonic displacements if there are some.
    pub fn fine_mesh(&self) -> Mesh {
        let mut mesh = Mesh::new(self.fine.mesh().vertices.clone(), self.fine.mesh().tets().to_vec());
        mesh.point_data.extend(self.effective.harmonics.iter().flat_map(|h| by_name(&h.fine)));
        mesh
    }

    /// The coarse mesh with elastic constants and densities of its tets and masses of its vertices.
    pub fn coarse_mesh(&self) -> Mesh {
        let (given, fine) = (&self.fitted.mesh, self.fine.view());
        let mut mesh = Mesh::new(given.vertices.clone(), given.tets().to_vec());
        let constants: Vec<[f64; 21]> = self.effective.stiffness.iter().map(to_voigt).collect();
        let volumes = given.signed_volumes();
        let fill = (0..volumes.len()).map(|q| self.fitted.overlaps.volume(q) / volumes[q]).collect();
        let column = |k: usize| constants.iter().map(|c| c[k]).collect();
        let named = |(name, values): &(&str, Vec<f64>)| ((*name).to_owned(), values.clone());
        mesh.cell_data.insert("rho".into(), self.fitted.overlaps.densities(given, &fine));
        mesh.cell_data.insert("fill".into(), fill);
        mesh.cell_data.extend(self.effective.fields.iter().map(named));
        mesh.cell_data
            .extend(STIFFNESS_KEYS.iter().enumerate().map(|(k, key)| ((*key).to_owned(), column(k))));
        mesh.point_data.insert("mass".into(), self.fitted.overlaps.masses(given, &fine));
        mesh.point_data.extend(self.effective.harmonics.iter().flat_map(|h| by_name(&h.coarse)));
        mesh
    }
}

impl CoarsenOutcome {
    /// Writes the scene, its meshes and the report into a folder, which must exist; returns the path of the scene.
    pub fn write(&self, directory: &Path) -> Result<PathBuf, atomic::WriteError> {
        let path = directory.join("scene.toml");
        json::write(directory.join("coarsen.json"), &self.report)?;
        scene_files::write(&self.scene, &path)?;
        Ok(path)
    }
}
