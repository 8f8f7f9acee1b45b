//! Times of the parts of an implicit step.
//!
//! Factorisation and solves are timed separately on the matrix of the last step, and multiplied by their number in the step.
//! Assembly, forces and energies are timed inside the step.

use super::figures::{Figures, Limit};
use super::timed_system::TimedSystem;
use super::{best, block, deformed, integrator};
use crate::failure::{CommandResult, Failure};
use lilyan_dynamics::{Integrator, State, System, Value};
use lilyan_solid::Pin;
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, Cholesky};
use std::time::Instant;

/// Seconds of parts of a step.
pub struct Split {
    pub steps: f64,
    pub total: f64,
    pub factor: f64,
    pub solve: f64,
    pub assembly: f64,
    pub gradient: f64,
    pub energy: f64,
    pub newton: f64,
}

impl Split {
    /// Takes `steps` steps and measures the times of their parts. `weight` is the c of M + c∇²W, s². It is given if every assembled
    /// matrix is factorised and used for one solve.
    pub fn measure(
        system: &dyn System,
        integrator: &mut dyn Integrator,
        state: &mut State,
        h: f64,
        steps: usize,
        weight: Option<f64>,
    ) -> Result<Self, Failure> {
        let watch = TimedSystem::new(system);
        let mut newton = 0;
        let start = Instant::now();
        for _ in 0..steps {
            let done = integrator.step(&watch, state, h).map_err(Failure::stopped)?;
            newton += done.newton_iterations;
        }
        let total = start.elapsed().as_secs_f64();
        let (factor, solve) = match weight {
            Some(weight) => factor_and_solve(system, state, weight)?,
            None => (0.0, 0.0),
        };
        Ok(Self {
            steps: steps as f64,
            total,
            factor: factor * watch.hessian.calls(),
            solve: solve * newton as f64,
            assembly: watch.hessian.seconds(),
            gradient: watch.gradient.seconds(),
            energy: watch.energy.seconds(),
            newton: newton as f64,
        })
    }

    /// Adds the figures to a benchmark.
    pub fn report(&self, figures: &mut Figures, label: &str) {
        let mut share = |name: &str, seconds: f64| {
            figures.add(format!("{label}{name}"), 100.0 * seconds / self.total, "% of the step");
        };
        if self.factor > 0.0 {
            share("factorisation", self.factor);
            share("solves", self.solve);
        }
        share("assembly", self.assembly);
        share("forces", self.gradient);
        share("energies", self.energy);
        figures.add(format!("{label}Newton iterations"), self.newton / self.steps, "per step");
        figures.add(format!("{label}time"), 1e3 * self.total / self.steps, "ms per step");
    }

    /// (factorisation + solves)/total, per cent.
    pub fn linear_share(&self) -> f64 {
        100.0 * (self.factor + self.solve) / self.total
    }
}

/// Shortest times of a factorisation of M + c∇²W at the state and of a solve with it, s.
fn factor_and_solve(system: &dyn System, state: &State, weight: f64) -> Result<(f64, f64), Failure> {
    let mut a = BlockMatrix::zeros(system.pattern().clone());
    let mut held = vec![false; system.dofs()];
    system.abilities().mark_prescribed(state.t, &mut held);
    system.hessian(state.t, &state.q, Curvature::Projected, &mut a);
    a.scale(weight);
    system.mass().add_to(&mut a);
    a.hold(&held);
    let mut factor = Cholesky::new();
    factor.factor(&a).map_err(Failure::stopped)?; // with the analysis, which a run does once
    let factoring = best(3, 0.5, || factor.factor(&a).expect("it was factorised before"));
    let mut x = state.p.clone();
    let solving = best(3, 0.1, || {
        x.copy_from_slice(&state.p);
        factor.solve(&mut x);
    });
    Ok((factoring, solving))
}

pub fn run(figures: &mut Figures) -> CommandResult {
    let (mesh, mut builder) = block([4.0, 1.0, 1.0], [40, 10, 10], "neo-hookean")?;
    let nodes = (0u32..).zip(&mesh.vertices).filter(|(_, x)| x[0] == 0.0).map(|(n, _)| n).collect();
    builder.pin(Pin { nodes, axes: [true; 3], motion: None, until: f64::INFINITY });
    let model = builder.build();
    let h = 0.01;
    let midpoint = integrator(
        "variational",
        &[("alpha".into(), Value::Number(0.5)), ("linear".into(), Value::Word("direct".into()))],
    );
    let mut midpoint = midpoint?;
    let q = deformed(&mesh);
    let mut state = State::new(&model, q, vec![0.0; model.dofs()]);
    midpoint.step(&model, &mut state, h).map_err(Failure::stopped)?; // with the analysis
    let split = Split::measure(&model, midpoint.as_mut(), &mut state, h, 4, Some(0.25 * h * h))?;
    figures.hold("factorisation and solves", split.linear_share(), "% of the step", Limit::AtLeast(60.0));
    split.report(figures, "");
    figures.remark(format!(
        "midpoint step of {h} s, neo-Hookean bar of {} tets, clamped, stretched by a tenth and bent",
        mesh.tets().len()
    ));
    Ok(())
}
