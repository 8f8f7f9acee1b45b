//! Records a run: energies, momenta, probes, frames, and counters.

use super::forces::{self, StepStart};
use super::shown::ShownMeshes;
use super::{constraints, fields};
use lilyan_dynamics::StepRecord;
use lilyan_files::atomic::WriteError;
use lilyan_files::csv::Table;
use lilyan_mesh_io::writers::pvd::Collection;
use lilyan_mesh_io::writers::vtu::{Frame, display_name, frame_name};
use lilyan_report::Replay;
use lilyan_scene::build::Built;
use lilyan_scene::schema::{ContactSpec, Scene};
use lilyan_solid::contact::ObstacleShape;
use lilyan_solid::mesh::{CellBlock, CellKind};
use lilyan_solid::output;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Columns of `energy.csv`; those of constraints follow.
pub const ENERGY_COLUMNS: [&str; 19] = [
    "t",
    "kinetic",
    "elastic",
    "gravity",
    "other",
    "total",
    "work_external",
    "dissipated_physical",
    "dissipated_numerical",
    "px",
    "py",
    "pz",
    "lx",
    "ly",
    "lz",
    "step",
    "newton_iterations",
    "step_size",
    "discrete",
];

/// The last column of `energy.csv` where contacts have friction: the part of `dissipated_physical` that is friction.
const FRICTION: &str = "dissipated_friction";

fn has_friction(built: &Built) -> bool {
    built.simulation.system().potentials().iter().any(|p| p.role().friction.is_some())
}

/// Counters of a run, which are part of its checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Newton iterations of all steps.
    pub newton: f64,
    /// Iterations on linear systems in all of them.
    pub krylov: f64,
    /// Systems that were solved with a multigrid method.
    pub multigrid: f64,
    /// Steps that were halved.
    pub halved: f64,
    /// Wall time, s.
    pub wall: f64,
    /// Largest |P − P₀| and Σ|p| seen.
    pub linear: [f64; 2],
    /// Largest |L − L₀| and Σ|r×p| seen.
    pub angular: [f64; 2],
}

/// The record of a run.
pub struct Recorder {
    /// Lines of `energy.csv`.
    pub energy: Table,
    /// Lines of `probes.csv`.
    pub probes: Table,
    /// Lines of `forces.csv`, which has columns beside t only if it is wanted.
    pub forces: Table,
    /// Frames written.
    pub frames: u64,
    /// Counters.
    pub counters: Counters,
    /// The surface in motion.
    pub replay: Option<Replay>,
    directory: PathBuf,
    collection: Collection,
    /// Frames of the display meshes.
    display_collection: Collection,
    momenta: ([f64; 3], [f64; 3]),
    /// The state before the step of the next line.
    before: StepStart,
    /// The fine meshes that were shown.
    pub(super) shown: ShownMeshes,
}

impl Recorder {
    /// For a run into `directory`, starting from the built scene.
    pub fn new(scene: &Scene, built: &Built, directory: &Path) -> Self {
        let mut columns = vec!["t".to_string()];
        for probe in &built.probes {
            columns.extend(["x", "y", "z"].map(|axis| format!("{}_{axis}", probe.name)));
        }
        let energy = ENERGY_COLUMNS.iter().map(|c| c.to_string()).chain(constraints::columns(built));
        let forces = if scene.output.forces { forces::columns(built) } else { Vec::new() };
        let mut before = StepStart::default();
        before.note(built.simulation.state());
        let energy = energy.chain(has_friction(built).then(|| FRICTION.to_string()));
        Self {
            energy: Table::new(energy),
            probes: Table::new(columns),
            forces: Table::new(std::iter::once("t".to_string()).chain(forces)),
            frames: 0,
            counters: Counters::default(),
            replay: scene.output.replay.then(|| replay(scene, built)),
            directory: directory.to_path_buf(),
            collection: Collection::new(directory.join("frames.pvd")),
            display_collection: Collection::new(directory.join("display.pvd")),
            momenta: built.simulation.state().momenta([0.0; 3]),
            before,
            shown: ShownMeshes::default(),
        }
    }

    /// Notes where the step begins that ends at the next line, for its discrete energy and its forces.
    pub fn begin_step(&mut self, built: &Built) {
        self.before.note(built.simulation.state());
    }

