//! Bodies of springs or triangles: stiffness, mass and contact area of their parts.

use crate::document::SceneError;
use crate::schema::{BodySpec, Element, Field, FileSpec, Shape};
use crate::suggest;
use lilyan_solid::NetInput;
use lilyan_solid::elements::{MembraneModel, Spring, Triangle};
use lilyan_solid::materials::Given;
use lilyan_solid::mesh::Nodes;
use lilyan_solid::nets::{self, Sheet, Stretch};
use std::f64::consts::PI;
use std::sync::Arc;

/// A network and the constants it was made with.
pub(super) struct Net {
    pub input: NetInput,
    /// Pa, where given.
    pub young: Option<f64>,
    /// λ of the springs (N), where given.
    pub lambda: Option<f64>,
    /// kg/m³, where given.
    pub density: Option<f64>,
}

/// The network of a body.
pub(super) fn net(spec: &BodySpec, nodes: &Arc<Nodes>) -> Result<Net, SceneError> {
    let material = &spec.material;
    if let Some(region) = material.regions.first() {
        return Err(region.mark.error("regions are for bodies of tets; write a second body instead"));
    }
    let one = |field: &Option<Field>, name: &str| match field {
        None => Ok(None),
        Some(field) => match field.constant() {
            Some(value) => Ok(Some(value)),
            None => Err(material.mark.error(format!("{name}: springs and membranes take one number"))),
        },
    };
    let base = &material.base;
    let young = one(&base.young, "E")?;
    let (lambda, mu) = (one(&base.lambda, "lambda")?, one(&base.mu, "mu")?);
    let poisson = one(&base.poisson, "nu")?;
    let density = one(&base.density, "rho")?;
    material.check_extra(&[])?;

    let mut input = NetInput {
        name: spec.name.clone(),
        nodes: nodes.clone(),
        masses: vec![0.0; nodes.len()],
        ..NetInput::default()
    };
    if spec.element != Element::Springs {
        let given = match (young, poisson, lambda, mu) {
            (Some(E), Some(nu), ..) => Given::from_young(E, nu).map_err(|e| e.to_string()),
            (_, _, Some(lambda), Some(mu)) => Given::from_lame(lambda, mu).map_err(|e| e.to_string()),
            _ => Err("give E and nu, or lambda and mu".to_string()),
        };
        let given = given.map_err(|e| material.mark.error(e))?;
        membrane(spec, nodes, &given, &mut input)?;
        let young = Some(given.E);
        add_masses(spec, nodes, density, &mut input)?;
        if let (Element::Dg, Shape::Cloth { bending, .. }) = (spec.element, &spec.mesh.shape)
            && *bending > 0.0
        {
            return Err(spec.mesh.mark.error(
                "discontinuous triangles do not resist bending; leave it out, or use element = \"membrane\"",
            ));
        }
        bend(spec, nodes, &mut input);
        return Ok(Net { input, young, lambda: None, density });
    }
    if material.model != "springs" {
        return Err(material.model_mark.error(format!(
            "a network of springs has model = \"springs\", not \"{}\"; or choose another `element`",
            material.model
        )));
    }
    if poisson.is_some() || mu.is_some() {
        return Err(material.mark.error("springs take lambda (N) or E (Pa) alone; leave out nu and mu"));
    }
    let stretch = match (young, lambda) {
        (Some(E), None) => Stretch::Young(E),
        (None, Some(lambda)) if lambda > 0.0 => Stretch::Lambda(lambda),
        (None, Some(_)) => return Err(material.mark.error("lambda must be positive, in N")),
        _ if edges_of(spec) == Some(0) => Stretch::Lambda(1.0),
        _ => {
            return Err(material.mark.or(&spec.mark).error(
                "springs need a stiffness: lambda = 100 (N, force per strain of each spring) or E = 1e6 (Pa); \
                 write for example material = { model = \"springs\", lambda = 100, rho = 1000 }",
            ));
        }
    };
    input.springs = springs(spec, nodes, stretch)?;
    if let Some(flat) = input.springs.iter().find(|s| s.length <= 0.0 || !s.length.is_finite()) {
        let [a, b] = flat.ends;
        return Err(spec.mesh.mark.error(format!(
            "the spring between points {a} and {b} has no length at rest; move one of them"
        )));
    }
    add_masses(spec, nodes, density, &mut input)?;
    bend(spec, nodes, &mut input);
    Ok(Net { input, young, lambda, density })
}

/// How many edges a set of points was given.
fn edges_of(spec: &BodySpec) -> Option<usize> {
    match &spec.mesh.shape {
        Shape::Points { edges, .. } => Some(edges.len()),
        _ => None,
    }
}

fn sheet(cells: [u32; 2]) -> Sheet {
    Sheet { cells: cells.map(|c| c as usize) }
}

