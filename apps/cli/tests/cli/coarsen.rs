//! `lilyan coarsen`.

use super::common::{BAR, expect, folder, json, text};

#[test]
fn coarsen_leaves_a_scene_that_runs() {
    let dir = folder("coarsen", BAR);
    // Cut as the coarse one is, or their planes of bending differ and there is no fit of a mesh of two cells.
    let fine = "body.mesh.box={ size = [2, 1, 1], cells = [8, 4, 4], diagonals = \"same\" }";
    let tensors = ["--method", "homogenize"];
    let coarsen = |more: &[&str]| expect(&dir, &[&["coarsen"], more].concat(), 0);
    let out = coarsen(&[&["scene.toml", "--tets", "12", "-o", "c", "--set", fine], &tensors[..]].concat());
    assert!(text(&out.stdout).contains("768 tets to 12"), "{}", text(&out.stdout));
    for name in ["c/scene.toml", "c/coarse.vtu", "c/coarsen.json"] {
        assert!(dir.join(name).is_file(), "{name}");
    }
    for integrator in ["variational", "verlet", "corotational-reversible", "siere"] {
        let set = format!("integrator={{ name = \"{integrator}\" }}");
        expect(&dir, &["run", "c/scene.toml", "-o", "out", "--set", &set, "--set", "time.step=0.002"], 0);
    }
    // With a fit, as is the default, integrators that take one run it; the others are refused in words.
    coarsen(&["scene.toml", "--tets", "12", "-o", "f", "--set", fine]);
    for (integrator, status) in [("variational", 0), ("siere", 0), ("verlet", 1)] {
        let set = format!("integrator={{ name = \"{integrator}\" }}");
        expect(
            &dir,
            &["run", "f/scene.toml", "-o", "out", "--set", &set, "--set", "time.step=0.002"],
            status,
        );
    }
    // Again from the coarse scene, with its own mesh: it comes out as it went in.
    coarsen(&[&["c/scene.toml", "--mesh", "c/coarse.vtu", "-o", "d"], &tensors[..]].concat());
    let frequencies = |scene: &str| {
        let modes = json(&expect(&dir, &["modes", scene, "-n", "8", "--json"], 0).stdout);
        modes["frequencies_hz"][7].as_f64().unwrap()
    };
    let (once, twice) = (frequencies("c/scene.toml"), frequencies("d/scene.toml"));
    assert!((once - twice).abs() < 1e-9 * once, "{once} and {twice}");
    for (arguments, told) in [
        (vec!["coarsen", "scene.toml"], "--tets N"),
        (vec!["coarsen", "nosuch.toml"], "nosuch.toml"),
        (vec!["coarsen", "scene.toml", "--tets", "12", "--compare=-1", "-o", "unmade"], "--compare"),
        (vec!["coarsen", "scene.toml", "--tets", "12", "--method", "homogenise"], "homogenize"),
        (vec!["coarsen", "scene.toml", "--mesh", "nothere.msh"], "--mesh"),
        (vec!["coarsen", "scene.toml", "--mesh", "a.msh", "--tets", "5"], "cannot be used"),
    ] {
        let out = expect(&dir, &arguments, 1);
        assert!(text(&out.stderr).contains(told), "{arguments:?}: {}", text(&out.stderr));
    }
    assert!(!dir.join("unmade").exists(), "a folder was made for nothing");
}
