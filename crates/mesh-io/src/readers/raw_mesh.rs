//! What a reader has collected before anything is checked.

use super::error::{Place, ReadError};
use super::solid_cell::SolidCells;
use std::collections::{BTreeMap, HashMap};

/// The numbers a file gives to its vertices or elements, as runs of consecutive numbers.
///
/// Files number their items 1, 2, 3, … with few gaps, so the runs take almost no memory, and
/// they answer both ways: position to number and number to position.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemNumbers {
    /// (position of the first item, its number), by position.
    runs: Vec<(u32, u64)>,
    /// The same runs by number, filled by [`ItemNumbers::index`].
    by_id: Vec<(u64, u32, u32)>,
    len: u32,
}

impl ItemNumbers {
    /// `len` items numbered from `first`.
    pub fn counted(first: u64, len: usize) -> Self {
        ItemNumbers { runs: vec![(0, first)], by_id: Vec::new(), len: u32::try_from(len).unwrap_or(u32::MAX) }
    }

    pub fn push(&mut self, id: u64) {
        let next = self.runs.last().map(|&(at, first)| first.saturating_add(u64::from(self.len - at)));
        if next != Some(id) {
            self.runs.push((self.len, id));
        }
        self.len = self.len.saturating_add(1);
    }

    /// The file's number of the item at `position`; counted from 1 when the file has none.
    pub fn id(&self, position: usize) -> u64 {
        let after = self.runs.partition_point(|&(at, _)| at as usize <= position);
        match after.checked_sub(1).and_then(|i| self.runs.get(i)) {
            Some(&(at, first)) => first.saturating_add((position - at as usize) as u64),
            None => position as u64 + 1,
        }
    }

    /// Prepares [`ItemNumbers::find`]; the error is a number that occurs twice.
    pub fn index(&mut self) -> Result<(), u64> {
        let ends = self.runs.iter().skip(1).map(|r| r.0).chain([self.len]);
        self.by_id = self.runs.iter().zip(ends).map(|(&(at, first), end)| (first, at, end - at)).collect();
        self.by_id.sort_unstable();
        for pair in self.by_id.windows(2) {
            if let [a, b] = pair
                && a.0.saturating_add(u64::from(a.2)) > b.0
            {
                return Err(b.0);
            }
        }
        Ok(())
    }

    /// Position of the item numbered `id`.
    pub fn find(&self, id: u64) -> Option<u32> {
        let after = self.by_id.partition_point(|r| r.0 <= id);
        let &(first, at, len) = self.by_id.get(after.checked_sub(1)?)?;
        let step = u32::try_from(id - first).ok()?;
        (step < len).then(|| at + step)
    }

    pub fn len(&self) -> usize {
        self.len as usize
    }
}

/// Largest number of vertex sets that are kept. A file with more of them uses the references to number its vertices, and a
/// set of one vertex takes much more memory than its line in the file.
pub(super) const MOST_SETS: usize = 10_000;

/// A mesh as the file has it: numbers resolved to positions, nothing checked.
#[derive(Debug, Default)]
pub(super) struct RawMesh {
    pub vertices: Vec<[f64; 3]>,
    pub vertex_ids: ItemNumbers,
    pub tets: Vec<[u32; 4]>,
    pub tet_ids: ItemNumbers,
    /// One per tet, or empty where the file has none.
    pub tags: Vec<i64>,
    pub region_names: BTreeMap<String, Vec<i64>>,
    /// One value per tet in each field.
    pub cell_data: BTreeMap<String, Vec<f64>>,
    /// One value per vertex in each field.
    pub point_data: BTreeMap<String, Vec<f64>>,
    pub vertex_sets: BTreeMap<String, Vec<u32>>,
    pub triangles: Vec<[u32; 3]>,
    /// Cells with more nodes than their corners, and cells that were split.
    pub solids: SolidCells,
    /// Places of nodes on edges, by the ends of the edge, ascending.
    pub edge_points: BTreeMap<[u32; 2], [f64; 3]>,
    pub notes: Vec<String>,
    /// Vertex sets beyond [`MOST_SETS`], which are not kept.
    pub sets_left_out: bool,
    /// The format lists an element once per group it belongs to (Gmsh 2).
    pub repeats_are_groups: bool,
}

