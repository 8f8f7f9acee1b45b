//! Checkpoints: everything that a run needs to resume to the bit, with a checksum that shows damage.
//!
//! Layout: `LILYANCP`, version, length of the rest, the rest, FNV-1a checksum of the rest. These numbers are
//! little-endian; the rest is [`RunCheckpoint`] in the format of `postcard`, which stores an `f64` as its eight bytes.
//! The previous checkpoint is kept beside the new one.

use super::recorder::Counters;
use lilyan_dynamics::{Checkpoint, MemoryError};
use lilyan_files::atomic::{self, WriteError};
use lilyan_files::csv::Table;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"LILYANCP";
/// To be raised with every change of [`RunCheckpoint`] or of what it contains.
const VERSION: u64 = 10;

/// Everything that a run needs to resume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunCheckpoint {
    /// Hash of the scene; a checkpoint of another scene is refused.
    pub scene: String,
    /// The simulation.
    pub simulation: Checkpoint,
    /// Lines of `energy.csv` so far.
    pub energy: Vec<Vec<f64>>,
    /// Lines of `probes.csv` so far.
    pub probes: Vec<Vec<f64>>,
    /// Lines of `forces.csv` so far.
    pub forces: Vec<Vec<f64>>,
    /// Times of the frames written, s.
    pub frames: Vec<f64>,
    /// Counters of the run so far.
    pub counters: Counters,
}

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file cannot be read.
    #[error("{0}")]
    Read(#[from] std::io::Error),
    /// The file is something else.
    #[error("this is not a lilyan checkpoint")]
    NotACheckpoint,
    /// Another version of the program wrote it.
    #[error(
        "the checkpoint has format {found}, which another version of lilyan wrote, and this program reads format {VERSION}; \
         resume with that version"
    )]
    Version {
        /// The format of the file.
        found: u64,
    },
    /// The file is cut short or changed.
    #[error("the file is damaged")]
    Damaged,
    /// There is no checkpoint that can be used.
    #[error("{}; run without --resume to start afresh", .0.iter().map(|(path, error)| format!("{}: {error}", path.display())).collect::<Vec<_>>().join("; "))]
    None(Vec<(PathBuf, CheckpointError)>),
    /// It belongs to another scene.
    #[error(
        "the checkpoint belongs to another scene or other settings; run without --resume, or into another folder with -o"
    )]
    OtherScene,
    /// It belongs to another mesh.
    #[error("the mesh has changed since the checkpoint was written; run without --resume to start afresh")]
    OtherMesh,
    /// Its tables have other columns.
    #[error("the tables of the checkpoint have other columns; run without --resume to start afresh")]
    OtherColumns,
    /// The integrator or a fit cannot use it.
    #[error("{0}; run without --resume to start afresh")]
    Memory(#[from] MemoryError),
}

/// Where the checkpoint of a run is.
pub fn path(directory: &Path) -> PathBuf {
    directory.join("checkpoint")
}

impl RunCheckpoint {
    /// Writes it and keeps the previous one as `checkpoint.previous`.
    pub fn write(&self, directory: &Path) -> Result<(), WriteError> {
        let path = path(directory);
        if let Ok(old) = std::fs::read(&path) {
            atomic::write(directory.join("checkpoint.previous"), &old)?;
        }
        let bytes = self.encode().map_err(|e| WriteError::data(&path, e.to_string()))?;
        atomic::write(&path, &bytes)
    }

    /// Reads the newest checkpoint that is complete. Also returns what is wrong with a newer one, if there is one. The
    /// error says what is wrong with each.
    pub fn read(directory: &Path) -> Result<(Self, Option<String>), CheckpointError> {
        let mut wrong = Vec::new();
        for name in ["checkpoint", "checkpoint.previous"] {
            let path = directory.join(name);
            match std::fs::read(&path).map_err(CheckpointError::from).and_then(|b| Self::decode(&b)) {
                Ok(saved) => {
                    let newer = wrong
                        .pop()
                        .map(|(path, e): (PathBuf, CheckpointError)| format!("{}: {e}", path.display()));
                    return Ok((saved, newer));
                }
                Err(e) => wrong.push((path, e)),
            }
        }
        Err(CheckpointError::None(wrong))
    }

