//! A [`Density`] as an object, for one point and for lists of points.

use super::basis_tangent::{self, contract};
use super::discrete::discrete_stress;
use super::{BasisTangent, Card, ConstantsError, Density, Frame, Given, Mat9, Places, Tangent};
use crate::math::{Complex, LANES, Lanes, Mat3, Real};
use lilyan_parallel::simd::{Kernel, Level, Quads};
use std::marker::PhantomData;

/// A [`Density`] as an object.
///
/// It evaluates points and knows no element: an element computes F at its quadrature points, four points to an entry
/// of a list, and makes forces of the P that it gets back. A call for a list costs one indirect call; inside, the
/// source of the density is part of the loop. Methods for a single point serve set-up, output and tests.
///
/// The constants `c` are what [`Material::constants`] returned.
pub trait Material: Send + Sync {
    /// What it is and claims.
    fn card(&self) -> &'static Card;
    /// The frame in which it is linear elasticity, if there is one.
    fn frame(&self) -> Option<Frame>;
    /// 1/(3λ+2μ) where ψ is a quadratic and isotropic function of Green's strain, or of the small strain of a fixed
    /// [`Frame`].
    fn volumetric_compliance(&self, c: &[f64]) -> Option<f64>;
    /// The model's own constants for the given moduli; refuses names it does not know.
    fn constants(&self, given: &Given) -> Result<Vec<f64>, ConstantsError>;

    /// ψ(F), J/m³; +∞ where F is infeasible.
    fn energy(&self, c: &[f64], F: &Mat3) -> f64;
    /// P = ∂ψ/∂F, Pa.
    fn stress(&self, c: &[f64], F: &Mat3) -> Mat3;
    /// ∂P/∂F, Pa.
    fn hessian(&self, c: &[f64], F: &Mat3) -> Mat9;
    /// ∂P/∂F with its negative eigenvalues set to 0.
    fn hessian_projected(&self, c: &[f64], F: &Mat3) -> Mat9;
    /// ∂P/∂F in a basis of three vectors, the rows of `basis`.
    fn in_basis(&self, c: &[f64], F: &Mat3, basis: &Mat3) -> BasisTangent;
    /// ψ for a complex step.
    fn energy_complex(&self, c: &[f64], F: &Mat3<Complex>) -> Complex;
    /// P for a complex step.
    fn stress_complex(&self, c: &[f64], F: &Mat3<Complex>) -> Mat3<Complex>;

