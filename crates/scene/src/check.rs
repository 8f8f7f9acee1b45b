//! What `lilyan check` tells: a scene diagnosed without running it.

use crate::build::{Built, BuiltBody};
use crate::diagnose;
use crate::schema::Scene;
use crate::writers::vtu::Cells;
use lilyan_dynamics::System;
use lilyan_dynamics::integrators::Pace;
use serde_json::{Value, json};

/// A diagnosis.
pub struct Checked {
    /// In words, a line for each fact.
    pub lines: Vec<String>,
    /// What the user should do something about.
    pub warnings: Vec<String>,
    /// All of it as data.
    pub report: Value,
}

/// Diagnoses a scene; `count` of the lowest modes are looked at.
pub fn check(scene: &Scene, built: &Built, count: usize) -> Checked {
    let mut warnings = built.warnings.clone();
    let mut lines = Vec::new();
    let mut bodies = Vec::new();
    for (body, of_model) in built.bodies.iter().zip(built.simulation.system.bodies()) {
        let (line, told) = match body.is_net() {
            true => net(body, of_model, built.simulation.system.node_masses()),
            false => solid(body, &mut warnings),
        };
        lines.push(line);
        bodies.push(told);
    }
    let spectrum = spectrum(scene, built, count, &mut lines, &mut warnings);
    warnings.extend(diagnose::step_warnings(scene, built));
    let memory = memory_mb(built);
    lines.push(format!("memory: about {:.0} MB to run explicitly, {:.0} MB implicitly", memory.0, memory.1));
    lines.extend(built.notes.iter().map(|n| format!("note: {n}")));
    let report = json!({
        "title": scene.title,
        "bodies": bodies,
        "steps": scene.time.steps(),
        "spectrum": spectrum,
        "memory_mb": { "explicit": memory.0, "implicit": memory.1 },
        "conserved": {
            "energy": built.conserved.energy,
            "linear_momentum": built.conserved.linear,
            "angular_momentum": built.conserved.angular,
        },
        "warnings": warnings,
        "notes": built.notes,
    });
    Checked { lines, warnings, report }
}

/// What there is to say of a body of tets.
fn solid(body: &BuiltBody, warnings: &mut Vec<String>) -> (String, Value) {
    let quality = body.mesh.quality();
    let [low, high] = quality.bounds;
    let size: [f64; 3] = std::array::from_fn(|k| high[k] - low[k]);
    let line = format!(
        "body {}: {} vertices, {} tets, {:.4} × {:.4} × {:.4} m, {:.4e} m³, dihedral angles {:.1}° to {:.1}°, {} piece{}",
        body.name,
        quality.vertices,
        quality.tets,
        size[0],
        size[1],
        size[2],
        quality.volume,
        quality.min_dihedral,
        quality.max_dihedral,
        quality.components,
        if quality.components == 1 { "" } else { "s" },
    );
    if quality.min_dihedral < 2.0 {
        warnings.push(format!(
            "body \"{}\" has slivers: smallest dihedral angle {:.2}° at element {}; they make explicit \
             steps short and implicit solves slow",
            body.name,
            quality.min_dihedral,
            quality.worst.first().map_or(0, |w| w.tet)
        ));
    }
    let told = json!({
        "name": body.name,
        "vertices": quality.vertices,
        "elements": quality.tets,
        "volume": quality.volume,
        "size": size,
        "min_dihedral_degrees": quality.min_dihedral,
        "max_dihedral_degrees": quality.max_dihedral,
        "pieces": quality.components,
        "model": body.model,
        "E": body.young,
        "rho": body.density,
    });
    (line, told)
}

/// What there is to say of a body of springs or triangles.
fn net(body: &BuiltBody, of_model: &lilyan_solid::Body, masses: &[f64]) -> (String, Value) {
    let cells = Cells::of(std::slice::from_ref(of_model));
    let [low, high] = body.mesh.bounds().unwrap_or_default();
    let size: [f64; 3] = std::array::from_fn(|k| high[k] - low[k]);
    let mass: f64 = masses[of_model.nodes.clone()].iter().sum();
    let vertices = body.mesh.vertices.len();
    let (name, told) = (&body.name, cells.describe());
    let line = format!(
        "body {name}: {vertices} vertices, {told}, {:.4} × {:.4} × {:.4} m, {mass:.4e} kg",
        size[0], size[1], size[2]
    );
    let json = json!({
        "name": name,
        "vertices": vertices,
        "elements": cells.len(),
        "size": size,
        "mass": mass,
        "model": body.model,
        "E": body.young,
        "lambda": body.lambda,
        "rho": body.density,
    });
    (line, json)
}

