//! Tracking of the modes of fitted bodies from step to step.

use super::distance::DistanceFromRest;
use super::memory::{BodyMemory, FittingMemory};
use super::pencil::{Pencil, RigidModes, mass_matrix, multiply_by_mass};
use super::reach::Reach;
use super::refine::{Configuration, MAX_MIXING, ModeProblem, ModeRefiner};
use super::rest::{MIN_OVERLAP, MIN_STIFFNESS, RESIDUAL, RestModes};
use super::rotation::{self, NodalRotations};
use super::{Correction, Fit, Fitted};
use crate::modes;
use crate::{Memory, MemoryError, MemoryRecord, State, System};
use lilyan_solve::eigen::Subspace;
use lilyan_solve::newton::Curvature;
use lilyan_solve::precondition::Columns;
use lilyan_solve::{BlockMatrix, SmallMatrix};

/// Extra vectors, which speed up the convergence of the last wanted modes.
const GUARDS: usize = 3;
/// Largest strain, the root mean square of relative changes of length, for which the modes at rest are meaningful.
const MAX_STRAIN: f64 = 0.25;
/// Strain since the modes were computed for which they are only rotated, at the start.
const FIRST_STRAIN_OF_MODES: f64 = 0.02;
/// The bounds of that strain. Within them it follows from how much modes and values have changed.
const STRAINS_OF_MODES: [f64; 2] = [0.01, 0.08];
/// Largest relative change of the values from one computation to the next that is aimed at.
const MAX_CHANGE_OF_VALUES: f64 = 0.1;

/// The tracked modes of all fitted bodies, and the correction that follows from them.
#[derive(Default)]
pub struct Fitting {
    bodies: Vec<FittedBody>,
    correction: Option<Correction>,
    /// The time and the configuration of the correction.
    place: Option<(f64, Vec<f64>)>,
    /// Whether the correction has to be rebuilt there, after a restart.
    to_rebuild: bool,
    reach: Reach,
}

/// The tracked modes of one fitted body, and statistics of the fit.
#[derive(Default)]
pub struct FittedBody {
    /// Dofs that are held or belong to other bodies.
    mask: Vec<bool>,
    /// Modes at rest for that mask.
    rest: Option<RestModes>,
    /// The phase of the fit for which modes were computed.
    phase: usize,
    /// The configuration for which modes were last computed, m; empty before, or if they never change.
    found_at: Vec<f64>,
    /// The modes of that configuration.
    found: Subspace,
    /// ln of the strain since then for which they are only rotated, over [`FIRST_STRAIN_OF_MODES`].
    patience: f64,
    /// MU of the modes in use; empty if not computed yet.
    weighted: Vec<f64>,
    /// S − 1 in that configuration; empty if the fit was rejected.
    change: SmallMatrix,
    refiner: ModeRefiner,
    /// The contribution to the correction.
    part: Option<Part>,
    /// Why the body has none at present.
    rejected: Option<&'static str>,
    /// Number of steps.
    pub steps: u64,
    /// Number of steps without the fit.
    pub skipped: u64,
    /// Time of the first step without the fit, s.
    pub first: Option<f64>,
    /// Why the fit was last rejected.
    pub reason: Option<&'static str>,
    /// How far the body was from rest while it was fitted.
    pub furthest: DistanceFromRest,
}

/// The modes of one body in a correction.
struct Part {
    /// U.
    vectors: Vec<f64>,
    /// MU.
    weighted: Vec<f64>,
    /// S − 1.
    change: SmallMatrix,
    /// λ^½, 1/s.
    roots: Vec<f64>,
}

/// Why a step is taken without the fit.
type FitFailure = &'static str;
const NO_COUNTERPARTS: FitFailure =
    "fewer than half of the modes at rest are found again in the deformed body";
const TOO_STRAINED: FitFailure =
    "it is strained by more than a quarter on average, where stiffness at rest says nothing";
const NOT_FOUND: FitFailure = "the modes of the deformed body could not be found";

impl Fitting {
    /// The fits of a system in a state; `None` if it has none.
    pub fn new(system: &dyn System, state: &State) -> Option<Self> {
        let fits = system.abilities().fits();
        if fits.is_empty() {
            return None;
        }
        let bodies = fits.iter().map(|_| FittedBody::default()).collect();
        let mut fitting = Self { bodies, ..Self::default() };
        fitting.rebase(system, state.t, &state.q);
        Some(fitting)
    }

