//! What to cite for a run: entries of references.bib by key.

use lilyan_dynamics::integrators;
use lilyan_report::Citation;
use lilyan_scene::schema::{Element, Scene};

const BIBLIOGRAPHY: &str = include_str!("../../../references.bib");

/// The works behind the integrator, the materials, the damping and the contacts of a scene.
pub fn for_scene(scene: &Scene) -> Vec<Citation> {
    let mut keys: Vec<&str> = Vec::new();
    keys.extend(integrators::find(&scene.integrator.name).map(|e| e.cite));
    if !scene.constraints.is_empty() {
        keys.push(if scene.integrator.name == "energy-momentum" { "gonzalez1999" } else { "andersen1983" });
    }
    for body in &scene.bodies {
        keys.extend(scene.materials.find(&body.material.model).map(|m| m.card().cite));
        // The λ of springs comes from there.
        keys.extend((body.element == Element::Springs).then_some("kharevych2010"));
        keys.extend(body.fit.is_some().then_some("chen2019"));
        keys.extend(body.damping.iter().map(|damping| damping.card.cite));
    }
    keys.extend(scene.contacts.iter().map(|contact| contact.card.cite));
    let mut seen = std::collections::BTreeSet::new();
    keys.retain(|key| seen.insert(*key));
    keys.into_iter().filter_map(find).collect()
}

/// The entry with that key.
pub fn find(key: &str) -> Option<Citation> {
    let start = BIBLIOGRAPHY.find(&format!("{{{key},"))?;
    let entry = BIBLIOGRAPHY[start..].split("\n}").next()?;
    let field = |name: &str| {
        let line = entry.lines().find(|l| l.trim_start().starts_with(&format!("{name} = ")))?;
        let value = line.split_once('=')?.1.trim().trim_end_matches(',');
        Some(value.replace(['{', '}'], "").trim_matches('"').to_string())
    };
    let venue = ["journal", "booktitle", "publisher", "school"].into_iter().find_map(&field);
    let text = [field("author"), field("title"), venue, field("year")];
    Some(Citation {
        text: text.into_iter().flatten().collect::<Vec<_>>().join(". "),
        url: field("doi").map(|doi| format!("https://doi.org/{doi}")),
    })
}

/// Whether references.bib has the key.
pub fn has(key: &str) -> bool {
    BIBLIOGRAPHY.contains(&format!("{{{key},"))
}
