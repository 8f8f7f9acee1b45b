//! Which scenes a session shows, and how their settings are changed and restored.

use super::Session;
use crate::error::LabError;
use crate::gallery::{GALLERY, find_comparison};
use crate::limits::{ELEMENTS, PANES};
use crate::pane::{Pane, elements, scene_of};
use crate::protocol::{SceneChange, notice_event};
use crate::uploads::check_file_name;
use crate::wording;
use lilyan_scene::document::{Node, set_value};
use lilyan_scene::schema::Scene;
use serde_json::Value;
use std::path::Path;

/// Number of changes that can be undone.
const UNDO: usize = 100;

/// A change that can be undone.
pub struct UndoEntry {
    /// What was changed, for the user.
    pub what: String,
    /// The drag of a slider that the change belongs to.
    drag: Option<u64>,
    /// The scenes of all panes before the change.
    documents: Vec<Node>,
}

impl Session {
    /// Replaces all panes and plays.
    fn replace_panes(&mut self, panes: Vec<Pane>) {
        self.panes = panes;
        self.undo.clear();
        self.send_panes();
        self.set_running(true);
    }

    /// Opens a scene by its name or path.
    pub(super) fn open(&mut self, name: &str) -> Result<(), LabError> {
        let scene = lilyan_scene::build::open(name, &[])?;
        let pane = Pane::new(scene.document.clone(), &scene.origin.0, 0)?;
        self.replace_panes(vec![pane]);
        Ok(())
    }

    /// Opens a built-in scene, or a text with its name.
    pub(super) fn open_request(
        &mut self,
        scene: Option<String>,
        text: Option<String>,
        name: Option<String>,
    ) -> Result<(), LabError> {
        match (scene, text, name) {
            (Some(scene), None, None) => self.open_known(&scene),
            (None, Some(text), name) => self.open_text(&text, name.as_deref()),
            _ => Err(LabError::OpenWithoutScene),
        }
    }

    /// Opens a built-in scene or the one that the lab was opened with. Pages cannot open other files by name.
    fn open_known(&mut self, name: &str) -> Result<(), LabError> {
        if name != self.first_scene && lilyan_scene::library::find(name).is_none() {
            return Err(LabError::UnknownScene(name.to_owned()));
        }
        self.open(name)
    }

    /// Opens the text of a scene.
    fn open_text(&mut self, text: &str, name: Option<&str>) -> Result<(), LabError> {
        // Meshes that the scene names are searched among the files that pages sent.
        let plain = name.unwrap_or("scene.toml").rsplit(['/', '\\']).next().unwrap_or("scene.toml");
        let origin = self.folder.join(plain).display().to_string();
        let scene = Scene::from_str(text, &origin)?;
        self.allowed_files.check(&scene)?;
        let pane = Pane::new(scene.document.clone(), &origin, 0)?;
        self.replace_panes(vec![pane]);
        Ok(())
    }

    /// Opens a prepared comparison.
    pub(super) fn open_comparison(&mut self, name: &str) -> Result<(), LabError> {
        let Some(comparison) = find_comparison(name) else {
            let known: Vec<&str> = GALLERY.iter().map(|c| c.name).collect();
            return Err(LabError::UnknownComparison { name: name.to_owned(), known: known.join(", ") });
        };
        let panes = comparison.open(&self.folder)?;
        self.replace_panes(panes);
        Ok(())
    }

    /// Gives the first body of every pane the mesh that was sent under this name. All panes start again.
    pub(super) fn set_mesh(&mut self, name: &str) -> Result<(), LabError> {
        check_file_name(name)?;
        let path = self.folder.join(name);
        if !path.is_file() {
            return Err(LabError::FileNotSent(name.to_owned()));
        }
        let file = path.display().to_string();
        let all = elements(&self.panes);
        let (mut fresh, mut notices) = (Vec::new(), Vec::new());
        for pane in &self.panes {
            let others = all - pane.elements();
            let (document, notice) =
                pane.with_mesh(&file, others, |scene| self.allowed_files.check(scene))?;
            let mut new = Pane::new(document, &pane.origin, elements(&fresh))?;
            new.label.clone_from(&pane.label);
            fresh.push(new);
            notices.extend(notice);
        }
        let before = self.documents();
        self.remember("another mesh", before);
        self.panes = fresh;
        self.send_panes();
        notices.dedup();
        for text in notices {
            self.send(notice_event(&text));
        }
        self.set_running(self.running);
        Ok(())
    }

