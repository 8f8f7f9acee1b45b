//! The catalogue of methods.

use super::fit::FitBy;
use crate::schema::Scene;
use lilyan_solid::coarsening::{
    self, CoarseningError, DIRECT, Fine, Overlaps, Progress, Tensor, harmonic, homogenize,
};
use lilyan_solid::mesh::{Harmonics, TetMesh};
use serde_json::{Map, json};

/// A way to make a coarse body.
pub struct Method {
    /// Name for `--method`.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Key in references.bib.
    pub cite: &'static str,
    /// Whether the coarse body has the material of the fine one, instead of tensors.
    pub keeps_material: bool,
    /// How it is fitted to the frequencies of the fine one, if it is.
    pub fit: Option<FitBy>,
    /// Makes it.
    pub effective: fn(&Task<'_>, Progress<'_>) -> Result<Effective, CoarseningError>,
}

/// What a method starts from.
pub struct Task<'a> {
    /// The fine scene.
    pub scene: &'a Scene,
    /// Number of the body in it.
    pub body: usize,
    /// The fine body.
    pub fine: &'a Fine<'a>,
    /// The coarse mesh.
    pub coarse: &'a TetMesh,
    /// Which part of the fine body belongs to which coarse tet.
    pub overlaps: &'a Overlaps,
}

/// What a method gives.
#[derive(Default)]
pub struct Effective {
    /// Elasticity tensor of each coarse tet, Pa.
    pub stiffness: Vec<Tensor>,
    /// Numbers per coarse tet to look at, by name.
    pub fields: Vec<(&'static str, Vec<f64>)>,
    /// The six displacements that they come from, if they do.
    pub harmonics: Option<Harmonics>,
    /// What the report tells besides.
    pub figures: Map<String, serde_json::Value>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// Every method, in the order of the documentation.
pub static CATALOGUE: &[Method] = &[
    Method {
        name: "homogenize",
        summary: "tensors that store the energy of six static displacements of the fine body",
        cite: "kharevych2009",
        keeps_material: false,
        fit: None,
        effective: by_energy,
    },
    Method {
        name: "homogenize+eigenfit",
        summary: "the tensors of homogenize, and the frequencies of the fine body for the lowest modes",
        cite: "kharevych2009",
        keeps_material: false,
        fit: Some(FitBy::Modes),
        effective: by_energy,
    },
    Method {
        name: "eigenfit",
        summary: "the body's own material, and the frequencies of the fine body for the lowest modes",
        cite: "chen2019",
        keeps_material: true,
        fit: Some(FitBy::Modes),
        effective: by_volume,
    },
    Method {
        name: "dac",
        summary: "the body's own material, all of it softer, so that the first frequency is that of the fine body",
        cite: "chen2019",
        keeps_material: true,
        fit: Some(FitBy::First),
        effective: by_volume,
    },
    Method {
        name: "average",
        summary: "volume average of the elasticity tensor: too stiff, to compare with",
        cite: "nesme2006",
        keeps_material: false,
        fit: None,
        effective: by_volume,
    },
];

/// The method of that name.
pub fn find(name: &str) -> Option<&'static Method> {
    CATALOGUE.iter().find(|m| m.name == name)
}

fn by_volume(task: &Task<'_>, _: Progress<'_>) -> Result<Effective, CoarseningError> {
    let stiffness = coarsening::average(task.fine, task.coarse, task.overlaps);
    Ok(Effective { stiffness, ..Effective::default() })
}

fn by_energy(task: &Task<'_>, progress: Progress<'_>) -> Result<Effective, CoarseningError> {
    let displacements = harmonic(task.fine, DIRECT, progress)?;
    progress("effective tensors", 0.0);
    let found = homogenize(task.fine, task.coarse, task.overlaps, &displacements);
    let tets = |counts: &[u8]| counts.iter().filter(|n| **n > 0).count();
    let (averaged, raised) = (tets(&found.averaged), tets(&found.raised));
    let mut figures = Map::new();
    figures.insert("outer_faces".into(), json!(displacements.outer));
    figures.insert("cavity_faces".into(), json!(displacements.inner));
    figures.insert("residual".into(), json!(displacements.residual));
    figures.insert("held_unknowns".into(), json!(task.fine.held.iter().filter(|h| **h).count()));
    figures.insert("tets_held_to_average".into(), json!(averaged));
    figures.insert("tets_raised_to_be_definite".into(), json!(raised));
    let mut notes = Vec::new();
    if averaged > 0 {
        notes.push(format!(
            "in {averaged} of {} coarse tets some strains would have come out stiffer than the volume average, which they \
             take instead (see `averaged` in coarse.vtu)",
            task.coarse.tets.len()
        ));
    }
    if raised > 0 {
        notes.push(format!(
            "in {raised} coarse tets some strains would cost next to no energy; they were made {:e} of the volume average",
            coarsening::SOFTEST
        ));
    }
    let fields = vec![
        ("averaged", found.averaged.iter().map(|n| f64::from(*n)).collect()),
        ("raised", found.raised.iter().map(|n| f64::from(*n)).collect()),
    ];
    let harmonics = Some(Harmonics { fine: displacements.displacements, coarse: found.samples });
    Ok(Effective { stiffness: found.stiffness, fields, harmonics, figures, notes })
}
