//! The motion of a chain of masses and springs, of which every mode is known, in spaces of every kind.

use lilyan_solve::SecondOrderSystem;
use lilyan_solve::exponential::{Accuracy, Damping, Flow, FlowError, Growth, flow};
use lilyan_solve::{BlockMatrix, BlockPattern, Cholesky};
use std::f64::consts::PI;
use std::sync::Arc;

/// A chain between walls, in all three axes; K − `shift` M has negative eigenvalues if the shift is large enough.
struct Chain {
    nodes: usize,
    stiffness: f64,
    shift: f64,
    alpha: f64,
    beta: f64,
    k: BlockMatrix,
}

const MASS: f64 = 0.7;

impl Chain {
    fn new(nodes: usize, stiffness: f64, shift: f64, alpha: f64, beta: f64) -> Self {
        let links: Vec<[u32; 2]> = (1..nodes as u32).map(|i| [i - 1, i]).collect();
        let pattern = BlockPattern::from_cliques(nodes, links.iter().map(|l| l.as_slice()));
        let mut k = BlockMatrix::zeros(Arc::new(pattern));
        let diagonal = |c: f64| [c, 0.0, 0.0, 0.0, c, 0.0, 0.0, 0.0, c];
        for i in 0..nodes {
            k.add_block(i, i, &diagonal(2.0 * stiffness - shift * MASS));
            if i > 0 {
                k.add_block(i, i - 1, &diagonal(-stiffness));
            }
        }
        Self { nodes, stiffness, shift, alpha, beta, k }
    }

    fn eigenvalue(&self, mode: usize) -> f64 {
        let angle = PI * mode as f64 / (2.0 * (self.nodes + 1) as f64);
        4.0 * self.stiffness / MASS * angle.sin().powi(2) - self.shift
    }

    /// One sum over all modes, each by its own roots in complex numbers.
    fn exact(&self, v: &[f64], a: &[f64], h: f64) -> (Vec<f64>, Vec<f64>) {
        let n = self.nodes;
        let shape = |mode: usize, i: usize| {
            (2.0 / (n + 1) as f64).sqrt() * (PI * (mode * (i + 1)) as f64 / (n + 1) as f64).sin()
        };
        let (mut dq, mut dv) = (vec![0.0; 3 * n], vec![0.0; 3 * n]);
        for axis in 0..3 {
            for mode in 1..=n {
                let lambda = self.eigenvalue(mode);
                let d = 0.5 * (self.alpha + self.beta * lambda);
                let along = |x: &[f64]| (0..n).map(|i| shape(mode, i) * x[3 * i + axis]).sum::<f64>();
                let (v, a) = (along(v), along(a));
                // x(t) about its rest point, a = −λ(x − x̄) − 2dv at t = 0.
                let offset = -(a + 2.0 * d * v) / lambda;
                let square = lambda - d * d;
                let (cos, sin) = if square > 0.0 {
                    let w = square.sqrt();
                    ((w * h).cos(), (w * h).sin() / w)
                } else {
                    let w = (-square).sqrt();
                    ((w * h).cosh(), (w * h).sinh() / w)
                };
                let decay = (-d * h).exp();
                let x = decay * (offset * cos + (v + d * offset) * sin) - offset;
                let rate = decay * (v * cos - (lambda * offset + d * v) * sin) - v;
                for i in 0..n {
                    dq[3 * i + axis] += shape(mode, i) * x;
                    dv[3 * i + axis] += shape(mode, i) * rate;
                }
            }
        }
        (dq, dv)
    }

    /// Smooth, and different in every axis.
    fn start(&self) -> (Vec<f64>, Vec<f64>) {
        let at = |i: usize| (i / 3 + 1) as f64 / (self.nodes + 1) as f64;
        let bump = |i: usize, center: f64| (-60.0 * (at(i) - center).powi(2)).exp();
        let v = (0..3 * self.nodes).map(|i| bump(i, 0.4) * (1.0 + (i % 3) as f64)).collect();
        let a = (0..3 * self.nodes).map(|i| 20.0 * bump(i, 0.6) * (2.0 - (i % 3) as f64)).collect();
        (v, a)
    }

