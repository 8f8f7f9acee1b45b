//! The 21 constants of a general stiffness, as one list or one by one.

use super::kinds::{DATA, PER_ELEMENT};
use super::quantity::Field;
use crate::document::key::{Absent, Key, Kind};
use crate::document::{Reader, SceneError, Value};

const CONSTANT: Kind = Kind::Either(&[Kind::number_in("Pa"), PER_ELEMENT, DATA]);

/// All of them.
pub(super) const WHOLE: Key = Key::optional(
    "C",
    Kind::Either(const { &[DATA, Kind::exactly(21, &CONSTANT)] }),
    "{ cell_data = \"C\" }",
    Absent::Means("`E` and `nu`, or `lambda` and `mu`, are given instead"),
    "Upper triangle of the 6×6 stiffness, row by row, for strains xx, yy, zz, yz, xz, xy with engineering shear; \
     cell_data = \"C\" takes the data C11, C12, … of the mesh file.",
);

/// One of them; `C11` stands for all names.
const SINGLE: Key =
    Key::optional("C11", CONSTANT, "3e5", Absent::Number(0.0), "A constant of the 6×6 stiffness.");

/// A key for each of them.
pub(super) fn single_keys() -> Vec<Key> {
    STIFFNESS_KEYS.iter().map(|name| Key { name, ..SINGLE }).collect()
}

/// Names of the 21 constants of a general stiffness, in the order of `Parameters::stiffness`.
pub const STIFFNESS_KEYS: [&str; 21] = [
    "C11", "C12", "C13", "C14", "C15", "C16", "C22", "C23", "C24", "C25", "C26", "C33", "C34", "C35", "C36",
    "C44", "C45", "C46", "C55", "C56", "C66",
];

/// The 21 constants, if any of them is given.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<Option<Box<[Field; 21]>>, SceneError> {
    let whole = reader.optional(&WHOLE);
    let mut constants = [const { Field::Constant(0.0) }; 21];
    let mut single = None;
    for (key, slot) in STIFFNESS_KEYS.iter().zip(&mut constants) {
        // Ask only for those present: 21 names would drown the list of known keys.
        if reader.peek(key)
            && let Some(item) = reader.optional(&Key { name: key, ..SINGLE })
        {
            *slot = Field::read(&item)?;
            single = Some(item);
        }
    }
    match (whole, single) {
        (None, None) => return Ok(None),
        (Some(_), Some(item)) => return Err(item.error("is given besides C; keep one of them")),
        (None, Some(item)) => {
            for (key, value) in STIFFNESS_KEYS.iter().zip(&constants) {
                let mut digits = key.chars().skip(1);
                let diagonal = digits.next() == digits.next();
                if diagonal && value.constant().is_some_and(|v| v <= 0.0) {
                    return Err(
                        item.error(format!("{key} must be positive as well; give C11, C22, … C66 in Pa"))
                    );
                }
            }
        }
        (Some(item), None) => {
            if let Value::Table(_) = item.node.value {
                if let Field::CellData(name) = Field::read(&item)? {
                    for (key, slot) in STIFFNESS_KEYS.iter().zip(&mut constants) {
                        let indices = key.strip_prefix('C').unwrap_or(key);
                        *slot = Field::CellData(format!("{name}{indices}"));
                    }
                }
            } else {
                let items = item.exactly::<21>("numbers (C11, C12, … C16, C22, … C66)")?;
                for (slot, item) in constants.iter_mut().zip(items) {
                    *slot = Field::read(&item)?;
                }
            }
        }
    }
    Ok(Some(Box::new(constants)))
}
