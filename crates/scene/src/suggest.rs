//! The nearest known name to a misspelt one.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

/// Words that people write for a name of the scene file, and that name.
const SYNONYMS: &[(&str, &str)] = &[
    ("dt", "step"),
    ("h", "step"),
    ("timestep", "step"),
    ("time_step", "step"),
    ("duration", "end"),
    ("t_end", "end"),
    ("density", "rho"),
    ("young", "E"),
    ("youngs_modulus", "E"),
    ("poisson", "nu"),
    ("poisson_ratio", "nu"),
    ("shear_modulus", "mu"),
    ("bodies", "body"),
    ("object", "body"),
    ("fixed", "pin"),
    ("dirichlet", "pin"),
    ("force", "load"),
    ("solver", "integrator"),
    ("method", "integrator"),
    ("centre", "center"),
    ("position", "at"),
    ("omega", "angular_velocity"),
    ("spin", "angular_velocity"),
    ("angle", "degrees"),
    ("selection", "where"),
    ("resolution", "cells"),
    ("type", "kind"),
    ("type", "model"),
    ("log", "ln"),
    ("fabs", "abs"),
    ("arcsin", "asin"),
    ("arccos", "acos"),
    ("arctan", "atan"),
    ("heaviside", "step"),
];

/// Names longer than this are not worth a comparison (and may be hostile).
const LONGEST: usize = 64;

/// Number of edits (insertion, deletion, replacement, swap of neighbours) between two names, case ignored.
///
/// ```
/// assert_eq!(lilyan_scene::suggest::distance("setp", "step"), 1);
/// ```
pub fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(&a.to_lowercase(), &b.to_lowercase())
}

/// The known name nearest to `name`, if any is near enough to be what was meant.
///
/// A synonym (or a misspelt synonym) of a known name counts as near.
///
/// ```
/// use lilyan_scene::suggest::nearest;
/// assert_eq!(nearest("setp", ["end", "step"]), Some("step"));
/// assert_eq!(nearest("densty", ["E", "nu", "rho"]), Some("rho"));
/// assert_eq!(nearest("zebra", ["end", "step"]), None);
/// ```
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if name.is_empty() || name.len() > LONGEST {
        return None;
    }
    let allowed = (name.chars().count() / 3).max(1);
    let mut best: Option<(usize, &'k str)> = None;
    let mut offer = |edits: usize, candidate: &'k str| {
        if best.is_none_or(|(b, _)| edits < b) {
            best = Some((edits, candidate));
        }
    };
    for candidate in known {
        if candidate.len() > LONGEST {
            continue;
        }
        let edits = distance(name, candidate);
        // One edit turns any one-letter name into any other: ask for more in common than length.
        let distinct = candidate.chars().count() > 1 && edits < candidate.chars().count();
        if edits == 0 || (edits <= allowed && distinct) {
            offer(2 * edits, candidate);
        }
        for (word, meaning) in SYNONYMS {
            if *meaning == candidate {
                let edits = distance(name, word);
                if edits == 0 || (edits <= allowed && word.len() > 3) {
                    offer(2 * edits + 1, candidate);
                }
            }
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// What joins a complaint about a name to what is known instead: `; did you mean "step"? ` if a known name is
/// near, otherwise `; `.
pub fn did_you_mean<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    match nearest(name, known) {
        Some(near) => format!("; did you mean {near:?}? "),
        None => "; ".to_owned(),
    }
}

/// A name or text from a file, safe to print: quoted, control characters escaped, cut at 60 characters.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((cut, _)) => format!("{:?}…", text.get(..cut).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

/// Names with commas between; of many, the first 30 and how many more there are.
pub fn list<'k>(names: impl IntoIterator<Item = &'k str>) -> String {
    let mut names = names.into_iter();
    let mut shown: Vec<String> = names.by_ref().take(30).map(str::to_owned).collect();
    match names.count() {
        0 => {}
        more => shown.push(format!("… and {more} more")),
    }
    shown.join(", ")
}

/// `there is no region "botom"; did you mean "bottom"? known: bottom, top`.
pub fn unknown(kind: &str, name: &str, known: &[&str]) -> String {
    let list = if known.is_empty() { "none".to_string() } else { known.join(", ") };
    let hint = did_you_mean(name, known.iter().copied());
    format!("there is no {kind} {}{hint}known: {list}", quoted(name))
}
