//! `flexcomp`: deformable bodies.

use super::super::beside;
use super::super::draft::{Draft, extent};
use super::super::placement::Placement;
use super::super::xml::Element;
use super::Model;
use super::frame::Frame;
use crate::error::ExchangeError;
use serde_json::{Value, json};

/// Moduli of bodies whose file gives none, Pa.
const YOUNG: f64 = 1e5;

/// The shape of a flexcomp.
struct Shape {
    mesh: Value,
    /// Volume, m³; area, m²; or length, m, by the dimension.
    measure: f64,
    placement: Placement,
}

impl Model {
    pub(super) fn flexcomp(
        &mut self,
        flex: &Element,
        around: &Frame,
        draft: &mut Draft,
    ) -> Result<(), ExchangeError> {
        let name = flex.get("name").unwrap_or("flex").to_string();
        let frame = around.then(&self.orientations.frame(flex));
        let dim = flex.number("dim").unwrap_or(2.0) as usize;
        if flex.get("rigid") == Some("true") {
            draft.note(format!("flexcomp {name}: it is rigid"));
            return Ok(());
        }
        let elasticity = flex.child("elasticity");
        let of = |key: &str| elasticity.and_then(|e| e.number(key));
        // Membranes and ropes have the radius of their nodes where no thickness is given.
        let radius = flex.number("radius").unwrap_or(0.005);
        let thickness = of("thickness").filter(|t| *t > 0.0).unwrap_or(2.0 * radius.max(1e-4));
        let Some(shape) = self.shape(flex, &name, dim, thickness, &frame, draft)? else { return Ok(()) };
        let mut mesh = shape.mesh;
        shape.placement.write(&mut mesh);
        let young = of("young").filter(|e| *e > 0.0).unwrap_or_else(|| {
            draft.note(format!("flexcomp {name}: no Young's modulus (edges of fixed length stand in for it); E = {YOUNG:e} Pa is chosen"));
            YOUNG
        });
        let nu = of("poisson").unwrap_or(0.0);
        let section = match dim {
            3 => 1.0,
            2 => thickness,
            _ => std::f64::consts::PI * radius * radius,
        };
        let rho = flex.number("mass").unwrap_or(1.0) / (shape.measure * section);
        let mut body = match dim {
            1 => json!({ "mesh": mesh, "material": { "model": "springs", "E": young, "rho": rho } }),
            2 => {
                let elastic = elasticity.and_then(|e| e.get("elastic2d")).unwrap_or("none");
                if matches!(elastic, "bend" | "both") && mesh.get("cloth").is_some() {
                    mesh["cloth"]["bending"] = json!(young * thickness.powi(3) / (12.0 * (1.0 - nu * nu)));
                }
                if matches!(elastic, "bend" | "none") {
                    draft.note(format!("flexcomp {name}: stretch is resisted by E too, and not by edges of fixed length alone"));
                }
                json!({ "mesh": mesh, "element": "membrane", "material": { "model": "stvk", "E": young, "nu": nu, "rho": rho } })
            }
            _ => json!({ "mesh": mesh, "material": { "model": "stvk", "E": young, "nu": nu, "rho": rho } }),
        };
        if let Some(damping) = of("damping").filter(|d| *d > 0.0) {
            body["damping"] = json!({ "model": "rayleigh", "beta": damping });
        }
        let name = draft.add_body(&name, body);
        // Sheets and ropes have no thickness from which a distance could follow.
        self.radius = self.radius.max(if dim < 3 { radius.max(1e-3) } else { radius });
        for edge in flex.all("edge") {
            for (key, value) in edge.attributes.iter().filter(|(_, value)| value != "false" && value != "0") {
                draft.note(format!("flexcomp {name}: edge {key} = {value}"));
            }
        }
        if flex.get("dof").is_some_and(|dof| dof != "full") {
            draft.note(format!(
                "flexcomp {name}: every node moves (dof = {})",
                flex.get("dof").unwrap_or_default()
            ));
        }
        let selfcollide = flex.child("contact").and_then(|c| c.get("selfcollide"));
        if selfcollide.is_none_or(|s| s != "none") {
            self.touches_itself.push(name.clone());
        }
        pins(flex, &name, &frame, draft);
        Ok(())
    }