impl RawMesh {
    /// Splits a polygon into a fan of triangles.
    pub fn push_polygon(&mut self, corners: &[u32]) {
        if let [a, rest @ ..] = corners {
            for edge in rest.windows(2) {
                if let [b, c] = edge {
                    self.triangles.push([*a, *b, *c]);
                }
            }
        }
    }

    /// Adds a vertex to a numbered set; see [`set_name`].
    pub fn push_to_set(&mut self, name: &str, vertices: &[u32]) {
        let full = self.vertex_sets.len() >= MOST_SETS;
        match self.vertex_sets.get_mut(name) {
            Some(set) => set.extend_from_slice(vertices),
            None if full => {
                if !std::mem::replace(&mut self.sets_left_out, true) {
                    self.notes.push(format!("only the first {MOST_SETS} vertex sets are kept"));
                }
            }
            None => {
                self.vertex_sets.insert(name.to_string(), vertices.to_vec());
            }
        }
    }

    /// Tags from named, possibly overlapping element sets: tets with the same memberships share
    /// a tag, and each name lists the tags of its tets.
    pub fn tag_by_sets(&mut self, sets: &[(String, Vec<u32>)]) {
        // A label is a chain of memberships: (label before, set joined last). Chains share their
        // beginnings, so their memory is bounded by the length of the lists in the file.
        let mut label = vec![0u32; self.tets.len()];
        let mut chain: Vec<(u32, usize)> = vec![(0, usize::MAX)];
        for (s, (_, tets)) in sets.iter().enumerate() {
            let mut next: HashMap<u32, u32> = HashMap::new();
            for &t in tets {
                let Some(l) = label.get_mut(t as usize) else {
                    continue;
                };
                if chain.get(*l as usize).is_some_and(|c| c.1 == s) {
                    continue; // listed twice in the same set
                }
                *l = *next.entry(*l).or_insert_with(|| {
                    chain.push((*l, s));
                    (chain.len() - 1) as u32
                });
            }
        }
        // Tag 0 is for tets in no set; the others count from 1 in the order of the tets.
        let mut tag_of = vec![0i64; chain.len()];
        let mut used: Vec<u32> = Vec::new();
        for &l in label.iter().filter(|&&l| l != 0) {
            if let Some(tag) = tag_of.get_mut(l as usize).filter(|t| **t == 0) {
                used.push(l);
                *tag = used.len() as i64;
            }
        }
        let tag = |l: u32| tag_of.get(l as usize).copied().unwrap_or(0);
        self.tags = label.iter().map(|&l| tag(l)).collect();
        for &l in &used {
            let mut link = l;
            while let Some(&(before, s)) = chain.get(link as usize)
                && link != 0
            {
                if let Some((name, _)) = sets.get(s) {
                    self.region_names.entry(name.clone()).or_default().push(tag(l));
                }
                link = before;
            }
        }
    }

    /// The vertex numbers of an element, looked up among the file's own numbers.
    pub fn find_vertices<const N: usize>(
        &self,
        ids: [u64; N],
        place: impl Fn() -> Place,
    ) -> Result<[u32; N], ReadError> {
        let mut out = [0; N];
        for (o, id) in out.iter_mut().zip(ids) {
            *o = self.vertex_ids.find(id).ok_or_else(|| {
                ReadError::new(
                    place(),
                    format!("the element refers to vertex {id}, which the file does not define"),
                    "write the mesh again with all its vertices",
                )
            })?;
        }
        Ok(out)
    }
}

/// Name of a vertex set that the file only numbers: `point:3`, `curve:3`, `surface:3`.
pub(super) fn set_name(dimension: u32, tag: i64) -> String {
    let kind = match dimension {
        0 => "point",
        1 => "curve",
        2 => "surface",
        _ => "volume",
    };
    format!("{kind}:{tag}")
}
