//! Pictures and films of runs, drawn without a graphics card or a window.
//!
//! | module | what it does |
//! |---|---|
//! | `raster` | triangles to samples, with a z-buffer |
//! | `shadow` | a shadow map with soft edges |
//! | `picture` | light, the floor, four samples per pixel |
//! | `camera`, `drawn` | where the picture is taken from; what it shows |
//! | `font`, `legend` | letters as strokes; the time and the scale of colours |
//! | [`png`], [`gif`], `ffmpeg` | files |

mod camera;
mod drawn;
mod ffmpeg;
mod font;
pub mod gif;
mod image;
mod legend;
mod picture;
pub mod png;
mod raster;
mod shadow;
mod vector;

pub use image::Image;

use camera::Camera;
use drawn::Drawn;
use lilyan_exchange::{Animation, AnimationOptions, CreasedSurface, ExchangeError, Results};
use lilyan_files::atomic::{self, WriteError};
use lilyan_report::View;
use lilyan_scene::build::obstacle_surface;
use lilyan_scene::schema::RigidMotion;
use lilyan_solid::contact::{ObstacleShape, Placement};
use lilyan_solid::mesh::TriMesh;
use picture::Stage;
use std::path::{Path, PathBuf};
use vector::V3;

/// How a run is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderOptions {
    /// Which part of the run.
    pub part: AnimationOptions,
    /// A single picture at this time (s) instead of a film.
    pub at: Option<f64>,
    /// Pixels in a row, and rows.
    pub size: [usize; 2],
    /// Pictures per second of a film.
    pub rate: f64,
    /// Simulated seconds per second of a film; absent: 1, or what makes a very short or long run last 6 s.
    pub speed: Option<f64>,
    /// Degrees by which the view is turned about the vertical, and raised; absent: chosen by the shape of the motion.
    pub view: Option<[f64; 2]>,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self {
            part: AnimationOptions::default(),
            at: None,
            size: [1280, 720],
            rate: 30.0,
            speed: None,
            view: None,
        }
    }
}

/// What was drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// The files.
    pub files: Vec<PathBuf>,
    /// Number of pictures.
    pub pictures: usize,
    /// Simulated seconds per second of the film.
    pub speed: f64,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// Why nothing was drawn.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The results cannot be read.
    #[error("{0}")]
    Results(#[from] ExchangeError),
    /// A file cannot be written.
    #[error("{0}")]
    Write(#[from] WriteError),
    /// What was asked for cannot be done: what, and what to ask for instead.
    #[error("{0}")]
    Request(String),
}

/// Extensions of the files that can be written.
pub const EXTENSIONS: [&str; 4] = ["webm", "mp4", "gif", "png"];

/// Draws a run into a file: `.gif`, `.webm` and `.mp4` are films, `.png` are single pictures, numbered if there are several.
/// `progress` gets what is done and the share of it.
pub fn render(
    results: &Results,
    options: &RenderOptions,
    path: &Path,
    progress: &mut dyn FnMut(&str, f64),
) -> Result<Rendered, RenderError> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if !EXTENSIONS.contains(&extension.as_str()) {
        return Err(RenderError::Request(format!(
            "{}: a picture or film is a .webm, .mp4, .gif or .png",
            path.display()
        )));
    }
    check(options, &extension)?;
    let part = match options.at {
        // The frames around the time are enough for the picture; all of them for the camera and the colours.
        Some(_) => AnimationOptions { between: None, ..options.part.clone() },
        None => options.part.clone(),
    };
    let animation = Animation::read(results, &part, &mut |share| progress("reading frames", share))?;
    let studio = Studio::new(results, &animation, options);
    let (times, speed) = times(&animation, options)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|e| WriteError::new(folder, "creating the folder", e))?;
    }
    let mut pictures = times.iter().enumerate().map(|(k, t)| {
        progress("drawing", k as f64 / times.len() as f64);
        studio.picture(*t)
    });
    let mut files = vec![path.to_path_buf()];
    match extension.as_str() {
        "png" if times.len() == 1 => {
            pictures.try_for_each(|image| atomic::write(path, &png::encode(&image)))?;
        }
        "png" => {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            files = (0..times.len()).map(|k| path.with_file_name(format!("{stem}-{k:06}.png"))).collect();
            let mut numbered = pictures.zip(&files);
            numbered.try_for_each(|(image, file)| {
                atomic::replace_with(file, |out| out.write_all(&png::encode(&image)))
            })?;
        }
        "gif" => write_gif(&studio, &times, pictures, options, path)?,
        _ => {
            let mut film = ffmpeg::Film::new(path, options.size, options.rate)?;
            pictures.try_for_each(|image| film.add(&image))?;
            film.finish()?;
        }
    }
    Ok(Rendered { files, pictures: times.len(), speed, notes: studio.notes })
}

