use std::path::{Path, PathBuf};

/// The source files and ARCHITECTURE.md.
pub struct Repository {
    /// All Rust files, in the order of their paths.
    pub rust: Vec<SourceFile>,
    /// Path and number of lines of every other source file.
    pub others: Vec<(String, usize)>,
    /// The text of ARCHITECTURE.md.
    pub architecture: String,
}

/// A Rust file.
pub struct SourceFile {
    /// Path from the root of the repository, with `/`.
    pub path: String,
    /// What is in it.
    pub text: String,
    /// The same as a syntax tree.
    pub syntax: syn::File,
}

/// Folders that hold no source of ours.
const SKIPPED: &[&str] = &["target", "node_modules", "dist", ".git", ".venv"];
/// Other files that are written by hand.
const OTHERS: &[&str] = &["ts", "mjs", "js", "css", "py", "html"];

impl Repository {
    /// The repository that this crate is part of.
    pub fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut paths = Vec::new();
        for folder in ["crates", "apps", "python", "tests", "examples", "benches", "verify"] {
            walk(&root.join(folder), &mut paths);
        }
        paths.sort();
        let (mut rust, mut others) = (Vec::new(), Vec::new());
        for path in paths {
            let shown =
                path.strip_prefix(&root).expect("below the root").to_string_lossy().replace('\\', "/");
            let extension = path.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default();
            if extension == "rs" {
                rust.push((shown, text_of(&path)));
            } else if OTHERS.contains(&extension.as_str()) {
                others.push((shown, text_of(&path).lines().count()));
            }
        }
        let architecture = text_of(&root.join("ARCHITECTURE.md"));
        Self { others, ..Self::from_sources(rust, architecture) }
    }

    /// A repository of these Rust files.
    pub fn from_sources(rust: Vec<(String, String)>, architecture: String) -> Self {
        let rust = rust.into_iter().map(|(path, text)| {
            let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
            SourceFile { path, text, syntax }
        });
        Self { rust: rust.collect(), others: Vec::new(), architecture }
    }

    /// The files of the crates and apps themselves: no tests, examples or benchmarks.
    pub fn sources(&self) -> impl Iterator<Item = &SourceFile> {
        self.rust.iter().filter(|file| file.package().is_some())
    }
}

impl SourceFile {
    /// The folder of the package whose `src` holds the file; `None` for tests, examples and benchmarks.
    pub fn package(&self) -> Option<&str> {
        let (package, _) = self.path.split_once("/src/")?;
        let ours = package.starts_with("crates/") || package.starts_with("apps/") || package == "python";
        ours.then_some(package)
    }

    /// The path below `src`.
    pub fn below_src(&self) -> &str {
        self.path.split_once("/src/").map_or(self.path.as_str(), |(_, below)| below)
    }
}

fn walk(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() && !SKIPPED.contains(&name.as_str()) {
            walk(&path, out);
        } else if path.is_file() {
            out.push(path);
        }
    }
}

fn text_of(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Whether an item is compiled for tests only.
pub fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        meta => meta.path().is_ident("test"),
    })
}

/// `path:line`.
pub fn place(file: &SourceFile, span: proc_macro2::Span) -> String {
    format!("{}:{}", file.path, span.start().line)
}
