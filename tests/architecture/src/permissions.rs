//! What only some files may do, by the table of ARCHITECTURE.md.

use crate::repository::{Repository, SourceFile, is_test, place};
use crate::tables::{allowed, covers};
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// `unsafe` blocks, functions, traits and implementations.
pub fn unsafe_code(repository: &Repository) -> Vec<String> {
    compare(repository, "unsafe", |found| found.unsafe_at.clone())
}

/// Uses of `Instant` and `SystemTime`.
pub fn clocks(repository: &Repository) -> Vec<String> {
    compare(repository, "clocks", |found| found.named(&["Instant", "SystemTime"]))
}

/// Uses of `std::thread`, rayon and the runtime of tokio.
pub fn threads(repository: &Repository) -> Vec<String> {
    compare(repository, "threads", |found| found.named(&["thread", "rayon", "runtime", "spawn_blocking"]))
}

/// Uses of `std::fs`.
pub fn files(repository: &Repository) -> Vec<String> {
    compare(repository, "files", |found| found.named(&["fs", "OpenOptions"]))
}

/// Uses of `println!` and its kin.
pub fn printing(repository: &Repository) -> Vec<String> {
    compare(repository, "printing", |found| found.named(&["print", "println", "eprint", "eprintln", "dbg"]))
}

/// Places that are not allowed, and permissions that nobody uses.
fn compare(repository: &Repository, what: &str, look: impl Fn(&Found) -> Vec<Span>) -> Vec<String> {
    let allowed = allowed(repository, what);
    let (mut wrong, mut used) = (Vec::new(), vec![false; allowed.len()]);
    for file in repository.sources() {
        let places = look(&Found::of(file));
        let mut permitted = false;
        for (entry, used) in allowed.iter().zip(&mut used) {
            if covers(entry, &file.path) {
                permitted = true;
                *used |= !places.is_empty();
            }
        }
        if !permitted {
            wrong.extend(places.into_iter().map(|span| format!("{}: {what}", place(file, span))));
        }
    }
    let idle = allowed.iter().zip(used).filter(|(_, used)| !used);
    wrong.extend(idle.map(|(entry, _)| format!("ARCHITECTURE.md: {entry} has no {what}")));
    wrong.dedup();
    wrong
}

/// What occurs in a file outside of its tests.
#[derive(Default)]
struct Found {
    unsafe_at: Vec<Span>,
    /// Every name of a path or `use`.
    names: Vec<(String, Span)>,
}

impl Found {
    fn of(file: &SourceFile) -> Self {
        let mut found = Self::default();
        found.visit_file(&file.syntax);
        found
    }

    fn named(&self, wanted: &[&str]) -> Vec<Span> {
        let names = self.names.iter().filter(|(name, _)| wanted.contains(&name.as_str()));
        names.map(|(_, span)| *span).collect()
    }

    fn name(&mut self, ident: &syn::Ident) {
        self.names.push((ident.to_string(), ident.span()));
    }

    /// Arguments of macros are not parsed: their words are looked at one by one.
    fn tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if ident == "unsafe" => self.unsafe_at.push(ident.span()),
                TokenTree::Ident(ident) => self.name(&ident),
                TokenTree::Group(group) => self.tokens(group.stream()),
                _ => {}
            }
        }
    }
}

impl<'a> Visit<'a> for Found {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }
    fn visit_expr_unsafe(&mut self, block: &'a syn::ExprUnsafe) {
        self.unsafe_at.push(block.unsafe_token.span);
        visit::visit_expr_unsafe(self, block);
    }
    fn visit_signature(&mut self, signature: &'a syn::Signature) {
        if let syn::Safety::Unsafe(token) = &signature.safety {
            self.unsafe_at.push(token.span);
        }
        visit::visit_signature(self, signature);
    }
    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        self.unsafe_at.extend(item.unsafety.as_ref().map(|token| token.span));
        visit::visit_item_impl(self, item);
    }
    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.unsafe_at.extend(item.unsafety.as_ref().map(|token| token.span));
        visit::visit_item_trait(self, item);
    }
    fn visit_path(&mut self, path: &'a syn::Path) {
        path.segments.iter().for_each(|segment| self.name(&segment.ident));
        visit::visit_path(self, path);
    }
    fn visit_use_tree(&mut self, tree: &'a syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => self.name(&path.ident),
            syn::UseTree::Name(name) => self.name(&name.ident),
            syn::UseTree::Rename(name) => self.name(&name.ident),
            _ => {}
        }
        visit::visit_use_tree(self, tree);
    }
    fn visit_macro(&mut self, call: &'a syn::Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_compared_with_use() {
        let table = "| only | in |\n|---|---|\n| `unsafe` | `crates/a/src/x.rs`, `crates/a/src/tame.rs` |\n\
                     | `threads` | `crates/a/src/pool/` |\n";
        let files = [
            ("x.rs", "fn f() { unsafe { g() } }"),
            ("tame.rs", "fn f() {}"),
            ("y.rs", "unsafe impl Send for A {}\n#[cfg(test)]\nmod tests { fn f() { unsafe { g() } } }"),
            ("z.rs", "fn f() { assert!(unsafe { g() }); std::thread::sleep(t); }"),
            ("pool/w.rs", "use std::thread;"),
        ];
        let files = files.map(|(name, text)| (format!("crates/a/src/{name}"), text.to_owned()));
        let repository = Repository::from_sources(files.into(), table.into());
        assert_eq!(
            unsafe_code(&repository),
            [
                "crates/a/src/y.rs:1: unsafe",
                "crates/a/src/z.rs:1: unsafe",
                "ARCHITECTURE.md: crates/a/src/tame.rs has no unsafe"
            ]
        );
        assert_eq!(threads(&repository), ["crates/a/src/z.rs:1: threads"]);
        assert!(clocks(&repository).is_empty());
    }
}
