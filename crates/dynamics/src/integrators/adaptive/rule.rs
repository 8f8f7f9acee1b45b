//! σ rules \[kharevych2010\] §3.3.6: the length of a step as a function of its two ends. σ is symmetric in both ends,
//! positive and smooth. With x = ½(q_k + q_{k+1}), the expected energy E and s = `scale`:
//!
//! | rule | σ | s | effect |
//! |---|---|---|---|
//! | `potential` | 1/(1 + W(x)/s) | J | short steps where W is large |
//! | `poses` | 1/√(y + ε), y = (E − W(x))/s | J | equal distances between configurations |
//! | `phase-space` | the same, y = (E − W(x) + ½τ²∇WᵀM⁻¹∇W)/s | J | equal distances in phase space |
//! | `acceleration` | 1/√(a² + ε²), a = ½∣a(q_k) + a(q_{k+1})∣/s | m/s² | equal changes of velocity |
//!
//! A formula of one's own takes the place of a rule ([`FORMULA`]): 1/σ is the mean over the mass of the free points of 1/formula, at
//! x, y, z of each of them in x, with the potential energy W(x) and the kinetic energy E − W(x) as further variables. So a
//! body takes short steps in a given region of space, the shorter the more of it is there.
//!
//! a(q) is M⁻¹∇W, with constraints its part along what they permit, M⁻¹(∇W + Jᵀμ) with Ja = 0. The default scale of `acceleration` moves a point by 1 % of the length of the body in a nominal step. The default
//! scale of the others is the energy that moves the body by 10 % of its length. ∣a∣ is the root mean square of the
//! free points, weighted by mass. Departures from the source: `potential` is continued to W < 0 by 1 − W/s; y enters as
//! ½(y + √(y² + ε²)), since W(x) may slightly exceed E at a turning point; τ = `time` gives the kinetic and potential
//! terms of `phase-space` one unit.

use crate::constraints::ConstraintSolver;
use crate::options::{Kind, OptionSpec, Options, SharedFormula};
use crate::{Curvature, System};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::dot;

/// Options of every rule.
pub(super) const RULE: OptionSpec = OptionSpec {
    name: "rule",
    doc: "what makes steps longer or shorter than time.step",
    kind: Kind::Word { choices: &["acceleration", "potential", "poses", "phase-space"] },
};
pub(super) const SCALE: OptionSpec = OptionSpec {
    name: "scale",
    doc: "acceleration (m/s²), for other rules energy (J), at which the rule takes hold; 0: by size and step",
    kind: Kind::Number { min: 0.0, max: 1e18, default: 0.0 },
};
pub(super) const EPSILON: OptionSpec = OptionSpec {
    name: "epsilon",
    doc: "bounds the steps of all rules but \"potential\" from above; 1: by time.step",
    kind: Kind::Number { min: 1e-6, max: 1e3, default: 1.0 },
};
pub(super) const TIME: OptionSpec = OptionSpec {
    name: "time",
    doc: "s, weight of accelerations against velocities for rule = \"phase-space\"",
    kind: Kind::Number { min: 0.0, max: 1e6, default: 1.0 },
};

/// σ by a formula.
pub(super) const FORMULA: OptionSpec = OptionSpec {
    name: "formula",
    doc: "length of a step relative to time.step, in place of a rule: a formula of the place of a point (m) and of both energies (J). \
          Above 0 and smooth: a jump, as of a comparison, may leave a step without solution",
    kind: Kind::Formula { variables: &["x", "y", "z", "potential", "kinetic"] },
};

pub(super) const SIGMA: OptionSpec = OptionSpec {
    name: "sigma",
    doc: "where the rule is evaluated: at both ends of a step, or at its start alone (then not reversible)",
    kind: Kind::Word { choices: &["both", "start"] },
};

/// The kinds of σ rules, as in the table above, and a formula of one's own.
#[derive(Clone, PartialEq)]
enum RuleKind {
    Formula(SharedFormula),
    Potential,
    Poses,
    PhaseSpace,
    Acceleration,
}

/// A σ rule.
pub(super) struct Rule {
    /// σ(q₀, q₀) instead of σ(q₀, q₁).
    pub at_start: bool,
    kind: RuleKind,
    scale: f64,
    epsilon: f64,
    time: f64,
}

/// A step on which σ is evaluated.
pub(super) struct Span<'a> {
    pub system: &'a dyn System,
    /// Nominal step, s.
    pub h: f64,
    /// The time at which W is evaluated, s.
    pub t: f64,
    pub q0: &'a [f64],
    /// ½(q₀ + q₁).
    pub x: &'a [f64],
    pub held: &'a [bool],
    /// E, J.
    pub energy: f64,
    /// The acceleration at q₀ of [`Rule::start`].
    pub start: &'a [f64],
}

