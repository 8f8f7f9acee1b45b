//! Checks of a mesh. Every reader ends here, so that all formats are checked in the same way.

use super::Loaded;
use super::error::{Place, ReadError};
use super::raw_mesh::RawMesh;
use lilyan_solid::mesh::{Mesh, TriMesh};
use std::collections::BTreeMap;

/// A tet counts as flat if |6V|/L³ is at most this, where L is its longest edge. Rounding of the coordinates alone changes
/// 6V/L³ by 1e-16 times (distance from the origin)/L. Below 1e-12 the file therefore does not determine the sign of the
/// volume, which gives the orientation.
pub const FLAT: f64 = 1e-12;

/// Largest coordinate, m. The cube of a larger one could overflow.
const FARTHEST: f64 = 1e100;

/// Shortest edge, m. The cube of a shorter one could underflow.
const SHORTEST: f64 = 1e-100;

const DAMAGED: &str = "the file may be damaged: write it again";

/// Checks what a reader has collected and turns it into a mesh.
pub(super) fn finish(mut raw: RawMesh) -> Result<Loaded, ReadError> {
    if raw.tets.is_empty() && raw.triangles.is_empty() {
        return Err(ReadError::new(
            Place::File,
            format!("the mesh is empty: {} vertices, no tetrahedron and no triangle", raw.vertices.len()),
            "write linear tetrahedra, or a triangle surface",
        ));
    }
    finite(&raw)?;
    let mut is_middle = vec![false; raw.vertices.len()];
    raw.place_edge_nodes(&mut is_middle)?;
    if raw.tets.is_empty() { surface(raw) } else { volume(&mut raw)?.orient(raw, &is_middle) }
}

fn finite(raw: &RawMesh) -> Result<(), ReadError> {
    for (i, p) in raw.vertices.iter().enumerate() {
        if p.iter().any(|x| !x.is_finite() || x.abs() > FARTHEST) {
            let [x, y, z] = p;
            let what = if p.iter().all(|x| x.is_finite()) {
                format!("the position ({x}, {y}, {z}) is beyond {FARTHEST:e} m")
            } else {
                format!("the position ({x}, {y}, {z}) is not finite")
            };
            return Err(ReadError::new(Place::Vertex(raw.vertex_ids.id(i)), what, "correct it in the file"));
        }
    }
    Ok(())
}

/// Numbers of the tets whose orientation is to be reversed.
struct Turned(Vec<usize>);

fn volume(raw: &mut RawMesh) -> Result<Turned, ReadError> {
    if !raw.tags.is_empty() && raw.tags.len() != raw.tets.len() {
        return Err(ReadError::new(
            Place::File,
            format!("{} tags for {} tetrahedra", raw.tags.len(), raw.tets.len()),
            DAMAGED,
        ));
    }
    let mut turned = Vec::new();
    for (e, tet) in raw.tets.iter().enumerate() {
        let fault =
            |what: String, remedy: &str| Err(ReadError::new(Place::Tet(raw.tet_ids.id(e)), what, remedy));
        let mut p = [[0.0; 3]; 4];
        for (p, &v) in p.iter_mut().zip(tet) {
            match raw.vertices.get(v as usize) {
                Some(x) => *p = *x,
                None => return fault(out_of_range(raw, v), DAMAGED),
            }
        }
        let [a, b, c, d] = *tet;
        if a == b || a == c || a == d || b == c || b == d || c == d {
            return fault("it has the same vertex twice".into(), "remove it in the mesher");
        }
        let (ratio, longest) = flatness(&p);
        if longest < SHORTEST || ratio.abs() <= FLAT {
            return fault(
                format!(
                    "it has no volume: 6V/L³ = {ratio:.1e} with its longest edge L = {longest:.1e} m, and {FLAT:e} is the least that counts"
                ),
                "remove it or improve the mesh in the mesher",
            );
        }
        if ratio < 0.0 {
            turned.push(e);
        }
    }
    repeated(raw, &mut turned)?;
    Ok(Turned(turned))
}

