//! An integrator of one's own, symplectic Euler: p₁ = p₀ − h∇W(q₀), q₁ = q₀ + hM⁻¹p₁. Its order and what it conserves are measured.
//!
//!     cargo run --release -p lilyan --example own_integrator

use lilyan::body::{BodyInput, Model, ModelBuilder, box_mesh};
use lilyan::integrator::{Claims, Integrator, Prescribed, StepError, StepStats, System};
use lilyan::material::{self, Given};
use lilyan::simulation::{Simulation, State};

#[derive(Default)]
struct SymplecticEuler {
    prescribed: Prescribed,
}

impl Integrator for SymplecticEuler {
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<StepStats, StepError> {
        self.prescribed.prepare(system, state, h)?;
        let (mut gradient, mut v) = (vec![0.0; state.q.len()], state.v.clone());
        system.gradient(state.t, &state.q, &mut gradient);
        let mut p: Vec<f64> = state.p.iter().zip(&gradient).map(|(p, g)| p - h * g).collect();
        system.mass().solve(&self.prescribed.mask, &p, &mut v);
        let mut q: Vec<f64> = state.q.iter().zip(&v).map(|(q, v)| q + h * v).collect();
        self.prescribed.finish(system, state, h, &mut q, &mut p)?;
        Ok(StepStats::default())
    }

    fn claims(&self) -> Claims {
        Claims {
            order: 1,
            damped_order: 1,
            explicit: true,
            symplectic: true,
            reversible: false,
            linear_momentum: true,
            angular_momentum: true,
            energy: false,
        }
    }
}

/// A soft bar in free flight that spins and is stretched by a tenth. (From a start without forces the method would be
/// the leapfrog, of order two.)
fn spinning() -> Result<(Model, State), Box<dyn std::error::Error>> {
    let soft = material::find("stable-neo-hookean").ok_or("no such material")?;
    let mut builder = ModelBuilder::default();
    let mesh = box_mesh([2.0, 1.0, 1.0], [4, 2, 2])?;
    builder.body(BodyInput::new("bar", mesh, soft, Given::from_young(1e5, 0.3)?, 1000.0))?;
    let model = builder.build();
    let q: Vec<f64> = model.start().chunks_exact(3).flat_map(|x| [1.1 * x[0], x[1], x[2]]).collect();
    let v = q.chunks_exact(3).flat_map(|x| [-2.0 * x[1], 2.0 * x[0], 0.0]).collect();
    let state = State::new(&model, q, v);
    Ok((model, state))
}

/// The simulation after 0.1 s in steps of h.
fn run(method: Box<dyn Integrator>, h: f64) -> Result<Simulation<Model>, Box<dyn std::error::Error>> {
    let (model, state) = spinning()?;
    let mut simulation = Simulation::new(model, method, state, h);
    for _ in 0..(0.1 / h).round() as usize {
        simulation.advance()?;
    }
    Ok(simulation)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rk4 = lilyan::integrator::find("rk4").ok_or("no such integrator")?;
    let exact = run(rk4.create(&[])?, 2.5e-4)?;
    let mut last: Option<f64> = None;
    for h in [2e-3, 1e-3, 5e-4] {
        let simulation = run(Box::new(SymplecticEuler::default()), h)?;
        let off =
            simulation.state().q.iter().zip(&exact.state().q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let order = last.map(|before| (before / off).log2());
        println!(
            "h = {h:.0e} s: error {off:.2e} m, order {}",
            order.map_or("–".into(), |x| format!("{x:.2}"))
        );
        assert!(order.is_none_or(|order| (order - 1.0).abs() < 0.2));
        last = Some(off);
        let ((_, before), (_, now)) = (spinning()?.1.momenta([0.0; 3]), simulation.state().momenta([0.0; 3]));
        assert!((now[2] - before[2]).abs() < 1e-12 * before[2], "angular momentum: {before:?}, {now:?}");
    }
    println!("angular momentum is conserved to round-off");
    Ok(())
}
