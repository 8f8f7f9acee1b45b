//! Vector operations. Sums are formed in fixed chunks, so that any number of threads gives the same bits.

use lilyan_parallel::threads;

/// Entries per task: about 2 µs of work.
pub(crate) const CHUNK: usize = 1 << 13;

/// x · y.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len());
    threads::sum_chunks(x.len(), CHUNK, |range| {
        // Eight partial sums: the loop vectorises, and rounding errors grow more slowly.
        let (x, x_rest) = x[range.clone()].as_chunks::<8>();
        let (y, y_rest) = y[range].as_chunks::<8>();
        let mut sums = [0.0; 8];
        for (a, b) in x.iter().zip(y) {
            for k in 0..8 {
                sums[k] += a[k] * b[k];
            }
        }
        let rest: f64 = x_rest.iter().zip(y_rest).map(|(a, b)| a * b).sum();
        ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + rest
    })
}

/// ‖x‖₂.
pub(crate) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// y ← y + a x.
pub(crate) fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    assert_eq!(x.len(), y.len());
    threads::par_chunks_mut(y, CHUNK, |i, y| {
        for (y, x) in y.iter_mut().zip(&x[i * CHUNK..]) {
            *y += a * x;
        }
    });
}

/// x ← a x.
pub(crate) fn scale(a: f64, x: &mut [f64]) {
    for x in x {
        *x *= a;
    }
}

/// SplitMix64 \[steele2014\], for start vectors that are the same in every run.
pub(crate) struct Random(pub u64);

impl Random {
    /// Uniform in [−1, 1).
    pub fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
