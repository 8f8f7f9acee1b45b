//! VertexContact between bodies and of a body with itself: derivatives, invariants, and things that land.

use lilyan_dynamics::{Curvature, System};
use lilyan_parallel::threads;
use lilyan_solid::contact::{
    ContactLaw, ContactPair, ContactSurface, Feature, LinearPressure, Penalty, SurfaceContact, VertexContact,
};
use lilyan_solid::materials::{Given, find};
use lilyan_solid::mesh::{Mesh, Nodes};
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::potentials::Potential;
use lilyan_solid::{BodyInput, DofMap, ModelBuilder};
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::collections::BTreeMap;
use std::sync::Arc;

#[path = "contact/laws.rs"]
mod laws;
#[path = "contact/runs.rs"]
mod runs;

/// Numbers in [−1, 1) \[vigna2015, splitmix64\].
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    fn vector(&mut self) -> [f64; 3] {
        [self.next(), self.next(), self.next()]
    }
}

/// Turned about a random axis by a random angle.
fn turned(x: [f64; 3], axis: [f64; 3], angle: f64) -> [f64; 3] {
    let l = dot(axis, axis).sqrt();
    let e = axis.map(|a| a / l);
    let (c, s) = (angle.cos(), angle.sin());
    let (along, across) = (dot(e, x), cross(e, x));
    [0, 1, 2].map(|k| c * x[k] + s * across[k] + (1.0 - c) * along * e[k])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn three(x: &[f64]) -> [f64; 3] {
    [x[0], x[1], x[2]]
}

const K: f64 = 3e4;
const LAW: LinearPressure = LinearPressure { stiffness: K };
const THICKNESS: f64 = 0.1;

/// Two unit cubes of 2³ cells, and their contact.
fn two_cubes() -> (SurfaceContact<LinearPressure>, Mesh) {
    two_cubes_with(LAW)
}

fn two_cubes_with<L: ContactLaw>(law: L) -> (SurfaceContact<L>, Mesh) {
    let mesh = box_mesh([1.0; 3], [2; 3]).unwrap();
    let nodes = Arc::new(Nodes::at_vertices(mesh.clone()));
    let surface = |first| Arc::new(ContactSurface::new(&DofMap::new(nodes.clone(), first)));
    let surfaces = vec![surface(0), surface(mesh.vertices.len())];
    (SurfaceContact::between(surfaces, &[(0, 1)], law, THICKNESS), mesh)
}

/// Both cubes deformed a little, the second turned at random and touching the first.
fn touching(mesh: &Mesh, random: &mut Random) -> Vec<f64> {
    let mut q = Vec::new();
    let wobble = |random: &mut Random| random.vector().map(|x| 0.03 * x);
    for x in &mesh.vertices {
        let w = wobble(random);
        q.extend((0..3).map(|k| x[k] + w[k]));
    }
    let (axis, angle) = (random.vector(), 3.0 * random.next());
    let direction = random.vector();
    let (shrink, center) = if random.next() < -0.3 {
        // Small, at a corner, so that its vertices are all around it.
        let shift = random.vector();
        let corner = |k: usize| 0.5 + 0.5 * direction[k].signum() + 0.08 * shift[k];
        (0.15, [0, 1, 2].map(corner))
    } else {
        // From the centre of one to the surface of the other, and a little in or out.
        let reach = direction.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let far = 0.85 + 0.3 * random.next();
        (1.0, [0, 1, 2].map(|k| 0.5 + direction[k] / reach * far))
    };
    for x in &mesh.vertices {
        let w = wobble(random);
        let x = turned(x.map(|x| x - 0.5), axis, angle);
        q.extend((0..3).map(|k| center[k] + shrink * (x[k] + w[k])));
    }
    q
}

fn gradient(contact: &dyn Potential, q: &[f64]) -> Vec<f64> {
    let mut g = vec![0.0; q.len()];
    contact.add_gradient(q, &mut g);
    g
}

/// Which vertex meets what.
fn meeting(contacts: &[VertexContact]) -> Vec<([u32; 4], Feature)> {
    contacts.iter().map(|c| (c.nodes, c.feature)).collect()
}

fn kind(feature: Feature) -> &'static str {
    match feature {
        Feature::Face => "face",
        Feature::Edge(_) => "edge",
        Feature::Corner(_) => "corner",
    }
}