fn write_gif(
    studio: &Studio<'_>,
    times: &[f64],
    mut pictures: impl Iterator<Item = Image>,
    options: &RenderOptions,
    path: &Path,
) -> Result<(), WriteError> {
    // Colours of the beginning, the middle and the end.
    let last = times.len() - 1;
    let mut some = vec![0, last / 4, last / 2, 3 * last / 4, last];
    some.dedup();
    let samples: Vec<Image> = some.into_iter().map(|k| studio.picture(times[k])).collect();
    let delay = (100.0 / options.rate).round() as u16;
    atomic::write_with(path, |out| {
        let mut film = gif::GifWriter::new(out, options.size, &samples, delay)?;
        pictures.try_for_each(|image| film.add(&image))?;
        film.finish()
    })
}

fn check(options: &RenderOptions, extension: &str) -> Result<(), RenderError> {
    let wrong = |what: &str| Err(RenderError::Request(what.into()));
    if options.size.iter().any(|n| !(16..=8192).contains(n)) {
        return wrong("a picture has from 16 to 8192 pixels along each side");
    }
    let most = if extension == "gif" { 50.0 } else { 240.0 };
    if !(options.rate >= 1.0 && options.rate <= most) {
        return Err(RenderError::Request(format!("a .{extension} has from 1 to {most} pictures per second")));
    }
    if options.speed.is_some_and(|speed| !(speed > 0.0 && speed.is_finite())) {
        return wrong("the speed is a number above 0: simulated seconds per second");
    }
    if options.view.is_some_and(|view| !view.iter().all(|x| x.is_finite()) || view[1].abs() > 90.0) {
        return wrong("a view is a turn and a lift in degrees, the lift from -90 to 90");
    }
    Ok(())
}

/// Times of the pictures, s, and the speed of the film.
fn times(animation: &Animation, options: &RenderOptions) -> Result<(Vec<f64>, f64), RenderError> {
    let (first, last) = (animation.times[0], animation.times[animation.times.len() - 1]);
    if let Some(at) = options.at {
        if !(first..=last).contains(&at) {
            let what = format!("there is no picture at {at} s: the frames go from {first} to {last} s");
            return Err(RenderError::Request(what));
        }
        return Ok((vec![at], 1.0));
    }
    let length = last - first;
    let speed = options.speed.unwrap_or(if (2.0..=30.0).contains(&length) { 1.0 } else { length / 6.0 });
    if length == 0.0 {
        return Ok((vec![first], 1.0));
    }
    let count = (length / speed * options.rate).round();
    if count > 1e5 {
        let what = format!("a film of {count} pictures is too long; choose a higher --speed");
        return Err(RenderError::Request(what));
    }
    let count = count.max(1.0) as usize;
    Ok(((0..=count).map(|k| first + length * k as f64 / count as f64).collect(), speed))
}

/// What all pictures of a run share.
struct Studio<'a> {
    results: &'a Results,
    animation: &'a Animation,
    creased: Vec<CreasedSurface>,
    /// Obstacles that are meshes, where they are written, and how they move.
    obstacles: Vec<(TriMesh, Option<RigidMotion>)>,
    stage: Stage,
    /// Digits behind the point of the times.
    digits: usize,
    notes: Vec<String>,
}

