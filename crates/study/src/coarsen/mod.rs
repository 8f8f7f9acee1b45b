//! A coarse scene that moves like the fine one: `lilyan coarsen`.
//!
//! | file | what it does |
//! |---|---|
//! | `methods` | the catalogue of methods |
//! | `body` | the fine body, and the coarse mesh in its place |
//! | `transfer` | pins, loads, probes and constraints of the fine scene on the coarse mesh |
//! | `document` | changes of a scene as a document |
//! | `fit` | the frequencies of the fine body for the coarse one |
//! | `frequencies` | of both, to compare |
//! | `consistency` | both scenes run and compared: `consistency.json`, `consistency.html` |
//! | `report` | `coarsen.json` and `consistency.json` as data |
//! | `output` | the meshes with their data, the report, and the folder: `scene.toml`, `coarse.vtu`, `coarsen.json` |
//!
//! [`coarsen`] is a function from scene to scene: the coarse mesh stays in memory until [`CoarsenOutcome::write`].
//! The result is an ordinary scene: the coarse mesh carries 21 elastic constants and a density per tet and a mass per
//! vertex, so that every integrator runs it.

mod body;
mod consistency;
mod document;
mod fit;
mod frequencies;
mod methods;
mod output;
mod report;
mod transfer;

pub use body::FineBody;
pub use consistency::Consistency;
pub use fit::FitBy;
pub use frequencies::frequencies;
pub use methods::{CATALOGUE, CoarseningMethod, CoarseningTask, EffectiveProperties, find};
pub use report::{
    BodySize, CoarsenReport, ConsistencyEnergy, ConsistencyReport, ConsistencyRunReport, FitModeReport,
    FitPhaseReport, HomogenizationFigures, MethodFigures, TractionName,
};

use lilyan_dynamics::fit::MOST_MODES;
use lilyan_scene::document::{Node, SceneError};
use lilyan_scene::schema::{Mark, Scene};
use lilyan_scene::suggest;
use lilyan_solid::coarsening::{self, Fitted, Progress, Traction};
use lilyan_solid::mesh::Mesh;
use std::path::PathBuf;

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
pub struct CoarsenOptions {
    /// Name of the body; absent: the only one of tets.
    pub body: Option<String>,
    /// The coarse mesh.
    pub mesh: CoarseMesh,
    /// Name in the [`CATALOGUE`].
    pub method: String,
    /// `linear`, `co-rotational` or `anisotropic-neo-hookean`; absent: `linear` if the fine body is, else `co-rotational`.
    pub model: Option<String>,
    /// How many modes are fitted, by methods that fit them; absent: 20 where tensors are made, else 10.
    pub modes: Option<usize>,
    /// Whether runs of the coarse scene are to be shown on the fine mesh.
    pub display: bool,
    /// How unit stresses are shared out over the outer boundary, by methods that pull there. Absent: the way that comes nearer
    /// to the first frequencies of the fine body, or of least energy where they are fitted in any case.
    pub traction: Option<Traction>,
    /// Whether all ways are compared, those with coarse normals and with linearly varying stresses as well.
    pub all_tractions: bool,
    /// Whether the coarse body is made of quadratic tets, which bend and twist with few of them.
    pub quadratic: bool,
}

