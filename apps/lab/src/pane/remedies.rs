//! What the user can do after a failure: each remedy has a label and the messages that apply it.

use super::Pane;
use serde_json::{Value, json};

impl Pane {
    /// Remedies for this pane, which has the number `i`. `change` is the last change of settings, a possible cause.
    pub fn remedies(&self, i: usize, change: Option<&str>) -> Vec<Value> {
        let half = 0.5 * self.scene.time.step;
        let set = |path: &str, value: Value| json!({ "do": "set", "pane": i, "changes": [{ "path": path, "value": value }] });
        let remedy = |label: String, message: Value| json!({ "label": label, "messages": [message, { "do": "play" }] });
        let mut remedies =
            vec![remedy(format!("Halve the step, to {half:e} s"), set("time.step", half.into()))];
        if self.scene.integrator.name != "energy-momentum" {
            let implicit = set("integrator", json!({ "name": "energy-momentum" }));
            remedies.push(remedy("Use energy-momentum, which is implicit".into(), implicit));
        }
        if let Some(change) = change {
            remedies.push(remedy(format!("Take back: {change}"), json!({ "do": "undo" })));
        }
        remedies.push(remedy("Begin again".into(), json!({ "do": "reset" })));
        remedies
    }
}
