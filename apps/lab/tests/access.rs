//! Which requests are accepted, and how the others are refused.

mod common;

use common::Lab;
use std::time::{Duration, Instant};
use tungstenite::Message;

const SCENE: &str = "swinging-cube";

#[test]
fn only_exact_hosts_and_origins_and_the_token() {
    let lab = Lab::open(SCENE);
    assert!(lab.address.ip().is_loopback());
    let (host, port) = (lab.host(), lab.address.port());
    let page = lab.get("/", &[("Host", &host)]);
    assert_eq!(page.0, 200);
    assert!(!page.1.contains(&lab.token), "the page itself says nothing");
    for evil in [
        "127.0.0.1.evil.com",
        "localhost.evil",
        "evil.com",
        "127.0.0.1",
        &format!("127.0.0.1.evil.com:{port}"),
    ] {
        let (status, answer) = lab.get("/", &[("Host", evil)]);
        assert_eq!(status, 403, "{evil}");
        assert!(!answer.contains("<script"), "{evil}: nothing of the page is shown");
    }
    assert_eq!(lab.get("/", &[]).0, 403, "no host");
    assert_eq!(lab.get("/", &[("Host", &host), ("Host", "evil.com")]).0, 403, "two hosts");

    let socket = |origin: Option<&str>, token: &str| {
        let mut headers = vec![
            ("Host", host.as_str()),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        headers.extend(origin.map(|o| ("Origin", o)));
        let head: String = headers.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
        let request = format!("GET /socket?token={token} HTTP/1.1\r\nConnection: Upgrade\r\n{head}\r\n");
        let answer = lab.raw(request.as_bytes());
        answer.split(' ').nth(1).and_then(|s| s.parse::<u16>().ok()).unwrap_or(0)
    };
    let ours = format!("http://{host}");
    assert_eq!(socket(Some(&ours), &lab.token), 101);
    assert_eq!(socket(None, &lab.token), 101);
    for origin in [
        "null",
        "http://evil.com",
        "http://127.0.0.1",
        &format!("{ours}.evil.com"),
        &format!("http://127.0.0.1:{}", port ^ 1),
        &format!("https://{host}"),
    ] {
        assert_eq!(socket(Some(origin), &lab.token), 403, "{origin}");
        for (method, path) in [("POST", "/upload"), ("GET", "/result"), ("GET", "/")] {
            let path = format!("{path}?token={}&session=x&name=a.obj&job=1&file=report.html", lab.token);
            assert_eq!(
                lab.ask(method, &path, &[("Host", &host), ("Origin", origin)], b"").0,
                403,
                "{method} from {origin}"
            );
        }
    }
    let almost = format!("{}0", &lab.token[..lab.token.len() - 1]);
    for token in ["", "0", almost.as_str(), &format!("{}0", lab.token)] {
        if token != lab.token {
            assert_eq!(socket(Some(&ours), token), 403, "{token}");
            assert_eq!(socket(None, token), 403, "{token}");
        }
    }
}

/// At an address that others can reach, the token and the exact host are needed as well.
#[test]
fn other_addresses_need_the_token_too() {
    let lab = Lab::open_at(std::net::Ipv4Addr::UNSPECIFIED.into(), SCENE);
    let (host, port) = (lab.host(), lab.address.port());
    assert_eq!(lab.get("/", &[("Host", &host)]).0, 200);
    for wrong in [format!("127.0.0.1:{port}"), format!("localhost:{port}"), "evil.com".into()] {
        assert_eq!(lab.get("/", &[("Host", &wrong)]).0, 403, "{wrong}");
    }
    for path in ["/socket", "/socket?token=0", "/result?token=0&session=x&job=1&file=report.html"] {
        assert_eq!(lab.get(path, &[("Host", &host)]).0, 403, "{path}");
    }
    assert_eq!(lab.ask("POST", "/upload?session=x&name=a.obj", &[("Host", &host)], b"v 0 0 0\n").0, 403);
}

#[test]
fn answers_say_what_browsers_may_do_with_them() {
    let lab = Lab::open(SCENE);
    for path in ["/", "/lab.js", "/nothing", "/socket", "/result", "/upload"] {
        let (_, answer) =
            lab.get(path, &[("Host", &lab.host()), ("Origin", &format!("http://{}", lab.host()))]);
        let head = answer.split("\r\n\r\n").next().unwrap().to_lowercase();
        assert!(head.contains("content-security-policy: default-src 'self'"), "{path}: {head}");
        assert!(head.contains("frame-ancestors 'none'"), "{path}");
        assert!(head.contains("x-content-type-options: nosniff"), "{path}");
        assert!(!head.contains("access-control-allow-origin"), "{path}");
    }
}

/// Paths are not resolved in a file system, so that no other file can be found.
#[test]
fn paths_lead_nowhere_else() {
    let lab = Lab::open(SCENE);
    let climbs = [
        "..",
        "%2e%2e",
        "%2E%2E",
        "..%2f..",
        "%252e%252e",
        "..%5c..",
        "....",
        ".%2e",
        "..;",
        "%c0%ae%c0%ae",
        "..%00",
        "\\..",
    ];
    let targets = ["etc/passwd", "Cargo.toml", "src/lib.rs", "proc/self/environ", "index.html", "lab.js"];
    for climb in climbs {
        for target in targets {
            for path in [
                format!("/{climb}/{target}"),
                format!("/{climb}/{climb}/{climb}/{target}"),
                format!("//{climb}/{target}"),
            ] {
                let (status, answer) = lab.get(&path, &[("Host", &lab.host())]);
                assert!(matches!(status, 400 | 404), "{path}: {status}");
                assert!(!answer.contains("root:") && !answer.contains("[package]"), "{path}");
            }
        }
    }
    let page = lab.page();
    drop(page);
    for name in ["../x.obj", "a/b.obj", ".hidden", "x%2f..%2fy.obj", "", "%00.obj"] {
        let path = format!("/upload?token={}&session=none&name={name}", lab.token);
        assert_eq!(lab.ask("POST", &path, &[("Host", &lab.host())], b"v 0 0 0\n").0, 400, "{name}");
    }
}

/// Scenes from pages cannot name files of this computer, not even through symbolic links.
#[test]
fn scenes_read_nothing_but_what_was_sent() {
    let lab = Lab::open(SCENE);
    let mut page = lab.page();
    page.event("panes");
    page.answer(r#"{"do":"open","scene":"tumbling-rod"}"#, "panes");
    let secret = std::env::temp_dir().join(format!("lilyan-secret-{}.obj", std::process::id()));
    std::fs::write(&secret, "v 0 0 0\n").unwrap();
    let secret = secret.display().to_string();
    let climbed = format!("..{}{secret}", "/..".repeat(12));
    for file in
        [secret.as_str(), climbed.as_str(), "/etc/passwd", "../../Cargo.toml", "Cargo.toml", "src/lib.rs"]
    {
        let mesh = serde_json::json!({ "file": file });
        for (path, value) in [
            ("body.0.mesh", mesh.clone()),
            ("body.0.mesh", file.into()),
            ("body.0.display", mesh.clone()),
            ("body.0.fit", serde_json::json!({ "fine": mesh, "modes": 3 })),
        ] {
            let ask = serde_json::json!({ "do": "set", "changes": [{ "path": path, "value": value }] });
            let told = page.answer(&ask.to_string(), "error")["text"].as_str().unwrap().to_owned();
            assert!(!told.contains("root:") && !told.contains("[package]"), "{file}: {told}");
            assert!(
                told.contains("the lab has no file") || told.contains("mesh"),
                "{file} as {path}: {told}"
            );
        }
        let text = format!(
            "[time]\nend = 1\nstep = 0.01\n[[body]]\nmesh = {{ file = {file:?} }}\nmaterial = {{ model = \"linear\", E = 1e5, nu = 0.3, rho = 1000 }}\n"
        );
        let ask = serde_json::json!({ "do": "open", "text": text, "name": "x.toml" });
        let told = page.answer(&ask.to_string(), "error")["text"].as_str().unwrap().to_owned();
        assert!(told.contains("the lab has no file") || told.contains("mesh"), "{file}: {told}");
    }
    #[cfg(unix)]
    {
        let session = page.texts.iter().find(|t| t["event"] == "hello").unwrap()["session"]
            .as_str()
            .unwrap()
            .to_owned();
        let labs = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let folder = labs.map(|lab| lab.path().join(&session)).find(|folder| folder.is_dir()).unwrap();
        std::os::unix::fs::symlink(&secret, folder.join("link.obj")).unwrap();
        let told = page.answer(r#"{"do":"mesh","name":"link.obj"}"#, "error");
        assert!(told["text"].as_str().unwrap().contains("the lab has no file"), "{told}");
        let path = format!("/upload?token={}&session={session}&name=link.obj", lab.token);
        assert_eq!(
            lab.ask("POST", &path, &[("Host", &lab.host())], b"changed").0,
            400,
            "nothing is written through a link"
        );
        assert_eq!(std::fs::read_to_string(&secret).unwrap(), "v 0 0 0\n");
    }
    std::fs::remove_file(secret).unwrap();
    page.frame();
}

#[test]
fn what_is_too_large_is_refused() {
    let lab = Lab::open(SCENE);
    let long = "x".repeat(40_000);
    let (status, _) = lab.get("/", &[("Host", &lab.host()), ("X-Long", &long)]);
    assert!(matches!(status, 0 | 400 | 431), "headers: {status}");

    let mut page = lab.page();
    page.event("panes");
    let huge = format!(r#"{{"do":"open","text":"{}"}}"#, "x".repeat(2 << 20));
    let _ = page.socket.send(Message::text(huge));
    let end = Instant::now() + Duration::from_secs(20);
    while page.listen() && Instant::now() < end {}
    assert!(matches!(page.closed, Some(1009 | 0)), "closed with {:?}", page.closed);

    let mut page = lab.page();
    let session = page.event("hello")["session"].as_str().unwrap().to_owned();
    let path = format!("/upload?token={}&session={session}&name=big.obj", lab.token);
    let (status, _) = lab.ask("POST", &path, &[("Host", &lab.host())], &vec![b'#'; (64 << 20) + 1]);
    assert!(matches!(status, 413 | 0), "upload: {status}");
    assert_eq!(lab.ask("POST", &path, &[("Host", &lab.host())], b"v 0 0 0\n").0, 204);
}

/// A malformed frame closes only its own connection, with a reason.
#[test]
fn nonsense_disturbs_nobody_else() {
    use std::io::{Read, Write};
    let lab = Lab::open(SCENE);
    let mut other = lab.page();
    let session = other.event("hello")["session"].as_str().unwrap().to_owned();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    // Each malformed frame needs its own connection.
    let count = if std::env::var_os("LILYAN_LONG").is_some() { 100_000 } else { 2000 };
    for _ in 0..count {
        let mut page = lab.page_of(&session);
        let stream = page.socket.get_mut();
        let mut bytes = Vec::new();
        for _ in 0..64 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            bytes.extend(random.to_le_bytes());
        }
        let _ = stream.write_all(&bytes);
        let _ = stream.set_read_timeout(Some(Duration::from_millis(1)));
        let _ = stream.read(&mut [0; 64]);
    }
    for text in
        ["", "7", "{}", "[[[[", r#"{"do":"fly"}"#, r#"{"do":"set","changes":[{"path":"..","value":1}]}"#]
    {
        let told = other.answer(text, "error");
        assert!(!told["text"].as_str().unwrap().is_empty(), "{text}");
    }
    other.socket.send(Message::binary(vec![1, 2, 3])).unwrap();
    while other.listen() {}
    assert_eq!(other.closed, Some(1003));
    let mut fresh = lab.page();
    fresh.frame();
}

/// Sessions are independent of each other.
#[test]
fn sessions_are_apart() {
    let lab = Lab::open(SCENE);
    let (mut a, mut b) = (lab.page(), lab.page());
    let (in_a, in_b) = (a.event("hello"), b.event("hello"));
    assert_ne!(in_a["session"], in_b["session"]);
    b.frame();
    a.answer(r#"{"do":"open","scene":"pendulum"}"#, "panes");
    b.say(r#"{"do":"pause"}"#);
    b.event("status");
    assert!(b.texts.iter().all(|t| !t.to_string().contains("Pendulum")), "b hears of a");
    // A second page of session a sees the changes of the first.
    let mut again = lab.page_of(in_a["session"].as_str().unwrap());
    assert_eq!(again.event("panes")["panes"][0]["title"], "Pendulum");
    for _ in 0..50 {
        drop(lab.page_of(in_a["session"].as_str().unwrap()));
    }
    again.frame();
}
