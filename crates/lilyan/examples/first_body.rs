//! A beam of rubber, clamped at one end, swings under its weight.
//!
//!     cargo run --release -p lilyan --example first_body

use lilyan::body::{BodyInput, ModelBuilder, Pin, box_mesh};
use lilyan::material::{self, Given};
use lilyan::simulation::{Simulation, State};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The body: a mesh, a material, a density.
    let mesh = box_mesh([2.0, 0.5, 0.5], [8, 2, 2])?;
    let at = |x: f64| (0..mesh.vertices.len()).filter(|n| mesh.vertices[*n][0] == x).collect::<Vec<_>>();
    let (clamped, tip) = (at(0.0), at(2.0));
    let rubber = material::find("stable-neo-hookean").ok_or("no such material")?;
    let body = BodyInput::new("beam", mesh, rubber, Given::from_young(3e5, 0.4)?, 1000.0);

    // The model: bodies, and what acts on them.
    let mut builder = ModelBuilder::default();
    builder.body(body)?;
    builder.gravity([0.0, -9.81, 0.0]);
    let nodes = clamped.iter().map(|n| *n as u32).collect();
    builder.pin(Pin { nodes, axes: [true; 3], motion: None, until: f64::INFINITY });
    let model = builder.build();

    // The integrator, and the loop.
    let method = lilyan::integrator::find("energy-momentum").ok_or("no such integrator")?.create(&[])?;
    let start = model.start().to_vec();
    let velocity = vec![0.0; start.len()];
    let state = State::new(&model, start, velocity);
    let mut simulation = Simulation::new(model, method, state, 0.01);
    let height =
        |s: &Simulation<_>| tip.iter().map(|n| s.state().q[3 * n + 1]).sum::<f64>() / tip.len() as f64;
    let (before, above) = (simulation.total_energy(), height(&simulation));
    println!("  t (s)  tip (m)  Newton iterations");
    for step in 1..=50 {
        let record = simulation.advance()?;
        if step % 10 == 0 {
            let fallen = height(&simulation) - above;
            println!("{:7.2}  {fallen:7.4}  {}", simulation.state().t, record.stats.newton_iterations);
        }
    }

    let drift = simulation.total_energy() - before;
    println!("energy changed by {drift:.1e} J of {:.0} J in play", before.abs());
    assert!(height(&simulation) < above && drift.abs() < 1e-6 * before.abs());
    Ok(())
}
