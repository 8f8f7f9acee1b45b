//! `body.material`: elastic constants and density, everywhere or per region.

use super::kinds::{DATA, PER_ELEMENT, PLAIN};
use super::quantity::{Field, Mark};
use super::selector::{OF_ELEMENTS, Selector, Target};
use super::{defaults, stiffness};
use crate::document::key::{Absent, Bound, Case, Choice, Key, Kind, Range, TableSchema, When};
use crate::document::{Item, Reader, SceneError};
use crate::suggest;
use lilyan_solid::materials::CATALOGUE;

const MODEL: Key = Key::optional(
    "model",
    Kind::Word(models),
    "\"neo-hookean\"",
    Absent::Word(defaults::MODEL),
    "The material model, as `lilyan materials` lists them.",
);
const REGIONS: Key = Key::optional(
    "regions",
    Kind::list(const { &Kind::Table(&REGION) }),
    "[{ where = { tag = 3 }, E = 1e6 }]",
    Absent::Means("the same everywhere"),
    "Parts of the body with other constants; a later region replaces an earlier one.",
)
.only("bodies of tets");
const YOUNG: Key = Key::optional(
    "E",
    Kind::Either(&[Kind::positive("Pa"), PER_ELEMENT, DATA]),
    "1e5",
    Absent::Means("`lambda` and `mu`, or `C`, are given instead"),
    "Young's modulus; a formula of x, y, z, tag is taken at the centroid of each element.",
);
const POISSON: Key = Key::optional(
    "nu",
    Kind::Either(&[
        Kind::Number { range: Range { lower: Bound::Excluded(-1.0), upper: Bound::Included(0.5) }, unit: "" },
        PER_ELEMENT,
        DATA,
    ]),
    "0.3",
    Absent::Means("`lambda` and `mu`, or `C`, are given instead"),
    "Poisson's ratio.",
);
// λ may be negative (ν < 0), so only its finiteness is checked.
const LAMBDA: Key = Key::optional(
    "lambda",
    Kind::Either(&[Kind::number_in("Pa"), PER_ELEMENT, DATA]),
    "6e4",
    Absent::Means("`E` and `nu`, or `C`, are given instead"),
    "Lamé's first constant; of springs, the force per strain in N.",
);
const MU: Key = Key::optional(
    "mu",
    Kind::Either(&[Kind::positive("Pa"), PER_ELEMENT, DATA]),
    "4e4",
    Absent::Means("`E` and `nu`, or `C`, are given instead"),
    "Shear modulus.",
);
const DENSITY: Key = Key::optional(
    "rho",
    Kind::Either(&[Kind::positive("kg/m³"), PER_ELEMENT, DATA]),
    "1000",
    Absent::Means("required for tets and membranes"),
    "Density at rest.",
);
/// A constant of one model.
const CONSTANT: Kind = Kind::Either(&[PLAIN, PER_ELEMENT, DATA]);

static TABLE: TableSchema = TableSchema {
    name: "material",
    doc: "What a body is made of: E and nu, or lambda and mu, or the 21 constants of a general stiffness; rho; and \
          constants of the model.",
    keys: &[MODEL, REGIONS, YOUNG, POISSON, LAMBDA, MU, DENSITY, stiffness::WHOLE],
    cases,
    exclusive: EXCLUSIVE,
};

static REGION: TableSchema = TableSchema {
    name: "material.regions",
    doc: "A part of a body with constants of its own, which replace those of the body.",
    keys: &[WHERE, YOUNG, POISSON, LAMBDA, MU, DENSITY, stiffness::WHOLE],
    cases: || {
        let mut keys = stiffness::single_keys();
        keys.extend(CATALOGUE.iter().flat_map(|m| m.card().parameters).map(constant_key));
        vec![Case { when: When::Always, doc: "Constants of the model of the body.", keys }]
    },
    exclusive: EXCLUSIVE,
};

const EXCLUSIVE: &[[&str; 2]] = &[["E", "lambda"], ["E", "mu"], ["nu", "lambda"], ["nu", "mu"]];
const WHERE: Key = Key::required("where", OF_ELEMENTS, "{ tag = 3 }", "Which elements.");