impl<'a> Studio<'a> {
    fn new(results: &'a Results, animation: &'a Animation, options: &RenderOptions) -> Self {
        let points = some_points(animation);
        let flat: Vec<f64> = points.iter().flatten().copied().collect();
        let up = animation.up;
        let view = match options.view {
            Some([turn, lift]) => {
                let seed = if up[0].abs() < 0.8 { [1.0, 0.0, 0.0] } else { [0.0, 0.0, 1.0] };
                View::from_direction(&flat, up, seed, turn.to_radians(), lift.clamp(-89.9, 89.9).to_radians())
            }
            None => View::auto(&flat, up),
        };
        let narrow: Vec<V3> = points.iter().map(|p| p.map(|x| x as f32)).collect();
        let fold = |start: f32, pick: fn(f32, f32) -> f32| {
            [0, 1, 2].map(|k| narrow.iter().fold(start, |m, p| pick(m, p[k])))
        };
        let (low, high) = (fold(f32::INFINITY, f32::min), fold(f32::NEG_INFINITY, f32::max));
        let centre = [0, 1, 2].map(|k| 0.5 * (low[k] + high[k]));
        let apart = |p: &V3| vector::dot(vector::sub(*p, centre), vector::sub(*p, centre)).sqrt();
        // Points between those that were looked at may be a little farther away.
        let radius = 1.02 * narrow.iter().map(apart).fold(f32::MIN_POSITIVE, f32::max);
        let length = animation.times[animation.times.len() - 1] - animation.times[0];
        let digits = (2.0 - length.max(1e-9).log10().floor()).clamp(2.0, 9.0) as usize;
        let creased = animation.bodies.iter().map(|body| body.surface.creased(&body.positions[0]));
        let mut notes = animation.notes.clone();
        let mut obstacles = Vec::new();
        if let Some(scene) = &results.scene {
            for contact in &scene.contacts {
                let Some(mesh) = &contact.mesh else { continue };
                match obstacle_surface(scene, mesh) {
                    Ok(surface) => obstacles.push((surface, contact.motion.clone())),
                    Err(e) => notes.push(format!("an obstacle is not drawn: {e}")),
                }
            }
        }
        Self {
            results,
            animation,
            creased: creased.collect(),
            obstacles,
            stage: Stage {
                camera: Camera::new(&view, &narrow, options.size),
                up: vector::unit(up.map(|x| x as f32)),
                centre,
                radius,
                grid: round_length(radius),
                size: options.size,
            },
            digits,
            notes,
        }
    }

    /// The picture at a time.
    fn picture(&self, t: f64) -> Image {
        let mut drawn = Drawn::default();
        drawn.add_bodies(
            self.animation,
            &self.creased,
            place(&self.animation.times, t),
            2.0 * self.stage.radius,
        );
        for (surface, motion) in &self.obstacles {
            let placement = motion.as_ref().map_or(Placement::START, |motion| motion.at(t));
            let vertices = surface.vertices.iter().map(|x| placement.moved(*x)).collect();
            let placed = TriMesh { vertices, triangles: surface.triangles.clone() };
            drawn.add_obstacle(&placed, picture::OBSTACLE);
        }
        for obstacle in self.obstacles(t) {
            let of = |x: [f64; 3]| x.map(|x| x as f32);
            match obstacle {
                ObstacleShape::Plane { point, normal } => {
                    drawn.planes.push([of(point), vector::unit(of(normal))]);
                }
                ObstacleShape::Sphere { center, radius, inside: false } => {
                    drawn.balls.push((of(center), radius as f32));
                }
                // From within nothing else could be seen.
                ObstacleShape::Sphere { inside: true, .. } => {}
            }
        }
        let mut image = picture::draw(&self.stage, &drawn);
        let digits = self.digits;
        legend::time(&mut image, &format!("t = {t:.digits$} s"));
        if let Some(scale) = &self.animation.scale {
            legend::colours(&mut image, scale);
        }
        image
    }

    /// Planes and spheres where they are at a time.
    fn obstacles(&self, t: f64) -> Vec<ObstacleShape> {
        let contacts = self.results.scene.iter().flat_map(|scene| &scene.contacts);
        contacts.filter_map(|contact| contact.obstacle_at(t)).collect()
    }
}

/// The frame before a time, and the share of the way to the next.
fn place(times: &[f64], t: f64) -> (usize, f64) {
    let after = times.partition_point(|frame| *frame <= t).max(1);
    let k = after - 1;
    match times.get(after) {
        Some(next) => (k, ((t - times[k]) / (next - times[k])).clamp(0.0, 1.0)),
        None => (k, 0.0),
    }
}

/// Points that bound the motion: the corners of the box of each body in each frame would be too generous, and all vertices too
/// many.
fn some_points(animation: &Animation) -> Vec<[f64; 3]> {
    const MOST: usize = 200_000;
    let all: usize = animation.bodies.iter().map(|b| b.surface.source.len() * b.positions.len()).sum();
    let every = all.div_ceil(MOST).max(1);
    let positions = animation.bodies.iter().flat_map(|body| body.positions.iter().flatten());
    positions.step_by(every).copied().filter(|p| p.iter().all(|x| x.is_finite())).collect()
}

/// A round length, about a quarter of another.
fn round_length(of: f32) -> f32 {
    let rough = 0.35 * of;
    let power = 10f32.powf(rough.log10().floor());
    let factor = [5.0, 2.0, 1.0].into_iter().find(|m| m * power <= rough).unwrap_or(1.0);
    factor * power
}
