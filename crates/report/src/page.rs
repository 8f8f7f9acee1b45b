//! Fills the template of the page.

use super::decimate::{decimate, json_number, json_samples};
use super::encode::{json_string, script_hash};
use super::{Check, Level, Picture, Plot, Replay, Report, Series, Style, Table, digits, short};
use lilyan_files::markup::escape;
use std::fmt::Write;

const TEMPLATE: &str = include_str!("page.html");
const CSS: &str = include_str!("page.css");
const SCRIPTS: [&str; 3] = [include_str!("plots.js"), include_str!("viewer.js"), include_str!("page.js")];

/// A series with more samples than this is decimated.
const LONG_SERIES: usize = 5_000;
/// Samples on the page, all plots together.
const MAX_SAMPLES: usize = 160_000;

/// The script of every report.
fn script() -> String {
    format!("\"use strict\";(() => {{\n{}}})();", SCRIPTS.concat())
}

/// The content security policy for servers of a report. It admits only the report's own script.
pub fn policy() -> String {
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src '{}'; base-uri 'none'; form-action 'none'",
        script_hash(&script())
    )
}

/// The report as one HTML page. The same report gives the same page, byte for byte.
pub fn render(report: &Report) -> String {
    let script = script();
    let replay = report.replay.as_ref().filter(|r| !r.is_empty());
    let motion = replay.map_or(String::new(), |r| format!("{}\n{}", snapshots(r), stage(r)));
    let results = format!(
        "{}\n{}\n{}",
        report.tables.iter().map(table).collect::<String>(),
        report.pictures.iter().map(picture).collect::<String>(),
        plots(&report.plots)
    );
    let [first, second] = if report.motion_last { [&results, &motion] } else { [&motion, &results] };
    fill(TEMPLATE, |name| match name {
        "policy" => policy(),
        "css" => CSS.to_string(),
        "script" => script.clone(),
        "mark" => symbol(report.verdict.level).to_string(),
        "title" => escape(&report.title),
        "kind" => escape(&report.kind),
        "subtitle" => escape(&report.subtitle),
        "verdict" => verdict(report),
        "warnings" => warnings(&report.warnings),
        "checks" => checks(&report.checks),
        "facts" => facts(&report.facts),
        "first" => first.clone(),
        "second" => second.clone(),
        "appendix" => report.appendix.iter().map(table).collect(),
        "settings" => pairs("Settings", &report.settings),
        "citations" => citations(report),
        "provenance" => provenance(&report.provenance),
        "data" => data(&report.plots, replay),
        _ => String::new(),
    })
}

/// A motion and plots alone, as one HTML page, for notebooks.
pub fn render_motion(title: &str, replay: Option<&Replay>, all: &[Plot]) -> String {
    let script = script();
    let replay = replay.filter(|r| !r.is_empty());
    fill(TEMPLATE, |name| match name {
        "policy" => policy(),
        "css" => CSS.to_string(),
        "script" => script.clone(),
        "title" => escape(title),
        "first" => replay.map_or(String::new(), stage),
        "second" => plots(all),
        "data" => data(all, replay),
        _ => String::new(),
    })
}

/// Replaces each `{{name}}` in one pass, so that braces in the inserted texts are kept.
fn fill(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else {
            break;
        };
        out.push_str(before);
        out.push_str(&value(name));
        rest = after;
    }
    out.push_str(rest);
    out
}

fn class(level: Level) -> &'static str {
    match level {
        Level::Pass => "pass",
        Level::Warn => "warn",
        Level::Fail => "fail",
    }
}

fn symbol(level: Level) -> &'static str {
    match level {
        Level::Pass => "✓",
        Level::Warn => "!",
        Level::Fail => "✕",
    }
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Pass => "holds",
        Level::Warn => "look",
        Level::Fail => "fails",
    }
}

