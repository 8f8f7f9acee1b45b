//! Friction of the barrier is continuous where features change: no iteration converges on a jump.

use super::Random;
use super::potential::{contact, pose, rough_boxes};
use lilyan_solid::Model;
use lilyan_solid::contact::ContactPair;
use lilyan_solid::contact::barrier::FrictionLaw;

const LAW: FrictionLaw = FrictionLaw { coefficient: 0.5, slip: 0.1 };
/// d̂, m.
const DISTANCE: f64 = 0.15;

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// The largest jump of a force along t = 0…1, over the largest force: the intervals with the largest changes are halved until they
/// are round-off.
fn largest_jump(force: &dyn Fn(f64) -> Vec<f64>) -> f64 {
    let steps = 300;
    let values: Vec<Vec<f64>> = (0..=steps).map(|k| force(f64::from(k) / f64::from(steps))).collect();
    let size = values.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
    assert!(size > 0.0, "they touch");
    let mut order: Vec<usize> = (0..steps as usize).collect();
    order.sort_by(|a, b| apart(&values[*b], &values[*b + 1]).total_cmp(&apart(&values[*a], &values[*a + 1])));
    let jump = |k: usize| {
        let mut ends = [k, k + 1].map(|k| k as f64 / f64::from(steps));
        let mut forces = [values[k].clone(), values[k + 1].clone()];
        for _ in 0..36 {
            let middle = 0.5 * (ends[0] + ends[1]);
            let there = force(middle);
            let left = apart(&forces[0], &there) >= apart(&there, &forces[1]);
            ends[usize::from(left)] = middle;
            forces[usize::from(left)] = there;
        }
        apart(&forces[0], &forces[1]) / size
    };
    order[..20].iter().map(|k| jump(*k)).fold(0.0, f64::max)
}

/// Positions at the start with the upper box moved aside by `side` and turned about the vertical by `angle` (rad).
fn moved(model: &Model, q: &[f64], side: [f64; 2], angle: f64) -> Vec<f64> {
    let first = model.bodies()[1].dofs.unknowns().start / 3;
    let (sin, cos) = angle.sin_cos();
    let place = |(k, x): (usize, &[f64])| {
        if k < first {
            return [x[0], x[1], x[2]];
        }
        let (u, v) = (x[0] - 0.6, x[1] - 0.55);
        [0.6 + cos * u - sin * v + side[0], 0.55 + sin * u + cos * v + side[1], x[2]]
    };
    q.chunks_exact(3).enumerate().flat_map(place).collect()
}

/// Looks at a model, positions, the positions along a path from them, and a name.
type PathCheck<'a> = &'a dyn Fn(&Model, &[f64], &dyn Fn(f64) -> Vec<f64>, &str);

/// Boxes that lie flat on each other, and boxes with uneven surfaces; paths across edges, and through the direction in which edges are
/// parallel.
fn each_path(check: PathCheck<'_>) {
    let model = rough_boxes(ContactPair::Bodies(None), DISTANCE, Some(LAW));
    let mut random = Random(5);
    for uneven in [0.0, 0.02] {
        let q = pose(&model, uneven, &mut random);
        check(&model, &q, &|t| moved(&model, &q, [0.4 * t, 0.23 * t], 0.0), &format!("{uneven} m: sliding"));
        check(
            &model,
            &q,
            &|t| moved(&model, &q, [0.02, 0.01], 0.2 * (t - 0.41)),
            &format!("{uneven} m: turning"),
        );
    }
}

#[test]
fn friction_is_continuous() {
    each_path(&|model, q, path, name| {
        let friction = contact(model).role().friction.unwrap();
        let v: Vec<f64> = path(1.0).iter().zip(q).map(|(a, b)| 5.0 * (a - b)).collect();
        let at = |t: f64| {
            let mut f = vec![0.0; q.len()];
            friction.add_friction(&path(t), &v, &mut f);
            f
        };
        let jump = largest_jump(&at);
        assert!(jump < 1e-6, "{name}: {jump}");
        let over_a_step = |t: f64| {
            let mut f = vec![0.0; q.len()];
            friction.add_mean_friction(0.1, q, &path(t), &mut f);
            f
        };
        let jump = largest_jump(&over_a_step);
        assert!(jump < 1e-6, "{name}, over a step: {jump}");
    });
}
