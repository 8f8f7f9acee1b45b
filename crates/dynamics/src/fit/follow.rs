//! Following the modes of fitted bodies from step to step.

use super::rotation::{self, Matrix};
use super::{Correction, Fit, Fitted};
use crate::modes;
use crate::{Mass, State, System};
use lilyan_solve::flow::Linear;
use lilyan_solve::newton::{Curvature, dot};
use lilyan_solve::refine::Subspace;
use lilyan_solve::{BlockMatrix, Cholesky, EigenError, Modes};
use std::ops::Range;

/// Vectors beside those wanted, which hasten the convergence of the last of these.
const GUARDS: usize = 3;
/// |uᵢᵀMuⱼ| from which on a mode is found again \[chen2019, 3.3.5\].
const SAME: f64 = 0.6;
/// Components of other modes in a mode that is good enough. Its frequency is off by the square, and the step
/// is solved for the modes as they are.
const CLOSE: f64 = 0.03;
/// Residual of modes that are found from nothing: close enough that refining finds nothing left to do.
const EXACT: f64 = 1e-8;

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
    rest: Option<Subspace>,
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
    made: Option<(BlockMatrix, Cholesky)>,
}

/// K and M with the held unknowns out of the way.
struct Pencil<'a> {
    k: &'a BlockMatrix,
    mass: &'a Mass,
    held: &'a [bool],
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
struct Rigid {
    fields: Vec<Vec<f64>>,
    weighed: Vec<Vec<f64>>,
}

impl Rigid {
    fn new(pencil: &Pencil<'_>, dofs: &Range<usize>, q: &[f64], mask: &[bool]) -> Self {
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
    fn without(&self, u: &mut [f64]) {
        for (field, weighed) in self.fields.iter().zip(&self.weighed) {
            let s = dot(weighed, u);
            u.iter_mut().zip(field).for_each(|(u, f)| *u -= s * f);
        }
    }
}

/// Why a step goes without the fit.
type Unfit = &'static str;
const CROSSED: Unfit = "fewer than half of the modes at rest are found again in the deformed body";
const LOST: Unfit = "the modes of the deformed body could not be found";

impl Fitting {
    /// For the fits of a system in a state; `None` if it has none.
    pub fn new(system: &dyn System, state: &State) -> Option<Self> {
        if system.fits().is_empty() {
            return None;
        }
        let bodies = system.fits().iter().map(|_| Followed::default()).collect();
        let mut fitting = Self { bodies, correction: None };
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
        Fitted { system, correction: self.correction.as_ref() }
    }

