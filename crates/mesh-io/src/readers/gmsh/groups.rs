//! Physical groups of Gmsh: those of volumes become tags, the others vertex sets.

use super::super::raw_mesh::{MOST_SETS, RawMesh, set_name};
use super::element_type::ElementType;
use std::collections::HashMap;

/// The groups of a file, and the elementary entity of each tet.
#[derive(Default)]
pub(super) struct Groups {
    names: HashMap<(u32, i64), String>,
    sets: HashMap<(u32, i64), Vec<u32>>,
    /// Elementary entity of each tet, for files without physical groups.
    entities: Vec<i32>,
    /// Physical groups of each entity (dimension, number), from `$Entities` of version 4.
    pub physicals: HashMap<(u32, i32), Vec<i64>>,
    higher_order: u64,
    lower: u64,
    several: bool,
}

impl Groups {
    /// Adds the name of a physical group.
    pub fn add_name(&mut self, dimension: u32, tag: i64, name: String) {
        self.names.insert((dimension, tag), name);
    }

    /// Adds one element, given by the positions of the nodes that are used.
    pub fn add(
        &mut self,
        raw: &mut RawMesh,
        id: u64,
        element: ElementType,
        vertices: &[u32],
        physicals: &[i64],
        entity: i32,
    ) {
        if element.dimension == 3 {
            let Some(solid) = element.solid else { return };
            let ordered: Vec<u32> = element.order.iter().filter_map(|k| vertices.get(*k).copied()).collect();
            let made = raw.push_solid(solid, if ordered.is_empty() { vertices } else { &ordered }, id);
            let tag = physicals.first().copied().unwrap_or(0).saturating_abs();
            raw.tags.extend(std::iter::repeat_n(tag, made));
            self.entities.extend(std::iter::repeat_n(entity, made));
            self.higher_order += u64::from(element.nodes > element.corners && element.order.is_empty());
            self.several |= physicals.len() > 1;
            return;
        }
        self.lower += 1;
        if element.dimension == 2 {
            raw.push_polygon(vertices);
        }
        for p in physicals.iter().filter(|&&p| p != 0) {
            let key = (element.dimension as u32, p.saturating_abs());
            if self.sets.len() < MOST_SETS || self.sets.contains_key(&key) {
                self.sets.entry(key).or_default().extend_from_slice(vertices);
            }
        }
    }

    /// Names and numbers the groups of the mesh.
    pub fn finish(self, raw: &mut RawMesh) {
        for ((dimension, tag), set) in self.sets {
            match self.names.get(&(dimension, tag)) {
                Some(name) => raw.push_to_set(name, &set),
                None => raw.push_to_set(&set_name(dimension, tag), &set),
            }
        }
        for ((dimension, tag), name) in self.names {
            if dimension == 3 {
                raw.region_names.entry(name).or_default().push(tag);
            }
        }
        let first = self.entities.first();
        if raw.tags.iter().all(|&t| t == 0) && self.entities.iter().any(|e| Some(e) != first) {
            raw.tags = self.entities.iter().map(|&e| i64::from(e)).collect();
            raw.notes
                .push("the file has no physical volumes: the numbers of its volumes are the tags".into());
        }
        if self.higher_order > 0 {
            raw.notes.push(format!(
                "{} tetrahedra are of higher order: their corners are used, the other nodes are not",
                self.higher_order
            ));
        }
        if self.several {
            raw.notes.push("some volumes are in several physical groups: the first is the tag".into());
        }
    }
}
