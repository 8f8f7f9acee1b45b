//! The error of a mesh, measured: the first frequency at rest with linear and with quadratic tets on the same mesh. Errors of
//! frequencies are of second order in the size of linear tets and of fourth order in that of quadratic ones, so that the
//! difference is the error of the linear tets wherever it is small or bending matters.

use lilyan_dynamics::spectrum;
use lilyan_scene::build::{Built, build};
use lilyan_scene::schema::{Element, Mass, Scene};
use lilyan_solid::elements::{LINEAR_TETS, QUADRATIC_TETS};
use serde::{Deserialize, Serialize};

/// Nodes of quadratic tets up to which `lilyan check` computes their first frequency, a second or two.
pub const MOST_NODES_OF_CHECK: usize = 12_000;
/// The same for the report of a run, a fraction of a second.
pub const MOST_NODES_OF_RUN: usize = 2_500;
/// A difference that is worth a warning.
const WORTH_A_WARNING: f64 = 0.02;

/// The first frequencies of a scene at rest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeshReport {
    /// With linear tets, Hz.
    pub linear_hz: f64,
    /// With quadratic tets on the same mesh, Hz.
    pub quadratic_hz: f64,
    /// The first over the second, less 1: by how much the frequency of linear tets is too high.
    pub linear_error: f64,
    /// Whether the scene itself has quadratic tets alone.
    pub quadratic: bool,
}

impl MeshReport {
    /// In words.
    pub fn line(&self) -> String {
        format!(
            "first frequency {:.5} Hz with linear, {:.5} Hz with quadratic tets on the same mesh: linear ones are {:.1} % {}{}",
            self.linear_hz,
            self.quadratic_hz,
            100.0 * self.linear_error.abs(),
            if self.linear_error < 0.0 { "lower" } else { "higher" },
            if self.quadratic { "; the scene has quadratic ones" } else { "" }
        )
    }

    /// What to do about it, if the scene has linear tets that are too stiff.
    pub fn warning(&self) -> Option<String> {
        (!self.quadratic && self.linear_error > WORTH_A_WARNING).then(|| {
            format!(
                "the mesh is too coarse for linear tets: the first frequency is {:.4} Hz, and {:.4} Hz with quadratic tets, so \
                 that the body is {:.0} % too stiff. Set element = \"quadratic\" on the same or a coarser mesh, or refine the mesh",
                self.linear_hz,
                self.quadratic_hz,
                100.0 * ((1.0 + self.linear_error).powi(2) - 1.0)
            )
        })
    }
}

/// Measures the error of the meshes of a scene, if quadratic tets on them have no more nodes than that; `None` too where there
/// are no solids of continuous tets, or nothing vibrates.
pub fn measure(scene: &Scene, built: &Built, most_nodes: usize) -> Option<MeshReport> {
    let solid = |element: Element| element.is_continuous_solid();
    if !built.bodies.iter().any(|body| solid(body.element))
        || built.bodies.iter().any(|body| !solid(body.element))
    {
        return None;
    }
    let edges = |body: &lilyan_scene::build::BuiltBody| {
        let tets = body.mesh().tets();
        let mut edges: Vec<[u32; 2]> = tets
            .iter()
            .flat_map(|t| {
                [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
                    .map(|(a, b)| [t[a].min(t[b]), t[a].max(t[b])])
            })
            .collect();
        edges.sort_unstable();
        edges.dedup();
        edges.len()
    };
    let vertices: usize = built.bodies.iter().map(|body| body.mesh().vertices.len()).sum();
    // Each tet has 1.2 edges at least: the first bound costs nothing.
    let tets: usize = built.bodies.iter().map(|body| body.mesh().tets().len()).sum();
    if vertices + tets > most_nodes || vertices + built.bodies.iter().map(edges).sum::<usize>() > most_nodes {
        return None;
    }
    let quadratic = built.bodies.iter().all(|body| body.element == Element::Solid(&QUADRATIC_TETS));
    let [linear_hz, quadratic_hz] = [&LINEAR_TETS, &QUADRATIC_TETS].map(|kind| {
        let same = built.bodies.iter().all(|body| body.element == Element::Solid(kind));
        match same && scene.bodies.iter().all(|body| body.fit.is_none()) {
            true => first_frequency(scene, built),
            false => {
                let other = with_elements(scene, Element::Solid(kind));
                first_frequency(&other, &build(&other).ok()?)
            }
        }
    });
    let (linear_hz, quadratic_hz) = (linear_hz?, quadratic_hz?);
    Some(MeshReport { linear_hz, quadratic_hz, linear_error: linear_hz / quadratic_hz - 1.0, quadratic })
}

/// The scene with all bodies made of these elements, at rest.
fn with_elements(scene: &Scene, element: Element) -> Scene {
    let mut other = scene.clone();
    for body in &mut other.bodies {
        body.element = element;
        body.element_given = true;
        body.mass = Mass::OfElements;
        body.fit = None;
        body.display = None;
        body.initial = Default::default();
    }
    other
}

/// The first frequency at rest that is not that of a rigid motion, Hz.
fn first_frequency(scene: &Scene, built: &Built) -> Option<f64> {
    let system = built.simulation.system();
    let free = scene.pins.is_empty() || !scene.constraints.is_empty();
    let rigid = if free { 6 * built.bodies.len() } else { 0 };
    let wanted = (rigid + 1).min(spectrum::free_unknowns(system));
    let modes = spectrum::modes(system, &built.rest_positions(), wanted).ok()?;
    let largest = modes.values.iter().copied().fold(0.0, f64::max);
    let first = modes.values.into_iter().find(|value| *value > 1e-6 * largest)?;
    (first > 0.0).then(|| first.sqrt() / (2.0 * std::f64::consts::PI))
}
