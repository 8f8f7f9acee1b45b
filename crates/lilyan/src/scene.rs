//! Scene files: a simulation as a text.
//!
//! A [`Scene`] is what a TOML or JSON file says, with its defaults filled in. [`open`] reads one by its path or the name of a built-in scene, and
//! changes keys as `lilyan run --set` does; [`build`] makes the simulation of it. Errors name the line, the key and the nearest known one.
//!
//! ```
//! use lilyan::scene::{self, Scene};
//!
//! let text = r#"
//! [time]
//! end = 0.1
//! step = 0.01
//! [[body]]
//! mesh = { box = { size = [1, 1, 1], cells = [2, 2, 2] } }
//! material = { model = "neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }
//! initial = { angular_velocity = [0, 0, 2] }
//! "#;
//! let mut built = scene::build(&Scene::from_str(text, "in memory")?)?;
//! for _ in 0..10 {
//!     built.simulation.advance()?;
//! }
//! // Any key of a scene can be set.
//! let coarse = scene::open("cantilever", &["time.step=0.02"])?;
//! assert_eq!(coarse.time.step, 0.02);
//! // What is wrong is named.
//! let wrong = scene::open("cantilever", &["time.stp=0.02"]).unwrap_err().to_string();
//! assert!(wrong.contains("step"), "{wrong}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use lilyan_scene::build::{Built, BuiltBody, Probe, build, open};
pub use lilyan_scene::document::SceneError;
pub use lilyan_scene::library::SCENES;
pub use lilyan_scene::schema::Scene;
