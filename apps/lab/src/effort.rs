//! Real-time mode: how accurately the steps of a frame are solved so that they fit into its time.
//!
//! Measured times are noisy, and the effort acts in jumps (one Newton iteration more or less). Therefore there are few
//! levels of effort, a level is assessed over a period of time, and a level that was too expensive is avoided for longer
//! each time.

/// The highest level; level 0 is the least effort.
const LEVELS: u32 = 8;
/// Wall time over which a level is assessed, s.
const PERIOD: f64 = 0.25;
/// A load below this leaves room for more effort.
const SLACK: f64 = 0.75;
/// A level that was too expensive is tried again after this many periods, then after twice as many, up to the second number.
const RETRY_PERIODS: [u32; 2] = [4, 256];

/// Chooses the effort from measured times.
#[derive(Clone, Debug)]
pub struct EffortController {
    level: u32,
    /// Wall time since the last assessment, s.
    wall: f64,
    /// Wall time spent on work since then, s.
    spent: f64,
    /// Simulated time since then, s.
    simulated: f64,
    /// The level that was too expensive last.
    too_expensive: u32,
    /// Periods until that level may be tried again.
    retry_after: u32,
    /// The same if it is too expensive again.
    next_retry_after: u32,
    /// Time that the motion of the last period took, divided by the time that it may take.
    pub load: f64,
    /// Simulated seconds per second in the last period.
    pub pace: Option<f64>,
}

impl EffortController {
    /// A controller that starts with full effort.
    pub fn new() -> Self {
        Self {
            level: LEVELS,
            wall: 0.0,
            spent: 0.0,
            simulated: 0.0,
            too_expensive: LEVELS + 1,
            retry_after: 0,
            next_retry_after: RETRY_PERIODS[0],
            load: 0.0,
            pace: None,
        }
    }

    /// From 0, the least, to 1, the accuracy of the scene.
    pub fn effort(&self) -> f64 {
        f64::from(self.level) / f64::from(LEVELS)
    }

    /// Whether even the least effort takes too long.
    pub fn is_overrun(&self) -> bool {
        self.level == 0 && self.load > 1.0
    }

    /// A frame was sent `wall` seconds after the one before. Work took `spent` seconds of them and advanced the simulation by
    /// `simulated` seconds. The simulation should advance by `speed` seconds per second, and work may take the share `budget`
    /// of the time.
    pub fn frame(&mut self, wall: f64, spent: f64, simulated: f64, speed: f64, budget: f64) {
        self.wall += wall;
        self.spent += spent;
        self.simulated += simulated;
        if self.wall < PERIOD {
            return;
        }
        // The load counts the work of the whole motion, even if only a part of it fits. A period without motion tells nothing.
        if self.simulated > 0.0 {
            self.pace = Some(self.simulated / self.wall);
            self.load = self.spent / self.simulated * speed / budget;
            self.assess();
        }
        (self.wall, self.spent, self.simulated) = (0.0, 0.0, 0.0);
    }

    fn assess(&mut self) {
        self.retry_after = self.retry_after.saturating_sub(1);
        if self.load > 1.0 && self.level > 0 {
            // If the same level is too expensive again, it is avoided for longer.
            self.next_retry_after = match self.level == self.too_expensive {
                true => (2 * self.next_retry_after).min(RETRY_PERIODS[1]),
                false => RETRY_PERIODS[0],
            };
            (self.too_expensive, self.retry_after) = (self.level, self.next_retry_after);
            self.level = self.level.saturating_sub(1 + self.load.log2() as u32);
        } else if self.load < SLACK
            && self.level < LEVELS
            && (self.level + 1 < self.too_expensive || self.retry_after == 0)
        {
            self.level += 1;
        }
    }

    /// Discards the measurements and keeps the effort.
    pub fn pause(&mut self) {
        (self.wall, self.spent, self.simulated, self.pace) = (0.0, 0.0, 0.0, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: f64 = 1.0 / 60.0;

    /// Runs frames whose steps cost `cost(effort)` seconds per simulated second; returns the effort after each frame.
    fn drive(controller: &mut EffortController, seconds: f64, cost: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut efforts = Vec::new();
        for k in 0..(seconds / FRAME) as usize {
            // Some frames take up to 30 % more, others less.
            let noise = 1.0 + 0.3 * ((k * 7919 % 13) as f64 / 6.0 - 1.0);
            // A frame cannot do more work than its time allows.
            let simulated = FRAME * (1.0 / cost(controller.effort())).min(1.0);
            let spent = simulated * cost(controller.effort()) * noise;
            controller.frame(FRAME, spent, simulated, 1.0, 0.96);
            efforts.push(controller.effort());
        }
        efforts
    }

    fn changes(efforts: &[f64]) -> usize {
        efforts.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    #[test]
    fn what_fits_is_not_cut() {
        let mut controller = EffortController::new();
        assert!(drive(&mut controller, 20.0, |_| 0.9).iter().all(|effort| *effort == 1.0));
        assert!((controller.pace.unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn effort_falls_until_it_fits_and_rises_again() {
        let mut controller = EffortController::new();
        drive(&mut controller, 3.0, |effort| 0.2 + 2.0 * effort);
        let fits = controller.effort();
        assert!(0.2 + 2.0 * fits < 0.96 && fits > 0.1, "{fits}");
        assert!(controller.load <= 1.0 && !controller.is_overrun());
        // The body comes to rest, and steps become cheap.
        drive(&mut controller, 10.0, |_| 0.2);
        assert_eq!(controller.effort(), 1.0);
    }

    /// One iteration more than fits costs twice as much. Without a memory it would be tried in every second period.
    #[test]
    fn it_does_not_swing_across_a_jump() {
        let mut controller = EffortController::new();
        let cost = |effort: f64| if effort > 0.3 { 1.3 } else { 0.5 };
        drive(&mut controller, 5.0, cost);
        let later = drive(&mut controller, 120.0, cost);
        assert!(changes(&later) <= 12, "{} changes in two minutes", changes(&later));
        let good = later.iter().filter(|effort| cost(**effort) < 1.0).count();
        assert!(good as f64 > 0.97 * later.len() as f64, "{good} of {}", later.len());
    }

    #[test]
    fn what_never_fits_is_told() {
        let mut controller = EffortController::new();
        let efforts = drive(&mut controller, 5.0, |effort| 2.0 + effort);
        assert_eq!(efforts.last(), Some(&0.0));
        assert!(controller.is_overrun());
        assert!((controller.pace.unwrap() - 0.5).abs() < 0.01, "{:?}", controller.pace);
        controller.pause();
        assert_eq!((controller.pace, controller.effort()), (None, 0.0));
    }

    #[test]
    fn frames_without_motion_say_nothing() {
        let mut controller = EffortController::new();
        for _ in 0..100 {
            controller.frame(FRAME, 0.0, 0.0, 1.0, 0.96);
        }
        assert_eq!((controller.effort(), controller.pace), (1.0, None));
    }
}
