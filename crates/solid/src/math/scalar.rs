use super::elementary;
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// What a kernel needs of a scalar.
pub trait Scalar:
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
    /// 1/∛x of a positive finite x: cheaper than the cube root, and no division.
    fn inverse_cbrt(self) -> Self;
    /// x − ln u where u = 1 + x, to full relative accuracy also as x → 0 (where it is ½x²). The caller
    /// gives both: x serves near u = 1, u elsewhere.
    fn excess_over_ln(x: Self, u: Self) -> Self;
    /// `if condition > 0 { a } else { b }`, by the real part, lane by lane.
    fn select_positive(condition: Self, a: Self, b: Self) -> Self;
    /// Whether the real part is positive in every lane.
    fn is_positive(self) -> bool;
    /// The constant 0.
    #[inline(always)]
    fn zero() -> Self {
        Self::new(0.0)
    }
    /// The constant 1.
    #[inline(always)]
    fn one() -> Self {
        Self::new(1.0)
    }
    /// `self * c` for a plain number.
    #[inline(always)]
    fn scale(self, c: f64) -> Self {
        self * Self::new(c)
    }
    /// `self * b + c`, rounded once where many numbers go together (that is one instruction), as a
    /// product and a sum elsewhere.
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        self * b + c
    }
    /// `self²`.
    #[inline(always)]
    fn squared(self) -> Self {
        self * self
    }
}

impl Scalar for f64 {
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
        elementary::ln(self)
    }
    #[inline(always)]
    fn cbrt(self) -> Self {
        elementary::cbrt(self)
    }
    #[inline(always)]
    fn inverse_cbrt(self) -> Self {
        elementary::inverse_cbrt(self)
    }
    #[inline(always)]
    fn excess_over_ln(x: Self, u: Self) -> Self {
        elementary::excess_over_ln(x, u)
    }
    #[inline(always)]
    fn select_positive(condition: Self, a: Self, b: Self) -> Self {
        if condition > 0.0 { a } else { b }
    }
    #[inline(always)]
    fn is_positive(self) -> bool {
        self > 0.0
    }
}
