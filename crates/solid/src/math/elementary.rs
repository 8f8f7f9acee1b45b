//! ln and ∛ without a call per number: straight-line arithmetic on the bits of a double, which the
//! compiler vectorises. `f64` and [`Lanes`](super::Lanes) both run this source, so a scalar and a
//! lane give the same bits. Errors stay below 1 unit in the last place (measured 0.8, see tests).

const EXPONENT: u32 = 52;
const ONE: u64 = 1023 << EXPONENT;
/// Bits of √½, the lower end of the mantissa interval.
const SQRT_HALF: u64 = 0x3FE6_A09E_667F_3BCD;
/// 2⁵² as bits: an integer below 2⁵² in the mantissa of this number is 2⁵² + itself.
const TWO_52: u64 = 0x4330_0000_0000_0000;
const SCALE_UP: f64 = 18_014_398_509_481_984.0; // 2⁵⁴ lifts subnormal numbers
const CBRT_UP: f64 = 262_144.0; // 2¹⁸ = ∛2⁵⁴

/// ln 2 = HI + LO; HI ends in 21 zero bits, so that k·HI is exact.
const LN2_HI: f64 = 0.693_147_180_369_123_8;
const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;

/// Chebyshev fit of (2 artanh(s) − 2s)/s³ in z = s² on [0, 0.1716²], error 3e-16.
const ARTANH: [f64; 7] = [
    0.666_666_666_666_667,
    0.399_999_999_998_993_1,
    0.285_714_286_260_633_8,
    0.222_222_111_204_492_98,
    0.181_828_901_703_139_7,
    0.153_316_868_686_384_28,
    0.146_168_789_190_298_22,
];

/// `if condition { a } else { b }` by masks: an `if` over loaded numbers may become a choice of
/// addresses, and with it scalar code.
#[inline(always)]
pub(super) fn choose(condition: bool, a: f64, b: f64) -> f64 {
    let mask = u64::from(condition).wrapping_neg();
    f64::from_bits((a.to_bits() & mask) | (b.to_bits() & !mask))
}

/// u = 2ᵏ m with m ∈ [√½, √2), for a positive finite u.
#[inline(always)]
fn split(u: f64) -> (f64, f64) {
    let subnormal = u < f64::MIN_POSITIVE;
    let bits = choose(subnormal, u * SCALE_UP, u).to_bits();
    let biased = bits.wrapping_add(ONE - SQRT_HALF) >> EXPONENT; // k + 1023
    let m = f64::from_bits(bits.wrapping_sub(biased << EXPONENT).wrapping_add(ONE));
    let k = f64::from_bits(biased | TWO_52) - (f64::from_bits(TWO_52) + 1023.0);
    (choose(subnormal, k - 54.0, k), m)
}

/// f − ln(1 + f) for 1 + f ∈ [√½, √2), to full relative accuracy also as f → 0:
/// with s = f/(2+f), ln(1+f) = 2 artanh s = 2s + s R(s²) and 2s = f − s f.
#[inline(always)]
fn gap(f: f64) -> f64 {
    let s = f / (2.0 + f);
    let z = s * s;
    let mut r = ARTANH[6];
    for n in (0..6).rev() {
        r = r * z + ARTANH[n];
    }
    s * (f - r * z)
}

/// Natural logarithm; −∞ at 0, NaN below.
#[inline(always)]
pub(super) fn ln(u: f64) -> f64 {
    let (k, m) = split(u);
    let f = m - 1.0;
    let value = k * LN2_HI + (f - (gap(f) - k * LN2_LO));
    let positive = choose(u > 0.0, u, f64::NAN); // ln ∞ = ∞
    let special = choose(u == 0.0, f64::NEG_INFINITY, positive);
    choose((u > 0.0) & (u < f64::INFINITY), value, special)
}

/// x − ln u where u = 1 + x. The caller knows both x and u to full accuracy: x serves near u = 1,
/// where the difference is ½x² and taking it would lose it; u serves elsewhere.
#[inline(always)]
pub(super) fn excess_over_ln(x: f64, u: f64) -> f64 {
    let (k, m) = split(u);
    let near = k == 0.0;
    let f = choose(near, x, m - 1.0);
    let g = gap(f);
    let far = x - (k * LN2_HI + (f - (g - k * LN2_LO)));
    let zero = choose(u == 0.0, f64::INFINITY, f64::NAN);
    let value = choose(near, g, far);
    choose((u > 0.0) & (u < f64::INFINITY), value, zero)
}

