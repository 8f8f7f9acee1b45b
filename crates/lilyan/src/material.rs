//! Hyperelastic materials.
//!
//! A material is an energy density ψ(F), J/m³, of the deformation gradient F. [`CATALOGUE`] lists those that are built in, each with its [`Card`];
//! [`find`] looks one up. Its constants follow from the moduli in [`Given`].
//!
//! ```
//! use lilyan::material::{CATALOGUE, Given, Mat3, find};
//!
//! for material in CATALOGUE {
//!     println!("{:20} {}", material.card().name, material.card().formula);
//! }
//! let stvk = find("stvk").ok_or("no such material")?;
//! let constants = stvk.constants(&Given::from_young(1e5, 0.0)?)?;
//! // Stretched by 1 % along x: ψ = ½ E ε² with Green's strain ε = (1.01² − 1)/2.
//! let stretch = Mat3([[1.01, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
//! let strain = (1.01f64.powi(2) - 1.0) / 2.0;
//! assert!((stvk.energy(&constants, &stretch) - 0.5 * 1e5 * strain * strain).abs() < 1e-10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A material of your own
//!
//! An isotropic material is a type with two traits:
//!
//! 1. [`Density`]: its [`Card`], its constants from the moduli, ψ and P = ∂ψ/∂F. Write ψ and P over [`Real`], as one source serves single numbers,
//!    four elements at a time and the complex numbers with which derivatives are tested. ψ is 0 at rest.
//! 2. [`Isotropic`]: the derivatives of ψ by the invariants I = ‖F‖² and J = det F (and two more, see [`Invariants`]). The second derivatives of
//!    the material, exact and projected, follow from them ([`ByInvariants`]).
//!
//! [`entry`] makes a `&'static dyn Material` of the type, as those of the catalogue are. This one hardens where it is stretched:
//! ψ = ½μ(x + ½b x²) − μ ln J + ½λ ln²J with x = I − 3.
//!
//! ```
//! use lilyan::material::{
//!     ByInvariants, Card, ConstantsError, Density, Derivatives, Given, Invariants, Isotropic, Mat3, Material, Parameter, Real,
//!     SmallStrain, constants, entry, infinite_unless_positive,
//! };
//!
//! struct Hardening;
//!
//! impl Density for Hardening {
//!     const CARD: Card = Card {
//!         name: "hardening",
//!         summary: "neo-Hookean that hardens",
//!         formula: "mu/2 (x + b x^2/2) - mu ln J + lambda/2 ln(J)^2, x = tr C - 3",
//!         parameters: &[Parameter { name: "b", doc: "-, rate of hardening", default: Some(1.0) }],
//!         frame_indifferent: true,
//!         survives_inversion: false,
//!         analytic: true,
//!         small_strain: SmallStrain::Given,
//!         cite: "",
//!     };
//!     type Tangent = ByInvariants;
//!
//!     fn constants(given: &Given) -> Result<Vec<f64>, ConstantsError> {
//!         Ok(vec![given.lambda, given.mu, given.get("b").unwrap_or(1.0)])
//!     }
//!     fn energy<T: Real>(c: &[T], F: &Mat3<T>) -> T {
//!         let [lambda, mu, b] = constants(c);
//!         let (x, J) = (F.dot(F) - T::new(3.0), F.det());
//!         let ln_J = J.ln();
//!         let psi = mu * (x + (b * x * x).scale(0.5)).scale(0.5) - mu * ln_J + (lambda * ln_J * ln_J).scale(0.5);
//!         infinite_unless_positive(J, psi)
//!     }
//!     fn stress<T: Real>(c: &[T], F: &Mat3<T>) -> Mat3<T> {
//!         let [lambda, mu, b] = constants(c);
//!         let (x, J) = (F.dot(F) - T::new(3.0), F.det());
//!         Mat3::combine(mu * (T::one() + b * x), F, (lambda * J.ln() - mu) / J, &F.cofactor())
//!     }
//! }
//!
//! impl Isotropic for Hardening {
//!     const COUPLED: bool = true; // ψ is not linear in I
//!     fn derivatives<T: Real>(c: &[T], at: &Invariants<T>) -> Derivatives<T> {
//!         let [lambda, mu, b] = constants(c);
//!         let ln_J = at.J.ln();
//!         Derivatives {
//!             I: mu.scale(0.5) * (T::one() + b * (at.I - T::new(3.0))),
//!             II: (mu * b).scale(0.5),
//!             J: (lambda * ln_J - mu) / at.J,
//!             JJ: (lambda * (T::one() - ln_J) + mu) / (at.J * at.J),
//!             ..Derivatives::none()
//!         }
//!     }
//! }
//!
//! let material: &'static dyn Material = entry::<Hardening>();
//! let c = material.constants(&Given::from_young(1e5, 0.3)?.with("b", 2.0))?;
//! assert_eq!(material.energy(&c, &Mat3::identity()), 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/own_material.rs` lets a body of it swing, and compares its stress with its energy by a complex step.

pub use lilyan_solid::materials::from_rest::{FromRest, infinite_unless_positive};
pub use lilyan_solid::materials::isotropic::ByInvariants;
pub use lilyan_solid::materials::{
    CATALOGUE, Card, ConstantsError, Density, Derivatives, Given, Invariants, Isotropic, Lame, Material,
    Parameter, SmallStrain, constants, entry, find,
};
pub use lilyan_solid::math::{Complex, Mat3, Real, Scalar};
