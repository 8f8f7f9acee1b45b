//! Diagnosis of a scene before it runs: frequencies, stable steps, numerical damping, memory.

use lilyan_dynamics::analysis::{Stability, damped_stability};
use lilyan_dynamics::fit::{DistanceFromRest, Fit, FittedBody};
use lilyan_dynamics::{Integrator, System, integrators, spectrum};
use lilyan_report::short;
use lilyan_scene::build::{Built, BuiltBody, build};
use lilyan_scene::schema::{Element, Mass, Scene};

/// The midpoint rule was measured to keep the energy within 2 % up to this many times the explicit limit, on a tumbling,
/// stretched bar (crates/solid/tests/energy_momentum.rs). With longer steps it may gain energy.
pub const MIDPOINT_LIMIT: f64 = 1.2;

/// A body is far from rest where the stiffness of its modes has changed by more than this factor, which is by as much as a
/// coarse mesh is off,
const FAR: f64 = 2.0;
/// or where more than this share of the shapes of its modes is lost.
const MOST_LOST: f64 = 0.1;

/// Whether a body went so far from rest that a fit that is made at rest need not hold.
pub fn is_far(furthest: &DistanceFromRest) -> bool {
    furthest.stiffening > FAR.ln() || furthest.lost > MOST_LOST
}

/// How far from rest a fitted body was, in words.
pub fn distance(furthest: &DistanceFromRest) -> String {
    format!(
        "the stiffness of its modes changed by a factor of {:.2}, and {:.0} % of their shapes were lost",
        furthest.stiffening.exp(),
        100.0 * furthest.lost
    )
}

/// Fits of bodies, and how they were applied.
pub fn fits(built: &Built) -> impl Iterator<Item = (&Fit, &FittedBody)> {
    let followed = built.simulation.fitting().map_or(&[][..], |fitting| fitting.bodies());
    built.simulation.system().abilities().fits().iter().zip(followed)
}

/// A warning for each fit of a run that was not applied in some steps, or far from rest.
pub fn fit_warnings(built: &Built) -> Vec<String> {
    let far = fits(built).filter(|(_, followed)| is_far(&followed.furthest)).map(|(fit, followed)| {
        format!(
            "body \"{}\" went far from rest, where its fit was made: {}; its motion can be as wrong as without the fit. Use \
             a finer mesh, or compare with the fine one (lilyan coarsen --compare)",
            fit.name,
            distance(&followed.furthest)
        )
    });
    fits(built)
        .filter(|(_, followed)| followed.skipped > 0)
        .map(|(fit, followed)| {
            format!(
                "body \"{}\" had no fit in {} of {} steps, first at t = {:.4} s: {}; there it moves like the \
                 plain coarse mesh",
                fit.name,
                followed.skipped,
                followed.steps,
                followed.first.unwrap_or(0.0),
                followed.reason.unwrap_or("its modes were lost")
            )
        })
        .chain(far)
        .collect()
}

/// A body that is this many times as long as thick is one that bends.
const SLENDER: f64 = 4.0;
/// With fewer linear tets than this across its thickness, the frequencies of a bar are off by more than a tenth.
const ENOUGH_ACROSS: f64 = 5.0;

/// A warning about a slender body with so few linear tets across its thickness that it bends too stiffly. The estimate is
/// that of the first frequency of a steel cantilever, measured with cubes of six tets: 59 % too high with 2 of them across,
/// 18 % with 4, 5 % with 8, 1.3 % with 16, which is about 3/n².
pub fn bending_warning(body: &BuiltBody, size: [f64; 3], mean_edge: f64) -> Option<String> {
    let thin = size.into_iter().fold(f64::INFINITY, f64::min);
    let long = size.into_iter().fold(0.0, f64::max);
    // The mean edge of a cube of six tets is 1.27 times that of the cube.
    let across = (1.27 * thin / mean_edge).round().max(1.0);
    let coarse = body.element == Element::TETS && long >= SLENDER * thin && across < ENOUGH_ACROSS;
    coarse.then(|| {
        format!(
            "body \"{}\" has about {across} linear tets across its thickness of {} m, and linear tets bend too \
             stiffly: frequencies of bending may be some {:.0} % too high; refine the mesh until `lilyan modes` settles",
            body.name,
            short(thin),
            (300.0 / (across * across)).min(100.0)
        )
    })
}

/// The largest angular frequency of the mesh at rest, rad/s; see [`spectrum::largest_frequency`].
pub fn largest_frequency(built: &Built) -> Option<f64> {
    spectrum::largest_frequency(built.simulation.system(), &built.rest_positions())
}

