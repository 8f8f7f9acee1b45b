//! What integrators keep from step to step: through the bytes of a file and back, to the bit.

use lilyan_dynamics::integrators::{CATALOGUE, StepLength};
use lilyan_dynamics::systems::{Particles, Spring};
use lilyan_dynamics::{Checkpoint, Integrator, Memory, MemoryError, Simulation, State};

/// Every integrator with its defaults and its variants.
fn each(mut check: impl FnMut(&str, &dyn Fn() -> Box<dyn Integrator>)) {
    for entry in CATALOGUE {
        for given in entry.all_variants() {
            let name = format!("{} {given:?}", entry.name);
            check(&name, &|| entry.create(&given).unwrap());
        }
    }
}

/// Four particles on six springs, stretched and turning.
fn simulation(damping: f64, integrator: Box<dyn Integrator>) -> Simulation<Particles> {
    let ends = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    let springs = ends.map(|ends| Spring { ends, stiffness: 50.0, length: 1.0, damping }).to_vec();
    let system = Particles::new(&[1.0, 1.5, 0.8, 1.2], springs, 1.0);
    let q = vec![0.0, 0.1, 0.0, 1.1, 0.0, 0.05, 0.4, 0.95, 0.0, 0.55, 0.3, 0.9];
    let v = vec![0.3, 0.2, -0.5, -0.1, 0.6, 0.1, 0.5, -0.4, 0.2, -0.6, -0.2, 0.1];
    let state = State::new(&system, q, v);
    Simulation::new(system, integrator, state, 0.01)
}

fn advance(simulation: &mut Simulation<Particles>, steps: usize) {
    for _ in 0..steps {
        simulation.advance().unwrap();
    }
}

#[test]
fn every_integrator_continues_to_the_bit_from_a_stored_checkpoint() {
    each(|name, make| {
        for damping in [0.0, 0.4] {
            let mut straight = simulation(damping, make());
            advance(&mut straight, 7);
            let saved = straight.checkpoint();
            let bytes = postcard::to_stdvec(&saved).unwrap();
            let read: Checkpoint = postcard::from_bytes(&bytes).unwrap();
            assert_eq!(read, saved, "{name}");
            assert_eq!(postcard::to_stdvec(&read).unwrap(), bytes, "{name}");
            let mut restarted = simulation(damping, make());
            restarted.restore(&read).unwrap();
            assert_eq!(postcard::to_stdvec(&restarted.checkpoint()).unwrap(), bytes, "{name}");
            advance(&mut straight, 7);
            advance(&mut restarted, 7);
            assert_eq!(straight.checkpoint(), restarted.checkpoint(), "{name}, damping {damping}");
        }
    });
}

/// A memory of another version and of another kind is refused, and the error says what to do.
#[test]
fn a_memory_of_another_version_is_refused() {
    each(|name, make| {
        let mut first = simulation(0.0, make());
        advance(&mut first, 2);
        let memory = first.integrator().memory();
        let mut bytes = postcard::to_stdvec(&memory).unwrap();
        // The kind with its length, then the version.
        let version = 1 + usize::from(bytes[0]);
        let current = std::mem::replace(&mut bytes[version], 99);
        assert!((1..10).contains(&current), "{name}");
        let newer: Memory = postcard::from_bytes(&bytes).unwrap();
        let mut other = simulation(0.0, make());
        let saved = Checkpoint { memory: newer, ..first.checkpoint() };
        let error = other.restore(&saved).unwrap_err();
        assert!(matches!(error, MemoryError::Version { found: 99, .. }), "{name}: {error}");
        assert!(error.to_string().contains("start the run anew"), "{name}: {error}");

        bytes[version] = current;
        bytes[1] = b'?';
        let saved = Checkpoint { memory: postcard::from_bytes(&bytes).unwrap(), ..saved };
        let error = other.restore(&saved).unwrap_err();
        assert!(matches!(error, MemoryError::Kind { .. }), "{name}: {error}");
    });
}

/// A state that was changed between steps is a new start: no integrator takes an old step for its past. Those
/// with their own pace keep the energy that they expect until they are reset.
#[test]
fn a_changed_state_is_a_new_start() {
    each(|name, make| {
        if make().step_length() == StepLength::Adaptive {
            return;
        }
        let (system, mut used, mut state) = {
            let mut simulation = simulation(0.0, make());
            advance(&mut simulation, 3);
            simulation.into_parts()
        };
        state.q[0] += 0.01;
        let (mut fresh, mut other) = (make(), state.clone());
        used.step(&system, &mut state, 0.01).unwrap();
        fresh.step(&system, &mut other, 0.01).unwrap();
        for (a, b) in state.q.iter().zip(&other.q) {
            assert!((a - b).abs() < 1e-6, "{name}: {a}, but {b} from the start");
        }
    });
}
