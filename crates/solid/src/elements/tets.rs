//! The linear tets of one body with one material model.

use super::kernel::{Block, Constants};
use crate::materials::Material;
use crate::math::{LANES, Lanes, Mat3};
use crate::mesh::TetMesh;
use std::sync::OnceLock;

/// Blocks handed to a kernel at a time: 512 tets, whose corner forces stay in the second-level cache.
pub(super) const RUN: usize = 64;

/// Linear tets: geometry at rest, material, and the lists that assembly needs.
pub struct Tets {
    pub(super) blocks: Vec<Block>,
    count: usize,
    pub(super) material: &'static dyn Material,
    pub(super) constants: Constants,
    /// Shear modulus and Lamé's first of each tet, Pa: for viscosity.
    pub(super) moduli: Constants,
    /// First global node and number of nodes of the body.
    pub(super) nodes: std::ops::Range<usize>,
    /// Corners (12-component groups) at each node, in element order.
    pub(super) incidence: OnceLock<Incidence>,
    /// Positions of the ten lower blocks of each tet in the global pattern.
    pub(super) positions: OnceLock<Vec<[u32; 10]>>,
}

/// Compressed lists: the corners at node n are `corners[start[n]..start[n + 1]]`, each
/// (block·8 + lane)·4 + corner.
pub(super) struct Incidence {
    pub start: Vec<u32>,
    pub corners: Vec<u32>,
}

impl Tets {
    /// The tets of `mesh`, whose vertices are the global nodes from `first_node` on.
    pub fn new(
        mesh: &TetMesh,
        first_node: usize,
        material: &'static dyn Material,
        constants: Constants,
        moduli: Constants,
    ) -> Self {
        let rest = |v: u32| mesh.vertices[v as usize];
        let blocks = mesh
            .tets
            .chunks(LANES)
            .map(|tets| {
                let mut block = Block {
                    nodes: [[0; LANES]; 4],
                    inverse: Mat3([[Lanes([0.0; LANES]); 3]; 3]),
                    volume: Lanes([0.0; LANES]),
                };
                for lane in 0..LANES {
                    let tet = tets.get(lane).unwrap_or(&tets[0]);
                    let [x0, x1, x2, x3] = tet.map(rest);
                    let edge = |x: [f64; 3]| [x[0] - x0[0], x[1] - x0[1], x[2] - x0[2]];
                    let edges = Mat3::from_columns(edge(x1), edge(x2), edge(x3));
                    let inverse = edges.inverse();
                    for i in 0..3 {
                        for j in 0..3 {
                            block.inverse[(i, j)].0[lane] = inverse[(i, j)];
                        }
                    }
                    for corner in 0..4 {
                        block.nodes[corner][lane] = first_node as u32 + tet[corner];
                    }
                    if lane < tets.len() {
                        block.volume.0[lane] = edges.det() / 6.0;
                    }
                }
                block
            })
            .collect();
        Self {
            blocks,
            count: mesh.tets.len(),
            material,
            constants,
            moduli,
            nodes: first_node..first_node + mesh.vertices.len(),
            incidence: OnceLock::new(),
            positions: OnceLock::new(),
        }
    }

    /// Number of tets.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The material.
    pub fn material(&self) -> &'static dyn Material {
        self.material
    }

    /// The global nodes of the body.
    pub fn nodes(&self) -> std::ops::Range<usize> {
        self.nodes.clone()
    }

    /// Global node numbers of tet e.
    pub fn tet(&self, e: usize) -> [u32; 4] {
        let block = &self.blocks[e / LANES];
        [0, 1, 2, 3].map(|corner| block.nodes[corner][e % LANES])
    }

    /// Rest volume of tet e, m³.
    pub fn volume(&self, e: usize) -> f64 {
        self.blocks[e / LANES].volume.0[e % LANES]
    }

    /// Dₘ⁻¹ of tet e, 1/m; its rows are ∇N₁, ∇N₂, ∇N₃.
    pub fn inverse(&self, e: usize) -> Mat3 {
        self.blocks[e / LANES].inverse.lane(e % LANES)
    }

    /// The material's constants for tet e.
    pub fn constants(&self, e: usize) -> &[f64] {
        self.constants.of(e)
    }

    /// (μ, λ) of tet e, Pa.
    pub fn moduli(&self, e: usize) -> (f64, f64) {
        let m = self.moduli.of(e);
        (m[0], m[1])
    }

    /// F of tet e for positions, Ḟ for velocities.
    pub fn gradient_of(&self, e: usize, x: &[f64]) -> Mat3 {
        let [a, b, c, d] = self.tet(e).map(|n| {
            let n = 3 * n as usize;
            [x[n], x[n + 1], x[n + 2]]
        });
        let edge = |x: [f64; 3]| [x[0] - a[0], x[1] - a[1], x[2] - a[2]];
        Mat3::from_columns(edge(b), edge(c), edge(d)) * self.inverse(e)
    }

    /// (μ, λ) of all tets, Pa.
    pub(crate) fn all_moduli(&self) -> &Constants {
        &self.moduli
    }

    /// Vertex 4-cliques, for the pattern of the stiffness matrix.
    pub fn cliques(&self) -> impl Iterator<Item = [u32; 4]> + '_ {
        (0..self.count).map(|e| self.tet(e))
    }

    /// Nodal masses (kg, one per global node of the body) for densities `rho` per tet, lumped.
    pub fn add_lumped_mass(&self, rho: impl Fn(usize) -> f64, mass: &mut [f64]) {
        for e in 0..self.count {
            let share = 0.25 * rho(e) * self.volume(e);
            for n in self.tet(e) {
                mass[n as usize] += share;
            }
        }
    }
}
