//! The report of a run: one HTML page without further files.
//!
//! The verdict comes first. The checks, pictures of the motion, a replay in three dimensions, plots, settings and citations
//! follow. The page holds its own style, script and data. Its content security policy forbids every connection and every other
//! script. All text in it is escaped.
//!
//! ```
//! use lilyan_report::{Level, Verdict};
//!
//! let verdict = Verdict::stopped(0.5, "the step inverts an element");
//! assert_eq!(verdict.level, Level::Fail);
//! assert_eq!(verdict.headline, "Stopped at t = 0.5 s");
//! ```

mod decimate;
mod encode;
mod page;
mod replay;
mod simplify;
mod snapshot;

pub use decimate::decimate;
pub use page::{policy, render, render_motion};
pub use replay::Replay;
pub use snapshot::{PLAIN, View, colour, snapshot_svg};

use lilyan_files::atomic::{self, WriteError};
use std::path::Path;

/// How well something held, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The result is as it should be.
    Pass,
    /// The user should look at the result before relying on it.
    Warn,
    /// The result is wrong.
    Fail,
}

impl Level {
    /// `pass`, `warn` or `fail`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// How far the results of a run can be trusted.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Green, amber or red.
    pub level: Level,
    /// The headline of the page: "Trustworthy".
    pub headline: String,
    /// Why, in one sentence: "energy stayed within 0.31 %, momenta exact to 2e-14".
    pub sentence: String,
}

impl Verdict {
    /// A verdict with the usual headline of its level.
    pub fn new(level: Level, sentence: impl Into<String>) -> Self {
        let headline = match level {
            Level::Pass => "Trustworthy",
            Level::Warn => "Usable, with care",
            Level::Fail => "Not to be trusted",
        };
        Self { level, headline: headline.to_string(), sentence: sentence.into() }
    }

    /// The verdict on a run that ended early, at time `t` (s).
    pub fn stopped(t: f64, sentence: impl Into<String>) -> Self {
        let headline = format!("Stopped at t = {} s", digits(t, 6));
        Self { level: Level::Fail, headline, sentence: sentence.into() }
    }

    /// The verdict of the checks. It has the level of the worst check and names it.
    pub fn from_checks(checks: &[Check]) -> Self {
        let Some(level) = checks.iter().map(|c| c.level).max() else {
            return Self::new(Level::Warn, "nothing could be checked in this run");
        };
        let names = |c: &Check| format!("{}: {}", c.quantity.to_lowercase(), c.measured);
        let worst: Vec<&Check> = checks.iter().filter(|c| c.level == level).collect();
        let sentence = if level == Level::Pass {
            let parts: Vec<String> = worst.iter().take(3).map(|c| names(c)).collect();
            match checks.len() {
                1 => parts.join(""),
                n => format!("all {n} checks hold — {}", parts.join("; ")),
            }
        } else {
            let parts: Vec<String> =
                worst.iter().take(3).map(|c| format!("{} (allowed: {})", names(c), c.allowed)).collect();
            let more = worst.len() - parts.len();
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            format!("{}{more}", parts.join("; "))
        };
        Self::new(level, sentence)
    }
}

/// A quantity that physics or the method conserves, and how well it was conserved.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The quantity: "Total energy".
    pub quantity: String,
    /// What should hold: "conserved", "equals work done minus dissipation".
    pub expected: String,
    /// What was measured, with its unit: "0.31 % of the initial energy".
    pub measured: String,
    /// The allowed level, in the same words: "1 %".
    pub allowed: String,
    /// Whether it held.
    pub level: Level,
    /// One line: where the level comes from, or what to do about it.
    pub why: String,
    /// Measured size divided by allowed size, if both are numbers. The page draws it as a scale.
    pub ratio: Option<f64>,
}

impl Check {
    /// A check that `measured` is at most `allowed` (both dimensionless, as written by [`short`]):
    /// passed up to there, a warning up to ten times as much, failed beyond or if not a number.
    pub fn at_most(
        quantity: impl Into<String>,
        expected: impl Into<String>,
        measured: f64,
        allowed: f64,
        why: impl Into<String>,
    ) -> Self {
        let level = match measured.abs() {
            x if x <= allowed => Level::Pass,
            x if x <= 10.0 * allowed => Level::Warn,
            _ => Level::Fail,
        };
        Self {
            quantity: quantity.into(),
            expected: expected.into(),
            measured: short(measured),
            allowed: short(allowed),
            level,
            why: why.into(),
            ratio: Some(measured.abs() / allowed),
        }
    }
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// A line through the samples.
    #[default]
    Line,
    /// Steps: each value holds until the next sample.
    Steps,
    /// Separate points.
    Points,
    /// Points joined by a line.
    LineAndPoints,
}

/// One curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Abscissas, ascending for lines.
    pub x: Vec<f64>,
    /// Ordinates. A value that is not finite is a gap.
    pub y: Vec<f64>,
    /// How it is drawn.
    pub style: Style,
    /// Whether the line is dashed (references, bounds).
    pub dashed: bool,
}

