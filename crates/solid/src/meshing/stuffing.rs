//! Isosurface stuffing: tets of a body-centred cubic lattice, cut at the boundary of a shape.
//!
//! The lattice has its points at the corners and centres of cubes of edge a; its tets have two
//! edges of length a between points of one kind ("long") and four of (√3/2)a between kinds
//! ("short"). Every lattice point is inside (+) or outside (−), every edge between unlike points
//! is cut once. A point with a cut nearer than a fraction α of that edge is moved there and
//! counts as 0; after that every cut is well away from both ends. What is left of a tet follows
//! from its four signs. With α_long = 0.24999, α_short = 0.41189 all dihedral angles are between
//! 10.7 and 164.8 degrees wherever the cuts fall \[labelle2007, table 1\].
//!
//! Departures from the paper: one lattice size (no octree); where a cut tet leaves a choice inside,
//! the better shape is taken.
//!
//! Written here because TetGen is AGPL, and fTetWild and CGAL are heavy.

use super::MeshingError;
use super::lattice::Lattice;
use super::solid::Solid;
use crate::math::vector::{V3, distance, lerp, volume};
use crate::mesh::Mesh;
use lilyan_parallel::threads;
use std::collections::BTreeMap;

/// Fractions of an edge within which a cut takes the lattice point along.
const ALPHA_LONG: f64 = 0.24999;
const ALPHA_SHORT: f64 = 0.41189;
/// Lattice points per task.
const POINTS: usize = 1 << 8;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sign {
    Plus,
    Zero,
    Minus,
}

/// A vertex of the result: a lattice point or the cut of the edge from a + to a − point.
type Key = (u32, u32);

struct Stuffing<'s> {
    lattice: Lattice,
    inside: Vec<bool>,
    signs: Vec<Sign>,
    moved: BTreeMap<u32, V3>,
    cuts: BTreeMap<Key, V3>,
    shape: &'s dyn Solid,
}

