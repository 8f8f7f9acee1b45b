//! A material of one's own, ψ = ½μ(x + ½b x²) − μ ln J + ½λ ln²J with x = tr C − 3: it hardens where it is stretched.
//!
//!     cargo run --release -p lilyan --example own_material
#![allow(non_snake_case)] // the letters of the formula

use lilyan::body::{BodyInput, ModelBuilder, box_mesh};
use lilyan::material::*;
use lilyan::simulation::{Simulation, State};

struct Hardening;

impl Density for Hardening {
    const CARD: Card = Card {
        name: "hardening",
        summary: "neo-Hookean that hardens where it is stretched",
        formula: "mu/2 (x + b x^2/2) - mu ln J + lambda/2 ln(J)^2, x = tr C - 3",
        parameters: &[Parameter { name: "b", doc: "-, rate of hardening", default: Some(1.0) }],
        frame_indifferent: true,
        survives_inversion: false,
        analytic: true,
        small_strain: SmallStrain::Given,
        cite: "",
    };
    type Tangent = ByInvariants;

    fn constants(given: &Given) -> Result<Vec<f64>, ConstantsError> {
        Ok(vec![given.lambda, given.mu, given.get("b").unwrap_or(1.0)])
    }
    fn energy<T: Real>(c: &[T], F: &Mat3<T>) -> T {
        let [lambda, mu, b] = constants(c);
        let (x, J) = (F.dot(F) - T::new(3.0), F.det());
        let ln_J = J.ln();
        let psi =
            mu * (x + (b * x * x).scale(0.5)).scale(0.5) - mu * ln_J + (lambda * ln_J * ln_J).scale(0.5);
        infinite_unless_positive(J, psi)
    }
    fn stress<T: Real>(c: &[T], F: &Mat3<T>) -> Mat3<T> {
        let [lambda, mu, b] = constants(c);
        let (x, J) = (F.dot(F) - T::new(3.0), F.det());
        Mat3::combine(mu * (T::one() + b * x), F, (lambda * J.ln() - mu) / J, &F.cofactor())
    }
}

impl Isotropic for Hardening {
    const COUPLED: bool = true; // ψ is not linear in I = tr C
    fn derivatives<T: Real>(c: &[T], at: &Invariants<T>) -> Derivatives<T> {
        let [lambda, mu, b] = constants(c);
        let ln_J = at.J.ln();
        Derivatives {
            I: mu.scale(0.5) * (T::one() + b * (at.I - T::new(3.0))),
            II: (mu * b).scale(0.5),
            J: (lambda * ln_J - mu) / at.J,
            JJ: (lambda * (T::one() - ln_J) + mu) / (at.J * at.J),
            ..Derivatives::none()
        }
    }
}

/// The largest difference between P and ∂ψ/∂F by a complex step, and between ∂P/∂F and differences of P, relative.
fn errors(material: &dyn Material, c: &[f64]) -> [f64; 2] {
    let F = Mat3([[1.2, 0.1, 0.0], [-0.2, 0.9, 0.3], [0.1, 0.0, 1.1]]);
    let (P, K) = (material.stress(c, &F), material.hessian(c, &F));
    let mut worst = [0.0f64; 2];
    for k in 0..9 {
        let (i, j, step) = (k / 3, k % 3, 1e-30);
        let moved =
            Mat3::from_fn(|a, b| Complex { re: F[(a, b)], im: if (a, b) == (i, j) { step } else { 0.0 } });
        worst[0] = worst[0].max((material.energy_complex(c, &moved).im / step - P[(i, j)]).abs() / c[1]);
        let dP = material.stress_complex(c, &moved);
        for (l, row) in K.iter().enumerate() {
            worst[1] = worst[1].max((dP[(l / 3, l % 3)].im / step - row[k]).abs() / c[1]);
        }
    }
    worst
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let material = entry::<Hardening>();
    let given = Given::from_young(1e5, 0.3)?.with("b", 2.0);
    let [stress, tangent] = errors(material, &material.constants(&given)?);
    println!("errors of the derivatives: {stress:.1e} of P, {tangent:.1e} of dP/dF");
    assert!(stress < 1e-13 && tangent < 1e-13);

    // It is used as those of the catalogue are.
    let mesh = box_mesh([1.0; 3], [3; 3])?;
    let stretched = mesh.vertices.iter().map(|x| [1.3 * x[0], x[1], x[2]]).collect();
    let mut builder = ModelBuilder::default();
    builder.body(BodyInput {
        start: Some(stretched),
        ..BodyInput::new("cube", mesh, material, given, 1000.0)
    })?;
    let model = builder.build();
    let start = model.start().to_vec();
    let velocity = vec![0.0; start.len()];
    let state = State::new(&model, start, velocity);
    let method = lilyan::integrator::find("energy-momentum").ok_or("no such integrator")?.create(&[])?;
    let mut simulation = Simulation::new(model, method, state, 0.005);
    let before = simulation.total_energy();
    for _ in 0..40 {
        simulation.advance()?;
    }
    let drift = simulation.total_energy() - before;
    println!("40 steps: energy changed by {drift:.1e} J of {before:.0} J");
    assert!(drift.abs() < 1e-6 * before);
    Ok(())
}
