//! Additive continuous collision detection \[li2021\]: up to which multiple of a straight motion the gap of two features stays
//! positive.
//!
//! The mean motion is removed, l bounds the speed of approach, and the distance can decrease by no more than l per unit of
//! time. Steps of nine tenths of the distance over l therefore never reach contact. The distance is always computed from the
//! start, so that rounding does not add up. A search that reaches its limit returns the time up to which it got, which is
//! conservative.

use super::stencil::{edge_edge_distance, point_triangle_distance};
use crate::math::vector::{V3, add, norm, scale, sub};

/// The part of a gap that one step of the search, and one motion in all, may take.
const PART: f64 = 0.9;
/// Steps of the search.
const STEPS: usize = 1000;

/// The largest multiple, up to `limit`, of the motion `p` from `x` such that a point (the first) stays away from a
/// triangle.
pub fn point_triangle(x: [V3; 4], p: [V3; 4], limit: f64) -> f64 {
    let p = without_mean(p);
    let speed = norm(p[0]) + p[1..].iter().map(|p| norm(*p)).fold(0.0, f64::max);
    additive(x, p, speed, limit, |x| point_triangle_distance(x[0], [x[1], x[2], x[3]]))
}

/// The largest multiple, up to `limit`, of the motion `p` from `x` such that two edges stay apart.
pub fn edge_edge(x: [V3; 4], p: [V3; 4], limit: f64) -> f64 {
    let p = without_mean(p);
    let speed = norm(p[0]).max(norm(p[1])) + norm(p[2]).max(norm(p[3]));
    additive(x, p, speed, limit, |x| edge_edge_distance([x[0], x[1]], [x[2], x[3]]))
}

fn without_mean(p: [V3; 4]) -> [V3; 4] {
    let mean = scale(add(add(p[0], p[1]), add(p[2], p[3])), 0.25);
    p.map(|p| sub(p, mean))
}

fn additive(x: [V3; 4], p: [V3; 4], speed: f64, limit: f64, distance: impl Fn([V3; 4]) -> f64) -> f64 {
    if speed == 0.0 {
        return limit;
    }
    let mut gap = distance(x);
    if gap <= 0.0 {
        return 0.0;
    }
    let stop = (1.0 - PART) * gap;
    let mut time = 0.0;
    for _ in 0..STEPS {
        let step = PART * gap / speed;
        gap = distance(std::array::from_fn(|i| add(x[i], scale(p[i], time + step))));
        if time > 0.0 && gap < stop {
            return time;
        }
        time += step;
        if time > limit {
            return limit;
        }
    }
    time
}
