//! Values that can be meant, but probably are not: other units, mostly. They become warnings.

use super::Scene;
use super::material::Parameters;
use super::quantity::Field;

/// Warnings about a scene that reads well.
pub(super) fn warnings(scene: &Scene) -> Vec<String> {
    let mut out = Vec::new();
    let time = &scene.time;
    if time.step > time.end {
        out.push(format!(
            "time.step = {} s is longer than the run, time.end = {} s; the run is one step",
            time.step, time.end
        ));
    }
    if time.steps() > 1_000_000_000 {
        out.push(format!(
            "time: {} steps will take very long; is time.step = {} in seconds?",
            time.steps(),
            time.step
        ));
    }
    if scene.output.every < time.step {
        out.push(format!(
            "output.every = {} s is shorter than time.step = {} s; every step becomes a frame",
            scene.output.every, time.step
        ));
    }
    let frames = time.end / scene.output.every.max(time.step);
    if frames > 100_000.0 {
        out.push(format!("output.every = {} s makes {frames:.0} frames; each is a file", scene.output.every));
    }
    gravity(scene, &mut out);
    for body in &scene.bodies {
        let path = &body.mark.path;
        parameters(&body.material.base, &format!("{path}.material"), &mut out);
        for (i, region) in body.material.regions.iter().enumerate() {
            parameters(&region.parameters, &format!("{path}.material.regions[{i}]"), &mut out);
        }
        for damping in &body.damping {
            if let Some(relaxation) = damping.parameters.number("time")
                && relaxation > time.end
            {
                out.push(format!(
                    "{path}.damping.time = {relaxation} s is longer than the run: the body will hardly move"
                ));
            }
        }
    }
    out
}

fn gravity(scene: &Scene, out: &mut Vec<String>) {
    let Some(gravity) = &scene.environment.gravity else {
        return;
    };
    let squares: f64 = gravity.iter().map(|g| g.constant().unwrap_or(0.0).powi(2)).sum();
    if squares.sqrt() > 300.0 {
        out.push(format!(
            "environment.gravity = {} m/s² is over 30 times that of Earth; SI wants m/s², 9.81",
            squares.sqrt()
        ));
    }
}

fn parameters(given: &Parameters, path: &str, out: &mut Vec<String>) {
    let young = given.young.as_ref().and_then(|f| f.constant());
    if let Some(young) = young {
        // Moduli in GPa are below 500 but for a few ceramics, and hardly anything that keeps its shape is that soft in Pa.
        if young < 500.0 {
            out.push(format!(
                "{path}.E = {young} Pa is softer than jelly; is it in GPa or MPa? SI wants Pa: {young} GPa is {:e}",
                1e9 * young
            ));
        } else if young > 2e12 {
            out.push(format!("{path}.E = {young:e} Pa is stiffer than diamond (1.1e12 Pa)"));
        }
    }
    if let Some(density) = given.density.as_ref().and_then(|f| f.constant()) {
        if density < 25.0 {
            out.push(format!(
                "{path}.rho = {density} kg/m³ is lighter than foam; is it in g/cm³? SI wants kg/m³"
            ));
        } else if density > 25_000.0 {
            out.push(format!("{path}.rho = {density} kg/m³ is heavier than any metal; SI wants kg/m³"));
        }
    }
    if let Some(poisson) = given.poisson.as_ref().and_then(|f| f.constant()) {
        if poisson == 0.5 {
            out.push(format!(
                "{path}.nu = 0.5 is incompressible: lambda is infinite, which few methods allow; 0.49 is usual for rubber"
            ));
        }
    }
    if let Some(stiffness) = &given.stiffness
        && !positive_definite(stiffness)
    {
        out.push(format!(
            "{path}.C is not positive definite: some strain releases energy and grows without bound"
        ));
    }
}

/// Whether the 6×6 matrix with this upper triangle has a Cholesky factor.
///
/// Constants that vary over the body are not judged.
fn positive_definite(upper: &[Field; 21]) -> bool {
    if upper.iter().any(|field| field.constant().is_none()) {
        return true;
    }
    let mut a = [[0.0_f64; 6]; 6];
    let mut constants = upper.iter().filter_map(Field::constant);
    for (i, row) in a.iter_mut().enumerate() {
        for slot in row.iter_mut().skip(i) {
            *slot = constants.next().unwrap_or(f64::NAN);
        }
    }
    // Elimination on the upper triangle: every pivot must be positive.
    for i in 0..6 {
        let Some(&pivot_row) = a.get(i) else {
            return false;
        };
        let pivot = pivot_row.get(i).copied().unwrap_or(f64::NAN);
        if pivot.is_nan() || pivot <= 0.0 {
            return false;
        }
        for (j, row) in a.iter_mut().enumerate().skip(i + 1) {
            let factor = pivot_row.get(j).copied().unwrap_or(f64::NAN) / pivot;
            for (slot, above) in row.iter_mut().zip(pivot_row).skip(j) {
                *slot -= factor * above;
            }
        }
    }
    true
}
