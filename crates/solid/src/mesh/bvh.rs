//! A tree of boxes over triangles, for the nearest of them to a point.
//!
//! Its shape is decided once, at rest (halves by the median along the longest axis); only the boxes
//! follow the motion. What it answers does not depend on its shape, so a strongly deformed body costs
//! time, never correctness.

use crate::math::vector::{V3, bounds};

/// Triangles per leaf: a box test costs about a quarter of a triangle test.
const LEAF: usize = 4;

/// Nodes in preorder: the left child follows its parent.
#[derive(Debug)]
pub(crate) struct Bvh {
    /// Right child, or 0 for a leaf.
    right: Vec<u32>,
    /// First and one past the last triangle.
    range: Vec<[u32; 2]>,
}

pub(crate) type Box3 = [V3; 2];

/// The box of nothing.
pub(crate) const NOWHERE: Box3 = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];

impl Bvh {
    /// Over these centres; also returns the order in which the triangles are to be stored.
    pub fn new(centers: &[V3]) -> (Self, Vec<u32>) {
        let mut order: Vec<u32> = (0..centers.len() as u32).collect();
        let mut tree = Self { right: Vec::new(), range: Vec::new() };
        if !order.is_empty() {
            tree.split(centers, &mut order, 0);
        }
        (tree, order)
    }

    fn split(&mut self, centers: &[V3], order: &mut [u32], first: usize) {
        let node = self.right.len();
        self.right.push(0);
        self.range.push([first as u32, (first + order.len()) as u32]);
        if order.len() <= LEAF {
            return;
        }
        let [lo, hi] = bounds(order.iter().map(|&t| centers[t as usize])).expect("more than a leaf");
        let mut axis = 0;
        for k in 1..3 {
            if hi[k] - lo[k] > hi[axis] - lo[axis] {
                axis = k;
            }
        }
        let half = order.len() / 2;
        order.select_nth_unstable_by(half, |&a, &b| {
            let (x, y) = (centers[a as usize][axis], centers[b as usize][axis]);
            x.total_cmp(&y).then(a.cmp(&b))
        });
        let (left, right) = order.split_at_mut(half);
        self.split(centers, left, first);
        self.right[node] = self.right.len() as u32;
        self.split(centers, right, first + half);
    }

    /// The box of every node, from those of the triangles.
    pub fn boxes(&self, of_triangle: impl Fn(usize) -> Box3) -> Vec<Box3> {
        let mut boxes = vec![[[0.0; 3]; 2]; self.right.len()];
        for node in (0..boxes.len()).rev() {
            boxes[node] = match self.right[node] as usize {
                0 => {
                    let [first, end] = self.range[node].map(|t| t as usize);
                    (first + 1..end).fold(of_triangle(first), |b, t| join(b, of_triangle(t)))
                }
                right => join(boxes[node + 1], boxes[right]),
            };
        }
        boxes
    }

    /// The first and one past the last item of a leaf.
    pub fn leaf(&self, node: u32) -> std::ops::Range<usize> {
        let [first, end] = self.range[node as usize];
        first as usize..end as usize
    }

    /// Pairs of leaves of two trees whose boxes overlap, in a fixed order. Of a tree and itself (`other` is `None`) each pair
    /// once.
    pub fn overlapping_leaves(&self, boxes: &[Box3], other: Option<(&Self, &[Box3])>) -> Vec<(u32, u32)> {
        let (second, second_boxes) = other.unwrap_or((self, boxes));
        let mut found = Vec::new();
        let mut stack = if boxes.is_empty() || second_boxes.is_empty() { Vec::new() } else { vec![(0, 0)] };
        while let Some((a, b)) = stack.pop() {
            let (i, j) = (a as usize, b as usize);
            if !overlap(&boxes[i], &second_boxes[j]) {
                continue;
            }
            let size = |range: [u32; 2]| range[1] - range[0];
            match (self.right[i], second.right[j]) {
                (0, 0) => found.push((a, b)),
                (right, _) if other.is_none() && a == b => {
                    stack.extend([(right, right), (a + 1, right), (a + 1, a + 1)]);
                }
                (right, other_right) => {
                    if right != 0 && (other_right == 0 || size(self.range[i]) >= size(second.range[j])) {
                        stack.extend([(right, b), (a + 1, b)]);
                    } else {
                        stack.extend([(a, other_right), (a, b + 1)]);
                    }
                }
            }
        }
        found
    }

    /// The triangle of least squared distance to `p` up to `bound`, as `distance` gives it (`None`: not
    /// to be considered); of equals the first.
    pub fn nearest(
        &self,
        boxes: &[Box3],
        p: V3,
        bound: f64,
        distance: impl Fn(usize) -> Option<f64>,
    ) -> Option<usize> {
        let (mut best, mut found) = (bound, None);
        // Depth is log₂ of the number of triangles, and each level leaves at most one node behind.
        let mut stack = [(0u32, 0.0f64); 40];
        let mut height = 0;
        if !boxes.is_empty() {
            stack[0] = (0, square_to_box(p, &boxes[0]));
            height = 1;
        }
        while height > 0 {
            height -= 1;
            let (node, square) = stack[height];
            if square > best {
                continue;
            }
            let node = node as usize;
            match self.right[node] as usize {
                0 => {
                    let [first, end] = self.range[node].map(|t| t as usize);
                    for t in first..end {
                        let Some(d) = distance(t) else { continue };
                        if d < best || (d == best && found.is_none_or(|f| t < f)) {
                            (best, found) = (d, Some(t));
                        }
                    }
                }
                right => {
                    let left = node + 1;
                    let near = (left as u32, square_to_box(p, &boxes[left]));
                    let far = (right as u32, square_to_box(p, &boxes[right]));
                    let (near, far) = if far.1 < near.1 { (far, near) } else { (near, far) };
                    stack[height] = far;
                    stack[height + 1] = near;
                    height += 2;
                }
            }
        }
        found
    }
}

/// Whether two boxes have a point in common.
pub(crate) fn overlap(a: &Box3, b: &Box3) -> bool {
    (0..3).all(|k| a[0][k] <= b[1][k] && b[0][k] <= a[1][k])
}

fn join(a: Box3, b: Box3) -> Box3 {
    [[0, 1, 2].map(|k| f64::min(a[0][k], b[0][k])), [0, 1, 2].map(|k| f64::max(a[1][k], b[1][k]))]
}

/// Squared distance of a point to a box, 0 inside.
pub(crate) fn square_to_box(p: V3, [lo, hi]: &Box3) -> f64 {
    (0..3).map(|k| (lo[k] - p[k]).max(p[k] - hi[k]).max(0.0).powi(2)).sum()
}
