//! Elementary functions on SIMD lanes.

use lilyan_solid::math::{LANES, Lanes, Scalar};

#[test]
fn functions_give_the_bits_of_scalars() {
    let mut state = 77u64;
    // Numbers in [−1, 1), the same in every run.
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    for _ in 0..10_000 {
        let x: [f64; LANES] = std::array::from_fn(|_| number() * 10f64.powf(300.0 * number()));
        let u = x.map(|x| 1.0 + x);
        let excess = Lanes::excess_over_ln(Lanes(x), Lanes(u));
        for l in 0..LANES {
            for (a, b) in [
                (Lanes(x).ln().0[l], Scalar::ln(x[l])),
                (Lanes(x).cbrt().0[l], Scalar::cbrt(x[l])),
                (Lanes(x).inverse_cbrt().0[l], x[l].inverse_cbrt()),
                (excess.0[l], f64::excess_over_ln(x[l], u[l])),
            ] {
                assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()));
            }
        }
    }
}
