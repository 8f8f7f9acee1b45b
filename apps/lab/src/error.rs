//! Why a request is refused, and why a running simulation stops.

use crate::limits::{
    CLIENTS, COARSE_TETS, COARSEN_ELEMENTS, COMPARE_ELEMENTS, ELEMENTS, PANES, SESSION_BYTES, SESSIONS,
};
use crate::wording;
use lilyan_scene::document::SceneError;
use lilyan_study::run::UnphysicalGrowth;
use thiserror::Error;

/// Why a request is refused. The text is for the user; [`LabError::code`] is for programs.
#[derive(Debug, Error)]
pub enum LabError {
    /// The JSON of the message has more levels than this.
    #[error("the message is nested more than {0} deep")]
    NestedTooDeep(usize),
    /// The message is not a request of `PROTOCOL.md`.
    #[error("the message is not understood: {0}")]
    NotUnderstood(serde_json::Error),
    /// A number of the message cannot be used.
    #[error("the message has a number that is not finite or not positive")]
    UnusableNumber,
    /// `open` has neither a built-in scene nor a text, or both.
    #[error("give a built-in scene, or the text of one and its name")]
    OpenWithoutScene,

    /// The library does not have this scene.
    #[error("there is no built-in scene \"{0}\"; drop a scene file on the page to open it")]
    UnknownScene(String),
    /// The gallery does not have this comparison.
    #[error("the gallery has no \"{name}\"; it has: {known}")]
    UnknownComparison {
        /// The name in the request.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// There is no pane of this number.
    #[error("there is no pane {index}; there are {count}, counted from 0")]
    UnknownPane {
        /// The number in the request.
        index: usize,
        /// How many panes there are.
        count: usize,
    },
    /// There is no drawn vertex of this number.
    #[error("there is no vertex {vertex}; {count} are drawn")]
    UnknownVertex {
        /// The number in the request.
        vertex: u32,
        /// How many vertices are drawn.
        count: usize,
    },
    /// The scene has no body.
    #[error("there is no body")]
    NoBody,
    /// The session has ended or never existed.
    #[error("there is no such session; load the page again")]
    UnknownSession,

    /// The scene, or a setting of it, cannot be used.
    #[error("{}", wording::scene_error(.0))]
    Scene(SceneError),
    /// An integrator or an option of it is unknown.
    #[error("{0}")]
    Integrator(String),
    /// A comparison could not be made.
    #[error("{0}")]
    Compare(String),

    /// The name of a file could lead to another folder.
    #[error("the name of a file may have letters, digits, \".\", \"-\" and \"_\"")]
    FileName,
    /// No page sent a file of this name.
    #[error("no file \"{0}\" was sent")]
    FileNotSent(String),
    /// The scene names a file that pages may not read.
    #[error("the lab has no file \"{0}\"; drop it on the page to use it")]
    FileNotAllowed(String),
    /// The file to be written is a symbolic link.
    #[error("a link cannot be written to")]
    FileIsLink,

    /// The session would have too many elements.
    #[error("{0} elements are more than the lab takes ({ELEMENTS}); use a coarser mesh, or `lilyan run`")]
    TooManyElements(usize),
    /// The panes have as many elements as a session may have.
    #[error("{ELEMENTS} elements are all that the lab takes")]
    ElementsFull,
    /// The scene is too large to be compared.
    #[error(
        "{0} elements are more than the lab compares ({COMPARE_ELEMENTS}); use a coarser mesh, or `lilyan compare`"
    )]
    TooManyToCompare(usize),
    /// The body is too large to be coarsened.
    #[error("{0} elements are more than the lab coarsens ({COARSEN_ELEMENTS}); use `lilyan coarsen`")]
    TooManyToCoarsen(usize),
    /// The number of tets of the coarse body is out of range.
    #[error("the coarse body may have 1 to {COARSE_TETS} tets")]
    CoarseTets,
    /// The number of modes is out of range.
    #[error("1 to 20 modes can be fitted")]
    CoarseModes,
    /// The number of integrators is out of range.
    #[error("choose one to twelve integrators")]
    CompareIntegrators,
    /// The steps are too many or out of range.
    #[error("give up to eight steps, each between 1e-9 and 1000 s")]
    CompareSteps,
    /// The simulated time is out of range.
    #[error("the simulated time has to be between 1e-6 and 100 s")]
    CompareEnd,
    /// The wall time of a run is out of range.
    #[error("the time for a run has to be between 0.1 and 60 s")]
    CompareBudget,
    /// There is no room for another pane; the field names what has to be done.
    #[error("{PANES} panes are all there is room for{0}")]
    PanesFull(&'static str),
    /// The only pane cannot be closed.
    #[error("the last pane stays")]
    LastPane,
    /// With the state the scene file would be too long.
    #[error(
        "with its state the scene has {bytes} bytes, more than a scene may have ({most}); save it without"
    )]
    SceneFileTooLong {
        /// Length of the text.
        bytes: usize,
        /// The largest length that is read.
        most: usize,
    },
    /// As many pages as possible are connected.
    #[error("{CLIENTS} pages are open already; close some")]
    TooManyPages,
    /// The files of a session are as large as they may be.
    #[error("the files of a session may have {} MiB together", SESSION_BYTES >> 20)]
    FilesFull,
    /// As many sessions as possible are open.
    #[error("{SESSIONS} sessions are open already; close some of their pages")]
    TooManySessions,

    /// The bodies of the new scene do not have as many unknowns as its model.
    #[error("the bodies do not fit the model")]
    BodiesDoNotFit,
    /// The current shape has infinite energy with the new settings.
    #[error(
        "the body is too deformed for these settings (an element would be inside out): reset, or \
         choose a material that survives inversion, stable-neo-hookean"
    )]
    TooDeformed,
    /// The vertices to be pushed have no mass.
    #[error("there is nothing to push")]
    NothingToPush,
    /// The vertices to be pushed are all held.
    #[error("all of it is held: free it first")]
    AllHeld,
    /// There is no change that can be undone.
    #[error("there is nothing to take back")]
    NothingToUndo,
    /// There is no pane that can be copied.
    #[error("there is nothing to copy")]
    NothingToCopy,
    /// No job is running.
    #[error("there is nothing to cancel")]
    NothingToCancel,

    /// This session already has a job.
    #[error("one thing at a time: wait until it is done, or cancel it")]
    JobRunning,
    /// Another session has the only job.
    #[error("the lab works on something for another page; try again when it is done")]
    JobElsewhere,
    /// The inbox of the session is full.
    #[error("too many messages at once; this one was not heard")]
    TooManyMessages,
    /// The inbox of the session is full, so that a page cannot join.
    #[error("the session is too busy; try again")]
    SessionBusy,

    /// The operating system refused something.
    #[error("{what}: {source}")]
    System {
        /// What was refused.
        what: &'static str,
        /// The reason.
        source: std::io::Error,
    },
}

