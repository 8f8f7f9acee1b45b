//! Names of types, public errors, doc comments.

use crate::repository::{Repository, SourceFile, is_test, place};
use std::collections::BTreeMap;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Types of one crate that share a name; associated types do not count.
pub fn repeated_types(repository: &Repository) -> Vec<String> {
    let mut seen: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    for file in repository.sources() {
        let package = file.package().unwrap_or_default();
        each_item(&file.syntax.items, &mut |item| {
            let name = match item {
                syn::Item::Struct(item) => &item.ident,
                syn::Item::Enum(item) => &item.ident,
                syn::Item::Trait(item) => &item.ident,
                syn::Item::Type(item) => &item.ident,
                syn::Item::Union(item) => &item.ident,
                _ => return,
            };
            let at = format!("{}:{}", file.below_src(), item.span().start().line);
            seen.entry((package, name.to_string())).or_default().push(at);
        });
    }
    let repeated = seen.into_iter().filter(|(_, places)| places.len() > 1);
    repeated.map(|((package, name), places)| format!("{package}: {name} in {}", places.join(", "))).collect()
}

/// Calls `look` for every item outside of functions and tests.
fn each_item(items: &[syn::Item], look: &mut impl FnMut(&syn::Item)) {
    for item in items {
        if let syn::Item::Mod(module) = item
            && let (false, Some((_, inside))) = (is_test(&module.attrs), &module.content)
        {
            each_item(inside, look);
        }
        look(item);
    }
}

/// Public functions, and functions of traits, whose error is a `String`.
pub fn string_errors(repository: &Repository) -> Vec<String> {
    let mut found = Vec::new();
    for file in repository.sources() {
        Signatures { file, found: &mut found }.visit_file(&file.syntax);
    }
    found
}

struct Signatures<'a> {
    file: &'a SourceFile,
    found: &'a mut Vec<String>,
}

impl Signatures<'_> {
    fn look(&mut self, visibility: Option<&syn::Visibility>, signature: &syn::Signature) {
        let public = visibility.is_none_or(|v| matches!(v, syn::Visibility::Public(_)));
        if let (true, syn::ReturnType::Type(_, returned)) = (public, &signature.output) {
            let mut strings = StringError(false);
            strings.visit_type(returned);
            if strings.0 {
                self.found.push(format!("{}: {}", place(self.file, signature.span()), signature.ident));
            }
        }
    }
}

impl<'a> Visit<'a> for Signatures<'_> {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.look(Some(&item.vis), &item.sig);
    }
    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.look(Some(&item.vis), &item.sig);
    }
    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        self.look(None, &item.sig);
    }
}

/// Whether a type contains `Result<_, String>`.
struct StringError(bool);

impl<'a> Visit<'a> for StringError {
    fn visit_path_segment(&mut self, segment: &'a syn::PathSegment) {
        if let (true, syn::PathArguments::AngleBracketed(list)) =
            (segment.ident == "Result", &segment.arguments)
            && let Some(syn::GenericArgument::Type(syn::Type::Path(error))) = list.args.iter().nth(1)
        {
            self.0 |= error.path.segments.last().is_some_and(|last| last.ident == "String");
        }
        visit::visit_path_segment(self, segment);
    }
}

/// Doc comments that say nothing but where to look.
pub fn empty_docs(repository: &Repository) -> Vec<String> {
    let mut found = Vec::new();
    for file in repository.sources() {
        for (number, line) in file.text.lines().enumerate() {
            let comment = line.trim().trim_start_matches("///").trim();
            if line.trim().starts_with("///")
                && matches!(comment, "See the module." | "See module." | "See above.")
            {
                found.push(format!("{}:{}: {comment}", file.path, number + 1));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> Repository {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Repository::from_sources(files.collect(), String::new())
    }

    #[test]
    fn a_name_twice_in_a_crate_is_found() {
        let twice = sources(&[
            ("crates/a/src/x.rs", "pub struct Parts; fn f() { struct Inner; }"),
            ("crates/a/src/y.rs", "enum Parts {} struct Inner; #[cfg(test)] mod tests { struct Inner; }"),
            ("crates/b/src/x.rs", "struct Parts;"),
        ]);
        assert_eq!(repeated_types(&twice), ["crates/a: Parts in x.rs:1, y.rs:1"]);
    }

    #[test]
    fn string_errors_are_found() {
        let text = "pub fn a() -> Result<(), String> { Ok(()) }\nfn b() -> Result<(), String> { Ok(()) }\n\
                    pub trait T { fn c(&self) -> Option<Result<u8, String>>; fn d(&self) -> Result<String, E>; }\n";
        let found = string_errors(&sources(&[("crates/a/src/x.rs", text)]));
        assert_eq!(found, ["crates/a/src/x.rs:1: a", "crates/a/src/x.rs:3: c"]);
    }

    #[test]
    fn empty_docs_are_found() {
        let text = "/// See the module.\npub struct A;\n/// See the module for why.\npub struct B;\n";
        assert_eq!(
            empty_docs(&sources(&[("crates/a/src/x.rs", text)])),
            ["crates/a/src/x.rs:1: See the module."]
        );
    }
}
