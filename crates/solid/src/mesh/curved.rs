//! Tets with curved edges at rest: nodes that lie on a curved surface, and whether the tets around them are inverted.

use super::Mesh;
use crate::math::vector::{V3, add, cross, dot, scale, sub};

/// Edges by their corners, in the order in which `corner_jacobian` takes their nodes.
const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// The least coefficient of det J, as a part of the largest, of a tet that can be used.
const LEAST: f64 = 1e-3;

impl Mesh {
    /// Puts the node of each edge of the surface where `onto` says, given the ends and the middle of the edge; `None` leaves it.
    pub fn curve_surface(&mut self, onto: impl Fn([V3; 2], V3) -> Option<V3>) {
        let mut edges: Vec<[u32; 2]> = Vec::new();
        for t in &self.surface().triangles {
            edges.extend([[0, 1], [1, 2], [2, 0]].map(|[i, j]| [t[i].min(t[j]), t[i].max(t[j])]));
        }
        edges.sort_unstable();
        edges.dedup();
        for edge in edges {
            let ends = edge.map(|v| self.vertices[v as usize]);
            if let Some(place) = onto(ends, scale(add(ends[0], ends[1]), 0.5)) {
                self.edge_points.insert(edge, place);
            }
        }
    }

    /// Moves the nodes on the edges of tets that are inverted somewhere to the middle of these edges. Returns how many.
    pub fn straighten_inverted(&mut self) -> usize {
        let before = self.edge_points.len();
        if before == 0 {
            return 0;
        }
        loop {
            let inverted: Vec<[u32; 4]> =
                self.tets().iter().filter(|tet| self.is_inverted(tet)).copied().collect();
            let count = self.edge_points.len();
            for tet in inverted {
                for edge in edges_of(&tet) {
                    self.edge_points.remove(&edge);
                }
            }
            // A straight tet that is inverted is not for us to mend.
            if self.edge_points.len() == count {
                return before - count;
            }
        }
    }

    /// Whether det J may vanish in a tet. det J is a cubic polynomial, which lies between its Bernstein coefficients.
    fn is_inverted(&self, tet: &[u32; 4]) -> bool {
        let edges = edges_of(tet);
        if !edges.iter().any(|edge| self.edge_points.contains_key(edge)) {
            return false;
        }
        let corners = tet.map(|v| self.vertices[v as usize]);
        let middles: [V3; 6] = std::array::from_fn(|e| {
            let [a, b] = EDGES[e].map(|k| corners[k]);
            self.edge_points.get(&edges[e]).copied().unwrap_or_else(|| scale(add(a, b), 0.5))
        });
        let jacobians: [[V3; 3]; 4] = std::array::from_fn(|c| corner_jacobian(&corners, &middles, c));
        let (mut least, mut most) = (f64::INFINITY, 0f64);
        for i in 0..4 {
            for j in i..4 {
                for k in j..4 {
                    let orders = [[i, j, k], [i, k, j], [j, i, k], [j, k, i], [k, i, j], [k, j, i]];
                    let det =
                        |[a, b, c]: [usize; 3]| dot(jacobians[a][0], cross(jacobians[b][1], jacobians[c][2]));
                    let coefficient = orders.into_iter().map(det).sum::<f64>() / 6.0;
                    least = least.min(coefficient);
                    most = most.max(coefficient);
                }
            }
        }
        least <= LEAST * most
    }
}

fn edges_of(tet: &[u32; 4]) -> [[u32; 2]; 6] {
    EDGES.map(|[i, j]| [tet[i].min(tet[j]), tet[i].max(tet[j])])
}

/// ∂x/∂(λ₁, λ₂, λ₃) at corner c, where it is 3 x_c along λ_c and 4 x_ck − x_k along another λ_k.
fn corner_jacobian(corners: &[V3; 4], middles: &[V3; 6], c: usize) -> [V3; 3] {
    let along = |k: usize| {
        let edge = EDGES.iter().position(|e| e.contains(&c) && e.contains(&k) && c != k);
        edge.map_or_else(|| scale(corners[c], 3.0), |e| sub(scale(middles[e], 4.0), corners[k]))
    };
    [1, 2, 3].map(|k| sub(along(k), along(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tet(middle: V3) -> Mesh {
        let vertices = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let mut mesh = Mesh::new(vertices, vec![[0, 1, 2, 3]]);
        mesh.edge_points.insert([0, 1], middle);
        mesh
    }

    #[test]
    fn inverted_tets_become_straight() {
        // A straight edge, one that is bent outward, and one with its node so near to an end that J vanishes there.
        for (middle, moved) in
            [([0.5, 0.0, 0.0], 0), ([0.5, -0.2, 0.0], 0), ([0.2, 0.0, 0.0], 1), ([0.5, 0.9, 0.9], 1)]
        {
            let mut mesh = tet(middle);
            assert_eq!(mesh.straighten_inverted(), moved, "{middle:?}");
            assert_eq!(mesh.edge_points.len(), 1 - moved);
        }
    }
}
