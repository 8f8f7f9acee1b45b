//! `report.html` of a sweep.

use super::picture::{parallel_coordinates, small_multiples, telling_results};
use super::{Plan, RunState, SweepError, SweepReport, SweepRow};
use lilyan_report::{Level, Plot, Report, Series, Style, Table, Verdict, short};
use std::collections::BTreeMap;
use std::path::Path;

/// Most runs in the table of the page; `sweep.csv` has all.
const MOST_ROWS: usize = 500;
/// Most curves in a plot.
const MOST_SERIES: usize = 8;

/// Writes `report.html`: the state of the sweep, parallel coordinates, small multiples, results over the varied keys, and the verdict of
/// each run.
pub fn write_page(plan: &Plan, report: &SweepReport, directory: &Path) -> Result<(), SweepError> {
    let mut page = Report::new(&report.title, verdict(report));
    page.kind = "Sweep".into();
    let keys = plan.keys().join(", ");
    page.subtitle = format!("{} of {} runs; varied: {keys}", report.rows.len(), report.planned);
    page.facts = [RunState::Finished, RunState::Failed, RunState::Refused, RunState::Crashed]
        .into_iter()
        .map(|state| (state.name().to_string(), report.count(state).to_string()))
        .filter(|(_, count)| count != "0")
        .collect();
    if !report.rows.is_empty() {
        page.pictures.push(parallel_coordinates(report));
        page.pictures.extend(small_multiples(report, directory));
    }
    page.plots = plots(report);
    page.appendix = vec![table(report)];
    page.settings = vec![("scene".into(), plan.scene_name().into())];
    page.provenance = vec![("program".into(), format!("lilyan {}", env!("CARGO_PKG_VERSION")))];
    Ok(page.write(directory.join("report.html"))?)
}

fn verdict(report: &SweepReport) -> Verdict {
    let level = |row: &&SweepRow, level: &str| row.state == RunState::Finished && row.verdict_level == level;
    let count = |name: &str| report.rows.iter().filter(|row| level(row, name)).count();
    let (pass, warn) = (count("pass"), count("warn"));
    let rest = report.rows.len() - pass - warn;
    let open = report.planned - report.rows.len();
    let mut parts = vec![format!("{pass} trustworthy")];
    parts.extend((warn > 0).then(|| format!("{warn} usable with care")));
    parts.extend((rest > 0).then(|| format!("{rest} not to be trusted or without a result")));
    parts.extend((open > 0).then(|| format!("{open} not done yet")));
    let worst = match (rest + open, warn) {
        (0, 0) => Level::Pass,
        (0, _) => Level::Warn,
        _ => Level::Fail,
    };
    let headline = match open {
        0 => format!("{} runs", report.planned),
        _ => format!("{} of {} runs", report.rows.len(), report.planned),
    };
    Verdict { level: worst, headline, sentence: parts.join(", ") }
}

/// Results over the first key whose values are numbers, one curve for each combination of the other keys.
fn plots(report: &SweepReport) -> Vec<Plot> {
    let number = |row: &SweepRow, k: usize| row.values[k].parse::<f64>().ok();
    let Some(key) = (0..report.keys.len()).find(|&k| report.rows.iter().all(|r| number(r, k).is_some()))
    else {
        return Vec::new();
    };
    let others = |row: &SweepRow| {
        let named = report.keys.iter().zip(&row.values).enumerate().filter(|(k, _)| *k != key);
        named.map(|(_, (name, v))| format!("{name} = {v}")).collect::<Vec<_>>().join(", ")
    };
    let plot = |result: &str| {
        // In the order of the plan.
        let mut names: Vec<String> = Vec::new();
        let mut curves: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
        for row in &report.rows {
            let (Some(x), Some(y)) = (number(row, key), row.results.get(result)) else { continue };
            let name = others(row);
            if !names.contains(&name) {
                names.push(name.clone());
            }
            curves.entry(name).or_default().push((x, *y));
        }
        let series = |name: &String| {
            let mut points = curves[name].clone();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            let name = if name.is_empty() { result } else { name };
            Series::line(name, &x, &y).styled(Style::LineAndPoints)
        };
        let left_out = names.len().saturating_sub(MOST_SERIES);
        let xs: Vec<f64> = report.rows.iter().filter_map(|r| number(r, key)).collect();
        let [low, high] = super::picture::bounds(&xs);
        Plot {
            title: result.to_string(),
            x_label: report.keys[key].clone(),
            y_label: result.to_string(),
            series: names.iter().take(MOST_SERIES).map(series).collect(),
            log_x: low > 0.0 && high >= 99.0 * low,
            note: if left_out > 0 {
                format!("{left_out} more curves are in sweep.csv.")
            } else {
                String::new()
            },
            ..Plot::default()
        }
    };
    telling_results(report).into_iter().take(6).map(plot).collect()
}

fn table(report: &SweepReport) -> Table {
    let results: Vec<&str> = telling_results(report).into_iter().take(3).collect();
    let mut header = vec!["run".to_string()];
    header.extend(report.keys.iter().cloned());
    header.push("status".into());
    header.extend(results.iter().map(|r| r.to_string()));
    header.push("verdict".into());
    let cells = |row: &SweepRow| {
        let mut cells = vec![row.index.to_string()];
        cells.extend(row.values.iter().cloned());
        cells.push(row.state.name().into());
        cells.extend(results.iter().map(|r| row.results.get(*r).map_or("–".into(), |x| short(*x))));
        cells.push(if row.verdict.is_empty() { row.reason.clone() } else { row.verdict.clone() });
        cells
    };
    let left_out = report.rows.len().saturating_sub(MOST_ROWS);
    let more =
        if left_out > 0 { format!(" {left_out} more runs are in `sweep.csv`.") } else { String::new() };
    Table {
        title: "All runs".into(),
        header,
        rows: report.rows.iter().take(MOST_ROWS).map(cells).collect(),
        note: format!(
            "The report of a run is `runs/ID/report.html`; `plan.csv` has the ID of each run, `sweep.csv` all results.{more}"
        ),
    }
}
