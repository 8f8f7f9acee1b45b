//! `lilyan check`.

use super::load;
use crate::failure::Done;
use crate::output;
use lilyan_dynamics::System;
use lilyan_dynamics::integrators::Pace;
use lilyan_scene::build::BuiltBody;
use lilyan_scene::diagnose;
use lilyan_scene::writers::vtu::Cells;
use serde_json::{Value, json};

/// Read and diagnose a scene without running it.
#[derive(clap::Args)]
#[command(after_help = "Example: lilyan check steel-cantilever")]
pub struct Arguments {
    /// Scene file or name of a built-in scene
    scene: String,
    /// Sets a key of the scene
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// How many of the lowest modes to look at
    #[arg(short = 'n', long, default_value_t = 3)]
    modes: usize,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Done {
    let (scene, built) = load(&arguments.scene, &arguments.set)?;
    let mut warnings = built.warnings.clone();
    let mut lines = vec![format!("{}: {}", arguments.scene, scene.title)];

    let mut bodies = Vec::new();
    for (body, of_model) in built.bodies.iter().zip(built.simulation.system.bodies()) {
        if body.is_net() {
            let (line, told) = net(body, of_model, built.simulation.system.node_masses());
            lines.push(line);
            bodies.push(told);
            continue;
        }
        let quality = body.mesh.quality();
        let [low, high] = quality.bounds;
        lines.push(format!(
            "body {}: {} vertices, {} tets, {:.4} × {:.4} × {:.4} m, {:.4e} m³, dihedral angles {:.1}° to {:.1}°, {} piece{}",
            body.name,
            quality.vertices,
            quality.tets,
            high[0] - low[0],
            high[1] - low[1],
            high[2] - low[2],
            quality.volume,
            quality.min_dihedral,
            quality.max_dihedral,
            quality.components,
            if quality.components == 1 { "" } else { "s" },
        ));
        if quality.min_dihedral < 2.0 {
            warnings.push(format!(
                "body \"{}\" has slivers: smallest dihedral angle {:.2}° at element {}; they make explicit \
                 steps short and implicit solves slow",
                body.name,
                quality.min_dihedral,
                quality.worst.first().map_or(0, |w| w.tet)
            ));
        }
        bodies.push(json!({
            "name": body.name,
            "vertices": quality.vertices,
            "elements": quality.tets,
            "volume": quality.volume,
            "size": [high[0] - low[0], high[1] - low[1], high[2] - low[2]],
            "min_dihedral_degrees": quality.min_dihedral,
            "max_dihedral_degrees": quality.max_dihedral,
            "pieces": quality.components,
            "model": body.model,
            "E": body.young,
            "rho": body.density,
        }));
    }

    let spectrum = spectrum(&scene, &built, arguments.modes, &mut lines, &mut warnings);
    warnings.extend(diagnose::step_warnings(&scene, &built));
    let memory = memory_mb(&built);
    lines.push(format!("memory: about {:.0} MB to run explicitly, {:.0} MB implicitly", memory.0, memory.1));
    lines.extend(built.notes.iter().map(|n| format!("note: {n}")));
    if arguments.json {
        output::json(&json!({
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
        }));
        return Ok(());
    }
    lines.iter().for_each(output::line);
    for warning in &warnings {
        output::line(format!("warning: {warning}"));
    }
    output::line(match warnings.len() {
        0 => "nothing to complain about".to_string(),
        1 => "1 warning".to_string(),
        n => format!("{n} warnings"),
    });
    Ok(())
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
    scene: &lilyan_scene::schema::Scene,
    built: &lilyan_scene::build::Built,
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
    let mut lowest = Vec::new();
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
        if per_period.is_some_and(|loss| loss > 0.05) {
            warnings.push(format!(
                "{} will damp mode {} by {:.0} % per period at this step, whatever the material says; \
                 shorten time.step or use \"energy-momentum\"",
                scene.integrator.name,
                lowest.len() + 1,
                100.0 * per_period.unwrap_or(0.0)
            ));
        }
        lowest.push(json!({
            "hz": omega / two_pi,
            "amplitude_lost_per_period": per_period,
            "growth_per_step": response.map(|r| r.growth),
            "frequency_ratio": shift,
        }));
    }
    json!({ "highest_hz": highest / two_pi, "stable_steps": steps, "lowest": lowest })
}

/// Estimates of memory, MB: explicitly ~250 bytes a tet, implicitly the Cholesky factor on top.
fn memory_mb(built: &lilyan_scene::build::Built) -> (f64, f64) {
    let tets: usize = built.simulation.system.bodies().iter().map(|b| b.tets.len()).sum();
    let explicit = 10.0 + 350.0 * tets as f64 / 1e6;
    let dofs = built.simulation.system.dofs() as f64;
    // Nested dissection in 3-D: nonzeros of the factor grow like n^(4/3).
    let factor = 8.0 * 9.0 * 1.1 * (dofs / 3.0).powf(4.0 / 3.0);
    let blocks = 2.0 * 72.0 * built.simulation.system.pattern().len() as f64;
    (explicit, explicit + (factor + blocks + 760.0 * tets.min(1 << 14) as f64) / 1e6)
}
