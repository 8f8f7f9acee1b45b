//! What a run writes down on its way: energies, momenta, probes, frames, and how it went.

use super::{constraints, fields};
use crate::build::Built;
use crate::report::Replay;
use crate::schema::{ContactKind, Scene};
use crate::writers::atomic::WriteError;
use crate::writers::csv::Table;
use crate::writers::pvd::Collection;
use crate::writers::vtu::{Cells, Field, Frame, display_name, frame_name};
use lilyan_dynamics::StepRecord;
use std::path::{Path, PathBuf};

/// Columns of `energy.csv`; those of constraints follow.
pub const ENERGY_COLUMNS: [&str; 18] = [
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
];

/// Counters that a checkpoint carries along.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    /// Newton iterations of all steps.
    pub newton: f64,
    /// Iterations on linear systems in all of them.
    pub krylov: f64,
    /// Systems that were solved with a multigrid method.
    pub multigrid: f64,
    /// Steps that were cut into parts.
    pub halved: f64,
    /// Wall time, s.
    pub wall: f64,
    /// Largest |P − P₀| and Σ|p| seen.
    pub linear: [f64; 2],
    /// Largest |L − L₀| and Σ|r×p| seen.
    pub angular: [f64; 2],
}

impl Counters {
    pub(super) fn to_vec(self) -> Vec<f64> {
        let Self { newton, krylov, multigrid, halved, wall, linear, angular } = self;
        vec![newton, krylov, multigrid, halved, wall, linear[0], linear[1], angular[0], angular[1]]
    }

    pub(super) fn from_slice(v: &[f64]) -> Option<Self> {
        let &[newton, krylov, multigrid, halved, wall, a, b, c, d] = v else { return None };
        Some(Self { newton, krylov, multigrid, halved, wall, linear: [a, b], angular: [c, d] })
    }
}

/// The record of a run.
pub struct Recorder {
    /// Lines of `energy.csv`.
    pub energy: Table,
    /// Lines of `probes.csv`.
    pub probes: Table,
    /// Frames written.
    pub frames: u64,
    /// How it went.
    pub counters: Counters,
    /// The surface in motion.
    pub replay: Option<Replay>,
    directory: PathBuf,
    collection: Collection,
    /// Frames of what bodies carry along.
    shown: Collection,
    momenta: ([f64; 3], [f64; 3]),
}

impl Recorder {
    /// For a run into `directory`, starting from the built scene.
    pub fn new(scene: &Scene, built: &Built, directory: &Path) -> Self {
        let mut columns = vec!["t".to_string()];
        for probe in &built.probes {
            columns.extend(["x", "y", "z"].map(|axis| format!("{}_{axis}", probe.name)));
        }
        let energy = ENERGY_COLUMNS.iter().map(|c| c.to_string()).chain(constraints::columns(built));
        Self {
            energy: Table::new(energy),
            probes: Table::new(columns),
            frames: 0,
            counters: Counters::default(),
            replay: scene.output.replay.then(|| replay(scene, built)),
            directory: directory.to_path_buf(),
            collection: Collection::new(directory.join("frames.pvd")),
            shown: Collection::new(directory.join("display.pvd")),
            momenta: built.simulation.state.momenta([0.0; 3]),
        }
    }

