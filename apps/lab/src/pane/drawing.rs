//! Which vertices of a scene are drawn, and what connects them.

use lilyan_scene::build::{Built, BuiltBody};
use lilyan_solid::mesh::CellKind;
use lilyan_solid::output;
use lilyan_study::run::DrawnGeometry;
use std::collections::BTreeSet;

/// The part of all bodies that is drawn.
pub struct DrawnMesh {
    /// Global node of each drawn vertex, ascending.
    pub nodes: Vec<u32>,
    /// Corners of triangles, as indices into `nodes`.
    pub triangles: Vec<u32>,
    /// Ends of lines, as indices into `nodes`.
    pub lines: Vec<u32>,
    /// Vertices without triangles and lines, as indices into `nodes`.
    pub points: Vec<u32>,
    /// Pinned vertices, as indices into `nodes`.
    pub pinned: Vec<u32>,
    /// The drawn vertices of each body.
    pub bodies: Vec<DrawnBody>,
    /// Whether vertices inside of solids are among `nodes`.
    pub inside: bool,
    /// With vertices inside: corners of tets, as indices into `nodes`.
    pub tets: Vec<u32>,
}

/// The drawn vertices of one body.
pub struct DrawnBody {
    /// Name of the body.
    pub name: String,
    /// Index of its first drawn vertex.
    pub first: usize,
    /// Number of its drawn vertices.
    pub count: usize,
}

impl DrawnMesh {
    /// What is drawn of a scene; `inside`: with the vertices inside of solids.
    pub fn of(built: &Built, inside: bool) -> Self {
        let drawn = DrawnGeometry::of(built);
        let mut used = vec![inside; built.simulation.system().node_masses().len()];
        let mut mark = |node: u32| {
            if let Some(used) = used.get_mut(node as usize) {
                *used = true;
            }
        };
        drawn.triangles.iter().flatten().for_each(|n| mark(*n));
        drawn.lines.iter().flatten().for_each(|n| mark(*n));
        // A body that has only points is drawn as points.
        let only_points = |body: &&BuiltBody| body.mesh().dimension() < 2;
        let points = built.bodies.iter().filter(only_points).flat_map(|b| b.dofs.range());
        let in_line: BTreeSet<u32> = drawn.lines.iter().flatten().copied().collect();
        let points: Vec<u32> = points.map(|n| n as u32).filter(|n| !in_line.contains(n)).collect();
        for node in &points {
            if let Some(used) = used.get_mut(*node as usize) {
                *used = true;
            }
        }
        let cells = if inside { output::cells(built.simulation.system().bodies()) } else { Vec::new() };
        let tets: Vec<u32> = cells
            .into_iter()
            .filter(|block| block.kind == CellKind::Tet)
            .flat_map(|block| block.nodes)
            .collect();
        let nodes: Vec<u32> = (0u32..).zip(&used).filter(|(_, used)| **used).map(|(n, _)| n).collect();
        let index = |node: &u32| nodes.binary_search(node).ok().map(|i| i as u32);
        let bodies = built.bodies.iter().map(|body| {
            let at = |node: usize| nodes.partition_point(|n| (*n as usize) < node);
            let nodes = body.dofs.range();
            let (first, end) = (at(nodes.start), at(nodes.end));
            DrawnBody { name: body.name.clone(), first, count: end - first }
        });
        Self {
            triangles: drawn.triangles.iter().flatten().filter_map(index).collect(),
            lines: drawn.lines.iter().flatten().filter_map(index).collect(),
            points: points.iter().filter_map(index).collect(),
            pinned: drawn.pinned.iter().filter_map(index).collect(),
            bodies: bodies.collect(),
            tets: tets.iter().filter_map(index).collect(),
            inside,
            nodes,
        }
    }
}
