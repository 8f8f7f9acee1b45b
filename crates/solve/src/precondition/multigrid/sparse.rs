//! Block-sparse matrices by rows (block CSR).

use crate::matrix::block::{BlockMatrix, transposed};
use crate::matrix::pattern::BlockPattern;
use lilyan_parallel::threads;
use std::ops::Range;
use std::sync::Arc;

/// A block of R×C numbers.
pub(super) type Block<const R: usize, const C: usize> = [[f64; C]; R];

/// y ← A x for a matrix that is known by its product.
pub(super) type Apply<'a, const N: usize> = dyn FnMut(&[[f64; N]], &mut [[f64; N]]) + 'a;

/// Rows per task. The number is fixed, so that results do not depend on the number of threads.
const CHUNK: usize = 1 << 9;

/// A sparsity pattern: the columns of every row, ascending.
#[derive(Default)]
pub(super) struct Graph {
    ptr: Vec<usize>,
    columns: Vec<u32>,
}

impl Graph {
    /// `row(i, list)` appends the columns of row i, in any order and with repetitions.
    pub fn new(rows: usize, row: impl Fn(usize, &mut Vec<u32>) + Sync) -> Graph {
        let chunks = threads::par_map(rows.div_ceil(CHUNK), |chunk| {
            let (mut all, mut ends, mut list) = (Vec::new(), Vec::new(), Vec::new());
            for i in chunk * CHUNK..rows.min((chunk + 1) * CHUNK) {
                list.clear();
                row(i, &mut list);
                list.sort_unstable();
                list.dedup();
                all.extend_from_slice(&list);
                ends.push(all.len());
            }
            (all, ends)
        });
        let mut graph = Graph { ptr: vec![0], columns: Vec::new() };
        for (all, ends) in chunks {
            let first = graph.columns.len();
            graph.ptr.extend(ends.iter().map(|end| first + end));
            graph.columns.extend(all);
        }
        graph
    }

    /// A pattern with one block in each row.
    pub fn single(columns: Vec<u32>) -> Graph {
        Graph { ptr: (0..=columns.len()).collect(), columns }
    }

    /// Both triangles of a symmetric pattern.
    pub fn of(pattern: &BlockPattern) -> Graph {
        let left = pattern.by_rows();
        Graph::new(pattern.n(), |i, list| {
            list.extend(left.row(i).iter().map(|&(j, _)| j));
            list.extend_from_slice(pattern.column(i));
        })
    }

    pub fn rows(&self) -> usize {
        self.ptr.len() - 1
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// The columns of row `i`.
    pub fn row(&self, i: usize) -> &[u32] {
        &self.columns[self.range(i)]
    }

    /// The column of the block stored there.
    pub fn column(&self, at: usize) -> usize {
        self.columns[at] as usize
    }

    /// Where the blocks of row `i` are stored.
    pub fn range(&self, i: usize) -> Range<usize> {
        self.ptr[i]..self.ptr[i + 1]
    }

    /// The transposed pattern, with this number of columns.
    pub fn transposed(&self, columns: usize) -> Transposed {
        let mut ptr = vec![0; columns + 1];
        for &j in &self.columns {
            ptr[j as usize + 1] += 1;
        }
        for j in 0..columns {
            ptr[j + 1] += ptr[j];
        }
        let mut next = ptr.clone();
        let mut blocks = vec![(0, 0); self.len()];
        for i in 0..self.rows() {
            for p in self.range(i) {
                let to = &mut next[self.columns[p] as usize];
                blocks[*to] = (i as u32, p as u32);
                *to += 1;
            }
        }
        Transposed { ptr, blocks }
    }

    /// Calls `f(i, blocks of row i, places)` for every row, on all threads. `places` is work space with one entry per
    /// column.
    pub fn fill<B: Send>(
        &self,
        values: &mut [B],
        columns: usize,
        f: impl Fn(usize, &mut [B], &mut [u32]) + Sync,
    ) {
        let mut parts = Vec::with_capacity(self.rows().div_ceil(CHUNK));
        let mut remaining = values;
        for first in (0..self.rows()).step_by(CHUNK) {
            let rows = first..self.rows().min(first + CHUNK);
            let (part, behind) = remaining.split_at_mut(self.ptr[rows.end] - self.ptr[rows.start]);
            parts.push((rows, part));
            remaining = behind;
        }
        threads::par_chunks_mut(&mut parts, 1, |_, part| {
            let (rows, values) = &mut part[0];
            let mut places = vec![0; columns];
            let first = self.ptr[rows.start];
            for i in rows.clone() {
                f(i, &mut values[self.ptr[i] - first..self.ptr[i + 1] - first], &mut places);
            }
        });
    }

    /// Writes `places[j]`, the index within row `i` of the block in column j.
    #[inline]
    pub fn place(&self, i: usize, places: &mut [u32]) {
        for (k, &j) in self.row(i).iter().enumerate() {
            places[j as usize] = k as u32;
        }
    }
}

/// A pattern by columns: for each column the rows, ascending, and where their blocks are stored.
#[derive(Default)]
pub(super) struct Transposed {
    ptr: Vec<usize>,
    blocks: Vec<(u32, u32)>,
}

impl Transposed {
    pub fn row(&self, j: usize) -> &[(u32, u32)] {
        &self.blocks[self.ptr[j]..self.ptr[j + 1]]
    }

