//! What a scene need not say: every default in one place.
//!
//! | key | default |
//! |---|---|
//! | `title` | name of the file without its ending |
//! | `integrator.name` | [`INTEGRATOR`]; its options default as `lilyan integrators` says |
//! | `environment.gravity`, `environment.monopole` | none |
//! | `body.name` | `body` if there is one, otherwise `body1`, `body2`, … by position |
//! | `body.material.model` | [`MODEL`]; [`SPRING_MODEL`] for rope, cloth and points |
//! | `body.mass` | lumped |
//! | `body.damping` | none; parameters as the cards of the models say |
//! | `body.initial` | at rest, undeformed |
//! | `body.mesh.translate`, `.rotate`, `.scale` | no change |
//! | `*.body` | the only body, if there is one; `contact` of kind `self` and `bodies`: all of them |
//! | `pin.where` | required; `load.where` may be left out for `body_force` and `acceleration` (all) |
//! | `pin.motion`, `pin.until`, `pin.axes` | held still, for ever, in all three axes |
//! | `contact.stiffness`, `contact.thickness` | derived from the bodies when the model is built |
//! | `output.every` | a [`FRAMES`]th of the run, but not less than a step |
//! | `output.fields` | velocity, von_mises, strain_energy |
//! | `output.energy_every` | every step, or as many as keep the file below 20,000 lines |
//! | `output.checkpoint_every` | [`CHECKPOINT_EVERY`] s of wall time |
//! | `output.replay` | true |
//! | `probe.name` | `probe1`, `probe2`, … by position |

/// Integrator of a scene that names none.
pub const INTEGRATOR: &str = "variational";
/// Material model of a solid that names none.
pub const MODEL: &str = "neo-hookean";
/// Material model of a rope, cloth or set of points that names none.
pub const SPRING_MODEL: &str = "springs";
/// Frames of a run that does not say how often to write one.
pub const FRAMES: f64 = 100.0;
/// Steps between lines of `energy.csv`; 0: as many as keep it below 20,000 lines.
pub const ENERGY_EVERY: u32 = 0;
/// Wall time between checkpoints, s.
pub const CHECKPOINT_EVERY: f64 = 60.0;
