//! A pane as a scene file.

use super::pane::Pane;
use super::words;
use lilyan_scene::document::{MAX_BYTES, Node, set_value};
use lilyan_scene::schema::Snapshot;
use serde_json::Value;

impl Pane {
    /// The scene as TOML, with the current state as its start if wanted.
    pub fn to_toml(&self, with_state: bool) -> Result<String, String> {
        let document = if with_state { self.starting_here()? } else { self.document.clone() };
        let mark = self.cuts.told().filter(|_| with_state);
        let mark = mark.map_or(String::new(), |told| format!("# Where real-time mode got to: {told}.\n"));
        let text = mark + &document.to_toml();
        if text.len() > MAX_BYTES {
            return Err(format!(
                "with its state the scene has {} bytes, more than a scene may have ({MAX_BYTES}); save it without",
                text.len()
            ));
        }
        Ok(text)
    }

    /// The scene that starts where this one is.
    fn starting_here(&self) -> Result<Node, String> {
        let mut document = self.document.clone();
        let mut set = |path: &str, value: Option<Node>| {
            set_value(&mut document, path, value).map_err(|e| words::of(&e))
        };
        if self.cuts.steps > 0 {
            let title = Node::from_json(&self.marked_title().into(), "the lab").map_err(|e| words::of(&e))?;
            set("title", Some(title))?;
        }
        let state = &self.built.simulation.state;
        for (b, body) in self.built.bodies.iter().enumerate() {
            let range = 3 * body.first_node..3 * (body.first_node + body.mesh.vertices.len());
            let part = |x: &[f64]| x.get(range.clone()).unwrap_or_default().to_vec();
            let snapshot = Snapshot { positions: part(&state.q), velocities: part(&state.v) };
            let text =
                Node::from_json(&Value::from(snapshot.encode()), "the lab").map_err(|e| words::of(&e))?;
            set(&format!("body.{b}.initial"), None)?;
            set(&format!("body.{b}.initial.state"), Some(text))?;
        }
        // Pins hold things where they start, and that is here.
        for (k, pin) in self.scene.pins.iter().enumerate() {
            let still = pin.motion.as_ref().is_some_and(|m| m.iter().all(|q| q.constant().is_some()));
            if still {
                set(&format!("pin.{k}.motion"), None)?;
            }
        }
        Ok(document)
    }

    /// The title; a state that cut steps led to is not to be taken for another.
    fn marked_title(&self) -> String {
        const MARK: &str = " (after cut steps)";
        let title = &self.scene.title;
        if self.cuts.steps > 0 && !title.ends_with(MARK) { format!("{title}{MARK}") } else { title.clone() }
    }

    /// A name for the file.
    pub fn file_name(&self, with_state: bool) -> String {
        let title = if with_state { self.marked_title() } else { self.scene.title.clone() }.to_lowercase();
        let words: Vec<&str> =
            title.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
        format!("{}.toml", words.join("-"))
    }
}
