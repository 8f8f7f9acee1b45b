//! Stencils and the law against values of others, collision detection against exact truth.

use super::Random;
use lilyan_solid::contact::barrier::stencil::{
    EdgeParts, Part, Stencil, closest_part, closest_parts_of_edges, edge_edge_distance,
    point_triangle_distance,
};
use lilyan_solid::contact::barrier::{BarrierLaw, ccd};

/// A line of a data file: its words, and the numbers after the first two.
fn lines(text: &str) -> impl Iterator<Item = (&str, &str, Vec<f64>)> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut words = line.split(' ');
        let (kind, second) = (words.next().unwrap(), words.next().unwrap());
        (kind, second, words.map(|word| word.parse().unwrap()).collect())
    })
}

fn points(x: &[f64]) -> [[f64; 3]; 4] {
    std::array::from_fn(|i| [x[3 * i], x[3 * i + 1], x[3 * i + 2]])
}

/// The stencil of a point and a triangle, or of two edges, and the places of its nodes among the four points.
fn stencil(kind: &str, x: [[f64; 3]; 4]) -> (Stencil, Vec<usize>, String) {
    let [a, b, c, d] = x;
    if kind == "pt" {
        let part = closest_part(a, [b, c, d]);
        return match part {
            Part::Inside => (Stencil::point_plane(x), vec![0, 1, 2, 3], "P_T".into()),
            Part::Edge(k) => {
                let [i, j] = [(k + 1) % 3 + 1, (k + 2) % 3 + 1];
                // The edges of ipctk begin with that between the first two corners.
                (Stencil::point_line([a, x[i], x[j]]), vec![0, i, j], format!("P_E{}", (k + 1) % 3))
            }
            Part::Corner(k) => (Stencil::points([a, x[k + 1]]), vec![0, k + 1], format!("P_T{k}")),
        };
    }
    match closest_parts_of_edges([a, b], [c, d]) {
        EdgeParts::Both => (Stencil::lines(x), vec![0, 1, 2, 3], "EA_EB".into()),
        EdgeParts::FirstEnd(i, Part::Corner(j)) => {
            (Stencil::points([x[i], x[j + 2]]), vec![i, j + 2], format!("EA{i}_EB{j}"))
        }
        EdgeParts::FirstEnd(i, _) => (Stencil::point_line([x[i], c, d]), vec![i, 2, 3], format!("EA{i}_EB")),
        EdgeParts::SecondEnd(j) => {
            (Stencil::point_line([x[j + 2], a, b]), vec![j + 2, 0, 1], format!("EA_EB{j}"))
        }
    }
}

#[test]
fn distances_and_their_derivatives_are_those_of_ipctk() {
    let mut regions = std::collections::BTreeSet::new();
    for (kind, region, values) in lines(include_str!("../data/distances.txt")) {
        let (x, square) = (points(&values), values[12]);
        let (gradient, hessian) = (&values[13..25], &values[25..]);
        let (stencil, nodes, found) = stencil(kind, x);
        assert_eq!(region, found, "{values:?}");
        regions.insert((kind, region));
        let d = stencil.distance();
        assert!((d * d - square).abs() <= 1e-10 * square, "{region}: {} {square}", d * d);
        // ∇D = 2 d ∇d, ∇²D = 2 (∇d ∇dᵀ + d ∇²d).
        let mut own = [0.0; 12];
        let mut second = vec![[0.0; 12]; 12];
        for (i, &node) in nodes.iter().enumerate() {
            let a = stencil.gradient(i);
            (0..3).for_each(|k| own[3 * node + k] = 2.0 * d * a[k]);
            for (j, &other) in nodes.iter().enumerate() {
                let (b, block) = (stencil.gradient(j), stencil.hessian(i, j));
                for k in 0..9 {
                    second[3 * node + k / 3][3 * other + k % 3] = 2.0 * (a[k / 3] * b[k % 3] + d * block[k]);
                }
            }
        }
        let scale = |v: &[f64]| v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for (own, given) in own.iter().zip(gradient) {
            assert!((own - given).abs() <= 1e-10 * scale(gradient), "{region}: {own} {given}");
        }
        let lower = (0..12).flat_map(|i| (0..=i).map(move |j| (i, j)));
        for ((i, j), given) in lower.zip(hessian) {
            let own = second[i][j];
            assert!((own - given).abs() <= 1e-10 * scale(hessian), "{region}: ({i}, {j}) {own} {given}");
        }
    }
    assert_eq!(regions.len(), 7 + 9);
}

