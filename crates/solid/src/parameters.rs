//! Parameters that models of damping and contact declare as data. The reader of scenes, the reference page and the lab are
//! made from these declarations.

/// A parameter that a model declares: a key of scene files.
#[derive(Clone, Copy, Debug)]
pub struct ModelParameter {
    /// Its key.
    pub name: &'static str,
    /// Its unit; empty for a flag and for numbers without unit.
    pub unit: &'static str,
    /// A value in TOML.
    pub example: &'static str,
    /// What it means, in one sentence.
    pub doc: &'static str,
    /// What its value may be, and what absence means.
    pub kind: ParameterKind,
}

/// What the value of a parameter may be, and what absence means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterKind {
    /// A number that is 0 or more and must be given.
    Required,
    /// A number that is 0 or more, with a default.
    Number {
        /// Used if absent.
        default: f64,
    },
    /// A positive number; if absent, the model derives it from the bodies.
    Derived {
        /// From what it is derived.
        from: &'static str,
    },
    /// Another way to give a required parameter; only one of the two may be given.
    InsteadOf {
        /// The required parameter.
        name: &'static str,
    },
    /// True or false.
    Flag {
        /// Used if absent.
        default: bool,
    },
}

/// Values of the parameters of a model: what was given, and defaults.
#[derive(Clone, Debug)]
pub struct Parameters {
    declared: &'static [ModelParameter],
    numbers: Vec<(&'static str, f64)>,
    flags: Vec<(&'static str, bool)>,
}

impl Parameters {
    /// Nothing is given yet: the defaults.
    pub fn new(declared: &'static [ModelParameter]) -> Self {
        let (mut numbers, mut flags) = (Vec::new(), Vec::new());
        for parameter in declared {
            match parameter.kind {
                ParameterKind::Number { default } => numbers.push((parameter.name, default)),
                ParameterKind::Flag { default } => flags.push((parameter.name, default)),
                _ => {}
            }
        }
        Self { declared, numbers, flags }
    }

    /// Gives a number.
    pub fn set_number(&mut self, name: &'static str, value: f64) {
        set(&mut self.numbers, name, value);
    }

    /// Gives a flag.
    pub fn set_flag(&mut self, name: &'static str, value: bool) {
        set(&mut self.flags, name, value);
    }

    /// A number that was given or has a default; a required one also where another parameter was given instead.
    pub fn number(&self, name: &str) -> Option<f64> {
        let find = |name: &str| self.numbers.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let instead =
            |p: &&ModelParameter| matches!(p.kind, ParameterKind::InsteadOf { name: of } if of == name);
        find(name).or_else(|| self.declared.iter().filter(instead).find_map(|p| find(p.name)))
    }

    /// Whether the model declares a parameter of that name for this use.
    pub fn declares(&self, name: &str) -> bool {
        self.declared.iter().any(|p| p.name == name)
    }

    /// A flag.
    pub fn flag(&self, name: &str) -> bool {
        self.flags.contains(&(name, true))
    }

    /// The first required parameter that was not given.
    pub fn missing(&self) -> Option<&'static ModelParameter> {
        let is_missing =
            |p: &&ModelParameter| p.kind == ParameterKind::Required && self.number(p.name).is_none();
        self.declared.iter().find(is_missing)
    }

    /// A required number.
    ///
    /// # Panics
    /// If it was not given: [`Parameters::missing`] is asked first.
    pub fn required(&self, name: &str) -> f64 {
        self.number(name).unwrap_or_else(|| panic!("the parameter {name} was not given"))
    }
}

impl PartialEq for Parameters {
    fn eq(&self, other: &Self) -> bool {
        (&self.numbers, &self.flags) == (&other.numbers, &other.flags)
    }
}

fn set<T>(list: &mut Vec<(&'static str, T)>, name: &'static str, value: T) {
    match list.iter_mut().find(|(key, _)| *key == name) {
        Some(entry) => entry.1 = value,
        None => list.push((name, value)),
    }
}
