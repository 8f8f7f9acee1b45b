use super::{Mat3, Real, Scalar, elementary, rotation};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// How many elements one kernel call works on.
pub const LANES: usize = 4;

/// Four numbers that go through a kernel together. Plain arrays: the compiler turns the loops
/// into the vector instructions of whatever processor level the kernel is dispatched for. Products and
/// sums are fused where the source says `mul_add` and nowhere else, so that every level gives the same bits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub struct Lanes(pub [f64; LANES]);

impl Lanes {
    #[inline(always)]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let mut out = self.0;
        for x in &mut out {
            *x = f(*x);
        }
        Self(out)
    }

    #[inline(always)]
    fn zip(self, b: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut out = self.0;
        for l in 0..LANES {
            out[l] = f(out[l], b.0[l]);
        }
        Self(out)
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $op:tt) => {
        impl $trait for Lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, b: Self) -> Self {
                self.zip(b, |x, y| x $op y)
            }
        }
    };
}
operator!(Add, add, +);
operator!(Sub, sub, -);
operator!(Mul, mul, *);
operator!(Div, div, /);

impl Neg for Lanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|x| -x)
    }
}

impl AddAssign for Lanes {
    #[inline(always)]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl SubAssign for Lanes {
    #[inline(always)]
    fn sub_assign(&mut self, b: Self) {
        *self = *self - b;
    }
}

impl Scalar for Lanes {
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        let mut out = c.0;
        for l in 0..LANES {
            out[l] = self.0[l].mul_add(b.0[l], out[l]);
        }
        Self(out)
    }
    #[inline(always)]
    fn new(x: f64) -> Self {
        Self([x; LANES])
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(f64::sqrt)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.map(elementary::ln)
    }
    #[inline(always)]
    fn cbrt(self) -> Self {
        self.map(elementary::cbrt)
    }
    #[inline(always)]
    fn inverse_cbrt(self) -> Self {
        self.map(elementary::inverse_cbrt)
    }
    #[inline(always)]
    fn excess_over_ln(x: Self, u: Self) -> Self {
        x.zip(u, elementary::excess_over_ln)
    }
    #[inline(always)]
    fn select_positive(condition: Self, a: Self, b: Self) -> Self {
        let mut out = b.0;
        for l in 0..LANES {
            out[l] = elementary::choose(condition.0[l] > 0.0, a.0[l], b.0[l]);
        }
        Self(out)
    }
    #[inline(always)]
    fn is_positive(self) -> bool {
        self.0[0] > 0.0 && self.0[1] > 0.0 && self.0[2] > 0.0 && self.0[3] > 0.0
    }
}

impl Real for Lanes {
    #[inline(always)]
    fn rotation(f: &Mat3<Self>) -> Mat3<Self> {
        let (mut r, trust) = rotation::polar(f, rotation::ITERATIONS);
        for l in 0..LANES {
            let trusted = trust.0[l] > 0.0;
            if !trusted {
                let exact = rotation::by_svd(&f.lane(l));
                for k in 0..9 {
                    r.0[k / 3][k % 3].0[l] = exact.0[k / 3][k % 3];
                }
            }
        }
        r
    }
}

impl Mat3<Lanes> {
    /// The matrix in lane `l`.
    #[inline(always)]
    pub fn lane(&self, l: usize) -> Mat3<f64> {
        Mat3::from_fn(|i, j| self.0[i][j].0[l])
    }

    /// Sets the matrix of one lane.
    pub fn set_lane(&mut self, l: usize, one: &Mat3<f64>) {
        for (to, x) in self.0.as_flattened_mut().iter_mut().zip(one.0.as_flattened()) {
            to.0[l] = *x;
        }
    }
}
