//! MuJoCo's MJCF: deformable bodies (`flexcomp`, `flex`) and what stands still around them.
//!
//! What the keys mean is told by MuJoCo's XML reference. Rigid bodies that move, joints, actuators, sensors and constraints are not
//! carried over, since lilyan has no rigid bodies.

mod flex;
mod frame;
mod geom;

use super::draft::Draft;
use super::xml::Element;
use super::{ImportOptions, SceneImporter, beside, text_of};
use crate::error::ExchangeError;
use frame::{Frame, Orientations};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(super) const IMPORTER: SceneImporter = SceneImporter {
    name: "MuJoCo MJCF",
    extensions: &["xml", "mjcf"],
    summary: "flexcomp and flex of one, two and three dimensions with elasticity and pins, standing planes and shapes, gravity",
    read,
};

/// Simulated time where the file and the user say nothing, s.
const END: f64 = 2.0;

fn read(path: &Path, options: &ImportOptions, draft: &mut Draft) -> Result<(), ExchangeError> {
    let root = whole(path, 0)?;
    if root.name != "mujoco" {
        return Err(wrong(path, format!("the root element is <{}> and not <mujoco>", root.name)));
    }
    if let Some(model) = root.get("model") {
        draft.set("title", json!(model));
    }
    let mut model = Model::of(&root, &draft.folder);
    let step = root.all("option").filter_map(|o| o.number("timestep")).next_back().unwrap_or(0.002);
    draft.set("time", json!({ "end": options.end.unwrap_or(END), "step": step }));
    if options.end.is_none() {
        draft.note(format!("the file tells no end of time; {END} s is taken (--end)"));
    }
    draft.set("integrator", json!("backward-euler"));
    let gravity = root.all("option").filter_map(|o| o.vector("gravity")).next_back();
    draft.set("environment", json!({ "gravity": gravity.unwrap_or([0.0, 0.0, -9.81]) }));
    let wind = root.all("option").filter_map(|o| o.vector("wind")).next_back();
    if wind.is_some_and(|wind| wind != [0.0; 3]) {
        draft.note("option: wind and the drag of the air");
    }
    for body in root.all("worldbody") {
        model.body(body, &Frame::default(), None, draft)?;
    }
    for deformable in root.all("deformable") {
        for flex in deformable.all("flex") {
            draft.note(format!(
                "flex \"{}\": its nodes are bodies of their own; write it as a flexcomp",
                flex.get("name").unwrap_or_default()
            ));
        }
    }
    for section in ["actuator", "tendon", "equality", "sensor", "contact", "keyframe", "extension"] {
        let count: usize = root.all(section).map(|s| s.children.len()).sum();
        if count > 0 {
            draft.note(format!("{section}: {count} element{}", if count == 1 { "" } else { "s" }));
        }
    }
    if draft.bodies() == 0 {
        return Err(wrong(
            path,
            "has no flexcomp that can be carried over, and lilyan has no rigid bodies".into(),
        ));
    }
    model.contacts(draft);
    Ok(())
}

fn wrong(path: &Path, what: String) -> ExchangeError {
    ExchangeError::request(format!("{}: {what}", path.display()))
}

/// The root element with everything that the file includes.
fn whole(path: &Path, depth: usize) -> Result<Element, ExchangeError> {
    let mut root = Element::parse(&text_of(path)?).map_err(|e| wrong(path, e.to_string()))?;
    let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
    include(&mut root, &folder, depth)?;
    Ok(root)
}

fn include(element: &mut Element, folder: &Path, depth: usize) -> Result<(), ExchangeError> {
    let mut children = Vec::new();
    for mut child in std::mem::take(&mut element.children) {
        match child.get("file").filter(|_| child.name == "include" && depth < 16) {
            Some(file) => children.extend(whole(&beside(folder, file), depth + 1)?.children),
            None => {
                include(&mut child, folder, depth)?;
                children.push(child);
            }
        }
    }
    element.children = children;
    Ok(())
}

/// What the elements of a model share.
pub(super) struct Model {
    orientations: Orientations,
    /// Attributes of `geom` in each class, those of the classes around it included.
    classes: BTreeMap<String, Vec<(String, String)>>,
    /// Where mesh files are.
    meshes: PathBuf,
    /// Bodies that touch themselves.
    touches_itself: Vec<String>,
    /// Largest radius around the nodes of a flex, within which it touches, m.
    radius: f64,
}

impl Model {
    fn of(root: &Element, folder: &Path) -> Self {
        let compiler: Vec<&Element> = root.all("compiler").collect();
        let last = |key: &str| compiler.iter().filter_map(|c| c.get(key)).next_back();
        let meshes =
            last("meshdir").or(last("assetdir")).map_or(folder.to_path_buf(), |name| folder.join(name));
        let mut model = Self {
            orientations: Orientations::new(last("angle"), last("eulerseq")),
            classes: BTreeMap::new(),
            meshes,
            touches_itself: Vec::new(),
            radius: 0.0,
        };
        for default in root.all("default") {
            model.defaults(default, &[]);
        }
        model
    }

    fn defaults(&mut self, default: &Element, around: &[(String, String)]) {
        let mut attributes = around.to_vec();
        for (key, value) in default.all("geom").flat_map(|geom| &geom.attributes) {
            attributes.retain(|(known, _)| known != key);
            attributes.push((key.clone(), value.clone()));
        }
        let class = default.get("class").unwrap_or("main").to_string();
        for inner in default.all("default") {
            self.defaults(inner, &attributes);
        }
        self.classes.insert(class, attributes);
    }

    /// Adds what a body holds, in its frame. `class` is the class of its children.
    fn body(
        &mut self,
        body: &Element,
        around: &Frame,
        class: Option<&str>,
        draft: &mut Draft,
    ) -> Result<(), ExchangeError> {
        let frame = around.then(&self.orientations.frame(body));
        let class = body.get("childclass").or(class);
        let moves = body.get("mocap") == Some("true")
            || body.children.iter().any(|child| matches!(child.name.as_str(), "joint" | "freejoint"));
        let name = body.get("name").unwrap_or("without a name");
        if moves {
            draft.note(format!("body {name}: a rigid body that moves, with its joints and geoms"));
        }
        for child in &body.children {
            match child.name.as_str() {
                "body" | "frame" if moves && child.name == "body" => {
                    draft.note(format!("body {name}: the bodies in it stand where they begin"));
                    self.body(child, &frame, class, draft)?;
                }
                "body" | "frame" => self.body(child, &frame, class, draft)?,
                "geom" if !moves => self.geom(child, &frame, class, draft)?,
                "flexcomp" => self.flexcomp(child, &frame, draft)?,
                "composite" | "replicate" | "attach" => draft.note(format!("<{}>", child.name)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Contact of the bodies with each other and with themselves.
    fn contacts(&self, draft: &mut Draft) {
        if draft.bodies() > 1 {
            draft.add("contact", json!({ "kind": "bodies", "model": "barrier" }));
        }
        for body in &self.touches_itself {
            draft.add("contact", json!({ "kind": "self", "body": body, "model": "barrier" }));
        }
        if self.radius > 0.0 {
            let distance = json!(self.radius);
            draft.each("contact", |contact| contact["distance"] = distance.clone());
        }
        draft.note(
            "contact: solref, solimp, friction and margins; a barrier keeps surfaces apart, without friction",
        );
    }
}
