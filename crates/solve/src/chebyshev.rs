//! The exact motion of a linear system with Rayleigh damping by Chebyshev sums: for what no small space holds.
//!
//! With z = h²λ all parts of the motion over h are functions f(h²M⁻¹K) that [`crate::phi`] knows. On [0, h²λ_max] such a
//! function is a sum of Chebyshev polynomials, of which ½hω_max and a few are needed \[talezer1984\]: a
//! three-term recurrence, without a basis to keep, to orthogonalise or to restart. f is entire, so the sum also holds for
//! somewhat negative λ, where it grows no faster than the motion does.

use crate::flow::Linear;
use crate::phi::Propagator;
use crate::vector::{Random, axpy, dot, scale};
use std::f64::consts::PI;

/// Products of M⁻¹K with a random vector before the largest eigenvalue is believed: good to a few percent.
const POWERS: usize = 30;
/// How far above that estimate the interval ends, at first and when that was too little.
const MARGINS: [f64; 3] = [1.1, 1.4, 2.5];
/// A polynomial that is at most 1 on the interval may get as large as this by negative eigenvalues; rounding errors
/// grow as much.
const GROWTH: f64 = 1e5;
/// More terms than this are not worth waiting for.
const TERMS: f64 = 2e6;

/// The motion (δq, δv) over `h` from velocity `v` and acceleration `a` with D = αM + βK, and the products that it
/// took; nothing if it grows beyond what the sum can follow.
pub(crate) fn chebyshev(
    system: &dyn Linear,
    [alpha, beta]: [f64; 2],
    v: &[f64],
    a: &[f64],
    h: f64,
) -> Option<(Vec<f64>, Vec<f64>, usize)> {
    let largest = h * h * largest_by_powers(system, v.len())?;
    let mut products = POWERS;
    for margin in MARGINS {
        let end = margin * largest;
        if !(end > 0.0 && end.sqrt() < TERMS) {
            return None;
        }
        let motion =
            |z: f64, x: [f64; 2]| Propagator::new(z, 0.5 * (h * alpha + beta / h * z)).advance(x[0], x[1]);
        let [from_v, from_a] = [[1.0, 0.0], [0.0, 1.0]].map(|x| coefficients(end, &|z| motion(z, x)));
        products += from_v.len() + from_a.len();
        let Some([mut dq, mut dv]) = sum(system, &from_v, v, h, end) else { continue };
        let Some([q, w]) = sum(system, &from_a, a, h, end) else { continue };
        axpy(h, &q, &mut dq);
        axpy(h, &w, &mut dv);
        scale(h, &mut dq);
        return Some((dq, dv, products));
    }
    None
}

/// An estimate of the largest eigenvalue of M⁻¹K, from below, by powers of it.
fn largest_by_powers(system: &dyn Linear, n: usize) -> Option<f64> {
    let mut random = Random(3);
    let noise: Vec<f64> = (0..n).map(|_| random.number()).collect();
    let (mut u, mut image) = (vec![0.0; n], vec![0.0; n]);
    // Zero where held.
    system.divide_by_mass(&noise, &mut u);
    let mut value = 0.0;
    for _ in 0..POWERS {
        system.mass(&u, &mut image);
        let size = dot(&u, &image).sqrt();
        if !(size.is_finite() && size > 0.0) {
            return None;
        }
        scale(1.0 / size, &mut u);
        system.stiffness(&u, &mut image);
        let mut next = vec![0.0; n];
        system.divide_by_mass(&image, &mut next);
        // ‖M⁻¹K u‖ is nearer to the largest eigenvalue than uᵀK u.
        value = dot(&image, &next).max(0.0).sqrt();
        u = next;
    }
    Some(value)
}

