//! Coarsening of ropes and membranes against closed forms: springs and layers in series and side by side, holes.
#![allow(non_snake_case)] // E as in the papers

use lilyan_solid::coarsening::{PlaneMesh, coarse_membrane, coarse_rope, plane_stress};

/// A rectangle of cells of two triangles, without those whose centre is left out.
fn sheet(size: [f64; 2], cells: [usize; 2], kept: impl Fn([f64; 2]) -> bool) -> PlaneMesh {
    let [m, n] = cells;
    let place = |i: usize, j: usize| [size[0] * i as f64 / m as f64, size[1] * j as f64 / n as f64];
    let vertices: Vec<[f64; 2]> = (0..=n).flat_map(|j| (0..=m).map(move |i| place(i, j))).collect();
    let at = |i: usize, j: usize| (i + (m + 1) * j) as u32;
    let mut triangles = Vec::new();
    for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
        let (lo, hi) = (place(i, j), place(i + 1, j + 1));
        if kept([0, 1].map(|k| 0.5 * (lo[k] + hi[k]))) {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    // Vertices of no triangle go.
    let mut number = vec![None; vertices.len()];
    let mut used = Vec::new();
    for v in triangles.as_flattened_mut() {
        let old = *v as usize;
        *v = *number[old].get_or_insert_with(|| {
            used.push(vertices[old]);
            used.len() as u32 - 1
        });
    }
    PlaneMesh { vertices: used, triangles }
}

fn centre(mesh: &PlaneMesh, t: usize) -> [f64; 2] {
    [0, 1].map(|k| mesh.triangles[t].iter().map(|v| mesh.vertices[*v as usize][k]).sum::<f64>() / 3.0)
}

#[test]
fn springs_in_series_add_their_compliances() {
    let fine: Vec<(f64, f64)> = (0..12).map(|k| (0.25, if k % 2 == 0 { 10.0 } else { 1000.0 })).collect();
    let harmonic = 2.0 / (1.0 / 10.0 + 1.0 / 1000.0);
    for found in coarse_rope(&fine, &[1.0, 0.5, 1.5]).unwrap() {
        assert!((found / harmonic - 1.0).abs() < 1e-12, "{found}, not {harmonic}");
    }
    // Ends of segments within springs; the last goes on to the end of the rope.
    let found = coarse_rope(&fine, &[0.35, 1.0]).unwrap();
    assert!((found[0] - 0.35 / (0.25 / 10.0 + 0.1 / 1000.0)).abs() < 1e-9);
    assert!((found[1] - 2.65 / (0.15 / 1000.0 + 5.0 * 0.25 / 1000.0 + 5.0 * 0.25 / 10.0)).abs() < 1e-9);
    assert!(coarse_rope(&fine, &[2.0, 2.0, 2.0]).is_err() && coarse_rope(&fine, &[]).is_err());
}

#[test]
fn a_homogeneous_membrane_keeps_its_tensor_and_its_mass() {
    let tensor = plane_stress(1e4, 0.3, 0.01);
    let square = sheet([2.0, 1.0], [20, 10], |_| true);
    let count = square.triangles.len();
    let coarse = sheet([2.0, 1.0], [3, 2], |_| true);
    let out = coarse_membrane(&square, &vec![tensor; count], &vec![0.2; count], &coarse).unwrap();
    for found in &out.stiffness {
        for i in 0..36 {
            assert!((found[i / 6][i % 6] - tensor[i / 6][i % 6]).abs() < 1e-9 * tensor[0][0]);
        }
    }
    assert!((out.masses.iter().sum::<f64>() - 0.4).abs() < 1e-12);
    let centre: f64 = out.masses.iter().zip(&coarse.vertices).map(|(m, x)| m * x[0]).sum();
    assert!((centre / 0.4 - 1.0).abs() < 1e-12);
}

/// Strips without Poisson effect: in series the harmonic mean, side by side between that and the mean.
#[test]
fn strips_in_series_and_side_by_side() {
    let fine = sheet([4.0, 1.0], [32, 4], |_| true);
    let coarse = sheet([4.0, 1.0], [4, 1], |_| true);
    let E = |t: usize| if (centre(&fine, t)[0] * 2.0) as usize % 2 == 0 { 1e3 } else { 1e5 };
    let stiffness: Vec<_> = (0..fine.triangles.len()).map(|t| plane_stress(E(t), 0.0, 1.0)).collect();
    let out = coarse_membrane(&fine, &stiffness, &vec![1.0; stiffness.len()], &coarse).unwrap();
    let (series, beside) = (2.0 / (1e-3 + 1e-5), 0.5 * (1e3 + 1e5));
    for (cell, pair) in out.stiffness.chunks_exact(2).enumerate() {
        // The two triangles of a cell share 𝔾: together they are as stiff as the cell.
        let mean = |i: usize| 0.5 * (pair[0][i][i] + pair[1][i][i]);
        println!("cell {cell}: {:.6} of the harmonic mean", mean(0) / series);
        // Not exactly: under tension along the strips, uniform at their ends, the soft ones are pulled out.
        assert!((mean(0) / series - 1.0).abs() < 0.01, "cell {cell}: {}, not {series}", mean(0));
        assert!(mean(1) > series && mean(1) < beside * (1.0 + 1e-9), "cell {cell}: across {}", mean(1));
    }
}

/// A hole softens by more than its missing area, since its edge is free.
#[test]
fn a_hole_softens() {
    let hole = |x: [f64; 2]| (x[0] - 1.0).abs() > 0.3 || (x[1] - 1.0).abs() > 0.3;
    let fine = sheet([2.0, 2.0], [20, 20], hole);
    let tensor = plane_stress(1e4, 0.3, 1.0);
    let count = fine.triangles.len();
    let coarse = sheet([2.0, 2.0], [1, 1], |_| true);
    let out = coarse_membrane(&fine, &vec![tensor; count], &vec![1.0; count], &coarse).unwrap();
    let share = 1.0 - 0.36 / 4.0;
    for found in &out.stiffness {
        assert!(found[0][0] < 0.98 * share * tensor[0][0] && found[0][0] > 0.5 * tensor[0][0], "{found:?}");
        assert_eq!(found[0][1], found[1][0]);
    }
}
