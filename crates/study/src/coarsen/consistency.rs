//! Compares the motion of a coarse scene with that of the fine one: both are run.

use super::report::{ConsistencyEnergy, ConsistencyReport, ConsistencyRunReport};
use crate::citations;
use crate::diagnose;
use lilyan_dynamics::spectrum;
use lilyan_files::atomic::WriteError;
use lilyan_files::json;
use lilyan_report::{Level, Plot, Replay, Report, Series, Table, Verdict, percent, short};
use lilyan_scene::build::{Built, build};
use lilyan_scene::document::SceneError;
use lilyan_scene::schema::Scene;
use lilyan_solid::coarsening::Progress;
use lilyan_solid::mesh::Display;
use std::path::Path;
use std::time::Instant;

/// Frames of a run that are compared and shown.
const FRAMES: usize = 200;
/// Frequencies that are compared.
const MODES: usize = 10;

/// A run: the body as the fine mesh shows it.
struct ConsistencyRun {
    name: &'static str,
    tets: usize,
    frequencies: Vec<f64>,
    times: Vec<f64>,
    /// Vertices of the fine mesh, then the probes, at each time.
    places: Vec<Vec<f64>>,
    /// Total energy, J.
    energy: Vec<f64>,
    /// Wall time of a step, median, s.
    seconds: f64,
    warnings: Vec<String>,
}

/// The fine run and the coarse runs that are compared with it.
pub struct Consistency {
    runs: Vec<ConsistencyRun>,
    probes: Vec<[f64; 3]>,
    vertices: usize,
    triangles: Vec<[u32; 3]>,
}

impl Consistency {
    /// Runs the fine scene, the coarse one without its fit, and the coarse one, up to `end` (s).
    pub fn new(
        fine: &Scene,
        coarse: &Scene,
        body: usize,
        end: f64,
        progress: Progress<'_>,
    ) -> Result<Self, SceneError> {
        let mut reference = fine.clone();
        // All runs use the same integrator, since meshes are compared.
        reference.integrator = coarse.integrator.clone();
        let mut plain = coarse.clone();
        plain.bodies[body].fit = None;
        let built = build(&reference)?;
        let nodes = built.bodies[body].nodes().clone();
        let triangles = nodes.surface().triangles.clone();
        let probes: Vec<[f64; 3]> = fine.probes.iter().filter(|p| p.body == body).map(|p| p.at).collect();
        let probes = if probes.is_empty() { vec![furthest(&built, body)] } else { probes };
        let points: Vec<[f64; 3]> = nodes.points().iter().chain(&probes).copied().collect();
        let mut runs = vec![simulate("fine", &reference, built, body, &points, end, progress)?];
        if coarse.bodies[body].fit.is_some() {
            let built = build(&plain)?;
            runs.push(simulate("coarse", &plain, built, body, &points, end, progress)?);
        }
        let built = build(coarse)?;
        let name = if runs.len() == 1 { "coarse" } else { "corrected" };
        runs.push(simulate(name, coarse, built, body, &points, end, progress)?);
        Ok(Self { runs, probes, vertices: nodes.len(), triangles })
    }

    /// Largest and root-mean-square distance of the probes from the fine run, relative to their largest deflection.
    fn error(&self, run: &ConsistencyRun) -> [f64; 2] {
        let (mut most, mut square, mut count, mut deflection) = (0.0f64, 0.0, 0.0, 0.0f64);
        let fine = &self.runs[0];
        for (a, b) in run.places.iter().zip(&fine.places) {
            for p in 3 * self.vertices..b.len() {
                let moved = b[p] - fine.places[0][p];
                let off = a[p] - run.places[0][p] - moved;
                (most, deflection) = (most.max(off.abs()), deflection.max(moved.abs()));
                (square, count) = (square + off * off, count + 1.0);
            }
        }
        let deflection = deflection.max(f64::MIN_POSITIVE);
        [most / deflection, (square / f64::max(count, 1.0)).sqrt() / deflection]
    }

    /// As data.
    pub fn report(&self) -> ConsistencyReport {
        let fine = &self.runs[0];
        let runs = self.runs.iter().map(|run| {
            let [most, mean] = self.error(run);
            ConsistencyRunReport {
                run: run.name.into(),
                tets: run.tets,
                frequencies_hz: run.frequencies.clone(),
                probe_error_max: most,
                probe_error_rms: mean,
                seconds_per_step: run.seconds,
                cost_ratio: run.seconds / fine.seconds,
                energy: ConsistencyEnergy { initial: run.energy[0], last: run.energy[run.energy.len() - 1] },
                warnings: run.warnings.clone(),
            }
        });
        ConsistencyReport {
            probes: self.probes.clone(),
            end: fine.times[fine.times.len() - 1],
            runs: runs.collect(),
        }
    }

