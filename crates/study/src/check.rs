//! `lilyan check`: the diagnosis of a scene without running it.

use crate::diagnose;
use crate::forecast::{self, ModeForecast};
use crate::mesh_error::{self, MeshReport};
use lilyan_dynamics::analysis::assembled::ModeShape;
use lilyan_dynamics::integrators::StepLength;
use lilyan_dynamics::{System, spectrum};
use lilyan_report::short;
use lilyan_scene::build::{Built, BuiltBody, Conserved};
use lilyan_scene::schema::Scene;
use lilyan_solid::output;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A diagnosis, in words and as data.
pub struct Checked {
    /// In words, a line for each fact.
    pub lines: Vec<String>,
    /// The facts.
    pub report: CheckReport,
}

/// The facts of a diagnosis: what `lilyan check --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    /// Title of the scene.
    pub title: String,
    /// Each body.
    pub bodies: Vec<BodyReport>,
    /// Steps of a run.
    pub steps: u64,
    /// Frequencies and stable steps; absent where nothing can vibrate.
    pub spectrum: Option<SpectrumReport>,
    /// The error of the mesh, by linear and quadratic tets on it; absent where it would take long to measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mesh: Option<MeshReport>,
    /// Condition of the matrices of implicit steps; absent where nothing can vibrate, or under constraints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<ConditionReport>,
    /// Memory of a run, MB.
    pub memory_mb: MemoryReport,
    /// What physics keeps constant.
    pub conserved: ConservedReport,
    /// Momenta that forces from outside leave as they are, in words.
    #[serde(default)]
    pub conserved_momenta: Vec<String>,
    /// What the user should do something about.
    pub warnings: Vec<String>,
    /// What was done to the scene on the way in.
    pub notes: Vec<String>,
}

/// A body of tets, or one of springs or triangles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BodyReport {
    /// Tets.
    Solid(SolidReport),
    /// Springs or triangles.
    Net(NetReport),
}

/// A body of tets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SolidReport {
    /// Its name.
    pub name: String,
    /// Number of vertices.
    pub vertices: usize,
    /// Number of tets.
    pub elements: usize,
    /// m³.
    pub volume: f64,
    /// Lengths of its bounding box, m.
    pub size: [f64; 3],
    /// Smallest dihedral angle of a tet, degrees.
    pub min_dihedral_degrees: f64,
    /// Largest dihedral angle of a tet, degrees.
    pub max_dihedral_degrees: f64,
    /// Pieces that share no face.
    pub pieces: usize,
    /// Material model.
    pub model: String,
    /// Smallest and largest Young's modulus, Pa.
    #[serde(rename = "E")]
    pub young: [f64; 2],
    /// Smallest and largest density, kg/m³.
    pub rho: [f64; 2],
}

/// A body of springs or triangles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetReport {
    /// Its name.
    pub name: String,
    /// Number of vertices.
    pub vertices: usize,
    /// Number of springs and triangles.
    pub elements: usize,
    /// Lengths of its bounding box, m.
    pub size: [f64; 3],
    /// kg.
    pub mass: f64,
    /// Material model.
    pub model: String,
    /// Smallest and largest Young's modulus, Pa.
    #[serde(rename = "E")]
    pub young: [f64; 2],
    /// λ of springs that were given it, N.
    pub lambda: Option<f64>,
    /// Smallest and largest density, kg/m³.
    pub rho: [f64; 2],
}

/// Frequencies at rest, and what they mean for steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpectrumReport {
    /// The highest frequency of the mesh, Hz.
    pub highest_hz: f64,
    /// The longest stable step of each explicit method by its name, s; `None` where it has none.
    pub stable_steps: BTreeMap<String, Option<f64>>,
    /// The lowest modes that are not rigid; absent where they could not be found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowest: Option<Vec<ModeReport>>,
    /// A small motion in which all modes take part; absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub small_motion: Option<SmallMotionReport>,
}

/// What the integrator of the scene does to a mode at the step of the scene.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModeReport {
    /// Frequency, Hz.
    pub hz: f64,
    /// Share of the amplitude that the method takes per period.
    pub amplitude_lost_per_period: Option<f64>,
    /// Share of the amplitude that damping of the material takes per period.
    #[serde(default)]
    pub amplitude_lost_to_damping_per_period: Option<f64>,
    /// Factor on the amplitude per step, with damping.
    pub growth_per_step: Option<f64>,
    /// Frequency of the motion over that of the mode.
    pub frequency_ratio: Option<f64>,
    /// Whether the mode changes its sign in every step instead of oscillating.
    #[serde(default)]
    pub flips: bool,
}