/// M⁻¹(∇W + Jᵀμ) with Ja = 0, and μ.
struct Acceleration {
    a: Vec<f64>,
    multipliers: Vec<(usize, f64)>,
}

/// The acceleration at q, along what constraints permit.
fn acceleration(system: &dyn System, t: f64, held: &[bool], q: &[f64]) -> Acceleration {
    let (mut g, mut a) = (vec![0.0; q.len()], vec![0.0; q.len()]);
    system.gradient(t, q, &mut g);
    system.mass().solve(held, &g, &mut a);
    let multipliers = ConstraintSolver::tangential(system, t, held, q, &mut a);
    Acceleration { a, multipliers }
}

/// σ and, on request, ∂σ/∂q₀ and ∂σ/∂q₁.
pub(super) struct Sigma {
    pub value: f64,
    pub slopes: Option<[Vec<f64>; 2]>,
}

impl Rule {
    pub fn new(options: &Options) -> Self {
        let kind = match (options.formula("formula"), options.word("rule")) {
            (Some(formula), _) => RuleKind::Formula(formula.clone()),
            (_, "potential") => RuleKind::Potential,
            (_, "poses") => RuleKind::Poses,
            (_, "phase-space") => RuleKind::PhaseSpace,
            _ => RuleKind::Acceleration,
        };
        let number = |name| options.number(name);
        Self {
            at_start: false,
            kind,
            scale: number("scale"),
            epsilon: number("epsilon"),
            time: number("time"),
        }
    }

    /// The acceleration at the start of a step, if the rule depends on it.
    pub fn start(&self, system: &dyn System, t: f64, held: &[bool], q: &[f64]) -> Vec<f64> {
        match &self.kind {
            RuleKind::Acceleration => acceleration(system, t, held, q).a,
            _ => Vec::new(),
        }
    }

    pub fn sigma(&self, span: &Span<'_>, slopes: bool) -> Sigma {
        if !self.at_start {
            return self.between(span, slopes);
        }
        let mut sigma = self.between(&Span { x: span.q0, ..*span }, slopes);
        if let Some([first, second]) = &mut sigma.slopes {
            first.iter_mut().zip(second).for_each(|(a, b)| *a += std::mem::take(b));
        }
        sigma
    }

    /// σ(q₀, q₁).
    fn between(&self, span: &Span<'_>, slopes: bool) -> Sigma {
        match &self.kind {
            RuleKind::Formula(formula) => by_formula(formula, span, slopes),
            RuleKind::Potential => self.of_middle(span, slopes, |u| {
                if u >= 0.0 { (1.0 / (1.0 + u), -1.0 / (1.0 + u).powi(2)) } else { (1.0 - u, -1.0) }
            }),
            RuleKind::Poses => {
                let y = span.energy / self.scale(span);
                self.of_middle(span, slopes, |u| {
                    let (value, slope) = self.inverse_root(y - u);
                    (value, -slope)
                })
            }
            RuleKind::PhaseSpace => self.phase_space(span, slopes),
            RuleKind::Acceleration => self.acceleration(span, slopes),
        }
    }

    fn scale(&self, span: &Span<'_>) -> f64 {
        let pace = span.system.length() / span.h;
        match &self.kind {
            _ if self.scale > 0.0 => self.scale,
            RuleKind::Acceleration => 0.01 * pace / span.h.abs(),
            _ => 0.5 * mass(span.system, span.held) * (0.1 * pace).powi(2),
        }
    }

    /// 1/√(½(y + √(y² + ε²)) + ε) and its derivative.
    fn inverse_root(&self, y: f64) -> (f64, f64) {
        let root = (y * y + self.epsilon * self.epsilon).sqrt();
        let value = 1.0 / (0.5 * (y + root) + self.epsilon).sqrt();
        (value, -0.25 * value.powi(3) * (1.0 + y / root))
    }

    /// A function of u = W(x)/s, given with its derivative.
    fn of_middle(&self, span: &Span<'_>, slopes: bool, f: impl Fn(f64) -> (f64, f64)) -> Sigma {
        let scale = self.scale(span);
        let (value, slope) = f(span.system.energy(span.t, span.x) / scale);
        let slopes = slopes.then(|| {
            let mut g = vec![0.0; span.x.len()];
            span.system.gradient(span.t, span.x, &mut g);
            g.iter_mut().for_each(|g| *g *= 0.5 * slope / scale);
            [g.clone(), g]
        });
        Sigma { value, slopes }
    }

