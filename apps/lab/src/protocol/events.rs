//! Events that carry only a text.

use crate::error::LabError;
use serde_json::json;

/// A request was refused. `request` is its `do`.
pub fn error_event(request: &str, error: &LabError, text: &str) -> String {
    json!({ "event": "error", "request": request, "code": error.code(), "text": text }).to_string()
}

/// Something worth knowing.
pub fn notice_event(text: &str) -> String {
    json!({ "event": "notice", "text": text }).to_string()
}

/// The request of this number has been handled, or refused.
pub fn handled_event(id: u64) -> String {
    json!({ "event": "handled", "id": id }).to_string()
}
