//! The catalogue of methods.

use super::fit::FitBy;
use super::report::HomogenizationFigures;
use lilyan_scene::schema::Scene;
use lilyan_solid::coarsening::{
    self, CoarseningError, DIRECT, Fine, Harmonic, Loading, Overlaps, Progress, Tensor, Traction, harmonic,
    homogenize,
};
use lilyan_solid::mesh::{Harmonics, Mesh};

/// A way to make a coarse body.
pub struct CoarseningMethod {
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
    /// Computes the properties of the coarse body, for each traction of the task if they depend on it.
    pub effective: fn(&CoarseningTask<'_>, Progress<'_>) -> Result<Vec<EffectiveProperties>, CoarseningError>,
}

/// What a method starts from.
pub struct CoarseningTask<'a> {
    /// The fine scene.
    pub scene: &'a Scene,
    /// Number of the body in it.
    pub body: usize,
    /// The fine body.
    pub fine: &'a Fine<'a>,
    /// The coarse mesh.
    pub coarse: &'a Mesh,
    /// Which part of the fine body belongs to which coarse tet.
    pub overlaps: &'a Overlaps,
    /// How unit stresses are shared out over the outer boundary, by methods that pull there.
    pub tractions: &'a [Traction],
}

/// What a method computes.
#[derive(Default)]
pub struct EffectiveProperties {
    /// Elasticity tensor of each coarse tet, Pa.
    pub stiffness: Vec<Tensor>,
    /// Numbers per coarse tet to look at, by name.
    pub fields: Vec<(&'static str, Vec<f64>)>,
    /// The six displacements that they come from, if they do.
    pub harmonics: Option<Harmonics>,
    /// Figures for the report, of methods that homogenize.
    pub figures: Option<HomogenizationFigures>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// Every method, in the order of the documentation.
pub static CATALOGUE: &[CoarseningMethod] = &[
    CoarseningMethod {
        name: "homogenize",
        summary: "tensors that store the energy of six static displacements of the fine body",
        cite: "kharevych2009",
        keeps_material: false,
        fit: None,
        effective: energy_equivalent,
    },
    CoarseningMethod {
        name: "homogenize+eigenfit",
        summary: "the tensors of homogenize, and the frequencies of the fine body for the lowest modes",
        cite: "kharevych2009",
        keeps_material: false,
        fit: Some(FitBy::Modes),
        effective: energy_equivalent,
    },
    CoarseningMethod {
        name: "eigenfit",
        summary: "the body's own material, and the frequencies of the fine body for the lowest modes",
        cite: "chen2019",
        keeps_material: true,
        fit: Some(FitBy::Modes),
        effective: volume_average,
    },
    CoarseningMethod {
        name: "dac",
        summary: "the body's own material, all of it softer, so that the first frequency is that of the fine body",
        cite: "chen2019",
        keeps_material: true,
        fit: Some(FitBy::First),
        effective: volume_average,
    },
    CoarseningMethod {
        name: "average",
        summary: "volume average of the elasticity tensor: too stiff, to compare with",
        cite: "nesme2006",
        keeps_material: false,
        fit: None,
        effective: volume_average,
    },
];

/// The method of that name.
pub fn find(name: &str) -> Option<&'static CoarseningMethod> {
    CATALOGUE.iter().find(|m| m.name == name)
}

fn volume_average(
    task: &CoarseningTask<'_>,
    _: Progress<'_>,
) -> Result<Vec<EffectiveProperties>, CoarseningError> {
    let stiffness = coarsening::average(task.fine, task.coarse, task.overlaps);
    Ok(vec![EffectiveProperties { stiffness, ..EffectiveProperties::default() }])
}

fn energy_equivalent(
    task: &CoarseningTask<'_>,
    progress: Progress<'_>,
) -> Result<Vec<EffectiveProperties>, CoarseningError> {
    let loading = Loading { tractions: task.tractions, coarse: Some(task.coarse), direct: DIRECT };
    let found = harmonic(task.fine, &loading, progress)?;
    progress("effective tensors", 0.0);
    let pairs = task.tractions.iter().zip(found);
    Ok(pairs.map(|(traction, displacements)| stored_energy(task, *traction, displacements)).collect())
}

fn stored_energy(
    task: &CoarseningTask<'_>,
    traction: Traction,
    displacements: Harmonic,
) -> EffectiveProperties {
    let found = homogenize(task.fine, task.coarse, task.overlaps, &displacements);
    let tets = |counts: &[u8]| counts.iter().filter(|n| **n > 0).count();
    let (averaged, raised) = (tets(&found.averaged), tets(&found.raised));
    let figures = Some(HomogenizationFigures {
        traction: traction.into(),
        frequency_error: None,
        outer_faces: displacements.outer,
        cavity_faces: displacements.inner,
        opening_faces: displacements.openings,
        residual: displacements.residual,
        held_unknowns: task.fine.held.iter().filter(|h| **h).count(),
        tets_held_to_average: averaged,
        tets_raised_to_be_definite: raised,
    });
    let mut notes = Vec::new();
    if averaged > 0 {
        notes.push(format!(
            "in {averaged} of {} coarse tets some strains would have come out stiffer than the volume average, which they \
             take instead (see `averaged` in coarse.vtu)",
            task.coarse.tets().len()
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
    EffectiveProperties { stiffness: found.stiffness, fields, harmonics, figures, notes }
}
