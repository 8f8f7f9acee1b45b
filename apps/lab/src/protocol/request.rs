//! Requests of pages, checked.

#![deny(clippy::indexing_slicing)]

use crate::error::LabError;
use serde::Deserialize;
use serde_json::Value;

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
        changes: Vec<SceneChange>,
        /// Changes of the same drag of a slider have the same number.
        drag: Option<u64>,
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
    /// Leads a vertex to a place within some seconds and holds it there.
    Place {
        pane: usize,
        vertex: u32,
        at: [f64; 3],
        #[serde(default)]
        seconds: f64,
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
    /// Sets velocities.
    Velocity {
        pane: usize,
        vertices: Option<Vec<u32>>,
        velocity: [f64; 3],
    },
    /// Sets the momentum that vertices have together.
    Momentum {
        pane: usize,
        vertices: Option<Vec<u32>>,
        momentum: [f64; 3],
    },
    Watch {
        pane: usize,
        vertex: Option<u32>,
    },
    Check {
        pane: usize,
    },
    Compare(CompareRequest),
    Coarsen(CoarsenRequest),
    Cancel {},
    Split {},
    Close {
        pane: usize,
    },
    Show(ShownContents),
    Save {
        pane: usize,
        #[serde(default)]
        state: bool,
    },
}

/// What frames shall contain; what is absent stays as it is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ShownContents {
    /// The quantity that colours the bodies.
    pub field: Option<ColorField>,
    /// The whole force on each vertex.
    pub forces: Option<bool>,
    /// The force from outside on each vertex.
    pub outside: Option<bool>,
    /// The momentum of each vertex.
    pub momenta: Option<bool>,
    /// Contacts and their forces.
    pub contacts: Option<bool>,
    /// Vertices inside of solids.
    pub inside: Option<bool>,
}

/// A new value of one setting of the scene.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SceneChange {
    /// Path of the setting, as after `lilyan run --set`.
    pub path: String,
    /// The new value; `null` removes the setting.
    pub value: Value,
}

/// What to compare.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CompareRequest {
    /// The pane whose scene is run.
    pub pane: usize,
    /// Each as in `lilyan compare --integrators`.
    pub integrators: Vec<String>,
    /// Steps, s. If there are none, some around that of the scene are chosen.
    #[serde(default)]
    pub steps: Vec<f64>,
    /// Simulated time, s.
    pub end: f64,
    /// Wall time of one run, s.
    pub budget: f64,
}

/// What to coarsen, and how.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct CoarsenRequest {
    /// The pane with the fine body.
    pub pane: usize,
    /// A method of `lilyan coarsen --methods`.
    pub method: String,
    /// Approximate number of tets of the coarse body.
    pub tets: usize,
    /// Number of modes that are compared, and fitted by methods that do so.
    #[serde(default = "default_modes")]
    pub modes: usize,
    /// Name of the body, if there are several.
    pub body: Option<String>,
}

fn default_modes() -> usize {
    10
}

/// The quantity that colours the bodies.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum ColorField {
    /// One colour for all.
    #[default]
    None,
    /// Von Mises stress, Pa.
    VonMises,
    /// Strain energy density, J/m³.
    Energy,
    /// Speed, m/s.
    Speed,
    /// log₁₀ of Young's modulus in Pa.
    Material,
}

impl ColorField {
    /// The name in messages.
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

/// Levels of lists and tables at most.
const DEPTH: usize = 64;

/// How deep brackets are nested outside of strings.
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
    /// Reads a message.
    pub fn read(text: &str) -> Result<Self, LabError> {
        if depth(text) > DEPTH {
            return Err(LabError::NestedTooDeep(DEPTH));
        }
        let mut message: Value = serde_json::from_str(text).map_err(LabError::NotUnderstood)?;
        if let Some(keys) = message.as_object_mut() {
            keys.remove(ID);
        }
        let request: Self = serde_json::from_value(message).map_err(LabError::NotUnderstood)?;
        let finite = |x: &[f64]| x.iter().all(|x| x.is_finite() && x.abs() < 1e30);
        let sound = match &request {
            Self::Speed { value: Some(speed) } => *speed > 0.0 && finite(&[*speed]),
            Self::Budget { ms } => *ms > 0.0 && finite(&[*ms]),
            Self::Grab { to: x, .. }
            | Self::Force { force: x, .. }
            | Self::Kick { momentum: x, .. }
            | Self::Momentum { momentum: x, .. }
            | Self::Velocity { velocity: x, .. }
            | Self::Throw { velocity: x, .. } => finite(x),
            Self::Place { at: x, seconds, .. } => finite(x) && (0.0..=1e6).contains(seconds),
            _ => true,
        };
        if sound { Ok(request) } else { Err(LabError::UnusableNumber) }
    }
}

/// The key of the number that a page may give a request, to learn when it has been handled.
const ID: &str = "id";

/// The number that the page gave the request in a text that may be anything.
pub fn request_id(text: &str) -> Option<u64> {
    let message: Value = serde_json::from_str(text).ok()?;
    message.get(ID)?.as_u64()
}

/// The name of the request in a text that may be anything.
pub fn request_name(text: &str) -> String {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let name = value.get("do").and_then(Value::as_str).unwrap_or_default();
    name.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_no_requests_are_refused() {
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
        assert_eq!(Request::read(r#"{"do":"play"}"#).unwrap(), Request::Play {});
        assert_eq!(Request::read(r#"{"do":"speed","value":null}"#).unwrap(), Request::Speed { value: None });
    }
}
