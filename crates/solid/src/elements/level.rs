//! Processor levels: kernels are compiled for the baseline of the target and for one level above, and chosen when they run.

use super::quad::{Plain, Quads};

/// A loop over blocks that wants to be compiled for a processor level.
pub(super) trait Kernel {
    type Output;
    fn run<M: Quads>(self, m: M) -> Self::Output;
}

/// Runs a kernel at the best level of this machine.
pub(super) fn run<K: Kernel>(kernel: K) -> K::Output {
    match Level::of_this_machine() {
        Some(level) => level.run(kernel),
        None => kernel.run(Plain),
    }
}

/// A level above the target's baseline. Each is one more copy of every material to compile.
#[cfg(target_arch = "x86_64")]
pub(super) struct Level(pulp::x86::V3);

#[cfg(target_arch = "x86_64")]
impl Level {
    pub(super) fn of_this_machine() -> Option<Self> {
        pulp::x86::V3::try_new().map(Self)
    }

    #[inline(always)]
    pub(super) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        pulp::Simd::vectorize(self.0, At(kernel, self.0))
    }
}

/// There is none: the baseline has vectors and fused products.
#[cfg(not(target_arch = "x86_64"))]
pub(super) enum Level {}

#[cfg(not(target_arch = "x86_64"))]
impl Level {
    pub(super) fn of_this_machine() -> Option<Self> {
        None
    }

    pub(super) fn run<K: Kernel>(self, _: K) -> K::Output {
        match self {}
    }
}

/// A kernel at a level. A type of its own and not a closure: a closure that is called once but could be
/// called again goes through a shim that nothing inlines, and the loop then stays at the lowest level.
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
