//! The keys of a scene as data: what a table may hold, of which kind, in which unit, and what absence means.
//!
//! [`super::Reader`] takes these descriptions to read a table, so that declaring a key and reading it is one thing.
//! The JSON Schema and the reference page are made from the same data ([`crate::reference`]).

/// One key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name in the file.
    pub name: &'static str,
    /// What its value may be.
    pub kind: Kind,
    /// A value in TOML, for messages and the reference page.
    pub example: &'static str,
    /// What it means when the key is absent.
    pub absent: Absent,
    /// What it means, in one sentence.
    pub doc: &'static str,
    /// The bodies or meshes that it is for; empty: for all.
    pub only: &'static str,
}

/// What it means that a key is absent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Absent {
    /// It must not be.
    Required,
    /// This number is used.
    Number(f64),
    /// This is used.
    Flag(bool),
    /// This word is used.
    Word(&'static str),
    /// It must not be, unless this other key is present; only one of the two may be.
    Unless(&'static str),
    /// Said in words.
    Means(&'static str),
}

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// True or false.
    Flag,
    /// A finite number.
    Number {
        /// Where it must lie.
        range: Range,
        /// Its unit; empty: none.
        unit: &'static str,
    },
    /// A whole number.
    Whole {
        /// Smallest.
        least: i64,
        /// Largest.
        most: i64,
    },
    /// Any text.
    Text,
    /// A name that the user chooses: printable, without comma and quotes.
    Name,
    /// The name of a body of the scene.
    Body,
    /// The path of a file, relative to the folder of the scene.
    Path,
    /// One of these words, each with a line about it (may be empty).
    Word(fn() -> Vec<Choice>),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A number, or a word instead of it.
    NumberOrWord {
        /// Where the number must lie.
        range: Range,
        /// The word.
        word: &'static str,
    },
    /// A formula of these variables, as text.
    Formula(&'static [&'static str]),
    /// A list.
    List {
        /// What its members may be.
        of: &'static Kind,
        /// The fewest members.
        least: usize,
        /// The most members.
        most: usize,
    },
    /// A table.
    Table(&'static TableSchema),
    /// Any of these.
    Either(&'static [Kind]),
}

/// A word that a key may hold, and a line about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The word.
    pub name: &'static str,
    /// What it is; may be empty.
    pub doc: &'static str,
}

/// The words of a list of choices, without a line about each.
pub fn words<T>(choices: &[(&'static str, T)]) -> Vec<Choice> {
    choices.iter().map(|(name, _)| Choice { name, doc: "" }).collect()
}

/// An interval of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Its lower end.
    pub lower: Bound,
    /// Its upper end.
    pub upper: Bound,
}

/// An end of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// There is none.
    None,
    /// The number itself belongs to the interval.
    Included(f64),
    /// The number itself does not belong to the interval.
    Excluded(f64),
}

impl Range {
    /// All numbers.
    pub const ANY: Self = Self { lower: Bound::None, upper: Bound::None };
    /// Above 0.
    pub const POSITIVE: Self = Self { lower: Bound::Excluded(0.0), upper: Bound::None };
    /// 0 or more.
    pub const NOT_NEGATIVE: Self = Self { lower: Bound::Included(0.0), upper: Bound::None };

    /// Both ends belong to it.
    pub const fn closed(least: f64, most: f64) -> Self {
        Self { lower: Bound::Included(least), upper: Bound::Included(most) }
    }

    /// Whether a number lies in it.
    pub fn contains(&self, x: f64) -> bool {
        let above = match self.lower {
            Bound::None => true,
            Bound::Included(least) => x >= least,
            Bound::Excluded(least) => x > least,
        };
        let below = match self.upper {
            Bound::None => true,
            Bound::Included(most) => x <= most,
            Bound::Excluded(most) => x < most,
        };
        above && below
    }

    /// In words, after "must be": `positive`, `above -1 and at most 0.5`.
    pub fn words(&self) -> String {
        if *self == Self::POSITIVE {
            return "positive".to_owned();
        }
        let lower = match self.lower {
            Bound::None => None,
            Bound::Included(least) => Some(format!("at least {least}")),
            Bound::Excluded(least) => Some(format!("above {least}")),
        };
        let upper = match self.upper {
            Bound::None => None,
            Bound::Included(most) => Some(format!("at most {most}")),
            Bound::Excluded(most) => Some(format!("below {most}")),
        };
        let ends: Vec<String> = lower.into_iter().chain(upper).collect();
        ends.join(" and ")
    }
}

/// The keys of a table.
#[derive(Debug)]
pub struct TableSchema {
    /// Its name among all tables, without blanks: `contact`, `mesh.box`.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub doc: &'static str,
    /// Keys that it may always have.
    pub keys: &'static [Key],
    /// Further keys, by what the table is about; [`no_cases`] where there are none.
    pub cases: fn() -> Vec<Case>,
    /// Pairs of keys of which a table has at most one, beside those that [`Absent::Unless`] says; see
    /// [`TableSchema::exclusive_pairs`].
    pub exclusive: &'static [[&'static str; 2]],
}

