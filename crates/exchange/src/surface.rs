//! What is seen of a body: the boundary of its cells, with creases and normals.

use lilyan_mesh_io::readers::FrameData;
use lilyan_solid::mesh::{CellKind, Mesh};
use std::collections::HashMap;
use std::ops::Range;

/// The visible part of a body, in numbers of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// The number in the frame of each vertex.
    pub source: Vec<u32>,
    /// Triangles, outward.
    pub triangles: Vec<[u32; 3]>,
    /// Springs of a body without triangles.
    pub lines: Vec<[u32; 2]>,
}

/// A surface whose vertices are split along creases, so that each has one normal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CreasedSurface {
    /// The vertex of the surface that each stands for.
    pub source: Vec<u32>,
    /// Triangles of these vertices.
    pub triangles: Vec<[u32; 3]>,
}

/// Faces that meet at a sharper angle than this have a crease between them; its cosine. 40°.
const CREASE: f64 = 0.766;

impl Surface {
    /// Of the nodes `range` of a frame. `discontinuous`: neighbours have nodes of their own at the same place.
    pub(crate) fn of(frame: &FrameData, range: &Range<usize>, discontinuous: bool) -> Self {
        let blocks = |kind: CellKind| {
            let of_kind = frame.blocks.iter().filter(move |block| block.kind == kind);
            let cells = of_kind.flat_map(|block| block.iter());
            cells.filter(|cell| cell.iter().all(|v| range.contains(&(*v as usize))))
        };
        let tets: Vec<[u32; 4]> = blocks(CellKind::Tet).filter_map(|cell| cell.try_into().ok()).collect();
        let quadratic: Vec<[u32; 10]> =
            blocks(CellKind::QuadraticTet).filter_map(|cell| cell.try_into().ok()).collect();
        let mut triangles = if discontinuous { welded_boundary(frame, &tets) } else { boundary(&tets) };
        triangles.extend(quadratic_boundary(&quadratic));
        triangles.extend(blocks(CellKind::Triangle).filter_map(|cell| <[u32; 3]>::try_from(cell).ok()));
        let lines = match triangles.is_empty() {
            true => blocks(CellKind::Line).filter_map(|cell| cell.try_into().ok()).collect(),
            false => Vec::new(),
        };
        Self::numbered(triangles, lines)
    }

    /// With the vertices that occur, numbered in their order.
    pub(crate) fn numbered(triangles: Vec<[u32; 3]>, lines: Vec<[u32; 2]>) -> Self {
        let mut source: Vec<u32> =
            triangles.as_flattened().iter().chain(lines.as_flattened()).copied().collect();
        source.sort_unstable();
        source.dedup();
        let local = |v: u32| source.partition_point(|s| *s < v) as u32;
        let triangles = triangles.iter().map(|t| t.map(local)).collect();
        let lines = lines.iter().map(|l| l.map(local)).collect();
        Self { source, triangles, lines }
    }

    /// With vertices split where faces meet at an angle at these positions.
    pub fn creased(&self, positions: &[[f64; 3]]) -> CreasedSurface {
        let normals: Vec<[f64; 3]> = self.triangles.iter().map(|t| unit(area_vector(positions, t))).collect();
        // Corners of triangles that are joined by smooth edges are one vertex.
        let mut joined: Vec<u32> = (0..3 * self.triangles.len() as u32).collect();
        let mut open: HashMap<[u32; 2], (usize, usize)> = HashMap::new();
        for (t, corners) in self.triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                if let Some((other, j)) = open.remove(&[a.min(b), a.max(b)]) {
                    // On a closed surface the other triangle has the edge in the opposite direction.
                    let same = self.triangles[other][j] == a;
                    let facing = if same { -1.0 } else { 1.0 };
                    if facing * dot(normals[t], normals[other]) > CREASE {
                        let ends = if same { [j, (j + 1) % 3] } else { [(j + 1) % 3, j] };
                        join(&mut joined, 3 * t + k, 3 * other + ends[0]);
                        join(&mut joined, 3 * t + (k + 1) % 3, 3 * other + ends[1]);
                    }
                } else {
                    open.insert([a.min(b), a.max(b)], (t, k));
                }
            }
        }
        let mut number = HashMap::new();
        let mut creased = CreasedSurface::default();
        for (t, corners) in self.triangles.iter().enumerate() {
            creased.triangles.push([0, 1, 2].map(|k| {
                let root = root(&mut joined, 3 * t + k);
                *number.entry(root).or_insert_with(|| {
                    creased.source.push(corners[k]);
                    creased.source.len() as u32 - 1
                })
            }));
        }
        creased
    }
}

