//! `forces.csv`: what pins and contacts do to the bodies.

use lilyan_dynamics::{State, System};
use lilyan_scene::build::Built;

/// The state before the step that ends at a line.
#[derive(Clone, Debug, Default)]
pub struct StepStart {
    /// Time, s.
    pub t: f64,
    /// Positions, m.
    pub q: Vec<f64>,
    /// Momenta, kg m/s.
    pub p: Vec<f64>,
}

impl StepStart {
    /// Notes a state.
    pub fn note(&mut self, state: &State) {
        self.t = state.t;
        self.q.clone_from(&state.q);
        self.p.clone_from(&state.p);
    }
}

fn has_contact(built: &Built) -> bool {
    built.simulation.system().potentials().iter().any(|potential| potential.role().is_contact)
}

/// The names of the columns after t: three of each pin, and three of the contacts of each body.
pub fn columns(built: &Built) -> Vec<String> {
    let pins = (1..=built.simulation.system().pins().len()).map(|number| format!("pin{number}"));
    let touching = built.bodies.iter().filter(|_| has_contact(built));
    let contacts = touching.map(|body| format!("{}_contact", body.name));
    pins.chain(contacts).flat_map(|name| ["x", "y", "z"].map(|axis| format!("{name}_f{axis}"))).collect()
}

/// The forces on the bodies at the end of a step, N, in the order of [`columns`].
///
/// The force of a pin is what Newton's law leaves over at its nodes: the change of momentum in the step less all other forces. Friction is
/// the mean of the step, and with `energy-momentum` the whole contact is.
pub fn row(built: &Built, before: &StepStart) -> Vec<f64> {
    let (simulation, model) = (&built.simulation, built.simulation.system());
    let State { t, q, v, p, .. } = simulation.state();
    let (h, n) = (t - before.t, q.len());
    let abilities = model.abilities();
    let mut row = Vec::new();
    if !model.pins().is_empty() {
        let (mut gradient, mut forces) = (vec![0.0; n], vec![0.0; n]);
        model.gradient(*t, q, &mut gradient);
        // Applied forces are among them.
        if let Some(dissipation) = abilities.dissipation {
            dissipation.add_forces(*t, q, v, &mut forces);
        }
        let inertia = |i: usize| if h > 0.0 { (p[i] - before.p[i]) / h } else { 0.0 };
        for pin in model.pins() {
            let mut force = [0.0; 3];
            for &node in pin.nodes.iter().filter(|_| *t <= pin.until) {
                for k in (0..3).filter(|&k| pin.axes[k]) {
                    let i = 3 * node as usize + k;
                    force[k] += inertia(i) + gradient[i] - forces[i];
                }
            }
            row.extend(force);
        }
    }
    if has_contact(built) {
        let forces = contact_forces(built, before);
        for body in &built.bodies {
            let own = body.dofs.part(&forces);
            row.extend((0..3).map(|k| own.iter().skip(k).step_by(3).sum::<f64>()));
        }
    }
    row
}

/// Forces of contacts on the nodes at the end of a step, N. Friction is the mean of the step, and with `energy-momentum` the whole
/// contact is.
pub fn contact_forces(built: &Built, before: &StepStart) -> Vec<f64> {
    let (simulation, model) = (&built.simulation, built.simulation.system());
    let State { t, q, .. } = simulation.state();
    let h = t - before.t;
    let mut forces = vec![0.0; q.len()];
    // A stiff contact trembles within a step, and only the force of the whole step balances the momentum.
    match simulation.integrator().claims().energy && h > 0.0 {
        true => model.add_mean_contact_forces([before.t, *t], &before.q, q, &mut forces),
        false => model.add_contact_forces(*t, q, &mut forces),
    }
    if let Some(friction) = model.abilities().friction.filter(|_| h > 0.0) {
        friction.add_friction([before.t, *t], &before.q, q, &mut forces);
    }
    forces
}
