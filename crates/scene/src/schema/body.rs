//! `[[body]]`: a shape, what it is made of, and how it starts.

use super::damping::{self, DAMPING, DampingSpec};
use super::element::{ELEMENT, Element, GLUING, GluingSpec};
use super::fit::{FIT, FitSpec};
use super::initial::{INITIAL, Initial};
use super::material::{MATERIAL, MaterialSpec};
use super::mesh::{self, MESH, MeshSpec};
use super::quantity::Mark;
use super::shape::{FileSpec, Shape};
use crate::document::key::{Absent, Key, Kind, TableSchema, no_cases, words};
use crate::document::{Item, Reader, SceneError, Value};

const NAME: Key = Key::optional(
    "name",
    Kind::Name,
    "\"bar\"",
    Absent::Means("`body`; of several, `body1`, `body2`, … by position in the file"),
    "Name of the body, unique in the scene.",
);
const MASS: Key = Key::optional(
    "mass",
    Kind::Either(const { &[Kind::Word(|| words(MASSES)), Kind::Table(&POINT_MASSES)] }),
    "\"consistent\"",
    Absent::Means("lumped; consistent for quadratic tets, unless the integrator is explicit"),
    "The mass matrix: diagonal (lumped), ∫ρNₙNₘ (consistent), or masses that the mesh file gives.",
);
const MASSES: &[(&str, bool)] = &[("lumped", false), ("consistent", true)];
const POINT_DATA: Key =
    Key::required("point_data", Kind::Text, "\"mass\"", "Name of the data, one mass in kg per vertex.");

const VOLUMETRIC: Key = Key::optional(
    "volumetric",
    Kind::Word(|| words(VOLUMETRICS)),
    "\"mean\"",
    Absent::Means("mean where nu is above 0.4, else pointwise"),
    "How a quadratic tet resists a change of volume: its mean, which keeps nearly incompressible bodies from locking, or at each point.",
)
.only("element = \"quadratic\"");
const VOLUMETRICS: &[(&str, bool)] = &[("mean", true), ("pointwise", false)];

static POINT_MASSES: TableSchema = TableSchema {
    name: "mass",
    doc: "Masses of the vertices, from the mesh file; for bodies of tets.",
    keys: &[POINT_DATA],
    cases: no_cases,
    exclusive: &[],
};
const DISPLAY: Key = Key::optional(
    "display",
    mesh::KIND,
    "\"bunny.obj\"",
    Absent::Means("the body itself is shown"),
    "A surface or mesh that the body carries along, to be shown.",
)
.only("bodies of tets, which carry it along");

/// `[[body]]`.
pub(super) static BODY_TABLE: TableSchema = TableSchema {
    name: "body",
    doc: "A deformable body: a shape, what it is made of, and how it starts.",
    keys: &[NAME, MESH, ELEMENT, VOLUMETRIC, GLUING, MATERIAL, MASS, DAMPING, INITIAL, FIT, DISPLAY],
    cases: no_cases,
    exclusive: &[],
};

/// One deformable body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodySpec {
    /// Unique in the scene.
    pub name: String,
    /// Its shape.
    pub mesh: MeshSpec,
    /// The elements it is cut into.
    pub element: Element,
    /// Whether the scene says so. If not, tets of a file that has nodes on their edges are quadratic.
    pub element_given: bool,
    /// Of quadratic tets: whether volumes change alike over each tet. `None`: where they would lock otherwise.
    pub mean_dilatation: Option<bool>,
    /// Of discontinuous tets: what holds them together.
    pub gluing: Option<GluingSpec>,
    /// What it is made of.
    pub material: MaterialSpec,
    /// How mass is put on vertices.
    pub mass: Mass,
    /// Physical damping; several add up.
    pub damping: Vec<DampingSpec>,
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
    /// As the elements need it: consistent for quadratic tets, where lumping costs accuracy, unless the integrator is explicit
    /// and so needs a diagonal; lumped for all others.
    OfElements,
    /// Diagonal.
    Lumped,
    /// ∫ρNₙNₘ.
    Consistent,
    /// Diagonal, kg: this field of the mesh file's points, as numerical coarsening writes it.
    Given(String),
}

impl BodySpec {
    /// Reads one body; `name` is what it is called if it has none of its own.
    pub(super) fn read(item: &Item<'_>, fallback: &str) -> Result<Self, SceneError> {
        let mut reader = item.reader()?;
        let name = reader.optional(&NAME).map_or(Ok(fallback), |item| item.name())?.to_owned();
        reader.rename(format!("body.{name}"));
        let mesh = MeshSpec::read_required(&mut reader)?;
        let (element, element_given) = Element::read_of(&mut reader, &mesh.shape.elements())?;
        let mean_dilatation = read_volumetric(&mut reader, element)?;
        let gluing = GluingSpec::read_of(&mut reader, element)?;
        let material = MaterialSpec::read_of(&mut reader, element != Element::Springs)?;
        let absent = match element.solid() {
            Some(kind)
                if kind.consistent_mass || (!element_given && matches!(mesh.shape, Shape::File(_))) =>
            {
                Mass::OfElements
            }
            _ => Mass::Lumped,
        };
        let mass =
            reader.optional(&MASS).map_or(Ok(absent), |item| Mass::read(&item, element, &mesh.shape))?;
        let damping = reader.optional(&DAMPING).map_or(Ok(Vec::new()), |item| damping::read(&item))?;
        let initial =
            reader.optional(&INITIAL).map_or(Ok(Initial::default()), |item| Initial::read(&item))?;
        let fit = FitSpec::read_of(&mut reader, element)?;
        let display = reader.optional(&DISPLAY).map(|item| read_display(&item, element)).transpose()?;
        reader.finish()?;
        let mark = Mark { path: format!("body.{name}"), ..Mark::from(item) };
        Ok(Self {
            name,
            mesh,
            element,
            element_given,
            mean_dilatation,
            gluing,
            material,
            mass,
            damping,
            initial,
            fit,
            display,
            mark,
        })
    }
}

fn read_volumetric(reader: &mut Reader<'_>, element: Element) -> Result<Option<bool>, SceneError> {
    let Some(item) = reader.optional(&VOLUMETRIC) else { return Ok(None) };
    match element.solid() {
        Some(kind) if kind.mean_dilatation => Ok(Some(item.choice(VOLUMETRICS)?)),
        _ => Err(item.misplaced(&VOLUMETRIC)),
    }
}

fn read_display(item: &Item<'_>, element: Element) -> Result<MeshSpec, SceneError> {
    if element.solid().is_none() {
        return Err(item.misplaced(&DISPLAY));
    }
    MeshSpec::read(item)
}

impl Mass {
    fn read(item: &Item<'_>, element: Element, shape: &Shape) -> Result<Self, SceneError> {
        if let Value::Table(_) = item.node.value {
            let mut reader = item.reader()?;
            let name = reader.required_as(&POINT_DATA, "{ point_data = \"mass\" }")?.text()?.to_owned();
            reader.finish()?;
            if !element.is_continuous_solid() {
                return Err(item.error("masses of points are for bodies of tets; leave this out"));
            }
            return Ok(Self::Given(name));
        }
        let consistent = item.choice(MASSES)?;
        let thin = matches!(shape, Shape::Cloth { .. } | Shape::File(FileSpec { thickness: Some(_), .. }));
        if consistent && (thin || element.solid().is_none()) {
            return Err(item.error("springs and membranes have lumped mass; leave this out"));
        }
        Ok(if consistent { Self::Consistent } else { Self::Lumped })
    }
}
