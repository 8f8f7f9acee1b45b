//! The state that a restarted run needs to repeat an uninterrupted one to the bit.

use super::{Curvature, ReuseKey};
use crate::linear::{Backoff, Kept, LinearMemory};
use serde::{Deserialize, Serialize};

/// The format of [`SolverMemory`]. Raise it with every change of the fields.
const VERSION: u32 = 2;

/// The format version of a [`SolverMemory`]. Reading a version other than the present one is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct MemoryVersion(u32);

impl Default for MemoryVersion {
    fn default() -> Self {
        Self(VERSION)
    }
}

impl From<MemoryVersion> for u32 {
    fn from(version: MemoryVersion) -> u32 {
        version.0
    }
}

/// The error for a memory that another version of this program has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("solver memory of version {found}, but this program reads version {VERSION}; begin the run anew")]
pub struct UnknownVersion {
    /// The version that was found.
    pub found: u32,
}

impl TryFrom<u32> for MemoryVersion {
    type Error = UnknownVersion;

    fn try_from(found: u32) -> Result<Self, UnknownVersion> {
        if found == VERSION { Ok(Self(found)) } else { Err(UnknownVersion { found }) }
    }
}

/// The state of a [`super::Workspace`] that a checkpoint stores: the solver choices, and how to rebuild the kept
/// preconditioner. All numbers must be stored to the bit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolverMemory {
    /// The format version.
    pub version: MemoryVersion,
    /// Couplings (i, j), i > j, outside the pattern of the matrix. They determine the elimination order.
    pub couplings: Vec<(u32, u32)>,
    /// The state of the solver choice.
    pub linear: LinearMemory,
    /// How to rebuild the kept preconditioner.
    pub kept: Option<KeptMemory>,
    /// Backoff of corrections by the symmetric part of a Jacobian.
    pub symmetric: Backoff,
}

/// The origin of a preconditioner that later steps may reuse; it can be rebuilt from this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptMemory {
    /// The kind of preconditioner.
    pub kind: Kept,
    /// Where its matrix was evaluated.
    pub x: Vec<f64>,
    /// The velocities that its matrix depends on; empty for a minimum.
    pub rates: Vec<f64>,
    /// Which second derivative its matrix was.
    pub curvature: Curvature,
    /// What its matrix depends on besides x.
    pub key: ReuseKey,
}