impl Stuffing<'_> {
    /// Cuts of all edges between unlike points; then moves the points that are too near to one.
    fn cut_and_move(&mut self) {
        let lattice = &self.lattice;
        let inside = &self.inside;
        let shape = self.shape;
        let found = threads::par_map(lattice.len().div_ceil(POINTS), |chunk| {
            let points = chunk * POINTS..lattice.len().min((chunk + 1) * POINTS);
            let edges = points.filter(|&u| inside[u]).flat_map(|u| {
                let unlike = lattice.neighbours(u as u32).filter(|&v| !inside[v as usize]);
                unlike.map(move |v| (u as u32, v))
            });
            let cut = |(u, v)| ((u, v), shape.crossing(lattice.position(u), lattice.position(v)));
            edges.map(cut).collect::<Vec<(Key, f64)>>()
        });
        let mut near: BTreeMap<u32, Vec<(f64, Key)>> = BTreeMap::new();
        let mut places = BTreeMap::new();
        for ((u, v), t) in found.into_iter().flatten() {
            let (a, b) = (lattice.position(u), lattice.position(v));
            let long = lattice.is_centre(u) == lattice.is_centre(v);
            let alpha = if long { ALPHA_LONG } else { ALPHA_SHORT };
            let length = distance(a, b);
            places.insert((u, v), lerp(a, b, t));
            if t < alpha {
                near.entry(u).or_default().push((t * length, (u, v)));
            }
            if 1.0 - t < alpha {
                near.entry(v).or_default().push(((1.0 - t) * length, (u, v)));
            }
        }
        for (point, mut cuts) in near {
            cuts.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            // A cut is gone once its other end has moved.
            let live =
                cuts.iter().find(|(_, (u, v))| !self.moved.contains_key(if *u == point { v } else { u }));
            if let Some((_, key)) = live {
                self.moved.insert(point, places[key]);
            }
        }
        places.retain(|(u, v), _| !self.moved.contains_key(u) && !self.moved.contains_key(v));
        self.cuts = places;
        self.signs = inside.iter().map(|&i| if i { Sign::Plus } else { Sign::Minus }).collect();
        for &v in self.moved.keys() {
            self.signs[v as usize] = Sign::Zero;
        }
    }

    fn place(&self, key: Key) -> V3 {
        if key.0 != key.1 {
            return self.cuts[&key];
        }
        self.moved.get(&key.0).copied().unwrap_or_else(|| self.lattice.position(key.0))
    }

    /// On a face with + points p, q and a − point n, the quadrilateral below the cuts is split by
    /// the diagonal from one of p, q to the cut of the other's edge; true: from p. The rule sees
    /// the face only, so that both tets of a face agree. A cut on the long edge meets the
    /// diagonal; else the parity of the steps from n decides, which differs between p and q.
    fn diagonal_from_first(&self, p: u32, q: u32, n: u32) -> bool {
        let centre = |v| self.lattice.is_centre(v);
        if centre(p) == centre(n) {
            false
        } else if centre(q) == centre(n) {
            true
        } else {
            let (x, y) = (self.lattice.doubled(p), self.lattice.doubled(n));
            (0..3).filter(|&i| x[i] > y[i]).count() % 2 == 1
        }
    }

    /// What is left of a tet.
    fn stencil(&self, tet: [u32; 4], out: &mut Vec<[Key; 4]>) {
        if tet.iter().all(|&v| self.signs[v as usize] == Sign::Plus) {
            out.push(tet.map(|v| (v, v)));
            return;
        }
        let of = |s: Sign| tet.into_iter().filter(move |&v| self.signs[v as usize] == s);
        let plus: Vec<u32> = of(Sign::Plus).collect();
        let zero: Vec<u32> = of(Sign::Zero).collect();
        let minus: Vec<u32> = of(Sign::Minus).collect();
        let own = |v: u32| (v, v);
        match (&plus[..], &zero[..], &minus[..]) {
            ([], ..) => {}
            (_, _, []) => out.push(tet.map(own)),
            (&[p], zero, minus) => {
                let rest = zero.iter().map(|&z| own(z)).chain(minus.iter().map(|&n| (p, n)));
                let mut left = [own(p); 4];
                for (corner, key) in left[1..].iter_mut().zip(rest) {
                    *corner = key;
                }
                out.push(left);
            }
            (&[p, q], &[z], &[n]) => {
                let (p, q) = if self.diagonal_from_first(p, q, n) { (p, q) } else { (q, p) };
                out.push([own(p), own(q), (q, n), own(z)]);
                out.push([own(p), (q, n), (p, n), own(z)]);
            }
            (&[p, q], _, &[m, n]) => {
                let a = [own(p), (p, m), (p, n)];
                let b = [own(q), (q, m), (q, n)];
                let first = [self.diagonal_from_first(p, q, m), self.diagonal_from_first(p, q, n)];
                // beats[k]: column 0 over 1, 1 over 2, 0 over 2.
                let options: &[bool] = match first {
                    [true, false] => &[false],
                    [false, true] => &[true],
                    _ => &[false, true],
                };
                let split = |&mid: &bool| prism(a, b, [first[0], mid, first[1]]);
                let worth = |tets: &[[Key; 4]; 3]| {
                    tets.iter()
                        .map(|t| super::improve::shape_of(self.oriented(*t).map(|k| self.place(k))))
                        .fold(f64::INFINITY, f64::min)
                };
                let mut best = split(&options[0]);
                for option in &options[1..] {
                    let other = split(option);
                    if worth(&other) > worth(&best) {
                        best = other;
                    }
                }
                out.extend(best);
            }
            (&[p, q, r], _, &[n]) => {
                let over = |p, q| self.diagonal_from_first(p, q, n);
                let a = [own(p), own(q), own(r)];
                out.extend(prism(a, [(p, n), (q, n), (r, n)], [over(p, q), over(q, r), over(p, r)]));
            }
            _ => {}
        }
    }

    fn oriented(&self, mut tet: [Key; 4]) -> [Key; 4] {
        if volume(tet.map(|k| self.place(k))) < 0.0 {
            tet.swap(2, 3);
        }
        tet
    }
}

/// A prism of columns aᵢ–bᵢ as three tets. The diagonal of the side between columns i and j starts
/// at aᵢ when i is over j: `over` says so for (0, 1), (1, 2), (0, 2) and must not be cyclic.
fn prism(a: [Key; 3], b: [Key; 3], over: [bool; 3]) -> [[Key; 4]; 3] {
    let wins = [
        usize::from(over[0]) + usize::from(over[2]),
        usize::from(!over[0]) + usize::from(over[1]),
        usize::from(!over[1]) + usize::from(!over[2]),
    ];
    let mut order = [0, 1, 2];
    order.sort_by_key(|&i| std::cmp::Reverse(wins[i]));
    let [i, j, k] = order;
    [[a[i], a[j], a[k], b[k]], [a[i], a[j], b[j], b[k]], [a[i], b[i], b[j], b[k]]]
}

