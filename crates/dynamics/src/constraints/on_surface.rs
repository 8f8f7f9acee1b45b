use super::Constraint;
use std::sync::Arc;

/// f(t, x) of a surface f = 0.
pub trait SurfaceEquation: Send + Sync {
    /// f.
    fn value(&self, t: f64, x: [f64; 3]) -> f64;
    /// ∂f/∂x.
    fn gradient(&self, t: f64, x: [f64; 3]) -> [f64; 3];
    /// ∂f/∂t.
    fn rate(&self, t: f64, x: [f64; 3]) -> f64;
    /// Whether f depends on time.
    fn moves(&self) -> bool;
}

/// A node on a surface f(t, x) = 0, fixed or moving; a node on a curve has two of them.
///
/// g = f/c, where c is |∂f/∂x| at the start, so that g is a distance near the place at the start and the multiplier is the
/// normal force.
#[derive(Clone)]
pub struct OnSurface {
    /// The name.
    pub name: String,
    /// The node.
    pub node: u32,
    /// f.
    pub equation: Arc<dyn SurfaceEquation>,
    /// c, 1/m times the unit of f.
    pub slope: f64,
    /// A length that |g| is judged by, m.
    pub scale: f64,
    /// The constraint ends at this time, s.
    pub until: f64,
}

impl OnSurface {
    fn place(&self, q: &[f64]) -> [f64; 3] {
        std::array::from_fn(|k| q[3 * self.node as usize + k])
    }
}

impl Constraint for OnSurface {
    fn name(&self) -> &str {
        &self.name
    }
    fn value(&self, t: f64, q: &[f64]) -> f64 {
        self.equation.value(t, self.place(q)) / self.slope
    }
    fn rate(&self, t: f64, q: &[f64]) -> f64 {
        self.equation.rate(t, self.place(q)) / self.slope
    }
    fn moves(&self) -> bool {
        self.equation.moves()
    }
    fn scale(&self) -> f64 {
        self.scale
    }
    fn gradient(&self, t: f64, q: &[f64], entry: &mut dyn FnMut(usize, [f64; 3])) {
        entry(self.node as usize, self.equation.gradient(t, self.place(q)).map(|d| d / self.slope));
    }
    /// The gradient in the middle, with the correction of \[gonzalez2000\] along the motion. The force then does no work on a
    /// surface that stands still.
    fn discrete_gradient(&self, t: [f64; 2], q0: &[f64], q1: &[f64], entry: &mut dyn FnMut(usize, [f64; 3])) {
        let (x0, x1, time) = (self.place(q0), self.place(q1), 0.5 * (t[0] + t[1]));
        let middle: [f64; 3] = std::array::from_fn(|k| 0.5 * (x0[k] + x1[k]));
        let step: [f64; 3] = std::array::from_fn(|k| x1[k] - x0[k]);
        let dot = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| a[k] * b[k]).sum::<f64>();
        let mut slope = self.equation.gradient(time, middle);
        let square = dot(step, step);
        // Below that the correction is round-off, and of second order in the step besides.
        if square > (1e-7 * self.scale).powi(2) {
            let change = self.equation.value(time, x1) - self.equation.value(time, x0);
            let along = (change - dot(slope, step)) / square;
            (0..3).for_each(|k| slope[k] += along * step[k]);
        }
        entry(self.node as usize, slope.map(|d| d / self.slope));
    }
    fn until(&self) -> f64 {
        self.until
    }
}
