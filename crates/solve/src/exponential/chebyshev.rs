//! The exact motion of a linear system with Rayleigh damping by Chebyshev sums, for states that no small Krylov space
//! represents.
//!
//! With z = h²λ, all parts of the motion over h are functions f(h²M⁻¹K) that [`crate::exponential::Propagator`] evaluates.
//! On [0, h²λ_max] such a function is a sum of slightly more than ½hω_max Chebyshev polynomials \[talezer1984\]. A
//! three-term recurrence evaluates it. There is no basis to store, to orthogonalise or to restart. f is entire, so the sum
//! is also valid for slightly negative λ, where it grows no faster than the motion.

use crate::exponential::phi::Propagator;
use crate::matrix::vector::{Random, axpy, dot, scale};
use crate::second_order::SecondOrderSystem;
use std::f64::consts::PI;

/// Power iterations for the largest eigenvalue, which is then accurate to a few per cent.
const POWERS: usize = 30;
/// Ratio of the end of the interval to that estimate: first attempt, and retries if the sum grows.
const MARGINS: [f64; 3] = [1.1, 1.4, 2.5];
/// Largest permitted growth, through negative eigenvalues, of a polynomial that is at most 1 on the interval. Rounding
/// errors grow by the same factor.
const GROWTH: f64 = 1e5;
/// The largest number of terms.
const TERMS: f64 = 2e6;

/// The motion (δq, δv) over `h` from velocity `v` and acceleration `a` with D = αM + βK, and the number of products.
/// `None` if the polynomials grow too much.
pub(crate) fn chebyshev(
    system: &dyn SecondOrderSystem,
    [alpha, beta]: [f64; 2],
    v: &[f64],
    a: &[f64],
    h: f64,
) -> Option<(Vec<f64>, Vec<f64>, usize)> {
    let largest = h * h * power_iteration(system, v.len())?;
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

/// A lower estimate of the largest eigenvalue of M⁻¹K by power iteration.
fn power_iteration(system: &dyn SecondOrderSystem, n: usize) -> Option<f64> {
    let mut generator = Random(3);
    let random: Vec<f64> = (0..n).map(|_| generator.number()).collect();
    let (mut u, mut image) = (vec![0.0; n], vec![0.0; n]);
    // This sets held dofs to zero.
    system.divide_by_mass(&random, &mut u);
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

/// Chebyshev coefficients of a pair of functions on [0, `end`] by interpolation. The cosine transforms of both functions
/// are the real and the imaginary part of one Fourier transform \[makhoul1980\].
fn coefficients(end: f64, f: &dyn Fn(f64) -> (f64, f64)) -> Vec<[f64; 2]> {
    // The coefficients are Bessel functions: they are below rounding from about ½√end + 10 (½√end)^⅓ terms on.
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
            // From V_k and the conjugate of V_{n−k}: half the sum belongs to the first function, half the difference over i
            // to the second. Each is rotated by −πk/2n; the real part is the cosine sum.
            let weight = if k == 0 { 0.5 } else { 1.0 } / n as f64;
            [weight * (cos * (a + c) + sin * (b - d)), weight * (cos * (b + d) - sin * (a - c))]
        })
        .collect()
}

/// The fast Fourier transform Σⱼ xⱼ e^{−2πijk/n} in place, for n a power of two \[cooley1965\].
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
                let rotated = (cos * odd.0 - sin * odd.1, sin * odd.0 + cos * odd.1);
                *odd = (even.0 - rotated.0, even.1 - rotated.1);
                *even = (even.0 + rotated.0, even.1 + rotated.1);
            }
        }
        half *= 2;
    }
}

/// Σ cₖ Tₖ(X) u for both lists of coefficients, X = 2h²M⁻¹K/`end` − 1. `None` if the polynomials grow.
fn sum(
    system: &dyn SecondOrderSystem,
    coefficients: &[[f64; 2]],
    u: &[f64],
    h: f64,
    end: f64,
) -> Option<[Vec<f64>; 2]> {
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
        // The comparison is false for NaN.
        let bounded = k % 32 != 31 || dot(&now, &now) <= limit;
        if !bounded {
            return None;
        }
    }
    (dot(&now, &now) <= limit).then_some(sums)
}