/// The mark of a level as a picture. Levels differ in shape and not only in colour.
fn mark(level: Level) -> String {
    let (shape, sign) = match level {
        Level::Pass => {
            ("<circle cx=\"12\" cy=\"12\" r=\"11\" fill=\"var(--tone)\"/>", "M6.5 12.5l3.8 3.8 7.2-8")
        }
        Level::Warn => (
            "<path d=\"M12 2.2L22.6 21H1.4z\" fill=\"var(--tone)\" stroke=\"var(--tone)\" stroke-width=\"2\" stroke-linejoin=\"round\"/>",
            "M12 9v5.5M12 18v.1",
        ),
        Level::Fail => (
            "<path d=\"M7.4 1h9.2L23 7.4v9.2L16.6 23H7.4L1 16.6V7.4z\" fill=\"var(--tone)\"/>",
            "M8 8l8 8M16 8l-8 8",
        ),
    };
    format!(
        "<svg class=\"mark\" viewBox=\"0 0 24 24\" aria-hidden=\"true\">{shape}<path d=\"{sign}\" fill=\"none\" stroke=\"var(--card)\" stroke-width=\"2.6\" stroke-linecap=\"round\" stroke-linejoin=\"round\"/></svg>"
    )
}

fn verdict(report: &Report) -> String {
    let v = &report.verdict;
    let (class, mark) = (class(v.level), mark(v.level));
    // A number and its % stay on one line.
    let sentence = prose(&v.sentence).replace(" %", "\u{a0}%");
    let headline = escape(&v.headline);
    format!(
        "<section class=\"verdict {class}\" role=\"status\">{mark}<div><p class=\"headline\">{headline}</p><p class=\"sentence\">{sentence}</p></div></section>"
    )
}

fn warnings(warnings: &[String]) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let items: String = warnings.iter().map(|w| format!("<li>{}</li>", prose(w))).collect();
    format!("<ul class=\"warnings\" aria-label=\"Warnings\">{items}</ul>")
}

fn checks(checks: &[Check]) -> String {
    if checks.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<h2>What should hold, and what did</h2><div class=\"card scroll\"><table class=\"checks\"><thead><tr><th></th><th>Quantity</th><th>Measured</th><th>Allowed</th><th>Why</th></tr></thead><tbody>",
    );
    for c in checks {
        let meter = c.ratio.filter(|r| !r.is_nan()).map_or(String::new(), meter);
        let _ = write!(
            out,
            "<tr class=\"{}\"><td class=\"state\">{}{}</td><th>{}<span class=\"expected\">{}</span></th><td class=\"number\" data-label=\"measured\">{}{meter}</td><td class=\"number\" data-label=\"allowed\">{}</td><td class=\"why\">{}</td></tr>",
            class(c.level),
            mark(c.level),
            word(c.level),
            escape(&c.quantity),
            prose(&c.expected),
            escape(&c.measured),
            escape(&c.allowed),
            prose(&c.why)
        );
    }
    out.push_str("</tbody></table></div>");
    out
}

/// Measured size divided by allowed size on a logarithmic scale of six decades. The tick is the limit.
fn meter(ratio: f64) -> String {
    let place = |r: f64| 92.0 * ((r.max(1e-9).log10() + 4.0) / 6.0).clamp(0.02, 1.0);
    let (filled, limit) = (place(ratio), place(1.0));
    format!(
        "<svg class=\"meter\" viewBox=\"0 0 92 10\" role=\"img\" aria-label=\"{} times the allowed level\"><title>{} × the allowed level (logarithmic, the tick is the limit)</title><rect class=\"rail\" y=\"3\" width=\"92\" height=\"4\" rx=\"2\"/><rect class=\"fill\" y=\"3\" width=\"{filled:.1}\" height=\"4\" rx=\"2\"/><rect class=\"limit\" x=\"{:.1}\" width=\"2\" height=\"10\"/></svg>",
        short(ratio),
        short(ratio),
        limit - 1.0
    )
}

