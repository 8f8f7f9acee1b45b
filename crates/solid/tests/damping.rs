//! Damping is a property of the body: it does not change with the step, decays modes as the formula
//! says, keeps the momenta it claims to keep, and never feeds energy in.

mod common;

use common::{E, NU, RHO, energy, first_mode, flat, integrator, model, momentum_drift, tumbling};
use lilyan_dynamics::{Simulation, State, System};
use lilyan_solid::damping::{CATALOGUE, Damping, Kharevych, Viscous};
use lilyan_solid::materials::{self, Given, SmallStrain};
use lilyan_solid::mesh::Mesh;
use lilyan_solid::meshing::box_mesh;
use lilyan_solid::{BodyInput, Model};
use lilyan_solve::BlockMatrix;
use std::f64::consts::TAU;
use std::sync::Arc;

fn mesh() -> Mesh {
    box_mesh([2.0, 0.5, 0.5], [6, 2, 2]).unwrap()
}

fn bar(material: &str, given: Given, damping: Option<Arc<dyn Damping>>) -> Model {
    let material = materials::find(material).unwrap();
    let mut body = BodyInput::new("bar", mesh(), material, given, RHO);
    body.damping.extend(damping);
    model(body)
}

fn moduli() -> Given {
    Given::from_young(E, NU).unwrap()
}

/// ω of the first mode at rest, rad/s.
fn omega() -> f64 {
    first_mode(&bar("neo-hookean", moduli(), None), &flat(&mesh().vertices)).0
}

/// ω of the mode that stretching along the axis excites most, rad/s.
fn omega_of_stretch() -> f64 {
    let (model, rest) = (bar("neo-hookean", moduli(), None), flat(&mesh().vertices));
    let modes = common::modes(&model, &rest, 20);
    let stretch: Vec<f64> = (0..rest.len()).map(|i| if i % 3 == 0 { rest[i] - 1.0 } else { 0.0 }).collect();
    let mut p = vec![0.0; rest.len()];
    model.mass().mul(&stretch, &mut p);
    let share = |k: &usize| modes.values[*k] * lilyan_solve::newton::dot(&p, &modes.vectors[*k]).powi(2);
    let most = (0..20).max_by(|a, b| share(a).total_cmp(&share(b))).unwrap();
    modes.values[most].sqrt()
}

/// Stretched along its axis by 15 %, at rest.
fn stretched(model: &Model) -> State {
    let mut state = tumbling(model, &mesh(), 1.15);
    state.v.fill(0.0);
    state.p.fill(0.0);
    state
}

/// Viscosity does not depend on the step: energy curves at h and h/2 agree to 1 % of E₀ over five
/// decay times, and their difference is of second order.
#[test]
fn viscous_damping_does_not_depend_on_the_step() {
    let omega = omega_of_stretch();
    // That mode decays to 1/e in two periods.
    let rate = omega / (2.0 * TAU);
    let time = 2.0 * rate / (omega * omega);
    for name in ["variational", "energy-momentum"] {
        let curve = |halvings: u32| -> Vec<f64> {
            let model = bar("neo-hookean", moduli(), Some(Arc::new(Viscous { time })));
            let state = stretched(&model);
            let h = TAU / omega / 40.0 / f64::from(1 << halvings);
            let mut simulation = Simulation::new(model, integrator(name, &[]), state, h);
            let steps = (5.0 / rate / (TAU / omega / 40.0)).ceil() as usize;
            let mut energies = vec![simulation.total_energy()];
            for _ in 0..steps {
                for _ in 0..1 << halvings {
                    assert_eq!(simulation.advance().unwrap().substeps, 1);
                }
                energies.push(simulation.total_energy());
            }
            energies
        };
        let curves = [curve(0), curve(1), curve(2)];
        let start = curves[0][0];
        assert!(curves[0].last().unwrap() < &(0.05 * start));
        let gap = |a: &[f64], b: &[f64]| common::max_difference(a, b) / start;
        let (coarse, fine) = (gap(&curves[0], &curves[1]), gap(&curves[1], &curves[2]));
        let order = (coarse / fine).log2();
        println!("{name}: h vs h/2 {coarse:.2e}, h/2 vs h/4 {fine:.2e}, order {order:.2}");
        assert!(coarse <= 0.01, "{name}: energy curves differ by {coarse:e} of E0");
        assert!((order - 2.0).abs() < 0.1, "{name}: order {order}");
    }
}

