//! Threads and SIMD: parallel loops whose results are identical to the bit for any number of threads ([`threads`]), and
//! kernels that are compiled for several kinds of processors and chosen at run time ([`simd`]).

mod pool;
pub mod simd;
mod split;
mod sync;
pub mod threads;

/// For the tests of the pool under a model checker; programs use [`threads`].
#[cfg(loom)]
pub use pool::ThreadPool;
