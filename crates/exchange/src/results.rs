//! The folder of a run: its frames, bodies and scene.

use crate::error::ExchangeError;
use lilyan_mesh_io::readers::{FrameData, read_collection, read_frame};
use lilyan_scene::schema::Scene;
use lilyan_study::run::{IndexedBody, RunIndex};
use std::path::{Path, PathBuf};

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Results {
    /// The folder.
    pub directory: PathBuf,
    /// Title of the scene.
    pub title: String,
    /// Its bodies, in the order of their nodes; empty where the run did not tell.
    pub bodies: Vec<IndexedBody>,
    /// The scene that was run; `None` where the run did not tell.
    pub scene: Option<Scene>,
    /// Times (s) and files of the frames, by time.
    pub frames: Vec<(f64, PathBuf)>,
    /// Files of the meshes that bodies show instead of their own, for each frame.
    pub shown: Vec<PathBuf>,
}

impl Results {
    /// Of the run in this folder.
    pub fn open(directory: &Path) -> Result<Self, ExchangeError> {
        let missing = |what: &str| ExchangeError::NoResults { folder: directory.into(), what: what.into() };
        if !directory.is_dir() {
            return Err(missing("there is no such folder"));
        }
        let collection = directory.join("frames.pvd");
        if !collection.is_file() {
            return Err(missing("it has no frames.pvd"));
        }
        let frames = read_collection(&collection)?;
        if frames.is_empty() {
            return Err(missing("frames.pvd lists no frames"));
        }
        if frames.windows(2).any(|pair| pair[1].0 <= pair[0].0) {
            return Err(missing("the times in frames.pvd do not grow"));
        }
        let shown = directory.join("display.pvd");
        let shown = if shown.is_file() { read_collection(&shown)? } else { Vec::new() };
        let index = RunIndex::read(directory)?;
        let scene = index.as_ref().map(|index| Scene::from_str(&index.scene, &index.origin)).transpose()?;
        let name = directory.file_name().map_or("run".into(), |name| name.to_string_lossy().into_owned());
        let (title, bodies) = index.map_or((name, Vec::new()), |index| (index.title, index.bodies));
        Ok(Self {
            directory: directory.to_path_buf(),
            title,
            bodies,
            scene,
            shown: if shown.len() == frames.len() {
                shown.into_iter().map(|(_, path)| path).collect()
            } else {
                Vec::new()
            },
            frames,
        })
    }

    /// The cells and fields of a frame.
    pub fn frame(&self, number: usize) -> Result<FrameData, ExchangeError> {
        Ok(read_frame(&self.frames[number].1)?)
    }

    /// The bodies in a frame of so many nodes: names and ranges of nodes. One body where the run did not tell.
    pub(crate) fn bodies_of(&self, nodes: usize) -> Result<Vec<IndexedBody>, ExchangeError> {
        if self.bodies.is_empty() {
            return Ok(vec![IndexedBody { name: "body".into(), nodes, shown: 0, discontinuous: false }]);
        }
        let told: usize = self.bodies.iter().map(|body| body.nodes).sum();
        if told != nodes {
            return Err(ExchangeError::NoResults {
                folder: self.directory.clone(),
                what: format!("its frames have {nodes} points, and run.json tells of {told}"),
            });
        }
        Ok(self.bodies.clone())
    }

    /// The direction that points up: against gravity, else the normal of the first plane, else y.
    pub fn up(&self) -> [f64; 3] {
        let Some(scene) = &self.scene else { return [0.0, 1.0, 0.0] };
        let unit = |x: [f64; 3]| {
            let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            (length > 0.0 && length.is_finite()).then(|| x.map(|x| x / length))
        };
        let gravity = scene.environment.gravity.as_ref();
        let against = gravity.and_then(|g| unit([0, 1, 2].map(|k| -g[k].eval(&[0.0]))));
        let planes = scene.contacts.iter().filter_map(|contact| match contact.obstacle() {
            Some(lilyan_solid::contact::ObstacleShape::Plane { normal, .. }) => unit(normal),
            _ => None,
        });
        against.or_else(|| planes.into_iter().next()).unwrap_or([0.0, 1.0, 0.0])
    }
}