fn springs(spec: &BodySpec, nodes: &Arc<Nodes>, stretch: Stretch) -> Result<Vec<Spring>, SceneError> {
    let vertices = nodes.points();
    Ok(match &spec.mesh.shape {
        Shape::Rope { radius, .. } => nets::rope_springs(vertices, stretch, PI * radius * radius),
        Shape::Cloth { cells, thickness, .. } => {
            let made = sheet(*cells).springs(vertices, stretch, *thickness);
            made.map_err(|e| spec.mesh.mark.error(e.to_string()))?
        }
        Shape::Points { edges, radius, .. } => {
            let section = radius.map_or(0.0, |r| PI * r * r);
            let lambda = match stretch {
                Stretch::Lambda(lambda) => lambda,
                Stretch::Young(_) if section == 0.0 => {
                    return Err(spec
                        .mesh
                        .mark
                        .error("E needs a section: give the points a radius, or lambda"));
                }
                Stretch::Young(E) => E * section,
            };
            let place = |v: u32| vertices[v as usize];
            let length = |[a, b]: [u32; 2]| distance(place(a), place(b));
            edges.iter().map(|&ends| Spring { ends, lambda, length: length(ends), section }).collect()
        }
        _ if nodes.tets().is_empty() => {
            nets::triangle_springs(vertices, &nodes.surface().triangles, stretch, thickness(spec)?)
        }
        _ => nets::tet_springs(nodes.mesh(), stretch),
    })
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

/// Of a cloth, or of a surface from a file.
fn thickness(spec: &BodySpec) -> Result<f64, SceneError> {
    match spec.mesh.shape {
        Shape::Cloth { thickness, .. } | Shape::File(FileSpec { thickness: Some(thickness), .. }) => {
            Ok(thickness)
        }
        _ => Err(spec.mesh.mark.error("a surface needs a thickness: write thickness = 0.001 (m)")),
    }
}

fn membrane(
    spec: &BodySpec,
    nodes: &Arc<Nodes>,
    given: &Given,
    input: &mut NetInput,
) -> Result<(), SceneError> {
    let Some(model) = MembraneModel::find(&spec.material.model) else {
        let known = MembraneModel::NAMES.map(|m| m.0);
        let name = &spec.material.model;
        return Err(spec.material.model_mark.error(suggest::unknown("membrane model", name, &known)));
    };
    let thickness = thickness(spec)?;
    let triangle = |t: &[u32; 3]| Triangle::new(*t, t.map(|v| nodes.points()[v as usize]), thickness, given);
    let triangles: Vec<Triangle> = nodes.surface().triangles.iter().map(triangle).collect();
    if let Some(flat) = triangles.iter().position(|t| !(t.area > 0.0 && t.area.is_finite())) {
        return Err(spec.mesh.mark.error(format!("triangle {flat} has no area; repair the mesh")));
    }
    input.membrane = Some((model, triangles));
    Ok(())
}

/// Resistance to bending, of ropes and cloth.
fn bend(spec: &BodySpec, nodes: &Arc<Nodes>, input: &mut NetInput) {
    let vertices = nodes.points();
    input.bends = match spec.mesh.shape {
        Shape::Rope { bending, .. } if bending > 0.0 => nets::rope_bends(vertices, bending),
        Shape::Cloth { cells, bending, .. } if bending > 0.0 => sheet(cells).bends(vertices, bending),
        _ => Vec::new(),
    };
}

/// Masses, and the areas of what has no triangles.
fn add_masses(
    spec: &BodySpec,
    nodes: &Arc<Nodes>,
    density: Option<f64>,
    input: &mut NetInput,
) -> Result<(), SceneError> {
    if let Shape::Points { masses, radius, .. } = &spec.mesh.shape {
        if let Some(r) = radius {
            input.areas = vec![PI * r * r; input.masses.len()];
        }
        if !masses.is_empty() {
            input.masses.clone_from(masses);
            return Ok(());
        }
        if radius.is_none() {
            return Err(spec.mesh.mark.error("points need masses = [1, …] (kg), or a radius (m) and rho"));
        }
    }
    let Some(rho) = density else {
        return Err(spec.material.mark.or(&spec.mark).error("needs a density: rho = 1000 (kg/m³)"));
    };
    let vertices = nodes.points();
    if !nodes.tets().is_empty() {
        for (tet, volume) in nodes.tets().iter().zip(nodes.mesh().signed_volumes()) {
            tet.iter().for_each(|v| input.masses[*v as usize] += 0.25 * rho * volume.abs());
        }
    } else if !nodes.surface().triangles.is_empty() {
        let thickness = thickness(spec)?;
        let areas = nodes.surface().nodal_areas(vertices);
        input.masses.iter_mut().zip(areas).for_each(|(m, area)| *m = rho * thickness * area);
    } else {
        // A rope touches with its shadow: its diameter times its length.
        let radius = match spec.mesh.shape {
            Shape::Rope { radius, .. } => radius,
            Shape::Points { radius, .. } => radius.unwrap_or(0.0),
            _ => 0.0,
        };
        input.areas = vec![0.0; vertices.len()];
        for spring in &input.springs {
            for v in spring.ends.map(|v| v as usize) {
                input.masses[v] += 0.5 * rho * spring.section * spring.length;
                input.areas[v] += radius * spring.length;
            }
        }
    }
    if let Some(v) = input.masses.iter().position(|m| *m <= 0.0) {
        return Err(spec
            .mesh
            .mark
            .error(format!("vertex {v} belongs to nothing and has no mass; remove it")));
    }
    Ok(())
}
