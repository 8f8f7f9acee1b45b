//! `lilyan export`, `lilyan render`, `lilyan import`.

use super::common::{BAR, command, expect, folder, json, text};

#[test]
fn results_go_out_in_every_format() {
    let dir = folder("export", BAR);
    expect(&dir, &["run", "scene.toml", "-o", "run"], 0);
    let formats = json(&expect(&dir, &["export", "--formats", "--json"], 0).stdout);
    for format in formats["formats"].as_array().unwrap() {
        let name = format["name"].as_str().unwrap();
        let done = json(&expect(&dir, &["export", "run", "--to", name, "--json"], 0).stdout);
        for file in done["files"].as_array().unwrap() {
            let size = dir.join(file.as_str().unwrap()).metadata().unwrap().len();
            assert!(size > 400, "{file}: {size} bytes");
        }
    }
    let out = expect(&dir, &["export", "run", "--to", "glb", "--field", "von_mises", "-o", "out/bar.glb"], 0);
    assert!(text(&out.stdout).contains("written: out/bar.glb"), "{}", text(&out.stdout));
    for (arguments, told) in [
        (vec!["export", "run", "--to", "gbl"], "did you mean \"glb\""),
        (vec!["export", "run", "--to", "parquet"], "npz holds all numbers"),
        (vec!["export", "nowhere", "--to", "glb"], "no such folder"),
        (vec!["export", "run", "--to", "glb", "--field", "von_mises", "--range", "3,1"], "--range"),
        (vec!["export", "run", "--to", "npz", "--body", "bar"], "every body"),
    ] {
        let out = expect(&dir, &arguments, 1);
        assert!(text(&out.stderr).contains(told), "{told}: {}", text(&out.stderr));
    }
}

#[test]
fn pictures_and_films() {
    let dir = folder("render", BAR);
    expect(&dir, &["run", "scene.toml", "-o", "run"], 0);
    // Options follow a pair of numbers.
    let small = ["--field", "von_mises", "--range", "0,2e4", "--view", "-30,20", "--size", "64x36"];
    let out = expect(&dir, &[&["render", "run", "-o", "a.png", "--at", "0.03"], &small[..]].concat(), 0);
    assert!(text(&out.stdout).contains("1 picture"));
    assert!(std::fs::read(dir.join("a.png")).unwrap().starts_with(b"\x89PNG"));
    expect(
        &dir,
        &[&["render", "run", "-o", "a.gif", "--speed", "0.05", "--rate", "10"], &small[..]].concat(),
        0,
    );
    assert!(std::fs::read(dir.join("a.gif")).unwrap().starts_with(b"GIF89a"));
    // Without ffmpeg the message names the way round.
    let mut film = command(&dir, &["render", "run", "-o", "a.webm", "--size", "64x36"]);
    let out = film.env("LILYAN_FFMPEG", "no-such-program").output().unwrap();
    assert_eq!(out.status.code(), Some(1));
    let told = text(&out.stderr);
    assert!(told.contains("ffmpeg") && told.contains("write a .gif or .png"), "{told}");
    let out = expect(&dir, &["render", "run", "-o", "a.avi"], 1);
    assert!(text(&out.stderr).contains(".webm, .mp4, .gif or .png"));
    let out = expect(&dir, &["render", "run", "-o", "a.png", "--size", "big"], 1);
    assert!(text(&out.stderr).contains("1280x720"));
}

#[test]
fn a_scene_of_mujoco_is_imported_and_runs() {
    let dir = folder("import", BAR);
    let model = r#"<mujoco model="Block"><worldbody><geom type="plane" size="0 0 1"/>
        <flexcomp name="block" type="grid" count="3 3 3" spacing=".1 .1 .1" pos="0 0 .5" dim="3" mass="1" radius="0.001">
          <contact selfcollide="none"/><elasticity young="5e4" poisson="0.2"/>
        </flexcomp></worldbody><sensor><clock/></sensor></mujoco>"#;
    std::fs::write(dir.join("block.xml"), model).unwrap();
    let out = expect(&dir, &["import", "block.xml", "--end", "0.02"], 0);
    let told = text(&out.stdout);
    assert!(told.contains("sensor: 1 element") && told.contains("written: block.toml"), "{told}");
    expect(&dir, &["run", "block.toml", "-o", "run"], 0);
    // A scene that is there is not overwritten without being asked to.
    let out = expect(&dir, &["import", "block.xml"], 1);
    assert!(text(&out.stderr).contains("-o"));
    let done = json(&expect(&dir, &["import", "block.xml", "-o", "block.toml", "--json"], 0).stdout);
    assert_eq!(done["format"], "MuJoCo MJCF");
    let out = expect(&dir, &["import", "block.xml", "-o", "x.toml", "--end", "0"], 1);
    assert!(text(&out.stderr).contains("--end"));
}
