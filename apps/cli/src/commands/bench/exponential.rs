//! Cost of exponential methods: `siere` relative to `semi-implicit`, `ere` for stiffer materials, and `ere` relative to
//! Runge–Kutta.

use super::figures::{Figures, Limit};
use super::integrator;
use crate::failure::{CommandResult, Failure};
use lilyan_dynamics::systems::{Particles, Spring};
use lilyan_dynamics::{Integrator, State, System, Value};
use lilyan_solid::materials::{Given, find};
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::{BodyInput, Model, ModelBuilder, Pin};
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, largest_eigenvalue};
use std::time::Instant;

/// A neo-Hookean bar of 4 × 1 × 1 m, and its number of tets. It is clamped at one end, bent, and starts at rest.
fn bar(cells: usize, young: f64) -> Result<(Model, State, usize), Failure> {
    let mesh = box_mesh([4.0, 1.0, 1.0], [4 * cells, cells, cells]).map_err(Failure::stopped)?;
    let material = find("neo-hookean").ok_or_else(|| Failure::stopped("no material neo-hookean"))?;
    let given = Given::from_young(young, 0.3).map_err(Failure::stopped)?;
    let mut builder = ModelBuilder::default();
    builder.body(BodyInput::new("bar", mesh.clone(), material, given, 1000.0)).map_err(Failure::stopped)?;
    let nodes = (0u32..).zip(&mesh.vertices).filter(|(_, x)| x[0] == 0.0).map(|(n, _)| n).collect();
    builder.pin(Pin { nodes, axes: [true; 3], motion: None, until: f64::INFINITY });
    let bent = |x: &[f64; 3]| [x[0], x[1] + 0.005 * x[0] * x[0], x[2]];
    let q = mesh.vertices.iter().flat_map(bent).collect();
    let model = builder.build();
    let n = model.dofs();
    let state = State::new(&model, q, vec![0.0; n]);
    Ok((model, state, mesh.tets().len()))
}

/// The straight bar with the velocities of a bending beam. The state is smooth, as states of runs with damping are.
fn swinging(cells: usize, young: f64) -> Result<(Model, State, usize), Failure> {
    let (model, _, tets) = bar(cells, young)?;
    let mesh = box_mesh([4.0, 1.0, 1.0], [4 * cells, cells, cells]).map_err(Failure::stopped)?;
    let turning = |x: &[f64; 3]| {
        let (rate, slope) = (x[0] * x[0] * (12.0 - x[0]) / 128.0, 3.0 * x[0] * (8.0 - x[0]) / 128.0);
        [(0.5 - x[1]) * slope, rate, 0.0]
    };
    let q = mesh.vertices.iter().flatten().copied().collect();
    let v = mesh.vertices.iter().flat_map(turning).collect();
    let state = State::new(&model, q, v);
    Ok((model, state, tets))
}

/// Shortest time of a step of each method, s. The methods step alternately. The first step of each, with its analysis, is not
/// counted.
fn in_turn<const N: usize>(
    system: &dyn System,
    state: &State,
    methods: &mut [Box<dyn Integrator>; N],
    h: f64,
    steps: usize,
) -> Result<[f64; N], Failure> {
    let mut states: [State; N] = std::array::from_fn(|_| state.clone());
    let mut least = [f64::INFINITY; N];
    for step in 0..=steps {
        for k in 0..N {
            let began = Instant::now();
            methods[k].step(system, &mut states[k], h).map_err(Failure::stopped)?;
            if step > 0 {
                least[k] = least[k].min(began.elapsed().as_secs_f64());
            }
        }
    }
    Ok(least)
}

fn ere(method: &str, tolerance: f64) -> Result<Box<dyn Integrator>, Failure> {
    let method = ("method".into(), Value::Word(method.into()));
    integrator("ere", &[method, ("tolerance".into(), Value::Number(tolerance))])
}

/// ‖q − q*‖ / ‖q* − q₀‖.
fn error(state: &State, reference: &State, start: &State) -> f64 {
    let distance =
        |a: &State, b: &State| a.q.iter().zip(&b.q).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
    distance(state, reference) / distance(reference, start)
}

