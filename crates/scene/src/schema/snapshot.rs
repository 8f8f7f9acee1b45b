//! A state inside a scene file: `initial = { state = "…" }`, so that one file holds a moment of a motion.

use crate::document::{Item, SceneError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Positions and velocities of a body's vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Flat, m.
    pub positions: Vec<f64>,
    /// Flat, m/s.
    pub velocities: Vec<f64>,
}

impl Snapshot {
    /// As text: the numbers, exact, in base64.
    pub fn encode(&self) -> String {
        let numbers = self.positions.iter().chain(&self.velocities);
        STANDARD.encode(numbers.flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
    }

    pub(super) fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        let text = item.text()?;
        let bytes = STANDARD.decode(text.as_bytes()).unwrap_or_default();
        let word = |b: &[u8]| b.try_into().map(f64::from_le_bytes).unwrap_or(f64::NAN);
        let numbers: Vec<f64> = bytes.chunks_exact(8).map(word).collect();
        let whole =
            !numbers.is_empty() && bytes.len().is_multiple_of(48) && numbers.iter().all(|x| x.is_finite());
        if !whole {
            return Err(
                item.error("is not a state that was saved with a scene; leave it out, or save it again")
            );
        }
        let (positions, velocities) = numbers.split_at(numbers.len() / 2);
        Ok(Self { positions: positions.to_vec(), velocities: velocities.to_vec() })
    }
}
