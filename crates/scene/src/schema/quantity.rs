//! Values that may be numbers, formulas or data of the mesh, and the marks that say where they were written.

use crate::document::{Item, Place, SceneError, Value};
use crate::expression::Expression;

/// Variables of a formula over a body: rest position, m.
pub const SPACE: &[&str] = &["x", "y", "z"];
/// Variables of a formula over the elements of a body: rest position of the centroid, m, and tag.
pub const SPACE_TAG: &[&str] = &["x", "y", "z", "tag"];
/// Variables of a load: rest position, m, and time, s.
pub const SPACE_TIME: &[&str] = &["x", "y", "z", "t"];
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
    /// Reads a number or a formula of the given variables; a formula without variables becomes a number.
    pub fn read(item: &Item<'_>, variables: &[&str]) -> Result<Self, SceneError> {
        let Value::Text(_) = item.node.value else {
            return match item.node.value {
                Value::Number(_) | Value::Integer(_) => Ok(Self::Number(item.number()?)),
                _ => Err(item.error(format!(
                    "expected a number or a formula of {} in quotes, found {}",
                    variables.join(", "),
                    item.node.value.kind()
                ))),
            };
        };
        let formula = item.formula(variables)?;
        match formula.constant() {
            Some(number) if number.is_finite() => Ok(Self::Number(number)),
            Some(number) => Err(item.error(format!("the formula gives {number}; make it finite"))),
            None => Ok(Self::Formula(formula)),
        }
    }

    /// Reads three of them.
    pub fn read3(item: &Item<'_>, variables: &[&str]) -> Result<[Self; 3], SceneError> {
        let [x, y, z] = item.exactly("numbers or formulas")?;
        Ok([Self::read(&x, variables)?, Self::read(&y, variables)?, Self::read(&z, variables)?])
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
            let name = reader.required("cell_data", "{ cell_data = \"young\" }")?.text()?.to_owned();
            reader.finish()?;
            return Ok(Self::CellData(name));
        }
        Ok(match Quantity::read(item, SPACE_TAG)? {
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
