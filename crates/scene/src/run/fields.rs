//! Fields of a state: what frames and the replay show.

use crate::build::Built;
use crate::schema::FieldName;
use lilyan_dynamics::System;
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
                let density =
                    |m: &dyn lilyan_solid::materials::Material, c: &[f64], F: &Mat3| vec![m.energy(c, F)];
                cell("strain_energy", 1, each_tet(built, &state.q, &density))
            }
            FieldName::Pressure => {
                let pressure = |m: &dyn lilyan_solid::materials::Material, c: &[f64], F: &Mat3| {
                    vec![-cauchy(m, c, F).trace() / 3.0]
                };
                cell("pressure", 1, each_tet(built, &state.q, &pressure))
            }
            FieldName::Stress => {
                let stress = |m: &dyn lilyan_solid::materials::Material, c: &[f64], F: &Mat3| {
                    cauchy(m, c, F).0.concat()
                };
                cell("stress", 9, each_tet(built, &state.q, &stress))
            }
            FieldName::J => {
                let J = |_: &dyn lilyan_solid::materials::Material, _: &[f64], F: &Mat3| vec![F.det()];
                cell("J", 1, each_tet(built, &state.q, &J))
            }
            FieldName::Tag => {
                let tags = built.bodies.iter().flat_map(|b| {
                    (0..b.mesh.tets.len()).map(|e| b.mesh.tags.get(e).copied().unwrap_or(0) as f64)
                });
                cell("tag", 1, tags.collect())
            }
        })
        .collect()
}

type PerTet<'a> = &'a dyn Fn(&dyn lilyan_solid::materials::Material, &[f64], &Mat3) -> Vec<f64>;

fn each_tet(built: &Built, q: &[f64], f: PerTet<'_>) -> Vec<f64> {
    let mut out = Vec::new();
    for body in built.simulation.system.bodies() {
        let tets = &body.tets;
        for e in 0..tets.len() {
            out.extend(f(tets.material(), tets.constants(e), &tets.gradient_of(e, q)));
        }
    }
    out
}

/// σ = P Fᵀ/J.
fn cauchy(material: &dyn lilyan_solid::materials::Material, c: &[f64], F: &Mat3) -> Mat3 {
    material.stress(c, F).mul_transpose(F).scale(1.0 / F.det())
}

/// √(3/2 s:s) of the deviatoric Cauchy stress, Pa, per tet.
pub(super) fn von_mises(built: &Built, q: &[f64]) -> Vec<f64> {
    each_tet(built, q, &|material, c, F| {
        let stress = cauchy(material, c, F).symmetric_part();
        let mean = stress.trace() / 3.0;
        let deviator = stress - Mat3::identity().scale(mean);
        vec![(1.5 * deviator.dot(&deviator)).sqrt()]
    })
}

/// Values per tet as means at the vertices.
pub(super) fn to_vertices(built: &Built, per_tet: &[f64]) -> Vec<f64> {
    let count = built.simulation.system.node_masses().len();
    let (mut sum, mut weight) = (vec![0.0; count], vec![0.0; count]);
    let mut e = 0;
    for body in built.simulation.system.bodies() {
        for (k, tet) in body.tets.cliques().enumerate() {
            let volume = body.tets.volume(k);
            for n in tet {
                sum[n as usize] += volume * per_tet[e];
                weight[n as usize] += volume;
            }
            e += 1;
        }
    }
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
