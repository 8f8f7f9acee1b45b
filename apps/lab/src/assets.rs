//! The files of the page, as `npm run build` makes them, embedded in the program.

/// Path, media type, content.
type Asset = (&'static str, &'static str, &'static [u8]);

static ASSETS: &[Asset] = &[
    ("/", "text/html; charset=utf-8", include_bytes!("../page/dist/index.html")),
    ("/lab.js", "text/javascript; charset=utf-8", include_bytes!("../page/dist/lab.js")),
    ("/lab.css", "text/css; charset=utf-8", include_bytes!("../page/dist/lab.css")),
    ("/icon.svg", "image/svg+xml", include_bytes!("../page/dist/icon.svg")),
];

/// The file at this path. Only the listed paths exist; nothing is resolved.
pub(crate) fn find(path: &str) -> Option<(&'static str, &'static [u8])> {
    ASSETS.iter().find(|(known, _, _)| *known == path).map(|(_, kind, bytes)| (*kind, *bytes))
}

#[cfg(test)]
mod tests {
    use super::find;

    /// The licence of three.js asks that its notice goes with every copy.
    #[test]
    fn the_page_carries_the_notice_of_three_js() {
        let (_, script) = find("/lab.js").expect("the page has a script");
        let text = String::from_utf8_lossy(script);
        assert!(text.contains("three.js authors") && text.contains("Permission is hereby granted"));
    }
}
