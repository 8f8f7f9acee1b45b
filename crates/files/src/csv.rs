//! Tables of numbers: `energy.csv`, `probes.csv`.

use crate::atomic::{self, WriteError};
use std::io::{self, Write};
use std::path::Path;

/// A table of f64 with a header line, held in memory and written as a whole.
///
/// Numbers are the shortest text that reads back to the same bits, so a table that is read again
/// (to resume a run) is the table that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    columns: Vec<String>,
    values: Vec<f64>,
}

/// Why a text is not a table. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// There is no header line.
    #[error("the file is empty; its first line should name the columns")]
    Empty,
    /// The header has an odd number of quotation marks.
    #[error("line 1: a quotation mark is not closed")]
    OpenQuote,
    /// A cell holds something else than a number.
    #[error("line {line}: `{cell}` is not a number")]
    NotANumber {
        /// Where.
        line: usize,
        /// Its text.
        cell: String,
    },
    /// A row has not one number per column.
    #[error("line {line}: {found} numbers for {columns} columns")]
    Width {
        /// Where.
        line: usize,
        /// Numbers in the row.
        found: usize,
        /// Columns of the table.
        columns: usize,
    },
}

impl Table {
    /// An empty table with these columns.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), values: Vec::new() }
    }

    /// Names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.columns.len()).unwrap_or(0)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Appends a row.
    ///
    /// # Panics
    /// If the row has not one number per column: a mistake of the caller, not of its data.
    pub fn push(&mut self, row: &[f64]) {
        assert_eq!(row.len(), self.columns.len(), "a row has one number per column");
        self.values.extend_from_slice(row);
    }

    /// The rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.columns.len().max(1))
    }

    /// The numbers of the column called `name`.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let k = self.columns.iter().position(|c| c == name)?;
        Some(self.rows().map(|row| row[k]).collect())
    }

    /// Keeps the first `rows` rows only.
    pub fn truncate(&mut self, rows: usize) {
        self.values.truncate(rows * self.columns.len());
    }

    /// Writes header and rows atomically.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), WriteError> {
        atomic::write_with(path, |out| self.write_to(out))
    }

    /// Writes header and rows to any stream.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let header: Vec<String> = self.columns.iter().map(|c| cell(c)).collect();
        writeln!(out, "{}", header.join(","))?;
        for row in self.rows() {
            for (k, &x) in row.iter().enumerate() {
                let comma = if k == 0 { "" } else { "," };
                write!(out, "{comma}{}", Shortest(x))?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Reads a table that [`Table::write`] wrote.
    pub fn parse(text: &str) -> Result<Self, TableError> {
        let mut lines = text.lines();
        let columns = split_header(lines.next().ok_or(TableError::Empty)?)?;
        let mut table = Self::new(columns);
        for (n, line) in lines.enumerate() {
            // Line 1 is the header.
            let (line_number, before) = (n + 2, table.values.len());
            for cell in line.split(',') {
                let not_a_number = |_| TableError::NotANumber { line: line_number, cell: cell.to_string() };
                table.values.push(cell.trim().parse().map_err(not_a_number)?);
            }
            let (found, columns) = (table.values.len() - before, table.columns.len());
            if found != columns {
                return Err(TableError::Width { line: line_number, found, columns });
            }
        }
        Ok(table)
    }
}

/// Displays an f64 as the shortest text that reads back to the same bits.
pub struct Shortest(pub f64);

impl std::fmt::Display for Shortest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let x = self.0;
        if x.is_nan() {
            f.write_str("nan")
        } else if x.is_infinite() {
            f.write_str(if x > 0.0 { "inf" } else { "-inf" })
        } else if x == 0.0 || (1e-5..1e16).contains(&x.abs()) {
            write!(f, "{x}")
        } else {
            write!(f, "{x:e}")
        }
    }
}

/// Text as a cell: in quotation marks where it needs them.
pub fn cell(name: &str) -> String {
    // A line break would end the row, whatever the quotes say, for most readers.
    let name = name.replace(['\n', '\r'], " ");
    if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name }
}

fn split_header(line: &str) -> Result<Vec<String>, TableError> {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut inside = false;
    let mut letters = line.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '"' if inside && letters.peek() == Some(&'"') => {
                letters.next();
                name.push('"');
            }
            '"' => inside = !inside,
            ',' if !inside => names.push(std::mem::take(&mut name)),
            _ => name.push(c),
        }
    }
    if inside {
        return Err(TableError::OpenQuote);
    }
    names.push(name);
    Ok(names)
}
