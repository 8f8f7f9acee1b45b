//! Momenta that are conserved although something acts from outside (Noether's theorem for the symmetries of a scene).
//!
//! Forces from outside are of two kinds. Some have a fixed direction, wherever they act: gravity, loads, planes, pins of
//! some axes. They leave the momentum across all their directions, and, if there is but one direction d, the angular
//! momentum about d. Others act along lines through a point, or at a point that stays: a monopole, spheres, pins. They
//! leave the angular momentum about an axis through all of these points. What is left by all forces is conserved.

use crate::schema::{ConstraintKind, ConstraintSpec, Quantity, Scene};
use lilyan_solid::Model;
use lilyan_solid::contact::ObstacleShape;

/// A momentum that a scene conserves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Symmetry {
    /// Linear momentum along this unit vector.
    Along([f64; 3]),
    /// Linear momentum across this unit vector.
    Across([f64; 3]),
    /// Angular momentum about the axis through `point` with the unit vector `axis`.
    AboutAxis {
        /// A point on the axis, m.
        point: [f64; 3],
        /// Its direction.
        axis: [f64; 3],
    },
    /// Angular momentum about a point, m.
    AboutPoint([f64; 3]),
}

impl Symmetry {
    /// Whether the conserved quantity is an angular momentum.
    pub fn is_rotation(&self) -> bool {
        matches!(self, Self::AboutAxis { .. } | Self::AboutPoint(_))
    }

    /// The conserved quantity in words: "linear momentum along x".
    pub fn name(&self) -> String {
        match self {
            Self::Along(u) => format!("linear momentum along {}", direction(u)),
            Self::Across(u) => format!("linear momentum across {}", direction(u)),
            Self::AboutAxis { point, axis } if *point == [0.0; 3] => {
                format!("angular momentum about {}", direction(axis))
            }
            Self::AboutAxis { point, axis } => {
                format!("angular momentum about {} through {}", direction(axis), place(point))
            }
            Self::AboutPoint(point) => format!("angular momentum about {}", place(point)),
        }
    }

    /// Its value for momenta p and l (about the origin); what is not conserved is left out.
    pub fn value(&self, p: [f64; 3], l: [f64; 3]) -> [f64; 3] {
        let about = |c: &[f64; 3]| minus(l, cross(*c, p));
        match self {
            Self::Along(u) => scaled(*u, dot(*u, p)),
            Self::Across(u) => minus(p, scaled(*u, dot(*u, p))),
            Self::AboutAxis { point, axis } => scaled(*axis, dot(*axis, about(point))),
            Self::AboutPoint(point) => about(point),
        }
    }

    /// The size that it may have, from Σ|p| and Σ|x||p|.
    pub fn scale(&self, [moving, turning]: [f64; 2]) -> f64 {
        match self {
            Self::Along(_) | Self::Across(_) => moving,
            Self::AboutAxis { point, .. } | Self::AboutPoint(point) => turning + norm(*point) * moving,
        }
    }
}

/// The symmetries of a scene on which something acts from outside. A free one conserves all of its momenta, which
/// [`super::Conserved`] tells.
pub(super) fn of(scene: &Scene, model: &Model, start: &[f64], inside: InnerSymmetry) -> Vec<Symmetry> {
    let mut forces = OutsideForces::default();
    forces.gather(scene, model, start);
    let translation = forces.translation().filter(|_| inside.translations);
    let rotation = forces.rotation().filter(|_| inside.rotations);
    translation.into_iter().chain(rotation).collect()
}

/// Which motions the bodies themselves do not resist.
#[derive(Clone, Copy)]
pub(super) struct InnerSymmetry {
    /// There is no drag.
    pub translations: bool,
    /// Nor a material or a fit that resists rotations.
    pub rotations: bool,
}

/// What acts from outside.
#[derive(Default)]
struct OutsideForces {
    /// An orthonormal basis of the directions of forces that act anywhere.
    directions: Vec<[f64; 3]>,
    /// Points that forces point to or act at, m.
    centers: Vec<[f64; 3]>,
}

