//! `[[body]]`: a shape, what it is made of, and how it starts.

use super::defaults;
use super::fit::FitSpec;
use super::material::MaterialSpec;
use super::mesh::{Element, GluingSpec, MeshSpec, Rotation, Shape};
use super::quantity::{Mark, Quantity, SPACE};
use super::snapshot::Snapshot;
use crate::document::{Item, Reader, SceneError, Value};

/// One deformable body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodySpec {
    /// Unique in the scene.
    pub name: String,
    /// Its shape.
    pub mesh: MeshSpec,
    /// The elements it is cut into.
    pub element: Element,
    /// Of discontinuous tets: what holds them together.
    pub gluing: Option<GluingSpec>,
    /// What it is made of.
    pub material: MaterialSpec,
    /// How mass is put on vertices.
    pub mass: Mass,
    /// Physical damping; several add up.
    pub damping: Vec<Damping>,
    /// How it starts.
    pub initial: Initial,
    /// How it is made to move like a finer mesh.
    pub fit: Option<FitSpec>,
    /// A surface or mesh that it carries along, to be shown.
    pub display: Option<MeshSpec>,
    /// Where it was written.
    pub mark: Mark,
}

/// Mass matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mass {
    /// Diagonal.
    Lumped,
    /// ∫ρNₙNₘ.
    Consistent,
    /// Diagonal, kg: this field of the mesh file's points, as numerical coarsening writes it.
    Given(String),
}

/// A damping model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Damping {
    /// Midpoint Kelvin–Voigt: keeps both momenta, independent of the step.
    Viscous {
        /// Relaxation time k_D, s.
        time: f64,
    },
    /// The potential with last step's shape as rest shape.
    Kharevych {
        /// How strong.
        strength: Strength,
        /// Part of the step's minimisation, or a force of the last step.
        implicit: bool,
    },
    /// αM + βK.
    Rayleigh {
        /// Mass-proportional, 1/s.
        alpha: f64,
        /// Stiffness-proportional, s.
        beta: f64,
    },
}

impl Damping {
    /// Name in the catalogue of damping models.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Viscous { .. } => "viscous",
            Self::Kharevych { .. } => "kharevych",
            Self::Rayleigh { .. } => "rayleigh",
        }
    }
}

/// Strength of Kharevych damping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strength {
    /// k_D as a relaxation time, s.
    Time(f64),
    /// k_D as the paper's factor of the potential.
    Coefficient(f64),
}

/// How a body starts. The shape is changed first (stretch, twist, rotate, about its centre of mass), then the
/// velocities act.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Initial {
    /// m/s; formulas of x, y, z.
    pub velocity: Option<[Quantity; 3]>,
    /// About the centre of mass, rad/s.
    pub angular_velocity: Option<[f64; 3]>,
    /// Factors along x, y, z.
    pub stretch: Option<[f64; 3]>,
    /// A turn of the whole.
    pub rotate: Option<Rotation>,
    /// A twist along an axis.
    pub twist: Option<Twist>,
    /// Every position and velocity, instead of all the others.
    pub state: Option<Snapshot>,
}

/// Cross-sections turned about an axis in proportion to their position along it.
#[derive(Clone, Debug, PartialEq)]
pub struct Twist {
    /// Unit vector.
    pub axis: [f64; 3],
    /// By how much.
    pub amount: TwistAmount,
}

/// How much a twist turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TwistAmount {
    /// From one end of the body to the other, degrees.
    Degrees(f64),
    /// Per length, rad/m.
    Rate(f64),
}

impl BodySpec {
    /// Reads one body; `name` is what it is called if it has none of its own.
    pub(super) fn read(item: &Item<'_>, fallback: &str) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let name = reader.optional("name").map_or(Ok(fallback), |item| item.name())?.to_owned();
        reader.rename(format!("body.{name}"));
        let mesh = MeshSpec::read_required(&mut reader)?;
        let element = Element::read_of(&mut reader, &mesh.shape)?;
        let gluing = GluingSpec::read_of(&mut reader, element)?;
        let material = MaterialSpec::read_of(&mut reader, element != Element::Springs)?;
        let mass = reader
            .optional("mass")
            .map_or(Ok(Mass::Lumped), |item| Mass::read(&item, element, &mesh.shape))?;
        let damping = reader.optional("damping").map_or(Ok(Vec::new()), |item| read_damping(&item))?;
        let initial =
            reader.optional("initial").map_or(Ok(Initial::default()), |item| Initial::read(&item))?;
        let fit = FitSpec::read_of(&mut reader, element)?;
        let display = reader.optional("display").map(|item| read_display(&item, element)).transpose()?;
        reader.finish()?;
        let mark = Mark { path: format!("body.{name}"), ..Mark::from(item) };
        Ok(Self { name, mesh, element, gluing, material, mass, damping, initial, fit, display, mark })
    }
}

fn read_display(item: &Item<'_>, element: Element) -> Result<MeshSpec, SceneError> {
    if matches!(element, Element::Springs | Element::Membrane) {
        return Err(item.error("is for bodies of tets, which carry it along; leave it out"));
    }
    MeshSpec::read(item)
}