impl Series {
    /// A line.
    pub fn line(name: impl Into<String>, x: &[f64], y: &[f64]) -> Self {
        Self { name: name.into(), x: x.to_vec(), y: y.to_vec(), ..Default::default() }
    }

    /// The same series in another style.
    pub fn styled(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// The same series, dashed.
    pub fn dashed(mut self) -> Self {
        self.dashed = true;
        self
    }
}

/// The allowed range. The plot shades it.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Lower end; negative infinity for none.
    pub low: f64,
    /// Upper end; infinity for none.
    pub high: f64,
    /// What it is: "allowed: ±1 %".
    pub label: String,
}

/// A plot with its axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// Name and unit of the abscissa: "time, s".
    pub x_label: String,
    /// Name and unit of the ordinate: "energy, J".
    pub y_label: String,
    /// The curves.
    pub series: Vec<Series>,
    /// Logarithmic abscissa.
    pub log_x: bool,
    /// Logarithmic ordinate (the reader can switch).
    pub log_y: bool,
    /// A line of explanation below; may be empty.
    pub note: String,
    /// What is allowed.
    pub band: Option<Band>,
    /// Whether the abscissa is the simulated time. The plot then marks the time of the replay.
    pub time_axis: bool,
}

impl Plot {
    /// A plot over the run's time.
    pub fn over_time(title: impl Into<String>, y_label: impl Into<String>, series: Vec<Series>) -> Self {
        Self {
            title: title.into(),
            x_label: "time, s".to_string(),
            y_label: y_label.into(),
            series,
            time_axis: true,
            ..Default::default()
        }
    }
}

/// A table of results, as for a comparison of integrators.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// The rows, as text.
    pub rows: Vec<Vec<String>>,
    /// A line of explanation below; may be empty.
    pub note: String,
}

/// A drawing with a title.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// What it shows.
    pub title: String,
    /// An SVG element. The page takes it as it is, so texts inside it must be escaped.
    pub svg: String,
    /// A line of explanation below; may be empty.
    pub note: String,
}

/// A source that the methods of the run come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Citation {
    /// Authors, title, venue, year.
    pub text: String,
    /// Where it is found; only http and https become links.
    pub url: Option<String>,
}

/// The content of a report. Empty parts are left out of the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The kind of page, above the title: "Simulation report".
    pub kind: String,
    /// The scene's title.
    pub title: String,
    /// One line below: "variational, h = 4 ms, 1,536 tets, neo-Hookean".
    pub subtitle: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The checks that give the verdict.
    pub checks: Vec<Check>,
    /// The run in numbers: ("Simulated", "8 s").
    pub facts: Vec<(String, String)>,
    /// The motion. The still pictures are made from it.
    pub replay: Option<Replay>,
    /// Whether the motion comes after tables and plots instead of before them.
    pub motion_last: bool,
    /// Tables of results.
    pub tables: Vec<Table>,
    /// Drawings, before the plots.
    pub pictures: Vec<Picture>,
    /// Plots.
    pub plots: Vec<Plot>,
    /// Longer tables, at the end of the page.
    pub appendix: Vec<Table>,
    /// What was asked for: ("time.step", "0.004 s").
    pub settings: Vec<(String, String)>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// Sources.
    pub citations: Vec<Citation>,
    /// Where the page comes from: ("lilyan", "0.1.0"), ("scene hash", "…").
    pub provenance: Vec<(String, String)>,
}

impl Report {
    /// A report with a title and a verdict, and nothing else yet.
    pub fn new(title: impl Into<String>, verdict: Verdict) -> Self {
        Self {
            kind: "Simulation report".to_string(),
            title: title.into(),
            subtitle: String::new(),
            verdict,
            checks: Vec::new(),
            facts: Vec::new(),
            replay: None,
            motion_last: false,
            tables: Vec::new(),
            pictures: Vec::new(),
            plots: Vec::new(),
            appendix: Vec::new(),
            settings: Vec::new(),
            warnings: Vec::new(),
            citations: Vec::new(),
            provenance: Vec::new(),
        }
    }

    /// Writes the page atomically.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), WriteError> {
        atomic::write(path, render(self).as_bytes())
    }
}

/// A number with three significant digits, without an exponent if that is short ("0.31", "2.1e-14").
pub fn short(x: f64) -> String {
    digits(x, 3)
}

/// A number with at most `count` significant digits.
pub fn digits(x: f64, count: usize) -> String {
    if !x.is_finite() {
        return if x.is_nan() { "not a number".to_string() } else { "infinite".to_string() };
    }
    let decimals = count.saturating_sub(1);
    let rounded: f64 = format!("{x:.decimals$e}").parse().unwrap_or(x);
    match rounded.abs() {
        0.0 => "0".to_string(),
        size if (1e-3..1e6).contains(&size) => format!("{rounded}"),
        _ => format!("{rounded:e}"),
    }
}

/// A fraction as a percentage: 0.0031 is "0.31 %".
pub fn percent(x: f64) -> String {
    format!("{} %", short(100.0 * x))
}
