//! A coarse scene that moves like the fine one: `lilyan coarsen`.
//!
//! | file | what it does |
//! |---|---|
//! | `methods` | the catalogue of methods |
//! | `body` | the fine body, and the coarse mesh in its place |
//! | `carry` | pins, loads, probes and constraints of the fine scene on the coarse mesh |
//! | `fit` | the frequencies of the fine body for the coarse one |
//! | `frequencies` | of both, to compare |
//! | `consistency` | both scenes run and compared: `consistency.json`, `consistency.html` |
//! | `output` | the folder: `scene.toml`, `coarse.vtu`, `coarsen.json` |
//!
//! The result is an ordinary scene: the coarse mesh carries 21 elastic constants and a density per tet and a mass per
//! vertex, so that every integrator runs it.

mod body;
mod carry;
mod consistency;
mod fit;
mod frequencies;
mod methods;
mod output;

pub use body::FineBody;
pub use consistency::Consistency;
pub use fit::FitBy;
pub use frequencies::frequencies;
pub use methods::{CATALOGUE, Effective, Method, Task, find};

use crate::document::SceneError;
use crate::schema::{Element, Mark, Scene};
use crate::suggest;
use crate::writers::atomic::WriteError;
use crate::writers::json;
use lilyan_dynamics::fit::MOST_MODES;
use lilyan_solid::coarsening::{self, Fitted, Progress};
use lilyan_solid::mesh::TetMesh;
use std::path::{Path, PathBuf};

/// Where the coarse mesh comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum CoarseMesh {
    /// A file of tets, placed as the mesh of the body is.
    File(PathBuf),
    /// A grid of about this many tets.
    Tets(usize),
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Name of the body; absent: the only one of tets.
    pub body: Option<String>,
    /// The coarse mesh.
    pub mesh: CoarseMesh,
    /// Name in the [`CATALOGUE`].
    pub method: String,
    /// `linear` or `co-rotational`; absent: `linear` if the fine body is.
    pub model: Option<String>,
    /// How many modes are fitted, by methods that fit them; absent: 20 where tensors are made, else 10.
    pub modes: Option<usize>,
    /// Whether runs of the coarse scene are to be shown on the fine mesh.
    pub display: bool,
}

