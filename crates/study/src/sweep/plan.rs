//! The runs of a sweep.

use super::{EndedRun, SweepError, Variation};
use lilyan_files::atomic;
use lilyan_files::csv::cell;
use lilyan_scene::build::open;
use lilyan_scene::document::{Node, SceneError, Value};
use lilyan_scene::schema::Scene;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Most runs of a sweep.
const MOST: usize = 1_000_000;

/// All runs of a sweep, in order.
#[derive(Clone, Debug)]
pub struct Plan {
    name: String,
    set: Vec<String>,
    title: String,
    keys: Vec<String>,
    runs: Vec<PlannedRun>,
}

/// A run of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// A hash of the scene, the files that it names and the version of the program, 12 hexadecimal digits.
    pub id: String,
    /// The values of the varied keys.
    pub values: Vec<String>,
}

impl PlannedRun {
    /// The folder of its results.
    pub fn folder(&self, directory: &Path) -> PathBuf {
        directory.join("runs").join(&self.id)
    }
}

impl Plan {
    /// Every combination of the values; the last key changes fastest. `name` is a scene file or a built-in scene, `set` what is set in
    /// every run. Each scene of the plan is read, so that a wrong key or value is told before anything runs.
    pub fn new(name: &str, set: &[String], variations: &[Variation]) -> Result<Self, SweepError> {
        if variations.is_empty() {
            return Err(SweepError::Plan(
                "nothing varies; say what, for example time.step=0.01,0.005".into(),
            ));
        }
        let keys: Vec<String> = variations.iter().map(|v| v.key.clone()).collect();
        if let Some(key) = keys.iter().enumerate().find(|(k, key)| keys[..*k].contains(key)) {
            return Err(SweepError::Plan(format!("{} is given twice; give all its values once", key.1)));
        }
        let mut plan = Self::without_ids(name, set, variations, keys)?;
        let mut files = FileHashes::default();
        let mut seen: HashMap<String, usize> = HashMap::new();
        for number in 0..plan.runs.len() {
            let scene = plan.scene(number)?;
            let id = identity(&scene, &mut files);
            if let Some(first) = seen.insert(id.clone(), number) {
                let [a, b] = [first, number].map(|k| plan.settings(k));
                return Err(SweepError::Plan(format!(
                    "runs {first} ({a}) and {number} ({b}) are the same; give each value once"
                )));
            }
            plan.runs[number].id = id;
            plan.title = scene.title;
        }
        Ok(plan)
    }

    /// The plan as `plan.csv` in the folder of the sweep has it, for whoever does one run of many: only the scene of this run is read. `None` if
    /// the file is not there, or is of other settings, or if the scene or its meshes have changed since.
    pub fn of_folder(
        name: &str,
        set: &[String],
        variations: &[Variation],
        directory: &Path,
        number: usize,
    ) -> Option<Self> {
        let text = std::fs::read_to_string(directory.join("plan.csv")).ok()?;
        let keys: Vec<String> = variations.iter().map(|v| v.key.clone()).collect();
        let mut plan = Self::without_ids(name, set, variations, keys).ok()?;
        for (run, line) in plan.runs.iter_mut().zip(text.lines().skip(1)) {
            run.id = line.split(',').nth(1)?.to_string();
        }
        let scene = plan.scene(number.min(plan.runs.len() - 1)).ok()?;
        plan.title.clone_from(&scene.title);
        let own = identity(&scene, &mut FileHashes::default());
        let same = plan.csv() == text && plan.runs.get(number).is_none_or(|run| run.id == own);
        same.then_some(plan)
    }

    fn without_ids(
        name: &str,
        set: &[String],
        variations: &[Variation],
        keys: Vec<String>,
    ) -> Result<Self, SweepError> {
        let count = variations.iter().try_fold(1_usize, |n, v| n.checked_mul(v.values.len()));
        let count = count.filter(|n| *n <= MOST).ok_or_else(|| {
            SweepError::Plan(format!("that is more than {MOST} runs; vary fewer keys or values"))
        })?;
        let run = |number: usize| {
            let mut rest = number;
            let mut value = |v: &Variation| {
                let value = v.values[rest % v.values.len()].clone();
                rest /= v.values.len();
                value
            };
            let mut values: Vec<String> = variations.iter().rev().map(&mut value).collect();
            values.reverse();
            PlannedRun { id: String::new(), values }
        };
        let runs = (0..count).map(run).collect();
        Ok(Self { name: name.into(), set: set.to_vec(), title: String::new(), keys, runs })
    }

