//! A scene while it is put together.

use super::placement::Placement;
use crate::error::ExchangeError;
use lilyan_mesh_io::readers::{self, Loaded};
use serde_json::{Map, Value, json};
use std::path::{Component, Path, PathBuf};

/// A scene while it is put together, as JSON with the keys of scene files.
pub(super) struct Draft {
    /// Folder of the file that is imported.
    pub folder: PathBuf,
    /// Folder of the scene that is written.
    target: PathBuf,
    scene: Map<String, Value>,
    names: Vec<String>,
    notes: Vec<String>,
}

impl Draft {
    pub fn new(source: &Path, output: &Path) -> Result<Self, ExchangeError> {
        let folder = |path: &Path| match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let title = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut scene = Map::new();
        scene.insert("title".into(), json!(title));
        Ok(Self {
            folder: folder(source),
            target: folder(output),
            scene,
            names: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// Notes something that is not carried over, or was chosen; each once.
    pub fn note(&mut self, what: impl Into<String>) {
        let what = what.into().replace(['\n', '\r'], " ");
        if !self.notes.contains(&what) {
            self.notes.push(what);
        }
    }

    /// Sets a key of the scene.
    pub fn set(&mut self, key: &str, value: Value) {
        self.scene.insert(key.into(), value);
    }

    /// Whether a key of the scene is set.
    pub fn has(&self, key: &str) -> bool {
        self.scene.contains_key(key)
    }

    /// Adds a table to a list: `pin`, `load`, `contact`, `constraint`.
    pub fn add(&mut self, list: &str, table: Value) {
        if let Some(Value::Array(items)) = self.scene.get_mut(list) {
            items.push(table);
        } else {
            self.scene.insert(list.into(), json!([table]));
        }
    }

    /// Changes every table of a list.
    pub fn each(&mut self, list: &str, change: impl FnMut(&mut Value)) {
        if let Some(Value::Array(items)) = self.scene.get_mut(list) {
            items.iter_mut().for_each(change);
        }
    }

    /// Adds a body and returns the name that it gets.
    pub fn add_body(&mut self, wanted: &str, mut body: Value) -> String {
        let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let plain: String = wanted.chars().map(letter).collect();
        let plain = if plain.is_empty() { "body".to_string() } else { plain };
        let mut name = plain.clone();
        let mut count = 1;
        while self.names.contains(&name) {
            count += 1;
            name = format!("{plain}-{count}");
        }
        self.names.push(name.clone());
        body["name"] = json!(name);
        self.add("body", body);
        name
    }

    /// Number of bodies so far.
    pub fn bodies(&self) -> usize {
        self.names.len()
    }

    /// The path of a file as the scene names it: from its own folder.
    pub fn path(&self, file: &Path) -> String {
        let whole = |path: &Path| std::fs::canonicalize(path).ok();
        // The folder of the scene may not be there yet.
        let target = whole(&self.target).or_else(|| std::path::absolute(&self.target).ok());
        let (Some(file), Some(target)) = (whole(file), target) else { return file.display().to_string() };
        let parts = |path: &Path| path.components().map(|c| c.as_os_str().to_owned()).collect::<Vec<_>>();
        let (to, from) = (parts(&file), parts(&target));
        let common = to.iter().zip(&from).take_while(|(a, b)| a == b).count();
        // Only the root in common: the absolute path is clearer.
        if common <= 1 {
            return file.display().to_string();
        }
        let up = std::iter::repeat_n(Component::ParentDir.as_os_str().to_owned(), from.len() - common);
        let relative: PathBuf = up.chain(to[common..].iter().cloned()).collect();
        relative.to_string_lossy().replace('\\', "/")
    }

    /// The `mesh` of a file in a place.
    pub fn file_mesh(&self, file: &Path, placement: &Placement) -> Value {
        let mut mesh = json!({ "file": self.path(file) });
        placement.write(&mut mesh);
        mesh
    }

    /// The scene and the notes.
    pub fn finish(self) -> (Value, Vec<String>) {
        (Value::Object(self.scene), self.notes)
    }
}

/// The size of a mesh file: smallest and largest coordinates, and its volume, m³ (0 for surfaces that are not closed).
pub(super) fn extent(file: &Path) -> Result<([[f64; 3]; 2], f64), ExchangeError> {
    let loaded = readers::read(file)?;
    let (bounds, volume) = match &loaded {
        Loaded::Tets(mesh, _) => (mesh.bounds(), mesh.volume()),
        Loaded::Surface(surface, _) => (surface.bounds(), surface.signed_volume().abs()),
    };
    Ok((bounds.unwrap_or([[0.0; 3]; 2]), volume))
}