/// What came out.
pub struct CoarsenOutcome {
    /// The coarse scene, its meshes in memory.
    pub scene: Scene,
    /// Number of the body that was coarsened.
    pub body: usize,
    /// What was done, as data.
    pub report: CoarsenReport,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// Coarsens one body of a scene.
pub fn coarsen(
    scene: &Scene,
    request: &CoarsenOptions,
    progress: Progress<'_>,
) -> Result<CoarsenOutcome, SceneError> {
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
    let coarse = body::coarse_mesh(scene, number, fine.mesh(), &request.mesh, &mut notes)?;
    let spec = &scene.bodies[number];
    let failed = |e: coarsening::CoarseningError| spec.mark.error(e.to_string());
    let fitted = coarsening::fit(&coarse, fine.mesh(), progress).map_err(failed)?;
    notes.extend(fit_notes(&coarse, &fitted, fine.mesh()));
    let fine_view = fine.view();
    let task = CoarseningTask {
        scene,
        body: number,
        fine: &fine_view,
        coarse: &fitted.mesh,
        overlaps: &fitted.overlaps,
        tractions: match (&request.traction, method.fit) {
            _ if request.all_tractions => &Traction::ALL,
            (Some(traction), _) => std::slice::from_ref(traction),
            (None, None) => &[Traction::LeastEnergy, Traction::Uniform],
            (None, Some(_)) => &[Traction::LeastEnergy],
        },
    };
    let mut candidates = (method.effective)(&task, progress).map_err(failed)?;
    let tensors = (!method.keeps_material).then_some(model);
    let transfer::TransferredScene { mut document, mut meshes } =
        transfer::coarse_document(scene, number, &fine, &fitted, tensors, &mut notes)?;
    if request.quadratic {
        transfer::make_quadratic(document::item(&mut document, "body", number));
    }
    let model = if method.keeps_material { fine.model.as_str() } else { model };
    if candidates.len() > 1 {
        progress("first frequencies of both", 0.5);
        let mesh_of = |effective: &EffectiveProperties| {
            output::CoarseBody { scene, method, model, fine: &fine, fitted: &fitted, effective }.coarse_mesh()
        };
        let coarse_of = |effective: &EffectiveProperties| {
            let mesh = (transfer::COARSE_MESH_FILE.to_owned(), mesh_of(effective));
            in_memory(scene, document.clone(), vec![mesh])
        };
        candidates = vec![frequencies::nearest(scene, number, candidates, &coarse_of, &mut notes)?];
    }
    let effective = candidates.pop().unwrap_or_default();
    notes.extend(effective.notes.iter().cloned());
    let coarse_body =
        output::CoarseBody { scene, method, model, fine: &fine, fitted: &fitted, effective: &effective };
    let mut mesh = coarse_body.coarse_mesh();
    if request.display {
        meshes.push((output::FINE_MESH_FILE.to_owned(), coarse_body.fine_mesh()));
        document::set(
            document::item(&mut document, "body", number),
            "display",
            document::text(output::FINE_MESH_FILE),
        );
    }
    let mut found = None;
    if let Some(by) = method.fit {
        progress("modes of both", 0.5);
        fit::integrator(scene, &mut document, &mut notes);
        let body = document::item(&mut document, "body", number);
        if by == FitBy::Modes && tensors.is_some() && !request.quadratic {
            // Mass that is lumped at few vertices lies too far outside, so that the modal masses would be too large.
            document::set(body, "mass", document::text("consistent"));
        }
        let coarse =
            in_memory(scene, document.clone(), vec![(transfer::COARSE_MESH_FILE.to_owned(), mesh.clone())])?;
        let modes = request.modes.unwrap_or(if tensors.is_some() { MOST_MODES } else { 10 });
        let fit = fit::ModalFit::new(scene, &coarse, number, modes, by)?;
        let (spec, shapes) = fit.spec(request.quadratic, &mut notes);
        document::set(document::item(&mut document, "body", number), "fit", spec);
        mesh.point_data.extend(shapes);
        found = Some(fit);
    }
    meshes.push((transfer::COARSE_MESH_FILE.to_owned(), mesh));
    let coarse = in_memory(scene, document, meshes)?;
    let mut report = coarse_body.report(number, &notes, started.elapsed().as_secs_f64());
    report.fit = found.map(|fit| fit.report());
    Ok(CoarsenOutcome { scene: coarse, body: number, report, notes })
}

/// The scene of a document, with these meshes in memory.
fn in_memory(scene: &Scene, document: Node, meshes: Vec<(String, Mesh)>) -> Result<Scene, SceneError> {
    let mut coarse = Scene::from_document(document, &scene.origin.0)?;
    coarse.surfaces.clone_from(&scene.surfaces);
    coarse.materials = scene.materials.clone();
    meshes.into_iter().try_fold(coarse, |coarse, (name, mesh)| coarse.with_mesh(&name, mesh))
}

/// The number of the body that is to be coarsened.
fn chosen(scene: &Scene, request: &CoarsenOptions, whole: &Mark) -> Result<usize, SceneError> {
    let solid = |i: &usize| scene.bodies[*i].element.solid().is_some();
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
    const MODELS: [&str; 3] = ["linear", "co-rotational", "anisotropic-neo-hookean"];
    match asked.as_deref() {
        None => Ok(if fine == "linear" { MODELS[0] } else { MODELS[1] }),
        Some(name) => MODELS
            .into_iter()
            .find(|m| *m == name)
            .ok_or_else(|| whole.error(suggest::unknown("model for 21 constants per tet", name, &MODELS))),
    }
}

fn fit_notes(given: &Mesh, fitted: &Fitted, fine: &Mesh) -> Vec<String> {
    let mut notes = Vec::new();
    if fitted.left_out > 0 {
        notes.push(format!(
            "{} of {} coarse tets hold less than {} % of their volume of the body and are left out",
            fitted.left_out,
            given.tets().len(),
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
