//! Nodes cut into strips that threads work on side by side.
//!
//! The cuts depend on the pattern alone, never on the number of threads, so that results do not either. A product sums up
//! each strip's columns by themselves and then what strips left to those behind them; an incomplete factor leaves out
//! the couplings between strips. Meshes whose nodes are numbered along the body lose little by that; one that would
//! lose more than a twentieth of its couplings stays whole.

use crate::pattern::BlockPattern;
use std::ops::Range;

/// Nodes in a strip, at least: some 50 µs of work.
const LEAST: usize = 1 << 10;
/// Strips, at most.
const MOST: usize = 8;
/// The part of the couplings that cuts may cost.
const LOSS: f64 = 0.05;

/// See the module.
#[derive(Default)]
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
        let mut count = (n / LEAST).clamp(1, MOST);
        loop {
            let strips = cut(pattern, count);
            if count == 1 || lost(pattern, &strips) as f64 <= LOSS * pattern.len() as f64 {
                return Self(strips);
            }
            count /= 2;
        }
    }

    /// One after the other.
    pub fn as_slice(&self) -> &[Strip] {
        &self.0
    }

    /// Cuts what belongs to the nodes into what belongs to each strip; `at` tells where a node's share begins.
    pub fn split<'a, T>(
        &self,
        mut all: &'a mut [T],
        at: impl Fn(usize) -> usize,
    ) -> Vec<(&Strip, &'a mut [T])> {
        let mut parts = Vec::with_capacity(self.0.len());
        for strip in &self.0 {
            let (own, rest) = all.split_at_mut(at(strip.nodes.end) - at(strip.nodes.start));
            parts.push((strip, own));
            all = rest;
        }
        parts
    }
}

fn cut(pattern: &BlockPattern, count: usize) -> Vec<Strip> {
    let n = pattern.n();
    let strip = |k: usize| {
        let nodes = n * k / count..n * (k + 1) / count;
        let last = |j: usize| pattern.column(j).last().map_or(0, |&i| i as usize + 1);
        let reach = nodes.clone().map(last).max().unwrap_or(0);
        Strip { nodes, reach }
    };
    (0..count).map(strip).collect()
}

/// Couplings between strips.
fn lost(pattern: &BlockPattern, strips: &[Strip]) -> usize {
    let beyond = |strip: &Strip| -> usize {
        let outside =
            |j: usize| pattern.column(j).iter().rev().take_while(|i| **i as usize >= strip.nodes.end);
        strip.nodes.clone().map(|j| outside(j).count()).sum()
    };
    strips.iter().map(beyond).sum()
}
