//! Results for other programs, and scenes of other programs.
//!
//! | module | what it does |
//! |---|---|
//! | `results` | the folder of a run: its frames, bodies and scene |
//! | `surface` | what is seen of a body: the boundary of its cells, creases, normals |
//! | `animation` | the surfaces of bodies in motion, with a field as colours |
//! | [`export`] | one file per format, and the catalogue |
//! | [`import`] | scenes of other programs, one file or folder per format, and the catalogue |

mod animation;
mod error;
pub mod export;
pub mod import;
mod results;
mod surface;

pub use animation::{AnimatedBody, Animation, AnimationOptions, ColourScale};
pub use error::ExchangeError;
pub use results::Results;
pub use surface::{CreasedSurface, Surface, vertex_normals};