/// Measured over analytic decay rate of the first mode, started as its shape at an amplitude of 1 µm.
fn decay_ratio(material: &str, given: Given, spec: &Arc<dyn Damping>, per_period: usize) -> f64 {
    let model = bar(material, given, Some(spec.clone()));
    let rest = flat(&mesh().vertices);
    let (omega, shape) = first_mode(&model, &rest);
    let rate = 0.5 * spec.decay_rate(omega).expect("a rate that the frequency determines");
    let amplitude = 1e-6 / shape.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let q = rest.iter().zip(&shape).map(|(q, u)| q + amplitude * u).collect();
    let mut state = State::new(&model, q, vec![0.0; rest.len()]);
    // Whole periods: the energy of a damped mode falls in stages, twice each period.
    let period = TAU / (omega * omega - rate * rate).sqrt();
    let h = period / per_period as f64;
    let modal_energy = |state: &State| {
        let displacement: Vec<f64> = state.q.iter().zip(&rest).map(|(a, b)| a - b).collect();
        let mut momentum = vec![0.0; rest.len()];
        model.mass().mul(&displacement, &mut momentum);
        let along = |p: &[f64]| lilyan_solve::newton::dot(p, &shape);
        (omega * along(&momentum)).powi(2) + along(&state.p).powi(2)
    };
    let start = modal_energy(&state);
    let mut method = integrator("variational", &[("tolerance", 1e-12)]);
    let periods = 3;
    for _ in 0..periods * per_period {
        method.step(&model, &mut state, h).unwrap();
    }
    let measured = -(modal_energy(&state) / start).ln() / (2.0 * periods as f64 * period);
    measured / rate
}

/// A mode decays at the rate ½τω² (½α for αM), whatever the damping model.
#[test]
fn modes_decay_as_the_formula_says() {
    let time = 0.1 / omega();
    for card in CATALOGUE {
        for spec in (card.variants)(time).into_iter().filter(|spec| spec.decay_rate(1.0).is_some()) {
            let fine = decay_ratio("neo-hookean", moduli(), &spec, 100);
            println!("{spec:?}: {fine:.5} of the analytic rate");
            // Damping after the step is of first order in h: half the error at half the step.
            if spec.is_impulse() {
                let finer = decay_ratio("neo-hookean", moduli(), &spec, 200);
                assert!((2.0 * finer - fine - 1.0).abs() < 0.005, "{spec:?}: {fine}, {finer}");
            } else {
                assert!((fine - 1.0).abs() < 0.005, "{spec:?}: {fine}");
            }
        }
    }
}

/// The same for viscosity with every material whose small-strain moduli are those of its viscosity.
#[test]
fn viscous_decay_is_the_same_for_every_material() {
    let viscous: Arc<dyn Damping> = Arc::new(Viscous { time: 0.1 / omega() });
    for material in materials::CATALOGUE {
        let card = material.card();
        let given = match card.small_strain {
            SmallStrain::Given => moduli(),
            SmallStrain::ShearOnly => Given::from_young(E, 0.0).unwrap(),
        };
        let ratio = decay_ratio(card.name, given, &viscous, 100);
        assert!((ratio - 1.0).abs() < 0.005, "{}: {ratio} of the analytic rate", card.name);
    }
}

