use crate::materials::ConstantsError;
use crate::mesh::MeshError;

/// Why a body or a contact cannot be added to a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// The constants of a material.
    #[error(transparent)]
    Constants(#[from] ConstantsError),
    /// The arrays of a mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A body without tets.
    #[error("body \"{body}\" has no tets; give it a mesh of a solid")]
    NoElements {
        /// Its name.
        body: String,
    },
    /// A density that is not positive.
    #[error("density {rho} kg/m³ must be a positive number")]
    Density {
        /// As given, kg/m³.
        rho: f64,
    },
    /// A list of the wrong length.
    #[error("{found} {name}, but {expected} are needed")]
    Length {
        /// What it lists.
        name: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// Contact between a body and itself, asked for as contact between two.
    #[error("contact between body {body} and itself: ask for self contact instead")]
    OneBody {
        /// Number of the body, from 0.
        body: usize,
    },
    /// Contact of a body that was not added.
    #[error("contact of body {body}, but {known} bodies were added: they count from 0")]
    NoSuchBody {
        /// Number of the body, from 0.
        body: usize,
        /// How many there are.
        known: usize,
    },
    /// A contact of ropes, cloth and points alone, from which no stiffness can be derived.
    #[error(
        "ropes and cloth have no bulk modulus from which a contact stiffness follows: give one, for example stiffness = 1e5 (Pa/m)"
    )]
    NoContactStiffness,
    /// Contact with a triangle mesh by a model that knows none.
    #[error(
        "this model keeps bodies off planes, spheres and other bodies only: for a mesh give model = \"barrier\""
    )]
    NoMeshContact,
    /// A contact of ropes and points alone, from which no thickness can be derived.
    #[error("needs a thickness where there are only ropes and points: thickness = 1e-3 (m)")]
    NoContactThickness,
    /// A parameter of a contact model that is out of its range.
    #[error("contact {name} {value} {unit} must be {wants}")]
    ContactParameter {
        /// Its name.
        name: &'static str,
        /// As given.
        value: f64,
        /// Its unit.
        unit: &'static str,
        /// What it must be: `a positive number`.
        wants: &'static str,
    },
}

impl BuildError {
    /// Refuses a parameter of a contact model that is not positive and finite.
    pub fn check_positive(name: &'static str, value: f64, unit: &'static str) -> Result<(), Self> {
        let wants = "a positive number";
        let good = value > 0.0 && value.is_finite();
        if good { Ok(()) } else { Err(Self::ContactParameter { name, value, unit, wants }) }
    }

    /// Refuses a parameter of a contact model that is negative or not finite.
    pub fn check_not_negative(name: &'static str, value: f64, unit: &'static str) -> Result<(), Self> {
        let wants = "0 or a positive number";
        let good = value >= 0.0 && value.is_finite();
        if good { Ok(()) } else { Err(Self::ContactParameter { name, value, unit, wants }) }
    }
}
