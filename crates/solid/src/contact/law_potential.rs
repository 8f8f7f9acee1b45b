//! The potential of a contact law between any two things that touch.

use super::{ContactLaw, ContactPair, ContactSurfaces, Obstacle, SurfaceContact};
use crate::potentials::Potential;
use std::sync::Arc;

/// The potential that keeps these apart by a law per area. Surfaces push from `thickness` (m) on, obstacles from their
/// surface on.
pub fn law_potential<L: ContactLaw>(
    law: L,
    thickness: f64,
    pair: ContactPair,
    surfaces: &ContactSurfaces<'_>,
) -> Arc<dyn Potential> {
    let contact = match pair {
        ContactPair::Obstacle(shape) => {
            return Arc::new(Obstacle { shape, law, nodes: surfaces.points() });
        }
        // `ModelBuilder::contact` refuses it: a law of the depth needs an inside.
        ContactPair::Mesh(_) => SurfaceContact::between(Vec::new(), &[], law, thickness),
        ContactPair::Bodies(Some([a, b])) => {
            SurfaceContact::between(vec![surfaces.of(a), surfaces.of(b)], &[(0, 1)], law, thickness)
        }
        ContactPair::Bodies(None) => {
            let pairs: Vec<(usize, usize)> =
                (0..surfaces.bodies()).flat_map(|j| (0..j).map(move |i| (i, j))).collect();
            SurfaceContact::between(surfaces.all(), &pairs, law, thickness)
        }
        ContactPair::Itself(Some(body)) => SurfaceContact::within(vec![surfaces.of(body)], law, thickness),
        ContactPair::Itself(None) => SurfaceContact::within(surfaces.all(), law, thickness),
    };
    Arc::new(contact)
}