/// Keys that a table may have in one of several cases.
#[derive(Clone, Debug)]
pub struct Case {
    /// When it applies.
    pub when: When,
    /// What the case is, in one sentence.
    pub doc: &'static str,
    /// Its keys.
    pub keys: Vec<Key>,
}

/// When a case applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// A key has this value.
    Is {
        /// The key.
        key: &'static str,
        /// Its value.
        value: &'static str,
        /// Whether the case applies as well where the key is absent.
        default: bool,
    },
    /// Two keys have these values, such as the kind and the model of a contact. The case of the first one alone applies as
    /// well.
    Both([KeyValue; 2]),
    /// This key is present; a table has exactly one of the keys that make a case.
    Has(&'static str),
    /// Always.
    Always,
}

/// A key with a value.
#[derive(Clone, Copy, Debug, Eq)]
pub struct KeyValue {
    /// The key.
    pub key: &'static str,
    /// Its value.
    pub value: &'static str,
    /// Whether the absence of the key means this value.
    pub default: bool,
}

impl PartialEq for KeyValue {
    fn eq(&self, other: &Self) -> bool {
        (self.key, self.value) == (other.key, other.value)
    }
}

impl When {
    /// The values that keys must have.
    pub fn values(&self) -> Vec<KeyValue> {
        match *self {
            Self::Is { key, value, default } => vec![KeyValue { key, value, default }],
            Self::Both(both) => both.to_vec(),
            Self::Has(_) | Self::Always => Vec::new(),
        }
    }

    /// Whether the other case applies wherever this one does.
    pub fn implies(&self, other: &Self) -> bool {
        let (own, others) = (self.values(), other.values());
        self == other
            || *other == Self::Always
            || (!others.is_empty() && others.iter().all(|value| own.contains(value)))
    }

    /// Whether a table can be in this case and in the other one.
    pub fn can_hold_with(&self, other: &Self) -> bool {
        let (own, others) = (self.values(), other.values());
        let agree = |a: &KeyValue| others.iter().all(|b| a.key != b.key || a.value == b.value);
        self.implies(other)
            || other.implies(self)
            || (!own.is_empty() && !others.is_empty() && own.iter().all(agree))
    }
}

impl Case {
    /// Its keys, and those of the cases that divide it further: with the kind of a contact those of each model.
    pub fn keys_within(&self, all: &[Self]) -> Vec<Key> {
        let own = self.when.values();
        let is_inner =
            |case: &&Self| case.when != self.when && !own.is_empty() && case.when.implies(&self.when);
        let inner = all.iter().filter(is_inner).flat_map(|case| &case.keys);
        self.keys.iter().chain(inner).copied().collect()
    }
}

/// The cases of a table that has none.
pub fn no_cases() -> Vec<Case> {
    Vec::new()
}

impl Key {
    /// A key that must be present.
    pub const fn required(name: &'static str, kind: Kind, example: &'static str, doc: &'static str) -> Self {
        Self { name, kind, example, absent: Absent::Required, doc, only: "" }
    }

    /// A key that may be absent.
    pub const fn optional(
        name: &'static str,
        kind: Kind,
        example: &'static str,
        absent: Absent,
        doc: &'static str,
    ) -> Self {
        Self { name, kind, example, absent, doc, only: "" }
    }

