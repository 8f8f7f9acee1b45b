//! What exponential methods promise beyond the catalogue: exact for linear systems of every kind, second order also
//! where something outside moves, momentum exact at any tolerance.

use lilyan_dynamics::integrators::find;
use lilyan_dynamics::system::abilities::{Dissipation, PrescribedMotion, add_midpoint_forces};
use lilyan_dynamics::systems::{Particles, Spring};
use lilyan_dynamics::{
    Abilities, ConfigurationSpace, Curvature, EnergyParts, Integrator, Mass, State, System, Value,
};
use lilyan_solve::{BlockMatrix, BlockPattern};
use std::sync::Arc;

/// M q̈ = f − K q − D q̇.
struct Linear {
    space: ConfigurationSpace,
    k: BlockMatrix,
    d: Option<BlockMatrix>,
    force: Vec<f64>,
    held: Vec<usize>,
}

impl Linear {
    fn new(mass: Mass, k: BlockMatrix, d: Option<BlockMatrix>, force: Vec<f64>, held: Vec<usize>) -> Self {
        Self {
            space: ConfigurationSpace { pattern: k.pattern().clone(), mass, length: 1.0 },
            k,
            d,
            force,
            held,
        }
    }
}

impl System for Linear {
    fn space(&self) -> &ConfigurationSpace {
        &self.space
    }
    fn energy(&self, _t: f64, q: &[f64]) -> f64 {
        0.5 * self.k.quadratic_form(q) - q.iter().zip(&self.force).map(|(q, f)| q * f).sum::<f64>()
    }
    fn gradient(&self, _t: f64, q: &[f64], g: &mut [f64]) {
        self.k.mul_vec(q, g);
        for (g, f) in g.iter_mut().zip(&self.force) {
            *g -= f;
        }
    }
    fn hessian(&self, _t: f64, _q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        h.add_scaled(1.0, &self.k);
        if curvature == Curvature::Projected {
            // Not the projection, but positive: enough to build spaces with.
            h.add_diagonal(&vec![100.0; self.dofs()]);
        }
    }
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        EnergyParts::other(self.energy(t, q))
    }
    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            prescribed: Some(self),
            dissipation: self.d.as_ref().map(|_| self as &dyn Dissipation),
            ..Abilities::NONE
        }
    }
}

impl Dissipation for Linear {
    fn add_forces(&self, _t: f64, _q: &[f64], v: &[f64], f: &mut [f64]) {
        if let Some(d) = &self.d {
            let mut product = vec![0.0; v.len()];
            d.mul_vec(v, &mut product);
            for (f, p) in f.iter_mut().zip(&product) {
                *f -= p;
            }
        }
    }
    fn add_mean_forces(&self, t0: f64, h: f64, q0: &[f64], q1: &[f64], f: &mut [f64]) {
        add_midpoint_forces(self, t0, h, q0, q1, f);
    }
    fn add_damping_matrix(&self, _t: f64, _q: &[f64], _v: &[f64], out: &mut BlockMatrix) {
        if let Some(d) = &self.d {
            out.add_scaled(1.0, d);
        }
    }
    fn add_mean_damping_matrix(&self, t: f64, _h: f64, between: &[f64], v: &[f64], d: &mut BlockMatrix) {
        self.add_damping_matrix(t, between, v, d);
    }
}

impl PrescribedMotion for Linear {
    fn mark_prescribed(&self, _t: f64, mask: &mut [bool]) {
        for &i in &self.held {
            mask[i] = true;
        }
    }
    fn place_prescribed(&self, _t: f64, q: &mut [f64], v: &mut [f64]) {
        for &i in &self.held {
            (q[i], v[i]) = (0.3, 0.0);
        }
    }
    fn prescribed_moves(&self) -> bool {
        false
    }
}