fn out_of_range(raw: &RawMesh, v: u32) -> String {
    let n = raw.vertices.len();
    if n == 0 {
        return "it refers to a vertex, but the file has none".into();
    }
    let (first, last) = (raw.vertex_ids.id(0), raw.vertex_ids.id(n - 1));
    let id = u64::from(v).saturating_add(first);
    format!("it refers to vertex {id}, but the {n} vertices of the file are numbered {first} to {last}")
}

/// 6V/L³ and the longest edge L (as the largest coordinate difference, which is L within √3).
fn flatness(p: &[[f64; 3]; 4]) -> (f64, f64) {
    let [a, b, c, d] = p;
    let minus = |q: &[f64; 3], o: &[f64; 3]| [q[0] - o[0], q[1] - o[1], q[2] - o[2]];
    let (u, v, w) = (minus(b, a), minus(c, a), minus(d, a));
    let mut longest = 0.0f64;
    for e in [u, v, w, minus(c, b), minus(d, b), minus(d, c)] {
        longest = e.iter().fold(longest, |m, x| m.max(x.abs()));
    }
    if longest < SHORTEST {
        return (0.0, longest);
    }
    let s = 1.0 / longest;
    let [u, v, w] = [u, v, w].map(|e| e.map(|x| x * s));
    let det = u[0] * (v[1] * w[2] - v[2] * w[1])
        + u[1] * (v[2] * w[0] - v[0] * w[2])
        + u[2] * (v[0] * w[1] - v[1] * w[0]);
    (det, longest)
}

/// Finds tets that have the same four vertices. They count one body twice, unless the format lists a tet once per group.
fn repeated(raw: &mut RawMesh, turned: &mut Vec<usize>) -> Result<(), ReadError> {
    // Tets are first grouped by their smallest vertex, because counting is cheaper than one large sort.
    let mut start = vec![0u32; raw.vertices.len() + 1];
    let smallest = |t: &[u32; 4]| t.iter().copied().min().unwrap_or(0) as usize;
    for t in &raw.tets {
        if let Some(n) = start.get_mut(smallest(t) + 1) {
            *n += 1;
        }
    }
    let mut sum = 0;
    for n in &mut start {
        sum += *n;
        *n = sum;
    }
    let mut order = vec![0u32; raw.tets.len()];
    let mut fill = start.clone();
    for (e, t) in raw.tets.iter().enumerate() {
        if let Some(n) = fill.get_mut(smallest(t)) {
            if let Some(o) = order.get_mut(*n as usize) {
                *o = e as u32;
            }
            *n += 1;
        }
    }
    drop(fill);
    let key = |e: u32| {
        let mut t = raw.tets.get(e as usize).copied().unwrap_or_default();
        t.sort_unstable();
        t
    };
    let mut repeats: Vec<u32> = Vec::new();
    for range in start.windows(2) {
        let [from, to] = *range else { continue };
        let Some(group) = order.get_mut(from as usize..to as usize) else {
            continue;
        };
        group.sort_unstable_by_key(|&e| (key(e), e));
        for pair in group.windows(2) {
            let [a, b] = *pair else { continue };
            if key(a) != key(b) {
                continue;
            }
            if !raw.repeats_are_groups {
                let (a, b) = (raw.tet_ids.id(a as usize), raw.tet_ids.id(b as usize));
                return Err(ReadError::new(
                    Place::Tet(b),
                    format!("it has the same four vertices as tetrahedron {a}"),
                    "remove one of the two: together they would be twice as stiff and heavy",
                ));
            }
            repeats.push(b);
        }
    }
    if repeats.is_empty() {
        return Ok(());
    }
    repeats.sort_unstable();
    raw.notes.push(format!(
        "{} tetrahedra are listed once per group they belong to; each is taken once, with the first group",
        repeats.len()
    ));
    let is_repeat = |e: usize| repeats.binary_search(&(e as u32)).is_ok();
    let shift = |e: usize| e - repeats.partition_point(|&r| (r as usize) < e);
    *turned = turned.iter().filter(|&&e| !is_repeat(e)).map(|&e| shift(e)).collect();
    let mut ids = super::raw_mesh::ItemNumbers::default();
    for e in (0..raw.tets.len()).filter(|&e| !is_repeat(e)) {
        ids.push(raw.tet_ids.id(e));
    }
    raw.tet_ids = ids;
    keep(&mut raw.tets, is_repeat);
    keep(&mut raw.tags, is_repeat);
    for field in raw.cell_data.values_mut() {
        keep(field, is_repeat);
    }
    Ok(())
}

