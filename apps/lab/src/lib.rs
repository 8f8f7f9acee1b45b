//! The lab: a page in the browser beside a simulation that runs here, where everything can be changed while it moves.
//!
//! [`serve`] listens on this computer alone. A page proves by a token that it was opened by whoever started the
//! program (`access`); it then talks over a WebSocket (`PROTOCOL.md`) to a session of its own ([`session`]), which runs in
//! a thread that no page can hold up.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod access;
mod assets;
mod server;
pub mod session;
mod socket;

pub use access::Token;
pub use server::{Address, ServeError, serve};