    /// Computes the correction for a state that was set from outside. It does not count as a step.
    pub(crate) fn rebase(&mut self, system: &dyn System, t: f64, q: &[f64]) {
        self.to_rebuild = false;
        self.update(system, t, q);
    }

    /// The bodies, in the order of the fits.
    pub fn bodies(&self) -> &[FittedBody] {
        &self.bodies
    }

    /// The present correction.
    pub(super) fn correction(&self) -> Option<&Correction> {
        self.correction.as_ref()
    }

    /// The system with the present correction.
    pub fn view<'a>(&'a self, system: &'a dyn System) -> Fitted<'a> {
        Fitted { system, correction: self.correction.as_ref() }
    }

    /// Prepares the correction for a step from q that ends at t. While the body is near the configuration of the last
    /// correction, that one stays.
    pub fn refresh(&mut self, system: &dyn System, t: f64, q: &[f64]) {
        if std::mem::take(&mut self.to_rebuild)
            && let Some((t, q)) = self.place.take()
        {
            self.update(system, t, &q);
        }
        if !self.is_near(system, t, q) {
            if let (Some(correction), Some(deformation)) = (&self.correction, system.abilities().deformation)
            {
                self.reach.observe(correction.error(deformation, t, q));
            }
            self.update(system, t, q);
        }
        for body in &mut self.bodies {
            body.steps += 1;
            if let Some(reason) = body.rejected {
                body.skipped += 1;
                body.first.get_or_insert(t);
                body.reason = Some(reason);
            }
        }
    }

    /// Whether the correction still serves at time t and in configuration q.
    fn is_near(&self, system: &dyn System, t: f64, q: &[f64]) -> bool {
        let abilities = system.abilities();
        let (Some(deformation), Some((_, place))) = (abilities.deformation, &self.place) else {
            return false;
        };
        if place.len() != q.len() {
            return false;
        }
        let mut held = vec![false; q.len()];
        abilities.mark_prescribed(t, &mut held);
        self.bodies.iter().zip(deformation.fits()).all(|(body, fit)| {
            let same_mask = || fit.dofs.clone().all(|i| body.mask.get(i) == Some(&held[i]));
            match usable_phase(fit, t) {
                None => body.part.is_none() && body.rejected.is_none(),
                phase => {
                    phase == Some(body.phase)
                        && same_mask()
                        && (deformation.has_constant_stiffness(&fit.dofs)
                            || rotation::change(system.pattern(), &fit.dofs, place, q) <= self.reach.limit)
                }
            }
        })
    }

    /// Computes the correction for a time and a configuration.
    fn update(&mut self, system: &dyn System, t: f64, q: &[f64]) {
        let abilities = system.abilities();
        let Some(deformation) = abilities.deformation else { return };
        let mut held = vec![false; q.len()];
        abilities.mark_prescribed(t, &mut held);
        let configuration = Configuration { system, deformation, t, q, held: &held };
        let mut changed = ModeChange::Unchanged;
        for (body, fit) in self.bodies.iter_mut().zip(deformation.fits()) {
            let had_part = body.part.is_some();
            match body.update(fit, &configuration) {
                Ok(change) => {
                    body.rejected = None;
                    changed = changed.max(change);
                }
                Err(reason) => {
                    body.part = None;
                    body.rejected = Some(reason);
                    changed = changed.max(ModeChange::of(had_part));
                }
            }
        }
        if changed > ModeChange::Unchanged || self.correction.is_none() {
            self.assemble(&configuration, changed);
        }
        if let Some(correction) = &mut self.correction {
            correction.begin(deformation, t, q);
            correction.damp(system, t, q);
        }
        self.place = Some((t, q.to_vec()));
    }

    /// The state that a checkpoint stores.
    pub fn memory(&self) -> Memory {
        let body = |body: &FittedBody| {
            let change = &body.change;
            BodyMemory {
                mask: body.mask.clone(),
                phase: body.phase,
                factored_at: body.refiner.computed_at.clone(),
                found_at: body.found_at.clone(),
                vectors: body.found.vectors.clone(),
                values: body.found.values.clone(),
                patience: body.patience,
                change: (0..change.rows()).map(|i| change.row(i).to_vec()).collect(),
                steps: body.steps,
                without: body.skipped,
                first: body.first,
                furthest: body.furthest,
            }
        };
        let bodies = self.bodies.iter().map(body).collect();
        Memory::new(FittingMemory { bodies, place: self.place.clone(), reach: self.reach })
    }