/// Stiff along the bar and soft in shear, Pa; the moduli beside the constants are those of another material.
fn anisotropic() -> Given {
    let constants = [("C11", 9e5), ("C12", 3e4), ("C13", 2e4), ("C22", 1e5), ("C23", 4e4), ("C33", 2e5)]
        .into_iter()
        .chain([("C44", 3e4), ("C55", 1e4), ("C66", 6e4), ("C15", 5e3)]);
    constants.fold(moduli(), |given, (name, value)| given.with(name, value))
}

/// Viscosity is that of the 21 constants where the material has them, and its matrix is its derivative.
#[test]
fn viscosity_of_an_anisotropic_body_is_its_own() {
    let rest = flat(&mesh().vertices);
    let omega = first_mode(&bar("linear", anisotropic(), None), &rest).0;
    let time = 0.1 / omega;
    let rate_of_stiffness: [Arc<dyn Damping>; 2] =
        [Arc::new(Viscous { time }), Arc::new(Kharevych { time, implicit: true })];
    for (material, spec) in
        ["linear", "co-rotational"].iter().flat_map(|m| rate_of_stiffness.iter().map(move |s| (m, s)))
    {
        let ratio = decay_ratio(material, anisotropic(), spec, 100);
        assert!((ratio - 1.0).abs() < 0.005, "{material}, {spec:?}: {ratio} of the analytic rate");
        let model = bar(material, anisotropic(), Some(spec.clone()));
        let q = tumbling(&model, &mesh(), 1.3).q;
        let v: Vec<f64> = (0..q.len()).map(|i| (1.7 * i as f64).sin()).collect();
        let dissipation = model.abilities().dissipation.unwrap();
        let (mut f, mut product) = (vec![0.0; q.len()], vec![0.0; q.len()]);
        dissipation.add_forces(0.0, &q, &v, &mut f);
        let mut d = BlockMatrix::zeros(model.pattern().clone());
        dissipation.add_damping_matrix(0.0, &q, &vec![0.0; q.len()], &mut d);
        d.mul_vec(&v, &mut product);
        let size = f.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let off = f.iter().zip(&product).fold(0.0f64, |m, (f, d)| m.max((f + d).abs()));
        assert!(off < 1e-12 * size, "{material}, {spec:?}: forces {size} and matrix differ by {off}");
    }
}

/// (P, L) drift of a damped tumbling bar over 2 s.
fn drift(spec: &Arc<dyn Damping>, steps: usize) -> (f64, f64) {
    let model = bar("neo-hookean", moduli(), Some(spec.clone()));
    let start = tumbling(&model, &mesh(), 1.15);
    let mut state = start.clone();
    let mut method = integrator("variational", &[("tolerance", 1e-13)]);
    for _ in 0..steps {
        method.step(&model, &mut state, 2.0 / steps as f64).unwrap();
    }
    momentum_drift(&start, &state)
}

/// Models that claim to keep momenta do so to 1e-12 while the bar tumbles; the implicit form of
/// `kharevych` loses angular momentum to first order in the step.
#[test]
fn momenta_are_kept_as_claimed() {
    for card in CATALOGUE {
        for spec in (card.variants)(2e-3) {
            let (linear, angular) = drift(&spec, 100);
            println!("{spec:?}: ΔP {linear:.1e}, ΔL {angular:.1e}");
            let kept = spec.keeps_angular_momentum(false);
            assert!(spec.is_drag() || linear < 1e-12, "{spec:?}: linear momentum drifts by {linear:e}");
            if kept {
                assert!(angular < 1e-12, "{spec:?}: angular momentum drifts by {angular:e}");
            } else if card.keeps_momenta {
                let (_, half) = drift(&spec, 200);
                println!("    at half the step ΔL {half:.1e}");
                assert!(linear < 1e-12 && angular < 0.01, "{spec:?}: {linear:e}, {angular:e}");
                assert!(half < 0.6 * angular, "{spec:?}: {angular:e}, then {half:e}");
            } else {
                assert!(angular > 1e-6, "{spec:?} keeps momenta but does not claim it");
            }
        }
    }
}

