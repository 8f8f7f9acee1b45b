//! `[[pin]]`, `[[load]]`, `[[contact]]`: what acts on bodies.

use super::quantity::{Mark, Quantity, SPACE_TIME, TIME};
use super::selector::{Selector, Target};
use crate::document::{Item, Reader, SceneError};
use crate::suggest;

/// Vertices held in place or led along a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct PinSpec {
    /// Number of the body.
    pub body: usize,
    /// Which vertices.
    pub selector: Selector,
    /// Displacement from where they start, m; formulas of t. Its derivative is the velocity.
    pub motion: Option<[Quantity; 3]>,
    /// Released at this time, s.
    pub until: Option<f64>,
    /// Which of x, y, z are held.
    pub axes: [bool; 3],
    /// Where it was written.
    pub mark: Mark,
}

/// A load.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadSpec {
    /// Number of the body.
    pub body: usize,
    /// Which vertices.
    pub selector: Selector,
    /// What is given.
    pub kind: LoadKind,
    /// Its components, formulas of x, y, z (rest position) and t.
    pub value: [Quantity; 3],
    /// Where it was written.
    pub mark: Mark,
}

/// What a load gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadKind {
    /// N in total, shared by the selected vertices.
    Force,
    /// Pa, on the selected part of the surface.
    Traction,
    /// N/m³.
    BodyForce,
    /// m/s².
    Acceleration,
}

/// A contact.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactSpec {
    /// What touches what.
    pub kind: ContactKind,
    /// As the scene gives it; absent: derived from the bodies.
    pub stiffness: Option<f64>,
    /// Where it was written.
    pub mark: Mark,
}

/// Kinds of contacts; lengths in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactKind {
    /// All bodies stay on the side of the plane that the normal points to.
    Plane {
        /// On the plane.
        point: [f64; 3],
        /// Unit vector.
        normal: [f64; 3],
    },
    /// All bodies stay outside (or inside) a sphere.
    Sphere {
        /// Its centre.
        center: [f64; 3],
        /// Its radius.
        radius: f64,
        /// Stay inside.
        inside: bool,
    },
    /// Bodies do not pass through each other.
    Bodies {
        /// Only these two; absent: every pair.
        between: Option<[usize; 2]>,
        /// Distance at which they feel each other; absent: derived from the meshes.
        thickness: Option<f64>,
    },
    /// A body does not pass through itself.
    Itself {
        /// Only this one; absent: every body.
        body: Option<usize>,
        /// Distance at which it feels itself; absent: derived from the mesh.
        thickness: Option<f64>,
    },
}

/// Names of the bodies, for references.
pub(super) struct Bodies<'n>(pub(super) &'n [String]);

impl Bodies<'_> {
    /// The number of the named body.
    pub(super) fn find(&self, item: &Item<'_>) -> Result<usize, SceneError> {
        let name = item.text()?;
        self.0.iter().position(|n| n == name).ok_or_else(|| {
            item.error(format!(
                "there is no body {}{}the scene has: {}",
                suggest::quoted(name),
                suggest::did_you_mean(name, self.0.iter().map(String::as_str)),
                suggest::list(self.0.iter().map(String::as_str))
            ))
        })
    }

    /// The `body` of a table; may be left out if there is only one.
    pub(super) fn of(&self, reader: &mut Reader<'_>) -> Result<usize, SceneError> {
        match (reader.optional("body"), self.0) {
            (Some(item), _) => self.find(&item),
            (None, [_]) => Ok(0),
            (None, names) => {
                let first = names.first().map_or("bar", String::as_str);
                let example = format!("body = {first:?}");
                self.find(&reader.required("body", &example)?)
            }
        }
    }
}

impl PinSpec {
    pub(super) fn read(item: &Item<'_>, bodies: &Bodies<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let body = bodies.of(&mut reader)?;
        let place = reader.required("where", "where = { nearest = [0, 0, 0] }")?;
        let selector = Selector::read(&place, Target::Vertices)?;
        let axes = reader.optional("axes").map_or(Ok([true; 3]), |item| read_axes(&item))?;
        let motion = match reader.optional("motion") {
            None => None,
            Some(item) => {
                let motion = Quantity::read3(&item, TIME)?;
                let free = motion.iter().zip(axes).any(|(m, held)| !held && m.constant() != Some(0.0));
                if free {
                    return Err(item.error("moves along an axis that `axes` leaves free; write 0 there"));
                }
                Some(motion)
            }
        };
        let until = reader.optional_positive("until", "s")?;
        reader.finish()?;
        Ok(Self { body, selector, motion, until, axes, mark: item.into() })
    }
}

