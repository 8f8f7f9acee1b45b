//! Which part of the fine body belongs to which coarse tet.

use super::{CoarseningError, Fine, Progress, clip, fail};
use crate::math::vector::{V3, bounds, lerp, sub, volume};
use crate::mesh::Mesh;
use crate::mesh::topology::compress;
use lilyan_parallel::threads;

/// A coarse tet that is filled by less than this share is left out; what it held goes to the nearest other. Its corners
/// outside would be light and make explicit steps short, for no stiffness to speak of.
pub const LEAST_FILL: f64 = 0.01;

/// Share of a fine tet's volume that counts as round-off of the clipping.
const ROUNDING: f64 = 1e-9;

/// Fine tets per task.
const CHUNK: usize = 512;

/// A part of a fine tet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The fine tet.
    pub fine: u32,
    /// Volume of the part, m³.
    pub volume: f64,
    /// Mean of the coarse tet's barycentric coordinates over the part.
    pub weights: [f64; 4],
}

/// The parts of the fine body, by coarse tet.
#[derive(Clone, Debug, Default)]
pub struct Overlaps {
    offsets: Vec<usize>,
    shares: Vec<Share>,
}

impl Overlaps {
    /// The parts that belong to a coarse tet, in the order of the fine tets.
    pub fn of(&self, coarse: usize) -> &[Share] {
        &self.shares[self.offsets[coarse]..self.offsets[coarse + 1]]
    }

    /// Number of coarse tets.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Volume of the fine body in a coarse tet, m³.
    pub fn volume(&self, coarse: usize) -> f64 {
        self.of(coarse).iter().map(|s| s.volume).sum()
    }

    /// Mass of each vertex of the coarse mesh, kg: ∫ρN over the fine body. What lies inside the coarse mesh keeps its
    /// centre of mass.
    pub fn masses(&self, coarse: &Mesh, fine: &Fine<'_>) -> Vec<f64> {
        let mut out = vec![0.0; coarse.vertices.len()];
        for (q, tet) in coarse.tets().iter().enumerate() {
            for s in self.of(q) {
                let mass = fine.density(s.fine as usize) * s.volume;
                for (v, w) in tet.iter().zip(s.weights) {
                    out[*v as usize] += mass * w;
                }
            }
        }
        out
    }

    /// Mass in each coarse tet over its volume, kg/m³.
    pub fn densities(&self, coarse: &Mesh, fine: &Fine<'_>) -> Vec<f64> {
        let volumes = coarse.signed_volumes();
        let mass =
            |q: usize| self.of(q).iter().map(|s| fine.density(s.fine as usize) * s.volume).sum::<f64>();
        (0..self.len()).map(|q| mass(q) / volumes[q]).collect()
    }
}

/// A coarse mesh without what holds nothing of the fine body, and what belongs to each of its tets.
pub struct Fitted {
    /// The coarse mesh.
    pub mesh: Mesh,
    /// What belongs to its tets.
    pub overlaps: Overlaps,
    /// Coarse tets left out: those filled by less than [`LEAST_FILL`].
    pub left_out: usize,
    /// Share of the fine body's volume that the coarse mesh does not reach; it went to the nearest coarse tets.
    pub beyond: f64,
}

/// Finds the part of the fine body in every coarse tet and leaves out those that hold next to nothing.
///
/// # Errors
/// The meshes do not meet, or the coarse one overlaps itself.
pub fn fit(coarse: &Mesh, fine: &Mesh, progress: Progress<'_>) -> Result<Fitted, CoarseningError> {
    let pairs = overlaps(coarse, fine, progress);
    let coarse_volumes = coarse.signed_volumes();
    let mut filled = vec![0.0; coarse.tets().len()];
    for (q, s) in &pairs {
        filled[*q as usize] += s.volume;
    }
    let keep: Vec<bool> = filled.iter().zip(&coarse_volumes).map(|(f, v)| *f >= LEAST_FILL * v).collect();
    if !keep.contains(&true) {
        let [a, b] = coarse.bounds().unwrap_or_default();
        let [c, d] = fine.bounds().unwrap_or_default();
        return fail(format!(
            "the coarse mesh, from {a:?} to {b:?}, holds nothing of the body, from {c:?} to {d:?} (m); give a coarse \
             mesh of the same body, in the same place and unit"
        ));
    }
    let (mesh, numbers) = kept(coarse, &keep);
    let mut pairs: Vec<(u32, Share)> =
        pairs.into_iter().filter(|(q, _)| keep[*q as usize]).map(|(q, s)| (numbers[q as usize], s)).collect();
    let beyond = complete(&mesh, fine, &mut pairs)?;
    let order: Vec<(u32, u32)> = pairs.iter().enumerate().map(|(n, (q, _))| (*q, n as u32)).collect();
    let (offsets, order) = compress(mesh.tets().len(), &order);
    let shares = order.iter().map(|n| pairs[*n as usize].1).collect();
    let left_out = keep.iter().filter(|k| !**k).count();
    Ok(Fitted { mesh, overlaps: Overlaps { offsets, shares }, left_out, beyond })
}

