//! `lilyan integrators` and `lilyan materials`: what is built in, from the catalogues.

use crate::failure::CommandResult;
use crate::output;
use lilyan_dynamics::analysis::{Stability, stability};
use lilyan_dynamics::integrators::{CATALOGUE, Entry};
use lilyan_dynamics::options::Kind;
use lilyan_scene::schema::Element;
use lilyan_solid::{contact, damping, materials};
use lilyan_study::citations;
use serde_json::{Value, json};

/// List the integrators with their properties.
#[derive(clap::Args)]
#[command(after_help = "Example: lilyan integrators --json")]
pub struct IntegratorsArguments {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// List the materials, elements, damping and contact models with their properties.
#[derive(clap::Args)]
#[command(after_help = "Example: lilyan materials --json")]
pub struct MaterialsArguments {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

fn citation(key: &str) -> Value {
    json!({ "key": key, "text": citations::find(key).map(|c| c.text) })
}

fn default_of(kind: &Kind) -> String {
    match kind {
        Kind::Number { default, .. } | Kind::NumberOr { default, .. } => format!("{default:?}"),
        Kind::Flag { default } => default.to_string(),
        Kind::Formula { .. } => "absent".to_owned(),
        Kind::Word { choices } => format!("\"{}\"", choices[0]),
    }
}

pub fn integrators(arguments: &IntegratorsArguments) -> CommandResult {
    let described: Vec<Value> = CATALOGUE.iter().map(describe).collect();
    if arguments.json {
        output::json(&json!({ "integrators": described }));
        return Ok(());
    }
    let mark = |v: &Value| if v.as_bool() == Some(true) { "yes" } else { "–" }.to_string();
    let header =
        ["name", "order", "explicit", "symplectic", "keeps P", "keeps L", "keeps E", "stable for", ""];
    let mut rows = vec![header.map(String::from).to_vec()];
    for d in &described {
        rows.push(vec![
            d["name"].as_str().unwrap_or("").to_string(),
            d["order"].to_string(),
            mark(&d["explicit"]),
            mark(&d["symplectic"]),
            mark(&d["conserves"]["linear_momentum"]),
            mark(&d["conserves"]["angular_momentum"]),
            mark(&d["conserves"]["energy"]),
            d["stable_for"].as_str().unwrap_or("").to_string(),
            d["summary"].as_str().unwrap_or("").to_string(),
        ]);
    }
    output::table(&rows);
    output::line("\nstability on nonlinear systems, and on those that a method splits, is limited to:");
    for d in &described {
        if let Some(limit) = d["limit"].as_str() {
            output::line(format!("  {}: {limit}", d["name"].as_str().unwrap_or("")));
        }
    }
    output::line("\noptions (integrator.KEY in the scene):");
    for entry in CATALOGUE {
        for option in entry.options {
            output::line(format!(
                "  {}.{} = {}  {}",
                entry.name,
                option.name,
                default_of(&option.kind),
                option.doc
            ));
        }
    }
    cite(CATALOGUE.iter().map(|e| (e.name, e.cite)));
    Ok(())
}

/// Whom to cite for what.
fn cite(entries: impl Iterator<Item = (&'static str, &'static str)>) {
    output::line("\nto cite:");
    for (name, key) in entries {
        let text = citations::find(key).map_or_else(|| key.to_string(), |c| c.text);
        output::line(format!("  {name}: {text}"));
    }
}

fn describe(entry: &Entry) -> Value {
    let Ok(mut integrator) = entry.create(&[]) else { return Value::Null };
    let claims = integrator.claims();
    let stable = match stability(integrator.as_mut()) {
        Stability::Always => match entry.stable_deformed {
            Some(limit) if limit >= 100.0 => "every step".to_string(),
            Some(limit) => format!("every small motion; large ones: hω < {}", 2.0 * limit),
            None => "unknown; see `lilyan check`".to_string(),
        },
        Stability::Adaptive => "its own steps".to_string(),
        Stability::Below(angle) => format!("hω < {angle:.3}"),
        Stability::Never => "no undamped step".to_string(),
    };
    let options: Vec<Value> = entry
        .options
        .iter()
        .map(|o| json!({ "name": o.name, "doc": o.doc, "default": default_of(&o.kind) }))
        .collect();
    json!({
        "name": entry.name,
        "summary": entry.summary,
        "order": claims.order,
        "order_with_damping": claims.damped_order,
        "explicit": claims.explicit,
        "symplectic": claims.symplectic,
        "reversible": claims.reversible,
        "conserves": {
            "linear_momentum": claims.linear_momentum,
            "angular_momentum": claims.angular_momentum,
            "energy": claims.energy,
        },
        "stable_for": stable,
        "stable_deformed_h_omega": entry.stable_deformed.map(|limit| 2.0 * limit),
        "limit": integrator.limit(),
        "options": options,
        "cite": citation(entry.cite),
    })
}

pub fn materials(arguments: &MaterialsArguments) -> CommandResult {
    let cards: Vec<&materials::Card> = materials::CATALOGUE.iter().map(|m| m.card()).collect();
    if arguments.json {
        let materials: Vec<Value> = cards
            .iter()
            .map(|c| {
                let parameters: Vec<Value> = c
                    .parameters
                    .iter()
                    .map(|p| json!({ "name": p.name, "doc": p.doc, "default": p.default }))
                    .collect();
                json!({
                    "name": c.name,
                    "summary": c.summary,
                    "formula": c.formula,
                    "parameters": parameters,
                    "frame_indifferent": c.frame_indifferent,
                    "survives_inversion": c.survives_inversion,
                    "cite": citation(c.cite),
                })
            })
            .collect();
        let dampings: Vec<Value> = damping::CATALOGUE
            .iter()
            .map(|d| {
                json!({
                    "name": d.name,
                    "summary": d.summary,
                    "keeps_momenta": d.keeps_momenta,
                    "cite": citation(d.cite),
                })
            })
            .collect();
        let contacts: Vec<Value> = contact::CATALOGUE
            .iter()
            .map(|c| {
                let parameters: Vec<Value> = c
                    .parameters
                    .iter()
                    .map(|p| json!({ "name": p.name, "doc": p.doc, "unit": p.unit }))
                    .collect();
                json!({
                    "name": c.name,
                    "summary": c.summary,
                    "parameters": parameters,
                    "cite": citation(c.cite),
                })
            })
            .collect();
        let elements: Vec<Value> = Element::all()
            .iter()
            .map(|(e, summary)| json!({ "name": e.name(), "summary": summary }))
            .collect();
        output::json(&json!({
            "materials": materials,
            "damping": dampings,
            "elements": elements,
            "contact": contacts,
        }));
        return Ok(());
    }
    let mut rows = vec![["name", "inverts", "energy density", ""].map(String::from).to_vec()];
    for c in &cards {
        let survives = if c.survives_inversion { "survives" } else { "refuses" };
        rows.push([c.name, survives, c.formula, c.summary].map(String::from).to_vec());
    }
    output::table(&rows);
    output::line("\nelements (body.element in the scene):");
    let row = |(e, summary): &(Element, &str)| vec![format!("  {}", e.name()), (*summary).to_string()];
    output::table(&Element::all().iter().map(row).collect::<Vec<_>>());
    output::line("\ndamping:");
    let row = |d: &&damping::DampingCard| vec![format!("  {}", d.name), d.summary.to_string()];
    output::table(&damping::CATALOGUE.iter().map(row).collect::<Vec<_>>());
    output::line("\ncontact (contact.model in the scene):");
    let row = |c: &&contact::ContactCard| vec![format!("  {}", c.name), c.summary.to_string()];
    output::table(&contact::CATALOGUE.iter().map(row).collect::<Vec<_>>());
    let dampings = damping::CATALOGUE.iter().map(|d| (d.name, d.cite));
    let contacts = contact::CATALOGUE.iter().map(|c| (c.name, c.cite));
    cite(cards.iter().map(|c| (c.name, c.cite)).chain(dampings).chain(contacts));
    Ok(())
}
