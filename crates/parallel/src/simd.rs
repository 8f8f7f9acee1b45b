//! Kernels that are compiled for the baseline of the target and for one processor level above it, and chosen at run time.
//!
//! A kernel is generic over [`Quads`], the operations on four numbers in a register. The compiler vectorises plain loops over
//! lanes well. Where numbers are also transposed, it would move vectors through memory, which costs more than the arithmetic;
//! such kernels call the operations of [`Quads`] explicitly. Every level performs the same operations and gives the same
//! bits, except where a kernel uses [`Quads::FUSED`].

/// A loop that is compiled once for each processor level.
///
/// ```
/// use lilyan_parallel::simd::{self, Kernel, Quads};
///
/// /// y ← y + a x, four numbers at a time.
/// struct Axpy<'a>(f64, &'a [[f64; 4]], &'a mut [[f64; 4]]);
///
/// impl Kernel for Axpy<'_> {
///     type Output = ();
///     #[inline(always)]
///     fn run<M: Quads>(self, m: M) {
///         let a = m.load(&[self.0; 4]);
///         for (x, y) in self.1.iter().zip(self.2) {
///             m.store(m.mul_add(a, m.load(x), m.load(y)), y);
///         }
///     }
/// }
///
/// let mut y = [[1.0; 4]; 2];
/// simd::run(Axpy(2.0, &[[3.0; 4]; 2], &mut y));
/// assert_eq!(y, [[7.0; 4]; 2]);
/// ```
pub trait Kernel {
    /// What the loop returns.
    type Output;
    /// The loop, with the operations of a level. Mark implementations `#[inline(always)]`.
    fn run<M: Quads>(self, m: M) -> Self::Output;
}

/// Runs a kernel at the best level of this machine.
#[inline(always)]
pub fn run<K: Kernel>(kernel: K) -> K::Output {
    match Level::of_this_machine() {
        Some(level) => level.run(kernel),
        None => kernel.run(Plain),
    }
}

/// a b + c, rounded once where the processor level has a fused instruction.
#[inline(always)]
pub fn fused<M: Quads>(a: f64, b: f64, c: f64) -> f64 {
    if M::FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// The level above the baseline, if there is one. Targets other than x86-64 need none: their baseline has vectors and fused
/// multiply–add.
mod above {
    #[cfg(target_arch = "x86_64")]
    pub use pulp::x86::V3;
    #[cfg(not(target_arch = "x86_64"))]
    pub use std::convert::Infallible as V3;
}

/// A processor level above the baseline of the target. Each level adds one compiled copy of every kernel.
pub struct Level(above::V3);

impl Level {
    /// The level of this machine, if it is above the baseline.
    #[inline(always)]
    pub fn of_this_machine() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        return pulp::x86::V3::try_new().map(Self);
        #[cfg(not(target_arch = "x86_64"))]
        return None;
    }

    /// Runs a kernel at this level.
    #[inline(always)]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        return pulp::Simd::vectorize(self.0, At(kernel, self.0));
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = kernel;
            match self.0 {}
        }
    }
}

/// A kernel at a level. It is a struct and not a closure, since a closure would go through a shim that is not inlined, and
/// the loop would then be compiled for the baseline.
#[cfg(target_arch = "x86_64")]
struct At<K, M>(K, M);

#[cfg(target_arch = "x86_64")]
impl<K: Kernel, M: Quads> pulp::WithSimd for At<K, M> {
    type Output = K::Output;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> K::Output {
        self.0.run(self.1)
    }
}

/// Operations on four `f64` in a register at one processor level.
pub trait Quads: Copy {
    /// Four numbers.
    type Quad: Copy;
    /// Whether multiply–add, rounded once, is one instruction.
    const FUSED: bool;
    /// Loads from memory.
    fn load(self, x: &[f64; 4]) -> Self::Quad;
    /// Stores to memory.
    fn store(self, x: Self::Quad, to: &mut [f64; 4]);
    /// a + b.
    fn add(self, a: Self::Quad, b: Self::Quad) -> Self::Quad;
    /// a − b.
    fn sub(self, a: Self::Quad, b: Self::Quad) -> Self::Quad;
    /// a b.
    fn mul(self, a: Self::Quad, b: Self::Quad) -> Self::Quad;
    /// a b + c, rounded once.
    fn mul_add(self, a: Self::Quad, b: Self::Quad, c: Self::Quad) -> Self::Quad;
    /// Row i of the result is column i of `rows`.
    fn transpose(self, rows: [Self::Quad; 4]) -> [Self::Quad; 4];
    /// Prefetches data that will be read soon. The hardware prefetcher stops at the end of every page.
    fn fetch<T>(self, _: &T) {}
}

/// The baseline of the target: any processor.
#[derive(Clone, Copy)]
pub struct Plain;

impl Quads for Plain {
    type Quad = [f64; 4];
    const FUSED: bool = cfg!(target_arch = "aarch64");
    #[inline(always)]
    fn load(self, x: &[f64; 4]) -> [f64; 4] {
        *x
    }
    #[inline(always)]
    fn store(self, x: [f64; 4], to: &mut [f64; 4]) {
        *to = x;
    }
    #[inline(always)]
    fn add(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]
    }
    #[inline(always)]
    fn sub(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]]
    }
    #[inline(always)]
    fn mul(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        [a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]]
    }
    #[inline(always)]
    fn mul_add(self, a: [f64; 4], b: [f64; 4], c: [f64; 4]) -> [f64; 4] {
        [
            a[0].mul_add(b[0], c[0]),
            a[1].mul_add(b[1], c[1]),
            a[2].mul_add(b[2], c[2]),
            a[3].mul_add(b[3], c[3]),
        ]
    }
    #[inline(always)]
    fn transpose(self, [a, b, c, d]: [[f64; 4]; 4]) -> [[f64; 4]; 4] {
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
    const FUSED: bool = true;
    #[inline(always)]
    #[allow(unsafe_code)]
    fn load(self, x: &[f64; 4]) -> Self::Quad {
        // SAFETY: both types are four f64 in a row, 32 bytes; a transmute checks the size and moves by
        // value, so that alignment does not matter. (A checked cast goes through memory twice.)
        unsafe { std::mem::transmute::<[f64; 4], Self::Quad>(*x) }
    }
    #[inline(always)]
    #[allow(unsafe_code)]
    fn store(self, x: Self::Quad, to: &mut [f64; 4]) {
        // SAFETY: as in `load`.
        *to = unsafe { std::mem::transmute::<Self::Quad, [f64; 4]>(x) };
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