    /// Finds the correction for a step from q that ends at t.
    pub fn refresh(&mut self, system: &dyn System, t: f64, q: &[f64]) {
        let mut k = BlockMatrix::zeros(system.pattern().clone());
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
        self.correction = (!correction.scales.is_empty()).then_some(correction);
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
                improver: Improver { taken_at: take(b as usize).to_vec(), made: None },
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
    /// Follows the modes to a place and adds them to the correction.
    fn follow(&mut self, fit: &Fit, place: &Place<'_>, correction: &mut Correction) -> Result<(), Unfit> {
        let Place { system, t, q, k, held } = *place;
        let ratios = fit.ratios(t);
        if ratios.is_empty() {
            return Ok(());
        }
        let mask: Vec<bool> = (0..q.len()).map(|i| held[i] || !fit.dofs.contains(&i)).collect();
        if mask != self.mask {
            *self =
                Self { mask, steps: self.steps, without: self.without, first: self.first, ..Self::default() };
        }
        if self.rest.is_none() {
            self.rest = Some(
                at_rest(system, &fit.dofs, &fit.rest, &self.mask, ratios.len() + GUARDS).map_err(|_| LOST)?,
            );
        }
        let rest = self.rest.as_ref().expect("just made");
        let used = ratios.len().min(rest.values.len());
        let shapes =
            [turn(fit, &self.mask, system.mass().diagonal(), q, &rest.vectors), rest.vectors.clone()];
        let pencil = Pencil { k, mass: system.mass(), held: &self.mask };
        // A linear material does not turn with the body: what costs less is what its modes are near to.
        let stiffness = |u: &[f64]| k.quadratic_form(u);
        let rigid = [q, &fit.rest].map(|shape| Rigid::new(&pencil, &fit.dofs, shape, &self.mask));
        let cost = rigid.each_ref().map(|r| r.fields.iter().map(|u| stiffness(u)).sum::<f64>());
        let rigid = if cost[0] <= cost[1] { &rigid[0] } else { &rigid[1] };
        let shift = 0.1 * rest.values.last().copied().unwrap_or(1.0).abs();
        let search = Search { place, pencil: &pencil, rigid, shift, used };
        let known = self.now.vectors.len() == rest.vectors.len();
        self.now.vectors.chunks_exact_mut(q.len()).for_each(|u| rigid.without(u));
        if !(known && is_settled(&self.now, &pencil, q.len())) {
            // With the factor that is there, else with a new one, else from nothing.
            let Self { improver, now, .. } = self;
            let near = known && improver.taken_at.len() == q.len() && improver.improve(now, &search, 4);
            let close = near
                || known && {
                    *improver = Improver { taken_at: q.to_vec(), made: None };
                    improver.improve(now, &search, 10)
                };
            if !close {
                let (m, count) = (mass_matrix(system), ratios.len() + GUARDS);
                let apart = rigid.fields.len();
                *now = modes::lowest(k, &m, &self.mask, count, apart, &|u| rigid.without(u), EXACT)
                    .map_err(|_| LOST)?;
                *improver = Improver { taken_at: q.to_vec(), made: None };
            }
        }
        let used = used.min(self.now.values.len());

        let n = q.len();
        let mut weighed = vec![0.0; used * n];
        let vectors = &self.now.vectors[..used * n];
        for (u, w) in vectors.chunks_exact(n).zip(weighed.chunks_exact_mut(n)) {
            pencil.mass(u, w);
        }
        let overlaps = shapes.map(|shape| -> Vec<Vec<f64>> {
            let row = |w: &[f64]| shape.chunks_exact(n).take(used).map(|u| dot(w, u)).collect();
            weighed.chunks_exact(n).map(row).collect()
        });
        let common = |o: &Vec<Vec<f64>>| o.iter().flatten().map(|x| x * x).sum::<f64>();
        let overlaps = if common(&overlaps[0]) > common(&overlaps[1]) { &overlaps[0] } else { &overlaps[1] };
        let found = (0..used).filter(|&j| overlaps.iter().any(|row| row[j].abs() > SAME)).count();
        if 2 * found < used {
            return Err(CROSSED);
        }
        let stiffest = self.now.values[..used].iter().fold(0.0f64, |m, v| m.max(*v));
        for (i, row) in overlaps.iter().enumerate() {
            let known: f64 = row.iter().map(|o| o * o).sum();
            let of_rest: f64 = row.iter().zip(ratios).map(|(o, r)| o * o * r).sum();
            let ratio = of_rest + (1.0 - known).max(0.0) * ratios[i];
            // A mode without stiffness, as about a hinge, has none to be scaled.
            let stiff = self.now.values[i] > 1e-9 * stiffest;
            correction.scales.push(if stiff { ratio - 1.0 } else { 0.0 });
            correction.values.push(self.now.values[i]);
        }
        correction.vectors.extend(vectors);
        correction.weighed.extend(weighed);
        Ok(())
    }
}

/// Whether U and Λ solve K u = λ M u already: the matrix of a linear material does not change.
fn is_settled(modes: &Subspace, pencil: &Pencil<'_>, n: usize) -> bool {
    let (mut ku, mut mu) = (vec![0.0; n], vec![0.0; n]);
    modes.vectors.chunks_exact(n).zip(&modes.values).all(|(u, value)| {
        pencil.stiffness(u, &mut ku);
        pencil.mass(u, &mut mu);
        let size = dot(&ku, &ku).sqrt();
        mu.iter_mut().zip(&ku).for_each(|(m, k)| *m = k - value * *m);
        dot(&mu, &mu).sqrt() <= 1e-6 * size
    })
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
    /// Improves modes until they are close, at most so often; whether they are.
    fn improve(&mut self, modes: &mut Subspace, search: &Search<'_>, most: usize) -> bool {
        let Place { system, t, q, .. } = *search.place;
        let (matrix, factor) = match &mut self.made {
            Some(made) => made,
            none => {
                let mut a = BlockMatrix::zeros(system.pattern().clone());
                system.inner_hessian(t, &self.taken_at, Curvature::Projected, &mut a);
                a.add_scaled(search.shift, &mass_matrix(system));
                a.hold(search.pencil.held);
                let mut factor = Cholesky::new();
                if factor.factor(&a).is_err() {
                    return false;
                }
                none.insert((a, factor))
            }
        };
        // What the body has become too far from improves nothing, however small the corrections that it gives.
        let along =
            |a: &BlockMatrix| modes.vectors.chunks_exact(q.len()).map(|u| a.quadratic_form(u)).sum::<f64>();
        let (then, now) = (along(matrix), along(search.place.k));
        let shifts = search.shift * modes.len(q.len()) as f64;
        if (then - shifts - now).abs() > 0.5 * (now.abs() + shifts) {
            return false;
        }
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

fn mass_matrix(system: &dyn System) -> BlockMatrix {
    let mut m = BlockMatrix::zeros(system.pattern().clone());
    system.mass().add_to(&mut m);
    m
}

/// The modes of a body at rest.
fn at_rest(
    system: &dyn System,
    dofs: &Range<usize>,
    rest: &[f64],
    mask: &[bool],
    count: usize,
) -> Result<Subspace, EigenError> {
    let mut k = BlockMatrix::zeros(system.pattern().clone());
    system.inner_hessian(0.0, rest, Curvature::Projected, &mut k);
    let m = mass_matrix(system);
    let pencil = Pencil { k: &k, mass: system.mass(), held: mask };
    let rigid = Rigid::new(&pencil, dofs, rest, mask);
    modes::lowest(&k, &m, mask, count, rigid.fields.len(), &|u| rigid.without(u), EXACT)
}

/// The lowest modes at rest of what has these unknowns, as held at time t, rigid motions not counted: as many as
/// asked for, or as there are.
pub fn modes_at_rest(
    system: &dyn System,
    dofs: &Range<usize>,
    rest: &[f64],
    t: f64,
    count: usize,
) -> Result<Subspace, EigenError> {
    let mut mask = vec![false; rest.len()];
    system.held(t, &mut mask);
    mask.iter_mut().enumerate().filter(|(i, _)| !dofs.contains(i)).for_each(|(_, m)| *m = true);
    at_rest(system, dofs, rest, &mask, count)
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
    let mut subspace = Subspace { vectors: found.vectors.concat(), values: Vec::new() };
    // Without new directions, refining is Rayleigh–Ritz among those that are there.
    if subspace.refine(&corrected, &mut |x, _| x.fill(0.0), &|_| (), n).is_some() {
        found.values = subspace.values;
        found.vectors = subspace.vectors.chunks_exact(n).map(<[f64]>::to_vec).collect();
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

/// Turns modes at rest by the rotation of what is held, or of the whole where that does not say.
fn turn(fit: &Fit, mask: &[bool], mass: &[f64], q: &[f64], modes: &[f64]) -> Vec<f64> {
    let point = |x: &[f64], i: usize| [x[i], x[i + 1], x[i + 2]];
    let pairs = |held: bool| -> Vec<_> {
        let nodes = fit.dofs.clone().step_by(3).filter(|&i| !held || (mask[i] && mask[i + 1] && mask[i + 2]));
        nodes.map(|i| (mass[i], point(&fit.rest, i), point(q, i))).collect()
    };
    let rotation: Option<Matrix> =
        rotation::between(&pairs(true)).or_else(|| rotation::between(&pairs(false)));
    let Some(r) = rotation else { return modes.to_vec() };
    let turned = |u: &[f64]| [0, 1, 2].map(|i| (0..3).map(|j| r[i][j] * u[j]).sum::<f64>());
    modes.chunks_exact(3).flat_map(turned).collect()
}

impl Correction {
    /// Adds how much the modes are damped by deformation.
    fn damp(&mut self, system: &dyn System, t: f64, q: &[f64]) {
        self.damping = vec![0.0; self.scales.len()];
        if !system.has_forces() || self.scales.is_empty() {
            return;
        }
        let mut d = BlockMatrix::zeros(system.pattern().clone());
        system.damping(t, q, &mut d);
        for (i, u) in self.vectors.chunks_exact(self.n).enumerate() {
            let mut outer = vec![0.0; self.n];
            system.outer_forces(t, q, u, &mut outer);
            self.damping[i] = self.scales[i] * (d.quadratic_form(u) + dot(u, &outer));
        }
    }
}
