//! The part of a tet inside another.
//!
//! In barycentric coordinates of the outer tet its faces are the planes bₖ = 0. The inner tet is cut by one after the
//! other, and what is left of a tet is one tet or three: no general polyhedra, and volume and first moments are sums
//! over tets, exact to round-off.

use crate::math::vector::{V3, cross, dot, sub};

/// Barycentric coordinates in the outer tet.
type Point = [f64; 4];

/// Coordinates below this are on the face; what is cut off there has no volume to speak of.
const ON_FACE: f64 = 1e-13;

/// Share of the outer tet's volume that is inside `inner`, and the mean of the barycentric coordinates there;
/// `None` if they do not overlap. Corners of `inner` are given in barycentric coordinates of the outer tet.
pub(super) fn inside(mut inner: [Point; 4]) -> Option<(f64, Point)> {
    for b in inner.as_flattened_mut() {
        if b.abs() < ON_FACE {
            *b = 0.0;
        }
    }
    // Quick: all corners beyond one face, or none beyond any.
    if (0..4).any(|k| inner.iter().all(|p| p[k] <= 0.0)) {
        return None;
    }
    let mut pieces = vec![inner];
    for face in 0..4 {
        if pieces.iter().all(|t| t.iter().all(|p| p[face] >= 0.0)) {
            continue;
        }
        let mut kept = Vec::with_capacity(3 * pieces.len());
        for tet in &pieces {
            cut(tet, face, &mut kept);
        }
        pieces = kept;
    }
    let (mut volume, mut moment) = (0.0, [0.0; 4]);
    for tet in &pieces {
        let v = share(tet);
        volume += v;
        for k in 0..4 {
            moment[k] += 0.25 * v * tet.iter().map(|p| p[k]).sum::<f64>();
        }
    }
    (volume > 0.0).then(|| (volume, moment.map(|m| m / volume)))
}

/// Volume of a tet as a share of the outer one.
fn share(tet: &[Point; 4]) -> f64 {
    let [o, a, b, c]: [V3; 4] = tet.map(|p| [p[1], p[2], p[3]]);
    dot(sub(a, o), cross(sub(b, o), sub(c, o))).abs()
}

/// Adds the part of a tet where coordinate `face` is not negative.
fn cut(tet: &[Point; 4], face: usize, out: &mut Vec<[Point; 4]>) {
    let (mut kept, mut lost) = (Vec::with_capacity(4), Vec::with_capacity(4));
    for p in tet {
        if p[face] > 0.0 { kept.push(*p) } else { lost.push(*p) }
    }
    let between = |a: &Point, b: &Point| -> Point {
        let t = a[face] / (a[face] - b[face]);
        let mut p: Point = std::array::from_fn(|k| a[k] + t * (b[k] - a[k]));
        p[face] = 0.0;
        p
    };
    match (&kept[..], &lost[..]) {
        (&[a, b, c, d], _) => out.push([a, b, c, d]),
        (&[a], [p, q, r]) => out.push([a, between(&a, p), between(&a, q), between(&a, r)]),
        (&[a, b], [p, q]) => {
            wedge([a, between(&a, p), between(&a, q)], [b, between(&b, p), between(&b, q)], out);
        }
        (&[a, b, c], [p]) => wedge([a, b, c], [between(&a, p), between(&b, p), between(&c, p)], out),
        _ => {}
    }
}

/// The three tets of a wedge between two triangles.
fn wedge(a: [Point; 3], b: [Point; 3], out: &mut Vec<[Point; 4]>) {
    out.extend([[a[0], a[1], a[2], b[2]], [a[0], a[1], b[1], b[2]], [a[0], b[0], b[1], b[2]]]);
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [Point; 4] =
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]];

    #[test]
    fn itself_and_smaller_and_larger() {
        let (v, mean) = inside(CORNERS).unwrap();
        assert_eq!(v, 1.0);
        assert_eq!(mean, [0.25; 4]);
        let about = |s: f64| CORNERS.map(|p| p.map(|b| 0.25 + s * (b - 0.25)));
        let (v, _) = inside(about(0.5)).unwrap();
        assert!((v - 0.125).abs() < 1e-15);
        let (v, mean) = inside(about(7.0)).unwrap();
        assert!((v - 1.0).abs() < 1e-14 && mean.iter().all(|m| (m - 0.25).abs() < 1e-14));
        assert!(inside(CORNERS.map(|p| [p[0] - 1.0, p[1] + 1.0, p[2], p[3]])).is_none());
    }

    /// Half of the tet beyond the plane b₀ = b₁, seen through a mirror image.
    #[test]
    fn mirrored_across_an_edge() {
        let mut mirrored = CORNERS;
        mirrored[0] = [-1.0, 2.0, 0.0, 0.0];
        // The mirror image meets the tet only in its face; shifted half way it covers what is beyond b₀ = ½ … 0.
        assert!(inside(mirrored).is_none());
        let half = [[0.5, 0.5, 0.0, 0.0], CORNERS[1], CORNERS[2], CORNERS[3]];
        let (v, mean) = inside(half).unwrap();
        assert!((v - 0.5).abs() < 1e-15);
        assert!((mean[0] - 0.125).abs() < 1e-15 && (mean[1] - 0.375).abs() < 1e-15);
    }
}
