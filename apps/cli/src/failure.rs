//! Exit status: 1 the input is wrong, 2 the simulation could not go on, 128 + the signal's number
//! interrupted (130 by Ctrl-C, 143 by a request to terminate).

/// Why a command failed, and the exit status that says so.
pub struct Failure {
    /// For the user: what, where, and what to do.
    pub message: String,
    /// Exit status.
    pub code: u8,
    /// Whether standard output has its JSON object already.
    pub told: bool,
}

impl Failure {
    /// The input is wrong.
    pub fn input(message: impl std::fmt::Display) -> Self {
        Self { message: message.to_string(), code: 1, told: false }
    }

    /// The simulation could not go on.
    pub fn stopped(message: impl std::fmt::Display) -> Self {
        Self { message: message.to_string(), code: 2, told: false }
    }

    /// Interrupted by the signal of that number; a checkpoint is written.
    pub fn interrupted(signal: u8, message: impl std::fmt::Display) -> Self {
        Self { message: message.to_string(), code: 128 + signal, told: false }
    }

    /// Notes whether standard output has its JSON object already.
    pub fn told(self, told: bool) -> Self {
        Self { told, ..self }
    }
}

/// What a command returns.
pub type Done = Result<(), Failure>;
