//! Between which vertices of a mesh the nodes of a body lie, and what values at vertices mean for them.

/// For each node, the vertices that it lies between and their weights, of sum 1. A node at a vertex has that vertex
/// alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeParents {
    vertices: Vec<u32>,
    weights: Vec<f64>,
    /// Where the vertices of each node end.
    ends: Vec<usize>,
}

/// A quantity that has values between those of vertices.
pub trait Interpolate: Copy {
    /// Σ weight·value over the vertices.
    fn weighted_sum(terms: impl Iterator<Item = (f64, Self)>) -> Self;
}

impl Interpolate for f64 {
    fn weighted_sum(terms: impl Iterator<Item = (f64, Self)>) -> Self {
        terms.map(|(weight, x)| weight * x).sum()
    }
}

impl Interpolate for [f64; 3] {
    fn weighted_sum(terms: impl Iterator<Item = (f64, Self)>) -> Self {
        terms.fold([0.0; 3], |sum, (weight, x)| [0, 1, 2].map(|k| sum[k] + weight * x[k]))
    }
}

impl NodeParents {
    /// Of nodes that lie at these vertices.
    pub fn at(vertices: Vec<u32>) -> Self {
        let count = vertices.len();
        Self { vertices, weights: vec![1.0; count], ends: (1..=count).collect() }
    }

    /// Appends a node between vertices, each with its weight.
    pub fn push(&mut self, parents: &[(u32, f64)]) {
        self.vertices.extend(parents.iter().map(|p| p.0));
        self.weights.extend(parents.iter().map(|p| p.1));
        self.ends.push(self.vertices.len());
    }

    /// How many nodes.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The vertices of a node, and their weights.
    pub fn of(&self, node: usize) -> (&[u32], &[f64]) {
        let first = if node == 0 { 0 } else { self.ends[node - 1] };
        let own = first..self.ends[node];
        (&self.vertices[own.clone()], &self.weights[own])
    }

    /// The vertex of each node; `None` if a node lies between vertices.
    pub(super) fn single(&self) -> Option<&[u32]> {
        (self.vertices.len() == self.len()).then_some(&self.vertices)
    }

    pub(super) fn interpolated<T: Interpolate>(&self, values: &[T]) -> Vec<T> {
        let value = |node: usize| match self.of(node) {
            ([vertex], _) => values[*vertex as usize],
            (vertices, weights) => {
                T::weighted_sum(weights.iter().copied().zip(vertices.iter().map(|v| values[*v as usize])))
            }
        };
        (0..self.len()).map(value).collect()
    }

    pub(super) fn marks(&self, marks: &[bool]) -> Vec<bool> {
        (0..self.len()).map(|node| self.of(node).0.iter().all(|v| marks[*v as usize])).collect()
    }
}
