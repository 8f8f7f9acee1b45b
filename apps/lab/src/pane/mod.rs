//! A pane: one running scene of a session. It holds the scene as data, the simulation that was built from it, and what
//! is drawn.

mod cut_steps;
mod description;
mod drawing;
mod edits;
mod energy;
mod frame;
mod grab;
mod mesh_change;
mod push;
mod remedies;
mod scene_file;
mod scene_size;
mod soundness;
mod step_limit;
mod step_times;
mod transfer;
mod watch;

pub use description::labels;
pub use energy::{PaneEnergy, PaneRoundOff};
pub use frame::{FrameContents, FrameTiming, frame, geometry};
pub use lilyan_scene::build::size::meshes;

use crate::error::{LabError, StepFailure};
use crate::limits::ELEMENTS;
use cut_steps::CutSteps;
use drawing::DrawnMesh;
use grab::Grab;
use lilyan_dynamics::{Checkpoint, Effort, StepRecord};
use lilyan_scene::build::{Built, build};
use lilyan_scene::document::{Node, SceneError, set_value};
use lilyan_scene::schema::Scene;
use lilyan_study::run::{self, GrowthLimit};
use step_limit::StepLimit;
use step_times::StepTimes;

/// A running scene.
pub struct Pane {
    /// The scene as data, with all changes.
    pub document: Node,
    /// Path of the scene file: mesh files are searched beside it, and messages name it.
    pub origin: String,
    /// The scene that the document describes.
    pub scene: Scene,
    /// The simulation.
    pub built: Built,
    /// What is drawn.
    pub drawn: DrawnMesh,
    /// A label that was given to it; otherwise one is made from its settings.
    pub label: Option<String>,
    /// How the last step went.
    last_step: StepRecord,
    /// How long the last steps took.
    step_times: StepTimes,
    /// The spring by which the user pulls.
    grab: Option<Grab>,
    /// The node whose numbers frames contain.
    watched: Option<u32>,
    /// Where the scene puts every node at t = 0, m; pins refer to it.
    start: Vec<f64>,
    /// The last sound state.
    sound: Checkpoint,
    /// What its energy may grow to.
    growth: GrowthLimit,
    /// What round-off can add to its energy and momenta.
    round_off: PaneRoundOff,
    /// How long its step may be.
    step_limit: StepLimit,
    /// The tolerances in force, for methods that can solve less accurately in real-time mode.
    effort: Option<Effort>,
    /// Steps on the way to its state that were cut short.
    cut_steps: CutSteps,
}

/// The scene of a document. The lab writes no output, so probes and `output` are left out: a probe must not forbid another
/// mesh, and `output` must not cause warnings.
pub fn scene_of(document: &Node, origin: &str) -> Result<Scene, SceneError> {
    let mut kept = document.clone();
    set_value(&mut kept, "probe", None)?;
    set_value(&mut kept, "output", None)?;
    Scene::from_document(kept, origin)
}

/// Number of elements of all panes together.
pub fn elements(panes: &[Pane]) -> usize {
    panes.iter().map(Pane::elements).sum()
}

impl Pane {
    /// Builds a scene. The other panes of the session have `others` elements.
    pub fn new(document: Node, origin: &str, others: usize) -> Result<Self, LabError> {
        let mut pane = Self::without_step_limit(document, origin, others)?;
        pane.find_step_limit();
        Ok(pane)
    }

    fn without_step_limit(document: Node, origin: &str, others: usize) -> Result<Self, LabError> {
        let scene = scene_of(&document, origin)?;
        scene_size::check(&scene)?;
        let built = build(&scene)?;
        let pane = Self {
            drawn: DrawnMesh::of(&built, false),
            start: built.simulation.system().start().to_vec(),
            watched: None,
            document,
            origin: origin.to_owned(),
            sound: built.simulation.checkpoint(),
            growth: GrowthLimit::new(&built),
            round_off: PaneRoundOff::of(&built),
            scene,
            built,
            label: None,
            last_step: StepRecord::default(),
            step_times: StepTimes::default(),
            grab: None,
            step_limit: StepLimit::default(),
            effort: None,
            cut_steps: CutSteps::default(),
        };
        let elements = pane.elements() + others;
        if elements > ELEMENTS {
            return Err(LabError::TooManyElements(elements));
        }
        Ok(pane)
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        let bodies = self.built.simulation.system().bodies();
        lilyan_solid::output::cells(bodies).iter().map(|block| block.len()).sum()
    }

    /// The scene with other settings, at the current state. Also tells which part of the state could not be transferred.
    pub fn changed(&self, document: Node, others: usize) -> Result<(Self, Option<String>), LabError> {
        let mut pane = Self::without_step_limit(document, &self.origin, others)?;
        let notice = transfer::transfer_state(self, &mut pane)?;
        pane.inherit_step_limit(self);
        pane.show_inside(self.drawn.inside);
        pane.watched = self.watched.filter(|_| pane.start.len() == self.start.len());
        pane.label.clone_from(&self.label);
        pane.cut_steps = self.cut_steps;
        pane.sound = pane.built.simulation.checkpoint();
        pane.growth = GrowthLimit::new(&pane.built);
        pane.round_off = PaneRoundOff::of(&pane.built);
        Ok((pane, notice))
    }

    /// Whether vertices inside of solids are drawn too. With and without them vertices have different numbers.
    pub fn show_inside(&mut self, inside: bool) {
        if self.drawn.inside != inside {
            self.release();
            self.drawn = DrawnMesh::of(&self.built, inside);
        }
    }

    /// A copy at the same state.
    pub fn copy(&self, others: usize) -> Result<Self, LabError> {
        Ok(self.changed(self.document.clone(), others)?.0)
    }

    /// Simulated time, s.
    pub fn time(&self) -> f64 {
        self.built.simulation.state().t
    }

    /// Nominal step, s.
    pub fn step(&self) -> f64 {
        self.built.simulation.step()
    }

    /// A length that characterises the bodies, m.
    pub fn size(&self) -> f64 {
        lilyan_dynamics::System::length(self.built.simulation.system())
    }

    /// How accurately steps are solved: 1 is what the scene asks for, 0 is the least.
    pub fn set_effort(&mut self, effort: f64) {
        self.effort = self.built.simulation.set_effort(effort);
    }

    /// Makes one step. If it fails, the last sound state is restored and the reason is returned.
    pub fn advance(&mut self) -> Result<(), StepFailure> {
        let began = std::time::Instant::now();
        match self.built.simulation.advance() {
            Ok(record) => self.last_step = record,
            Err(error) => {
                let diagnosis = run::diagnosis::failed_step(&self.scene, &self.built, &error);
                return Err(self.restore_after(StepFailure::StepFailed(diagnosis)));
            }
        }
        self.cut_steps.count(self.last_step.stats.shortfall);
        self.step_times.add(began.elapsed().as_secs_f64());
        Ok(())
    }

    /// Restores the last sound state. Returns the failure, with the reason if that state cannot be restored.
    fn restore_after(&mut self, failure: StepFailure) -> StepFailure {
        match self.built.simulation.restore(&self.sound) {
            Ok(()) => failure,
            Err(error) => StepFailure::StepFailed(format!("{failure}; {error}")),
        }
    }
}
