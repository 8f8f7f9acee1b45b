//! Real-time mode: steps that do not fit into their time are solved less accurately, and the page is told which.

mod common;

use common::{Lab, Page};
use serde_json::Value;

fn figures(page: &mut Page) -> Value {
    page.frame().says["panes"][0].clone()
}

/// The next frame that satisfies a condition.
fn first(page: &mut Page, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let known = page.frames.len();
    page.until(what, |p| {
        let new = p.frames.iter().skip(known).filter(|f| f.kind == 2).map(|f| &f.says["panes"][0]);
        new.into_iter().find(|pane| wanted(pane)).cloned()
    })
}

#[test]
fn what_does_not_fit_is_cut_and_told_and_off_is_off_at_once() {
    let lab = Lab::open("wobbling-jelly");
    let mut page = lab.page();
    assert_eq!(page.event("status")["realtime"], false);
    page.reaches(0.05);
    let plain = figures(&mut page);
    assert!(plain["realtime"].is_null() && plain["cuts"].is_null(), "{plain}");

    // A hundred times real time in a sixteenth of the budget is impossible on any machine.
    page.answer(r#"{"do":"budget","ms":1}"#, "status");
    page.answer(r#"{"do":"speed","value":100}"#, "status");
    assert_eq!(page.answer(r#"{"do":"realtime","on":true}"#, "status")["realtime"], true);
    let least = first(&mut page, "the least effort", |pane| {
        pane["realtime"]["effort"] == 0.0 && pane["realtime"]["overrun"] == true && !pane["cuts"].is_null()
    });
    let told = &least["realtime"];
    assert!(told["pace"].as_f64().unwrap() < 100.0 && told["load"].as_f64().unwrap() > 1.0, "{told}");
    assert!(told["tolerance"].as_f64() == Some(0.1) && told["asked"].as_f64().unwrap() < 0.1, "{told}");
    assert!(least["cuts"]["worst"].as_f64().unwrap() >= 1.0, "{least}");
    assert!(least["cuts"]["steps"].as_u64() <= least["cuts"]["of"].as_u64());
    let words = least["cut"].as_str().unwrap();
    for part in ["× real time", "asked for", "steps cut short"] {
        assert!(words.contains(part), "{words}");
    }

    // After the mode is off, the next step uses the tolerance of the scene. Cut steps are still reported.
    page.answer(r#"{"do":"speed","value":1}"#, "status");
    page.answer(r#"{"do":"realtime","on":false}"#, "status");
    let before = first(&mut page, "the mode to be off", |pane| pane["realtime"].is_null());
    let after = first(&mut page, "further steps", |pane| {
        pane["step"].as_u64() > before["step"].as_u64().map(|n| n + 20)
    });
    assert!(after["realtime"].is_null());
    assert_eq!(after["cuts"]["steps"], before["cuts"]["steps"], "nothing is cut any more");
    assert!(after["cuts"]["of"].as_u64() > before["cuts"]["of"].as_u64());
    let file = page.answer(r#"{"do":"save","pane":0,"state":true}"#, "file");
    assert!(file["name"].as_str().unwrap().contains("after-cut-steps"), "{}", file["name"]);
    assert!(file["text"].as_str().unwrap().lines().next().unwrap().contains("steps cut short"));

    page.answer(r#"{"do":"reset"}"#, "panes");
    first(&mut page, "a new run without a mark", |pane| pane["cuts"].is_null());
}

/// An explicit method cannot solve less accurately. Its step does not change; it is late and reports this.
#[test]
fn an_explicit_method_is_slow_rather_than_wrong() {
    let lab = Lab::open("tumbling-rod");
    let mut page = lab.page();
    page.event("panes");
    let change = r#"{"do":"set","changes":[{"path":"integrator","value":{"name":"verlet"}}]}"#;
    let step = page.answer(change, "panes")["panes"][0]["step"].clone();
    page.answer(r#"{"do":"budget","ms":1}"#, "status");
    page.answer(r#"{"do":"speed","value":100000}"#, "status");
    page.answer(r#"{"do":"realtime","on":true}"#, "status");
    let slow = first(&mut page, "an overrun", |pane| pane["realtime"]["overrun"] == true);
    assert!(slow["realtime"]["tolerance"].is_null() && slow["cuts"].is_null(), "{slow}");
    assert!(slow["cut"].as_str().unwrap().contains("× real time"), "{slow}");
    assert_eq!(page.answer(r#"{"do":"reset"}"#, "panes")["panes"][0]["step"], step);
}
