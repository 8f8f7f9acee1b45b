//! Notices of what the program contains.

use super::common::{BAR, expect, folder, text};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_package_of_the_lock_file_has_its_notice() {
    let dir = folder("licenses", BAR);
    let notices = text(&expect(&dir, &["licenses"], 0).stdout);
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let mut foreign = 0;
    for package in lock.split("[[package]]").skip(1).filter(|package| package.contains("\nsource = ")) {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")));
            line.and_then(|line| line.strip_suffix('"')).unwrap().to_owned()
        };
        let (name, version) = (value("name"), value("version"));
        assert!(
            notices.contains(&format!("| {name} | {version} | ")),
            "{name} {version} has no notice: run .ci/third-party"
        );
        foreign += 1;
    }
    assert!(foreign > 100, "{foreign} packages");
    let listed =
        notices.lines().filter(|line| line.starts_with("| ") && line.matches('|').count() == 4).count();
    assert_eq!(listed, foreign + 2, "all packages, three.js and the head: run .ci/third-party");
}

/// The MIT licence asks that its notice goes with every copy: the bundle that the page loads, and the program.
#[test]
fn the_notice_of_three_js_is_shipped() {
    let notice = "Copyright © 2010-2026 three.js authors";
    let permission = "The above copyright notice and this permission notice shall be included in";
    let dir = folder("three", BAR);
    let bundle = fs::read_to_string(root().join("apps/lab/page/dist/lab.js")).unwrap();
    for (place, text) in
        [("dist/lab.js", bundle), ("lilyan licenses", text(&expect(&dir, &["licenses"], 0).stdout))]
    {
        assert!(text.contains(notice) && text.contains(permission), "{place}");
    }
    let version = text(&expect(&dir, &["--version"], 0).stdout);
    assert!(version.contains("lilyan licenses"), "{version}");
}