    /// The same key, for these bodies or meshes alone.
    pub const fn only(self, only: &'static str) -> Self {
        Self { only, ..self }
    }

    /// The line that a message shows: `step = 0.004 (s)`.
    pub fn line(&self) -> String {
        match self.kind.number() {
            Some((_, unit)) if !unit.is_empty() => format!("{} = {} ({unit})", self.name, self.example),
            _ => format!("{} = {}", self.name, self.example),
        }
    }
}

impl Kind {
    /// Any number in a unit.
    pub const fn number_in(unit: &'static str) -> Self {
        Self::Number { range: Range::ANY, unit }
    }

    /// A number above 0.
    pub const fn positive(unit: &'static str) -> Self {
        Self::Number { range: Range::POSITIVE, unit }
    }

    /// A number that is 0 or more.
    pub const fn not_negative(unit: &'static str) -> Self {
        Self::Number { range: Range::NOT_NEGATIVE, unit }
    }

    /// A whole number from `least` up to `most`.
    pub const fn count(least: u32, most: u32) -> Self {
        Self::Whole { least: least as i64, most: most as i64 }
    }

    /// A list of exactly `n` members.
    pub const fn exactly(n: usize, of: &'static Kind) -> Self {
        Self::List { of, least: n, most: n }
    }

    /// A list of any length.
    pub const fn list(of: &'static Kind) -> Self {
        Self::List { of, least: 0, most: usize::MAX }
    }

    /// This kind and those inside it, lists and tables not opened.
    fn alternatives(&self) -> impl Iterator<Item = &Self> {
        match self {
            Self::Either(kinds) => kinds.iter(),
            single => std::slice::from_ref(single).iter(),
        }
    }

    /// Range and unit, if it may be a number.
    pub fn number(&self) -> Option<(Range, &'static str)> {
        self.alternatives().find_map(|kind| match kind {
            Self::Number { range, unit } => Some((*range, *unit)),
            _ => None,
        })
    }

    /// The unit of its numbers, also inside a list.
    pub fn unit(&self) -> Option<&'static str> {
        self.alternatives().find_map(|kind| match kind {
            Self::Number { unit, .. } => Some(*unit).filter(|unit| !unit.is_empty()),
            Self::List { of, .. } if !matches!(self, Self::Either(_)) => of.unit(),
            _ => None,
        })
    }

    /// Smallest and largest, if it may be a whole number.
    pub(super) fn whole(&self) -> Option<(i64, i64)> {
        self.alternatives().find_map(|kind| match kind {
            Self::Whole { least, most } => Some((*least, *most)),
            _ => None,
        })
    }

    /// The variables, if it may be a formula.
    pub(super) fn variables(&self) -> &'static [&'static str] {
        let found = self.alternatives().find_map(|kind| match kind {
            Self::Formula(variables) => Some(*variables),
            _ => None,
        });
        found.unwrap_or_default()
    }

    /// What members are, if it may be a list.
    pub(super) fn member(&self) -> Self {
        let found = self.alternatives().find_map(|kind| match kind {
            Self::List { of, .. } => Some(**of),
            _ => None,
        });
        found.unwrap_or(Self::Text)
    }

    /// The keys, if it may be a table.
    pub(super) fn table(&self) -> Option<&'static TableSchema> {
        self.alternatives().find_map(|kind| match kind {
            Self::Table(schema) => Some(*schema),
            _ => None,
        })
    }
}

impl TableSchema {
    /// Pairs of keys of which a table has at most one.
    pub fn exclusive_pairs(&self) -> Vec<[&'static str; 2]> {
        let mut pairs = self.exclusive.to_vec();
        let cases = (self.cases)();
        for key in self.keys.iter().chain(cases.iter().flat_map(|case| &case.keys)) {
            if let Absent::Unless(other) = key.absent
                && !pairs.iter().any(|pair| pair.contains(&key.name) && pair.contains(&other))
            {
                pairs.push([key.name, other]);
            }
        }
        pairs
    }

    /// Whether it declares a key.
    pub fn declares(&self, name: &str) -> bool {
        let is = |key: &Key| key.name == name;
        self.keys.iter().any(is) || (self.cases)().iter().any(|case| case.keys.iter().any(is))
    }
}
