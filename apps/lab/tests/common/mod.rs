//! A lab for tests, and a client of its WebSocket.
#![allow(dead_code)] // each test file uses its part

use lilyan_lab::{Address, Token, serve};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

pub struct Lab {
    pub address: SocketAddr,
    pub token: String,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Lab {
    pub fn open(scene: &str) -> Self {
        Self::open_at(Ipv4Addr::LOCALHOST.into(), scene)
    }

    /// A lab that listens at this address.
    pub fn open_at(ip: std::net::IpAddr, scene: &str) -> Self {
        let (tell, told) = std::sync::mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let token = Token::new().unwrap();
        let (scene, secret, stopped) = (scene.to_owned(), token.text().to_owned(), stop.clone());
        let thread = std::thread::spawn(move || {
            let address = Address { ip, port: 0 };
            let opened = |here| tell.send(here).unwrap();
            serve(address, token, &scene, opened, || stopped.load(Ordering::SeqCst)).unwrap();
        });
        Self { address: told.recv().unwrap(), token: secret, stop, thread: Some(thread) }
    }

    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Sends bytes and returns the answer until the server closes the connection or pauses.
    pub fn raw(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let mut buffer = [0; 65536];
        loop {
            match stream.read(&mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(n) => answer.extend(&buffer[..n]),
            }
            stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
            // An upgraded connection stays open.
            if answer.starts_with(b"HTTP/1.1 101") {
                break;
            }
        }
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// A GET with these headers and `Connection: close`. Returns the status and the whole answer.
    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
        self.ask("GET", path, headers, b"")
    }

    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> (u16, String) {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            request += &format!("Content-Length: {}\r\n", body.len());
        }
        request += "\r\n";
        let answer = self.raw(&[request.as_bytes(), body].concat());
        let status = answer.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        (status, answer)
    }

    pub fn page(&self) -> Page {
        self.page_of("")
    }

    /// A page of the session of this name.
    pub fn page_of(&self, session: &str) -> Page {
        let stream = TcpStream::connect(self.address).unwrap();
        // A busy machine may need some time to answer.
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let url = format!("ws://{}/socket?token={}&session={session}", self.address, self.token);
        let (socket, _) = tungstenite::client(url, stream).unwrap();
        socket.get_ref().set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        Page { socket, texts: Vec::new(), frames: Vec::new(), closed: None, requests: 0 }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// The connection of a page.
pub struct Page {
    pub socket: WebSocket<TcpStream>,
    pub texts: Vec<Value>,
    pub frames: Vec<Frame>,
    pub closed: Option<u16>,
    /// Requests that were sent with a number.
    requests: u64,
}

pub struct Frame {
    pub kind: u32,
    pub says: Value,
    pub bytes: Vec<u8>,
    pub at: Instant,
}

impl Frame {
    fn read(bytes: &[u8]) -> Self {
        let word = |i: usize| u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap());
        let (kind, length) = (word(0), word(1) as usize);
        assert_eq!(length % 4, 0);
        let says: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let arrays = says["arrays"].as_array().unwrap();
        let total: u64 = arrays.iter().map(|a| 4 * a["length"].as_u64().unwrap()).sum();
        assert_eq!(8 + length + total as usize, bytes.len(), "arrays fill the message");
        Self { kind, says, bytes: bytes[8 + length..].to_vec(), at: Instant::now() }
    }

    /// The array of this name.
    pub fn numbers(&self, pane: u64, name: &str) -> Vec<f32> {
        let mut start = 0;
        for a in self.says["arrays"].as_array().unwrap() {
            let length = a["length"].as_u64().unwrap() as usize;
            if a["pane"] == pane && a["name"] == name {
                let part = &self.bytes[4 * start..4 * (start + length)];
                return part.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
            }
            start += length;
        }
        panic!("no array {name} of pane {pane}");
    }
}

impl Page {
    pub fn say(&mut self, text: &str) {
        self.socket.send(Message::text(text)).unwrap();
    }

    /// Receives one message, if one arrives soon. `false`: the connection is closed.
    pub fn listen(&mut self) -> bool {
        match self.socket.read() {
            Ok(Message::Text(text)) => self.texts.push(serde_json::from_str(&text).unwrap()),
            Ok(Message::Binary(bytes)) => self.frames.push(Frame::read(&bytes)),
            Ok(Message::Close(frame)) => {
                self.closed = Some(frame.map_or(1005, |f| f.code.into()));
                return false;
            }
            Ok(_) => {}
            Err(tungstenite::Error::Io(e))
                if matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(_) => {
                self.closed.get_or_insert(0);
                return false;
            }
        }
        true
    }

    /// Receives messages until `wanted` returns a value.
    pub fn until<T>(&mut self, what: &str, mut wanted: impl FnMut(&Self) -> Option<T>) -> T {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(found) = wanted(self) {
                return found;
            }
            assert!(Instant::now() < end, "waited for {what}; heard {:?}", self.texts.last());
            assert!(self.listen(), "the connection closed ({:?}) before {what}", self.closed);
        }
    }

    /// The next event of this name.
    pub fn event(&mut self, name: &str) -> Value {
        let known = self.texts.len();
        self.until(name, |page| page.texts[known..].iter().find(|t| t["event"] == name).cloned())
    }

    /// The next frame.
    pub fn frame(&mut self) -> &Frame {
        let known = self.frames.len();
        let at = self.until("a frame", |page| (known..page.frames.len()).find(|&i| page.frames[i].kind == 2));
        &self.frames[at]
    }

    /// Pauses the simulation and returns its last frame.
    pub fn still(&mut self) -> &Frame {
        self.answer(r#"{"do":"pause"}"#, "status");
        self.quiet()
    }

    /// Receives messages until no more arrive, and returns the last frame.
    pub fn quiet(&mut self) -> &Frame {
        loop {
            let heard = self.texts.len() + self.frames.len();
            assert!(self.listen(), "closed with {:?}", self.closed);
            if heard == self.texts.len() + self.frames.len() {
                return self.frames.iter().rfind(|f| f.kind == 2).expect("a frame");
            }
        }
    }

    /// Waits until the simulated time is t, s.
    pub fn reaches(&mut self, t: f64) {
        let at = |f: &Frame| f.says["panes"][0]["t"].as_f64().is_some_and(|now| f.kind == 2 && now >= t);
        self.until("that time", |page| page.frames.last().filter(|f| at(f)).map(|_| ()));
    }

    /// Sends a request and waits for the event that answers it: the last one of this name when the request has been handled, since one
    /// that comes earlier may have been on its way before the request. If there is none by then, the first one after it.
    pub fn answer(&mut self, request: &str, event: &str) -> Value {
        let known = self.texts.len();
        let Some(text) = self.numbered(request) else {
            self.say(request);
            return self.event(event);
        };
        let id = self.requests;
        self.say(&text);
        let handled = |t: &Value| t["event"] == "handled" && t["id"] == id;
        let end = self.until("the request to be handled", |page| page.texts.iter().position(handled));
        match self.texts[known..end].iter().rfind(|t| t["event"] == event) {
            Some(answer) => answer.clone(),
            None => self.event(event),
        }
    }

    /// The request with a number of its own, if it has the form of a request.
    fn numbered(&mut self, request: &str) -> Option<String> {
        let mut message: Value = serde_json::from_str(request).ok()?;
        message.get("do")?;
        self.requests += 1;
        message["id"] = self.requests.into();
        Some(message.to_string())
    }
}
