//! What can be told of a scene before it runs: frequencies, stable steps, numerical damping, memory.

use crate::build::Built;
use crate::schema::Scene;
use lilyan_dynamics::analysis::{Response, Stability, response, stability};
use lilyan_dynamics::constraints::jacobian;
use lilyan_dynamics::fit;
use lilyan_dynamics::{Curvature, Integrator, System, Value, integrators};
use lilyan_solve::{
    BlockMatrix, BlockPattern, Cholesky, EigenError, Modes, Saddle, SparseRows, constrained_modes,
    largest_eigenvalue,
};
use std::sync::Arc;

/// Up to this many times the explicit limit the midpoint rule's energy band was measured to stay within
/// 2 % on a tumbling, stretched bar (crates/solid/tests/energy_momentum.rs); beyond, it may gain energy.
pub const MIDPOINT_LIMIT: f64 = 1.2;

/// Stiffness and mass at a configuration, and what is held there.
pub struct Matrices {
    /// K, N/m.
    pub stiffness: BlockMatrix,
    /// M, kg.
    pub mass: BlockMatrix,
    /// Which unknowns are held.
    pub held: Vec<bool>,
    /// Gradients of the constraints in force at the start, 0 where held.
    pub rows: SparseRows,
}

/// The matrices of free vibration at the given positions.
pub fn matrices(built: &Built, q: &[f64]) -> Matrices {
    let system = &built.simulation.system;
    let pattern = system.pattern();
    let mut stiffness = BlockMatrix::zeros(pattern.clone());
    system.hessian(0.0, q, Curvature::Exact, &mut stiffness);
    let mut mass = BlockMatrix::zeros(pattern.clone());
    system.mass().add_to(&mut mass);
    let mut held = vec![false; system.dofs()];
    system.held(0.0, &mut held);
    let mut rows = SparseRows::new();
    jacobian(system, &system.in_force(0.0), q, &mut rows);
    rows.hold(&held);
    Matrices { stiffness, mass, held, rows }
}

/// How many unknowns are neither held at the start nor bound by constraints: there are as many modes.
pub fn free_unknowns(built: &Built) -> usize {
    let mut held = vec![false; built.simulation.system.dofs()];
    built.simulation.system.held(0.0, &mut held);
    let free = held.iter().filter(|h| !**h).count();
    free.saturating_sub(built.simulation.system.in_force(0.0).len())
}

/// Rest positions of all nodes, flat.
pub fn rest_positions(built: &Built) -> Vec<f64> {
    built.bodies.iter().flat_map(|b| b.mesh.vertices.concat()).collect()
}

/// The lowest modes at the given positions, among the motions that keep the constraints. The stiffness that comes of
/// forces in constraints (the tension of a string) is left out, as that of loads is.
pub fn modes(built: &Built, q: &[f64], count: usize) -> Result<Modes, EigenError> {
    let m = matrices(built, q);
    let system = &built.simulation.system;
    if system.fits().is_empty() {
        return constrained_modes(&m.stiffness, &m.mass, &m.held, &m.rows, count, 1e-10);
    }
    // A fit may change the order of modes.
    let free = m.held.iter().filter(|h| !**h).count();
    let more = (count + 10).min(free).max(count);
    let mut modes = constrained_modes(&m.stiffness, &m.mass, &m.held, &m.rows, more, 1e-10)?;
    fit::correct_modes(system, q, &mut modes);
    modes.values.truncate(count);
    modes.vectors.truncate(count);
    modes.residuals.truncate(count);
    Ok(modes)
}

/// What became of the fits of a run: a line for each that some steps had to do without.
pub fn fit_warnings(built: &Built) -> Vec<String> {
    let Some(fitting) = built.simulation.fitting() else { return Vec::new() };
    let fits = built.simulation.system.fits().iter().zip(fitting.bodies());
    fits.filter(|(_, followed)| followed.without > 0)
        .map(|(fit, followed)| {
            format!(
                "body \"{}\" went without its fit in {} of {} steps, first at t = {:.4} s: {}; there it moves like the \
                 plain coarse mesh",
                fit.name,
                followed.without,
                followed.steps,
                followed.first.unwrap_or(0.0),
                followed.why.unwrap_or("its modes were lost")
            )
        })
        .collect()
}

/// The largest angular frequency of the mesh at rest, rad/s; `None` if it cannot be found, or if nothing vibrates
/// because constraints bind whatever is stiff.
pub fn largest_frequency(built: &Built) -> Option<f64> {
    let m = matrices(built, &rest_positions(built));
    let diagonal = built.simulation.system.mass().diagonal();
    let square = largest(&m.stiffness, diagonal, &m)?;
    // What round-off leaves of a stiffness that is bound.
    let all = if m.rows.is_empty() {
        0.0
    } else {
        (0..diagonal.len()).map(|i| m.stiffness.diagonal()[i] / diagonal[i]).fold(0.0, f64::max)
    };
    (square > 1e-10 * all && square > 0.0 && square.is_finite()).then(|| square.sqrt())
}

