//! How large a scene will be, estimated before its meshes are made.

use crate::document::SceneError;
use crate::schema::{BodySpec, Element, FileSpec, FitKind, MeshSpec, Resolution, Scene, Shape};
use lilyan_solid::elements::QUADRATIC_TETS;
use std::f64::consts::PI;

/// Every mesh that a scene names.
pub fn meshes(scene: &Scene) -> Vec<&MeshSpec> {
    let mut all = Vec::new();
    for body in &scene.bodies {
        all.push(&body.mesh);
        all.extend(&body.display);
        if let Some(FitKind::Fine { mesh, .. }) = body.fit.as_ref().map(|fit| &fit.kind) {
            all.push(mesh);
        }
    }
    all
}

/// Approximate number of elements of a mesh; 0 if it is known only after meshing.
pub fn elements(mesh: &MeshSpec) -> f64 {
    // A regular tet of edge h has the volume h³/8.49.
    let filled = |volume: f64, resolution: &Resolution| match resolution {
        Resolution::Automatic => 0.0,
        Resolution::Edge(h) => 8.49 * volume / h.powi(3),
        Resolution::Tets(n) => f64::from(*n),
    };
    let cells = |cells: &[u32]| cells.iter().map(|n| f64::from(*n)).product::<f64>();
    match &mesh.shape {
        Shape::Box { cells: n, .. } => 6.0 * cells(n),
        Shape::Cloth { cells: n, .. } => 2.0 * cells(n),
        Shape::Rope { segments, .. } => f64::from(*segments),
        Shape::Points { edges, .. } => edges.len() as f64,
        Shape::Sphere { radius, resolution } => filled(4.0 / 3.0 * PI * radius.powi(3), resolution),
        Shape::Cylinder { radius, length, resolution } => filled(PI * radius * radius * length, resolution),
        Shape::Ellipsoid { radii, resolution } => {
            filled(4.0 / 3.0 * PI * radii.iter().product::<f64>(), resolution)
        }
        Shape::File(FileSpec { resolution: Resolution::Tets(n), .. }) => f64::from(*n),
        Shape::File(_) => 0.0,
    }
}

/// Memory that building and one explicit step take, bytes for each element, as measured.
fn bytes_per_element(body: &BodySpec) -> f64 {
    match body.element {
        Element::Solid(kind) if std::ptr::eq(kind, &QUADRATIC_TETS) => 5500.0,
        Element::Solid(_) => 600.0,
        Element::Dg => 16_000.0,
        Element::Membrane => 1000.0,
        Element::Springs => 2100.0,
    }
}

/// The least number of elements of a body. Where a shape is filled, its number is known to within a factor of two.
fn least_elements(body: &BodySpec) -> f64 {
    let share = match body.mesh.shape {
        Shape::Box { .. } | Shape::Cloth { .. } | Shape::Rope { .. } | Shape::Points { .. } => 1.0,
        Shape::Sphere { .. } | Shape::Cylinder { .. } | Shape::Ellipsoid { .. } | Shape::File(_) => 0.5,
    };
    share * elements(&body.mesh)
}

/// Refuses a scene that will certainly not fit into the memory that the machine has left, before its meshes are made.
pub(super) fn check(scene: &Scene) -> Result<(), SceneError> {
    match available_memory() {
        Some(available) => fits(scene, available),
        None => Ok(()),
    }
}

fn fits(scene: &Scene, available: f64) -> Result<(), SceneError> {
    let bytes = |body: &BodySpec| least_elements(body) * bytes_per_element(body);
    let sum: f64 = scene.bodies.iter().map(bytes).sum();
    let largest = scene.bodies.iter().max_by(|a, b| bytes(a).total_cmp(&bytes(b)));
    let Some(body) = largest.filter(|_| sum > available) else { return Ok(()) };
    let left = (available - (sum - bytes(body))).max(0.0);
    Err(body.mesh.mark.error(format!(
        "body \"{}\" would have about {:.2e} elements, and the scene needs at least {:.1} GB of memory, of which {:.1} GB are \
         free: about {:.1e} elements would fit; use a coarser mesh",
        body.name,
        elements(&body.mesh),
        sum / 1e9,
        available / 1e9,
        left / bytes_per_element(body),
    )))
}

/// Memory that this process can still get, bytes: of the machine, and of its control group. `None` where the system does not tell.
fn available_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kilobytes = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let machine = 1024.0 * kilobytes.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()?;
    let group =
        |name| std::fs::read_to_string(format!("/sys/fs/cgroup/memory.{name}")).ok()?.trim().parse().ok();
    let limit = group("max").zip(group("current")).map(|(most, used): (f64, f64)| most - used);
    Some(limit.map_or(machine, |limit| limit.min(machine)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(mesh: &str, element: &str) -> Scene {
        let text = format!(
            "time = {{ end = 1, step = 0.01 }}\n[[body]]\nname = \"b\"\nelement = \"{element}\"\nmesh = {mesh}\n\
             material = {{ model = \"neo-hookean\", E = 1e5, nu = 0.3, rho = 1000 }}\n"
        );
        Scene::from_str_with(&text, "test.toml", &[]).unwrap()
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        let large = scene("{ box = { size = [1, 1, 1], cells = [200, 200, 200] } }", "tets");
        let text = fits(&large, 6e9).unwrap_err().to_string();
        assert!(text.contains("test.toml:5") && text.contains("4.80e7 elements"), "{text}");
        assert!(text.contains("28.8 GB") && text.contains("1.0e7 elements would fit"), "{text}");
        assert!(fits(&large, 29e9).is_ok());
    }

    #[test]
    fn quadratic_tets_count_more() {
        let box_of = |element| scene("{ box = { size = [1, 1, 1], cells = [80, 80, 80] } }", element);
        assert!(fits(&box_of("tets"), 4e9).is_ok());
        assert!(fits(&box_of("quadratic"), 4e9).is_err());
    }
}
