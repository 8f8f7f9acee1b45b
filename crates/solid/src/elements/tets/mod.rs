//! The linear tets of one body with one material model.

mod assembly;
mod corotated;
mod elements;
mod kernel;
mod material_tangent;
mod stiffness;
mod strains;

use kernel::Block;
pub(super) use material_tangent::{material_tangent, material_tangents};

use crate::elements::runs::{Arrangement, RunMembers, Sharing, arrange};
use crate::elements::{SolidInput, SolidKind};
use crate::materials::{Constants, Lame, Material};
use crate::math::{LANES, Lanes, Mat3};
use crate::mesh::Nodes;
use std::sync::{Arc, OnceLock};
use stiffness::TET_PAIRS;
use strains::Lists;

/// Blocks in a run: 1024 tets, which touch some 300 nodes of a well-ordered mesh. What a kernel gathers
/// and scatters then stays in the first-level cache; shorter runs share more nodes with each other.
const RUN: usize = 256;

/// Linear tets: geometry at rest, material, and the lists that assembly needs.
///
/// Inside, tets are kept in an order of their own, and their vertices in ascending order, so that the lower blocks of
/// an element matrix are lower blocks of the whole one. Outside, everything goes by the number that a tet has in the
/// mesh, and by the order that its vertices have there.
pub struct Tets {
    blocks: Vec<Block>,
    count: usize,
    /// Place of each tet in the blocks, 4 · block + lane.
    places: Vec<u32>,
    /// The number of the tet at each place; `u32::MAX` where there is none.
    numbers: Vec<u32>,
    /// How the vertices of each tet were sorted.
    sorting: Vec<Sorting>,
    material: &'static dyn Material,
    /// By place.
    constants: Constants,
    /// Shear modulus and Lamé's first, Pa, by place: for viscosity.
    moduli: Constants,
    /// kg/m³, one for all tets or one for each.
    density: Vec<f64>,
    /// The nodes of each run.
    members: RunMembers,
    /// How matrices of the patterns that were asked for are summed up.
    sharing: Sharing<TET_PAIRS>,
    /// Nodes and compliances of the strains.
    lists: OnceLock<Lists>,
}

/// Continuous linear tets.
pub static LINEAR_TETS: SolidKind = SolidKind {
    name: "tets",
    summary: "linear tets: solids",
    consistent_mass: false,
    mean_dilatation: false,
    nodes: Nodes::at_vertices,
    build: |input| vec![Arc::new(Tets::of(input))],
};

impl Tets {
    /// The tets of a body, with a density (kg/m³) for all or one for each.
    pub fn of(input: SolidInput<'_>) -> Self {
        let SolidInput { dofs, material, constants, moduli, density, glued: _, mean_dilatation: _ } = input;
        let nodes = dofs.nodes();
        let Arrangement { blocks, places, numbers, members } =
            arrange(dofs, RUN, |tets, fill, touched| block(nodes, tets, fill, touched));
        Self {
            blocks,
            numbers,
            count: nodes.tets().len(),
            constants: constants.permuted(&places),
            moduli: moduli.permuted(&places),
            density,
            places,
            sorting: nodes.tets().iter().map(Sorting::of).collect(),
            material,
            members,
            sharing: Sharing::new(RUN),
            lists: OnceLock::new(),
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
        self.members.nodes()
    }

    /// Place of tet e in the blocks.
    fn place(&self, e: usize) -> usize {
        self.places[e] as usize
    }

    /// Global node numbers of the tet at a place, ascending.
    #[inline]
    fn ascending(&self, place: usize) -> [u32; 4] {
        let block = &self.blocks[place / LANES];
        let members = self.members.of(place / (RUN * LANES));
        let mut nodes = [0; 4];
        for corner in 0..4 {
            nodes[corner] = members[usize::from(block.nodes[corner][place % LANES])];
        }
        nodes
    }

    /// Global node numbers of tet e.
    #[inline]
    pub fn tet(&self, e: usize) -> [u32; 4] {
        let nodes = self.ascending(self.place(e));
        let mut tet = [0; 4];
        for corner in 0..4 {
            tet[corner] = nodes[self.sorting[e].place(corner)];
        }
        tet
    }

    /// Rest volume of tet e, m³.
    pub fn volume(&self, e: usize) -> f64 {
        let place = self.place(e);
        self.blocks[place / LANES].volume.0[place % LANES]
    }

    /// Dₘ⁻¹ of tet e, 1/m; its rows are ∇N₁, ∇N₂, ∇N₃.
    pub fn inverse(&self, e: usize) -> Mat3 {
        let place = self.place(e);
        let rows = self.blocks[place / LANES].inverse.lane(place % LANES).0;
        // Those of all four vertices add up to nothing.
        let first = [0, 1, 2].map(|k| -(rows[0][k] + rows[1][k] + rows[2][k]));
        let all = [first, rows[0], rows[1], rows[2]];
        Mat3([1, 2, 3].map(|corner| all[self.sorting[e].place(corner)]))
    }

    /// The material's constants for tet e.
    pub fn constants(&self, e: usize) -> &[f64] {
        self.constants.of(self.place(e))
    }

    /// The moduli of tet e.
    pub fn moduli(&self, e: usize) -> Lame {
        let m = self.moduli.of(self.place(e));
        Lame { mu: m[0], lambda: m[1] }
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

    /// Vertex 4-cliques, for the pattern of the stiffness matrix.
    pub fn cliques(&self) -> impl Iterator<Item = [u32; 4]> + '_ {
        (0..self.count).map(|e| self.tet(e))
    }

    /// Density of tet e, kg/m³.
    pub fn density(&self, e: usize) -> f64 {
        match self.density[..] {
            [uniform] => uniform,
            _ => self.density[e],
        }
    }
}

/// Where the vertices of a tet come to stand in ascending order, two bits each.
#[derive(Clone, Copy)]
struct Sorting(u8);

impl Sorting {
    fn of(tet: &[u32; 4]) -> Self {
        let place = |k: usize| tet.iter().filter(|v| **v < tet[k]).count() as u8;
        Self((0..4).fold(0, |code, k| code | place(k) << (2 * k)))
    }

    fn place(self, corner: usize) -> usize {
        usize::from(self.0 >> (2 * corner) & 3)
    }
}

/// Four tets at rest; those absent are the tet `fill` with volume 0.
fn block(nodes: &Nodes, tets: [Option<u32>; LANES], fill: u32, touched: &[u32]) -> Block {
    let mut block = Block {
        nodes: [[0; LANES]; 4],
        inverse: Mat3([[Lanes([0.0; LANES]); 3]; 3]),
        volume: Lanes([0.0; LANES]),
    };
    for lane in 0..LANES {
        let mut tet = nodes.tets()[tets[lane].unwrap_or(fill) as usize];
        tet.sort_unstable();
        let [x0, x1, x2, x3] = tet.map(|n| nodes.points()[n as usize]);
        let edge = |x: [f64; 3]| [x[0] - x0[0], x[1] - x0[1], x[2] - x0[2]];
        let edges = Mat3::from_columns(edge(x1), edge(x2), edge(x3));
        let inverse = edges.inverse();
        for i in 0..3 {
            for j in 0..3 {
                block.inverse[(i, j)].0[lane] = inverse[(i, j)];
            }
        }
        for corner in 0..4 {
            let place = touched.binary_search(&tet[corner]).expect("a node of the run");
            block.nodes[corner][lane] = place as u16; // below 4 · 1024
        }
        if tets[lane].is_some() {
            block.volume.0[lane] = edges.det().abs() / 6.0;
        }
    }
    block
}
