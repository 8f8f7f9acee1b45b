//! The coefficients of Galerkin variational integrators, from the nodes and weights of a quadrature rule.
//!
//! Collocation gives a_ij = ∫₀^{cᵢ} ℓⱼ for positions, and the symplectic condition bᵢ âᵢⱼ + bⱼ aⱼᵢ = bᵢ bⱼ the
//! coefficients â of momenta \[hairer2006, VI.4\]. With Gauss points â = a (Gauss collocation). With Lobatto points these are
//! the Lobatto IIIA–IIIB pair, whose first position is that of the start, and whose last force acts on no position.
//!
//! With forces Fₖ, D_j = Q_j − q₀ − c_j h v₀ is h² Σ B_jk M⁻¹Fₖ, B = aâ. All stages that are unknown have a D; their
//! number is that of the forces which act on positions, and B⁻¹ gives velocities.

/// The points of the quadrature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Points {
    /// Roots of the Legendre polynomial of degree s: order 2s.
    Gauss,
    /// Both ends, and the roots of the derivative of the Legendre polynomial of degree s − 1: order 2s − 2.
    Lobatto,
}

/// The coefficients of one method.
pub(super) struct Tableau {
    /// Times of the unknown stages, in steps.
    pub times: Vec<f64>,
    /// Times of the forces that act on positions, in steps.
    pub force_times: Vec<f64>,
    /// The stage at which each force acts; `None` for the start.
    pub stage_of_force: Vec<Option<usize>>,
    /// B: D = h² B M⁻¹F, by rows.
    pub forces: Vec<Vec<f64>>,
    /// Velocities at the forces: v₀ + Σ (row·D)/h.
    pub velocities: Vec<Vec<f64>>,
    /// The end: q₁ = q₀ + h v₀ + Σ D_j weight_j.
    pub end: Vec<f64>,
    /// b of those forces.
    pub weights: Vec<f64>,
    /// b of the force at the end, if there is one, and the row of its velocity.
    pub last: Option<(f64, Vec<f64>)>,
    /// γ² of each stage, by which M + γhD + γ²h²K approximates its equation.
    pub diagonal: Vec<f64>,
}

impl Tableau {
    /// The coefficients for so many points, at least one (Gauss) or three (Lobatto).
    pub fn new(points: Points, s: usize) -> Self {
        let c = match points {
            Points::Gauss => unit_interval(&roots(s, |x| legendre(s, x))),
            Points::Lobatto => {
                let mut inner = roots(s - 2, |x| slope_of_legendre(s - 1, x));
                inner.insert(0, -1.0);
                inner.push(1.0);
                unit_interval(&inner)
            }
        };
        let rule = gauss_rule(s);
        let integral =
            |j: usize, to: f64| -> f64 { rule.iter().map(|(x, w)| to * w * lagrange(&c, j, to * x)).sum() };
        let b: Vec<f64> = (0..s).map(|j| integral(j, 1.0)).collect();
        let a: Vec<Vec<f64>> = c.iter().map(|&c| (0..s).map(|j| integral(j, c)).collect()).collect();
        let conjugate = |i: usize, j: usize| b[j] - b[j] * a[j][i] / b[i];
        // The first stage of Lobatto rules is the start, and the last force acts on no position.
        let (first, forces) = if points == Points::Gauss { (0, s) } else { (1, s - 1) };
        let product = |row: &dyn Fn(usize) -> f64| -> Vec<f64> {
            (0..forces).map(|k| (0..s).map(|i| row(i) * conjugate(i, k)).sum()).collect()
        };
        let of_forces: Vec<Vec<f64>> = (first..s).map(|j| product(&|i| a[j][i])).collect();
        let inverse = inverse(&of_forces);
        let through = |row: &[f64]| -> Vec<f64> {
            (0..forces).map(|j| (0..forces).map(|k| row[k] * inverse[k][j]).sum()).collect()
        };
        let rate = |i: usize| through(&(0..forces).map(|k| conjugate(i, k)).collect::<Vec<_>>());
        let end = match points {
            Points::Gauss => through(&product(&|i| b[i])),
            Points::Lobatto => (0..forces).map(|j| f64::from(u8::from(j + 1 == forces))).collect(),
        };
        let diagonal = match points {
            // det B = det a², and det a = s!/(2s)!.
            Points::Gauss => {
                let determinant: f64 = (s + 1..=2 * s).map(|k| 1.0 / k as f64).product();
                vec![determinant.powf(2.0 / s as f64); s]
            }
            // The force at stage j is that of column j + 1; the end has none.
            Points::Lobatto => {
                (0..forces).map(|j| if j + 1 < forces { of_forces[j][j + 1].abs() } else { 0.0 }).collect()
            }
        };
        Self {
            times: c[first..].to_vec(),
            force_times: c[..forces].to_vec(),
            stage_of_force: (0..forces).map(|k| k.checked_sub(first)).collect(),
            velocities: (0..forces).map(rate).collect(),
            end,
            weights: b[..forces].to_vec(),
            last: (points == Points::Lobatto).then(|| (b[s - 1], rate(s - 1))),
            diagonal,
            forces: of_forces,
        }
    }
}

