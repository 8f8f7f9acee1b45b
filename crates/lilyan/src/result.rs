//! Runs of scenes, and what they leave.
//!
//! [`run`] simulates a scene into a folder: `energy.csv`, `probes.csv`, `frames.pvd` with its frames for ParaView, `summary.json`, a `checkpoint` to
//! resume from, and `report.html`. The [`RunOutcome`] holds the [`Summary`], which is what `summary.json` holds, and the [`Verdict`]: what physics and the method promise, and what
//! became of it. `examples/run_scene.rs` shows it.
//!
//! [`compare`] runs a scene with many integrators and steps against a converged reference. [`check`] tells before a run what to expect: mesh
//! quality, spectrum, stable steps, numerical damping, memory.
//!
//! [`coarsen`] makes a coarse scene that moves like the fine one; its [`CoarsenReport`] is what `coarsen.json` holds. [`Consistency`] runs
//! both scenes; its [`ConsistencyReport`] is what `consistency.json` holds.

pub use lilyan_report::{Level, Verdict};
pub use lilyan_study::check::{CheckReport, Checked, check};
pub use lilyan_study::coarsen::{
    CoarseMesh, CoarsenOptions, CoarsenOutcome, CoarsenReport, Consistency, ConsistencyReport, coarsen,
};
pub use lilyan_study::compare::{CompareOptions, CompareReport, Comparison, compare};
pub use lilyan_study::run::{RunError, RunOptions, RunOutcome, RunProgress, Signal, Status, Summary, run};
