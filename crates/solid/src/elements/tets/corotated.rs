//! Co-rotated elements: linear elasticity in a frame that turns with each tet, ψ = ½ ε̂ : C : ε̂ with
//! ε̂ = sym(RᵀF) − I, and the stiffness R C Rᵀ that holds R fixed. \[kharevych2010\] §2.2.3
//!
//! R maximises tr(RᵀA): A = F gives the polar rotation; A = F B with B = Σ(X−b₀)(X−b₀)ᵀ over the nodes gives
//! the least co-rotated displacement Σ|Rᵀ(x−b) − (X−b₀)|², since Σ(x−b)(X−b₀)ᵀ = F B.
//!
//! Nodes that are held cannot turn. With three of them R is the rotation of their triangle, with two it takes
//! their edge along and only the angle about it is free; for nodes held at their rest places that is R = I
//! and a turn about the edge, as in the source. With four nothing depends on R.
//!
//! The source's force, P = RΣ with Σ = C : ε̂, leaves out that R moves with F. That is right where Σ and RᵀF
//! commute (polar rotation, isotropic C); elsewhere it has a torque and feeds energy in: a stretched bar that
//! tumbles with the other rotation doubles its energy in seconds. The whole derivative is
//!   P = RΣ − \[b\]×RB,  (tr(S) I − S) b = axial(RΣFᵀ),  S = ARᵀ,
//! with b along the edge where R can turn about that only, and 0 where it cannot turn.

use super::{RUN, Tets};
use crate::materials::{BasisTangent, Frame, Linear, Places, Tangent, apply_stiffness};
use crate::math::vector::{cross, dot, norm, scale, sub};
use crate::math::{LANES, Lanes, Mat3, Real, Vec3, solve_spin};
use lilyan_dynamics::corotated::Rotation;
use lilyan_parallel::simd::{self, Kernel, Quads};
use lilyan_solve::BlockMatrix;

impl Tets {
    /// Adds the gradient with R from the same positions, N.
    pub fn add_corotated_gradient(&self, q: &[f64], rotation: Rotation, held: &[bool], g: &mut [f64]) {
        if self.material().frame() == Some(Frame::Fixed) {
            return self.add_gradient(q, g);
        }
        let fixed = fixed_nodes(held);
        self.add_forces([q], g, &|first, F, P| {
            simd::run(TurnedStresses { at: self.places(first), F: F.as_flattened(), P });
            for (k, [F]) in F.iter().enumerate() {
                self.each_special(first + k, rotation, &fixed, &mut |lane, e| {
                    P[k].set_lane(lane, &self.corotated_stress(e, &F.lane(lane), q, rotation, held));
                });
            }
        });
    }

    /// Adds Σ R Kᵉ Rᵀ, N/m.
    pub fn add_corotated_stiffness(&self, q: &[f64], rotation: Rotation, held: &[bool], k: &mut BlockMatrix) {
        if self.material().frame() == Some(Frame::Fixed) {
            return self.add_hessian(q, false, k);
        }
        let fixed = fixed_nodes(held);
        self.add_tangents(q, k, &|first, F, bases, out| {
            simd::run(TurnedStiffness { at: self.places(first), F, bases, out });
            for (k, F) in F.iter().enumerate() {
                self.each_special(first + k, rotation, &fixed, &mut |lane, e| {
                    let R = self.element_rotation(e, q, &F.lane(lane), rotation, held).R;
                    let mut one = [[0.0; 9]; 6];
                    turned_stiffness(self.constants(e), &R, &bases[k].lane(lane), &mut one);
                    for (to, x) in out[k].as_flattened_mut().iter_mut().zip(one.as_flattened()) {
                        to.0[lane] = *x;
                    }
                });
            }
        });
    }