    fn flow(&self, damping: Damping, solves: bool, h: f64, accuracy: Accuracy) -> Result<Flow, FlowError> {
        let (v, a) = self.start();
        if !solves {
            return flow(self, damping, Growth::Polynomial, &v, &a, h, accuracy);
        }
        let tau = 0.5 * h;
        let mut shifted = self.k.clone();
        shifted.scale(tau * tau + tau * self.beta);
        shifted.add_diagonal(&vec![MASS * (1.0 + tau * self.alpha); 3 * self.nodes]);
        let mut factor = Cholesky::new();
        factor.factor(&shifted).unwrap();
        let mut solve = |x: &mut [f64], columns: usize| factor.solve_many(x, columns);
        flow(self, damping, Growth::ShiftInvert { solve: &mut solve, tau }, &v, &a, h, accuracy)
    }

    /// ‖δq − exact‖ / (‖exact‖ + h‖v‖).
    fn displacement_error(&self, motion: &Flow, h: f64) -> f64 {
        let (v, a) = self.start();
        let (exact, _) = self.exact(&v, &a, h);
        let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
        let error = norm(&mut motion.dq.iter().zip(&exact).map(|(a, b)| a - b));
        error / (norm(&mut exact.iter().copied()) + h * norm(&mut v.iter().copied()))
    }

    /// ‖(δq/h, δv) − exact‖ / (‖exact‖ + ‖v‖).
    fn error(&self, motion: &Flow, h: f64) -> f64 {
        let (v, a) = self.start();
        let (dq, dv) = self.exact(&v, &a, h);
        let (mut error, mut size) = (0.0, 0.0);
        for i in 0..dq.len() {
            error += ((motion.dq[i] - dq[i]) / h).powi(2) + (motion.dv[i] - dv[i]).powi(2);
            size += (dq[i] / h).powi(2) + dv[i].powi(2);
        }
        f64::sqrt(error) / (f64::sqrt(size) + v.iter().map(|v| v * v).sum::<f64>().sqrt())
    }
}

impl SecondOrderSystem for Chain {
    fn mass(&self, x: &[f64], y: &mut [f64]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y = MASS * x;
        }
    }
    fn divide_by_mass(&self, x: &[f64], y: &mut [f64]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y = x / MASS;
        }
    }
    fn stiffness(&self, x: &[f64], y: &mut [f64]) {
        self.k.mul_vec(x, y);
    }
    fn damping(&self, x: &[f64], y: &mut [f64]) {
        self.k.mul_vec(x, y);
        for (y, x) in y.iter_mut().zip(x) {
            *y = self.beta * *y + self.alpha * MASS * x;
        }
    }
}

fn accuracy(tolerance: f64, max_vectors: usize) -> Accuracy {
    Accuracy { tolerance, floor: 0.0, max_vectors }
}

/// Undamped, under-, over- and critically damped, with and without negative eigenvalues.
#[test]
fn every_space_meets_its_tolerance() {
    for (shift, alpha, beta) in
        [(0.0, 0.0, 0.0), (0.0, 0.5, 0.01), (0.0, 40.0, 0.0), (30.0, 0.0, 0.0), (30.0, 1.0, 0.02)]
    {
        let chain = Chain::new(40, 900.0, shift, alpha, beta);
        assert!((chain.eigenvalue(1) < 0.0) == (shift > 0.0));
        for damping in [Damping::Rayleigh { alpha, beta }, Damping::General] {
            for solves in [false, true] {
                for tolerance in [1e-4, 1e-7, 1e-11] {
                    let motion = chain.flow(damping, solves, 0.2, accuracy(tolerance, 300)).unwrap();
                    let error = chain.error(&motion, 0.2);
                    let what = format!("{shift} {alpha} {beta} {damping:?} solves {solves}: {error:e}");
                    assert!(error <= tolerance, "{what} > {tolerance:e}");
                }
            }
        }
    }
}