/// Unit normals at the vertices of triangles: means of those of the faces, weighted by the angles of the corners.
pub fn vertex_normals(positions: &[[f64; 3]], triangles: &[[u32; 3]]) -> Vec<[f64; 3]> {
    let mut sum = vec![[0.0; 3]; positions.len()];
    for t in triangles {
        let normal = unit(area_vector(positions, t));
        for k in 0..3 {
            let at = |j: usize| positions[t[j % 3] as usize];
            let (a, b) = (unit(minus(at(k + 1), at(k))), unit(minus(at(k + 2), at(k))));
            let angle = dot(a, b).clamp(-1.0, 1.0).acos();
            let at = &mut sum[t[k] as usize];
            (0..3).for_each(|i| at[i] += angle * normal[i]);
        }
    }
    sum.into_iter().map(unit).collect()
}

/// The faces that belong to one tet only, outward.
fn boundary(tets: &[[u32; 4]]) -> Vec<[u32; 3]> {
    Mesh::new(Vec::new(), tets.to_vec()).surface().triangles.clone()
}

/// The same where neighbours have nodes of their own, which begin at the same place.
fn welded_boundary(frame: &FrameData, tets: &[[u32; 4]]) -> Vec<[u32; 3]> {
    let mut first: HashMap<[u64; 3], u32> = HashMap::new();
    let welded: Vec<[u32; 4]> = tets
        .iter()
        .map(|tet| {
            tet.map(|v| {
                // Adding zero makes −0 and 0 the same place.
                let place = frame.positions[v as usize].map(|x| (x + 0.0).to_bits());
                *first.entry(place).or_insert(v)
            })
        })
        .collect();
    let mesh = Mesh::new(Vec::new(), welded.clone());
    let surface = mesh.surface();
    let own = |(triangle, tet): (&[u32; 3], &u32)| {
        let tet = *tet as usize;
        triangle.map(|v| welded[tet].iter().position(|w| *w == v).map_or(v, |k| tets[tet][k]))
    };
    surface.triangles.iter().zip(&surface.tets).map(own).collect()
}

/// The boundary of quadratic tets, each face as four triangles through the nodes on its edges.
fn quadratic_boundary(tets: &[[u32; 10]]) -> Vec<[u32; 3]> {
    // The nodes on edges follow the corners in this order.
    const EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]];
    let corners: Vec<[u32; 4]> = tets.iter().map(|t| [t[0], t[1], t[2], t[3]]).collect();
    let mesh = Mesh::new(Vec::new(), corners);
    let surface = mesh.surface();
    let faces = surface.triangles.iter().zip(&surface.tets).flat_map(|(face, tet)| {
        let tet = &tets[*tet as usize];
        let middle = |a: u32, b: u32| {
            let is = |[i, j]: [usize; 2]| (tet[i] == a && tet[j] == b) || (tet[i] == b && tet[j] == a);
            EDGES.into_iter().position(is).map_or(a, |k| tet[4 + k])
        };
        let [a, b, c] = *face;
        let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
        [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
    });
    faces.collect()
}

fn root(joined: &mut [u32], mut corner: usize) -> usize {
    while joined[corner] as usize != corner {
        joined[corner] = joined[joined[corner] as usize];
        corner = joined[corner] as usize;
    }
    corner
}

fn join(joined: &mut [u32], a: usize, b: usize) {
    let (a, b) = (root(joined, a), root(joined, b));
    joined[a.max(b)] = a.min(b) as u32;
}

fn area_vector(positions: &[[f64; 3]], t: &[u32; 3]) -> [f64; 3] {
    let [a, b, c] = t.map(|v| positions[v as usize]);
    let (u, v) = (minus(b, a), minus(c, a));
    [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    let length = dot(a, a).sqrt();
    if length > 0.0 { a.map(|x| x / length) } else { a }
}
