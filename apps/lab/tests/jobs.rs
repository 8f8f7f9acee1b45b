//! Check, compare and coarsen while the simulation runs.

mod common;

use common::{Lab, Page};
use serde_json::{Value, json};
use std::time::Duration;

/// The last event of the running job.
fn ended(page: &mut Page) -> Value {
    let known = page.texts.len();
    let over = |t: &&Value| t["event"] == "job" && t["state"] != "running" && t["state"] != "cancelling";
    page.until("the end of the job", |p| p.texts[known..].iter().find(over).cloned())
}

fn done(page: &mut Page) -> Value {
    let told = ended(page);
    assert_eq!(told["state"], "done", "{told}");
    told["result"].clone()
}

fn compare(steps: &[f64], end: f64) -> String {
    let integrators = ["verlet", "backward-euler"];
    json!({ "do": "compare", "pane": 0, "integrators": integrators, "steps": steps, "end": end, "budget": 20 })
        .to_string()
}

#[test]
fn a_scene_is_checked_with_its_live_changes() {
    let lab = Lab::open("tumbling-rod");
    let mut page = lab.page();
    page.event("panes");
    let changes = [
        json!({ "path": "integrator", "value": { "name": "backward-euler" } }),
        json!({ "path": "time.step", "value": 0.02 }),
    ];
    page.answer(&json!({ "do": "set", "changes": changes }).to_string(), "panes");
    page.say(r#"{"do":"check","pane":0}"#);
    let found = done(&mut page);
    assert_eq!((found["integrator"].as_str(), found["step"].as_f64()), (Some("backward-euler"), Some(0.02)));
    let lowest = found["spectrum"]["lowest"].as_array().unwrap();
    assert_eq!(lowest.len(), 6);
    assert!(lowest.iter().all(|m| m["amplitude_lost_per_period"].as_f64().unwrap() > 0.05));
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("will damp mode 1") && !warnings.contains("output.every"), "{warnings}");
    // A page that joins later gets the event.
    let session =
        page.texts.iter().find(|t| t["event"] == "hello").unwrap()["session"].as_str().unwrap().to_owned();
    assert_eq!(lab.page_of(&session).event("job")["result"]["step"], 0.02);
}

#[test]
fn a_comparison_leaves_a_report_for_its_own_page_alone() {
    let lab = Lab::open("tumbling-rod");
    let mut page = lab.page();
    let session = page.event("hello")["session"].as_str().unwrap().to_owned();
    page.say(&compare(&[0.004, 0.002], 0.1));
    let told = ended(&mut page);
    assert_eq!(told["result"]["table"].as_array().unwrap().len(), 5, "{told}");
    let file = |session: &str, token: &str, number: &str, name: &str| {
        let path = format!("/result?token={token}&session={session}&job={number}&file={name}");
        lab.get(&path, &[("Host", &lab.host())])
    };
    let number = told["job"].to_string();
    let (status, report) = file(&session, &lab.token, &number, "report.html");
    let (head, body) = report.split_once("\r\n\r\n").unwrap();
    assert!(status == 200 && body.contains("Comparison of integrators"));
    assert!(
        head.contains("frame-ancestors 'self'; sandbox allow-scripts") && head.contains("default-src 'none'"),
        "{head}"
    );
    assert!(head.contains("nosniff") && !head.to_lowercase().contains("access-control-allow-origin"));
    assert!(file(&session, &lab.token, &number, "compare.csv").1.contains("attachment"));
    for (session, token, number, name) in [
        (session.as_str(), "0", number.as_str(), "report.html"),
        ("none", &lab.token, &number, "report.html"),
        (&session, &lab.token, "99", "report.html"),
        (&session, &lab.token, "1%2f..%2fjob-1", "report.html"),
        (&session, &lab.token, &number, "..%2f..%2fetc%2fpasswd"),
        (&session, &lab.token, &number, ""),
    ] {
        assert!(matches!(file(session, token, number, name).0, 403 | 404), "{number} {name}");
    }
    let another = lab.page().event("hello")["session"].as_str().unwrap().to_owned();
    assert_eq!(file(&another, &lab.token, &number, "report.html").0, 404, "another session has it not");
}