fn facts(facts: &[(String, String)]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let tile = |(name, value): &(String, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value))
    };
    format!("<dl class=\"facts\">{}</dl>", facts.iter().map(tile).collect::<String>())
}

fn snapshots(replay: &Replay) -> String {
    if !replay.has_snapshots() {
        return String::new();
    }
    let mut out = String::from("<h2>The motion</h2><div class=\"strip\">");
    for (time, picture) in replay.snapshots(5, [220.0, 150.0]) {
        let _ = write!(out, "<figure>{picture}<figcaption>t = {} s</figcaption></figure>", digits(time, 5));
    }
    out.push_str("</div>");
    if let Some(field) = replay.snapshot_field() {
        let _ = write!(out, "<p class=\"note\">Coloured by {}; scale in the replay.</p>", escape(field));
    }
    out
}

fn stage(replay: &Replay) -> String {
    let note = match replay.reduction() {
        text if text.is_empty() => text,
        text => format!("<p class=\"note\">{}</p>", escape(&text)),
    };
    format!(
        "<h2>Replay</h2><section class=\"card replay\" id=\"replay\"><div class=\"stage\"><canvas tabindex=\"0\" aria-label=\"Replay in three dimensions\"></canvas><div class=\"clock\"><b></b><small></small></div><div class=\"scale\" hidden><div class=\"name\"></div><div class=\"marks\"></div><div class=\"bar\"></div></div><div class=\"labels\"></div><div class=\"hint\">drag: turn · shift-drag: move · wheel: zoom · F: fit · Space: play · ← →: frame by frame</div></div><div class=\"controls\"><noscript>The replay needs JavaScript; the pictures above do not.</noscript></div></section>{note}"
    )
}

fn table(table: &Table) -> String {
    let class = if table.header.len() > 7 { " class=\"dense\"" } else { "" };
    let mut out =
        format!("<h2>{}</h2><div class=\"card scroll\"><table{class}><thead><tr>", escape(&table.title));
    table.header.iter().for_each(|h| out += &format!("<th>{}</th>", escape(h)));
    out.push_str("</tr></thead><tbody>");
    for row in &table.rows {
        out.push_str("<tr>");
        for (k, cell) in row.iter().enumerate() {
            // Numbers stay on one line; sentences may wrap.
            let sentence = cell.chars().count() > 40;
            let tag = match (k, sentence) {
                (0, _) => "th",
                (_, true) => "td class=\"sentence\"",
                _ => "td class=\"number\"",
            };
            let end = if k == 0 { "th" } else { "td" };
            out += &format!("<{tag}>{}</{end}>", escape(cell));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    out + &note(&table.note)
}

fn picture(picture: &Picture) -> String {
    let (title, svg, note) = (escape(&picture.title), &picture.svg, note(&picture.note));
    format!("<h2>{title}</h2><figure class=\"card picture\">{svg}</figure>{note}")
}

/// Text in which names stand between back-ticks.
fn prose(text: &str) -> String {
    let escaped = escape(text);
    let parts: Vec<&str> = escaped.split('`').collect();
    // Without a partner a back-tick stays what it is.
    if parts.len().is_multiple_of(2) {
        return escaped;
    }
    let tagged = |(k, part): (usize, &&str)| {
        if k % 2 == 1 { format!("<code>{part}</code>") } else { part.to_string() }
    };
    parts.iter().enumerate().map(tagged).collect()
}

fn note(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<p class=\"note\">{}</p>", prose(text)) }
}

fn plots(plots: &[Plot]) -> String {
    if plots.is_empty() {
        return String::new();
    }
    let mut out = String::from("<h2>Plots</h2><div class=\"plots\">");
    for (k, plot) in plots.iter().enumerate() {
        let _ = write!(
            out,
            "<figure class=\"plot\" id=\"plot-{k}\"><div class=\"head\"><h3>{}</h3></div><div class=\"legend\"></div><div class=\"draw\"><noscript>This plot needs JavaScript; its numbers are in the CSV files.</noscript></div>{}</figure>",
            escape(&plot.title),
            note(&plot.note)
        );
    }
    out.push_str("</div><p class=\"note screen\">Drag across a plot to zoom, double-click to reset; click to move the replay to that time.</p>");
    out
}

