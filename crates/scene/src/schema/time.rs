//! `[time]`: how long a run is and how finely it is cut.

use crate::document::key::{Key, Kind, TableSchema, no_cases};
use crate::document::{Item, SceneError};

const END: Key = Key::required("end", Kind::positive("s"), "8.0", "Simulated time.");
const STEP: Key = Key::required("step", Kind::positive("s"), "0.004", "Length of one time step.");

/// `[time]`.
pub(super) static TIME_TABLE: TableSchema = TableSchema {
    name: "time",
    doc: "How long a run is and how finely it is cut.",
    keys: &[END, STEP],
    cases: no_cases,
    exclusive: &[],
};

/// How long a run is and how finely it is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    /// Simulated time, s.
    pub end: f64,
    /// Step, s.
    pub step: f64,
}

impl Time {
    pub(super) fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let end = reader.number(&END)?;
        let step_item = reader.required(&STEP)?;
        let step = step_item.number()?;
        reader.finish()?;
        if end / step > 1e15 {
            return Err(step_item.error(format!(
                "{step} s is too short for a run of {end} s: time would not advance in double precision; use a longer step"
            )));
        }
        Ok(Self { end, step })
    }

    /// Number of steps, at least 1: the last ends at `end`, except for round-off.
    pub fn steps(&self) -> u64 {
        // A ratio such as 0.3/0.1 may be just above or below a whole number because of round-off.
        let ratio = self.end / self.step;
        let round_off = 1e-9 + 4.0 * f64::EPSILON * ratio;
        ((ratio - round_off).ceil() as u64).max(1)
    }
}
