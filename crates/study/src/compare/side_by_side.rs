//! Some runs in one picture: copies of the surface beside each other, at the same simulated time, seen by
//! one camera, coloured by how far they are from the reference.

use super::{Comparison, ComparisonRow, ReplaySurface};
use crate::run::DrawnGeometry;
use lilyan_report::{Replay, percent, short};
use lilyan_scene::build::Built;
use lilyan_scene::schema::Scene;
use lilyan_solid::contact::ObstacleShape;

/// Runs shown besides the reference.
const MOST: usize = 5;

/// The surfaces of all bodies.
pub(super) fn surface(built: &Built) -> ReplaySurface {
    let drawn = DrawnGeometry::of(built);
    ReplaySurface::new(1, &drawn.triangles, &drawn.lines)
}

/// The runs that are shown: those that are advised, then the representative of each method, largest error first.
pub(super) fn chosen(comparison: &Comparison, step: f64) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    let mut take = |k: usize| {
        if !chosen.contains(&k) && chosen.len() < MOST {
            chosen.push(k);
        }
    };
    comparison.advice.iter().filter_map(|a| a.row).for_each(&mut take);
    let mut typical: Vec<usize> =
        comparison.methods().into_iter().filter_map(|m| comparison.typical(m, step)).collect();
    let error = |k: &usize| comparison.rows[*k].error().unwrap_or(0.0);
    typical.sort_by(|a, b| error(b).total_cmp(&error(a)));
    typical.into_iter().for_each(&mut take);
    chosen
}

/// The replay of the chosen runs, the reference first.
pub(super) fn replay(scene: &Scene, comparison: &Comparison) -> Option<Replay> {
    let shown = &comparison.shown;
    let times: Vec<f64> = comparison.times.as_slice().iter().step_by(shown.every).copied().collect();
    let reference: Vec<Vec<f32>> =
        comparison.reference.positions.iter().step_by(shown.every).map(|q| shown.pick(q)).collect();
    let runs: Vec<&ComparisonRow> =
        chosen(comparison, scene.time.step).into_iter().map(|k| &comparison.rows[k]).collect();
    if shown.nodes.is_empty() || runs.is_empty() {
        return None;
    }
    let mut frames: Vec<&Vec<Vec<f32>>> = vec![&reference];
    frames.extend(runs.iter().map(|r| &r.frames));

    let plane = scene.contacts.iter().filter(|c| c.motion.is_none()).find_map(|c| match c.obstacle()? {
        ObstacleShape::Plane { point, normal } => Some((point, normal)),
        ObstacleShape::Sphere { .. } => None,
    });
    let up = plane.map_or([0.0, 1.0, 0.0], |(_, normal)| normal);
    let offsets = places(&reference, frames.len(), up, plane.is_some());
    let n = shown.nodes.len();
    let copies: Vec<u32> = (0..frames.len()).map(|c| (c * n) as u32).collect();
    let triangles: Vec<[u32; 3]> =
        copies.iter().flat_map(|c| shown.triangles.iter().map(move |t| t.map(|v| v + c))).collect();
    let lines: Vec<[u32; 2]> =
        copies.iter().flat_map(|c| shown.lines.iter().map(move |l| l.map(|v| v + c))).collect();

    let placed = |k: usize| -> Vec<f64> {
        frames
            .iter()
            .zip(&offsets)
            .flat_map(|(f, o)| f[k].iter().enumerate().map(move |(i, x)| f64::from(*x) + o[i % 3]))
            .collect()
    };
    let mut replay = Replay::new(&placed(0), &triangles, &lines)
        .with_field("distance from the reference", "m")
        .with_up(up)
        .without_snapshots();
    if let Some((point, normal)) = plane {
        replay = replay.with_ground(point, normal);
    }
    let label = |c: usize| match c {
        0 => "reference".to_string(),
        c => {
            let row = runs[c - 1];
            let error = row.error().map_or(String::new(), percent);
            format!("{}\n{} s: {error} off", row.method, short(row.step))
        }
    };
    for c in 0..frames.len() {
        replay = replay.with_label(label(c), (c * n) as u32..((c + 1) * n) as u32);
    }
    let count = frames.iter().map(|f| f.len()).min().unwrap_or(0).min(times.len());
    for (k, t) in times.iter().enumerate().take(count) {
        let distance: Vec<f64> = frames
            .iter()
            .flat_map(|f| {
                let pairs = f[k].chunks_exact(3).zip(reference[k].chunks_exact(3));
                pairs.map(|(a, b)| (0..3).map(|i| f64::from(a[i] - b[i]).powi(2)).sum::<f64>().sqrt())
            })
            .collect();
        replay.push(*t, &placed(k), &[&distance]);
    }
    Some(replay)
}

/// Positions of the copies: on a grid that faces the viewer and is nearly square, or in one row if there is a ground.
fn places(motion: &[Vec<f32>], count: usize, up: [f64; 3], one_row: bool) -> Vec<[f64; 3]> {
    let up = unit(up);
    let right = screen_right(up);
    let along = |axis: [f64; 3], f: &[f32]| {
        let heights = f.chunks_exact(3).map(|x| (0..3).map(|k| f64::from(x[k]) * axis[k]).sum::<f64>());
        heights.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)])
    };
    // The extent of the motion. For a body that flies away, at most 2.5 times its own size.
    let extent = |axis: [f64; 3]| {
        let ranges: Vec<[f64; 2]> = motion.iter().map(|f| along(axis, f)).collect();
        let own = ranges.iter().map(|r| r[1] - r[0]).fold(0.0, f64::max);
        let low = ranges.iter().map(|r| r[0]).fold(f64::INFINITY, f64::min);
        let high = ranges.iter().map(|r| r[1]).fold(f64::NEG_INFINITY, f64::max);
        (high - low).min(2.5 * own)
    };
    let (wide, high) = (extent(right), extent(up));
    let (wide, high) = (wide.max(0.2 * high), high.max(0.2 * wide));
    let (wide, high) = (1.15 * wide, 1.35 * high);
    let size = |columns: usize| {
        let rows = count.div_ceil(columns);
        // The picture is about twice as wide as high.
        (0.5 * columns as f64 * wide).max(rows as f64 * high)
    };
    let columns = match one_row {
        true => count,
        false => (1..=count).min_by(|a, b| size(*a).total_cmp(&size(*b))).unwrap_or(count),
    };
    (0..count)
        .map(|c| {
            let (column, row) = ((c % columns) as f64, (c / columns) as f64);
            [0, 1, 2].map(|k| column * wide * right[k] - row * high * up[k])
        })
        .collect()
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    let length = a.iter().map(|x| x * x).sum::<f64>().sqrt();
    a.map(|x| x / length)
}

/// The direction to the right of the screen when the replay opens (the camera of report/viewer.js).
fn screen_right(up: [f64; 3]) -> [f64; 3] {
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let seed = if up[2].abs() < 0.9 { [0.0, 0.0, 1.0] } else { [0.0, 1.0, 0.0] };
    let lift: f64 = (0..3).map(|k| seed[k] * up[k]).sum();
    let mut front = unit([0, 1, 2].map(|k| seed[k] - lift * up[k]));
    if up[2] > 0.9 {
        front = front.map(|x| -x);
    }
    let side = cross(up, front);
    let yaw: f64 = 0.5;
    unit(cross(up, [0, 1, 2].map(|k| front[k] * yaw.cos() + side[k] * yaw.sin())))
}