    /// Restores the state that [`Fitting::memory`] returned. On an error nothing is changed.
    pub fn restore(&mut self, memory: &Memory) -> Result<(), MemoryError> {
        let FittingMemory { bodies, place, reach } = memory.read()?;
        let square = |rows: &[Vec<f64>]| rows.iter().all(|row| row.len() == rows.len());
        if bodies.len() != self.bodies.len() || !bodies.iter().all(|body| square(&body.change)) {
            return Err(MemoryError::Damaged { kind: FittingMemory::KIND });
        }
        (self.correction, self.place, self.to_rebuild, self.reach) = (None, place, true, reach);
        for (body, memory) in self.bodies.iter_mut().zip(bodies) {
            let rows = memory.change.len();
            *body = FittedBody {
                rest: body.rest.take().filter(|_| memory.mask == body.mask),
                mask: memory.mask,
                phase: memory.phase,
                refiner: ModeRefiner { computed_at: memory.factored_at, ..ModeRefiner::default() },
                found_at: memory.found_at,
                found: Subspace { vectors: memory.vectors, values: memory.values },
                patience: memory.patience,
                weighted: Vec::new(),
                change: SmallMatrix::from_fn(rows, rows, |i, j| memory.change[i][j]),
                part: None,
                rejected: None,
                steps: memory.steps,
                skipped: memory.without,
                first: memory.first,
                reason: body.reason,
                furthest: memory.furthest,
            };
        }
        Ok(())
    }

    /// Assembles the correction of all bodies.
    fn assemble(&mut self, configuration: &Configuration<'_>, changed: ModeChange) {
        let n = configuration.q.len();
        let (mut vectors, mut weighted, mut roots) = (Vec::new(), Vec::new(), Vec::new());
        let mut change = SmallMatrix::default();
        for part in self.bodies.iter().filter_map(|body| body.part.as_ref()) {
            vectors.extend_from_slice(&part.vectors);
            weighted.extend_from_slice(&part.weighted);
            roots.extend_from_slice(&part.roots);
            change = change.block_diagonal(&part.change);
        }
        if roots.is_empty() {
            self.correction = None;
            return;
        }
        let columns = |values| Columns { values, n };
        let (vectors, weighted) = (columns(vectors), columns(weighted));
        let extended = configuration
            .system
            .abilities()
            .prescribed_moves()
            .then(|| configuration.extended(&vectors, &weighted, &roots));
        match &mut self.correction {
            Some(correction) if changed == ModeChange::Rotated => {
                correction.set_vectors(vectors, weighted, extended)
            }
            correction => {
                let mut new = Correction::new(&change, &roots);
                new.set_vectors(vectors, weighted, extended);
                *correction = Some(new);
            }
        }
    }
}

impl Configuration<'_> {
    /// MU, extended by KUΛ⁻¹ at held dofs: prescribed motion acts on the modes.
    fn extended(&self, vectors: &Columns, weighted: &Columns, roots: &[f64]) -> Columns {
        let mut k = BlockMatrix::zeros(self.system.pattern().clone());
        self.deformation.add_deformation_hessian(self.t, self.q, Curvature::Projected, &mut k);
        let n = self.q.len();
        let mut product = vec![0.0; n];
        let mut columns = weighted.clone();
        let pairs = columns.values.chunks_exact_mut(n).zip(vectors.values.chunks_exact(n));
        for ((column, u), root) in pairs.zip(roots) {
            k.mul_vec(u, &mut product);
            for i in (0..n).filter(|&i| self.held[i] && *root > 0.0) {
                column[i] = product[i] / (root * root);
            }
        }
        columns
    }
}

/// The phase of a fit at a time, if modes are fitted then.
fn usable_phase(fit: &Fit, t: f64) -> Option<usize> {
    fit.phase(t).filter(|&p| fit.phases[p].target.count() > 0)
}

/// How the contribution of a body has changed since the last step.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum ModeChange {
    Unchanged,
    Rotated,
    Recomputed,
}

