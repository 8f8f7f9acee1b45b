//! One simulation of a session: its scene as data, what was built from it, and what is drawn of it.

use super::clock::Costs;
use super::realtime::Cuts;
use super::stability::Judgement;
use super::touch::Grab;
use super::{ELEMENTS, carry, size, words};
use lilyan_dynamics::{Checkpoint, Effort, StepRecord};
use lilyan_scene::build::{Built, build};
use lilyan_scene::document::{Node, SceneError, set_value};
use lilyan_scene::run::{self, Drawn};
use lilyan_scene::schema::{ContactKind, Scene};
use serde_json::{Value, json};

/// Bounds of the body may grow to so many times what they were before that is called an explosion.
const EXPLODED: f64 = 1e3;

/// A running scene.
pub struct Pane {
    /// The scene as data, changes included.
    pub document: Node,
    /// Where its mesh files are looked for, and its name in messages.
    pub origin: String,
    /// The scene.
    pub scene: Scene,
    /// What moves.
    pub built: Built,
    /// What is drawn.
    pub view: View,
    /// What tells it from its neighbours, if that was said.
    pub label: Option<String>,
    /// How the last step went.
    pub last: StepRecord,
    /// How long steps take.
    pub costs: Costs,
    /// What pulls at it.
    pub grab: Option<Grab>,
    /// The last state that was sound.
    pub good: Checkpoint,
    /// How long its step may be.
    pub judgement: Judgement,
    /// What its steps do, if there is anything in them that could be cut.
    pub effort: Option<Effort>,
    /// What was cut on the way to its state.
    pub cuts: Cuts,
}

/// The vertices that pictures show, and what joins them.
pub struct View {
    /// Global node of each.
    pub nodes: Vec<u32>,
    /// Corners, in numbers of `nodes`.
    pub triangles: Vec<u32>,
    /// Ends, in numbers of `nodes`.
    pub lines: Vec<u32>,
    /// Those that belong to neither.
    pub points: Vec<u32>,
    /// Held ones.
    pub pinned: Vec<u32>,
    /// Name, first vertex and number of vertices of each body.
    pub bodies: Vec<(String, usize, usize)>,
}

impl View {
    fn of(built: &Built) -> Self {
        let drawn = Drawn::of(built);
        let count = built.simulation.system.node_masses().len();
        let mut used = vec![false; count];
        let mut mark = |node: u32| {
            if let Some(u) = used.get_mut(node as usize) {
                *u = true;
            }
        };
        drawn.triangles.iter().flatten().for_each(|n| mark(*n));
        drawn.lines.iter().flatten().for_each(|n| mark(*n));
        // Bodies of points alone have nothing else to show.
        let loose = |body: &&lilyan_scene::build::BuiltBody| {
            body.mesh.tets.is_empty() && body.surface.triangles.is_empty()
        };
        let points = built
            .bodies
            .iter()
            .filter(loose)
            .flat_map(|b| b.first_node..b.first_node + b.mesh.vertices.len());
        let points: Vec<u32> =
            points.map(|n| n as u32).filter(|n| used.get(*n as usize) == Some(&false)).collect();
        points.iter().for_each(|n| {
            if let Some(u) = used.get_mut(*n as usize) {
                *u = true;
            }
        });
        let nodes: Vec<u32> = (0u32..).zip(&used).filter(|(_, used)| **used).map(|(n, _)| n).collect();
        let number = |node: &u32| nodes.binary_search(node).ok().map(|i| i as u32);
        let bodies = built.bodies.iter().map(|body| {
            let at = |node: usize| nodes.partition_point(|n| (*n as usize) < node);
            let (first, end) = (at(body.first_node), at(body.first_node + body.mesh.vertices.len()));
            (body.name.clone(), first, end - first)
        });
        Self {
            triangles: drawn.triangles.iter().flatten().filter_map(number).collect(),
            lines: drawn.lines.iter().flatten().filter_map(number).collect(),
            points: points.iter().filter_map(number).collect(),
            pinned: drawn.pinned.iter().filter_map(number).collect(),
            bodies: bodies.collect(),
            nodes,
        }
    }
}

/// The scene of a document. Nothing is written in the lab, so nothing is followed and there are no frames: a probe must not
/// stand in the way of another mesh, nor `output` give cause for remarks.
pub fn scene_of(document: &Node, origin: &str) -> Result<Scene, SceneError> {
    let mut kept = document.clone();
    set_value(&mut kept, "probe", None)?;
    set_value(&mut kept, "output", None)?;
    Scene::from_document(kept, origin)
}

impl Pane {
    /// Builds a scene; `others` elements are simulated elsewhere in the session.
    pub fn new(document: Node, origin: &str, others: usize) -> Result<Self, String> {
        let mut pane = Self::unjudged(document, origin, others)?;
        pane.judge();
        Ok(pane)
    }

