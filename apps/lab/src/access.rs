//! Who may use the lab: only the page that was opened by the user who started it.
//!
//! Browsers let any page send requests to this computer. Therefore every request must name this server exactly in `Host`,
//! which defends against DNS rebinding. A request from a page must come from our own page (`Origin`). Whoever reads or
//! changes anything must know the token, a secret of this process.

#![deny(clippy::indexing_slicing)]

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};
use std::net::SocketAddr;

/// A secret of this process, 256 bits.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new token. Fails if the system has no source of random numbers.
    pub fn new() -> std::io::Result<Self> {
        random().map(Self)
    }

    /// The text of the token, only for the user's own page.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether `given` is the token. The time does not depend on where they differ.
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

/// The values of `Host` under which this server may be addressed.
#[derive(Clone)]
pub(crate) struct HostNames {
    hosts: Vec<String>,
}

impl HostNames {
    /// The names of a server at this address.
    pub fn of(address: SocketAddr) -> Self {
        let port = address.port();
        let mut hosts = vec![address.to_string()];
        if address.ip().is_loopback() {
            hosts.extend([format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")]);
        }
        Self { hosts }
    }

    /// Whether a request names this server.
    pub fn addressed(&self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(HOST).iter();
        match (hosts.next(), hosts.next()) {
            (Some(host), None) => self.hosts.iter().any(|h| h.as_bytes() == host.as_bytes()),
            _ => false,
        }
    }

    /// Whether a request comes from our own page, or from no page.
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
        let names = HostNames::of("127.0.0.1:7777".parse().expect("an address"));
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
