//! A material of one's own, ψ = ½μ(I − 3) − μ ln J + ½λ ln²J, a body of it, and a loop.
#![allow(non_snake_case)] // the letters of the formula
use lilyan::body::{BodyInput, ModelBuilder, box_mesh};
use lilyan::simulation::{Simulation, State};
use lilyan::{integrator, material::*};

struct Rubber;
impl Density for Rubber {
    const CARD: Card = Card::hyperelastic("rubber");
    type Tangent = ByInvariants;
    fn constants(given: &Given) -> Result<Vec<f64>, ConstantsError> {
        Ok(vec![given.lambda, given.mu])
    }
    fn energy<T: Real>(c: &[T], F: &Mat3<T>) -> T {
        let ([lambda, mu], J) = (constants(c), F.det());
        let psi =
            mu * (F.dot(F) - T::new(3.0)).scale(0.5) - mu * J.ln() + lambda * J.ln().squared().scale(0.5);
        infinite_unless_positive(J, psi)
    }
    fn stress<T: Real>(c: &[T], F: &Mat3<T>) -> Mat3<T> {
        let ([lambda, mu], J) = (constants(c), F.det());
        Mat3::combine(mu, F, (lambda * J.ln() - mu) / J, &F.cofactor())
    }
}
impl Isotropic for Rubber {
    fn derivatives<T: Real>(c: &[T], at: &Invariants<T>) -> Derivatives<T> {
        let ([lambda, mu], ln_J) = (constants(c), at.J.ln());
        let (J, JJ) = ((lambda * ln_J - mu) / at.J, (lambda * (T::one() - ln_J) + mu) / at.J.squared());
        Derivatives { I: mu.scale(0.5), J, JJ, ..Derivatives::none() }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = ModelBuilder::default();
    let mesh = box_mesh([1.0, 0.2, 0.2], [10, 2, 2])?;
    builder.body(BodyInput::new("bar", mesh, entry::<Rubber>(), Given::from_young(1e5, 0.4)?, 1000.0))?;
    builder.gravity([0.0, -9.81, 0.0]);
    let model = builder.build();
    let spin = model.start().chunks_exact(3).flat_map(|x| [-x[1], x[0], 0.0]).collect();
    let state = State::new(&model, model.start().to_vec(), spin);
    let method = integrator::find("energy-momentum").ok_or("no such integrator")?.create(&[])?;
    let mut simulation = Simulation::new(model, method, state, 0.01);
    for _ in 0..100 {
        simulation.advance()?;
    }
    println!("{:.6} J at t = {} s", simulation.total_energy(), simulation.state().t);
    Ok(())
}
