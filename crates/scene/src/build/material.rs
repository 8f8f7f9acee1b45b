//! Materials per tet: constants, formulas, mesh data, regions.

use super::select;
use crate::document::SceneError;
use crate::schema::{BodySpec, Field, Mark, OwnMaterials, Parameters, STIFFNESS_KEYS};
use crate::suggest;
use lilyan_solid::materials::{ConstantsError, Given, Material};
use lilyan_solid::mesh::{Mesh, Nodes};
use std::collections::BTreeMap;

/// A material as the model takes it: one set of constants for all tets, or one for each.
pub struct ResolvedMaterial {
    /// The material model.
    pub model: &'static dyn Material,
    /// Constants as the scene gives them.
    pub given: Vec<Given>,
    /// Density, kg/m³.
    pub rho: Vec<f64>,
}

/// A constant of one tet, before it is interpreted.
#[derive(Clone, Default, PartialEq)]
struct Values(BTreeMap<String, f64>);

/// The material of a body of tets, region by region.
pub fn material(own: &OwnMaterials, spec: &BodySpec, nodes: &Nodes) -> Result<ResolvedMaterial, SceneError> {
    let mesh = nodes.mesh();
    let material = &spec.material;
    let Some(model) = own.find(&material.model) else {
        let message = suggest::unknown("material model", &material.model, &own.known());
        return Err(material.model_mark.error(message));
    };
    let known: Vec<&'static str> = model.card().parameters.iter().map(|p| p.name).collect();
    material.check_extra(&known)?;

    let uniform = material.regions.is_empty() && constant(&material.base);
    let count = if uniform { 1 } else { mesh.tets().len() };
    let mut values = vec![Values::default(); count];
    let everywhere = vec![true; count];
    apply(&material.base, mesh, &everywhere, &material.mark, &mut values)?;
    for region in &material.regions {
        let mask = select::tets(&region.selector, nodes, &region.mark)?;
        if !mask.contains(&true) {
            return Err(region.mark.error("`where` selects no element of the body"));
        }
        apply(&region.parameters, mesh, &mask, &region.mark, &mut values)?;
    }
    let (mut given, mut rho) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut constants = None;
    for (e, values) in values.iter().enumerate() {
        let place = |message: String| match uniform {
            true => material.mark.error(message),
            false => material.mark.error(format!("in element {e}: {message}")),
        };
        let one = interpret(values).map_err(place)?;
        // Once per tet, so that the message names it; also refuses a body that is part isotropic,
        // part not, whose sets of constants differ in length.
        let length = model.constants(&one).map_err(|e| place(e.to_string()))?.len();
        if *constants.get_or_insert(length) != length {
            return Err(place("give the 21 constants for the whole body or for no part".into()));
        }
        given.push(one);
        let density = values.0.get("rho").copied().unwrap_or(0.0);
        if !(density > 0.0 && density.is_finite()) {
            return Err(place(format!("the density rho = {density} must be positive, kg/m³")));
        }
        rho.push(density);
    }
    Ok(ResolvedMaterial { model, given, rho })
}

fn constant(p: &Parameters) -> bool {
    let named = [&p.young, &p.poisson, &p.lambda, &p.mu, &p.density];
    named.iter().all(|f| f.as_ref().is_none_or(|f| f.constant().is_some()))
        && p.extra.iter().all(|e| e.value.constant().is_some())
        && p.stiffness.iter().flat_map(|c| c.iter()).all(|f| f.constant().is_some())
}

