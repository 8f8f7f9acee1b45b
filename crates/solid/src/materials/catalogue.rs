use super::{
    Arap, Card, CoRotational, Corners, Density, FixedCorotated, Frame, Given, Linear, Mat9, MooneyRivlin,
    NeoHookean, NeoHookeanLog, StVenantKirchhoff, StableNeoHookean, Tangent,
};
use crate::elements::kernel::{self, Block, Constants, Padded};
use crate::math::{Complex, Lanes, Mat3, Real};
use std::marker::PhantomData;

/// Every material, in the order of the documentation.
pub static CATALOGUE: &[&dyn Material] = &[
    entry::<Linear>(),
    entry::<CoRotational>(),
    entry::<StVenantKirchhoff>(),
    entry::<NeoHookean>(),
    entry::<NeoHookeanLog>(),
    entry::<StableNeoHookean>(),
    entry::<MooneyRivlin>(),
    entry::<Arap>(),
    entry::<FixedCorotated>(),
];

/// The material of that name.
pub fn find(name: &str) -> Option<&'static dyn Material> {
    CATALOGUE.iter().copied().find(|m| m.card().name == name)
}

/// A [`Density`] as an object. What is called once per element stays static, inside the batch
/// kernels; these methods are for set-up, tests and one-off evaluations. The constants `c` are
/// what [`Material::constants`] returned.
pub trait Material: Send + Sync {
    /// What it is and claims.
    fn card(&self) -> &'static Card;
    /// The frame in which it is linear elasticity, if there is one.
    fn frame(&self) -> Option<Frame>;
    /// 1/(3λ+2μ) where ψ is a quadratic function of Green's strain.
    fn volumetric_compliance(&self, c: &[f64]) -> Option<f64>;
    /// The model's own constants for the given moduli; refuses names it does not know.
    fn constants(&self, given: &Given) -> Result<Vec<f64>, String>;
    /// ψ(F), J/m³; +∞ where F is infeasible.
    fn energy(&self, c: &[f64], F: &Mat3) -> f64;
    /// P = ∂ψ/∂F, Pa.
    fn stress(&self, c: &[f64], F: &Mat3) -> Mat3;
    /// ∂P/∂F, Pa.
    fn hessian(&self, c: &[f64], F: &Mat3) -> Mat9;
    /// ∂P/∂F with its negative eigenvalues set to 0.
    fn hessian_projected(&self, c: &[f64], F: &Mat3) -> Mat9;
    /// ∂P/∂F between the corners of a tet; the rows of `gradients` are ∇N₁, ∇N₂, ∇N₃.
    fn stiffness(&self, c: &[f64], F: &Mat3, gradients: &Mat3) -> Corners;
    /// ψ for a complex step.
    fn energy_complex(&self, c: &[f64], F: &Mat3<Complex>) -> Complex;
    /// P for a complex step.
    fn stress_complex(&self, c: &[f64], F: &Mat3<Complex>) -> Mat3<Complex>;
    /// ∂P/∂F between the corners of four tets, exact or projected.
    fn stiffness_lanes(
        &self,
        projected: bool,
        c: &[Lanes],
        F: &Mat3<Lanes>,
        gradients: &Mat3<Lanes>,
        out: &mut Corners<Lanes>,
    );
    /// ψ of four elements.
    fn energy_lanes(&self, c: &[Lanes], F: &Mat3<Lanes>) -> Lanes;
    /// P of four elements.
    fn stress_lanes(&self, c: &[Lanes], F: &Mat3<Lanes>) -> Mat3<Lanes>;
    /// Σ vol ψ of the tets of `blocks`, the first of which is block number `first`; `q` are the positions
    /// of the nodes of their run.
    fn energies(&self, first: usize, blocks: &[Block], c: &Constants, q: &[Padded]) -> f64;
    /// Adds the gradient of Σ vol ψ at the nodes of the run.
    fn forces(&self, first: usize, blocks: &[Block], c: &Constants, q: &[Padded], out: &mut [Padded]);
    /// Adds the discrete gradient of Σ vol ψ between two sets of positions; NaN where the end is inverted.
    fn discrete_forces(
        &self,
        first: usize,
        blocks: &[Block],
        c: &Constants,
        ends: [&[Padded]; 2],
        out: &mut [Padded],
    );
    /// ∂²ψ between the corners of the tets of `blocks`, block by block, exact or projected.
    fn stiffnesses(
        &self,
        projected: bool,
        first: usize,
        blocks: &[Block],
        c: &Constants,
        q: &[Padded],
        out: &mut [Corners<Lanes>],
    );
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
    fn constants(&self, given: &Given) -> Result<Vec<f64>, String> {
        given.check_names(&D::CARD)?;
        if given.is_incompressible() && !D::INCOMPRESSIBLE {
            return Err(format!(
                "Poisson's ratio nu = 0.5 must lie between -1 and 0.5, both excluded, for the material model \"{}\"; for \
                 a nearly incompressible body use 0.49, for an incompressible one the model \"stvk\" with integrator \
                 \"regularized\", or a volume constraint",
                D::CARD.name
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
    fn stiffness(&self, c: &[f64], F: &Mat3, gradients: &Mat3) -> Corners {
        let mut out = [[0.0; 9]; 6];
        D::Tangent::stiffness(c, F, gradients, &mut out);
        out
    }
    fn energy_complex(&self, c: &[f64], F: &Mat3<Complex>) -> Complex {
        D::energy(&splat(c), F)
    }
    fn stress_complex(&self, c: &[f64], F: &Mat3<Complex>) -> Mat3<Complex> {
        D::stress(&splat(c), F)
    }
    fn stiffness_lanes(
        &self,
        projected: bool,
        c: &[Lanes],
        F: &Mat3<Lanes>,
        gradients: &Mat3<Lanes>,
        out: &mut Corners<Lanes>,
    ) {
        match projected {
            true => D::Tangent::stiffness_projected(c, F, gradients, out),
            false => D::Tangent::stiffness(c, F, gradients, out),
        }
    }
    fn energy_lanes(&self, c: &[Lanes], F: &Mat3<Lanes>) -> Lanes {
        D::energy(c, F)
    }
    fn stress_lanes(&self, c: &[Lanes], F: &Mat3<Lanes>) -> Mat3<Lanes> {
        D::stress(c, F)
    }
    fn energies(&self, first: usize, blocks: &[Block], c: &Constants, q: &[Padded]) -> f64 {
        kernel::energies::<D>(first, blocks, c, q)
    }
    fn forces(&self, first: usize, blocks: &[Block], c: &Constants, q: &[Padded], out: &mut [Padded]) {
        kernel::forces::<D>(first, blocks, c, q, out);
    }
    fn discrete_forces(
        &self,
        first: usize,
        blocks: &[Block],
        c: &Constants,
        ends: [&[Padded]; 2],
        out: &mut [Padded],
    ) {
        kernel::discrete_forces::<D>(first, blocks, c, ends, out);
    }
    fn stiffnesses(
        &self,
        projected: bool,
        first: usize,
        blocks: &[Block],
        c: &Constants,
        q: &[Padded],
        out: &mut [Corners<Lanes>],
    ) {
        kernel::stiffnesses::<D>(projected, first, blocks, c, q, out);
    }
}

fn splat<T: Real>(c: &[f64]) -> Vec<T> {
    c.iter().map(|&x| T::new(x)).collect()
}
