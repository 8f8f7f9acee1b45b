//! Texts that the library writes for a terminal, changed so that they make sense on the page.

use lilyan_scene::document::{Place, SceneError};

/// What is wrong with a scene. File and line are given only for files that the user sent; otherwise the setting is named.
pub fn scene_error(error: &SceneError) -> String {
    let SceneError { origin, place, path, message } = error;
    let message = without_options(message);
    let setting = match path.as_str() {
        // On a terminal the name of the file comes first.
        "" if message.starts_with("has ") => format!("the scene {message}"),
        "" => message,
        path => format!("{path}: {message}"),
    };
    let file = origin.rsplit(['/', '\\']).next().unwrap_or_default();
    match place {
        Place::Line(line) if !origin.starts_with("built-in:") => format!("{file}:{line}: {setting}"),
        _ => setting,
    }
}

/// Replaces options of the command line by the fields of the page.
pub fn without_options(text: &str) -> String {
    const FIELDS: &[(&str, &str)] = &[
        (", or choose another with --reference", ""),
        ("shorten the scene with --set time.end=…", "simulate a shorter time"),
        ("raise --budget", "allow more time for each run"),
        ("--budget gives", "a longer time for each run gives"),
        ("give shorter ones with --step-sizes", "give shorter ones, or simulate a longer time"),
        ("give longer ones with --step-sizes", "give longer ones"),
        ("try shorter ones with --step-sizes", "try shorter ones"),
        (" (name it with --integrators to see it)", ""),
        ("choose one with --body", "choose one"),
        ("use --method ", "use the method "),
        ("--tets: ", ""),
        ("--mesh: ", ""),
        (" (lilyan coarsen --compare)", ""),
        ("let --tets N make a grid", "give a number of tets"),
    ];
    FIELDS.iter().fold(text.to_owned(), |text, (option, field)| text.replace(option, field))
}

/// What a change of the settings with these paths is called.
pub fn settings<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    let paths: Vec<&str> = paths.collect();
    let of_material = |path: &&str| keys(path).starts_with(&["body", "material"]);
    if paths.len() > 1 && paths.iter().all(of_material) {
        return "material".into();
    }
    let mut words: Vec<String> = Vec::new();
    for path in paths {
        let word = setting(path);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(", ")
}

/// The keys of a path without numbers of lists.
fn keys(path: &str) -> Vec<&str> {
    path.split(['.', '[', ']']).filter(|key| !key.is_empty() && key.parse::<usize>().is_err()).collect()
}

/// A setting in words.
fn setting(path: &str) -> String {
    let keys = keys(path);
    let known = match keys.as_slice() {
        ["body", "material", "E"] => "stiffness E",
        ["body", "material", "nu"] => "Poisson's ratio ν",
        ["body", "material", "rho"] => "density ρ",
        ["body", "material"] | ["body", "material", "model"] => "material",
        ["body", "mesh", ..] => "mesh",
        ["body", "damping", ..] => "damping",
        ["body", "initial", ..] => "start of a body",
        ["time", "step"] => "step",
        ["integrator"] | ["integrator", "name"] => "integrator",
        ["environment", "gravity", ..] => "gravity",
        ["environment", "monopole", ..] => "monopole",
        ["contact", "stiffness"] => "contact stiffness",
        ["contact", ..] => "contact",
        ["constraint", ..] => "constraint",
        ["pin", ..] => "pin",
        ["load", ..] => "force",
        _ => "",
    };
    match (known, keys.as_slice()) {
        ("", ["integrator", option, ..]) => format!("{} of the integrator", option.replace('_', " ")),
        ("", ["body", "material", constant, ..]) => format!("{constant} of the material"),
        ("", [.., last]) => last.replace('_', " "),
        _ => known.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    #[test]
    fn errors_name_the_setting_and_files_that_were_sent() {
        let at = |origin: &str, place: Place| {
            scene_error(&SceneError::at(origin, place, "time.step", "must be positive"))
        };
        assert_eq!(at("built-in:pendulum", Place::Override), "time.step: must be positive");
        assert_eq!(at("built-in:pendulum", Place::Line(7)), "time.step: must be positive");
        let bare = SceneError::file("built-in:chain", "has no body of tets to coarsen");
        assert_eq!(scene_error(&bare), "the scene has no body of tets to coarsen");
        assert_eq!(at("/tmp/secret/x.toml", Place::Line(7)), "x.toml:7: time.step: must be positive");
    }

    #[test]
    fn changes_have_names_in_words() {
        let words = |paths: &[&str]| settings(paths.iter().copied());
        assert_eq!(words(&["body.0.material.E"]), "stiffness E");
        assert_eq!(words(&["body.0.material.E", "body.0.material.nu", "body.0.material.rho"]), "material");
        assert_eq!(words(&["environment.gravity", "environment.monopole"]), "gravity, monopole");
        assert_eq!(words(&["contact.0.stiffness"]), "contact stiffness");
        assert_eq!(words(&["integrator.max_iterations"]), "max iterations of the integrator");
        assert_eq!(words(&["body[1].mesh.box.cells"]), "mesh");
        assert_eq!(words(&["time.end"]), "end");
    }

    /// Folders of the library whose texts can come to the page.
    const LIBRARY: &[&str] = &["dynamics", "mesh-io", "scene", "solid", "solve", "study"];
    /// Folders in these whose texts cannot: runs into a folder, the origin of settings (which [`scene_error`] leaves out), and
    /// the reference of scene files.
    const TERMINAL: &[&str] = &["study/src/run", "scene/src/document", "scene/src/reference"];

    /// Adds the Rust files below a folder.
    fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if TERMINAL.iter().any(|folder| path.ends_with(folder)) {
                continue;
            }
            if path.is_dir() {
                collect(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }

    /// The text around the first option of a command that is left in a source file.
    fn option_left(source: &str) -> Option<String> {
        // Strings can continue on the next line.
        let code: Vec<&str> = source.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
        let code = code.join(" ").replace("\\ ", "");
        let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
        let left = without_options(&code);
        let is_option = |i: usize| left[i + 2..].starts_with(|c: char| c.is_ascii_lowercase());
        let (at, _) = left.match_indices("--").find(|(i, _)| is_option(*i))?;
        let before = left[..at].chars().rev().take(60).collect::<Vec<_>>();
        Some(before.into_iter().rev().chain(left[at..].chars().take(40)).collect())
    }

    /// Every option that the library names is replaced. All source files are read, so that a new one is checked too.
    #[test]
    fn no_option_of_a_command_is_left() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
        let mut files = Vec::new();
        for name in LIBRARY {
            collect(&crates.join(name).join("src"), &mut files);
        }
        for file in ["study/src/compare/mod.rs", "study/src/coarsen/transfer.rs"] {
            assert!(files.iter().any(|path| path.ends_with(file)), "{file} is not read");
        }
        for folder in TERMINAL {
            assert!(crates.join(folder).is_dir(), "{folder} does not exist any more");
        }
        for file in files {
            let left = option_left(&std::fs::read_to_string(&file).unwrap());
            assert!(left.is_none(), "{}: {left:?}", file.display());
        }
        assert!(option_left("let text = \"use \\\n    --unknown to see it\";").is_some());
    }
}