/// Writes what is given here over what was given before; E, nu and lambda, mu replace each other.
fn apply(
    p: &Parameters,
    mesh: &Mesh,
    mask: &[bool],
    mark: &Mark,
    out: &mut [Values],
) -> Result<(), SceneError> {
    let replaces: &[(&Option<Field>, &str, &[&str])] = &[
        (&p.young, "E", &["lambda", "mu"]),
        (&p.poisson, "nu", &["lambda", "mu"]),
        (&p.lambda, "lambda", &["E", "nu"]),
        (&p.mu, "mu", &["E", "nu"]),
        (&p.density, "rho", &[]),
    ];
    for (field, key, others) in replaces {
        let Some(field) = field else { continue };
        for e in (0..out.len()).filter(|e| mask[*e]) {
            let value = evaluate(field, mesh, e, mark)?;
            // Lambda beside E in one table is the schema's business; here the later one wins.
            for other in others.iter().filter(|o| !given(p, o)) {
                out[e].0.remove(*other);
            }
            out[e].0.insert((*key).to_string(), value);
        }
    }
    for extra in &p.extra {
        for e in (0..out.len()).filter(|e| mask[*e]) {
            let value = evaluate(&extra.value, mesh, e, &extra.mark)?;
            out[e].0.insert(extra.key.clone(), value);
        }
    }
    if let Some(stiffness) = &p.stiffness {
        for e in (0..out.len()).filter(|e| mask[*e]) {
            for (key, field) in STIFFNESS_KEYS.iter().zip(stiffness.iter()) {
                out[e].0.insert((*key).to_string(), evaluate(field, mesh, e, mark)?);
            }
        }
    }
    Ok(())
}

fn given(p: &Parameters, key: &str) -> bool {
    match key {
        "E" => p.young.is_some(),
        "nu" => p.poisson.is_some(),
        "lambda" => p.lambda.is_some(),
        _ => p.mu.is_some(),
    }
}

fn evaluate(field: &Field, mesh: &Mesh, e: usize, mark: &Mark) -> Result<f64, SceneError> {
    match field {
        Field::Constant(x) => Ok(*x),
        Field::Expression(formula) => {
            let corners = mesh.corners(e);
            let mean = |k: usize| 0.25 * corners.iter().map(|c| c[k]).sum::<f64>();
            let tag = mesh.tags.get(e).copied().unwrap_or(0) as f64;
            Ok(formula.eval(&[mean(0), mean(1), mean(2), tag]))
        }
        Field::CellData(name) => match mesh.cell_data.get(name) {
            Some(values) => Ok(values[e]),
            None => {
                let known: Vec<&str> = mesh.cell_data.keys().map(String::as_str).collect();
                Err(mark.error(suggest::unknown("cell data", name, &known)))
            }
        },
    }
}

fn interpret(values: &Values) -> Result<Given, String> {
    let said = |e: ConstantsError| e.to_string();
    let get = |key: &str| values.0.get(key).copied();
    let general = get("C11").is_some();
    let mut given = match (get("E"), get("nu"), get("lambda"), get("mu")) {
        // Refused by the model or by the integrator, where they cannot do with it.
        (Some(young), Some(0.5), ..) => Given::incompressible(young).map_err(said)?,
        (Some(young), Some(poisson), ..) => Given::from_young(young, poisson).map_err(said)?,
        (_, _, Some(lambda), Some(mu)) => Given::from_lame(lambda, mu).map_err(said)?,
        _ if general => {
            // Moduli of the isotropic average (Voigt), for reports and estimates of stiffness.
            let c = |k: &str| get(k).unwrap_or(0.0);
            let diagonal = c("C11") + c("C22") + c("C33");
            let off = c("C12") + c("C13") + c("C23");
            let shear = c("C44") + c("C55") + c("C66");
            let mu = (diagonal - off + 3.0 * shear) / 15.0;
            Given::from_lame((diagonal + 2.0 * off) / 9.0 - 2.0 / 3.0 * mu, mu).map_err(said)?
        }
        _ => return Err("give E and nu, or lambda and mu".to_string()),
    };
    for (key, value) in &values.0 {
        if !["E", "nu", "lambda", "mu", "rho"].contains(&key.as_str()) {
            given.extra.insert(key.clone(), *value);
        }
    }
    Ok(given)
}
