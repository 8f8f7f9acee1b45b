use super::{Mat3, Scalar, rotation};

/// A scalar over which materials are written: a [`Scalar`] with the polar rotation of its matrices.
pub trait Real: Scalar {
    /// Rotation nearest to `f`: the R of F = R S with det R = +1, also for an inverted `f`.
    fn rotation(f: &Mat3<Self>) -> Mat3<Self>;
}

impl Real for f64 {
    #[inline(always)]
    fn rotation(f: &Mat3<Self>) -> Mat3<Self> {
        let (r, trust) = rotation::polar(f, rotation::ITERATIONS);
        if trust > 0.0 { r } else { rotation::by_svd(f) }
    }
}