/// All overlaps (coarse tet, part of a fine one), fine tets ascending.
fn overlaps(coarse: &Mesh, fine: &Mesh, progress: Progress<'_>) -> Vec<(u32, Share)> {
    let boxes: Vec<[V3; 2]> =
        (0..coarse.tets().len()).map(|q| bounds(coarse.corners(q)).unwrap_or_default()).collect();
    let tree = OverlapTree::new(&boxes);
    let volumes = coarse.signed_volumes();
    let chunks = fine.tets().len().div_ceil(CHUNK);
    let mut out = Vec::new();
    // In rounds, so that progress can be told in between.
    const ROUND: usize = 64;
    for round in 0..chunks.div_ceil(ROUND) {
        let first = round * ROUND;
        let parts = threads::par_map(ROUND.min(chunks - first), |k| {
            let start = (first + k) * CHUNK;
            let mut found = Vec::new();
            for p in start..fine.tets().len().min(start + CHUNK) {
                let corners = fine.corners(p);
                for q in tree.meets(&bounds(corners).unwrap_or_default()) {
                    let outer = coarse.corners(q as usize);
                    let inner = corners.map(|x| barycentric(x, outer));
                    if let Some((share, weights)) = clip::inside(inner) {
                        let volume = share * volumes[q as usize];
                        found.push((q, Share { fine: p as u32, volume, weights }));
                    }
                }
            }
            found
        });
        out.extend(parts.into_iter().flatten());
        progress("overlaps", (first + ROUND) as f64 / chunks as f64);
    }
    out
}

fn barycentric(p: V3, x: [V3; 4]) -> [f64; 4] {
    let whole = volume(x);
    let mut b = [0, 1, 2, 3].map(|k| {
        let mut y = x;
        y[k] = p;
        volume(y) / whole
    });
    // Their sum is 1 to the bit, so that parts add up.
    b[0] = 1.0 - (b[1] + b[2] + b[3]);
    b
}

/// Gives what no coarse tet holds to the nearest one, and makes parts of a fine tet add up to its volume; returns the
/// share of the body that went to the nearest.
fn complete(coarse: &Mesh, fine: &Mesh, pairs: &mut Vec<(u32, Share)>) -> Result<f64, CoarseningError> {
    let whole = fine.signed_volumes();
    let mut held = vec![0.0; whole.len()];
    let mut moment = vec![[0.0; 3]; whole.len()];
    for (q, s) in pairs.iter() {
        let p = s.fine as usize;
        held[p] += s.volume;
        for (x, w) in coarse.corners(*q as usize).iter().zip(s.weights) {
            for k in 0..3 {
                moment[p][k] += s.volume * w * x[k];
            }
        }
    }
    // The clipping loses 1e-13 of the coarse tet, which may be many times the fine one.
    let largest = coarse.signed_volumes().iter().copied().fold(0.0, f64::max);
    let slack = |p: usize| ROUNDING * whole[p] + 1e-12 * largest;
    if let Some(p) = (0..whole.len()).find(|&p| held[p] > whole[p] + 1e3 * slack(p)) {
        let x = fine.corners(p)[0];
        return fail(format!(
            "coarse tets overlap each other near {x:?} (m): {:.3} times the volume there; repair the coarse mesh",
            held[p] / whole[p]
        ));
    }
    let mut far = 0.0;
    let near = |p: usize| whole[p] - held[p] <= slack(p) && held[p] > 0.0;
    for (_, s) in pairs.iter_mut().filter(|(_, s)| near(s.fine as usize)) {
        s.volume *= whole[s.fine as usize] / held[s.fine as usize];
    }
    let rest: Vec<usize> = (0..whole.len()).filter(|&p| !near(p)).collect();
    if rest.is_empty() {
        return Ok(0.0);
    }
    let locator = coarse.locator();
    let found = threads::par_map(rest.len().div_ceil(CHUNK), |chunk| {
        let some = &rest[chunk * CHUNK..rest.len().min((chunk + 1) * CHUNK)];
        some.iter()
            .map(|&p| locator.locate(centre_of_rest(fine, p, whole[p], held[p], moment[p])))
            .collect::<Vec<_>>()
    });
    for (&p, place) in rest.iter().zip(found.into_iter().flatten()) {
        let Some(place) = place else { continue };
        let volume = whole[p] - held[p];
        far += volume;
        pairs.push((place.tet as u32, Share { fine: p as u32, volume, weights: place.barycentric }));
    }
    Ok(far / whole.iter().sum::<f64>())
}

