//! A report made of invented data: a bar that tumbles and bends. To look at the page itself.
//!
//! ```text
//! cargo run -p lilyan-report --example sample_report -- out/report.html [pass|warn|fail]
//! ```

use lilyan_report::{Band, Check, Citation, Level, Plot, Replay, Report, Series, Style, Verdict, percent};

const CELLS: [usize; 3] = [32, 8, 8];
const SIZE: [f64; 3] = [4.0, 1.0, 1.0];
const END: f64 = 8.0;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let path = arguments.get(1).map_or("report.html", String::as_str);
    let level = match arguments.get(2).map(String::as_str) {
        Some("fail") => Level::Fail,
        Some("warn") => Level::Warn,
        _ => Level::Pass,
    };
    if let Err(error) = sample(level).write(path) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

/// The grid's points and the quads of its six sides, cut in two.
fn bar() -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let [nx, ny, nz] = CELLS;
    let number = |i: usize, j: usize, k: usize| ((i * (ny + 1) + j) * (nz + 1) + k) as u32;
    let mut points = Vec::new();
    for i in 0..=nx {
        for j in 0..=ny {
            for k in 0..=nz {
                points.push([i, j, k].map(|n| n as f64));
            }
        }
    }
    for p in &mut points {
        for d in 0..3 {
            p[d] = p[d] / CELLS[d] as f64 * SIZE[d];
        }
    }
    let mut triangles = Vec::new();
    let mut quad = |a, b, c, d, flip: bool| {
        let sides = if flip { [[a, c, b], [a, d, c]] } else { [[a, b, c], [a, c, d]] };
        triangles.extend(sides);
    };
    for i in 0..nx {
        for j in 0..ny {
            for (k, flip) in [(0, true), (nz, false)] {
                quad(
                    number(i, j, k),
                    number(i + 1, j, k),
                    number(i + 1, j + 1, k),
                    number(i, j + 1, k),
                    flip,
                );
            }
        }
        for k in 0..nz {
            for (j, flip) in [(0, false), (ny, true)] {
                quad(
                    number(i, j, k),
                    number(i + 1, j, k),
                    number(i + 1, j, k + 1),
                    number(i, j, k + 1),
                    flip,
                );
            }
        }
    }
    for j in 0..ny {
        for k in 0..nz {
            for (i, flip) in [(0, true), (nx, false)] {
                quad(
                    number(i, j, k),
                    number(i, j + 1, k),
                    number(i, j + 1, k + 1),
                    number(i, j, k + 1),
                    flip,
                );
            }
        }
    }
    (points, triangles)
}

/// Where the bar is at time t: bent, twisted, turned and thrown; and a made-up stress.
fn shape(rest: &[[f64; 3]], t: f64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut positions = Vec::new();
    let (mut stress, mut speed) = (Vec::new(), Vec::new());
    let (bend, twist) = (0.35 * (3.1 * t).cos(), 0.5 * (4.3 * t).sin());
    for r in rest {
        let s = r[0] / SIZE[0] - 0.5;
        let p = [r[0] - 2.0, r[1] - 0.5 + bend * (4.0 * s * s - 0.35) * 1.6, r[2] - 0.5];
        let (c, n) = ((twist * s).cos(), (twist * s).sin());
        let p = [p[0], c * p[1] - n * p[2], n * p[1] + c * p[2]];
        let (c, n) = ((0.9 * t).cos(), (0.9 * t).sin());
        let p = [c * p[0] - n * p[1], n * p[0] + c * p[1], p[2]];
        positions.extend([p[0] + 0.25 * t, p[1] + 2.2 + 1.6 * t - 0.2 * t * t, p[2]]);
        let lever = (r[1] - 0.5).hypot(0.4 * (r[2] - 0.5));
        stress.push(9e4 * (bend.abs() * lever * (1.0 - 3.6 * s * s).max(0.0) + 0.1 * twist.abs() * lever));
        speed.push(0.9 * p[0].hypot(p[1]) + 0.2);
    }
    (positions, stress, speed)
}

