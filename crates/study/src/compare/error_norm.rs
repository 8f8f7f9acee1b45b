//! The distance of two motions.
//!
//! The distance of two configurations is √(Σ m|x − y|²/Σ m) over the nodes. The distance of two motions is the root of
//! its mean square over the common times. Errors are relative to the size of the motion, which is the distance of the
//! reference from its own start: 1 is an error as large as the motion.

use lilyan_dynamics::System;
use lilyan_scene::build::Probe;

/// Positions at the common times.
pub type SampledPositions = Vec<Vec<f64>>;

/// Weights of the unknowns: masses over the total mass.
pub fn weights(system: &dyn System) -> Vec<f64> {
    let diagonal = system.mass().diagonal();
    // The diagonal has the mass of each node three times.
    let total = diagonal.iter().sum::<f64>() / 3.0;
    diagonal.iter().map(|m| m / total).collect()
}

/// Mean square distance of two configurations, m².
pub fn square(weights: &[f64], a: &[f64], b: &[f64]) -> f64 {
    weights.iter().zip(a.iter().zip(b)).map(|(w, (a, b))| w * (a - b) * (a - b)).sum()
}

/// Root of the mean over the times after the start, where `at` gives the square at each time.
fn over_times(count: usize, at: impl Fn(usize) -> f64) -> f64 {
    let sum: f64 = (1..count).map(at).sum();
    (sum / (count.max(2) - 1) as f64).sqrt()
}

/// Distance of two motions, m.
pub fn distance(weights: &[f64], a: &SampledPositions, b: &SampledPositions) -> f64 {
    over_times(a.len().min(b.len()), |k| square(weights, &a[k], &b[k]))
}

/// Size of a motion, m.
pub fn size(weights: &[f64], motion: &SampledPositions) -> f64 {
    over_times(motion.len(), |k| square(weights, &motion[k], &motion[0]))
}

/// Measures errors against a reference.
pub struct ErrorNorm<'a> {
    weights: &'a [f64],
    probes: &'a [Probe],
    reference: &'a SampledPositions,
    size: f64,
    probe_sizes: Vec<f64>,
}

/// Errors of a run, relative to the motion's size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Errors {
    /// Over all nodes and times.
    pub l2: f64,
    /// Over all nodes, at the worst time.
    pub worst: f64,
    /// Of each probe over all times, relative to that probe's motion.
    pub probes: Vec<f64>,
}

impl Errors {
    /// Of the worst probe.
    pub fn probe(&self) -> Option<f64> {
        self.probes.iter().copied().reduce(f64::max)
    }
}

/// Sums from which [`Errors`] follow.
#[derive(Clone, Debug, Default)]
pub struct ErrorSums {
    count: usize,
    all: f64,
    worst: f64,
    probes: Vec<f64>,
}

impl<'a> ErrorNorm<'a> {
    /// Measures against this reference. The error of a probe that hardly moves is relative to the motion of the whole body.
    pub fn new(weights: &'a [f64], probes: &'a [Probe], reference: &'a SampledPositions) -> Self {
        let size = size(weights, reference);
        let probe_sizes = probes
            .iter()
            .map(|p| {
                let start = p.place(&reference[0]);
                let own = over_times(reference.len(), |k| gap(p.place(&reference[k]), start));
                if own > 1e-3 * size { own } else { size }
            })
            .collect();
        Self { weights, probes, reference, size, probe_sizes }
    }

    /// Adds the positions at the k-th time.
    pub fn add(&self, sums: &mut ErrorSums, k: usize, q: &[f64]) {
        if k == 0 {
            return;
        }
        let right = &self.reference[k];
        let here = square(self.weights, q, right);
        sums.count += 1;
        sums.all += here;
        sums.worst = sums.worst.max(here);
        sums.probes.resize(self.probes.len(), 0.0);
        for (sum, probe) in sums.probes.iter_mut().zip(self.probes) {
            *sum += gap(probe.place(q), probe.place(right));
        }
    }

    /// The errors of these sums.
    pub fn errors(&self, sums: &ErrorSums) -> Errors {
        let mean = |sum: f64| (sum / sums.count.max(1) as f64).sqrt();
        Errors {
            l2: mean(sums.all) / self.size,
            worst: sums.worst.sqrt() / self.size,
            probes: sums.probes.iter().zip(&self.probe_sizes).map(|(s, size)| mean(*s) / size).collect(),
        }
    }
}

/// Squared distance of two points.
fn gap(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum()
}
