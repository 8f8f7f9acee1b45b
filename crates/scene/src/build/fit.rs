//! Fits of bodies: ratios or modes as given, or from the modes of a finer mesh.

use super::{Built, BuiltBody, build, shape};
use crate::document::SceneError;
use crate::schema::{BodySpec, FitKind, FitSpec, IntegratorSpec, MeshSpec, Scene, Selector, TargetSpec};
use lilyan_dynamics::fit::{Fit, Phase, Target};
use lilyan_solid::Model;
use lilyan_solid::mesh::Nodes;
use lilyan_solid::spectra::{OneBody, Spectra};
use std::sync::Arc;

/// What a fit does to a body.
pub(super) struct ResolvedFit {
    /// All moduli times this.
    pub stiffness: f64,
    /// What modes are to be from time to time; none: no fit of modes.
    pub phases: Vec<Phase>,
}

/// The fit of a body.
pub(super) fn resolve(
    scene: &Scene,
    body: usize,
    nodes: &Nodes,
    notes: &mut Vec<String>,
    warnings: &mut Vec<String>,
) -> Result<ResolvedFit, SceneError> {
    let spec = &scene.bodies[body];
    let mut resolved = ResolvedFit { stiffness: 1.0, phases: Vec::new() };
    let Some(fit) = &spec.fit else { return Ok(resolved) };
    match &fit.kind {
        FitKind::Stiffness(factor) => resolved.stiffness = *factor,
        FitKind::Phases(phases) => {
            for phase in phases {
                let target = match &phase.target {
                    TargetSpec::Ratios(ratios) => Target::Ratios(ratios.clone()),
                    TargetSpec::Modes { values, shapes, from } => Target::Modes {
                        values: values.clone(),
                        shapes: Arc::new(shapes_of(spec, fit, nodes, shapes, values.len())?),
                        from: *from as usize,
                    },
                };
                resolved.phases.push(Phase { until: phase.until.unwrap_or(f64::INFINITY), target });
            }
        }
        FitKind::Fine { mesh, modes, corrected, dac } => {
            let fine = build(&alone(scene, body, Some(mesh.as_ref().clone()))?)?;
            let coarse = build(&alone(scene, body, None)?)?;
            for (until, spectra) in over_time(scene, body, &coarse, &fine, *modes as usize)? {
                let (found, of) = (spectra.found(), spectra.coarse.len());
                let ratios = spectra.ratios();
                let listed: Vec<String> = ratios.iter().map(|r| format!("{r:.3}")).collect();
                notes.push(format!(
                    "body \"{}\": {found} of its {of} lowest modes are modes of the fine mesh ({} tets); λ(fine)/λ \
                     = {}",
                    spec.name,
                    fine.bodies[0].mesh().tets().len(),
                    listed.join(", ")
                ));
                if !spectra.is_acceptable() {
                    warnings.push(format!(
                        "body \"{}\": its mesh cannot show the motion of the fine one: only {found} of its {of} lowest \
                         modes are modes there; it goes without the fit, use more tets",
                        spec.name
                    ));
                    resolved.phases.push(Phase { until, target: Target::Ratios(Vec::new()) });
                } else if *dac {
                    resolved.stiffness = ratios.first().copied().unwrap_or(1.0);
                    resolved.phases.clear();
                    break;
                } else {
                    resolved.phases.push(Phase {
                        until,
                        target: spectra.target(corrected.map_or(usize::MAX, |m| m as usize)),
                    });
                }
            }
        }
    }
    Ok(resolved)
}

/// Name of axis k of the shape of mode i (from 0) among the point data of a mesh.
pub fn shape_name(shapes: &str, i: usize, k: usize) -> String {
    format!("{shapes}_{}_{}", i + 1, ["x", "y", "z"][k])
}

/// Shapes of so many modes from the point data of a mesh, turned as the mesh is.
fn shapes_of(
    spec: &BodySpec,
    fit: &FitSpec,
    nodes: &Nodes,
    name: &str,
    count: usize,
) -> Result<Vec<f64>, SceneError> {
    let mut out = Vec::with_capacity(3 * count * nodes.len());
    let mut origin = [[0.0; 3]];
    shape::place(spec, &mut origin);
    for i in 0..count {
        let axis = |k: usize| {
            nodes.mesh().point_data.get(&shape_name(name, i, k)).ok_or_else(|| {
                fit.mark.error(format!(
                    "the mesh has no point data \"{}\", a shape of the modes; coarsen again, or leave the fit out",
                    shape_name(name, i, k)
                ))
            })
        };
        let [x, y, z] = [axis(0)?, axis(1)?, axis(2)?];
        let mut moved: Vec<[f64; 3]> = (0..x.len()).map(|v| [x[v], y[v], z[v]]).collect();
        shape::place(spec, &mut moved);
        let moved = nodes.interpolated(&moved);
        out.extend(moved.iter().flat_map(|u| [0, 1, 2].map(|k| u[k] - origin[0][k])));
    }
    Ok(out)
}

