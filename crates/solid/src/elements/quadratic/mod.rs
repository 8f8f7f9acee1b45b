//! The quadratic tets of one body with one material model: ten nodes, four points, straight or curved edges.
//!
//! 24 strains at four points are 30 displacements less 6 rigid motions: no motion without energy, and the exact stiffness of
//! straight tets of one linear material. Errors of frequencies are of fourth order in the size of the tets. Materials see F at
//! the points alone.

mod assembly;
mod dilatation;
mod elements;
mod kernel;
mod layout;
mod mass;
mod shape;
mod stiffness;

use crate::dofs::DofMap;
use crate::elements::runs::{Arrangement, RunMembers, Sharing, arrange};
use crate::elements::{SolidInput, SolidKind};
use crate::materials::{Constants, Lame, Material};
use crate::math::{LANES, Lanes, Mat3};
use crate::mesh::Nodes;
use kernel::{Block10, Blocks10, POINTS, RestPoint};
use layout::EDGES_OF_SORTED;
use shape::{NODES, points, slopes};
use std::sync::Arc;
use stiffness::PAIRS10;

/// Blocks in a run: 256 tets, which touch some 500 nodes of a well-ordered mesh.
const RUN: usize = 64;

/// Quadratic tets: geometry at rest, material, and the lists that assembly needs.
///
/// Inside, as with linear tets, cells are kept in an order of their own, and their nodes in ascending order. Outside,
/// everything goes by the number that a tet has in the mesh, and by the order of its nodes in [`Nodes::of_tet`].
pub struct QuadraticTets {
    blocks: Vec<Block10>,
    /// One for each block of straight tets, four of curved ones.
    rest: Vec<RestPoint>,
    dofs: DofMap,
    /// Place of each tet in the blocks, 4 · block + lane.
    places: Vec<u32>,
    /// The number of the tet at each place; `u32::MAX` where there is none.
    numbers: Vec<u32>,
    material: &'static dyn Material,
    /// By entry: point q of the tets of block b is entry 4b + q.
    constants: Constants,
    /// Shear modulus and Lamé's first, Pa, by entry: for viscosity.
    moduli: Constants,
    /// kg/m³, one for all tets or one for each.
    density: Vec<f64>,
    /// Against volumetric locking, see [`dilatation`].
    mean_dilatation: bool,
    /// How far, θ of each block; empty without.
    evened: Vec<Lanes>,
    /// The nodes of each run.
    members: RunMembers,
    /// How matrices of the patterns that were asked for are summed up.
    sharing: Sharing<PAIRS10>,
}

/// Continuous quadratic tets.
pub static QUADRATIC_TETS: SolidKind = SolidKind {
    name: "quadratic",
    summary: "quadratic tets, straight or curved: solids that bend right on coarse meshes",
    consistent_mass: true,
    mean_dilatation: true,
    nodes: layout::nodes,
    build: |input| vec![Arc::new(QuadraticTets::of(input))],
};

impl QuadraticTets {
    /// The tets of a body, with a density (kg/m³) for all or one for each. The nodes are those of [`QUADRATIC_TETS`].
    pub fn of(input: SolidInput<'_>) -> Self {
        let SolidInput { dofs, material, constants, moduli, density, mean_dilatation, glued: _ } = input;
        let nodes = dofs.nodes();
        let per_block = if nodes.curved().is_some() { POINTS } else { 1 };
        let Arrangement { blocks, places, numbers, members } =
            arrange(dofs, RUN, |tets, fill, touched| block(nodes, tets, fill, touched, per_block));
        let (blocks, rest): (Vec<Block10>, Vec<Vec<RestPoint>>) = blocks.into_iter().unzip();
        let entries: Vec<[u32; POINTS]> = places.iter().map(|&place| entry_places(place as usize)).collect();
        let count = POINTS * blocks.len();
        let mut tets = Self {
            blocks,
            rest: rest.concat(),
            constants: constants.placed(&entries, count),
            moduli: moduli.placed(&entries, count),
            places,
            numbers,
            material,
            density,
            mean_dilatation,
            evened: Vec::new(),
            members,
            sharing: Sharing::new(RUN),
            dofs: dofs.clone(),
        };
        if mean_dilatation {
            tets.evened = vec![Lanes([0.0; LANES]); tets.blocks.len()];
            for e in 0..tets.len() {
                let place = tets.places[e] as usize;
                tets.evened[place / LANES].0[place % LANES] = dilatation::evened(tets.moduli(e));
            }
        }
        tets
    }

    /// Number of tets.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Global nodes of tet e: its corners, then its edges as in `shape::EDGES`.
    pub fn tet(&self, e: usize) -> [u32; NODES] {
        let nodes = self.dofs.nodes().of_tet(e);
        std::array::from_fn(|k| self.dofs.global(nodes[k]))
    }

    /// Density of tet e, kg/m³.
    pub fn density(&self, e: usize) -> f64 {
        match self.density[..] {
            [uniform] => uniform,
            _ => self.density[e],
        }
    }

    /// Rest volume of tet e, m³.
    pub fn volume(&self, e: usize) -> f64 {
        (0..POINTS).map(|q| self.weight(e, q)).sum()
    }

    /// The material's constants for tet e.
    fn constants(&self, e: usize) -> &[f64] {
        self.constants.of(entry_places(self.places[e] as usize)[0] as usize)
    }

    /// The moduli of tet e, as [`crate::elements::PointSet`] has them.
    fn moduli_at(&self, e: usize) -> &[f64] {
        self.moduli.of(entry_places(self.places[e] as usize)[0] as usize)
    }

