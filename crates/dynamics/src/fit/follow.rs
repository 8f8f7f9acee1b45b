//! Following the modes of fitted bodies from step to step.

use super::rest::{EXACT, Rest, STIFF};
use super::rotation;
use super::{Correction, Fit, Fitted};
use crate::modes;
use crate::{Mass, State, System};
use lilyan_solve::flow::Linear;
use lilyan_solve::newton::{Curvature, dot};
use lilyan_solve::refine::Subspace;
use lilyan_solve::{BlockMatrix, Cholesky, Modes, Small};
use std::ops::Range;

/// Vectors beside those wanted, which hasten the convergence of the last of these.
const GUARDS: usize = 3;
/// |uᵢᵀMuⱼ| from which on a mode is found again \[chen2019, 3.3.5\].
pub(super) const SAME: f64 = 0.6;
/// Root mean square of the relative changes of length in a body up to which its modes at rest say something about it.
const STRAINED: f64 = 0.25;
/// Components of other modes in a mode that one refinement makes good enough. Its frequency is off by their square;
/// a mixture of modes that are all fitted does no harm at all.
const CLOSE: f64 = 0.1;
/// Modes that tell whether a factorisation is still near: the lowest change most.
const TELLING: usize = 3;
/// The modes of all fitted bodies, and how they fared.
#[derive(Default)]
pub struct Fitting {
    bodies: Vec<Followed>,
    correction: Option<Correction>,
    /// Stiffness against deformation where the step begins.
    stiffness: Option<Stiffness>,
}

/// K, projected, and where it was taken.
pub(super) struct Stiffness {
    pub q: Vec<f64>,
    pub k: BlockMatrix,
}

/// The modes of a body.
#[derive(Default)]
pub struct Followed {
    /// Held, or not of this body.
    mask: Vec<bool>,
    /// Modes at rest with that mask.
    rest: Option<Rest>,
    now: Subspace,
    improver: Improver,
    /// Steps so far.
    pub steps: u64,
    /// Steps that had to do without the fit.
    pub without: u64,
    /// When it was first left out, s.
    pub first: Option<f64>,
    /// Why it was left out last.
    pub why: Option<&'static str>,
}

/// Where modes are looked for.
struct Place<'a> {
    system: &'a dyn System,
    t: f64,
    q: &'a [f64],
    /// K there.
    k: &'a BlockMatrix,
    held: &'a [bool],
}

/// A matrix near K that is factorised: what modes are improved with.
#[derive(Default)]
struct Improver {
    /// Where it was taken, m.
    taken_at: Vec<f64>,
    /// K there.
    matrix: Option<BlockMatrix>,
    /// Of K + σM.
    factor: Option<Cholesky>,
}

/// K and M with the held unknowns out of the way.
pub(super) struct Pencil<'a> {
    pub k: &'a BlockMatrix,
    pub mass: &'a Mass,
    pub held: &'a [bool],
}

impl Linear for Pencil<'_> {
    fn mass(&self, x: &[f64], y: &mut [f64]) {
        self.mass.mul(x, y);
        y.iter_mut().zip(self.held).filter(|(_, h)| **h).for_each(|(y, _)| *y = 0.0);
    }
    fn divide_by_mass(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        self.mass.solve(self.held, x, y);
    }
    fn stiffness(&self, x: &[f64], y: &mut [f64]) {
        self.k.mul_vec(x, y);
        y.iter_mut().zip(self.held).filter(|(_, h)| **h).for_each(|(y, _)| *y = 0.0);
    }
    fn damping(&self, _x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
    }
}

/// The rigid motions of a shape, M-orthonormal; none if something of it is held.
pub(super) struct Rigid {
    pub fields: Vec<Vec<f64>>,
    weighed: Vec<Vec<f64>>,
}

