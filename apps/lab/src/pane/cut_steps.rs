//! Steps that real-time mode ended early, and what frames tell about them.

use super::Pane;
use crate::effort::EffortController;
use serde_json::{Value, json};

/// The steps that led to a state, and how many of them ended before they reached the tolerance of the scene.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CutSteps {
    /// Steps that ended early.
    pub steps: u64,
    /// All steps.
    pub of: u64,
    /// The largest last correction of a step, divided by what the tolerance allows.
    pub worst: f64,
}

impl CutSteps {
    /// Counts a step. Its shortfall is positive if it ended early.
    pub fn count(&mut self, shortfall: f64) {
        self.of += 1;
        self.steps += u64::from(shortfall > 0.0);
        self.worst = self.worst.max(shortfall);
    }

    /// A sentence about them, if there are any.
    pub fn in_words(&self) -> Option<String> {
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

/// What frames tell about a pane: `realtime`, `cuts`, and `cut`, which is both in words.
pub fn report(pane: &Pane, behind: f64, controller: Option<&EffortController>) -> [Value; 3] {
    let mut texts = Vec::new();
    let (cost, motion) = (1e3 * pane.step_times.median(), 1e3 * pane.built.simulation.step());
    let slow = format!("steps take {cost:.0} ms for {motion:.0} ms of motion");
    match controller {
        Some(controller) if behind > 0.0 || controller.is_overrun() => {
            texts.extend(controller.pace.map(|pace| format!("{pace:.2} × real time")));
        }
        None if behind > 0.0 => texts.push(format!("{slow}: slower than asked")),
        _ => {}
    }
    let realtime = controller.map(|controller| {
        let effort = pane.effort;
        if let Some(effort) = effort.filter(|effort| effort.tolerance > effort.asked) {
            texts.push(format!("tolerance {:.0e}, asked for {:.0e}", effort.tolerance, effort.asked));
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
    texts.extend(pane.cut_steps.in_words());
    if controller.is_some_and(EffortController::is_overrun) {
        texts.push(slow);
    }
    let cut = (!texts.is_empty()).then(|| texts.join("; "));
    [realtime.into(), pane.cut_steps.to_json(), cut.into()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use lilyan_scene::build::open;

    fn pane() -> Pane {
        let scene = open("wobbling-jelly", &[]).unwrap();
        Pane::new(scene.document.clone(), &scene.origin.0, 0).unwrap()
    }

    /// A pane after four steps with each of these efforts; `None`: the effort is never set.
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
        assert_eq!(plain.built.simulation.state(), full.built.simulation.state());
        assert_eq!((full.cut_steps.steps, full.cut_steps.of), (0, 12));
        assert_eq!(report(&full, 0.0, None), [Value::Null, Value::Null, Value::Null]);
        assert!(!full.to_toml(true).unwrap().contains("cut"));

        let cut = after([Some(1.0), Some(0.0), Some(1.0)]);
        assert_ne!(cut.built.simulation.state(), full.built.simulation.state());
        assert!((1..=4).contains(&cut.cut_steps.steps) && cut.cut_steps.of == 12, "{:?}", cut.cut_steps);
        assert!(cut.cut_steps.worst > 1.0);
        let [realtime, cuts, words] = report(&cut, 0.0, None);
        assert!(realtime.is_null() && cuts["steps"] == cut.cut_steps.steps, "told when the mode is off, too");
        assert!(words.as_str().unwrap().contains("of 12 steps cut short"), "{words}");

        // A state that continues from there, and a file that is saved from it, are marked. A new start is not.
        let (copy, _) = cut.changed(cut.document.clone(), 0).unwrap();
        assert_eq!(copy.cut_steps, cut.cut_steps);
        let text = cut.to_toml(true).unwrap();
        assert!(
            text.starts_with("# ") && text.lines().next().unwrap().contains("steps cut short"),
            "{text:.200}"
        );
        assert!(text.contains("(after cut steps)") && cut.file_name(true).contains("after-cut-steps"));
        assert!(!cut.to_toml(false).unwrap().contains("cut"));
    }
}