    /// Writes `consistency.json` and `consistency.html`.
    pub fn write(&self, scene: &Scene, directory: &Path) -> Result<(), WriteError> {
        json::write(directory.join("consistency.json"), &self.report())?;
        self.page(scene).write(directory.join("consistency.html"))
    }

    fn page(&self, scene: &Scene) -> Report {
        let last = &self.runs[self.runs.len() - 1];
        let (error, cost) = (self.error(last), last.seconds / self.runs[0].seconds);
        let level = match error[0] {
            e if e <= 0.1 => Level::Pass,
            e if e <= 0.3 => Level::Warn,
            _ => Level::Fail,
        };
        let sentence = format!(
            "the probe is at most {} of its deflection away from the fine run, at {} of its cost per step",
            percent(error[0]),
            percent(cost)
        );
        let mut report =
            Report::new(format!("{}: coarse and fine", scene.title), Verdict::new(level, sentence));
        report.kind = "Consistency of a coarse scene".into();
        report.tables = vec![self.table(), self.frequencies()];
        report.plots = self.plots();
        report.replay = Some(self.replay());
        report.warnings =
            self.runs.iter().flat_map(|r| r.warnings.iter().map(|w| format!("{}: {w}", r.name))).collect();
        report.citations = citations::for_scene(scene);
        report.settings = vec![("scene".into(), scene.to_toml())];
        report
    }

    fn table(&self) -> Table {
        let header = ["run", "tets", "probe off by, at most", "on average", "ms per step", "cost"];
        let rows = self.runs.iter().map(|run| {
            let [most, mean] = self.error(run);
            let cost = run.seconds / self.runs[0].seconds;
            let tets = run.tets.to_string();
            vec![run.name.into(), tets, percent(most), percent(mean), short(1e3 * run.seconds), percent(cost)]
        });
        Table {
            title: "Runs".into(),
            header: header.map(String::from).to_vec(),
            rows: rows.collect(),
            note: "Distances relative to the largest deflection of the probe in the fine run.".into(),
        }
    }

    fn frequencies(&self) -> Table {
        let mut header = vec!["mode".to_string()];
        header.extend(self.runs.iter().map(|r| format!("{} (Hz)", r.name)));
        let count = self.runs.iter().map(|r| r.frequencies.len()).min().unwrap_or(0);
        let rows = (0..count).map(|k| {
            let fine = self.runs[0].frequencies[k];
            let cell = |r: &ConsistencyRun| match r.name {
                "fine" => short(fine),
                _ => {
                    format!("{} ({:+.1} %)", short(r.frequencies[k]), 100.0 * (r.frequencies[k] / fine - 1.0))
                }
            };
            std::iter::once((k + 1).to_string()).chain(self.runs.iter().map(cell)).collect()
        });
        let rows = rows.collect();
        Table {
            title: "Frequencies at rest".into(),
            header,
            rows,
            note: "In order, rigid motions left out.".into(),
        }
    }

    fn plots(&self) -> Vec<Plot> {
        // The component that moves most.
        let fine = &self.runs[0];
        let swing =
            |p: usize| fine.places.iter().map(|x| (x[p] - fine.places[0][p]).abs()).fold(0.0, f64::max);
        let probed = 3 * self.vertices..3 * self.vertices + 3;
        let p = probed.clone().max_by(|a, b| swing(*a).total_cmp(&swing(*b))).unwrap_or(probed.start);
        let line = |run: &ConsistencyRun, y: Vec<f64>| Series::line(run.name, &run.times, &y);
        let moved =
            |run: &ConsistencyRun| line(run, run.places.iter().map(|x| x[p] - run.places[0][p]).collect());
        let axis = ["x", "y", "z"][p % 3];
        let energy = |run: &ConsistencyRun| line(run, run.energy.clone());
        vec![
            Plot::over_time(
                format!("Displacement of the probe along {axis}"),
                "m",
                self.runs.iter().map(moved).collect(),
            ),
            Plot::over_time("Energy", "J", self.runs.iter().map(energy).collect()),
        ]
    }

