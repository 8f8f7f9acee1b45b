//! Pictures of a sweep: parallel coordinates, and one small plot for each run.

use super::{RunState, SweepReport, SweepRow};
use lilyan_files::csv::Table;
use lilyan_files::markup::escape;
use lilyan_report::{Picture, decimate, short};
use std::fmt::Write;
use std::path::Path;

/// Most lines of the parallel coordinates.
const MOST_LINES: usize = 2_000;
/// Most small plots.
const MOST_PANELS: usize = 120;
/// Most results that get an axis.
const MOST_RESULTS: usize = 4;

/// The colour class of a run: that of its verdict.
fn tone(row: &SweepRow) -> &'static str {
    match (row.state, row.verdict_level.as_str()) {
        (RunState::Finished, "pass") => "pass",
        (RunState::Finished, "warn") => "warn",
        _ => "fail",
    }
}

fn words(report: &SweepReport, row: &SweepRow) -> String {
    let values = report.keys.iter().zip(&row.values).map(|(k, v)| format!("{k} = {v}"));
    format!("run {}: {}", row.index, values.collect::<Vec<_>>().join(", "))
}

/// The results that tell runs apart: those that vary, what probes find first.
pub(super) fn telling_results(report: &SweepReport) -> Vec<&str> {
    let varies = |column: &&str| {
        let values: Vec<f64> = report.rows.iter().filter_map(|r| r.results.get(*column).copied()).collect();
        let [low, high] = bounds(&values);
        high - low > 1e-9 * low.abs().max(high.abs())
    };
    let mut columns: Vec<&str> = report.columns().into_iter().filter(varies).collect();
    // Places at the end and how far they went come before smallest values, and all of them before figures of the solver.
    let rank = |c: &str| match c {
        "energy_unaccounted" => 1,
        c if c.ends_with(" final") => 0,
        c if c.ends_with(" max") => 2,
        c if c.ends_with(" min") => 3,
        "energy_final" => 2,
        _ => 4,
    };
    columns.sort_by_key(|c| rank(c));
    columns
}

pub(super) fn bounds(values: &[f64]) -> [f64; 2] {
    let finite = values.iter().copied().filter(|x| x.is_finite());
    finite.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)])
}

/// An axis of the parallel coordinates.
struct Axis {
    name: String,
    /// From 0, the bottom, to 1, for each row.
    heights: Vec<Option<f64>>,
    /// Heights with their labels.
    marks: Vec<(f64, String)>,
}

impl Axis {
    fn of_values(name: &str, values: &[Option<f64>]) -> Self {
        let known: Vec<f64> = values.iter().flatten().copied().collect();
        let [low, high] = bounds(&known);
        // Values over more than two decades get a logarithmic axis.
        let logarithmic = low > 0.0 && high >= 99.0 * low;
        let map = |x: f64| if logarithmic { x.ln() } else { x };
        let (a, b) = (map(low), map(high));
        let height = |x: f64| match b > a {
            true => (map(x) - a) / (b - a),
            false => 0.5,
        };
        let mut marks = vec![(height(low), short(low))];
        if high > low {
            marks.push((1.0, short(high)));
        }
        Self {
            name: name.to_string(),
            heights: values.iter().map(|v| v.filter(|x| x.is_finite()).map(height)).collect(),
            marks,
        }
    }

    /// Words stand at equal distances in the order in which they come.
    fn of_words(name: &str, values: &[&str]) -> Self {
        let mut words: Vec<&str> = Vec::new();
        values.iter().for_each(|v| {
            if !words.contains(v) {
                words.push(v);
            }
        });
        let place = |k: usize| if words.len() > 1 { k as f64 / (words.len() - 1) as f64 } else { 0.5 };
        let height = |v: &&str| words.iter().position(|w| w == v).map(place);
        Self {
            name: name.to_string(),
            heights: values.iter().map(height).collect(),
            marks: words.iter().enumerate().take(12).map(|(k, w)| (place(k), shortened(w, 18))).collect(),
        }
    }
}

fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_string(),
    }
}

fn axes(report: &SweepReport, rows: &[&SweepRow]) -> Vec<Axis> {
    let mut axes = Vec::new();
    for (k, key) in report.keys.iter().enumerate() {
        let words: Vec<&str> = rows.iter().map(|r| r.values[k].as_str()).collect();
        let numbers: Vec<Option<f64>> = words.iter().map(|w| w.parse().ok()).collect();
        axes.push(match numbers.iter().all(Option::is_some) {
            true => Axis::of_values(key, &numbers),
            false => Axis::of_words(key, &words),
        });
    }
    for name in telling_results(report).into_iter().take(MOST_RESULTS) {
        let values: Vec<Option<f64>> = rows.iter().map(|r| r.results.get(name).copied()).collect();
        axes.push(Axis::of_values(name, &values));
    }
    axes
}