/// Points of [−1, 1] in [0, 1].
fn unit_interval(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| 0.5 * (1.0 + x)).collect()
}

/// Gauss points and weights on [0, 1], exact to degree 2n − 1.
fn gauss_rule(n: usize) -> Vec<(f64, f64)> {
    let weight = |x: f64| 1.0 / ((1.0 - x * x) * slope_of_legendre(n, x).powi(2));
    roots(n, |x| legendre(n, x)).into_iter().map(|x| (0.5 * (1.0 + x), weight(x))).collect()
}

/// P_n(x).
fn legendre(n: usize, x: f64) -> f64 {
    let (mut before, mut now) = (1.0, x);
    if n == 0 {
        return 1.0;
    }
    for k in 1..n {
        let k = k as f64;
        (before, now) = (now, ((2.0 * k + 1.0) * x * now - k * before) / (k + 1.0));
    }
    now
}

/// P_n'(x), as the sum P_n' = (2n − 1)P_{n−1} + P_{n−2}', which is exact at the ends too.
fn slope_of_legendre(n: usize, x: f64) -> f64 {
    (0..n).rev().step_by(2).map(|k| (2 * k + 1) as f64 * legendre(k, x)).sum()
}

/// The n simple roots of a function in (−1, 1), ascending, by bisection.
fn roots(n: usize, f: impl Fn(f64) -> f64) -> Vec<f64> {
    let cells = 100 * (n + 1);
    // No cell has a root at its border.
    let border = |k: usize| -(std::f64::consts::PI * (k as f64 + 0.37) / (cells as f64 + 1.0)).cos();
    let mut found = Vec::new();
    for k in 0..cells {
        let (mut low, mut high) = (border(k), border(k + 1));
        if f(low) * f(high) > 0.0 {
            continue;
        }
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if f(low) * f(middle) <= 0.0 { high = middle } else { low = middle }
        }
        found.push(0.5 * (low + high));
    }
    assert_eq!(found.len(), n, "orthogonal polynomials have real roots");
    found
}

/// ℓⱼ(x) of the points c.
fn lagrange(c: &[f64], j: usize, x: f64) -> f64 {
    (0..c.len()).filter(|&k| k != j).map(|k| (x - c[k]) / (c[j] - c[k])).product()
}

/// The inverse of a small matrix, by Gauss–Jordan elimination with pivots.
fn inverse(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = a.len();
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| a[i].iter().copied().chain((0..n).map(|j| f64::from(u8::from(i == j)))).collect())
        .collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs())).expect("a row");
        rows.swap(k, pivot);
        let scale = rows[k][k];
        rows[k].iter_mut().for_each(|x| *x /= scale);
        let own = rows[k].clone();
        for (i, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = row[k];
            debug_assert!(i != k);
            row.iter_mut().zip(&own).for_each(|(x, y)| *x -= factor * y);
        }
    }
    rows.into_iter().map(|row| row[n..].to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of \[hairer2006, II.1\] for two Gauss points, and B of three Lobatto points by hand.
    #[test]
    fn coefficients_of_the_textbook() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} {b}");
        let gauss = Tableau::new(Points::Gauss, 2);
        let root = 3f64.sqrt();
        near(gauss.times[0], 0.5 - root / 6.0);
        // The square of [1/4, 1/4 − √3/6; 1/4 + √3/6, 1/4].
        near(gauss.forces[0][0], 1.0 / 24.0);
        near(gauss.forces[0][1], 0.5 * (0.25 - root / 6.0));
        near(gauss.forces[1][0], 0.5 * (0.25 + root / 6.0));
        near(gauss.diagonal[0], 1.0 / 12.0);
        // q₁ = q₀ + hv₀ + h² Σ b_k (1 − c_k) M⁻¹F_k.
        for k in 0..2 {
            let weight: f64 = (0..2).map(|j| gauss.end[j] * gauss.forces[j][k]).sum();
            near(weight, 0.5 * (1.0 - gauss.times[k]));
        }
        let lobatto = Tableau::new(Points::Lobatto, 3);
        // IIIA [0 0 0; 5/24 1/3 −1/24; 1/6 2/3 1/6] times IIIB [1/6 −1/6 0; 1/6 1/3 0; 1/6 5/6 0].
        near(lobatto.forces[0][0], (5.0 / 24.0 + 1.0 / 3.0 - 1.0 / 24.0) / 6.0);
        near(lobatto.forces[0][1], -5.0 / 144.0 + 1.0 / 9.0 - 5.0 / 144.0);
        near(lobatto.forces[1][0], 1.0 / 6.0);
        near(lobatto.forces[1][1], 1.0 / 3.0);
        near(lobatto.last.expect("the end").0, 1.0 / 6.0);
    }
}
