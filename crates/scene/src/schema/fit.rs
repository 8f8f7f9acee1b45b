//! `fit` of a body: the frequencies of a finer mesh on a coarse one.

use super::mesh::{Element, MeshSpec};
use super::quantity::Mark;
use crate::document::{Item, Reader, SceneError};
use lilyan_dynamics::fit::MOST_MODES;

/// How a coarse body is made to move like a fine one \[chen2019\].
#[derive(Clone, Debug, PartialEq)]
pub struct FitSpec {
    /// What is given.
    pub kind: FitKind,
    /// Where it was written.
    pub mark: Mark,
}

/// What a fit is given by.
#[derive(Clone, Debug, PartialEq)]
pub enum FitKind {
    /// What the modes are to be from time to time.
    Phases(Vec<PhaseSpec>),
    /// All moduli times this.
    Stiffness(f64),
    /// A finer mesh of the same body.
    Fine {
        /// The mesh.
        mesh: Box<MeshSpec>,
        /// How many modes.
        modes: u32,
        /// The first mode sets the stiffness of all (DAC), instead of each its own (EigenFit).
        dac: bool,
    },
}

/// A target while the same nodes are held.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseSpec {
    /// Up to this time, s; absent: to the end.
    pub until: Option<f64>,
    /// What the modes are to be.
    pub target: TargetSpec,
}

/// What the lowest modes at rest are to be, rigid motions not counted.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetSpec {
    /// As they are, with λ times this.
    Ratios(Vec<f64>),
    /// Modes of a fine body.
    Modes {
        /// λ, 1/s².
        values: Vec<f64>,
        /// Shapes, as point data of the mesh: `NAME_1_x`, `NAME_1_y` and so on.
        shapes: String,
        /// How many modes of the coarse body they are made from.
        from: u32,
    },
}

const EXAMPLE: &str = "fit = { fine = \"fine.msh\", modes = 10 }, fit = { ratios = [0.41, 0.45] } or fit = { stiffness = 0.41 }";

impl FitSpec {
    /// Reads the `fit` of a body.
    pub(super) fn read_of(body: &mut Reader<'_>, element: Element) -> Result<Option<Self>, SceneError> {
        let Some(item) = body.optional("fit") else { return Ok(None) };
        if element != Element::Tets {
            return Err(item.error("is for bodies of tets; leave it out"));
        }
        let mut reader = item.reader()?;
        let keys = ["ratios", "values", "phases", "stiffness", "fine"];
        let given: Vec<&str> = keys.into_iter().filter(|key| reader.peek(key)).collect();
        let kind = match given.as_slice() {
            ["ratios"] | ["values"] => {
                FitKind::Phases(vec![PhaseSpec { until: None, target: read_target(&mut reader)? }])
            }
            ["phases"] => FitKind::Phases(read_phases(&reader.required("phases", EXAMPLE)?)?),
            ["stiffness"] => FitKind::Stiffness(read_ratio(&reader.required("stiffness", EXAMPLE)?)?),
            ["fine"] => {
                let mesh = Box::new(MeshSpec::read(&reader.required("fine", EXAMPLE)?)?);
                let methods = [("eigenfit", false), ("dac", true)];
                let dac = reader.optional("method").map_or(Ok(false), |item| item.choice(&methods))?;
                let modes = reader.optional("modes").map_or(Ok(10), |m| m.count(1, MOST_MODES as u32))?;
                FitKind::Fine { mesh, modes, dac }
            }
            [] => {
                // So that a misspelt key is told what is known.
                let known = ["ratios", "phases", "stiffness", "fine", "modes", "method", "values", "shapes"];
                known.into_iter().for_each(|key| drop(reader.optional(key)));
                reader.finish()?;
                return Err(item.error(format!("says nothing; write for example {EXAMPLE}")));
            }
            several => {
                return Err(
                    item.error(format!("{} are one too many; keep one of them", several.join(" and ")))
                );
            }
        };
        reader.finish()?;
        Ok(Some(Self { kind, mark: Mark::from(&item) }))
    }
}

/// A factor between bodies that are still the same one.
fn read_ratio(item: &Item<'_>) -> Result<f64, SceneError> {
    let ratio = item.number()?;
    if (1e-3..=1e3).contains(&ratio) {
        return Ok(ratio);
    }
    Err(item.error(format!(
        "{ratio} is no ratio of two meshes of one body; it lies between 0.001 and 1000, mostly below 1"
    )))
}

fn read_ratios(item: &Item<'_>) -> Result<Vec<f64>, SceneError> {
    let ratios = item.members()?.map(|r| read_ratio(&r)).collect::<Result<Vec<_>, _>>()?;
    if ratios.len() > MOST_MODES {
        return Err(item.error(format!("has {} modes; more than {MOST_MODES} are not seen", ratios.len())));
    }
    Ok(ratios)
}

/// `ratios`, or `values`, `shapes` and `modes`.
fn read_target(reader: &mut Reader<'_>) -> Result<TargetSpec, SceneError> {
    let Some(item) = reader.optional("values") else {
        return Ok(TargetSpec::Ratios(read_ratios(&reader.required("ratios", "ratios = [0.41, 0.45]")?)?));
    };
    let values = item.members()?.map(|v| v.number()).collect::<Result<Vec<_>, _>>()?;
    if let Some(wrong) = values.iter().find(|v| **v <= 0.0) {
        return Err(
            item.error(format!("{wrong} is no ω² of a mode that is fitted; give numbers above 0, 1/s²"))
        );
    }
    let shapes = reader.required("shapes", "shapes = \"mode\"")?.text()?.to_string();
    let from = reader.required("modes", "modes = 10")?.count(1, MOST_MODES as u32)?;
    if values.len() > from as usize {
        return Err(item.error(format!("has {} modes, made from {from}; raise `modes`", values.len())));
    }
    Ok(TargetSpec::Modes { values, shapes, from })
}

fn read_phases(item: &Item<'_>) -> Result<Vec<PhaseSpec>, SceneError> {
    let mut phases: Vec<PhaseSpec> = Vec::new();
    for item in item.members()? {
        let mut reader = item.reader()?;
        let until = reader.optional_positive("until", "s")?;
        let target = read_target(&mut reader)?;
        reader.finish()?;
        let ended = phases.last().map(|p| p.until);
        if ended.is_some_and(|last| last.is_none() || until.is_some_and(|u| Some(u) <= last)) {
            return Err(item.error(
                "comes after a phase that ends no earlier; give `until` in rising order, none in the last",
            ));
        }
        phases.push(PhaseSpec { until, target });
    }
    if phases.is_empty() {
        return Err(item
            .error("has no phases; write for example [{ until = 1, ratios = [0.4] }, { ratios = [0.5] }]"));
    }
    Ok(phases)
}
