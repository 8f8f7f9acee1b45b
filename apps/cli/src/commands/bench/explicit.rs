//! Explicit steps relative to the memory bandwidth.
//!
//! A step must move at least four vertex numbers (16 bytes), Dₘ⁻¹ (72) and the volume (8) per tet, and q and p in and out (96)
//! and the mass (8) per node. Forces alone need q in and ∇W out (48) per node. Each number is counted once. Intermediate results
//! are not counted. The bandwidth is that of a triad a ← b + s c with the same threads, counted as three streams. The rate from
//! cache is that of the force kernel on a mesh that fits into the cache. The lower of the two limits applies.
//!
//! The bandwidth of a shared machine varies. Therefore triad, forces and step are measured alternately, and the result is the
//! median of the ratios.

use super::figures::{Figures, Limit};
use super::{best, block, deformed, integrator};
use crate::failure::{CommandResult, Failure};
use lilyan_dynamics::{State, System};
use lilyan_parallel::threads;

const BYTES_PER_TET: f64 = 96.0;
const BYTES_PER_NODE_FORCE: f64 = 48.0;
const BYTES_PER_NODE_STEP: f64 = 104.0;

/// Cells along the edge of the large cube. Its tets take 100 MB, several times the size of common caches.
const LARGE: usize = 56;
/// Cells along the edge of the small cube. Its 7,986 tets take 0.8 MB and fit into the second-level caches of two cores.
const SMALL: usize = 11;

pub fn run(figures: &mut Figures) -> CommandResult {
    for material in ["neo-hookean", "neo-hookean-log"] {
        eprintln!("  {material}");
        let from_cache = cached_rate(material)?;
        let Measured { tets, nodes, turns } = measure(LARGE, material)?;
        let step_bytes = tets * BYTES_PER_TET + nodes * BYTES_PER_NODE_STEP;
        let force_bytes = tets * BYTES_PER_TET + nodes * BYTES_PER_NODE_FORCE;
        let over = |f: &dyn Fn(&Turn) -> f64| median(turns.iter().map(f));
        let bandwidth = over(&|t| t.bandwidth);
        let of = |name: &str| format!("{material}: {name}");
        figures.add(of("bandwidth of a triad"), 1e-9 * bandwidth, "GB/s");
        figures.add(of("forces"), 1e-6 * tets / over(&|t| t.force), "million tets/s");
        figures.add(of("step"), 1e-6 * tets / over(&|t| t.step), "million tets/s");
        figures.add(of("bandwidth allows"), 1e-6 * tets * bandwidth / step_bytes, "million tets/s per step");
        figures.add(of("forces from cache"), 1e-6 * from_cache, "million tets/s");
        let share = 100.0 * over(&|t| force_bytes / (t.force * t.bandwidth));
        figures.add(of("forces, share"), share, "% of the bandwidth");
        let share = 100.0 * over(&|t| step_bytes / (t.step * t.bandwidth));
        figures.hold(of("step, share"), share, "% of the bandwidth", Limit::AtLeast(25.0));
        let binds = if from_cache < tets * bandwidth / force_bytes { "arithmetic" } else { "bandwidth" };
        figures.remark(format!("{material}: {binds} binds the forces"));
    }
    figures.remark(format!(
        "Verlet on {} tets; a step must move {BYTES_PER_TET} bytes per tet and {BYTES_PER_NODE_STEP} per node",
        6 * LARGE.pow(3)
    ));
    Ok(())
}

/// Limits of the forces with the threads in use, tets per second.
pub struct Bounds {
    pub by_bandwidth: f64,
    pub from_cache: f64,
}

impl Bounds {
    pub fn of(material: &str) -> Result<Self, Failure> {
        let mut triad = Triad::new();
        let (nodes, tets) = (((LARGE + 1) as f64).powi(3), 6.0 * (LARGE as f64).powi(3));
        let bytes = BYTES_PER_TET + BYTES_PER_NODE_FORCE * nodes / tets;
        let bandwidth = median((0..15).map(|_| Triad::BYTES / best(2, 0.0, || triad.run())));
        Ok(Self { by_bandwidth: bandwidth / bytes, from_cache: cached_rate(material)? })
    }
}

/// The size of a mesh and the measurements on it.
struct Measured {
    tets: f64,
    nodes: f64,
    turns: Vec<Turn>,
}

/// One measurement of each kind. All are made within a tenth of a second.
struct Turn {
    /// Bandwidth of the triad, bytes per second.
    bandwidth: f64,
    /// Time of the forces, s.
    force: f64,
    /// Time of a step, s.
    step: f64,
}

fn measure(n: usize, material: &str) -> Result<Measured, Failure> {
    const TURNS: usize = 61;
    let (mesh, builder) = block([1.0; 3], [n; 3], material)?;
    let model = builder.build();
    let (tets, nodes) = (mesh.tets().len() as f64, mesh.vertices.len() as f64);
    let mut state = State::new(&model, deformed(&mesh), vec![0.0; model.dofs()]);
    drop(mesh);
    let mut g = vec![0.0; model.dofs()];
    let mut verlet = integrator("verlet", &[])?;
    let h = 0.1 * 2e-2 / n as f64; // a tenth of the stable step
    let mut triad = Triad::new();
    let mut failed = None;
    let turns = (0..TURNS).map(|_| Turn {
        bandwidth: Triad::BYTES / best(2, 0.0, || triad.run()),
        force: best(2, 0.0, || model.gradient(0.0, &state.q, &mut g)),
        step: best(2, 0.0, || failed = failed.take().or(verlet.step(&model, &mut state, h).err())),
    });
    let turns = turns.collect();
    match failed {
        Some(e) => Err(Failure::stopped(e)),
        None => Ok(Measured { tets, nodes, turns }),
    }
}

/// Tets per second of the forces on the small mesh.
fn cached_rate(material: &str) -> Result<f64, Failure> {
    let (mesh, builder) = block([1.0; 3], [SMALL; 3], material)?;
    let (model, q) = (builder.build(), deformed(&mesh));
    let mut g = vec![0.0; model.dofs()];
    Ok(mesh.tets().len() as f64 / best(100, 0.5, || model.gradient(0.0, &q, &mut g)))
}

pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// a ← b + s c over arrays of 64 MB.
struct Triad {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

impl Triad {
    const N: usize = 1 << 23;
    const BYTES: f64 = (3 * Self::N * size_of::<f64>()) as f64;

    fn new() -> Self {
        Self { a: vec![0.0; Self::N], b: vec![1.0; Self::N], c: vec![2.0; Self::N] }
    }

    fn run(&mut self) {
        const CHUNK: usize = 1 << 16;
        let (b, c) = (&self.b, &self.c);
        threads::par_chunks_mut(&mut self.a, CHUNK, |k, a| {
            let from = k * CHUNK..k * CHUNK + a.len();
            for ((a, b), c) in a.iter_mut().zip(&b[from.clone()]).zip(&c[from]) {
                *a = b + 3.0 * c;
            }
        });
        std::hint::black_box(&self.a);
    }
}
