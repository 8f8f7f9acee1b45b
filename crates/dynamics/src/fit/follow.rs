//! Following the modes of fitted bodies from step to step.

use super::improve::{Improver, Place, Search};
use super::pencil::{Pencil, Rigid, mass_matrix, weigh_all};
use super::rest::{EXACT, Rest, STIFF};
use super::rotation::{self, Turn};
use super::{Correction, Fit, Fitted};
use crate::modes;
use crate::{State, System};
use lilyan_solve::deflate::Columns;
use lilyan_solve::newton::Curvature;
use lilyan_solve::refine::Subspace;
use lilyan_solve::{BlockMatrix, Small};
use std::sync::Mutex;

/// Vectors beside those wanted, which hasten the convergence of the last of these.
const GUARDS: usize = 3;
/// |uᵢᵀMuⱼ| from which on a mode is found again \[chen2019, 3.3.5\].
pub(super) const SAME: f64 = 0.6;
/// Root mean square of the relative changes of length in a body up to which its modes at rest say something about it.
const STRAINED: f64 = 0.25;
/// The same, since modes were found, up to which they only turn.
const NEAR: f64 = 0.02;

/// The modes of all fitted bodies, and how they fared.
#[derive(Default)]
pub struct Fitting {
    bodies: Vec<Followed>,
    correction: Option<Correction>,
}

/// The modes of a body.
#[derive(Default)]
pub struct Followed {
    /// Held, or not of this body.
    mask: Vec<bool>,
    /// Modes at rest with that mask.
    rest: Option<Rest>,
    /// The phase of the fit that modes were found for.
    phase: usize,
    /// Where modes were found last, m; empty if nowhere, or if they never change.
    found_at: Vec<f64>,
    /// The modes there.
    found: Subspace,
    /// MU of those that are used; empty if not known yet.
    weighed: Vec<f64>,
    /// S − 1 there; empty if the body is not to be fitted there.
    change: Small,
    improver: Improver,
    /// What it takes part in the correction with.
    part: Option<Part>,
    /// Steps so far.
    pub steps: u64,
    /// Steps that had to do without the fit.
    pub without: u64,
    /// When it was first left out, s.
    pub first: Option<f64>,
    /// Why it was left out last.
    pub why: Option<&'static str>,
}

/// The modes of one body in a correction.
struct Part {
    /// U and MU.
    vectors: Vec<f64>,
    weighed: Vec<f64>,
    /// S − 1.
    change: Small,
    /// λ^½, 1/s.
    roots: Vec<f64>,
}

/// Why a step goes without the fit.
type Unfit = &'static str;
const CROSSED: Unfit = "fewer than half of the modes at rest are found again in the deformed body";
const TOO_FAR: Unfit =
    "it is strained by more than a quarter on average, where stiffness at rest says nothing";
const LOST: Unfit = "the modes of the deformed body could not be found";

impl Fitting {
    /// For the fits of a system in a state; `None` if it has none.
    pub fn new(system: &dyn System, state: &State) -> Option<Self> {
        if system.fits().is_empty() {
            return None;
        }
        let bodies = system.fits().iter().map(|_| Followed::default()).collect();
        let mut fitting = Self { bodies, ..Self::default() };
        fitting.refresh(system, state.t, &state.q);
        for body in &mut fitting.bodies {
            (body.steps, body.without, body.first) = (0, 0, None);
        }
        Some(fitting)
    }

    /// The bodies, in the order of [`System::fits`].
    pub fn bodies(&self) -> &[Followed] {
        &self.bodies
    }

    /// What it adds now.
    pub(super) fn correction(&self) -> Option<&Correction> {
        self.correction.as_ref()
    }

    /// The system as it is fitted now.
    pub fn view<'a>(&'a self, system: &'a dyn System) -> Fitted<'a> {
        Fitted { system, correction: self.correction.as_ref() }
    }

