//! Files that nobody means: they are refused, quickly and without a panic.

use std::time::Instant;

use super::{EXAMPLE, as_json, read, refused, replaced, with};
use lilyan_scene::document::SceneError;
use lilyan_scene::schema::Scene;

/// Reads hostile text both ways; it must end quickly and without a panic.
fn survive(text: &str) -> Vec<Result<Scene, SceneError>> {
    ["scene.toml", "scene.json"]
        .iter()
        .map(|origin| {
            let timed = || {
                let start = Instant::now();
                (Scene::from_str(text, origin), start.elapsed().as_secs_f64())
            };
            let (result, taken) = timed();
            // A busy machine may be slow once.
            let taken = if taken < 1.0 { taken } else { timed().1 };
            assert!(taken < 1.0, "{taken} s for {text:.60}");
            if let Err(error) = &result {
                let message = error.to_string();
                assert!(message.starts_with(origin), "{message:.200}");
                assert!(message.len() < 3000, "{} bytes of message", message.len());
            }
            result
        })
        .collect()
}

#[test]
fn hostile_files_are_refused_quickly() {
    let n = 100_000;
    // As much as a scene may have; a longer line is refused unread.
    let size = 700_000;
    let deep = [
        format!("a = {}", "[".repeat(n)),
        format!("a = {}{}", "[".repeat(n), "]".repeat(n)),
        format!("a = {}", "{a=".repeat(n)),
        format!("a = {}1{}", "{a=".repeat(n), "}".repeat(n)),
        format!("{} = 1", vec!["a"; n].join(".")),
        format!("[{}]", vec!["a"; n].join(".")),
        format!("[[{}]]", vec!["a"; n].join(".")),
        "[".repeat(n),
        "{\"a\":".repeat(n),
        format!("{}1{}", "{\"a\":".repeat(n), "}".repeat(n)),
        format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n)),
        // Just inside the parsers' own limits, multiplied.
        format!(
            "{0} = {1}1{2}",
            vec!["a"; 79].join("."),
            format!("{{ {} = ", vec!["a"; 79].join(".")).repeat(70),
            "}".repeat(70)
        ),
        format!("a = {}1{}", "[".repeat(60), "]".repeat(60)),
        format!("{{\"a\":{}1{}}}", "[".repeat(100), "]".repeat(100)),
    ];
    let long = [
        "a".repeat(size),
        format!("title = \"{}\"", "a".repeat(size)),
        format!("{} = 1", "a".repeat(size)),
        format!("[time]\n{} = 1", "step".repeat(size / 4)),
        format!("a = [{}]", "1,".repeat(size / 2)),
        format!("a = {}", "1".repeat(size)),
        "\n".repeat(size),
        "#".repeat(size),
        "\u{feff}\u{feff}".to_owned(),
        "a=1\n".repeat(size / 4),
        (0..60_000).map(|i| format!("k{i} = 1\n")).collect::<String>(),
        (0..60_000).map(|i| format!("[t{i}]\n")).collect::<String>(),
        "[[body]]\n".repeat(n),
        "x".repeat(1 << 20),
        "x".repeat(5 << 20),
        with(&format!("[[pin]]\nwhere = {{ vertices = [{}-1] }}", "7,".repeat(size / 2))),
        with(&format!("[[pin]]\nwhere = \"{}\"", "(".repeat(size))),
        with(&format!("[integrator]\n{}", (0..50_000).map(|i| format!("o{i} = 1\n")).collect::<String>()))
            + "[x]",
        replaced(8, &format!("material = {{ E = 1, nu = 0, rho = 1, {} = 'q' }}", "k".repeat(size))),
        "\0\0\0".to_owned(),
        "\u{1b}[31m = 1".to_owned(),
        "nan".to_owned(),
        "NaN".to_owned(),
        "{\"time\":NaN}".to_owned(),
        "{\"time\":{\"end\":1e999,\"step\":1}}".to_owned(),
        "{\"time\":1}{".to_owned(),
    ];
    for (i, text) in deep.iter().chain(&long).enumerate() {
        for result in survive(text) {
            assert!(result.is_err(), "case {i}: {text:.60}");
        }
    }
    let long = survive(&with(&format!("[[pin]]\nwhere = {{ vertices = [{}7] }}", "7,".repeat(size / 2))));
    assert!(long[0].is_ok(), "long lists of vertices are fine");
    // Control characters of a hostile key must not reach the terminal.
    let error = refused(&with("\"\\u001b[31m\" = 1")).to_string();
    assert!(!error.contains('\u{1b}') && error.contains("\\u{1b}[31m"), "{error}");
}

