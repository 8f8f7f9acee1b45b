//! Time integrators: one file each, with its equations, its card and its citation.
//!
//! To add one: a new file, and its line in [`CATALOGUE`]. The catalogue feeds the scene file,
//! `lilyan integrators` and the tests, which hold every entry and variant to its [`Claims`].

use crate::constraints::Holding;
use crate::options::{Kind, OptionSpec, Options, Value};
use crate::{Effort, Integrating, State, StepError, System};

mod adaptive;
mod adaptive_error;
mod backward_euler;
mod bdf2;
mod corotational_reversible;
mod dgsi;
mod energy_momentum;
mod ere;
mod explicit_euler;
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

/// Advances a state through time.
pub trait Integrator: Send {
    /// Advances by `h`, or as [`Integrator::pace`] says. On failure the state is untouched.
    fn step(&mut self, system: &dyn System, state: &mut State, h: f64) -> Result<Integrating, StepError>;
    /// What this method promises with its current options.
    fn claims(&self) -> Claims;
    /// Why this method cannot step that system, beside what [`refusal`] says of all; `None` where it can.
    fn refuses(&self, system: &dyn System) -> Option<String> {
        refuses_incompressible(system)
    }
    /// Whether its steps see [`System::correction`], so that it can step bodies that are fitted ([`crate::fit`]).
    fn takes_fits(&self) -> bool {
        false
    }
    /// What it needs to know of the constraints of its last step, if it keeps constraints exactly.
    fn holding(&self) -> Option<&Holding> {
        None
    }
    /// How far a step of `h` goes.
    fn pace(&self) -> Pace {
        Pace::Fixed
    }
    /// Spends less on a step than its options ask for: `effort` from 0, the least, to 1, all that is asked for, as it begins.
    /// Steps that end short of that tell so ([`Integrating::shortfall`]). Returns what is in force; `None` where a step has
    /// nothing to be cut.
    fn set_effort(&mut self, _effort: f64) -> Option<Effort> {
        None
    }
    /// Forgets what it remembers of earlier steps.
    fn reset(&mut self) {}
    /// What it must remember for the next step to come out the same to the bit.
    fn memory(&self) -> Vec<f64> {
        Vec::new()
    }
    /// Takes up what [`Integrator::memory`] returned.
    fn remember(&mut self, _memory: &[f64]) {}
}

/// How far a step of h goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// By h.
    Fixed,
    /// By h or less, as far as it is accurate enough.
    AtMost,
    /// By hσ, which is known only afterwards.
    Own,
}

/// Properties that are tested, not just stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claims {
    /// Order of accuracy in the step, without and with damping.
    pub order: u32,
    /// Order with damping.
    pub damped_order: u32,
    /// No equations to solve; stable only below a limit.
    pub explicit: bool,
    /// The map (q, p) → (q', p') is symplectic, so that energy oscillates but does not drift.
    pub symplectic: bool,
    /// Running backwards retraces the path; energy does not drift then either.
    pub reversible: bool,
    /// Σp is kept to round-off (or solver tolerance) when nothing pushes from outside.
    pub linear_momentum: bool,
    /// Σq×p likewise.
    pub angular_momentum: bool,
    /// The energy is kept to solver tolerance, for any potential.
    pub energy: bool,
}

impl Claims {
    /// The energy may oscillate but does not drift: what symplectic methods have in common with reversible
    /// ones \[hairer2006\] IX, XI, and those that keep it.
    pub fn bounds_energy(&self) -> bool {
        self.energy || self.symplectic || self.reversible
    }
}

/// An integrator in the catalogue.
pub struct Entry {
    /// Name in scene files.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Key in references.bib.
    pub cite: &'static str,
    /// Options that it takes.
    pub options: &'static [OptionSpec],
    /// Option sets, beside the defaults, that the tests try.
    pub variants: &'static [&'static [(&'static str, Variant)]],
    /// Makes one.
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
    /// Makes one with the given options; the error names the option and the remedy.
    pub fn create(&self, given: &[(String, Value)]) -> Result<Box<dyn Integrator>, String> {
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

/// Why an integrator cannot step a system, and the remedy; `None` where it can.
pub fn refusal(integrator: &dyn Integrator, system: &dyn System) -> Option<String> {
    let able = |can: &dyn Fn(&dyn Integrator) -> bool| {
        let can = |e: &&Entry| e.create(&[]).is_ok_and(|i| can(i.as_ref()));
        CATALOGUE.iter().filter(can).map(|e| e.name).collect::<Vec<_>>().join(", ")
    };
    let loose = || {
        let keeps = |i: &dyn Integrator| i.holding().is_some();
        (!system.constraints().is_empty() && !keeps(integrator))
            .then(|| format!("it cannot keep constraints; use one of {}", able(&keeps)))
    };
    let unfit = || {
        let takes = |i: &dyn Integrator| i.takes_fits();
        if system.fits().is_empty() {
            return None;
        }
        if !system.constraints().is_empty() {
            return Some(
                "a body with a fit cannot be under constraints; pin it, or leave out one of the two".into(),
            );
        }
        (!takes(integrator)).then(|| format!("it cannot step a body with a fit; use one of {}", able(&takes)))
    };
    integrator.refuses(system).or_else(loose).or_else(unfit)
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
const MAX_ITERATIONS: OptionSpec = OptionSpec {
    name: "max_iterations",
    doc: "Newton iterations before the step is given up and halved",
    kind: Kind::Number { min: 1.0, max: 10_000.0, default: 50.0 },
};

/// Why a method that steps along ∇W cannot do with strains that have none.
fn refuses_incompressible(system: &dyn System) -> Option<String> {
    system.incompressible().then(|| {
        "a Poisson's ratio of 0.5 has no finite bulk modulus; use integrator \"regularized\", or a ratio below 0.5 \
         (0.49 for a nearly incompressible body)"
            .into()
    })
}

/// M⁻¹(−∇W + f): the acceleration of the free unknowns; 0 for those held.
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
    if system.has_forces() {
        system.forces(t, q, v, force);
    }
    a.fill(0.0);
    system.mass().solve(held, force, a);
}
