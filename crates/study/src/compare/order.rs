//! The order of convergence that a series of runs shows.

/// Larger errors are not used: the error is then about as large as the motion, and the phase is wrong.
const LARGEST_ERROR: f64 = 0.3;
/// Errors smaller than this many times the error of the reference are not used.
const REFERENCE_FACTOR: f64 = 5.0;
/// Slopes that belong to one asymptotic range differ by no more than this.
const SLOPE_TOLERANCE: f64 = 0.3;

/// The slope of ln(error) over ln(step) in the asymptotic range. The range begins with the two shortest steps and ends where
/// the slope changes. `None` if fewer than two errors are clearly larger than the error of the reference.
pub fn measured_order(runs: &[(f64, f64)], reference_error: f64) -> Option<f64> {
    let clear =
        |e: f64| e.is_finite() && e < LARGEST_ERROR && e > REFERENCE_FACTOR * reference_error && e > 0.0;
    let mut points: Vec<(f64, f64)> =
        runs.iter().filter(|(_, e)| clear(*e)).map(|(h, e)| (h.ln(), e.ln())).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let slope = |a: (f64, f64), b: (f64, f64)| (b.1 - a.1) / (b.0 - a.0);
    let first = slope(*points.first()?, *points.get(1)?);
    let same = points.windows(2).take_while(|w| (slope(w[0], w[1]) - first).abs() < SLOPE_TOLERANCE).count();
    fit(&points[..=same])
}

/// Least squares.
fn fit(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let mean = points.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0 / n, m.1 + p.1 / n));
    let (above, below) = points.iter().fold((0.0, 0.0), |s, p| {
        let dx = p.0 - mean.0;
        (s.0 + dx * (p.1 - mean.1), s.1 + dx * dx)
    });
    (below > 0.0).then(|| above / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(order: f64, factor: f64, steps: &[f64]) -> Vec<(f64, f64)> {
        steps.iter().map(|h| (*h, factor * h.powf(order))).collect()
    }

    #[test]
    fn powers_are_found() {
        for order in [1.0, 2.0, 4.0] {
            let runs = series(order, 3.0, &[0.1, 0.05, 0.025, 0.0125]);
            assert!((measured_order(&runs, 0.0).unwrap() - order).abs() < 1e-9);
        }
    }

    #[test]
    fn only_the_asymptotic_range_counts() {
        let mut runs = series(2.0, 1.0, &[0.1, 0.05, 0.025]);
        runs.push((0.2, 0.29)); // saturating
        runs.push((0.4, 1.3)); // lost
        runs.push((0.0125, 1.1e-4)); // the reference's own error
        let order = measured_order(&runs, 5e-5).unwrap();
        assert!((order - 2.0).abs() < 1e-9, "{order}");
    }

    #[test]
    fn one_point_or_none_has_no_order() {
        assert_eq!(measured_order(&[], 0.0), None);
        assert_eq!(measured_order(&[(0.1, 1e-3)], 0.0), None);
        assert_eq!(measured_order(&[(0.1, 2.0), (0.05, 1.0), (0.02, f64::NAN)], 0.0), None);
        assert_eq!(measured_order(&[(0.1, 1e-3), (0.05, 9e-4)], 1e-3), None);
        assert_eq!(measured_order(&[(0.1, 1e-3), (0.1, 1e-3)], 0.0), None);
    }
}