    fn shape(
        &self,
        flex: &Element,
        name: &str,
        dim: usize,
        thickness: f64,
        frame: &Frame,
        draft: &mut Draft,
    ) -> Result<Option<Shape>, ExchangeError> {
        let kind = flex.get("type").unwrap_or("grid");
        let (count, spacing) = grid(flex);
        let cells = count.map(|n| n.saturating_sub(1).max(1));
        let size: [f64; 3] = std::array::from_fn(|k| spacing[k] * (count[k].max(1) - 1) as f64);
        let middle = size.map(|s| 0.5 * s);
        let solid = |mesh: Value, measure: f64, origin: [f64; 3]| {
            Some(Shape { mesh, measure, placement: frame.placement(origin) })
        };
        Ok(match (kind, dim) {
            ("grid" | "box", 3) => {
                if kind == "box" {
                    draft.note(format!("flexcomp {name}: the inside of the box is cut into tets of its own"));
                }
                solid(json!({ "box": { "size": size, "cells": cells } }), size.iter().product(), middle)
            }
            ("ellipsoid", 3) => {
                draft.note(format!("flexcomp {name}: the ellipsoid is filled with tets of its own"));
                let volume = 4.0 / 3.0 * std::f64::consts::PI * middle.iter().product::<f64>();
                solid(json!({ "ellipsoid": { "radii": middle } }), volume, [0.0; 3])
            }
            ("cylinder", 3) if (size[0] - size[1]).abs() <= 1e-9 * size[0] => {
                draft.note(format!("flexcomp {name}: the cylinder is filled with tets of its own"));
                let volume = std::f64::consts::PI * middle[0] * middle[1] * size[2];
                let mesh = json!({ "cylinder": { "radius": middle[0], "length": size[2] } });
                solid(mesh, volume, [0.0, 0.0, middle[2]])
            }
            ("grid", 2) => {
                let mesh = json!({ "cloth": { "size": [size[0], size[1]], "cells": [cells[0], cells[1]], "thickness": thickness } });
                solid(mesh, size[0] * size[1], [middle[0], middle[1], 0.0])
            }
            ("grid", 1) => {
                let ends = [[-middle[0], 0.0, 0.0], [middle[0], 0.0, 0.0]].map(|x| frame.place(x));
                let radius = 0.5 * thickness;
                let mesh = json!({ "rope": { "from": ends[0], "to": ends[1], "segments": cells[0], "radius": radius } });
                Some(Shape { mesh, measure: size[0], placement: Placement::default() })
            }
            ("gmsh" | "mesh", 2 | 3) => {
                let Some(file) = flex.get("file") else {
                    draft.note(format!("flexcomp {name}: it names no file"));
                    return Ok(None);
                };
                let file = beside(&self.meshes, file);
                let scale = flex.vector("scale").unwrap_or([1.0; 3]);
                let placement = Placement { scale, ..frame.placement([0.0; 3]) };
                let (_, volume) = extent(&file)?;
                let mut mesh = json!({ "file": draft.path(&file) });
                let mut measure = volume * scale.iter().product::<f64>();
                if dim == 2 {
                    mesh["thickness"] = json!(thickness);
                    measure = area(&file)? * (scale[0] * scale[1] * scale[2]).powf(2.0 / 3.0);
                }
                Some(Shape { mesh, measure, placement })
            }
            (kind, dim) => {
                draft.note(format!("flexcomp {name}: type {kind} of dimension {dim}"));
                None
            }
        })
    }
}

/// Points and their distances along each axis.
fn grid(flex: &Element) -> ([usize; 3], [f64; 3]) {
    let count = flex.vector("count").unwrap_or([10.0; 3]).map(|n| n.clamp(1.0, 10_000.0) as usize);
    let spacing = flex.numbers("spacing").unwrap_or_default();
    let spacing = match spacing.as_slice() {
        [all] => [*all; 3],
        [x, y, z] => [*x, *y, *z],
        _ => [0.02; 3],
    };
    (count, spacing)
}

fn area(file: &std::path::Path) -> Result<f64, ExchangeError> {
    use lilyan_mesh_io::readers::{Loaded, read};
    Ok(match read(file)? {
        Loaded::Surface(surface, _) => surface.area(),
        Loaded::Tets(mesh, _) => mesh.surface().face_areas(&mesh.vertices).iter().sum(),
    })
}

/// Pinned points of a grid: by their places, since numbers differ.
fn pins(flex: &Element, name: &str, frame: &Frame, draft: &mut Draft) {
    let (count, spacing) = grid(flex);
    let is_grid = flex.get("type").unwrap_or("grid") == "grid";
    let mut ids: Vec<usize> = Vec::new();
    for pin in flex.all("pin") {
        let list = |key: &str| {
            pin.numbers(key).unwrap_or_default().into_iter().map(|x| x as usize).collect::<Vec<_>>()
        };
        ids.extend(list("id"));
        for pair in list("range").chunks_exact(2) {
            ids.extend(pair[0]..=pair[1].min(pair[0] + 1_000_000));
        }
        let number = |c: &[usize]| (c[0] * count[1] + c[1]) * count[2] + c.get(2).copied().unwrap_or(0);
        let dim = flex.number("dim").unwrap_or(2.0) as usize;
        ids.extend(list("grid").chunks_exact(dim.clamp(1, 3)).map(|c| number(&[c, &[0, 0]].concat())));
        if pin.get("gridrange").is_some() {
            draft.note(format!("flexcomp {name}: a gridrange of pins"));
        }
    }
    if ids.is_empty() {
        return;
    }
    if !is_grid {
        draft.note(format!("flexcomp {name}: {} pins of a mesh by number", ids.len()));
        return;
    }
    let places = ids.iter().filter(|id| **id < count.iter().product()).map(|id| {
        let at = [id / (count[1] * count[2]), id / count[2] % count[1], id % count[2]];
        let x = std::array::from_fn(|k| spacing[k] * (at[k] as f64 - 0.5 * (count[k] - 1) as f64));
        json!({ "nearest": frame.place(x) })
    });
    let places: Vec<Value> = places.collect();
    draft.add("pin", json!({ "body": name, "where": places }));
}