impl Rigid {
    pub fn new(pencil: &Pencil<'_>, dofs: &Range<usize>, q: &[f64], mask: &[bool]) -> Self {
        let mut rigid = Self { fields: Vec::new(), weighed: Vec::new() };
        if dofs.clone().any(|i| mask[i]) {
            return rigid;
        }
        let nodes = dofs.len() as f64 / 3.0;
        let centre = [0, 1, 2].map(|k| dofs.clone().skip(k).step_by(3).map(|i| q[i]).sum::<f64>() / nodes);
        for motion in 0..6 {
            let mut field = vec![0.0; q.len()];
            for i in dofs.clone().step_by(3) {
                if motion < 3 {
                    field[i + motion] = 1.0;
                } else {
                    let (j, k) = ((motion + 1) % 3, (motion + 2) % 3);
                    field[i + j] = -(q[i + k] - centre[k]);
                    field[i + k] = q[i + j] - centre[j];
                }
            }
            rigid.without(&mut field);
            rigid.without(&mut field);
            let mut weighed = vec![0.0; q.len()];
            pencil.mass(&field, &mut weighed);
            let size = dot(&field, &weighed).sqrt();
            if size > 0.0 {
                rigid.fields.push(field.into_iter().map(|x| x / size).collect());
                rigid.weighed.push(weighed.into_iter().map(|x| x / size).collect());
            }
        }
        rigid
    }

    /// Takes them out of a vector.
    pub fn without(&self, u: &mut [f64]) {
        for (field, weighed) in self.fields.iter().zip(&self.weighed) {
            let s = dot(weighed, u);
            u.iter_mut().zip(field).for_each(|(u, f)| *u -= s * f);
        }
    }
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

    /// The system as it is fitted now.
    pub fn view<'a>(&'a self, system: &'a dyn System) -> Fitted<'a> {
        Fitted { system, correction: self.correction.as_ref(), stiffness: self.stiffness.as_ref() }
    }

    /// Finds the correction for a step from q that ends at t.
    pub fn refresh(&mut self, system: &dyn System, t: f64, q: &[f64]) {
        let mut k = match self.stiffness.take() {
            Some(Stiffness { mut k, .. }) => {
                k.clear();
                k
            }
            None => BlockMatrix::zeros(system.pattern().clone()),
        };
        system.inner_hessian(t, q, Curvature::Projected, &mut k);
        let mut held = vec![false; q.len()];
        system.held(t, &mut held);
        let mut correction = Correction { n: q.len(), ..Correction::default() };
        let place = Place { system, t, q, k: &k, held: &held };
        for (body, fit) in self.bodies.iter_mut().zip(system.fits()) {
            body.steps += 1;
            if let Err(why) = body.follow(fit, &place, &mut correction) {
                body.without += 1;
                body.first.get_or_insert(t);
                body.why = Some(why);
            }
        }
        correction.damp(system, t, q);
        self.correction = (!correction.roots.is_empty()).then_some(correction);
        self.stiffness = Some(Stiffness { q: q.to_vec(), k });
    }

    /// What the next step must know.
    pub fn memory(&self) -> Vec<f64> {
        let mut memory = Vec::new();
        for body in &self.bodies {
            let Followed { now, mask, .. } = body;
            let taken_at = &body.improver.taken_at;
            memory.extend([body.steps as f64, body.without as f64, body.first.unwrap_or(-1.0)]);
            memory
                .extend([mask.len(), taken_at.len(), now.vectors.len(), now.values.len()].map(|n| n as f64));
            memory.extend(mask.iter().map(|&h| f64::from(u8::from(h))));
            memory.extend(taken_at.iter().chain(&now.vectors).chain(&now.values));
        }
        memory
    }

    /// Takes up what [`Fitting::memory`] returned.
    pub fn remember(&mut self, mut memory: &[f64]) {
        let mut take = |n: usize| {
            let (head, rest) = memory.split_at(n.min(memory.len()));
            memory = rest;
            head
        };
        for body in &mut self.bodies {
            let &[steps, without, first, a, b, c, d] = take(7) else { return };
            let mask = take(a as usize).iter().map(|h| *h == 1.0).collect();
            if mask != body.mask {
                body.rest = None;
            }
            *body = Followed {
                mask,
                rest: body.rest.take(),
                improver: Improver { taken_at: take(b as usize).to_vec(), ..Improver::default() },
                now: Subspace { vectors: take(c as usize).to_vec(), values: take(d as usize).to_vec() },
                steps: steps as u64,
                without: without as u64,
                first: (first >= 0.0).then_some(first),
                why: body.why,
            };
        }
    }
}

