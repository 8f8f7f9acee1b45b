//! Rules about the source code, checked by reading it.
//!
//! ```sh
//! cargo run -p lilyan-architecture          # every rule, and what breaks it
//! cargo test -p lilyan-architecture         # fails where a rule is broken
//! ```
//!
//! A rule is a function from the [`Repository`] to the places that break it. [`RULES`] is the list.

mod cycles;
mod limits;
mod names;
mod permissions;
mod repository;
mod tables;

pub use repository::{Repository, SourceFile};

/// A rule about the source code.
pub struct Rule {
    /// A short name, as the tests use it.
    pub name: &'static str,
    /// What the rule asks for, in one sentence.
    pub asks: &'static str,
    /// Every place that breaks the rule, as `file:line: what`.
    pub broken_at: fn(&Repository) -> Vec<String>,
}

/// All rules.
pub static RULES: &[Rule] = &[
    Rule {
        name: "unsafe",
        asks: "`unsafe` occurs only in the files that ARCHITECTURE.md names, and in all of these.",
        broken_at: permissions::unsafe_code,
    },
    Rule {
        name: "clocks",
        asks: "Only the files that ARCHITECTURE.md names read a clock.",
        broken_at: permissions::clocks,
    },
    Rule {
        name: "threads",
        asks: "Only the files that ARCHITECTURE.md names start threads.",
        broken_at: permissions::threads,
    },
    Rule {
        name: "files",
        asks: "Only the files that ARCHITECTURE.md names read or write files.",
        broken_at: permissions::files,
    },
    Rule {
        name: "printing",
        asks: "Only the files that ARCHITECTURE.md names print.",
        broken_at: permissions::printing,
    },
    Rule {
        name: "tables",
        asks: "Every source file is in a table of ARCHITECTURE.md, by its name or by its folder, and every entry exists.",
        broken_at: tables::unlisted,
    },
    Rule {
        name: "function-length",
        asks: "No function is longer than 100 lines.",
        broken_at: limits::long_functions,
    },
    Rule { name: "file-length", asks: "No file is longer than 500 lines.", broken_at: limits::long_files },
    Rule {
        name: "cycles",
        asks: "Modules of one folder do not need each other in a circle.",
        broken_at: cycles::cycles,
    },
    Rule {
        name: "type-names",
        asks: "A crate has no two types of one name.",
        broken_at: names::repeated_types,
    },
    Rule {
        name: "string-errors",
        asks: "No public function returns a String as its error.",
        broken_at: names::string_errors,
    },
    Rule {
        name: "empty-docs",
        asks: "No doc comment only points to the module.",
        broken_at: names::empty_docs,
    },
];

/// The rule of that name.
pub fn rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name)
}