/// Without damping the midpoint rule loses nothing: at most 1e-6 of the energy in a period.
#[test]
fn undamped_midpoint_loses_nothing() {
    let model = bar("neo-hookean", moduli(), None);
    let rest = flat(&mesh().vertices);
    let (omega, shape) = first_mode(&model, &rest);
    let amplitude = 0.02 / shape.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let q = rest.iter().zip(&shape).map(|(q, u)| q + amplitude * u).collect();
    let mut state = State::new(&model, q, vec![0.0; rest.len()]);
    let mut method = integrator("variational", &[]);
    let (per_period, periods) = (40, 120);
    let mut mean = Vec::new();
    for _ in 0..periods {
        let mut sum = 0.0;
        for _ in 0..per_period {
            method.step(&model, &mut state, TAU / omega / per_period as f64).unwrap();
            sum += energy(&model, &state);
        }
        mean.push(sum / per_period as f64);
    }
    let third = periods / 3;
    let average = |range: std::ops::Range<usize>| mean[range].iter().sum::<f64>() / third as f64;
    let (first, last) = (average(0..third), average(periods - third..periods));
    let loss = (first - last) / first / (periods - third) as f64;
    println!("undamped loss per period {loss:.1e}");
    assert!(loss.abs() <= 1e-6, "loses {loss:e} of its energy per period");
}

/// No damping model ever feeds energy in, whatever the step: with the energy–momentum step, which
/// adds none of its own, the energy of a tumbling bar falls in every step.
#[test]
fn damping_never_gains_energy() {
    for card in CATALOGUE {
        for spec in (card.variants)(2e-3) {
            for h in [0.005, 0.02, 0.05] {
                // The explicit form has a limit, 2 mass/(k h stiffness).
                if spec.is_impulse() && h > 0.01 {
                    continue;
                }
                let model = bar("neo-hookean", moduli(), Some(spec.clone()));
                let state = tumbling(&model, &mesh(), 1.15);
                let mut simulation = Simulation::new(model, integrator("energy-momentum", &[]), state, h);
                let initial = simulation.ledger().initial;
                let (mut before, mut gone) = (initial, 0.0);
                for step in 0..60 {
                    simulation.advance().unwrap();
                    let now = simulation.total_energy();
                    assert!(
                        now <= before + 1e-10 * initial,
                        "{spec:?}, h = {h}, step {step}: gains {:e} of E0",
                        (now - before) / initial
                    );
                    let dissipated = simulation.ledger().dissipated_physical;
                    assert!(dissipated >= gone - 1e-10 * initial, "{spec:?}: ledger runs backwards");
                    (before, gone) = (now, dissipated);
                }
                assert!(before < 0.999 * initial, "{spec:?} at h = {h} dissipates nothing");
            }
        }
    }
}

/// Where one model acts inside the step and another one after it, each acts once.
#[test]
fn both_forms_of_kharevych_damping_act_once() {
    let body = |forms: &[bool]| {
        let mut body = BodyInput::new("bar", mesh(), materials::find("neo-hookean").unwrap(), moduli(), RHO);
        let damping = |&implicit: &bool| Arc::new(Kharevych { time: 2e-3, implicit }) as Arc<dyn Damping>;
        body.damping = forms.iter().map(damping).collect();
        model(body)
    };
    let impulse = |model: &Model| {
        let q0 = flat(&mesh().vertices);
        let q1: Vec<f64> = q0.iter().map(|x| 1.1 * x).collect();
        let mut j = vec![0.0; q0.len()];
        model.abilities().end_impulse.unwrap().add_end_impulse(1e-3, &q0, &q1, &mut j);
        j
    };
    let (after, both) = (impulse(&body(&[false])), impulse(&body(&[true, false])));
    assert!(after.iter().any(|x| *x != 0.0));
    assert_eq!(after, both);
    assert!(body(&[true]).abilities().end_impulse.is_none());
}