fn size(g: &[f64]) -> f64 {
    g.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// |Σ f| and |Σ x × f|.
fn resultants(q: &[f64], f: &[f64]) -> (f64, f64) {
    let (mut force, mut moment) = ([0.0; 3], [0.0; 3]);
    for (x, f) in q.chunks_exact(3).zip(f.chunks_exact(3)) {
        let m = cross(three(x), three(f));
        for k in 0..3 {
            force[k] += f[k];
            moment[k] += m[k];
        }
    }
    (size(&force), size(&moment))
}

#[test]
fn gradient_and_hessian_are_derivatives() {
    let (contact, mesh) = two_cubes();
    let mut random = Random(1);
    let mut tested: BTreeMap<(&str, bool), usize> = BTreeMap::new();
    for _ in 0..400 {
        let q = touching(&mesh, &mut random);
        let contacts = contact.contacts(&q);
        if contacts.is_empty() {
            continue;
        }
        let direction: Vec<f64> = q.iter().map(|_| random.next()).collect();
        let h = 1e-6;
        let moved = |c: f64| -> Vec<f64> { q.iter().zip(&direction).map(|(q, d)| q + c * d).collect() };
        let (back, forth) = (moved(-h), moved(h));
        // A switch in between is a jump of the second (at a medial plane of the first) derivative.
        let here = meeting(&contacts);
        if meeting(&contact.contacts(&back)) != here || meeting(&contact.contacts(&forth)) != here {
            continue;
        }
        let g = gradient(&contact, &q);
        let slope: f64 = g.iter().zip(&direction).map(|(a, b)| a * b).sum();
        let quotient = (contact.energy(&forth) - contact.energy(&back)) / (2.0 * h);
        assert!((slope - quotient).abs() < 1e-6 * size(&g), "{slope} {quotient}");

        let nearest = contacts.iter().fold(1.0f64, |m, c| match c.feature {
            Feature::Face => m,
            _ => m.min(c.distance.abs()),
        });
        if nearest < 1e-3 {
            continue;
        }
        let mut matrix = BlockMatrix::zeros(diagonal_pattern(q.len() / 3));
        contact.add_hessian(&q, Curvature::Exact, &mut matrix);
        let mut product = vec![0.0; q.len()];
        matrix.mul_vec(&direction, &mut product);
        let (g0, g1) = (gradient(&contact, &back), gradient(&contact, &forth));
        let scale = K * size(&direction) / nearest;
        for i in 0..q.len() {
            let quotient = (g1[i] - g0[i]) / (2.0 * h);
            assert!((product[i] - quotient).abs() < 1e-8 * scale, "{i}: {} {quotient}", product[i]);
        }
        let mut matrix = BlockMatrix::zeros(diagonal_pattern(q.len() / 3));
        contact.add_hessian(&q, Curvature::Projected, &mut matrix);
        for _ in 0..10 {
            let x: Vec<f64> = q.iter().map(|_| random.next()).collect();
            assert!(matrix.quadratic_form(&x) >= -1e-12 * K * size(&x).powi(2));
        }
        for c in &contacts {
            *tested.entry((kind(c.feature), c.distance < 0.0)).or_default() += 1;
        }
    }
    for key in [("face", true), ("face", false), ("edge", false), ("corner", false)] {
        assert!(tested.get(&key).is_some_and(|n| *n >= 10), "{tested:?}");
    }
}

/// Only the nodes themselves: all couplings are extra.
fn diagonal_pattern(nodes: usize) -> Arc<BlockPattern> {
    let cliques: Vec<[u32; 1]> = (0..nodes as u32).map(|n| [n]).collect();
    Arc::new(BlockPattern::from_cliques(nodes, cliques.iter().map(|c| c.as_slice())))
}

#[test]
fn no_net_force_and_no_net_moment() {
    let (contact, mesh) = two_cubes();
    let mut random = Random(2);
    let mut tested = 0;
    for _ in 0..300 {
        let q = touching(&mesh, &mut random);
        let g = gradient(&contact, &q);
        let (force, moment) = resultants(&q, &g);
        assert!(force <= 1e-12 * size(&g) && moment <= 1e-12 * size(&g), "{force} {moment} {}", size(&g));
        tested += usize::from(size(&g) > 0.0);
    }
    assert!(tested > 100, "{tested}");
}

/// One vertex of a small cube is taken for a walk around and through a large one; W never changes by more
/// than its steepest slope allows.
#[test]
fn energy_is_continuous_across_features() {
    let (contact, mesh) = two_cubes();
    let n = mesh.vertices.len();
    let mut random = Random(3);
    let mut seen = BTreeMap::new();
    for walk in 0..60 {
        // The second cube shrunk to a speck: all its vertices feel nearly the same.
        let from = random.vector().map(|x| 0.5 + 0.8 * x);
        let mut to = random.vector().map(|x| 0.5 + 0.8 * x);
        if walk % 2 == 0 {
            // Past the corner at 1, 1, 1.
            to = from.map(|x| 2.08 - x);
        }
        let (steps, mut last) = (4000, None);
        let pace = size(&[0, 1, 2].map(|k| to[k] - from[k])) / steps as f64;
        for i in 0..=steps {
            let t = i as f64 / steps as f64;
            let mut q: Vec<f64> = mesh.vertices.concat();
            for x in &mesh.vertices {
                q.extend((0..3).map(|k| from[k] + t * (to[k] - from[k]) + 1e-4 * x[k]));
            }
            let contacts = contact.contacts(&q);
            // Only of the speck in the cube: the cube cannot enter the speck.
            let contacts = contacts.iter().filter(|c| c.nodes[0] as usize >= n);
            let mut energy = 0.0;
            let mut steepest = K * 6.0 * THICKNESS * pace;
            for c in contacts {
                seen.insert(kind(c.feature), true);
                let depth = THICKNESS - c.distance;
                energy += 0.5 * K * c.area * depth * depth;
                steepest += K * c.area * (depth + pace) * pace;
            }
            if let Some(last) = last {
                let jump: f64 = energy - last;
                assert!(jump.abs() <= 1.001 * steepest, "{jump} {steepest} at {t}");
            }
            last = Some(energy);
        }
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
}

#[test]
fn discrete_gradient_keeps_energy_and_momenta() {
    let (contact, mesh) = two_cubes();
    let mut random = Random(4);
    let (mut tested, mut switched) = (0, 0);
    for i in 0..400 {
        let q0 = touching(&mesh, &mut random);
        // From steps that slide over many triangles to tiny ones.
        let pace = 0.3 * 0.1f64.powi(i % 5);
        let drift = random.vector();
        let q1: Vec<f64> = (0..q0.len())
            .map(|i| q0[i] + pace * (0.2 * random.next() + if i < q0.len() / 2 { 0.0 } else { drift[i % 3] }))
            .collect();
        let (w0, w1) = (contact.energy(&q0), contact.energy(&q1));
        let mut g = vec![0.0; q0.len()];
        assert!(contact.add_discrete_gradient(&q0, &q1, &mut g));
        let work: f64 = (0..g.len()).map(|i| g[i] * (q1[i] - q0[i])).sum();
        assert!((work - (w1 - w0)).abs() <= 1e-13 * size(&g) * pace.max(0.01), "{work} {}", w1 - w0);
        let middle: Vec<f64> = q0.iter().zip(&q1).map(|(a, b)| 0.5 * (a + b)).collect();
        let (force, moment) = resultants(&middle, &g);
        let strength = size(&g);
        assert!(force <= 1e-12 * strength && moment <= 2e-12 * strength, "{force} {moment} {strength}");
        // The same backwards.
        let mut back = vec![0.0; q0.len()];
        contact.add_discrete_gradient(&q1, &q0, &mut back);
        for i in 0..g.len() {
            assert!((g[i] - back[i]).abs() <= 1e-9 * strength);
        }
        tested += usize::from(strength > 0.0);
        switched += usize::from(meeting(&contact.contacts(&q0)) != meeting(&contact.contacts(&q1)));
    }
    assert!(tested > 100 && switched > 30, "{tested} {switched}");
}

#[test]
fn discrete_gradient_becomes_the_gradient() {
    let (contact, mesh) = two_cubes();
    let mut random = Random(5);
    let mut tested = 0;
    for _ in 0..100 {
        let q = touching(&mesh, &mut random);
        let direction: Vec<f64> = q.iter().map(|_| random.next()).collect();
        let moved = |c: f64| -> Vec<f64> { q.iter().zip(&direction).map(|(q, d)| q + c * d).collect() };
        let error = |h: f64| {
            let mut g = vec![0.0; q.len()];
            contact.add_discrete_gradient(&moved(-h), &moved(h), &mut g);
            let exact = gradient(&contact, &q);
            size(&g.iter().zip(&exact).map(|(a, b)| a - b).collect::<Vec<_>>())
        };
        let ends = [-1e-3, 0.0, 1e-3].map(|h| meeting(&contact.contacts(&moved(h))));
        if ends[0].is_empty() || ends[0] != ends[1] || ends[1] != ends[2] {
            continue;
        }
        let (coarse, fine) = (error(1e-3), error(1e-4));
        assert!(fine <= 0.02 * coarse + 1e-10 * K, "{coarse} {fine}");
        tested += 1;
    }
    assert!(tested > 20, "{tested}");
}

/// Turned as a whole, the energy stays.
#[test]
fn frame_indifferent() {
    let (contact, mesh) = two_cubes();
    let mut random = Random(6);
    for _ in 0..50 {
        let q = touching(&mesh, &mut random);
        let (axis, angle) = (random.vector(), random.next());
        let all = |q: &[f64]| -> Vec<f64> {
            q.chunks_exact(3).flat_map(|x| turned(three(x), axis, angle)).collect()
        };
        let (w, turned_w) = (contact.energy(&q), contact.energy(&all(&q)));
        assert!((w - turned_w).abs() <= 1e-11 * w.max(1e-6 * K));
    }
}

fn jelly(name: &str, size: [f64; 3], cells: [usize; 3], at: [f64; 3]) -> BodyInput {
    let mut mesh = box_mesh(size, cells).unwrap();
    for x in &mut mesh.vertices {
        for k in 0..3 {
            x[k] += at[k];
        }
    }
    let material = find("stable-neo-hookean").unwrap();
    BodyInput::new(name, mesh, material, Given::from_young(1e5, 0.3).unwrap(), 1000.0)
}

/// The same bits for any number of threads, in a whole run and in every quantity.
#[test]
fn same_bits_for_any_number_of_threads() {
    let mut results = Vec::new();
    for n in [1, 2, 3] {
        threads::set_threads(n);
        let mesh = box_mesh([1.0; 3], [9; 3]).unwrap();
        let nodes = Arc::new(Nodes::at_vertices(mesh.clone()));
        let surface = |first| Arc::new(ContactSurface::new(&DofMap::new(nodes.clone(), first)));
        let both = vec![surface(0), surface(mesh.vertices.len())];
        let contact = SurfaceContact::between(both, &[(0, 1)], LAW, THICKNESS);
        let own = SurfaceContact::within(vec![surface(0)], LAW, 1e-3);
        let mut random = Random(7);
        let mut q0 = touching(&mesh, &mut random);
        while contact.contacts(&q0).len() < 20 {
            q0 = touching(&mesh, &mut random);
        }
        let q1: Vec<f64> = q0.iter().map(|q| q + 0.02 * random.next()).collect();
        let mut bits = Vec::new();
        for potential in [&contact, &own] {
            let mut g = gradient(potential, &q1);
            potential.add_discrete_gradient(&q0, &q1, &mut g);
            g.push(potential.energy(&q1));
            bits.extend(g.iter().map(|x| x.to_bits()));
        }
        bits.extend(runs::collide("variational").0.iter().map(|x| x.to_bits()));
        results.push(bits);
    }
    threads::set_threads(0);
    assert!(results[0] == results[1] && results[1] == results[2]);
}

/// A strip bent to a C: the middle line on an arc of 300°, the gap facing +x.
fn c_strip() -> BodyInput {
    let (length, cells) = (1.0, [40, 2, 2]);
    let strip = jelly("c", [length, 0.05, 0.05], cells, [0.0; 3]);
    let mut mesh = Mesh::clone(strip.nodes.mesh());
    let arc = 300.0f64.to_radians();
    let radius = length / arc;
    for x in &mut mesh.vertices {
        let angle = (2.0 * std::f64::consts::PI - arc) / 2.0 + arc * x[0] / length;
        let r = radius + (x[1] - 0.025);
        // The angle runs against the axis that x[1] is measured along: mirrored, to stay right-handed.
        *x = [r * angle.cos(), -r * angle.sin(), x[2]];
    }
    BodyInput { nodes: Arc::new(Nodes::at_vertices(mesh)), ..strip }
}

fn surface_of(mesh: Mesh) -> ContactSurface {
    ContactSurface::new(&DofMap::new(Arc::new(Nodes::at_vertices(mesh)), 0))
}

fn rest_is_free(mesh: &Mesh) {
    let surface = Arc::new(surface_of(mesh.clone()));
    let contact = SurfaceContact::within(vec![surface], LAW, 1e-3);
    assert_eq!(contact.energy(&mesh.vertices.concat()), 0.0);
}

#[test]
fn no_self_contact_at_rest_or_when_moderately_deformed() {
    for cells in [[1, 1, 1], [4, 1, 1], [3, 3, 3], [12, 2, 5]] {
        rest_is_free(&box_mesh([1.0, 0.2, 0.5], cells).unwrap());
    }
    rest_is_free(c_strip().nodes.mesh());
    let mesh = box_mesh([1.0, 0.3, 0.3], [10, 3, 3]).unwrap();
    let surface = Arc::new(surface_of(mesh.clone()));
    let contact = SurfaceContact::within(vec![surface], LAW, 1e-3);
    for squeeze in [0.6, 0.8, 1.3, 2.0] {
        for bend in [0.0, 1.0, 2.5] {
            if squeeze * (1.0 - 0.15 * bend) < 0.51 {
                continue;
            }
            let q: Vec<f64> = (mesh.vertices.iter())
                .flat_map(|x| {
                    let r = 1.0 / f64::max(bend, 1e-3);
                    let angle = bend.max(1e-3) * x[0];
                    [squeeze * (r - x[1] + 0.15) * angle.sin(), (r - x[1] + 0.15) * angle.cos(), x[2]]
                })
                .collect();
            assert_eq!(contact.energy(&q), 0.0, "squeezed by {squeeze}, bent by {bend}");
        }
    }
}

#[test]
fn bad_input_is_refused() {
    let mut builder = ModelBuilder::default();
    builder.body(jelly("a", [1.0; 3], [1; 3], [0.0; 3])).unwrap();
    let mut refused = |pair: ContactPair, stiffness: f64, thickness: f64| {
        builder.contact(pair, Arc::new(Penalty { stiffness, thickness })).unwrap_err().to_string()
    };
    assert!(refused(ContactPair::Bodies(Some([0, 1])), 1e6, 0.0).contains("body 1"));
    assert!(refused(ContactPair::Bodies(Some([0, 0])), 1e6, 0.0).contains("itself"));
    assert!(refused(ContactPair::Itself(Some(3)), 1e6, 0.0).contains("body 3"));
    assert!(refused(ContactPair::Itself(None), -1.0, 0.0).contains("Pa/m"));
    assert!(refused(ContactPair::Itself(None), f64::NAN, 0.0).contains("Pa/m"));
    assert!(refused(ContactPair::Bodies(None), 1e6, -1e-3).contains("thickness"));
    let good = Penalty { stiffness: 1e6, thickness: 0.0 };
    assert!(builder.contact(ContactPair::Bodies(None), Arc::new(good)).is_ok());
    assert_eq!(builder.contact_surface(0).triangles().count(), 12);
    assert_eq!(builder.build().potentials().len(), 2);
}

/// Far apart, the search costs less than the elastic force. Measured, as that is what it is for.
#[test]
fn cheap_without_contact() {
    let mut builder = ModelBuilder::default();
    for i in 0..2 {
        let body = jelly("b", [1.0; 3], [10, 10, 8], [0.0, 1.1 * i as f64, 0.0]);
        builder.body(body).unwrap();
    }
    builder
        .contact(ContactPair::Bodies(None), Arc::new(Penalty { stiffness: 1e6, thickness: 1e-3 }))
        .unwrap();
    builder
        .contact(ContactPair::Itself(None), Arc::new(Penalty { stiffness: 1e6, thickness: 1e-3 }))
        .unwrap();
    let q = builder.start().to_vec();
    let model = builder.build();
    assert_eq!(model.energy_parts(0.0, &q).other, 0.0);
    let time = |p: &dyn Potential| {
        let mut g = vec![0.0; q.len()];
        (0..20)
            .map(|_| {
                let start = std::time::Instant::now();
                p.add_gradient(&q, &mut g);
                start.elapsed().as_secs_f64()
            })
            .fold(f64::INFINITY, f64::min)
    };
    let times: Vec<f64> = model.potentials().iter().map(|p| time(p.as_ref())).collect();
    println!("elastic, elastic, between, within: {times:?} s");
    assert!(times[2] < times[0] + times[1], "{times:?}");
}