fn advance(
    system: &dyn System,
    integrator: &mut dyn Integrator,
    start: &State,
    end: f64,
    steps: usize,
) -> Result<(State, f64), Failure> {
    let mut state = start.clone();
    let began = Instant::now();
    for _ in 0..steps {
        integrator.step(system, &mut state, end / steps as f64).map_err(Failure::stopped)?;
    }
    Ok((state, began.elapsed().as_secs_f64()))
}

fn siere(figures: &mut Figures) -> CommandResult {
    for (cells, steps) in [(8, 12), (13, 5)] {
        for young in [1e5, 1e7, 1e10] {
            let (model, state, tets) = bar(cells, young)?;
            let mut methods = [integrator("semi-implicit", &[])?, integrator("siere", &[])?];
            let [si, siere] = in_turn(&model, &state, &mut methods, 0.01, steps)?;
            let name = format!("siere / semi-implicit, {tets} tets, E = {young:.0e} Pa");
            figures.hold(name, siere / si, "", Limit::AtMost(1.3));
        }
    }
    Ok(())
}

/// Cost and error of one step for E from 1e7 to 1e11 Pa. The reference is the same step by products with a tolerance of 1e-8.
fn stiffening(figures: &mut Figures) -> CommandResult {
    let h = 0.01;
    let mut cost = Vec::new();
    let mut worst: f64 = 0.0;
    for young in [1e7, 1e9, 1e11] {
        let (model, state, _) = swinging(4, young)?;
        let (reference, by_products) = advance(&model, ere("lanczos", 1e-8)?.as_mut(), &state, h, 1)?;
        let (end, _) = advance(&model, ere("shift-invert", 1e-3)?.as_mut(), &state, h, 1)?;
        let off = error(&end, &reference, &state);
        worst = worst.max(off);
        let mut methods = [ere("shift-invert", 1e-3)?];
        let [seconds] = in_turn(&model, &state, &mut methods, h, 10)?;
        cost.push(seconds);
        figures.add(format!("ere by solves, E = {young:.0e} Pa: error of a step"), 100.0 * off, "%");
        figures.add(
            format!("ere by products to 1e-8 / by solves, E = {young:.0e} Pa"),
            by_products / seconds,
            "",
        );
    }
    figures.hold("ere by solves: cost from E = 1e7 to 1e11 Pa", cost[2] / cost[0], "", Limit::AtMost(1.5));
    // The bent bar is not in equilibrium and has waves of all lengths, so the method changes from solves to products.
    let (model, state, _) = bar(4, 1e11)?;
    let (reference, _) = advance(&model, ere("lanczos", 1e-8)?.as_mut(), &state, h, 1)?;
    let (end, seconds) = advance(&model, ere("shift-invert", 1e-3)?.as_mut(), &state, h, 1)?;
    let off = error(&end, &reference, &state);
    figures.add("ere by solves, E = 1e11 Pa, rough state: error of a step", 100.0 * off, "%");
    figures.add("ere by solves, E = 1e11 Pa: cost of a rough state / a smooth one", seconds / cost[2], "");
    figures.hold("ere by solves: largest error of a step", 100.0 * worst.max(off), "%", Limit::AtMost(1.0));
    Ok(())
}

/// Compares solves with products, to find the stiffness from which solves are faster.
fn crossing(figures: &mut Figures) -> CommandResult {
    let h = 0.01;
    for (cells, stiffnesses) in [(4, [1e8, 1e9, 1e10]), (8, [1e7, 1e8, 1e9])] {
        for young in stiffnesses {
            let (model, state, tets) = swinging(cells, young)?;
            let n = model.dofs();
            let mut stiffness = BlockMatrix::zeros(model.pattern().clone());
            model.hessian(0.0, &state.q, Curvature::Exact, &mut stiffness);
            let mut held = vec![false; n];
            model.abilities().mark_prescribed(0.0, &mut held);
            let mut apply = |x: &[f64], y: &mut [f64]| stiffness.mul_vec(x, y);
            let fastest = h * largest_eigenvalue(&mut apply, model.mass().diagonal(), &held, 0.02).sqrt();
            let mut methods = [ere("lanczos", 1e-3)?, ere("shift-invert", 1e-3)?];
            let [products, solves] = in_turn(&model, &state, &mut methods, h, 3)?;
            let name = format!("ere by products / by solves, {tets} tets, hω_max = {fastest:.0}");
            figures.add(name, products / solves, "");
        }
    }
    Ok(())
}