fn replay() -> Replay {
    let (rest, triangles) = bar();
    let (start, _, _) = shape(&rest, 0.0);
    let pinned: Vec<u32> = (0..rest.len() as u32).filter(|&v| rest[v as usize][0] == 0.0).collect();
    let mut replay = Replay::new(&start, &triangles, &[])
        .with_field("von Mises stress", "Pa")
        .with_field("speed", "m/s")
        .with_pinned(&pinned)
        .with_ground([0.0; 3], [0.0, 1.0, 0.0]);
    for n in 0..=400 {
        let t = END * n as f64 / 400.0;
        let (positions, stress, speed) = shape(&rest, t);
        replay.push(t, &positions, &[&stress, &speed]);
    }
    replay
}

fn checks(level: Level) -> Vec<Check> {
    let (energy, angular) = match level {
        Level::Pass => (3.1e-3, 2.4e-14),
        Level::Warn => (2.7e-2, 2.4e-14),
        Level::Fail => (0.64, 1.3e-3),
    };
    let mut checks = vec![
        Check::at_most(
            "Total energy",
            "conserved; largest excursion relative to the initial energy",
            energy,
            0.01,
            "A symplectic method keeps it in a band that shrinks with the square of the step, without drift",
        ),
        Check::at_most(
            "Linear momentum",
            "conserved: no external force",
            1.2e-15,
            1e-12,
            "Forces inside a body cancel in pairs; only rounding remains",
        ),
        Check::at_most(
            "Angular momentum",
            "conserved: no external torque",
            angular,
            1e-8,
            "Noether: the discrete action does not change under rotations; the solver's tolerance remains",
        ),
        Check::at_most(
            "Energy budget",
            "initial + work − dissipated − final",
            4.4e-7,
            1e-6,
            "What the method itself dissipates is counted separately",
        ),
        Check::at_most("Solver", "every step converged to the tolerance", 0.0, 1e-8, "2,000 of 2,000 steps"),
    ];
    checks[0].measured = percent(energy);
    checks[0].allowed = percent(0.01);
    checks
}

fn sample(level: Level) -> Report {
    let checks = checks(level);
    let verdict = match level {
        Level::Pass => {
            Verdict::new(level, "energy stayed within 0.31 % without drift, momenta exact to 2e-14.")
        }
        Level::Warn => Verdict::new(
            level,
            "energy moved by 2.7 %, more than the 1 % allowed; momenta exact to 2e-14. Halve the step.",
        ),
        Level::Fail => Verdict::stopped(
            5.12,
            "Newton did not converge after 10 halvings of the step; energy had grown by 64 % by then.",
        ),
    };
    let mut report = Report::new("Bar tumbling in space", verdict);
    report.subtitle =
        "variational (α = 0.5) · h = 4 ms · 12,288 tets · stable neo-Hookean, E = 100 kPa, ν = 0.3".into();
    report.checks = checks;
    if level == Level::Warn {
        report.warnings.push(
            "7 tets were turned inside out in the file and have been flipped (first: tet 1,204).".into(),
        );
    }
    let fact = |name: &str, value: &str| (name.to_string(), value.to_string());
    report.facts = vec![
        fact("Simulated", "8 s"),
        fact("Steps", "2,000"),
        fact("Wall time", "41.3 s"),
        fact("Per step, median", "20.1 ms"),
        fact("Newton iterations", "3.2 per step"),
        fact("Unknowns", "8,019"),
        fact("Memory", "212 MB"),
    ];
    report.replay = Some(replay());
    report.plots = plots(level);
    report.settings = vec![
        fact("time.end", "8 s"),
        fact("time.step", "0.004 s"),
        fact("integrator.name", "variational"),
        fact("integrator.alpha", "0.5"),
        fact("integrator.tolerance", "1e-8"),
        fact("body.bar.mesh", "box 4 × 1 × 1 m, 32 × 8 × 8 cells"),
        fact("body.bar.material", "stable neo-Hookean, E = 1e5 Pa, ν = 0.3, ρ = 1000 kg/m³"),
    ];
    report.citations = vec![Citation {
        text: "Marsden, West: Discrete mechanics and variational integrators. Acta Numerica 10 (2001)."
            .into(),
        url: Some("https://doi.org/10.1017/S096249290100006X".into()),
    }];
    report.provenance =
        vec![fact("lilyan", env!("CARGO_PKG_VERSION")), fact("scene hash", "9c1e0a77"), fact("threads", "2")];
    report
}

