//! Exit status: 1 the input is wrong, 2 the simulation could not go on, 130 interrupted.

/// Why a command failed, and the exit status that says so.
pub struct Failure {
    /// For the user: what, where, and what to do.
    pub message: String,
    /// Exit status.
    pub code: u8,
}

impl Failure {
    /// The input is wrong.
    pub fn input(message: impl std::fmt::Display) -> Self {
        Self { message: message.to_string(), code: 1 }
    }

    /// The simulation could not go on.
    pub fn stopped(message: impl std::fmt::Display) -> Self {
        Self { message: message.to_string(), code: 2 }
    }

    /// Interrupted; a checkpoint is written.
    pub fn interrupted(message: impl std::fmt::Display) -> Self {
        Self { message: message.to_string(), code: 130 }
    }
}

/// What a command returns.
pub type Done = Result<(), Failure>;
