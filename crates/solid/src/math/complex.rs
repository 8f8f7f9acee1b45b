use super::{Mat3, Real, Scalar, rotation};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A complex number, for complex-step derivatives: f'(x) = Im f(x + iε)/ε with no subtraction and
/// so to round-off, where f is analytic \[squire1998\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex {
    /// Real part: the value.
    pub re: f64,
    /// Imaginary part: ε times the derivative.
    pub im: f64,
}

macro_rules! operator {
    ($trait:ident, $method:ident, |$a:ident, $b:ident| $body:expr) => {
        impl $trait for Complex {
            type Output = Self;
            #[inline(always)]
            fn $method(self, rhs: Self) -> Self {
                let ($a, $b) = (self, rhs);
                $body
            }
        }
    };
}

operator!(Add, add, |a, b| Complex { re: a.re + b.re, im: a.im + b.im });
operator!(Sub, sub, |a, b| Complex { re: a.re - b.re, im: a.im - b.im });
operator!(Mul, mul, |a, b| Complex { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re });
operator!(Div, div, |a, b| {
    let n = b.re * b.re + b.im * b.im;
    Complex { re: (a.re * b.re + a.im * b.im) / n, im: (a.im * b.re - a.re * b.im) / n }
});

impl Neg for Complex {
    type Output = Self;
    fn neg(self) -> Self {
        Self { re: -self.re, im: -self.im }
    }
}

impl AddAssign for Complex {
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl SubAssign for Complex {
    fn sub_assign(&mut self, b: Self) {
        *self = *self - b;
    }
}

impl Complex {
    /// An analytic function given by its value and derivative at the real part; exact to the first
    /// order in the imaginary part, which is all that a complex step reads.
    fn lift(self, value: f64, derivative: f64) -> Self {
        Self { re: value, im: derivative * self.im }
    }
}

impl Scalar for Complex {
    fn new(x: f64) -> Self {
        Self { re: x, im: 0.0 }
    }
    fn sqrt(self) -> Self {
        let s = self.re.sqrt();
        self.lift(s, 0.5 / s)
    }
    fn ln(self) -> Self {
        self.lift(Scalar::ln(self.re), 1.0 / self.re)
    }
    fn cbrt(self) -> Self {
        let c = Scalar::cbrt(self.re);
        self.lift(c, 1.0 / (3.0 * c * c))
    }
    fn inverse_cbrt(self) -> Self {
        let y = Scalar::inverse_cbrt(self.re);
        self.lift(y, -y / (3.0 * self.re))
    }
    fn excess_over_ln(x: Self, u: Self) -> Self {
        x.lift(f64::excess_over_ln(x.re, u.re), x.re / u.re)
    }
    fn select_positive(condition: Self, a: Self, b: Self) -> Self {
        if condition.re > 0.0 { a } else { b }
    }
    #[inline(always)]
    fn is_positive(self) -> bool {
        self.re > 0.0
    }
}

impl Real for Complex {
    /// Analytic in F, so that the step passes through, for any F with σ₁ + σ₂ ≠ 0.
    fn rotation(f: &Mat3<Self>) -> Mat3<Self> {
        rotation::polar(f, 60).0
    }
}
