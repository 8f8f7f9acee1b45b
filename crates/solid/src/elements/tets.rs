//! The linear tets of one body with one material model.

use super::assembly::Vectors;
use super::kernel::{Block, Constants};
use super::matrices::Plan;
use super::strains::Lists;
use crate::materials::Material;
use crate::math::{LANES, Lanes, Mat3};
use crate::mesh::TetMesh;
use std::sync::{Arc, Mutex, OnceLock};

/// Blocks in a run: 1024 tets, which touch some 300 nodes of a well-ordered mesh. What a kernel gathers
/// and scatters then stays in the first-level cache; shorter runs share more nodes with each other.
pub(super) const RUN: usize = 256;

/// Linear tets: geometry at rest, material, and the lists that assembly needs.
///
/// Inside, tets are kept in an order of their own, and their vertices in ascending order, so that the lower blocks of
/// an element matrix are lower blocks of the whole one. Outside, everything goes by the number that a tet has in the
/// mesh, and by the order that its vertices have there.
pub struct Tets {
    pub(super) blocks: Vec<Block>,
    count: usize,
    /// Place of each tet in the blocks, 4 · block + lane.
    places: Vec<u32>,
    /// The number of the tet at each place; `u32::MAX` where there is none.
    pub(super) numbers: Vec<u32>,
    /// How the vertices of each tet were sorted.
    sorting: Vec<Sorting>,
    pub(super) material: &'static dyn Material,
    /// By place.
    pub(super) constants: Constants,
    /// Shear modulus and Lamé's first, Pa, by place: for viscosity.
    pub(super) moduli: Constants,
    /// Global nodes of the body.
    pub(super) nodes: std::ops::Range<usize>,
    /// Global nodes that each run touches, ascending, run after run.
    pub(super) members: Vec<u32>,
    /// Where the members of each run begin; one more entry than runs.
    pub(super) starts: Vec<u32>,
    /// Where each node is among the members.
    pub(super) incidence: OnceLock<Incidence>,
    /// Forces on the members, kept from one call to the next.
    pub(super) partial: Mutex<Vectors>,
    /// How matrices of the patterns that were asked for are summed up.
    pub(super) plans: Mutex<Vec<Arc<Plan>>>,
    /// Nodes and compliances of the strains.
    pub(super) lists: OnceLock<Lists>,
}

