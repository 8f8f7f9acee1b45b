//! A contact that acts at points between nodes: W(S x) with the points of [`FaceLattice`] after the nodes.
//!
//! Its gradient is Sᵀ∇W. As S is linear, Sᵀ makes discrete gradients of discrete gradients; as its rows sum to 1 and give the places of the
//! points, forces keep their resultant and their moment.

use super::face_lattice::FaceLattice;
use crate::potentials::{
    ContactFriction, DiscreteHessian, Intersection, Intersections, MovingPotential, Potential, PotentialRole,
};
use lilyan_dynamics::system::abilities::FeasibleStep;
use lilyan_dynamics::system::terms::{StatefulTerms, StepStart, StepTerms, TermHistory};
use lilyan_solve::newton::Curvature;
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::sync::Arc;

/// S, and the matrices of nodes and points.
#[derive(Debug)]
pub(crate) struct Interpolation {
    lattice: FaceLattice,
    /// Couplings by contact are added to what has none.
    pattern: Arc<BlockPattern>,
}

impl Interpolation {
    /// To the points of a lattice.
    pub fn new(lattice: FaceLattice) -> Self {
        let count = lattice.nodes + lattice.points.len();
        Self { pattern: Arc::new(BlockPattern::from_cliques(count, std::iter::empty())), lattice }
    }

    /// The nodes that one of nodes and points lies between, and their weights.
    fn parents(&self, point: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let itself = (point < self.lattice.nodes).then_some((point, 1.0));
        let further = point.checked_sub(self.lattice.nodes).map(|p| self.lattice.points.of(p));
        let between = further.into_iter().flat_map(|(nodes, weights)| nodes.iter().zip(weights));
        itself.into_iter().chain(between.map(|(n, w)| (*n as usize, *w)))
    }

    /// A vector of all unknowns, and then its values at the points.
    fn extended(&self, x: &[f64]) -> Vec<f64> {
        let mut out = Vec::with_capacity(3 * self.pattern.n());
        out.extend_from_slice(x);
        for p in 0..self.lattice.points.len() {
            let (nodes, weights) = self.lattice.points.of(p);
            let terms = || nodes.iter().zip(weights);
            out.extend([0, 1, 2].map(|k| terms().map(|(n, w)| w * x[3 * *n as usize + k]).sum::<f64>()));
        }
        out
    }

    /// Adds Sᵀ of the vector that `add` fills.
    fn add_vector<R>(&self, out: &mut [f64], add: impl FnOnce(&mut [f64]) -> R) -> R {
        let mut all = vec![0.0; 3 * self.pattern.n()];
        let result = add(&mut all);
        let (own, further) = all.split_at(out.len());
        out.iter_mut().zip(own).for_each(|(out, f)| *out += f);
        for (p, force) in further.chunks_exact(3).enumerate().filter(|(_, f)| **f != [0.0; 3]) {
            let (nodes, weights) = self.lattice.points.of(p);
            for (n, w) in nodes.iter().zip(weights) {
                (0..3).for_each(|k| out[3 * *n as usize + k] += w * force[k]);
            }
        }
        result
    }

    /// Adds Sᵀ A S of the matrix that `add` fills.
    fn add_matrix(&self, out: &mut BlockMatrix, add: impl FnOnce(&mut BlockMatrix)) {
        let mut all = BlockMatrix::zeros(self.pattern.clone());
        add(&mut all);
        for j in 0..self.pattern.n() {
            let block = &all.values()[self.pattern.diagonal_position(j)];
            if *block != [0.0; 9] {
                self.add_block(out, [j, j], block);
            }
        }
        for (&(i, j), block) in all.extra() {
            self.add_block(out, [i as usize, j as usize], block);
        }
    }

    /// The part of one block, and of its mirror image.
    fn add_block(&self, out: &mut BlockMatrix, [i, j]: [usize; 2], block: &[f64; 9]) {
        for (a, wa) in self.parents(i) {
            for (b, wb) in self.parents(j) {
                let scaled = block.map(|x| wa * wb * x);
                if i == j {
                    // Both orders of a and b are met, and the matrix adds the mirror image by itself.
                    if a >= b {
                        out.add_block(a, b, &scaled);
                    }
                } else if a == b {
                    let both = std::array::from_fn(|x| scaled[x] + scaled[3 * (x % 3) + x / 3]);
                    out.add_block(a, a, &both);
                } else {
                    out.add_block(a, b, &scaled);
                }
            }
        }
    }

