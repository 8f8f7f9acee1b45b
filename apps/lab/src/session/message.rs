//! What pages say, checked, and what they are told in words.

#![deny(clippy::indexing_slicing)]

use super::job::{coarsen, compare};
use serde::Deserialize;
use serde_json::{Value, json};

/// A request, as `PROTOCOL.md` lists them.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    Open {
        scene: Option<String>,
        text: Option<String>,
        name: Option<String>,
    },
    Gallery {
        name: String,
    },
    Mesh {
        name: String,
    },
    Play {},
    Pause {},
    Step {},
    Reset {},
    Speed {
        value: Option<f64>,
    },
    Budget {
        ms: f64,
    },
    Realtime {
        on: bool,
    },
    Set {
        pane: Option<usize>,
        changes: Vec<Change>,
    },
    Undo {},
    Grab {
        pane: usize,
        vertex: u32,
        to: [f64; 3],
    },
    Release {},
    Pin {
        pane: usize,
        vertices: Vec<u32>,
    },
    Unpin {
        pane: usize,
        vertices: Option<Vec<u32>>,
    },
    Force {
        pane: usize,
        vertices: Vec<u32>,
        force: [f64; 3],
    },
    Kick {
        pane: usize,
        vertices: Option<Vec<u32>>,
        momentum: [f64; 3],
    },
    Throw {
        pane: usize,
        velocity: [f64; 3],
    },
    Check {
        pane: usize,
    },
    Compare(compare::Wanted),
    Coarsen(coarsen::Wanted),
    Cancel {},
    Split {},
    Close {
        pane: usize,
    },
    Show {
        field: Option<Shade>,
        forces: Option<bool>,
        contacts: Option<bool>,
    },
    Save {
        pane: usize,
        #[serde(default)]
        state: bool,
    },
}

/// One value of the scene.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub path: String,
    pub value: Value,
}

/// What colours a body.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Shade {
    #[default]
    None,
    VonMises,
    Energy,
    Speed,
    Material,
}

impl Shade {
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::VonMises => "von_mises",
            Self::Energy => "energy",
            Self::Speed => "speed",
            Self::Material => "material",
        }
    }
}

/// Lists and tables inside each other at most.
const DEPTH: usize = 64;

/// How deep brackets are nested, whatever stands in strings.
fn depth(text: &str) -> usize {
    let (mut deep, mut deepest, mut quoted, mut escaped) = (0usize, 0, false, false);
    for c in text.bytes() {
        match c {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                deep += 1;
                deepest = deepest.max(deep);
            }
            b']' | b'}' if !quoted => deep = deep.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

impl Request {
    /// Reads a message; the error says what is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        if depth(text) > DEPTH {
            return Err(format!("the message is nested more than {DEPTH} deep"));
        }
        let request: Self =
            serde_json::from_str(text).map_err(|e| format!("the message is not understood: {e}"))?;
        let finite = |x: &[f64]| x.iter().all(|x| x.is_finite() && x.abs() < 1e30);
        let sound = match &request {
            Self::Speed { value: Some(speed) } => *speed > 0.0 && finite(&[*speed]),
            Self::Budget { ms } => *ms > 0.0 && finite(&[*ms]),
            Self::Grab { to: x, .. }
            | Self::Force { force: x, .. }
            | Self::Kick { momentum: x, .. }
            | Self::Throw { velocity: x, .. } => finite(x),
            _ => true,
        };
        if sound {
            Ok(request)
        } else {
            Err("the message has a number that is not finite or not positive".into())
        }
    }
}

/// The name of the request in a message that may be anything.
pub fn name_of(text: &str) -> String {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let name = value.get("do").and_then(Value::as_str).unwrap_or_default();
    name.chars().take(40).collect()
}

/// Tells that a request was refused.
pub fn error(request: &str, text: &str) -> String {
    json!({ "event": "error", "request": request, "text": text }).to_string()
}

/// Tells something worth knowing.
pub fn notice(text: &str) -> String {
    json!({ "event": "notice", "text": text }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_request_is_refused_with_a_reason() {
        for nonsense in [
            "",
            "7",
            "[]",
            "{}",
            r#"{"do":"fly"}"#,
            r#"{"do":"play","now":1}"#,
            r#"{"do":"grab","pane":0,"vertex":-1,"to":[0,0,0]}"#,
            r#"{"do":"grab","pane":0,"vertex":1,"to":[0,0]}"#,
            r#"{"do":"grab","pane":0,"vertex":1,"to":[0,0,1e300]}"#,
            r#"{"do":"speed","value":-1}"#,
            r#"{"do":"speed","value":0}"#,
            r#"{"do":"show","field":"smell"}"#,
        ] {
            assert!(Request::read(nonsense).is_err(), "{nonsense}");
        }
        let nested = |n: usize| {
            let (open, close) = ("[".repeat(n), "]".repeat(n));
            format!(r#"{{"do":"set","changes":[{{"path":"\\\"[[","value":{open}1{close}}}]}}"#)
        };
        assert!(Request::read(&nested(DEPTH - 3)).is_ok());
        for deep in [DEPTH - 2, 500, 100_000] {
            assert!(Request::read(&nested(deep)).is_err(), "{deep}");
        }
        assert_eq!(Request::read(r#"{"do":"play"}"#), Ok(Request::Play {}));
        assert_eq!(Request::read(r#"{"do":"speed","value":null}"#), Ok(Request::Speed { value: None }));
    }
}