    fn unjudged(document: Node, origin: &str, others: usize) -> Result<Self, String> {
        let scene = scene_of(&document, origin).map_err(|e| words::of(&e))?;
        size::check(&scene)?;
        let built = build(&scene).map_err(|e| words::of(&e))?;
        let pane = Self {
            view: View::of(&built),
            document,
            origin: origin.to_owned(),
            good: built.simulation.checkpoint(),
            scene,
            built,
            label: None,
            last: StepRecord::default(),
            costs: Costs::default(),
            grab: None,
            judgement: Judgement::default(),
            effort: None,
            cuts: Cuts::default(),
        };
        let elements = pane.elements() + others;
        if elements > ELEMENTS {
            return Err(size::too_many(elements));
        }
        Ok(pane)
    }

    /// How many elements it has.
    pub fn elements(&self) -> usize {
        let bodies = self.built.simulation.system.bodies();
        bodies.iter().map(|b| b.tets.len() + b.springs.list().len() + b.membrane.list().len()).sum()
    }

    /// The same scene with other settings, where this one is. Also says what could not be carried over.
    pub fn changed(&self, document: Node, others: usize) -> Result<(Self, Option<String>), String> {
        let mut pane = Self::unjudged(document, &self.origin, others)?;
        let notice = carry::over(self, &mut pane)?;
        pane.judge_later(self);
        pane.label.clone_from(&self.label);
        pane.cuts = self.cuts;
        pane.good = pane.built.simulation.checkpoint();
        Ok((pane, notice))
    }

    /// A copy at the same state.
    pub fn copy(&self, others: usize) -> Result<Self, String> {
        Ok(self.changed(self.document.clone(), others)?.0)
    }

    /// Simulated time, s.
    pub fn time(&self) -> f64 {
        self.built.simulation.state.t
    }

    /// How much of what the scene asks for its steps are to do, from 0 to 1.
    pub fn set_effort(&mut self, effort: f64) {
        self.effort = self.built.simulation.integrator.set_effort(effort);
    }

    /// One step. Where it fails, or the body explodes, the last good state is back and the reason is returned.
    pub fn advance(&mut self) -> Result<(), String> {
        let began = std::time::Instant::now();
        match self.built.simulation.advance() {
            Ok(record) => self.last = record,
            Err(error) => {
                let why = run::diagnosis(&self.scene, &self.built, &error);
                self.restore();
                return Err(why);
            }
        }
        self.cuts.count(self.last.integrating.shortfall);
        self.costs.add(began.elapsed().as_secs_f64());
        Ok(())
    }

    /// Keeps the state if it is sound; otherwise goes back to the last one that was, and tells why.
    pub fn approve(&mut self) -> Result<(), String> {
        match self.unsound() {
            None => {
                // The first steps of an explosion look sound, but nothing can go on from there.
                if self.made() <= 0.1 {
                    self.good = self.built.simulation.checkpoint();
                }
                Ok(())
            }
            Some(why) => {
                self.restore();
                Err(why)
            }
        }
    }

    /// Energy that the integrator made out of nothing, as a part of what moves the body.
    fn made(&self) -> f64 {
        let simulation = &self.built.simulation;
        let (kinetic, parts) = simulation.energies();
        let made = -simulation.ledger.dissipated_numerical(kinetic + parts.total());
        let lively = kinetic + parts.elastic.abs() + parts.other.abs();
        if lively > 0.0 { made / lively } else { 0.0 }
    }

    /// What is wrong with the state, if anything.
    fn unsound(&self) -> Option<String> {
        let simulation = &self.built.simulation;
        let (kinetic, parts) = simulation.energies();
        let total = kinetic + parts.total();
        if !total.is_finite() {
            return Some(run::blown_up(&self.scene, &self.built));
        }
        let (t, step, name) = (simulation.state.t, simulation.step, &self.scene.integrator.name);
        let remedy = match self.judgement.limit.filter(|limit| step > *limit) {
            Some(limit) => {
                format!("the step of {step:.2e} s is longer than {limit:.2e} s, up to which {name} is stable")
            }
            None => "try a shorter step of time, or an implicit integrator".into(),
        };
        if simulation.integrator.claims().explicit && self.made() > 0.5 {
            let made = -simulation.ledger.dissipated_numerical(total);
            return Some(format!(
                "at t = {t:.4} s: {name} has made {made:.3} J out of nothing, most of what moves the body; {remedy}"
            ));
        }
        let (far, middle) = (EXPLODED * self.size(), self.middle());
        let near = |x: &[f64]| x.iter().zip(middle).all(|(x, m)| (x - m).abs() < far);
        let whole = simulation.state.q.chunks_exact(3).all(near);
        (!whole).then(|| format!("at t = {t:.4} s: the body has flown apart; {remedy}"))
    }

