//! What the report promises: one page, safe text, nothing lost that matters, the same every time.

use lilyan_report::*;

/// An octahedron: closed, six vertices, eight triangles.
const POINTS: [f64; 18] = [1., 0., 0., -1., 0., 0., 0., 1., 0., 0., -1., 0., 0., 0., 1., 0., 0., -1.];
const FACES: [[u32; 3]; 8] =
    [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];

fn sample() -> Report {
    let checks = vec![
        Check::at_most("Total energy", "conserved", 3.1e-3, 1e-2, "symplectic"),
        Check::at_most("Angular momentum", "conserved", 2e-14, 1e-12, "no torque"),
    ];
    let mut report = Report::new("Bar", Verdict::from_checks(&checks));
    report.checks = checks;
    let t: Vec<f64> = (0..20_000).map(|k| k as f64 * 1e-3).collect();
    let mut y: Vec<f64> = t.iter().map(|t| t.sin()).collect();
    y[777] = f64::NAN;
    y[778] = f64::INFINITY;
    report.plots = vec![Plot {
        band: Some(Band { low: f64::NEG_INFINITY, high: 0.5, label: "allowed".into() }),
        ..Plot::over_time("Energy", "J", vec![Series::line("total", &t, &y), Series::default()])
    }];
    let mut replay = Replay::new(&POINTS, &FACES, &[[0, 1]])
        .with_field("speed", "m/s")
        .with_pinned(&[2, 99])
        .with_ground([0.0; 3], [0.0, 1.0, 0.0]);
    for n in 0..50 {
        let shifted: Vec<f64> = POINTS.iter().map(|x| x + 0.1 * n as f64).collect();
        replay.push(0.1 * n as f64, &shifted, &[&[0.0, 1.0, 2.0, f64::NAN, 4.0, n as f64]]);
    }
    report.replay = Some(replay);
    report.tables = vec![Table {
        title: "Methods".into(),
        header: vec!["method".into(), "error".into()],
        rows: vec![vec!["verlet".into(), "1e-3".into()]],
        note: String::new(),
    }];
    report.facts = vec![("Steps".into(), "10".into())];
    report.settings = vec![("time.step".into(), "0.004".into())];
    report.warnings = vec!["a warning".into()];
    report.citations = vec![Citation { text: "A paper".into(), url: Some("https://doi.org/10.1/x".into()) }];
    report.provenance = vec![("lilyan".into(), "0.1.0".into())];
    report
}