/// What came out.
pub struct Outcome {
    /// The coarse scene.
    pub scene: PathBuf,
    /// Number of the body that was coarsened.
    pub body: usize,
    /// What was done, as data: what `coarsen.json` holds.
    pub report: serde_json::Value,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// Coarsens one body of a scene and writes the coarse scene into a folder, which must exist.
pub fn coarsen(
    scene: &Scene,
    request: &Request,
    directory: &Path,
    progress: Progress<'_>,
) -> Result<Outcome, SceneError> {
    let started = std::time::Instant::now();
    let whole = Mark { origin: scene.origin.0.clone(), ..Mark::default() };
    let Some(method) = find(&request.method) else {
        let names: Vec<&str> = CATALOGUE.iter().map(|m| m.name).collect();
        return Err(whole.error(suggest::unknown("method of coarsening", &request.method, &names)));
    };
    let number = chosen(scene, request, &whole)?;
    let mut notes = Vec::new();
    let fine = FineBody::new(scene, number, &mut notes)?;
    let model = model_of(&request.model, &fine.model, &whole)?;
    let coarse = body::coarse_mesh(scene, number, &fine.mesh, &request.mesh, &mut notes)?;
    let spec = &scene.bodies[number];
    let failed = |e: coarsening::CoarseningError| spec.mark.error(e.to_string());
    let fitted = coarsening::fit(&coarse, &fine.mesh, progress).map_err(failed)?;
    notes.extend(about_fit(&coarse, &fitted, &fine.mesh));
    let fine_view = fine.view();
    let task =
        Task { scene, body: number, fine: &fine_view, coarse: &fitted.mesh, overlaps: &fitted.overlaps };
    let effective = (method.effective)(&task, progress).map_err(failed)?;
    notes.extend(effective.notes.iter().cloned());
    let tensors = (!method.keeps_material).then_some(model);
    let mut document = carry::scene(scene, number, &fine, &fitted, tensors, directory, &mut notes)?;
    let model = if method.keeps_material { fine.model.as_str() } else { model };
    let made = output::Made { scene, method, model, fine: &fine, fitted: &fitted, effective: &effective };
    let unwritten = |e: WriteError| whole.error(e.to_string());
    if request.display {
        made.write_fine(directory).map_err(unwritten)?;
        carry::set(carry::item(&mut document, "body", number), "display", carry::text(output::FINE));
    }
    let (mut found, mut shapes) = (None, Vec::new());
    if let Some(by) = method.fit {
        progress("modes of both", 0.5);
        fit::integrator(scene, &mut document, &mut notes);
        let body = carry::item(&mut document, "body", number);
        if by == FitBy::Modes && tensors.is_some() {
            // Lumped at few vertices, mass lies too far out: modes would have too much of it.
            carry::set(body, "mass", carry::text("consistent"));
        }
        let path = made.write(&document, &[], directory).map_err(unwritten)?;
        let coarse = Scene::from_path(&path)?;
        let modes = request.modes.unwrap_or(if tensors.is_some() { MOST_MODES } else { 10 });
        let fit = fit::Found::new(scene, &coarse, number, modes, by)?;
        let (spec, fields) = fit.spec(&mut notes);
        carry::set(carry::item(&mut document, "body", number), "fit", spec);
        (found, shapes) = (Some(fit), fields);
    }
    let path = made.write(&document, &shapes, directory).map_err(unwritten)?;
    let mut report = made.report(number, &notes, started.elapsed().as_secs_f64());
    if let (Some(found), Some(report)) = (found, report.as_object_mut()) {
        report.insert("fit".into(), found.report());
    }
    json::write(directory.join("coarsen.json"), &report).map_err(unwritten)?;
    Ok(Outcome { scene: path, body: number, report, notes })
}

/// The number of the body that is meant.
fn chosen(scene: &Scene, request: &Request, whole: &Mark) -> Result<usize, SceneError> {
    let solid = |i: &usize| matches!(scene.bodies[*i].element, Element::Tets | Element::Dg);
    let solids: Vec<usize> = (0..scene.bodies.len()).filter(solid).collect();
    let names: Vec<&str> = solids.iter().map(|i| scene.bodies[*i].name.as_str()).collect();
    match (&request.body, &solids[..]) {
        (_, []) => {
            Err(whole.error("has no body of tets to coarsen; ropes, cloth and springs stay as they are"))
        }
        (None, [one]) => Ok(*one),
        (None, _) => Err(whole.error(format!(
            "has several bodies of tets; choose one with --body: {} (coarsen the result again for the next)",
            names.join(", ")
        ))),
        (Some(name), _) => solids
            .iter()
            .copied()
            .find(|i| scene.bodies[*i].name == *name)
            .ok_or_else(|| whole.error(suggest::unknown("body of tets", name, &names))),
    }
}

fn model_of(asked: &Option<String>, fine: &str, whole: &Mark) -> Result<&'static str, SceneError> {
    const MODELS: [&str; 2] = ["linear", "co-rotational"];
    match asked.as_deref() {
        None => Ok(if fine == "linear" { MODELS[0] } else { MODELS[1] }),
        Some(name) => MODELS
            .into_iter()
            .find(|m| *m == name)
            .ok_or_else(|| whole.error(suggest::unknown("model for 21 constants per tet", name, &MODELS))),
    }
}

fn about_fit(given: &TetMesh, fitted: &Fitted, fine: &TetMesh) -> Vec<String> {
    let mut notes = Vec::new();
    if fitted.left_out > 0 {
        notes.push(format!(
            "{} of {} coarse tets hold less than {} % of their volume of the body and are left out",
            fitted.left_out,
            given.tets.len(),
            100.0 * coarsening::LEAST_FILL
        ));
    }
    if fitted.beyond > 1e-6 {
        notes.push(format!(
            "{:.2} % of the body's volume lies outside of the coarse mesh and counts with the nearest coarse tets",
            100.0 * fitted.beyond
        ));
    }
    let (pieces, before) = (fitted.mesh.components().1, fine.components().1);
    if pieces > before {
        notes.push(format!(
            "the coarse mesh is in {pieces} pieces that share no face, the body in {before}; take a finer coarse mesh"
        ));
    }
    notes
}
