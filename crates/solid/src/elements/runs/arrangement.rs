//! Which cell goes to which lane of which block, so that runs touch few nodes.

use super::RunMembers;
use crate::dofs::DofMap;
use crate::math::LANES;
use crate::mesh::{Mesh, Nodes};
use std::sync::{Mutex, OnceLock};

/// Cells in blocks.
pub(in crate::elements) struct Arrangement<B> {
    /// What was made of each four cells.
    pub blocks: Vec<B>,
    /// Place of each cell in the blocks, 4 · block + lane.
    pub places: Vec<u32>,
    /// The number of the cell at each place; `u32::MAX` where there is none.
    pub numbers: Vec<u32>,
    /// The nodes of each run.
    pub members: RunMembers,
}

/// Puts the tets of a body into runs of so many blocks. `block` makes one of four tets, of which some may be absent, of a tet
/// that may stand for these, and of the nodes of the run, ascending.
pub(in crate::elements) fn arrange<B>(
    dofs: &DofMap,
    run_blocks: usize,
    block: impl Fn([Option<u32>; LANES], u32, &[u32]) -> B,
) -> Arrangement<B> {
    let nodes = dofs.nodes();
    let order = compact_order(nodes, run_blocks * LANES);
    let mut blocks = Vec::with_capacity(order.len().div_ceil(LANES));
    let (mut members, mut starts) = (Vec::new(), vec![0]);
    let mut places = vec![0; order.len()];
    for run in order.chunks(run_blocks * LANES) {
        let touched = touched(nodes, run);
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
            blocks.push(block(tets, run[0], &touched));
        }
        members.extend(touched.iter().map(|n| dofs.global(*n)));
        starts.push(members.len() as u32);
    }
    let mut numbers = vec![u32::MAX; LANES * blocks.len()];
    for (e, &place) in places.iter().enumerate() {
        numbers[place as usize] = e as u32;
    }
    let members = RunMembers {
        nodes: dofs.range(),
        members,
        starts,
        incidence: OnceLock::new(),
        partial: Mutex::default(),
    };
    Arrangement { blocks, places, numbers, members }
}

/// Tets in an order in which runs of so many touch few nodes.
fn compact_order(nodes: &Nodes, run: usize) -> Vec<u32> {
    let touches = |order: &[u32]| order.chunks(run).map(|run| touched(nodes, run).len()).sum::<usize>();
    let tets = nodes.tets();
    let given: Vec<u32> = (0..tets.len() as u32).collect();
    let before = touches(&given);
    if before as f64 <= COMPACT * tets.len() as f64 {
        return given;
    }
    let order = Mesh::new(nodes.points().to_vec(), tets.to_vec()).reorder().tets;
    if touches(&order) < before { order } else { given }
}

/// Nodes per tet above which another order is looked for: a run of compact shape touches some 0.27, one
/// of lines of cells twice as many, one of tets from anywhere four.
const COMPACT: f64 = 0.35;

/// Nodes of a run, ascending.
fn touched(nodes: &Nodes, run: &[u32]) -> Vec<u32> {
    let mut list: Vec<u32> = run.iter().flat_map(|&e| nodes.of_tet(e as usize)).copied().collect();
    list.sort_unstable();
    list.dedup();
    list
}
