//! Pages that send too much, read nothing, or are very many. One test runs at a time, because the tests measure memory and files of
//! the whole process.

mod common;

use common::{Lab, Page};
use serde_json::json;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tungstenite::Message;

static ONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Timings are checked strictly only on an idle machine.
fn quiet() -> bool {
    std::env::var_os("LILYAN_SPEED").is_some()
}

/// Memory of this process, MiB.
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    line.and_then(|l| l.trim().trim_end_matches("kB").trim().parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

fn settled(what: &str, good: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !good() {
        assert!(Instant::now() < end, "{what}: {} files, {:.1} MiB", open_files(), memory());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Files that never arrive whole do not keep others out.
#[test]
fn half_uploads_keep_nobody_out() {
    let _one = alone();
    let lab = Lab::open("swinging-cube");
    let mut page = lab.page();
    let session = page.event("hello")["session"].as_str().unwrap().to_owned();
    let host = lab.host();
    let half = |token: &str, number: usize| {
        let mut stream = std::net::TcpStream::connect(&host).unwrap();
        let head = format!(
            "POST /upload?token={token}&session={session}&name=f{number}.obj HTTP/1.1\r\nHost: {host}\r\nContent-Length: 60000000\r\n\r\nv 0"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    // More than there are connections; half of them do not even know the token.
    let held: Vec<_> = (0..300).map(|k| half(if k % 2 == 0 { &lab.token } else { "wrong" }, k)).collect();
    let start = Instant::now();
    assert_eq!(lab.get("/", &[("Host", &host)]).0, 200);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    drop(held);
    // Their places are free again.
    let path = format!("/upload?token={}&session={session}&name=whole.obj", lab.token);
    settled("the places of uploads", || lab.ask("POST", &path, &[("Host", &host)], b"v 0 0 0\n").0 == 204);
}

/// A malformed message is answered by the right close code.
#[test]
fn malformed_frames_are_told_what_is_wrong() {
    let _one = alone();
    let lab = Lab::open("swinging-cube");
    let mut other = lab.page();
    let session = other.event("hello")["session"].as_str().unwrap().to_owned();
    let masked = |head: u8, body: &[u8]| [&[head, 0x80 | body.len() as u8, 0, 0, 0, 0], body].concat();
    let two_mebibytes = [&[0x81, 0xff], &(2u64 << 20).to_be_bytes()[..], &[0; 4], &[b'x'; 4096]].concat();
    let frames: [(&str, Vec<u8>, u16); 8] = [
        ("a kind that is not defined", masked(0x83, b""), 1002),
        ("reserved bits", masked(0xc1, b""), 1002),
        ("no mask", vec![0x81, 1, b'a'], 1002),
        ("a control message in parts", masked(0x09, b""), 1002),
        ("a control message that is too long", [&[0x89, 0xfe, 1, 0], &[0u8; 260][..]].concat(), 1002),
        ("a continuation of nothing", masked(0x80, b"x"), 1002),
        ("no UTF-8", masked(0x81, &[0xff, 0xfe]), 1007),
        ("two mebibytes", two_mebibytes, 1009),
    ];
    for (what, bytes, code) in frames {
        let mut page = lab.page_of(&session);
        page.socket.get_mut().write_all(&bytes).unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        while page.listen() {
            assert!(Instant::now() < end, "{what}: the connection stays open");
        }
        assert_eq!(page.closed, Some(code), "{what}");
    }
    other.frame();
}

/// Messages that are too large do not use memory.
#[test]
fn floods_leave_no_trace() {
    let _one = alone();
    let lab = Lab::open("swinging-cube");
    let mut other = lab.page();
    let session = other.event("hello")["session"].as_str().unwrap().to_owned();
    let huge = "x".repeat(8 << 20);
    let flood = |lab: &Lab| {
        let mut page = lab.page_of(&session);
        let _ = page.socket.send(Message::text(huge.as_str()));
        let mut sink = [0; 1024];
        let _ = page.socket.get_mut().read(&mut sink);
    };
    flood(&lab);
    other.frame();
    let before = memory();
    for _ in 0..20 {
        flood(&lab);
    }
    settled("memory", || memory() <= before + 8.0);
    other.frame();
}

/// A page that never reads is disconnected after ten seconds.
#[cfg(target_os = "linux")]
#[test]
fn a_page_that_never_reads_is_let_go() {
    let _one = alone();
    let lab = Lab::open("tumbling-rod");
    let mut page = lab.page();
    let session = page.event("hello")["session"].as_str().unwrap().to_owned();
    // Many frames that are large enough to fill the buffers of the connection.
    page.answer(r#"{"do":"show","field":"speed"}"#, "status");
    let cells = json!({ "path": "body.0.mesh.box.cells", "value": [40, 20, 20] });
    page.answer(&json!({ "do": "set", "changes": [cells] }).to_string(), "panes");
    page.answer(r#"{"do":"pause"}"#, "status");
    let mut deaf = lab.page_of(&session);
    let (began, before) = (Instant::now(), page.frames.len());
    while began.elapsed() < Duration::from_secs(22) {
        page.say(r#"{"do":"release"}"#);
        page.frame();
    }
    let sent: usize = page.frames[before..].iter().map(|f| f.bytes.len()).sum();
    println!("{:.1} MB in {} frames were not read", sent as f64 / 1e6, page.frames.len() - before);
    // Data that was sent before can still be read; then the connection ends.
    let (mut kept, mut buffer, end) = (0, vec![0; 1 << 20], Instant::now() + Duration::from_secs(10));
    loop {
        match deaf.socket.get_mut().read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => kept += n,
            Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(_) => {}
        }
        assert!(Instant::now() < end, "the connection is still open after {kept} bytes");
    }
    assert!(kept < sent, "{kept} of {sent} bytes had gone out");
    page.say(r#"{"do":"release"}"#);
    page.frame();
}

/// The number of a frame, without reading the rest.
fn number(bytes: &[u8]) -> Option<u64> {
    if bytes.first() != Some(&2) {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes[8..bytes.len().min(60)]).into_owned();
    let digits =
        text.split("\"number\":").nth(1)?.chars().take_while(char::is_ascii_digit).collect::<String>();
    digits.parse().ok()
}

/// A hundred pages of one session get a frame at about the same time.
#[test]
fn a_hundred_pages_are_served() {
    let _one = alone();
    let lab = Lab::open("swinging-cube");
    let session = lab.page().event("hello")["session"].as_str().unwrap().to_owned();
    let listen = |mut page: Page| {
        let (mut seen, began) = (Vec::new(), Instant::now());
        while began.elapsed() < Duration::from_secs(5) {
            if let Ok(Message::Binary(bytes)) = page.socket.read() {
                seen.extend(number(&bytes).map(|n| (n, Instant::now())));
            }
        }
        seen
    };
    let pages: Vec<Page> = (0..100).map(|_| lab.page_of(&session)).collect();
    let threads: Vec<_> = pages.into_iter().map(|page| std::thread::spawn(move || listen(page))).collect();
    let seen: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    let mut first = HashMap::new();
    for (n, at) in seen.iter().flatten() {
        first.entry(*n).and_modify(|t: &mut Instant| *t = (*t).min(*at)).or_insert(*at);
    }
    let mut ages: Vec<f64> = seen.iter().flatten().map(|(n, at)| (*at - first[n]).as_secs_f64()).collect();
    ages.sort_by(f64::total_cmp);
    let fewest = seen.iter().map(Vec::len).min().unwrap();
    let p99 = ages[ages.len() * 99 / 100];
    println!("100 pages: {} frames to each in 5 s at least, p99 of their age {:.0} ms", fewest, 1e3 * p99);
    assert!(fewest > 10, "some page got {fewest} frames");
    assert!(p99 < if quiet() { 0.1 } else { 1.0 }, "{p99} s");
}

/// Closed connections leave no memory and no files behind.
#[cfg(target_os = "linux")]
#[test]
fn a_thousand_visits_leave_nothing() {
    let _one = alone();
    let lab = Lab::open("swinging-cube");
    let mut other = lab.page();
    let session = other.event("hello")["session"].as_str().unwrap().to_owned();
    let visit = |n: usize| {
        for _ in 0..n {
            drop(lab.page_of(&session));
        }
    };
    visit(200);
    other.frame();
    std::thread::sleep(Duration::from_secs(1));
    let (files, mebibytes) = (open_files(), memory());
    visit(1000);
    settled("files and memory", || open_files() <= files + 2 && memory() <= mebibytes + 8.0);
    other.frame();
}

/// If there are too many sessions, the oldest one without pages ends. If there is none, a new session is refused.
#[test]
fn sessions_are_counted() {
    let _one = alone();
    let lab = Lab::open("swinging-cube");
    let mut pages: Vec<Page> = (0..16).map(|_| lab.page()).collect();
    pages.iter_mut().for_each(|p| drop(p.event("hello")));
    let path = format!("/socket?token={}", lab.token);
    let host = lab.host();
    let upgrade = [
        ("Host", host.as_str()),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let head: String = upgrade.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
    let full = lab.raw(format!("GET {path} HTTP/1.1\r\nConnection: Upgrade\r\n{head}\r\n").as_bytes());
    assert!(full.starts_with("HTTP/1.1 503"), "{full}");
    pages.pop();
    std::thread::sleep(Duration::from_millis(500));
    lab.page().event("hello");
}

/// A scene that is too large is refused, however it is opened.
#[test]
fn elements_are_counted() {
    let _one = alone();
    let lab = Lab::open("swinging-cube");
    let mut page = lab.page();
    page.event("panes");
    page.answer(r#"{"do":"open","scene":"tumbling-rod"}"#, "panes");
    let (began, before) = (Instant::now(), memory());
    for mesh in [
        json!({ "box": { "size": [1, 1, 1], "cells": [100, 30, 30] } }),
        // These would not fit into memory.
        json!({ "box": { "size": [1, 1, 1], "cells": [200, 200, 200] } }),
        json!({ "sphere": { "radius": 1, "edge": 1e-4 } }),
        json!({ "sphere": { "radius": 1, "tets": 900_000_000 } }),
        json!({ "cloth": { "size": [1, 1], "cells": [20_000, 20_000], "thickness": 0.001 } }),
    ] {
        let change = json!({ "path": "body.0.mesh", "value": mesh });
        let told = page.answer(&json!({ "do": "set", "changes": [change] }).to_string(), "error");
        assert!(told["text"].as_str().unwrap().contains("more than the lab takes"), "{told}");
    }
    assert!(began.elapsed() < Duration::from_secs(20) && memory() < before + 500.0, "{} MiB", memory());
    page.frame();
}