impl Followed {
    /// λ at rest, fine over coarse, of the modes that are fitted; none before they are known.
    pub fn ratios(&self) -> Vec<f64> {
        let change = self.rest.as_ref().map(|rest| &rest.change);
        change.map_or(Vec::new(), |s| (0..s.rows()).map(|i| 1.0 + s[(i, i)]).collect())
    }

    /// Follows the modes to a place and adds them to the correction.
    fn follow(&mut self, fit: &Fit, place: &Place<'_>, correction: &mut Correction) -> Result<(), Unfit> {
        let Place { system, t, q, k, held } = *place;
        let phase = fit.phase(t).filter(|&p| fit.phases[p].target.count() > 0);
        let Some(phase) = phase else { return Ok(()) };
        let mask: Vec<bool> = (0..q.len()).map(|i| held[i] || !fit.dofs.contains(&i)).collect();
        if mask != self.mask {
            *self =
                Self { mask, steps: self.steps, without: self.without, first: self.first, ..Self::default() };
        }
        if self.rest.as_ref().is_none_or(|rest| rest.phase != phase) {
            self.rest = Some(Rest::new(system, fit, phase, &self.mask, GUARDS).map_err(|_| LOST)?);
        }
        let rest = self.rest.as_ref().expect("just made");
        let pattern = system.pattern();
        let strained = rotation::strain(pattern, &fit.dofs, &fit.rest, q) > STRAINED;
        if strained && !rest.is_still(k, &fit.dofs) {
            return Err(TOO_FAR);
        }
        let turned = rotation::turned(pattern, &fit.dofs, &fit.rest, q, &rest.modes.vectors);
        let shapes = [turned, rest.modes.vectors.clone()];
        let pencil = Pencil { k, mass: system.mass(), held: &self.mask };
        // A linear material does not turn with the body: what costs less is what its modes are near to.
        let stiffness = |u: &[f64]| k.quadratic_form(u);
        let rigid = [q, &fit.rest].map(|shape| Rigid::new(&pencil, &fit.dofs, shape, &self.mask));
        let cost = rigid.each_ref().map(|r| r.fields.iter().map(|u| stiffness(u)).sum::<f64>());
        let rigid = if cost[0] <= cost[1] { &rigid[0] } else { &rigid[1] };
        let shift = 0.1 * rest.modes.values.last().copied().unwrap_or(1.0).abs();
        let used = rest.change.rows();
        let search = Search { place, pencil: &pencil, rigid, shift, used };
        let Self { improver, now, .. } = self;
        let known = now.vectors.len() == rest.modes.vectors.len();
        let begun = known && improver.taken_at.len() == q.len();
        now.vectors.chunks_exact_mut(q.len()).for_each(|u| rigid.without(u));
        if !(begun && improver.is_for(place)) {
            // With the factor that is there, else with a new one, else from nothing.
            let close = begun && improver.improve(now, &search, 2)
                || known && {
                    *improver = Improver::new(place);
                    improver.improve(now, &search, 10)
                };
            if !close {
                let (m, count) = (mass_matrix(system), used + GUARDS);
                let apart = rigid.fields.len();
                *now = modes::lowest(k, &m, &self.mask, count, apart, &|u| rigid.without(u), EXACT)
                    .map_err(|_| LOST)?;
                *improver = Improver::new(place);
                // In a body under stress rigid motions cost something: without them these are no modes yet.
                if apart > 0 {
                    improver.improve(now, &search, 10);
                }
            }
        }
        let used = used.min(now.values.len());
        let (n, own) = (q.len(), &now.values[..used]);
        let vectors = &now.vectors[..used * n];
        let mut weighed = vec![0.0; used * n];
        for (u, w) in vectors.chunks_exact(n).zip(weighed.chunks_exact_mut(n)) {
            pencil.mass(u, w);
        }
        let overlap = |shape: &[f64]| {
            let entry = |i: usize, j: usize| dot(&weighed[i * n..(i + 1) * n], &shape[j * n..(j + 1) * n]);
            Small::from_fn(used, rest.change.rows(), entry)
        };
        let overlaps = shapes.each_ref().map(|shape| overlap(shape));
        let common = |o: &Small| (0..used).flat_map(|i| o.row(i)).map(|x| x * x).sum::<f64>();
        let overlap = if common(&overlaps[0]) > common(&overlaps[1]) { &overlaps[0] } else { &overlaps[1] };
        let again = |j: usize| (0..used).any(|i| overlap[(i, j)].abs() > SAME);
        let found = (0..overlap.columns()).filter(|&j| again(j)).count();
        if 2 * found < used {
            return Err(CROSSED);
        }
        let turned = overlap.orthonormal(SAME).ok_or(LOST)?;
        let change = turned.times(&rest.change).times(&turned.transposed()).symmetric();
        correction.change = correction.change.beside(&change);
        let least = STIFF * own.iter().fold(0.0f64, |m, v| m.max(*v));
        correction.roots.extend(own.iter().map(|v| if *v > least { v.sqrt() } else { 0.0 }));
        correction.vectors.extend(vectors);
        correction.weighed.extend(weighed);
        Ok(())
    }
}