/// Numbers in [−1, 1) that are the same in every run.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut x = seed;
    move || {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (x >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

fn pattern(nodes: u32) -> Arc<BlockPattern> {
    let links: Vec<[u32; 2]> = (0..nodes).flat_map(|i| (0..i).map(move |j| [j, i])).collect();
    Arc::new(BlockPattern::from_cliques(nodes as usize, links.iter().map(|l| l.as_slice())))
}

/// Σ ± g gᵀ for random g: positive semidefinite, or not.
fn random_matrix(nodes: u32, terms: usize, negative: usize, size: f64, seed: u64) -> BlockMatrix {
    let mut next = numbers(seed);
    let mut a = BlockMatrix::zeros(pattern(nodes));
    for term in 0..terms {
        let g: Vec<f64> = (0..3 * nodes as usize).map(|_| next()).collect();
        let sign = if term < negative { -size } else { size };
        for i in 0..nodes as usize {
            for j in 0..=i {
                let block = std::array::from_fn(|k| sign * g[3 * i + k / 3] * g[3 * j + k % 3]);
                a.add_block(i, j, &block);
            }
        }
    }
    a
}

fn make(name: &str, options: &[(&str, Value)]) -> Box<dyn Integrator> {
    let given: Vec<(String, Value)> = options.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    find(name).unwrap().create(&given).unwrap()
}

fn ere(method: &str, tolerance: f64) -> Box<dyn Integrator> {
    make("ere", &[("method", Value::Word(method.into())), ("tolerance", Value::Number(tolerance))])
}

fn run(system: &dyn System, integrator: &mut dyn Integrator, state: &State, h: f64, n: usize) -> State {
    let mut state = state.clone();
    for _ in 0..n {
        integrator.step(system, &mut state, h).unwrap();
    }
    state
}

fn distance(a: &State, b: &State) -> f64 {
    let both = a.q.iter().chain(&a.v).zip(b.q.iter().chain(&b.v));
    both.map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

/// Lumped and consistent mass; no, Rayleigh and other damping; definite and indefinite K; free and held: one long step
/// is a thousand short ones of Runge and Kutta.
#[test]
fn linear_systems_are_exact() {
    let nodes = 5;
    let mut next = numbers(7);
    for (case, negative) in [0, 0, 3, 3].into_iter().enumerate() {
        for damping in ["none", "rayleigh", "other"] {
            let k = random_matrix(nodes, 12, negative, 4.0, 11 + case as u64);
            let mut m = random_matrix(nodes, 15, 0, 0.1, 5);
            m.add_diagonal(&[1.0; 15]);
            let consistent = case % 2 == 1;
            let lumped: Vec<f64> = m.diagonal();
            let d = match damping {
                "rayleigh" => {
                    let mut d = k.clone();
                    d.scale(0.02);
                    if consistent {
                        d.add_scaled(0.3, &m)
                    } else {
                        d.add_diagonal(&lumped.iter().map(|m| 0.3 * m).collect::<Vec<_>>())
                    }
                    Some(d)
                }
                "other" => Some(random_matrix(nodes, 6, 0, 0.3, 3)),
                _ => None,
            };
            let mass = if consistent { Mass::consistent(m) } else { Mass::Lumped(lumped) };
            let force = (0..15).map(|_| next()).collect();
            let held = if case == 0 { vec![] } else { vec![2, 3, 9] };
            let system = Linear::new(mass, k, d, force, held);
            let q = (0..15).map(|_| next()).collect();
            let v = (0..15).map(|_| 3.0 * next()).collect();
            let state = State::new(&system, q, v);
            let h = 0.5;
            let reference = run(&system, make("rk4", &[]).as_mut(), &state, h / 1000.0, 1000);
            for method in ["auto", "lanczos", "shift-invert", "general"] {
                let end = run(&system, ere(method, 1e-12).as_mut(), &state, h, 1);
                let error = distance(&end, &reference) / distance(&state, &reference);
                assert!(error < 1e-10, "case {case}, damping {damping}, {method}: {error:e}");
            }
        }
    }
}

/// Springs with a held particle that is shaken, and a load that comes and goes.
struct Shaken(Particles);

impl System for Shaken {
    fn space(&self) -> &ConfigurationSpace {
        self.0.space()
    }
    fn energy(&self, t: f64, q: &[f64]) -> f64 {
        self.0.energy(t, q) - 5.0 * (3.0 * t).sin() * q[10]
    }
    fn gradient(&self, t: f64, q: &[f64], g: &mut [f64]) {
        self.0.gradient(t, q, g);
        g[10] -= 5.0 * (3.0 * t).sin();
    }
    fn hessian(&self, t: f64, q: &[f64], curvature: Curvature, h: &mut BlockMatrix) {
        self.0.hessian(t, q, curvature, h);
    }
    fn energy_parts(&self, t: f64, q: &[f64]) -> EnergyParts {
        EnergyParts::other(self.energy(t, q))
    }
    fn abilities(&self) -> Abilities<'_> {
        Abilities { prescribed: Some(self), dissipation: self.0.abilities().dissipation, ..Abilities::NONE }
    }
}

impl PrescribedMotion for Shaken {
    fn mark_prescribed(&self, _t: f64, mask: &mut [bool]) {
        mask[..3].fill(true);
    }
    fn place_prescribed(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        (q[0], q[1], q[2]) = (0.1 * (4.0 * t).sin(), 0.1 * (2.0 * t).sin(), 0.0);
        (v[0], v[1], v[2]) = (0.4 * (4.0 * t).cos(), 0.2 * (2.0 * t).cos(), 0.0);
    }
    fn prescribed_moves(&self) -> bool {
        true
    }
}

fn springs(damping: f64) -> Particles {
    let ends = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    let spring = |(k, &ends): (usize, &[u32; 2])| Spring {
        ends,
        stiffness: 40.0 + 7.0 * k as f64,
        length: 1.0,
        damping,
    };
    Particles::new(&[1.0, 1.5, 0.8, 1.2], ends.iter().enumerate().map(spring).collect(), 1.0)
}

fn start(system: &dyn System) -> State {
    let q = vec![0.0, 0.1, 0.0, 1.1, 0.0, 0.05, 0.4, 0.95, 0.0, 0.55, 0.3, 0.9];
    let v = vec![0.3, 0.2, -0.5, -0.1, 0.6, 0.1, 0.5, -0.4, 0.2, -0.6, -0.2, 0.1];
    State::new(system, q, v)
}

#[test]
fn second_order_where_held_unknowns_and_loads_move() {
    for damping in [0.0, 0.6] {
        let system = Shaken(springs(damping));
        let state = start(&system);
        for method in ["lanczos", "shift-invert", "general"] {
            let end = |n: usize| run(&system, ere(method, 1e-13).as_mut(), &state, 0.8 / n as f64, n);
            let ends: Vec<State> = (0..3).map(|k| end(640 << k)).collect();
            let order = (distance(&ends[0], &ends[1]) / distance(&ends[1], &ends[2])).log2();
            assert!((order - 2.0).abs() < 0.03, "{method}, damping {damping}: order {order}");
        }
    }
}

/// However coarse the exponential, the momentum of what nothing holds is exact.
#[test]
fn momentum_does_not_depend_on_the_tolerance() {
    let system = springs(0.0);
    let state = start(&system);
    let end = run(&system, ere("lanczos", 0.1).as_mut(), &state, 0.02, 1000);
    let exact = run(&system, ere("lanczos", 1e-13).as_mut(), &state, 0.02, 1000);
    assert!(distance(&end, &exact) > 1e-6, "the tolerance has no effect");
    let ((p0, _), (p1, _)) = (state.momenta([0.0; 3]), end.momenta([0.0; 3]));
    for k in 0..3 {
        assert!((p0[k] - p1[k]).abs() < 1e-12, "{p0:?} {p1:?}");
    }
}

fn siere(modes: Value) -> Box<dyn Integrator> {
    make("siere", &[("modes", modes)])
}

/// Dense matrices, row by row.
type Dense = Vec<Vec<f64>>;

fn times(a: &Dense, b: &Dense) -> Dense {
    let entry = |row: &Vec<f64>, j: usize| row.iter().zip(b).map(|(x, b)| x * b[j]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|j| entry(row, j)).collect()).collect()
}

/// A⁻¹B by Gauss's elimination with pivots.
fn solve(mut a: Dense, mut b: Dense) -> Dense {
    let n = a.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i][k] / a[k][k];
            for j in 0..n {
                a[i][j] -= factor * a[k][j];
            }
            for j in 0..b[0].len() {
                b[i][j] -= factor * b[k][j];
            }
        }
    }
    for i in 0..n {
        let pivot = a[i][i];
        b[i].iter_mut().for_each(|x| *x /= pivot);
    }
    b
}

