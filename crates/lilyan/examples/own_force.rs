//! A force of one's own, the drag −½ρc|v|v per area of a falling plate, and its terminal speed √(2mg/ρcA).
//!
//!     cargo run --release -p lilyan --example own_force

use lilyan::body::{BodyInput, Force, ModelBuilder, box_mesh};
use lilyan::integrator;
use lilyan::material::{self, Given};
use lilyan::simulation::{Simulation, State};

/// −c|v|v on every node, c in kg/m.
struct QuadraticDrag(f64);

impl Force for QuadraticDrag {
    fn add(&self, _t: f64, _q: &[f64], v: &[f64], f: &mut [f64]) {
        for (v, f) in v.chunks_exact(3).zip(f.chunks_exact_mut(3)) {
            let speed = v.iter().map(|v| v * v).sum::<f64>().sqrt();
            (0..3).for_each(|k| f[k] -= self.0 * speed * v[k]);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = ModelBuilder::default();
    let foam = material::find("stable-neo-hookean").ok_or("no such material")?;
    let plate = box_mesh([1.0, 0.1, 1.0], [4, 1, 4])?;
    let dofs = builder.body(BodyInput::new("plate", plate, foam, Given::from_young(1e5, 0.3)?, 20.0))?;
    builder.gravity([0.0, -9.81, 0.0]);
    // 1 m² with drag coefficient 1.2 in air, shared by the nodes.
    let nodes = dofs.range().len() as f64;
    let whole = 0.5 * 1.2 * 1.2;
    builder.force(Box::new(QuadraticDrag(whole / nodes)));
    let model = builder.build();
    let mass: f64 = model.node_masses().iter().sum();

    let state = State::new(&model, model.start().to_vec(), vec![0.0; model.start().len()]);
    let method = integrator::find("energy-momentum").ok_or("no such integrator")?.create(&[])?;
    let mut simulation = Simulation::new(model, method, state, 0.02);
    for _ in 0..150 {
        simulation.advance()?;
    }
    let (p, _) = simulation.state().momenta([0.0; 3]);
    let (speed, terminal) = (-p[1] / mass, (mass * 9.81 / whole).sqrt());
    println!("{speed:.4} m/s after 3 s; terminal speed {terminal:.4} m/s");
    let ledger = simulation.ledger();
    println!("work of the drag: {:.2} J", ledger.work_external);
    // v = v∞ tanh(gt/v∞), and an energy budget that closes.
    let exact = terminal * (9.81 * simulation.state().t / terminal).tanh();
    let lost = ledger.dissipated_numerical(simulation.total_energy());
    if (speed / exact - 1.0).abs() > 0.01 || lost.abs() > 1e-6 * ledger.work_external.abs() {
        return Err("the plate does not fall as theory says".into());
    }
    Ok(())
}