    /// Title of the scene.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Name of the scene: its file, or the built-in one.
    pub fn scene_name(&self) -> &str {
        &self.name
    }

    /// The varied keys.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// All runs.
    pub fn runs(&self) -> &[PlannedRun] {
        &self.runs
    }

    /// A run by its number, from 0.
    pub fn run(&self, number: usize) -> Result<&PlannedRun, SweepError> {
        self.runs.get(number).ok_or_else(|| {
            let last = self.runs.len() - 1;
            SweepError::Plan(format!("there is no run {number}; runs are counted from 0 to {last}"))
        })
    }

    /// How many runs have ended.
    pub fn ended(&self, directory: &Path) -> usize {
        self.runs.iter().filter(|run| EndedRun::is_there(&run.folder(directory))).count()
    }

    /// What a run sets, in words.
    pub fn settings(&self, number: usize) -> String {
        let values = self.keys.iter().zip(&self.runs[number].values);
        values.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ")
    }

    /// The scene of a run.
    pub fn scene(&self, number: usize) -> Result<Scene, SweepError> {
        let values = self.keys.iter().zip(&self.runs[number].values);
        let varied: Vec<String> = values.map(|(key, value)| format!("{key}={value}")).collect();
        let overrides: Vec<&str> = self.set.iter().chain(&varied).map(String::as_str).collect();
        open(&self.name, &overrides).map_err(|source| self.wrong(number, source))
    }

    pub(super) fn wrong(&self, number: usize, source: SceneError) -> SweepError {
        SweepError::Scene { number, settings: self.settings(number), source }
    }

    /// Writes `plan.csv`. The folder of another sweep is refused.
    pub fn write(&self, directory: &Path) -> Result<(), SweepError> {
        let path = directory.join("plan.csv");
        let text = self.csv();
        match std::fs::read_to_string(&path) {
            Ok(earlier) if earlier == text => return Ok(()),
            Ok(earlier) if earlier.lines().next() != text.lines().next() => {
                return Err(SweepError::OtherPlan(directory.display().to_string()));
            }
            // The same keys with more, fewer or other values: runs of both plans are kept.
            _ => {}
        }
        Ok(atomic::write(&path, text.as_bytes())?)
    }

    fn csv(&self) -> String {
        let mut out = String::from("index,id");
        self.keys.iter().for_each(|key| {
            let _ = write!(out, ",{}", cell(key));
        });
        for (number, run) in self.runs.iter().enumerate() {
            let _ = write!(out, "\n{number},{}", run.id);
            run.values.iter().for_each(|value| {
                let _ = write!(out, ",{}", cell(value));
            });
        }
        out + "\n"
    }
}

/// Hashes of files that scenes name, each read once.
#[derive(Default)]
struct FileHashes(BTreeMap<PathBuf, Option<Vec<u8>>>);

impl FileHashes {
    /// `None` if there is no such file.
    fn of(&mut self, path: PathBuf) -> Option<&Vec<u8>> {
        let hash = |path: &PathBuf| Some(Sha256::digest(std::fs::read(path).ok()?).to_vec());
        self.0.entry(path.clone()).or_insert_with(|| path.is_file().then(|| hash(&path)).flatten()).as_ref()
    }
}

fn identity(scene: &Scene, files: &mut FileHashes) -> String {
    let mut hash = Sha256::new();
    hash.update(env!("CARGO_PKG_VERSION"));
    hash.update(scene.hash());
    let folder = Path::new(&scene.origin.0).parent().unwrap_or(Path::new("")).to_path_buf();
    texts(&scene.document, &mut |text| {
        // A text that is the name of a file is taken for one: at worst a run is done again.
        if let Some(bytes) = files.of(folder.join(text)) {
            hash.update(text);
            hash.update(bytes);
        }
    });
    let digest = hash.finalize();
    digest.iter().take(6).fold(String::new(), |id, byte| format!("{id}{byte:02x}"))
}

fn texts(node: &Node, found: &mut dyn FnMut(&str)) {
    match &node.value {
        Value::Table(table) => table.entries().iter().for_each(|entry| texts(&entry.node, found)),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Text(text) if text.len() < 4096 && !text.contains('\0') => found(text),
        _ => {}
    }
}