    /// The mean position, m.
    fn middle(&self) -> [f64; 3] {
        let q = &self.built.simulation.state.q;
        let count = (q.len() / 3).max(1) as f64;
        q.chunks_exact(3).fold([0.0; 3], |m, x| {
            let mut sum = m;
            sum.iter_mut().zip(x).for_each(|(s, x)| *s += x / count);
            sum
        })
    }

    fn restore(&mut self) {
        self.built.simulation.restore(&self.good);
    }

    /// A length that characterises what moves, m.
    pub fn size(&self) -> f64 {
        lilyan_dynamics::System::length(&self.built.simulation.system)
    }

    /// Everything that `panes` tells of it; `label` is what tells it from the others.
    pub fn describe(&self, label: &str) -> Value {
        let claims = self.built.simulation.integrator.claims();
        let conserved = &self.built.conserved;
        let step = self.scene.time.step;
        let stability = self.judgement.limit.map(|limit| {
            let text = match step / limit {
                share if share > 1.0 => format!(
                    "a step of {step:.2e} s is above the limit of {limit:.2e} s: the motion will explode; \
                     shorten the step or take an implicit integrator"
                ),
                share if share > 0.8 => format!(
                    "a step of {step:.2e} s is close to the limit of {limit:.2e} s; large deformation may \
                     take it over: a shorter step is safer"
                ),
                _ => format!("stable up to a step of {limit:.2e} s at rest"),
            };
            json!({ "limit": limit, "share": step / limit, "text": text })
        });
        json!({
            "title": self.scene.title,
            "label": label,
            "scene": self.document.to_json(),
            "integrator": self.scene.integrator.name,
            "step": step,
            "elements": self.elements(),
            "vertices": self.built.simulation.system.node_masses().len(),
            "conserved": { "energy": conserved.energy, "linear": conserved.linear, "angular": conserved.angular },
            "keeps": {
                "energy": claims.energy,
                "linear": claims.linear_momentum,
                "angular": claims.angular_momentum,
                "bounded": claims.bounds_energy(),
            },
            "stability": stability,
            "warnings": self.built.warnings.iter().chain(&self.judgement.remarks).collect::<Vec<_>>(),
            "notes": self.built.notes,
        })
    }

    /// Direction against gravity, or the normal of a floor, or y.
    pub fn up(&self) -> [f64; 3] {
        let gravity = self.scene.environment.gravity.as_ref();
        let g = gravity.map(|g| g.each_ref().map(|q| q.constant().unwrap_or(0.0))).unwrap_or_default();
        let norm = g.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm > 0.0 {
            return g.map(|x| -x / norm);
        }
        let floor = self.scene.contacts.iter().find_map(|c| match c.kind {
            ContactKind::Plane { normal, .. } => Some(normal),
            _ => None,
        });
        floor.unwrap_or([0.0, 1.0, 0.0])
    }

    /// Planes and spheres in the way.
    pub fn obstacles(&self) -> Vec<Value> {
        let tell = |c: &lilyan_scene::schema::ContactSpec| match c.kind {
            ContactKind::Plane { point, normal } => {
                Some(json!({ "kind": "plane", "point": point, "normal": normal }))
            }
            ContactKind::Sphere { center, radius, inside } => {
                Some(json!({ "kind": "sphere", "center": center, "radius": radius, "inside": inside }))
            }
            _ => None,
        };
        self.scene.contacts.iter().filter_map(tell).collect()
    }
}

/// What tells the panes apart, in a few words each.
pub fn labels(panes: &[Pane]) -> Vec<String> {
    let text = |pane: &Pane, path: &[&str]| {
        let mut value = &pane.document.to_json();
        for key in path {
            value = match key.parse::<usize>() {
                Ok(index) => value.get(index).unwrap_or(&Value::Null),
                Err(_) => value.get(*key).unwrap_or(&Value::Null),
            };
        }
        match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    };
    const LOOK: [(&str, &[&str]); 6] = [
        ("", &["integrator", "name"]),
        ("h = ", &["time", "step"]),
        ("", &["body", "0", "material", "model"]),
        ("E = ", &["body", "0", "material", "E"]),
        ("ν = ", &["body", "0", "material", "nu"]),
        ("mesh ", &["body", "0", "mesh"]),
    ];
    let differ: Vec<_> = LOOK
        .iter()
        .filter(|(_, path)| {
            let first = panes.first().map(|p| text(p, path));
            panes.iter().any(|p| Some(text(p, path)) != first)
        })
        .collect();
    let label = |pane: &Pane| {
        if let Some(label) = &pane.label {
            return label.clone();
        }
        let mut parts: Vec<String> = differ
            .iter()
            .map(|(head, path)| format!("{head}{}", text(pane, path)))
            .filter(|p| !p.is_empty())
            .collect();
        if parts.is_empty() {
            parts = vec![pane.scene.integrator.name.clone(), format!("h = {} s", pane.scene.time.step)];
        }
        parts.join(", ").chars().take(80).collect()
    };
    panes.iter().map(label).collect()
}