impl Mass {
    fn read(item: &Item<'_>, element: Element, shape: &Shape) -> Result<Self, SceneError> {
        if let Value::Table(_) = item.node.value {
            let mut reader = item.reader()?;
            let name = reader.required("point_data", "{ point_data = \"mass\" }")?.text()?.to_owned();
            reader.finish()?;
            if element != Element::Tets {
                return Err(item.error("masses of points are for bodies of tets; leave this out"));
            }
            return Ok(Self::Given(name));
        }
        let consistent = item.choice(&[("lumped", false), ("consistent", true)])?;
        let thin = matches!(shape, Shape::Cloth { .. } | Shape::File { thickness: Some(_), .. });
        if consistent && (thin || matches!(element, Element::Springs | Element::Membrane)) {
            return Err(item.error("springs and membranes have lumped mass; leave this out"));
        }
        Ok(if consistent { Self::Consistent } else { Self::Lumped })
    }
}

#[derive(Clone, Copy)]
enum Model {
    None,
    Viscous,
    Kharevych,
    Rayleigh,
}

const MODELS: &[(&str, Model)] = &[
    ("none", Model::None),
    ("viscous", Model::Viscous),
    ("kharevych", Model::Kharevych),
    ("rayleigh", Model::Rayleigh),
];

fn read_damping(item: &Item<'_>) -> Result<Vec<Damping>, SceneError> {
    match item.node.value {
        Value::Array(_) => {
            let models = item.members()?.map(|part| read_one_damping(&part));
            Ok(models.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
        }
        _ => Ok(read_one_damping(item)?.into_iter().collect()),
    }
}

fn read_one_damping(item: &Item<'_>) -> Result<Option<Damping>, SceneError> {
    const EXAMPLE: &str = "{ model = \"viscous\", time = 0.01 }";
    if let Value::Text(_) = item.node.value {
        return match item.choice(MODELS)? {
            Model::None => Ok(None),
            _ => Err(item.error(format!("needs its strength; write for example {EXAMPLE}"))),
        };
    }
    let mut reader = item.reader()?;
    let damping = match reader.required("model", EXAMPLE)?.choice(MODELS)? {
        Model::None => None,
        Model::Viscous => {
            Some(Damping::Viscous { time: reader.required("time", "time = 0.01 (s)")?.not_negative("s")? })
        }
        Model::Kharevych => {
            let strength = match (reader.optional("time"), reader.optional("coefficient")) {
                (Some(time), None) => Strength::Time(time.not_negative("s")?),
                (None, Some(factor)) => {
                    Strength::Coefficient(factor.not_negative("units of the step's k_D")?)
                }
                (Some(_), Some(factor)) => {
                    return Err(factor.error("time and coefficient both set the strength; keep one of them"));
                }
                (None, None) => Strength::Time(reader.required("time", "time = 0.01 (s)")?.number()?),
            };
            let implicit = reader.bool_or("implicit", defaults::KHAREVYCH_IMPLICIT)?;
            Some(Damping::Kharevych { strength, implicit })
        }
        Model::Rayleigh => {
            let mut factor =
                |key, unit: &str| reader.optional(key).map_or(Ok(0.0), |item| item.not_negative(unit));
            let (alpha, beta) = (factor("alpha", "1/s")?, factor("beta", "s")?);
            Some(Damping::Rayleigh { alpha, beta })
        }
    };
    reader.finish()?;
    Ok(damping)
}

impl Initial {
    fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let velocity = reader.optional("velocity").map(|item| Quantity::read3(&item, SPACE)).transpose()?;
        let angular_velocity = reader.optional_vector3("angular_velocity")?;
        let stretch = reader.optional("stretch").map(|item| read_stretch(&item)).transpose()?;
        let rotate = reader.optional("rotate").map(|item| Rotation::read(&item)).transpose()?;
        let twist = reader.optional("twist").map(|item| Twist::read(&item)).transpose()?;
        let state = match reader.optional("state") {
            Some(item) => {
                let others = [velocity.is_some(), angular_velocity.is_some(), stretch.is_some()];
                if others.contains(&true) || rotate.is_some() || twist.is_some() {
                    return Err(
                        item.error("says where everything starts and how it moves; take the other keys out")
                    );
                }
                Some(Snapshot::read(&item)?)
            }
            None => None,
        };
        reader.finish()?;
        Ok(Self { velocity, angular_velocity, stretch, rotate, twist, state })
    }
}

fn read_stretch(item: &Item<'_>) -> Result<[f64; 3], SceneError> {
    let stretch = item.vector3()?;
    if stretch.iter().all(|s| *s > 0.0) {
        Ok(stretch)
    } else {
        Err(item.error("must be positive; 1 leaves a direction as it is"))
    }
}

impl Twist {
    fn read(item: &Item<'_>) -> Result<Self, SceneError> {
        let mut reader: Reader<'_> = item.reader()?;
        let axis = reader.required("axis", "axis = [1, 0, 0]")?.direction()?;
        let amount = match (reader.optional("degrees"), reader.optional("rate")) {
            (Some(degrees), None) => TwistAmount::Degrees(degrees.number()?),
            (None, Some(rate)) => TwistAmount::Rate(rate.number()?),
            (Some(_), Some(rate)) => {
                return Err(rate.error("degrees and rate both set the twist; keep one of them"));
            }
            (None, None) => TwistAmount::Degrees(
                reader.number("degrees", "degrees = 90 (end to end), or rate = 0.5 (rad/m)")?,
            ),
        };
        reader.finish()?;
        Ok(Self { axis, amount })
    }
}
