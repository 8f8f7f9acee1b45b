//! Makes a tet mesh a manifold by taking away tets that hang on a vertex or an edge only.
//!
//! Where a shape is thinner than the lattice, stuffing can leave parts that touch in a point or
//! along an edge: such joints transmit no moment and confuse contact. Of the fans of tets around
//! such a joint all but the one with the most volume go. Tets only ever disappear, so it ends.

use crate::math::vector::volume;
use crate::mesh::{Mesh, NO_TET};
use std::collections::BTreeMap;

/// Takes away what hangs on vertices and edges; returns how many tets went.
pub(crate) fn make_manifold(mesh: &mut Mesh) -> usize {
    let before = mesh.tets().len();
    loop {
        let doomed = bad_fans(mesh);
        if doomed.is_empty() {
            return before - mesh.tets().len();
        }
        let mut keep = vec![true; mesh.tets().len()];
        for t in doomed {
            keep[t] = false;
        }
        retain(mesh, &keep);
    }
}

/// Drops pieces of less than `share` of the total volume; returns how many and their volume.
pub(crate) fn drop_crumbs(mesh: &mut Mesh, share: f64) -> (usize, f64) {
    let (piece, count) = mesh.components();
    let mut volumes = vec![0.0; count];
    for t in 0..mesh.tets().len() {
        volumes[piece[t] as usize] += volume(mesh.corners(t));
    }
    let limit = share * volumes.iter().sum::<f64>();
    let keep: Vec<bool> = piece.iter().map(|&p| volumes[p as usize] >= limit).collect();
    retain(mesh, &keep);
    let crumbs = volumes.iter().filter(|&&v| v < limit);
    (crumbs.clone().count(), crumbs.sum())
}

/// Keeps the tets marked, and the vertices that they use, in their order.
fn retain(mesh: &mut Mesh, keep: &[bool]) {
    let kept = mesh.tets().iter().zip(keep).filter(|(_, keep)| **keep);
    let tets: Vec<[u32; 4]> = kept.map(|(tet, _)| *tet).collect();
    mesh.set_cells(vec![tets.into()]);
    mesh.tags.truncate(mesh.tets().len());
    let mut number = vec![u32::MAX; mesh.vertices.len()];
    for &v in mesh.tets().as_flattened() {
        number[v as usize] = 0;
    }
    let mut vertices = Vec::new();
    for (v, n) in number.iter_mut().enumerate().filter(|(_, n)| **n == 0) {
        *n = vertices.len() as u32;
        vertices.push(mesh.vertices[v]);
    }
    mesh.vertices = vertices;
    for tet in mesh.tets_mut() {
        *tet = tet.map(|v| number[v as usize]);
    }
}

fn bad_fans(mesh: &Mesh) -> Vec<usize> {
    let neighbours = mesh.neighbours();
    let (offsets, around) = mesh.vertex_tets();
    let tets_at = |v: u32| &around[offsets[v as usize]..offsets[v as usize + 1]];
    let mut doomed = Vec::new();
    for [a, b] in mesh.topology().pinched_edges {
        let ring: Vec<u32> =
            tets_at(a).iter().copied().filter(|&t| mesh.tets()[t as usize].contains(&b)).collect();
        doomed.extend(all_but_largest(mesh, &neighbours, &ring, &[a, b]));
    }
    if !doomed.is_empty() {
        return doomed;
    }
    let surface = mesh.surface();
    for &v in &surface.vertices {
        doomed.extend(all_but_largest(mesh, &neighbours, tets_at(v), &[v]));
    }
    if !doomed.is_empty() {
        return doomed;
    }
    // What is left are cavities that meet in a vertex: two rings of boundary triangles around it.
    let mut next: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut faces_at: BTreeMap<u32, (usize, u32)> = BTreeMap::new();
    for t in &surface.triangles {
        for k in 0..3 {
            next.insert((t[k], t[(k + 1) % 3]), t[(k + 2) % 3]);
            let entry = faces_at.entry(t[k]).or_insert((0, t[(k + 1) % 3]));
            entry.0 += 1;
        }
    }
    for (&v, &(faces, start)) in &faces_at {
        let (mut at, mut steps) = (start, 0);
        while let Some(&n) = next.get(&(v, at)) {
            steps += 1;
            at = n;
            if at == start || steps > faces {
                break;
            }
        }
        if steps < faces {
            doomed.extend(tets_at(v).iter().map(|&t| t as usize));
        }
    }
    doomed
}

/// Of `tets`, which all contain the vertices `joint`: groups joined by faces that contain `joint`,
/// and of them all but the one with the most volume.
fn all_but_largest(mesh: &Mesh, neighbours: &[[u32; 4]], tets: &[u32], joint: &[u32]) -> Vec<usize> {
    let mut group = vec![usize::MAX; tets.len()];
    let mut volumes: Vec<f64> = Vec::new();
    let mut stack = Vec::new();
    for seed in 0..tets.len() {
        if group[seed] != usize::MAX {
            continue;
        }
        let g = volumes.len();
        volumes.push(0.0);
        group[seed] = g;
        stack.push(seed);
        while let Some(i) = stack.pop() {
            let t = tets[i] as usize;
            volumes[g] += volume(mesh.corners(t));
            for f in 0..4 {
                let n = neighbours[t][f];
                if n == NO_TET || joint.contains(&mesh.tets()[t][f]) {
                    continue;
                }
                if let Ok(j) = tets.binary_search(&n)
                    && group[j] == usize::MAX
                {
                    group[j] = g;
                    stack.push(j);
                }
            }
        }
    }
    let best = (0..volumes.len()).fold(0, |b, g| if volumes[g] > volumes[b] { g } else { b });
    (0..tets.len()).filter(|&i| group[i] != best).map(|i| tets[i] as usize).collect()
}
