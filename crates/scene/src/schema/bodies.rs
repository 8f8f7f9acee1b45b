//! References to bodies by name.

use crate::document::key::{Absent, Key, Kind};
use crate::document::{Item, Reader, SceneError};
use crate::suggest;

/// `body` of a pin, load, constraint or probe.
pub(super) const BODY: Key = Key::optional(
    "body",
    Kind::Body,
    "\"bar\"",
    Absent::Means("the only body; required where there are several"),
    "Name of the body.",
);

/// Names of the bodies, for references.
pub(super) struct Bodies<'n>(pub(super) &'n [String]);

impl Bodies<'_> {
    /// The number of the named body.
    pub(super) fn find(&self, item: &Item<'_>) -> Result<usize, SceneError> {
        let name = item.text()?;
        self.0.iter().position(|n| n == name).ok_or_else(|| {
            item.error(format!(
                "there is no body {}{}the scene has: {}",
                suggest::quoted(name),
                suggest::did_you_mean(name, self.0.iter().map(String::as_str)),
                suggest::list(self.0.iter().map(String::as_str))
            ))
        })
    }

    /// The `body` of a table; may be left out if there is only one.
    pub(super) fn of(&self, reader: &mut Reader<'_>) -> Result<usize, SceneError> {
        match (reader.optional(&BODY), self.0) {
            (Some(item), _) => self.find(&item),
            (None, [_]) => Ok(0),
            (None, names) => {
                let first = names.first().map_or("bar", String::as_str);
                let example = format!("body = {first:?}");
                self.find(&reader.required_as(&BODY, &example)?)
            }
        }
    }
}
