//! `fit` of a body: the frequencies of a finer mesh on a coarse one.

use super::element::Element;
use super::mesh::{self, MeshSpec};
use super::quantity::Mark;
use crate::document::key::{Absent, Case, Key, Kind, Range, TableSchema, When, words};
use crate::document::{Item, Reader, SceneError};
use lilyan_dynamics::fit::MOST_MODES;

const RATIO: Kind = Kind::Number { range: Range::closed(1e-3, 1e3), unit: "" };
const SQUARE: Kind = Kind::positive("1/s²");
const MODE_COUNT: Kind = Kind::count(1, MOST_MODES as u32);

const RATIOS: Key = Key::required(
    "ratios",
    Kind::List { of: &RATIO, least: 0, most: MOST_MODES },
    "[0.41, 0.45]",
    "Factors on ω² of the lowest modes.",
);
const VALUES: Key =
    Key::required("values", Kind::list(&SQUARE), "[39.5, 158.0]", "ω² of the modes of the fine body.");
const SHAPES: Key = Key::required(
    "shapes",
    Kind::Text,
    "\"mode\"",
    "Shapes of these modes: point data NAME_1_x, NAME_1_y, NAME_1_z, NAME_2_x, … of the mesh file.",
);
const FROM_MODES: Key = Key::required(
    "modes",
    MODE_COUNT,
    "10",
    "How many modes of the coarse body the modes of the fine one are made from.",
);
const PHASES: Key = Key::required(
    "phases",
    Kind::List { of: const { &Kind::Table(&PHASE) }, least: 1, most: usize::MAX },
    "[{ until = 1, ratios = [0.4] }, { ratios = [0.5] }]",
    "What the modes are to be from time to time, where pins are released.",
);
const STIFFNESS: Key = Key::required("stiffness", RATIO, "0.41", "Factor on all moduli.");
const FINE: Key = Key::required("fine", mesh::KIND, "\"fine.msh\"", "A finer mesh of the same body.");
const METHOD: Key = Key::optional(
    "method",
    Kind::Word(|| words(METHODS)),
    "\"dac\"",
    Absent::Word("eigenfit"),
    "Each mode has its own factor (eigenfit), or the first mode sets the stiffness of all (dac).",
);
const METHODS: &[(&str, bool)] = &[("eigenfit", false), ("dac", true)];
const MODES: Key =
    Key::optional("modes", MODE_COUNT, "10", Absent::Number(10.0), "How many modes are fitted.");
const CORRECTED: Key = Key::optional(
    "corrected",
    MODE_COUNT,
    "6",
    Absent::Means("all"),
    "How many modes of the fine body are taken over. The others of `modes` are computed, so that modes can be told apart in the \
     deformed body, and stay as they are.",
);
const UNTIL: Key = Key::optional(
    "until",
    Kind::positive("s"),
    "1.0",
    Absent::Means("to the end"),
    "Time at which the phase ends.",
);

static TABLE: TableSchema = TableSchema {
    name: "fit",
    doc: "How a coarse body is made to move like a finer one.",
    keys: &[],
    cases: || {
        let mut cases = targets();
        cases.push(case(&[PHASES]));
        cases.push(case(&[STIFFNESS]));
        cases.push(case(&[FINE, METHOD, MODES, CORRECTED]));
        cases
    },
    exclusive: &[],
};

static PHASE: TableSchema = TableSchema {
    name: "fit.phases",
    doc: "What the modes are to be while the same nodes are held.",
    keys: &[UNTIL],
    cases: targets,
    exclusive: &[],
};

/// `fit` of a body.
pub(super) const FIT: Key = Key::optional(
    "fit",
    Kind::Table(&TABLE),
    "{ fine = \"fine.msh\", modes = 10 }",
    Absent::Means("no fit"),
    "Makes the lowest modes of a coarse body those of a finer mesh.",
)
.only("bodies of tets");

fn targets() -> Vec<Case> {
    vec![case(&[RATIOS]), case(&[VALUES, SHAPES, FROM_MODES])]
}

fn case(keys: &[Key]) -> Case {
    let first = keys.first();
    Case {
        when: first.map_or(When::Always, |key| When::Has(key.name)),
        doc: first.map_or("", |key| key.doc),
        keys: keys.to_vec(),
    }
}

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
        /// How many modes are computed.
        modes: u32,
        /// How many of them become modes of the fine body; absent: all.
        corrected: Option<u32>,
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
        let Some(item) = body.optional(&FIT) else { return Ok(None) };
        if !element.is_continuous_solid() {
            return Err(item.misplaced(&FIT));
        }
        let mut reader = item.reader()?;
        let keys = ["ratios", "values", "phases", "stiffness", "fine"];
        let given: Vec<&str> = keys.into_iter().filter(|key| reader.peek(key)).collect();
        let kind = match given.as_slice() {
            ["ratios"] | ["values"] => {
                FitKind::Phases(vec![PhaseSpec { until: None, target: read_target(&mut reader)? }])
            }
            ["phases"] => FitKind::Phases(read_phases(&reader.required(&PHASES)?)?),
            ["stiffness"] => FitKind::Stiffness(read_ratio(&reader.required(&STIFFNESS)?)?),
            ["fine"] => {
                let mesh = Box::new(MeshSpec::read(&reader.required(&FINE)?)?);
                let dac = reader.choice(&METHOD, METHODS)?;
                let modes = reader.count_or_default(&MODES)?;
                let corrected = match reader.optional(&CORRECTED) {
                    Some(item) if item.count()? > modes => {
                        return Err(item.error(format!(
                            "corrects more modes than the {modes} that are computed; raise `modes`"
                        )));
                    }
                    given => given.map(|item| item.count()).transpose()?,
                };
                FitKind::Fine { mesh, modes, corrected, dac }
            }
            [] => {
                // So that a misspelt key is told what is known.
                let known = [RATIOS, PHASES, STIFFNESS, FINE, MODES, METHOD, CORRECTED, VALUES, SHAPES];
                known.iter().for_each(|key| drop(reader.optional(key)));
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
    let ratio = item.finite()?;
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
    let Some(item) = reader.optional(&VALUES) else {
        return Ok(TargetSpec::Ratios(read_ratios(&reader.required(&RATIOS)?)?));
    };
    let values = item.members()?.map(|v| v.finite()).collect::<Result<Vec<_>, _>>()?;
    if let Some(wrong) = values.iter().find(|v| **v <= 0.0) {
        return Err(
            item.error(format!("{wrong} is no ω² of a mode that is fitted; give numbers above 0, 1/s²"))
        );
    }
    let shapes = reader.required(&SHAPES)?.text()?.to_string();
    let from = reader.required(&FROM_MODES)?.count()?;
    if values.len() > from as usize {
        return Err(item.error(format!("has {} modes, made from {from}; raise `modes`", values.len())));
    }
    Ok(TargetSpec::Modes { values, shapes, from })
}

fn read_phases(item: &Item<'_>) -> Result<Vec<PhaseSpec>, SceneError> {
    let mut phases: Vec<PhaseSpec> = Vec::new();
    for item in item.members()? {
        let mut reader = item.reader()?;
        let until = reader.optional_number(&UNTIL)?;
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
