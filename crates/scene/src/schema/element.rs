//! `element` and `gluing` of a body: what it is cut into, and what holds discontinuous elements together.

use crate::document::key::{Absent, Choice, Key, Kind, TableSchema, no_cases, words};
use crate::document::{Reader, SceneError};
use lilyan_solid::elements::{DISCONTINUOUS_TETS, LINEAR_TETS, SOLID_KINDS, SolidKind};

/// `element` of a body.
pub(super) const ELEMENT: Key = Key::optional(
    "element",
    Kind::Word(|| {
        Element::all().into_iter().map(|(element, doc)| Choice { name: element.name(), doc }).collect()
    }),
    "\"dg\"",
    Absent::Means(
        "tets, quadratic where a file has nodes on their edges; springs for ropes, cloth and points",
    ),
    "The elements that the body is made of.",
);

const KIND: Key = Key::optional(
    "kind",
    Kind::Word(|| words(KINDS)),
    "\"babuska-zlamal\"",
    Absent::Word("interior-penalty"),
    "With the mean traction (interior-penalty) or without (babuska-zlamal).",
);
const KINDS: &[(&str, bool)] = &[("interior-penalty", true), ("babuska-zlamal", false)];
const PENALTY: Key = Key::optional(
    "penalty",
    Kind::positive("units of (lambda + 2 mu) area/volume"),
    "4.0",
    Absent::Means("4 for interior-penalty, 100 for babuska-zlamal"),
    "Penalty on gaps; interior-penalty needs 2 or more.",
);

static GLUING_TABLE: TableSchema = TableSchema {
    name: "gluing",
    doc: "How discontinuous tets or triangles are held together.",
    keys: &[KIND, PENALTY],
    cases: no_cases,
    exclusive: &[],
};

/// `gluing` of a body.
pub(super) const GLUING: Key = Key::optional(
    "gluing",
    Kind::Table(&GLUING_TABLE),
    "{ kind = \"interior-penalty\", penalty = 4.0 }",
    Absent::Means("interior-penalty"),
    "What holds discontinuous elements together.",
)
.only("element = \"dg\"");

/// What a body is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Continuous elements of a solid.
    Solid(&'static SolidKind),
    /// A spring along every edge.
    Springs,
    /// Linear triangles that resist stretch.
    Membrane,
    /// Discontinuous linear tets; triangles where the shape is a surface.
    Dg,
}

impl Element {
    /// Linear tets.
    pub const TETS: Self = Self::Solid(&LINEAR_TETS);

    /// Every kind, with a line about it.
    pub fn all() -> Vec<(Self, &'static str)> {
        let solids = SOLID_KINDS.iter().map(|kind| (Self::Solid(kind), kind.summary));
        let others = [
            (
                Self::Springs,
                "½k(|s| − l₀)² along every edge, k = λ/l₀: ropes, cloth, networks; lambda (N) or E (Pa)",
            ),
            (
                Self::Membrane,
                "linear triangles in plane stress: cloth, balloons; stvk, neo-hookean, neo-hookean-log",
            ),
            (
                Self::Dg,
                "linear tets, or triangles of a membrane, each by itself and glued: interior-penalty or babuska-zlamal",
            ),
        ];
        solids.chain(others).collect()
    }

    /// Every kind of continuous elements for solids.
    pub(super) fn solids() -> Vec<Self> {
        SOLID_KINDS.iter().map(|kind| Self::Solid(kind)).collect()
    }

    /// Name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Solid(kind) => kind.name,
            Self::Springs => "springs",
            Self::Membrane => "membrane",
            Self::Dg => "dg",
        }
    }

    /// Whether it is a continuous solid.
    pub fn is_continuous_solid(self) -> bool {
        matches!(self, Self::Solid(_))
    }

    /// The kind of a solid that is made of it; `None` for springs and membranes.
    pub fn solid(self) -> Option<&'static SolidKind> {
        match self {
            Self::Solid(kind) => Some(kind),
            Self::Dg => Some(&DISCONTINUOUS_TETS),
            Self::Springs | Self::Membrane => None,
        }
    }

    /// Reads the `element` of a body, and whether it is given; `able` are those that its shape can be made of, the default first.
    pub(super) fn read_of(body: &mut Reader<'_>, able: &[Self]) -> Result<(Self, bool), SceneError> {
        let Some(item) = body.optional(&ELEMENT) else {
            return Ok((able.first().copied().unwrap_or(Self::TETS), false));
        };
        let choices: Vec<_> = Self::all().into_iter().map(|(e, _)| (e.name(), e)).collect();
        let element = item.choice(&choices)?;
        if able.contains(&element) {
            return Ok((element, true));
        }
        let able: Vec<&str> = able.iter().map(|e| e.name()).collect();
        Err(item.error(format!(
            "this mesh cannot be made of {}; choose {}",
            element.name(),
            able.join(" or ")
        )))
    }
}

/// How discontinuous tets or triangles are held together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GluingSpec {
    /// With the mean traction (interior penalty), or without (Babuška–Zlámal).
    pub consistent: bool,
    /// Penalty on gaps, in units of (λ+2μ) area/volume.
    pub penalty: f64,
}

impl GluingSpec {
    /// Reads the `gluing` of a body of discontinuous tets.
    pub(super) fn read_of(body: &mut Reader<'_>, element: Element) -> Result<Option<Self>, SceneError> {
        let item = body.optional(&GLUING);
        if element != Element::Dg {
            return match item {
                None => Ok(None),
                Some(item) => Err(item.misplaced(&GLUING)),
            };
        }
        let Some(item) = item else {
            return Ok(Some(Self { consistent: true, penalty: 4.0 }));
        };
        let mut reader = item.reader()?;
        let consistent = reader.choice(&KIND, KINDS)?;
        let default = if consistent { 4.0 } else { 100.0 };
        let penalty = reader.optional_number(&PENALTY)?;
        reader.finish()?;
        let penalty = penalty.unwrap_or(default);
        if consistent && penalty < 2.0 {
            return Err(item.error("interior-penalty needs penalty = 2 or more to hold together"));
        }
        Ok(Some(Self { consistent, penalty }))
    }
}