/// The page's data block, which must be JSON that survives the HTML parser.
fn data(page: &str) -> serde_json::Value {
    let text = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    assert!(!text.contains('<'));
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_page_needs_nothing_else() {
    let page = render(&sample());
    let mut links = 0;
    for attribute in ["src=", "href=", "url(", "@import", "import ", "fetch(", "XMLHttpRequest", "WebSocket"]
    {
        for (at, _) in page.match_indices(attribute) {
            let rest = &page[at + attribute.len()..];
            let here: String = rest.chars().take(60).collect();
            if attribute == "href=" {
                assert!(here.starts_with("\"https://doi.org/10.1/x\" rel="), "{here}");
                links += 1;
            } else {
                // The plots clip their curves with a fragment of their own drawing.
                assert!(attribute == "url(" && here.starts_with('#'), "{attribute}{here}");
            }
        }
    }
    assert_eq!(links, 1, "the citation is a link");
    assert!(page.contains("default-src 'none'") && page.contains("script-src 'sha256-"));
    assert!(!page.contains("{{"), "every part of the template was filled");
    // Handlers in attributes would not run under the policy.
    for handler in ["onclick=\"", "onload=\"", "javascript:"] {
        assert!(!page.contains(handler), "{handler}");
    }
    for line in page.lines() {
        let names = line.match_indices("http").filter(|(k, _)| !line[*k..].starts_with("http-equiv"));
        for (k, _) in names {
            let rest = &line[k..];
            assert!(
                rest.starts_with("http://www.w3.org/2000/svg") || rest.starts_with("https://doi.org/10.1/x"),
                "{rest}"
            );
        }
    }
}

#[test]
fn hostile_text_stays_text() {
    const EVIL: &str = "</script><script>alert(1)</script><img src=x onerror='a()'>\"{{data}}&amp;\0";
    let evil = || EVIL.to_string();
    let pair = || (evil(), evil());
    let mut report = sample();
    report.title = evil();
    report.kind = evil();
    report.subtitle = evil();
    report.verdict = Verdict { level: Level::Fail, headline: evil(), sentence: evil() };
    report.checks = vec![Check {
        quantity: evil(),
        expected: evil(),
        measured: evil(),
        allowed: evil(),
        level: Level::Warn,
        why: evil(),
        ratio: Some(f64::NAN),
    }];
    report.facts = vec![pair()];
    report.settings = vec![pair()];
    report.provenance = vec![pair()];
    report.warnings = vec![evil()];
    report.citations = vec![
        Citation { text: evil(), url: Some("javascript:alert(1)".into()) },
        Citation { text: evil(), url: Some("https://x/\"><script>".into()) },
    ];
    report.tables =
        vec![Table { title: evil(), header: vec![evil()], rows: vec![vec![evil(), evil()]], note: evil() }];
    let plot = &mut report.plots[0];
    (plot.title, plot.x_label, plot.y_label, plot.note) = (evil(), evil(), evil(), evil());
    plot.series[0].name = evil();
    plot.band = Some(Band { low: 0.0, high: 1.0, label: evil() });
    report.replay = Some(Replay::new(&POINTS, &FACES, &[]).with_field(evil(), evil()));
    report.replay.as_mut().unwrap().push(0.0, &POINTS, &[]);

    let page = render(&report);
    assert_eq!(page.matches("<script").count(), 2, "the data and the page's own script");
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("<img") && !page.contains("\"javascript:"));
    assert!(!page.contains('\0'));
    assert!(page.contains("&lt;/script&gt;"));
    let data = data(&page);
    assert_eq!(data["plots"][0]["title"], EVIL);
    assert_eq!(data["replay"]["fields"][0]["name"], EVIL);
}

#[test]
fn the_verdict_comes_first_and_is_more_than_a_colour() {
    for (level, words, mark) in [
        (Level::Pass, "Trustworthy", "✓"),
        (Level::Warn, "Usable, with care", "!"),
        (Level::Fail, "Not to be trusted", "✕"),
    ] {
        let mut report = sample();
        report.verdict = Verdict::new(level, "because");
        let page = render(&report);
        assert!(page.contains(&format!("<title>{mark} Bar</title>")));
        let place = page.find(words).unwrap();
        assert!(
            place < page.find("What should hold").unwrap() && place < page.find("id=\"replay\"").unwrap()
        );
    }
    assert_eq!(Verdict::stopped(5.125, "x").headline, "Stopped at t = 5.125 s");
}

#[test]
fn checks_add_up_to_the_worst() {
    let check = |measured| Check::at_most("Energy", "conserved", measured, 0.01, "");
    assert_eq!(check(0.01).level, Level::Pass);
    assert_eq!(check(-0.02).level, Level::Warn);
    assert_eq!(check(0.2).level, Level::Fail);
    assert_eq!(check(f64::NAN).level, Level::Fail);
    let verdict = Verdict::from_checks(&[check(0.001), check(0.2), check(0.02)]);
    assert_eq!((verdict.level, verdict.sentence.as_str()), (Level::Fail, "energy: 0.2 (allowed: 0.01)"));
    assert_eq!(Verdict::from_checks(&[]).level, Level::Warn, "nothing checked is not a pass");
}

#[test]
fn decimation_keeps_extremes_ends_and_gaps() {
    let n = 1_000_000;
    let x: Vec<f64> = (0..n).map(|k| k as f64).collect();
    let mut y: Vec<f64> = x.iter().map(|x| (0.01 * x).sin()).collect();
    (y[123_457], y[654_321], y[500_000]) = (50.0, -60.0, f64::NAN);
    let (u, v) = decimate(&x, &y, 4_000);
    assert!(v.len() <= 4_003 && u.len() == v.len());
    assert!(u.windows(2).all(|w| w[0] < w[1]));
    assert_eq!((u[0], *u.last().unwrap()), (0.0, 999_999.0));
    for k in [123_457, 654_321] {
        let at = u.iter().position(|&t| t == x[k]).unwrap();
        assert_eq!(v[at], y[k]);
    }
    assert!(v.iter().any(|x| x.is_nan()));
    assert_eq!(decimate(&x[..10], &y[..10], 4_000).1, y[..10]);
    assert_eq!(decimate(&[], &[], 4_000).1.len(), 0);
}

