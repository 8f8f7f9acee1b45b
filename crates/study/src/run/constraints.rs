//! What constraints add to the results: how closely they are kept, and the forces that keep them.

use lilyan_dynamics::constraints::{TOLERANCE, worst};
use lilyan_files::csv::Table;
use lilyan_report::{Check, Plot, Series, short};
use lilyan_scene::build::{Built, BuiltConstraint};
use serde::{Deserialize, Serialize};

const VIOLATION: &str = "constraint_violation";

/// Columns of one entry: force of one constraint, or the smallest and largest of many.
fn forces(constraint: &BuiltConstraint) -> Vec<String> {
    let name = &constraint.name;
    match constraint.range.len() {
        1 => vec![format!("{name} force")],
        _ => vec![format!("{name} force min"), format!("{name} force max")],
    }
}

/// Columns after those of `energy.csv`: the largest |g| relative to its scale, then forces in N, means over the step,
/// and, for the volume of a body, the pressure in Pa.
pub(super) fn columns(built: &Built) -> Vec<String> {
    if built.constraints.is_empty() {
        return Vec::new();
    }
    let mut columns = vec![VIOLATION.to_string()];
    for constraint in &built.constraints {
        columns.extend(forces(constraint));
        columns.extend(constraint.area.map(|_| format!("{} pressure", constraint.name)));
    }
    columns
}

/// The numbers of a line; forces are 0 before the first step.
pub(super) fn row(built: &Built) -> Vec<f64> {
    if built.constraints.is_empty() {
        return Vec::new();
    }
    let simulation = &built.simulation;
    let state = simulation.state();
    let mut row = vec![worst(simulation.system(), state.t, &state.q).map_or(0.0, |w| w.1)];
    for constraint in &built.constraints {
        let forces = simulation.constraint_forces().get(constraint.range.clone()).unwrap_or(&[]);
        match constraint.range.len() {
            1 => row.push(forces.first().copied().unwrap_or(0.0)),
            _ if forces.is_empty() => row.extend([0.0; 2]),
            _ => row.extend([
                forces.iter().copied().fold(f64::INFINITY, f64::min),
                forces.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ]),
        }
        row.extend(constraint.area.map(|area| forces.first().map_or(0.0, |f| f / area)));
    }
    row
}

fn violation(energy: &Table) -> f64 {
    energy.column(VIOLATION).unwrap_or_default().into_iter().fold(0.0, f64::max)
}

/// Smallest and largest force after the start, N.
fn extent(constraint: &BuiltConstraint, energy: &Table) -> [f64; 2] {
    let all = forces(constraint).into_iter().flat_map(|name| {
        let column = energy.column(&name).unwrap_or_default();
        column.into_iter().skip(1)
    });
    let [low, high] = all.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)]);
    if low <= high { [low, high] } else { [0.0; 2] }
}

/// The check that the constraints were kept.
pub(super) fn check(built: &Built, energy: &Table) -> Option<Check> {
    let count = built.constraints.iter().map(|c| c.range.len()).sum::<usize>();
    let why = "each step ends on the constraints; relative to the length, or to the volume";
    (count > 0).then(|| {
        let what = if count == 1 { "Constraint".to_string() } else { format!("{count} constraints") };
        Check::at_most(what, "kept exactly", violation(energy), TOLERANCE, why)
    })
}

/// A line for each.
pub(super) fn facts(built: &Built, energy: &Table) -> Vec<(String, String)> {
    let each = built.constraints.iter().map(|c| {
        let [low, high] = extent(c, energy);
        let what = if c.range.len() == 1 { "force".to_string() } else { format!("{} forces", c.range.len()) };
        (c.name.clone(), format!("{what} from {} to {} N", short(low), short(high)))
    });
    each.collect()
}

/// The forces over time.
pub(super) fn plot(built: &Built, energy: &Table) -> Option<Plot> {
    let column =
        |name: &str| -> Vec<f64> { energy.column(name).unwrap_or_default().into_iter().skip(1).collect() };
    let t = column("t");
    let names = built.constraints.iter().flat_map(forces);
    // More than eight lines cannot be distinguished.
    let series: Vec<Series> = names.take(8).map(|name| Series::line(&name, &t, &column(&name))).collect();
    (!series.is_empty()).then(|| {
        let mut plot = Plot::over_time("Forces of constraints", "N", series);
        plot.note = "Means over each step. Tension is positive, and so is the pressure inside a volume, \
                     here times the area of a face of the cube of that volume."
            .into();
        plot
    })
}

/// How closely the constraints of a run were kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConstraintsSummary {
    /// Largest violation, relative to the length or volume that is kept.
    pub violation_max: f64,
    /// Each of them.
    pub kept: Vec<ConstraintSummary>,
}

/// The forces of a constraint of the scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConstraintSummary {
    /// Its name.
    pub name: String,
    /// Number of equations.
    pub count: usize,
    /// Smallest and largest force, N.
    pub force: [f64; 2],
}

/// For summary.json; none without constraints.
pub(super) fn summary(built: &Built, energy: &Table) -> Option<ConstraintsSummary> {
    let kept = built.constraints.iter().map(|c| ConstraintSummary {
        name: c.name.clone(),
        count: c.range.len(),
        force: extent(c, energy),
    });
    let kept: Vec<ConstraintSummary> = kept.collect();
    (!kept.is_empty()).then(|| ConstraintsSummary { violation_max: violation(energy), kept })
}