/// Compressed lists: node n of the body is at the places `members[start[n]..start[n + 1]]` of
/// [`Tets::members`], ascending.
pub(super) struct Incidence {
    pub start: Vec<u32>,
    pub members: Vec<u32>,
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
        let order = compact_order(mesh);
        let mut blocks = Vec::with_capacity(order.len().div_ceil(LANES));
        let (mut members, mut starts) = (Vec::new(), vec![0]);
        let mut places = vec![0; order.len()];
        for run in order.chunks(RUN * LANES) {
            let nodes = touched(mesh, run);
            let count = run.len().div_ceil(LANES);
            for k in 0..count {
                // Lane l walks through its own quarter of the run. Neighbours, which share nodes, are then
                // far apart in time, and no sum at a node waits for the one before.
                let tets = std::array::from_fn(|lane| run.get(lane * count + k).copied());
                for (lane, e) in tets.iter().enumerate() {
                    if let Some(e) = e {
                        places[*e as usize] = (LANES * blocks.len() + lane) as u32;
                    }
                }
                blocks.push(block(mesh, tets, run[0], &nodes));
            }
            members.extend(nodes.iter().map(|v| first_node as u32 + v));
            starts.push(members.len() as u32);
        }
        let mut numbers = vec![u32::MAX; LANES * blocks.len()];
        for (e, &place) in places.iter().enumerate() {
            numbers[place as usize] = e as u32;
        }
        Self {
            blocks,
            numbers,
            count: mesh.tets.len(),
            constants: constants.permuted(&places),
            moduli: moduli.permuted(&places),
            places,
            sorting: mesh.tets.iter().map(Sorting::of).collect(),
            material,
            nodes: first_node..first_node + mesh.vertices.len(),
            members,
            starts,
            incidence: OnceLock::new(),
            partial: Mutex::default(),
            plans: Mutex::default(),
            lists: OnceLock::new(),
        }
    }

    /// No tets, on nodes that belong to other elements.
    pub fn none(nodes: std::ops::Range<usize>) -> Self {
        let nothing = || Constants::uniform(Vec::new());
        let material = crate::materials::CATALOGUE[0];
        let mut none = Self::new(&TetMesh::default(), nodes.start, material, nothing(), nothing());
        none.nodes = nodes;
        none
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

    /// Place of tet e in the blocks.
    fn place(&self, e: usize) -> usize {
        self.places[e] as usize
    }

    /// Global node numbers of the tet at a place, ascending.
    pub(super) fn ascending(&self, place: usize) -> [u32; 4] {
        let block = &self.blocks[place / LANES];
        let members = &self.members[self.starts[place / (RUN * LANES)] as usize..];
        [0, 1, 2, 3].map(|corner| members[usize::from(block.nodes[corner][place % LANES])])
    }

    /// Global node numbers of tet e.
    pub fn tet(&self, e: usize) -> [u32; 4] {
        let nodes = self.ascending(self.place(e));
        [0, 1, 2, 3].map(|corner| nodes[self.sorting[e].place(corner)])
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

    /// (μ, λ) of tet e, Pa.
    pub fn moduli(&self, e: usize) -> (f64, f64) {
        let m = self.moduli.of(self.place(e));
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

/// Tets in an order in which runs touch few nodes.
fn compact_order(mesh: &TetMesh) -> Vec<u32> {
    let touches =
        |order: &[u32]| order.chunks(RUN * LANES).map(|run| touched(mesh, run).len()).sum::<usize>();
    let given: Vec<u32> = (0..mesh.tets.len() as u32).collect();
    let before = touches(&given);
    if before as f64 <= COMPACT * mesh.tets.len() as f64 {
        return given;
    }
    let order = mesh.clone().reorder().tets;
    if touches(&order) < before { order } else { given }
}

/// Nodes per tet above which another order is looked for: a run of compact shape touches some 0.27, one
/// of lines of cells twice as many, one of tets from anywhere four.
const COMPACT: f64 = 0.35;

/// Vertices of a run, ascending.
fn touched(mesh: &TetMesh, run: &[u32]) -> Vec<u32> {
    let mut list: Vec<u32> = run.iter().flat_map(|&e| mesh.tets[e as usize]).collect();
    list.sort_unstable();
    list.dedup();
    list
}

/// Four tets at rest; those absent are the tet `fill` with volume 0.
fn block(mesh: &TetMesh, tets: [Option<u32>; LANES], fill: u32, nodes: &[u32]) -> Block {
    let mut block = Block {
        nodes: [[0; LANES]; 4],
        inverse: Mat3([[Lanes([0.0; LANES]); 3]; 3]),
        volume: Lanes([0.0; LANES]),
    };
    for lane in 0..LANES {
        let mut tet = mesh.tets[tets[lane].unwrap_or(fill) as usize];
        tet.sort_unstable();
        let [x0, x1, x2, x3] = tet.map(|v| mesh.vertices[v as usize]);
        let edge = |x: [f64; 3]| [x[0] - x0[0], x[1] - x0[1], x[2] - x0[2]];
        let edges = Mat3::from_columns(edge(x1), edge(x2), edge(x3));
        let inverse = edges.inverse();
        for i in 0..3 {
            for j in 0..3 {
                block.inverse[(i, j)].0[lane] = inverse[(i, j)];
            }
        }
        for corner in 0..4 {
            let place = nodes.binary_search(&tet[corner]).expect("a node of the run");
            block.nodes[corner][lane] = place as u16; // below 4 · 1024
        }
        if tets[lane].is_some() {
            block.volume.0[lane] = edges.det().abs() / 6.0;
        }
    }
    block
}
