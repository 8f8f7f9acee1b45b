//! The order in which unknowns are eliminated, chosen to keep the Cholesky factor sparse.
//!
//! In three dimensions nested dissection (\[george1973\]; METIS, \[karypis1998\]) needs 2–3 times less work than minimum
//! degree from about ten thousand unknowns on. For smaller systems minimum degree (AMD, \[amestoy1996\]) is as good and
//! cheaper to compute. Both work on the graph of the *nodes*, a third of the size; the three dofs of a node are
//! consecutive. The order is then postordered by its elimination tree \[liu1990\]. The fill stays the same, but columns of
//! equal structure become neighbours, from which supernodes are formed. faer does not do this for a given order.

use crate::matrix::pattern::BlockPattern;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMat;
use faer::sparse::linalg::amd;
use std::sync::{Mutex, PoisonError};

/// Below this number of dofs minimum degree is used (measured: equal at about 5,000).
const DISSECTION_FROM_DOFS: usize = 5_000;

/// The method that orders the unknowns for elimination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ordering {
    /// Nested dissection for large matrices, minimum degree for small ones.
    #[default]
    Automatic,
    /// Always approximate minimum degree (AMD).
    MinimumDegree,
    /// Always nested dissection (METIS).
    NestedDissection,
}

/// The elimination order of the dofs of a pattern: `order[new] = old`, postordered.
pub(crate) fn order_dofs(pattern: &BlockPattern, ordering: Ordering) -> Vec<usize> {
    let order = order_nodes(pattern, ordering);
    order.iter().flat_map(|&node| (0..3).map(move |c| 3 * node as usize + c)).collect()
}

/// The elimination order of the nodes of a pattern: `order[new] = old`, postordered.
pub(crate) fn order_nodes(pattern: &BlockPattern, ordering: Ordering) -> Vec<u32> {
    let n = pattern.n();
    let (ptr, neighbours) = adjacency(pattern);
    let dissect = match ordering {
        Ordering::Automatic => 3 * n >= DISSECTION_FROM_DOFS,
        Ordering::MinimumDegree => false,
        Ordering::NestedDissection => true,
    };
    let dissected = if dissect { nested_dissection(&ptr, &neighbours) } else { None };
    let order = dissected.or_else(|| minimum_degree(pattern)).unwrap_or_else(|| (0..n as u32).collect());
    postordered(&ptr, &neighbours, &order)
}

/// Both triangles without the diagonal: neighbours of every node, ascending.
fn adjacency(pattern: &BlockPattern) -> (Vec<usize>, Vec<i32>) {
    let n = pattern.n();
    let mut ptr = vec![0usize; n + 1];
    for j in 0..n {
        for &i in &pattern.column(j)[1..] {
            ptr[i as usize + 1] += 1;
            ptr[j + 1] += 1;
        }
    }
    for i in 0..n {
        ptr[i + 1] += ptr[i];
    }
    let mut next = ptr.clone();
    let mut neighbours = vec![0i32; ptr[n]];
    // First the neighbours before each node (columns ascending), then those after it: both lists come out sorted.
    for j in 0..n {
        for &i in &pattern.column(j)[1..] {
            neighbours[next[i as usize]] = j as i32;
            next[i as usize] += 1;
        }
    }
    for j in 0..n {
        for &i in &pattern.column(j)[1..] {
            neighbours[next[j]] = i as i32;
            next[j] += 1;
        }
    }
    (ptr, neighbours)
}

/// AMD of the node graph; `None` if faer runs out of memory.
fn minimum_degree(pattern: &BlockPattern) -> Option<Vec<u32>> {
    let n = pattern.n();
    let rows: Vec<usize> = pattern.rows().iter().map(|&i| i as usize).collect();
    let graph = SymbolicSparseColMat::<usize>::new_checked(n, n, pattern.col_ptr().to_vec(), None, rows);
    let (mut order, mut inverse) = (vec![0usize; n], vec![0usize; n]);
    let mut memory = MemBuffer::try_new(amd::order_maybe_unsorted_scratch::<usize>(n, pattern.len())).ok()?;
    let stack = MemStack::new(&mut memory);
    amd::order_maybe_unsorted(&mut order, &mut inverse, graph.as_ref(), amd::Control::default(), stack)
        .ok()?;
    Some(order.into_iter().map(|i| i as u32).collect())
}

/// METIS has one random number generator per process. Two simultaneous calls would share its sequence, and the order
/// would not be reproducible.
static METIS: Mutex<()> = Mutex::new(());

