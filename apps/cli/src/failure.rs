//! Exit status: 1 the input is wrong, 2 the simulation could not go on, 128 + the signal's number
//! interrupted (130 by Ctrl-C, 143 by a request to terminate).

/// Why a command failed, and the exit status that says so.
pub struct Failure {
    /// For the user: what, where, and what to do.
    pub message: String,
    /// Exit status.
    pub code: u8,
    /// Whether the JSON object was printed already.
    pub json_printed: bool,
}

impl Failure {
    /// The input is wrong.
    pub fn input(message: impl std::fmt::Display) -> Self {
        Self { message: message.to_string(), code: 1, json_printed: false }
    }

    /// The simulation could not go on.
    pub fn stopped(message: impl std::fmt::Display) -> Self {
        Self { message: message.to_string(), code: 2, json_printed: false }
    }

    /// Interrupted by the signal of that number; a checkpoint is written.
    pub fn interrupted(signal: u8, message: impl std::fmt::Display) -> Self {
        Self { message: message.to_string(), code: 128 + signal, json_printed: false }
    }

    /// Notes whether standard output has its JSON object already.
    pub fn json_printed(self, json_printed: bool) -> Self {
        Self { json_printed, ..self }
    }
}

/// What a command returns.
pub type CommandResult = Result<(), Failure>;