    /// The tets of a block whose R is not simply the polar rotation of F: with lane and number.
    fn each_special(
        &self,
        block: usize,
        rotation: Rotation,
        fixed: &[bool],
        f: &mut dyn FnMut(usize, usize),
    ) {
        let members = self.members.of(block / RUN);
        for lane in 0..LANES {
            let corners = self.blocks[block].nodes.iter();
            let count = corners.filter(|corner| fixed[members[usize::from(corner[lane])] as usize]).count();
            let e = self.numbers[LANES * block + lane] as usize;
            if (count >= 2 || rotation == Rotation::Minimizer) && e < self.len() {
                f(lane, e);
            }
        }
    }

    /// P of tet e.
    fn corotated_stress(&self, e: usize, F: &Mat3, q: &[f64], rotation: Rotation, held: &[bool]) -> Mat3 {
        let ElementRotation { R, B, freedom } = self.element_rotation(e, q, F, rotation, held);
        let P = R * apply_stiffness(self.constants(e), &strain(F, &R));
        let S = (*F * B).mul_transpose(&R);
        let torque = P.mul_transpose(F).axial();
        let b = match freedom {
            Freedom::Any => solve_spin(&S, torque),
            Freedom::About(a) => {
                let stiffness = S.trace() - dot(a, S.mul_vec(a));
                scale(a, dot(a, torque) / stiffness)
            }
            Freedom::None => [0.0; 3],
        };
        P - Mat3::skew(b) * R * B
    }

    /// The frame of tet e.
    fn element_rotation(
        &self,
        e: usize,
        q: &[f64],
        F: &Mat3,
        rotation: Rotation,
        held: &[bool],
    ) -> ElementRotation {
        let rest = self.rest_edges(e);
        let B = match rotation {
            Rotation::Polar => Mat3::identity(),
            Rotation::Minimizer => second_moment(&rest),
        };
        let node = self.tet(e).map(|n| 3 * n as usize);
        let fixed: Vec<usize> = (0..4).filter(|&c| held[node[c]..node[c] + 3] == [true; 3]).collect();
        // Edges between corners, at rest and now.
        let corner = |c: usize| if c == 0 { [0.0; 3] } else { rest.column(c - 1) };
        let edge = |a: usize, b: usize| {
            let now = |c: usize| [q[node[c]], q[node[c] + 1], q[node[c] + 2]];
            (sub(corner(b), corner(a)), sub(now(b), now(a)))
        };
        let (R, freedom) = match fixed[..] {
            [a, b, c] => {
                let ((X1, x1), (X2, x2)) = (edge(a, b), edge(a, c));
                let now = Mat3::from_columns(x1, x2, unit(cross(x1, x2)));
                let then = Mat3::from_columns(X1, X2, unit(cross(X1, X2)));
                (f64::rotation(&(now * then.inverse())), Freedom::None)
            }
            [a, b] => {
                let (X, x) = edge(a, b);
                (about_edge(&(*F * B), unit(X), unit(x)), Freedom::About(unit(x)))
            }
            _ => (f64::rotation(&(*F * B)), Freedom::Any),
        };
        ElementRotation { R, B, freedom }
    }

    /// Edges from vertex 0 at rest, m.
    fn rest_edges(&self, e: usize) -> Mat3 {
        self.inverse(e).inverse()
    }
}

/// Which nodes are held along all axes.
fn fixed_nodes(held: &[bool]) -> Vec<bool> {
    held.as_chunks::<3>().0.iter().map(|held| *held == [true; 3]).collect()
}

/// ε̂, as sym(Rᵀ(F − R)): F − R first, so that a small strain keeps its digits.
#[inline(always)]
fn strain<T: Real>(F: &Mat3<T>, R: &Mat3<T>) -> Mat3<T> {
    R.transpose_mul(&(*F - *R)).symmetric_part()
}

/// P of tets that turn freely, with the polar rotation.
struct TurnedStresses<'a> {
    at: Places<'a>,
    F: &'a [Mat3<Lanes>],
    P: &'a mut [Mat3<Lanes>],
}

