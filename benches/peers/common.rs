//! The common beam of `common.py`, for programs in Rust.

use std::time::Instant;

pub const E: f64 = 1e6;
pub const NU: f64 = 0.45;
pub const RHO: f64 = 1000.0;
pub const G: f64 = -9.81;
pub const H: f64 = 0.01;
#[allow(dead_code)]
pub const TOLERANCE: f64 = 1e-6;
#[allow(dead_code)]
pub const INNER: f64 = 3e-4;

/// What differs from the common beam, as pairs of a key and a text: `mass`, `material`.
type More = &'static [(&'static str, &'static str)];

/// Points and tets, positively oriented.
pub fn kuhn(n: usize) -> (Vec<[f64; 3]>, Vec<[usize; 4]>) {
    let number = |[x, y, z]: [usize; 3]| (x * (n + 1) + y) * (n + 1) + z;
    let grid = |x: usize, y: usize, z: usize| {
        (0..x).flat_map(move |x| (0..y).flat_map(move |y| (0..z).map(move |z| [x, y, z])))
    };
    let points = grid(4 * n + 1, n + 1, n + 1).map(|p| p.map(|c| c as f64 / n as f64)).collect();
    let mut tets = Vec::new();
    for (axes, even) in [
        ([0, 1, 2], true),
        ([1, 2, 0], true),
        ([2, 0, 1], true),
        ([0, 2, 1], false),
        ([2, 1, 0], false),
        ([1, 0, 2], false),
    ] {
        for corner in grid(4 * n, n, n) {
            let mut path = [corner; 4];
            for (k, axis) in axes.into_iter().enumerate() {
                path[k + 1] = path[k];
                path[k + 1][axis] += 1;
            }
            if !even {
                path.swap(2, 3);
            }
            tets.push(path.map(number));
        }
    }
    (points, tets)
}

/// Takes the steps that the command line asks for and prints the line of JSON that `run` reads. `prepare` returns the
/// program's state; `step` may return its Newton iterations.
pub fn main<S>(
    program: &str,
    version: &str,
    settings: &str,
    more: More,
    prepare: impl Fn(&[[f64; 3]], &[[usize; 4]]) -> S,
    step: impl Fn(&mut S) -> Option<usize>,
    tip: impl Fn(&S) -> f64,
) {
    let arguments: Vec<String> = std::env::args().collect();
    let option = |name: &str, otherwise: f64| match arguments.iter().position(|a| a == name) {
        Some(i) => arguments[i + 1].parse().expect("a number"),
        None => otherwise,
    };
    let (n, steps) = (option("-n", 8.0) as usize, option("--steps", 100.0) as usize);
    let limit = option("--seconds", f64::INFINITY);
    let (points, tets) = kuhn(n);
    let mut state = prepare(&points, &tets);
    let (mut times, mut newton) = (Vec::new(), Some(0));
    while times.len() < steps && !(times.iter().sum::<f64>() > limit && times.len() > 2) {
        let start = Instant::now();
        newton = step(&mut state).zip(newton).map(|(a, b)| a + b);
        times.push(start.elapsed().as_secs_f64());
    }
    let steps = times.len();
    times.sort_by(f64::total_cmp);
    let median = (times[(steps - 1) / 2] + times[steps / 2]) / 2.0;
    let more: String = more.iter().map(|(key, text)| format!(", \"{key}\": \"{text}\"")).collect();
    let newton =
        newton.map_or(String::new(), |k| format!(", \"newton_per_step\": {}", k as f64 / steps as f64));
    println!(
        "{{\"program\": \"{program}\", \"version\": \"{version}\", \"settings\": \"{settings}\"{more}, \"n\": {n}, \
         \"tets\": {}, \"steps\": {steps}, \"seconds_per_step\": {median}{newton}, \"tip\": {}}}",
        tets.len(),
        tip(&state)
    );
}
