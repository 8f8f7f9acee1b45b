//! What the event `panes` says about each pane.

use super::Pane;
use lilyan_scene::schema::ContactSpec;
use lilyan_solid::contact::ObstacleShape;
use lilyan_study::run::{allowed_energy, allowed_momentum};
use serde_json::{Value, json};

impl Pane {
    /// All that `panes` says about this pane. `label` distinguishes it from the others.
    pub fn describe(&self, label: &str) -> Value {
        let claims = self.built.simulation.integrator().claims();
        let conserved = &self.built.conserved;
        let step = self.scene.time.step;
        json!({
            "title": self.scene.title,
            "label": label,
            "scene": self.document.to_json(),
            "integrator": self.scene.integrator.name,
            "step": step,
            "elements": self.elements(),
            "vertices": self.built.simulation.system().node_masses().len(),
            "conserved": { "energy": conserved.energy, "linear": conserved.linear, "angular": conserved.angular },
            "keeps": {
                "energy": claims.energy,
                "linear": claims.linear_momentum,
                "angular": claims.angular_momentum,
                "bounded": claims.bounds_energy(),
            },
            "allowed": {
                "energy": allowed_energy(&claims),
                "linear": allowed_momentum(&self.built, &claims, false),
                "angular": allowed_momentum(&self.built, &claims, true),
            },
            "stability": self.describe_stability(),
            "warnings": self.built.warnings.iter().chain(&self.step_limit.warnings).collect::<Vec<_>>(),
            "notes": self.built.notes,
        })
    }

    /// The longest stable step, for methods that have one.
    fn describe_stability(&self) -> Option<Value> {
        let (step, limit) = (self.scene.time.step, self.step_limit.limit?);
        let text = match step / limit {
            share if share > 1.0 => format!(
                "a step of {step:.2e} s is above the limit of {limit:.2e} s: the motion will explode; \
                 shorten the step or take an implicit integrator"
            ),
            share if share > 0.8 => format!(
                "a step of {step:.2e} s is close to the limit of {limit:.2e} s; large deformation may \
                 take it over: a shorter step is safer"
            ),
            _ => format!("stable up to a step of {limit:.2e} s at rest"),
        };
        Some(json!({ "limit": limit, "share": step / limit, "text": text }))
    }

    /// The direction that the page shows upwards: against gravity, or the normal of a floor, or y.
    pub fn up(&self) -> [f64; 3] {
        let gravity = self.scene.environment.gravity.as_ref();
        let g = gravity.map(|g| g.each_ref().map(|q| q.constant().unwrap_or(0.0))).unwrap_or_default();
        let norm = g.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm > 0.0 {
            return g.map(|x| -x / norm);
        }
        let floor = self.scene.contacts.iter().find_map(|c| match c.obstacle()? {
            ObstacleShape::Plane { normal, .. } => Some(normal),
            ObstacleShape::Sphere { .. } => None,
        });
        floor.unwrap_or([0.0, 1.0, 0.0])
    }

    /// The planes and spheres that the bodies can touch.
    pub fn obstacles(&self) -> Vec<Value> {
        let tell = |shape: ObstacleShape| match shape {
            ObstacleShape::Plane { point, normal } => {
                json!({ "kind": "plane", "point": point, "normal": normal })
            }
            ObstacleShape::Sphere { center, radius, inside } => {
                json!({ "kind": "sphere", "center": center, "radius": radius, "inside": inside })
            }
        };
        self.scene.contacts.iter().filter_map(ContactSpec::obstacle).map(tell).collect()
    }
}

/// Short labels that distinguish the panes: the settings in which they differ.
pub fn labels(panes: &[Pane]) -> Vec<String> {
    let text = |pane: &Pane, path: &[&str]| {
        let mut value = &pane.document.to_json();
        for key in path {
            value = match key.parse::<usize>() {
                Ok(index) => value.get(index).unwrap_or(&Value::Null),
                Err(_) => value.get(*key).unwrap_or(&Value::Null),
            };
        }
        match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    };
    const SETTINGS: [(&str, &[&str]); 6] = [
        ("", &["integrator", "name"]),
        ("h = ", &["time", "step"]),
        ("", &["body", "0", "material", "model"]),
        ("E = ", &["body", "0", "material", "E"]),
        ("ν = ", &["body", "0", "material", "nu"]),
        ("mesh ", &["body", "0", "mesh"]),
    ];
    let differ: Vec<_> = SETTINGS
        .iter()
        .filter(|(_, path)| {
            let first = panes.first().map(|p| text(p, path));
            panes.iter().any(|p| Some(text(p, path)) != first)
        })
        .collect();
    let label = |pane: &Pane| {
        if let Some(label) = &pane.label {
            return label.clone();
        }
        let mut parts: Vec<String> = differ
            .iter()
            .map(|(head, path)| format!("{head}{}", text(pane, path)))
            .filter(|p| !p.is_empty())
            .collect();
        if parts.is_empty() {
            parts = vec![pane.scene.integrator.name.clone(), format!("h = {} s", pane.scene.time.step)];
        }
        parts.join(", ").chars().take(80).collect()
    };
    panes.iter().map(label).collect()
}
