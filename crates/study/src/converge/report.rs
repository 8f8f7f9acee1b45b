//! The study as a table and as data.

use super::{ConvergeRun, Converged, Setting};
use lilyan_report::short;
use lilyan_scene::schema::{Scene, Shape};
use serde::{Deserialize, Serialize};

/// A study: what `lilyan converge --json` prints and `converge.json` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConvergeReport {
    /// Title of the scene.
    pub title: String,
    /// The probes that were followed.
    pub probes: Vec<String>,
    /// Wanted: the largest error relative to the motion.
    pub accuracy: f64,
    /// The largest way that a probe goes, m.
    pub motion: f64,
    /// Whether the reference is accurate enough to judge the others.
    pub settled: bool,
    /// Number of the reference among the runs, from 0.
    pub reference: usize,
    /// Its error, estimated from the differences of the runs before.
    pub reference_error: f64,
    /// Number of the cheapest run that is good enough; absent if there is none.
    pub cheapest: Option<usize>,
    /// The same as options of a command; absent if there is none.
    pub set: Option<String>,
    /// All runs in the order in which they were made.
    pub runs: Vec<SettingReport>,
    /// The result in words.
    pub advice: String,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettingReport {
    /// Elements; `as given` where the scene has others than tets.
    pub element: String,
    /// How often the mesh of the scene is refined.
    pub refinement: u32,
    /// s.
    pub step: f64,
    /// Unknowns.
    pub unknowns: usize,
    /// Largest error of a probe relative to the motion; absent if it did not finish.
    pub error: Option<f64>,
    /// Wall time in steps, s.
    pub wall_seconds: f64,
    /// `finished`, or what happened.
    pub ended: String,
}

fn element(setting: &Setting) -> &'static str {
    setting.element.map_or("as given", |element| element.name())
}

impl SettingReport {
    fn new(run: &ConvergeRun) -> Self {
        Self {
            element: element(&run.setting).into(),
            refinement: run.setting.refinement,
            step: run.setting.step,
            unknowns: run.unknowns,
            error: run.error,
            wall_seconds: run.wall,
            ended: match run.ended.reason() {
                why if why.is_empty() => run.ended.word().into(),
                why => why,
            },
        }
    }
}

impl ConvergeReport {
    /// Of a study of this scene.
    pub fn new(scene: &Scene, found: &Converged) -> Self {
        let set = found.cheapest.map(|k| set(scene, &found.runs[k].setting));
        Self {
            title: scene.title.clone(),
            probes: found.probes.clone(),
            accuracy: found.accuracy,
            motion: found.motion,
            settled: found.settled,
            reference: found.reference,
            reference_error: found.reference_error,
            cheapest: found.cheapest,
            advice: advice(scene, found, set.as_deref()),
            set,
            runs: found.runs.iter().map(SettingReport::new).collect(),
        }
    }
}

/// The setting as options of a command, as far as keys say it.
fn set(scene: &Scene, setting: &Setting) -> String {
    let mut out = vec![format!("--set time.step={}", setting.step)];
    for body in &scene.bodies {
        if let Some(element) = setting.element.filter(|element| *element != body.element) {
            out.push(format!("--set body.{}.element={}", body.name, element.name()));
        }
        if setting.refinement > 0
            && let Shape::Box { cells, .. } = &body.mesh.shape
        {
            let cells = cells.map(|n| (n << setting.refinement).to_string()).join(",");
            out.push(format!("--set body.{}.mesh.box.cells=[{cells}]", body.name));
        }
    }
    out.join(" ")
}

fn advice(scene: &Scene, found: &Converged, set: Option<&str>) -> String {
    let percent = |x: f64| format!("{} %", short(100.0 * x));
    let own = found.runs.iter().find(|run| {
        let same = run.setting.element.is_none_or(|e| scene.bodies.iter().all(|body| body.element == e));
        run.setting.refinement == 0 && run.setting.step == scene.time.step && same
    });
    let own = match own.and_then(|run| run.error) {
        Some(error) => format!(" As the scene is, the error is {}.", percent(error)),
        None => String::new(),
    };
    match (found.cheapest.map(|k| &found.runs[k]), found.settled) {
        (Some(run), _) => format!(
            "The cheapest setting within {}: {}, mesh refined {} times, step {} s: {} unknowns, error {} in {} s{}.{own}",
            percent(found.accuracy),
            element(&run.setting),
            run.setting.refinement,
            short(run.setting.step),
            run.unknowns,
            percent(run.error.unwrap_or(0.0)),
            short(run.wall),
            set.map_or(String::new(), |set| format!(" ({set})"))
        ),
        (None, true) => format!("No setting is within {}.{own}", percent(found.accuracy)),
        (None, false) => format!(
            "The probes have not settled to {}: the finest run is off by about {}. Raise --budget, shorten the run with \
             --set time.end=…, or ask for less with --accuracy.",
            percent(found.accuracy),
            percent(found.reference_error)
        ),
    }
}

/// The runs as a table of text; the first row is the header.
pub fn table(found: &Converged) -> Vec<Vec<String>> {
    let header = ["elements", "refined", "step", "unknowns", "error", "wall", ""].map(String::from).to_vec();
    let row = |(k, run): (usize, &ConvergeRun)| {
        vec![
            element(&run.setting).to_string(),
            run.setting.refinement.to_string(),
            format!("{} s", short(run.setting.step)),
            run.unknowns.to_string(),
            run.error.map_or(String::new(), |e| format!("{} %", short(100.0 * e))),
            format!("{} s", short(run.wall)),
            match () {
                () if k == found.reference => {
                    format!("reference, error about {} %", short(100.0 * found.reference_error))
                }
                () if found.cheapest == Some(k) => "cheapest within the accuracy".into(),
                () => run.ended.reason(),
            },
        ]
    };
    std::iter::once(header).chain(found.runs.iter().enumerate().map(row)).collect()
}