    fn phase_space(&self, span: &Span<'_>, slopes: bool) -> Sigma {
        let (system, n) = (span.system, span.x.len());
        let (mut g, mut a) = (vec![0.0; n], vec![0.0; n]);
        system.gradient(span.t, span.x, &mut g);
        system.mass().solve(span.held, &g, &mut a);
        let (square, scale) = (self.time * self.time, self.scale(span));
        let kinetic = span.energy - system.energy(span.t, span.x);
        let (value, slope) = self.inverse_root((kinetic + 0.5 * square * dot(&g, &a)) / scale);
        let slopes = slopes.then(|| {
            let bent = stiffness_times(span, span.x, &a);
            let half = |i: usize| 0.5 * slope * (square * bent[i] - g[i]) / scale;
            let part: Vec<f64> = (0..n).map(half).collect();
            [part.clone(), part]
        });
        Sigma { value, slopes }
    }

    fn acceleration(&self, span: &Span<'_>, slopes: bool) -> Sigma {
        let Span { system, t, held, .. } = *span;
        let end: Vec<f64> = span.x.iter().zip(span.q0).map(|(x, q)| 2.0 * x - q).collect();
        let last = acceleration(system, t, held, &end);
        let sum: Vec<f64> = last.a.iter().zip(span.start).map(|(a, b)| a + b).collect();
        let mut inertia = vec![0.0; sum.len()];
        system.mass().mul(&sum, &mut inertia);
        let weight = 0.25 / (mass(system, held) * self.scale(span).powi(2));
        let value = 1.0 / (weight * dot(&inertia, &sum) + self.epsilon * self.epsilon).sqrt();
        let slopes = slopes.then(|| {
            let first = acceleration(system, t, held, span.q0);
            [(span.q0, first), (&end, last)].map(|(q, at)| {
                let mut bent = slope_along(span, q, &at, &sum);
                bent.iter_mut().for_each(|b| *b *= -value.powi(3) * weight);
                bent
            })
        });
        Sigma { value, slopes }
    }
}

/// σ by a formula; see the head of this file. Slopes follow from 1/σ = Σ mᵢ/fᵢ / Σ mᵢ.
fn by_formula(SharedFormula(formula): &SharedFormula, span: &Span<'_>, slopes: bool) -> Sigma {
    const POTENTIAL: usize = 3;
    const KINETIC: usize = 4;
    let Span { system, t, x, held, .. } = *span;
    let energetic = [POTENTIAL, KINETIC].map(|variable| formula.depends_on(variable));
    let potential = if energetic.contains(&true) { system.energy(t, x) } else { 0.0 };
    let masses = system.mass().diagonal();
    let (mut total, mut inverse) = (0.0, 0.0);
    // −∂(Σ mᵢ/fᵢ)/∂x at fixed energies, and its factor on ∇W.
    let (mut slope, mut by_energy) = (vec![0.0; x.len()], 0.0);
    for (node, place) in x.chunks_exact(3).enumerate() {
        let free = |k: usize| !held[3 * node + k];
        let mass = (0..3).filter(|k| free(*k)).map(|k| masses[3 * node + k] / 3.0).sum::<f64>();
        if mass == 0.0 {
            continue;
        }
        let values = [place[0], place[1], place[2], potential, span.energy - potential];
        let value = formula.eval_dual(&values, 0).0;
        total += mass;
        inverse += mass / value;
        if !slopes {
            continue;
        }
        let weight = mass / (value * value);
        for k in 0..3 {
            slope[3 * node + k] = weight * formula.eval_dual(&values, k).1;
        }
        let along = |variable: usize| match energetic[variable - POTENTIAL] {
            true => formula.eval_dual(&values, variable).1,
            false => 0.0,
        };
        by_energy += weight * (along(POTENTIAL) - along(KINETIC));
    }
    if total == 0.0 {
        return Sigma { value: 1.0, slopes: slopes.then(|| [slope.clone(), slope]) };
    }
    let value = total / inverse;
    let slopes = slopes.then(|| {
        if by_energy != 0.0 {
            let mut g = vec![0.0; x.len()];
            system.gradient(t, x, &mut g);
            slope.iter_mut().zip(&g).for_each(|(s, g)| *s += by_energy * g);
        }
        // Half of it for either end: x is in the middle.
        slope.iter_mut().for_each(|s| *s *= 0.5 * value * value / total);
        [slope.clone(), slope]
    });
    Sigma { value, slopes }
}

/// The mass of the free unknowns, kg.
fn mass(system: &dyn System, held: &[bool]) -> f64 {
    let each = system.mass().diagonal().iter().zip(held).filter(|(_, held)| !**held);
    let free = each.map(|(m, _)| m).sum::<f64>() / 3.0;
    if free > 0.0 { free } else { 1.0 }
}