/// The whole lab runs one job. Another one can start after it is cancelled or its session ends.
#[test]
fn one_job_at_a_time_and_it_can_be_cancelled() {
    let lab = Lab::open("tumbling-rod");
    let (mut page, mut other) = (lab.page(), lab.page());
    page.event("panes");
    other.event("panes");
    page.say(&compare(&[1e-5], 10.0));
    page.until("progress", |p| {
        p.texts.iter().find(|t| t["event"] == "job" && t["share"].as_f64() > Some(0.0)).map(|_| ())
    });
    let step = |page: &mut Page| page.frame().says["panes"][0]["step"].as_u64().unwrap();
    let before = step(&mut page);
    page.until("motion", |p| {
        p.frames
            .last()
            .filter(|f| f.kind == 2 && f.says["panes"][0]["step"].as_u64() > Some(before + 10))
            .map(|_| ())
    });
    let check = r#"{"do":"check","pane":0}"#;
    assert!(page.answer(check, "error")["text"].as_str().unwrap().contains("one thing at a time"));
    assert!(other.answer(check, "error")["text"].as_str().unwrap().contains("another page"));
    page.say(r#"{"do":"cancel"}"#);
    assert_eq!(ended(&mut page)["state"], "cancelled");
    other.say(check);
    done(&mut other);
    assert!(
        other.answer(r#"{"do":"cancel"}"#, "error")["text"].as_str().unwrap().contains("nothing to cancel")
    );
}

#[test]
fn a_coarse_body_is_opened_beside_the_fine_one() {
    let lab = Lab::open("layered-cube");
    let mut page = lab.page();
    page.event("panes");
    let cells = json!({ "path": "body.0.mesh.box.cells", "value": [3, 3, 8] });
    page.answer(&json!({ "do": "set", "changes": [cells] }).to_string(), "panes");
    for (method, corrected) in [("homogenize", false), ("homogenize+eigenfit", true)] {
        page.say(
            &json!({ "do": "coarsen", "pane": 0, "method": method, "tets": 24, "modes": 4 }).to_string(),
        );
        let found = done(&mut page);
        assert_eq!(found["opened"], true, "{found}");
        let modes = found["frequencies"][0]["modes"].as_array().unwrap().clone();
        assert_eq!(modes.len(), 4);
        assert!(modes.iter().all(|m| m["corrected_hz"].is_number() == corrected), "{method}: {modes:?}");
    }
    let panes = page.texts.iter().rfind(|t| t["event"] == "panes").unwrap()["panes"].clone();
    let tets: Vec<u64> = panes.as_array().unwrap().iter().map(|p| p["elements"].as_u64().unwrap()).collect();
    assert!(tets.len() == 3 && tets[0] == 432 && tets[1] < 100 && tets[2] < 100, "{tets:?}");
    page.reaches(0.05);
    for wrong in [
        json!({ "do": "coarsen", "pane": 0, "method": "magic", "tets": 24 }),
        json!({ "do": "coarsen", "pane": 0, "method": "homogenize", "tets": 24, "body": "other" }),
    ] {
        page.say(&wrong.to_string());
        let told = ended(&mut page);
        assert_eq!(told["state"], "failed");
        let text = told["text"].as_str().unwrap();
        assert!(!text.contains("built-in") && !text.contains("--"), "{text}");
    }
}

/// The simulation continues while a job runs.
#[test]
fn a_job_does_not_hold_the_panes_up() {
    let lab = Lab::open("wobbling-jelly");
    let mut page = lab.page();
    page.event("panes");
    page.answer(r#"{"do":"speed","value":null}"#, "status");
    let pace = |page: &mut Page| {
        let step = |page: &mut Page| page.frame().says["panes"][0]["step"].as_u64().unwrap();
        let (first, began) = (step(page), std::time::Instant::now());
        page.until("two seconds", |_| (began.elapsed() > Duration::from_secs(2)).then_some(()));
        (step(page) - first) as f64 / began.elapsed().as_secs_f64()
    };
    let alone = pace(&mut page);
    page.say(&compare(&[1e-5], 10.0));
    page.until("progress", |p| {
        p.texts.iter().find(|t| t["event"] == "job" && t["share"].as_f64() > Some(0.0)).map(|_| ())
    });
    let beside = pace(&mut page);
    page.say(r#"{"do":"cancel"}"#);
    assert_eq!(ended(&mut page)["state"], "cancelled");
    println!("{alone:.0} steps/s alone, {beside:.0} beside a comparison");
    let least = if std::env::var_os("LILYAN_SPEED").is_some() { 0.7 } else { 0.25 };
    assert!(beside > least * alone, "{alone} steps/s alone, {beside} beside a comparison");
}

/// Requests that would take too long or make no sense are refused at once.
#[test]
fn jobs_have_limits() {
    let lab = Lab::open("tumbling-rod");
    let mut page = lab.page();
    page.event("panes");
    let asked = |change: Value| {
        let mut ask = json!({ "do": "compare", "pane": 0, "integrators": ["verlet"], "steps": [], "end": 1, "budget": 1 });
        ask.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        ask.to_string()
    };
    for wrong in [
        asked(json!({ "integrators": [] })),
        asked(json!({ "integrators": vec!["verlet"; 13] })),
        asked(json!({ "integrators": ["nonsense"] })),
        asked(json!({ "steps": vec![0.1; 9] })),
        asked(json!({ "steps": [-1.0] })),
        asked(json!({ "end": 1e9 })),
        asked(json!({ "budget": 1e9 })),
        asked(json!({ "pane": 3 })),
        asked(json!({ "more": 1 })),
        json!({ "do": "coarsen", "pane": 0, "method": "average", "tets": 0 }).to_string(),
        json!({ "do": "coarsen", "pane": 0, "method": "average", "tets": 1_000_000 }).to_string(),
        json!({ "do": "coarsen", "pane": 0, "method": "average", "tets": 10, "modes": 99 }).to_string(),
    ] {
        assert!(!page.answer(&wrong, "error")["text"].as_str().unwrap().is_empty(), "{wrong}");
    }
    std::thread::sleep(Duration::from_millis(100));
    assert!(page.texts.iter().all(|t| t["event"] != "job"), "nothing began");
}