/// SplitMix64: the tests need the same numbers everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

#[test]
fn mutations_of_the_example_never_panic() {
    const PIECES: &[&str] = &[
        "",
        "=",
        "\"",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\n",
        "nan",
        "inf",
        "-",
        "0",
        "1e999",
        "\"x\"",
        "[]",
        "{}",
        "true",
        "#",
        "'",
        "\\",
        "\0",
        "é",
        "9223372036854775808",
        "-1",
        "1e-320",
        ".",
        "[[body]]\n",
        "name = \"bar\"\n",
    ];
    let mut random = Random(3);
    let json = as_json(EXAMPLE);
    let (mut good, mut bad) = (0, 0);
    for case in 0..1000 {
        let mut bytes = if case % 2 == 0 { EXAMPLE } else { &json }.as_bytes().to_vec();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            match random.below(5) {
                0 => bytes[at] = random.below(256) as u8,
                1 => bytes.truncate(at.max(1)),
                2 => {
                    let until = (at + random.below(30)).min(bytes.len());
                    bytes.drain(at..until);
                }
                3 => {
                    let until = (at + random.below(60)).min(bytes.len());
                    let copy = bytes[at..until].to_vec();
                    let to = random.below(bytes.len());
                    bytes.splice(to..to, copy);
                }
                _ => {
                    let piece = PIECES[random.below(PIECES.len())].bytes();
                    let until = (at + random.below(6)).min(bytes.len());
                    bytes.splice(at..until, piece);
                }
            }
            if bytes.is_empty() {
                bytes.push(b'x');
            }
        }
        for result in survive(&String::from_utf8_lossy(&bytes)) {
            match result {
                Ok(scene) => {
                    good += 1;
                    let again =
                        Scene::from_str(&scene.to_toml(), "scene.toml").expect("what is printed can be read");
                    assert_eq!(scene.document, again.document);
                    assert_eq!(scene.hash(), again.hash());
                }
                Err(_) => bad += 1,
            }
        }
    }
    assert!(good > 50 && bad > 500, "{good} read, {bad} refused");
}

#[test]
fn files_that_are_no_scenes() {
    let folder = std::env::temp_dir().join(format!("lilyan-schema-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let path = folder.join("scene.toml");
    let error = |path: &std::path::Path| Scene::from_path(path).expect_err("no scene").to_string();
    let missing = error(&path);
    assert!(
        missing.contains("scene.toml: cannot be read") && missing.contains("check the path"),
        "{missing}"
    );
    std::fs::write(&path, b"title = \"a\"\n\xff\xfe\x00garbage").expect("written");
    let garbage = error(&path);
    assert!(garbage.contains("scene.toml:2: is not text in UTF-8"), "{garbage}");
    std::fs::write(&path, vec![b' '; 5 << 20]).expect("written");
    assert!(error(&path).contains("too large for a scene"));
    assert!(error(&folder).contains("is a folder"));
    #[cfg(unix)]
    assert!(error(std::path::Path::new("/dev/zero")).contains("is a device or pipe"));
    std::fs::write(&path, EXAMPLE).expect("written");
    let scene = Scene::from_path_with(&path, &["time.end=1"]).expect("a scene");
    assert_eq!(scene.time.end, 1.0);
    assert_eq!(Scene::from_path(&path).expect("a scene"), read(EXAMPLE));
    std::fs::remove_dir_all(&folder).expect("removed");
}
