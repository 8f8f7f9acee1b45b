//! From the nodes of a body to the unknowns of a model.

use crate::mesh::Nodes;
use std::ops::Range;
use std::sync::Arc;

/// Where the nodes of one body are among the nodes of a model, and where their unknowns are.
///
/// The nodes of a model are those of its bodies, one body after the other. Each node has three unknowns, its coordinates.
/// A body numbers its nodes from 0; this is the only place that turns these numbers into those of the model.
#[derive(Clone, Debug)]
pub struct DofMap {
    nodes: Arc<Nodes>,
    first: usize,
}

impl DofMap {
    /// For a body whose first node has this number in the model.
    pub fn new(nodes: Arc<Nodes>, first: usize) -> Self {
        Self { nodes, first }
    }

    /// The nodes in numbers of the body.
    pub fn nodes(&self) -> &Arc<Nodes> {
        &self.nodes
    }

    /// The numbers that the nodes have in the model.
    pub fn range(&self) -> Range<usize> {
        self.first..self.first + self.nodes.len()
    }

    /// The unknowns of the nodes.
    pub fn unknowns(&self) -> Range<usize> {
        3 * self.first..3 * (self.first + self.nodes.len())
    }

    /// The number in the model of a node of the body.
    pub fn global(&self, node: u32) -> u32 {
        self.first as u32 + node
    }

    /// The numbers in the model of the nodes of a cell.
    pub fn globals<const N: usize>(&self, nodes: [u32; N]) -> [u32; N] {
        nodes.map(|n| self.global(n))
    }

    /// The number in the body of a node of the model; `None` for a node of another body.
    pub fn local(&self, node: u32) -> Option<u32> {
        self.contains(node).then(|| node - self.first as u32)
    }

    /// Whether a node of the model belongs to the body.
    pub fn contains(&self, node: u32) -> bool {
        self.range().contains(&(node as usize))
    }

    /// The first of the three unknowns of a node of the body.
    pub fn unknown(&self, node: u32) -> usize {
        3 * self.global(node) as usize
    }

    /// The part of a vector of all unknowns that belongs to the body.
    pub fn part<'a>(&self, all: &'a [f64]) -> &'a [f64] {
        &all[self.unknowns()]
    }

    /// The vectors at the nodes of the body, from a vector of all unknowns.
    pub fn vectors(&self, all: &[f64]) -> Vec<[f64; 3]> {
        self.part(all).as_chunks().0.to_vec()
    }
}
