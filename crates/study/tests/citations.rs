//! Whatever a catalogue cites is in references.bib, with what a reader needs to find it.

use lilyan_dynamics::integrators;
use lilyan_solid::{contact, damping, materials};
use lilyan_study::citations::{find, has};

/// Everything that cites, by kind and name.
fn cited() -> Vec<(String, &'static str)> {
    let integrators = integrators::CATALOGUE.iter().map(|e| (format!("integrator {}", e.name), e.cite));
    let materials = materials::CATALOGUE.iter().map(|m| m.card());
    let materials = materials.map(|c| (format!("material {}", c.name), c.cite));
    let damping = damping::CATALOGUE.iter().map(|c| (format!("damping {}", c.name), c.cite));
    let contacts = contact::CATALOGUE.iter().map(|c| (format!("contact {}", c.name), c.cite));
    let coarsening = lilyan_study::coarsen::CATALOGUE.iter();
    let coarsening = coarsening.map(|m| (format!("coarsening by {}", m.name), m.cite));
    integrators.chain(materials).chain(damping).chain(contacts).chain(coarsening).collect()
}

/// The value of a field of an entry as it stands in the file.
fn field(key: &str, name: &str) -> Option<String> {
    let text = include_str!("../../../references.bib");
    let entry = text.split("\n@").find(|e| e.contains(&format!("{{{key},")))?;
    let start = format!("{name} = {{");
    let line = entry.lines().find(|l| l.trim_start().starts_with(&start))?;
    let value = line.trim_start().strip_prefix(&start)?.strip_suffix("},")?;
    Some(value.replace(['{', '}'], ""))
}

#[test]
fn every_card_cites_an_entry_with_author_title_and_year() {
    for (who, key) in cited() {
        assert!(has(key), "{who} cites {key}, which is not in references.bib");
        let citation = find(key).unwrap_or_else(|| panic!("{key} cannot be read"));
        for name in ["author", "title", "year"] {
            let value = field(key, name).unwrap_or_else(|| panic!("{key} has no {name}"));
            assert!(!value.is_empty(), "{key}: {name} is empty");
            assert!(citation.text.contains(&value), "{key}: {:?} lacks the {name} {value:?}", citation.text);
        }
    }
}

#[test]
fn every_entry_is_whole_and_alone() {
    let text = include_str!("../../../references.bib");
    let keys: Vec<&str> = text
        .lines()
        .filter(|l| l.starts_with('@'))
        .map(|l| l.split_once('{').expect("a brace").1.trim_end_matches(','))
        .collect();
    assert!(!keys.is_empty());
    for key in &keys {
        assert_eq!(keys.iter().filter(|k| *k == key).count(), 1, "{key} is there twice");
        let venue = ["journal", "booktitle", "publisher", "school"].iter().any(|v| field(key, v).is_some());
        assert!(venue, "{key} does not say where it appeared");
        let year = field(key, "year").unwrap_or_default();
        assert!(key.ends_with(&year) && year.len() == 4, "{key} is of {year:?}");
        if let Some(doi) = field(key, "doi") {
            assert!(doi.starts_with("10.") && doi.contains('/'), "{key}: {doi} is no DOI");
        }
    }
}

#[test]
fn a_scene_cites_its_contact_models() {
    let text = r#"
time = { end = 1, step = 0.01 }
[[body]]
mesh = { box = { size = [1, 1, 1], cells = [1, 1, 1] } }
material = { model = "stvk", E = 1e5, nu = 0.3, rho = 1000 }
[[contact]]
kind = "self"
model = "barrier"
"#;
    let scene = lilyan_scene::schema::Scene::from_str_with(text, "scene.toml", &[]);
    let cited = lilyan_study::citations::for_scene(&scene.unwrap_or_else(|e| panic!("{e}")));
    assert!(cited.contains(&find("li2020").expect("an entry")), "{cited:?}");
}