    /// The moduli of tet e.
    fn moduli(&self, e: usize) -> Lame {
        let m = self.moduli_at(e);
        Lame { mu: m[0], lambda: m[1] }
    }

    /// Point q of the block with that number at rest.
    fn rest_point(&self, block: usize, q: usize) -> &RestPoint {
        if self.rest.len() == self.blocks.len() { &self.rest[block] } else { &self.rest[POINTS * block + q] }
    }

    /// The volume that point q of tet e stands for, m³.
    fn weight(&self, e: usize, q: usize) -> f64 {
        let place = self.places[e] as usize;
        self.rest_point(place / LANES, q).weight.0[place % LANES]
    }

    /// ∇N of the ten nodes of tet e at point q, 1/m, in the order of [`QuadraticTets::sorted`].
    fn gradients(&self, e: usize, q: usize) -> [[f64; 3]; NODES] {
        let place = self.places[e] as usize;
        let inverse = self.rest_point(place / LANES, q).inverse.lane(place % LANES);
        sorted_slopes(points()[q]).map(|s| {
            std::array::from_fn(|j| s[0] * inverse[(0, j)] + s[1] * inverse[(1, j)] + s[2] * inverse[(2, j)])
        })
    }

    /// Global nodes of tet e, ascending.
    fn sorted(&self, e: usize) -> [u32; NODES] {
        sorted_nodes(self.dofs.nodes().of_tet(e)).map(|n| self.dofs.global(n))
    }

    /// The gradient of a field on the nodes at point q of tet e: F for positions, Ḟ for velocities.
    fn gradient_of(&self, e: usize, q: usize, x: &[f64]) -> Mat3 {
        let (nodes, slopes) = (self.sorted(e), self.gradients(e, q));
        let first = 3 * nodes[0] as usize;
        let mut F = Mat3::zero();
        for (n, slope) in nodes.iter().zip(slopes) {
            let at = 3 * *n as usize;
            for i in 0..3 {
                let relative = x[at + i] - x[first + i];
                for j in 0..3 {
                    F[(i, j)] += relative * slope[j];
                }
            }
        }
        F
    }

    /// The blocks of run r.
    fn blocks_of(&self, r: usize) -> Blocks10<'_> {
        self.some_blocks(r * RUN, ((r + 1) * RUN).min(self.blocks.len()))
    }

    fn some_blocks(&self, first: usize, end: usize) -> Blocks10<'_> {
        let per_block = self.rest.len() / self.blocks.len().max(1);
        Blocks10 {
            first,
            blocks: &self.blocks[first..end],
            rest: &self.rest[per_block * first..per_block * end],
        }
    }
}

/// The places among the entries, 4 · entry + lane, of the points of the tet at a place among the blocks.
fn entry_places(place: usize) -> [u32; POINTS] {
    std::array::from_fn(|q| (LANES * (POINTS * (place / LANES) + q) + place % LANES) as u32)
}

/// The nodes of a tet, ascending: corners, then edges.
fn sorted_nodes(nodes: &[u32]) -> [u32; NODES] {
    let mut sorted: [u32; NODES] = std::array::from_fn(|k| nodes[k]);
    sorted[..4].sort_unstable();
    sorted[4..].sort_unstable();
    sorted
}

/// ∂N/∂(λ₁, λ₂, λ₃) with edges in ascending order.
fn sorted_slopes(lambda: [f64; 4]) -> [[f64; 3]; NODES] {
    let slopes = slopes(lambda);
    std::array::from_fn(|n| if n < 4 { slopes[n] } else { slopes[4 + EDGES_OF_SORTED[n - 4]] })
}

/// Four tets and their points; those absent are the tet `fill` with volume 0.
fn block(
    nodes: &Nodes,
    tets: [Option<u32>; LANES],
    fill: u32,
    touched: &[u32],
    points_each: usize,
) -> (Block10, Vec<RestPoint>) {
    let mut block = [[0; LANES]; NODES];
    let empty = RestPoint { inverse: Mat3([[Lanes([0.0; LANES]); 3]; 3]), weight: Lanes([0.0; LANES]) };
    let mut rest = vec![empty; points_each];
    for lane in 0..LANES {
        let own = sorted_nodes(nodes.of_tet(tets[lane].unwrap_or(fill) as usize));
        for (place, n) in block.iter_mut().zip(own) {
            place[lane] = touched.binary_search(&n).expect("a node of the run") as u16; // at most 10 · 256
        }
        for (q, at) in rest.iter_mut().enumerate() {
            let J = jacobian(nodes, &own, q);
            at.inverse.set_lane(lane, &J.inverse());
            if tets[lane].is_some() {
                // All four weights of a straight tet are a quarter of its volume.
                at.weight.0[lane] = J.det().abs() / 24.0;
            }
        }
    }
    (block, rest)
}

/// ∂X/∂(λ₁, λ₂, λ₃) of a tet at point q, given by its nodes in ascending order.
fn jacobian(nodes: &Nodes, own: &[u32; NODES], q: usize) -> Mat3 {
    let first = nodes.points()[own[0] as usize];
    let from_first = |n: usize| {
        let x = nodes.points()[own[n] as usize];
        [0, 1, 2].map(|k| x[k] - first[k])
    };
    if nodes.curved().is_none() {
        return Mat3::from_columns(from_first(1), from_first(2), from_first(3));
    }
    let slopes = sorted_slopes(points()[q]);
    (0..NODES).fold(Mat3::zero(), |J, n| J + Mat3::outer(from_first(n), slopes[n]))
}