/// What the integrator of the scene makes of a small motion in which all modes take part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SmallMotionReport {
    /// Factor on the amplitude per step, of what is left after many steps.
    pub growth_per_step: f64,
    /// Whether it changes its sign in every step.
    pub flips: bool,
    /// Whether it grows without bound.
    pub unstable: bool,
}

/// Condition numbers at rest in the 1-norm, estimated, at the step of the scene: how hard the systems of implicit steps are to
/// solve by iteration \[chen2019, Fig. 2.1\].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConditionReport {
    /// Of 1 + h²M⁻¹K, for backward Euler.
    pub backward_euler: f64,
    /// Of 1 + ¼h²M⁻¹K, for the midpoint rule.
    pub midpoint: f64,
}

/// Estimates of memory, MB.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryReport {
    /// With an explicit method.
    pub explicit: f64,
    /// With an implicit method.
    pub implicit: f64,
}

/// What physics keeps constant in a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConservedReport {
    /// Energy.
    pub energy: bool,
    /// Linear momentum.
    pub linear_momentum: bool,
    /// Angular momentum.
    pub angular_momentum: bool,
}

impl From<&Conserved> for ConservedReport {
    fn from(c: &Conserved) -> Self {
        Self { energy: c.energy, linear_momentum: c.linear, angular_momentum: c.angular }
    }
}

/// Diagnoses a scene; `count` of the lowest modes are looked at.
pub fn check(scene: &Scene, built: &Built, count: usize) -> Checked {
    let mut warnings = built.warnings.clone();
    let mut lines = Vec::new();
    let mut bodies = Vec::new();
    let mesh = mesh_error::measure(scene, built, mesh_error::MOST_NODES_OF_CHECK);
    for (body, of_model) in built.bodies.iter().zip(built.simulation.system().bodies()) {
        let (line, told) = match body.is_net() {
            true => net(body, of_model, built.simulation.system().node_masses()),
            false => solid(body, mesh.is_none(), &mut warnings),
        };
        lines.push(line);
        bodies.push(told);
    }
    let spectrum = spectrum(scene, built, count, &mut lines, &mut warnings);
    lines.extend(mesh.map(|mesh| format!("mesh: {}", mesh.line())));
    warnings.extend(mesh.and_then(|mesh| mesh.warning()));
    warnings.extend(diagnose::step_warnings(scene, built));
    let condition = condition(scene, built);
    lines.extend(condition.map(|c| {
        format!(
            "condition of the matrices of implicit steps: {} for backward Euler, {} for the midpoint rule",
            short(c.backward_euler),
            short(c.midpoint)
        )
    }));
    let memory = memory(built);
    lines.push(format!(
        "memory: about {:.0} MB to run explicitly, {:.0} MB implicitly",
        memory.explicit, memory.implicit
    ));
    lines.extend(built.notes.iter().map(|n| format!("note: {n}")));
    let report = CheckReport {
        title: scene.title.clone(),
        bodies,
        steps: scene.time.steps(),
        spectrum,
        mesh,
        condition,
        memory_mb: memory,
        conserved: (&built.conserved).into(),
        conserved_momenta: built.symmetries.iter().map(|s| s.name()).collect(),
        warnings,
        notes: built.notes.clone(),
    };
    Checked { lines, report }
}

