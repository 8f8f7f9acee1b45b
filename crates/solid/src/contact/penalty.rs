//! Contact as an elastic penalty: a pressure in proportion to the depth of penetration, φ(b) = ½ k A b₊² with k a stiffness
//! per area (Pa/m) and A the area of the node.

use super::{BodyScale, ContactCard, ContactLaw, ContactModel, ContactPair, ContactSurfaces, law_potential};
use crate::build_error::BuildError;
use crate::parameters::{ModelParameter, ParameterKind, Parameters};
use crate::potentials::Potential;
use std::sync::Arc;

pub(super) static CARD: ContactCard = ContactCard {
    name: "penalty",
    summary: "a pressure in proportion to the depth of penetration; gives back the energy that it took",
    cite: "gonzalez1996",
    parameters: &[STIFFNESS, THICKNESS],
    obstacle_parameters: &[STIFFNESS],
    takes_meshes: false,
    limits_steps: false,
    create,
};

const STIFFNESS: ModelParameter = ModelParameter {
    name: "stiffness",
    unit: "Pa/m",
    example: "1e6",
    doc: "Pressure per depth of penetration.",
    kind: ParameterKind::Derived { from: "derived from the bodies" },
};
const THICKNESS: ModelParameter = ModelParameter {
    name: "thickness",
    unit: "m",
    example: "1e-3",
    doc: "Distance at which surfaces feel each other.",
    kind: ParameterKind::Derived { from: "derived from the meshes" },
};

/// Contact as an elastic penalty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalty {
    /// Pressure per depth, Pa/m.
    pub stiffness: f64,
    /// Distance at which surfaces begin to push, m. Obstacles push from their surface on.
    pub thickness: f64,
}

/// φ(b) = ½ k b₊².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearPressure {
    /// k: per area, Pa/m; of a node, N/m.
    pub stiffness: f64,
}

impl ContactLaw for LinearPressure {
    fn of_area(self, area: f64) -> Self {
        Self { stiffness: self.stiffness * area }
    }
    fn energy(self, depth: f64) -> f64 {
        0.5 * self.stiffness * depth.max(0.0).powi(2)
    }
    fn slope(self, depth: f64) -> f64 {
        self.stiffness * depth.max(0.0)
    }
    fn curvature(self, _depth: f64) -> f64 {
        self.stiffness
    }
    fn slope_over_curvature(self, depth: f64) -> f64 {
        depth
    }

    /// Without cancellation.
    fn quotient(self, b0: f64, b1: f64) -> f64 {
        if b0 > 0.0 && b1 > 0.0 {
            0.5 * self.stiffness * (b0 + b1)
        } else if b0 <= 0.0 && b1 <= 0.0 {
            0.0
        } else {
            0.5 * self.stiffness * b0.max(b1).powi(2) / (b1 - b0).abs()
        }
    }

    /// The product in another order than in `energy`, as in all runs so far.
    fn obstacle_energy(self, depth: f64) -> f64 {
        let b = depth.max(0.0);
        0.5 * self.stiffness * b * b
    }
}

impl ContactModel for Penalty {
    fn check(&self) -> Result<(), BuildError> {
        let Self { stiffness, thickness } = *self;
        BuildError::check_positive("stiffness", stiffness, STIFFNESS.unit)?;
        BuildError::check_not_negative("thickness", thickness, THICKNESS.unit)
    }

    fn takes_meshes(&self) -> bool {
        false
    }

    fn potential(&self, pair: ContactPair, surfaces: &ContactSurfaces<'_>) -> Arc<dyn Potential> {
        law_potential(LinearPressure { stiffness: self.stiffness }, self.thickness, pair, surfaces)
    }
}

fn create(given: &Parameters, bodies: &[BodyScale<'_>]) -> Result<Arc<dyn ContactModel>, BuildError> {
    let stiffness = given.number(STIFFNESS.name).unwrap_or_else(|| BodyScale::layer_stiffness(bodies));
    if stiffness == 0.0 {
        return Err(BuildError::NoContactStiffness);
    }
    let thickness = match given.number(THICKNESS.name) {
        Some(thickness) => thickness,
        // Obstacles push from their surface on.
        None if !given.declares(THICKNESS.name) => 0.0,
        None => BodyScale::fifth_of_edge(bodies).ok_or(BuildError::NoContactThickness)?,
    };
    Ok(Arc::new(Penalty { stiffness, thickness }))
}
