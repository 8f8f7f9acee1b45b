//! Time integrators. Each method has one file with its equations, its catalogue entry and its citation.
//!
//! A new method is a new file and its line in [`CATALOGUE`]. Scene files, `lilyan integrators` and the tests use the
//! catalogue. The tests check the [`Claims`] of every entry and variant.

pub use crate::integrator::{Claims, Integrator, StepLength};

use crate::System;
use crate::integrator::refuses_incompressible;
use crate::options::{Kind, OptionError, OptionSpec, Options, Value};

mod adaptive;
mod adaptive_error;
mod backward_difference;
mod backward_euler;
mod bdf2;
mod corotational_reversible;
mod dgsi;
mod energy_momentum;
mod ere;
mod explicit_euler;
mod galerkin;
mod generalized_alpha;
mod implicit_midpoint;
mod mssi;
mod newmark;
mod regularized;
mod rk4;
mod semi_implicit;
mod siere;
mod tr_bdf2;
mod variational;
mod variational_4;
mod verlet;

/// The longest step that was tried on strongly deformed bodies, in explicit limits.
const LONGEST_TRIED: f64 = 1000.0;

/// An integrator in the catalogue.
pub struct Entry {
    /// Name in scene files.
    pub name: &'static str,
    /// A description of one line.
    pub summary: &'static str,
    /// Key in references.bib.
    pub cite: &'static str,
    /// The longest step that is stable on strongly deformed bodies, in explicit limits (hω = 2 at rest). A method that is stable
    /// for every step of a linear oscillation can gain energy in a body that deforms strongly. Measured on free, turning bars of 24
    /// neo-Hookean tets (for some methods the material that they support), one stretched by half and one twisted by 150°: the energy
    /// stays below 1.25 times that of the start over 60 steps. `None` for methods that are explicit, choose their own steps, or
    /// were not measured.
    pub stable_deformed: Option<f64>,
    /// The options of the method.
    pub options: &'static [OptionSpec],
    /// Option sets that the tests try in addition to the defaults.
    pub variants: &'static [&'static [(&'static str, Variant)]],
    /// Creates an integrator with these options.
    pub build: fn(&Options) -> Box<dyn Integrator>,
}

/// An option value in a constant.
#[derive(Clone, Copy, Debug)]
pub enum Variant {
    /// A number.
    Number(f64),
    /// A flag.
    Flag(bool),
    /// A word.
    Word(&'static str),
}

impl Entry {
    /// Creates an integrator with the given options. The error names the option and the remedy.
    pub fn create(&self, given: &[(String, Value)]) -> Result<Box<dyn Integrator>, OptionError> {
        Ok((self.build)(&Options::resolve(self.options, given)?))
    }

    /// The default options and every variant, as [`Entry::create`] takes them.
    pub fn all_variants(&self) -> Vec<Vec<(String, Value)>> {
        let given = |set: &&[(&'static str, Variant)]| {
            set.iter()
                .map(|(name, value)| {
                    let value = match value {
                        Variant::Number(x) => Value::Number(*x),
                        Variant::Flag(b) => Value::Flag(*b),
                        Variant::Word(w) => Value::Word(w.to_string()),
                    };
                    (name.to_string(), value)
                })
                .collect()
        };
        std::iter::once(Vec::new()).chain(self.variants.iter().map(given)).collect()
    }
}

/// Every integrator.
pub static CATALOGUE: &[Entry] = &[
    variational::ENTRY,
    variational_4::ENTRY,
    galerkin::ENTRY,
    verlet::ENTRY,
    energy_momentum::ENTRY,
    backward_euler::ENTRY,
    semi_implicit::ENTRY,
    rk4::ENTRY,
    explicit_euler::ENTRY,
    corotational_reversible::ENTRY,
    ere::ENTRY,
    siere::ENTRY,
    regularized::ENTRY,
    implicit_midpoint::ENTRY,
    newmark::ENTRY,
    generalized_alpha::ENTRY,
    bdf2::ENTRY,
    tr_bdf2::ENTRY,
    adaptive::naive::ENTRY,
    adaptive::reversible::ENTRY,
    adaptive::symplectic::ENTRY,
    adaptive_error::ENTRY,
    mssi::ENTRY,
    dgsi::ENTRY,
];

/// The entry of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|e| e.name == name)
}

/// Why an integrator does not support a system, and the remedy; `None` if it does.
pub fn refusal(integrator: &dyn Integrator, system: &dyn System) -> Option<String> {
    let able = |can: &dyn Fn(&dyn Integrator) -> bool| {
        let can = |e: &&Entry| e.create(&[]).is_ok_and(|i| can(i.as_ref()));
        CATALOGUE.iter().filter(can).map(|e| e.name).collect::<Vec<_>>().join(", ")
    };
    let abilities = system.abilities();
    let loose = || {
        let keeps = |i: &dyn Integrator| i.constraint_solver().is_some();
        (!abilities.constraints().is_empty() && !keeps(integrator))
            .then(|| format!("it cannot keep constraints; use one of {}", able(&keeps)))
    };
    let unfit = || {
        let takes = |i: &dyn Integrator| i.takes_fits();
        if abilities.fits().is_empty() {
            return None;
        }
        if !abilities.constraints().is_empty() {
            return Some(
                "a body with a fit cannot be under constraints; pin it, or leave out one of the two".into(),
            );
        }
        (!takes(integrator)).then(|| format!("it cannot step a body with a fit; use one of {}", able(&takes)))
    };
    let infeasible = || {
        let takes = |i: &dyn Integrator| i.takes_contact();
        (abilities.limits_steps() && !takes(integrator)).then(|| {
            format!(
                "its steps can pass through a contact; use one of {}, or contact by a penalty",
                able(&takes)
            )
        })
    };
    let moving = || {
        let adapts = integrator.step_length() == StepLength::Adaptive;
        let moves = abilities.constraints_move() || (abilities.limits_steps() && abilities.timed.is_some());
        (moves && adapts).then(|| {
            "its steps end at times that are not known before, so that it cannot keep constraints or obstacles that change in \
             time; use one with fixed steps, variational or energy-momentum say"
                .into()
        })
    };
    integrator.refuses(system).or_else(loose).or_else(moving).or_else(unfit).or_else(infeasible)
}

/// Options of every method that solves equations.
const TOLERANCE: OptionSpec = OptionSpec {
    name: "tolerance",
    doc: "size of the last Newton correction relative to the motion in the step",
    kind: Kind::Number { min: 1e-15, max: 0.5, default: 1e-8 },
};
const LINEAR: OptionSpec = OptionSpec {
    name: "linear",
    doc: "how linear systems are solved: by what costs least, or each by a factorisation of its own",
    kind: Kind::Word { choices: &["auto", "direct"] },
};
const SOLVE: OptionSpec = OptionSpec {
    name: "solve",
    doc: "minimise by Newton's method, or by BFGS, which factorises nothing and takes many iterations where the body is stiff",
    kind: Kind::Word { choices: &["minimize", "bfgs"] },
};
const MAX_ITERATIONS: OptionSpec = OptionSpec {
    name: "max_iterations",
    doc: "Newton iterations before the step is given up and halved",
    kind: Kind::Number { min: 1.0, max: 10_000.0, default: 50.0 },
};

/// M⁻¹(−∇W + f): the acceleration of the free unknowns; 0 at Dirichlet dofs.
fn acceleration(
    system: &dyn System,
    held: &[bool],
    t: f64,
    q: &[f64],
    v: &[f64],
    force: &mut [f64],
    a: &mut [f64],
) {
    system.gradient(t, q, force);
    for f in force.iter_mut() {
        *f = -*f;
    }
    if let Some(dissipation) = system.abilities().dissipation {
        dissipation.add_forces(t, q, v, force);
    }
    a.fill(0.0);
    system.mass().solve(held, force, a);
}