#[test]
fn numbers_that_are_not_finite_are_null() {
    let page = render(&sample());
    let data = data(&page);
    let series = &data["plots"][0]["series"][0];
    let y = series["y"].as_array().unwrap();
    assert!(y.len() < 5_000 && y.len() == series["x"].as_array().unwrap().len());
    assert!(y.iter().any(|v| v.is_null()));
    assert!(data["plots"][0]["band"]["low"].is_null());
}

#[test]
fn a_small_change_of_a_large_number_survives() {
    let x: Vec<f64> = (0..100).map(|k| k as f64).collect();
    let y: Vec<f64> = x.iter().map(|x| 12_345.0 + 1e-6 * x.sin()).collect();
    let mut report = Report::new("", Verdict::new(Level::Pass, ""));
    report.plots = vec![Plot::over_time("", "", vec![Series::line("", &x, &y)])];
    let data = data(&render(&report));
    for (k, y) in y.iter().enumerate() {
        let read = data["plots"][0]["series"][0]["y"][k].as_f64().unwrap();
        assert!((read - y).abs() < 1e-6 * 1e-4, "{read} {y}");
    }
}

#[test]
fn the_same_report_is_the_same_page() {
    assert_eq!(render(&sample()), render(&sample()));
}

#[test]
fn positions_come_back_to_sixteen_bits() {
    let data = data(&render(&sample()));
    let replay = &data["replay"];
    assert_eq!(replay["vertices"], 6);
    assert_eq!(replay["times"].as_array().unwrap().len(), 50);
    assert_eq!(replay["pinned"], serde_json::json!([2]));
    let bytes = unbase64(replay["positions"].as_str().unwrap());
    assert_eq!(bytes.len(), 50 * 6 * 6);
    for n in 0..50 {
        for k in 0..18 {
            let at = 2 * (18 * n + k);
            let level = f64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
            let x = replay["offsets"][n][k % 3].as_f64().unwrap()
                + level / 65535.0 * replay["extent"][k % 3].as_f64().unwrap();
            // Offsets are relative to the lowest corner of the first frame, (−1, −1, −1).
            let expected = POINTS[k] + 0.1 * n as f64 + 1.0;
            assert!((x - expected).abs() < 2.0 / 65535.0, "{x} {expected}");
        }
    }
}

fn unbase64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> = text.bytes().filter(|&c| c != b'=').map(value).collect();
    let mut out = Vec::new();
    for word in letters.chunks(4) {
        let bits = word.iter().fold(0u32, |w, &v| w << 6 | u32::from(v)) << (6 * (4 - word.len()));
        out.extend_from_slice(&bits.to_be_bytes()[1..word.len()]);
    }
    out
}

