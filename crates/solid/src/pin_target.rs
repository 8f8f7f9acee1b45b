//! Where a pinned node is told to go between steps, as a robot's controller does.

/// A straight way at constant speed. Before and after it the node stands still.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PinTarget {
    /// Where and when it starts, m and s.
    pub from: ([f64; 3], f64),
    /// Where and when it ends, m and s.
    pub to: ([f64; 3], f64),
}

impl PinTarget {
    /// Displacement from `start` (m), and its rate (m/s). The step that ends with the way still has the rate of it.
    pub fn at(&self, t: f64, start: [f64; 3]) -> ([f64; 3], [f64; 3]) {
        let ((from, begins), (to, ends)) = (self.from, self.to);
        let duration = ends - begins;
        // Times of steps are rounded: half a nanosecond of slack.
        let moves = t >= begins - 5e-10 && t <= ends + 5e-10;
        let part = ((t - begins) / duration).clamp(0.0, 1.0);
        let displacement = |k: usize| (1.0 - part) * from[k] + part * to[k] - start[k];
        let rate = |k: usize| if moves { (to[k] - from[k]) / duration } else { 0.0 };
        (std::array::from_fn(displacement), std::array::from_fn(rate))
    }
}