/// The largest rate at which damping makes a motion of the mesh at rest decay, 1/s; 0 without damping.
pub fn largest_decay(built: &Built) -> f64 {
    spectrum::largest_decay(built.simulation.system(), &built.rest_positions())
}

/// The step below which an explicit method with the limit hω < 2 is stable at rest, s.
pub fn explicit_limit(built: &Built) -> Option<f64> {
    largest_frequency(built).map(|omega| 2.0 / omega)
}

/// A new integrator with the name and the options that the scene gives.
fn new_integrator(scene: &Scene) -> Option<Box<dyn Integrator>> {
    integrators::find(&scene.integrator.name)?.create(&scene.integrator.given().ok()?).ok()
}

/// What bounds the steps of explicit methods: the stiffest mode of a scene at rest.
#[derive(Clone, Copy, Debug)]
pub struct StiffestMode {
    /// The largest frequency, rad/s.
    pub omega: f64,
    /// The largest rate of decay by damping, 1/s. With damping in proportion to the stiffness it is that of the same mode.
    pub decay: f64,
}

impl StiffestMode {
    /// The mode of this scene; `None` if the frequency cannot be found.
    pub fn of(built: &Built) -> Option<Self> {
        Some(Self { omega: largest_frequency(built)?, decay: largest_decay(built) })
    }

    /// The longest stable step of an integrator, s: measured on the integrator, with the damping of the mode. `None` if no step
    /// is stable; +∞ if all are.
    pub fn longest_step(self, integrator: &mut dyn Integrator) -> Option<f64> {
        match damped_stability(integrator, self.decay / self.omega) {
            Stability::Below(angle) => Some(angle / self.omega),
            Stability::Never => None,
            Stability::Always | Stability::Adaptive => Some(f64::INFINITY),
        }
    }
}

/// The stiffest mode of explicit steps, whose mass is lumped: another than that of the scene where its mass is not.
pub fn stiffest_explicit_mode(scene: &Scene, built: &Built, highest: f64) -> StiffestMode {
    let own = StiffestMode { omega: highest, decay: largest_decay(built) };
    if built.simulation.system().bodies().iter().all(|body| !body.consistent_mass) {
        return own;
    }
    let mut lumped = scene.clone();
    for body in lumped.bodies.iter_mut().filter(|body| !matches!(body.mass, Mass::Given(_))) {
        body.mass = Mass::Lumped;
    }
    build(&lumped).ok().and_then(|built| StiffestMode::of(&built)).unwrap_or(own)
}

/// The longest stable step of the scene's integrator, if that is explicit, s.
pub fn longest_explicit_step(scene: &Scene, built: &Built) -> Option<f64> {
    let mut integrator = new_integrator(scene).filter(|i| i.claims().explicit)?;
    StiffestMode::of(built)?.longest_step(integrator.as_mut()).filter(|step| step.is_finite())
}

/// The longest stable steps of every explicit method in the catalogue, s; `None` where no step is stable.
pub fn stable_steps(mode: StiffestMode) -> Vec<(&'static str, Option<f64>)> {
    integrators::CATALOGUE
        .iter()
        .filter_map(|entry| {
            let mut integrator = entry.create(&[]).ok()?;
            if !integrator.claims().explicit {
                return None;
            }
            Some((entry.name, mode.longest_step(integrator.as_mut()).filter(|step| step.is_finite())))
        })
        .collect()
}

/// Warnings about the step: too long for an explicit method, or for the midpoint rule's energy band.
pub fn step_warnings(scene: &Scene, built: &Built) -> Vec<String> {
    let claims = built.simulation.integrator().claims();
    if !claims.explicit && !claims.symplectic {
        return Vec::new();
    }
    let (step, name) = (scene.time.step, &scene.integrator.name);
    if claims.explicit {
        let too_long = longest_explicit_step(scene, built).filter(|limit| step > *limit).map(|limit| {
            format!(
                "time.step = {step} s is longer than the stable step of {name} at rest, {} s: \
                 shorten time.step, or use integrator \"energy-momentum\"",
                short(limit)
            )
        });
        return too_long.into_iter().collect();
    }
    let Some(limit) = explicit_limit(built) else { return Vec::new() };
    if step > MIDPOINT_LIMIT * limit {
        return vec![format!(
            "time.step = {step} s is {:.1} times the explicit limit of {} s. Beyond {MIDPOINT_LIMIT} times \
             that limit, {name} may gain energy where bodies deform strongly. Shorten time.step, or use integrator \
             \"energy-momentum\", which conserves energy with any step",
            step / limit,
            short(limit)
        )];
    }
    Vec::new()
}
