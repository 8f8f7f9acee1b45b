//! A tree of boxes over triangles: nearest point, crossings of a segment, winding number.

use crate::math::vector::{
    V3, add, area_vector, bounds, cross, distance, dot, nearest_on_triangle, norm, scale, sub,
};

/// Triangles per leaf.
const LEAF: usize = 4;

/// A node is replaced by a dipole when the point is further than this many radii from its centre;
/// the error of the winding number is then a few per cent \[barill2018\], far from deciding ½.
const FAR: f64 = 2.5;

#[derive(Clone, Debug)]
struct WindingNode {
    lo: V3,
    hi: V3,
    /// Triangles `first .. first + count` of the sorted list.
    first: usize,
    count: usize,
    /// Left child; the right one follows its subtree. 0 in a leaf.
    children: [usize; 2],
    /// Σ area · normal, area-weighted centre, and the radius of all corners around it.
    dipole: V3,
    centre: V3,
    radius: f64,
}

/// The nearest point of a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    pub point: V3,
    /// Number of the triangle in the order given to [`WindingTree::new`].
    pub triangle: usize,
}

/// A tree of boxes over triangles that answers nearest points, crossings and winding numbers.
#[derive(Clone, Debug)]
pub(crate) struct WindingTree {
    nodes: Vec<WindingNode>,
    triangles: Vec<[V3; 3]>,
    numbers: Vec<usize>,
}

impl WindingTree {
    pub fn new(triangles: Vec<[V3; 3]>) -> Self {
        let middles: Vec<V3> =
            triangles.iter().map(|t| scale(add(t[0], add(t[1], t[2])), 1.0 / 3.0)).collect();
        let mut numbers: Vec<usize> = (0..triangles.len()).collect();
        let mut nodes = Vec::new();
        if !triangles.is_empty() {
            build(&mut nodes, &triangles, &middles, &mut numbers, 0);
        }
        Self { nodes, triangles: numbers.iter().map(|&n| triangles[n]).collect(), numbers }
    }

    /// The nearest point that is closer than `within`.
    pub fn nearest(&self, p: V3, within: f64) -> Option<Nearest> {
        let mut best: Option<Nearest> = None;
        let mut limit = within;
        let mut stack = vec![0];
        while let Some(n) = stack.pop() {
            let Some(node) = self.nodes.get(n) else {
                continue;
            };
            if box_distance(p, node) >= limit {
                continue;
            }
            if node.children[0] == 0 {
                for t in node.first..node.first + node.count {
                    let corners = self.triangles[t];
                    let w = nearest_on_triangle(p, corners);
                    let point = (0..3).fold([0.0; 3], |q, k| add(q, scale(corners[k], w[k])));
                    let d = distance(p, point);
                    if d < limit {
                        limit = d;
                        best = Some(Nearest { point, triangle: self.numbers[t] });
                    }
                }
            } else {
                let [a, b] = node.children;
                let a_first = box_distance(p, &self.nodes[a]) <= box_distance(p, &self.nodes[b]);
                stack.extend(if a_first { [b, a] } else { [a, b] });
            }
        }
        best
    }

    /// Places t ∈ [0, 1], ascending, where the segment a + t (b − a) meets the surface.
    pub fn crossings(&self, a: V3, b: V3) -> Vec<f64> {
        let d = sub(b, a);
        let mut hits = Vec::new();
        let mut stack = vec![0];
        while let Some(n) = stack.pop() {
            let Some(node) = self.nodes.get(n) else {
                continue;
            };
            if !segment_meets(a, d, node) {
                continue;
            }
            if node.children[0] == 0 {
                let here = &self.triangles[node.first..node.first + node.count];
                hits.extend(here.iter().filter_map(|&t| segment_crosses(a, d, t)));
            } else {
                stack.extend(node.children);
            }
        }
        hits.sort_by(f64::total_cmp);
        hits.dedup_by(|x, y| *x - *y < 1e-9);
        hits
    }

    /// Generalised winding number: how often the surface goes around `p` \[jacobson2013\]; 1 inside
    /// a closed outward surface, 0 outside, between them where the surface has holes.
    pub fn winding(&self, p: V3) -> f64 {
        let mut sum = 0.0;
        let mut stack = vec![0];
        while let Some(n) = stack.pop() {
            let Some(node) = self.nodes.get(n) else {
                continue;
            };
            let r = sub(node.centre, p);
            let d = norm(r);
            if d > FAR * node.radius {
                sum += dot(node.dipole, r) / (d * d * d);
            } else if node.children[0] == 0 {
                let here = &self.triangles[node.first..node.first + node.count];
                sum += here.iter().map(|&t| solid_angle(p, t)).sum::<f64>();
            } else {
                stack.extend(node.children);
            }
        }
        sum / (4.0 * std::f64::consts::PI)
    }
}

