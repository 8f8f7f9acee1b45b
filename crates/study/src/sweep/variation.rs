//! `--vary body.bar.material.E=1e5..1e7:log5`: a key and the values that it takes.

use super::SweepError;
use lilyan_files::csv::Shortest;

/// Most values of a range.
const MOST: usize = 100_000;

/// A key of the scene and the values that it takes, as text of the scene language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variation {
    /// The dotted path of the key.
    pub key: String,
    /// What it is set to, in this order.
    pub values: Vec<String>,
}

impl Variation {
    /// Reads `KEY=A,B,C`, `KEY=LOW..HIGH:N` (N values at equal distances) or `KEY=LOW..HIGH:logN` (at equal ratios). Commas inside
    /// brackets and quotes belong to a value.
    pub fn parse(text: &str) -> Result<Self, SweepError> {
        let refuse = |why: String| SweepError::Variation { text: text.to_string(), why };
        let (key, values) = text.split_once('=').ok_or_else(|| {
            refuse("there is no \"=\"; write KEY=VALUES, for example time.step=0.01,0.005".into())
        })?;
        let (key, values) = (key.trim(), values.trim());
        if key.is_empty() || values.is_empty() {
            return Err(refuse("write KEY=VALUES, for example time.step=0.01,0.005".into()));
        }
        let values = match range(values).map_err(&refuse)? {
            Some(values) => values,
            None => split(values).map_err(refuse)?,
        };
        Ok(Self { key: key.to_string(), values })
    }
}

/// The values of `LOW..HIGH:N` or `LOW..HIGH:logN`; `None` if the text is not a range.
fn range(text: &str) -> Result<Option<Vec<String>>, String> {
    let Some((low, rest)) = text.split_once("..") else { return Ok(None) };
    let Ok(low) = low.trim().parse::<f64>() else { return Ok(None) };
    let example = "write LOW..HIGH:N or LOW..HIGH:logN, for example 1e5..1e7:log5";
    let (high, count) = rest.split_once(':').ok_or_else(|| format!("how many values? {example}"))?;
    let high: f64 = high.trim().parse().map_err(|_| format!("{high} is not a number; {example}"))?;
    let (logarithmic, count) = match count.trim().strip_prefix("log") {
        Some(count) => (true, count),
        None => (false, count.trim()),
    };
    let count: usize = count.parse().map_err(|_| format!("{count} is not a number of values; {example}"))?;
    if !(2..=MOST).contains(&count) {
        return Err(format!("a range has 2 to {MOST} values; {example}"));
    }
    if !(low.is_finite() && high.is_finite() && low != high) {
        return Err(format!("the ends of a range are two finite numbers; {example}"));
    }
    if logarithmic && !(low > 0.0 && high > 0.0) {
        return Err("values at equal ratios lie between two positive numbers".into());
    }
    let value = |k: usize| {
        let s = k as f64 / (count - 1) as f64;
        match (k, logarithmic) {
            (0, _) => low,
            (k, _) if k == count - 1 => high,
            // Twelve digits: 1e6 and not 999999.9999999998.
            (_, true) => rounded(low * (high / low).powf(s)),
            (_, false) => rounded(low + (high - low) * s),
        }
    };
    Ok(Some((0..count).map(|k| Shortest(value(k)).to_string()).collect()))
}

fn rounded(x: f64) -> f64 {
    format!("{x:.11e}").parse().unwrap_or(x)
}

/// The texts between commas that are in no bracket and in no quotes.
fn split(text: &str) -> Result<Vec<String>, String> {
    let (mut values, mut value) = (Vec::new(), String::new());
    let (mut depth, mut quote) = (0_i32, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{' | '(') => depth += 1,
            (None, ']' | '}' | ')') => depth -= 1,
            (None, ',') if depth == 0 => {
                values.push(std::mem::take(&mut value));
                continue;
            }
            _ => {}
        }
        value.push(c);
    }
    values.push(value);
    if quote.is_some() || depth != 0 {
        return Err("a bracket or a quotation mark is not closed".into());
    }
    let values: Vec<String> = values.iter().map(|v| v.trim().to_string()).collect();
    match values.iter().any(String::is_empty) {
        true => Err("a value is missing between two commas".into()),
        false => Ok(values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        Variation::parse(text).unwrap().values
    }

    #[test]
    fn lists_keep_brackets_and_quotes_whole() {
        assert_eq!(values("time.step=0.01, 0.005"), ["0.01", "0.005"]);
        assert_eq!(values("environment.gravity=[0,-9.81,0],[0,0,0]"), ["[0,-9.81,0]", "[0,0,0]"]);
        assert_eq!(values("a=\"x,y\",z"), ["\"x,y\"", "z"]);
        assert_eq!(values("a={ b = [1, 2] }, 3"), ["{ b = [1, 2] }", "3"]);
    }

    #[test]
    fn ranges_have_round_values_and_exact_ends() {
        assert_eq!(values("E=1e5..1e7:log5")[..3], ["100000", "316227.766017", "1000000"]);
        assert_eq!(values("h=0..1:5"), ["0", "0.25", "0.5", "0.75", "1"]);
        assert_eq!(values("h=1..-1:3"), ["1", "0", "-1"]);
    }

    #[test]
    fn mistakes_name_what_was_given_and_what_to_write() {
        for text in
            ["E", "=1", "E=", "E=1,,2", "E=[1", "E=1..2", "E=1..2:1", "E=0..1:log3", "E=1..x:3", "E=1..1:3"]
        {
            let message = Variation::parse(text).unwrap_err().to_string();
            assert!(message.starts_with(&format!("{text}: ")), "{message}");
        }
    }
}