    /// The node nearest to one of nodes and points.
    fn nearest(&self, point: u32) -> u32 {
        let parents = self.parents(point as usize);
        parents.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(point, |(n, _)| n as u32)
    }
}

/// A contact of nodes and points as a potential of the nodes.
pub(crate) struct OnLattice {
    /// W.
    pub inner: Arc<dyn Potential>,
    /// S.
    pub at: Arc<Interpolation>,
}

impl Potential for OnLattice {
    fn role(&self) -> PotentialRole<'_> {
        let PotentialRole {
            kind,
            is_contact,
            feasible_step,
            terms,
            discrete_hessian,
            friction,
            intersections,
        } = self.inner.role();
        PotentialRole {
            kind,
            is_contact,
            feasible_step: feasible_step.is_some().then_some(self),
            terms: terms.is_some().then_some(self),
            discrete_hessian: discrete_hessian.is_some().then_some(self),
            friction: friction.is_some().then_some(self),
            intersections: intersections.is_some().then_some(self),
        }
    }
    fn moving(&self) -> Option<&dyn MovingPotential> {
        self.inner.moving().is_some().then_some(self)
    }
    fn energy(&self, q: &[f64]) -> f64 {
        self.inner.energy(&self.at.extended(q))
    }
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        let q = self.at.extended(q);
        self.at.add_vector(g, |g| self.inner.add_gradient(&q, g));
    }
    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        let q = self.at.extended(q);
        self.at.add_matrix(h, |h| self.inner.add_hessian(&q, curvature, h));
    }
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        let [q0, q1] = [q0, q1].map(|q| self.at.extended(q));
        self.at.add_vector(g, |g| self.inner.add_discrete_gradient(&q0, &q1, g))
    }
}

impl MovingPotential for OnLattice {
    fn at(&self, t: f64) -> Arc<dyn Potential> {
        let inner = self.inner.moving().map_or_else(|| self.inner.clone(), |moving| moving.at(t));
        Arc::new(Self { inner, at: self.at.clone() })
    }
    fn add_discrete_gradient(&self, t: [f64; 2], q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        let [q0, q1] = [q0, q1].map(|q| self.at.extended(q));
        let add = |g: &mut [f64]| Some(self.inner.moving()?.add_discrete_gradient(t, &q0, &q1, g));
        self.at.add_vector(g, add).unwrap_or(true)
    }
    fn add_discrete_hessian(
        &self,
        t: [f64; 2],
        q0: &[f64],
        q1: &[f64],
        curvature: Curvature,
        h: &mut BlockMatrix,
    ) {
        let [q0, q1] = [q0, q1].map(|q| self.at.extended(q));
        if let Some(moving) = self.inner.moving() {
            self.at.add_matrix(h, |h| moving.add_discrete_hessian(t, &q0, &q1, curvature, h));
        }
    }
    fn add_mean_friction(&self, t: [f64; 2], q0: &[f64], q1: &[f64], f: &mut [f64]) {
        let [q0, q1] = [q0, q1].map(|q| self.at.extended(q));
        if let Some(moving) = self.inner.moving() {
            self.at.add_vector(f, |f| moving.add_mean_friction(t, &q0, &q1, f));
        }
    }
    fn add_mean_friction_matrix(&self, t: [f64; 2], q0: &[f64], q1: &[f64], d: &mut BlockMatrix) {
        let [q0, q1] = [q0, q1].map(|q| self.at.extended(q));
        if let Some(moving) = self.inner.moving() {
            self.at.add_matrix(d, |d| moving.add_mean_friction_matrix(t, &q0, &q1, d));
        }
    }
    fn work(&self, t: [f64; 2], q0: &[f64], q1: &[f64]) -> f64 {
        let [q0, q1] = [q0, q1].map(|q| self.at.extended(q));
        self.inner.moving().map_or(0.0, |moving| moving.work(t, &q0, &q1))
    }
    fn friction_work(&self, t: [f64; 2], q0: &[f64], q1: &[f64]) -> f64 {
        let [q0, q1] = [q0, q1].map(|q| self.at.extended(q));
        self.inner.moving().map_or(0.0, |moving| moving.friction_work(t, &q0, &q1))
    }
}

impl FeasibleStep for OnLattice {
    fn max_step(&self, t: [f64; 2], q: &[f64], d: &[f64]) -> f64 {
        let [q, d] = [q, d].map(|x| self.at.extended(x));
        self.inner.role().feasible_step.map_or(f64::INFINITY, |limit| limit.max_step(t, &q, &d))
    }
}