/// Centre of the part of a fine tet that no coarse tet holds.
fn centre_of_rest(fine: &Mesh, p: usize, whole: f64, held: f64, moment: V3) -> V3 {
    let corners = fine.corners(p);
    let centre: V3 = std::array::from_fn(|k| 0.25 * corners.iter().map(|c| c[k]).sum::<f64>());
    let rest = whole - held;
    // A small rest's centre would be all cancellation.
    if rest < 1e-3 * whole {
        return centre;
    }
    std::array::from_fn(|k| (whole * centre[k] - moment[k]) / rest)
}

/// The tets that are to be kept and their vertices; new numbers of the tets.
fn kept(mesh: &Mesh, keep: &[bool]) -> (Mesh, Vec<u32>) {
    let mut numbers = vec![u32::MAX; mesh.tets().len()];
    let mut vertex = vec![u32::MAX; mesh.vertices.len()];
    for tet in mesh.tets().iter().zip(keep).filter(|(_, k)| **k).map(|(t, _)| t) {
        tet.iter().for_each(|v| vertex[*v as usize] = 0);
    }
    let mut vertices = Vec::new();
    for (v, number) in vertex.iter_mut().enumerate().filter(|(_, n)| **n == 0) {
        *number = vertices.len() as u32;
        vertices.push(mesh.vertices[v]);
    }
    let mut tets = Vec::new();
    for (q, tet) in mesh.tets().iter().enumerate().filter(|(q, _)| keep[*q]) {
        numbers[q] = tets.len() as u32;
        tets.push(tet.map(|v| vertex[v as usize]));
    }
    (Mesh::new(vertices, tets), numbers)
}

/// A tree of boxes.
struct OverlapTree {
    nodes: Vec<OverlapNode>,
    order: Vec<u32>,
}

struct OverlapNode {
    around: [V3; 2],
    /// Second child (the first follows its parent), or 0 for a leaf.
    second: u32,
    range: [u32; 2],
}

impl OverlapTree {
    const LEAF: usize = 4;

    fn new(boxes: &[[V3; 2]]) -> Self {
        let mut order: Vec<u32> = (0..boxes.len() as u32).collect();
        let mut tree = Self { nodes: Vec::new(), order: Vec::new() };
        if !order.is_empty() {
            tree.split(boxes, &mut order, 0);
        }
        tree.order = order;
        tree
    }

    fn split(&mut self, boxes: &[[V3; 2]], order: &mut [u32], first: usize) {
        let around = bounds(order.iter().flat_map(|&n| boxes[n as usize])).unwrap_or_default();
        let node = self.nodes.len();
        self.nodes.push(OverlapNode {
            around,
            second: 0,
            range: [first as u32, (first + order.len()) as u32],
        });
        if order.len() <= Self::LEAF {
            return;
        }
        let size = sub(around[1], around[0]);
        let axis = (0..3).fold(0, |best, k| if size[k] > size[best] { k } else { best });
        let middle = |n: u32| lerp(boxes[n as usize][0], boxes[n as usize][1], 0.5)[axis];
        let half = order.len() / 2;
        order.select_nth_unstable_by(half, |&a, &b| middle(a).total_cmp(&middle(b)).then(a.cmp(&b)));
        let (left, right) = order.split_at_mut(half);
        self.split(boxes, left, first);
        self.nodes[node].second = self.nodes.len() as u32;
        self.split(boxes, right, first + half);
    }

    /// Boxes that may meet this one, ascending.
    fn meets(&self, wanted: &[V3; 2]) -> Vec<u32> {
        let mut found = Vec::new();
        let mut stack = if self.nodes.is_empty() { Vec::new() } else { vec![0] };
        while let Some(n) = stack.pop() {
            let node = &self.nodes[n];
            let apart = |k: usize| node.around[0][k] > wanted[1][k] || wanted[0][k] > node.around[1][k];
            if (0..3).any(apart) {
                continue;
            }
            match node.second {
                0 => found.extend(&self.order[node.range[0] as usize..node.range[1] as usize]),
                second => stack.extend([n + 1, second as usize]),
            }
        }
        found.sort_unstable();
        found
    }
}
