//! Fields of a state: what frames and the replay show.

use crate::build::Built;
use crate::schema::FieldName;
use crate::writers::vtu::Cells;
use lilyan_dynamics::System;
use lilyan_solid::elements::{Membrane, Spring, Tets, Triangle};
use lilyan_solid::math::Mat3;

/// A field as a frame takes it.
pub(super) struct FieldData {
    pub name: &'static str,
    pub components: usize,
    pub per_vertex: bool,
    pub values: Vec<f64>,
}

/// Computes the wanted fields at the current state.
pub(super) fn compute(built: &Built, wanted: &[FieldName]) -> Vec<FieldData> {
    let simulation = &built.simulation;
    let (model, state) = (&simulation.system, &simulation.state);
    let vertex = |name, components, values| FieldData { name, components, per_vertex: true, values };
    let cell = |name, components, values| FieldData { name, components, per_vertex: false, values };
    wanted
        .iter()
        .map(|field| match field {
            FieldName::Velocity => vertex("velocity", 3, state.v.clone()),
            FieldName::Displacement => {
                let rest = built.bodies.iter().flat_map(|b| b.mesh.vertices.iter().flatten());
                let moved = state.q.iter().zip(rest).map(|(q, r)| q - r).collect();
                vertex("displacement", 3, moved)
            }
            FieldName::Force => {
                let mut force = vec![0.0; state.q.len()];
                model.gradient(state.t, &state.q, &mut force);
                force.iter_mut().for_each(|f| *f = -*f);
                vertex("force", 3, force)
            }
            FieldName::Mass => vertex("mass", 1, model.node_masses().to_vec()),
            FieldName::VonMises => cell("von_mises", 1, von_mises(built, &state.q)),
            FieldName::StrainEnergy => {
                cell("strain_energy", 1, each_cell(built, &state.q, &|c| vec![c.energy()]))
            }
            FieldName::Pressure => {
                let pressure = |c: &Cell<'_>| vec![-c.stress().trace() / 3.0];
                cell("pressure", 1, each_cell(built, &state.q, &pressure))
            }
            FieldName::Stress => cell("stress", 9, each_cell(built, &state.q, &|c| c.stress().0.concat())),
            FieldName::J => cell("J", 1, each_cell(built, &state.q, &|c| vec![c.J()])),
            FieldName::Tag => {
                let solid = built.bodies.iter().filter(|b| !b.is_net());
                let tags = solid.flat_map(|b| {
                    (0..b.mesh.tets.len()).map(|e| b.mesh.tags.get(e).copied().unwrap_or(0) as f64)
                });
                let mut tags: Vec<f64> = tags.collect();
                let cells = Cells::of(model.bodies());
                tags.resize(cells.len(), 0.0);
                cell("tag", 1, tags)
            }
        })
        .collect()
}

/// One element at some positions.
enum Cell<'a> {
    Tet(&'a Tets, usize, Mat3),
    Triangle(&'a Membrane, &'a Triangle, [[f64; 2]; 3]),
    /// With s.
    Spring(&'a Spring, [f64; 3]),
}

impl Cell<'_> {
    /// ψ, J/m³.
    fn energy(&self) -> f64 {
        match self {
            Self::Tet(tets, e, F) => tets.material().energy(tets.constants(*e), F),
            Self::Triangle(membrane, t, F) => membrane.density(t, F),
            Self::Spring(spring, s) => match spring.section > 0.0 {
                true => 0.5 * spring.lambda / spring.section * (length(*s) / spring.length - 1.0).powi(2),
                false => 0.0,
            },
        }
    }

    /// Cauchy stress, Pa: P Fᵀ/J; of springs the force per section at rest.
    fn stress(&self) -> Mat3 {
        match self {
            Self::Tet(tets, e, F) => {
                let P = tets.material().stress(tets.constants(*e), F);
                P.mul_transpose(F).scale(1.0 / F.det())
            }
            Self::Triangle(membrane, t, F) => {
                let C = metric(F);
                let S = membrane.second_stress(t, &C);
                let area = (C[0][0] * C[1][1] - C[0][1] * C[1][0]).sqrt();
                let part = |i: usize, j: usize, a: usize, b: usize| F[i][a] * S[a][b] * F[j][b] / area;
                let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)];
                Mat3::from_fn(|i, j| pairs.iter().map(|&(a, b)| part(i, j, a, b)).sum())
            }
            Self::Spring(spring, s) => {
                let l = length(*s);
                if spring.section == 0.0 || l == 0.0 {
                    return Mat3::zero();
                }
                let tension = spring.lambda / spring.section * (l / spring.length - 1.0);
                Mat3::from_fn(|i, j| tension * s[i] * s[j] / (l * l))
            }
        }
    }

    /// Ratio of volumes, areas or lengths.
    fn J(&self) -> f64 {
        match self {
            Self::Tet(_, _, F) => F.det(),
            Self::Triangle(_, _, F) => {
                let C = metric(F);
                (C[0][0] * C[1][1] - C[0][1] * C[1][0]).sqrt()
            }
            Self::Spring(spring, s) => length(*s) / spring.length,
        }
    }
}

