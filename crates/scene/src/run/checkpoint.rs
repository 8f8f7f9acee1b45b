//! Checkpoints: enough to resume to the bit, with a checksum so that a damaged one is noticed.
//!
//! Layout: `LILYANCP`, version, length of the rest, the rest, FNV-1a checksum of the rest; all numbers
//! little-endian. The previous checkpoint is kept beside the new one.

use crate::writers::atomic::{self, WriteError};
use crate::writers::csv::Table;
use lilyan_dynamics::{Checkpoint, Ledger, State};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"LILYANCP";
const VERSION: u64 = 5;

/// Everything a run needs to go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// Hash of the scene; a checkpoint of another scene is refused.
    pub scene: String,
    /// The simulation.
    pub simulation: Checkpoint,
    /// Lines of `energy.csv` so far.
    pub energy: Vec<Vec<f64>>,
    /// Lines of `probes.csv` so far.
    pub probes: Vec<Vec<f64>>,
    /// Times of the frames written, s.
    pub frames: Vec<f64>,
    /// Counters of the run, in the order of their use.
    pub counters: Vec<f64>,
}

/// Where the checkpoint of a run is.
pub fn path(directory: &Path) -> PathBuf {
    directory.join("checkpoint")
}

impl Saved {
    /// Writes it, keeping the one before as `checkpoint.previous`.
    pub fn write(&self, directory: &Path) -> Result<(), WriteError> {
        let path = path(directory);
        if let Ok(old) = std::fs::read(&path) {
            atomic::write(directory.join("checkpoint.previous"), &old)?;
        }
        atomic::write(&path, &self.encode())
    }

    /// Reads the newest checkpoint that is whole, and says what is wrong with a newer one if there is one;
    /// the error says what is wrong with each.
    pub fn read(directory: &Path) -> Result<(Self, Option<String>), String> {
        let mut wrong = Vec::new();
        for name in ["checkpoint", "checkpoint.previous"] {
            let path = directory.join(name);
            match std::fs::read(&path).map_err(|e| e.to_string()).and_then(|b| Self::decode(&b)) {
                Ok(saved) => return Ok((saved, wrong.pop())),
                Err(e) => wrong.push(format!("{}: {e}", path.display())),
            }
        }
        Err(format!("{}; run without --resume to start afresh", wrong.join("; ")))
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer(Vec::new());
        w.text(&self.scene);
        let s = &self.simulation;
        w.numbers(&[
            s.state.t,
            s.step,
            s.ledger.initial,
            s.ledger.work_external,
            s.ledger.dissipated_physical,
        ]);
        w.0.extend(s.index.to_le_bytes());
        for v in
            [&s.state.q, &s.state.v, &s.state.p, &s.memory, &s.constraint_forces, &s.modes, &self.counters]
        {
            w.numbers(v);
        }
        w.numbers(&self.frames);
        for rows in [&self.energy, &self.probes] {
            w.0.extend((rows.len() as u64).to_le_bytes());
            for row in rows {
                w.numbers(row);
            }
        }
        let body = w.0;
        let mut out = MAGIC.to_vec();
        out.extend(VERSION.to_le_bytes());
        out.extend((body.len() as u64).to_le_bytes());
        out.extend(&body);
        out.extend(checksum(&body).to_le_bytes());
        out
    }

    fn decode(bytes: &[u8]) -> Result<Self, String> {
        let damaged = || "the file is damaged".to_string();
        if bytes.get(..8) != Some(MAGIC) {
            return Err("this is not a lilyan checkpoint".to_string());
        }
        let mut head = Reader(&bytes[8..]);
        let version = head.integer().ok_or_else(damaged)?;
        if version != VERSION {
            return Err(format!("it has version {version}; this program reads {VERSION}"));
        }
        let length = head.integer().ok_or_else(damaged)?;
        let (body, sum) =
            usize::try_from(length).ok().and_then(|n| head.0.split_at_checked(n)).ok_or_else(damaged)?;
        if sum != checksum(body).to_le_bytes() {
            return Err(damaged());
        }
        Self::parse(Reader(body)).ok_or_else(damaged)
    }

    fn parse(mut r: Reader<'_>) -> Option<Self> {
        let scene = r.text()?;
        let [t, step, initial, work_external, dissipated_physical] = r.numbers()?[..] else {
            return None;
        };
        let index = r.integer()?;
        let (q, v, p) = (r.numbers()?, r.numbers()?, r.numbers()?);
        let (memory, constraint_forces) = (r.numbers()?, r.numbers()?);
        let (modes, counters) = (r.numbers()?, r.numbers()?);
        let frames = r.numbers()?;
        let (energy, probes) = (r.rows()?, r.rows()?);
        let ledger = Ledger { initial, work_external, dissipated_physical };
        let state = State { t, q, v, p };
        let simulation = Checkpoint { state, step, index, ledger, memory, constraint_forces, modes };
        Some(Self { scene, simulation, energy, probes, frames, counters })
    }
}

/// The rows of a table, to be saved.
pub fn rows(table: &Table) -> Vec<Vec<f64>> {
    table.rows().map(<[f64]>::to_vec).collect()
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}

struct Writer(Vec<u8>);

impl Writer {
    fn text(&mut self, text: &str) {
        self.0.extend((text.len() as u64).to_le_bytes());
        self.0.extend(text.as_bytes());
    }
    fn numbers(&mut self, numbers: &[f64]) {
        self.0.extend((numbers.len() as u64).to_le_bytes());
        for x in numbers {
            self.0.extend(x.to_le_bytes());
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }
    fn integer(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }
    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.integer()?).ok()
    }
    fn text(&mut self) -> Option<String> {
        let length = self.length()?;
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }
    fn numbers(&mut self) -> Option<Vec<f64>> {
        let bytes = self.length()?.checked_mul(8)?;
        let number = |c: &[u8]| Some(f64::from_le_bytes(c.try_into().ok()?));
        self.take(bytes)?.chunks_exact(8).map(number).collect()
    }
    fn rows(&mut self) -> Option<Vec<Vec<f64>>> {
        // Not reserved: a damaged count must not allocate.
        (0..self.integer()?).map(|_| self.numbers()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Saved {
        Saved {
            scene: "abc".into(),
            simulation: Checkpoint {
                state: State { t: 1.5, q: vec![1.0, -0.0], v: vec![f64::MIN_POSITIVE], p: vec![3.0] },
                step: 0.1,
                index: 15,
                ledger: Ledger { initial: 1.0, work_external: 2.0, dissipated_physical: 3.0 },
                memory: vec![7.0],
                constraint_forces: vec![-8.0],
                modes: vec![8.0],
            },
            energy: vec![vec![1.0, 2.0], vec![3.0, 4.0]],
            probes: vec![vec![]],
            frames: vec![0.0, 0.1, 0.2, 0.3],
            counters: vec![9.0],
        }
    }

    #[test]
    fn comes_back_to_the_bit() {
        let saved = sample();
        assert_eq!(Saved::decode(&saved.encode()).unwrap(), saved);
    }

    #[test]
    fn every_damaged_byte_and_every_cut_is_noticed() {
        let bytes = sample().encode();
        for k in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[k] ^= 0x10;
            assert!(Saved::decode(&damaged).is_err(), "byte {k}");
            assert!(Saved::decode(&bytes[..k]).is_err(), "cut at {k}");
        }
    }
}
