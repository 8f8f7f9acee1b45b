//! Solid cells of any kind as tets. Nodes on edges are kept, and cells that are not tets are split so that neighbours agree:
//! each face of four corners is cut along the diagonal from its smallest vertex number \[dompierre1999\].

use super::error::{Place, ReadError};
use super::raw_mesh::RawMesh;
use super::solid_cell::{QuadraticCell, SolidCell};

impl RawMesh {
    /// Adds a cell as tets; returns how many. Beyond the corners, `nodes` has none or all of those on the edges.
    pub fn push_solid(&mut self, kind: SolidCell, nodes: &[u32], id: u64) -> usize {
        let before = self.tets.len();
        self.solids.starts.push(before as u32);
        let Some(corners) = nodes.get(..kind.corners()) else { return 0 };
        if let ([a, b, c, d], SolidCell::Tet) = (corners, kind) {
            self.tets.push([*a, *b, *c, *d]);
        } else {
            // A fan of tets from the smallest vertex to the faces opposite, which are cut into triangles from their smallest.
            let Some(&first) = corners.iter().min() else { return 0 };
            for face in kind.faces() {
                let face: Vec<u32> = face.iter().filter_map(|k| corners.get(*k).copied()).collect();
                let Some(start) = (0..face.len()).min_by_key(|k| face.get(*k)) else { continue };
                if face.contains(&first) {
                    continue;
                }
                let turned: Vec<u32> = face.iter().cycle().skip(start).take(face.len()).copied().collect();
                let [a, rest @ ..] = turned.as_slice() else { continue };
                for pair in rest.windows(2) {
                    // A hexahedron with corners that coincide is a cell of another kind.
                    if let [b, c] = pair
                        && a != b
                        && b != c
                        && a != c
                    {
                        self.tets.push([first, *a, *b, *c]);
                    }
                }
            }
            let made = self.tets.len() - before;
            self.solids.made.extend(before as u32..self.tets.len() as u32);
            let count = self.solids.split.entry(kind).or_default();
            *count = [count[0] + 1, count[1] + made];
        }
        let made = self.tets.len() - before;
        (0..made).for_each(|_| self.tet_ids.push(id));
        if let Some(all) = nodes.get(..kind.corners() + kind.edges().len()) {
            self.solids.quadratic.push(QuadraticCell { kind, id, nodes: all.to_vec() });
        }
        made
    }

    /// The places of the nodes on edges, whose order is verified: each must be nearest to the middle of its own edge. Marks them in
    /// `is_middle`.
    pub fn place_edge_nodes(&mut self, is_middle: &mut [bool]) -> Result<(), ReadError> {
        for (kind, [cells, tets]) in &self.solids.split {
            self.notes.push(format!("{cells} {} were split into {tets} tetrahedra", kind.plural()));
        }
        let mut reordered = 0;
        for mut cell in std::mem::take(&mut self.solids.quadratic) {
            let points: Option<Vec<[f64; 3]>> =
                cell.nodes.iter().map(|v| self.vertices.get(*v as usize).copied()).collect();
            let Some(points) = points else {
                return Err(ReadError::new(
                    Place::Tet(cell.id),
                    "it refers to a vertex that the file does not have",
                    "the file may be damaged: write it again",
                ));
            };
            let (own, changed) = order_of(&cell, &points)?;
            reordered += usize::from(changed);
            let order = || (0..cell.kind.corners()).chain(own.iter().copied());
            let points: Vec<[f64; 3]> = order().filter_map(|k| points.get(k).copied()).collect();
            cell.nodes = order().filter_map(|k| cell.nodes.get(k).copied()).collect();
            for (node, ends) in (cell.kind.corners()..).zip(edge_ends(&cell)) {
                if let Some(mark) = cell.nodes.get(node).and_then(|v| is_middle.get_mut(*v as usize)) {
                    *mark = true;
                }
                if let (Some(place), true) = (points.get(node), ends[0] != ends[1]) {
                    self.edge_points.insert(ends, *place);
                }
            }
            if cell.kind != SolidCell::Tet {
                self.place_diagonals(&cell, &points);
            }
        }
        if !self.edge_points.is_empty() {
            self.notes.push(format!(
                "{} nodes on edges are kept: the elements are quadratic unless the scene says otherwise",
                self.edge_points.len()
            ));
        }
        if reordered > 0 {
            self.notes.push(format!(
                "the nodes on the edges of {reordered} elements come in an order of their own; each was given to the edge whose \
                 middle it is nearest to"
            ));
        }
        Ok(())
    }

