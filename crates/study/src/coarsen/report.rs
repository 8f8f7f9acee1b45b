//! `coarsen.json` and `consistency.json` as data.

use lilyan_solid::coarsening::Traction;
use serde::{Deserialize, Serialize};

/// What coarsening did. As JSON it is the content of `coarsen.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoarsenReport {
    /// Title of the fine scene.
    pub title: String,
    /// Name of the body that was coarsened.
    pub body: String,
    /// Name of the method.
    pub method: String,
    /// Material model of the coarse body.
    pub model: String,
    /// Size of the fine body.
    pub fine: BodySize,
    /// Size of the coarse body.
    pub coarse: BodySize,
    /// Fine tets per coarse tet.
    pub tets_ratio: f64,
    /// Coarse tets that hold too little of the fine body.
    pub coarse_tets_left_out: usize,
    /// Share of the fine body's volume that lies outside of the coarse mesh.
    pub volume_beyond_coarse_mesh: f64,
    /// Figures of the method.
    pub figures: MethodFigures,
    /// What the user should know.
    pub notes: Vec<String>,
    /// Wall time, s.
    pub wall_seconds: f64,
    /// Version of the program.
    pub version: String,
    /// Modes of both bodies, phase by phase; absent if the method does not fit them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<Vec<FitPhaseReport>>,
    /// Runs of both scenes; absent if they were not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consistency: Option<ConsistencyReport>,
}

/// Size of a body of tets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodySize {
    /// Number of vertices.
    pub vertices: usize,
    /// Number of tets.
    pub tets: usize,
    /// Volume, m³.
    pub volume: f64,
    /// Mass, kg.
    pub mass: f64,
}

/// Figures of a method of coarsening. As JSON it is an empty object for methods that have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MethodFigures {
    /// Of methods that homogenize.
    #[serde(flatten)]
    pub homogenization: Option<HomogenizationFigures>,
}

/// Figures of homogenization.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HomogenizationFigures {
    /// How unit stresses are shared out over the outer surface.
    #[serde(default)]
    pub traction: TractionName,
    /// Largest error of the first frequencies, relative to those of the fine body; absent if they were not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_error: Option<f64>,
    /// Faces of the outer surface of the fine body that are pulled.
    pub outer_faces: usize,
    /// Faces of its cavities.
    pub cavity_faces: usize,
    /// Faces of lips and notches of its outer surface, which are free.
    #[serde(default)]
    pub opening_faces: usize,
    /// Largest relative residual of the six static problems.
    pub residual: f64,
    /// Unknowns of the fine body that are held for good.
    pub held_unknowns: usize,
    /// Coarse tets in which some strains take the volume average.
    pub tets_held_to_average: usize,
    /// Coarse tets in which some strains were made stiffer, so that the tensor is positive definite.
    pub tets_raised_to_be_definite: usize,
}

/// Name of a [`Traction`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TractionName {
    /// The same stress everywhere.
    Uniform,
    /// The mixture of tractions that stores the least energy.
    #[default]
    LeastEnergy,
    /// The same stress everywhere, on the normals of the coarse mesh.
    CoarseNormal,
    /// The same stress everywhere, and stresses that vary linearly.
    Linear,
}

impl TractionName {
    /// As in JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::LeastEnergy => "least-energy",
            Self::CoarseNormal => "coarse-normal",
            Self::Linear => "linear",
        }
    }
}

impl From<Traction> for TractionName {
    fn from(traction: Traction) -> Self {
        match traction {
            Traction::Uniform => Self::Uniform,
            Traction::LeastEnergy => Self::LeastEnergy,
            Traction::CoarseNormal => Self::CoarseNormal,
            Traction::Linear => Self::Linear,
        }
    }
}

/// The modes of the fine and of the coarse body while the same nodes are held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitPhaseReport {
    /// End of the phase, s; absent for the last.
    pub until: Option<f64>,
    /// Whether enough modes were found for a fit.
    pub accepted: bool,
    /// Number of coarse modes that are modes of the fine body.
    pub found: usize,
    /// The lowest modes of the coarse body.
    pub modes: Vec<FitModeReport>,
}

/// A mode of the coarse body and its partner among the modes of the fine body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitModeReport {
    /// Frequency of the fine mode, Hz.
    pub fine_hz: f64,
    /// Frequency of the coarse mode without the fit, Hz.
    pub coarse_hz: f64,
    /// Frequency of the coarse mode with the fit, Hz; absent if the body is not fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected_hz: Option<f64>,
    /// Factor on the stiffness of the coarse mode that gives it the fine frequency.
    pub ratio: f64,
    /// How alike the shapes of both modes are, from 0 to 1.
    pub overlap: f64,
    /// Number of the fine mode, from 1.
    pub fine_mode: usize,
}

/// Runs of the fine and of the coarse scene. As JSON it is the content of `consistency.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConsistencyReport {
    /// Places of the probes at rest, m.
    pub probes: Vec<[f64; 3]>,
    /// Simulated time, s.
    pub end: f64,
    /// The runs; the fine one is first.
    pub runs: Vec<ConsistencyRunReport>,
}

/// One run, compared with the fine one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConsistencyRunReport {
    /// `fine`, `coarse`, or `corrected` for the coarse body with its fit.
    pub run: String,
    /// Number of tets of the body.
    pub tets: usize,
    /// Lowest frequencies at rest without rigid motions, Hz.
    pub frequencies_hz: Vec<f64>,
    /// Largest distance of a probe from the fine run, relative to the largest deflection.
    pub probe_error_max: f64,
    /// Root mean square of these distances, relative to the largest deflection.
    pub probe_error_rms: f64,
    /// Median wall time of a step, s.
    pub seconds_per_step: f64,
    /// That wall time, relative to the fine run.
    pub cost_ratio: f64,
    /// Total energy.
    pub energy: ConsistencyEnergy,
    /// What the user should look at.
    pub warnings: Vec<String>,
}

/// Total energy of a run, J.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConsistencyEnergy {
    /// At the start.
    pub initial: f64,
    /// At the end.
    #[serde(rename = "final")]
    pub last: f64,
}