fn keep<T>(items: &mut Vec<T>, dropped: impl Fn(usize) -> bool) {
    let mut e = 0;
    items.retain(|_| {
        e += 1;
        !dropped(e - 1)
    });
}

impl Turned {
    fn orient(self, mut raw: RawMesh, is_middle: &[bool]) -> Result<Loaded, ReadError> {
        for &e in &self.0 {
            if let Some([_, _, c, d]) = raw.tets.get_mut(e) {
                std::mem::swap(c, d);
            }
        }
        // How the tets of a cell that was split are wound is nothing that the file says.
        let told: Vec<usize> = self.0.iter().copied().filter(|e| !raw.solids.made(*e)).collect();
        if !told.is_empty() {
            let first: Vec<String> = told.iter().take(5).map(|&e| raw.tet_ids.id(e).to_string()).collect();
            raw.notes.push(format!(
                "{} of {} tetrahedra were wound the other way and have been turned: {}{}",
                told.len(),
                raw.tets.len(),
                first.join(", "),
                if told.len() > 5 { ", …" } else { "" }
            ));
        }
        let moved = drop_unused(&mut raw, is_middle, |raw, used| {
            for &v in raw.tets.iter().flatten() {
                if let Some(u) = used.get_mut(v as usize) {
                    *u = 0;
                }
            }
        });
        if let Some(moved) = &moved {
            renumber(raw.tets.iter_mut().flatten(), moved);
            let places = std::mem::take(&mut raw.edge_points).into_iter();
            let number = |v: u32| moved.get(v as usize).copied().unwrap_or(UNUSED);
            raw.edge_points = places.map(|([a, b], x)| ([number(a), number(b)], x)).collect();
        }
        let mut vertex_sets = BTreeMap::new();
        for (name, mut set) in std::mem::take(&mut raw.vertex_sets) {
            if let Some(moved) = &moved {
                set = set
                    .iter()
                    .filter_map(|&v| moved.get(v as usize).copied().filter(|&m| m != UNUSED))
                    .collect();
            }
            set.retain(|&v| (v as usize) < raw.vertices.len());
            set.sort_unstable();
            set.dedup();
            set.shrink_to_fit();
            if set.is_empty() {
                raw.notes
                    .push(format!("the vertex set `{name}` has no vertex on a tetrahedron and is left out"));
            } else {
                vertex_sets.insert(name, set);
            }
        }
        if raw.tags.is_empty() {
            raw.tags = vec![0; raw.tets.len()];
        }
        for tags in raw.region_names.values_mut() {
            tags.sort_unstable();
            tags.dedup();
        }
        let mut mesh = Mesh::new(raw.vertices, raw.tets);
        mesh.tags = raw.tags;
        mesh.region_names = raw.region_names;
        mesh.cell_data = raw.cell_data;
        mesh.point_data = raw.point_data;
        mesh.vertex_sets = vertex_sets;
        mesh.edge_points = raw.edge_points;
        Ok(Loaded::Tets(mesh, raw.notes))
    }
}

