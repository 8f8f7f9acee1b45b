//! Which scenes are shown, and how they are changed and changed back.

use super::{Actor, Before, Done, elements};
use crate::session::message::{self, Change};
use crate::session::pane::{Pane, scene_of};
use crate::session::{PANES, check_name, gallery, words};
use lilyan_scene::document::{Node, set_value};
use lilyan_scene::schema::Scene;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Values of one setting that follow each other faster come from a slider that is dragged: they are one change.
const DRAG: Duration = Duration::from_secs(1);
/// Changes that can be taken back.
const UNDO: usize = 100;

impl Actor {
    /// Shows these panes instead of those before.
    fn replace(&mut self, panes: Vec<Pane>) {
        self.panes = panes;
        self.before.clear();
        self.tell_panes();
        self.go(true);
    }

    pub(super) fn open(&mut self, name: &str) -> Done {
        let scene = lilyan_scene::build::open(name, &[]).map_err(|e| words::of(&e))?;
        let pane = Pane::new(scene.document.clone(), &scene.origin.0, 0)?;
        self.replace(vec![pane]);
        Ok(())
    }

    /// A page may name built-in scenes and the one that the lab was opened with; files it has to send.
    pub(super) fn open_known(&mut self, name: &str) -> Done {
        if name != self.first && lilyan_scene::library::find(name).is_none() {
            return Err(format!(
                "there is no built-in scene \"{name}\"; drop a scene file on the page to open it"
            ));
        }
        self.open(name)
    }

    pub(super) fn open_text(&mut self, text: &str, name: Option<&str>) -> Done {
        // Meshes that the scene names are looked for among those that were sent.
        let plain = name.unwrap_or("scene.toml").rsplit(['/', '\\']).next().unwrap_or("scene.toml");
        let origin = self.folder.join(plain).display().to_string();
        let scene = Scene::from_str(text, &origin).map_err(|e| self.without_folder(&words::of(&e)))?;
        self.files.check(&scene)?;
        let pane = Pane::new(scene.document.clone(), &origin, 0).map_err(|e| self.without_folder(&e))?;
        self.replace(vec![pane]);
        Ok(())
    }

    pub(super) fn gallery(&mut self, name: &str) -> Done {
        let Some(comparison) = gallery::find(name) else {
            let names: Vec<&str> = gallery::GALLERY.iter().map(|c| c.name).collect();
            return Err(format!("the gallery has no \"{name}\"; it has: {}", names.join(", ")));
        };
        let panes = comparison.open(&self.folder).map_err(|e| self.without_folder(&e))?;
        self.replace(panes);
        Ok(())
    }

    pub(super) fn mesh(&mut self, name: &str) -> Done {
        check_name(name)?;
        let path = self.folder.join(name);
        if !path.is_file() {
            return Err(format!("no file \"{name}\" was sent"));
        }
        let mesh = json!({ "file": path.display().to_string() });
        let changes = [Change { path: "body.0.mesh".into(), value: mesh }];
        self.set(None, &changes).map_err(|e| self.without_folder(&e))
    }

    pub(super) fn set(&mut self, pane: Option<usize>, changes: &[Change]) -> Done {
        let which: Vec<usize> = match pane {
            Some(i) => vec![i],
            None => (0..self.panes.len()).collect(),
        };
        let mut documents = Vec::new();
        for i in which {
            let mut document = self.pane(i)?.document.clone();
            for Change { path, value } in changes {
                let node = match value {
                    Value::Null => None,
                    value => Some(Node::from_json(value, "the lab").map_err(|e| words::of(&e))?),
                };
                set_value(&mut document, path, node).map_err(|e| words::of(&e))?;
            }
            let scene = scene_of(&document, &self.pane(i)?.origin).map_err(|e| words::of(&e))?;
            self.files.check(&scene)?;
            documents.push((i, document));
        }
        let what = changes.iter().map(|c| c.path.as_str()).collect::<Vec<_>>().join(", ");
        let dragged = self.before.last().is_some_and(|b| b.what == what && b.when.elapsed() < DRAG);
        self.change(&what, documents)?;
        if dragged {
            self.before.pop();
            if let Some(before) = self.before.last_mut() {
                before.when = Instant::now();
            }
        }
        Ok(())
    }

    /// Goes on with other scenes from where the panes are; all of them or none.
    pub(super) fn change(&mut self, what: &str, documents: Vec<(usize, Node)>) -> Done {
        let before = Before { what: what.to_owned(), when: Instant::now(), documents: self.documents() };
        self.adopt(documents)?;
        self.before.push(before);
        if self.before.len() > UNDO {
            self.before.remove(0);
        }
        self.tell_status();
        Ok(())
    }

    fn documents(&self) -> Vec<Node> {
        self.panes.iter().map(|p| p.document.clone()).collect()
    }

    fn adopt(&mut self, documents: Vec<(usize, Node)>) -> Done {
        let all = elements(&self.panes);
        let mut fresh = Vec::new();
        for (i, document) in documents {
            let pane = self.pane(i)?;
            let others = all - pane.elements();
            let (mut new, notice) = pane.changed(document, others)?;
            let held = pane.grab.as_ref().map(|grab| (grab.vertex, grab.to));
            if let Some((vertex, to)) = held.filter(|(v, _)| (*v as usize) < new.view.nodes.len()) {
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
        self.tell_panes();
        for text in notices {
            self.tell(message::notice(&text));
        }
        self.set_clock();
        Ok(())
    }

    pub(super) fn undo(&mut self) -> Done {
        let Some(before) = self.before.pop() else { return Err("there is nothing to take back".into()) };
        let changed = before.documents.into_iter().enumerate();
        let now = self.documents();
        let changed = changed.filter(|(i, document)| now.get(*i) != Some(document)).collect();
        self.adopt(changed)
    }

    pub(super) fn split(&mut self) -> Done {
        if self.panes.len() >= PANES {
            return Err(format!("{PANES} panes are all there is room for; close one"));
        }
        let all = elements(&self.panes);
        let Some(last) = self.panes.last() else { return Err("there is nothing to copy".into()) };
        let mut copy = last.copy(all)?;
        copy.label = None;
        self.panes.push(copy);
        self.before.clear();
        self.tell_panes();
        Ok(())
    }
}
