//! Laws at the points of any element kind: what damping models are written in.
//!
//! At a point a vector field x on the nodes has the gradient Σ xₙ ∇Nₙᵀ, F for positions and Ḟ for velocities. An element
//! of dimension d < 3, a triangle or a spring, lacks the last directions of the rest shape. There ∇N is 0, and so are
//! the last columns of F and P. One law then serves all kinds.

use crate::materials::basis_tangent::each_lane;
use crate::materials::{BasisTangent, Mat9, Places};
use crate::math::{LANES, Lanes, Mat3};

/// What a law may know about a list of points, four points to an entry.
#[derive(Clone, Copy)]
pub struct PointSet<'a> {
    /// Dimension of the element: 3 for solids, 2 for membranes, 1 for springs.
    pub dimension: usize,
    /// μ and λ at each point, of plane stress in a membrane; 2μ is the modulus of a spring. If the material has the 21
    /// constants of a general stiffness, they follow.
    pub moduli: Places<'a>,
    /// The elastic stress P at each F.
    pub elastic: &'a Elastic<'a>,
}

/// Elastic stresses P, the second list, at each F of the first.
pub type Elastic<'a> = dyn Fn(&[Mat3<Lanes>], &mut [Mat3<Lanes>]) + 'a;

/// A stress made of the gradients of two fields.
pub trait PointLaw: Sync {
    /// P at each point.
    fn stresses(&self, points: PointSet<'_>, gradients: &[[Mat3<Lanes>; 2]], P: &mut [Mat3<Lanes>]);
    /// Whether the second field is of velocities; else both are of positions.
    fn takes_rates(&self) -> bool {
        true
    }
    /// A matrix H at F, in the row-major order of F: for damping −∂P/∂Ḟ, Pa s.
    fn tangent(&self, dimension: usize, moduli: &[f64], F: &Mat3) -> Mat9;
    /// The same between three vectors of each point; see [`BasisTangent`].
    fn tangents(
        &self,
        dimension: usize,
        moduli: Places<'_>,
        F: &[Mat3<Lanes>],
        bases: &[&Mat3<Lanes>],
        out: &mut [BasisTangent<Lanes>],
    ) {
        let tangent = |moduli: &[f64], F: &Mat3| self.tangent(dimension, moduli, F);
        moduli.each(F.len(), |k, moduli| each_lane(moduli, &F[k], bases[k], &mut out[k], &tangent));
    }
}

/// Calls a law for elements that are kept one by one, four at a time: `gradients(e)` of each, then `take(e, P)`.
/// `elastic(e, F)` is the elastic stress of element e.
pub(super) fn each_stress(
    law: &dyn PointLaw,
    dimension: usize,
    moduli: &crate::materials::Constants,
    count: usize,
    gradients: impl Fn(usize) -> [Mat3; 2],
    elastic: impl Fn(usize, &Mat3) -> Mat3,
    mut take: impl FnMut(usize, &Mat3),
) {
    for first in (0..count).step_by(LANES) {
        // The last entry is filled up with its first element.
        let number = |lane: usize| if first + lane < count { first + lane } else { first };
        let mut packed = [[Mat3([[Lanes([0.0; LANES]); 3]; 3]); 2]];
        for lane in 0..LANES {
            let own = gradients(number(lane));
            for (to, from) in packed[0].iter_mut().zip(&own) {
                set_lane(to, lane, from);
            }
        }
        let of_entry = |F: &[Mat3<Lanes>], P: &mut [Mat3<Lanes>]| {
            for (F, P) in F.iter().zip(P) {
                (0..LANES).for_each(|lane| set_lane(P, lane, &elastic(number(lane), &F.lane(lane))));
            }
        };
        let places = Places { constants: moduli, first: first / LANES };
        let mut P = [packed[0][0]];
        law.stresses(PointSet { dimension, moduli: places, elastic: &of_entry }, &packed, &mut P);
        for lane in 0..LANES.min(count - first) {
            take(first + lane, &P[0].lane(lane));
        }
    }
}

fn set_lane(to: &mut Mat3<Lanes>, lane: usize, from: &Mat3) {
    for i in 0..3 {
        for j in 0..3 {
            to[(i, j)].0[lane] = from[(i, j)];
        }
    }
}