fn read_axes(item: &Item<'_>) -> Result<[bool; 3], SceneError> {
    let mut axes = [false; 3];
    for axis in item.members()? {
        let index: usize = axis.choice(&[("x", 0), ("y", 1), ("z", 2)])?;
        if let Some(held) = axes.get_mut(index) {
            *held = true;
        }
    }
    if axes == [false; 3] {
        return Err(item.error("is empty and holds nothing; write for example axes = [\"z\"]"));
    }
    Ok(axes)
}

const LOADS: [(&str, LoadKind); 4] = [
    ("force", LoadKind::Force),
    ("traction", LoadKind::Traction),
    ("body_force", LoadKind::BodyForce),
    ("acceleration", LoadKind::Acceleration),
];

impl LoadSpec {
    pub(super) fn read(item: &Item<'_>, bodies: &Bodies<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let body = bodies.of(&mut reader)?;
        let place = reader.optional("where");
        let mut found = None;
        for (key, kind) in LOADS {
            let Some(value) = reader.optional(key) else {
                continue;
            };
            if found.is_some() {
                return Err(value.error(
                    "a load is one of force, traction, body_force, acceleration; write two [[load]]",
                ));
            }
            found = Some((kind, Quantity::read3(&value, SPACE_TIME)?));
        }
        reader.finish()?;
        let Some((kind, value)) = found else {
            return Err(item.error(
                "gives no load; write one of force (N), traction (Pa), body_force (N/m³), acceleration (m/s²), \
                 for example force = [0, -100, 0]",
            ));
        };
        let selector = match place {
            Some(place) => Selector::read(&place, Target::Vertices)?,
            None if matches!(kind, LoadKind::BodyForce | LoadKind::Acceleration) => Selector::All,
            None => Selector::read(
                &reader.required("where", "where = { nearest = [4, 0.5, 0.5] }")?,
                Target::Vertices,
            )?,
        };
        Ok(Self { body, selector, kind, value, mark: item.into() })
    }
}

#[derive(Clone, Copy)]
enum Touch {
    Plane,
    Sphere,
    Bodies,
    Itself,
}

impl ContactSpec {
    pub(super) fn read(item: &Item<'_>, bodies: &Bodies<'_>) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let kinds = [
            ("plane", Touch::Plane),
            ("sphere", Touch::Sphere),
            ("bodies", Touch::Bodies),
            ("self", Touch::Itself),
        ];
        let kind_item = reader.required("kind", "kind = \"plane\"")?;
        let kind = match kind_item.choice(&kinds)? {
            Touch::Plane => ContactKind::Plane {
                point: reader.required("point", "point = [0, 0, 0]")?.vector3()?,
                normal: reader.required("normal", "normal = [0, 1, 0]")?.direction()?,
            },
            Touch::Sphere => ContactKind::Sphere {
                center: reader.required("center", "center = [0, 0, 0]")?.vector3()?,
                radius: reader.required("radius", "radius = 1")?.positive("m")?,
                inside: reader.bool_or("inside", false)?,
            },
            Touch::Bodies => {
                if bodies.0.len() < 2 {
                    return Err(kind_item.error("needs two bodies; write kind = \"self\" for one"));
                }
                let between = reader.optional("between").map(|item| read_pair(&item, bodies)).transpose()?;
                ContactKind::Bodies { between, thickness: reader.optional_positive("thickness", "m")? }
            }
            Touch::Itself => ContactKind::Itself {
                body: reader.optional("body").map(|item| bodies.find(&item)).transpose()?,
                thickness: reader.optional_positive("thickness", "m")?,
            },
        };
        let stiffness = reader.optional_positive("stiffness", "SI units, as 1e6")?;
        reader.finish()?;
        Ok(Self { kind, stiffness, mark: item.into() })
    }
}

fn read_pair(item: &Item<'_>, bodies: &Bodies<'_>) -> Result<[usize; 2], SceneError> {
    let [a, b] = item.exactly("names of bodies")?;
    let pair = [bodies.find(&a)?, bodies.find(&b)?];
    let [a, b] = pair;
    if a == b {
        return Err(item.error("names one body twice; write kind = \"self\" for contact with itself"));
    }
    Ok(pair)
}
