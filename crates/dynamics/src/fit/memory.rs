//! The modes of fitted bodies in a checkpoint.

use super::distance::DistanceFromRest;
use super::reach::Reach;
use crate::MemoryRecord;
use serde::{Deserialize, Serialize};

/// The state of a [`super::Fitting`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FittingMemory {
    /// The fitted bodies.
    pub bodies: Vec<BodyMemory>,
    /// The time (s) and the configuration (m) of the present correction.
    pub place: Option<(f64, Vec<f64>)>,
    /// How far the body may move before the correction is computed again.
    pub reach: Reach,
}

/// The tracked modes of one body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BodyMemory {
    /// Dofs that are held or belong to other bodies.
    pub mask: Vec<bool>,
    /// The phase of the fit for which modes were computed.
    pub phase: usize,
    /// The configuration of the factor that refines modes, m.
    pub factored_at: Vec<f64>,
    /// The configuration for which modes were last computed, m.
    pub found_at: Vec<f64>,
    /// The modes of that configuration, one after the other.
    pub vectors: Vec<f64>,
    /// Their eigenvalues, 1/s².
    pub values: Vec<f64>,
    /// ln of the strain for which they are only rotated, relative to that of the start.
    pub patience: f64,
    /// S − 1 in that configuration, by rows.
    pub change: Vec<Vec<f64>>,
    /// Number of steps.
    pub steps: u64,
    /// Number of steps without the fit.
    pub without: u64,
    /// Time of the first step without the fit, s.
    pub first: Option<f64>,
    /// How far the body was from rest while it was fitted.
    pub furthest: DistanceFromRest,
}

impl MemoryRecord for FittingMemory {
    const KIND: &'static str = "fits";
    const VERSION: u32 = 3;
}
