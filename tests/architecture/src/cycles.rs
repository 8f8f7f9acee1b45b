//! Circles of modules that need each other.
//!
//! The modules of one folder are compared with each other: a module with everything inside it needs another one if it names a path
//! into it. Paths are followed through `pub use` in the module where they end. A module and its own parent do not count, since a
//! parent names its children and children use what their parent defines.

use crate::repository::{Repository, SourceFile, is_test};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};

/// A path of module names below the crate root.
type ModulePath = Vec<String>;

/// The circles of every crate.
pub fn cycles(repository: &Repository) -> Vec<String> {
    let mut crates: BTreeMap<&str, Vec<&SourceFile>> = BTreeMap::new();
    for file in repository.sources() {
        crates.entry(file.package().unwrap_or_default()).or_default().push(file);
    }
    let mut found = Vec::new();
    for (package, files) in crates {
        let graph = Graph::of(&files);
        for (folder, names) in graph.circles() {
            let within = if folder.is_empty() { String::new() } else { format!("/{}", folder.join("/")) };
            let why: Vec<String> = (0..names.len())
                .map(|i| {
                    let (a, b) = (&names[i], &names[(i + 1) % names.len()]);
                    let witness = &graph.needs[&folder][&(a.clone(), b.clone())];
                    format!("{a} → {b} ({witness})")
                })
                .collect();
            found.push(format!("{package}/src{within}: {}", why.join(", ")));
        }
    }
    found
}

/// Which module of a folder needs which, with a place that shows it.
struct Graph {
    needs: BTreeMap<ModulePath, BTreeMap<(String, String), String>>,
}

impl Graph {
    fn of(files: &[&SourceFile]) -> Self {
        let mut modules = BTreeSet::from([ModulePath::new()]);
        let mut mentions = Vec::new();
        let mut exports = BTreeMap::new();
        for file in files {
            let at = module_of(file.below_src());
            modules.insert(at.clone());
            let mut reader = Reader {
                at,
                place: file.below_src(),
                modules: &mut modules,
                mentions: &mut mentions,
                exports: &mut exports,
            };
            reader.visit_file(&file.syntax);
        }
        let mut needs: BTreeMap<ModulePath, BTreeMap<(String, String), String>> = BTreeMap::new();
        for Mention { from, to, place } in mentions {
            let to = resolve(&to, &modules, &exports);
            let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            // One of the two is the other's ancestor where a path ends at the branching.
            if let (Some(a), Some(b)) = (from.get(common), to.get(common)) {
                let pairs = needs.entry(from[..common].to_vec()).or_default();
                pairs.entry((a.clone(), b.clone())).or_insert(place);
            }
        }
        Self { needs }
    }

    /// For every folder the shortest circle through each group of modules that reach each other.
    fn circles(&self) -> Vec<(ModulePath, Vec<String>)> {
        let mut found = Vec::new();
        for (folder, pairs) in &self.needs {
            let mut covered = BTreeSet::new();
            let mut nodes: Vec<(usize, &String)> = Vec::new();
            for name in pairs.keys().map(|(a, _)| a).collect::<BTreeSet<_>>() {
                if let Some(circle) = shortest(name, pairs) {
                    nodes.push((circle.len(), name));
                }
            }
            nodes.sort();
            for (_, name) in nodes {
                let Some(circle) = shortest(name, pairs) else { continue };
                if circle.iter().any(|name| !covered.contains(name)) {
                    covered.extend(circle.iter().cloned());
                    found.push((folder.clone(), circle));
                }
            }
        }
        found
    }
}

/// The shortest circle from a module back to itself.
fn shortest(start: &String, pairs: &BTreeMap<(String, String), String>) -> Option<Vec<String>> {
    let mut ways = vec![vec![start.clone()]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut next = Vec::new();
        for way in ways {
            for (a, b) in pairs.keys().filter(|(a, _)| Some(a) == way.last()) {
                if b == start && a != b {
                    return Some(way);
                }
                if seen.insert(b.clone()) {
                    next.push(way.iter().chain([b]).cloned().collect());
                }
            }
        }
        ways = next;
    }
    None
}

/// The longest part of the path that is a module, after re-exports were followed.
fn resolve(
    path: &[String],
    modules: &BTreeSet<ModulePath>,
    exports: &BTreeMap<(ModulePath, String), ModulePath>,
) -> ModulePath {
    let mut path = path.to_vec();
    // More than that would be a circle of re-exports.
    for _ in 0..8 {
        let depth = (0..=path.len()).rev().find(|n| modules.contains(&path[..*n])).unwrap_or(0);
        let Some(name) = path.get(depth) else { return path };
        match exports.get(&(path[..depth].to_vec(), name.clone())) {
            Some(target) => path = target.iter().chain(&path[depth + 1..]).cloned().collect(),
            None => return path[..depth].to_vec(),
        }
    }
    path
}

