//! Scenes after the figures and tables of the papers that the methods come from; `docs/papers.md` says what they show.

use super::BuiltIn;

macro_rules! scene {
    ($name:literal, $summary:literal) => {
        BuiltIn {
            name: concat!("papers/", $name),
            summary: $summary,
            text: include_str!(concat!("../../../../scenes/papers/", $name, ".toml")),
        }
    };
}

macro_rules! mesh {
    ($name:literal) => {
        ($name, include_bytes!(concat!("../../../../scenes/papers/", $name)))
    };
}

/// One scene for each figure or table that a run can show.
pub static PAPERS: &[BuiltIn] = &[
    scene!("k06-fig-1-pendulum", "Kharevych 2006, Fig. 1: pendulum"),
    scene!("k06-fig-2-rod", "Kharevych 2006, Fig. 2: rod in space, explicit"),
    scene!("k06-fig-3-damped-rod", "Kharevych 2006, Fig. 3: damped rod in space, explicit"),
    scene!("k06-fig-4-hopping-cow", "Kharevych 2006, Fig. 4: hopping cow"),
    scene!("k10-fig-2-1-loaded-ball", "Kharevych 2010, Fig. 2.1: a load on a ball, let go"),
    scene!("k10-fig-2-4-bending-bar", "Kharevych 2010, Fig. 2.4: a damped bar turns and bends"),
    scene!("k10-fig-3-5-newmark", "Kharevych 2010, Fig. 3.5: rod in space under damped Newmark"),
    scene!("k10-fig-3-6-skeel", "Kharevych 2010, Fig. 3.6: Skeel's spring"),
    scene!("k10-fig-3-7-naive-pendulum", "Kharevych 2010, Fig. 3.7: pendulum, naive adaption"),
    scene!("k10-fig-3-8-rules", "Kharevych 2010, Fig. 3.8: pendulum, equal ways"),
    scene!("k10-fig-3-9-three-masses", "Kharevych 2010, Fig. 3.9: three masses and three springs"),
    scene!(
        "k10-fig-3-10-first-order",
        "Kharevych 2010, Fig. 3.10: three masses, naive adaption of first order"
    ),
    scene!("k10-fig-4-1-liver", "Kharevych 2010, Fig. 4.1: a soft body with stiff veins falls"),
    scene!("k10-fig-4-2-soft-slice", "Kharevych 2010, Fig. 4.2: a soft slice between two rods"),
    scene!("k10-fig-4-3-harmonic", "Kharevych 2010, Fig. 4.3: a harmonic displacement of layers"),
    scene!("k10-fig-4-4-crack", "Kharevych 2010, Fig. 4.4: a bar with a crack"),
    scene!("k10-fig-4-5-layers", "Kharevych 2010, Fig. 4.5: a hanging cube of layers"),
    scene!("k10-fig-4-6-two-materials", "Kharevych 2010, Fig. 4.6: two materials hang"),
    scene!("k10-fig-4-8-cheese", "Kharevych 2010, Fig. 4.8: a wheel of cheese"),
    scene!("s06-fig-1-beam-and-ball", "Servin 2006, Fig. 1: a ball falls on a beam"),
    scene!("s06-fig-2-cube", "Servin 2006, Fig. 2: cube of springs"),
    scene!("s06-fig-4-twist", "Servin 2006, Fig. 4: a twisted beam"),
    scene!("s06-fig-5-linear-twist", "Servin 2006, Fig. 5: a twisted beam of linear strain"),
    scene!("s06-fig-6-beam-100t", "Servin 2006, Fig. 6: a supported beam of 100 t"),
    scene!("s06-fig-7-beam-900t", "Servin 2006, Fig. 7: a supported beam of 900 t"),
    scene!("s06-fig-8-pull", "Servin 2006, Fig. 8: a beam is pulled"),
    scene!("s06-fig-9-twist-test", "Servin 2006, Fig. 9: a beam is twisted"),
    scene!("s06-fig-10-swing", "Servin 2006, Fig. 10: a soft beam swings"),
    scene!("s06-fig-11-cost", "Servin 2006, Fig. 11: a beam of 192 tets, time of a step"),
    scene!("c19-fig-2-1-condition", "Chen 2019, Fig. 2.1: condition over stiffness"),
    scene!("c19-table-2-1-iterations", "Chen 2019, Table 2.1: five particles on springs"),
    scene!("c19-fig-2-2-stiffening", "Chen 2019, Fig. 2.2: a rod of hat functions"),
    scene!("c19-fig-3-1-linear-animal", "Chen 2019, Fig. 3.1: a linear cow on its feet"),
    scene!("c19-fig-3-2-dac-fails", "Chen 2019, Fig. 3.2: a bar stretches and twists"),
    scene!("c19-fig-3-3-dg", "Chen 2019, Fig. 3.3: two triangles, discontinuous or not"),
    scene!("c19-fig-3-4-eigenvalues", "Chen 2019, Fig. 3.4: eigenvalues of a swinging bar"),
    scene!("c19-fig-3-5-twisted-bar", "Chen 2019, Fig. 3.5: a twisted linear bar"),
    scene!("c19-fig-3-7-arap-animal", "Chen 2019, Fig. 3.7: an ARAP cow is shaken"),
    scene!("c19-fig-3-8-let-go", "Chen 2019, Fig. 3.8: an ARAP cow lets go"),
    scene!("c19-fig-3-10-jointed-arm", "Chen 2019, Fig. 3.10: a jointed arm"),
    scene!("c19-fig-3-11-arap-slices", "Chen 2019, Fig. 3.11: ARAP with soft slices"),
    scene!("c19-fig-3-12-stiff-core", "Chen 2019, Fig. 3.12: a stiff core"),
    scene!("c19-fig-3-13-far-from-rest", "Chen 2019, Fig. 3.13: far from rest"),
    scene!("c19-fig-4-1-ere-cost", "Chen 2019, Fig. 4.1: cost of the exponential"),
    scene!("c19-fig-4-2-cylinder", "Chen 2019, Fig. 4.2: a cylinder is drawn"),
    scene!("c19-fig-4-3-rope", "Chen 2019, Fig. 4.3: a rope of fifty springs"),
    scene!("c19-fig-4-5-shaken-cloth", "Chen 2019, Fig. 4.5: a cloth is shaken"),
    scene!("c19-fig-4-6-cloth-on-sphere", "Chen 2019, Fig. 4.6: a cloth falls on a sphere"),
    scene!("c19-fig-4-8-mixed-cloth", "Chen 2019, Fig. 4.8: a cloth of two halves"),
    scene!("c19-fig-4-9-cape", "Chen 2019, Fig. 4.9: a cape"),
    scene!("c19-fig-4-11-twisted-bar", "Chen 2019, Fig. 4.11: a soft twisted bar"),
    scene!("c19-fig-4-12-fixed-bar", "Chen 2019, Fig. 4.12: a fixed bar drops"),
    scene!("c19-fig-4-13-bounce", "Chen 2019, Fig. 4.13: a soft body bounces"),
    scene!("c19-fig-5-2-mssi-pendulum", "Chen 2019, Fig. 5.2: a stiff pendulum by MSSI"),
    scene!("c19-fig-5-4-continuous-strip", "Chen 2019, Fig. 5.4: a strip of continuous triangles"),
    scene!("c19-fig-5-4-dgsi-strip", "Chen 2019, Fig. 5.4: a strip of discontinuous triangles"),
    scene!("c19-fig-6-2-scalar-test", "Chen 2019, Fig. 6.2: the scalar test equation"),
    scene!("c19-fig-6-5-rope", "Chen 2019, Fig. 6.5: a rope uncoils"),
    scene!("c19-fig-6-7-cuboid", "Chen 2019, Fig. 6.7: a cuboid untwists"),
    scene!("c19-fig-6-8-arap-cuboid", "Chen 2019, Fig. 6.8: an ARAP cuboid untwists"),
    scene!("c19-fig-6-9-hanging-ball", "Chen 2019, Fig. 6.9: a ball hangs"),
    scene!("c19-fig-6-10-bouncing-ball", "Chen 2019, Fig. 6.10: a ball bounces"),
    scene!("c19-fig-6-11-honeycomb", "Chen 2019, Fig. 6.11: a honeycomb hangs"),
    scene!("c19-fig-6-12-moebius", "Chen 2019, Fig. 6.12: a Möbius band hangs"),
    scene!("c19-fig-6-13-tower", "Chen 2019, Fig. 6.13: a tower in the wind"),
    scene!("c19-fig-6-14-bridge", "Chen 2019, Fig. 6.14: a bridge in the wind"),
    scene!("c19-fig-6-15-tree", "Chen 2019, Fig. 6.15: a tree in the wind"),
    scene!("x-cube", "Xu: a cube at rest"),
    scene!("x-damped-cube", "Xu: a damped cube"),
    scene!("x-fixed-vertices", "Xu: a cube hangs from two vertices"),
    scene!("x-monopole", "Xu: a cube around a monopole"),
    scene!("x-tetrahedron", "Xu: a tetrahedron"),
];

/// The meshes of these scenes.
pub(super) static MESHES: &[(&str, &[u8])] = &[
    mesh!("bridge.mesh"),
    mesh!("cow.mesh"),
    mesh!("honeycomb.mesh"),
    mesh!("moebius.mesh"),
    mesh!("rope.mesh"),
    mesh!("tetrahedron.mesh"),
    mesh!("tower.mesh"),
    mesh!("tree.mesh"),
];
