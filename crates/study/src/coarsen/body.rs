//! The fine body as coarsening sees it, and the coarse mesh in its place.

use super::CoarseMesh;
use lilyan_mesh_io::readers::{self, Loaded};
use lilyan_scene::build::{material, select, shape};
use lilyan_scene::document::SceneError;
use lilyan_scene::schema::{BodySpec, Element, Scene};
use lilyan_solid::coarsening::{self, Fine, Tensor};
use lilyan_solid::mesh::{Mesh, Nodes};
use std::sync::Arc;

/// A body of the fine scene, linearised at rest.
pub struct FineBody {
    /// Its nodes, at the vertices of its rest shape.
    pub nodes: Arc<Nodes>,
    /// Material model.
    pub model: String,
    /// Elasticity tensor at rest, one for all tets or one for each, Pa.
    pub stiffness: Vec<Tensor>,
    /// Density, one for all tets or one for each, kg/m³.
    pub density: Vec<f64>,
    /// Unknowns that stay held for good.
    pub held: Vec<bool>,
}

impl FineBody {
    pub(super) fn new(scene: &Scene, number: usize, notes: &mut Vec<String>) -> Result<Self, SceneError> {
        let spec = &scene.bodies[number];
        // Discontinuous tets: the same body, in one piece.
        let whole = BodySpec { element: Element::TETS, element_given: true, gluing: None, ..spec.clone() };
        let (nodes, _) = shape::nodes(scene, &whole, notes)?;
        if nodes.tets().is_empty() {
            return Err(spec.mark.error("is a surface; only bodies of tets are coarsened"));
        }
        let resolved = material::material(&scene.materials, &whole, &nodes)?;
        let mut stiffness = Vec::with_capacity(resolved.given.len());
        for given in &resolved.given {
            let constants =
                resolved.model.constants(given).map_err(|e| spec.material.mark.error(e.to_string()))?;
            let tensor = coarsening::of_material(resolved.model, &constants);
            if !tensor.as_flattened().iter().all(|x| x.is_finite()) {
                return Err(spec.material.mark.error(
                    "an incompressible body has no finite stiffness to coarsen; give nu = 0.49 or less",
                ));
            }
            stiffness.push(tensor);
        }
        let mut held = vec![false; 3 * nodes.len()];
        for pin in scene.pins.iter().filter(|p| p.body == number && p.until.is_none()) {
            let mask = select::nodes(&pin.selector, &nodes, &pin.mark)?;
            for v in (0..mask.len()).filter(|v| mask[*v]) {
                (0..3).filter(|k| pin.axes[*k]).for_each(|k| held[3 * v + k] = true);
            }
        }
        let model = spec.material.model.clone();
        Ok(Self { nodes, model, stiffness, density: resolved.rho, held })
    }

    /// Its rest shape.
    pub fn mesh(&self) -> &Mesh {
        self.nodes.mesh()
    }

    /// As the numerics take it.
    pub fn view(&self) -> Fine<'_> {
        Fine { mesh: self.mesh(), stiffness: &self.stiffness, density: &self.density, held: &self.held }
    }

    /// Mass of each vertex, lumped, kg.
    pub fn masses(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.mesh().vertices.len()];
        let view = self.view();
        for (e, (tet, volume)) in self.mesh().tets().iter().zip(self.mesh().signed_volumes()).enumerate() {
            tet.iter().for_each(|v| out[*v as usize] += 0.25 * view.density(e) * volume);
        }
        out
    }
}

/// The coarse mesh, in the place of the body.
pub(super) fn coarse_mesh(
    scene: &Scene,
    number: usize,
    fine: &Mesh,
    wanted: &CoarseMesh,
    notes: &mut Vec<String>,
) -> Result<Mesh, SceneError> {
    let spec = &scene.bodies[number];
    match wanted {
        CoarseMesh::Tets(tets) => {
            coarsening::cover(fine, *tets).map_err(|e| spec.mark.error(format!("--tets: {e}")))
        }
        CoarseMesh::File(path) => {
            let fail = |message: String| spec.mark.error(format!("--mesh: {message}"));
            let loaded = readers::read(path).map_err(|e| fail(e.to_string()))?;
            notes.extend(loaded.notes().iter().map(|note| format!("coarse mesh: {note}")));
            let Loaded::Tets(mesh, _) = loaded else {
                return Err(fail(format!(
                    "{} is a surface; give a mesh of tets, or let --tets N make a grid",
                    path.display()
                )));
            };
            let mut mesh = Mesh::of_cells(mesh.vertices.clone(), mesh.cells().to_vec());
            shape::place(spec, &mut mesh.vertices);
            mesh.orient();
            Ok(mesh)
        }
    }
}
