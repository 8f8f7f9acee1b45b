//! Nodes cut into strips that threads work on side by side.
//!
//! The cuts depend on the pattern alone, never on the number of threads, so that results do not either. A product sums up
//! each strip's columns by themselves, and then what strips left to those behind them.

use crate::pattern::BlockPattern;
use std::ops::Range;

/// Nodes in a strip, at least: some 200 µs of work, several times what it takes to wake another thread.
const LEAST: usize = 1 << 12;
/// Strips, at most.
const MOST: usize = 8;

/// See the module.
pub(crate) struct Strips(Vec<Strip>);

/// Some nodes in a row.
pub(crate) struct Strip {
    pub nodes: Range<usize>,
    /// One past the last row that their columns reach.
    pub reach: usize,
}

impl Strips {
    /// The strips of a pattern.
    pub fn new(pattern: &BlockPattern) -> Self {
        let n = pattern.n();
        let count = (n / LEAST).clamp(1, MOST);
        let strip = |k: usize| {
            let nodes = n * k / count..n * (k + 1) / count;
            let last = |j: usize| pattern.column(j).last().map_or(0, |&i| i as usize + 1);
            let reach = nodes.clone().map(last).max().unwrap_or(0);
            Strip { nodes, reach }
        };
        Self((0..count).map(strip).collect())
    }

    /// One after the other.
    pub fn as_slice(&self) -> &[Strip] {
        &self.0
    }

    /// Cuts what belongs to the nodes into what belongs to each strip.
    pub fn split<'a, T>(&self, mut all: &'a mut [T]) -> Vec<(&Strip, &'a mut [T])> {
        let mut parts = Vec::with_capacity(self.0.len());
        for strip in &self.0 {
            let (own, rest) = all.split_at_mut(strip.nodes.len());
            parts.push((strip, own));
            all = rest;
        }
        parts
    }
}