/// What modes are looked for, and among what.
struct Search<'a> {
    place: &'a Place<'a>,
    pencil: &'a Pencil<'a>,
    rigid: &'a Rigid,
    /// σ of K + σM.
    shift: f64,
    /// How many have to be close.
    used: usize,
}

impl Improver {
    fn new(place: &Place<'_>) -> Self {
        Self { taken_at: place.q.to_vec(), matrix: Some(place.k.clone()), factor: None }
    }

    /// K where it was taken.
    fn matrix(&mut self, system: &dyn System, t: f64) -> &BlockMatrix {
        let Self { taken_at, matrix, .. } = self;
        matrix.get_or_insert_with(|| {
            let mut k = BlockMatrix::zeros(system.pattern().clone());
            system.inner_hessian(t, taken_at, Curvature::Projected, &mut k);
            k
        })
    }

    /// Whether nothing has changed since, as in a linear material.
    fn is_for(&mut self, place: &Place<'_>) -> bool {
        let then = self.matrix(place.system, place.t);
        then.values() == place.k.values() && then.extra() == place.k.extra()
    }

    /// Improves modes until they are close, at most so often; whether they are.
    fn improve(&mut self, modes: &mut Subspace, search: &Search<'_>, most: usize) -> bool {
        let Place { system, t, q, .. } = *search.place;
        // What the body has become too far from improves nothing, however small the corrections that it gives.
        let telling = modes.vectors.chunks_exact(q.len()).take(TELLING);
        let along = |a: &BlockMatrix| telling.clone().map(|u| a.quadratic_form(u)).sum::<f64>();
        let (then, now) = (along(self.matrix(system, t)), along(search.place.k));
        let shifts = search.shift * TELLING as f64;
        if (then - now).abs() > 0.5 * (now.abs() + shifts) {
            return false;
        }
        if self.factor.is_none() {
            let mut a = self.matrix(system, t).clone();
            a.add_scaled(search.shift, &mass_matrix(system));
            a.hold(search.pencil.held);
            let mut factor = Cholesky::new();
            if factor.factor(&a).is_err() {
                return false;
            }
            self.factor = Some(factor);
        }
        let factor = self.factor.as_mut().expect("just made");
        let mut solve = |x: &mut [f64], columns: usize| factor.solve_many(x, columns);
        for _ in 0..most {
            let sizes = modes.refine(search.pencil, &mut solve, &|u| search.rigid.without(u), q.len());
            let Some(sizes) = sizes else { return false };
            if sizes[..search.used].iter().all(|s| *s <= CLOSE) {
                return true;
            }
        }
        false
    }
}