/// `material` of a body.
pub(super) const MATERIAL: Key = Key::optional(
    "material",
    Kind::Table(&TABLE),
    "{ model = \"neo-hookean\", E = 1e5, nu = 0.3, rho = 1000 }",
    Absent::Means("required, except for points with masses of their own"),
    "What the body is made of.",
);

/// The law of springs, which is no energy density of a solid.
const SPRINGS: Choice =
    Choice { name: defaults::SPRING_MODEL, doc: "½k(|s| − l₀)² along every spring" };

fn models() -> Vec<Choice> {
    let solids = CATALOGUE.iter().map(|m| Choice { name: m.card().name, doc: m.card().summary });
    solids.chain([SPRINGS]).collect()
}

fn cases() -> Vec<Case> {
    let case = |name, doc, keys| Case {
        when: When::Is { key: MODEL.name, value: name, default: name == defaults::MODEL },
        doc,
        keys,
    };
    let solid = |m: &&dyn lilyan_solid::materials::Material| {
        let card = m.card();
        case(card.name, card.summary, card.parameters.iter().map(constant_key).collect())
    };
    let general = Case { when: When::Always, doc: "", keys: stiffness::single_keys() };
    let springs = case(SPRINGS.name, SPRINGS.doc, Vec::new());
    std::iter::once(general).chain(CATALOGUE.iter().map(solid)).chain([springs]).collect()
}

fn constant_key(parameter: &lilyan_solid::materials::Parameter) -> Key {
    let absent = parameter.default.map_or(Absent::Means("derived from the moduli"), Absent::Number);
    Key::optional(parameter.name, CONSTANT, "", absent, parameter.doc)
}

/// What a body is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct MaterialSpec {
    /// Name in `lilyan materials`, not yet checked.
    pub model: String,
    /// Where the model was named (or the material was written).
    pub model_mark: Mark,
    /// Values everywhere.
    pub base: Parameters,
    /// Values of regions, which replace those of `base`; a later region replaces an earlier one.
    pub regions: Vec<Region>,
    /// Where it was written.
    pub mark: Mark,
}

/// A part of a body with values of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Which elements.
    pub selector: Selector,
    /// What is different there.
    pub parameters: Parameters,
    /// Where it was written.
    pub mark: Mark,
}

/// Constants as they were given; what is absent follows from the others or is left to the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    /// `E`, Young's modulus, Pa.
    pub young: Option<Field>,
    /// `nu`, Poisson's ratio, −1 < ν ≤ ½.
    pub poisson: Option<Field>,
    /// `lambda`, Lamé's first, Pa.
    pub lambda: Option<Field>,
    /// `mu`, shear modulus, Pa.
    pub mu: Option<Field>,
    /// `rho`, kg/m³.
    pub density: Option<Field>,
    /// `C` or `C11`…`C66`: upper triangle of the 6×6 stiffness, row by row as [`super::STIFFNESS_KEYS`], Pa;
    /// strains xx, yy, zz, yz, xz, xy with engineering shear (Voigt).
    ///
    /// `C = { cell_data = "C" }` takes the fields `C11`, `C12`, … of the mesh file.
    pub stiffness: Option<Box<[Field; 21]>>,
    /// Constants of the model itself, to be checked against its card.
    pub extra: Vec<Parameter>,
}

/// A constant that only the model knows.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub key: String,
    /// Its value.
    pub value: Field,
    /// Where it was written.
    pub mark: Mark,
}

impl MaterialSpec {
    /// Reads the `material` of a body; `solid` bodies must give moduli and a density.
    pub(super) fn read_of(body: &mut Reader<'_>, solid: bool) -> Result<Self, SceneError> {
        match body.optional(&MATERIAL) {
            Some(item) => Self::read(&item, solid),
            None if solid => Self::read(&body.required(&MATERIAL)?, solid),
            None => Ok(Self {
                model: defaults::SPRING_MODEL.to_owned(),
                model_mark: Mark::default(),
                base: Parameters::default(),
                regions: Vec::new(),
                mark: Mark::default(),
            }),
        }
    }

