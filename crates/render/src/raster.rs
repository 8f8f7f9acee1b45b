//! Triangles to samples, with a z-buffer.

use crate::vector::V3;
use std::ops::Range;

/// What is seen through each sample of some rows.
pub(crate) struct Samples {
    pub width: usize,
    rows: Range<usize>,
    /// Depth of the nearest triangle; infinite where there is none.
    pub depth: Vec<f32>,
    /// Its number.
    pub triangle: Vec<u32>,
    /// Weights of its second and third corner.
    pub weights: Vec<[f32; 2]>,
}

impl Samples {
    /// Nothing, in these rows.
    pub fn new(width: usize, rows: Range<usize>) -> Self {
        let n = width * rows.len();
        Self { width, rows, depth: vec![f32::INFINITY; n], triangle: vec![0; n], weights: vec![[0.0; 2]; n] }
    }

    /// Draws a triangle whose corners are at these columns, rows and depths. `perspective`: distances along it are not those
    /// of the picture.
    pub fn draw(&mut self, number: u32, [a, b, c]: [V3; 3], perspective: bool) {
        let twice_area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if twice_area.is_nan() || twice_area.abs() < 1e-12 {
            return;
        }
        let low = |k: usize| a[k].min(b[k]).min(c[k]);
        let high = |k: usize| a[k].max(b[k]).max(c[k]);
        // A sample is in the middle of its square.
        let first_row = ((low(1) - 0.5).ceil().max(self.rows.start as f32)) as usize;
        let end_row = ((high(1) + 0.5).floor().clamp(0.0, self.rows.end as f32)) as usize;
        let first_column = (low(0) - 0.5).ceil().max(0.0) as usize;
        let end_column = ((high(0) + 0.5).floor().clamp(0.0, self.width as f32)) as usize;
        let inverse = 1.0 / twice_area;
        for row in first_row..end_row {
            let y = row as f32 + 0.5;
            let line = (row - self.rows.start) * self.width;
            for column in first_column..end_column {
                let x = column as f32 + 0.5;
                let mut wb = ((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) * inverse;
                let mut wc = ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) * inverse;
                if wb < 0.0 || wc < 0.0 || wb + wc > 1.0 {
                    continue;
                }
                let depth = if perspective {
                    // Linear along the picture is one over the depth.
                    let (ia, ib, ic) = ((1.0 - wb - wc) / a[2], wb / b[2], wc / c[2]);
                    let depth = 1.0 / (ia + ib + ic);
                    (wb, wc) = (ib * depth, ic * depth);
                    depth
                } else {
                    a[2] + wb * (b[2] - a[2]) + wc * (c[2] - a[2])
                };
                let at = line + column;
                if depth < self.depth[at] {
                    self.depth[at] = depth;
                    self.triangle[at] = number;
                    self.weights[at] = [wb, wc];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_no_sample_and_leave_none_out() {
        // A square of two triangles covers 8 × 8 samples once.
        let [p, q, r, s] = [[2.0, 3.0, 1.0], [10.0, 3.0, 1.0], [10.0, 11.0, 1.0], [2.0, 11.0, 1.0]];
        let mut samples = Samples::new(16, 0..16);
        samples.draw(1, [p, q, r], true);
        let one = samples.depth.iter().filter(|d| d.is_finite()).count();
        samples.draw(2, [p, r, s], true);
        let both = samples.depth.iter().filter(|d| d.is_finite()).count();
        assert_eq!(both, 64);
        assert!((28..=36).contains(&one), "{one}");
    }

    #[test]
    fn the_nearer_triangle_is_seen_wherever_it_is_drawn_first_or_last() {
        let at = |depth: f32| [[0.0, 0.0, depth], [8.0, 0.0, depth], [0.0, 8.0, depth]];
        for order in [[1.0, 2.0], [2.0, 1.0]] {
            let mut samples = Samples::new(8, 0..8);
            order.iter().for_each(|d| samples.draw(*d as u32, at(*d), true));
            assert_eq!((samples.triangle[9], samples.depth[9]), (1, 1.0));
        }
    }

    #[test]
    fn weights_are_those_of_space_and_not_of_the_picture() {
        // Halfway across the picture of an edge from depth 1 to depth 3 lies a point a quarter of the way along.
        let mut samples = Samples::new(9, 0..9);
        samples.draw(0, [[0.0, 0.0, 1.0], [9.0, 0.0, 3.0], [0.0, 9.0, 1.0]], true);
        let [wb, _] = samples.weights[4];
        assert!((wb - 0.25).abs() < 0.01, "{wb}");
    }
}