impl DiscreteHessian for OnLattice {
    fn add_discrete_hessian(&self, q0: &[f64], q1: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        let [q0, q1] = [q0, q1].map(|q| self.at.extended(q));
        if let Some(hessian) = self.inner.role().discrete_hessian {
            self.at.add_matrix(h, |h| hessian.add_discrete_hessian(&q0, &q1, curvature, h));
        }
    }
}

impl ContactFriction for OnLattice {
    fn add_friction(&self, q: &[f64], v: &[f64], f: &mut [f64]) {
        let [q, v] = [q, v].map(|x| self.at.extended(x));
        if let Some(friction) = self.inner.role().friction {
            self.at.add_vector(f, |f| friction.add_friction(&q, &v, f));
        }
    }
    fn add_mean_friction(&self, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        let [q0, q1] = [q0, q1].map(|q| self.at.extended(q));
        if let Some(friction) = self.inner.role().friction {
            self.at.add_vector(f, |f| friction.add_mean_friction(h, &q0, &q1, f));
        }
    }
    fn add_friction_matrix(&self, q: &[f64], v: &[f64], d: &mut BlockMatrix) {
        let [q, v] = [q, v].map(|x| self.at.extended(x));
        if let Some(friction) = self.inner.role().friction {
            self.at.add_matrix(d, |d| friction.add_friction_matrix(&q, &v, d));
        }
    }
    fn add_mean_friction_matrix(&self, h: f64, q0: &[f64], q1: &[f64], d: &mut BlockMatrix) {
        let [q0, q1] = [q0, q1].map(|q| self.at.extended(q));
        if let Some(friction) = self.inner.role().friction {
            self.at.add_matrix(d, |d| friction.add_mean_friction_matrix(h, &q0, &q1, d));
        }
    }
}

impl Intersections for OnLattice {
    fn first_intersection(&self, q: &[f64]) -> Option<Intersection> {
        let found = self.inner.role().intersections?.first_intersection(&self.at.extended(q))?;
        Some(Intersection { nodes: found.nodes.map(|n| n.map(|n| self.at.nearest(n))), ..found })
    }
}

impl StatefulTerms for OnLattice {
    fn begin_step<'a>(&'a self, start: StepStart<'_>) -> Box<dyn StepTerms + 'a> {
        let [q, v] = [start.q, start.v].map(|x| self.at.extended(x));
        let terms = self.inner.role().terms;
        Box::new(TermsOnLattice {
            inner: terms.map(|terms| terms.begin_step(StepStart { q: &q, v: &v, ..start })),
            at: &self.at,
        })
    }
    fn stored_energy(&self, history: &TermHistory, q: &[f64]) -> f64 {
        let q = self.at.extended(q);
        self.inner.role().terms.map_or(0.0, |terms| terms.stored_energy(history, &q))
    }
}

/// The terms of one step.
struct TermsOnLattice<'a> {
    inner: Option<Box<dyn StepTerms + 'a>>,
    at: &'a Interpolation,
}

impl StepTerms for TermsOnLattice<'_> {
    fn energy(&self, q: &[f64]) -> f64 {
        let q = self.at.extended(q);
        self.inner.as_ref().map_or(0.0, |terms| terms.energy(&q))
    }
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        let q = self.at.extended(q);
        if let Some(terms) = &self.inner {
            self.at.add_vector(g, |g| terms.add_gradient(&q, g));
        }
    }
    fn add_hessian(&self, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        let q = self.at.extended(q);
        if let Some(terms) = &self.inner {
            self.at.add_matrix(h, |h| terms.add_hessian(&q, curvature, h));
        }
    }
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        let [q0, q1] = [q0, q1].map(|q| self.at.extended(q));
        let add = |g: &mut [f64]| Some(self.inner.as_ref()?.add_discrete_gradient(&q0, &q1, g));
        self.at.add_vector(g, add).unwrap_or(true)
    }
    fn max_step(&self, q: &[f64], d: &[f64]) -> f64 {
        let [q, d] = [q, d].map(|x| self.at.extended(x));
        self.inner.as_ref().map_or(f64::INFINITY, |terms| terms.max_step(&q, &d))
    }
    fn lag(&mut self, q: &[f64]) -> bool {
        let q = self.at.extended(q);
        self.inner.as_mut().is_some_and(|terms| terms.lag(&q))
    }
    fn end_step(&self, q: &[f64]) -> TermHistory {
        let q = self.at.extended(q);
        self.inner.as_ref().map_or_else(TermHistory::default, |terms| terms.end_step(&q))
    }
}