const UNUSED: u32 = u32::MAX;

/// Drops the vertices that `mark` leaves unmarked; those at the middle of an edge are told of elsewhere. Returns the new number of each vertex, if any was dropped.
fn drop_unused(
    raw: &mut RawMesh,
    is_middle: &[bool],
    mark: impl Fn(&RawMesh, &mut Vec<u32>),
) -> Option<Vec<u32>> {
    let mut moved = vec![UNUSED; raw.vertices.len()];
    mark(raw, &mut moved);
    let mut next = 0;
    for m in &mut moved {
        if *m != UNUSED {
            *m = next;
            next += 1;
        }
    }
    let dropped = raw.vertices.len() - next as usize;
    if dropped == 0 {
        return None;
    }
    let all = raw.vertices.len();
    let middles = moved.iter().zip(is_middle).filter(|(m, middle)| **m == UNUSED && **middle).count();
    let unused = |v: usize| moved.get(v).is_none_or(|&m| m == UNUSED);
    keep(&mut raw.vertices, unused);
    raw.point_data.values_mut().for_each(|field| keep(field, unused));
    if dropped > middles {
        raw.notes
            .push(format!("{} of {all} vertices belong to no element and are left out", dropped - middles));
    }
    Some(moved)
}

fn renumber<'a>(indices: impl Iterator<Item = &'a mut u32>, moved: &[u32]) {
    for v in indices {
        if let Some(&m) = moved.get(*v as usize) {
            *v = m;
        }
    }
}

fn surface(mut raw: RawMesh) -> Result<Loaded, ReadError> {
    let mut collapsed = 0usize;
    let mut needles = 0usize;
    for (e, t) in raw.triangles.iter().enumerate() {
        let mut p = [[0.0; 3]; 3];
        for (p, &v) in p.iter_mut().zip(t) {
            match raw.vertices.get(v as usize) {
                Some(x) => *p = *x,
                None => {
                    return Err(ReadError::new(
                        Place::Triangle(e as u64 + 1),
                        out_of_range(&raw, v),
                        DAMAGED,
                    ));
                }
            }
        }
        if t[0] == t[1] || t[1] == t[2] || t[2] == t[0] {
            collapsed += 1;
        } else if no_area(&p) {
            needles += 1;
        }
    }
    if collapsed > 0 {
        raw.triangles.retain(|t| !(t[0] == t[1] || t[1] == t[2] || t[2] == t[0]));
        raw.notes.push(format!(
            "{collapsed} triangles have the same vertex twice, bound nothing and are left out"
        ));
    }
    if raw.triangles.is_empty() {
        return Err(ReadError::new(Place::File, "no triangle has three different vertices", DAMAGED));
    }
    if needles > 0 {
        raw.notes.push(format!("{needles} triangles have no area (their corners lie on a line)"));
    }
    let moved = drop_unused(&mut raw, &[], |raw, used| {
        for &v in raw.triangles.iter().flatten() {
            if let Some(u) = used.get_mut(v as usize) {
                *u = 0;
            }
        }
    });
    if let Some(moved) = &moved {
        renumber(raw.triangles.iter_mut().flatten(), moved);
    }
    Ok(Loaded::Surface(TriMesh { vertices: raw.vertices, triangles: raw.triangles }, raw.notes))
}

fn no_area(p: &[[f64; 3]; 3]) -> bool {
    let [a, b, c] = p;
    let minus = |q: &[f64; 3], o: &[f64; 3]| [q[0] - o[0], q[1] - o[1], q[2] - o[2]];
    let (u, v) = (minus(b, a), minus(c, a));
    let longest = u.iter().chain(&v).fold(0.0f64, |m, x| m.max(x.abs()));
    if longest < SHORTEST {
        return true;
    }
    let [u, v] = [u, v].map(|e| e.map(|x| x / longest));
    let n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    n.iter().all(|x| x.abs() <= FLAT)
}
