//! Films by the program ffmpeg, which gets the pictures through a pipe.

use crate::RenderError;
use crate::image::Image;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The program is looked for on the PATH, unless this variable names it.
const VARIABLE: &str = "LILYAN_FFMPEG";

/// A film that is being written.
pub(crate) struct Film {
    child: Child,
    path: PathBuf,
}

impl Film {
    /// A film of pictures of this size.
    pub fn new(path: &Path, [width, height]: [usize; 2], rate: f64) -> Result<Self, RenderError> {
        let program = std::env::var_os(VARIABLE).unwrap_or_else(|| "ffmpeg".into());
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let codec: &[&str] = match extension.as_str() {
            "webm" => &["-c:v", "libvpx-vp9", "-b:v", "0", "-crf", "28", "-row-mt", "1"],
            _ => &["-c:v", "libx264", "-crf", "18", "-preset", "medium", "-movflags", "+faststart"],
        };
        let mut command = Command::new(&program);
        command.args(["-hide_banner", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]);
        command.args(["-s", &format!("{width}x{height}"), "-r", &rate.to_string(), "-i", "-", "-an"]);
        // Players take half the resolution of colours alone, of an even number of rows and columns.
        command.args(codec).args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"]).arg(path);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|e| {
            let program = program.to_string_lossy();
            RenderError::Request(match e.kind() {
                std::io::ErrorKind::NotFound => format!(
                    "a .{extension} is written by the program ffmpeg, and there is no {program:?}: install it, name it in {VARIABLE}, or write a .gif or .png"
                ),
                _ => format!("{program} cannot be started: {e}"),
            })
        })?;
        Ok(Self { child, path: path.into() })
    }

    /// Adds a picture.
    pub fn add(&mut self, image: &Image) -> Result<(), RenderError> {
        let written = self.child.stdin.as_mut().map(|pipe| pipe.write_all(&image.pixels));
        match written {
            Some(Err(_)) | None => Err(self.failure()),
            Some(Ok(())) => Ok(()),
        }
    }

    /// Waits until the film is written.
    pub fn finish(mut self) -> Result<(), RenderError> {
        drop(self.child.stdin.take());
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(self.failure()),
        }
    }

    /// What the program said.
    fn failure(&mut self) -> RenderError {
        drop(self.child.stdin.take());
        let mut said = String::new();
        if let Some(pipe) = &mut self.child.stderr {
            let _ = std::io::Read::read_to_string(pipe, &mut said);
        }
        let _ = self.child.wait();
        let last = said.lines().last().unwrap_or("it said nothing").trim();
        RenderError::Request(format!("{}: ffmpeg could not write it: {last}", self.path.display()))
    }
}