    /// ψ at each point.
    fn energies(&self, at: Places<'_>, F: &[Mat3<Lanes>], out: &mut [Lanes]);
    /// P at each point.
    fn stresses(&self, at: Places<'_>, F: &[Mat3<Lanes>], out: &mut [Mat3<Lanes>]);
    /// The stress of a discrete gradient between the two F of each point; NaN where the end is infeasible.
    fn discrete_stresses(&self, at: Places<'_>, ends: &[[Mat3<Lanes>; 2]], out: &mut [Mat3<Lanes>]);
    /// ∂P/∂F at each point, exact or projected, in a basis for each entry.
    fn tangents(
        &self,
        at: Places<'_>,
        projected: bool,
        F: &[Mat3<Lanes>],
        bases: &[&Mat3<Lanes>],
        out: &mut [BasisTangent<Lanes>],
    );
    /// dP = ∂P/∂F : dF of F and dF at each point, with the negative eigenvalues of ∂P/∂F set to 0.
    fn projected_products(&self, at: Places<'_>, F: &[[Mat3<Lanes>; 2]], out: &mut [Mat3<Lanes>]);
}

/// The object made from a density type; it holds nothing.
pub struct Entry<D>(PhantomData<fn() -> D>);

/// The catalogue line of a density.
pub const fn entry<D: Density>() -> &'static dyn Material {
    const { &Entry::<D>(PhantomData) }
}

impl<D: Density> Material for Entry<D> {
    fn card(&self) -> &'static Card {
        const { &D::CARD }
    }
    fn frame(&self) -> Option<Frame> {
        D::FRAME
    }
    fn volumetric_compliance(&self, c: &[f64]) -> Option<f64> {
        D::volumetric_compliance(c)
    }
    fn constants(&self, given: &Given) -> Result<Vec<f64>, ConstantsError> {
        given.check_names(&D::CARD)?;
        if given.is_incompressible() && !D::INCOMPRESSIBLE {
            return Err(ConstantsError::out_of_range(
                "nu",
                format!(
                    "Poisson's ratio nu = 0.5 must lie between -1 and 0.5, both excluded, for the material model \"{}\"; for \
                 a nearly incompressible body use 0.49, for an incompressible one the model \"stvk\" with integrator \
                 \"regularized\", or a volume constraint",
                    D::CARD.name
                ),
            ));
        }
        D::constants(given)
    }

    fn energy(&self, c: &[f64], F: &Mat3) -> f64 {
        D::energy(c, F)
    }
    fn stress(&self, c: &[f64], F: &Mat3) -> Mat3 {
        D::stress(c, F)
    }
    fn hessian(&self, c: &[f64], F: &Mat3) -> Mat9 {
        D::Tangent::hessian(c, F)
    }
    fn hessian_projected(&self, c: &[f64], F: &Mat3) -> Mat9 {
        D::Tangent::hessian_projected(c, F)
    }
    fn in_basis(&self, c: &[f64], F: &Mat3, basis: &Mat3) -> BasisTangent {
        let mut out = [[0.0; 9]; 6];
        D::Tangent::in_basis(c, F, basis, &mut out);
        out
    }
    fn energy_complex(&self, c: &[f64], F: &Mat3<Complex>) -> Complex {
        D::energy(&splat(c), F)
    }
    fn stress_complex(&self, c: &[f64], F: &Mat3<Complex>) -> Mat3<Complex> {
        D::stress(&splat(c), F)
    }

    fn energies(&self, at: Places<'_>, F: &[Mat3<Lanes>], out: &mut [Lanes]) {
        evaluate::<D, _>(Energy, at, F, out);
    }
    fn stresses(&self, at: Places<'_>, F: &[Mat3<Lanes>], out: &mut [Mat3<Lanes>]) {
        evaluate::<D, _>(Stress, at, F, out);
    }
    fn discrete_stresses(&self, at: Places<'_>, ends: &[[Mat3<Lanes>; 2]], out: &mut [Mat3<Lanes>]) {
        evaluate::<D, _>(DiscreteStress, at, ends, out);
    }
    fn tangents(
        &self,
        at: Places<'_>,
        projected: bool,
        F: &[Mat3<Lanes>],
        bases: &[&Mat3<Lanes>],
        out: &mut [BasisTangent<Lanes>],
    ) {
        evaluate::<D, _>(TangentIn { bases, projected }, at, F, out);
    }
    fn projected_products(&self, at: Places<'_>, F: &[[Mat3<Lanes>; 2]], out: &mut [Mat3<Lanes>]) {
        evaluate::<D, _>(ProjectedProduct, at, F, out);
    }
}

fn splat<T: Real>(c: &[f64]) -> Vec<T> {
    c.iter().map(|&x| T::new(x)).collect()
}

// Everything that these kernels call is `inline(always)`, and so are their closures: what is not inlined is compiled
// for the lowest processor level.

/// What is evaluated at points.
trait Evaluation {
    /// What is given for each entry.
    type Given;
    /// What is found.
    type Found;
    /// At the four points of entry k, with the constants c.
    fn at<D: Density>(&self, k: usize, c: &[Lanes], given: &Self::Given, found: &mut Self::Found);
    /// At one point of entry k.
    fn at_point(
        &self,
        k: usize,
        lane: usize,
        c: &[f64],
        given: &Self::Given,
        found: &mut Self::Found,
        of: &dyn Material,
    );
}

/// Evaluates a list of points at the best level of this machine.
fn evaluate<D: Density, E: Evaluation>(what: E, at: Places<'_>, given: &[E::Given], found: &mut [E::Found]) {
    match Level::of_this_machine() {
        Some(level) => level.run(Points { what, at, given, found, density: PhantomData::<D> }),
        None => at_baseline::<D, E>(&what, at, given, found),
    }
}

/// On x86-64 the baseline means processors from before 2013. They must work, but are not worth another copy of every
/// density in lanes.
#[cfg(target_arch = "x86_64")]
fn at_baseline<D: Density, E: Evaluation>(
    what: &E,
    at: Places<'_>,
    given: &[E::Given],
    found: &mut [E::Found],
) {
    point_by_point(entry::<D>(), what, at, given, found);
}

/// Elsewhere the baseline is the only level.
#[cfg(not(target_arch = "x86_64"))]
fn at_baseline<D: Density, E: Evaluation>(
    what: &E,
    at: Places<'_>,
    given: &[E::Given],
    found: &mut [E::Found],
) {
    at.each(given.len().min(found.len()), |k, c| what.at::<D>(k, c, &given[k], &mut found[k]));
}

#[cfg(any(target_arch = "x86_64", test))]
fn point_by_point<E: Evaluation>(
    material: &dyn Material,
    what: &E,
    at: Places<'_>,
    given: &[E::Given],
    found: &mut [E::Found],
) {
    for (k, (given, found)) in given.iter().zip(found).enumerate() {
        for lane in 0..LANES {
            let c = at.constants.of((at.first + k) * LANES + lane);
            what.at_point(k, lane, c, given, found, material);
        }
    }
}

struct Points<'a, E: Evaluation, D> {
    what: E,
    at: Places<'a>,
    given: &'a [E::Given],
    found: &'a mut [E::Found],
    density: PhantomData<D>,
}

impl<E: Evaluation, D: Density> Kernel for Points<'_, E, D> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, _: M) {
        self.at.each(
            self.given.len().min(self.found.len()),
            #[inline(always)]
            |k, c| self.what.at::<D>(k, c, &self.given[k], &mut self.found[k]),
        );
    }
}

