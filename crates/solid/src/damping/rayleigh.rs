//! Rayleigh damping f = −(αM + βK) v. K is the stiffness at the current shape, projected so that it cannot feed energy in;
//! β K then does not damp rotations of an unstressed body. On request it is K₀, the stiffness of the rest shape in its rest
//! orientation \[chen2019, (4.7)\], which damps every rotation away from it. α M damps every motion, flight included.

use super::{DampedBody, Damping, DampingCard};
use crate::parameters::{ModelParameter, ParameterKind};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;
use std::sync::Arc;

pub(super) static CARD: DampingCard = DampingCard {
    name: "rayleigh",
    summary: "αM + βK; α also slows rigid motion",
    keeps_momenta: false,
    cite: "rayleigh1877",
    parameters: &[ALPHA, BETA, AT_REST],
    create: |given| {
        let [alpha, beta] = [ALPHA, BETA].map(|parameter| given.required(parameter.name));
        Arc::new(Rayleigh { alpha, beta, at_rest: given.flag(AT_REST.name) })
    },
    variants: |time| {
        let of = |alpha, beta, at_rest| -> Arc<dyn Damping> { Arc::new(Rayleigh { alpha, beta, at_rest }) };
        vec![of(0.0, time, false), of(0.8, 0.0, false), of(0.0, time, true)]
    },
};

const ALPHA: ModelParameter = ModelParameter {
    name: "alpha",
    unit: "1/s",
    example: "0.1",
    doc: "Damping in proportion to the mass.",
    kind: ParameterKind::Number { default: 0.0 },
};
const BETA: ModelParameter = ModelParameter {
    name: "beta",
    unit: "s",
    example: "0.001",
    doc: "Damping in proportion to the stiffness.",
    kind: ParameterKind::Number { default: 0.0 },
};

const AT_REST: ModelParameter = ModelParameter {
    name: "at_rest",
    unit: "",
    example: "true",
    doc: "Whether the stiffness is that of the rest shape, which also damps rotations, instead of the current one.",
    kind: ParameterKind::Flag { default: false },
};

/// Rayleigh damping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rayleigh {
    /// α, 1/s.
    pub alpha: f64,
    /// β, s.
    pub beta: f64,
    /// K is that of the rest shape, not of the current one.
    pub at_rest: bool,
}

impl Rayleigh {
    /// The positions at which K is taken.
    fn shape<'a>(&self, body: &'a DampedBody, q: &'a [f64]) -> &'a [f64] {
        if self.at_rest { &body.rest } else { q }
    }
}

impl Damping for Rayleigh {
    fn card(&self) -> &'static DampingCard {
        &CARD
    }
    fn is_drag(&self) -> bool {
        self.alpha != 0.0
    }
    /// βK of a stressed body has a torque where the body rotates.
    fn keeps_angular_momentum(&self, _explicit: bool) -> bool {
        self.alpha == 0.0 && self.beta == 0.0
    }
    fn decay_rate(&self, omega: f64) -> Option<f64> {
        Some(self.alpha + self.beta * omega * omega)
    }

    fn add_forces(&self, body: &DampedBody, q: &[f64], v: &[f64], f: &mut [f64]) {
        if self.beta != 0.0 {
            for elements in &body.elements {
                elements.add_hessian_product(self.shape(body, q), v, -self.beta, f);
            }
        }
        self.add_outer_forces(body, v, f);
    }

    fn add_outer_forces(&self, body: &DampedBody, v: &[f64], f: &mut [f64]) {
        if self.alpha != 0.0 {
            body.add_mass_product(v, -self.alpha, f);
        }
    }

    fn add_matrix(&self, body: &DampedBody, q: &[f64], d: &mut BlockMatrix) {
        if self.beta != 0.0 && !body.elements.is_empty() {
            // Adds βK without a second matrix.
            d.scale(1.0 / self.beta);
            for elements in &body.elements {
                elements.add_hessian(self.shape(body, q), Curvature::Projected, d);
            }
            d.scale(self.beta);
        }
        if self.alpha != 0.0 {
            body.add_mass(self.alpha, d);
        }
    }
}
