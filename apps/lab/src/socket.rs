//! One page's connection: its messages to the session, the session's events and newest frame to it.

#![deny(clippy::indexing_slicing)]

use crate::session::{Client, Event};
use axum::extract::ws::{CloseFrame, Message, WebSocket};
use std::time::Duration;

/// A page that takes nothing for so long is gone, or as good as gone.
const PATIENCE: Duration = Duration::from_secs(10);
/// Idle connections are asked for a sign of life.
const PULSE: Duration = Duration::from_secs(20);

/// Talks until either side ends it.
pub(crate) async fn talk(mut socket: WebSocket, mut client: Client) {
    let mut pulse = tokio::time::interval(PULSE);
    loop {
        // In this order: a frame belongs to the geometry that was told before it.
        let out = tokio::select! {
            biased;
            event = client.events.recv() => match event {
                Some(Event::Text(text)) => Message::Text(text.into()),
                Some(Event::Binary(bytes)) => Message::Binary(bytes),
                None => close(1001, "the session has ended"),
            },
            incoming = socket.recv() => match incoming {
                Some(Ok(Message::Text(text))) => {
                    client.say(text.as_str());
                    continue;
                }
                Some(Ok(Message::Binary(_))) => close(1003, "messages are text"),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Ok(Message::Close(_))) | None => return,
                Some(Err(error)) => close_for(&error.to_string()),
            },
            changed = client.frames.changed() => match changed {
                Ok(()) => Message::Binary(client.frames.borrow_and_update().clone()),
                Err(_) => close(1001, "the session has ended"),
            },
            _ = pulse.tick() => Message::Ping(Default::default()),
        };
        let last = matches!(out, Message::Close(_));
        let sent = tokio::time::timeout(PATIENCE, socket.send(out)).await;
        if last || !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}

/// The end of a connection on which something came that is no message.
fn close_for(problem: &str) -> Message {
    match problem.to_lowercase() {
        control if control.contains("control frame") => close(1002, "not a WebSocket message"),
        long if long.contains("too long") || long.contains("too big") => close(1009, "at most 1 MiB"),
        text if text.contains("utf-8") || text.contains("utf8") => close(1007, "text is UTF-8"),
        _ => close(1002, "not a WebSocket message"),
    }
}

fn close(code: u16, reason: &'static str) -> Message {
    Message::Close(Some(CloseFrame { code, reason: reason.into() }))
}
