//! Who may talk to the lab: the page that was opened from here, and nobody else.
//!
//! Browsers let any page send requests to this computer. So every request must name this server exactly (`Host`, against
//! names that are made to point here), what comes from a page must come from our own (`Origin`), and whoever reads or changes anything
//! must know a secret of this process (the token).

#![deny(clippy::indexing_slicing)]

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};
use std::net::SocketAddr;

/// A secret of this process, 256 bits.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new one; fails where the system has no randomness to give.
    pub fn new() -> std::io::Result<Self> {
        random().map(Self)
    }

    /// Its text, to be handed to the user's own page and nowhere else.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether that is the token; takes the same time wherever they differ.
    pub(crate) fn matches(&self, given: &str) -> bool {
        let differences = self.0.bytes().zip(given.bytes()).fold(0, |d, (a, b)| d | (a ^ b));
        given.len() == self.0.len() && differences == 0
    }
}

/// 256 random bits in hexadecimal.
pub(crate) fn random() -> std::io::Result<String> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes).map_err(|e| std::io::Error::other(format!("no randomness: {e}")))?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

/// The names under which this server may be addressed.
#[derive(Clone)]
pub(crate) struct Names {
    hosts: Vec<String>,
}

impl Names {
    /// Of a server that listens there.
    pub fn of(address: SocketAddr) -> Self {
        let port = address.port();
        let mut hosts = vec![address.to_string()];
        if address.ip().is_loopback() {
            hosts.extend([format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")]);
        }
        Self { hosts }
    }

    /// Whether a request is meant for this server.
    pub fn addressed(&self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(HOST).iter();
        match (hosts.next(), hosts.next()) {
            (Some(host), None) => self.hosts.iter().any(|h| h.as_bytes() == host.as_bytes()),
            _ => false,
        }
    }

    /// Whether a request comes from our own page, or from no page at all.
    pub fn comes_from_here(&self, headers: &HeaderMap) -> bool {
        let ours = |origin: &[u8]| self.hosts.iter().any(|h| format!("http://{h}").as_bytes() == origin);
        headers.get_all(ORIGIN).iter().all(|origin| ours(origin.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(*name, value.parse().expect("a header"));
        }
        map
    }

    #[test]
    fn only_exact_names_are_taken() {
        let names = Names::of("127.0.0.1:7777".parse().expect("an address"));
        for host in ["127.0.0.1:7777", "localhost:7777", "[::1]:7777"] {
            assert!(names.addressed(&headers(&[("host", host)])), "{host}");
        }
        for host in
            ["127.0.0.1", "127.0.0.1:7778", "127.0.0.1.evil.com:7777", "localhost.evil:7777", "evil.com", ""]
        {
            assert!(!names.addressed(&headers(&[("host", host)])), "{host}");
        }
        assert!(!names.addressed(&headers(&[])));
        assert!(!names.addressed(&headers(&[("host", "localhost:7777"), ("host", "evil.com")])));
        assert!(names.comes_from_here(&headers(&[("origin", "http://localhost:7777")])));
        assert!(names.comes_from_here(&headers(&[])));
        let strangers = [
            "null",
            "http://localhost",
            "http://localhost:77777",
            "https://localhost:7777",
            "http://localhost:7777.evil.com",
        ];
        for origin in strangers {
            assert!(!names.comes_from_here(&headers(&[("origin", origin)])), "{origin}");
        }
    }

    #[test]
    fn a_token_is_long_and_new_each_time() {
        let (a, b) = (Token::new().expect("random"), Token::new().expect("random"));
        assert!(a.text().len() >= 32 && a.matches(a.text()));
        assert!(!a.matches(b.text()) && !a.matches("") && !a.matches(&format!("{}0", a.text())));
    }
}