fn pairs(title: &str, pairs: &[(String, String)]) -> String {
    if pairs.is_empty() {
        return String::new();
    }
    let row = |(name, value): &(String, String)| {
        format!("<tr><th>{}</th><td>{}</td></tr>", escape(name), escape(value))
    };
    let rows: String = pairs.iter().map(row).collect();
    format!(
        "<h2>{title}</h2><div class=\"card scroll\"><table class=\"pairs\"><tbody>{rows}</tbody></table></div>"
    )
}

fn citations(report: &Report) -> String {
    if report.citations.is_empty() {
        return String::new();
    }
    let mut out = String::from("<h2>Methods used</h2><ul class=\"citations\">");
    for c in &report.citations {
        out += &format!("<li>{}", escape(&c.text));
        // Any other scheme (javascript:, data:, file:) must not become a link.
        let safe = |u: &&String| u.starts_with("https://") || u.starts_with("http://");
        if let Some(url) = c.url.as_ref().filter(safe) {
            let url = escape(url);
            let _ = write!(out, " <a href=\"{url}\" rel=\"noopener noreferrer\">{url}</a>");
        }
        out.push_str("</li>");
    }
    out.push_str("</ul>");
    out
}

fn provenance(facts: &[(String, String)]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let item = |(name, value): &(String, String)| format!("<span>{}: {}</span>", escape(name), escape(value));
    format!("<footer>{}</footer>", facts.iter().map(item).collect::<String>())
}

/// The data block: plots (decimated) and replay.
fn data(plots: &[Plot], replay: Option<&Replay>) -> String {
    let count = plots.iter().map(|p| p.series.len()).sum::<usize>().max(1);
    let limit = (MAX_SAMPLES / count).clamp(200, LONG_SERIES - 1);
    let mut out = String::from("{\"plots\":[");
    for (k, plot) in plots.iter().enumerate() {
        let comma = if k > 0 { "," } else { "" };
        let _ = write!(
            out,
            "{comma}{{\"title\":{},\"x_label\":{},\"y_label\":{},\"log_x\":{},\"log_y\":{},\"time_axis\":{},\"band\":",
            json_string(&plot.title),
            json_string(&plot.x_label),
            json_string(&plot.y_label),
            plot.log_x,
            plot.log_y,
            plot.time_axis
        );
        match &plot.band {
            Some(band) => {
                out.push_str("{\"low\":");
                json_number(band.low, &mut out);
                out.push_str(",\"high\":");
                json_number(band.high, &mut out);
                let _ = write!(out, ",\"label\":{}}}", json_string(&band.label));
            }
            None => out.push_str("null"),
        }
        out.push_str(",\"series\":[");
        for (j, s) in plot.series.iter().enumerate() {
            out.push_str(if j > 0 { "," } else { "" });
            series(s, limit, &mut out);
        }
        out.push_str("]}");
    }
    out.push_str("],\"replay\":");
    out.push_str(&replay.map_or("null".to_string(), Replay::json));
    out.push('}');
    out
}

fn series(s: &Series, limit: usize, out: &mut String) {
    let style = match s.style {
        Style::Line => "line",
        Style::Steps => "steps",
        Style::Points => "points",
        Style::LineAndPoints => "both",
    };
    let _ = write!(
        out,
        "{{\"name\":{},\"style\":\"{style}\",\"dashed\":{},\"x\":",
        json_string(&s.name),
        s.dashed
    );
    let (x, y) = decimate(&s.x, &s.y, limit);
    json_samples(&x, out);
    out.push_str(",\"y\":");
    json_samples(&y, out);
    out.push('}');
}