fn plots(level: Level) -> Vec<Plot> {
    let n = 20_000;
    let growth = if level == Level::Fail { 0.08 } else { 0.0 };
    let band = if level == Level::Warn { 0.027 } else { 0.0031 };
    let t: Vec<f64> = (0..=n).map(|k| END * k as f64 / n as f64).collect();
    let over = |f: &dyn Fn(f64) -> f64| -> Vec<f64> { t.iter().map(|&t| f(t)).collect() };
    let elastic = |t: f64| 640.0 * (3.1 * t).cos().powi(2);
    let drift =
        |t: f64| band * (0.6 * (6.2 * t).sin() * (41.0 * t).cos() - 0.4 * (17.0 * t).cos()) + growth * t;
    let total = |t: f64| 1840.0 * (1.0 + drift(t));
    let noise = |t: f64, f: f64| ((t * f).sin() * 43758.5453).fract();
    let mut energy = Plot::over_time(
        "Energy",
        "energy, J",
        vec![
            Series::line("kinetic", &t, &over(&|t| total(t) - elastic(t))),
            Series::line("elastic", &t, &over(&elastic)),
            Series::line("total", &t, &over(&total)),
        ],
    );
    energy.note = "Kinetic and elastic energy trade places; their sum should stay level.".into();
    let mut relative =
        Plot::over_time("Energy error", "(E − E₀)/E₀", vec![Series::line("total energy", &t, &over(&drift))]);
    relative.band = Some(Band { low: -0.01, high: 0.01, label: "allowed: ±1 %".into() });
    relative.note = "A band is the method's nature; a slope would be a loss.".into();
    let momenta = |scale: f64| over(&|t| scale * (0.2 + t.sqrt()) * (1.0 + 0.5 * noise(t, 91.7).abs()));
    let mut momentum = Plot::over_time(
        "Momentum error",
        "relative",
        vec![
            Series::line("linear", &t, &momenta(4e-16)),
            Series::line("angular", &t, &momenta(if level == Level::Fail { 4e-4 } else { 6e-15 })),
        ],
    );
    momentum.log_y = true;
    momentum.band = Some(Band { low: 0.0, high: 1e-8, label: "allowed: 1e-8".into() });
    let budget = Plot::over_time(
        "Dissipation",
        "energy, J",
        vec![
            Series::line("physical", &t, &over(&|t| 0.3 * (1.0 - (-0.4 * t).exp()))),
            Series::line("numerical", &t, &over(&|t| 2e-4 * t)).dashed(),
        ],
    );
    let steps: Vec<f64> = t.iter().copied().step_by(10).collect();
    let iterations: Vec<f64> = steps.iter().map(|&t| (3.4 + noise(t, 17.3)).round()).collect();
    let newton = Plot::over_time(
        "Newton iterations",
        "per step",
        vec![Series::line("iterations", &steps, &iterations).styled(Style::Steps)],
    );
    let mut probe = Plot::over_time(
        "Probe: tip of the bar",
        "position, m",
        vec![
            Series::line("x", &t, &over(&|t| 2.0 * (0.9 * t).cos() + 0.25 * t)),
            Series::line(
                "y",
                &t,
                &over(&|t| {
                    if (t - 4.0).abs() < 0.1 {
                        f64::NAN
                    } else {
                        2.0 * (0.9 * t).sin() + 2.2 + 1.6 * t - 0.2 * t * t
                    }
                }),
            ),
            Series::line("z", &t, &over(&|t| 0.2 * (4.3 * t).sin())),
        ],
    );
    probe.note = "The gap is a sample that was not finite.".into();
    vec![energy, relative, momentum, budget, newton, probe]
}