/// φ₁(A)b by its series; A must be of moderate size.
fn phi1(a: &Dense, b: &Dense) -> Dense {
    let (mut sum, mut term) = (b.clone(), b.clone());
    for k in 2..80 {
        term = times(a, &term);
        for (s, t) in sum.iter_mut().flatten().zip(term.iter_mut().flatten()) {
            *t /= k as f64;
            *s += *t;
        }
    }
    sum
}

/// The thesis' formula with its full 2n system, for Rayleigh damping, indefinite K, and every number of modes.
#[test]
fn siere_is_the_full_solve() {
    let (nodes, n, h) = (4, 12, 0.3);
    for negative in [0, 2] {
        let k = random_matrix(nodes, 12, negative, 3.0, 21);
        let masses: Vec<f64> = (0..n).map(|i| 1.0 + 0.1 * i as f64).collect();
        let mut d = k.clone();
        d.scale(0.02);
        if negative > 0 {
            d = BlockMatrix::zeros(k.pattern().clone());
        }
        d.add_diagonal(&masses.iter().map(|m| 0.4 * m).collect::<Vec<_>>());
        let mut m = BlockMatrix::zeros(k.pattern().clone());
        m.add_diagonal(&masses);
        let all = lilyan_solve::lowest_modes(&k, &m, &vec![false; n], n, 1e-13).unwrap();
        assert!((all.values[0] < 0.0) == (negative > 0));
        let mut next = numbers(5);
        let force = (0..n).map(|_| next()).collect();
        let system = Linear::new(Mass::Lumped(masses.clone()), k, Some(d), force, vec![]);
        let q = (0..n).map(|_| next()).collect();
        let v = (0..n).map(|_| next()).collect();
        let state = State::new(&system, q, v);
        let mut acceleration = vec![0.0; n];
        system.gradient(0.0, &state.q, &mut acceleration);
        acceleration.iter_mut().for_each(|g| *g = -*g);
        system.add_forces(0.0, &state.q, &state.v, &mut acceleration);
        let (k, d) = (system.k.to_dense(), system.d.as_ref().unwrap().to_dense());
        for s in [0, 1, 5, 12] {
            let projection = |i: usize, j: usize| -> f64 {
                all.vectors[..s].iter().map(|u| u[i] * u[j] * masses[j]).sum()
            };
            let double = |f: &dyn Fn(usize, usize) -> f64| -> Dense {
                (0..2 * n).map(|i| (0..2 * n).map(|j| f(i, j)).collect()).collect()
            };
            let jacobian = double(&|i, j| match (i < n, j < n) {
                (true, true) => 0.0,
                (true, false) => f64::from(u8::from(i + n == j)),
                (false, true) => -k[i - n][j] / masses[i - n],
                (false, false) => -d[i - n][j - n] / masses[i - n],
            });
            let project = double(&|i, j| if (i < n) == (j < n) { projection(i % n, j % n) } else { 0.0 });
            let modal = times(&project, &jacobian);
            let rate: Dense = (0..2 * n)
                .map(|i| vec![if i < n { state.v[i] } else { acceleration[i - n] / masses[i - n] }])
                .collect();
            let g = times(&project, &rate);
            let scaled: Dense = modal.iter().map(|row| row.iter().map(|x| h * x).collect()).collect();
            let exact = phi1(&scaled, &g);
            let right: Dense =
                (0..2 * n).map(|i| vec![h * (rate[i][0] - g[i][0]) + h * exact[i][0]]).collect();
            let left = double(&|i, j| f64::from(u8::from(i == j)) - h * (jacobian[i][j] - modal[i][j]));
            let change = solve(left, right);

            let end = run(&system, siere(Value::Number(s as f64)).as_mut(), &state, h, 1);
            for i in 0..n {
                let (dq, dv) = (end.q[i] - state.q[i], end.v[i] - state.v[i]);
                let error = (dq - change[i][0]).abs().max((dv - change[i + n][0]).abs());
                assert!(error < 1e-12, "{negative} negative, s = {s}, dof {i}: {error:e}");
            }
        }
    }
}

