//! The barrier: stencils, law, collision detection, potential and discrete gradient.

#[path = "barrier/continuity.rs"]
mod continuity;
#[path = "barrier/formulas.rs"]
mod formulas;
#[path = "barrier/friction.rs"]
mod friction;
#[path = "barrier/potential.rs"]
mod potential;
#[path = "barrier/runs.rs"]
mod runs;

/// Numbers in [−1, 1) \[vigna2015, splitmix64\].
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    fn vector(&mut self) -> [f64; 3] {
        [self.next(), self.next(), self.next()]
    }
}