/// What there is to say of a body of tets; `guess`: the error of its mesh is not measured.
fn solid(body: &BuiltBody, guess: bool, warnings: &mut Vec<String>) -> (String, BodyReport) {
    let quality = body.mesh().quality();
    let size: [f64; 3] = std::array::from_fn(|k| quality.bounds[1][k] - quality.bounds[0][k]);
    let volume = body.nodes().curved().map_or(quality.volume, |curved| curved.volumes.iter().sum());
    let line = format!(
        "body {}: {} vertices, {} tets, {} × {} × {} m, {} m³, dihedral angles {:.1}° to {:.1}°, {} piece{}",
        body.name,
        body.nodes().len(),
        quality.tets,
        short(size[0]),
        short(size[1]),
        short(size[2]),
        short(volume),
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
    warnings.extend(diagnose::bending_warning(body, size, quality.mean_edge).filter(|_| guess));
    let report = SolidReport {
        name: body.name.clone(),
        vertices: body.nodes().len(),
        elements: quality.tets,
        volume,
        size,
        min_dihedral_degrees: quality.min_dihedral,
        max_dihedral_degrees: quality.max_dihedral,
        pieces: quality.components,
        model: body.model.clone(),
        young: body.young,
        rho: body.density,
    };
    (line, BodyReport::Solid(report))
}

/// What there is to say of a body of springs or triangles.
fn net(body: &BuiltBody, of_model: &lilyan_solid::Body, masses: &[f64]) -> (String, BodyReport) {
    let cells = output::cells(std::slice::from_ref(of_model));
    let [low, high] = body.mesh().bounds().unwrap_or_default();
    let size: [f64; 3] = std::array::from_fn(|k| high[k] - low[k]);
    let mass: f64 = masses[of_model.dofs.range()].iter().sum();
    let vertices = body.nodes().len();
    let (name, told) = (&body.name, output::describe(&cells));
    let [x, y, z] = size.map(short);
    let line = format!("body {name}: {vertices} vertices, {told}, {x} × {y} × {z} m, {} kg", short(mass));
    let report = NetReport {
        name: name.clone(),
        vertices,
        elements: cells.len(),
        size,
        mass,
        model: body.model.clone(),
        young: body.young,
        lambda: body.lambda,
        rho: body.density,
    };
    (line, BodyReport::Net(report))
}

/// Frequencies, stable steps, numerical damping of the lowest modes.
fn spectrum(
    scene: &Scene,
    built: &Built,
    count: usize,
    lines: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> Option<SpectrumReport> {
    let two_pi = 2.0 * std::f64::consts::PI;
    if spectrum::free_unknowns(built.simulation.system()) == 0 {
        warnings.push("every vertex is pinned or bound: nothing can move; pin fewer".into());
        return None;
    }
    let bound = !scene.constraints.is_empty();
    let Some(highest) = diagnose::largest_frequency(built) else {
        if bound {
            lines.push("no vibration: what the constraints leave free meets no stiffness at rest".into());
            return None;
        }
        warnings.push("the highest frequency could not be found".into());
        return None;
    };
    let among = if bound { ", with constraints kept" } else { "" };
    lines.push(format!("highest frequency: {} Hz{among}", short(highest / two_pi)));
    let mut steps = BTreeMap::new();
    let mut told = Vec::new();
    for (name, step) in diagnose::stable_steps(diagnose::stiffest_explicit_mode(scene, built, highest)) {
        told.push(match step {
            Some(step) => format!("{name} {} s", short(step)),
            None => format!("{name} none"),
        });
        steps.insert(name.to_string(), step);
    }
    lines.push(format!("stable explicit steps: {}", told.join(", ")));

    // Free bodies have six zero modes each, and what hangs on constraints may have some; look past them.
    let rigid = if scene.pins.is_empty() || bound { 6 * built.bodies.len() } else { 0 };
    let q = built.rest_positions();
    let wanted = (rigid + count).min(spectrum::free_unknowns(built.simulation.system()));
    let modes = match spectrum::modes(built.simulation.system(), &q, wanted) {
        Ok(modes) => modes,
        Err(e) => {
            warnings.push(format!("the lowest frequencies could not be found: {e}"));
            return Some(SpectrumReport {
                highest_hz: highest / two_pi,
                stable_steps: steps,
                lowest: None,
                small_motion: None,
            });
        }
    };
    let threshold = 1e-8 * highest * highest;
    let vibrating = modes.values.iter().zip(&modes.vectors).filter(|(value, _)| **value > threshold);
    let shapes: Vec<ModeShape<'_>> =
        vibrating.take(count).map(|(value, shape)| ModeShape { omega: value.sqrt(), shape }).collect();
    let told = forecast::forecast(scene, &shapes);
    let itself = built.simulation.integrator().step_length() != StepLength::Fixed;
    let lowest: Vec<ModeReport> =
        shapes.iter().zip(&told.modes).map(|(mode, told)| mode_report(scene, mode.omega, *told)).collect();
    for (k, mode) in lowest.iter().enumerate() {
        lines.push(format!("mode {}: {}", k + 1, describe_mode(scene, mode, itself)));
    }
    warnings.extend(damping_warning(scene, &lowest));
    let small_motion = told.perturbation.map(|p| SmallMotionReport {
        growth_per_step: p.growth,
        flips: p.flips,
        unstable: p.unstable,
    });
    if let Some(motion) = small_motion {
        let (line, warning) = describe_small_motion(scene, motion);
        lines.extend(line);
        warnings.extend(warning);
    }
    Some(SpectrumReport {
        highest_hz: highest / two_pi,
        stable_steps: steps,
        lowest: Some(lowest),
        small_motion,
    })
}

fn mode_report(scene: &Scene, omega: f64, told: Option<ModeForecast>) -> ModeReport {
    let period = 2.0 * std::f64::consts::PI / omega;
    let lost = told.map(|told| told.lost(period / scene.time.step));
    ModeReport {
        hz: 1.0 / period,
        amplitude_lost_per_period: lost.map(|lost| lost[0]),
        amplitude_lost_to_damping_per_period: lost.map(|lost| lost[1]),
        growth_per_step: told.map(|told| told.response.growth),
        frequency_ratio: told.and_then(|told| told.response.frequency_ratio),
        flips: told.is_some_and(|told| told.response.flips),
    }
}

/// What there is to say of a mode; `itself`: the method chooses its own steps.
fn describe_mode(scene: &Scene, mode: &ModeReport, itself: bool) -> String {
    let name = &scene.integrator.name;
    let effect = match (mode.amplitude_lost_per_period, mode.growth_per_step, mode.frequency_ratio) {
        (Some(loss), _, Some(shift)) => format!(
            "{name} takes {:.2} % of its amplitude per period and runs it at {:.2} % of its frequency",
            // No −0.00.
            if loss.abs() < 5e-5 { 0.0 } else { 100.0 * loss },
            100.0 * shift
        ),
        (_, Some(growth), _) if mode.flips => {
            format!("{name} changes its sign in every step and multiplies it by {growth:.4}")
        }
        (_, Some(growth), _) => {
            format!("{name} does not let it oscillate and multiplies it by {growth:.4} in every step")
        }
        _ if itself => format!("{name} chooses its own steps"),
        _ => format!("{name} cannot step it"),
    };
    let material = match mode.amplitude_lost_to_damping_per_period {
        Some(loss) if loss > 1e-9 => format!("; damping of the material takes {:.2} %", 100.0 * loss),
        _ => String::new(),
    };
    let steps = 1.0 / (mode.hz * scene.time.step);
    format!("{:.6} Hz, {steps:.1} steps per period; {effect}{material}", mode.hz)
}

/// A warning about modes that the method damps by more than a twentieth per period.
fn damping_warning(scene: &Scene, lowest: &[ModeReport]) -> Option<String> {
    let losses =
        lowest.iter().enumerate().filter_map(|(k, mode)| Some((k + 1, mode.amplitude_lost_per_period?)));
    let damped: Vec<(usize, f64)> = losses.filter(|(_, loss)| *loss > 0.05).collect();
    let [(mode, loss), more @ ..] = &damped[..] else { return None };
    let most = more.iter().map(|m| m.1).fold(0.0, f64::max);
    let more = match more.len() {
        0 => String::new(),
        n => format!(", and {n} more by up to {:.0} %", 100.0 * most),
    };
    Some(format!(
        "{} will damp mode {mode} by {:.0} % per period at this step{more}, in addition to the damping of the \
         material; shorten time.step or use \"energy-momentum\"",
        scene.integrator.name,
        100.0 * loss
    ))
}

/// A line and a warning about a small motion in which all modes take part.
fn describe_small_motion(scene: &Scene, motion: SmallMotionReport) -> (Option<String>, Option<String>) {
    let name = &scene.integrator.name;
    let percent = 100.0 * (motion.growth_per_step - 1.0);
    if motion.unstable {
        let how = match percent > 0.0 {
            true => format!("grows by {percent:.2} % in every step"),
            false => "ends in a step that fails".to_string(),
        };
        let warning = format!(
            "{name} is unstable with this step: a small motion about rest {how}; \
             shorten time.step or use \"energy-momentum\" or \"backward-euler\""
        );
        return (None, Some(warning));
    }
    let line = motion.flips.then(|| {
        format!(
            "small motions: {name} changes the sign of the stiffest in every step and multiplies it by {:.6}",
            motion.growth_per_step
        )
    });
    (line, None)
}

/// The condition of the matrices of implicit steps at rest.
fn condition(scene: &Scene, built: &Built) -> Option<ConditionReport> {
    if !scene.constraints.is_empty() {
        return None;
    }
    let system = built.simulation.system();
    let of = |share: f64| {
        spectrum::step_condition(system, &built.rest_positions(), share * scene.time.step.powi(2))
    };
    Some(ConditionReport { backward_euler: of(1.0)?, midpoint: of(0.25)? })
}

/// Estimates of memory: explicitly ~250 bytes a tet, implicitly the Cholesky factor on top.
fn memory(built: &Built) -> MemoryReport {
    let cells = output::cells(built.simulation.system().bodies());
    let tets: usize = cells.iter().filter(|block| block.kind.dimension() == 3).map(|block| block.len()).sum();
    let explicit = 10.0 + 350.0 * tets as f64 / 1e6;
    let dofs = built.simulation.system().dofs() as f64;
    // Nested dissection in 3-D: nonzeros of the factor grow like n^(4/3).
    let factor = 8.0 * 9.0 * 1.1 * (dofs / 3.0).powf(4.0 / 3.0);
    let blocks = 2.0 * 72.0 * built.simulation.system().pattern().len() as f64;
    MemoryReport { explicit, implicit: explicit + (factor + blocks + 760.0 * tets.min(1 << 14) as f64) / 1e6 }
}
