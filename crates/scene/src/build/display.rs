//! What is shown in place of a body: a surface, or a finer mesh, that its tets carry along.

use super::shape;
use crate::document::SceneError;
use crate::schema::{BodySpec, MeshSpec, Scene, Shape};
use lilyan_mesh_io::readers::{self, Loaded};
use lilyan_solid::mesh::{Display, Harmonics, Nodes};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A surface or mesh that a body carries along.
pub struct Shown {
    /// How.
    pub map: Display,
    /// Its triangles, if it is a surface.
    pub triangles: Vec<[u32; 3]>,
    /// Its tets, if it is a solid.
    pub tets: Vec<[u32; 4]>,
}

/// Name of axis k of harmonic displacement a among the point data of a mesh that was coarsened, and of the coarse one.
pub fn harmonic_name(a: usize, k: usize) -> String {
    format!("h_{}_{}", ["xx", "yy", "zz", "yz", "xz", "xy"][a], ["x", "y", "z"][k])
}

/// The six harmonic displacements, if they are all there.
fn harmonic(data: &BTreeMap<String, Vec<f64>>) -> Option<[Vec<f64>; 6]> {
    let mut out: [Vec<f64>; 6] = Default::default();
    for (a, h) in out.iter_mut().enumerate() {
        let parts = [0, 1, 2].map(|k| data.get(&harmonic_name(a, k)));
        let [Some(x), Some(y), Some(z)] = parts else { return None };
        *h = (0..x.len()).flat_map(|v| [x[v], y[v], z[v]]).collect();
    }
    Some(out)
}

/// Vectors at the vertices, flat, as vectors at the nodes.
fn at_nodes(nodes: &Nodes, field: &[f64]) -> Vec<f64> {
    nodes.interpolated(field.as_chunks::<3>().0).concat()
}

/// What a body shows besides its own mesh.
pub(super) fn shown(
    scene: &Scene,
    spec: &BodySpec,
    nodes: &Arc<Nodes>,
    notes: &mut Vec<String>,
) -> Result<Option<Shown>, SceneError> {
    let embeds = matches!(&spec.mesh.shape, Shape::File(file) if file.embed);
    let what: &MeshSpec = match &spec.display {
        Some(display) => display,
        None if embeds => &spec.mesh,
        None => return Ok(None),
    };
    let Shape::File(file) = &what.shape else {
        return Err(what.mark.error(format!(
            "shows a file: a surface ({}) or a mesh of tets",
            readers::surface_extensions()
        )));
    };
    let of = BodySpec { mesh: what.clone(), ..spec.clone() };
    let mut told = Vec::new();
    let (mut points, triangles, tets, data) = match shape::load(scene, &of, file, &mut told)? {
        Loaded::Surface(surface, _) => (surface.vertices, surface.triangles, Vec::new(), Default::default()),
        Loaded::Tets(mesh, _) => {
            let tets = mesh.tets().to_vec();
            (mesh.vertices, Vec::new(), tets, mesh.point_data)
        }
    };
    if spec.display.is_some() {
        notes.extend(told);
    }
    shape::place(&of, &mut points);
    let mesh = nodes.mesh();
    let map = Display::new(nodes, &points)
        .ok_or_else(|| what.mark.error("has a vertex that is no finite point; repair the file"))?;
    let map = match (harmonic(&data), harmonic(&mesh.point_data)) {
        (Some(fine), Some(coarse)) => map
            .with(nodes, &Harmonics { fine, coarse: coarse.map(|h| at_nodes(nodes, &h)) })
            .ok_or_else(|| what.mark.error("and the coarse mesh do not belong together; coarsen again"))?,
        _ => map,
    };
    let embedding = map.embedding();
    let size = mesh.bounds().map_or(1.0, |[a, b]| (0..3).map(|k| (b[k] - a[k]).powi(2)).sum::<f64>().sqrt());
    if embedding.furthest > 0.5 * size {
        return Err(what.mark.error(format!(
            "reaches {:.3} m out of the body, which is {size:.3} m long; scale and move it to where the body is",
            embedding.furthest
        )));
    }
    if embedding.outside > 0 {
        notes.push(format!(
            "body \"{}\": {} of {} vertices that it carries along lie outside of its mesh, up to {:.2e} m",
            spec.name,
            embedding.outside,
            embedding.len(),
            embedding.furthest
        ));
    }
    Ok(Some(Shown { map, triangles, tets }))
}