impl ModeChange {
    fn of(changed: bool) -> Self {
        if changed { Self::Recomputed } else { Self::Unchanged }
    }

    fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

impl FittedBody {
    /// λ(fine)/λ(coarse) of the fitted modes at rest; empty before they are computed.
    pub fn ratios(&self) -> Vec<f64> {
        let change = self.rest.as_ref().map(|rest| &rest.change);
        change.map_or(Vec::new(), |s| (0..s.rows()).map(|i| 1.0 + s[(i, i)]).collect())
    }

    /// Updates the modes to a configuration.
    fn update(&mut self, fit: &Fit, configuration: &Configuration<'_>) -> Result<ModeChange, FitFailure> {
        let Configuration { system, deformation, t, q, held } = *configuration;
        let n = q.len();
        let Some(phase) = usable_phase(fit, t) else { return Ok(ModeChange::of(self.part.take().is_some())) };
        let held = |i: usize| held[i] || !fit.dofs.contains(&i);
        if self.mask.len() != n || (0..n).any(|i| held(i) != self.mask[i]) {
            let mask = (0..n).map(held).collect();
            let Self { steps, skipped, first, furthest, .. } = *self;
            *self = Self { mask, steps, skipped, first, furthest, ..Self::default() };
        }
        if self.rest.as_ref().is_none_or(|rest| rest.phase != phase) {
            self.rest =
                Some(RestModes::new(configuration, fit, phase, &self.mask, GUARDS).map_err(|_| NOT_FOUND)?);
            self.part = None;
        }
        if self.phase != phase {
            (self.phase, self.found_at) = (phase, Vec::new());
        }
        let rest = self.rest.as_ref().expect("computed above");
        if deformation.has_constant_stiffness(&fit.dofs) {
            let changed = self.part.is_none();
            if changed {
                let vectors = rest.modes.vectors[..rest.change.rows() * n].to_vec();
                let weighted = multiply_by_mass(system.mass(), &self.mask, &vectors);
                self.part = Some(Part::new(vectors, weighted, &rest.modes.values, &rest.change));
            }
            return Ok(ModeChange::of(changed));
        }
        let pattern = system.pattern();
        let strain = rotation::strain(pattern, &fit.dofs, &fit.rest, q);
        if strain > MAX_STRAIN {
            return Err(TOO_STRAINED);
        }
        self.furthest.strain = self.furthest.strain.max(strain);
        let mut change = if self.part.is_some() { ModeChange::Rotated } else { ModeChange::Recomputed };
        if self.found_at.is_empty()
            || rotation::strain(pattern, &fit.dofs, &self.found_at, q)
                > FIRST_STRAIN_OF_MODES * self.patience.exp()
        {
            self.compute(fit, configuration)?;
            change = ModeChange::Recomputed;
        }
        if self.change.rows() == 0 {
            return Err(NO_COUNTERPARTS);
        }
        let mut vectors = self.found.vectors[..self.change.rows() * n].to_vec();
        if self.weighted.is_empty() {
            self.weighted = multiply_by_mass(system.mass(), &self.mask, &vectors);
        }
        // U and MU rotate alike, so that UᵀMU = 1 stays true.
        let mut weighted = self.weighted.clone();
        let rotations = NodalRotations::new(pattern, &fit.dofs, &self.found_at, q);
        rotations.apply(&mut vectors, n);
        rotations.apply(&mut weighted, n);
        let rigid = RigidModes::new(system.mass(), &fit.dofs, q, &self.mask);
        vectors.chunks_exact_mut(n).for_each(|u| rigid.project_out(u));
        weighted.chunks_exact_mut(n).for_each(|w| rigid.balance(w));
        self.part = Some(Part::new(vectors, weighted, &self.found.values, &self.change));
        Ok(change)
    }

