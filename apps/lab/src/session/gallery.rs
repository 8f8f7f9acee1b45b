//! Prepared comparisons: the same thing with different means, side by side.

use super::actor::elements;
use super::pane::Pane;
use super::{job, words};
use lilyan_scene::build;
use lilyan_scene::schema::Scene;
use std::path::Path;

/// One of them.
pub struct Comparison {
    /// In addresses: `#gallery=NAME`.
    pub name: &'static str,
    /// On its card.
    pub title: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What to look at.
    pub look: &'static str,
    /// A built-in scene, settings to change in it, and what tells the pane from the others.
    pub panes: &'static [(&'static str, &'static [&'static str], &'static str)],
    /// Further panes: the first scene on a coarse mesh of about so many tets, by these methods of coarsening.
    pub coarse: Option<(usize, &'static [(&'static str, &'static str)])>,
}

/// All of them.
pub static GALLERY: &[Comparison] = &[
    Comparison {
        name: "pendulum",
        title: "The pendulum that stops",
        summary: "one stiff bar on a hinge, one step, three integrators",
        look: "All take the same step. Backward Euler brings the bar to rest in a world without friction; the variational \
               integrator swings for ever; see the energy curves.",
        panes: &[
            ("pendulum", &["integrator={name=\"variational\"}"], "variational"),
            ("pendulum", &["integrator={name=\"backward-euler\"}"], "backward Euler"),
            ("pendulum", &["integrator={name=\"generalized-alpha\"}"], "generalized-α"),
        ],
        coarse: None,
    },
    Comparison {
        name: "tumbling-rod",
        title: "A rod tumbling, five ways",
        summary: "momenta and energy of a rod in space under five integrators",
        look: "Nothing acts on the rod: energy, momentum and angular momentum should all be straight lines. Only some \
               methods keep them so.",
        panes: &[
            (
                "tumbling-bar",
                &["integrator={name=\"energy-momentum\"}", "time.step=0.012"],
                "energy–momentum",
            ),
            ("tumbling-bar", &["integrator={name=\"variational\"}", "time.step=0.012"], "variational"),
            ("tumbling-bar", &["integrator={name=\"backward-euler\"}", "time.step=0.012"], "backward Euler"),
            ("tumbling-bar", &["integrator={name=\"semi-implicit\"}", "time.step=0.012"], "semi-implicit"),
            ("tumbling-bar", &["integrator={name=\"newmark\"}", "time.step=0.012"], "Newmark"),
        ],
        coarse: None,
    },
    Comparison {
        name: "swinging-cube",
        title: "Rigid motion is not damped",
        summary: "a cube of stiff springs let go, with steps of 50 ms",
        look: "The cube should be at its lowest after 0.6 s. The semi-implicit step is so damped that it gets there in more than \
               twice the time; the regularised one is on time.",
        panes: &[
            (
                "swinging-cube",
                &["integrator={name=\"regularized\"}", "time.step=0.05"],
                "regularized, h = 0.05",
            ),
            (
                "swinging-cube",
                &["integrator={name=\"semi-implicit\"}", "time.step=0.05"],
                "semi-implicit, h = 0.05",
            ),
            (
                "swinging-cube",
                &["integrator={name=\"semi-implicit\"}", "time.step=0.005"],
                "semi-implicit, h = 0.005",
            ),
        ],
        coarse: None,
    },
    Comparison {
        name: "twisted-bar",
        title: "A twisted bar let go",
        summary: "semi-implicit against SIERE: one linear solve per step each",
        look: "Both cost about the same per step. The semi-implicit bar comes to rest within seconds; SIERE takes the ten \
               lowest modes exactly and keeps most of the energy (twist it further, and less of the motion is in those modes).",
        panes: &[
            (
                "twisted-bar",
                &[
                    "integrator={name=\"semi-implicit\"}",
                    "body.mesh.box.cells=[12,3,3]",
                    "body.initial={twist={axis=[1,0,0],degrees=15}}",
                ],
                "semi-implicit",
            ),
            (
                "twisted-bar",
                &[
                    "integrator={name=\"siere\", modes=10}",
                    "body.mesh.box.cells=[12,3,3]",
                    "body.initial={twist={axis=[1,0,0],degrees=15}}",
                ],
                "SIERE",
            ),
            (
                "twisted-bar",
                &[
                    "integrator={name=\"implicit-midpoint\"}",
                    "body.mesh.box.cells=[12,3,3]",
                    "body.initial={twist={axis=[1,0,0],degrees=15}}",
                ],
                "implicit midpoint",
            ),
        ],
        coarse: None,
    },
    Comparison {
        name: "steps",
        title: "The physics does not change with your step",
        summary: "a beam with steps of 2, 10 and 40 ms",
        look: "Energy–momentum with three steps that differ twenty-fold: the beams move together, and the energy is the same.",
        panes: &[
            (
                "cantilever",
                &["integrator={name=\"energy-momentum\"}", "body.mesh.box.cells=[8,2,2]", "time.step=0.002"],
                "h = 2 ms",
            ),
            (
                "cantilever",
                &["integrator={name=\"energy-momentum\"}", "body.mesh.box.cells=[8,2,2]", "time.step=0.01"],
                "h = 10 ms",
            ),
            (
                "cantilever",
                &["integrator={name=\"energy-momentum\"}", "body.mesh.box.cells=[8,2,2]", "time.step=0.04"],
                "h = 40 ms",
            ),
        ],
        coarse: None,
    },
    Comparison {
        name: "meshes",
        title: "The physics does not change with your mesh",
        summary: "a beam of 648 tets, of 24, and of 24 that know the frequencies of the fine one",
        look: "The coarse beam is far too stiff: it hardly bends, and swings too fast. With the frequencies of the fine \
               mesh (fit) its 24 tets fall nearly as far and swing as slowly as the 648. Make it softer, E = 1e6, and it bends \
               too far: the fit is for moderate deflections.",
        panes: &[
            (
                "cantilever",
                &[
                    "integrator={name=\"implicit-midpoint\"}",
                    "body.mesh.box.cells=[12,3,3]",
                    "body.material.E=5e6",
                ],
                "648 tets",
            ),
            (
                "cantilever",
                &[
                    "integrator={name=\"implicit-midpoint\"}",
                    "body.mesh.box.cells=[4,1,1]",
                    "body.material.E=5e6",
                ],
                "24 tets",
            ),
            (
                "cantilever",
                &[
                    "integrator={name=\"implicit-midpoint\"}",
                    "body.mesh.box.cells=[4,1,1]",
                    "body.material.E=5e6",
                    "body.fit={ fine = { box = { size = [4, 1, 1], cells = [12, 3, 3] } }, modes = 10 }",
                ],
                "24 tets, fitted",
            ),
        ],
        coarse: None,
    },
    Comparison {
        name: "layers",
        title: "Fine, coarse, homogenised",
        summary: "768 tets of stiff and soft layers, and 48 tets in their place",
        look: "A block of eight layers, stiff and soft by turns, is held at one side. 48 tets with the average stiffness hardly move: \
               soft layers give way long before stiff ones do, and an average does not know that. Homogenised tets do; they only swing too \
               fast, as coarse tets do. With the frequencies of the fine block as well they keep up with it.",
        panes: &[(
            "layered-cube",
            &[
                "integrator={name=\"implicit-midpoint\"}",
                "body.mesh.box.cells=[4,4,8]",
                "environment.gravity=[9.81,0,0]",
                "time.step=0.01",
            ],
            "fine, 768 tets",
        )],
        coarse: Some((
            48,
            &[
                ("average", "48 tets, average"),
                ("homogenize", "48 tets, homogenised"),
                ("homogenize+eigenfit", "48 tets, homogenised and fitted"),
            ],
        )),
    },
];

