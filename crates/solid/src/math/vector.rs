//! Vectors of three numbers, for geometry.

pub(crate) type V3 = [f64; 3];

pub(crate) fn add(a: V3, b: V3) -> V3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(crate) fn sub(a: V3, b: V3) -> V3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn scale(a: V3, c: f64) -> V3 {
    [a[0] * c, a[1] * c, a[2] * c]
}

/// a + t (b − a).
pub(crate) fn lerp(a: V3, b: V3, t: f64) -> V3 {
    add(a, scale(sub(b, a), t))
}

pub(crate) fn dot(a: V3, b: V3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: V3, b: V3) -> V3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn norm(a: V3) -> f64 {
    dot(a, a).sqrt()
}

pub(crate) fn distance(a: V3, b: V3) -> f64 {
    norm(sub(a, b))
}

/// Twice the area times the unit normal.
pub(crate) fn area_vector(t: [V3; 3]) -> V3 {
    cross(sub(t[1], t[0]), sub(t[2], t[0]))
}

/// Signed volume of a tet.
pub(crate) fn volume(t: [V3; 4]) -> f64 {
    dot(sub(t[1], t[0]), cross(sub(t[2], t[0]), sub(t[3], t[0]))) / 6.0
}

/// The point of triangle (a, b, c) nearest to p, in barycentric coordinates: first the three
/// vertex regions, then the edges, then the face \[ericson2004, §5.1.5\].
pub(crate) fn nearest_on_triangle(p: V3, [a, b, c]: [V3; 3]) -> [f64; 3] {
    let (ab, ac, ap) = (sub(b, a), sub(c, a), sub(p, a));
    let (d1, d2) = (dot(ab, ap), dot(ac, ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = sub(p, b);
    let (d3, d4) = (dot(ab, bp), dot(ac, bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 && d1 > d3 {
        let v = d1 / (d1 - d3);
        return [1.0 - v, v, 0.0];
    }
    let cp = sub(p, c);
    let (d5, d6) = (dot(ab, cp), dot(ac, cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 && d2 > d6 {
        let w = d2 / (d2 - d6);
        return [1.0 - w, 0.0, w];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 && (d4 - d3) + (d5 - d6) > 0.0 {
        let w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - w, w];
    }
    let sum = va + vb + vc;
    if sum > 0.0 {
        let (v, w) = (vb / sum, vc / sum);
        [1.0 - v - w, v, w]
    } else {
        [1.0, 0.0, 0.0]
    }
}

/// Smallest axis-aligned box around points; `None` without points.
pub(crate) fn bounds(points: impl IntoIterator<Item = V3>) -> Option<[V3; 2]> {
    let mut points = points.into_iter();
    let first = points.next()?;
    Some(points.fold([first, first], |[lo, hi], p| {
        [[0, 1, 2].map(|i| f64::min(lo[i], p[i])), [0, 1, 2].map(|i| f64::max(hi[i], p[i]))]
    }))
}
