//! Loops that are compiled twice: for any processor, and for those with wide registers and fused multiplication.

use pulp::{Arch, NullaryFnOnce};

/// See the module.
pub(crate) trait Loop {
    fn run<const FUSED: bool>(self);
}

struct Versioned<L, const FUSED: bool>(L);

impl<L: Loop, const FUSED: bool> NullaryFnOnce for Versioned<L, FUSED> {
    type Output = ();
    #[inline(always)]
    fn call(self) {
        self.0.run::<FUSED>();
    }
}

/// Runs the version for this processor.
pub(crate) fn dispatch(l: impl Loop) {
    match Arch::new() {
        Arch::Scalar => l.run::<{ cfg!(target_arch = "aarch64") }>(),
        arch => arch.dispatch(Versioned::<_, true>(l)),
    }
}

/// a b + c, rounded once where the processor can.
#[inline(always)]
pub(crate) fn fused<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}
