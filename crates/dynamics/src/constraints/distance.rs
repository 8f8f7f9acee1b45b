use super::Constraint;

/// Two nodes a fixed distance apart: a rod without mass.
///
/// g = (l² − |s|²)/2l, quadratic in the positions, whose derivative on the constraint is the unit vector along
/// the rod: its multiplier is the tension, negative in a rod that is pushed.
#[derive(Clone, Debug, PartialEq)]
pub struct Distance {
    /// What it is called.
    pub name: String,
    /// The nodes.
    pub between: [u32; 2],
    /// l, m.
    pub length: f64,
    /// Released after this time, s.
    pub until: f64,
}

impl Distance {
    /// A rod that is never released.
    pub fn new(name: &str, between: [u32; 2], length: f64) -> Self {
        Self { name: name.to_string(), between, length, until: f64::INFINITY }
    }

    fn apart(&self, q: &[f64]) -> [f64; 3] {
        let [a, b] = self.between.map(|n| 3 * n as usize);
        std::array::from_fn(|k| q[b + k] - q[a + k])
    }

    fn ends(&self, s: [f64; 3], entry: &mut dyn FnMut(usize, [f64; 3])) {
        let unit = s.map(|x| x / self.length);
        entry(self.between[0] as usize, unit);
        entry(self.between[1] as usize, unit.map(|x| -x));
    }
}

impl Constraint for Distance {
    fn name(&self) -> &str {
        &self.name
    }
    fn value(&self, q: &[f64]) -> f64 {
        let s = self.apart(q);
        let apart = (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]).sqrt();
        // As a product: the difference of the squares would lose half of the digits.
        (self.length - apart) * (self.length + apart) / (2.0 * self.length)
    }
    fn scale(&self) -> f64 {
        self.length
    }
    fn gradient(&self, q: &[f64], entry: &mut dyn FnMut(usize, [f64; 3])) {
        self.ends(self.apart(q), entry);
    }
    /// That of the midpoint: g is quadratic.
    fn discrete_gradient(&self, q0: &[f64], q1: &[f64], entry: &mut dyn FnMut(usize, [f64; 3])) {
        let (s0, s1) = (self.apart(q0), self.apart(q1));
        self.ends(std::array::from_fn(|k| 0.5 * (s0[k] + s1[k])), entry);
    }
    fn until(&self) -> f64 {
        self.until
    }
}
