//! What acts on bodies: gravity, loads, pins, contact.

use super::{BuiltBody, select};
use crate::document::SceneError;
use crate::schema::{ContactKind, ContactSpec, LoadKind, LoadSpec, PinSpec, Quantity, Scene};
use lilyan_solid::potentials::Shape;
use lilyan_solid::{ModelBuilder, Pin};

pub(super) fn add(scene: &Scene, bodies: &[BuiltBody], builder: &mut ModelBuilder) -> Result<(), SceneError> {
    if let Some(gravity) = &scene.environment.gravity {
        add_gravity(gravity, builder);
    }
    if let Some(monopole) = &scene.environment.monopole {
        builder.monopole(monopole.strength, monopole.at);
    }
    for contact in &scene.contacts {
        add_contact(contact, bodies, builder)?;
    }
    for pin in &scene.pins {
        builder.pin(resolve_pin(pin, &bodies[pin.body])?);
    }
    for load in &scene.loads {
        add_load(load, &bodies[load.body], builder)?;
    }
    Ok(())
}

fn add_gravity(gravity: &[Quantity; 3], builder: &mut ModelBuilder) {
    let constant: Vec<f64> = gravity.iter().filter_map(Quantity::constant).collect();
    if let [x, y, z] = constant[..] {
        builder.gravity([x, y, z]);
        return;
    }
    // Gravity that changes does work: a load on every node.
    let (gravity, masses) = (gravity.clone(), builder.node_masses().to_vec());
    builder.load(Box::new(move |t, f| {
        let g: [f64; 3] = std::array::from_fn(|k| gravity[k].eval(&[t]));
        for (f, m) in f.chunks_exact_mut(3).zip(&masses) {
            for k in 0..3 {
                f[k] += m * g[k];
            }
        }
    }));
}

/// Stiffness of a contact that gives none: a layer as thick as a tenth of the body, made of its material.
fn stiffness_of(bodies: &[BuiltBody]) -> f64 {
    let one = |b: &BuiltBody| {
        let [low, high] = b.mesh.bounds().unwrap_or([[0.0; 3], [1.0; 3]]);
        let size = (0..3).map(|k| high[k] - low[k]).fold(f64::INFINITY, f64::min);
        10.0 * b.young[1] / size.max(f64::MIN_POSITIVE)
    };
    bodies.iter().filter(|b| !b.is_net()).map(one).fold(0.0, f64::max)
}

/// Thickness of a contact layer that gives none: a fifth of the mean edge.
fn thickness_of(bodies: &[BuiltBody]) -> f64 {
    let solid = |b: &BuiltBody| b.mesh.quality().mean_edge;
    let net = |b: &BuiltBody| {
        let triangles = b.surface.triangles.len() as f64;
        // The edge of as many equal triangles with as much area.
        (b.surface.face_areas(&b.mesh.vertices).iter().sum::<f64>() / triangles * 4.0 / 3f64.sqrt()).sqrt()
    };
    let edges = bodies.iter().map(|b| if b.mesh.tets.is_empty() { net(b) } else { solid(b) });
    // Ropes have no triangles, and so no number.
    0.2 * edges.filter(|e| e.is_finite()).fold(f64::INFINITY, f64::min)
}

fn add_contact(
    contact: &ContactSpec,
    bodies: &[BuiltBody],
    builder: &mut ModelBuilder,
) -> Result<(), SceneError> {
    let stiffness = contact.stiffness.unwrap_or_else(|| stiffness_of(bodies));
    if stiffness == 0.0 {
        return Err(contact
            .mark
            .error("needs a stiffness where there are only nets: stiffness = 1e5 (Pa/m)"));
    }
    let surface = builder.surface();
    if let Some(body) = bodies.iter().find(|b| !surface.iter().any(|(n, _)| b.has(*n))) {
        return Err(contact.mark.error(format!(
            "body \"{}\" has points without size, which touch nothing; give them a radius (m)",
            body.name
        )));
    }
    match contact.kind {
        ContactKind::Plane { point, normal } => {
            builder.obstacle(Shape::Plane { point, normal }, stiffness);
        }
        ContactKind::Sphere { center, radius, inside } => {
            builder.obstacle(Shape::Sphere { center, radius, inside }, stiffness);
        }
        ContactKind::Bodies { between, thickness } => {
            let thickness = thickness.unwrap_or_else(|| thickness_of(bodies));
            let made = builder.contact_between(between.map(|[a, b]| (a, b)), stiffness, thickness);
            made.map_err(|e| contact.mark.error(e.to_string()))?;
        }
        ContactKind::Itself { body, thickness } => {
            let thickness = thickness.unwrap_or_else(|| thickness_of(bodies));
            let made = builder.contact_self(body, stiffness, thickness);
            made.map_err(|e| contact.mark.error(e.to_string()))?;
        }
    }
    Ok(())
}

