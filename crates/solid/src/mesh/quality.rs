//! Element quality.
//!
//! For a tet of volume V with faces of area Aᵢ: heights hᵢ = 3V/Aᵢ, inradius r = 3V/ΣAᵢ, and the
//! dihedral angle at the edge between faces i and j is π − ∠(nᵢ, nⱼ). The smallest height bounds
//! the stable step of explicit methods; small and large dihedral angles bound the conditioning of
//! the stiffness and the error of gradients \[shewchuk2002\].

use super::topology::{EDGES, FACES};
use super::{Mesh, Topology};
use crate::math::vector::{V3, area_vector, distance, dot, norm, volume};

/// How many of the worst elements [`Quality`] lists.
const WORST: usize = 10;

/// Shape of one tet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElementQuality {
    /// Number of the tet, from 0.
    pub tet: usize,
    /// Signed volume, m³.
    pub volume: f64,
    /// Smallest dihedral angle, degrees (70.53 in a regular tet).
    pub min_dihedral: f64,
    /// Largest dihedral angle, degrees.
    pub max_dihedral: f64,
    /// Smallest height, m.
    pub height: f64,
    /// Radius of the inscribed sphere, m.
    pub inradius: f64,
    /// Shortest edge, m.
    pub shortest_edge: f64,
    /// Longest edge, m.
    pub longest_edge: f64,
}

/// Shape of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// Number of vertices.
    pub vertices: usize,
    /// Number of tets.
    pub tets: usize,
    /// Total volume, m³.
    pub volume: f64,
    /// Largest volume of an element over the smallest; infinite with a flat element.
    pub volume_ratio: f64,
    /// Smallest dihedral angle, degrees.
    pub min_dihedral: f64,
    /// Largest dihedral angle, degrees.
    pub max_dihedral: f64,
    /// Shortest edge, m.
    pub shortest_edge: f64,
    /// Longest edge, m.
    pub longest_edge: f64,
    /// Mean edge length over the elements, m.
    pub mean_edge: f64,
    /// Smallest height of any element, m.
    pub smallest_height: f64,
    /// Smallest inradius of any element, m.
    pub smallest_inradius: f64,
    /// Up to ten elements by smallest dihedral angle, worst first.
    pub worst: Vec<ElementQuality>,
    /// Tets with negative volume.
    pub flipped: Vec<usize>,
    /// Tets with no volume to speak of: |V| ≤ 1e-12 of their longest edge cubed.
    pub degenerate: Vec<usize>,
    /// Vertices that no tet uses.
    pub unused_vertices: Vec<u32>,
    /// Smallest and largest coordinates, m.
    pub bounds: [[f64; 3]; 2],
    /// Pieces that hang together by faces.
    pub components: usize,
}

/// Below this fraction of the longest edge cubed, round-off decides the sign of V.
const FLAT: f64 = 1e-12;

/// Smallest and largest dihedral angle, radians; 0 and π for a flat tet.
pub(crate) fn dihedral_range(corners: [V3; 4]) -> [f64; 2] {
    let normals = FACES.map(|f| area_vector(f.map(|k| corners[k])));
    let lengths = normals.map(norm);
    let (mut smallest_cos, mut largest_cos) = (1.0_f64, -1.0_f64);
    for i in 0..4 {
        for j in 0..i {
            let scale = lengths[i] * lengths[j];
            if scale <= 0.0 || scale.is_nan() {
                return [0.0, std::f64::consts::PI];
            }
            let c = -dot(normals[i], normals[j]) / scale;
            smallest_cos = smallest_cos.min(c);
            largest_cos = largest_cos.max(c);
        }
    }
    [largest_cos.min(1.0).acos(), smallest_cos.max(-1.0).acos()]
}

fn element(tet: usize, corners: [V3; 4]) -> ElementQuality {
    let volume = volume(corners);
    let areas = FACES.map(|f| 0.5 * norm(area_vector(f.map(|k| corners[k]))));
    let largest = areas.iter().copied().fold(0.0, f64::max);
    let total: f64 = areas.iter().sum();
    let per = |area: f64| {
        if area > 0.0 { 3.0 * volume.abs() / area } else { 0.0 }
    };
    let edges = EDGES.map(|[i, j]| distance(corners[i], corners[j]));
    let [min, max] = dihedral_range(corners);
    ElementQuality {
        tet,
        volume,
        min_dihedral: min.to_degrees(),
        max_dihedral: max.to_degrees(),
        height: per(largest),
        inradius: per(total),
        shortest_edge: edges.iter().copied().fold(f64::INFINITY, f64::min),
        longest_edge: edges.iter().copied().fold(0.0, f64::max),
    }
}

impl Mesh {
    /// Shape of one tet.
    pub fn element_quality(&self, tet: usize) -> ElementQuality {
        element(tet, self.corners(tet))
    }

    /// Shape of the whole mesh. Without tets, lengths and angles are 0.
    pub fn quality(&self) -> Quality {
        let all: Vec<ElementQuality> = (0..self.tets().len()).map(|t| self.element_quality(t)).collect();
        let min = |f: fn(&ElementQuality) -> f64| {
            let m = all.iter().map(f).fold(f64::INFINITY, f64::min);
            if all.is_empty() { 0.0 } else { m }
        };
        let max = |f: fn(&ElementQuality) -> f64| all.iter().map(f).fold(0.0, f64::max);
        let smallest_volume = min(|e| e.volume.abs());
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|&a, &b| all[a].min_dihedral.total_cmp(&all[b].min_dihedral).then(a.cmp(&b)));
        let edge_sum: f64 = (0..all.len())
            .map(|t| {
                let x = self.corners(t);
                EDGES.iter().map(|&[i, j]| distance(x[i], x[j])).sum::<f64>()
            })
            .sum();
        let Topology { components, unused_vertices, .. } = self.topology();
        Quality {
            vertices: self.vertices.len(),
            tets: all.len(),
            volume: all.iter().map(|e| e.volume).sum(),
            volume_ratio: if all.is_empty() { 1.0 } else { max(|e| e.volume.abs()) / smallest_volume },
            min_dihedral: min(|e| e.min_dihedral),
            max_dihedral: max(|e| e.max_dihedral),
            shortest_edge: min(|e| e.shortest_edge),
            longest_edge: max(|e| e.longest_edge),
            mean_edge: if all.is_empty() { 0.0 } else { edge_sum / (6 * all.len()) as f64 },
            smallest_height: min(|e| e.height),
            smallest_inradius: min(|e| e.inradius),
            worst: order.iter().take(WORST).map(|&t| all[t]).collect(),
            flipped: all.iter().filter(|e| e.volume < 0.0).map(|e| e.tet).collect(),
            degenerate: all
                .iter()
                .filter(|e| e.volume.is_nan() || e.volume.abs() <= FLAT * e.longest_edge.powi(3))
                .map(|e| e.tet)
                .collect(),
            unused_vertices,
            bounds: self.bounds().unwrap_or_default(),
            components,
        }
    }
}
