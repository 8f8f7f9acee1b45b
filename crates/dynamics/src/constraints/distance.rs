use super::Constraint;
use std::sync::Arc;

/// The length of a rod.
#[derive(Clone)]
pub enum RodLength {
    /// Always the same, m.
    Fixed(f64),
    /// The length (m) and its rate (m/s) at a time.
    Timed(Arc<dyn Fn(f64) -> (f64, f64) + Send + Sync>),
}

impl RodLength {
    /// The length (m) and its rate (m/s) at t.
    pub fn at(&self, t: f64) -> (f64, f64) {
        match self {
            Self::Fixed(length) => (*length, 0.0),
            Self::Timed(length) => length(t),
        }
    }
}

/// A given distance between two nodes: a massless rod.
///
/// g = (l² − |s|²)/2l is quadratic in the positions. On the constraint its gradient is the unit vector along the rod, so the
/// multiplier is the tension; it is negative under compression.
#[derive(Clone)]
pub struct Distance {
    /// The name.
    pub name: String,
    /// The nodes.
    pub between: [u32; 2],
    /// l.
    pub length: RodLength,
    /// The constraint ends at this time, s.
    pub until: f64,
}

impl Distance {
    /// A constraint that never ends.
    pub fn new(name: &str, between: [u32; 2], length: f64) -> Self {
        Self { name: name.to_string(), between, length: RodLength::Fixed(length), until: f64::INFINITY }
    }

    fn difference(&self, q: &[f64]) -> [f64; 3] {
        let [a, b] = self.between.map(|n| 3 * n as usize);
        std::array::from_fn(|k| q[b + k] - q[a + k])
    }

    fn add_entries(&self, length: f64, s: [f64; 3], entry: &mut dyn FnMut(usize, [f64; 3])) {
        let unit = s.map(|x| x / length);
        entry(self.between[0] as usize, unit);
        entry(self.between[1] as usize, unit.map(|x| -x));
    }
}

impl Constraint for Distance {
    fn name(&self) -> &str {
        &self.name
    }
    fn value(&self, t: f64, q: &[f64]) -> f64 {
        let (s, (length, _)) = (self.difference(q), self.length.at(t));
        let distance = (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]).sqrt();
        // The product avoids cancellation in the difference of the squares, which would lose half of the digits.
        (length - distance) * (length + distance) / (2.0 * length)
    }
    fn rate(&self, t: f64, q: &[f64]) -> f64 {
        let (s, (length, rate)) = (self.difference(q), self.length.at(t));
        0.5 * rate * (1.0 + (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) / (length * length))
    }
    fn moves(&self) -> bool {
        matches!(self.length, RodLength::Timed(_))
    }
    fn scale(&self) -> f64 {
        self.length.at(0.0).0
    }
    fn gradient(&self, t: f64, q: &[f64], entry: &mut dyn FnMut(usize, [f64; 3])) {
        self.add_entries(self.length.at(t).0, self.difference(q), entry);
    }
    /// The gradient at the midpoint, since g is quadratic.
    fn discrete_gradient(&self, t: [f64; 2], q0: &[f64], q1: &[f64], entry: &mut dyn FnMut(usize, [f64; 3])) {
        let (s0, s1) = (self.difference(q0), self.difference(q1));
        let length = 0.5 * (self.length.at(t[0]).0 + self.length.at(t[1]).0);
        self.add_entries(length, std::array::from_fn(|k| 0.5 * (s0[k] + s1[k])), entry);
    }
    fn until(&self) -> f64 {
        self.until
    }
}