impl LabError {
    /// An error of the operating system.
    pub fn system(what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::System { what, source }
    }

    /// The kind of the error. `PROTOCOL.md` lists the codes; they do not change when a text is improved.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NestedTooDeep(_)
            | Self::NotUnderstood(_)
            | Self::UnusableNumber
            | Self::OpenWithoutScene => "message",
            Self::UnknownScene(_)
            | Self::UnknownComparison { .. }
            | Self::UnknownPane { .. }
            | Self::UnknownVertex { .. }
            | Self::NoBody
            | Self::UnknownSession => "unknown",
            Self::Scene(_) | Self::Integrator(_) | Self::Compare(_) => "scene",
            Self::FileName | Self::FileNotSent(_) | Self::FileNotAllowed(_) | Self::FileIsLink => "file",
            Self::TooManyElements(_)
            | Self::ElementsFull
            | Self::TooManyToCompare(_)
            | Self::TooManyToCoarsen(_)
            | Self::CoarseTets
            | Self::CoarseModes
            | Self::CompareIntegrators
            | Self::CompareSteps
            | Self::CompareEnd
            | Self::CompareBudget
            | Self::PanesFull(_)
            | Self::LastPane
            | Self::SceneFileTooLong { .. }
            | Self::FilesFull
            | Self::TooManyPages
            | Self::TooManySessions => "limit",
            Self::BodiesDoNotFit
            | Self::TooDeformed
            | Self::NothingToPush
            | Self::AllHeld
            | Self::NothingToUndo
            | Self::NothingToCopy
            | Self::NothingToCancel => "state",
            Self::JobRunning | Self::JobElsewhere | Self::TooManyMessages | Self::SessionBusy => "busy",
            Self::System { .. } => "system",
        }
    }
}

impl From<SceneError> for LabError {
    fn from(error: SceneError) -> Self {
        Self::Scene(error)
    }
}

/// Why a simulation stops. The last sound state is restored before this is told.
#[derive(Debug, Error)]
pub enum StepFailure {
    /// A step failed, however short it was made. The text is the diagnosis.
    #[error("{0}")]
    StepFailed(String),
    /// The energy is not finite. The text is the diagnosis.
    #[error("{0}")]
    NotFinite(String),
    /// The integrator is unstable: the energy is more than physics allows.
    #[error("at t = {t:.4} s: {integrator} is unstable here: {growth}; {remedy}")]
    EnergyGained {
        /// Simulated time, s.
        t: f64,
        /// Name of the integrator.
        integrator: String,
        /// The energy, and what there is to explain it.
        growth: UnphysicalGrowth,
        /// What to do.
        remedy: String,
    },
    /// A vertex is very far away from the others.
    #[error("at t = {t:.4} s: the body has flown apart; {remedy}")]
    FlownApart {
        /// Simulated time, s.
        t: f64,
        /// What to do.
        remedy: String,
    },
}

impl StepFailure {
    /// The kind of the failure, as `PROTOCOL.md` lists them.
    pub fn code(&self) -> &'static str {
        match self {
            Self::StepFailed(_) => "step-failed",
            Self::NotFinite(_) => "not-finite",
            Self::EnergyGained { .. } => "energy-gained",
            Self::FlownApart { .. } => "flown-apart",
        }
    }
}
