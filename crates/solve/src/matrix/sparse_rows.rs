//! Sparse matrices by rows (CSR), for the Jacobians of constraints.

/// A sparse matrix B by rows (CSR). Rows are appended one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SparseRows {
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl SparseRows {
    /// A matrix without rows.
    pub fn new() -> SparseRows {
        SparseRows::default()
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.columns.clear();
        self.values.clear();
    }

    /// Adds an entry to the current row. A column may occur once per row.
    pub fn push(&mut self, column: usize, value: f64) {
        self.columns.push(column as u32);
        self.values.push(value);
    }

    /// Ends the current row.
    pub fn end_row(&mut self) {
        self.ends.push(self.columns.len());
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn range(&self, i: usize) -> std::ops::Range<usize> {
        let begin = if i == 0 { 0 } else { self.ends[i - 1] };
        begin..self.ends[i]
    }

    /// The entries (column, value) of row `i`.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.range(i);
        self.columns[range.clone()].iter().zip(&self.values[range]).map(|(c, v)| (*c as usize, *v))
    }

    /// Multiplies row `i` by `c`.
    pub fn scale_row(&mut self, i: usize, c: f64) {
        let range = self.range(i);
        for v in &mut self.values[range] {
            *v *= c;
        }
    }

    /// Sets the columns of all held (Dirichlet) unknowns to zero.
    pub fn hold(&mut self, held: &[bool]) {
        for (c, v) in self.columns.iter().zip(&mut self.values) {
            if held[*c as usize] {
                *v = 0.0;
            }
        }
    }

    /// y ← B x.
    pub fn mul(&self, x: &[f64], y: &mut [f64]) {
        for (i, y) in y.iter_mut().enumerate() {
            *y = self.row(i).fold(0.0, |sum, (c, v)| sum + v * x[c]);
        }
    }

    /// x ← x + a Bᵀ y.
    pub fn add_transposed(&self, a: f64, y: &[f64], x: &mut [f64]) {
        for (i, y) in y.iter().enumerate() {
            for (c, v) in self.row(i) {
                x[c] += a * y * v;
            }
        }
    }

    /// Bᵢ D⁻¹ Bᵢᵀ for every row i and the diagonal matrix D.
    pub fn squares(&self, d: &[f64]) -> Vec<f64> {
        (0..self.len()).map(|i| self.row(i).fold(0.0, |sum, (c, v)| sum + v * v / d[c])).collect()
    }
}
