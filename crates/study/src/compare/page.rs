//! The report of a comparison.

use super::table::{Columns, reference_line};
use super::{Comparison, ConfiguredIntegrator, Goal, side_by_side};
use crate::citations;
use lilyan_report::{Band, Level, Plot, Report, Series, Style, Table, Verdict, percent, short};
use lilyan_scene::schema::Scene;

/// The page, the verdict first.
pub(super) fn report(scene: &Scene, c: &Comparison) -> Report {
    let mut report = Report::new(&scene.title, verdict(c));
    report.kind = "Comparison of integrators".into();
    let (methods, runs) = (c.methods().len(), c.rows.len());
    report.subtitle =
        format!("{methods} integrators, {runs} runs of {} s, {} tets", short(scene.time.end), c.elements);
    report.motion_last = true;
    report.warnings = c.notes.clone();
    report.facts = facts(c);
    report.tables = vec![advice(c)];
    report.appendix = vec![table(c)];
    report.plots = plots(scene, c);
    report.replay = side_by_side::replay(scene, c);
    report.settings = vec![("scene".into(), scene.to_toml())];
    let mut keys: Vec<&str> = c.methods().iter().map(|m| m.entry().cite).collect();
    if c.reference.extrapolated.is_some() {
        keys.push("richardson1911");
    }
    report.citations = citations::for_scene(scene);
    for citation in keys.into_iter().filter_map(citations::find) {
        if !report.citations.contains(&citation) {
            report.citations.push(citation);
        }
    }
    report.provenance = vec![
        ("program".into(), format!("lilyan {}", env!("CARGO_PKG_VERSION"))),
        ("scene hash".into(), scene.hash()),
    ];
    report
}

fn verdict(c: &Comparison) -> Verdict {
    let met = |goal: Goal| c.advice.iter().find(|a| a.goal == goal).and_then(|a| a.row.map(|k| (a, k)));
    let (level, found) = match (met(Goal::Error(0.01)), met(Goal::Error(0.05))) {
        (Some(found), _) => (Level::Pass, Some(found)),
        (None, Some(found)) => (Level::Warn, Some(found)),
        (None, None) => (Level::Fail, None),
    };
    match found {
        Some((advice, k)) => {
            let row = &c.rows[k];
            let headline = format!("Use {} with a step of {} s", row.method, short(row.step));
            let lead = match level {
                Level::Pass => String::new(),
                _ => "no run reaches 1 %. ".into(),
            };
            Verdict {
                level,
                headline,
                sentence: format!("{lead}For {}: {}", advice.goal.name(), advice.text),
            }
        }
        None => {
            let text = c.advice.iter().find(|a| a.goal == Goal::Error(0.05)).map(|a| a.text.clone());
            Verdict { level, headline: "None is accurate enough".into(), sentence: text.unwrap_or_default() }
        }
    }
}

fn facts(c: &Comparison) -> Vec<(String, String)> {
    let own = c.reference.error.map_or("not known".into(), |e| format!("about {}", percent(e)));
    vec![
        ("size of the motion".into(), format!("{} m", short(c.reference.size))),
        ("energy in play".into(), format!("{} J", short(c.in_play))),
        ("reference's own error".into(), own),
        ("runs that finished".into(), {
            let finished = c.rows.iter().filter(|r| r.finished()).count();
            format!("{finished} of {}", c.rows.len())
        }),
        ("threads".into(), lilyan_parallel::threads::threads().to_string()),
    ]
}

fn advice(c: &Comparison) -> Table {
    let rows = c.advice.iter().map(|a| {
        let row = a.row.map(|k| &c.rows[k]);
        vec![
            a.goal.name(),
            row.map_or("none".into(), |r| format!("{}, {} s", r.method, short(r.step))),
            a.text.clone(),
        ]
    });
    Table {
        title: "Advice".into(),
        header: ["For", "Use", "Why"].map(String::from).to_vec(),
        rows: rows.collect(),
        note: format!("Compared with {}.", reference_line(c)),
    }
}

fn table(c: &Comparison) -> Table {
    let columns = Columns::of(c);
    Table {
        title: "All runs".into(),
        header: columns.header(),
        rows: (0..c.rows.len()).map(|k| columns.cells(c, k)).collect(),
        note: "error: distance from the reference, root mean square over all nodes (by mass) and times, relative \
               to the size of the motion; probe: that of the worst probe. s per s: wall time per simulated \
               second. energy: largest gain or loss that nothing accounts for, relative to the energy in play. \
               momentum, angular: largest change relative to all that moves. order: slope of the error over the \
               step."
            .into(),
    }
}

fn plots(scene: &Scene, c: &Comparison) -> Vec<Plot> {
    let methods: Vec<&ConfiguredIntegrator> =
        c.methods().into_iter().filter(|m| c.rows.iter().any(|r| r.method == **m && r.finished())).collect();
    let curve = |m: &&ConfiguredIntegrator, x: &dyn Fn(&super::ComparisonRow) -> Option<f64>| {
        let own = c.rows.iter().filter(|r| r.method == **m);
        let (x, y): (Vec<f64>, Vec<f64>) = own.filter_map(|r| Some((x(r)?, 100.0 * r.error()?))).unzip();
        Series::line(m.to_string(), &x, &y).styled(Style::LineAndPoints)
    };
    let below_one = Some(Band { low: 0.0, high: 1.0, label: "below 1 %".into() });
    let precision = Plot {
        title: "Work and precision".into(),
        x_label: "wall time per simulated second, s".into(),
        y_label: "error, %".into(),
        series: methods.iter().map(|m| curve(m, &|r| r.cost())).collect(),
        log_x: true,
        log_y: true,
        note: "Left and low is good. One point per step.".into(),
        band: below_one.clone(),
        time_axis: false,
    };
    let convergence = Plot {
        title: "Error and step".into(),
        x_label: "step, s".into(),
        series: methods.iter().map(|m| curve(m, &|r| Some(r.mean_step()))).collect(),
        note: "The slope is the order.".into(),
        ..precision.clone()
    };
    let typical: Vec<usize> = methods.iter().filter_map(|m| c.typical(m, scene.time.step)).collect();
    let name = |k: usize| format!("{}, {} s", c.rows[k].method, short(c.rows[k].step));
    let share = if c.in_play > 0.0 { 100.0 / c.in_play } else { 1.0 };
    let mut energy: Vec<Series> = typical
        .iter()
        .map(|&k| Series::line(name(k), &c.rows[k].energies.t, &c.rows[k].energies.total))
        .collect();
    let own = &c.reference.energies;
    energy.push(Series::line("reference", &own.t, &own.total).dashed());
    let gained = typical.iter().map(|&k| {
        let e = &c.rows[k].energies;
        Series::line(name(k), &e.t, &e.gained.iter().map(|x| share * x).collect::<Vec<f64>>())
    });
    let gained = gained.collect();
    vec![
        precision,
        convergence,
        Plot::over_time("Energy", "J", energy),
        Plot::over_time("Energy gained (+) or lost (−) by the integrator", "% of the energy in play", gained),
    ]
}