struct Energy;

impl Evaluation for Energy {
    type Given = Mat3<Lanes>;
    type Found = Lanes;
    #[inline(always)]
    fn at<D: Density>(&self, _: usize, c: &[Lanes], F: &Mat3<Lanes>, found: &mut Lanes) {
        *found = D::energy(c, F);
    }
    fn at_point(
        &self,
        _: usize,
        lane: usize,
        c: &[f64],
        F: &Mat3<Lanes>,
        found: &mut Lanes,
        of: &dyn Material,
    ) {
        found.0[lane] = of.energy(c, &F.lane(lane));
    }
}

struct Stress;

impl Evaluation for Stress {
    type Given = Mat3<Lanes>;
    type Found = Mat3<Lanes>;
    #[inline(always)]
    fn at<D: Density>(&self, _: usize, c: &[Lanes], F: &Mat3<Lanes>, found: &mut Mat3<Lanes>) {
        *found = D::stress(c, F);
    }
    fn at_point(
        &self,
        _: usize,
        lane: usize,
        c: &[f64],
        F: &Mat3<Lanes>,
        found: &mut Mat3<Lanes>,
        of: &dyn Material,
    ) {
        found.set_lane(lane, &of.stress(c, &F.lane(lane)));
    }
}

struct DiscreteStress;

impl Evaluation for DiscreteStress {
    type Given = [Mat3<Lanes>; 2];
    type Found = Mat3<Lanes>;
    #[inline(always)]
    fn at<D: Density>(&self, _: usize, c: &[Lanes], ends: &[Mat3<Lanes>; 2], found: &mut Mat3<Lanes>) {
        *found = discrete_stress(
            D::CARD.frame_indifferent,
            ends,
            #[inline(always)]
            |F| D::energy(c, F),
            #[inline(always)]
            |F| D::stress(c, F),
        );
    }
    fn at_point(
        &self,
        _: usize,
        lane: usize,
        c: &[f64],
        ends: &[Mat3<Lanes>; 2],
        found: &mut Mat3<Lanes>,
        of: &dyn Material,
    ) {
        let ends = ends.map(|F| F.lane(lane));
        let indifferent = of.card().frame_indifferent;
        found.set_lane(lane, &discrete_stress(indifferent, &ends, |F| of.energy(c, F), |F| of.stress(c, F)));
    }
}

/// The projected ∂P/∂F : dF.
struct ProjectedProduct;

impl Evaluation for ProjectedProduct {
    type Given = [Mat3<Lanes>; 2];
    type Found = Mat3<Lanes>;
    #[inline(always)]
    fn at<D: Density>(&self, _: usize, c: &[Lanes], [F, dF]: &[Mat3<Lanes>; 2], found: &mut Mat3<Lanes>) {
        *found = D::Tangent::product_projected(c, F, dF);
    }
    fn at_point(
        &self,
        _: usize,
        lane: usize,
        c: &[f64],
        [F, dF]: &[Mat3<Lanes>; 2],
        found: &mut Mat3<Lanes>,
        of: &dyn Material,
    ) {
        let tangent = of.hessian_projected(c, &F.lane(lane));
        found.set_lane(lane, &basis_tangent::product(&tangent, &dF.lane(lane)));
    }
}

/// ∂P/∂F in a basis for each entry.
struct TangentIn<'a> {
    bases: &'a [&'a Mat3<Lanes>],
    projected: bool,
}

