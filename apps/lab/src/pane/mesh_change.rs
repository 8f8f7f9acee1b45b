//! Another mesh for the first body, from a file.

use super::{Pane, scene_of};
use crate::error::LabError;
use lilyan_scene::document::{Node, set_value};
use lilyan_scene::schema::Scene;
use lilyan_solid::contact::ObstacleShape;
use serde_json::{Value, json};

/// A mesh begins so far above a floor, as a share of its height.
const ABOVE_FLOOR: f64 = 0.02;
/// What belongs to vertices of one mesh.
const OF_VERTICES: [(&str, &str); 3] = [("pin", "pins"), ("load", "forces"), ("constraint", "constraints")];

impl Pane {
    /// The scene with the mesh of this file as its first body, where the body before was: its middle above that of the body
    /// before, its lowest point as low, or above the floor. What belongs to vertices of the mesh before is left out; the text
    /// tells what.
    /// `allow` refuses files that must not be read.
    pub fn with_mesh(
        &self,
        file: &str,
        others: usize,
        allow: impl Fn(&Scene) -> Result<(), LabError>,
    ) -> Result<(Node, Option<String>), LabError> {
        let name = self.body_name(0);
        let mut document = self.document.clone();
        let mut left_out = Vec::new();
        for (list, word) in OF_VERTICES {
            let entries = document.to_json().get(list).and_then(Value::as_array).cloned().unwrap_or_default();
            for (i, _) in entries.iter().enumerate().rev().filter(|(_, entry)| belongs_to(entry, &name)) {
                set_value(&mut document, &format!("{list}.{i}"), None)?;
                if !left_out.contains(&word) {
                    left_out.push(word);
                }
            }
        }
        for key in ["initial", "fit", "display"] {
            set_value(&mut document, &format!("body.0.{key}"), None)?;
        }
        set_mesh(&mut document, &json!({ "file": file }))?;
        allow(&scene_of(&document, &self.origin)?)?;
        let fresh = Self::without_step_limit(document.clone(), &self.origin, others)?;
        let place = self.place_for(&fresh);
        set_mesh(&mut document, &json!({ "file": file, "translate": place }))?;

        let mut told = Vec::new();
        if !left_out.is_empty() {
            told.push(format!("the {} of the mesh before are left out", left_out.join(" and ")));
        }
        let falls = self.scene.environment.gravity.is_some() && fresh.scene.pins.is_empty();
        if falls && fresh.floor().is_none() {
            told.push("nothing holds the body: pin it, add a floor or remove gravity".into());
        }
        Ok((document, (!told.is_empty()).then(|| told.join("; "))))
    }

    /// The translation that puts the first body of `fresh` where the first body of this pane is at rest.
    fn place_for(&self, fresh: &Self) -> [f64; 3] {
        let (old, new) = (self.first_body(), fresh.first_body());
        let up = self.up();
        let along = |x: &[f64; 3], n: &[f64; 3]| x.iter().zip(n).map(|(x, n)| x * n).sum::<f64>();
        let lowest = |points: &[[f64; 3]], n: &[f64; 3]| {
            points.iter().map(|x| along(x, n)).fold(f64::INFINITY, f64::min)
        };
        let (from, to) = (middle(&new), middle(&old));
        let mut shift: [f64; 3] = std::array::from_fn(|k| to[k] - from[k]);
        let rise = match self.floor() {
            Some((point, normal)) => {
                let height = -lowest(&new, &normal) - lowest(&new, &normal.map(|n| -n));
                let clear = ABOVE_FLOOR * height
                    - (lowest(&new, &normal) + along(&shift, &normal) - along(&point, &normal));
                // Along the vertical, so that it stays over the body before.
                clear / along(&normal, &up).max(0.1)
            }
            None => lowest(&old, &up) - lowest(&new, &up) - along(&shift, &up),
        };
        for (shift, up) in shift.iter_mut().zip(up) {
            *shift += rise * up;
        }
        let size = lilyan_dynamics::System::length(fresh.built.simulation.system());
        let unit = 10f64.powf((1e-4 * size).log10().floor());
        // Few digits, since the scene shows them.
        shift.map(|x| (x / unit).round() * unit)
    }

    /// A point and the normal of the first plane that bodies can touch.
    fn floor(&self) -> Option<([f64; 3], [f64; 3])> {
        self.scene.contacts.iter().find_map(|contact| match contact.obstacle()? {
            ObstacleShape::Plane { point, normal } => Some((point, normal)),
            ObstacleShape::Sphere { .. } => None,
        })
    }

    /// The vertices of the first body at rest.
    fn first_body(&self) -> Vec<[f64; 3]> {
        self.built.bodies.first().map(|body| body.nodes().points().to_vec()).unwrap_or_default()
    }
}

/// Whether an entry of the scene belongs to a body: it names it, or names none.
fn belongs_to(entry: &Value, body: &Value) -> bool {
    fn names<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
        match value {
            Value::Object(table) => {
                found.extend(table.get("body"));
                table.values().for_each(|value| names(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| names(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    names(entry, &mut found);
    found.is_empty() || found.contains(&body)
}

fn set_mesh(document: &mut Node, mesh: &Value) -> Result<(), LabError> {
    Ok(set_value(document, "body.0.mesh", Some(Node::from_json(mesh, "the lab")?))?)
}

/// The middle of the box around points.
fn middle(points: &[[f64; 3]]) -> [f64; 3] {
    std::array::from_fn(|k| {
        let along = points.iter().map(|x| x[k]);
        0.5 * (along.clone().fold(f64::INFINITY, f64::min) + along.fold(f64::NEG_INFINITY, f64::max))
    })
}