/// One line for each run through the values that it was given and what came out.
pub(super) fn parallel_coordinates(report: &SweepReport) -> Picture {
    let stride = report.rows.len().div_ceil(MOST_LINES).max(1);
    let rows: Vec<&SweepRow> = report.rows.iter().step_by(stride).collect();
    let axes = axes(report, &rows);
    let (width, height, top, side) = (150.0 * axes.len() as f64 + 60.0, 300.0, 34.0, 90.0);
    let x = |k: usize| side + (width - 2.0 * side) * k as f64 / (axes.len().max(2) - 1) as f64;
    let y = |h: f64| top + (height - top - 24.0) * (1.0 - h);
    let mut svg =
        format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"Parallel coordinates\">");
    for (r, row) in rows.iter().enumerate() {
        let points = axes.iter().enumerate().filter_map(|(k, a)| Some((x(k), y(a.heights[r]?))));
        let points: Vec<String> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = write!(
            svg,
            "<polyline class=\"{}\" points=\"{}\"><title>{}</title></polyline>",
            tone(row),
            points.join(" "),
            escape(&words(report, row))
        );
    }
    for (k, axis) in axes.iter().enumerate() {
        let _ = write!(
            svg,
            "<line class=\"axis\" x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{2:.1}\"/><text class=\"name\" x=\"{0:.1}\" y=\"14\">{3}<title>{4}</title></text>",
            x(k),
            y(0.0),
            y(1.0),
            escape(&shortened(axis.name.rsplit_once('.').map_or(&axis.name, |(_, last)| last), 22)),
            escape(&axis.name)
        );
        for (h, text) in &axis.marks {
            let _ = write!(
                svg,
                "<text class=\"mark\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x(k) + 6.0,
                y(*h) + 4.0,
                escape(text)
            );
        }
    }
    svg.push_str("</svg>");
    let left_out = match stride {
        1 => String::new(),
        n => format!(" Every {n}th run is drawn."),
    };
    Picture {
        title: "Parallel coordinates".into(),
        svg,
        note: format!(
            "One line for each run, through the values that it was given (left) and what came out (right), coloured by its verdict; \
             the pointer on a line tells which run it is. Axes over more than two decades are logarithmic.{left_out}"
        ),
    }
}

fn values_in_short(row: &SweepRow) -> String {
    let value = |text: &String| text.parse().map_or(text.clone(), short);
    row.values.iter().map(value).collect::<Vec<_>>().join(", ")
}

/// The curve of a run: distance of the first probe from its start, or the total energy where there is no probe.
fn curve(folder: &Path) -> Option<(Vec<f64>, Vec<f64>)> {
    let read = |name: &str| Table::parse(&std::fs::read_to_string(folder.join(name)).ok()?).ok();
    if let Some(probes) = read("probes.csv").filter(|t| t.columns().len() >= 4 && !t.is_empty()) {
        let start: Vec<f64> = probes.rows().next()?[1..4].to_vec();
        let way = |row: &[f64]| (1..4).map(|k| (row[k] - start[k - 1]).powi(2)).sum::<f64>().sqrt();
        return Some(probes.rows().map(|row| (row[0], way(row))).unzip());
    }
    let energy = read("energy.csv")?;
    Some((energy.column("t")?, energy.column("total")?))
}

/// Small multiples: the same plot for each run, with the same axes.
pub(super) fn small_multiples(report: &SweepReport, directory: &Path) -> Option<Picture> {
    let stride = report.rows.len().div_ceil(MOST_PANELS).max(1);
    let panels: Vec<_> = report
        .rows
        .iter()
        .step_by(stride)
        .filter_map(|row| Some((row, curve(&directory.join("runs").join(&row.id))?)))
        .collect();
    let [_, t] = bounds(&panels.iter().flat_map(|(_, (t, _))| t.iter().copied()).collect::<Vec<_>>());
    let [low, high] = bounds(&panels.iter().flat_map(|(_, (_, y))| y.iter().copied()).collect::<Vec<_>>());
    if !(t > 0.0 && high > low) {
        return None;
    }
    const COLUMNS: usize = 6;
    let (w, h) = (150.0, 84.0);
    let lines = panels.len().div_ceil(COLUMNS);
    let (width, height) = (w * COLUMNS.min(panels.len()) as f64, h * lines as f64);
    let mut svg =
        format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"Small multiples\">");
    for (k, (row, (times, values))) in panels.iter().enumerate() {
        let (x0, y0) = ((k % COLUMNS) as f64 * w, (k / COLUMNS) as f64 * h);
        let (times, values) = decimate(times, values, 200);
        let place = |(x, y): (&f64, &f64)| {
            let at = y0 + 18.0 + (h - 26.0) * (1.0 - (y - low) / (high - low));
            y.is_finite().then(|| format!("{:.1},{at:.1}", x0 + 4.0 + (w - 12.0) * x / t))
        };
        let points: Vec<String> = times.iter().zip(&values).filter_map(place).collect();
        let _ = write!(
            svg,
            "<g><title>{4}</title><rect class=\"panel\" x=\"{0:.1}\" y=\"{1:.1}\" width=\"{2:.1}\" height=\"{3:.1}\"/><text class=\"label\" x=\"{0:.1}\" y=\"{5:.1}\">{6}</text><polyline class=\"{7}\" points=\"{8}\"/></g>",
            x0 + 4.0,
            y0 + 16.0,
            w - 12.0,
            h - 22.0,
            escape(&words(report, row)),
            y0 + 11.0,
            escape(&shortened(&format!("{}: {}", row.index, values_in_short(row)), 26)),
            tone(row),
            points.join(" ")
        );
    }
    svg.push_str("</svg>");
    let left_out = if stride > 1 { format!(" Every {stride}th run is drawn.") } else { String::new() };
    Some(Picture {
        title: "Small multiples".into(),
        svg,
        note: format!(
            "The first probe's distance from its start (without probes: the total energy) of each run over 0 to {} s, from {} to {}.{left_out}",
            short(t),
            short(low),
            short(high)
        ),
    })
}