fn resolve_pin(spec: &PinSpec, body: &BuiltBody) -> Result<Pin, SceneError> {
    let mask = select::vertices(&spec.selector, &body.mesh, &body.surface, &spec.mark)?;
    let nodes = (0..mask.len()).filter(|v| mask[*v]).map(|v| (body.first_node + v) as u32);
    let motion = spec.motion.clone().map(|motion| -> lilyan_solid::Motion {
        Box::new(move |t| {
            let both: [(f64, f64); 3] = std::array::from_fn(|k| motion[k].eval_dual(&[t], 0));
            (both.map(|b| b.0), both.map(|b| b.1))
        })
    });
    Ok(Pin { nodes: nodes.collect(), axes: spec.axes, motion, until: spec.until.unwrap_or(f64::INFINITY) })
}

fn add_load(spec: &LoadSpec, body: &BuiltBody, builder: &mut ModelBuilder) -> Result<(), SceneError> {
    let mask = select::vertices(&spec.selector, &body.mesh, &body.surface, &spec.mark)?;
    let count = body.mesh.vertices.len();
    // What one unit of the load is at each vertex: N, m² (traction), m³ (body force), kg (acceleration).
    let weights: Vec<f64> = match spec.kind {
        LoadKind::Force => {
            let shared = mask.iter().filter(|m| **m).count() as f64;
            mask.iter().map(|m| if *m { 1.0 / shared } else { 0.0 }).collect()
        }
        LoadKind::Traction => {
            // Faces all of whose corners are selected.
            let mut weights = vec![0.0; count];
            let areas = body.surface.face_areas(&body.mesh.vertices);
            for (face, area) in body.surface.triangles.iter().zip(areas) {
                if face.iter().all(|v| mask[*v as usize]) {
                    for v in face {
                        weights[*v as usize] += area / 3.0;
                    }
                }
            }
            weights
        }
        LoadKind::BodyForce if body.is_net() => {
            let masses = &builder.node_masses()[body.first_node..body.first_node + count];
            let rho = body.density[0];
            if rho <= 0.0 {
                return Err(spec
                    .mark
                    .error("points with given masses have no volume; use force or acceleration"));
            }
            mask.iter().zip(masses).map(|(m, mass)| if *m { mass / rho } else { 0.0 }).collect()
        }
        LoadKind::BodyForce => {
            let mut weights = vec![0.0; count];
            for (tet, volume) in body.mesh.tets.iter().zip(body.mesh.signed_volumes()) {
                for v in tet.iter().filter(|v| mask[**v as usize]) {
                    weights[*v as usize] += 0.25 * volume;
                }
            }
            weights
        }
        LoadKind::Acceleration => {
            let masses = &builder.node_masses()[body.first_node..body.first_node + count];
            mask.iter().zip(masses).map(|(m, mass)| if *m { *mass } else { 0.0 }).collect()
        }
    };
    if weights.iter().all(|w| *w == 0.0) {
        return Err(spec.mark.error("`where` selects no complete face of the surface; a traction needs one"));
    }
    let nodes: Vec<(usize, f64, [f64; 3])> = (0..count)
        .filter(|v| weights[*v] != 0.0)
        .map(|v| (3 * (body.first_node + v), weights[v], body.mesh.vertices[v]))
        .collect();
    let value = spec.value.clone();
    builder.load(Box::new(move |t, f| {
        for (dof, weight, x) in &nodes {
            for k in 0..3 {
                f[dof + k] += weight * value[k].eval(&[x[0], x[1], x[2], t]);
            }
        }
    }));
    Ok(())
}