/// The module that a file is: `a/mod.rs` and `a.rs` are `a`.
fn module_of(below_src: &str) -> ModulePath {
    let path = below_src.trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if matches!(path, "lib" | "main") { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

/// Module `from` names the path `to`.
struct Mention {
    from: ModulePath,
    to: ModulePath,
    place: String,
}

/// Collects the paths that a file names.
struct Reader<'a> {
    at: ModulePath,
    place: &'a str,
    modules: &'a mut BTreeSet<ModulePath>,
    mentions: &'a mut Vec<Mention>,
    exports: &'a mut BTreeMap<(ModulePath, String), ModulePath>,
}

impl Reader<'_> {
    /// A path of names as written; those that begin with `crate`, `super` or `self` are of this crate.
    fn path(&mut self, names: &[(String, usize)]) {
        if let Some(to) = self.absolute(names) {
            let line = names.first().map_or(0, |(_, line)| *line);
            self.mentions.push(Mention {
                from: self.at.clone(),
                to,
                place: format!("{}:{line}", self.place),
            });
        }
    }

    fn absolute(&self, names: &[(String, usize)]) -> Option<ModulePath> {
        let mut base = match names.first()?.0.as_str() {
            "crate" => Vec::new(),
            "self" => self.at.clone(),
            "super" => self.at.split_last()?.1.to_vec(),
            _ => return None,
        };
        let mut rest = names.iter().skip(1).map(|(name, _)| name).peekable();
        while rest.next_if(|name| *name == "super").is_some() {
            base.pop();
        }
        base.extend(rest.cloned());
        Some(base)
    }

    /// Every path of a `use`, with the name that it gets.
    fn tree(&mut self, tree: &syn::UseTree, before: &mut Vec<(String, usize)>, exported: bool) {
        let named = |ident: &syn::Ident| (ident.to_string(), ident.span().start().line);
        match tree {
            syn::UseTree::Path(path) => {
                before.push(named(&path.ident));
                self.tree(&path.tree, before, exported);
                before.pop();
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|each| self.tree(each, before, exported))
            }
            syn::UseTree::Glob(_) => self.path(before),
            syn::UseTree::Name(name) => self.leaf(before, named(&name.ident), &name.ident, exported),
            syn::UseTree::Rename(name) => self.leaf(before, named(&name.ident), &name.rename, exported),
        }
    }

    fn leaf(&mut self, before: &[(String, usize)], last: (String, usize), name: &syn::Ident, exported: bool) {
        let mut full = before.to_vec();
        if last.0 != "self" {
            full.push(last);
        }
        if exported {
            // A path that begins with a child of this module is relative to it.
            let relative: ModulePath = full.iter().map(|(name, _)| name.clone()).collect();
            let target =
                self.absolute(&full).unwrap_or_else(|| self.at.iter().chain(&relative).cloned().collect());
            self.exports.insert((self.at.clone(), name.to_string()), target);
        }
        self.path(&full);
    }

    /// Paths in the arguments of macros, which are not parsed.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<(String, usize)> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons < 2 {
                        self.path(&std::mem::take(&mut path));
                    }
                    path.push((ident.to_string(), ident.span().start().line));
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.path(&std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.path(&path);
    }
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if is_test(&module.attrs) {
            return;
        }
        if module.content.is_some() {
            self.at.push(module.ident.to_string());
            self.modules.insert(self.at.clone());
            visit::visit_item_mod(self, module);
            self.at.pop();
        }
    }
    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        let exported = !matches!(item.vis, syn::Visibility::Inherited);
        if !is_test(&item.attrs) {
            self.tree(&item.tree, &mut Vec::new(), exported);
        }
    }
    fn visit_path(&mut self, path: &'a syn::Path) {
        let names: Vec<(String, usize)> =
            path.segments.iter().map(|s| (s.ident.to_string(), s.ident.span().start().line)).collect();
        self.path(&names);
        visit::visit_path(self, path);
    }
    fn visit_visibility(&mut self, _: &'a syn::Visibility) {}
    fn visit_macro(&mut self, call: &'a syn::Macro) {
        self.tokens(call.tokens.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files = files.iter().map(|(name, text)| (format!("crates/a/src/{name}"), (*text).to_owned()));
        cycles(&Repository::from_sources(files.collect(), String::new()))
    }

    #[test]
    fn two_modules_that_need_each_other() {
        let found = found(&[
            ("lib.rs", "mod x; mod y; mod z;"),
            ("x.rs", "use crate::y::Y;"),
            ("y/mod.rs", "mod deep; pub struct Y;"),
            ("y/deep.rs", "fn f() { super::super::x::g() }"),
            ("z.rs", "use crate::x;"),
        ]);
        assert_eq!(found, ["crates/a/src: x → y (x.rs:1), y → x (y/deep.rs:1)"]);
    }

    #[test]
    fn circles_of_three_and_inside_folders() {
        let found = found(&[
            ("lib.rs", "mod f;"),
            ("f/mod.rs", "mod a; mod b; mod c;"),
            ("f/a.rs", "use super::b::B;"),
            ("f/b.rs", "fn f() { println!(\"{}\", super::c::C) }"),
            ("f/c.rs", "use crate::f::a;"),
        ]);
        assert_eq!(found, ["crates/a/src/f: a → b (f/a.rs:1), b → c (f/b.rs:1), c → a (f/c.rs:1)"]);
    }

    #[test]
    fn names_are_followed_to_where_they_are_defined() {
        let found = found(&[
            ("lib.rs", "mod a; mod b; pub use b::Thing;"),
            ("a.rs", "use crate::Thing;"),
            ("b.rs", "use crate::a::Other as Mine; pub struct Thing;"),
        ]);
        assert_eq!(found, ["crates/a/src: a → b (a.rs:1), b → a (b.rs:1)"]);
    }

    #[test]
    fn parents_children_and_tests_make_no_circle() {
        let found = found(&[
            ("lib.rs", "mod a; mod b; fn f() { a::g(); }"),
            ("a.rs", "use crate::f; #[cfg(test)] mod tests { use crate::b::B; }"),
            ("b.rs", "use crate::a::A; pub(crate) struct B;"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }
}
