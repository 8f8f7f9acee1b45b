//! Nodes put together in groups, each of which becomes one node of the next coarser level.

use super::sparse::Graph;

/// The group of every node, and the number of groups.
///
/// First every node all of whose neighbours are still free is made a group together with them; then the rest join the group
/// that has most of their neighbours \[vanek1996\]. None is left: a node without neighbours in a group would have become one.
pub(super) fn aggregate(graph: &Graph) -> (Vec<u32>, usize) {
    const FREE: u32 = u32::MAX;
    let mut group = vec![FREE; graph.rows()];
    let mut count = 0;
    for i in 0..graph.rows() {
        if graph.row(i).iter().all(|&j| group[j as usize] == FREE) {
            for &j in graph.row(i) {
                group[j as usize] = count;
            }
            group[i] = count;
            count += 1;
        }
    }
    let first = group.clone();
    let mut around: Vec<u32> = Vec::new();
    for i in (0..graph.rows()).filter(|&i| first[i] == FREE) {
        around.clear();
        around.extend(graph.row(i).iter().map(|&j| first[j as usize]).filter(|&g| g != FREE));
        around.sort_unstable();
        let most = around.chunk_by(|a, b| a == b).rev().max_by_key(|same| same.len());
        group[i] = most.map_or(0, |same| same[0]);
    }
    (group, count as usize)
}
