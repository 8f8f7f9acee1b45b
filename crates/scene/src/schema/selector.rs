//! `where`: which vertices or elements of a body are meant.

use super::quantity::{SPACE, SPACE_TAG};
use crate::document::{Item, SceneError, Value};
use crate::expression::Expression;

/// A choice of vertices (pins, loads) or elements (material regions), in rest positions.
#[derive(Clone, Debug, PartialEq)]
pub enum Selector {
    /// Everything.
    All,
    /// Inside a box, its faces included, m.
    Box {
        /// Smallest corner.
        min: [f64; 3],
        /// Largest corner.
        max: [f64; 3],
    },
    /// Inside a sphere, its surface included, m.
    Sphere {
        /// Centre.
        center: [f64; 3],
        /// Radius.
        radius: f64,
    },
    /// Elements with this tag (and their vertices).
    Tag(i64),
    /// Elements of a named region of the mesh file (and their vertices).
    Region(String),
    /// A named vertex set of the mesh file.
    Set(String),
    /// Vertices by number, from 0.
    Vertices(Vec<u32>),
    /// The vertex nearest to a point, m.
    Nearest([f64; 3]),
    /// Where a formula is not 0: of x, y, z for vertices; of x, y, z, tag at the centroid for elements.
    Formula(Expression),
    /// On the surface (true) or inside (false).
    Surface(bool),
    /// In any of these: `where = [ …, … ]`.
    Union(Vec<Selector>),
    /// In all of these: several keys in one table.
    Intersection(Vec<Selector>),
}

/// What is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Vertices.
    Vertices,
    /// Elements.
    Elements,
}

impl Selector {
    /// Reads a `where`.
    pub fn read(item: &Item<'_>, target: Target) -> Result<Self, SceneError> {
        match &item.node.value {
            Value::Text(text) if text == "all" => Ok(Self::All),
            Value::Text(text) if text == "surface" && target == Target::Vertices => Ok(Self::Surface(true)),
            Value::Text(_) => Ok(Self::Formula(item.formula(variables(target))?)),
            Value::Array(_) => {
                let parts = item.members()?.map(|part| Self::read(&part, target));
                let parts = parts.collect::<Result<Vec<_>, _>>()?;
                if parts.is_empty() {
                    return Err(
                        item.error("is an empty list and selects nothing; write \"all\" or a { box = … }")
                    );
                }
                Ok(Self::Union(parts))
            }
            Value::Table(_) => Self::read_table(item, target),
            other => Err(item.error(format!(
                "expected \"all\", a formula, a table as {{ box = … }}, or a list of these, found {}",
                other.kind()
            ))),
        }
    }

    fn read_table(item: &Item<'_>, target: Target) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let mut parts = Vec::new();
        if let Some(all) = reader.optional("all") {
            if !all.bool()? {
                return Err(all.error("must be true; leave it out and say what to select instead"));
            }
            parts.push(Self::All);
        }
        if let Some(item) = reader.optional("box") {
            parts.push(read_box(&item)?);
        }
        if let Some(item) = reader.optional("sphere") {
            let mut sphere = item.reader()?;
            let center = sphere.required("center", "center = [0, 0, 0]")?.vector3()?;
            let radius = sphere.required("radius", "radius = 0.1")?.positive("m")?;
            sphere.finish()?;
            parts.push(Self::Sphere { center, radius });
        }
        if let Some(item) = reader.optional("tag") {
            parts.push(Self::Tag(item.integer()?));
        }
        if let Some(item) = reader.optional("region") {
            parts.push(Self::Region(item.text()?.to_owned()));
        }
        if let Some(item) = reader.optional("expression") {
            parts.push(Self::Formula(item.formula(variables(target))?));
        }
        if target == Target::Vertices {
            if let Some(item) = reader.optional("set") {
                parts.push(Self::Set(item.text()?.to_owned()));
            }
            if let Some(item) = reader.optional("vertices") {
                let numbers = item.members()?.map(|n| n.count(0, u32::MAX - 1));
                let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
                if numbers.is_empty() {
                    return Err(item.error("is empty and selects nothing; give vertex numbers, from 0"));
                }
                parts.push(Self::Vertices(numbers));
            }
            if let Some(point) = reader.optional_vector3("nearest")? {
                parts.push(Self::Nearest(point));
            }
            if let Some(item) = reader.optional("surface") {
                parts.push(Self::Surface(item.bool()?));
            }
        }
        reader.finish()?;
        match parts.len() {
            0 => Err(item.error("selects nothing; write \"all\" or for example { nearest = [0, 0, 0] }")),
            1 => parts.pop().ok_or_else(|| item.error("selects nothing")),
            _ => Ok(Self::Intersection(parts)),
        }
    }
}

fn read_box(item: &Item<'_>) -> Result<Selector, SceneError> {
    let mut reader = item.reader()?;
    let min = reader.required("min", "min = [-0.01, -1, -1]")?.vector3()?;
    let max = reader.required("max", "max = [0.01, 2, 2]")?.vector3()?;
    reader.finish()?;
    for ((low, high), axis) in min.iter().zip(&max).zip(["x", "y", "z"]) {
        if low > high {
            return Err(item.error(format!("min is above max along {axis} ({low} > {high}); exchange them")));
        }
    }
    Ok(Selector::Box { min, max })
}

fn variables(target: Target) -> &'static [&'static str] {
    match target {
        Target::Vertices => SPACE,
        Target::Elements => SPACE_TAG,
    }
}
