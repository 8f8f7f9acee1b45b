//! Renumbering for locality: vertices along a Hilbert curve through the bounding box, tets by
//! their lowest vertices. Neighbours in space become neighbours in memory, which is what gathers
//! and scatters of element kernels pay for; the factorisation orders its matrix itself.

use super::Mesh;

/// What [`Mesh::reorder`] did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Permutation {
    /// Old number of each new vertex.
    pub vertices: Vec<u32>,
    /// Old number of each new tet.
    pub tets: Vec<u32>,
}

impl Permutation {
    /// New number of each old vertex.
    pub fn new_vertex_numbers(&self) -> Vec<u32> {
        invert(&self.vertices)
    }

    /// New number of each old tet.
    pub fn new_tet_numbers(&self) -> Vec<u32> {
        invert(&self.tets)
    }
}

fn invert(old: &[u32]) -> Vec<u32> {
    let mut new = vec![0; old.len()];
    for (n, &o) in old.iter().enumerate() {
        new[o as usize] = n as u32;
    }
    new
}

/// Bits per coordinate; three of them fill 63 bits.
const BITS: u32 = 21;

/// Position along the Hilbert curve of a point with `BITS`-bit coordinates, by Skilling's
/// transposed form \[skilling2004\].
fn hilbert(mut x: [u32; 3]) -> u64 {
    let mut q = 1 << (BITS - 1);
    while q > 1 {
        let p = q - 1;
        for i in 0..3 {
            if x[i] & q != 0 {
                x[0] ^= p;
            } else {
                let t = (x[0] ^ x[i]) & p;
                x[0] ^= t;
                x[i] ^= t;
            }
        }
        q >>= 1;
    }
    x[1] ^= x[0];
    x[2] ^= x[1];
    let mut t = 0;
    let mut q = 1 << (BITS - 1);
    while q > 1 {
        if x[2] & q != 0 {
            t ^= q - 1;
        }
        q >>= 1;
    }
    let x = x.map(|c| c ^ t);
    (0..BITS).rev().fold(0, |key, b| x.iter().fold(key, |key, c| (key << 1) | u64::from((c >> b) & 1)))
}

impl Mesh {
    /// Renumbers vertices and tets for locality, carrying tags, fields and sets along. The result
    /// depends on the mesh only; equal places keep their order.
    pub fn reorder(&mut self) -> Permutation {
        let [lo, hi] = self.bounds().unwrap_or_default();
        let side = (0..3).map(|i| hi[i] - lo[i]).fold(0.0, f64::max);
        let cells = f64::from((1u32 << BITS) - 1);
        let key = |p: &[f64; 3]| {
            // A float-to-integer cast saturates, so that NaN and a box of no size give 0.
            hilbert([0, 1, 2].map(|i| ((p[i] - lo[i]) / side * cells) as u32))
        };
        let mut order: Vec<(u64, u32)> = self.vertices.iter().zip(0..).map(|(p, v)| (key(p), v)).collect();
        order.sort_unstable();
        let vertices: Vec<u32> = order.into_iter().map(|(_, v)| v).collect();
        let number = invert(&vertices);
        let mut order: Vec<([u32; 4], u32)> = self
            .tets()
            .iter()
            .zip(0..)
            .map(|(tet, t)| {
                let mut v = tet.map(|v| number[v as usize]);
                v.sort_unstable();
                (v, t)
            })
            .collect();
        order.sort_unstable();
        let tets: Vec<u32> = order.into_iter().map(|(_, t)| t).collect();

        self.vertices = vertices.iter().map(|&v| self.vertices[v as usize]).collect();
        let old = self.tets();
        let new: Vec<[u32; 4]> = tets.iter().map(|&t| old[t as usize].map(|v| number[v as usize])).collect();
        self.set_cells(vec![new.into()]);
        self.tags = tets.iter().map(|&t| self.tags[t as usize]).collect();
        for field in self.cell_data.values_mut() {
            *field = tets.iter().map(|&t| field[t as usize]).collect();
        }
        for field in self.point_data.values_mut() {
            *field = vertices.iter().map(|&v| field[v as usize]).collect();
        }
        self.edge_points = std::mem::take(&mut self.edge_points)
            .into_iter()
            .map(|(ends, x)| {
                let mut ends = ends.map(|v| number[v as usize]);
                ends.sort_unstable();
                (ends, x)
            })
            .collect();
        for set in self.vertex_sets.values_mut() {
            for v in set {
                *v = number[*v as usize];
            }
        }
        Permutation { vertices, tets }
    }
}