/// Fewer vectors than the step needs: it is taken in parts, as exactly.
#[test]
fn steps_are_cut_where_the_space_is_too_small() {
    let chain = Chain::new(60, 4e4, 0.0, 0.1, 1e-4);
    for damping in [Damping::Rayleigh { alpha: 0.1, beta: 1e-4 }, Damping::General] {
        let motion = chain.flow(damping, false, 0.2, accuracy(1e-8, 24)).unwrap();
        let error = chain.error(&motion, 0.2);
        // Sums of Chebyshev polynomials need no parts.
        let cut = matches!(damping, Damping::General);
        assert!((motion.parts > 1) == cut && error < 1e-8, "{} parts, {error:e}", motion.parts);
    }
}

/// Products take some hω_max vectors; solves take as many whatever the stiffness, where the state is smooth.
#[test]
fn solves_do_not_grow_with_stiffness() {
    let vectors = |stiffness: f64, solves: bool| {
        let chain = Chain::new(300, stiffness, 0.0, 0.0, 0.0);
        let damping = Damping::Rayleigh { alpha: 0.0, beta: 0.0 };
        let motion = chain.flow(damping, solves, 0.05, accuracy(1e-3, 100)).unwrap();
        // Solves promise the displacement alone.
        let (error, both) = (chain.displacement_error(&motion, 0.05), chain.error(&motion, 0.05));
        assert!(error < 1e-3 && (solves || both < 1e-3), "{error:e} {both:e}");
        assert!(!motion.fell_back);
        motion.vectors
    };
    let (soft, stiff) = (vectors(1e7, true), vectors(1e11, true));
    assert!(2 * stiff <= 3 * soft, "{soft} {stiff}");
    let (soft, stiff) = (vectors(1e3, false), vectors(1e6, false));
    assert!(stiff > 5 * soft, "{soft} {stiff}");
}

/// Where solves do not get there, products do.
#[test]
fn rough_states_meet_the_tolerance_too() {
    let chain = Chain::new(300, 1e7, 0.0, 0.0, 0.0);
    let damping = Damping::Rayleigh { alpha: 0.0, beta: 0.0 };
    let motion = chain.flow(damping, true, 0.05, accuracy(1e-7, 20)).unwrap();
    let error = chain.error(&motion, 0.05);
    assert!(motion.fell_back && motion.parts == 1 && error < 1e-10, "{} parts, {error:e}", motion.parts);
}

/// Long steps with too few vectors: damped in every way, and with eigenvalues below zero.
#[test]
fn sums_of_polynomials_are_exact() {
    for (shift, alpha, beta) in
        [(0.0, 0.0, 0.0), (0.0, 0.5, 1e-4), (0.0, 400.0, 0.0), (400.0, 0.0, 0.0), (400.0, 1.0, 1e-4)]
    {
        let chain = Chain::new(300, 1e7, shift, alpha, beta);
        let damping = Damping::Rayleigh { alpha, beta };
        for solves in [false, true] {
            let motion = chain.flow(damping, solves, 0.1, accuracy(1e-9, 12)).unwrap();
            let error = chain.error(&motion, 0.1);
            assert!(motion.parts == 1 && error < 1e-9, "{shift} {alpha} {beta}, solves {solves}: {error:e}");
        }
    }
}

#[test]
fn nothing_moves_nothing() {
    let chain = Chain::new(5, 1.0, 0.0, 0.0, 0.0);
    let zero = vec![0.0; 15];
    for damping in [Damping::Rayleigh { alpha: 0.0, beta: 0.0 }, Damping::General] {
        let motion =
            flow(&chain, damping, Growth::Polynomial, &zero, &zero, 1.0, accuracy(1e-6, 20)).unwrap();
        assert_eq!((motion.dq, motion.dv), (zero.clone(), zero.clone()));
    }
    // Growth by e^3000 is no number.
    let chain = Chain::new(5, 1.0, 9e6, 0.0, 0.0);
    let damping = Damping::Rayleigh { alpha: 0.0, beta: 0.0 };
    assert_eq!(chain.flow(damping, false, 1.0, accuracy(1e-6, 20)), Err(FlowError::NotFinite));
}
