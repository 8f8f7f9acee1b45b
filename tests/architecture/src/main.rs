//! Prints every rule and what breaks it; arguments name the rules to print.

use lilyan_architecture::{RULES, Repository};

fn main() {
    let repository = Repository::read();
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for rule in RULES.iter().filter(|rule| wanted.is_empty() || wanted.iter().any(|name| name == rule.name)) {
        let broken = (rule.broken_at)(&repository);
        println!("{}: {} broken. {}", rule.name, broken.len(), rule.asks);
        for place in broken {
            println!("    {place}");
        }
    }
}
