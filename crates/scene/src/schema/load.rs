//! From file to [`Scene`].

use std::io::Read;
use std::path::{Path, PathBuf};

use super::Scene;
use crate::document::{MAX_BYTES, Node, Place, SceneError, apply_override};
use lilyan_mesh_io::readers;
use lilyan_solid::mesh::{Mesh, MeshError, TriMesh};
use std::sync::Arc;

impl Scene {
    /// Reads a scene file.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, SceneError> {
        Self::from_path_with(path, &[])
    }

    /// Reads a scene file and sets values in it, each as in `time.step=0.002`.
    pub fn from_path_with(path: impl AsRef<Path>, overrides: &[&str]) -> Result<Self, SceneError> {
        let path = path.as_ref();
        let origin = path.display().to_string();
        Self::from_str_with(&read_text(path, &origin)?, &origin, overrides)
    }

    /// Reads a scene from text; `origin` names it in messages, and mesh files are looked for beside it.
    ///
    /// ```
    /// let text = r#"
    /// time = { end = 1, step = 0.01 }
    /// [[body]]
    /// mesh = { box = { size = [4, 1, 1], cells = [16, 4, 4] } }
    /// material = { E = 1e5, nu = 0.3, rho = 1000 }
    /// "#;
    /// let scene = lilyan_scene::schema::Scene::from_str(text, "bar.toml")?;
    /// assert_eq!(scene.title, "bar");
    /// assert_eq!(scene.time.steps(), 100);
    /// # Ok::<(), lilyan_scene::document::SceneError>(())
    /// ```
    pub fn from_str(text: &str, origin: &str) -> Result<Self, SceneError> {
        Self::from_str_with(text, origin, &[])
    }

    /// Reads a scene from text and sets values in it.
    pub fn from_str_with(text: &str, origin: &str, overrides: &[&str]) -> Result<Self, SceneError> {
        let mut document = Node::parse(text, origin)?;
        for assignment in overrides {
            apply_override(&mut document, assignment)?;
        }
        let mut scene = Self::from_document(document, origin)?;
        let assignments = overrides.iter().filter_map(|assignment| assignment.split_once('='));
        scene.settings = assignments.map(|(key, value)| (key.trim().into(), value.trim().into())).collect();
        Ok(scene)
    }

    /// The scene with a mesh in memory: where a `mesh`, `display` or `fit.fine` names this file, the mesh is taken and no
    /// file is read.
    ///
    /// The data of its elements and vertices have names that the scene can use, as those of a file.
    ///
    /// ```
    /// use lilyan_scene::{build::build, schema::Scene};
    /// use lilyan_solid::mesh::{Mesh, MeshError, TriMesh};
    ///
    /// let vertices = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]];
    /// let tets = vec![[0, 1, 2, 3], [1, 2, 3, 4]];
    /// let mut mesh = Mesh::new(vertices, tets);
    /// mesh.cell_data.insert("stiffness".into(), vec![1e5, 2e5]);
    ///
    /// let text = r#"
    /// time = { end = 1, step = 0.01 }
    /// [[body]]
    /// mesh = "mine"
    /// material = { E = { cell_data = "stiffness" }, nu = 0.3, rho = 1000 }
    /// "#;
    /// let scene = Scene::from_str(text, "scene.toml")?.with_mesh("mine", mesh)?;
    /// let mut built = build(&scene)?;
    /// built.simulation.advance().expect("a step");
    /// assert_eq!(built.bodies[0].young, [1e5, 2e5]);
    /// # Ok::<(), lilyan_scene::document::SceneError>(())
    /// ```
    pub fn with_mesh(mut self, name: &str, mesh: Mesh) -> Result<Self, SceneError> {
        let checked = readers::given(name, mesh);
        let (mesh, notes) =
            checked.map_err(|e| SceneError::file(&self.origin.0, format!("mesh in memory: {e}")))?;
        self.warnings.extend(notes.iter().map(|note| format!("mesh in memory {name:?}: {note}")));
        self.meshes.insert(name.to_owned(), Arc::new(mesh));
        Ok(self)
    }

    /// The scene with a surface in memory: it is taken where a `mesh` of a body or an obstacle names this file.
    pub fn with_surface(mut self, name: &str, surface: TriMesh) -> Result<Self, SceneError> {
        let wrong =
            |e: MeshError| SceneError::file(&self.origin.0, format!("surface in memory {name:?}: {e}"));
        surface.check().map_err(wrong)?;
        self.surfaces.insert(name.to_owned(), Arc::new(surface));
        Ok(self)
    }

    /// The same scene with other values of some keys, each as in `time.step=0.002`.
    pub fn with_settings(&self, overrides: &[&str]) -> Result<Self, SceneError> {
        let mut document = self.document.clone();
        for assignment in overrides {
            apply_override(&mut document, assignment)?;
        }
        let mut scene = Self::from_document(document, &self.origin.0)?;
        let assignments = overrides.iter().filter_map(|assignment| assignment.split_once('='));
        scene.settings.clone_from(&self.settings);
        scene.settings.extend(assignments.map(|(key, value)| (key.trim().into(), value.trim().into())));
        scene.meshes.clone_from(&self.meshes);
        scene.surfaces.clone_from(&self.surfaces);
        scene.materials = self.materials.clone();
        Ok(scene)
    }

    /// Where a file that the scene names is: relative paths start at the folder of the scene.
    pub fn resolve(&self, path: &str) -> PathBuf {
        Path::new(&self.origin.0).parent().unwrap_or(Path::new("")).join(path)
    }
}

/// The file's name without folder and ending.
pub(super) fn stem(origin: &str) -> String {
    let stem = Path::new(origin).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.filter(|stem| !stem.is_empty()).unwrap_or_else(|| "untitled".to_owned())
}

fn read_text(path: &Path, origin: &str) -> Result<String, SceneError> {
    let refuse = |message: String| SceneError::file(origin, message);
    let unreadable = |error: std::io::Error| {
        let remedy = match error.kind() {
            std::io::ErrorKind::NotFound => "check the path; `lilyan scenes` lists what is built in",
            _ => "check that the file may be read",
        };
        refuse(format!("cannot be read: {error}; {remedy}"))
    };
    // Looked at before it is opened: opening a pipe would wait for ever.
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() {
        let kind = if about.is_dir() { "a folder" } else { "a device or pipe" };
        return Err(refuse(format!("is {kind}, not a file; name a scene file, .toml or .json")));
    }
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    if lilyan_mesh_io::readers::formats().any(|format| format == extension) {
        return Err(refuse(format!(
            "is a mesh, not a scene; name it in a scene file: [[body]] with mesh = {{ file = {:?} }}",
            path.file_name().unwrap_or_default().to_string_lossy()
        )));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > MAX_BYTES {
        return Err(refuse(format!(
            "{} bytes is too large for a scene (at most {MAX_BYTES}); put large data into a mesh file",
            about.len()
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes().iter().take(good).filter(|b| **b == b'\n').count();
        SceneError::at(
            origin,
            Place::Line(line),
            "",
            "is not text in UTF-8; name a scene file, or save it again as UTF-8",
        )
    })
}