    /// Finds the correction for a step from q that ends at t.
    pub fn refresh(&mut self, system: &dyn System, t: f64, q: &[f64]) {
        let mut held = vec![false; q.len()];
        system.held(t, &mut held);
        let place = Place { system, t, q, held: &held };
        let mut changed = Moved::No;
        for (body, fit) in self.bodies.iter_mut().zip(system.fits()) {
            body.steps += 1;
            let took_part = body.part.is_some();
            match body.follow(fit, &place) {
                Ok(moved) => changed = changed.max(moved),
                Err(why) => {
                    body.part = None;
                    changed = changed.max(Moved::of(took_part));
                    body.without += 1;
                    body.first.get_or_insert(t);
                    body.why = Some(why);
                }
            }
        }
        if changed > Moved::No {
            self.take_part(&place, changed);
        }
        if let Some(correction) = &mut self.correction {
            correction.begin(system, t, q);
            correction.damp(system, t, q);
        }
    }

    /// What the next step must know.
    pub fn memory(&self) -> Vec<f64> {
        let mut memory = Vec::new();
        for body in &self.bodies {
            let Followed { found, found_at, mask, change, .. } = body;
            let taken_at = &body.improver.taken_at;
            memory.extend([
                body.steps as f64,
                body.without as f64,
                body.first.unwrap_or(-1.0),
                body.phase as f64,
            ]);
            let lists = [taken_at.len(), found_at.len(), found.vectors.len(), found.values.len()];
            memory.extend([mask.len()].iter().chain(&lists).chain(&[change.rows()]).map(|&n| n as f64));
            memory.extend(mask.iter().map(|&h| f64::from(u8::from(h))));
            memory.extend(taken_at.iter().chain(found_at).chain(&found.vectors).chain(&found.values));
            (0..change.rows()).for_each(|i| memory.extend(change.row(i)));
        }
        memory
    }

    /// Takes up what [`Fitting::memory`] returned.
    pub fn remember(&mut self, mut memory: &[f64]) {
        let mut take = |n: f64| {
            let (head, rest) = memory.split_at((n as usize).min(memory.len()));
            memory = rest;
            head
        };
        self.correction = None;
        for body in &mut self.bodies {
            let &[steps, without, first, phase, a, b, c, d, e, f] = take(10.0) else { return };
            let mask = take(a).iter().map(|h| *h == 1.0).collect();
            if mask != body.mask {
                body.rest = None;
            }
            let improver = Improver { taken_at: take(b).to_vec(), ..Improver::default() };
            let found_at = take(c).to_vec();
            let found = Subspace { vectors: take(d).to_vec(), values: take(e).to_vec() };
            let (rows, entries) = (f as usize, take(f * f));
            // Not what `memory` returned: modes are then found anew.
            if entries.len() != rows * rows {
                return;
            }
            *body = Followed {
                mask,
                rest: body.rest.take(),
                phase: phase as usize,
                improver,
                found_at,
                found,
                weighed: Vec::new(),
                change: Small::from_fn(rows, rows, |i, j| entries[i * rows + j]),
                part: None,
                steps: steps as u64,
                without: without as u64,
                first: (first >= 0.0).then_some(first),
                why: body.why,
            };
        }
    }

    /// Makes the correction that of all bodies together.
    fn take_part(&mut self, place: &Place<'_>, changed: Moved) {
        let n = place.q.len();
        let (mut vectors, mut weighed, mut roots) = (Vec::new(), Vec::new(), Vec::new());
        let mut change = Small::default();
        for part in self.bodies.iter().filter_map(|body| body.part.as_ref()) {
            vectors.extend_from_slice(&part.vectors);
            weighed.extend_from_slice(&part.weighed);
            roots.extend_from_slice(&part.roots);
            change = change.beside(&part.change);
        }
        if roots.is_empty() {
            self.correction = None;
            return;
        }
        let columns = |values| Columns { values, n };
        let (vectors, weighed) = (columns(vectors), columns(weighed));
        let reaching = place.system.held_moves().then(|| place.reaching(&vectors, &weighed, &roots));
        match &mut self.correction {
            Some(correction) if changed == Moved::Turned => correction.turn(vectors, weighed, reaching),
            correction => {
                let mut new = Correction::new(&change, &roots);
                new.turn(vectors, weighed, reaching);
                *correction = Some(new);
            }
        }
    }
}

