//! Prepared comparisons: the same scene with different methods, side by side.

use crate::error::LabError;
use crate::job::coarsen_for_gallery;
use crate::pane::{Pane, elements};
use lilyan_scene::build;
use lilyan_scene::schema::Scene;
use std::path::Path;

/// A prepared comparison.
pub struct PreparedComparison {
    /// Its name in addresses: `#gallery=NAME`.
    pub name: &'static str,
    /// Its title on the page.
    pub title: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// What the user should look at.
    pub look: &'static str,
    /// The panes: a built-in scene, settings that are changed in it, and the label of the pane.
    pub panes: &'static [(&'static str, &'static [&'static str], &'static str)],
    /// Further panes: the first scene with a coarse body of about this many tets, by these methods of coarsening (method, label).
    pub coarse: Option<(usize, &'static [(&'static str, &'static str)])>,
}

/// All prepared comparisons.
pub static GALLERY: &[PreparedComparison] = &[
    PreparedComparison {
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
    PreparedComparison {
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
    PreparedComparison {
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
    PreparedComparison {
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
    PreparedComparison {
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
    PreparedComparison {
        name: "damping",
        title: "Damping that belongs to the material",
        summary: "viscosity with two steps, and an integrator that damps by itself",
        look: "The two bars with viscosity lose the same energy, although one takes steps four times as long: their curves lie on each \
               other. Backward Euler has no viscosity at all, and damps more the longer its step is.",
        panes: &[
            (
                "twisted-bar",
                &[
                    "integrator={name=\"energy-momentum\"}",
                    "body.mesh.box.cells=[8,2,2]",
                    "body.damping={model=\"viscous\", time=0.02}",
                    "time.step=0.005",
                ],
                "viscosity, h = 5 ms",
            ),
            (
                "twisted-bar",
                &[
                    "integrator={name=\"energy-momentum\"}",
                    "body.mesh.box.cells=[8,2,2]",
                    "body.damping={model=\"viscous\", time=0.02}",
                    "time.step=0.02",
                ],
                "viscosity, h = 20 ms",
            ),
            (
                "twisted-bar",
                &["integrator={name=\"backward-euler\"}", "body.mesh.box.cells=[8,2,2]", "time.step=0.005"],
                "backward Euler, h = 5 ms",
            ),
            (
                "twisted-bar",
                &["integrator={name=\"backward-euler\"}", "body.mesh.box.cells=[8,2,2]", "time.step=0.02"],
                "backward Euler, h = 20 ms",
            ),
        ],
        coarse: None,
    },
    PreparedComparison {
        name: "time-adaption",
        title: "Steps that change in length",
        summary: "three masses on springs, with short steps where much energy is stored",
        look: "All choose the length of their steps by the energy stored in the springs. Solved together with the step, energy stays \
               in a band. Taken from where the step begins, it drifts, and with a step that is not symmetric it grows soon.",
        panes: &[
            (
                "three-masses",
                &["integrator={name=\"adaptive-reversible\", rule=\"potential\", scale=10}"],
                "reversible",
            ),
            (
                "three-masses",
                &["integrator={name=\"adaptive-naive\", rule=\"potential\", scale=10}"],
                "naive",
            ),
            (
                "three-masses",
                &["integrator={name=\"adaptive-naive\", rule=\"potential\", scale=10, alpha=0.25}"],
                "naive, α = ¼",
            ),
        ],
        coarse: None,
    },
    PreparedComparison {
        name: "constraints",
        title: "A chain of rods, held exactly",
        summary: "forty rods of constant length, and springs in their place",
        look: "Rods keep their lengths exactly, and their forces do no work. Soft springs stretch, and the chain swings later. Stiff ones \
               hardly do, and the chain swings as that of rods. See the momenta, and the Newton iterations.",
        panes: &[
            ("chain", &["integrator={name=\"energy-momentum\"}"], "rods"),
            ("chain", &["integrator={name=\"energy-momentum\"}", "constraint=[]"], "soft springs"),
            (
                "chain",
                &["integrator={name=\"energy-momentum\"}", "constraint=[]", "body.material.E=1e8"],
                "stiff springs",
            ),
        ],
        coarse: None,
    },
    PreparedComparison {
        name: "co-rotation",
        title: "What co-rotation is for",
        summary: "a bar that tumbles: linear, co-rotated and nonlinear elasticity",
        look: "Linear elasticity takes a rotation for a strain: the bar swells and is torn about. With strains measured in a frame that \
               rotates with each element it tumbles as the nonlinear bar does, by one linear solve for each step.",
        panes: &[
            (
                "tumbling-bar",
                &[
                    "integrator={name=\"energy-momentum\"}",
                    "time.step=0.02",
                    "body.material={model=\"linear\", E=1e5, nu=0.3, rho=1000}",
                ],
                "linear",
            ),
            (
                "tumbling-bar",
                &[
                    "integrator={name=\"corotational-reversible\"}",
                    "time.step=0.02",
                    "body.material={model=\"co-rotational\", E=1e5, nu=0.3, rho=1000}",
                ],
                "co-rotated",
            ),
            (
                "tumbling-bar",
                &["integrator={name=\"energy-momentum\"}", "time.step=0.02"],
                "nonlinear (neo-Hookean)",
            ),
        ],
        coarse: None,
    },
    PreparedComparison {
        name: "meshes",
        title: "The physics does not change with your mesh",
        summary: "a beam of 648 linear tets, of 24, of 24 with the frequencies of the fine one, and of 24 quadratic ones",
        look: "The coarse beam of linear tets is far too stiff: it hardly bends, and swings too fast. With the frequencies of the \
               fine mesh (fit) its 24 tets fall nearly as far and swing as slowly as the 648. Make it softer, E = 1e6, and it bends \
               too far: the fit is for moderate deflections. Quadratic tets need no fit.",
        panes: &[
            (
                "cantilever",
                &[
                    "integrator={name=\"implicit-midpoint\"}",
                    "body.element=\"tets\"",
                    "body.mesh.box.cells=[12,3,3]",
                    "body.material.E=5e6",
                ],
                "648 tets",
            ),
            (
                "cantilever",
                &[
                    "integrator={name=\"implicit-midpoint\"}",
                    "body.element=\"tets\"",
                    "body.mesh.box.cells=[4,1,1]",
                    "body.material.E=5e6",
                ],
                "24 tets",
            ),
            (
                "cantilever",
                &[
                    "integrator={name=\"implicit-midpoint\"}",
                    "body.element=\"tets\"",
                    "body.mesh.box.cells=[4,1,1]",
                    "body.material.E=5e6",
                    "body.fit={ fine = { box = { size = [4, 1, 1], cells = [12, 3, 3] } }, modes = 10 }",
                ],
                "24 tets, fitted",
            ),
            (
                "cantilever",
                &[
                    "integrator={name=\"implicit-midpoint\"}",
                    "body.mesh.box.cells=[4,1,1]",
                    "body.material.E=5e6",
                ],
                "24 quadratic tets",
            ),
        ],
        coarse: None,
    },
    PreparedComparison {
        name: "layers",
        title: "Fine, coarse, homogenised",
        summary: "768 tets of stiff and soft layers, and 48 tets in their place",
        look: "A block of eight layers, stiff and soft by turns, is held at one side. 48 tets with the average stiffness hardly move: \
               soft layers deform much more than stiff ones, which an average leaves out. Homogenised tets account for it, but \
               they swing too fast, as coarse tets do. With the frequencies of the fine block they swing as it does.",
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
pub(crate) fn find_comparison(name: &str) -> Option<&'static PreparedComparison> {
    GALLERY.iter().find(|c| c.name == name)
}

impl PreparedComparison {
    /// Builds its panes. Coarse meshes are written into the folder.
    pub(crate) fn open(&self, folder: &Path) -> Result<Vec<Pane>, LabError> {
        let mut panes: Vec<Pane> = Vec::new();
        for (scene, settings, label) in self.panes {
            let scene = build::open(scene, settings)?;
            panes.push(labelled_pane(&scene, label, elements(&panes))?);
        }
        let fine = panes.first().map(|pane| pane.scene.clone());
        let (Some(fine), Some((tets, methods))) = (fine, self.coarse) else { return Ok(panes) };
        for (method, label) in methods {
            let folder = folder.join(format!("gallery-{}-{method}", self.name));
            std::fs::create_dir_all(&folder)
                .map_err(LabError::system("there is no place for coarse meshes"))?;
            let path = coarsen_for_gallery(&fine, method, tets, &folder)?;
            let scene = Scene::from_path(&path)?;
            panes.push(labelled_pane(&scene, label, elements(&panes))?);
        }
        Ok(panes)
    }

    /// The number of its panes.
    pub fn count(&self) -> usize {
        self.panes.len() + self.coarse.map_or(0, |(_, methods)| methods.len())
    }
}

/// A pane with a label. The panes before have `others` elements.
fn labelled_pane(scene: &Scene, label: &str, others: usize) -> Result<Pane, LabError> {
    let mut pane = Pane::new(scene.document.clone(), &scene.origin.0, others)?;
    pane.label = Some(label.to_owned());
    Ok(pane)
}
