//! Results of a benchmark: figures with units and limits.

use crate::output;
use serde_json::{Map, Value, json};

/// The limit of a figure.
#[derive(Clone, Copy)]
pub enum Limit {
    /// The figure must not be smaller.
    AtLeast(f64),
    /// The figure must not be larger.
    AtMost(f64),
}

impl Limit {
    fn holds(self, value: f64) -> bool {
        match self {
            Limit::AtLeast(x) => value >= x,
            Limit::AtMost(x) => value <= x,
        }
    }
}

struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
    limit: Option<Limit>,
}

/// The figures of one benchmark.
pub struct Figures {
    name: String,
    figures: Vec<Figure>,
    remarks: Vec<String>,
}

impl Figures {
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), figures: Vec::new(), remarks: Vec::new() }
    }

    /// Adds a figure without a limit.
    pub fn add(&mut self, name: impl Into<String>, value: f64, unit: &'static str) {
        self.figures.push(Figure { name: name.into(), value, unit, limit: None });
    }

    /// Adds a figure with a limit.
    pub fn hold(&mut self, name: impl Into<String>, value: f64, unit: &'static str, limit: Limit) {
        self.figures.push(Figure { name: name.into(), value, unit, limit: Some(limit) });
    }

    /// Adds a remark that explains a figure.
    pub fn remark(&mut self, text: impl Into<String>) {
        self.remarks.push(text.into());
    }

    /// Prints the table on standard output.
    pub fn print(&self) {
        let mut rows = vec![vec![self.name.clone(), String::new(), String::new(), "limit".into()]];
        for f in &self.figures {
            let (limit, mark) = match f.limit {
                None => (String::new(), ""),
                Some(limit) => {
                    let text = match limit {
                        Limit::AtLeast(x) => format!("≥ {}", number(x)),
                        Limit::AtMost(x) => format!("≤ {}", number(x)),
                    };
                    (text, if limit.holds(f.value) { "✓" } else { "✗" })
                }
            };
            rows.push(vec![
                format!("  {}", f.name),
                number(f.value),
                f.unit.into(),
                format!("{limit} {mark}").trim().into(),
            ]);
        }
        output::table(&rows);
        for remark in &self.remarks {
            output::line(format!("  {remark}"));
        }
        output::line("");
    }
}

/// All figures as one object: benchmark → figure → value, unit, limit, holds.
pub fn json(all: &[Figures], threads: usize) -> Value {
    let mut out = Map::new();
    out.insert("threads".into(), json!(threads));
    let mut kept = true;
    for bench in all {
        let mut figures = Map::new();
        for f in &bench.figures {
            let mut entry = json!({ "value": f.value, "unit": f.unit });
            if let Some(limit) = f.limit {
                let (key, x) = match limit {
                    Limit::AtLeast(x) => ("at_least", x),
                    Limit::AtMost(x) => ("at_most", x),
                };
                entry[key] = json!(x);
                entry["holds"] = json!(limit.holds(f.value));
                kept &= limit.holds(f.value);
            }
            figures.insert(f.name.clone(), entry);
        }
        if !bench.remarks.is_empty() {
            figures.insert("remarks".into(), json!(bench.remarks));
        }
        out.insert(bench.name.clone(), Value::Object(figures));
    }
    out.insert("all_limits_hold".into(), json!(kept));
    Value::Object(out)
}

/// A number with four significant digits.
fn number(x: f64) -> String {
    if x == 0.0 {
        return "0".into();
    }
    let digits = 3 - x.abs().log10().floor() as i32;
    match digits {
        ..=0 => format!("{x:.0}"),
        1..=7 => {
            let text = format!("{x:.*}", digits as usize);
            text.trim_end_matches('0').trim_end_matches('.').to_string()
        }
        _ => format!("{x:.3e}"),
    }
}