/// Frequencies, stable steps, numerical damping of the lowest modes.
fn spectrum(
    scene: &Scene,
    built: &Built,
    count: usize,
    lines: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> Value {
    let two_pi = 2.0 * std::f64::consts::PI;
    if diagnose::free_unknowns(built) == 0 {
        warnings.push("every vertex is pinned or bound: nothing can move; pin fewer".into());
        return Value::Null;
    }
    let bound = !scene.constraints.is_empty();
    let Some(highest) = diagnose::largest_frequency(built) else {
        if bound {
            lines.push("no vibration: what the constraints leave free meets no stiffness at rest".into());
            return Value::Null;
        }
        warnings.push("the highest frequency could not be found".into());
        return Value::Null;
    };
    let among = if bound { ", with constraints kept" } else { "" };
    lines.push(format!("highest frequency: {:.4e} Hz{among}", highest / two_pi));
    let mut steps = serde_json::Map::new();
    let mut told = Vec::new();
    for (name, step) in diagnose::stable_steps(highest) {
        told.push(match step {
            Some(step) => format!("{name} {step:.4e} s"),
            None => format!("{name} none"),
        });
        steps.insert(name.into(), json!(step));
    }
    lines.push(format!("stable explicit steps: {}", told.join(", ")));

    // Free bodies have six zero modes each, and what hangs on constraints may have some; look past them.
    let rigid = if scene.pins.is_empty() || bound { 6 * built.bodies.len() } else { 0 };
    let q = diagnose::rest_positions(built);
    let wanted = (rigid + count).min(diagnose::free_unknowns(built));
    let modes = match diagnose::modes(built, &q, wanted) {
        Ok(modes) => modes,
        Err(e) => {
            warnings.push(format!("the lowest frequencies could not be found: {e}"));
            return json!({ "highest_hz": highest / two_pi, "stable_steps": steps });
        }
    };
    let threshold = 1e-8 * highest * highest;
    let (mut lowest, mut damped) = (Vec::new(), Vec::new());
    for value in modes.values.iter().filter(|v| **v > threshold).take(count) {
        let omega = value.sqrt();
        let period = two_pi / omega;
        let response = diagnose::mode_response(scene, omega);
        let per_period = response.map(|r| 1.0 - r.growth.powf(period / scene.time.step));
        let shift = response.and_then(|r| r.frequency_ratio);
        lines.push(format!(
            "mode {}: {:.6} Hz, {:.1} steps per period; {} {}",
            lowest.len() + 1,
            omega / two_pi,
            period / scene.time.step,
            scene.integrator.name,
            match (per_period, shift) {
                (Some(loss), Some(shift)) => format!(
                    "takes {:.2} % of its amplitude per period and runs it at {:.2} % of its frequency",
                    100.0 * loss,
                    100.0 * shift
                ),
                (Some(_), None) => "no longer lets it oscillate".to_string(),
                _ if built.simulation.integrator.pace() != Pace::Fixed => "chooses its own steps".to_string(),
                _ => "cannot step it".to_string(),
            }
        ));
        damped.extend(per_period.filter(|loss| *loss > 0.05).map(|loss| (lowest.len() + 1, loss)));
        lowest.push(json!({
            "hz": omega / two_pi,
            "amplitude_lost_per_period": per_period,
            "growth_per_step": response.map(|r| r.growth),
            "frequency_ratio": shift,
        }));
    }
    if let [(mode, loss), more @ ..] = &damped[..] {
        let most = more.iter().map(|m| m.1).fold(0.0, f64::max);
        let more = match more.len() {
            0 => String::new(),
            n => format!(", and {n} more by up to {:.0} %", 100.0 * most),
        };
        warnings.push(format!(
            "{} will damp mode {mode} by {:.0} % per period at this step{more}, whatever the material says; \
             shorten time.step or use \"energy-momentum\"",
            scene.integrator.name,
            100.0 * loss
        ));
    }
    json!({ "highest_hz": highest / two_pi, "stable_steps": steps, "lowest": lowest })
}

/// Estimates of memory, MB: explicitly ~250 bytes a tet, implicitly the Cholesky factor on top.
fn memory_mb(built: &Built) -> (f64, f64) {
    let tets: usize = built.simulation.system.bodies().iter().map(|b| b.tets.len()).sum();
    let explicit = 10.0 + 350.0 * tets as f64 / 1e6;
    let dofs = built.simulation.system.dofs() as f64;
    // Nested dissection in 3-D: nonzeros of the factor grow like n^(4/3).
    let factor = 8.0 * 9.0 * 1.1 * (dofs / 3.0).powf(4.0 / 3.0);
    let blocks = 2.0 * 72.0 * built.simulation.system.pattern().len() as f64;
    (explicit, explicit + (factor + blocks + 760.0 * tets.min(1 << 14) as f64) / 1e6)
}
