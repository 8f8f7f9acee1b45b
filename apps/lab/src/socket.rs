//! The WebSocket of one page: passes its messages to the session, and events and the newest frame to the page.

#![deny(clippy::indexing_slicing)]

use crate::channel::Event;
use crate::sessions::Client;
use axum::extract::ws::{CloseFrame, Message, WebSocket};
use std::time::Duration;

/// A page that accepts no data for this time is disconnected.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// Time between pings.
const PING_INTERVAL: Duration = Duration::from_secs(20);

/// Serves the connection until one side closes it.
pub async fn talk(mut socket: WebSocket, mut client: Client) {
    let mut ping = tokio::time::interval(PING_INTERVAL);
    loop {
        // Events come first, because a frame belongs to the geometry that was sent before it.
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
            _ = ping.tick() => Message::Ping(Default::default()),
        };
        let last = matches!(out, Message::Close(_));
        let sent = tokio::time::timeout(SEND_TIMEOUT, socket.send(out)).await;
        if last || !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}

/// Closes a connection after a protocol error.
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