/// The largest eigenvalue of a matrix against the lumped mass, among the motions that keep the constraints: that of
/// Pᵀ A P with P = 1 − M⁻¹Jᵀ(J M⁻¹Jᵀ)⁻¹J. `None` where the constraints depend on each other.
fn largest(matrix: &BlockMatrix, masses: &[f64], m: &Matrices) -> Option<f64> {
    let n = masses.len();
    if m.rows.is_empty() {
        return Some(largest_eigenvalue(&mut |x, y| matrix.mul_vec(x, y), masses, &m.held, 1e-3));
    }
    let mut lumped = BlockMatrix::zeros(Arc::new(BlockPattern::from_cliques(n / 3, std::iter::empty())));
    lumped.add_diagonal(masses);
    lumped.hold(&m.held);
    let (mut saddle, mut factor) = (Saddle::new(), Cholesky::new());
    saddle.factor(&lumped, &mut factor, &m.rows).ok()?;
    // M P M⁻¹ = Pᵀ: the force that a mass would feel, less what constraints take.
    let mut forces = |f: &mut [f64]| {
        let mut z = f.to_vec();
        z.resize(n + m.rows.len(), 0.0);
        saddle.solve(&lumped, &mut factor, &mut z, 3);
        m.rows.add_transposed(-1.0, &z[n..], f);
    };
    let apply = &mut |x: &[f64], y: &mut [f64]| {
        let mut p: Vec<f64> = x.iter().zip(masses).map(|(x, m)| m * x).collect();
        forces(&mut p);
        p.iter_mut().zip(masses).for_each(|(p, m)| *p /= m);
        matrix.mul_vec(&p, y);
        y.iter_mut().zip(&m.held).filter(|(_, held)| **held).for_each(|(y, _)| *y = 0.0);
        forces(y);
    };
    Some(largest_eigenvalue(apply, masses, &m.held, 1e-3))
}

/// The largest rate at which damping makes a motion of the mesh at rest decay, 1/s; 0 without damping.
pub fn largest_decay(built: &Built) -> f64 {
    let system = &built.simulation.system;
    let mut damping = BlockMatrix::zeros(system.pattern().clone());
    let q = rest_positions(built);
    system.damping(0.0, &q, &mut damping);
    let rate = largest(&damping, system.mass().diagonal(), &matrices(built, &q)).unwrap_or(0.0);
    if rate.is_finite() { rate.max(0.0) } else { 0.0 }
}

/// The step below which an explicit method with the limit hω < 2 is stable at rest, s.
pub fn explicit_limit(built: &Built) -> Option<f64> {
    largest_frequency(built).map(|omega| 2.0 / omega)
}

/// A fresh integrator of the scene's kind and options.
fn fresh(scene: &Scene) -> Option<Box<dyn Integrator>> {
    use crate::schema::OptionValue;
    let value = |v: &OptionValue| match v {
        OptionValue::Number(x) => Some(Value::Number(*x)),
        OptionValue::Bool(b) => Some(Value::Flag(*b)),
        OptionValue::Text(t) => Some(Value::Word(t.clone())),
        OptionValue::Numbers(_) => None,
    };
    let given = scene.integrator.options.iter();
    let given: Option<Vec<_>> = given.map(|o| Some((o.key.clone(), value(&o.value)?))).collect();
    integrators::find(&scene.integrator.name)?.create(&given?).ok()
}

/// How far the scene's integrator is stable, relative to hω = 2.
pub fn stability_factor(scene: &Scene) -> f64 {
    match fresh(scene).map(|mut i| stability(i.as_mut())) {
        Some(Stability::Below(angle)) => 0.5 * angle,
        _ => 1.0,
    }
}

/// What the scene's integrator does to a mode of frequency ω (rad/s) at the scene's step.
pub fn mode_response(scene: &Scene, omega: f64) -> Option<Response> {
    response(fresh(scene)?.as_mut(), omega * scene.time.step)
}

/// Stability limits of every explicit method in the catalogue as steps, s.
pub fn stable_steps(largest_omega: f64) -> Vec<(&'static str, Option<f64>)> {
    integrators::CATALOGUE
        .iter()
        .filter_map(|entry| {
            let mut integrator = entry.create(&[]).ok()?;
            if !integrator.claims().explicit {
                return None;
            }
            let step = match stability(integrator.as_mut()) {
                Stability::Below(angle) => Some(angle / largest_omega),
                _ => None,
            };
            Some((entry.name, step))
        })
        .collect()
}

/// Warnings about the step: too long for an explicit method, or for the midpoint rule's energy band.
pub fn step_warnings(scene: &Scene, built: &Built) -> Vec<String> {
    let claims = built.simulation.integrator.claims();
    if !claims.explicit && !claims.symplectic {
        return Vec::new();
    }
    let Some(limit) = explicit_limit(built) else { return Vec::new() };
    let (step, name) = (scene.time.step, &scene.integrator.name);
    if claims.explicit {
        let limit = limit * stability_factor(scene);
        if step > limit {
            return vec![format!(
                "the step of {step:e} s is above {limit:.2e} s, up to which {name} is stable at rest: \
                 shorten time.step, or use integrator \"energy-momentum\""
            )];
        }
    } else if step > MIDPOINT_LIMIT * limit {
        return vec![format!(
            "the step of {step:e} s is {:.1} times the explicit limit of {limit:.2e} s: up to {MIDPOINT_LIMIT} \
             times {name} kept energy within 2 % where it was measured, beyond it may gain energy; \
             \"energy-momentum\" keeps it at any step",
            step / limit
        )];
    }
    Vec::new()
}
