//! The page as `npm run build` made it, inside the program.

/// Path, type, content.
type Asset = (&'static str, &'static str, &'static [u8]);

static ASSETS: &[Asset] = &[
    ("/", "text/html; charset=utf-8", include_bytes!("../page/dist/index.html")),
    ("/lab.js", "text/javascript; charset=utf-8", include_bytes!("../page/dist/lab.js")),
    ("/lab.css", "text/css; charset=utf-8", include_bytes!("../page/dist/lab.css")),
    ("/icon.svg", "image/svg+xml", include_bytes!("../page/dist/icon.svg")),
];

/// What is at that path: exactly one of the paths, nothing that has to be resolved.
pub(crate) fn find(path: &str) -> Option<(&'static str, &'static [u8])> {
    ASSETS.iter().find(|(known, _, _)| *known == path).map(|(_, kind, bytes)| (*kind, *bytes))
}
