/// Why elastic constants cannot be used. The message names the constant and the remedy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConstantsError {
    /// A constant is out of its range.
    #[error("{reason}")]
    OutOfRange {
        /// Its name in scene files.
        constant: &'static str,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A constant is needed and not given.
    #[error("the stiffness matrix lacks {constant}; give all of {needed}, or E and nu")]
    Missing {
        /// Its name in scene files.
        constant: &'static str,
        /// All that are needed.
        needed: String,
    },
    /// The model has no such constant.
    #[error("material {material} does not know the constant {constant}; remove it (the model takes {takes})")]
    Unknown {
        /// Name of the model.
        material: &'static str,
        /// Name of the constant.
        constant: String,
        /// The names that it knows.
        takes: String,
    },
    /// Constants that exclude each other.
    #[error("{reason}")]
    Contradiction {
        /// What is wrong, and what to do.
        reason: String,
    },
}

impl ConstantsError {
    pub(super) fn out_of_range(constant: &'static str, reason: String) -> Self {
        Self::OutOfRange { constant, reason }
    }
}