/// The comparison of that name.
pub fn find(name: &str) -> Option<&'static Comparison> {
    GALLERY.iter().find(|c| c.name == name)
}

impl Comparison {
    /// Its panes; what coarse ones are made of goes into the folder.
    pub fn open(&self, folder: &Path) -> Result<Vec<Pane>, String> {
        let mut panes: Vec<Pane> = Vec::new();
        for (scene, settings, label) in self.panes {
            let scene = build::open(scene, settings).map_err(|e| words::of(&e))?;
            panes.push(pane(&scene, label, elements(&panes))?);
        }
        let fine = panes.first().map(|pane| pane.scene.clone());
        let (Some(fine), Some((tets, methods))) = (fine, self.coarse) else { return Ok(panes) };
        for (method, label) in methods {
            let folder = folder.join(format!("gallery-{}-{method}", self.name));
            std::fs::create_dir_all(&folder)
                .map_err(|e| format!("there is no place for coarse meshes: {e}"))?;
            let path = job::coarsen::for_gallery(&fine, method, tets, &folder)?;
            let scene = Scene::from_path(&path).map_err(|e| words::of(&e))?;
            panes.push(pane(&scene, label, elements(&panes))?);
        }
        Ok(panes)
    }

    /// How many panes it has.
    pub fn count(&self) -> usize {
        self.panes.len() + self.coarse.map_or(0, |(_, methods)| methods.len())
    }
}

fn pane(scene: &Scene, label: &str, others: usize) -> Result<Pane, String> {
    let mut pane = Pane::new(scene.document.clone(), &scene.origin.0, others)?;
    pane.label = Some(label.to_owned());
    Ok(pane)
}
