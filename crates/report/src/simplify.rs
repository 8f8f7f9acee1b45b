//! Simplification of large surfaces by vertex clustering: the vertices of a grid cell are merged into one.

use std::collections::BTreeMap;

/// A surface with fewer vertices than the full one that it represents.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Simplified {
    /// For every vertex kept, its number in the full surface.
    pub source: Vec<u32>,
    /// For every vertex of the full surface, the kept one that represents it (`u32::MAX`: unused).
    pub stands_for: Vec<u32>,
    /// Triangles between kept vertices.
    pub triangles: Vec<[u32; 3]>,
    /// Line segments between kept vertices.
    pub lines: Vec<[u32; 2]>,
}

/// Keeps at most `limit` of the vertices used by the triangles and lines.
///
/// Vertices of different connected components are never merged, so that bodies in contact stay separate. A component keeps at
/// least one vertex, even beyond the limit. Each cell keeps the vertex at which the surface turns most, so that edges and corners
/// stay in place. If several turn equally, the one nearest to their mean is kept. A kept vertex is a vertex of the full surface
/// and has its motion.
pub(super) fn simplify(
    positions: &[f64],
    triangles: &[[u32; 3]],
    lines: &[[u32; 2]],
    limit: usize,
) -> Simplified {
    let n = positions.len() / 3;
    let ok = |v: &u32| (*v as usize) < n;
    let mut used = vec![false; n];
    let corners = triangles.as_flattened().iter().chain(lines.as_flattened());
    corners.filter(|v| ok(v)).for_each(|&v| used[v as usize] = true);
    let vertices: Vec<u32> = (0..n as u32).filter(|&v| used[v as usize]).collect();

    let mut label: Vec<u32> = (0..n as u32).collect();
    if vertices.len() > limit {
        let edges = triangles.iter().flat_map(|t| [[t[0], t[1]], [t[1], t[2]]]);
        for [a, b] in edges.chain(lines.iter().copied()).filter(|e| e.iter().all(ok)) {
            let (a, b) = (root(&mut label, a), root(&mut label, b));
            label[a.max(b) as usize] = a.min(b);
        }
        for v in 0..n as u32 {
            label[v as usize] = root(&mut label, v);
        }
    }

    let mut size =
        if vertices.len() > limit { first_size(positions, triangles, &vertices, limit) } else { 0.0 };
    let mut cells = cluster(positions, &vertices, &label, size);
    for _ in 0..60 {
        if cells.len() <= limit {
            break;
        }
        size *= 1.2;
        cells = cluster(positions, &vertices, &label, size);
    }

    let mut result = Simplified { stands_for: vec![u32::MAX; n], ..Default::default() };
    let sharpness = if size > 0.0 { sharpness(positions, triangles) } else { vec![0.0; n] };
    for mut members in cells {
        let kept = result.source.len() as u32;
        members.iter().for_each(|&v| result.stands_for[v as usize] = kept);
        let sharpest = members.iter().map(|&v| sharpness[v as usize]).fold(0.0, f64::max);
        members.retain(|&v| sharpness[v as usize] > sharpest - 0.05);
        result.source.push(nearest_to_mean(positions, &members));
    }
    let mut seen = std::collections::BTreeSet::new();
    for t in triangles.iter().filter(|t| t.iter().all(ok)) {
        let t = t.map(|v| result.stands_for[v as usize]);
        let mut sorted = t;
        sorted.sort_unstable();
        if sorted[0] != sorted[1] && sorted[1] != sorted[2] && (size == 0.0 || seen.insert(sorted)) {
            result.triangles.push(t);
        }
    }
    for l in lines.iter().filter(|l| l.iter().all(ok)) {
        let l = l.map(|v| result.stands_for[v as usize]);
        if l[0] != l[1] {
            result.lines.push(l);
        }
    }
    result
}

/// How much the surface turns at every vertex: 1 − |Σ area normal| / Σ area of the triangles around it, 0 where it is flat.
fn sharpness(positions: &[f64], triangles: &[[u32; 3]]) -> Vec<f64> {
    let n = positions.len() / 3;
    let mut sums = vec![([0.0; 3], 0.0); n];
    for t in triangles.iter().filter(|t| t.iter().all(|&v| (v as usize) < n)) {
        let normal = normal(positions, t);
        let area = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
        for &v in t {
            let (sum, areas) = &mut sums[v as usize];
            (0..3).for_each(|k| sum[k] += normal[k]);
            *areas += area;
        }
    }
    let of = |(sum, area): &([f64; 3], f64)| {
        let flat = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
        if *area > 0.0 { 1.0 - flat / area } else { 0.0 }
    };
    sums.iter().map(of).collect()
}

