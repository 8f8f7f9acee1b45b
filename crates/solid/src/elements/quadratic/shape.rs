//! Shape functions of tets with ten nodes, in barycentric coordinates λ: Nᵢ = λᵢ(2λᵢ − 1) at the corners, Nᵢⱼ = 4λᵢλⱼ on the
//! edges.

/// The edges of the nodes after the corners, as VTK numbers them.
pub const EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]];

/// Nodes of a tet.
pub const NODES: usize = 10;

/// ∫N over the volume: −1/20 at corners, 1/5 on edges.
pub(super) const SHARES: [f64; NODES] = [-0.05, -0.05, -0.05, -0.05, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2];

/// λ of the corner that one of the four points of degree 2 belongs to is a + d, the others are a; weights V/4.
pub(super) const A: f64 = 0.138_196_601_125_010_5;
/// 1/√5.
pub(super) const D: f64 = 0.447_213_595_499_957_9;

/// N at a point.
pub fn shape(lambda: [f64; 4], out: &mut [f64]) {
    for (i, l) in lambda.into_iter().enumerate() {
        out[i] = l * (2.0 * l - 1.0);
    }
    for (e, [i, j]) in EDGES.into_iter().enumerate() {
        out[4 + e] = 4.0 * lambda[i] * lambda[j];
    }
}

/// ∂N/∂(λ₁, λ₂, λ₃) at a point, with λ₀ = 1 − λ₁ − λ₂ − λ₃.
pub fn slopes(lambda: [f64; 4]) -> [[f64; 3]; NODES] {
    // ∂N/∂λᵢ as if the four were independent; then ∂/∂λₖ − ∂/∂λ₀.
    let mut all = [[0.0; 4]; NODES];
    for i in 0..4 {
        all[i][i] = 4.0 * lambda[i] - 1.0;
    }
    for (e, [i, j]) in EDGES.into_iter().enumerate() {
        all[4 + e][i] = 4.0 * lambda[j];
        all[4 + e][j] = 4.0 * lambda[i];
    }
    all.map(|n| [n[1] - n[0], n[2] - n[0], n[3] - n[0]])
}

/// λ of the four points.
pub(super) fn points() -> [[f64; 4]; 4] {
    std::array::from_fn(|q| std::array::from_fn(|k| if k == q { A + D } else { A }))
}

/// Points and weights, of sum 1, of degree 5 \[xiao2010\].
pub(super) fn fourteen_points() -> [([f64; 4], f64); 14] {
    const CORNERS: [(f64, f64); 2] = [
        (0.310_885_919_263_300_6, 0.112_687_925_718_015_85),
        (0.092_735_250_310_891_23, 0.073_493_043_116_361_95),
    ];
    const EDGE: (f64, f64) = (0.045_503_704_125_649_65, 0.042_546_020_777_081_47);
    std::array::from_fn(|p| match p {
        0..8 => {
            let (a, weight) = CORNERS[p / 4];
            (std::array::from_fn(|k| if k == p % 4 { 1.0 - 3.0 * a } else { a }), weight)
        }
        _ => {
            let (a, weight) = EDGE;
            (std::array::from_fn(|k| if EDGES[p - 8].contains(&k) { 0.5 - a } else { a }), weight)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∫λ₀ᵃλ₁ᵇλ₂ᶜλ₃ᵈ over a tet of volume 1 = 6 a! b! c! d!/(a+b+c+d+3)!.
    fn exact(powers: [u32; 4]) -> f64 {
        let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
        6.0 * powers.map(factorial).iter().product::<f64>() / factorial(powers.iter().sum::<u32>() + 3)
    }

    fn check(rule: &[([f64; 4], f64)], degree: u32) {
        for a in 0..=degree {
            for b in 0..=degree - a {
                for c in 0..=degree - a - b {
                    let powers = [a, b, c, 0];
                    let of = |l: &[f64; 4]| (0..4).map(|k| l[k].powi(powers[k] as i32)).product::<f64>();
                    let sum: f64 = rule.iter().map(|(l, w)| w * of(l)).sum();
                    assert!((sum - exact(powers)).abs() < 1e-15, "{powers:?}: {sum}");
                }
            }
        }
    }

    #[test]
    fn rules_have_their_degree() {
        check(&points().map(|l| (l, 0.25)), 2);
        check(&fourteen_points(), 5);
        assert!(fourteen_points().iter().all(|(l, w)| *w > 0.0 && l.iter().all(|x| *x > 0.0)));
    }

    #[test]
    fn shape_functions_belong_to_nodes() {
        let place = |n: usize| -> [f64; 4] {
            std::array::from_fn(|k| match n {
                0..4 => f64::from(u8::from(k == n)),
                _ => 0.5 * f64::from(u8::from(EDGES[n - 4].contains(&k))),
            })
        };
        for n in 0..NODES {
            let mut values = [0.0; NODES];
            shape(place(n), &mut values);
            assert!((0..NODES).all(|k| values[k] == f64::from(u8::from(k == n))), "{values:?}");
        }
        // Slopes by central differences, exact for quadratic functions up to round-off.
        let at = [0.3, 0.25, 0.35, 0.1];
        let slopes = slopes(at);
        for k in 0..3 {
            let moved = |c: f64| {
                let mut to = at;
                to[k + 1] += c;
                to[0] -= c;
                let mut values = [0.0; NODES];
                shape(to, &mut values);
                values
            };
            let (a, b) = (moved(0.01), moved(-0.01));
            for n in 0..NODES {
                assert!(((a[n] - b[n]) / 0.02 - slopes[n][k]).abs() < 1e-13);
            }
        }
    }
}