    /// A line of `energy.csv` and of `probes.csv` for the current state; none, and `false`, if its energy
    /// is not finite.
    pub fn line(&mut self, built: &Built, record: &StepRecord) -> bool {
        let simulation = &built.simulation;
        let state = &simulation.state;
        let (kinetic, parts) = simulation.energies();
        let total = kinetic + parts.total();
        if !total.is_finite() {
            return false;
        }
        let (p, l) = state.momenta([0.0; 3]);
        let ledger = &simulation.ledger;
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
            simulation.index as f64,
            record.integrating.newton_iterations as f64,
            if record.parts == 0 { simulation.step } else { record.advanced / f64::from(record.parts) },
        ];
        row.extend(constraints::row(built));
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
        true
    }

    /// A frame of the current state.
    pub fn frame(&mut self, scene: &Scene, built: &Built) -> Result<(), WriteError> {
        let state = &built.simulation.state;
        let cells = Cells::of(built.simulation.system.bodies());
        let fields = fields::compute(built, &scene.output.fields);
        let pick = |per_vertex: bool| {
            let chosen = fields.iter().filter(|f| f.per_vertex == per_vertex);
            chosen
                .map(|f| Field { name: f.name, components: f.components, values: &f.values })
                .collect::<Vec<_>>()
        };
        let name = frame_name(self.frames as usize);
        Frame {
            time: Some(state.t),
            positions: &state.q,
            tets: &cells.tets,
            triangles: &cells.triangles,
            lines: &cells.lines,
            point_fields: pick(true),
            cell_fields: pick(false),
        }
        .write(self.directory.join(&name))?;
        self.collection.add(state.t, name)?;
        self.display(built)?;
        self.frames += 1;
        self.show(built, state.t, &state.q);
        Ok(())
    }

    /// A frame of what bodies carry along, if they do.
    fn display(&mut self, built: &Built) -> Result<(), WriteError> {
        let (mut positions, mut tets, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
        let state = &built.simulation.state;
        for body in &built.bodies {
            let Some(shown) = &body.shown else { continue };
            let first = positions.len() as u32 / 3;
            let nodes = 3 * body.first_node..3 * (body.first_node + body.mesh.vertices.len());
            positions.extend(shown.map.place(&state.q[nodes]));
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
            tets: &tets,
            triangles: &triangles,
            lines: &[],
            point_fields: Vec::new(),
            cell_fields: Vec::new(),
        }
        .write(self.directory.join(&name))?;
        self.shown.add(state.t, name)
    }

    /// Adds positions to the replay.
    pub(super) fn show(&mut self, built: &Built, t: f64, q: &[f64]) {
        if let Some(replay) = &mut self.replay {
            let stress = fields::to_vertices(built, &fields::von_mises(built, q));
            replay.push(t, q, &[&stress]);
        }
    }

    /// Times of the frames written, s.
    pub(super) fn frame_times(&self) -> Vec<f64> {
        self.collection.frames().iter().map(|(t, _)| *t).collect()
    }

    /// Takes up frames that an earlier run wrote, at these times.
    pub(super) fn adopt_frames(&mut self, built: &Built, times: &[f64]) {
        for (k, &t) in times.iter().enumerate() {
            let name = frame_name(k);
            self.collection.push(t, name.clone());
            self.shown.push(t, display_name(k));
            // Only the report's replay needs the positions; a frame that cannot be read is left out.
            if let Ok(vertices) = crate::readers::read_vertices(&self.directory.join(&name)) {
                let q: Vec<f64> = vertices.concat();
                if q.len() == built.simulation.state.q.len() {
                    self.show(built, t, &q);
                }
            }
        }
        self.frames = times.len() as u64;
    }

    /// Writes the tables.
    pub fn write_tables(&self) -> Result<(), WriteError> {
        self.energy.write(self.directory.join("energy.csv"))?;
        if self.probes.columns().len() > 1 {
            self.probes.write(self.directory.join("probes.csv"))?;
        }
        Ok(())
    }
}

/// What pictures show of the bodies, in global nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// Surfaces, outward.
    pub triangles: Vec<[u32; 3]>,
    /// Springs of bodies without a surface.
    pub lines: Vec<[u32; 2]>,
    /// Nodes that are held at some time.
    pub pinned: Vec<u32>,
}

impl Drawn {
    /// Of these bodies.
    pub fn of(built: &Built) -> Self {
        let mut drawn = Self::default();
        let model = &built.simulation.system;
        for body in &built.bodies {
            let shift = |v: u32| v + body.first_node as u32;
            drawn.triangles.extend(body.surface.triangles.iter().map(|t| t.map(shift)));
            if body.surface.triangles.is_empty() {
                let springs = model.bodies().iter().flat_map(|b| b.springs.list());
                drawn.lines.extend(springs.map(|s| s.ends).filter(|ends| body.has(ends[0])));
            }
        }
        drawn.pinned = model.pins().iter().flat_map(|p| p.nodes.iter().copied()).collect();
        drawn
    }
}

fn replay(scene: &Scene, built: &Built) -> Replay {
    let Drawn { triangles, lines, pinned } = Drawn::of(built);
    let mut replay = Replay::new(&built.simulation.state.q, &triangles, &lines)
        .with_field("von Mises stress", "Pa")
        .with_pinned(&pinned);
    let mut grounded = false;
    for contact in &scene.contacts {
        replay = match contact.kind {
            ContactKind::Plane { point, normal } if !std::mem::replace(&mut grounded, true) => {
                replay.with_ground(point, normal).with_up(normal)
            }
            ContactKind::Sphere { center, radius, .. } => replay.with_sphere(center, radius),
            _ => replay,
        };
    }
    replay
}
