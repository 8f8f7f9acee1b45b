//! Geoms that stand still, as obstacles.

use super::super::draft::Draft;
use super::super::xml::Element;
use super::Model;
use super::frame::Frame;
use crate::error::ExchangeError;
use serde_json::json;

impl Model {
    pub(super) fn geom(
        &mut self,
        geom: &Element,
        around: &Frame,
        class: Option<&str>,
        draft: &mut Draft,
    ) -> Result<(), ExchangeError> {
        let geom = self.with_defaults(geom, class);
        let is_zero = |key: &str| geom.get(key) == Some("0");
        if is_zero("contype") && is_zero("conaffinity") {
            return Ok(()); // only to be seen
        }
        let frame = around.then(&self.orientations.frame(&geom));
        let size = geom.numbers("size").unwrap_or_default();
        let kind = geom.get("type").unwrap_or("sphere");
        let name = geom.get("name").map_or(String::new(), |name| format!(" {name}"));
        if geom.get("fromto").is_some() {
            draft.note(format!("geom{name}: a {kind} given by fromto"));
            return Ok(());
        }
        let mut solid = |shape: serde_json::Value, origin: [f64; 3]| {
            let mut mesh = shape;
            frame.placement(origin).write(&mut mesh);
            draft.add("contact", json!({ "kind": "mesh", "mesh": mesh, "model": "barrier" }));
        };
        match (kind, size.as_slice()) {
            ("plane", size) => {
                let plane = json!({ "kind": "plane", "point": frame.translation, "normal": tidy(frame.z()), "model": "barrier" });
                draft.add("contact", plane);
                if size.iter().take(2).any(|x| *x > 0.0) {
                    draft.note(format!("geom{name}: a plane is infinite, as in contacts of MuJoCo"));
                }
            }
            ("sphere", [radius, ..]) => draft.add(
                "contact",
                json!({ "kind": "sphere", "center": frame.translation, "radius": radius, "model": "barrier" }),
            ),
            ("box", [a, b, c, ..]) => {
                solid(json!({ "box": { "size": [2.0 * a, 2.0 * b, 2.0 * c], "cells": [1, 1, 1] } }), [*a, *b, *c]);
            }
            ("ellipsoid", [a, b, c, ..]) => solid(json!({ "ellipsoid": { "radii": [a, b, c] } }), [0.0; 3]),
            ("cylinder", [radius, half, ..]) => {
                solid(json!({ "cylinder": { "radius": radius, "length": 2.0 * half } }), [0.0, 0.0, *half]);
            }
            (kind, _) => draft.note(format!("geom{name}: a {kind} is no obstacle here")),
        }
        Ok(())
    }

    /// The geom with the attributes of its class, as far as it has none of its own.
    fn with_defaults(&self, geom: &Element, class: Option<&str>) -> Element {
        let class = geom.get("class").or(class).unwrap_or("main");
        let mut whole = geom.clone();
        for (key, value) in self.classes.get(class).into_iter().flatten() {
            if geom.get(key).is_none() {
                whole.attributes.push((key.clone(), value.clone()));
            }
        }
        whole
    }
}

/// A direction without the rounding of rotations.
fn tidy(x: [f64; 3]) -> [f64; 3] {
    x.map(|x| if (x - x.round()).abs() < 1e-12 { x.round() + 0.0 } else { x })
}