    /// Changes settings of one pane or of all panes. All changes of one drag are undone together.
    pub(super) fn change_settings(
        &mut self,
        pane: Option<usize>,
        changes: &[SceneChange],
        drag: Option<u64>,
    ) -> Result<(), LabError> {
        let which: Vec<usize> = match pane {
            Some(i) => vec![i],
            None => (0..self.panes.len()).collect(),
        };
        let mut documents = Vec::new();
        for i in which {
            let mut document = self.pane(i)?.document.clone();
            for SceneChange { path, value } in changes {
                let node = match value {
                    Value::Null => None,
                    value => Some(Node::from_json(value, "the lab")?),
                };
                set_value(&mut document, path, node)?;
            }
            let scene = scene_of(&document, &self.pane(i)?.origin)?;
            self.allowed_files.check(&scene)?;
            documents.push((i, document));
        }
        let what = wording::settings(changes.iter().map(|c| c.path.as_str()));
        let goes_on = drag.is_some() && self.undo.last().is_some_and(|e| e.what == what && e.drag == drag);
        self.change(&what, documents)?;
        if goes_on {
            self.undo.pop();
        } else if let Some(entry) = self.undo.last_mut() {
            entry.drag = drag;
        }
        Ok(())
    }

    /// Changes the scene of one pane.
    pub(super) fn edit(
        &mut self,
        pane: usize,
        what: &str,
        edited: impl FnOnce(&Pane) -> Result<Node, LabError>,
    ) -> Result<(), LabError> {
        let document = edited(self.pane(pane)?)?;
        self.change(what, vec![(pane, document)])
    }

    /// Gives panes other scenes at their current states: all of them, or none if one is refused.
    fn change(&mut self, what: &str, documents: Vec<(usize, Node)>) -> Result<(), LabError> {
        let before = self.documents();
        self.adopt(documents)?;
        self.remember(what, before);
        self.send_status();
        Ok(())
    }

    /// Keeps the scenes before a change, so that it can be undone.
    fn remember(&mut self, what: &str, documents: Vec<Node>) {
        self.undo.push(UndoEntry { what: what.to_owned(), drag: None, documents });
        if self.undo.len() > UNDO {
            self.undo.remove(0);
        }
    }

    fn documents(&self) -> Vec<Node> {
        self.panes.iter().map(|p| p.document.clone()).collect()
    }

    /// Rebuilds panes with other scenes. Nothing changes if one of them is refused.
    fn adopt(&mut self, documents: Vec<(usize, Node)>) -> Result<(), LabError> {
        let all = elements(&self.panes);
        let mut fresh = Vec::new();
        for (i, document) in documents {
            let pane = self.pane(i)?;
            let others = all - pane.elements();
            let (mut new, notice) = pane.changed(document, others)?;
            let held = pane.grabbed().map(|grab| (grab.vertex, grab.to));
            if let Some((vertex, to)) = held.filter(|(v, _)| (*v as usize) < new.drawn.nodes.len()) {
                let _ = new.grab(vertex, to);
            }
            fresh.push((i, new, notice));
        }
        let mut notices = Vec::new();
        for (i, new, notice) in fresh {
            if let Some(pane) = self.panes.get_mut(i) {
                *pane = new;
            }
            notices.extend(notice);
        }
        self.send_panes();
        for text in notices {
            self.send(notice_event(&text));
        }
        self.reset_clock();
        Ok(())
    }

    /// Undoes the last change of settings. The state continues.
    pub(super) fn undo(&mut self) -> Result<(), LabError> {
        let Some(entry) = self.undo.pop() else { return Err(LabError::NothingToUndo) };
        let changed = entry.documents.into_iter().enumerate();
        let now = self.documents();
        let changed = changed.filter(|(i, document)| now.get(*i) != Some(document)).collect();
        self.adopt(changed)
    }

    /// Adds a copy of the last pane.
    pub(super) fn split(&mut self) -> Result<(), LabError> {
        if self.panes.len() >= PANES {
            return Err(LabError::PanesFull("; close one"));
        }
        let all = elements(&self.panes);
        let Some(last) = self.panes.last() else { return Err(LabError::NothingToCopy) };
        let mut copy = last.copy(all)?;
        copy.label = None;
        self.panes.push(copy);
        self.undo.clear();
        self.send_panes();
        Ok(())
    }

    /// Removes a pane.
    pub(super) fn close(&mut self, pane: usize) -> Result<(), LabError> {
        self.pane(pane)?;
        if self.panes.len() == 1 {
            return Err(LabError::LastPane);
        }
        self.panes.remove(pane);
        self.undo.clear();
        self.send_panes();
        Ok(())
    }

    /// Adds a coarse scene as a pane. All panes start again, so that they can be compared.
    pub(super) fn open_beside(&mut self, path: &Path, label: &str) -> Result<(), LabError> {
        if self.panes.len() >= PANES {
            return Err(LabError::PanesFull(""));
        }
        let scene = Scene::from_path(path)?;
        let others = elements(&self.panes);
        if others >= ELEMENTS {
            return Err(LabError::ElementsFull);
        }
        let mut coarse = Pane::new(scene.document.clone(), &path.display().to_string(), others)?;
        coarse.label = Some(label.to_owned());
        if let [fine] = self.panes.as_mut_slice()
            && fine.label.is_none()
        {
            fine.label = Some(format!("fine, {} tets", fine.elements()));
        }
        self.panes.push(coarse);
        self.undo.clear();
        self.reset()
    }
}