/// A curved chain of 50 springs, 1 m long. One end has a mass so large that it does not move.
fn rope() -> (Particles, State) {
    let count = 51u32;
    let spring = |i: u32| Spring { ends: [i - 1, i], stiffness: 1e4, length: 0.02, damping: 0.0 };
    let mut masses = vec![0.002; count as usize];
    masses[0] = 1e9;
    let system = Particles::new(&masses, (1..count).map(spring).collect(), 1.0);
    let point = |i: u32| {
        let x = f64::from(i) / 50.0;
        [1.002 * x, 0.1 * x * x, 0.0]
    };
    let q: Vec<f64> = (0..count).flat_map(point).collect();
    let n = q.len();
    let state = State::new(&system, q, vec![0.0; n]);
    (system, state)
}

/// Time of `rk4` divided by the time of `ere`. `rk4` takes its longest stable step, or the step with an error of 5 % if that is
/// shorter. `ere` takes its longest step that is as accurate as `rk4`, or within 1 %.
fn against_rk4(
    figures: &mut Figures,
    name: &str,
    system: &dyn System,
    start: &State,
    end: f64,
) -> CommandResult {
    let mut least = 64;
    while advance(system, integrator("rk4", &[])?.as_mut(), start, end, least)
        .map_or(true, |(s, _)| !s.q.iter().all(|x| x.abs() < 10.0))
    {
        least = least * 5 / 4;
    }
    let (reference, _) = advance(system, integrator("rk4", &[])?.as_mut(), start, end, 16 * least)?;
    let (mut state, mut seconds) = advance(system, integrator("rk4", &[])?.as_mut(), start, end, least)?;
    while error(&state, &reference, start) > 0.05 && least < 1 << 16 {
        least = least * 5 / 4;
        (state, seconds) = advance(system, integrator("rk4", &[])?.as_mut(), start, end, least)?;
    }
    let target = error(&state, &reference, start).max(0.01);
    let mut steps = 4;
    loop {
        let tried = advance(system, ere("lanczos", 1e-4)?.as_mut(), start, end, steps);
        if let Ok((state, took)) = tried {
            let off = error(&state, &reference, start);
            if off <= target || steps > 4 * least {
                figures.add(format!("rk4 at its limit / ere by products, {name}"), seconds / took, "");
                figures.add(
                    format!("  steps of rk4 / steps of ere, {name}"),
                    least as f64 / steps as f64,
                    "",
                );
                figures.add(format!("  error of ere, {name}"), 100.0 * off, "%");
                return Ok(());
            }
        }
        steps = steps * 3 / 2;
    }
}

/// `siere-over-si`.
pub fn siere_over_si(figures: &mut Figures) -> CommandResult {
    siere(figures)?;
    figures.remark(
        "bars of 4 × 1 × 1 m, neo-Hookean, clamped, bent and let go; steps of 10 ms; siere with five modes",
    );
    Ok(())
}

/// `ere-stiffness`.
pub fn ere_stiffness(figures: &mut Figures) -> CommandResult {
    stiffening(figures)?;
    crossing(figures)?;
    figures.remark("bars of 4 × 1 × 1 m, neo-Hookean, clamped, swinging; steps of 10 ms");
    Ok(())
}

/// `exponential`: `ere` relative to `rk4`.
pub fn run(figures: &mut Figures) -> CommandResult {
    let (system, state) = rope();
    against_rk4(figures, "rope of 50 springs", &system, &state, 0.1)?;
    let (model, state, _) = bar(4, 1e5)?;
    against_rk4(figures, "soft bar", &model, &state, 0.5)
}