/// a^(−1/3) of a normal positive a.
///
/// The first guess, from the high word of the bits, is good to 4 %; then twice
/// y ← y (1−r)^(−1/3) ≈ y (1 + r/3 + 2r²/9 + 14r³/81) with r = 1 − a y³ (fourth order: 1e-1, 4e-5,
/// round-off). No division.
#[inline(always)]
fn inverse_root(a: f64) -> f64 {
    /// Minimises the largest |r| of the first guess (0.103).
    const GUESS: u64 = 0x553E_E6C0;
    /// ⌊h/3⌋ = (h · THIRD) >> 33 for h < 2³².
    const THIRD: u64 = 0xAAAA_AAAB;
    let third = ((a.to_bits() >> 32) * THIRD) >> 33;
    let mut y = f64::from_bits(GUESS.wrapping_sub(third) << 32);
    for _ in 0..2 {
        let r = 1.0 - a * y * y * y;
        y += y * (r * (1.0 / 3.0 + r * (2.0 / 9.0 + r * (14.0 / 81.0))));
    }
    y
}

/// x^(−1/3) of a positive finite x; NaN for NaN.
#[inline(always)]
pub(super) fn inverse_cbrt(x: f64) -> f64 {
    let small = x < f64::MIN_POSITIVE;
    let y = inverse_root(choose(small, x * SCALE_UP, x));
    y * choose(small, CBRT_UP, 1.0)
}

/// Real cube root: [`inverse_root`] and a Newton step on t = a y² itself.
#[inline(always)]
pub(super) fn cbrt(x: f64) -> f64 {
    let magnitude = x.abs();
    let small = magnitude < f64::MIN_POSITIVE;
    let large = magnitude > 1e300; // where t³ could overflow
    let factor = choose(small, SCALE_UP, 1.0);
    let factor = choose(large, 1.0 / SCALE_UP, factor);
    let unscale = choose(small, 1.0 / CBRT_UP, 1.0);
    let unscale = choose(large, CBRT_UP, unscale);
    let a = magnitude * factor;
    let y = inverse_root(a);
    let t = a * y * y;
    let root = t - (t * t * t - a) * (y * y * (1.0 / 3.0));
    let regular = (magnitude > 0.0) & (magnitude < f64::INFINITY);
    let value = choose(regular, root * unscale, magnitude);
    value.copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ulps(a: f64, b: f64) -> f64 {
        let unit = f64::from_bits(b.abs().to_bits() + 1) - b.abs();
        (a - b).abs() / unit
    }

    /// Numbers over the whole range of exponents, and dense ones around 1.
    fn numbers() -> impl Iterator<Item = f64> {
        let mut state = 1u64;
        (0..400_000).map(move |i| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let fraction = (state >> 11) as f64 / (1u64 << 53) as f64;
            match i % 3 {
                0 => f64::from_bits((state >> 1) % 0x7FF0_0000_0000_0000),
                1 => 0.25 + 4.0 * fraction,
                _ => 1.0 + (fraction - 0.5) * 10f64.powi(-(i % 16)),
            }
        })
    }

    #[test]
    fn agrees_with_the_library() {
        let mut worst = (0.0f64, 0.0f64);
        let mut inverse = 0.0f64;
        for x in numbers().filter(|x| *x > 0.0) {
            worst.0 = worst.0.max(ulps(ln(x), x.ln()));
            worst.1 = worst.1.max(ulps(cbrt(x), x.cbrt()));
            inverse = inverse.max(ulps(inverse_cbrt(x), x.cbrt().recip()));
            assert_eq!(cbrt(-x), -cbrt(x));
        }
        assert!(inverse <= 3.0, "ulps off: {inverse}");
        assert!(worst.0 <= 2.0 && worst.1 <= 2.0, "ulps off: {worst:?}");
    }

    #[test]
    fn special_values() {
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(f64::INFINITY), f64::INFINITY);
        assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan() && ln(f64::NEG_INFINITY).is_nan());
        assert_eq!([0.0, 1.0, 8.0, -27.0].map(cbrt), [0.0, 1.0, 2.0, -3.0]);
        assert_eq!(cbrt(f64::INFINITY), f64::INFINITY);
        assert!(cbrt(f64::NAN).is_nan() && inverse_cbrt(f64::NAN).is_nan());
        assert!(excess_over_ln(-2.0, -1.0).is_nan());
        assert_eq!(excess_over_ln(-1.0, 0.0), f64::INFINITY);
    }

    #[test]
    fn excess_keeps_its_digits_near_one() {
        for n in 1..60 {
            for x in [0.5f64.powi(n), -(0.5f64.powi(n))] {
                let (mut series, mut power) = (0.0, -x);
                for j in 2..200 {
                    power *= -x;
                    series += power / f64::from(j);
                }
                let reference = if n == 1 { x - x.ln_1p() } else { series };
                let error = (excess_over_ln(x, 1.0 + x) - reference) / reference;
                assert!(error.abs() < 2e-15, "{x}: {error}");
            }
        }
    }
}
