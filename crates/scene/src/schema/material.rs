//! `body.material`: elastic constants and density, everywhere or per region.

use super::defaults;
use super::quantity::{Field, Mark};
use super::selector::{Selector, Target};
use crate::document::{Item, Reader, SceneError, Value};
use crate::suggest;

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
    /// `C` or `C11`…`C66`: upper triangle of the 6×6 stiffness, row by row as [`STIFFNESS_KEYS`], Pa;
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

/// Names of the 21 constants of a general stiffness, in the order of [`Parameters::stiffness`].
pub const STIFFNESS_KEYS: [&str; 21] = [
    "C11", "C12", "C13", "C14", "C15", "C16", "C22", "C23", "C24", "C25", "C26", "C33", "C34", "C35", "C36",
    "C44", "C45", "C46", "C55", "C56", "C66",
];

const EXAMPLE: &str = "material = { model = \"neo-hookean\", E = 1e5, nu = 0.3, rho = 1000 }";

impl MaterialSpec {
    /// Reads the `material` of a body; `solid` bodies must give moduli and a density.
    pub(super) fn read_of(body: &mut Reader<'_>, solid: bool) -> Result<Self, SceneError> {
        match body.optional("material") {
            Some(item) => Self::read(&item, solid),
            None if solid => Self::read(&body.required("material", EXAMPLE)?, solid),
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
        let model_item = reader.optional("model");
        let model_mark = model_item.as_ref().map_or_else(|| item.into(), Mark::from);
        let fallback = if solid { defaults::MODEL } else { defaults::SPRING_MODEL };
        let model = model_item.map_or(Ok(fallback), |item| item.name())?.to_owned();
        let mut regions = Vec::new();
        if let Some(list) = reader.optional("regions") {
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
        let place = reader.required("where", "where = { tag = 3 }")?;
        let selector = Selector::read(&place, Target::Elements)?;
        if let Some(model) = reader.optional("model") {
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
        let positive = |reader: &mut Reader<'_>, key, unit: &str| {
            reader
                .optional(key)
                .map(|item| checked(&item, |v| v > 0.0, &format!("positive, in {unit}")))
                .transpose()
        };
        let young = positive(reader, "E", "Pa")?;
        let poisson = reader
            .optional("nu")
            .map(|item| checked(&item, |v| v > -1.0 && v <= 0.5, "above -1 and at most 0.5"))
            .transpose()?;
        // λ may be negative (ν < 0), so only its finiteness is checked.
        let lambda = reader.optional("lambda").map(|item| Field::read(&item)).transpose()?;
        let mu = positive(reader, "mu", "Pa")?;
        let density = positive(reader, "rho", "kg/m³")?;
        if (young.is_some() || poisson.is_some()) && (lambda.is_some() || mu.is_some()) {
            return Err(reader.error("gives both E, nu and lambda, mu; keep one pair"));
        }
        let stiffness = read_stiffness(reader)?;
        let mut extra = Vec::new();
        for (entry, item) in reader.rest() {
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
            reader.required("rho", "rho = 1000 (kg/m³)")?;
        }
        if self.young.is_some() && self.poisson.is_none() {
            reader.required("nu", "nu = 0.3")?;
        }
        if self.poisson.is_some() && self.young.is_none() {
            reader.required("E", "E = 1e5 (Pa)")?;
        }
        if self.lambda.is_some() && self.mu.is_none() {
            reader.required("mu", "mu = 4e4 (Pa)")?;
        }
        let any = self.young.is_some() || self.lambda.is_some() || self.mu.is_some();
        if !any && self.stiffness.is_none() && self.extra.is_empty() {
            return Err(item.error(format!("gives no elastic constants; write for example {EXAMPLE}")));
        }
        Ok(())
    }
}

/// A field whose value, where it is one number, must pass a test.
fn checked(item: &Item<'_>, test: impl Fn(f64) -> bool, must_be: &str) -> Result<Field, SceneError> {
    let field = Field::read(item)?;
    match field.constant() {
        Some(value) if !test(value) => {
            Err(item.error(format!("must be {must_be}, not {value}; correct the value")))
        }
        _ => Ok(field),
    }
}

fn read_stiffness(reader: &mut Reader<'_>) -> Result<Option<Box<[Field; 21]>>, SceneError> {
    let whole = reader.optional("C");
    let mut constants = [const { Field::Constant(0.0) }; 21];
    let mut single = None;
    for (key, slot) in STIFFNESS_KEYS.iter().zip(&mut constants) {
        // Ask only for those present: 21 names would drown the list of known keys.
        if reader.peek(key)
            && let Some(item) = reader.optional(key)
        {
            *slot = Field::read(&item)?;
            single = Some(item);
        }
    }
    match (whole, single) {
        (None, None) => return Ok(None),
        (Some(_), Some(item)) => return Err(item.error("is given besides C; keep one of them")),
        (None, Some(item)) => {
            for (key, value) in STIFFNESS_KEYS.iter().zip(&constants) {
                let mut digits = key.chars().skip(1);
                let diagonal = digits.next() == digits.next();
                if diagonal && value.constant().is_some_and(|v| v <= 0.0) {
                    return Err(
                        item.error(format!("{key} must be positive as well; give C11, C22, … C66 in Pa"))
                    );
                }
            }
        }
        (Some(item), None) => {
            if let Value::Table(_) = item.node.value {
                if let Field::CellData(name) = Field::read(&item)? {
                    for (key, slot) in STIFFNESS_KEYS.iter().zip(&mut constants) {
                        let indices = key.strip_prefix('C').unwrap_or(key);
                        *slot = Field::CellData(format!("{name}{indices}"));
                    }
                }
            } else {
                let items = item.exactly::<21>("numbers (C11, C12, … C16, C22, … C66)")?;
                for (slot, item) in constants.iter_mut().zip(items) {
                    *slot = Field::read(&item)?;
                }
            }
        }
    }
    Ok(Some(Box::new(constants)))
}