impl Place<'_> {
    /// MU, and where held KUΛ⁻¹: what is held, and moves, pulls at the modes.
    fn reaching(&self, vectors: &Columns, weighed: &Columns, roots: &[f64]) -> Columns {
        let mut k = BlockMatrix::zeros(self.system.pattern().clone());
        self.system.inner_hessian(self.t, self.q, Curvature::Projected, &mut k);
        let n = self.q.len();
        let mut product = vec![0.0; n];
        let mut columns = weighed.clone();
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

/// What a body takes part in the correction with, since the step before.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Moved {
    No,
    Turned,
    Anew,
}

impl Moved {
    fn of(changed: bool) -> Self {
        if changed { Self::Anew } else { Self::No }
    }

    fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

impl Followed {
    /// λ at rest, fine over coarse, of the modes that are fitted; none before they are known.
    pub fn ratios(&self) -> Vec<f64> {
        let change = self.rest.as_ref().map(|rest| &rest.change);
        change.map_or(Vec::new(), |s| (0..s.rows()).map(|i| 1.0 + s[(i, i)]).collect())
    }

    /// Follows the modes to a place.
    fn follow(&mut self, fit: &Fit, place: &Place<'_>) -> Result<Moved, Unfit> {
        let Place { system, t, q, held } = *place;
        let n = q.len();
        let phase = fit.phase(t).filter(|&p| fit.phases[p].target.count() > 0);
        let Some(phase) = phase else { return Ok(Moved::of(self.part.take().is_some())) };
        let held = |i: usize| held[i] || !fit.dofs.contains(&i);
        if self.mask.len() != n || (0..n).any(|i| held(i) != self.mask[i]) {
            let mask = (0..n).map(held).collect();
            *self =
                Self { mask, steps: self.steps, without: self.without, first: self.first, ..Self::default() };
        }
        if self.rest.as_ref().is_none_or(|rest| rest.phase != phase) {
            self.rest = Some(Rest::new(system, fit, phase, &self.mask, GUARDS).map_err(|_| LOST)?);
            self.part = None;
        }
        if self.phase != phase {
            (self.phase, self.found_at) = (phase, Vec::new());
        }
        let rest = self.rest.as_ref().expect("just made");
        if system.has_constant_stiffness(&fit.dofs) {
            let changed = self.part.is_none();
            if changed {
                let vectors = rest.modes.vectors[..rest.change.rows() * n].to_vec();
                let weighed = weigh_all(system.mass(), &self.mask, &vectors);
                self.part = Some(Part::new(vectors, weighed, &rest.modes.values, &rest.change));
            }
            return Ok(Moved::of(changed));
        }
        let pattern = system.pattern();
        if rotation::strain(pattern, &fit.dofs, &fit.rest, q) > STRAINED {
            return Err(TOO_FAR);
        }
        let mut moved = if self.part.is_some() { Moved::Turned } else { Moved::Anew };
        if self.found_at.is_empty() || rotation::strain(pattern, &fit.dofs, &self.found_at, q) > NEAR {
            self.find(fit, place)?;
            moved = Moved::Anew;
        }
        if self.change.rows() == 0 {
            return Err(CROSSED);
        }
        let mut vectors = self.found.vectors[..self.change.rows() * n].to_vec();
        if self.weighed.is_empty() {
            self.weighed = weigh_all(system.mass(), &self.mask, &vectors);
        }
        // MU turns as U does: so UᵀMU stays 1.
        let mut weighed = self.weighed.clone();
        let turn = Turn::new(pattern, &fit.dofs, &self.found_at, q);
        turn.apply(&mut vectors, n);
        turn.apply(&mut weighed, n);
        let rigid = Rigid::new(system.mass(), &fit.dofs, q, &self.mask);
        vectors.chunks_exact_mut(n).for_each(|u| rigid.without(u));
        weighed.chunks_exact_mut(n).for_each(|w| rigid.balance(w));
        self.part = Some(Part::new(vectors, weighed, &self.found.values, &self.change));
        Ok(moved)
    }

