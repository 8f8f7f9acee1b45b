//! From a closed triangle surface to tets.

use super::prepare::{Prepared, plural, prepare};
use super::solid::{Hold, Inside, Solid};
use super::stuffing::stuff;
use super::{MOST_TETS, MeshingError, coarsen, fail, improve, metres, positive, repair};
use crate::mesh::{Mesh, TriMesh};

/// How fine a mesh shall be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolution {
    /// Mean edge length inside, m.
    EdgeLength(f64),
    /// Number of tets, met within some per cent.
    Tets(usize),
}

/// How to fill a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// How fine.
    pub resolution: Resolution,
    /// Passes of snapping to sharp edges and smoothing; 0 leaves the lattice as it was cut.
    pub passes: usize,
    /// Edges of the surface that turn by more than this are kept sharp, degrees.
    pub sharp_angle: f64,
    /// Adapt the size to the shape: the lattice is made this many times as fine (in tets) as wanted,
    /// then coarsened inside and where the boundary is flat. 1: even size; 10 suits
    /// animals with thin ears.
    pub adapt: f64,
}

impl Options {
    /// The usual options at a resolution.
    pub fn new(resolution: Resolution) -> Self {
        Self { resolution, passes: 5, sharp_angle: 40.0, adapt: 1.0 }
    }
}

/// A filled surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Filled {
    /// Positively oriented, conforming, with a manifold boundary; ordered for locality.
    pub mesh: Mesh,
    /// What was odd about the surface, or got lost.
    pub notes: Vec<String>,
}

/// Mean edge of a lattice tet over the lattice constant: (2 + 4·√3/2)/6.
pub(crate) const MEAN_EDGE: f64 = 0.910_683_602_522_959;

/// Pieces below this share of the volume are crumbs of something thinner than the lattice.
const CRUMB: f64 = 1e-3;

/// How far coarsened boundary triangles may be off the surface, over their size, round by round.
const TOLERANCES: [f64; 6] = [0.01, 0.02, 0.04, 0.07, 0.1, 0.15];

/// Loss of volume that gets a note.
const LOSS: f64 = 0.05;

/// Fills the inside of a surface with tets: [`tetrahedralize_with`] the usual options.
///
/// # Errors
/// Those of [`tetrahedralize_with`].
pub fn tetrahedralize(surface: &TriMesh, resolution: Resolution) -> Result<Filled, MeshingError> {
    tetrahedralize_with(surface, &Options::new(resolution))
}

/// Fills the inside of a surface with tets by isosurface stuffing, then moves vertices onto sharp
/// edges and smooths, never to dihedral angles below about 10 degrees.
///
/// Inside is where the winding number is above ½, so that surfaces with holes, overlaps and
/// inverted triangles still give something sensible; [`Filled::notes`] says what was found.
///
/// # Errors
/// Broken arrays, a resolution that is not positive or asks for more than [`MOST_TETS`], and
/// surfaces with nothing inside.
pub fn tetrahedralize_with(surface: &TriMesh, options: &Options) -> Result<Filled, MeshingError> {
    surface.check().map_err(|e| MeshingError(format!("surface: {e}")))?;
    let Prepared { surface, open_edges, parts, mut notes, .. } = prepare(surface);
    if surface.triangles.is_empty() {
        return fail("surface: no triangle has an area; check its unit and its scale");
    }
    let volume = surface.signed_volume();
    let shape = Inside::new(&surface, options.sharp_angle);
    let [lo, hi] = shape.bounds();
    let box_volume: f64 = (0..3).map(|i| hi[i] - lo[i]).product();
    let size = (0..3).map(|i| hi[i] - lo[i]).fold(0.0, f64::max);
    let thickness = 2.0 * volume / surface.area();
    let nothing = |edge: f64| {
        let why = if open_edges > 0 || thickness.is_nan() || thickness <= 1e-6 * size {
            format!(
                "is it closed? it has {}; fill its holes or thicken it into a closed surface",
                plural(open_edges, "open edge")
            )
        } else {
            format!(
                "it is about {} thick; use an edge length of at most {}",
                metres(thickness),
                metres(0.7 * thickness)
            )
        };
        format!("nothing is inside the surface at an edge length of {}: {why}", metres(edge))
    };
    let filled = |edge: f64| -> Result<Mesh, MeshingError> {
        // 12 tets per cell of the lattice, and some more along the surface.
        if 12.0 * volume / edge.powi(3) > MOST_TETS as f64 {
            return fail(format!(
                "an edge length of {} gives more than {MOST_TETS} tets: use a larger one",
                metres(MEAN_EDGE * edge)
            ));
        }
        let mesh = stuff(&shape, edge)?;
        if mesh.tets().is_empty() { fail(nothing(MEAN_EDGE * edge)) } else { Ok(mesh) }
    };
    if !(1.0..=1000.0).contains(&options.adapt) {
        return fail(format!("adapt is {}: give a number from 1 to 1000", options.adapt));
    }
    let (edge, mut mesh) = match options.resolution {
        Resolution::EdgeLength(length) => {
            let edge = positive("edge length", length)? / MEAN_EDGE / options.adapt.cbrt();
            (edge, filled(edge)?)
        }
        Resolution::Tets(0) => return fail("0 tets wanted: give a positive number"),
        Resolution::Tets(wanted) if wanted > MOST_TETS => {
            return fail(format!("{wanted} tets wanted: at most {MOST_TETS} are made"));
        }
        Resolution::Tets(wanted) => {
            let wanted = (wanted as f64 * options.adapt) as usize;
            if !(box_volume > 0.0 && box_volume.is_finite()) {
                return fail(nothing(thickness.max(0.0)));
            }
            let guess = if volume > 0.0 { volume } else { 0.5 * box_volume };
            search(wanted, (12.0 * guess / wanted as f64).cbrt(), filled)?
        }
    };

    let hanging = repair::make_manifold(&mut mesh);
    if hanging > 0 {
        notes.push(format!("{} that hung on a vertex or an edge only, left out", plural(hanging, "tet")));
    }
    let (crumbs, _) = repair::drop_crumbs(&mut mesh, CRUMB);
    if crumbs > 0 {
        notes.push(format!("{} of less than 0.1 % of the volume, left out", plural(crumbs, "loose piece")));
    }
    let (angle, passes) = (options.sharp_angle, options.passes);
    let hold = improve::improve(&mut mesh, &shape, edge, angle, passes, None);
    if options.adapt > 1.0 {
        adapt(&mut mesh, &shape, options, edge, hold);
    }
    mesh.reorder();
    notes.extend(losses(&mesh, parts, (open_edges == 0).then_some(volume), MEAN_EDGE * edge));
    Ok(Filled { mesh, notes })
}

