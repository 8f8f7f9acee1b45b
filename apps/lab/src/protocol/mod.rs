//! The messages of `PROTOCOL.md`: requests of pages, small events, binary packets.

mod events;
mod packet;
mod request;

pub use events::{error_event, handled_event, notice_event};
pub use packet::{FRAME, GEOMETRY, Packet};
pub use request::{
    CoarsenRequest, ColorField, CompareRequest, Request, SceneChange, ShownContents, request_id, request_name,
};
