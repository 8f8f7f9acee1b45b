//! Terms with state of several potentials in one model: each gets its own history back.

mod common;

use lilyan_dynamics::Simulation;
use lilyan_dynamics::system::terms::{StatefulTerms, StepStart, StepTerms, TermHistory};
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::potentials::{Kind, Potential, PotentialRole};
use lilyan_solid::{Model, ModelBuilder};
use lilyan_solve::BlockMatrix;
use lilyan_solve::newton::Curvature;

/// Viscous friction on one node: the potential ½c|x − x₀|²/h of a step.
struct NodeFriction {
    node: usize,
    /// c, N s/m.
    coefficient: f64,
}

struct StepFriction<'a> {
    of: &'a NodeFriction,
    h: f64,
    start: [f64; 3],
    history: TermHistory,
}

impl Potential for NodeFriction {
    fn role(&self) -> PotentialRole<'_> {
        PotentialRole { terms: Some(self), ..PotentialRole::smooth(Kind::Other) }
    }
    fn energy(&self, _q: &[f64]) -> f64 {
        0.0
    }
    fn add_gradient(&self, _q: &[f64], _g: &mut [f64]) {}
    fn add_hessian(&self, _q: &[f64], _curvature: Curvature, _h: &mut BlockMatrix) {}
    fn add_discrete_gradient(&self, _q0: &[f64], _q1: &[f64], _g: &mut [f64]) -> bool {
        true
    }
}

impl StatefulTerms for NodeFriction {
    fn begin_step<'a>(&'a self, start: StepStart<'_>) -> Box<dyn StepTerms + 'a> {
        let history = start.history.clone();
        // The history names the node that it belongs to, and counts steps.
        assert!(history.data.is_empty() || usize::from(history.data[0]) == self.node);
        let at = std::array::from_fn(|k| start.q[3 * self.node + k]);
        Box::new(StepFriction { of: self, h: start.h, start: at, history })
    }
    fn stored_energy(&self, _history: &TermHistory, _q: &[f64]) -> f64 {
        0.0
    }
}

impl StepFriction<'_> {
    fn stiffness(&self) -> f64 {
        self.of.coefficient / self.h
    }
    fn motion(&self, q: &[f64]) -> [f64; 3] {
        std::array::from_fn(|k| q[3 * self.of.node + k] - self.start[k])
    }
}

impl StepTerms for StepFriction<'_> {
    fn energy(&self, q: &[f64]) -> f64 {
        0.5 * self.stiffness() * self.motion(q).iter().map(|x| x * x).sum::<f64>()
    }
    fn add_gradient(&self, q: &[f64], g: &mut [f64]) {
        for (k, x) in self.motion(q).into_iter().enumerate() {
            g[3 * self.of.node + k] += self.stiffness() * x;
        }
    }
    fn add_hessian(&self, _q: &[f64], _curvature: Curvature, h: &mut BlockMatrix) {
        let k = self.stiffness();
        h.add_block(self.of.node, self.of.node, &[k, 0.0, 0.0, 0.0, k, 0.0, 0.0, 0.0, k]);
    }
    fn add_discrete_gradient(&self, q0: &[f64], q1: &[f64], g: &mut [f64]) -> bool {
        let middle: Vec<f64> = q0.iter().zip(q1).map(|(a, b)| 0.5 * (a + b)).collect();
        self.add_gradient(&middle, g);
        true
    }
    fn max_step(&self, _q: &[f64], _d: &[f64]) -> f64 {
        f64::INFINITY
    }
    fn lag(&mut self, _q: &[f64]) -> bool {
        false
    }
    fn end_step(&self, q: &[f64]) -> TermHistory {
        let steps = self.history.data.get(1).copied().unwrap_or(0) + 1;
        TermHistory {
            dissipated: self.history.dissipated + 2.0 * self.energy(q),
            data: vec![self.of.node as u8, steps],
        }
    }
}

/// A bar in flight, rubbed at these nodes.
fn flight(rubbed: &[usize]) -> Simulation<Model> {
    let mesh = box_mesh([2.0, 0.5, 0.5], [4, 1, 1]).unwrap();
    let mut builder = ModelBuilder::default();
    builder.body(common::body(mesh, "neo-hookean")).unwrap();
    for (i, &node) in rubbed.iter().enumerate() {
        builder.potential(Box::new(NodeFriction { node, coefficient: 500.0 * (1.0 + i as f64) }));
    }
    let q = builder.start().to_vec();
    let v = q.iter().enumerate().map(|(i, _)| [1.0, 0.5, 0.0][i % 3]).collect();
    let model = builder.build();
    let state = lilyan_dynamics::State::new(&model, q, v);
    Simulation::new(model, common::integrator("backward-euler", &[]), state, 0.01)
}

#[test]
fn every_potential_gets_its_own_history_back() {
    let run = |rubbed: &[usize]| {
        let mut simulation = flight(rubbed);
        for _ in 0..10 {
            simulation.advance().unwrap();
        }
        simulation
    };
    let speed = |simulation: &Simulation<Model>| simulation.state().momenta([0.0; 3]).0[0];
    let [free, one, two] = [&[][..], &[3], &[3, 5]].map(run);
    assert!(speed(&one) < 0.98 * speed(&free) && speed(&two) < speed(&one));
    let dissipated = |simulation: &Simulation<Model>| simulation.state().terms.dissipated;
    assert!(dissipated(&free) == 0.0 && dissipated(&one) > 0.0 && dissipated(&two) > dissipated(&one));

    // A checkpoint carries the histories.
    let mut straight = run(&[3, 5]);
    let checkpoint = straight.checkpoint();
    straight.advance().unwrap();
    let mut restarted = flight(&[3, 5]);
    restarted.restore(&checkpoint).unwrap();
    restarted.advance().unwrap();
    assert_eq!(straight.state().terms, restarted.state().terms);
    assert_eq!(straight.state().q, restarted.state().q);
}
