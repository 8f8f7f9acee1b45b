//! Every rule holds. `cargo run -p lilyan-architecture` prints what breaks which.

use lilyan_architecture::{RULES, Repository, rule};

fn holds(name: &str) {
    let rule = rule(name).unwrap_or_else(|| panic!("no rule {name}"));
    let broken = (rule.broken_at)(&Repository::read());
    assert!(broken.is_empty(), "{} {} places:\n  {}", rule.asks, broken.len(), broken.join("\n  "));
}

macro_rules! rules {
    ($($(#[$more:meta])* $test:ident: $name:literal),* $(,)?) => {
        $(#[test] $(#[$more])* fn $test() { holds($name); })*

        #[test]
        fn every_rule_has_its_test() {
            let tested = [$($name),*];
            for rule in RULES {
                assert!(tested.contains(&rule.name), "{} is not tested", rule.name);
            }
        }
    };
}

rules! {
    unsafe_is_where_it_may_be: "unsafe",
    clocks_are_where_they_may_be: "clocks",
    threads_are_where_they_may_be: "threads",
    files_are_where_they_may_be: "files",
    printing_is_where_it_may_be: "printing",
    every_file_is_in_a_table: "tables",
    functions_are_short: "function-length",
    files_are_short: "file-length",
    modules_have_no_cycle: "cycles",
    type_names_are_unique: "type-names",
    errors_are_typed: "string-errors",
    docs_say_something: "empty-docs",
}

/// The scan is of the real repository: a wrong root would make every rule hold.
#[test]
fn the_repository_is_read() {
    let repository = Repository::read();
    assert!(repository.rust.len() > 300, "{} files", repository.rust.len());
    assert!(repository.sources().any(|file| file.path == "crates/solve/src/lib.rs"));
    assert!(repository.others.iter().any(|(path, _)| path == "apps/lab/page/src/main.ts"));
}