/// Coarsens a mesh of lattice edge `edge` where the shape allows it, to the number of tets that was asked for.
fn adapt(mesh: &mut Mesh, shape: &dyn Solid, options: &Options, edge: f64, mut hold: Vec<Hold>) {
    let (angle, passes) = (options.sharp_angle, options.passes);
    let wanted = match options.resolution {
        Resolution::Tets(wanted) => wanted,
        Resolution::EdgeLength(_) => (mesh.tets().len() as f64 / options.adapt) as usize,
    };
    let coarse = edge * options.adapt.cbrt();
    for tolerance in TOLERANCES {
        hold = coarsen::coarsen(mesh, shape, &hold, wanted, tolerance);
        // Smoothing makes room for more collapses.
        hold = improve::improve(mesh, shape, coarse, angle, passes.min(2), Some(hold));
        if mesh.tets().len() <= wanted {
            break;
        }
    }
    improve::improve(mesh, shape, coarse, angle, passes, Some(hold));
}

/// What the mesh lacks of a surface in so many parts, which encloses `volume` if it is closed.
fn losses(mesh: &Mesh, parts: usize, volume: Option<f64>, edge: f64) -> Vec<String> {
    let mut notes = Vec::new();
    let pieces = mesh.components().1;
    if pieces > parts {
        notes.push(format!(
            "the mesh falls into {pieces} pieces where the surface is thinner than the lattice: use a smaller edge length"
        ));
    }
    let found = mesh.volume();
    if let Some(volume) = volume
        && found < (1.0 - LOSS) * volume
    {
        notes.push(format!(
            "{:.1} % of the volume is missing: parts thinner than the edge length of {} are lost{}; use a smaller one",
            100.0 * (1.0 - found / volume),
            metres(edge),
            if parts > 1 { " (or parts of the surface overlap)" } else { "" }
        ));
    }
    notes
}

/// Looks for the lattice edge that gives `wanted` tets, from a first guess.
fn search(
    wanted: usize,
    mut edge: f64,
    filled: impl Fn(f64) -> Result<Mesh, MeshingError>,
) -> Result<(f64, Mesh), MeshingError> {
    let mut best: Option<(f64, f64, Mesh)> = None;
    for _ in 0..5 {
        let mesh = match filled(edge) {
            Ok(mesh) => mesh,
            // Too coarse to catch anything: halve, unless there is already an answer.
            Err(e) if best.is_none() && wanted <= 1000 => {
                edge *= 0.5;
                if edge.is_normal() {
                    continue;
                } else {
                    return Err(e);
                }
            }
            Err(e) => return best.map(|(_, edge, mesh)| (edge, mesh)).ok_or(e),
        };
        // N grows between edge⁻² and edge⁻³.
        let ratio = mesh.tets().len() as f64 / wanted as f64;
        let miss = ratio.ln().abs();
        if best.as_ref().is_none_or(|b| miss < b.0) {
            best = Some((miss, edge, mesh));
        }
        if miss < 0.03 {
            break;
        }
        edge *= ratio.powf(0.37);
    }
    match best {
        Some((_, edge, mesh)) => Ok((edge, mesh)),
        None => filled(edge).map(|mesh| (edge, mesh)),
    }
}