fn length(s: [f64; 3]) -> f64 {
    (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]).sqrt()
}

fn metric(F: &[[f64; 2]; 3]) -> [[f64; 2]; 2] {
    std::array::from_fn(|a| std::array::from_fn(|b| (0..3).map(|i| F[i][a] * F[i][b]).sum()))
}

/// What `f` gives of each element, in the order of [`Cells`].
fn each_cell(built: &Built, q: &[f64], f: &dyn Fn(&Cell<'_>) -> Vec<f64>) -> Vec<f64> {
    let bodies = built.simulation.system.bodies();
    let mut out = Vec::new();
    for tets in bodies.iter().map(|b| &b.tets) {
        for e in 0..tets.len() {
            out.extend(f(&Cell::Tet(tets, e, tets.gradient_of(e, q))));
        }
    }
    for membrane in bodies.iter().map(|b| &b.membrane) {
        for t in membrane.list() {
            out.extend(f(&Cell::Triangle(membrane, t, t.gradient_of(q))));
        }
    }
    for spring in bodies.iter().flat_map(|b| b.springs.list()) {
        out.extend(f(&Cell::Spring(spring, spring.between(q))));
    }
    out
}

/// √(3/2 s:s) of the deviatoric Cauchy stress, Pa, per element.
pub(super) fn von_mises(built: &Built, q: &[f64]) -> Vec<f64> {
    each_cell(built, q, &|cell| {
        let stress = cell.stress().symmetric_part();
        let mean = stress.trace() / 3.0;
        let deviator = stress - Mat3::identity().scale(mean);
        vec![(1.5 * deviator.dot(&deviator)).sqrt()]
    })
}

/// A scalar field at the vertices, for pictures: velocities by their size, what belongs to elements by its mean around a
/// vertex.
pub fn at_vertices(built: &Built, field: FieldName) -> Vec<f64> {
    let mut computed = compute(built, &[field]);
    let Some(data) = computed.pop() else { return Vec::new() };
    let sizes = |values: &[f64]| {
        values.chunks_exact(data.components).map(|c| c.iter().map(|x| x * x).sum::<f64>().sqrt()).collect()
    };
    match (data.per_vertex, data.components) {
        (true, 1) => data.values,
        (true, _) => sizes(&data.values),
        (false, 1) => to_vertices(built, &data.values),
        (false, _) => to_vertices(built, &sizes(&data.values)),
    }
}

/// Values per element as means at the vertices.
pub(super) fn to_vertices(built: &Built, per_cell: &[f64]) -> Vec<f64> {
    let count = built.simulation.system.node_masses().len();
    let (mut sum, mut weight) = (vec![0.0; count], vec![0.0; count]);
    let mut values = per_cell.iter();
    let mut add = |nodes: &[u32], volume: f64| {
        let value = values.next().copied().unwrap_or(0.0);
        for &n in nodes {
            sum[n as usize] += volume * value;
            weight[n as usize] += volume;
        }
    };
    let bodies = built.simulation.system.bodies();
    for tets in bodies.iter().map(|b| &b.tets) {
        tets.cliques().enumerate().for_each(|(e, tet)| add(&tet, tets.volume(e)));
    }
    bodies.iter().flat_map(|b| b.membrane.list()).for_each(|t| add(&t.nodes, t.volume()));
    bodies.iter().flat_map(|b| b.springs.list()).for_each(|s| add(&s.ends, s.section * s.length));
    sum.iter().zip(&weight).map(|(s, w)| if *w > 0.0 { s / w } else { 0.0 }).collect()
}

/// Smallest det F, and the body and element where it is.
pub(super) fn smallest_J(built: &Built) -> (f64, usize, usize) {
    let mut worst = (f64::INFINITY, 0, 0);
    for (b, body) in built.simulation.system.bodies().iter().enumerate() {
        for e in 0..body.tets.len() {
            let J = body.tets.gradient_of(e, &built.simulation.state.q).det();
            if J < worst.0 {
                worst = (J, b, e);
            }
        }
    }
    worst
}
