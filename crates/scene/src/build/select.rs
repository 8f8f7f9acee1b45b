//! Selectors applied to a mesh.

use crate::document::SceneError;
use crate::schema::{Mark, Selector};
use crate::suggest;
use lilyan_solid::mesh::{Surface, TetMesh};

/// Marks the selected vertices; an empty selection is an error.
pub(crate) fn vertices(
    selector: &Selector,
    mesh: &TetMesh,
    surface: &Surface,
    mark: &Mark,
) -> Result<Vec<bool>, SceneError> {
    let mask = select(selector, mesh, mark, &Vertices { mesh, surface })?;
    if mask.contains(&true) {
        return Ok(mask);
    }
    let [a, b] = mesh.bounds().unwrap_or_default();
    Err(mark
        .error(format!("`where` selects no vertex; widen it: the body at rest reaches from {a:?} to {b:?}")))
}

/// Marks the selected tets.
pub(crate) fn tets(
    selector: &Selector,
    mesh: &TetMesh,
    surface: &Surface,
    mark: &Mark,
) -> Result<Vec<bool>, SceneError> {
    select(selector, mesh, mark, &Tets { mesh, surface })
}

/// Things that can be selected: vertices or tets.
trait Items {
    fn count(&self) -> usize;
    fn place(&self, i: usize) -> [f64; 3];
    /// From marked tets.
    fn of_tets(&self, mask: &[bool]) -> Vec<bool>;
    /// From marked vertices.
    fn of_vertices(&self, mask: &[bool]) -> Vec<bool>;
    /// Values of the variables of a formula.
    fn variables(&self, i: usize) -> [f64; 4];
    fn on_surface(&self) -> Vec<bool>;
}

struct Vertices<'a> {
    mesh: &'a TetMesh,
    surface: &'a Surface,
}

impl Items for Vertices<'_> {
    fn count(&self) -> usize {
        self.mesh.vertices.len()
    }
    fn place(&self, i: usize) -> [f64; 3] {
        self.mesh.vertices[i]
    }
    fn of_tets(&self, mask: &[bool]) -> Vec<bool> {
        let mut out = vec![false; self.count()];
        for (tet, _) in self.mesh.tets.iter().zip(mask).filter(|(_, m)| **m) {
            for v in tet {
                out[*v as usize] = true;
            }
        }
        out
    }
    fn of_vertices(&self, mask: &[bool]) -> Vec<bool> {
        mask.to_vec()
    }
    fn variables(&self, i: usize) -> [f64; 4] {
        let x = self.place(i);
        [x[0], x[1], x[2], 0.0]
    }
    fn on_surface(&self) -> Vec<bool> {
        let mut out = vec![false; self.count()];
        for v in &self.surface.vertices {
            out[*v as usize] = true;
        }
        out
    }
}

struct Tets<'a> {
    mesh: &'a TetMesh,
    surface: &'a Surface,
}

impl Items for Tets<'_> {
    fn count(&self) -> usize {
        self.mesh.tets.len()
    }
    fn place(&self, i: usize) -> [f64; 3] {
        let corners = self.mesh.corners(i);
        std::array::from_fn(|k| 0.25 * corners.iter().map(|c| c[k]).sum::<f64>())
    }
    fn of_tets(&self, mask: &[bool]) -> Vec<bool> {
        mask.to_vec()
    }
    /// Tets all of whose corners are marked.
    fn of_vertices(&self, mask: &[bool]) -> Vec<bool> {
        self.mesh.tets.iter().map(|t| t.iter().all(|v| mask[*v as usize])).collect()
    }
    fn variables(&self, i: usize) -> [f64; 4] {
        let x = self.place(i);
        [x[0], x[1], x[2], self.mesh.tags.get(i).copied().unwrap_or(0) as f64]
    }
    fn on_surface(&self) -> Vec<bool> {
        let mut out = vec![false; self.count()];
        for t in &self.surface.tets {
            out[*t as usize] = true;
        }
        out
    }
}

fn select(
    selector: &Selector,
    mesh: &TetMesh,
    mark: &Mark,
    items: &dyn Items,
) -> Result<Vec<bool>, SceneError> {
    let each = |f: &dyn Fn(usize) -> bool| (0..items.count()).map(f).collect::<Vec<bool>>();
    let by_vertices = |chosen: &[u32]| {
        let mut mask = vec![false; mesh.vertices.len()];
        for v in chosen {
            mask[*v as usize] = true;
        }
        items.of_vertices(&mask)
    };
    let by_tags = |tags: &[i64]| {
        let mask: Vec<bool> =
            (0..mesh.tets.len()).map(|e| tags.contains(&mesh.tags.get(e).copied().unwrap_or(0))).collect();
        items.of_tets(&mask)
    };
    Ok(match selector {
        Selector::All => vec![true; items.count()],
        Selector::Box { min, max } => each(&|i| {
            let x = items.place(i);
            (0..3).all(|k| min[k] <= x[k] && x[k] <= max[k])
        }),
        Selector::Sphere { center, radius } => each(&|i| {
            let x = items.place(i);
            (0..3).map(|k| (x[k] - center[k]).powi(2)).sum::<f64>() <= radius * radius
        }),
        Selector::Tag(tag) => by_tags(&[*tag]),
        Selector::Region(name) => match mesh.region_names.get(name) {
            Some(tags) => by_tags(tags),
            None => {
                let known: Vec<&str> = mesh.region_names.keys().map(String::as_str).collect();
                return Err(mark.error(suggest::unknown("region", name, &known)));
            }
        },
        Selector::Set(name) => match mesh.vertex_sets.get(name) {
            Some(set) => by_vertices(set),
            None => {
                let known: Vec<&str> = mesh.vertex_sets.keys().map(String::as_str).collect();
                return Err(mark.error(suggest::unknown("vertex set", name, &known)));
            }
        },
        Selector::Vertices(list) => {
            let count = mesh.vertices.len();
            if let Some(v) = list.iter().find(|v| **v as usize >= count) {
                let last = count.saturating_sub(1);
                return Err(mark.error(format!("there is no vertex {v}; they go from 0 to {last}")));
            }
            by_vertices(list)
        }
        Selector::Nearest(point) => {
            let distance = |i: &usize| -> f64 {
                let x = items.place(*i);
                (0..3).map(|k| (x[k] - point[k]).powi(2)).sum()
            };
            let nearest = (0..items.count()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
            // All of the vertices there: discontinuous tets have several.
            let place = nearest.map(|n| items.place(n));
            each(&|i| place == Some(items.place(i)))
        }
        Selector::Formula(formula) => {
            let count = formula.variables().len();
            each(&|i| formula.eval(&items.variables(i)[..count.min(4)]) != 0.0)
        }
        Selector::Surface(wanted) => items.on_surface().into_iter().map(|on| on == *wanted).collect(),
        Selector::Union(parts) => {
            let mut mask = vec![false; items.count()];
            for part in parts {
                let one = select(part, mesh, mark, items)?;
                mask.iter_mut().zip(one).for_each(|(m, o)| *m |= o);
            }
            mask
        }
        Selector::Intersection(parts) => {
            let mut mask = vec![true; items.count()];
            for part in parts {
                let one = select(part, mesh, mark, items)?;
                mask.iter_mut().zip(one).for_each(|(m, o)| *m &= o);
            }
            mask
        }
    })
}