/// β, β′, β″ and the quotient to 17 of 50 digits, by mpmath: a, b, β(a), β′(a), β″(a), [β(b) − β(a)]/(b − a).
#[test]
fn the_law_keeps_its_digits() {
    let law = BarrierLaw { modulus: 2.0, distance: 0.5 };
    for (_, _, v) in lines(include_str!("../data/barrier.txt")) {
        let [a, b, value, slope, curvature, quotient] = v[..] else { panic!("{v:?}") };
        let near = |x: f64, y: f64, what: &str| {
            assert!((x - y).abs() <= 4e-15 * y.abs(), "{what} at {a}, {b}: {x} instead of {y}");
        };
        near(law.energy(0.5 * a), value, "energy");
        near(law.slope(0.5 * a), 2.0 * slope, "slope");
        near(law.curvature(0.5 * a), 4.0 * curvature, "curvature");
        near(law.quotient(0.5 * a, 0.5 * b), 2.0 * quotient, "quotient");
        near(law.quotient(0.5 * b, 0.5 * a), 2.0 * quotient, "quotient");
    }
    assert_eq!(law.energy(0.0), f64::INFINITY);
    assert_eq!(law.energy(-1.0), f64::INFINITY);
    assert_eq!([law.energy(0.5), law.slope(0.5), law.curvature(0.5)], [0.0; 3]);
}

/// ∂/∂g₁ of the quotient against differences, on both sides of d̂.
#[test]
fn the_slope_of_the_quotient_is_its_derivative() {
    let law = BarrierLaw { modulus: 3.0, distance: 0.2 };
    for [a, b] in [[0.1, 0.15], [0.15, 0.1], [0.1, 0.3], [0.3, 0.1], [0.02, 0.02]] {
        let h = 1e-6;
        let difference = (law.quotient(a, b + h) - law.quotient(a, b - h)) / (2.0 * h);
        let own = law.quotient_slope(a, b);
        assert!(own >= 0.0 && (own - difference).abs() <= 1e-5 * own, "{a} {b}: {own} {difference}");
    }
}

#[test]
fn collision_detection_misses_nothing() {
    let (mut collisions, mut others, mut conservative) = (0, 0, 0);
    for (kind, truth, values) in lines(include_str!("../data/ccd-queries.txt")) {
        let (x, end) = (points(&values), points(&values[12..]));
        let p = std::array::from_fn(|i| std::array::from_fn(|k| end[i][k] - x[i][k]));
        let time = if kind == "ee" { ccd::edge_edge(x, p, 1.0) } else { ccd::point_triangle(x, p, 1.0) };
        if truth == "1" {
            assert!(time < 1.0, "a collision was missed: {values:?}");
            collisions += 1;
        } else {
            others += 1;
            conservative += usize::from(time < 1.0);
        }
    }
    assert!(collisions == 380 && others == 600);
    assert!(conservative * 100 < 12 * others, "{conservative} of {others}");
}

/// Random motions, half of them nearly degenerate: there is a gap at the time returned, and before it.
#[test]
fn a_gap_is_left_at_the_time_returned() {
    let mut random = Random(3);
    for n in 0..100_000 {
        let mut x: [[f64; 3]; 4] = std::array::from_fn(|_| random.vector());
        let mut p: [[f64; 3]; 4] = std::array::from_fn(|_| random.vector().map(|v| 3.0 * v));
        if n % 2 == 0 {
            // Nearly in one plane, moving in it or across it.
            x.iter_mut().for_each(|x| x[2] *= 1e-6);
            p.iter_mut().for_each(|p| p[2] *= if n % 4 == 0 { 1e-6 } else { 1.0 });
        }
        let at =
            |t: f64| -> [[f64; 3]; 4] { std::array::from_fn(|i| [0, 1, 2].map(|k| x[i][k] + t * p[i][k])) };
        let (time, gap): (f64, Box<dyn Fn(f64) -> f64>) = if n % 3 == 0 {
            (
                ccd::edge_edge(x, p, 1.0),
                Box::new(|t| edge_edge_distance([at(t)[0], at(t)[1]], [at(t)[2], at(t)[3]])),
            )
        } else {
            (
                ccd::point_triangle(x, p, 1.0),
                Box::new(|t| {
                    let [a, b, c, d] = at(t);
                    point_triangle_distance(a, [b, c, d])
                }),
            )
        };
        let before = gap(0.0);
        for k in 1..=4 {
            let there = gap(time * f64::from(k) / 4.0);
            assert!(there > 0.05 * before, "case {n}: gap {there} of {before} at {k}/4 of {time}");
        }
    }
}