pub(super) fn mass_matrix(system: &dyn System) -> BlockMatrix {
    let mut m = BlockMatrix::zeros(system.pattern().clone());
    system.mass().add_to(&mut m);
    m
}

/// Gives the lowest modes at positions q, as a system without its fits has them, the values that its fits make of
/// them.
pub fn correct_modes(system: &dyn System, q: &[f64], found: &mut Modes) {
    let n = q.len();
    let at = State { t: 0.0, q: q.to_vec(), v: vec![0.0; n], p: vec![0.0; n] };
    let Some(fitting) = Fitting::new(system, &at) else { return };
    let Some(correction) = &fitting.correction else { return };
    let mut k = BlockMatrix::zeros(system.pattern().clone());
    system.hessian(0.0, q, Curvature::Exact, &mut k);
    let mut held = vec![false; n];
    system.held(0.0, &mut held);
    let pencil = Pencil { k: &k, mass: system.mass(), held: &held };
    let corrected = Corrected { pencil, correction };
    // Rayleigh–Ritz among those that were found and those that the fit makes new ones from.
    let mut vectors = Vec::new();
    let mut weighed = vec![0.0; n];
    for u in found.vectors.iter().map(Vec::as_slice).chain(correction.vectors.chunks_exact(n)) {
        let mut u = u.to_vec();
        for _ in 0..2 {
            corrected.mass(&u, &mut weighed);
            let along: Vec<f64> = vectors.chunks_exact(n).map(|v| dot(v, &weighed)).collect();
            for (v, s) in vectors.chunks_exact(n).zip(along) {
                u.iter_mut().zip(v).for_each(|(u, v)| *u -= s * v);
            }
        }
        corrected.mass(&u, &mut weighed);
        let size = dot(&u, &weighed).sqrt();
        if size > 1e-6 {
            vectors.extend(u.into_iter().map(|x| x / size));
        }
    }
    let mut subspace = Subspace { vectors, values: Vec::new() };
    // Without new directions, refining is Rayleigh–Ritz.
    if subspace.refine(&corrected, &mut |x, _| x.fill(0.0), &|_| (), n).is_some() {
        let count = found.values.len();
        found.values = subspace.values[..count].to_vec();
        found.vectors = subspace.vectors.chunks_exact(n).take(count).map(<[f64]>::to_vec).collect();
    }
}

/// K‡ and M.
struct Corrected<'a> {
    pencil: Pencil<'a>,
    correction: &'a Correction,
}

impl Linear for Corrected<'_> {
    fn mass(&self, x: &[f64], y: &mut [f64]) {
        self.pencil.mass(x, y);
    }
    fn divide_by_mass(&self, x: &[f64], y: &mut [f64]) {
        self.pencil.divide_by_mass(x, y);
    }
    fn stiffness(&self, x: &[f64], y: &mut [f64]) {
        self.pencil.stiffness(x, y);
        self.correction.add_stiffness(x, y);
    }
    fn damping(&self, x: &[f64], y: &mut [f64]) {
        self.pencil.damping(x, y);
    }
}

impl Correction {
    /// Adds how much the modes are damped by deformation.
    fn damp(&mut self, system: &dyn System, t: f64, q: &[f64]) {
        let m = self.roots.len();
        self.damping = Small::diagonal(&vec![0.0; m]);
        if !system.has_forces() || m == 0 {
            return;
        }
        let mut d = BlockMatrix::zeros(system.pattern().clone());
        system.damping(t, q, &mut d);
        let mut products = Vec::with_capacity(self.vectors.len());
        for u in self.vectors.chunks_exact(self.n) {
            let mut product = vec![0.0; self.n];
            d.mul_vec(u, &mut product);
            system.outer_forces(t, q, u, &mut product);
            products.extend(product);
        }
        let part = |a: &[f64], k: usize| a[k * self.n..(k + 1) * self.n].to_vec();
        let along = Small::from_fn(m, m, |i, j| dot(&part(&self.vectors, i), &part(&products, j)));
        self.damping = self.force().times(&along.symmetric()).symmetric();
    }
}
