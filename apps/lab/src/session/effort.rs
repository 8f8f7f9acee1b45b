//! Real-time mode: how much effort the steps of a frame may take so that they fit into their time.
//!
//! Times are noisy and effort acts in jumps (a Newton iteration more or less), so it goes in few levels, is judged over a
//! while, and a level that proved too dear is left alone for longer each time.

/// Levels above the least effort.
const LEVELS: u32 = 8;
/// Wall time over which a level is judged, s.
const WHILE: f64 = 0.25;
/// Below this share of the budget there is room for more effort.
const SLACK: f64 = 0.75;
/// A level that was too dear is tried again after so many whiles, then after twice as many, up to the last.
const BARRED: [u32; 2] = [4, 256];

/// Chooses the effort from measured times.
#[derive(Clone, Debug)]
pub struct Controller {
    level: u32,
    /// Wall time, work and simulated time since the last judgement, s.
    wall: f64,
    spent: f64,
    gone: f64,
    /// The lowest level that was too dear, for how long it is barred, and for how long next time.
    dear: u32,
    barred: u32,
    next: u32,
    /// What the last while came to.
    pub load: f64,
    pub pace: Option<f64>,
}

impl Controller {
    /// With full effort.
    pub fn new() -> Self {
        Self {
            level: LEVELS,
            wall: 0.0,
            spent: 0.0,
            gone: 0.0,
            dear: LEVELS + 1,
            barred: 0,
            next: BARRED[0],
            load: 0.0,
            pace: None,
        }
    }

    /// From 0, the least, to 1, all that the scene asks for.
    pub fn effort(&self) -> f64 {
        f64::from(self.level) / f64::from(LEVELS)
    }

    /// Whether nothing more can be cut, and it is too much still.
    pub fn is_overrun(&self) -> bool {
        self.level == 0 && self.load > 1.0
    }

    /// A frame went by: `wall` (s) after the one before, of which `spent` (s) went into work that carried the simulation on by
    /// `gone` (s). It should go by `speed` simulated seconds a second, and work take the share `budget` of the time.
    pub fn frame(&mut self, wall: f64, spent: f64, gone: f64, speed: f64, budget: f64) {
        self.wall += wall;
        self.spent += spent;
        self.gone += gone;
        if self.wall < WHILE {
            return;
        }
        // What a second's worth of motion takes, whether there was time for it or not; a while without any says nothing.
        if self.gone > 0.0 {
            self.pace = Some(self.gone / self.wall);
            self.load = self.spent / self.gone * speed / budget;
            self.judge();
        }
        (self.wall, self.spent, self.gone) = (0.0, 0.0, 0.0);
    }

    fn judge(&mut self) {
        self.barred = self.barred.saturating_sub(1);
        if self.load > 1.0 && self.level > 0 {
            // Too dear again: wait longer. Too dear at another level: that is news.
            self.next = if self.level == self.dear { (2 * self.next).min(BARRED[1]) } else { BARRED[0] };
            (self.dear, self.barred) = (self.level, self.next);
            self.level = self.level.saturating_sub(1 + self.load.log2() as u32);
        } else if self.load < SLACK && self.level < LEVELS && (self.level + 1 < self.dear || self.barred == 0)
        {
            self.level += 1;
        }
    }

    /// What was measured is of another time: begins to measure anew, with the effort as it is.
    pub fn pause(&mut self) {
        (self.wall, self.spent, self.gone, self.pace) = (0.0, 0.0, 0.0, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: f64 = 1.0 / 60.0;

    /// Runs frames whose steps cost `cost(effort)` seconds per simulated second; returns the efforts after each while.
    fn drive(controller: &mut Controller, seconds: f64, cost: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut efforts = Vec::new();
        for k in 0..(seconds / FRAME) as usize {
            // Some frames take a third more, others less.
            let noise = 1.0 + 0.3 * ((k * 7919 % 13) as f64 / 6.0 - 1.0);
            // No more fits into a frame than its time.
            let gone = FRAME * (1.0 / cost(controller.effort())).min(1.0);
            let spent = gone * cost(controller.effort()) * noise;
            controller.frame(FRAME, spent, gone, 1.0, 0.96);
            efforts.push(controller.effort());
        }
        efforts
    }

    fn changes(efforts: &[f64]) -> usize {
        efforts.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    #[test]
    fn what_fits_is_not_cut() {
        let mut controller = Controller::new();
        assert!(drive(&mut controller, 20.0, |_| 0.9).iter().all(|effort| *effort == 1.0));
        assert!((controller.pace.unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn effort_falls_until_it_fits_and_rises_again() {
        let mut controller = Controller::new();
        drive(&mut controller, 3.0, |effort| 0.2 + 2.0 * effort);
        let fits = controller.effort();
        assert!(0.2 + 2.0 * fits < 0.96 && fits > 0.1, "{fits}");
        assert!(controller.load <= 1.0 && !controller.is_overrun());
        // The body comes to rest: everything is cheap.
        drive(&mut controller, 10.0, |_| 0.2);
        assert_eq!(controller.effort(), 1.0);
    }

    /// One iteration more than fits costs twice as much: without a memory it would be tried every other while.
    #[test]
    fn it_does_not_swing_across_a_jump() {
        let mut controller = Controller::new();
        let cost = |effort: f64| if effort > 0.3 { 1.3 } else { 0.5 };
        drive(&mut controller, 5.0, cost);
        let later = drive(&mut controller, 120.0, cost);
        assert!(changes(&later) <= 12, "{} changes in two minutes", changes(&later));
        let good = later.iter().filter(|effort| cost(**effort) < 1.0).count();
        assert!(good as f64 > 0.97 * later.len() as f64, "{good} of {}", later.len());
    }

    #[test]
    fn what_never_fits_is_told() {
        let mut controller = Controller::new();
        let efforts = drive(&mut controller, 5.0, |effort| 2.0 + effort);
        assert_eq!(efforts.last(), Some(&0.0));
        assert!(controller.is_overrun());
        assert!((controller.pace.unwrap() - 0.5).abs() < 0.01, "{:?}", controller.pace);
        controller.pause();
        assert_eq!((controller.pace, controller.effort()), (None, 0.0));
    }

    #[test]
    fn frames_without_motion_say_nothing() {
        let mut controller = Controller::new();
        for _ in 0..100 {
            controller.frame(FRAME, 0.0, 0.0, 1.0, 0.96);
        }
        assert_eq!((controller.effort(), controller.pace), (1.0, None));
    }
}