/// Coefficients of the Chebyshev sums of a pair of functions on [0, `end`], by interpolation: a cosine transform of both
/// at once, as real and imaginary part of one Fourier transform \[makhoul1980\].
fn coefficients(end: f64, f: &dyn Fn(f64) -> (f64, f64)) -> Vec<[f64; 2]> {
    // Terms fall below rounding some 10 (½√end)^⅓ beyond ½√end, as the Bessel functions do that they are made of.
    let half = 0.5 * end.sqrt();
    let terms = (half + 12.0 * half.cbrt() + 40.0) as usize;
    let n = terms.next_power_of_two();
    let angle = |k: usize| PI * k as f64 / (2 * n) as f64;
    let at = |j: usize| f(0.5 * end * (1.0 + angle(2 * j + 1).cos()));
    let mut values: Vec<(f64, f64)> =
        (0..n).step_by(2).chain((0..n).skip(1).step_by(2).rev()).map(at).collect();
    fourier(&mut values);
    (0..terms)
        .map(|k| {
            let ((a, b), (c, d)) = (values[k], values[(n - k) % n]);
            let (sin, cos) = angle(k).sin_cos();
            // V_k and the conjugate of V_{n−k}: half their sum belongs to the first function, half their difference
            // over i to the second; the real part of each, turned by −πk/2n, is the cosine sum.
            let share = if k == 0 { 0.5 } else { 1.0 } / n as f64;
            [share * (cos * (a + c) + sin * (b - d)), share * (cos * (b + d) - sin * (a - c))]
        })
        .collect()
}

/// Σⱼ xⱼ e^{−2πijk/n} in place, for n a power of two: \[cooley1965\].
fn fourier(x: &mut [(f64, f64)]) {
    let n = x.len();
    for i in 1..n {
        let j = i.reverse_bits() >> (n.leading_zeros() + 1);
        if i < j {
            x.swap(i, j);
        }
    }
    let roots: Vec<(f64, f64)> = (0..n / 2).map(|k| (-2.0 * PI * k as f64 / n as f64).sin_cos()).collect();
    let mut half = 1;
    while half < n {
        for block in x.chunks_exact_mut(2 * half) {
            let (even, odd) = block.split_at_mut(half);
            for (k, (even, odd)) in even.iter_mut().zip(odd).enumerate() {
                let (sin, cos) = roots[k * (n / (2 * half))];
                let turned = (cos * odd.0 - sin * odd.1, sin * odd.0 + cos * odd.1);
                *odd = (even.0 - turned.0, even.1 - turned.1);
                *even = (even.0 + turned.0, even.1 + turned.1);
            }
        }
        half *= 2;
    }
}

/// Σ cₖ Tₖ(X) u for both lists of coefficients, X = 2h²M⁻¹K/`end` − 1; nothing if the polynomials grow.
fn sum(system: &dyn Linear, coefficients: &[[f64; 2]], u: &[f64], h: f64, end: f64) -> Option<[Vec<f64>; 2]> {
    let n = u.len();
    let factor = 2.0 * h * h / end;
    let (mut before, mut now) = (vec![0.0; n], u.to_vec());
    let (mut force, mut image) = (vec![0.0; n], vec![0.0; n]);
    let mut sums = [vec![0.0; n], vec![0.0; n]];
    let limit = GROWTH * GROWTH * dot(u, u);
    for (k, [c, d]) in coefficients.iter().enumerate() {
        if k > 0 {
            system.stiffness(&now, &mut force);
            system.divide_by_mass(&force, &mut image);
            let twice = if k == 1 { 1.0 } else { 2.0 };
            for i in 0..n {
                before[i] = twice * (factor * image[i] - now[i]) - before[i];
            }
            std::mem::swap(&mut before, &mut now);
        }
        let [x, y] = &mut sums;
        for i in 0..n {
            x[i] += c * now[i];
            y[i] += d * now[i];
        }
        // NaN stops, too.
        let bounded = k % 32 != 31 || dot(&now, &now) <= limit;
        if !bounded {
            return None;
        }
    }
    (dot(&now, &now) <= limit).then_some(sums)
}
