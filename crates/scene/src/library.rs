//! Scenes that ship with the program, and the meshes they need.

mod papers;

pub use papers::PAPERS;

/// A built-in scene.
pub struct BuiltIn {
    /// Name for `lilyan run NAME`.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The scene file.
    pub text: &'static str,
}

impl BuiltIn {
    /// What stands for its path in messages.
    pub fn origin(&self) -> String {
        format!("{PREFIX}{}.toml", self.name)
    }
}

const PREFIX: &str = "built-in:";

macro_rules! scene {
    ($name:literal, $summary:literal) => {
        BuiltIn {
            name: $name,
            summary: $summary,
            text: include_str!(concat!("../../../scenes/", $name, ".toml")),
        }
    };
}

/// Every built-in scene but [`PAPERS`]; the first is the default.
pub static SCENES: &[BuiltIn] = &[
    scene!("tumbling-rod", "an elastic rod tumbling in space, explicit; momenta exact"),
    scene!("tumbling-rod-damped", "the same with material damping; momenta still exact"),
    scene!("tumbling-bar", "a neo-Hookean bar with twenty-fold steps, energy–momentum"),
    scene!("cantilever", "a clamped beam swinging under gravity"),
    scene!("steel-cantilever", "a steel beam, to see what a step does to its first mode"),
    scene!("twisted-bar", "a twisted bar released"),
    scene!("spot-landing", "a cow of jelly landing on the floor"),
    scene!("sliding-block", "a block that slides over a floor with friction and comes to rest"),
    scene!("pendulum", "a stiff bar swinging from a hinge"),
    scene!("heterogeneous-bar", "soft and stiff layers in one bar"),
    scene!("layered-cube", "a hanging cube of soft and stiff layers, to be coarsened"),
    scene!("cracked-bar", "a clamped bar with a soft crack, to be coarsened"),
    scene!("chain", "a chain of forty rods of constant length swinging from one end"),
    scene!("hanging-jelly", "jelly of constant volume on rods, held exactly; one is let go"),
    scene!("swinging-rope", "a rope of springs let go from the horizontal"),
    scene!("draping-cloth", "a cloth held at two corners falling over a ball"),
    scene!("swinging-cube", "eight particles and eighteen springs held at one corner"),
    scene!("wobbling-jelly", "a jelly on a plate, to be pulled about in the lab"),
    scene!("tetrahedron", "one tet at rest, to be pushed in the lab"),
    scene!("cube-at-rest", "a cube at rest, to be pushed in the lab"),
    scene!("skeels-spring", "a mass on a spring, with steps that follow the energy stored in it"),
    scene!("point-pendulum", "a mass on a rod, with steps as long as equal ways want them"),
    scene!("three-masses", "three masses and three springs: naive and reversible time adaption"),
    scene!("bench-beam", "the common beam for comparing programs"),
];

/// Meshes that built-in scenes refer to.
static ASSETS: &[(&str, &[u8])] = &[
    ("spot.mesh", include_bytes!("../../../scenes/spot.mesh")),
    ("tetrahedron.mesh", include_bytes!("../../../scenes/tetrahedron.mesh")),
];

/// The scene of that name.
pub fn find(name: &str) -> Option<&'static BuiltIn> {
    SCENES.iter().chain(PAPERS).find(|s| s.name == name)
}

/// The mesh that a built-in scene calls `path`.
pub fn asset(origin: &str, path: &str) -> Option<&'static [u8]> {
    if !origin.starts_with(PREFIX) {
        return None;
    }
    ASSETS.iter().chain(papers::MESHES).find(|(name, _)| *name == path).map(|(_, bytes)| *bytes)
}