/// Nested dissection of a graph by METIS; `None` if it is too large for METIS' 32-bit indices or METIS refuses it.
#[allow(unsafe_code)]
fn nested_dissection(ptr: &[usize], neighbours: &[i32]) -> Option<Vec<u32>> {
    let n = i32::try_from(ptr.len() - 1).ok().filter(|&n| n > 0)?;
    // METIS stores sums over the graph in the same type; a factor of 4 is its usual margin.
    i32::try_from(neighbours.len()).ok().filter(|&m| m < i32::MAX / 4)?;
    let mut xadj: Vec<i32> = ptr.iter().map(|&p| p as i32).collect();
    let mut adjncy = neighbours.to_vec();
    let mut options = [0i32; metis_sys::METIS_NOPTIONS as usize];
    let (mut perm, mut iperm) = (vec![0i32; n as usize], vec![0i32; n as usize]);
    let mut sizes = [0i32; 1];
    let guard = METIS.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY. `METIS_SetDefaultOptions` writes METIS_NOPTIONS numbers, the length of `options`.
    // `METIS_NodeNDP` with npes = 1 is METIS_NodeND (same recursion, same result) without its trap of SIGTERM and
    // SIGABRT, which is process-wide, jumps with the buffer of whichever thread gets the signal, and would swallow a
    // request to stop. It reads `xadj` (n + 1 numbers, ascending from 0 to adjncy.len(), all below i32::MAX / 4 as
    // checked) and `adjncy` (every entry in 0..n, symmetric, no self-loops, by `adjacency`), takes a null `vwgt` as
    // unit weights, writes `perm` and `iperm` (n numbers each) and `sizes` (2·npes − 1 = 1 number). It keeps no
    // pointer after it returns, starts no thread, and its global random state is guarded by the lock held here.
    // idx_t is i32 in the vendored build (IDXTYPEWIDTH = 32), which the types below check.
    let status = unsafe {
        metis_sys::METIS_SetDefaultOptions(options.as_mut_ptr());
        options[metis_sys::moptions_et_METIS_OPTION_SEED as usize] = 1;
        options[metis_sys::moptions_et_METIS_OPTION_NUMBERING as usize] = 0;
        metis_sys::METIS_NodeNDP(
            n,
            xadj.as_mut_ptr(),
            adjncy.as_mut_ptr(),
            std::ptr::null_mut(),
            1,
            options.as_mut_ptr(),
            perm.as_mut_ptr(),
            iperm.as_mut_ptr(),
            sizes.as_mut_ptr(),
        )
    };
    drop(guard);
    // The result is accepted only if it is a permutation.
    let mut seen = vec![false; n as usize];
    let valid = status == metis_sys::rstatus_et_METIS_OK
        && perm.iter().all(|&p| (0..n).contains(&p) && !std::mem::replace(&mut seen[p as usize], true));
    valid.then(|| perm.into_iter().map(|p| p as u32).collect())
}

/// The order, rearranged to a postorder of its elimination tree.
fn postordered(ptr: &[usize], neighbours: &[i32], order: &[u32]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let n = order.len();
    let mut new_of = vec![0u32; n];
    for (new, &old) in order.iter().enumerate() {
        new_of[old as usize] = new as u32;
    }
    // Elimination tree with path compression [liu1990, §5.2].
    let (mut parent, mut ancestor) = (vec![NONE; n], vec![NONE; n]);
    for k in 0..n {
        let old = order[k] as usize;
        for &neighbour in &neighbours[ptr[old]..ptr[old + 1]] {
            let mut i = new_of[neighbour as usize] as usize;
            while i < k {
                let next = ancestor[i];
                ancestor[i] = k as u32;
                if next == NONE {
                    parent[i] = k as u32;
                    break;
                }
                i = next as usize;
            }
        }
    }
    // Inserting children from the last makes the lists ascending.
    let (mut first_child, mut sibling) = (vec![NONE; n], vec![NONE; n]);
    let mut root = NONE;
    for i in (0..n).rev() {
        let head = if parent[i] == NONE { &mut root } else { &mut first_child[parent[i] as usize] };
        sibling[i] = *head;
        *head = i as u32;
    }
    let mut post = Vec::with_capacity(n);
    let mut stack = Vec::new();
    while root != NONE {
        stack.push(root);
        while let Some(&top) = stack.last() {
            let child = first_child[top as usize];
            if child == NONE {
                post.push(order[top as usize]);
                stack.pop();
            } else {
                first_child[top as usize] = sibling[child as usize];
                stack.push(child);
            }
        }
        root = sibling[root as usize];
    }
    post
}