    fn encode(&self) -> std::io::Result<Vec<u8>> {
        let body = postcard::to_stdvec(self).map_err(std::io::Error::other)?;
        let mut out = MAGIC.to_vec();
        out.extend(VERSION.to_le_bytes());
        out.extend((body.len() as u64).to_le_bytes());
        out.extend(&body);
        out.extend(checksum(&body).to_le_bytes());
        Ok(out)
    }

    fn decode(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(CheckpointError::NotACheckpoint)?;
        let (version, rest) = rest.split_first_chunk().ok_or(CheckpointError::Damaged)?;
        let found = u64::from_le_bytes(*version);
        if found != VERSION {
            return Err(CheckpointError::Version { found });
        }
        Self::decode_body(rest).ok_or(CheckpointError::Damaged)
    }

    fn decode_body(bytes: &[u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (body, sum) = rest.split_at_checked(length)?;
        if sum != checksum(body).to_le_bytes() {
            return None;
        }
        match postcard::take_from_bytes(body).ok()? {
            (saved, []) => Some(saved),
            _ => None,
        }
    }
}

/// The rows of a table, to be saved.
pub fn rows(table: &Table) -> Vec<Vec<f64>> {
    table.rows().map(<[f64]>::to_vec).collect()
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lilyan_dynamics::system::terms::TermHistory;
    use lilyan_dynamics::{Ledger, Memory, State, Timeline};

    fn sample() -> RunCheckpoint {
        RunCheckpoint {
            scene: "abc".into(),
            simulation: Checkpoint {
                state: State {
                    t: 1.5,
                    q: vec![1.0, -0.0],
                    v: vec![f64::MIN_POSITIVE],
                    p: vec![3.0],
                    terms: TermHistory { dissipated: 0.5, data: vec![1, 0, 255] },
                },
                timeline: Timeline { step: 0.1, index: 15, origin: 1.0, origin_index: 10 },
                ledger: Ledger {
                    initial: 1.0,
                    work_external: 2.0,
                    dissipated_physical: 3.0,
                    dissipated_friction: 0.5,
                },
                memory: Memory::default(),
                constraint_forces: vec![-8.0],
                fits: Some(Memory::default()),
            },
            energy: vec![vec![1.0, 2.0], vec![3.0, 4.0]],
            probes: vec![vec![]],
            forces: vec![vec![3.0]],
            frames: vec![0.0, 0.1, 0.2, 0.3],
            counters: Counters { newton: 9.0, angular: [0.5, 0.25], ..Counters::default() },
        }
    }

    #[test]
    fn comes_back_to_the_bit() {
        let saved = sample();
        let again = RunCheckpoint::decode(&saved.encode().unwrap()).unwrap();
        assert_eq!(again, saved);
        assert!(again.simulation.state.q[1].is_sign_negative());
    }

    #[test]
    fn every_damaged_byte_and_every_cut_is_noticed() {
        let bytes = sample().encode().unwrap();
        for k in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[k] ^= 0x10;
            assert!(RunCheckpoint::decode(&damaged).is_err(), "byte {k}");
            assert!(RunCheckpoint::decode(&bytes[..k]).is_err(), "cut at {k}");
        }
    }

    /// A count that is larger than the file must not allocate.
    #[test]
    fn a_huge_count_is_refused() {
        let body = [3, b'a', b'b', b'c', 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        let mut bytes =
            [&MAGIC[..], &VERSION.to_le_bytes(), &(body.len() as u64).to_le_bytes(), &body].concat();
        bytes.extend(checksum(&body).to_le_bytes());
        assert!(matches!(RunCheckpoint::decode(&bytes), Err(CheckpointError::Damaged)));
    }
}