/// Builds the node of `numbers`, which start at `first` in the whole list; returns its index.
fn build(
    nodes: &mut Vec<WindingNode>,
    triangles: &[[V3; 3]],
    middles: &[V3],
    numbers: &mut [usize],
    first: usize,
) -> usize {
    let corners = || numbers.iter().flat_map(|&n| triangles[n]);
    let [lo, hi] = bounds(corners()).unwrap_or_default();
    let (mut dipole, mut centre, mut area) = ([0.0; 3], [0.0; 3], 0.0);
    for &n in numbers.iter() {
        let v = scale(area_vector(triangles[n]), 0.5);
        dipole = add(dipole, v);
        centre = add(centre, scale(middles[n], norm(v)));
        area += norm(v);
    }
    centre = if area > 0.0 { scale(centre, 1.0 / area) } else { lo };
    let radius = corners().map(|c| distance(c, centre)).fold(0.0, f64::max);
    let index = nodes.len();
    let count = numbers.len();
    nodes.push(WindingNode { lo, hi, first, count, children: [0; 2], dipole, centre, radius });
    if count > LEAF {
        let [lo, hi] = bounds(numbers.iter().map(|&n| middles[n])).unwrap_or_default();
        let size = sub(hi, lo);
        let axis = (0..3).fold(0, |best, i| if size[i] > size[best] { i } else { best });
        let half = count / 2;
        numbers.select_nth_unstable_by(half, |&a, &b| {
            middles[a][axis].total_cmp(&middles[b][axis]).then(a.cmp(&b))
        });
        let (left, right) = numbers.split_at_mut(half);
        let a = build(nodes, triangles, middles, left, first);
        let b = build(nodes, triangles, middles, right, first + half);
        nodes[index].children = [a, b];
    }
    index
}

fn box_distance(p: V3, node: &WindingNode) -> f64 {
    norm([0, 1, 2].map(|i| (node.lo[i] - p[i]).max(p[i] - node.hi[i]).max(0.0)))
}

/// Rounding of segment parameters and barycentric coordinates; hits twice rather than slips through.
const SLACK: f64 = 1e-9;

fn segment_meets(a: V3, d: V3, node: &WindingNode) -> bool {
    let (mut enter, mut leave) = (-SLACK, 1.0 + SLACK);
    for i in 0..3 {
        let margin = SLACK * (node.hi[i] - node.lo[i] + d[i].abs());
        let (lo, hi) = (node.lo[i] - margin - a[i], node.hi[i] + margin - a[i]);
        if d[i] == 0.0 {
            if lo > 0.0 || hi < 0.0 {
                return false;
            }
        } else {
            let (s, t) = (lo / d[i], hi / d[i]);
            enter = enter.max(s.min(t));
            leave = leave.min(s.max(t));
        }
    }
    enter <= leave
}

/// Möller and Trumbore's test \[moller1997\].
fn segment_crosses(a: V3, d: V3, [p, q, r]: [V3; 3]) -> Option<f64> {
    let (e1, e2) = (sub(q, p), sub(r, p));
    let h = cross(d, e2);
    let det = dot(e1, h);
    if det.abs() <= 1e-14 * norm(d) * norm(e1) * norm(e2) {
        return None;
    }
    let s = sub(a, p);
    let u = dot(s, h) / det;
    let k = cross(s, e1);
    let v = dot(d, k) / det;
    let t = dot(e2, k) / det;
    let hit = u >= -SLACK && v >= -SLACK && u + v <= 1.0 + SLACK;
    (hit && (-SLACK..=1.0 + SLACK).contains(&t)).then(|| t.clamp(0.0, 1.0))
}

/// Signed solid angle of a triangle, by van Oosterom and Strackee \[oosterom1983\].
fn solid_angle(p: V3, t: [V3; 3]) -> f64 {
    let [a, b, c] = t.map(|x| sub(x, p));
    let [la, lb, lc] = [norm(a), norm(b), norm(c)];
    let up = dot(a, cross(b, c));
    let down = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
    2.0 * up.atan2(down)
}
