//! Material models that a program adds to a scene.

use super::Scene;
use lilyan_solid::materials::{self, Material};
use std::fmt;

/// Material models beside those of the catalogue.
#[derive(Clone, Default)]
pub struct OwnMaterials(Vec<&'static dyn Material>);

impl OwnMaterials {
    /// The names of all models that the scene can name.
    pub fn known(&self) -> Vec<&'static str> {
        self.0.iter().chain(materials::CATALOGUE).map(|m| m.card().name).collect()
    }

    /// The model of that name; one of the program comes first.
    pub fn find(&self, name: &str) -> Option<&'static dyn Material> {
        self.0.iter().find(|m| m.card().name == name).copied().or_else(|| materials::find(name))
    }
}

impl fmt::Debug for OwnMaterials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|m| m.card().name)).finish()
    }
}

impl PartialEq for OwnMaterials {
    fn eq(&self, other: &Self) -> bool {
        let same =
            |(a, b): (&&'static dyn Material, &&'static dyn Material)| std::ptr::eq(a.card(), b.card());
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(same)
    }
}

impl Scene {
    /// The scene with a material model of the program: bodies can name it as one of the catalogue.
    pub fn with_material(mut self, material: &'static dyn Material) -> Self {
        self.materials.0.insert(0, material);
        self
    }
}
