//! Projection of a motion of points onto what is not rigid.

use super::eigen_symmetric;
use super::vector::{V3, add, cross, dot, scale, sub};

/// The motion less the rigid velocity field at x that is nearest to it: what is left, times the weights,
/// has no resultant and no moment.
pub(crate) fn without_rigid(x: &[V3], weights: &[f64], moved: &[V3]) -> Vec<V3> {
    let total: f64 = weights.iter().sum();
    let mean = |v: &[V3]| {
        let sum = v.iter().zip(weights);
        scale(sum.fold([0.0; 3], |s, (v, w)| add(s, scale(*v, *w))), 1.0 / total)
    };
    let (center, drift) = (mean(x), mean(moved));
    let arms: Vec<V3> = x.iter().map(|x| sub(*x, center)).collect();
    let mut rest: Vec<V3> = moved.iter().map(|v| sub(*v, drift)).collect();
    // The turn from Σ w (|r|² − r rᵀ) turn = Σ w r × v.
    let mut inertia = [[0.0; 3]; 3];
    let mut moment = [0.0; 3];
    for ((r, v), &w) in arms.iter().zip(&rest).zip(weights) {
        moment = add(moment, scale(cross(*r, *v), w));
        for i in 0..3 {
            inertia[i][i] += w * dot(*r, *r);
            inertia[i] = sub(inertia[i], scale(*r, w * r[i]));
        }
    }
    let (lambda, axes) = eigen_symmetric(&inertia);
    let most = lambda.iter().fold(0.0f64, |m, l| m.max(*l));
    let mut turn = [0.0; 3];
    for (l, axis) in lambda.iter().zip(axes) {
        // Collinear nodes do not move when they turn about their line.
        if *l > 1e-14 * most {
            turn = add(turn, scale(axis, dot(axis, moment) / l));
        }
    }
    for (v, r) in rest.iter_mut().zip(&arms) {
        *v = sub(*v, cross(turn, *r));
    }
    rest
}
