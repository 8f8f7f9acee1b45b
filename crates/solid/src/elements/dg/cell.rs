//! What can be glued: simplices with constant F, tets and the triangles of membranes. A triangle is treated as a tet
//! that lacks the third direction of its rest shape: there ∇N is 0, and so are the last columns of F and P.

use crate::elements::membrane::widened;
use crate::elements::{Membrane, Tets};
use crate::materials::{Lame, Mat9};
use crate::math::Mat3;
use crate::math::vector::{V3, add, scale};

/// Simplices of one dimension.
pub trait Simplices: Send + Sync + 'static {
    /// Corners of each, one more than its dimension.
    const CORNERS: usize;
    /// Global nodes; as many as there are corners.
    fn corners(&self, cell: usize) -> [u32; 4];
    /// ∇N of the corners in the frame of the cell at rest, 1/m.
    fn slopes(&self, cell: usize) -> [V3; 4];
    /// F.
    fn deformation(&self, cell: usize, q: &[f64]) -> Mat3;
    /// P at F, Pa.
    fn stress(&self, cell: usize, F: &Mat3) -> Mat3;
    /// ∂P/∂F, Pa.
    fn tangent(&self, cell: usize, F: &Mat3) -> Mat9;
    /// λ + 2μ, Pa.
    fn modulus(&self, cell: usize) -> f64;
    /// Volume at rest, m³.
    fn volume(&self, cell: usize) -> f64;
}

impl Simplices for Tets {
    const CORNERS: usize = 4;
    fn corners(&self, cell: usize) -> [u32; 4] {
        self.tet(cell)
    }
    fn slopes(&self, cell: usize) -> [V3; 4] {
        let m = self.inverse(cell);
        let row = |n: usize| [m[(n, 0)], m[(n, 1)], m[(n, 2)]];
        let (b, c, d) = (row(0), row(1), row(2));
        [scale(add(add(b, c), d), -1.0), b, c, d]
    }
    fn deformation(&self, cell: usize, q: &[f64]) -> Mat3 {
        self.gradient_of(cell, q)
    }
    fn stress(&self, cell: usize, F: &Mat3) -> Mat3 {
        self.material().stress(self.constants(cell), F)
    }
    fn tangent(&self, cell: usize, F: &Mat3) -> Mat9 {
        self.material().hessian(self.constants(cell), F)
    }
    fn modulus(&self, cell: usize) -> f64 {
        let Lame { mu, lambda } = self.moduli(cell);
        lambda + 2.0 * mu
    }
    fn volume(&self, cell: usize) -> f64 {
        Tets::volume(self, cell)
    }
}

impl Simplices for Membrane {
    const CORNERS: usize = 3;
    fn corners(&self, cell: usize) -> [u32; 4] {
        let [a, b, c] = self.list()[cell].nodes;
        [a, b, c, c]
    }
    fn slopes(&self, cell: usize) -> [V3; 4] {
        let [a, b, c] = self.list()[cell].slopes().map(|s| [s[0], s[1], 0.0]);
        [a, b, c, [0.0; 3]]
    }
    fn deformation(&self, cell: usize, q: &[f64]) -> Mat3 {
        widened(&self.list()[cell].gradient_of(q))
    }
    fn stress(&self, cell: usize, F: &Mat3) -> Mat3 {
        Membrane::stress(self, &self.list()[cell], F)
    }
    fn tangent(&self, cell: usize, F: &Mat3) -> Mat9 {
        self.exact_tangent(&self.list()[cell], F)
    }
    fn modulus(&self, cell: usize) -> f64 {
        let triangle = &self.list()[cell];
        triangle.lambda + 2.0 * triangle.mu
    }
    fn volume(&self, cell: usize) -> f64 {
        self.list()[cell].volume()
    }
}
