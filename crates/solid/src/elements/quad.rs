//! Four numbers in a register, for the parts of a kernel that move them between nodes and lanes.
//!
//! Loops over lanes become good code where they only compute. Where numbers are also transposed, the
//! compiler takes vectors apart and goes through memory, which costs more than the material; so those
//! parts say what they mean. Every level does the same operations and gives the same bits.

use super::kernel::Padded;

/// A way to work on four numbers.
pub trait Quads: Copy {
    /// Four numbers.
    type Quad: Copy;
    fn load(self, x: &Padded) -> Self::Quad;
    fn store(self, x: Self::Quad, to: &mut Padded);
    fn add(self, a: Self::Quad, b: Self::Quad) -> Self::Quad;
    fn sub(self, a: Self::Quad, b: Self::Quad) -> Self::Quad;
    fn mul(self, a: Self::Quad, b: Self::Quad) -> Self::Quad;
    /// a b + c, rounded once.
    fn mul_add(self, a: Self::Quad, b: Self::Quad, c: Self::Quad) -> Self::Quad;
    /// Row i of the result is column i of `rows`.
    fn transpose(self, rows: [Self::Quad; 4]) -> [Self::Quad; 4];
    /// Asks for what will be read soon. Left alone, processors stop at the end of every page.
    fn fetch<T>(self, _: &T) {}
}

/// Any processor.
#[derive(Clone, Copy)]
pub struct Plain;

impl Quads for Plain {
    type Quad = Padded;
    #[inline(always)]
    fn load(self, x: &Padded) -> Padded {
        *x
    }
    #[inline(always)]
    fn store(self, x: Padded, to: &mut Padded) {
        *to = x;
    }
    #[inline(always)]
    fn add(self, a: Padded, b: Padded) -> Padded {
        [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]
    }
    #[inline(always)]
    fn sub(self, a: Padded, b: Padded) -> Padded {
        [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]]
    }
    #[inline(always)]
    fn mul(self, a: Padded, b: Padded) -> Padded {
        [a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]]
    }
    #[inline(always)]
    fn mul_add(self, a: Padded, b: Padded, c: Padded) -> Padded {
        [
            a[0].mul_add(b[0], c[0]),
            a[1].mul_add(b[1], c[1]),
            a[2].mul_add(b[2], c[2]),
            a[3].mul_add(b[3], c[3]),
        ]
    }
    #[inline(always)]
    fn transpose(self, [a, b, c, d]: [Padded; 4]) -> [Padded; 4] {
        [
            [a[0], b[0], c[0], d[0]],
            [a[1], b[1], c[1], d[1]],
            [a[2], b[2], c[2], d[2]],
            [a[3], b[3], c[3], d[3]],
        ]
    }
}

#[cfg(target_arch = "x86_64")]
impl Quads for pulp::x86::V3 {
    type Quad = std::arch::x86_64::__m256d;
    #[inline(always)]
    #[allow(unsafe_code)]
    fn load(self, x: &Padded) -> Self::Quad {
        // SAFETY: both types are four f64 in a row, 32 bytes; a transmute checks the size and moves by
        // value, so that alignment does not matter. (A checked cast goes through memory twice.)
        unsafe { std::mem::transmute::<Padded, Self::Quad>(*x) }
    }
    #[inline(always)]
    #[allow(unsafe_code)]
    fn store(self, x: Self::Quad, to: &mut Padded) {
        // SAFETY: as in `load`.
        *to = unsafe { std::mem::transmute::<Self::Quad, Padded>(x) };
    }
    #[inline(always)]
    fn add(self, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        self.avx._mm256_add_pd(a, b)
    }
    #[inline(always)]
    fn sub(self, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        self.avx._mm256_sub_pd(a, b)
    }
    #[inline(always)]
    fn mul(self, a: Self::Quad, b: Self::Quad) -> Self::Quad {
        self.avx._mm256_mul_pd(a, b)
    }
    #[inline(always)]
    fn mul_add(self, a: Self::Quad, b: Self::Quad, c: Self::Quad) -> Self::Quad {
        self.fma._mm256_fmadd_pd(a, b, c)
    }
    #[inline(always)]
    fn transpose(self, [a, b, c, d]: [Self::Quad; 4]) -> [Self::Quad; 4] {
        let avx = self.avx;
        // Even and odd columns of two rows, then halves of those.
        let (ab0, ab1) = (avx._mm256_unpacklo_pd(a, b), avx._mm256_unpackhi_pd(a, b));
        let (cd0, cd1) = (avx._mm256_unpacklo_pd(c, d), avx._mm256_unpackhi_pd(c, d));
        [
            avx._mm256_permute2f128_pd::<0x20>(ab0, cd0),
            avx._mm256_permute2f128_pd::<0x20>(ab1, cd1),
            avx._mm256_permute2f128_pd::<0x31>(ab0, cd0),
            avx._mm256_permute2f128_pd::<0x31>(ab1, cd1),
        ]
    }
    #[inline(always)]
    #[allow(unsafe_code)]
    fn fetch<T>(self, what: &T) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let bytes = std::ptr::from_ref(what).cast::<i8>();
        for line in (0..size_of::<T>()).step_by(64) {
            // SAFETY: the address is inside `what`, and a prefetch changes nothing that a program can see.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(bytes.add(line)) };
        }
    }
}
