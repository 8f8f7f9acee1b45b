//! Friction: an objective slip, forces without resultant and moment, and Coulomb's law in motion.

use super::Random;
use lilyan_solid::contact::barrier::stencil::Stencil;
use lilyan_solid::contact::barrier::{FrictionLaw, SlidingContact, TurningNodes};

const LAW: FrictionLaw = FrictionLaw { coefficient: 0.7, slip: 1e-3 };

type V3 = [f64; 3];

fn cross(a: V3, b: V3) -> V3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn add(a: V3, b: V3) -> V3 {
    [0, 1, 2].map(|k| a[k] + b[k])
}

fn size(a: V3) -> f64 {
    a.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// A point near a triangle, on its corner, on an edge and inside, and two edges; all of the nodes 0, 1, 2, 3.
fn contacts(x: [V3; 4]) -> [SlidingContact; 4] {
    let [p, a, b, c] = x;
    let triangle = TurningNodes::of_triangle([1, 2, 3], [a, b, c]);
    let of = |nodes, stencil, turning| SlidingContact { nodes, stencil, load: 3.0, law: LAW, turning };
    [
        of([0, 1, 0, 0], Stencil::points([p, a]), triangle.clone()),
        of([0, 1, 2, 0], Stencil::point_line([p, a, b]), triangle.clone()),
        of([0, 1, 2, 3], Stencil::point_plane(x), triangle),
        of([0, 1, 2, 3], Stencil::lines(x), TurningNodes::of_edges([0, 1, 2, 3], [[p, a], [b, c]])),
    ]
}

/// A rigid motion is no slip, whatever the distance; the forces of any slip have neither resultant nor moment, and only take power.
#[test]
fn rigid_motion_is_no_slip_and_friction_keeps_momenta() {
    let mut random = Random(1);
    for _ in 0..200 {
        let x: [V3; 4] = std::array::from_fn(|_| random.vector());
        let (turn, shift) = (random.vector(), random.vector());
        let rigid: Vec<f64> = x.iter().flat_map(|x| add(shift, cross(turn, *x))).collect();
        let v: Vec<f64> = (0..12).map(|_| random.next()).collect();
        for (k, contact) in contacts(x).iter().enumerate() {
            // In units of the largest lever of a nearly degenerate stencil.
            let scale = contact.stencil.coefficients().iter().fold(1.0f64, |m, c| m.max(c.abs()));
            let slip = size(contact.slip(&rigid));
            assert!(slip < 1e-11 * scale, "stencil {k}: {slip} m/s, levers {scale}");
            let mut f = vec![0.0; 12];
            contact.add_force(&v, &mut f);
            let forces: Vec<V3> = f.chunks_exact(3).map(|f| [f[0], f[1], f[2]]).collect();
            let total = forces.iter().fold([0.0; 3], |sum, f| add(sum, *f));
            let moment = forces.iter().zip(&x).fold([0.0; 3], |sum, (f, x)| add(sum, cross(*x, *f)));
            assert!(
                size(total) < 1e-11 * scale && size(moment) < 1e-11 * scale,
                "stencil {k}: {total:?}, {moment:?}"
            );
            let power: f64 = f.iter().zip(&v).map(|(f, v)| f * v).sum();
            let u = size(contact.slip(&v));
            assert!(
                (power + LAW.coefficient * 3.0 * u).abs() < 1e-11 * scale,
                "stencil {k}: {power} W at {u} m/s"
            );
        }
    }
}

/// The law is C¹ in the slip, and its tangent is its derivative, below and above the threshold.
#[test]
fn the_tangent_is_the_derivative_of_the_traction() {
    let normal = [0.0, 0.0, 1.0];
    for u in [[2e-4, -1e-4, 0.0], [9e-4, 3e-4, 0.0], [2.0, 1.0, 0.0]] {
        let tangent = LAW.tangent(2.0, u, normal);
        let step = 1e-6 * size(u);
        for j in 0..2 {
            let at = |s: f64| {
                let mut u = u;
                u[j] += s * step;
                LAW.traction(2.0, u)
            };
            for i in 0..2 {
                let difference = (at(-1.0)[i] - at(1.0)[i]) / (2.0 * step);
                let largest = tangent.iter().fold(0.0f64, |m, x| m.max(x.abs()));
                assert!(
                    (difference - tangent[3 * i + j]).abs() < 1e-6 * largest,
                    "{u:?}: {difference}, {tangent:?}"
                );
            }
        }
    }
    assert_eq!(LAW.traction(2.0, [0.0; 3]), [0.0; 3]);
}
