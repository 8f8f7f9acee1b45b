//! Coarsens a mesh by collapsing edges, shortest first, where shape and boundary allow it.
//!
//! Collapsing vertex v into its neighbour w removes the tets that hold both and gives w to the
//! others of v. The result is the same body cut differently when the link condition
//! Lk(v) ∩ Lk(w) = Lk(vw) holds, with the outside as one more vertex ω \[dey1999\], and no tet flips.
//! On the boundary the new triangles must stay within a tolerance of the shape, which the caller
//! lets grow: flat parts are coarsened first, sharp features stay fine.

use super::improve::shape_of;
use super::solid::{Hold, Solid};
use crate::math::vector::{V3, add, area_vector, distance, dot, lerp, norm, scale};
use crate::mesh::Mesh;
use crate::mesh::topology::EDGES;

/// Worst shape that a collapse may leave: dihedral angles of about 18 to 162 degrees.
const SHAPE: f64 = 0.05;

/// Rounds over all edges per call.
const PASSES: usize = 6;

struct Coarsener<'a> {
    vertices: &'a [V3],
    shape: &'a dyn Solid,
    hold: &'a [Hold],
    tets: Vec<[u32; 4]>,
    faces: Vec<[u32; 3]>,
    tets_at: Vec<Vec<u32>>,
    faces_at: Vec<Vec<u32>>,
    alive: usize,
}

/// Collapses edges until about `wanted` tets are left or nothing more may go; boundary triangles
/// may be off the shape by `tolerance` times their size. Returns what holds the remaining vertices.
pub(crate) fn coarsen(
    mesh: &mut Mesh,
    shape: &dyn Solid,
    hold: &[Hold],
    wanted: usize,
    tolerance: f64,
) -> Vec<Hold> {
    let surface = mesh.surface();
    let mut c = Coarsener {
        vertices: &mesh.vertices,
        shape,
        hold,
        tets: mesh.tets().to_vec(),
        faces: surface.triangles.clone(),
        tets_at: vec![Vec::new(); mesh.vertices.len()],
        faces_at: vec![Vec::new(); mesh.vertices.len()],
        alive: mesh.tets().len(),
    };
    for (t, tet) in c.tets.iter().enumerate() {
        tet.iter().for_each(|&v| c.tets_at[v as usize].push(t as u32));
    }
    for (f, face) in c.faces.iter().enumerate() {
        face.iter().for_each(|&v| c.faces_at[v as usize].push(f as u32));
    }
    for _ in 0..PASSES {
        let before = c.alive;
        if before > wanted {
            c.pass(tolerance, wanted);
        }
        if c.alive == before {
            break;
        }
    }

    let mut number = vec![u32::MAX; mesh.vertices.len()];
    let mut kept = Vec::new();
    let tets: Vec<[u32; 4]> = c.tets.iter().copied().filter(|t| t[0] != t[1]).collect();
    for (v, n) in number.iter_mut().enumerate() {
        if !c.tets_at[v].is_empty() {
            *n = kept.len() as u32;
            kept.push(v);
        }
    }
    let vertices = kept.iter().map(|&v| mesh.vertices[v]).collect();
    *mesh = Mesh::new(vertices, tets.iter().map(|t| t.map(|v| number[v as usize])).collect());
    kept.iter().map(|&v| hold[v]).collect()
}

