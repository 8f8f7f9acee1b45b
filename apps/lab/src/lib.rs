//! The lab: a page in the browser beside a simulation that runs on this computer. Everything in the scene can be
//! changed while the simulation runs.
//!
//! [`serve`] listens on this computer alone. A page shows by a token that it was opened by the person who started the
//! program (`access`). It then talks over a WebSocket (`PROTOCOL.md`) to a session of its own (`session`). A session
//! runs in its own thread, so that a slow page cannot delay it.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod access;
mod assets;
mod channel;
mod effort;
mod error;
mod gallery;
mod hello;
mod job;
mod limits;
mod pane;
mod protocol;
mod server;
mod session;
mod sessions;
mod socket;
mod uploads;
mod wording;

pub use access::Token;
pub use gallery::{GALLERY, PreparedComparison};
pub use server::{Address, ServeError, serve};
