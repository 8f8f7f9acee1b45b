//! Text encodings of the page: base64, JSON inside a script, and the hash by which the security policy admits a script.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Standard base64 with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// A JSON string that is also safe inside a `<script>` element.
pub(super) fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('<', "\\u003c").replace('>', "\\u003e")
}

/// The source expression by which a content security policy admits exactly this script.
pub(super) fn script_hash(script: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(script.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_that_browsers_compute() {
        // The example of the Content Security Policy standard, level 3.
        assert_eq!(
            script_hash("alert('Hello, world.');"),
            "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng="
        );
        assert_eq!(json_string("</script>\"\n"), "\"\\u003c/script\\u003e\\\"\\n\"");
    }
}