/// Adds them to the model; returns the bodies that have some.
pub(super) fn add(fits: Vec<ResolvedFit>, bodies: &[BuiltBody], model: &mut Model) -> Vec<usize> {
    let rest = Arc::new(model.rest_positions());
    let fitted: Vec<usize> =
        (0..fits.len()).filter(|&b| fits[b].phases.iter().any(|p| p.target.count() > 0)).collect();
    let of = |&b: &usize| {
        let phases = fits[b].phases.clone();
        Fit { name: bodies[b].name.clone(), dofs: bodies[b].dofs.unknowns(), rest: rest.clone(), phases }
    };
    model.fit(fitted.iter().map(of).collect());
    fitted
}

/// A scene of one body and its pins: as it is but without its fit, or with another mesh.
pub fn alone(scene: &Scene, body: usize, mesh: Option<MeshSpec>) -> Result<Scene, SceneError> {
    let mut one = scene.clone();
    let spec = &scene.bodies[body];
    let pins = scene.pins.iter().filter(|p| p.body == body);
    one.pins = pins.map(|p| crate::schema::PinSpec { body: 0, ..p.clone() }).collect();
    if let Some(pin) = one.pins.iter().find(|p| mesh.is_some() && by_number(&p.selector)) {
        return Err(pin.mark.error(
            "holds vertices by number, which are others in the fine mesh that the body is fitted to; say where they \
             are, as where = { box = … }",
        ));
    }
    let mesh = mesh.unwrap_or_else(|| spec.mesh.clone());
    one.bodies =
        vec![BodySpec { mesh, fit: None, display: None, initial: Default::default(), ..spec.clone() }];
    one.integrator = IntegratorSpec {
        name: "semi-implicit".into(),
        options: Vec::new(),
        mark: scene.integrator.mark.clone(),
    };
    one.environment = Default::default();
    one.loads.clear();
    one.constraints.clear();
    one.contacts.clear();
    one.probes.clear();
    one.warnings.clear();
    Ok(one)
}

fn by_number(selector: &Selector) -> bool {
    match selector {
        Selector::Vertices(_) => true,
        Selector::Union(parts) | Selector::Intersection(parts) => parts.iter().any(by_number),
        _ => false,
    }
}

/// The spectra of the same body in two meshes, each alone in its scene, for as long as the same nodes are held.
pub fn over_time(
    scene: &Scene,
    body: usize,
    coarse: &Built,
    fine: &Built,
    modes: usize,
) -> Result<Vec<(f64, Spectra)>, SceneError> {
    let mut ends: Vec<f64> = scene.pins.iter().filter(|p| p.body == body).filter_map(|p| p.until).collect();
    ends.retain(|t| *t < scene.time.end);
    ends.sort_by(f64::total_cmp);
    ends.dedup();
    ends.push(f64::INFINITY);
    let mut out = Vec::new();
    for (k, &until) in ends.iter().enumerate() {
        let t = if until.is_finite() { until } else { k.checked_sub(1).map_or(0.0, |k| ends[k] + 1.0) };
        let spectra = spectra(coarse, fine, t, modes).map_err(|e| {
            let mark = scene.bodies[body].fit.as_ref().map_or(&scene.bodies[body].mark, |fit| &fit.mark);
            mark.error(format!("the modes of body \"{}\" cannot be compared: {e}", scene.bodies[body].name))
        })?;
        out.push((until, spectra));
    }
    Ok(out)
}

fn spectra(coarse: &Built, fine: &Built, t: f64, modes: usize) -> Result<Spectra, lilyan_solve::EigenError> {
    let rest = [coarse, fine].map(|built| Arc::new(built.simulation.system().rest_positions()));
    fn one<'a>(built: &'a Built, rest: &'a Arc<Vec<f64>>) -> OneBody<'a> {
        OneBody { model: built.simulation.system(), body: 0, rest }
    }
    Spectra::new(&one(coarse, &rest[0]), &one(fine, &rest[1]), t, modes)
}