impl Kernel for TurnedStresses<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, _: M) {
        self.at.each(
            self.F.len(),
            #[inline(always)]
            |k, c| {
                let F = &self.F[k];
                let R = Lanes::rotation(F);
                let P = R * apply_stiffness(c, &strain(F, &R));
                let b = solve_spin(&F.mul_transpose(&R), P.mul_transpose(F).axial());
                self.P[k] = P - Mat3::skew(b) * R;
            },
        );
    }
}

/// R Kᵉ Rᵀ of tets that turn freely, per volume between the vectors of the bases.
struct TurnedStiffness<'a> {
    at: Places<'a>,
    F: &'a [Mat3<Lanes>],
    bases: &'a [&'a Mat3<Lanes>],
    out: &'a mut [BasisTangent<Lanes>],
}

impl Kernel for TurnedStiffness<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Quads>(self, _: M) {
        self.at.each(
            self.F.len(),
            #[inline(always)]
            |k, c| turned_stiffness(c, &Lanes::rotation(&self.F[k]), self.bases[k], &mut self.out[k]),
        );
    }
}

/// R Kᵉ Rᵀ per volume between the vectors of a basis.
#[inline(always)]
fn turned_stiffness<T: Real>(c: &[T], R: &Mat3<T>, basis: &Mat3<T>, out: &mut BasisTangent<T>) {
    <Linear as Tangent<Linear>>::in_basis(c, R, basis, out);
    for block in out {
        let [a, b, c] =
            [[block[0], block[1], block[2]], [block[3], block[4], block[5]], [block[6], block[7], block[8]]];
        let turned = (*R * Mat3([a, b, c])).mul_transpose(R);
        for x in 0..9 {
            block[x] = turned.0[x / 3][x % 3];
        }
    }
}

/// How an element is turned: R maximises tr(RᵀFB) among what its held nodes allow.
struct ElementRotation {
    R: Mat3,
    B: Mat3,
    freedom: Freedom,
}

/// About which axes R can turn.
enum Freedom {
    Any,
    About(Vec3),
    None,
}

/// Σ(X − b₀)(X − b₀)ᵀ of a tet with these edges, over their trace.
fn second_moment(edges: &Mat3) -> Mat3 {
    let X = [[0.0; 3], edges.column(0), edges.column(1), edges.column(2)];
    let mean = [0, 1, 2].map(|k| 0.25 * (X[0][k] + X[1][k] + X[2][k] + X[3][k]));
    let from_mean = X.map(|x| [0, 1, 2].map(|k| x[k] - mean[k]));
    let B = from_mean.into_iter().fold(Mat3::zero(), |sum, x| sum + Mat3::outer(x, x));
    B.scale(1.0 / B.trace())
}

/// The rotation that takes the unit vector `rest` to `now` and maximises tr(RᵀA): the shortest one that does
/// so, then a turn about `now` by the best angle.
fn about_edge(A: &Mat3, rest: Vec3, now: Vec3) -> Mat3 {
    let R = if dot(rest, now) > -0.9 {
        shortest(rest, now)
    } else {
        // Near half a turn its axis is ill defined: half a turn about any axis across first.
        let other = if rest[0].abs() < 0.7 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        let across = unit(cross(rest, other));
        let half = Mat3::outer(across, across).scale(2.0) - Mat3::identity();
        shortest(rest.map(|x| -x), now) * half
    };
    let G = A.mul_transpose(&R);
    let angle = dot(now, G.axial()).atan2(G.trace() - dot(now, G.mul_vec(now)));
    let (sine, cosine) = angle.sin_cos();
    let turn = Mat3::identity().scale(cosine)
        + Mat3::skew(now).scale(sine)
        + Mat3::outer(now, now).scale(1.0 - cosine);
    turn * R
}

/// The rotation by the least angle that takes the unit vector `a` to `b`.
fn shortest(a: Vec3, b: Vec3) -> Mat3 {
    let W = Mat3::skew(cross(a, b));
    Mat3::identity() + W + (W * W).scale(1.0 / (1.0 + dot(a, b)))
}

fn unit(a: Vec3) -> Vec3 {
    scale(a, 1.0 / norm(a))
}