#[test]
fn siere_without_modes_is_semi_implicit() {
    for damping in [0.0, 0.6] {
        let system = Shaken(springs(damping));
        let state = start(&system);
        let one = run(&system, siere(Value::Number(0.0)).as_mut(), &state, 0.002, 100);
        let other = run(&system, make("semi-implicit", &[]).as_mut(), &state, 0.002, 100);
        // They take held particles at different times of the step.
        assert!(distance(&one, &other) < 1e-3 * distance(&one, &state), "{:e}", distance(&one, &other));
        let system = springs(damping);
        let state = start(&system);
        let one = run(&system, siere(Value::Number(0.0)).as_mut(), &state, 0.02, 100);
        let other = run(&system, make("semi-implicit", &[]).as_mut(), &state, 0.02, 100);
        assert!(distance(&one, &other) < 1e-10, "{:e}", distance(&one, &other));
    }
}

/// A bar of springs, bent, let go and turning: its modes turn with it, and what they hold is not damped.
#[test]
fn siere_keeps_what_its_modes_hold() {
    let at = |i: u32| [0.1 * f64::from(i / 4), 0.1 * f64::from(i / 2 % 2), 0.1 * f64::from(i % 2)];
    let length = |i: u32, j: u32| (0..3).map(|k| (at(i)[k] - at(j)[k]).powi(2)).sum::<f64>().sqrt();
    let near = (0..32u32).flat_map(|i| (0..i).map(move |j| [j, i])).filter(|[j, i]| i / 4 - j / 4 < 2);
    let spring =
        |ends: [u32; 2]| Spring { ends, stiffness: 1e4, length: length(ends[0], ends[1]), damping: 0.0 };
    let system = Particles::new(&[0.1; 32], near.map(spring).collect(), 1.0);
    let q: Vec<f64> = (0..32u32)
        .flat_map(|i| {
            let [x, y, z] = at(i);
            [x - 0.2 * (x - 0.35) * y, y + 0.1 * (x - 0.35).powi(2), z]
        })
        .collect();
    let v: Vec<f64> = q.chunks_exact(3).flat_map(|x| [-x[1], x[0] - 0.35, 0.0]).collect();
    let state = State::new(&system, q, v);
    let energy = |s: &State| s.kinetic(&system) + system.energy(0.0, &s.q);
    let kept = |integrator: &mut dyn Integrator| {
        energy(&run(&system, integrator, &state, 0.003, 300)) / energy(&state)
    };
    let lost = kept(make("semi-implicit", &[]).as_mut());
    let moving = [("modes", Value::Number(10.0)), ("select", Value::Word("motion".into()))];
    let held = kept(make("siere", &moving).as_mut());
    assert!(lost < 0.2 && held > 0.7 && held < 1.05, "{lost} {held}");
    // With the midpoint rule for the rest, what the modes do not hold is not damped either.
    let few = [("modes", Value::Number(5.0)), ("h_part", Value::Word("midpoint".into()))];
    let all = kept(make("siere", &few).as_mut());
    assert!((all - 1.0).abs() < 0.01, "{all}");
}

