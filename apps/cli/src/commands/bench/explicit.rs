//! Explicit steps against the memory bandwidth.
//!
//! What a step must move, whatever the code does: per tet four vertex numbers (16 bytes), Dₘ⁻¹ (72) and
//! the volume (8); per node q and p in and out (96) and the mass (8). The forces alone: per node q in and
//! ∇W out (48). Each once, as if nothing had to be fetched twice and nothing in between were stored. The
//! bandwidth is that of a triad a ← b + s c, counted as three streams, with the same threads. The rate
//! from cache is that of the force kernel on a mesh that fits there: the lower of the two limits binds.

use super::figures::{Figures, Limit};
use super::{best, block, deformed, integrator};
use crate::failure::{Done, Failure};
use lilyan_dynamics::{State, System};
use lilyan_solve::threads;

const BYTES_PER_TET: f64 = 96.0;
const BYTES_PER_NODE_FORCE: f64 = 48.0;
const BYTES_PER_NODE_STEP: f64 = 104.0;

/// Cells along the edge of the cube: 100 MB of tets, several times any cache here.
const LARGE: usize = 56;
/// 7,986 tets, 0.8 MB: fits the second-level caches of two cores.
const SMALL: usize = 11;

pub fn run(figures: &mut Figures) -> Done {
    let bandwidth = triad();
    figures.add("bandwidth of a triad", bandwidth * 1e-9, "GB/s");
    for material in ["neo-hookean", "neo-hookean-log"] {
        eprintln!("  {material}");
        let cached = 1.0 / seconds_per_tet(SMALL, material)?.0;
        let (force, step, tets, nodes) = seconds_per_tet(LARGE, material)?;
        let per_tet = |per_node: f64| BYTES_PER_TET + per_node * nodes / tets;
        let limit = bandwidth / per_tet(BYTES_PER_NODE_STEP);
        let force_limit = bandwidth / per_tet(BYTES_PER_NODE_FORCE);
        let of = |name: &str| format!("{material}: {name}");
        figures.add(of("forces"), 1e-6 / force, "million tets/s");
        figures.add(of("step"), 1e-6 / step, "million tets/s");
        figures.add(of("bandwidth allows"), 1e-6 * limit, "million tets/s per step");
        figures.add(of("forces from cache"), 1e-6 * cached, "million tets/s");
        figures.add(of("forces, share"), 100.0 / (force * force_limit), "% of the bandwidth");
        figures.hold(of("step, share"), 100.0 / (step * limit), "% of the bandwidth", Limit::AtLeast(25.0));
        let binds = if cached < force_limit { "arithmetic" } else { "bandwidth" };
        figures.remark(format!("{material}: {binds} binds the forces"));
    }
    figures.remark(format!(
        "Verlet on {} tets; a step must move {BYTES_PER_TET} bytes per tet and {BYTES_PER_NODE_STEP} per node",
        6 * LARGE.pow(3)
    ));
    Ok(())
}

/// Bytes per second of a ← b + s c over arrays of 64 MB.
fn triad() -> f64 {
    const N: usize = 1 << 23;
    const CHUNK: usize = 1 << 16;
    let (b, c) = (vec![1.0f64; N], vec![2.0f64; N]);
    let mut a = vec![0.0f64; N];
    let seconds = best(8, 0.5, || {
        threads::par_chunks_mut(&mut a, CHUNK, |k, a| {
            let from = k * CHUNK..k * CHUNK + a.len();
            for ((a, b), c) in a.iter_mut().zip(&b[from.clone()]).zip(&c[from]) {
                *a = b + 3.0 * c;
            }
        });
    });
    assert!(a.iter().all(|&x| x == 7.0));
    (3 * N * size_of::<f64>()) as f64 / seconds
}

/// Seconds per tet of the forces and of a step, tets, nodes.
fn seconds_per_tet(n: usize, material: &str) -> Result<(f64, f64, f64, f64), Failure> {
    let (mesh, builder) = block([1.0; 3], [n; 3], material)?;
    let model = builder.build();
    let (tets, nodes) = (mesh.tets.len() as f64, mesh.vertices.len() as f64);
    let mut state = State::new(&model, deformed(&mesh), vec![0.0; model.dofs()]);
    drop(mesh);
    let mut g = vec![0.0; model.dofs()];
    let force = best(12, 1.0, || model.gradient(0.0, &state.q, &mut g));
    let mut verlet = integrator("verlet", &[])?;
    let h = 0.1 * 2e-2 / n as f64; // a tenth of what is stable
    let mut failed = None;
    let step = best(12, 1.0, || {
        if let Err(e) = verlet.step(&model, &mut state, h) {
            failed = Some(e);
        }
    });
    match failed {
        Some(e) => Err(Failure::stopped(e)),
        None => Ok((force / tets, step / tets, tets, nodes)),
    }
}
