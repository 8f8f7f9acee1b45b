use crate::mass::Mass;
use lilyan_solve::BlockPattern;
use std::sync::Arc;

/// The space of the configurations of a system: its unknowns, their couplings, their inertia and its scale.
pub struct ConfigurationSpace {
    /// The 3×3 blocks of ∇²W that may be nonzero.
    pub pattern: Arc<BlockPattern>,
    /// M.
    pub mass: Mass,
    /// A length that characterises the system, m; tolerances are relative to it.
    pub length: f64,
}

impl ConfigurationSpace {
    /// The space of nodes with lumped masses (kg), where `cliques` are sets of nodes that are coupled.
    pub fn lumped<'a>(masses: &[f64], cliques: impl Iterator<Item = &'a [u32]>, length: f64) -> Self {
        Self {
            pattern: Arc::new(BlockPattern::from_cliques(masses.len(), cliques)),
            mass: Mass::Lumped(masses.iter().flat_map(|m| [*m; 3]).collect()),
            length,
        }
    }

    /// The space of one node with a mass (kg), and a length of 1 m.
    pub fn single_node(mass: f64) -> Self {
        Self::lumped(&[mass], std::iter::empty(), 1.0)
    }

    /// Number of unknowns, three for each node.
    pub fn dofs(&self) -> usize {
        3 * self.pattern.n()
    }
}
