//! Selectors applied to a mesh.

use crate::document::SceneError;
use crate::schema::{Mark, Selector};
use crate::suggest;
use lilyan_solid::mesh::Nodes;

/// Marks the selected nodes; an empty selection is an error.
pub fn nodes(selector: &Selector, nodes: &Nodes, mark: &Mark) -> Result<Vec<bool>, SceneError> {
    let mask = select(selector, nodes, mark, &OfNodes { nodes })?;
    if mask.contains(&true) {
        return Ok(mask);
    }
    // Seven digits are enough for a message.
    let [a, b] = nodes.mesh().bounds().unwrap_or_default().map(|corner| corner.map(|x| x as f32));
    Err(mark
        .error(format!("`where` selects no vertex; widen it: the body at rest reaches from {a:?} to {b:?}")))
}

/// Marks the selected tets.
pub fn tets(selector: &Selector, nodes: &Nodes, mark: &Mark) -> Result<Vec<bool>, SceneError> {
    select(selector, nodes, mark, &OfTets { nodes })
}

/// Things that can be selected: nodes or tets.
trait Items {
    fn count(&self) -> usize;
    fn place(&self, i: usize) -> [f64; 3];
    /// From marked tets.
    fn of_tets(&self, mask: &[bool]) -> Vec<bool>;
    /// From marked nodes.
    fn of_nodes(&self, mask: &[bool]) -> Vec<bool>;
    /// Values of the variables of a formula.
    fn variables(&self, i: usize) -> [f64; 4];
    fn on_surface(&self) -> Vec<bool>;
}

struct OfNodes<'a> {
    nodes: &'a Nodes,
}

impl Items for OfNodes<'_> {
    fn count(&self) -> usize {
        self.nodes.len()
    }
    fn place(&self, i: usize) -> [f64; 3] {
        self.nodes.points()[i]
    }
    fn of_tets(&self, mask: &[bool]) -> Vec<bool> {
        let mut out = vec![false; self.count()];
        for (tet, _) in mask.iter().enumerate().filter(|(_, m)| **m) {
            for v in self.nodes.of_tet(tet) {
                out[*v as usize] = true;
            }
        }
        out
    }
    fn of_nodes(&self, mask: &[bool]) -> Vec<bool> {
        mask.to_vec()
    }
    fn variables(&self, i: usize) -> [f64; 4] {
        let x = self.place(i);
        [x[0], x[1], x[2], 0.0]
    }
    fn on_surface(&self) -> Vec<bool> {
        let mut out = vec![false; self.count()];
        for v in &self.nodes.surface().vertices {
            out[*v as usize] = true;
        }
        out
    }
}

struct OfTets<'a> {
    nodes: &'a Nodes,
}

impl Items for OfTets<'_> {
    fn count(&self) -> usize {
        self.nodes.tets().len()
    }
    fn place(&self, i: usize) -> [f64; 3] {
        let corners = self.nodes.mesh().corners(i);
        std::array::from_fn(|k| 0.25 * corners.iter().map(|c| c[k]).sum::<f64>())
    }
    fn of_tets(&self, mask: &[bool]) -> Vec<bool> {
        mask.to_vec()
    }
    /// Tets all of whose corners are marked.
    fn of_nodes(&self, mask: &[bool]) -> Vec<bool> {
        self.nodes.tets().iter().map(|t| t.iter().all(|v| mask[*v as usize])).collect()
    }
    fn variables(&self, i: usize) -> [f64; 4] {
        let x = self.place(i);
        [x[0], x[1], x[2], self.nodes.mesh().tags.get(i).copied().unwrap_or(0) as f64]
    }
    fn on_surface(&self) -> Vec<bool> {
        let mut out = vec![false; self.count()];
        for t in &self.nodes.surface().tets {
            out[*t as usize] = true;
        }
        out
    }
}

fn select(
    selector: &Selector,
    nodes: &Nodes,
    mark: &Mark,
    items: &dyn Items,
) -> Result<Vec<bool>, SceneError> {
    let mesh = nodes.mesh();
    let each = |f: &dyn Fn(usize) -> bool| (0..items.count()).map(f).collect::<Vec<bool>>();
    let marked = |count: usize, chosen: &[u32]| {
        let mut mask = vec![false; count];
        chosen.iter().for_each(|i| mask[*i as usize] = true);
        mask
    };
    let by_tags = |tags: &[i64]| {
        let mask: Vec<bool> =
            (0..mesh.tets().len()).map(|e| tags.contains(&mesh.tags.get(e).copied().unwrap_or(0))).collect();
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
            Some(set) => items.of_nodes(&nodes.marks(&marked(mesh.vertices.len(), set))),
            None => {
                let known: Vec<&str> = mesh.vertex_sets.keys().map(String::as_str).collect();
                return Err(mark.error(suggest::unknown("vertex set", name, &known)));
            }
        },
        Selector::Vertices(list) => {
            let count = nodes.len();
            if let Some(v) = list.iter().find(|v| **v as usize >= count) {
                let last = count.saturating_sub(1);
                return Err(mark.error(format!("there is no vertex {v}; they go from 0 to {last}")));
            }
            items.of_nodes(&marked(count, list))
        }
        Selector::Nearest(point) => {
            let distance = |i: &usize| -> f64 {
                let x = items.place(*i);
                (0..3).map(|k| (x[k] - point[k]).powi(2)).sum()
            };
            let nearest = (0..items.count()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
            // All of the nodes there: discontinuous tets have several.
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
                let one = select(part, nodes, mark, items)?;
                mask.iter_mut().zip(one).for_each(|(m, o)| *m |= o);
            }
            mask
        }
        Selector::Intersection(parts) => {
            let mut mask = vec![true; items.count()];
            for part in parts {
                let one = select(part, nodes, mark, items)?;
                mask.iter_mut().zip(one).for_each(|(m, o)| *m &= o);
            }
            mask
        }
    })
}
