//! Nets of springs have the stiffness of the sheet that they stand for.
#![allow(non_snake_case)]

use lilyan_solid::elements::Springs;
use lilyan_solid::nets::{self, Sheet, Stretch};
use lilyan_solid::potentials::Potential;

/// Small strains of a net of springs cost what plane stress with ν = 1/3 says, whatever the cells; those of the edges of
/// equilateral triangles as well.
#[test]
fn nets_have_the_stiffness_of_the_material() {
    let (E, t, nu) = (2e4, 0.003, 1.0 / 3.0);
    let plane = |e: [f64; 3]| {
        let c = E * t / (1.0 - nu * nu);
        0.5 * c * (e[0] * e[0] + e[1] * e[1] + 2.0 * nu * e[0] * e[1] + 2.0 * (1.0 - nu) * e[2] * e[2])
    };
    let strains = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, -0.5, 0.3]];
    let size = 1e-5;
    let strained = |x: &[[f64; 3]], e: [f64; 3]| -> Vec<f64> {
        let e = e.map(|e| size * e);
        x.iter()
            .flat_map(|x| [x[0] + e[0] * x[0] + e[2] * x[1], x[1] + e[1] * x[1] + e[2] * x[0], 0.0])
            .collect()
    };
    for cells in [[1, 1], [6, 4], [4, 5], [32, 32]] {
        let sheet = Sheet { cells };
        let x = sheet.vertices([1.2, 1.0]);
        let springs = Springs::new(sheet.springs(&x, Stretch::Young(E), t).unwrap());
        for e in strains {
            let expected = 1.2 * plane(e) * size * size;
            let found = springs.energy(&strained(&x, e));
            assert!((found - expected).abs() < 1e-4 * expected, "{cells:?} {e:?}: {found} {expected}");
        }
    }
    assert!(
        Sheet { cells: [1, 2] }
            .springs(&Sheet { cells: [1, 2] }.vertices([1.0, 1.0]), Stretch::Young(E), t)
            .is_err()
    );
    // A hexagon of equilateral triangles: the net is isotropic but for its border, which has half of its neighbours.
    let corner = |k: usize| {
        let angle = std::f64::consts::FRAC_PI_3 * k as f64;
        [angle.cos(), angle.sin(), 0.0]
    };
    let x: Vec<[f64; 3]> = std::iter::once([0.0; 3]).chain((0..6).map(corner)).collect();
    let triangles: Vec<[u32; 3]> = (0..6).map(|k| [0, 1 + k, 1 + (k + 1) % 6]).collect();
    let springs = Springs::new(nets::triangle_springs(&x, &triangles, Stretch::Young(E), t));
    for e in strains {
        let expected = 1.5 * 3f64.sqrt() * plane(e) * size * size;
        let found = springs.energy(&strained(&x, e));
        assert!((found - expected).abs() < 1e-4 * expected, "{e:?}: {found} {expected}");
    }
}