    /// Adds a line to `energy.csv`, `probes.csv` and `forces.csv` for the current state. Returns `false` and adds nothing if the
    /// energy is not finite.
    pub fn add_line(&mut self, built: &Built, record: &StepRecord) -> bool {
        let simulation = &built.simulation;
        let state = simulation.state();
        let (kinetic, parts) = simulation.energies();
        let total = kinetic + parts.total();
        if !total.is_finite() {
            return false;
        }
        let (p, l) = state.momenta([0.0; 3]);
        let ledger = simulation.ledger();
        let mut row = vec![
            state.t,
            kinetic,
            parts.elastic,
            parts.gravity,
            parts.other,
            total,
            ledger.work_external,
            ledger.dissipated_physical,
            ledger.dissipated_numerical(total),
            p[0],
            p[1],
            p[2],
            l[0],
            l[1],
            l[2],
            simulation.index() as f64,
            record.stats.newton_iterations as f64,
            if record.substeps == 0 {
                simulation.step()
            } else {
                record.advanced / f64::from(record.substeps)
            },
            simulation.discrete_energy(self.before.t, &self.before.q),
        ];
        row.extend(constraints::row(built));
        row.extend(has_friction(built).then_some(ledger.dissipated_friction));
        self.energy.push(&row);
        let norm = |x: [f64; 3]| (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt();
        let apart = |a: [f64; 3], b: [f64; 3]| norm([a[0] - b[0], a[1] - b[1], a[2] - b[2]]);
        let (mut moving, mut turning) = (0.0, 0.0);
        for (x, p) in state.q.chunks_exact(3).zip(state.p.chunks_exact(3)) {
            let p = [p[0], p[1], p[2]];
            moving += norm(p);
            turning += norm([x[0], x[1], x[2]]) * norm(p);
        }
        let c = &mut self.counters;
        c.linear = [c.linear[0].max(apart(p, self.momenta.0)), c.linear[1].max(moving)];
        c.angular = [c.angular[0].max(apart(l, self.momenta.1)), c.angular[1].max(turning)];
        if !built.probes.is_empty() {
            let places = built.probes.iter().flat_map(|probe| probe.place(&state.q));
            self.probes.push(&std::iter::once(state.t).chain(places).collect::<Vec<f64>>());
        }
        if self.forces.columns().len() > 1 {
            let forces = forces::row(built, &self.before);
            self.forces.push(&std::iter::once(state.t).chain(forces).collect::<Vec<f64>>());
        }
        true
    }

    /// Writes a frame of the current state.
    pub fn write_frame(&mut self, scene: &Scene, built: &Built) -> Result<(), WriteError> {
        let state = built.simulation.state();
        let name = frame_name(self.frames as usize);
        fields::write_state(built, &scene.output.fields, Some(state.t), &self.directory.join(&name))?;
        self.collection.add(state.t, name)?;
        self.write_display_frame(built)?;
        self.frames += 1;
        self.add_to_replay(built, state.t, &state.q);
        Ok(())
    }

    /// Writes a frame of the display meshes, if there are some.
    fn write_display_frame(&mut self, built: &Built) -> Result<(), WriteError> {
        let (mut positions, mut tets, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
        let state = built.simulation.state();
        for body in &built.bodies {
            let Some(shown) = &body.shown else { continue };
            let first = positions.len() as u32 / 3;
            let places = shown.map.place(body.dofs.part(&state.q));
            self.shown.note(body, state.t, &state.q, &places);
            positions.extend(places);
            tets.extend(shown.tets.iter().map(|t| t.map(|v| v + first)));
            triangles.extend(shown.triangles.iter().map(|t| t.map(|v| v + first)));
        }
        if positions.is_empty() {
            return Ok(());
        }
        let name = display_name(self.frames as usize);
        Frame {
            time: Some(state.t),
            positions: &positions,
            blocks: &[CellBlock::from(tets), CellBlock::from(triangles)],
            point_fields: Vec::new(),
            cell_fields: Vec::new(),
        }
        .write(self.directory.join(&name))?;
        self.display_collection.add(state.t, name)
    }

    /// Adds positions to the replay.
    pub(super) fn add_to_replay(&mut self, built: &Built, t: f64, q: &[f64]) {
        if let Some(replay) = &mut self.replay {
            let stress = fields::to_vertices(built, &fields::von_mises(built, q));
            replay.push(t, q, &[&stress]);
        }
    }

    /// Times of the frames written, s.
    pub(super) fn frame_times(&self) -> Vec<f64> {
        self.collection.frames().iter().map(|(t, _)| *t).collect()
    }

    /// Takes over the frames that an earlier run wrote at these times.
    pub(super) fn adopt_frames(&mut self, built: &Built, times: &[f64]) {
        for (k, &t) in times.iter().enumerate() {
            let name = frame_name(k);
            self.collection.push(t, name.clone());
            self.display_collection.push(t, display_name(k));
            // The report's replay and the check of what is shown need the positions; a frame that cannot be read is left out.
            if let Ok(vertices) = lilyan_mesh_io::readers::read_vertices(&self.directory.join(&name)) {
                let q: Vec<f64> = vertices.concat();
                if q.len() == built.simulation.state().q.len() {
                    for body in &built.bodies {
                        let places = body.shown.as_ref().map(|s| s.map.place(body.dofs.part(&q)));
                        self.shown.note(body, t, &q, &places.unwrap_or_default());
                    }
                    self.add_to_replay(built, t, &q);
                }
            }
        }
        self.frames = times.len() as u64;
    }

    /// Writes the tables, and the collections of frames with all of their frames.
    pub fn write_tables(&mut self) -> Result<(), WriteError> {
        self.collection.write()?;
        self.display_collection.write()?;
        self.energy.write(self.directory.join("energy.csv"))?;
        if self.probes.columns().len() > 1 {
            self.probes.write(self.directory.join("probes.csv"))?;
        }
        if self.forces.columns().len() > 1 {
            self.forces.write(self.directory.join("forces.csv"))?;
        }
        Ok(())
    }
}

/// The geometry of the bodies that pictures show, in global nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawnGeometry {
    /// Surfaces, outward.
    pub triangles: Vec<[u32; 3]>,
    /// Springs of bodies without a surface.
    pub lines: Vec<[u32; 2]>,
    /// Nodes that are held at some time.
    pub pinned: Vec<u32>,
}

impl DrawnGeometry {
    /// Of these bodies.
    pub fn of(built: &Built) -> Self {
        let mut drawn = Self::default();
        let model = built.simulation.system();
        for body in &built.bodies {
            let surface = &body.nodes().surface().triangles;
            drawn.triangles.extend(surface.iter().map(|t| body.dofs.globals(*t)));
            if surface.is_empty() {
                drawn.lines.extend(lines(model.bodies()).filter(|ends| body.dofs.contains(ends[0])));
            }
        }
        drawn.pinned = model.pins().iter().flat_map(|p| p.nodes.iter().copied()).collect();
        drawn
    }
}

/// The line cells of bodies: springs.
fn lines(bodies: &[lilyan_solid::Body]) -> impl Iterator<Item = [u32; 2]> {
    let blocks = output::cells(bodies).into_iter().filter(|block| block.kind == CellKind::Line);
    blocks.flat_map(|block| block.nodes.as_chunks().0.to_vec())
}

/// An empty replay of a scene, which shows its pins, ground and spheres. Its frames have the von Mises stress (Pa).
pub fn replay(scene: &Scene, built: &Built) -> Replay {
    let DrawnGeometry { triangles, lines, pinned } = DrawnGeometry::of(built);
    let mut replay = Replay::new(&built.simulation.state().q, &triangles, &lines)
        .with_field("von Mises stress", "Pa")
        .with_pinned(&pinned);
    let mut grounded = false;
    // The picture has no moving obstacles.
    let still = scene.contacts.iter().filter(|contact| contact.motion.is_none());
    for obstacle in still.filter_map(ContactSpec::obstacle) {
        replay = match obstacle {
            ObstacleShape::Plane { point, normal } if !std::mem::replace(&mut grounded, true) => {
                replay.with_ground(point, normal).with_up(normal)
            }
            ObstacleShape::Plane { .. } => replay,
            ObstacleShape::Sphere { center, radius, .. } => replay.with_sphere(center, radius),
        };
    }
    replay
}