    /// All runs beside each other, on the surface of the fine mesh, coloured by the distance from the fine run.
    fn replay(&self) -> Replay {
        let n = 3 * self.vertices;
        let start = &self.runs[0].places[0][..n];
        let wide = (0..3).map(|k| {
            let x = start.iter().skip(k).step_by(3);
            let [a, b] = x.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(*x), b.max(*x)]);
            b - a
        });
        // Beside each other along the axis in which they are shortest.
        let (axis, width) = wide.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((2, 1.0));
        let swept = self.runs.iter().flat_map(|r| &r.places).map(|x| {
            x.iter().take(n).zip(start).skip(axis).step_by(3).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()))
        });
        let gap = 1.3 * width + swept.fold(0.0, f64::max);
        let placed = |k: usize| -> Vec<f64> {
            let one = |(c, run): (usize, &ConsistencyRun)| {
                let shift = move |i: usize| if i % 3 == axis { gap * c as f64 } else { 0.0 };
                run.places[k][..n].iter().enumerate().map(move |(i, x)| x + shift(i)).collect::<Vec<f64>>()
            };
            self.runs.iter().enumerate().flat_map(one).collect()
        };
        let copies = 0..self.runs.len() as u32;
        let shift = |c: u32| move |t: &[u32; 3]| t.map(|v| v + c * self.vertices as u32);
        let triangles: Vec<[u32; 3]> =
            copies.clone().flat_map(|c| self.triangles.iter().map(shift(c))).collect();
        let mut replay =
            Replay::new(&placed(0), &triangles, &[]).with_field("distance from the fine run", "m");
        for c in copies {
            let label = format!("{}, {} tets", self.runs[c as usize].name, self.runs[c as usize].tets);
            replay = replay.with_label(label, c * self.vertices as u32..(c + 1) * self.vertices as u32);
        }
        let frames = self.runs.iter().map(|r| r.places.len()).min().unwrap_or(0);
        for k in 0..frames {
            let fine = &self.runs[0].places[k][..n];
            let off = self.runs.iter().flat_map(|run| {
                let pairs = run.places[k][..n].chunks_exact(3).zip(fine.chunks_exact(3));
                pairs.map(|(a, b)| (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt())
            });
            replay.push(self.runs[0].times[k], &placed(k), &[&off.collect::<Vec<f64>>()]);
        }
        replay
    }
}

/// The vertex that is furthest from what is held, or from the middle.
fn furthest(built: &Built, body: usize) -> [f64; 3] {
    let body = &built.bodies[body];
    let pinned: Vec<u32> =
        built.simulation.system().pins().iter().flat_map(|p| p.nodes.iter().copied()).collect();
    let points = body.nodes().points();
    let own: Vec<[f64; 3]> =
        (pinned.iter().filter_map(|n| body.dofs.local(*n))).map(|n| points[n as usize]).collect();
    let from = if own.is_empty() { points } else { &own };
    let centre = [0, 1, 2].map(|k| from.iter().map(|x| x[k]).sum::<f64>() / from.len() as f64);
    let far = |x: &&[f64; 3]| (0..3).map(|k| (x[k] - centre[k]).powi(2)).sum::<f64>();
    let all = points.iter();
    all.max_by(|a, b| far(a).total_cmp(&far(b))).copied().unwrap_or(centre)
}

/// Runs a scene and follows points of the fine mesh in it.
fn simulate(
    name: &'static str,
    scene: &Scene,
    mut built: Built,
    body: usize,
    points: &[[f64; 3]],
    end: f64,
    progress: Progress<'_>,
) -> Result<ConsistencyRun, SceneError> {
    let mark = &scene.bodies[body].mark;
    let fail = |what: String| mark.error(format!("the {name} run cannot be compared: {what}"));
    let rest = built.rest_positions();
    let modes =
        spectrum::modes(built.simulation.system(), &rest, MODES + 6).map_err(|e| fail(e.to_string()))?;
    let stiffest = modes.values.last().copied().unwrap_or(0.0);
    let elastic = modes.values.iter().filter(|v| **v > 1e-7 * stiffest);
    let frequencies = elastic.take(MODES).map(|v| v.sqrt() / (2.0 * std::f64::consts::PI)).collect();
    let of = &built.bodies[body];
    let dofs = of.dofs.clone();
    let map = Display::new(dofs.nodes(), points).ok_or_else(|| fail("a point is not finite".into()))?;
    let mut run = ConsistencyRun {
        name,
        tets: dofs.nodes().tets().len(),
        frequencies,
        times: Vec::new(),
        places: Vec::new(),
        energy: Vec::new(),
        seconds: 0.0,
        warnings: Vec::new(),
    };
    let steps = ((end / scene.time.step).round() as usize).max(1);
    let every = steps.div_ceil(FRAMES);
    let mut durations = Vec::with_capacity(steps);
    for k in 0..=steps {
        if k % every == 0 {
            run.times.push(built.simulation.state().t);
            run.places.push(map.place(dofs.part(&built.simulation.state().q)));
            run.energy.push(built.simulation.total_energy());
            progress(&format!("{name} run"), k as f64 / steps as f64);
        }
        if k < steps {
            let began = Instant::now();
            built.simulation.advance().map_err(|e| fail(e.to_string()))?;
            durations.push(began.elapsed().as_secs_f64());
        }
    }
    durations.sort_by(f64::total_cmp);
    run.seconds = durations[durations.len() / 2];
    run.warnings = diagnose::fit_warnings(&built);
    Ok(run)
}
