//! Prepared comparisons: the same thing with different means, side by side.

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
    },
];

/// The comparison of that name.
pub fn find(name: &str) -> Option<&'static Comparison> {
    GALLERY.iter().find(|c| c.name == name)
}
