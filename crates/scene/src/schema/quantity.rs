//! Values that may be numbers, formulas or data of the mesh, and the marks that say where they were written.

use crate::document::key::{Key, Kind, TableSchema, no_cases};
use crate::document::{Item, Place, SceneError, Value};
use crate::expression::Expression;

/// Variables of a formula over a body: rest position, m.
pub const SPACE: &[&str] = &["x", "y", "z"];
/// Variables of a formula over the elements of a body: rest position of the centroid, m, and tag.
pub const SPACE_TAG: &[&str] = &["x", "y", "z", "tag"];
/// Variables of a motion: position at the start, m, and time, s.
pub const SPACE_TIME: &[&str] = &["x", "y", "z", "t"];
/// Variables of a load: present position, m, velocity, m/s, rest position, m, and time, s.
pub const LOAD_POINT: &[&str] = &["x", "y", "z", "vx", "vy", "vz", "X", "Y", "Z", "t"];
/// Variable of a motion: time, s.
pub const TIME: &[&str] = &["t"];

/// Where a part of the scene was written, for messages of later stages. All marks compare equal.
#[derive(Clone, Debug, Default)]
pub struct Mark {
    /// The file, or what stands for it.
    pub origin: String,
    /// Dotted path of the key.
    pub path: String,
    /// File line, where known.
    pub place: Place,
}

impl PartialEq for Mark {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl From<&Item<'_>> for Mark {
    fn from(item: &Item<'_>) -> Self {
        Self { origin: item.origin().to_owned(), path: item.path.clone(), place: item.place }
    }
}

impl Mark {
    /// An error about what was written there.
    pub fn error(&self, message: impl Into<String>) -> SceneError {
        SceneError::at(&self.origin, self.place, &self.path, message)
    }

    /// This, or the other where this was not written at all.
    pub fn or<'a>(&'a self, other: &'a Self) -> &'a Self {
        if self.origin.is_empty() && self.path.is_empty() { other } else { self }
    }
}

/// A number or a formula.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// The same everywhere, always.
    Number(f64),
    /// A formula; which variables it has is said where it is used.
    Formula(Expression),
}

impl Quantity {
    /// Reads a number or a formula of the variables of its key; a formula without variables becomes a number.
    pub fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        let Value::Text(_) = item.node.value else {
            return match item.node.value {
                Value::Number(_) | Value::Integer(_) => Self::checked(item, item.finite()?),
                _ => Err(item.error(format!(
                    "expected a number or a formula of {} in quotes, found {}",
                    item.variables().join(", "),
                    item.node.value.kind()
                ))),
            };
        };
        let formula = item.formula()?;
        match formula.constant() {
            Some(number) if number.is_finite() => Self::checked(item, number),
            Some(number) => Err(item.error(format!("the formula gives {number}; make it finite"))),
            None => Ok(Self::Formula(formula)),
        }
    }

    /// A number in the range of its key.
    fn checked(item: &Item<'_>, number: f64) -> Result<Self, SceneError> {
        match item.limits() {
            Some((range, unit)) if !range.contains(number) => {
                let unit = if unit.is_empty() { String::new() } else { format!(", in {unit}") };
                let must_be = range.words();
                Err(item.error(format!("must be {must_be}{unit}, not {number}; correct the value")))
            }
            _ => Ok(Self::Number(number)),
        }
    }

    /// Reads three of them.
    pub fn read3(item: &Item<'_>) -> Result<[Self; 3], SceneError> {
        let [x, y, z] = item.exactly("numbers or formulas")?;
        Ok([Self::read(&x)?, Self::read(&y)?, Self::read(&z)?])
    }

    /// The value at the given values of the variables.
    pub fn eval(&self, values: &[f64]) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Formula(formula) => formula.eval(values),
        }
    }

    /// Value and derivative with respect to variable number `wrt`.
    pub fn eval_dual(&self, values: &[f64], wrt: usize) -> (f64, f64) {
        match self {
            Self::Number(number) => (*number, 0.0),
            Self::Formula(formula) => formula.eval_dual(values, wrt),
        }
    }

    /// The value, if it is the same everywhere.
    pub fn constant(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Formula(_) => None,
        }
    }

    /// Whether it depends on variable number `index`.
    pub fn depends_on(&self, index: usize) -> bool {
        matches!(self, Self::Formula(formula) if formula.depends_on(index))
    }
}

const CELL_DATA_KEY: Key =
    Key::required("cell_data", Kind::Text, "\"young\"", "Name of the data, one number per element.");

/// A value that the mesh file gives for every element.
pub(super) static CELL_DATA: TableSchema = TableSchema {
    name: "cell_data",
    doc: "Data of the mesh file, one number per element.",
    keys: &[CELL_DATA_KEY],
    cases: no_cases,
    exclusive: &[],
};

/// A value per element of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    /// The same in every element.
    Constant(f64),
    /// A formula of [`SPACE_TAG`], taken at the centroid.
    Expression(Expression),
    /// Per-element data of the mesh file, by name.
    CellData(String),
}

impl Field {
    /// Reads `1e5`, `"1e5*(x>2)"` or `{ cell_data = "name" }`.
    pub fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        if let Value::Table(_) = item.node.value {
            let mut reader = item.reader()?;
            let name = reader.required_as(&CELL_DATA_KEY, "{ cell_data = \"young\" }")?.text()?.to_owned();
            reader.finish()?;
            return Ok(Self::CellData(name));
        }
        Ok(match Quantity::read(item)? {
            Quantity::Number(number) => Self::Constant(number),
            Quantity::Formula(formula) => Self::Expression(formula),
        })
    }

    /// The value, if it is the same everywhere.
    pub fn constant(&self) -> Option<f64> {
        match self {
            Self::Constant(value) => Some(*value),
            _ => None,
        }
    }
}
