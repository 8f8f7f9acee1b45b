//! What several commands share: arguments, folders, progress bars.

use crate::failure::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use lilyan_scene::build::{Built, build, open};
use lilyan_scene::schema::Scene;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Arguments of commands that compute something with a scene.
#[derive(clap::Args, Default)]
pub struct CommonArguments {
    /// Sets a key of the scene, as in time.step=0.002; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Threads; 0: all cores
    #[arg(long)]
    pub threads: Option<usize>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

impl CommonArguments {
    /// Uses as many threads as were asked for.
    pub fn set_threads(&self) {
        if let Some(threads) = self.threads {
            lilyan_parallel::threads::set_threads(threads);
        }
    }
}

/// Reads a scene.
pub fn open_scene(name: &str, overrides: &[String]) -> Result<Scene, Failure> {
    let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
    open(name, &overrides).map_err(Failure::input)
}

/// Reads and builds a scene.
pub fn load(name: &str, overrides: &[String]) -> Result<(Scene, Built), Failure> {
    let scene = open_scene(name, overrides)?;
    let bar = std::io::stderr().is_terminal().then(|| {
        let bar = ProgressBar::new_spinner().with_message("building the bodies");
        keep_drawing(&bar);
        bar
    });
    let built = build(&scene).map_err(Failure::input);
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    Ok((scene, built?))
}

/// The folder of the results of a scene unless another one is given: `out/NAME` with this suffix. A file that is only called
/// `scene`, as all coarse scenes are, has the name of its folder too: FOLDER-scene.
pub fn default_folder(scene: &str, suffix: &str) -> PathBuf {
    let path = Path::new(scene);
    let stem = path.file_stem().map_or("run".into(), |s| s.to_string_lossy());
    let folder = path.parent().and_then(Path::file_name).filter(|_| stem == "scene");
    let folder = folder.map_or(String::new(), |folder| format!("{}-", folder.to_string_lossy()));
    PathBuf::from("out").join(format!("{folder}{stem}{suffix}"))
}

/// Makes the folder of the results of a scene, which is the default folder if none is given.
pub fn make_folder(given: Option<&PathBuf>, scene: &str, suffix: &str) -> Result<PathBuf, Failure> {
    let folder = given.cloned().unwrap_or_else(|| default_folder(scene, suffix));
    match std::fs::create_dir_all(&folder) {
        Ok(()) => Ok(folder),
        Err(e) => Err(Failure::input(format!("{}: {e}; choose another folder with -o", folder.display()))),
    }
}

/// A progress bar on standard error; none if that is not a terminal, or if nothing but JSON is wanted.
pub fn progress_bar(length: u64, template: &str, quiet: bool) -> Option<ProgressBar> {
    if quiet || !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::new(length);
    bar.set_style(ProgressStyle::with_template(template).unwrap_or(ProgressStyle::default_bar()));
    Some(bar)
}

/// Draws the bar again while nothing is reported, so that its times go on.
pub fn keep_drawing(bar: &ProgressBar) {
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_of_one_name_in_several_folders_have_results_of_their_own() {
        let folder = |scene| default_folder(scene, "").to_string_lossy().into_owned();
        assert_eq!(folder("cantilever"), "out/cantilever");
        assert_eq!(folder("some/where/beam.toml"), "out/beam");
        assert_eq!(folder("scene.toml"), "out/scene");
        assert_eq!(folder("out/coarse/scene.toml"), "out/coarse-scene");
        assert_eq!(default_folder("a/b/scene.toml", "-compare"), Path::new("out/b-scene-compare"));
    }
}
