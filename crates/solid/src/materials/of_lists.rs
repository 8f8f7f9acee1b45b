//! A material that is known by functions of lists of points, as functions of another language are.

use super::basis_tangent::{contract, product};
use super::discrete::discrete_stress;
use super::{BasisTangent, Card, ConstantsError, Frame, Given, Mat9, Material, Places};
use crate::math::{Complex, LANES, Lanes, Mat3, project_positive};
use std::cell::{Cell, RefCell};

/// Constants and the deformation gradient at a point.
pub type MaterialPoint<'a> = (&'a [f64], Mat3);

/// What is known of such a material. Every function gives one value for each point.
pub trait Listed: Send + Sync + 'static {
    /// What it is and claims.
    fn card(&self) -> &'static Card;
    /// The constants for the given moduli.
    fn constants(&self, given: &Given) -> Result<Vec<f64>, ConstantsError>;
    /// ψ, J/m³; +∞ where F is infeasible.
    fn energies(&self, at: &[MaterialPoint<'_>]) -> Vec<f64>;
    /// P = ∂ψ/∂F, Pa.
    fn stresses(&self, at: &[MaterialPoint<'_>]) -> Vec<Mat3>;
    /// ∂P/∂F, Pa.
    fn tangents(&self, at: &[MaterialPoint<'_>]) -> Vec<Mat9>;
}

/// A [`Listed`] as a [`Material`].
pub struct OfLists<L>(pub L);

/// The points of entries with four points each, in their order.
fn points<'a, G>(at: Places<'a>, given: &[G], F: impl Fn(&G) -> Mat3<Lanes>) -> Vec<MaterialPoint<'a>> {
    let lanes = given.iter().enumerate().flat_map(|(k, entry)| {
        let F = F(entry);
        (0..LANES).map(move |lane| ((at.first + k) * LANES + lane, F.lane(lane)))
    });
    lanes.map(|(point, F)| (at.constants.of(point), F)).collect()
}

/// Puts a value for each point into its lane.
fn scatter<T, U>(values: Vec<T>, out: &mut [U], set: impl Fn(&mut U, usize, T)) {
    for (point, value) in values.into_iter().enumerate() {
        if let Some(entry) = out.get_mut(point / LANES) {
            set(entry, point % LANES, value);
        }
    }
}

impl<L: Listed> OfLists<L> {
    fn one<T>(values: Vec<T>, absent: T) -> T {
        values.into_iter().next().unwrap_or(absent)
    }
}

const UNKNOWN: Mat9 = [[f64::NAN; 9]; 9];

impl<L: Listed> Material for OfLists<L> {
    fn card(&self) -> &'static Card {
        self.0.card()
    }
    fn frame(&self) -> Option<Frame> {
        None
    }
    fn volumetric_compliance(&self, _: &[f64]) -> Option<f64> {
        None
    }
    fn constants(&self, given: &Given) -> Result<Vec<f64>, ConstantsError> {
        given.check_names(self.0.card())?;
        self.0.constants(given)
    }

    fn energy(&self, c: &[f64], F: &Mat3) -> f64 {
        Self::one(self.0.energies(&[(c, *F)]), f64::NAN)
    }
    fn stress(&self, c: &[f64], F: &Mat3) -> Mat3 {
        Self::one(self.0.stresses(&[(c, *F)]), Mat3([[f64::NAN; 3]; 3]))
    }
    fn hessian(&self, c: &[f64], F: &Mat3) -> Mat9 {
        Self::one(self.0.tangents(&[(c, *F)]), UNKNOWN)
    }
    fn hessian_projected(&self, c: &[f64], F: &Mat3) -> Mat9 {
        project_positive(&self.hessian(c, F))
    }
    fn in_basis(&self, c: &[f64], F: &Mat3, basis: &Mat3) -> BasisTangent {
        contract(&self.hessian(c, F), basis)
    }
    // The functions take real numbers. To first order, which is all that a complex step asks for, ψ(F + iG) = ψ(F) + i P(F):G.
    fn energy_complex(&self, c: &[f64], F: &Mat3<Complex>) -> Complex {
        let (re, im) = parts(F);
        Complex { re: self.energy(c, &re), im: self.stress(c, &re).dot(&im) }
    }
    fn stress_complex(&self, c: &[f64], F: &Mat3<Complex>) -> Mat3<Complex> {
        let (re, im) = parts(F);
        let (P, dP) = (self.stress(c, &re), product(&self.hessian(c, &re), &im));
        Mat3::from_fn(|i, j| Complex { re: P[(i, j)], im: dP[(i, j)] })
    }

    fn energies(&self, at: Places<'_>, F: &[Mat3<Lanes>], out: &mut [Lanes]) {
        scatter(self.0.energies(&points(at, F, |F| *F)), out, |to, lane, psi| to.0[lane] = psi);
    }
    fn stresses(&self, at: Places<'_>, F: &[Mat3<Lanes>], out: &mut [Mat3<Lanes>]) {
        scatter(self.0.stresses(&points(at, F, |F| *F)), out, |to, lane, P| to.set_lane(lane, &P));
    }
    fn discrete_stresses(&self, at: Places<'_>, ends: &[[Mat3<Lanes>; 2]], out: &mut [Mat3<Lanes>]) {
        let indifferent = self.0.card().frame_indifferent;
        let firsts = points(at, ends, |ends| ends[0]);
        let lasts = points(at, ends, |ends| ends[1]);
        let pairs = || firsts.iter().zip(&lasts).map(|((c, F0), (_, F1))| (*c, [*F0, *F1]));
        // Where ψ and P are needed depends on the ends alone. They are asked for all points at once, in two rounds.
        let (psi_at, P_at) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
        for (c, ends) in pairs() {
            let energy = |F: &Mat3| {
                psi_at.borrow_mut().push((c, *F));
                0.0
            };
            let stress = |F: &Mat3| {
                P_at.borrow_mut().push((c, *F));
                Mat3::zero()
            };
            discrete_stress(indifferent, &ends, energy, stress);
        }
        let psi = self.0.energies(&psi_at.into_inner());
        let P = self.0.stresses(&P_at.into_inner());
        let (next_psi, next_P) = (Cell::new(0), Cell::new(0));
        let found = pairs().map(|(_, ends)| {
            let energy =
                |_: &Mat3| psi.get(next_psi.replace(next_psi.get() + 1)).copied().unwrap_or(f64::NAN);
            let stress = |_: &Mat3| {
                P.get(next_P.replace(next_P.get() + 1)).copied().unwrap_or(Mat3([[f64::NAN; 3]; 3]))
            };
            discrete_stress(indifferent, &ends, energy, stress)
        });
        scatter(found.collect(), out, |to, lane, P| to.set_lane(lane, &P));
    }
    fn tangents(
        &self,
        at: Places<'_>,
        projected: bool,
        F: &[Mat3<Lanes>],
        bases: &[&Mat3<Lanes>],
        out: &mut [BasisTangent<Lanes>],
    ) {
        let found = self.0.tangents(&points(at, F, |F| *F)).into_iter().enumerate().map(|(point, H)| {
            let H = if projected { project_positive(&H) } else { H };
            contract(&H, &bases[point / LANES].lane(point % LANES))
        });
        scatter(found.collect(), out, |to, lane, K| {
            for (to, x) in to.as_flattened_mut().iter_mut().zip(K.as_flattened()) {
                to.0[lane] = *x;
            }
        });
    }
    fn projected_products(&self, at: Places<'_>, F: &[[Mat3<Lanes>; 2]], out: &mut [Mat3<Lanes>]) {
        let directions = points(at, F, |F| F[1]);
        let tangents = self.0.tangents(&points(at, F, |F| F[0]));
        let found = tangents.iter().zip(&directions).map(|(H, (_, dF))| product(&project_positive(H), dF));
        scatter(found.collect(), out, |to, lane, dP| to.set_lane(lane, &dP));
    }
}

fn parts(F: &Mat3<Complex>) -> (Mat3, Mat3) {
    (Mat3::from_fn(|i, j| F[(i, j)].re), Mat3::from_fn(|i, j| F[(i, j)].im))
}