/// ∂(uᵀMa)/∂q with a = M⁻¹(∇W + Jᵀμ), Ja = 0, for a fixed u: with the part u' = u + M⁻¹Jᵀν of u that has Ju' = 0,
/// (∇²W + Σμᵢ∇²gᵢ) u' + Σνᵢ∇²gᵢ a.
fn slope_along(span: &Span<'_>, q: &[f64], at: &Acceleration, u: &[f64]) -> Vec<f64> {
    let Span { system, t, held, .. } = *span;
    let mut permitted = u.to_vec();
    let nu = ConstraintSolver::tangential(system, t, held, q, &mut permitted);
    let mut slope = stiffness_times(span, q, &permitted);
    add_curvature(system, t, q, &at.multipliers, &permitted, &mut slope);
    add_curvature(system, t, q, &nu, &at.a, &mut slope);
    slope
}

/// Adds Σ μᵢ∇²gᵢ(q) u, by central differences.
fn add_curvature(
    system: &dyn System,
    t: f64,
    q: &[f64],
    multipliers: &[(usize, f64)],
    u: &[f64],
    out: &mut [f64],
) {
    let size = u.iter().fold(0.0f64, |m, u| m.max(u.abs()));
    if multipliers.is_empty() || size == 0.0 {
        return;
    }
    let (constraints, t) = (system.abilities().constraints(), system.abilities().constraint_time(t));
    let step = f64::EPSILON.cbrt() * system.length() / size;
    for side in [1.0, -1.0] {
        let near: Vec<f64> = q.iter().zip(u).map(|(q, u)| q + side * step * u).collect();
        for (i, mu) in multipliers {
            constraints[*i].gradient(t, &near, &mut |node, g| {
                for k in 0..3 {
                    out[3 * node + k] += side * 0.5 / step * mu * g[k];
                }
            });
        }
    }
}

/// ∇²W(q)·a.
fn stiffness_times(span: &Span<'_>, q: &[f64], a: &[f64]) -> Vec<f64> {
    let mut stiffness = BlockMatrix::zeros(span.system.pattern().clone());
    span.system.hessian(span.t, q, Curvature::Exact, &mut stiffness);
    let mut product = vec![0.0; a.len()];
    stiffness.mul_vec(a, &mut product);
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::Rods;

    /// The slopes of σ by accelerations along constraints, and by a formula, against differences.
    #[test]
    fn slopes_are_derivatives() {
        let system = Rods::chain(3, 1.0, [0.6, -0.8, 0.0], 9.81);
        let held: Vec<bool> = (0..12).map(|i| i < 3).collect();
        let rule = |kind| Rule { at_start: false, kind, scale: 5.0, epsilon: 0.3, time: 1.0 };
        let by_place = RuleKind::Formula(SharedFormula(std::sync::Arc::new(ByPlaceAndEnergy)));
        for rule in [rule(RuleKind::Acceleration), rule(by_place)] {
            compare_slopes(&system, &held, &rule);
        }
    }

    /// σ = 1 + x² + xy + z/10 + (2 potential + 3 kinetic²)/100.
    #[derive(Debug)]
    struct ByPlaceAndEnergy;

    impl crate::options::Formula for ByPlaceAndEnergy {
        fn source(&self) -> &str {
            "1 + x^2 + x*y + z/10 + (2*potential + 3*kinetic^2)/100"
        }
        fn eval_dual(&self, v: &[f64], wrt: usize) -> (f64, f64) {
            let value = 1.0 + v[0] * v[0] + v[0] * v[1] + 0.1 * v[2] + 0.02 * v[3] + 0.03 * v[4] * v[4];
            (value, [2.0 * v[0] + v[1], v[0], 0.1, 0.02, 0.06 * v[4]][wrt])
        }
        fn depends_on(&self, _index: usize) -> bool {
            true
        }
    }

    fn compare_slopes(system: &Rods, held: &[bool], rule: &Rule) {
        let bent = |seed: f64| -> Vec<f64> {
            let moved = |(i, x): (usize, &f64)| if i < 3 { *x } else { x + 0.1 * (seed + i as f64).sin() };
            system.places().iter().enumerate().map(moved).collect()
        };
        let (q0, q1) = (bent(0.3), bent(1.7));
        let sigma = |q0: &[f64], q1: &[f64], slopes: bool| {
            let x: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| 0.5 * (a + b)).collect();
            let start = rule.start(system, 0.0, held, q0);
            let span = Span { system, h: 0.1, t: 0.0, q0, x: &x, held, energy: 30.0, start: &start };
            rule.sigma(&span, slopes)
        };
        let slopes = sigma(&q0, &q1, true).slopes.unwrap();
        for i in 3..12 {
            for (end, slopes) in slopes.iter().enumerate() {
                let value = |by: f64| {
                    let mut ends = [q0.clone(), q1.clone()];
                    ends[end][i] += by;
                    sigma(&ends[0], &ends[1], false).value
                };
                let expected = (value(1e-5) - value(-1e-5)) / 2e-5;
                assert!((slopes[i] - expected).abs() < 1e-8, "{i}, {end}: {} {expected}", slopes[i]);
            }
        }
    }
}
