use super::Mat3;
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// What a kernel needs of a scalar.
pub trait Real:
    Copy
    + Debug
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// The constant `x`.
    fn new(x: f64) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Natural logarithm; NaN where the (real part of the) argument is negative.
    fn ln(self) -> Self;
    /// Real cube root.
    fn cbrt(self) -> Self;
    /// `if condition > 0 { a } else { b }`, by the real part, lane by lane.
    fn select_positive(condition: Self, a: Self, b: Self) -> Self;
    /// Rotation nearest to `f`: the R of F = R S with det R = +1, also for an inverted `f`.
    fn rotation(f: &Mat3<Self>) -> Mat3<Self>;

    /// The constant 0.
    fn zero() -> Self {
        Self::new(0.0)
    }
    /// The constant 1.
    fn one() -> Self {
        Self::new(1.0)
    }
    /// `self * c` for a plain number.
    fn scale(self, c: f64) -> Self {
        self * Self::new(c)
    }
    /// `self²`.
    fn squared(self) -> Self {
        self * self
    }
}

impl Real for f64 {
    #[inline(always)]
    fn new(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        f64::ln(self)
    }
    #[inline(always)]
    fn cbrt(self) -> Self {
        f64::cbrt(self)
    }
    #[inline(always)]
    fn select_positive(condition: Self, a: Self, b: Self) -> Self {
        if condition > 0.0 { a } else { b }
    }
    fn rotation(f: &Mat3<Self>) -> Mat3<Self> {
        let mut r = *f;
        for _ in 0..60 {
            r = (r + r.inverse().transpose()).scale(0.5);
        }
        r
    }
}
