//! A triangle surface as it comes, made fit for the winding number.

use super::solid::is_flat;
use crate::math::vector::{bounds, lerp, volume};
use crate::mesh::TriMesh;
use std::collections::BTreeMap;

/// A surface whose equal vertices are one and whose triangles agree on what is outside.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub surface: TriMesh,
    /// Edges of one triangle.
    pub open_edges: usize,
    /// Parts that hang together by edges.
    pub parts: usize,
    pub notes: Vec<String>,
}

pub(crate) fn plural(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// `surface` must be checked.
pub(crate) fn prepare(surface: &TriMesh) -> Prepared {
    let mut notes = Vec::new();
    let mut surface = weld(surface);
    let before = surface.triangles.len();
    let vertices = &surface.vertices;
    let mut seen = std::collections::BTreeSet::new();
    surface.triangles.retain(|t| {
        let mut sorted = *t;
        sorted.sort_unstable();
        !is_flat(t.map(|v| vertices[v as usize])) && seen.insert(sorted)
    });
    if surface.triangles.len() < before {
        let n = before - surface.triangles.len();
        notes.push(format!("{} without area or repeated, left out", plural(n, "triangle")));
    }

    // (triangle, whether it runs along the edge from the lower to the higher vertex)
    let mut edges: BTreeMap<[u32; 2], Vec<(usize, bool)>> = BTreeMap::new();
    for (n, t) in surface.triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            edges.entry([a.min(b), a.max(b)]).or_default().push((n, a < b));
        }
    }
    let open_edges = edges.values().filter(|t| t.len() == 1).count();
    let crowded_edges = edges.values().filter(|t| t.len() > 2).count();

    // Parts, and for each triangle whether it has to turn to agree with the first of its part.
    let mut links: Vec<Vec<(usize, bool)>> = vec![Vec::new(); surface.triangles.len()];
    for ts in edges.values() {
        if let &[(s, up), (t, down)] = &ts[..] {
            links[s].push((t, up == down));
            links[t].push((s, up == down));
        }
    }
    let mut part = vec![usize::MAX; links.len()];
    let mut turn = vec![false; links.len()];
    let mut parts = 0;
    let mut stack = Vec::new();
    for seed in 0..links.len() {
        if part[seed] != usize::MAX {
            continue;
        }
        part[seed] = parts;
        stack.push(seed);
        while let Some(s) = stack.pop() {
            for &(t, differs) in &links[s] {
                if part[t] == usize::MAX {
                    part[t] = parts;
                    turn[t] = turn[s] ^ differs;
                    stack.push(t);
                }
            }
        }
        parts += 1;
    }
    let turned = turn.iter().filter(|&&t| t).count();
    if turned > 0 {
        // Directions cannot be trusted: make each part agree with itself and face outward.
        for (t, _) in turn.iter().enumerate().filter(|(_, turn)| **turn) {
            surface.triangles[t].swap(1, 2);
        }
        let [lo, hi] = bounds(surface.vertices.iter().copied()).unwrap_or_default();
        let o = lerp(lo, hi, 0.5);
        let mut volumes = vec![0.0; parts];
        for (t, &p) in part.iter().enumerate() {
            let [a, b, c] = surface.corners(t);
            volumes[p] += volume([o, a, b, c]);
        }
        for (t, &p) in part.iter().enumerate() {
            if volumes[p] < 0.0 {
                surface.triangles[t].swap(1, 2);
            }
        }
        notes.push("triangles did not agree on what is outside: turned".to_string());
    } else if surface.signed_volume() < 0.0 {
        for t in &mut surface.triangles {
            t.swap(1, 2);
        }
        notes.push("the surface was inside out: turned".to_string());
    }
    if open_edges > 0 {
        notes.push(format!(
            "the surface is not closed ({}): holes are closed where the winding number is ½",
            plural(open_edges, "open edge")
        ));
    }
    if crowded_edges > 0 {
        notes.push(format!("{} with more than two triangles", plural(crowded_edges, "edge")));
    }
    if parts > 1 {
        notes.push(format!("the surface has {parts} parts; what any of them encloses is inside"));
    }
    Prepared { surface, open_edges, parts, notes }
}

/// Makes vertices at equal places one, keeping the first number's order, and drops unused ones.
fn weld(surface: &TriMesh) -> TriMesh {
    let mut numbers: BTreeMap<[u64; 3], u32> = BTreeMap::new();
    let mut vertices = Vec::new();
    let mut number = |v: u32| {
        let p = surface.vertices[v as usize];
        // + 0.0 makes −0 and 0 the same place.
        *numbers.entry(p.map(|x| (x + 0.0).to_bits())).or_insert_with(|| {
            vertices.push(p);
            (vertices.len() - 1) as u32
        })
    };
    let triangles = surface.triangles.iter().map(|t| t.map(&mut number)).collect();
    TriMesh { vertices, triangles }
}
