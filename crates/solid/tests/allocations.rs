//! After the first steps, an explicit step asks for no memory, on one thread as on two. One test: the counter is global.

mod common;
#[path = "../../solve/tests/counting/mod.rs"]
mod counting;

use common::{body, flat};
use counting::asked;
use lilyan_dynamics::integrators::CATALOGUE;
use lilyan_dynamics::{State, System};
use lilyan_parallel::threads::set_threads;
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::{ModelBuilder, Pin};

#[test]
fn explicit_steps_ask_for_no_memory() {
    let mesh = box_mesh([4.0, 1.0, 1.0], [32, 8, 8]).unwrap();
    let held = (0..).zip(&mesh.vertices).filter(|(_, v)| v[0] == 0.0).map(|(n, _)| n).collect();
    let mut builder = ModelBuilder::default();
    builder.body(body(mesh.clone(), "neo-hookean-log")).unwrap();
    builder.gravity([0.0, -9.81, 0.0]);
    builder.pin(Pin { nodes: held, axes: [true; 3], motion: None, until: f64::INFINITY });
    let model = builder.build();
    let start = State::new(&model, flat(&mesh.vertices), vec![0.0; model.dofs()]);
    let mut tried = 0;
    // Those that are explicit by nature, not for one value of an option.
    let explicit = CATALOGUE.iter().filter(|entry| entry.create(&[]).unwrap().claims().explicit);
    let cases = explicit.flat_map(|entry| entry.all_variants().into_iter().map(move |given| (entry, given)));
    for (entry, given) in cases {
        let mut method = entry.create(&given).unwrap();
        tried += 1;
        for threads in [1, 2, 3] {
            set_threads(threads);
            let mut state = start.clone();
            let mut steps = |count: usize| {
                for _ in 0..count {
                    method.step(&model, &mut state, 1e-4).unwrap();
                }
            };
            // A thread that comes late begins with memory of its own; what a step asks for it would always ask for.
            let least = (0..10).map(|_| asked(|| steps(20))).min();
            assert_eq!(least, Some(0), "{} {given:?}, {threads} threads", entry.name);
        }
    }
    assert!(tried > 1);
}
