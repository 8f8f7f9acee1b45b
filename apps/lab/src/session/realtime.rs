//! Real-time mode: keeps steps within the time of a frame by cutting effort, and tells what was cut.

use super::effort::Controller;
use super::pane::Pane;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Between frames: what the controller is told of them, if the mode is on.
pub struct RealTime {
    controller: Option<Controller>,
    /// Since when, from which simulated time, and how much of that was work.
    since: Instant,
    from: f64,
    spent: Duration,
}

impl RealTime {
    pub fn new() -> Self {
        Self { controller: None, since: Instant::now(), from: 0.0, spent: Duration::ZERO }
    }

    /// Switches it; every time it begins with full effort.
    pub fn switch(&mut self, on: bool) {
        self.controller = on.then(Controller::new);
    }

    pub fn is_on(&self) -> bool {
        self.controller.is_some()
    }

    pub fn controller(&self) -> Option<&Controller> {
        self.controller.as_ref()
    }

    /// All that the scene asks for, unless the mode is on and it does not fit.
    pub fn effort(&self) -> f64 {
        self.controller.as_ref().map_or(1.0, Controller::effort)
    }

    /// Begins anew at simulated time t: time has stood still, or jumped.
    pub fn set(&mut self, t: f64) {
        (self.since, self.from, self.spent) = (Instant::now(), t, Duration::ZERO);
        if let Some(controller) = &mut self.controller {
            controller.pause();
        }
    }

    pub fn spend(&mut self, work: Duration) {
        self.spent += work;
    }

    /// A frame is out, at simulated time t.
    pub fn frame(&mut self, t: f64, speed: Option<f64>, share: f64) {
        let (wall, spent, gone) = (self.since.elapsed(), self.spent, t - self.from);
        (self.since, self.from, self.spent) = (Instant::now(), t, Duration::ZERO);
        if let Some(controller) = &mut self.controller {
            controller.frame(wall.as_secs_f64(), spent.as_secs_f64(), gone, speed.unwrap_or(1.0), share);
        }
    }
}

/// Steps that a pane's state has behind it, and those that ended before the tolerance asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cuts {
    pub steps: u64,
    pub of: u64,
    /// The largest shortfall: corrections so many times what the tolerance allows.
    pub worst: f64,
}

impl Cuts {
    pub fn count(&mut self, shortfall: f64) {
        self.of += 1;
        self.steps += u64::from(shortfall > 0.0);
        self.worst = self.worst.max(shortfall);
    }

    /// In words, if there are any.
    pub fn told(&self) -> Option<String> {
        let Self { steps, of, worst } = self;
        (*steps > 0).then(|| {
            format!("{steps} of {of} steps cut short, corrections up to {worst:.0e} × the tolerance")
        })
    }

    fn to_json(self) -> Value {
        match self.steps {
            0 => Value::Null,
            _ => json!({ "steps": self.steps, "of": self.of, "worst": self.worst }),
        }
    }
}

/// What frames tell of a pane: `realtime`, `cuts`, and `cut`, both in words.
pub fn told(pane: &Pane, behind: f64, controller: Option<&Controller>) -> [Value; 3] {
    let mut words = Vec::new();
    let (cost, motion) = (1e3 * pane.costs.median(), 1e3 * pane.built.simulation.step);
    let slow = format!("steps take {cost:.0} ms for {motion:.0} ms of motion");
    match controller {
        Some(controller) if behind > 0.0 || controller.is_overrun() => {
            words.extend(controller.pace.map(|pace| format!("{pace:.2} × real time")));
        }
        None if behind > 0.0 => words.push(format!("{slow}: slower than asked")),
        _ => {}
    }
    let realtime = controller.map(|controller| {
        let effort = pane.effort;
        if let Some(effort) = effort.filter(|effort| effort.tolerance > effort.asked) {
            words.push(format!("tolerance {:.0e}, asked for {:.0e}", effort.tolerance, effort.asked));
        }
        json!({
            "pace": controller.pace,
            "load": controller.load,
            "effort": controller.effort(),
            "overrun": controller.is_overrun(),
            "tolerance": effort.map(|effort| effort.tolerance),
            "asked": effort.map(|effort| effort.asked),
        })
    });
    words.extend(pane.cuts.told());
    if controller.is_some_and(Controller::is_overrun) {
        words.push(slow);
    }
    let cut = (!words.is_empty()).then(|| words.join("; "));
    [realtime.into(), pane.cuts.to_json(), cut.into()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use lilyan_scene::build::open;

    fn pane() -> Pane {
        let scene = open("wobbling-jelly", &[]).unwrap();
        Pane::new(scene.document.clone(), &scene.origin.0, 0).unwrap()
    }

    /// After so many steps with these efforts, one after the other; `None`: nothing is ever said of effort.
    fn after(efforts: [Option<f64>; 3]) -> Pane {
        let mut pane = pane();
        for effort in efforts {
            for _ in 0..4 {
                if let Some(effort) = effort {
                    pane.set_effort(effort);
                }
                pane.advance().unwrap();
            }
        }
        pane
    }

    #[test]
    fn full_effort_keeps_every_bit_and_cut_steps_are_counted() {
        let (plain, full) = (after([None; 3]), after([Some(1.0); 3]));
        assert_eq!(plain.built.simulation.state, full.built.simulation.state);
        assert_eq!((full.cuts.steps, full.cuts.of), (0, 12));
        assert_eq!(told(&full, 0.0, None), [Value::Null, Value::Null, Value::Null]);
        assert!(!full.to_toml(true).unwrap().contains("cut"));

        let cut = after([Some(1.0), Some(0.0), Some(1.0)]);
        assert_ne!(cut.built.simulation.state, full.built.simulation.state);
        assert!((1..=4).contains(&cut.cuts.steps) && cut.cuts.of == 12, "{:?}", cut.cuts);
        assert!(cut.cuts.worst > 1.0);
        let [realtime, cuts, words] = told(&cut, 0.0, None);
        assert!(realtime.is_null() && cuts["steps"] == cut.cuts.steps, "told after it is off as well");
        assert!(words.as_str().unwrap().contains("of 12 steps cut short"), "{words}");

        // What goes on from there, and what is saved of it, has the mark; what begins anew has not.
        let (copy, _) = cut.changed(cut.document.clone(), 0).unwrap();
        assert_eq!(copy.cuts, cut.cuts);
        let text = cut.to_toml(true).unwrap();
        assert!(
            text.starts_with("# ") && text.lines().next().unwrap().contains("steps cut short"),
            "{text:.200}"
        );
        assert!(text.contains("(after cut steps)") && cut.file_name(true).contains("after-cut-steps"));
        assert!(!cut.to_toml(false).unwrap().contains("cut"));
    }
}