/// Normal of a triangle, as long as twice its area.
fn normal(positions: &[f64], t: &[u32; 3]) -> [f64; 3] {
    let [a, b, c] = t.map(|v| &positions[3 * v as usize..][..3]);
    let u = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
    let w = [c[0] - a[0], c[1] - a[1], c[2] - a[2]];
    [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]]
}

fn root(label: &mut [u32], mut v: u32) -> u32 {
    while label[v as usize] != v {
        label[v as usize] = label[label[v as usize] as usize];
        v = label[v as usize];
    }
    v
}

/// A first cell size, which is slightly too small. It divides the area of the surface evenly among the wanted vertices.
fn first_size(positions: &[f64], triangles: &[[u32; 3]], vertices: &[u32], limit: usize) -> f64 {
    let at = |v: u32| &positions[3 * v as usize..][..3];
    let mut area = 0.0;
    for t in triangles.iter().filter(|t| t.iter().all(|&v| (v as usize) < positions.len() / 3)) {
        area += 0.5 * normal(positions, t).iter().map(|x| x * x).sum::<f64>().sqrt();
    }
    let mut longest: f64 = 0.0;
    for k in 0..3 {
        let along = || vertices.iter().map(|&v| at(v)[k]);
        longest = longest.max(along().fold(f64::MIN, f64::max) - along().fold(f64::MAX, f64::min));
    }
    let size = 0.7 * (area / limit.max(1) as f64).sqrt();
    // The length is used instead for ropes, which have no area.
    let size = size.max(0.7 * longest / limit.max(1) as f64);
    if size.is_finite() && size > 0.0 { size } else { 1.0 }
}

/// Vertices by component and grid cell, in a fixed order. If `size` is zero, each vertex has a cell of its own.
fn cluster(positions: &[f64], vertices: &[u32], label: &[u32], size: f64) -> Vec<Vec<u32>> {
    if size == 0.0 {
        return vertices.iter().map(|&v| vec![v]).collect();
    }
    let mut cells: BTreeMap<(u32, [i64; 3]), Vec<u32>> = BTreeMap::new();
    for &v in vertices {
        let p = &positions[3 * v as usize..][..3];
        let cell = [0, 1, 2].map(|k| (p[k] / size).floor() as i64);
        cells.entry((label[v as usize], cell)).or_default().push(v);
    }
    cells.into_values().collect()
}

fn nearest_to_mean(positions: &[f64], members: &[u32]) -> u32 {
    let at = |v: u32| &positions[3 * v as usize..][..3];
    let mean = [0, 1, 2].map(|k| members.iter().map(|&v| at(v)[k]).sum::<f64>() / members.len() as f64);
    let distance = |v: u32| (0..3).map(|k| (at(v)[k] - mean[k]).powi(2)).sum::<f64>();
    let nearest = members.iter().copied().min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    nearest.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lilyan_solid::meshing::box_mesh;

    /// The eight corners of a box are kept for any position of the grid.
    #[test]
    fn corners_stay() {
        let size = [4.0, 1.0, 1.0];
        let mesh = box_mesh(size, [48, 12, 12]).unwrap();
        let triangles = mesh.surface().triangles.clone();
        for offset in [0.0, 0.013, -0.4] {
            let positions: Vec<f64> = mesh.vertices.iter().flatten().map(|x| x + offset).collect();
            let coarse = simplify(&positions, &triangles, &[], 600);
            assert!(coarse.source.len() <= 600 && coarse.triangles.len() > 400);
            for corner in 0..8 {
                let at = [0, 1, 2].map(|k| if corner >> k & 1 == 1 { size[k] } else { 0.0 });
                let kept = coarse.source.iter().any(|&v| mesh.vertices[v as usize] == at);
                assert!(kept, "corner {at:?} is gone with an offset of {offset}");
            }
        }
    }
}
