//! The sparsity pattern of a symmetric matrix of 3×3 blocks.

use std::sync::OnceLock;

/// The lower triangle, with the diagonal, of a symmetric pattern of `n` × `n` blocks, stored by columns.
///
/// Rows are sorted within their column, so the first block of every column is the diagonal one. Rows are stored as `u32`,
/// which halves the memory traffic and suffices for 4·10⁹ nodes.
#[derive(Debug, Clone)]
pub struct BlockPattern {
    col_ptr: Vec<usize>,
    rows: Vec<u32>,
    by_rows: OnceLock<ByRows>,
}

/// The blocks left of the diagonal, row by row, columns ascending.
#[derive(Debug, Clone)]
pub(crate) struct ByRows {
    ptr: Vec<usize>,
    /// The column of each block, and its position in the pattern.
    blocks: Vec<(u32, u32)>,
}

impl ByRows {
    /// The blocks of row `i` left of the diagonal.
    pub fn row(&self, i: usize) -> &[(u32, u32)] {
        &self.blocks[self.ptr[i]..self.ptr[i + 1]]
    }
}

impl PartialEq for BlockPattern {
    fn eq(&self, other: &BlockPattern) -> bool {
        self.col_ptr == other.col_ptr && self.rows == other.rows
    }
}

impl Eq for BlockPattern {}

impl Default for BlockPattern {
    /// The pattern without nodes.
    fn default() -> Self {
        BlockPattern { col_ptr: vec![0], rows: Vec::new(), by_rows: OnceLock::new() }
    }
}

impl BlockPattern {
    /// The pattern in which all nodes of a clique (one element) are coupled with each other, and every node with itself.
    ///
    /// Each column is collected from the cliques that contain its node, with one marker per node. This needs memory for the
    /// cliques and the result only. A list of all pairs would contain each edge of a tetrahedral mesh about five times.
    ///
    /// # Panics
    /// If a clique names a node that is not below `n`.
    pub fn from_cliques<'a>(n: usize, cliques: impl Iterator<Item = &'a [u32]>) -> BlockPattern {
        let mut nodes: Vec<u32> = Vec::new();
        let mut ends: Vec<usize> = vec![0];
        for clique in cliques {
            nodes.extend_from_slice(clique);
            ends.push(nodes.len());
        }
        // The cliques of each node, by counting sort.
        let mut around_ptr = vec![0usize; n + 1];
        for &node in &nodes {
            assert!((node as usize) < n, "clique names node {node}, but there are {n} nodes");
            around_ptr[node as usize + 1] += 1;
        }
        for i in 0..n {
            around_ptr[i + 1] += around_ptr[i];
        }
        let mut next = around_ptr.clone();
        let mut around = vec![0u32; nodes.len()];
        for c in 0..ends.len() - 1 {
            for &node in &nodes[ends[c]..ends[c + 1]] {
                around[next[node as usize]] = c as u32;
                next[node as usize] += 1;
            }
        }
        drop(next);
        let mut seen_in = vec![u32::MAX; n];
        let mut col_ptr = Vec::with_capacity(n + 1);
        let mut rows = Vec::new();
        col_ptr.push(0);
        for j in 0..n {
            rows.push(j as u32);
            let first = rows.len();
            for &c in &around[around_ptr[j]..around_ptr[j + 1]] {
                for &i in &nodes[ends[c as usize]..ends[c as usize + 1]] {
                    if i as usize > j && seen_in[i as usize] != j as u32 {
                        seen_in[i as usize] = j as u32;
                        rows.push(i);
                    }
                }
            }
            rows[first..].sort_unstable();
            col_ptr.push(rows.len());
        }
        rows.shrink_to_fit();
        BlockPattern { col_ptr, rows, by_rows: OnceLock::new() }
    }

    /// The union of this pattern and couplings `(i, j)`, i > j, which must be sorted by column, then row.
    pub(crate) fn with_couplings(&self, couplings: &[(u32, u32)]) -> BlockPattern {
        let mut col_ptr = Vec::with_capacity(self.col_ptr.len());
        let mut rows = Vec::with_capacity(self.rows.len() + couplings.len());
        let mut remaining = couplings;
        col_ptr.push(0);
        for j in 0..self.n() {
            let first = rows.len();
            rows.extend_from_slice(self.column(j));
            let here = remaining.iter().take_while(|c| c.1 as usize == j).count();
            if here > 0 {
                rows.extend(remaining[..here].iter().map(|c| c.0));
                remaining = &remaining[here..];
                rows[first..].sort_unstable();
                let mut unique = first;
                for k in first..rows.len() {
                    if k == first || rows[k] != rows[unique - 1] {
                        rows[unique] = rows[k];
                        unique += 1;
                    }
                }
                rows.truncate(unique);
            }
            col_ptr.push(rows.len());
        }
        BlockPattern { col_ptr, rows, by_rows: OnceLock::new() }
    }

    /// The pattern by rows. It is computed on first use, since only some products and preconditioners need it.
    pub(crate) fn by_rows(&self) -> &ByRows {
        self.by_rows.get_or_init(|| {
            let n = self.n();
            let mut ptr = vec![0usize; n + 1];
            for j in 0..n {
                for &i in &self.column(j)[1..] {
                    ptr[i as usize + 1] += 1;
                }
            }
            for i in 0..n {
                ptr[i + 1] += ptr[i];
            }
            let mut next = ptr.clone();
            let mut blocks = vec![(0, 0); ptr[n]];
            for j in 0..n {
                for p in self.col_ptr[j] + 1..self.col_ptr[j + 1] {
                    let to = &mut next[self.rows[p] as usize];
                    blocks[*to] = (j as u32, p as u32);
                    *to += 1;
                }
            }
            ByRows { ptr, blocks }
        })
    }

    /// The number of block columns (nodes).
    pub fn n(&self) -> usize {
        self.col_ptr.len() - 1
    }

    /// Where each column begins in [`rows`](Self::rows); one more entry than columns.
    pub fn col_ptr(&self) -> &[usize] {
        &self.col_ptr
    }

    /// The block rows of all columns, one after the other.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The block rows of column `j`; the first is `j`.
    pub fn column(&self, j: usize) -> &[u32] {
        &self.rows[self.col_ptr[j]..self.col_ptr[j + 1]]
    }

    /// The number of stored blocks.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The position of block (i, j), i ≥ j; `None` outside the pattern.
    pub fn position(&self, i: usize, j: usize) -> Option<usize> {
        debug_assert!(i >= j, "block ({i}, {j}) is above the diagonal");
        self.column(j).binary_search(&(i as u32)).ok().map(|k| self.col_ptr[j] + k)
    }

    /// The position of the diagonal block of node `j`.
    pub fn diagonal_position(&self, j: usize) -> usize {
        self.col_ptr[j]
    }
}
