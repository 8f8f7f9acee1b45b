//! The common beam with damping, with conserved energy, and by methods of one solve per step: the cost of a step relative to
//! that of a plain one, and how it grows with the mesh.

use super::beam::{Beam, least_time};
use super::figures::{Figures, Limit};
use crate::failure::{CommandResult, Failure};
use lilyan_parallel::threads;
use std::collections::BTreeMap;

/// Cells across, and steps of a measurement.
const SIZES: [(usize, usize); 4] = [(8, 8), (10, 6), (16, 3), (24, 2)];
/// Number of measurements of each run, alternately. The shortest is the result.
const TURNS: usize = 3;
/// Largest exponent of the cost, from the smallest mesh to the largest.
const EXPONENT: f64 = 1.3;

const VISCOUS: &str = "body.beam.damping={model=\"viscous\",time=0.005}";
const RAYLEIGH: &str = "body.beam.damping={model=\"rayleigh\",alpha=0.1,beta=0.005}";
const VARIATIONAL: &str = "integrator={name=\"variational\",tolerance=1e-6}";
const MIDPOINT: &str = "integrator={name=\"implicit-midpoint\",tolerance=1e-6}";
const NEWMARK: &str = "integrator={name=\"newmark\",tolerance=1e-6}";
const BDF2: &str = "integrator={name=\"bdf2\",tolerance=1e-6}";
const CONSERVING: &str = "integrator={name=\"energy-momentum\",tolerance=1e-6}";
const ONE_SOLVE: &str = "integrator={name=\"semi-implicit\"}";
const CO_ROTATIONAL: &str = "body.beam.material.model=co-rotational";
const STVK: &str = "body.beam.material.model=stvk";

/// Settings of the beam.
type Settings = &'static [&'static str];

/// A run, the plain run, and the most that it may cost in steps of the plain run.
struct Comparison {
    says: &'static str,
    settings: Settings,
    plain: Settings,
    most: f64,
}

const fn compared(says: &'static str, settings: Settings, plain: Settings, most: f64) -> Comparison {
    Comparison { says, settings, plain, most }
}

/// Steps with damping, in steps without.
pub fn damped(figures: &mut Figures) -> CommandResult {
    compare(
        figures,
        &[
            compared("backward-euler, viscous", &[VISCOUS], &[], 1.8),
            compared("backward-euler, rayleigh", &[RAYLEIGH], &[], 1.8),
            compared("variational, viscous", &[VARIATIONAL, VISCOUS], &[VARIATIONAL], 1.8),
            compared("implicit-midpoint, viscous", &[MIDPOINT, VISCOUS], &[MIDPOINT], 1.8),
            compared("newmark, viscous", &[NEWMARK, VISCOUS], &[NEWMARK], 1.8),
            compared("bdf2, viscous", &[BDF2, VISCOUS], &[BDF2], 1.8),
        ],
    )
}

/// Steps that conserve the energy, in undamped steps of backward Euler.
pub fn conserving(figures: &mut Figures) -> CommandResult {
    compare(
        figures,
        &[
            compared("energy-momentum", &[CONSERVING], &[], 1.8),
            compared("energy-momentum, viscous", &[CONSERVING, VISCOUS], &[], 1.8),
        ],
    )
}

/// Methods of one solve per step.
pub fn solves(figures: &mut Figures) -> CommandResult {
    compare(
        figures,
        &[
            compared("semi-implicit over backward Euler", &[ONE_SOLVE], &[], 0.8),
            compared("siere over semi-implicit", &["integrator={name=\"siere\"}"], &[ONE_SOLVE], 1.3),
            compared("mssi over semi-implicit", &["integrator={name=\"mssi\"}"], &[ONE_SOLVE], 2.0),
            compared(
                "regularized over semi-implicit, stvk",
                &["integrator={name=\"regularized\"}", STVK],
                &[ONE_SOLVE, STVK],
                2.0,
            ),
            compared(
                "corotational-reversible over semi-implicit, co-rotational",
                &["integrator={name=\"corotational-reversible\"}", CO_ROTATIONAL],
                &[ONE_SOLVE, CO_ROTATIONAL],
                2.0,
            ),
        ],
    )
}

fn compare(figures: &mut Figures, cases: &[Comparison]) -> CommandResult {
    let all = threads::threads();
    threads::set_threads(1);
    let mut growth: Vec<Vec<(f64, f64)>> = cases.iter().map(|_| Vec::new()).collect();
    for (n, steps) in SIZES {
        eprintln!("  n = {n}");
        let mut runs: BTreeMap<Settings, (Beam, f64)> = BTreeMap::new();
        for settings in cases.iter().flat_map(|case| [case.settings, case.plain]) {
            if !runs.contains_key(settings) {
                runs.insert(settings, (Beam::new(n, settings)?.warm()?, f64::INFINITY));
            }
        }
        for _ in 0..TURNS {
            for (beam, best) in runs.values_mut() {
                let seconds = least_time(1, &mut || beam.pace(steps).map(|_| ()))? / steps as f64;
                *best = best.min(seconds);
            }
        }
        for (case, growth) in cases.iter().zip(&mut growth) {
            let [seconds, plain] = [case.settings, case.plain].map(|settings| runs[settings].1);
            figures.add(format!("n = {n}: {}", case.says), 1e3 * seconds, "ms per step");
            let name = format!("n = {n}: {}: relative", case.says);
            figures.hold(name, seconds / plain, "", Limit::AtMost(case.most));
            growth.push(((24 * n * n * n) as f64, seconds));
        }
    }
    threads::set_threads(all);
    for (case, growth) in cases.iter().zip(&growth) {
        let [(least, then), .., (most, seconds)] = growth[..] else {
            return Err(Failure::stopped("the growth of a cost needs two meshes"));
        };
        let exponent = (seconds / then).ln() / (most / least).ln();
        figures.hold(format!("{}: exponent of the cost", case.says), exponent, "", Limit::AtMost(EXPONENT));
    }
    figures.remark("the common beam, one thread; the shortest of three alternate measurements");
    Ok(())
}
