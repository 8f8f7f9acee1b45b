//! Aggregation: every aggregate of nodes becomes one node of the next coarser level.

use super::sparse::Graph;

/// The aggregate of every node, and the number of aggregates.
///
/// First, every node whose neighbours are all free forms an aggregate with them. Then each remaining node joins the
/// aggregate that holds most of its neighbours \[vanek1996\]. No node is left over: a node without an aggregated
/// neighbour would have formed an aggregate in the first pass.
pub(super) fn aggregate(graph: &Graph) -> (Vec<u32>, usize) {
    const FREE: u32 = u32::MAX;
    let mut aggregate_of = vec![FREE; graph.rows()];
    let mut count = 0;
    for i in 0..graph.rows() {
        if graph.row(i).iter().all(|&j| aggregate_of[j as usize] == FREE) {
            for &j in graph.row(i) {
                aggregate_of[j as usize] = count;
            }
            aggregate_of[i] = count;
            count += 1;
        }
    }
    let first = aggregate_of.clone();
    let mut nearby: Vec<u32> = Vec::new();
    for i in (0..graph.rows()).filter(|&i| first[i] == FREE) {
        nearby.clear();
        nearby.extend(graph.row(i).iter().map(|&j| first[j as usize]).filter(|&g| g != FREE));
        nearby.sort_unstable();
        let largest = nearby.chunk_by(|a, b| a == b).rev().max_by_key(|same| same.len());
        aggregate_of[i] = largest.map_or(0, |same| same[0]);
    }
    (aggregate_of, count as usize)
}