    /// Computes the modes of a configuration, starting from the last ones.
    fn compute(&mut self, fit: &Fit, configuration: &Configuration<'_>) -> Result<(), FitFailure> {
        let Configuration { system, deformation, t, q, .. } = *configuration;
        let n = q.len();
        let mut k = BlockMatrix::zeros(system.pattern().clone());
        deformation.add_deformation_hessian(t, q, Curvature::Projected, &mut k);
        let rest = self.rest.as_ref().expect("computed before the modes");
        let pattern = system.pattern();
        let mut shapes = rest.modes.vectors.clone();
        NodalRotations::new(pattern, &fit.dofs, &fit.rest, q).apply(&mut shapes, n);
        let pencil = Pencil { k: &k, mass: system.mass(), held: &self.mask };
        let rigid = &RigidModes::new(system.mass(), &fit.dofs, q, &self.mask);
        let shift = 0.1 * rest.modes.values.last().copied().unwrap_or(1.0).abs();
        let used = rest.change.rows();
        let search = ModeProblem { configuration, pencil: &pencil, rigid, shift, used };
        let Self { refiner, found, found_at, patience, .. } = self;
        let has_modes = found.vectors.len() == rest.modes.vectors.len() && found_at.len() == n;
        let has_factor = has_modes && refiner.computed_at.len() == n;
        if has_modes {
            NodalRotations::new(pattern, &fit.dofs, found_at, q).apply(&mut found.vectors, n);
            found.vectors.chunks_exact_mut(n).for_each(|u| rigid.project_out(u));
        }
        found_at.clear();
        self.weighted.clear();
        // Refine with the present factor, else with a new one, else compute from the beginning.
        let values = found.values.clone();
        let mut mixing = None;
        if has_factor {
            mixing = refiner.refine(found, &search, 2);
        }
        if has_modes && mixing.is_none() {
            *refiner = ModeRefiner::new(&search);
            mixing = refiner.refine(found, &search, 10);
        }
        if let Some(mixing) = mixing {
            let change = |(new, old): (&f64, &f64)| (new / old.max(f64::MIN_POSITIVE) - 1.0).abs();
            let change = found.values.iter().zip(&values).take(used).map(change).fold(0.0, f64::max);
            let factor = (0.6 * MAX_MIXING / mixing.max(1e-9)).min(MAX_CHANGE_OF_VALUES / change.max(1e-9));
            let [least, most] = STRAINS_OF_MODES.map(|strain| (strain / FIRST_STRAIN_OF_MODES).ln());
            *patience = (*patience + factor.clamp(0.6, 1.4).ln()).clamp(least, most);
        }
        if mixing.is_none() {
            let (m, count) = (mass_matrix(system), used + GUARDS);
            let rigid_count = rigid.fields.len();
            *found =
                modes::lowest(&k, &m, &self.mask, count, rigid_count, &|u| rigid.project_out(u), RESIDUAL)
                    .map_err(|_| NOT_FOUND)?;
            *refiner = ModeRefiner::new(&search);
            // In a body under stress rigid motions have energy. Once they are projected out, the vectors must be refined.
            if rigid_count > 0 {
                refiner.refine(found, &search, 10);
            }
        }
        found_at.extend_from_slice(q);
        // Transform S with the modes at rest, which were rotated with the body.
        let used = used.min(found.values.len());
        let weighted =
            Columns { values: multiply_by_mass(system.mass(), &self.mask, &found.vectors[..used * n]), n };
        let columns: Vec<Vec<f64>> = shapes
            .chunks_exact(n)
            .take(rest.change.rows())
            .map(|shape| weighted.inner_products(shape))
            .collect();
        let overlap = SmallMatrix::from_fn(used, columns.len(), |i, j| columns[j][i]);
        let apart = DistanceFromRest::of_modes(&overlap, &found.values, &rest.modes.values);
        self.furthest = self.furthest.max(apart);
        let matched = |j: usize| (0..used).any(|i| overlap[(i, j)].abs() > MIN_OVERLAP);
        let matched = (0..overlap.columns()).filter(|&j| matched(j)).count();
        self.change = SmallMatrix::default();
        if 2 * matched >= used {
            let transformation = overlap.orthonormal(MIN_OVERLAP).ok_or(NOT_FOUND)?;
            self.change = transformation.times(&rest.change).times(&transformation.transposed()).symmetric();
        }
        Ok(())
    }
}

impl Part {
    fn new(vectors: Vec<f64>, weighted: Vec<f64>, values: &[f64], change: &SmallMatrix) -> Self {
        let used = change.rows();
        let own = &values[..used];
        let least = MIN_STIFFNESS * own.iter().fold(0.0f64, |m, v| m.max(*v));
        let roots = own.iter().map(|v| if *v > least { v.sqrt() } else { 0.0 }).collect();
        Self { vectors, weighted, change: change.clone(), roots }
    }
}
