//! The φ-functions of a damped oscillator in closed form.
//!
//! ẍ = −λx − 2dẋ is u̇ = Ju with J = [0 1; −λ −2d]. A step of an exponential method needs hφ₁(hJ), φ₁(B) = (e^B − 1)/B.
//! With z = h²λ, δ = hd and the eigenvalues μ± = −δ ± √(δ² − z) of hJ, all such functions are expressed by two divided
//! differences of the exponential, s = exp[μ₊, μ₋] and r = exp[0, μ₊, μ₋]. They are real and smooth for oscillating,
//! overdamped and growing (z < 0) motion.

/// The exact step of one damped oscillator, φ₁(hJ), expressed by the divided differences s and r.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Propagator {
    /// z = h²λ.
    z: f64,
    /// p = s + 2δr.
    p: f64,
    /// s; sin √z/√z without damping.
    s: f64,
    /// r; (1 − cos √z)/z without damping.
    r: f64,
}

impl Propagator {
    /// The propagator for z = h²λ of any sign and δ = hd.
    pub fn new(z: f64, delta: f64) -> Self {
        let (s, r) = if z.abs() <= 1.0 && delta.abs() <= 1.0 { series(z, delta) } else { roots(z, delta) };
        Self { z, p: s + 2.0 * delta * r, s, r }
    }

    /// (δx, hδẋ) over a step from a point with x' = hẋ and x'' = h²ẍ: φ₁(hJ) (x', x'').
    pub fn advance(&self, first: f64, second: f64) -> (f64, f64) {
        (self.p * first + self.r * second, self.s * second - self.z * self.r * first)
    }
}

/// Σ hₖ/(k+1)! and Σ hₖ/(k+2)!, hₖ the complete symmetric polynomials of μ±, for |z|, |δ| ≤ 1.
fn series(z: f64, delta: f64) -> (f64, f64) {
    let (mut before, mut now) = (0.0, 1.0);
    let (mut s, mut r) = (0.0, 0.0);
    let mut factorial = 1.0;
    // |hₖ| ≤ 2.5ᵏ here, and 2.5³⁰/31! is far below rounding.
    for k in 0..30 {
        s += now / factorial;
        r += now / (factorial * (k + 2) as f64);
        factorial *= (k + 2) as f64;
        (before, now) = (now, -2.0 * delta * now - z * before);
    }
    (s, r)
}

/// s and r where |z| or |δ| is above one.
fn roots(z: f64, delta: f64) -> (f64, f64) {
    let square = z - delta * delta;
    if square > 0.0 {
        let w = square.sqrt();
        let decay = (-delta).exp();
        let s = decay * w.sin() / w;
        return (s, (1.0 - (decay * w.cos() + delta * s)) / z);
    }
    // Real roots μ± = −δ ± ν. The product z gives the root that would suffer from cancellation.
    let nu = (-square).sqrt();
    let (plus, minus) =
        if delta >= 0.0 { (-z / (nu + delta), -delta - nu) } else { (nu - delta, z / (nu - delta)) };
    let s = if nu < 0.3 {
        // sinh ν/ν.
        let x = nu * nu;
        (-delta).exp()
            * (1.0 + x / 6.0 * (1.0 + x / 20.0 * (1.0 + x / 42.0 * (1.0 + x / 72.0 * (1.0 + x / 110.0)))))
    } else {
        (plus.exp() - minus.exp()) / (2.0 * nu)
    };
    let phi = |x: f64| if x == 0.0 { 1.0 } else { x.exp_m1() / x };
    let r = if z.abs() <= 0.5 * delta * delta {
        (phi(plus) - phi(minus)) / (2.0 * nu)
    } else {
        (1.0 - (0.5 * (plus.exp() + minus.exp()) + delta * s)) / z
    };
    (s, r)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// φ₁(hJ)(a, b) by its series after scaling: φ₁(2B) = ½(e^B + 1)φ₁(B).
    fn reference(z: f64, delta: f64, x: [f64; 2]) -> [f64; 2] {
        let times = |m: &[[f64; 2]; 2], n: &[[f64; 2]; 2]| -> [[f64; 2]; 2] {
            std::array::from_fn(|i| std::array::from_fn(|j| m[i][0] * n[0][j] + m[i][1] * n[1][j]))
        };
        let size = 1.0 + z.abs() + 2.0 * delta.abs();
        let halvings = size.log2().ceil().max(0.0) as u32 + 3;
        let scale = 0.5f64.powi(halvings as i32);
        let b = [[0.0, scale], [-z * scale, -2.0 * delta * scale]];
        let identity = [[1.0, 0.0], [0.0, 1.0]];
        let (mut phi, mut term) = (identity, identity);
        for k in 2..25 {
            term = times(&term, &b).map(|row| row.map(|x| x / k as f64));
            phi = std::array::from_fn(|i| std::array::from_fn(|j| phi[i][j] + term[i][j]));
        }
        let mut b = b;
        for _ in 0..halvings {
            let product = times(&b, &phi);
            // e^B + 1 = Bφ₁ + 2.
            let sum: [[f64; 2]; 2] =
                std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * product[i][j] + identity[i][j]));
            phi = times(&sum, &phi);
            b = b.map(|row| row.map(|x| 2.0 * x));
        }
        [phi[0][0] * x[0] + phi[0][1] * x[1], phi[1][0] * x[0] + phi[1][1] * x[1]]
    }

    #[test]
    fn closed_form_is_the_series() {
        for z in
            [-30.0, -1.0001, -0.9, -1e-9, 0.0, 1e-12, 0.3, 0.9999, 1.0001, 4.0, 8.9999, 9.0, 9.0001, 60.0]
        {
            for delta in [0.0, 1e-10, 0.4, 0.99999, 1.00001, 2.0, 2.99999, 3.0, 3.00001, 20.0, -0.7, -1.5] {
                for x in [[1.0, 0.0], [0.0, 1.0]] {
                    let want = reference(z, delta, x);
                    let got = Propagator::new(z, delta).advance(x[0], x[1]);
                    let size = 1.0 + want[0].abs() + want[1].abs();
                    let error = (got.0 - want[0]).abs().max((got.1 - want[1]).abs()) / size;
                    assert!(error < 4e-13, "z {z}, δ {delta}: {got:?}, {want:?}, {error:e}");
                }
            }
        }
    }

    #[test]
    fn limits_are_those_of_the_elementary_functions() {
        let (x, v) = Propagator::new(0.0, 0.0).advance(2.0, 6.0);
        assert_eq!((x, v), (5.0, 6.0)); // x'h + ½x''h²
        let w: f64 = 1.3e4;
        let (x, v) = Propagator::new(w * w, 0.0).advance(w, 0.0);
        assert!((x - w.sin()).abs() < 1e-15 * w && (v - w * (w.cos() - 1.0)).abs() < 1e-15 * w * w);
        let (x, _) = Propagator::new(-25.0, 0.0).advance(5.0, 0.0);
        assert!((x - 5f64.sinh()).abs() < 1e-13 * 5f64.sinh());
        // Creeping: x → x'/2δ for long times.
        let (x, _) = Propagator::new(0.0, 500.0).advance(1.0, -1000.0);
        assert!((x - 0.001).abs() < 1e-15, "{x}");
        assert!(Propagator::new(1e30, 0.0).advance(1.0, 1.0).0.is_finite());
    }
}
