//! Decimation of curves. The local extremes are kept, so that the plot looks the same.

/// At most about `limit` points of the curve (x, y). They include the first, the last, and every local minimum and maximum
/// that a plot of `limit / 2` columns could show.
///
/// The samples are divided into ranges of equal length. The lowest and the highest sample of each range are kept in their
/// order, and one non-finite sample if there is any, so that gaps remain. A peak of a single step is therefore always kept; an
/// average would hide it.
pub fn decimate(x: &[f64], y: &[f64], limit: usize) -> (Vec<f64>, Vec<f64>) {
    let n = x.len().min(y.len());
    let buckets = (limit / 2).max(1);
    if n <= limit || n <= 2 {
        return (x[..n].to_vec(), y[..n].to_vec());
    }
    let mut keep = vec![0, n - 1];
    for b in 0..buckets {
        let run = b * n / buckets..(b + 1) * n / buckets;
        let finite = run.clone().filter(|&i| y[i].is_finite());
        keep.extend(finite.clone().min_by(|&i, &j| y[i].total_cmp(&y[j])));
        keep.extend(finite.max_by(|&i, &j| y[i].total_cmp(&y[j])));
        keep.extend(run.clone().find(|&i| !y[i].is_finite()));
    }
    keep.sort_unstable();
    keep.dedup();
    keep.into_iter().map(|i| (x[i], y[i])).unzip()
}

/// `x` as JSON with ten significant digits; `null` if it is not finite.
pub(super) fn json_number(x: f64, out: &mut String) {
    json_rounded(x, 10, out);
}

/// Numbers as a JSON array.
pub(super) fn json_numbers(values: &[f64], out: &mut String) {
    json_array(values, |_| 10, out);
}

/// Samples of a curve as a JSON array. Numbers are rounded to a ten millionth of the range of the curve, because a total energy
/// may vary in its tenth digit only. They have at least seven significant digits for logarithmic axes.
pub(super) fn json_samples(values: &[f64], out: &mut String) {
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let range = finite().fold(f64::MIN, f64::max) - finite().fold(f64::MAX, f64::min);
    let digits = |x: f64| match (x.abs() / range).log10() {
        excess if excess.is_finite() => 8 + (excess.ceil().clamp(-1.0, 9.0) as i32),
        _ => 10,
    };
    json_array(values, |x| digits(x) as usize, out);
}

fn json_array(values: &[f64], digits: impl Fn(f64) -> usize, out: &mut String) {
    out.push('[');
    for (k, &x) in values.iter().enumerate() {
        if k > 0 {
            out.push(',');
        }
        json_rounded(x, digits(x), out);
    }
    out.push(']');
}

fn json_rounded(x: f64, digits: usize, out: &mut String) {
    use std::fmt::Write;
    if !x.is_finite() {
        out.push_str("null");
        return;
    }
    let rounded: f64 = format!("{x:.*e}", digits.saturating_sub(1)).parse().unwrap_or(x);
    // Writing to a String cannot fail.
    let _ = write!(out, "{}", lilyan_files::csv::Shortest(rounded));
}