    /// Finds the modes of the body at a place, beginning with those found last.
    fn find(&mut self, fit: &Fit, place: &Place<'_>) -> Result<(), Unfit> {
        let Place { system, t, q, .. } = *place;
        let n = q.len();
        let mut k = BlockMatrix::zeros(system.pattern().clone());
        system.inner_hessian(t, q, Curvature::Projected, &mut k);
        let rest = self.rest.as_ref().expect("known when modes are looked for");
        let pattern = system.pattern();
        let mut shapes = rest.modes.vectors.clone();
        Turn::new(pattern, &fit.dofs, &fit.rest, q).apply(&mut shapes, n);
        let pencil = Pencil { k: &k, mass: system.mass(), held: &self.mask };
        let rigid = &Rigid::new(system.mass(), &fit.dofs, q, &self.mask);
        let shift = 0.1 * rest.modes.values.last().copied().unwrap_or(1.0).abs();
        let used = rest.change.rows();
        let search = Search { place, pencil: &pencil, rigid, shift, used };
        let Self { improver, found, found_at, .. } = self;
        let known = found.vectors.len() == rest.modes.vectors.len() && found_at.len() == n;
        let begun = known && improver.taken_at.len() == n;
        if known {
            Turn::new(pattern, &fit.dofs, found_at, q).apply(&mut found.vectors, n);
            found.vectors.chunks_exact_mut(n).for_each(|u| rigid.without(u));
        }
        found_at.clear();
        self.weighed.clear();
        // With the factor that is there, else with a new one, else from nothing.
        let close = begun && improver.improve(found, &search, 2)
            || known && {
                *improver = Improver::new(&search);
                improver.improve(found, &search, 10)
            };
        if !close {
            let (m, count) = (mass_matrix(system), used + GUARDS);
            let apart = rigid.fields.len();
            *found = modes::lowest(&k, &m, &self.mask, count, apart, &|u| rigid.without(u), EXACT)
                .map_err(|_| LOST)?;
            *improver = Improver::new(&search);
            // In a body under stress rigid motions cost something: without them these are no modes yet.
            if apart > 0 {
                improver.improve(found, &search, 10);
            }
        }
        found_at.extend_from_slice(q);
        // S goes with the modes at rest, turned as the body has turned.
        let used = used.min(found.values.len());
        let weighed = Columns { values: weigh_all(system.mass(), &self.mask, &found.vectors[..used * n]), n };
        let columns: Vec<Vec<f64>> =
            shapes.chunks_exact(n).take(rest.change.rows()).map(|shape| weighed.along(shape)).collect();
        let overlap = Small::from_fn(used, columns.len(), |i, j| columns[j][i]);
        let again = |j: usize| (0..used).any(|i| overlap[(i, j)].abs() > SAME);
        let again = (0..overlap.columns()).filter(|&j| again(j)).count();
        self.change = Small::default();
        if 2 * again >= used {
            let turned = overlap.orthonormal(SAME).ok_or(LOST)?;
            self.change = turned.times(&rest.change).times(&turned.transposed()).symmetric();
        }
        Ok(())
    }
}

impl Part {
    fn new(vectors: Vec<f64>, weighed: Vec<f64>, values: &[f64], change: &Small) -> Self {
        let used = change.rows();
        let own = &values[..used];
        let least = STIFF * own.iter().fold(0.0f64, |m, v| m.max(*v));
        let roots = own.iter().map(|v| if *v > least { v.sqrt() } else { 0.0 }).collect();
        Self { vectors, weighed, change: change.clone(), roots }
    }
}

impl Correction {
    /// Adds how much the modes are damped by deformation.
    fn damp(&mut self, system: &dyn System, t: f64, q: &[f64]) {
        if !system.has_forces() {
            return;
        }
        let mut d = BlockMatrix::zeros(system.pattern().clone());
        system.damping(t, q, &mut d);
        let mut product = vec![0.0; q.len()];
        let mut columns = [Vec::new(), Vec::new()];
        for u in self.vectors.values.chunks_exact(q.len()) {
            d.mul_vec(u, &mut product);
            columns[0].push(self.vectors.along(&product));
            system.outer_forces(t, q, u, &mut product);
            columns[1].push(self.vectors.along(&product));
        }
        let m = self.values.len();
        let [all, inner] = columns.map(|columns| Small::from_fn(m, m, |i, j| columns[j][i]).symmetric());
        self.damping = self.force.times(&inner).symmetric();
        self.damped = all;
        self.deflated = Mutex::default();
    }
}
