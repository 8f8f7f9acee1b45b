//! Supernodes of a Cholesky factor in an order for substitutions by several threads.
//!
//! Independent columns lie in different subtrees of the elimination tree \[liu1990\]. A few subtrees of about equal weight
//! come first, one after the other. The supernodes above them follow.

use faer::sparse::linalg::cholesky::supernodal::SymbolicSupernodalCholesky;
use std::ops::Range;

/// Largest number of subtrees.
const PARTS: usize = 8;
/// A factor with fewer entries is not divided: one substitution takes 0.1 ms.
const SMALL: usize = 200_000;

/// Columns that are eliminated together: a triangle, and a rectangle of rows below it.
pub(crate) struct Supernode {
    /// Its unknowns, in the order of this module.
    pub columns: Range<usize>,
    /// The rows below, likewise; see [`Subtrees::rows`].
    pub below: Range<usize>,
    /// Where its entries begin in the original factor: column by column, one entry per column and row below.
    pub values: usize,
}

/// Supernodes in an order in which independent subtrees come first.
pub(crate) struct Subtrees {
    /// The unknown of the matrix at each place.
    pub order: Vec<usize>,
    pub supernodes: Vec<Supernode>,
    /// Rows below the supernodes, one supernode after the other. Rows outside the subtree come last.
    pub rows: Vec<u32>,
    /// The supernodes of each subtree. The supernodes above all subtrees follow.
    pub parts: Vec<Range<usize>>,
}

impl Subtrees {
    /// The subtrees of a factor with its order of the unknowns.
    pub fn new(factor: &SymbolicSupernodalCholesky<usize>, order: &[usize]) -> Self {
        let count = factor.n_supernodes();
        let (begin, end) = (factor.supernode_begin(), factor.supernode_end());
        let rows = |s: usize| {
            &factor.row_idx()[factor.col_ptr_for_row_idx()[s]..factor.col_ptr_for_row_idx()[s + 1]]
        };
        let size = |s: usize| (end[s] - begin[s]) * (end[s] - begin[s] + rows(s).len());
        let mut of_column = vec![0; order.len()];
        for s in 0..count {
            of_column[begin[s]..end[s]].fill(s);
        }
        // For each subtree: weight, first supernode, number of supernodes, children of its root.
        let mut weight: Vec<usize> = (0..count).map(size).collect();
        let (mut first, mut number): (Vec<usize>, _) = ((0..count).collect(), vec![1; count]);
        let mut children = vec![Vec::new(); count];
        let mut roots = Vec::new();
        for s in 0..count {
            // Children precede parents, so this subtree is complete.
            match rows(s).first() {
                None => roots.push(s),
                Some(&row) => {
                    let parent = of_column[row];
                    weight[parent] += weight[s];
                    number[parent] += number[s];
                    first[parent] = first[parent].min(first[s]);
                    children[parent].push(s);
                }
            }
        }
        // Replace the heaviest subtree by the subtrees below its root until there are enough.
        let total: usize = roots.iter().map(|&s| weight[s]).sum();
        let mut tops = if total < SMALL { Vec::new() } else { roots };
        while tops.len() < PARTS
            && let Some(k) = (0..tops.len()).max_by_key(|&k| weight[tops[k]])
            && weight[tops[k]] > total / (2 * PARTS)
        {
            let top = tops.swap_remove(k);
            tops.extend(&children[top]);
        }
        // Subtrees whose supernodes are not consecutive, and small ones, are not separated.
        tops.retain(|&s| s + 1 - first[s] == number[s] && weight[s] > total / (8 * PARTS));
        tops.sort_unstable();

        let mut listed = Vec::with_capacity(count);
        let mut parts = Vec::new();
        let mut above = vec![true; count];
        for &s in &tops {
            parts.push(listed.len()..listed.len() + number[s]);
            listed.extend(first[s]..=s);
            above[first[s]..=s].fill(false);
        }
        listed.extend((0..count).filter(|&s| above[s]));
        let mut place = vec![0; order.len()];
        let mut out = Self { order: Vec::new(), supernodes: Vec::new(), rows: Vec::new(), parts };
        for &s in &listed {
            for column in begin[s]..end[s] {
                place[column] = out.order.len();
                out.order.push(order[column]);
            }
        }
        for &s in &listed {
            let (column, row) = (place[begin[s]], out.rows.len());
            // Within a subtree, and outside it, places ascend with the columns.
            out.rows.extend(rows(s).iter().map(|&r| place[r] as u32));
            out.supernodes.push(Supernode {
                columns: column..column + end[s] - begin[s],
                below: row..out.rows.len(),
                values: factor.col_ptr_for_val()[s],
            });
        }
        out
    }

    /// The unknowns of a range of supernodes.
    pub fn unknowns(&self, supernodes: &Range<usize>) -> Range<usize> {
        let at = |s: usize| self.supernodes.get(s).map_or(self.order.len(), |s| s.columns.start);
        at(supernodes.start)..at(supernodes.end)
    }

    /// The supernodes above all subtrees.
    pub fn above(&self) -> Range<usize> {
        self.parts.last().map_or(0, |p| p.end)..self.supernodes.len()
    }
}