    /// The middles of the diagonals along which a cell was split: where the shape functions of its eight or four corners and of
    /// the nodes between them put them, which is on the face whose corners they share.
    fn place_diagonals(&mut self, cell: &QuadraticCell, points: &[[f64; 3]]) {
        let corners = cell.kind.corners();
        let node = |k: usize| cell.nodes.get(k).copied().unwrap_or(u32::MAX);
        let middle = |of: &[usize], weights: [f64; 2]| -> [f64; 3] {
            let mut sum = [0.0; 3];
            let mut add = |k: usize, c: f64| {
                if let Some(x) = points.get(k) {
                    sum.iter_mut().zip(x).for_each(|(s, x)| *s += c * x);
                }
            };
            of.iter().for_each(|k| add(*k, weights[0]));
            for (e, ends) in cell.kind.edges().iter().enumerate() {
                if ends.iter().all(|k| of.contains(k)) {
                    add(corners + e, weights[1]);
                }
            }
            sum
        };
        for face in cell.kind.faces().iter().filter(|face| face.len() == 4) {
            let place = middle(face, [-0.25, 0.5]);
            if let [a, b, c, d] = **face {
                for [i, j] in [[a, c], [b, d]] {
                    let ends = [node(i).min(node(j)), node(i).max(node(j))];
                    // Of the two diagonals only one is an edge; the other is never asked for.
                    if ends.contains(&face.iter().map(|k| node(*k)).min().unwrap_or(0)) {
                        self.edge_points.insert(ends, place);
                    }
                }
            }
        }
        if cell.kind == SolidCell::Hexahedron {
            let all: Vec<usize> = (0..corners).collect();
            let place = middle(&all, [-0.25, 0.25]);
            for [i, j] in [[0, 6], [1, 7], [2, 4], [3, 5]] {
                let ends = [node(i).min(node(j)), node(i).max(node(j))];
                if Some(ends[0]) == cell.nodes.get(..corners).and_then(|c| c.iter().min().copied()) {
                    self.edge_points.insert(ends, place);
                }
            }
        }
    }
}

/// The ends of the edges of a cell, ascending.
fn edge_ends(cell: &QuadraticCell) -> impl Iterator<Item = [u32; 2]> {
    let node = |k: usize| cell.nodes.get(k).copied().unwrap_or(0);
    cell.kind.edges().iter().map(move |[i, j]| [node(*i).min(node(*j)), node(*i).max(node(*j))])
}

/// For each edge of a cell its node, as a place among the nodes, and whether that differs from the order of the file.
fn order_of(cell: &QuadraticCell, points: &[[f64; 3]]) -> Result<(Vec<usize>, bool), ReadError> {
    let (corners, edges) = (cell.kind.corners(), cell.kind.edges());
    let square = |a: &[f64; 3], b: &[f64; 3]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum() };
    let middles: Vec<[f64; 3]> = edges
        .iter()
        .map(|ends| {
            let [a, b] = ends.map(|k| points.get(k).copied().unwrap_or_default());
            std::array::from_fn(|k| 0.5 * (a.get(k).unwrap_or(&0.0) + b.get(k).unwrap_or(&0.0)))
        })
        .collect();
    let mut own = vec![usize::MAX; edges.len()];
    for (k, point) in points.iter().enumerate().skip(corners) {
        let distance = |e: usize| middles.get(e).map_or(f64::INFINITY, |m| square(m, point));
        // Its own edge, if no other is nearer: corners may coincide.
        let expected = k - corners;
        let least = (0..edges.len()).map(distance).fold(f64::INFINITY, f64::min);
        let nearest = match distance(expected) <= least {
            true => Some(expected),
            false => (0..edges.len()).find(|e| distance(*e) <= least),
        };
        match nearest.and_then(|e| own.get_mut(e)) {
            Some(place) if *place == usize::MAX => *place = k,
            _ => {
                return Err(ReadError::new(
                    Place::Tet(cell.id),
                    "two of its nodes on edges are nearest to the middle of the same edge, so that their order is not known",
                    "write the mesh again, or write linear elements",
                ));
            }
        }
    }
    let changed = own.iter().enumerate().any(|(e, k)| *k != corners + e);
    Ok((own, changed))
}