impl OutsideForces {
    fn gather(&mut self, scene: &Scene, model: &Model, start: &[f64]) {
        let axis = |k: usize| std::array::from_fn(|i| if i == k { 1.0 } else { 0.0 });
        let mut given = |components: &[Quantity]| {
            let constant: Vec<Option<f64>> = components.iter().map(Quantity::constant).collect();
            match constant[..] {
                [Some(x), Some(y), Some(z)] => self.add_direction([x, y, z]),
                // Of formulas only the components that are 0 are known, and of a pressure nothing.
                ref parts => {
                    let acts = |k: &usize| parts.get(*k) != Some(&Some(0.0));
                    (0..3).filter(acts).for_each(|k| self.add_direction(axis(k)));
                }
            }
        };
        scene.environment.gravity.iter().for_each(|gravity| given(gravity));
        scene.loads.iter().for_each(|load| given(&load.value));
        let on_surface = |c: &&ConstraintSpec| matches!(c.kind, ConstraintKind::Surface { .. });
        if scene.constraints.iter().any(|c| on_surface(&c)) {
            (0..3).for_each(|k| self.add_direction(axis(k)));
        }
        self.centers.extend(scene.environment.monopole.iter().map(|m| m.at));
        if scene.contacts.iter().any(|c| c.mesh.is_some()) {
            (0..3).for_each(|k| self.add_direction(axis(k)));
        }
        for contact in &scene.contacts {
            match contact.obstacle() {
                // What it takes and gives is not known; friction acts along it.
                Some(_) if contact.motion.is_some() || contact.has_friction() => {
                    (0..3).for_each(|k| self.add_direction(axis(k)))
                }
                None => {}
                Some(ObstacleShape::Plane { normal, .. }) => self.add_direction(normal),
                Some(ObstacleShape::Sphere { center, .. }) => self.centers.push(center),
            }
        }
        for pin in model.pins() {
            if pin.axes == [true; 3] && pin.motion.is_none() {
                let place = |n: &u32| std::array::from_fn(|k| start[3 * *n as usize + k]);
                self.centers.extend(pin.nodes.iter().map(place));
            } else {
                (0..3).filter(|k| pin.axes[*k]).for_each(|k| self.add_direction(axis(k)));
            }
        }
    }

    fn add_direction(&mut self, d: [f64; 3]) {
        let size = norm(d);
        let across = self.directions.iter().fold(d, |left, u| minus(left, scaled(*u, dot(*u, d))));
        // Directions that differ by round-off are one.
        if norm(across) > 1e-9 * size {
            self.directions.push(unit(across));
        }
    }

    fn translation(&self) -> Option<Symmetry> {
        match &self.directions[..] {
            [d] if self.centers.is_empty() => Some(Symmetry::Across(*d)),
            [d, e] if self.centers.is_empty() => Some(Symmetry::Along(unit(cross(*d, *e)))),
            _ => None,
        }
    }

    fn rotation(&self) -> Option<Symmetry> {
        let first = self.centers.first();
        let apart: Vec<[f64; 3]> = first.map_or(Vec::new(), |c| {
            let reach = self.centers.iter().map(|x| norm(*x)).fold(0.0, f64::max);
            self.centers.iter().map(|x| minus(*x, *c)).filter(|x| norm(*x) > 1e-12 * reach).collect()
        });
        // The axis must have the direction of all forces, and go through all centres.
        let mut lines = apart.iter().chain(&self.directions).map(|d| unit(*d));
        let Some(axis) = lines.next() else { return first.map(|c| Symmetry::AboutPoint(*c)) };
        let one = lines.all(|d| norm(cross(axis, d)) <= 1e-9) && self.directions.len() < 2;
        one.then(|| Symmetry::AboutAxis { point: first.copied().unwrap_or_default(), axis })
    }
}

/// A unit vector in words.
fn direction(u: &[f64; 3]) -> String {
    match u.iter().position(|c| c.abs() > 1.0 - 1e-12) {
        Some(k) => ["x", "y", "z"][k].into(),
        None => place(u),
    }
}

fn place(x: &[f64; 3]) -> String {
    let digits = x.map(|c| format!("{:.4}", c).trim_end_matches('0').trim_end_matches('.').to_owned());
    format!("[{}]", digits.map(|d| if d == "-0" { "0".into() } else { d }).join(", "))
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| a[k] * b[k]).sum()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|k| a[k] - b[k])
}

fn scaled(a: [f64; 3], s: f64) -> [f64; 3] {
    a.map(|x| s * x)
}

fn norm(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    scaled(a, 1.0 / norm(a))
}
