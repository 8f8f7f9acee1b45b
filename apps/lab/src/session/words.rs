//! What the library says for a terminal, in the words of the page.

use lilyan_scene::document::{Place, SceneError};

/// What is wrong with a scene: the file and line only of files that the user sent; a setting otherwise.
pub fn of(error: &SceneError) -> String {
    let SceneError { origin, place, path, message } = error;
    let message = without_options(message);
    let setting = match path.as_str() {
        // For a terminal the file's name comes before it.
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

/// Options of commands become fields of the page.
pub fn without_options(text: &str) -> String {
    const FIELDS: &[(&str, &str)] = &[
        (", or choose another with --reference", ""),
        ("shorten the scene with --set time.end=…", "simulate a shorter time"),
        ("raise --budget", "allow more time for each run"),
        ("--budget gives", "a longer time for each run gives"),
        ("give shorter ones with --step-sizes", "give shorter ones, or simulate a longer time"),
        ("give longer ones with --step-sizes", "give longer ones"),
        (" (name it with --integrators to see it)", ""),
        ("choose one with --body", "choose one"),
        ("use --method ", "use the method "),
        ("--tets: ", ""),
    ];
    FIELDS.iter().fold(text.to_owned(), |text, (option, field)| text.replace(option, field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_setting_and_files_that_were_sent() {
        let at =
            |origin: &str, place: Place| of(&SceneError::at(origin, place, "time.step", "must be positive"));
        assert_eq!(at("built-in:pendulum", Place::Override), "time.step: must be positive");
        assert_eq!(at("built-in:pendulum", Place::Line(7)), "time.step: must be positive");
        let bare = SceneError::file("built-in:chain", "has no body of tets to coarsen");
        assert_eq!(of(&bare), "the scene has no body of tets to coarsen");
        assert_eq!(at("/tmp/secret/x.toml", Place::Line(7)), "x.toml:7: time.step: must be positive");
    }

    /// Every option that the library speaks of is known here.
    #[test]
    fn no_option_of_a_command_is_left() {
        let sources = [
            include_str!("../../../../crates/scene/src/compare/mod.rs"),
            include_str!("../../../../crates/scene/src/compare/plan.rs"),
            include_str!("../../../../crates/scene/src/coarsen/mod.rs"),
            include_str!("../../../../crates/scene/src/coarsen/carry.rs"),
        ];
        for source in sources {
            // Strings go on over lines.
            let code: Vec<&str> = source.lines().filter(|l| !l.trim_start().starts_with("//")).collect();
            let code = code.join(" ").replace("\\ ", "");
            let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
            let left = without_options(&code);
            let option = left
                .match_indices("--")
                .find(|(i, _)| left[i + 2..].starts_with(|c: char| c.is_ascii_lowercase()));
            assert!(
                option.is_none(),
                "{:?}",
                option.map(|(i, _)| &left[i.saturating_sub(60)..left.len().min(i + 40)])
            );
        }
    }
}
