//! σ rules \[kharevych2010\] §3.3.6: how long a step wants to be, from where it begins and ends. Symmetric in
//! both ends, positive, smooth. With x = ½(q_k + q_{k+1}), the energy E to be expected and s = `scale`:
//!
//! | rule | σ | s | what it evens out |
//! |---|---|---|---|
//! | `potential` | 1/(1 + W(x)/s) | J | fine steps where much is stored |
//! | `poses` | 1/√(y + ε), y = (E − W(x))/s | J | distance between poses |
//! | `phase-space` | the same, y = (E − W(x) + ½τ²∇WᵀM⁻¹∇W)/s | J | distance between points of phase space |
//! | `acceleration` | 1/√(a² + ε²), a = ½∣∇W(q_k) + ∇W(q_{k+1})∣/s | m/s² | change of velocity |
//!
//! Without a scale, `acceleration` takes that which moves a point by 1 % of the body's length in a nominal step,
//! the others the energy of moving the body by 10 % of it. ∣g∣ is the root mean square of M⁻¹g by mass. Departures from the source: W < 0 continues `potential` by
//! 1 − W/s; y enters as ½(y + √(y² + ε²)), since W(x) may exceed E by a little where a motion turns round;
//! kinetic and potential terms of `phase-space` have one unit thanks to τ = `time`.

use crate::options::{Kind, OptionSpec, Options};
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

#[derive(Clone, Copy, PartialEq)]
enum What {
    Potential,
    Poses,
    PhaseSpace,
    Acceleration,
}

/// A σ rule.
pub(super) struct Rule {
    what: What,
    scale: f64,
    epsilon: f64,
    time: f64,
}

/// A step on which σ is evaluated.
pub(super) struct Span<'a> {
    pub system: &'a dyn System,
    /// Nominal step, s.
    pub h: f64,
    /// At which W is taken, s.
    pub t: f64,
    pub q0: &'a [f64],
    /// ½(q₀ + q₁).
    pub x: &'a [f64],
    pub held: &'a [bool],
    /// E, J.
    pub energy: f64,
    /// ∇W(q₀), where [`Rule::wants_start`].
    pub start: &'a [f64],
}

/// σ and, where asked for, ∂σ/∂q₀ and ∂σ/∂q₁.
pub(super) struct Sigma {
    pub value: f64,
    pub slopes: Option<[Vec<f64>; 2]>,
}

impl Rule {
    pub fn new(options: &Options) -> Self {
        let what = match options.word("rule") {
            "potential" => What::Potential,
            "poses" => What::Poses,
            "phase-space" => What::PhaseSpace,
            _ => What::Acceleration,
        };
        let number = |name| options.number(name);
        Self { what, scale: number("scale"), epsilon: number("epsilon"), time: number("time") }
    }

    /// Whether it looks at ∇W(q₀).
    pub fn wants_start(&self) -> bool {
        self.what == What::Acceleration
    }

    pub fn sigma(&self, span: &Span<'_>, slopes: bool) -> Sigma {
        match self.what {
            What::Potential => self.of_middle(span, slopes, |u| {
                if u >= 0.0 { (1.0 / (1.0 + u), -1.0 / (1.0 + u).powi(2)) } else { (1.0 - u, -1.0) }
            }),
            What::Poses => {
                let y = span.energy / self.scale(span);
                self.of_middle(span, slopes, |u| {
                    let (value, slope) = self.inverse_root(y - u);
                    (value, -slope)
                })
            }
            What::PhaseSpace => self.phase_space(span, slopes),
            What::Acceleration => self.acceleration(span, slopes),
        }
    }

    fn scale(&self, span: &Span<'_>) -> f64 {
        let pace = span.system.length() / span.h;
        match self.what {
            _ if self.scale > 0.0 => self.scale,
            What::Acceleration => 0.01 * pace / span.h.abs(),
            _ => 0.5 * mass(span.system) * (0.1 * pace).powi(2),
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
        let (system, n) = (span.system, span.x.len());
        let end: Vec<f64> = span.x.iter().zip(span.q0).map(|(x, q)| 2.0 * x - q).collect();
        let (mut g, mut a) = (vec![0.0; n], vec![0.0; n]);
        system.gradient(span.t, &end, &mut g);
        g.iter_mut().zip(span.start).for_each(|(g, start)| *g += start);
        system.mass().solve(span.held, &g, &mut a);
        let weight = 0.25 / (mass(system) * self.scale(span).powi(2));
        let value = 1.0 / (weight * dot(&g, &a) + self.epsilon * self.epsilon).sqrt();
        let slopes = slopes.then(|| {
            [span.q0, &end].map(|q| {
                let mut bent = stiffness_times(span, q, &a);
                bent.iter_mut().for_each(|b| *b *= -value.powi(3) * weight);
                bent
            })
        });
        Sigma { value, slopes }
    }
}

/// Of everything, kg.
fn mass(system: &dyn System) -> f64 {
    system.mass().diagonal().iter().sum::<f64>() / 3.0
}

/// ∇²W(q)·a.
fn stiffness_times(span: &Span<'_>, q: &[f64], a: &[f64]) -> Vec<f64> {
    let mut stiffness = BlockMatrix::zeros(span.system.pattern().clone());
    span.system.hessian(span.t, q, Curvature::Exact, &mut stiffness);
    let mut product = vec![0.0; a.len()];
    stiffness.mul_vec(a, &mut product);
    product
}
