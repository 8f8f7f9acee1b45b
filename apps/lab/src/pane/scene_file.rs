//! Writes a pane as a scene file.

use super::Pane;
use crate::error::LabError;
use lilyan_scene::document::{MAX_BYTES, Node, SceneError, set_value};
use lilyan_scene::schema::Snapshot;
use serde_json::Value;

impl Pane {
    /// The scene as TOML; `with_state`: it starts at the current state.
    pub fn to_toml(&self, with_state: bool) -> Result<String, LabError> {
        let document = if with_state { self.starting_here()? } else { self.document.clone() };
        let mark = self.cut_steps.in_words().filter(|_| with_state);
        let mark = mark.map_or(String::new(), |told| format!("# Where real-time mode got to: {told}.\n"));
        let text = mark + &document.to_toml();
        if text.len() > MAX_BYTES {
            return Err(LabError::SceneFileTooLong { bytes: text.len(), most: MAX_BYTES });
        }
        Ok(text)
    }

    /// The scene that starts at the current state.
    fn starting_here(&self) -> Result<Node, SceneError> {
        let mut document = self.document.clone();
        let mut set = |path: &str, value: Option<Node>| set_value(&mut document, path, value);
        if self.cut_steps.steps > 0 {
            let title = Node::from_json(&self.marked_title().into(), "the lab")?;
            set("title", Some(title))?;
        }
        let state = self.built.simulation.state();
        for (b, body) in self.built.bodies.iter().enumerate() {
            let range = body.dofs.unknowns();
            let part = |x: &[f64]| x.get(range.clone()).unwrap_or_default().to_vec();
            let snapshot = Snapshot { positions: part(&state.q), velocities: part(&state.v) };
            let text = Node::from_json(&Value::from(snapshot.encode()), "the lab")?;
            set(&format!("body.{b}.initial"), None)?;
            set(&format!("body.{b}.initial.state"), Some(text))?;
        }
        // Pins hold vertices at their start, which is the current position now.
        for (k, pin) in self.scene.pins.iter().enumerate() {
            if pin.motion.as_ref().is_some_and(|motion| !motion.changes()) {
                set(&format!("pin.{k}.motion"), None)?;
                set(&format!("pin.{k}.rotate"), None)?;
            }
        }
        Ok(document)
    }

    /// The title. It is marked if steps were cut on the way to the state.
    fn marked_title(&self) -> String {
        const MARK: &str = " (after cut steps)";
        let title = &self.scene.title;
        if self.cut_steps.steps > 0 && !title.ends_with(MARK) {
            format!("{title}{MARK}")
        } else {
            title.clone()
        }
    }

    /// A name for the scene file.
    pub fn file_name(&self, with_state: bool) -> String {
        let title = if with_state { self.marked_title() } else { self.scene.title.clone() }.to_lowercase();
        let words: Vec<&str> =
            title.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
        format!("{}.toml", words.join("-"))
    }
}
