//! Integrators to compare, as written on a command line: `variational(alpha=0.5), backward-euler`.

use super::request_error::RequestError;
use lilyan_dynamics::integrators::{self, Claims, Entry};
use lilyan_dynamics::options::{Kind, OptionSpec};
use lilyan_dynamics::{Integrator, OptionError, Value};
use lilyan_scene::schema::{Scene, option_of_text};

/// An integrator of the catalogue with some of its options.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfiguredIntegrator {
    /// Name in the catalogue.
    pub name: &'static str,
    /// Options that are not left to their defaults.
    pub options: Vec<(String, Value)>,
}

impl std::fmt::Display for ConfiguredIntegrator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)?;
        if self.options.is_empty() {
            return Ok(());
        }
        let value = |v: &Value| match v {
            Value::Word(word) => word.clone(),
            Value::Formula(formula) => formula.0.source().to_owned(),
            v => v.to_string(),
        };
        let options: Vec<String> = self.options.iter().map(|(k, v)| format!("{k}={}", value(v))).collect();
        write!(f, "({})", options.join(","))
    }
}

impl ConfiguredIntegrator {
    /// One of the catalogue with its default options.
    pub fn plain(entry: &'static Entry) -> Self {
        Self { name: entry.name, options: Vec::new() }
    }

    /// The one that the scene names, with the options given there.
    pub fn of_scene(scene: &Scene) -> Option<Self> {
        let entry = integrators::find(&scene.integrator.name)?;
        Some(Self { name: entry.name, options: scene.integrator.given().ok()? })
    }

    /// Reads `name` or `name(key=value, …)`.
    pub fn parse(text: &str) -> Result<Self, RequestError> {
        let text = text.trim();
        let (name, options) = match text.split_once('(') {
            None => (text, ""),
            Some((name, rest)) => {
                let inside = rest.strip_suffix(')').ok_or_else(|| RequestError::NotClosed(text.into()))?;
                (name.trim(), inside)
            }
        };
        let entry = integrators::find(name).ok_or_else(|| RequestError::UnknownIntegrator(name.into()))?;
        let mut given = Vec::new();
        for option in split(options).into_iter().map(str::trim).filter(|o| !o.is_empty()) {
            let (key, value) = option.split_once('=').ok_or_else(|| RequestError::OptionWithoutValue {
                integrator: entry.name,
                option: option.into(),
            })?;
            let key = key.trim();
            let known: Vec<&str> = entry.options.iter().map(|o| o.name).collect();
            if !known.contains(&key) {
                return Err(RequestError::UnknownOption {
                    integrator: entry.name,
                    option: key.into(),
                    known,
                });
            }
            given.push((key.to_string(), value_of(entry, key, value.trim())?));
        }
        entry.create(&given).map_err(|source| RequestError::Option { integrator: entry.name, source })?;
        Ok(Self { name: entry.name, options: given })
    }

    /// Reads several, with commas between.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, RequestError> {
        let mut methods: Vec<Self> = Vec::new();
        for part in split(text) {
            if part.trim().is_empty() {
                return Err(RequestError::MissingName(text.into()));
            }
            let method = Self::parse(part)?;
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
        Ok(methods)
    }

    /// Its entry in the catalogue.
    pub fn entry(&self) -> &'static Entry {
        integrators::find(self.name).unwrap_or(&integrators::CATALOGUE[0])
    }

    /// A fresh one.
    pub fn create(&self) -> Result<Box<dyn Integrator>, OptionError> {
        self.entry().create(&self.options)
    }

    /// Whether its card says that it is there for comparison only, so that nobody should be advised to use it.
    pub fn is_for_comparison_only(&self) -> bool {
        self.entry().summary.ends_with("for comparison only")
    }

    /// Its claims with these options.
    pub fn claims(&self) -> Option<Claims> {
        self.create().ok().map(|i| i.claims())
    }

    /// The same, its equations solved to `tolerance` if it solves any.
    pub fn solved_to(&self, tolerance: f64) -> Self {
        let mut method = self.clone();
        if self.entry().options.iter().any(|o| o.name == "tolerance") {
            method.options.retain(|(key, _)| key != "tolerance");
            method.options.push(("tolerance".into(), Value::Number(tolerance)));
        }
        // Some methods refuse such a small tolerance.
        if method.create().is_ok() { method } else { self.clone() }
    }
}

/// Splits at commas outside parentheses.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0usize;
    text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

fn value_of(entry: &'static Entry, key: &str, text: &str) -> Result<Value, RequestError> {
    let is_formula = |o: &OptionSpec| o.name == key && matches!(o.kind, Kind::Formula { .. });
    match (text, text.parse::<f64>()) {
        ("true", _) => Ok(Value::Flag(true)),
        ("false", _) => Ok(Value::Flag(false)),
        (_, Ok(x)) if !entry.options.iter().any(is_formula) => Ok(Value::Number(x)),
        _ => option_of_text(entry.options, key, text.trim_matches(['"', '\'']))
            .map_err(|source| RequestError::Formula { integrator: entry.name, option: key.into(), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_with_options_are_read_and_written_back() {
        let text = "variational(alpha=0.25,solve=root),backward-euler,verlet";
        let methods = ConfiguredIntegrator::parse_list(text).unwrap();
        let written: Vec<String> = methods.iter().map(ConfiguredIntegrator::to_string).collect();
        assert_eq!(written.join(","), text);
        assert_eq!(methods[0].options[0], ("alpha".into(), Value::Number(0.25)));
        assert_eq!(methods[0].claims().unwrap().order, 1);
        // The same twice is one.
        assert_eq!(ConfiguredIntegrator::parse_list("verlet, verlet").unwrap().len(), 1);
    }

    #[test]
    fn mistakes_are_named_with_the_nearest_known_name() {
        for (text, wanted) in [
            ("verlett", "did you mean \"verlet\""),
            ("variational(alhpa=0.5)", "did you mean \"alpha\""),
            ("variational(alpha=2)", "from 0 to 1"),
            ("variational(alpha)", "key=value"),
            ("variational(alpha=0.5", "not closed"),
            ("verlet,,rk4", "a name is missing"),
            ("", "a name is missing"),
        ] {
            let error = ConfiguredIntegrator::parse_list(text).unwrap_err().to_string();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }
}