impl Coarsener<'_> {
    fn at(&self, v: u32) -> V3 {
        self.vertices[v as usize]
    }

    /// One round over the edges, shortest first; what lies around a collapse waits for the next.
    fn pass(&mut self, tolerance: f64, wanted: usize) {
        let mut edges: Vec<[u32; 2]> = self
            .tets
            .iter()
            .filter(|t| t[0] != t[1])
            .flat_map(|t| EDGES.map(|[i, j]| [t[i].min(t[j]), t[i].max(t[j])]))
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let length = |e: &[u32; 2]| distance(self.at(e[0]), self.at(e[1]));
        let mut edges: Vec<(f64, [u32; 2])> = edges.into_iter().map(|e| (length(&e), e)).collect();
        edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut touched = vec![false; self.vertices.len()];
        for (_, [a, b]) in edges {
            for (v, w) in [(a, b), (b, a)] {
                if touched[v as usize] || touched[w as usize] || !self.may(v, w, tolerance) {
                    continue;
                }
                for &t in &self.tets_at[v as usize] {
                    self.tets[t as usize].iter().for_each(|&x| touched[x as usize] = true);
                }
                self.collapse(v, w);
                break;
            }
            if self.alive <= wanted {
                return;
            }
        }
    }

    fn may(&self, v: u32, w: u32, tolerance: f64) -> bool {
        let (hv, hw) = (self.hold[v as usize], self.hold[w as usize]);
        if hv == Hold::Corner || (hv as u8) > (hw as u8) {
            return false;
        }
        self.shapes_stay(v, w) && self.link_condition(v, w) && self.boundary_stays(v, w, tolerance)
    }

    fn shapes_stay(&self, v: u32, w: u32) -> bool {
        let around = || self.tets_at[v as usize].iter().map(|&t| self.tets[t as usize]);
        let worst = around().map(|t| shape_of(t.map(|x| self.at(x)))).fold(SHAPE, f64::min);
        around()
            .filter(|t| !t.contains(&w))
            .all(|t| shape_of(t.map(|x| self.at(if x == v { w } else { x }))) >= worst.max(1e-3))
    }

    fn link_condition(&self, v: u32, w: u32) -> bool {
        // Vertices and edges of a link, sorted.
        let link = |v: u32, with: Option<u32>| {
            let (mut points, mut edges) = (Vec::new(), Vec::new());
            for &t in &self.tets_at[v as usize] {
                let mut rest: Vec<u32> = self.tets[t as usize].to_vec();
                if with.is_some_and(|w| !rest.contains(&w)) {
                    continue;
                }
                rest.retain(|&x| x != v && Some(x) != with);
                rest.sort_unstable();
                for i in 0..rest.len() {
                    points.push(rest[i]);
                    edges.extend((0..i).map(|j| [rest[j], rest[i]]));
                }
            }
            points.sort_unstable();
            points.dedup();
            edges.sort_unstable();
            edges.dedup();
            (points, edges)
        };
        let (pv, ev) = link(v, None);
        let (pw, ew) = link(w, None);
        let (both, opposite) = link(v, Some(w));
        pv.iter().filter(|x| pw.binary_search(x).is_ok()).all(|x| both.binary_search(x).is_ok())
            && ev.iter().filter(|e| ew.binary_search(e).is_ok()).all(|e| opposite.binary_search(e).is_ok())
    }

    /// For a boundary vertex v: vw is an edge of the surface, the link condition with ω, and the
    /// new triangles follow the shape.
    fn boundary_stays(&self, v: u32, w: u32, tolerance: f64) -> bool {
        if self.hold[v as usize] == Hold::Free {
            return true;
        }
        let faces = |v: u32| self.faces_at[v as usize].iter().map(|&f| self.faces[f as usize]);
        let others = |f: [u32; 3], v: u32| -> Vec<u32> { f.into_iter().filter(|&x| x != v).collect() };
        let shared: Vec<u32> =
            faces(v).filter(|f| f.contains(&w)).flat_map(|f| others(f, v)).filter(|&x| x != w).collect();
        if shared.len() != 2 {
            return false;
        }
        let near_w: Vec<u32> = faces(w).flat_map(|f| others(f, w)).collect();
        for f in faces(v) {
            let rest = others(f, v);
            if rest.iter().any(|x| *x != w && near_w.contains(x) && !shared.contains(x)) {
                return false;
            }
            if faces(w).any(|g| rest.iter().all(|x| g.contains(x))) && !f.contains(&w) {
                return false;
            }
        }
        let (p, q) = (self.at(v), self.at(w));
        if self.hold[v as usize] == Hold::Edge {
            let reach = tolerance * distance(p, q);
            if self.shape.nearest_sharp(lerp(p, q, 0.5), reach + f64::MIN_POSITIVE).is_none() {
                return false;
            }
        }
        faces(v).filter(|f| !f.contains(&w)).all(|f| {
            let old = f.map(|x| self.at(x));
            let new = f.map(|x| self.at(if x == v { w } else { x }));
            let (m, n) = (area_vector(old), area_vector(new));
            let size = norm(n).sqrt();
            let samples = [
                scale(add(new[0], add(new[1], new[2])), 1.0 / 3.0),
                lerp(new[0], new[1], 0.5),
                lerp(new[1], new[2], 0.5),
                lerp(new[2], new[0], 0.5),
            ];
            // A turn of more than 45 degrees would be a fold.
            dot(m, n) > 0.7 * norm(m) * norm(n)
                && samples.iter().all(|&s| self.shape.nearest(s, tolerance * size).is_some())
        })
    }

    fn collapse(&mut self, v: u32, w: u32) {
        for t in std::mem::take(&mut self.tets_at[v as usize]) {
            let tet = self.tets[t as usize];
            if tet.contains(&w) {
                for x in tet.into_iter().filter(|&x| x != v) {
                    self.tets_at[x as usize].retain(|&u| u != t);
                }
                self.tets[t as usize] = [0; 4];
                self.alive -= 1;
            } else {
                self.tets[t as usize] = tet.map(|x| if x == v { w } else { x });
                self.tets_at[w as usize].push(t);
            }
        }
        for f in std::mem::take(&mut self.faces_at[v as usize]) {
            let face = self.faces[f as usize];
            if face.contains(&w) {
                for x in face.into_iter().filter(|&x| x != v) {
                    self.faces_at[x as usize].retain(|&u| u != f);
                }
            } else {
                self.faces[f as usize] = face.map(|x| if x == v { w } else { x });
                self.faces_at[w as usize].push(f);
            }
        }
    }
}
