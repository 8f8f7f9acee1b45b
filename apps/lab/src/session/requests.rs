//! Handles the requests of pages: each has one line in [`Session::handle`].

use super::Session;
use crate::channel::Event;
use crate::error::LabError;
use crate::job::JobTask;
use crate::pane::Pane;
use crate::protocol::{Request, ShownContents, error_event, handled_event, request_id, request_name};
use serde_json::json;
use tokio::sync::mpsc;

impl Session {
    /// Handles a text from a page. If it is refused, only that page is told.
    pub(super) fn handle_text(&mut self, text: &str, sender: &mpsc::Sender<Event>) {
        let handled = Request::read(text).and_then(|request| self.handle(request, sender));
        if let Err(error) = handled {
            let why = self.without_folder(&error.to_string());
            let _ = sender.try_send(Event::Text(error_event(&request_name(text), &error, &why)));
        }
        if let Some(id) = request_id(text) {
            let _ = sender.try_send(Event::Text(handled_event(id)));
        }
    }

    fn handle(&mut self, request: Request, sender: &mpsc::Sender<Event>) -> Result<(), LabError> {
        match request {
            Request::Open { scene, text, name } => self.open_request(scene, text, name)?,
            Request::Gallery { name } => self.open_comparison(&name)?,
            Request::Mesh { name } => self.set_mesh(&name)?,
            Request::Play {} => self.set_running(true),
            Request::Pause {} => self.set_running(false),
            Request::Step {} => self.single_step(),
            Request::Reset {} => self.reset()?,
            Request::Speed { value } => self.set_speed(value),
            Request::Budget { ms } => self.set_budget(ms),
            Request::Realtime { on } => self.set_realtime(on),
            Request::Set { pane, changes, drag } => self.change_settings(pane, &changes, drag)?,
            Request::Undo {} => self.undo()?,
            Request::Grab { pane, vertex, to } => self.touch(pane, |pane| pane.grab(vertex, to))?,
            Request::Release {} => self.release(),
            Request::Pin { pane, vertices } => self.edit(pane, "pinning", |p| p.pinned(&vertices))?,
            Request::Place { pane, vertex, at, seconds } => {
                self.edit(pane, "a fixed vertex", |p| p.pinned_at(vertex, at, seconds))?
            }
            Request::Unpin { pane, vertices } => {
                self.edit(pane, "freeing", |p| p.unpinned(vertices.as_deref()))?
            }
            Request::Force { pane, vertices, force } => {
                self.edit(pane, "a force", |p| p.forced(&vertices, force))?
            }
            Request::Kick { pane, vertices, momentum } => {
                self.touch(pane, |pane| pane.kick(vertices.as_deref(), momentum))?
            }
            Request::Throw { pane, velocity } => self.touch(pane, |pane| pane.throw(velocity))?,
            Request::Velocity { pane, vertices, velocity } => {
                self.touch(pane, |pane| pane.set_velocity(vertices.as_deref(), velocity))?
            }
            Request::Momentum { pane, vertices, momentum } => {
                self.touch(pane, |pane| pane.set_momentum(vertices.as_deref(), momentum))?
            }
            Request::Watch { pane, vertex } => self.touch(pane, |pane| pane.watch(vertex))?,
            Request::Check { pane } => self.start_job(JobTask::Check(pane))?,
            Request::Compare(request) => self.start_job(JobTask::Compare(request))?,
            Request::Coarsen(request) => self.start_job(JobTask::Coarsen(request))?,
            Request::Cancel {} => self.cancel_job()?,
            Request::Split {} => self.split()?,
            Request::Close { pane } => self.close(pane)?,
            Request::Show(contents) => self.set_contents(contents),
            Request::Save { pane, state } => self.save(pane, state, sender)?,
        }
        Ok(())
    }

    /// Acts on the state of a pane.
    fn touch(
        &mut self,
        pane: usize,
        act: impl FnOnce(&mut Pane) -> Result<(), LabError>,
    ) -> Result<(), LabError> {
        act(self.pane(pane)?)?;
        self.changed = true;
        Ok(())
    }

    /// Releases all that is grabbed.
    fn release(&mut self) {
        self.panes.iter_mut().for_each(Pane::release);
        self.changed = true;
    }

    /// Chooses what frames contain.
    fn set_contents(&mut self, asked: ShownContents) {
        let contents = &mut self.contents;
        contents.field = asked.field.unwrap_or(contents.field);
        contents.forces = asked.forces.unwrap_or(contents.forces);
        contents.outside = asked.outside.unwrap_or(contents.outside);
        contents.momenta = asked.momenta.unwrap_or(contents.momenta);
        contents.contacts = asked.contacts.unwrap_or(contents.contacts);
        let inside = asked.inside.unwrap_or(contents.inside);
        self.changed = true;
        if std::mem::replace(&mut contents.inside, inside) == inside {
            self.send_status();
        } else {
            self.send_panes();
        }
    }

    /// Sends a page the scene file of a pane.
    fn save(&mut self, pane: usize, state: bool, sender: &mpsc::Sender<Event>) -> Result<(), LabError> {
        let pane = self.pane(pane)?;
        let (name, text) = (pane.file_name(state), pane.to_toml(state)?);
        let file = json!({ "event": "file", "name": name, "text": self.without_folder(&text) });
        let _ = sender.try_send(Event::Text(file.to_string()));
        Ok(())
    }
}