    /// Reads a `material`.
    pub fn read(item: &Item<'_>, solid: bool) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let model_item = reader.optional(&MODEL);
        let model_mark = model_item.as_ref().map_or_else(|| item.into(), Mark::from);
        let fallback = if solid { defaults::MODEL } else { defaults::SPRING_MODEL };
        let model = model_item.map_or(Ok(fallback), |item| item.name())?.to_owned();
        let mut regions = Vec::new();
        if let Some(list) = reader.optional(&REGIONS) {
            for item in list.members()? {
                regions.push(Region::read(&item)?);
            }
        }
        let base = Parameters::read(&mut reader)?;
        if solid {
            base.require_solid(item, &mut reader)?;
        }
        Ok(Self { model, model_mark, base, regions, mark: item.into() })
    }

    /// Refuses constants that the model does not have; `known` are those of its card.
    pub fn check_extra(&self, known: &[&'static str]) -> Result<(), SceneError> {
        let all = self.regions.iter().map(|r| &r.parameters).chain([&self.base]);
        for parameter in all.flat_map(|p| &p.extra) {
            if known.contains(&parameter.key.as_str()) {
                continue;
            }
            let mut names = vec!["E", "nu", "lambda", "mu", "rho", "C"];
            names.extend_from_slice(known);
            let message = format!(
                "unknown key {} for the model {:?}{}known keys: {}",
                suggest::quoted(&parameter.key),
                self.model,
                suggest::did_you_mean(&parameter.key, names.iter().copied()),
                names.join(", ")
            );
            return Err(parameter.mark.error(message));
        }
        Ok(())
    }
}

impl Region {
    fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let place = reader.required(&WHERE)?;
        let selector = Selector::read(&place, Target::Elements)?;
        let rest = reader.rest(Kind::Text);
        if let Some((_, model)) = rest.iter().find(|(entry, _)| entry.key == MODEL.name) {
            return Err(model.error("a body has one model; write a second body or only change its constants"));
        }
        let parameters = Parameters::read(&mut reader)?;
        if parameters == Parameters::default() {
            return Err(item.error("changes nothing; give for example E = 1e6"));
        }
        Ok(Self { selector, parameters, mark: item.into() })
    }
}

impl Parameters {
    fn read(reader: &mut Reader<'_>) -> Result<Self, SceneError> {
        let mut field = |key| reader.optional(key).map(|item| Field::read(&item)).transpose();
        let (young, poisson) = (field(&YOUNG)?, field(&POISSON)?);
        let (lambda, mu) = (field(&LAMBDA)?, field(&MU)?);
        let density = field(&DENSITY)?;
        if (young.is_some() || poisson.is_some()) && (lambda.is_some() || mu.is_some()) {
            return Err(reader.error("gives both E, nu and lambda, mu; keep one pair"));
        }
        let stiffness = stiffness::read(reader)?;
        let mut extra = Vec::new();
        for (entry, item) in reader.rest(CONSTANT) {
            let long = entry.key.chars().count() > 3;
            let known = ["model", "regions", "lambda", "rho", "E", "nu", "mu"];
            // Constants of models are short or have names of their own; what is nearly one of ours is a slip.
            if long && suggest::nearest(&entry.key, known).is_some() {
                return Err(reader.unknown(entry));
            }
            extra.push(Parameter {
                key: entry.key.clone(),
                value: Field::read(&item)?,
                mark: (&item).into(),
            });
        }
        Ok(Self { young, poisson, lambda, mu, density, stiffness, extra })
    }

    fn require_solid(&self, item: &Item<'_>, reader: &mut Reader<'_>) -> Result<(), SceneError> {
        if self.density.is_none() {
            reader.required(&DENSITY)?;
        }
        if self.young.is_some() && self.poisson.is_none() {
            reader.required(&POISSON)?;
        }
        if self.poisson.is_some() && self.young.is_none() {
            reader.required(&YOUNG)?;
        }
        if self.lambda.is_some() && self.mu.is_none() {
            reader.required(&MU)?;
        }
        let any = self.young.is_some() || self.lambda.is_some() || self.mu.is_some();
        if !any && self.stiffness.is_none() && self.extra.is_empty() {
            return Err(
                item.error(format!("gives no elastic constants; write for example {}", MATERIAL.line()))
            );
        }
        Ok(())
    }
}