/// Fills `shape` with tets of a lattice with cubes of the given edge, m.
pub(crate) fn stuff(shape: &dyn Solid, edge: f64) -> Result<Mesh, MeshingError> {
    let lattice = Lattice::new(shape.bounds(), edge)?;
    let mut inside = vec![false; lattice.len()];
    threads::par_chunks_mut(&mut inside, POINTS, |chunk, inside| {
        for (k, inside) in inside.iter_mut().enumerate() {
            *inside = shape.inside(lattice.position((chunk * POINTS + k) as u32));
        }
    });
    let mut s =
        Stuffing { lattice, inside, signs: Vec::new(), moved: BTreeMap::new(), cuts: BTreeMap::new(), shape };
    s.cut_and_move();

    let mut keys: Vec<[Key; 4]> = Vec::new();
    let [nx, ny, nz] = s.lattice.cells;
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                let centre = [2 * i + 1, 2 * j + 1, 2 * k + 1];
                for axis in 0..3 {
                    if [i, j, k][axis] + 1 == s.lattice.cells[axis] {
                        continue;
                    }
                    // Two centres and, around the face between them, each of its four edges.
                    let mut next = centre;
                    next[axis] += 2;
                    let (u, w) = ((axis + 1) % 3, (axis + 2) % 3);
                    let ring = [(0, 0), (2, 0), (2, 2), (0, 2)].map(|(du, dw)| {
                        let mut x = centre;
                        x[axis] += 1;
                        x[u] = x[u] - 1 + du;
                        x[w] = x[w] - 1 + dw;
                        s.lattice.number(x)
                    });
                    let ends = [s.lattice.number(centre), s.lattice.number(next)];
                    for e in 0..4 {
                        let tet = [ends[0], ends[1], ring[e], ring[(e + 1) % 4]];
                        if tet.iter().any(|&v| s.inside[v as usize]) {
                            s.stencil(tet, &mut keys);
                        }
                    }
                }
            }
        }
    }

    let mut lattice_numbers = vec![u32::MAX; s.lattice.len()];
    let mut cut_numbers: BTreeMap<Key, u32> = BTreeMap::new();
    let mut vertices = Vec::new();
    let mut tets = Vec::with_capacity(keys.len());
    for tet in keys {
        tets.push(s.oriented(tet).map(|key| {
            let number = if key.0 == key.1 {
                &mut lattice_numbers[key.0 as usize]
            } else {
                cut_numbers.entry(key).or_insert(u32::MAX)
            };
            if *number == u32::MAX {
                *number = vertices.len() as u32;
                vertices.push(s.place(key));
            }
            *number
        }));
    }
    Ok(Mesh::new(vertices, tets))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No shape at all: inside and cuts fall at random.
    struct Noise(u64);

    impl Noise {
        fn random(&self, p: V3, q: V3) -> f64 {
            let mut h = self.0;
            for x in [p, q].as_flattened() {
                h = (h ^ ((x * 1e3).round() as i64 as u64)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                h ^= h >> 29;
            }
            (h >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    impl Solid for Noise {
        fn bounds(&self) -> [V3; 2] {
            [[0.0; 3], [12.0; 3]]
        }
        fn inside(&self, p: V3) -> bool {
            self.random(p, p) > 0.5
        }
        fn crossing(&self, a: V3, b: V3) -> f64 {
            self.random(a, b)
        }
        fn nearest(&self, _: V3, _: f64) -> Option<(V3, V3)> {
            None
        }
    }

    /// The bounds of the paper hold wherever the cuts fall.
    #[test]
    fn angles_are_bounded_for_any_cuts() {
        for seed in 1..9 {
            let q = stuff(&Noise(seed), 1.0).unwrap().quality();
            assert!(q.flipped.is_empty() && q.min_dihedral > 10.7 && q.max_dihedral < 164.8, "{q:?}");
        }
    }
}
