//! The cost of the highest frequency of a body with a constraint grows with the body, not with its square.

#[path = "common/running.rs"]
mod running;

#[path = "../../solve/tests/counting/mod.rs"]
mod counting;

use counting::asked;
use lilyan_dynamics::System;
use lilyan_study::diagnose::largest_frequency;
use running::made;

const BAR: &str = r#"
time = { end = 1, step = 0.01 }
[[body]]
mesh = { box = { size = [4, 1, 1], cells = [24, 6, 6] } }
material = { E = 1e5, nu = 0.3, rho = 1000 }
[[constraint]]
kind = "distance"
between = [[0, 0, 0], [4, 1, 1]]
"#;

#[test]
fn the_highest_frequency_with_a_constraint_does_not_ask_for_memory_per_unknown() {
    let (_, built) = made(BAR, &[]);
    let mut found = None;
    let count = asked(|| found = largest_frequency(&built));
    assert!(found.is_some_and(|omega| omega > 0.0));
    let dofs = built.simulation.system().dofs();
    assert!(count < dofs, "{count} allocations for {dofs} unknowns");
}