/// As many modes as move slower than the step.
#[test]
fn auto_takes_the_slow_modes() {
    let n = 12;
    let mut k = BlockMatrix::zeros(pattern(4));
    // hω = 0.1, 0.2, … 1.2.
    k.add_diagonal(&(1..=n).map(|i| (i * i) as f64).collect::<Vec<_>>());
    let system = Linear::new(Mass::Lumped(vec![1.0; n]), k, None, vec![0.0; n], vec![]);
    let state = State::new(&system, vec![1.0; n], vec![0.5; n]);
    let end = |modes: Value| run(&system, siere(modes).as_mut(), &state, 0.1, 10);
    let auto = end(Value::Word("auto".into()));
    assert!(distance(&auto, &end(Value::Number(9.0))) < 1e-9);
    assert!(distance(&auto, &end(Value::Number(8.0))) > 1e-3);
    assert!(distance(&auto, &end(Value::Number(12.0))) > 1e-3);
}

/// What the next step needs is remembered to the bit.
#[test]
fn siere_remembers_its_modes() {
    let system = springs(0.3);
    let mut state = start(&system);
    let mut one = siere(Value::Number(4.0));
    for _ in 0..20 {
        one.step(&system, &mut state, 0.02).unwrap();
    }
    let mut copy = state.clone();
    let mut other = siere(Value::Number(4.0));
    other.restore(&one.memory(), &state).unwrap();
    for _ in 0..20 {
        one.step(&system, &mut state, 0.02).unwrap();
        other.step(&system, &mut copy, 0.02).unwrap();
    }
    assert_eq!(state, copy);
}