    pub fn rows(&self) -> usize {
        self.ptr.len().saturating_sub(1)
    }
}

/// A symmetric matrix that can be read by rows.
pub(super) trait BlockRows<const N: usize>: Sync {
    /// Calls `f(j, block (i, j))` for row `i`, columns ascending.
    fn each(&self, i: usize, f: impl FnMut(usize, &Block<N, N>));
}

impl BlockRows<3> for BlockMatrix {
    #[inline]
    fn each(&self, i: usize, mut f: impl FnMut(usize, &Block<3, 3>)) {
        let (pattern, values) = (self.pattern(), self.values());
        let block = |b: &[f64; 9]| [[b[0], b[1], b[2]], [b[3], b[4], b[5]], [b[6], b[7], b[8]]];
        for &(j, p) in pattern.by_rows().row(i) {
            f(j as usize, &block(&values[p as usize]));
        }
        let first = pattern.diagonal_position(i);
        f(i, &block(&values[first]));
        for (k, &j) in pattern.column(i).iter().enumerate().skip(1) {
            f(j as usize, &block(&transposed(&values[first + k])));
        }
    }
}

/// A symmetric matrix with both triangles stored, in block CSR format.
#[derive(Default)]
pub(super) struct BlockCsr<const N: usize> {
    pub graph: Arc<Graph>,
    pub values: Vec<Block<N, N>>,
}

impl<const N: usize> BlockRows<N> for BlockCsr<N> {
    #[inline]
    fn each(&self, i: usize, mut f: impl FnMut(usize, &Block<N, N>)) {
        let range = self.graph.range(i);
        for (&j, block) in self.graph.row(i).iter().zip(&self.values[range]) {
            f(j as usize, block);
        }
    }
}

/// y ← A x.
pub(super) fn multiply<const N: usize>(a: &impl BlockRows<N>, x: &[[f64; N]], y: &mut [[f64; N]]) {
    threads::par_chunks_mut(y, CHUNK, |chunk, y| {
        for (k, y) in y.iter_mut().enumerate() {
            let mut sum = [0.0; N];
            a.each(chunk * CHUNK + k, |j, block| add_product(&mut sum, block, &x[j]));
            *y = sum;
        }
    });
}

/// y ← y + B x.
#[inline(always)]
pub(super) fn add_product<const R: usize, const C: usize>(y: &mut [f64; R], b: &Block<R, C>, x: &[f64; C]) {
    for r in 0..R {
        let mut sum = 0.0;
        for c in 0..C {
            sum += b[r][c] * x[c];
        }
        y[r] += sum;
    }
}

/// Y ← Y + A B.
#[inline(always)]
pub(super) fn add_blocks<const R: usize, const M: usize, const C: usize>(
    y: &mut Block<R, C>,
    a: &Block<R, M>,
    b: &Block<M, C>,
) {
    for r in 0..R {
        for m in 0..M {
            for c in 0..C {
                y[r][c] += a[r][m] * b[m][c];
            }
        }
    }
}

/// Y ← Y + Aᵀ B.
#[inline(always)]
pub(super) fn add_transposed_blocks<const R: usize, const M: usize, const C: usize>(
    y: &mut Block<R, C>,
    a: &Block<M, R>,
    b: &Block<M, C>,
) {
    for m in 0..M {
        for r in 0..R {
            for c in 0..C {
                y[r][c] += a[m][r] * b[m][c];
            }
        }
    }
}

/// The inverse of a symmetric block; `None` if the block is not positive definite.
pub(super) fn inverse<const N: usize>(a: &Block<N, N>) -> Option<Block<N, N>> {
    // A = L Lᵀ, then L⁻¹, then L⁻ᵀ L⁻¹.
    let mut l = [[0.0; N]; N];
    for j in 0..N {
        let pivot = a[j][j] - l[j][..j].iter().map(|x| x * x).sum::<f64>();
        if pivot.is_nan() || pivot <= 1e-14 * a[j][j] {
            return None;
        }
        l[j][j] = pivot.sqrt();
        for i in j + 1..N {
            l[i][j] = (a[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>()) / l[j][j];
        }
    }
    let mut m = [[0.0; N]; N];
    for j in 0..N {
        m[j][j] = 1.0 / l[j][j];
        for i in j + 1..N {
            m[i][j] = -(j..i).map(|k| l[i][k] * m[k][j]).sum::<f64>() / l[i][i];
        }
    }
    let mut out = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..=i {
            out[i][j] = (i..N).map(|k| m[k][i] * m[k][j]).sum();
            out[j][i] = out[i][j];
        }
    }
    Some(out)
}