/// A flat sheet of n × n squares.
fn sheet(n: usize) -> (Vec<f64>, Vec<[u32; 3]>) {
    let mut points = Vec::new();
    let mut triangles = Vec::new();
    for i in 0..=n {
        for j in 0..=n {
            points.extend([i as f64 / n as f64, 0.0, j as f64 / n as f64]);
        }
    }
    let number = |i: usize, j: usize| (i * (n + 1) + j) as u32;
    for i in 0..n {
        for j in 0..n {
            let (a, b, c, d) = (number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1));
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    (points, triangles)
}

#[test]
fn long_runs_and_large_surfaces_stay_small_and_say_so() {
    let (points, triangles) = sheet(260);
    let mut replay = Replay::new(&points, &triangles, &[]).with_field("speed", "m/s");
    let values = vec![1.0; points.len() / 3];
    for n in 0..200 {
        replay.push(n as f64, &points, &[&values]);
    }
    assert_eq!(replay.recorded(), 200);
    let mut report = Report::new("Sheet", Verdict::new(Level::Pass, ""));
    report.replay = Some(replay);
    let page = render(&report);
    assert!(page.len() < 12_000_000, "{}", page.len());
    assert!(
        page.contains("of the 200 recorded frames and") && page.contains("of the 68121 surface vertices")
    );
    let data = data(&page);
    let times = data["replay"]["times"].as_array().unwrap();
    assert!(times.len() > 10);
    assert_eq!((times[0].as_f64(), times[times.len() - 1].as_f64()), (Some(0.0), Some(199.0)));
}

#[test]
fn every_length_of_run_shows_its_first_and_last_frame() {
    for count in 1..200 {
        let mut replay = Replay::new(&POINTS, &FACES, &[]).with_budget(36 * 10);
        for n in 0..count {
            replay.push(n as f64, &POINTS, &[]);
        }
        let mut report = Report::new("", Verdict::new(Level::Pass, ""));
        report.replay = Some(replay);
        let data = data(&render(&report));
        let times: Vec<f64> =
            data["replay"]["times"].as_array().unwrap().iter().map(|t| t.as_f64().unwrap()).collect();
        assert!(times.len() <= 11 && times.len() >= count.min(4), "{count}: {times:?}");
        assert_eq!((times[0], times[times.len() - 1]), (0.0, count as f64 - 1.0));
        assert!(times.windows(2).all(|w| w[0] < w[1]), "{times:?}");
    }
}

#[test]
fn frames_that_are_not_finite_are_left_out() {
    let mut replay = Replay::new(&POINTS, &FACES, &[]);
    let mut broken = POINTS;
    broken[4] = f64::NAN;
    replay.push(0.0, &broken, &[]);
    replay.push(0.0, &POINTS[..9], &[]);
    assert_eq!(replay.recorded(), 0);
    let mut report = Report::new("empty", Verdict::new(Level::Fail, ""));
    report.replay = Some(replay);
    assert!(!render(&report).contains("id=\"replay\""));
}

#[test]
fn stills_hide_what_faces_away_and_fit_the_frame() {
    let view = View::auto(&POINTS, [0.0, 1.0, 0.0]);
    let picture = snapshot_svg(&POINTS, &FACES, None, &view, [200.0, 100.0]);
    let drawn = picture.matches("<path").count();
    assert!((3..=5).contains(&drawn), "half of the octahedron: {drawn}");
    let open =
        snapshot_svg(&POINTS, &FACES[1..], Some(&[0.0, 0.2, 0.4, 0.6, f64::NAN, 7.0]), &view, [200.0, 100.0]);
    assert_eq!(open.matches("<path").count(), 7, "an open surface shows both sides");
    for path in picture.split(" d=\"M").skip(1) {
        let numbers = path.split('z').next().unwrap().replace('L', " ");
        let numbers: Vec<f64> = numbers.split(' ').map(|x| x.parse().unwrap()).collect();
        for xy in numbers.chunks(2) {
            assert!((0.0..=200.0).contains(&xy[0]) && (0.0..=100.0).contains(&xy[1]), "{xy:?}");
        }
    }
    let (points, triangles) = sheet(100);
    let view = View::auto(&points, [0.0, 1.0, 0.0]);
    let picture = snapshot_svg(&points, &triangles, None, &view, [200.0, 100.0]);
    let drawn = picture.matches("<path").count();
    assert!((1_000..=4_400).contains(&drawn), "{drawn}");
    snapshot_svg(&[], &[[0, 1, 2]], None, &View::auto(&[], [0.0; 3]), [10.0, 10.0]);
}

#[test]
fn numbers_for_reading() {
    let cases = [
        (0.00312, "0.00312"),
        (2.14e-14, "2.14e-14"),
        (1536.0, "1540"),
        (0.0, "0"),
        (-0.5, "-0.5"),
        (2e7, "2e7"),
    ];
    for (x, text) in cases {
        assert_eq!(short(x), text);
    }
    assert_eq!(percent(0.0031), "0.31 %");
    assert_eq!(short(f64::NAN), "not a number");
}

#[test]
fn names_between_back_ticks_are_code() {
    let mut report = sample();
    report.checks[0].why = "use `energy-momentum` & not `<b>`".into();
    report.warnings = vec!["a lone ` stays".into()];
    let page = render(&report);
    assert!(page.contains("use <code>energy-momentum</code> &amp; not <code>&lt;b&gt;</code>"));
    assert!(page.contains("a lone ` stays"));
}