impl Evaluation for TangentIn<'_> {
    type Given = Mat3<Lanes>;
    type Found = BasisTangent<Lanes>;
    #[inline(always)]
    fn at<D: Density>(&self, k: usize, c: &[Lanes], F: &Mat3<Lanes>, found: &mut BasisTangent<Lanes>) {
        match self.projected {
            true => D::Tangent::in_basis_projected(c, F, self.bases[k], found),
            false => D::Tangent::in_basis(c, F, self.bases[k], found),
        }
    }
    fn at_point(
        &self,
        k: usize,
        lane: usize,
        c: &[f64],
        F: &Mat3<Lanes>,
        found: &mut BasisTangent<Lanes>,
        of: &dyn Material,
    ) {
        let (F, basis) = (F.lane(lane), self.bases[k].lane(lane));
        let tangent = match self.projected {
            true => contract(&of.hessian_projected(c, &F), &basis),
            false => of.in_basis(c, &F, &basis),
        };
        for (to, x) in found.as_flattened_mut().iter_mut().zip(tangent.as_flattened()) {
            to.0[lane] = *x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::materials::*;
    use crate::math::LANES;
    use crate::math::Scalar;

    const ZERO: Lanes = Lanes([0.0; LANES]);

    /// F of four points, feasible and not symmetric.
    fn deformation(seed: f64) -> Mat3<Lanes> {
        Mat3::from_fn(|i, j| {
            let own = if i == j { 1.1 } else { 0.0 };
            Lanes([0.0, 1.0, 2.0, 3.0].map(|lane| own + 0.2 * (seed + lane + (3 * i + j) as f64).sin()))
        })
    }

    /// The largest difference between two lists, relative to the largest number.
    fn difference(a: &[f64], b: &[f64]) -> f64 {
        let scale = b.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        assert!(scale > 0.0 && a.iter().chain(b).all(|x| x.is_finite()));
        a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs())) / scale
    }

    /// One point after the other gives what the level of this machine gives. Only the rounding of fused products differs,
    /// except for the projection, which goes by another formula.
    fn agree(material: &dyn Material) {
        let given = Given::from_young(1e5, 0.3).unwrap();
        let sets: Vec<Vec<f64>> = (0..12)
            .map(|k| {
                material.constants(&given.clone().scaled(1.0 + f64::from(k / 8), material.card())).unwrap()
            })
            .collect();
        let constants = Constants::each(&sets);
        let at = Places { constants: &constants, first: 0 };
        let F = [0.0, 0.4, 0.9].map(deformation);
        let ends = F.map(|F| [F, F.scale(Lanes::new(1.01)) + deformation(2.0).scale(Lanes::new(0.01))]);
        let bases = F.each_ref();
        let zero = Mat3([[ZERO; 3]; 3]);
        let name = material.card().name;

        let stresses = |P: &[Mat3<Lanes>]| -> Vec<f64> {
            P.iter().flat_map(|P| P.0.concat()).flat_map(|x| x.0).collect()
        };
        let check = |what: &str, a: &[f64], b: &[f64], tolerance: f64| {
            let off = difference(a, b);
            assert!(off <= tolerance, "{name}, {what}: {off:e}");
        };

        let (mut a, mut b) = ([ZERO; 3], [ZERO; 3]);
        point_by_point(material, &Energy, at, &F, &mut a);
        material.energies(at, &F, &mut b);
        check("energy", a.map(|x| x.0).as_flattened(), b.map(|x| x.0).as_flattened(), 1e-14);
        let (mut a, mut b) = ([zero; 3], [zero; 3]);
        point_by_point(material, &Stress, at, &F, &mut a);
        material.stresses(at, &F, &mut b);
        check("stress", &stresses(&a), &stresses(&b), 1e-14);
        point_by_point(material, &DiscreteStress, at, &ends, &mut a);
        material.discrete_stresses(at, &ends, &mut b);
        // A difference of energies over a step of 1 %.
        check("discrete stress", &stresses(&a), &stresses(&b), 1e-11);
        for projected in [false, true] {
            let (mut a, mut b) = ([[[ZERO; 9]; 6]; 3], [[[ZERO; 9]; 6]; 3]);
            point_by_point(material, &TangentIn { bases: &bases, projected }, at, &F, &mut a);
            material.tangents(at, projected, &F, &bases, &mut b);
            let numbers = |t: &[BasisTangent<Lanes>]| -> Vec<f64> {
                t.as_flattened().as_flattened().iter().flat_map(|x| x.0).collect()
            };
            check("tangent", &numbers(&a), &numbers(&b), 1e-10);
        }
    }

    #[test]
    fn levels_agree() {
        for &material in CATALOGUE {
            agree(material);
        }
    }
}
