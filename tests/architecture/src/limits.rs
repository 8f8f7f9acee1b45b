//! How long functions and files may be.

use crate::repository::{Repository, SourceFile, place};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

const FUNCTION: usize = 100;
const FILE: usize = 500;

/// Functions with more than [`FUNCTION`] lines, from `fn` to the closing brace.
pub fn long_functions(repository: &Repository) -> Vec<String> {
    let mut found = Vec::new();
    for file in &repository.rust {
        Functions { file, found: &mut found }.visit_file(&file.syntax);
    }
    found
}

/// Files with more than [`FILE`] lines.
pub fn long_files(repository: &Repository) -> Vec<String> {
    let rust = repository.rust.iter().map(|file| (file.path.clone(), file.text.lines().count()));
    let all = rust.chain(repository.others.iter().cloned());
    all.filter(|(_, lines)| *lines > FILE).map(|(path, lines)| format!("{path}: {lines} lines")).collect()
}

struct Functions<'a> {
    file: &'a SourceFile,
    found: &'a mut Vec<String>,
}

impl Functions<'_> {
    fn look(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let lines = block.span().end().line + 1 - signature.span().start().line;
        if lines > FUNCTION {
            let at = place(self.file, signature.span());
            self.found.push(format!("{at}: {} has {lines} lines", signature.ident));
        }
    }
}

impl<'a> Visit<'a> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.look(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }
    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.look(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }
    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.look(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_counted() {
        let long = format!("fn short() {{}}\nfn long() {{\n{}}}\n", "    work();\n".repeat(FUNCTION - 1));
        let text =
            |body: String| Repository::from_sources(vec![("crates/a/src/x.rs".into(), body)], String::new());
        assert_eq!(long_functions(&text(long)), ["crates/a/src/x.rs:2: long has 101 lines"]);
        let most = format!("impl A {{ fn most() {{\n{}}} }}\n", "    work();\n".repeat(FUNCTION - 2));
        assert!(long_functions(&text(most)).is_empty());
        assert_eq!(long_files(&text("//\n".repeat(FILE + 1))).len(), 1);
        assert!(long_files(&text("//\n".repeat(FILE))).is_empty());
    }
}
